//! Dense numbers for the keys that a walk meets.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// Upper bound on keys that are searched linearly: most walks have no more, and need no array.
const FEW: usize = 12;

/// Greater keys are stored in a hash table. Each walk creates its own array, and in a grammar that
/// leaves very much open at once keys are numbered by the million.
const DENSE: usize = 1 << 13;

/// Numbers in the order of first use. A key is a small number, with the number of some blanks.
#[derive(Default)]
pub(super) struct Numbers {
    /// The first keys, each with its blanks and its number.
    few: SmallVec<[(u32, u32, u32); FEW]>,
    /// By key: the number plus one, or 0. For small keys without blanks, which nearly all others
    /// are.
    plain: Vec<u32>,
    /// The keys with a number in `plain`.
    keys: Vec<u32>,
    others: HashMap<(u32, u32), u32, FxBuildHasher>,
}

impl Numbers {
    /// Returns the number of `key`; `next` if it has none yet.
    #[inline]
    pub(super) fn get(&mut self, key: u32, leading: u32, next: usize) -> usize {
        let is_known = |&&(known, beside, _): &&(u32, u32, u32)| (known, beside) == (key, leading);
        match self.few.iter().find(is_known) {
            Some(&(_, _, number)) => number as usize,
            None if self.few.len() < FEW => {
                self.few.push((key, leading, next as u32));
                next
            }
            None => self.get_among_many(key, leading, next),
        }
    }

    fn get_among_many(&mut self, key: u32, leading: u32, next: usize) -> usize {
        let place = key as usize;
        if leading != 0 || place >= DENSE {
            return *self.others.entry((key, leading)).or_insert(next as u32) as usize;
        }
        if place >= self.plain.len() {
            self.plain.resize(place + 1, 0);
        }
        if self.plain[place] == 0 {
            self.plain[place] = next as u32 + 1;
            self.keys.push(key);
        }
        self.plain[place] as usize - 1
    }

    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.keys.drain(..).for_each(|key| self.plain[key as usize] = 0);
        self.others.clear();
    }
}
