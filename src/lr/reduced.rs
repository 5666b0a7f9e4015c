//! What a stack is reduced to before the terminals that it shifts.
//!
//! An operand behind others is reduced, level by level, to what all operands there are reduced to,
//! and at each level some terminals are shifted. What these do from there on depends on what the
//! stack has become, and no longer on how it looked.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::node::Stack;
use super::places::Any;
use super::stack::Depths;
use super::table::ParseTable;
use crate::util::bitset::BitSet;

/// What a stack is reduced to, and some of the terminals that are shifted there as it is.
pub(crate) type Reduced = (Stack, BitSet);

impl Stack {
    /// What the stack is reduced to before those of these terminals that it shifts, and which of
    /// them are shifted there. Where there are conflicts, one may be shifted in several of them.
    ///
    /// Costs the reductions that the terminals cause, and the nodes that these leave: without
    /// conflicts no more than each terminal by itself would.
    pub(crate) fn reduced(
        &self,
        table: &ParseTable,
        terminals: &BitSet,
        depths: &mut impl Depths,
    ) -> SmallVec<[Reduced; 4]> {
        let mut all = SmallVec::new();
        let wanted = Any(Some(Cow::Borrowed(terminals)));
        self.follow(table, wanted, depths, |at, closure, lookahead, depths| {
            for stop in &closure.stops {
                let Some(shifted) = lookahead.and(&stop.shifts) else { continue };
                if let Some(stack) = self.before_shift(table, at, stop, depths) {
                    all.push((stack, shifted));
                }
            }
            false
        });
        all
    }
}
