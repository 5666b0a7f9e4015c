//! Which masks are unions of which.

use crate::index::mask::MaskUnions;
use crate::util::saving::{Malformed, Reader, Writer, ensure, ensure_below};

impl MaskUnions {
    /// Writes the unions in the order in which they were met, each with its own mask if it has one.
    pub(super) fn save(&self, writer: &mut Writer) {
        let unions: Vec<_> = self.iter().collect();
        let masks = |mask: Option<u32>| mask.map_or(0, |mask| mask + 1);
        writer.numbers(&unions.iter().map(|&(_, mask)| masks(mask)).collect::<Vec<u32>>());
        writer.numbers(&unions.iter().map(|(of, _)| of.len() as u32).collect::<Vec<u32>>());
        writer.numbers(&unions.iter().flat_map(|(of, _)| of.iter().copied()).collect::<Vec<u32>>());
    }

    /// Takes unions of `masks` masks.
    pub(super) fn load(&self, reader: &mut Reader<'_>, masks: usize) -> Result<(), Malformed> {
        let (own, lengths, members) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
        ensure_below(&own, masks + 1, "a union of masks")?;
        ensure_below(&members, masks, "a union of masks")?;
        ensure(own.len() == lengths.len(), "unions of masks")?;
        let mut rest = &members[..];
        for (mask, length) in own.into_iter().zip(lengths) {
            let Some((of, behind)) = rest.split_at_checked(length as usize) else {
                return Err(Malformed { what: "unions of masks" });
            };
            ensure(of.is_sorted(), "a union of masks")?;
            rest = behind;
            self.add(of, mask.checked_sub(1));
        }
        ensure(rest.is_empty(), "unions of masks")
    }
}
