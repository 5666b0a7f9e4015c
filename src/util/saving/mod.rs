//! How things are put into bytes that are saved, and taken out again: numbers little-endian, lists
//! behind their length.
//!
//! Each layer says in a file of its own (`saving.rs`) how its things are written and read. A
//! [`Reader`] trusts nothing: what it is asked for is there, or it is an error; and a list is never
//! believed to be longer than the bytes that are left could hold, so memory stays within a multiple
//! of theirs. That ids name something is for the layers to see to.

mod numbers;
mod reader;
mod values;
mod writer;

use std::fmt;

pub(crate) use numbers::{SavedNumbers, Source, Words};
pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

/// The bytes are not what the writer wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// What was to be read.
    pub(crate) what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be read", self.what)
    }
}

/// Refuses what does not hold.
pub(crate) fn ensure(holds: bool, what: &'static str) -> Result<(), Malformed> {
    if holds { Ok(()) } else { Err(Malformed { what }) }
}

/// Refuses ids that are not below `bound`.
pub(crate) fn ensure_below(ids: &[u32], bound: usize, what: &'static str) -> Result<(), Malformed> {
    // Without leaving the loop early it is done eight at a time.
    let greatest = ids.iter().fold(0, |greatest, &id| id.max(greatest));
    ensure(ids.is_empty() || (greatest as usize) < bound, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut writer = Writer::default();
        writer.u8(7);
        writer.bool(true);
        writer.u32(70_000);
        writer.u64(u64::MAX - 1);
        writer.str("naïve");
        writer.option(Some(&3u32), |w, &n| w.u32(n));
        writer.option(None::<&u32>, |w, &n| w.u32(n));
        writer.list(&["a", "b"], |w, text| w.str(text));
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u8(), Ok(7));
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(reader.u32(), Ok(70_000));
        assert_eq!(reader.u64(), Ok(u64::MAX - 1));
        assert_eq!(reader.str(), Ok("naïve"));
        assert_eq!(reader.option(Reader::u32), Ok(Some(3)));
        assert_eq!(reader.option(Reader::u32), Ok(None));
        assert_eq!(
            reader.list(4, |r| Ok(r.str()?.to_owned())),
            Ok(vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(reader.finish(), Ok(()));
        for end in 0..bytes.len() {
            let mut reader = Reader::new(&bytes[..end]);
            let all = (|| {
                reader.u8()?;
                reader.bool()?;
                reader.u32()?;
                reader.u64()?;
                reader.str()?;
                reader.option(Reader::u32)?;
                reader.option(Reader::u32)?;
                reader.list(4, |r| Ok(r.str()?.len()))
            })();
            assert!(all.is_err());
        }
    }

    #[test]
    fn numbers_take_the_bytes_that_the_greatest_needs() {
        for (numbers, bytes) in [
            (&[][..], 5),
            (&[0, 254, u32::MAX], 5 + 3),
            (&[0, 255], 5 + 4),
            (&[65_534, u32::MAX], 5 + 4),
            (&[65_535], 5 + 4),
            (&[u32::MAX - 1], 5 + 4),
        ] {
            let mut writer = Writer::default();
            writer.numbers(numbers);
            let written = writer.into_bytes();
            assert_eq!(written.len(), bytes, "{numbers:?}");
            let mut reader = Reader::new(&written);
            assert_eq!(reader.numbers().as_deref(), Ok(numbers));
            assert_eq!(reader.finish(), Ok(()));
        }
    }

    #[test]
    fn a_length_past_the_end_takes_no_memory() {
        let mut writer = Writer::default();
        writer.u32(u32::MAX);
        let bytes = writer.into_bytes();
        assert!(Reader::new(&bytes).list(1, Reader::u8).is_err());
        assert!(Reader::new(&bytes).str().is_err());
        assert!(Reader::new(&[4, 255, 255, 255, 255, 0]).numbers().is_err());
        assert!(Reader::new(&[3, 1, 0, 0, 0, 0, 0, 0]).numbers().is_err());
        assert!(Reader::new(&[0]).finish().is_err());
    }
}
