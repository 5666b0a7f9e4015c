//! Numbers that a walk gives to what it meets.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// So many keys are looked through one by one: most walks meet no more, and need no array.
const FEW: usize = 12;

/// Greater keys stand in a table of hashes. Each walk makes its own array, and in a grammar that
/// leaves very much open at once keys are numbered by the million.
const DENSE: usize = 1 << 13;

/// Numbers in the order of their first use, for keys that are small numbers themselves, and blanks
/// beside them.
#[derive(Default)]
pub(super) struct Numbers {
    /// The first keys, with blanks and number.
    few: SmallVec<[(u32, u32, u32); FEW]>,
    /// By key: 1 and the number, or 0. Small keys without blanks, which are nearly all others.
    plain: Vec<u32>,
    /// The keys that have a number there.
    keys: Vec<u32>,
    others: HashMap<(u32, u32), u32, FxBuildHasher>,
}

impl Numbers {
    /// The number of `key`; `next` where it has none yet.
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

    /// Forgets all keys.
    pub(super) fn clear(&mut self) {
        self.few.clear();
        self.keys.drain(..).for_each(|key| self.plain[key as usize] = 0);
        self.others.clear();
    }
}
