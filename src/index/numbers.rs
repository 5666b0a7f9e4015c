//! Numbers that a walk gives to what it meets.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::walk::LeadingBytes;
use crate::scanner::is_blank;

/// Numbers in the order of their first use, for keys that are small numbers themselves, and blanks
/// beside them.
#[derive(Default)]
pub(super) struct Numbers {
    /// By key: 1 and the number, or 0. Without blanks, which is nearly always.
    plain: Vec<u32>,
    /// The keys that have a number there.
    keys: Vec<u32>,
    among_blanks: HashMap<(u32, u32), u32, FxBuildHasher>,
}

impl Numbers {
    /// The number of `key`; `next` where it has none yet.
    #[inline]
    pub(super) fn get(&mut self, key: u32, leading: u32, next: usize) -> usize {
        if leading != 0 {
            return *self.among_blanks.entry((key, leading)).or_insert(next as u32) as usize;
        }
        let place = key as usize;
        if place >= self.plain.len() {
            self.plain.resize(place + 1, 0);
        }
        if self.plain[place] == 0 {
            self.plain[place] = next as u32 + 1;
            self.keys.push(key);
        }
        self.plain[place] as usize - 1
    }

    /// Forgets all keys.
    pub(super) fn clear(&mut self) {
        self.keys.drain(..).for_each(|key| self.plain[key as usize] = 0);
        self.among_blanks.clear();
    }
}

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
        let length = depth.checked_sub(1).and_then(|last| self.lengths.get(last)).copied().unwrap_or(0);
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
        std::iter::once(LeadingBytes::default()).chain(numbered.into_iter().map(|(bytes, _)| bytes)).collect()
    }
}
