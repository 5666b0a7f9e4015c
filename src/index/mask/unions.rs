//! Unions of masks: of texts that have several readings, and of stacks that fork.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::storage::Masks;
use crate::util::append::Slots;
use crate::util::append_map::AppendMap;

/// Unions of masks, by the numbers of these.
#[derive(Debug, Default)]
pub(crate) struct MaskUnions {
    numbers: AppendMap<Box<[u32]>, u32>,
    /// By number: the union's own, once it was met again.
    masks: Slots<u32>,
    bytes: AtomicUsize,
}

impl MaskUnions {
    /// Makes `row` hold the union of several masks, by ascending numbers. It is kept once it has
    /// been met twice.
    pub(super) fn write_to(&self, of: &[u32], masks: &Masks, row: &mut [u32]) {
        let (union, is_new) = self.number(of);
        if let Some(&mask) = self.masks.get(union) {
            masks.write_to(mask, row);
            return;
        }
        let mut other = vec![0; row.len()];
        row.fill(0);
        for &mask in of {
            masks.write_to(mask, &mut other);
            row.iter_mut().zip(&other).for_each(|(word, other)| *word |= other);
        }
        if !is_new {
            let (mask, bytes) = masks.intern(row);
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.masks.get_or_init(union, || mask);
        }
    }

    /// The number of a union of masks, and whether it was never met before.
    fn number(&self, masks: &[u32]) -> (u32, bool) {
        let mut is_new = false;
        let number = *self.numbers.get_or_insert_with(masks.into(), || {
            is_new = true;
            self.bytes.fetch_add(UNION_BYTES + size_of_val(masks), Ordering::Relaxed);
            // Counted while nothing else can be entered.
            self.numbers.len() as u32
        });
        (number, is_new)
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// What a union costs beside the numbers of its masks: its entry and its places.
const UNION_BYTES: usize = 56;
