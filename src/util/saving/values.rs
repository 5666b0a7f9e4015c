//! The values of this layer.

use std::sync::Arc;

use super::{Malformed, Reader, Writer, ensure};
use crate::util::bitset::BitSet;
use crate::util::byte_classes::ByteClasses;
use crate::util::diagnostic::{Diagnostic, Place, WARNINGS};
use crate::util::lists::Lists;

impl BitSet {
    /// Writes the words.
    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.length(self.words().len());
        self.words().iter().for_each(|&word| writer.u64(word));
    }

    /// A set of ids below `bound`.
    pub(crate) fn load(reader: &mut Reader<'_>, bound: usize) -> Result<Self, Malformed> {
        let words = reader.list(8, Reader::u64)?;
        let past = words
            .last()
            .is_some_and(|last| last.checked_shr(1 + (bound as u32 + 63) % 64).unwrap_or(0) != 0);
        ensure(words.len() == bound.div_ceil(64) && !past, "a set")?;
        Ok(Self::from_words(&words))
    }
}

impl ByteClasses {
    /// Writes the classes as runs of bytes.
    pub(crate) fn save(&self, writer: &mut Writer) {
        let ends: Vec<u8> = (0..=255u8)
            .filter(|&byte| byte == 255 || self.get(byte) != self.get(byte + 1))
            .collect();
        // 256 runs are written as none.
        writer.u8(ends.len() as u8);
        for end in ends {
            writer.raw(&[end, self.get(end)]);
        }
    }

    /// Classes that are numbered by their smallest byte.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let runs = match reader.u8()? {
            0 => 256,
            runs => usize::from(runs),
        };
        let (runs, _) = reader.raw(2 * runs)?.as_chunks();
        let mut map = [0; 256];
        let mut next = 0;
        for &[end, class] in runs {
            let end = usize::from(end) + 1;
            ensure(next < end, "byte classes")?;
            map[next..end].fill(class);
            next = end;
        }
        ensure(next == 256, "byte classes")?;
        Self::from_map(map).ok_or(Malformed { what: "byte classes" })
    }
}

impl<T> Lists<T> {
    /// Writes how many lists there are, how long each is, and all entries by `write`.
    pub(crate) fn save(&self, writer: &mut Writer, write: impl FnOnce(&mut Writer, &[T])) {
        writer.length(self.len());
        writer.numbers(
            &(0..self.len()).map(|list| self.range(list).len() as u32).collect::<Vec<u32>>(),
        );
        write(writer, self.entries());
    }

    /// So many lists.
    pub(crate) fn load<'b>(
        reader: &mut Reader<'b>,
        count: usize,
        read: impl FnOnce(&mut Reader<'b>) -> Result<Vec<T>, Malformed>,
    ) -> Result<Self, Malformed> {
        let written = reader.u32()? as usize;
        let lengths = reader.numbers()?;
        ensure(written == count && lengths.len() == count, "the number of lists")?;
        let entries = read(reader)?;
        Self::from_lengths(&lengths, entries).ok_or(Malformed { what: "the lengths of lists" })
    }
}

impl Place {
    fn save(&self, writer: &mut Writer) {
        writer.str(&self.source);
        writer.length(self.span.start);
        writer.length(self.span.end);
        writer.u32(self.line);
        writer.u32(self.column);
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            source: Arc::from(reader.str()?),
            span: reader.u32()? as usize..reader.u32()? as usize,
            line: reader.u32()?,
            column: reader.u32()?,
        })
    }
}

impl Diagnostic {
    /// Writes a warning; errors are not saved.
    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.str(self.code);
        writer.str(&self.message);
        writer.option(self.place.as_ref(), |w, place| place.save(w));
        writer.list(&self.related, |w, (place, text)| {
            place.save(w);
            w.str(text);
        });
        writer.option(self.example.as_deref(), Writer::str);
        writer.option(self.help.as_deref(), Writer::str);
    }

    /// A warning.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let code = reader.str()?;
        let code = *WARNINGS
            .iter()
            .find(|known| **known == code)
            .ok_or(Malformed { what: "a warning" })?;
        let mut warning = Self::warning(code, reader.str()?);
        warning.place = reader.option(Place::load)?;
        warning.related = reader.list(24, |r| Ok((Place::load(r)?, r.str()?.to_owned())))?;
        warning.example = reader.option(|r| Ok(r.str()?.to_owned()))?;
        warning.help = reader.option(|r| Ok(r.str()?.to_owned()))?;
        Ok(warning)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_classes_come_back() {
        for classes in [
            ByteClasses::one(),
            ByteClasses::by_key(usize::from),
            ByteClasses::by_key(|byte| usize::from(byte % 3)),
            ByteClasses::by_key(|byte| usize::from(byte.is_ascii_alphabetic())),
        ] {
            let mut writer = Writer::default();
            classes.save(&mut writer);
            let bytes = writer.into_bytes();
            assert_eq!(ByteClasses::load(&mut Reader::new(&bytes)), Ok(classes));
        }
        // Classes out of order, runs out of order, bytes left out.
        for bytes in [&[1, 255, 1][..], &[2, 9, 0, 9, 1], &[1, 254, 0], &[2, 3, 0, 255, 2]] {
            assert!(ByteClasses::load(&mut Reader::new(bytes)).is_err());
        }
    }

    #[test]
    fn sets_come_back_with_their_bound() {
        let mut set = BitSet::new(70);
        set.insert(69);
        let mut writer = Writer::default();
        set.save(&mut writer);
        let bytes = writer.into_bytes();
        assert_eq!(BitSet::load(&mut Reader::new(&bytes), 70), Ok(set));
        assert!(BitSet::load(&mut Reader::new(&bytes), 69).is_err());
        assert!(BitSet::load(&mut Reader::new(&bytes), 129).is_err());
    }
}
