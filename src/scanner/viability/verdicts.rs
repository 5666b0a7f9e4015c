//! Decisions that have been taken, by what they read.
//!
//! A reading that only *seems* to be alive can stay so for long: each token behind which it stands
//! asks anew. To see that nothing completes such a text, all ways have to be tried; so the verdict
//! is kept, for stacks that are alike as far down as was looked.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::lr::derivations::Place;
use crate::lr::stack::{Depths, Stack};
use crate::lr::table::ParseTable;
use crate::lr::trail::{StackAddress, Trail, Trailing, Traversal};

/// What holds on top of a stack, and how many brackets are open there.
pub(super) type Top = (Place, u32);

/// The verdicts that are kept.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    by_top: HashMap<Top, SmallVec<[Verdict; 1]>, FxBuildHasher>,
    /// Those that no trail leads to: several ways through a graph of stacks were read, or a long
    /// one, or the top has as many trails as it may.
    by_stack: HashMap<(Top, StackAddress), (Traversal, bool), FxBuildHasher>,
}

#[derive(Debug)]
struct Verdict {
    trail: Trail,
    can: bool,
}

/// So many trails are told apart for each top.
const MOST: usize = 16;

/// So many verdicts on whole stacks are kept. Stacks come and go, so then all are forgotten.
const MOST_STACKS: usize = 1 << 14;

/// What took fewer steps is as quickly decided again.
const WORTH: usize = 64;

impl Verdicts {
    /// How many tops and stacks there are.
    pub(super) fn len(&self) -> usize {
        self.by_top.len() + self.by_stack.len()
    }

    /// What was decided of a stack that was alike. `depths` is told what that read.
    pub(super) fn find(
        &self,
        top: Top,
        stack: &Stack,
        table: &ParseTable,
        depths: &mut impl Depths,
    ) -> Option<bool> {
        if let Some((traversal, can)) = self.by_stack.get(&(top, stack.stack_address())) {
            traversal.tell(depths);
            return Some(*can);
        }
        let verdicts = self.by_top.get(&top)?;
        Some(verdicts.iter().find(|verdict| verdict.trail.fits(stack, table, depths))?.can)
    }

    /// Keeps a verdict that took so many steps.
    pub(super) fn keep<D: Depths>(
        &mut self,
        (top, steps, can): (Top, usize, bool),
        stack: &Stack,
        table: &ParseTable,
        read: &Trailing<'_, D>,
    ) {
        if steps < WORTH {
            return;
        }
        let is_full = self.by_top.get(&top).is_some_and(|known| known.len() >= MOST);
        if let Some(trail) = (!is_full).then(|| read.trail(stack, table)).flatten() {
            return self.by_top.entry(top).or_default().push(Verdict { trail, can });
        }
        if self.by_stack.len() >= MOST_STACKS {
            self.by_stack.clear();
        }
        self.by_stack.insert((top, stack.stack_address()), (read.traversal(stack), can));
    }
}
