//! Which members of a list are on the stack, where the list must have certain ones
//! ([`Requirements`](super::requirements::Requirements)).
//!
//! Where such a list may end, its members are on the stack, down to what opened it. So whether it
//! may end is read there, and reported like all that is read of a stack. A list that may not end
//! yet does not reduce: of the state that has just read a member, only the shifts remain.
//!
//! (The road not taken: parse states that know which members were met. Of these there are 2^n, and
//! though a text meets few of them, the tables would have to be made as texts are read.)

use super::places::{LookAhead, Place};
use super::requirements::{List, Symbol};
use super::rules::Code;
use super::stack::{Depths, Stack, Unread};
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
        let Some(list) = self.requirements.ending(at.core) else { return Some(lookahead) };
        let shifted = lookahead.within(self.shifts(at.core));
        if L::IS_ONE && shifted.is_some() {
            return shifted;
        }
        match self.members_met(list, at.core, at.below, depths) {
            Some(_) => shifted,
            None => Some(lookahead),
        }
    }

    /// Whether something was read between `before`, a part of a stack, and its top that must be
    /// known: a member that a list must have, and had not. Where the top itself is a member, that
    /// is not looked into: the round that ends in the separator behind it is soon at hand.
    pub(super) fn met_a_member(&self, tail: Tail, top: &Stack, before: &Stack) -> bool {
        let requirements = &self.requirements;
        // One of two states of a round is behind a member.
        let list = requirements.list_of(tail.expects);
        let Some(list) = list.or_else(|| requirements.list_of(tail.completes)) else {
            return false;
        };
        if matches!(requirements.read(top.core()), Symbol::Member(_)) {
            return true;
        }
        let (mut fresh, mut count) = (BitSet::new(list.count), 0);
        let is_own = |place: u32| (place as usize) < list.count;
        for stack in down(top).take_while(|stack| !stack.is(before)) {
            match requirements.read(stack.core()) {
                Symbol::Member(place) if is_own(place) => {
                    count += usize::from(fresh.insert(place as usize));
                }
                _ => {}
            }
        }
        for stack in down(before) {
            match requirements.read(stack.core()) {
                _ if count == 0 => break,
                Symbol::Open => break,
                Symbol::Member(place) if is_own(place) && fresh.contains(place as usize) => {
                    fresh.remove(place as usize);
                    count -= 1;
                }
                _ => {}
            }
        }
        count > 0
    }

    /// What a list must still have that has just read the member of `core`, on `below`: members,
    /// each behind a separator. `None` where `core` is not one in which a list may end.
    pub(super) fn missing_members(&self, core: CoreId, below: Option<&Stack>) -> Option<Vec<Code>> {
        let list = self.requirements.ending(core)?;
        let met = self.members_met(list, core, below, &mut Unread);
        let Some(met) = met else { return Some(Vec::new()) };
        let members = list.whole.chunks(list.whole.len() / list.count.max(1)).enumerate();
        let missing = members.filter(|&(place, _)| !met.contains(place));
        Some(missing.flat_map(|(_, member)| member).copied().collect())
    }

    /// The members on the stack, if some are missing. Where stacks fork within a list it counts as
    /// one that lacks something: no grammar whose lists require anything has two ways to read one.
    fn members_met(
        &self,
        list: &List,
        core: CoreId,
        mut below: Option<&Stack>,
        depths: &mut impl Depths,
    ) -> Option<BitSet> {
        let mut met = BitSet::new(list.count);
        let mut missing = list.count;
        let mut read = self.requirements.read(core);
        loop {
            match read {
                Symbol::Open => return Some(met),
                // Only a forged table has members of several lists side by side.
                Symbol::Member(place) if (place as usize) < list.count => {
                    missing -= usize::from(met.insert(place as usize));
                }
                Symbol::Member(_) | Symbol::Other => {}
            }
            if missing == 0 {
                return None;
            }
            let Some(stack) = below else { return Some(met) };
            depths.read(stack.depth());
            read = self.requirements.read(stack.core());
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
