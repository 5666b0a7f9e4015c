//! Unions of masks, for texts with several readings and for stacks that fork.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::storage::Masks;
use crate::util::append::Slots;
use crate::util::append_map::AppendMap;

/// Unions of masks, keyed by their members' numbers.
#[derive(Debug, Default)]
pub(crate) struct MaskUnions {
    numbers: AppendMap<Box<[u32]>, u32>,
    /// The mask of each union, once the union has been met again.
    masks: Slots<u32>,
    bytes: AtomicUsize,
}

impl MaskUnions {
    /// Writes the union of several masks, given by ascending numbers, to `row`. Stores it the
    /// second time it is met.
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

    /// Returns the number of a union of masks, and whether it is new.
    fn number(&self, masks: &[u32]) -> (u32, bool) {
        let mut is_new = false;
        let number = *self.numbers.get_or_insert_with(masks.into(), || {
            is_new = true;
            self.bytes.fetch_add(UNION_BYTES + size_of_val(masks), Ordering::Relaxed);
            // Computed under the lock, while nothing else can be entered.
            self.numbers.len() as u32
        });
        (number, is_new)
    }

    /// Returns the heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// Overhead of a union besides the numbers of its masks: its entry and its slots.
const UNION_BYTES: usize = 56;
