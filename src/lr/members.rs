//! Finds the members of a list on the stack, for lists with required members
//! ([`Requirements`](super::requirements::Requirements)).
//!
//! Where such a list may end, its members are on the stack, above the symbol that opened it. So the
//! stack is read there to decide whether the list may end, and the depth is reported as for every
//! read. A list that may not end yet does not reduce: the state that has just read a member keeps
//! only its shifts.
//!
//! (Rejected alternative: parse states that know which members were read. There are 2^n of these,
//! and though a text reaches few of them, tables would have to be built while texts are read.)

use smallvec::SmallVec;

use super::requirements::{End, Symbol};
use super::stack::{Depths, Stack};
use super::table::ParseTable;
use super::tail::Tail;
use super::virtual_top::{LookAhead, VirtualTop};
use crate::util::bitset::BitSet;
use crate::util::id::CoreId;

impl ParseTable {
    /// Filters the look-aheads that the parser may follow at a virtual top: a list that has just
    /// read a member there and still lacks one may not end.
    #[inline]
    pub(super) fn within_requirements<'t, L: LookAhead<'t>>(
        &'t self,
        at: &VirtualTop<'_>,
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

    /// Returns whether a round must be kept, from `before`, a part of a stack, to its top: for some
    /// key, the last symbol read in it is the first one or differs from the last one before.
    /// Returns true unexamined if the top itself is a member: the round that ends in the separator
    /// after it follows soon.
    pub(super) fn met_a_member(&self, tail: Tail, top: &Stack, before: &Stack) -> bool {
        let requirements = &self.requirements;
        // One of two states of a round has just read a member.
        if !requirements.is_rest(tail.expects) && !requirements.is_rest(tail.completes) {
            return false;
        }
        if matches!(requirements.read(top.core()), Symbol::Member(_)) {
            return true;
        }
        // By key read in the round: the last symbol read under it.
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

    /// Returns the members of the list that are on the stack, from its first on, if none of the
    /// sets is complete with which the list may end; the list has just read the member of `core`,
    /// above `below`. Where stacks fork within a list, it counts as incomplete: no grammar with
    /// requirements has two ways to read a list.
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
        // By set of the end: the number of its members not yet read.
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
                    // Only a forged table mixes members of several lists.
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

/// Returns the nodes of a stack from the top down.
fn down(stack: &Stack) -> impl Iterator<Item = &Stack> {
    std::iter::successors(Some(stack), |stack| stack.below().first())
}
