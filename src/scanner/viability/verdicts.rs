//! A cache of decisions by their reads.
//!
//! A reading that only *seems* to be alive can persist for long, and each token after which it
//! remains asks again. Only trying all ways shows that nothing completes such a text. So the
//! verdict is kept for stacks that are equal down to the depth that was read.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::lr::derivations::LexicalStateId;
use crate::lr::read_prefix::{StackAddress, Trail, Traversal};
use crate::lr::stack::{Depths, Stack};
use crate::lr::table::ParseTable;
use crate::scanner::reads::Reads;

/// The state on top of a stack, and the number of open brackets there.
pub(super) type Top = (LexicalStateId, u32);

/// The cached verdicts.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    by_top: HashMap<Top, SmallVec<[Verdict; 1]>, FxBuildHasher>,
    /// Verdicts without a trail: several ways through a graph of stacks were read, or a long one,
    /// or the top has the maximum number of trails.
    by_stack: HashMap<(Top, StackAddress), (Traversal, bool), FxBuildHasher>,
}

#[derive(Debug)]
struct Verdict {
    trail: Trail,
    can: bool,
}

/// Maximum number of trails for each top.
const MOST: usize = 16;

/// Maximum number of verdicts on whole stacks. Past it all are dropped, because stacks become
/// obsolete.
const MOST_STACKS: usize = 1 << 14;

/// A decision that took fewer steps is repeated as quickly.
const WORTH: usize = 64;

impl Verdicts {
    /// Returns the number of tops and stacks.
    pub(super) fn len(&self) -> usize {
        self.by_top.len() + self.by_stack.len()
    }

    /// Returns the verdict on an equal stack. Reports the reads to `depths`.
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

    /// Keeps a verdict that took `steps` steps and these reads.
    pub(super) fn keep(
        &mut self,
        (top, steps, can): (Top, usize, bool),
        stack: &Stack,
        table: &ParseTable,
        reads: &Reads,
    ) {
        if steps < WORTH {
            return;
        }
        let is_full = self.by_top.get(&top).is_some_and(|known| known.len() >= MOST);
        let read = (reads.lowest(), reads.lowest_state());
        if let Some(trail) = (!is_full).then(|| Trail::new(stack, read, table)).flatten() {
            return self.by_top.entry(top).or_default().push(Verdict { trail, can });
        }
        if self.by_stack.len() >= MOST_STACKS {
            self.by_stack.clear();
        }
        self.by_stack.insert((top, stack.stack_address()), (Traversal::new(stack, read), can));
    }
}
