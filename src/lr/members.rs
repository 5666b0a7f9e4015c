//! Which members of a list are on the stack, where the list must have certain ones
//! ([`Requirements`](super::requirements::Requirements)).
//!
//! Where such a list may end, its members are on the stack, down to what opened it. So whether it
//! may end is read there, and reported like all that is read of a stack. A list that may not end
//! yet does not reduce: of the state that has just read a member, only the shifts remain.
//!
//! (The road not taken: parse states that know which members were met. Of these there are 2^n, and
//! though a text meets few of them, the tables would have to be made as texts are read.)

use smallvec::SmallVec;

use super::places::{LookAhead, Place};
use super::requirements::{End, Symbol};
use super::stack::{Depths, Stack};
use super::table::ParseTable;
use super::tail::Tail;
use crate::util::bitset::BitSet;
use crate::util::id::CoreId;

impl ParseTable {
    /// Those of the look-aheads before which the parser goes on in a place: not the end of a list
    /// that has just read a member there and still lacks one.
    #[inline]
    pub(super) fn within_requirements<'t, L: LookAhead<'t>>(
        &'t self,
        at: &Place<'_>,
        lookahead: L,
        depths: &mut impl Depths,
    ) -> Option<L> {
        let Some(end) = self.requirements.ending(at.core) else { return Some(lookahead) };
        let shifted = lookahead.within(self.shifts(at.core));
        if L::IS_ONE && shifted.is_some() {
            return shifted;
        }
        match self.members_met(end, at.core, at.below, depths) {
            Some(_) => shifted,
            None => Some(lookahead),
        }
    }

    /// Whether something was read between `before`, a part of a stack, and its top that must be
    /// known: under a key another member than was read last under it, or the first one. Where the
    /// top itself is a member, that is not looked into: the round that ends in the separator behind
    /// it is soon at hand.
    pub(super) fn met_a_member(&self, tail: Tail, top: &Stack, before: &Stack) -> bool {
        let requirements = &self.requirements;
        // One of two states of a round is behind a member.
        if !requirements.is_rest(tail.expects) && !requirements.is_rest(tail.completes) {
            return false;
        }
        if matches!(requirements.read(top.core()), Symbol::Member(_)) {
            return true;
        }
        // By key that was met in the round: what was read last under it.
        let mut fresh: SmallVec<[(u32, u32); 4]> = SmallVec::new();
        for stack in down(top).take_while(|stack| !stack.is(before)) {
            if let Symbol::Member(read) = requirements.read(stack.core()) {
                let key = requirements.key_of(read);
                if fresh.iter().all(|&(known, _)| known != key) {
                    fresh.push((key, read));
                }
            }
        }
        for stack in down(before) {
            match requirements.read(stack.core()) {
                _ if fresh.is_empty() => break,
                Symbol::Open => break,
                Symbol::Member(read) => {
                    let key = requirements.key_of(read);
                    let Some(place) = fresh.iter().position(|&(known, _)| known == key) else {
                        continue;
                    };
                    if fresh.swap_remove(place).1 != read {
                        return true;
                    }
                }
                Symbol::Other => {}
            }
        }
        !fresh.is_empty()
    }

    /// The members on the stack from the first of the list on, if none of the sets is whole with
    /// which a list ends that has just read the member of `core`, on `below`. Where stacks fork
    /// within a list it counts as one that lacks something: no grammar whose lists require anything
    /// has two ways to read one.
    pub(super) fn members_met(
        &self,
        end: &End,
        core: CoreId,
        mut below: Option<&Stack>,
        depths: &mut impl Depths,
    ) -> Option<BitSet> {
        let requirements = &self.requirements;
        let list = requirements.list_of(end);
        let members = list.members.clone();
        let (mut met, mut keys) = (BitSet::new(members.len()), BitSet::new(list.keys.len()));
        // By set of the end: how many of its members have not been read.
        let mut missing: SmallVec<[usize; 4]> =
            end.sets.iter().map(|&set| requirements.member_count(set)).collect();
        if missing.contains(&0) {
            return None;
        }
        let mut read = requirements.read(core);
        loop {
            match read {
                Symbol::Open => return Some(met),
                Symbol::Member(read) => {
                    let key = requirements.key_of(read);
                    // Only a forged table has members of several lists side by side.
                    let is_last =
                        list.keys.contains(&key) && keys.insert((key - list.keys.start) as usize);
                    let counts: &[u32] = if is_last { requirements.read_as(read) } else { &[] };
                    for &member in counts {
                        if !met.insert((member - members.start) as usize) {
                            continue;
                        }
                        let set = requirements.set_of(member);
                        let Ok(place) = end.sets.binary_search(&set) else {
                            continue;
                        };
                        missing[place] -= 1;
                        if missing[place] == 0 {
                            return None;
                        }
                    }
                }
                Symbol::Other => {}
            }
            let Some(stack) = below else { return Some(met) };
            depths.read(stack.depth());
            read = requirements.read(stack.core());
            below = match stack.below() {
                [below] => Some(below),
                _ => None,
            };
        }
    }
}

/// A stack and what lies below it, from the top down.
fn down(stack: &Stack) -> impl Iterator<Item = &Stack> {
    std::iter::successors(Some(stack), |stack| stack.below().first())
}
