//! The blanks at the beginning of a line, on the path to a node.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::scanner::is_blank;

/// If a walk begins in the blanks before a line's first lexeme: the blanks that it reads, and the
/// first other byte (as 0), if it reads that far. Otherwise empty.
pub(crate) type LeadingBytes = Box<[u8]>;

/// The blanks on the path to a node.
#[derive(Default)]
pub(super) struct Blanks {
    /// Length of `bytes` after each byte on the path to the current node.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
    numbers: HashMap<LeadingBytes, u32, FxBuildHasher>,
}

impl Blanks {
    /// Appends `byte` at index `depth` of the path.
    pub(super) fn read(&mut self, depth: usize, byte: u8) {
        self.lengths.truncate(depth);
        self.bytes.truncate(self.lengths.last().copied().unwrap_or(0));
        if self.bytes.last() != Some(&0) {
            self.bytes.push(if is_blank(byte) { byte } else { 0 });
        }
        self.lengths.push(self.bytes.len());
    }

    /// Returns the number of the bytes read before index `depth`; 0 if there are none.
    pub(super) fn number(&mut self, depth: usize) -> u32 {
        let length =
            depth.checked_sub(1).and_then(|last| self.lengths.get(last)).copied().unwrap_or(0);
        let next = self.numbers.len() as u32 + 1;
        match self.bytes.get(..length) {
            None | Some([]) => 0,
            Some(bytes) => match self.numbers.get(bytes) {
                Some(&number) => number,
                None => *self.numbers.entry(bytes.into()).or_insert(next),
            },
        }
    }

    /// Returns all numbered byte strings, by number; the first is empty.
    pub(super) fn into_numbered(self) -> Vec<LeadingBytes> {
        let mut numbered: Vec<_> = self.numbers.into_iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| *number);
        std::iter::once(LeadingBytes::default())
            .chain(numbered.into_iter().map(|(bytes, _)| bytes))
            .collect()
    }
}
