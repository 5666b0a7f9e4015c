//! The blanks at the beginning of a line, on the way to a node.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::scanner::is_blank;

/// Where a walk begins in the blanks before a line's first lexeme: the blanks that it reads, and
/// the first other byte (as 0), if it reads that far. Empty elsewhere.
pub(crate) type LeadingBytes = Box<[u8]>;

/// The blanks on the way to a node.
#[derive(Default)]
pub(super) struct Blanks {
    /// Of each byte on the way down to the current node: how many of `bytes` there were then.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
    numbers: HashMap<LeadingBytes, u32, FxBuildHasher>,
}

impl Blanks {
    /// Goes on with `byte`, the one of number `depth` on the way.
    pub(super) fn read(&mut self, depth: usize, byte: u8) {
        self.lengths.truncate(depth);
        self.bytes.truncate(self.lengths.last().copied().unwrap_or(0));
        if self.bytes.last() != Some(&0) {
            self.bytes.push(if is_blank(byte) { byte } else { 0 });
        }
        self.lengths.push(self.bytes.len());
    }

    /// The number of what was read before byte `depth`; 0 for nothing.
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

    /// All that has a number, by their numbers; the first is nothing.
    pub(super) fn into_numbered(self) -> Vec<LeadingBytes> {
        let mut numbered: Vec<_> = self.numbers.into_iter().collect();
        numbered.sort_unstable_by_key(|(_, number)| *number);
        std::iter::once(LeadingBytes::default())
            .chain(numbered.into_iter().map(|(bytes, _)| bytes))
            .collect()
    }
}
