//! The tasks of a composition. Each looks for some tokens, and owns all that it takes: what it has
//! found, what it has read, and what it is still to look at.
//!
//! One task works; those that asked for what it looks for wait, the mask as a whole first.

use super::agenda::{Agenda, Readings};
use super::submask::Site;
use crate::index::tokens::{StoredTokensId, TokensId};
use crate::index::walk::Walk;
use crate::lr::stack::Stack;
use crate::scanner::{Line, Reads};

/// A task.
pub(super) struct Task<'g> {
    pub(super) purpose: Purpose,
    pub(super) reads: Reads,
    pub(super) found: Vec<TokensId>,
    /// Submasks that have been met and not looked for yet.
    pub(super) sites: Vec<Site>,
    /// Walks whose pieces are still to be looked for, the one at work last.
    pub(super) walks: Vec<WalkInParts<'g>>,
    pub(super) agenda: Agenda,
}

/// What a task looks for.
pub(super) enum Purpose {
    /// The mask as a whole.
    Mask,
    /// A submask, which is kept.
    Submask(Site),
    /// A base walk's tokens but for these, on stacks that no submask is kept for. The reads are
    /// those of the task around.
    Base(Option<StoredTokensId>),
}

/// A walk, and which of its pieces comes next.
pub(super) struct WalkInParts<'g> {
    pub(super) walk: &'g Walk,
    pub(super) from: Readings,
    pub(super) line: Line,
    pub(super) next: usize,
}

/// Why the mask of one way is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// The stack forks before all is read: each of its ways is to be looked at by itself.
    PastFork,
    /// It takes too long: all ways are to be looked at together.
    TooMuch,
}

/// All tasks of one composition.
pub(super) struct Tasks<'g> {
    /// The one that works.
    pub(super) current: Task<'g>,
    /// The others, each for the next one.
    waiting: Vec<Task<'g>>,
    /// Finished ones, whose room is used again.
    spare: Vec<Task<'g>>,
    pub(super) keeping: Keeping,
    /// How often something has been begun.
    begun: usize,
}

/// What of a composition may be kept.
#[derive(Clone, Copy)]
pub(super) struct Keeping {
    /// The depth of the first fork of the stack on which all of it stands.
    fork: Option<u32>,
    /// Whether submasks may be kept, and what was kept be used.
    submasks: bool,
}

/// How often one mask may begin to look for something. Submasks are looked for each by itself, so
/// that they can be kept; where none is worth that, readings of ambiguous texts would double with
/// each lexeme. The masks of real texts begin some hundreds.
const MAX_BEGUN: usize = 1 << 13;

/// What it counts to look for something on stacks that fork since: what they shift takes as long as
/// the graph is large.
const COST_OF_A_FORK: usize = 16;

impl Task<'_> {
    fn new() -> Self {
        Self {
            purpose: Purpose::Mask,
            reads: Reads::none(),
            found: Vec::new(),
            sites: Vec::new(),
            walks: Vec::new(),
            agenda: Agenda::default(),
        }
    }
}

impl Keeping {
    /// Whether what is found on this stack may be kept: down to the fork below which nothing is
    /// read it is one way.
    pub(super) fn may_keep(self, stack: &Stack) -> bool {
        self.submasks && stack.first_fork() == self.fork
    }
}

impl<'g> Tasks<'g> {
    /// The task of a mask, on a stack that forks first at this depth.
    pub(super) fn new(reads: Reads, fork: Option<u32>, submasks: bool) -> Self {
        let (current, keeping) = (Task { reads, ..Task::new() }, Keeping { fork, submasks });
        Self { current, waiting: Vec::new(), spare: Vec::new(), keeping, begun: 0 }
    }

    /// Why nothing will be found, if it is known by now.
    pub(super) fn unfound(&self) -> Option<Unfound> {
        if self.current.reads.is_past_fork() {
            return Some(Unfound::PastFork);
        }
        (self.keeping.submasks && self.begun > MAX_BEGUN).then_some(Unfound::TooMuch)
    }

    /// Something is looked for with these readings.
    pub(super) fn count(&mut self, readings: &Readings) {
        let forks = readings.iter().any(|at| at.stack.first_fork() != self.keeping.fork);
        self.begun += if forks { COST_OF_A_FORK } else { 1 };
    }

    /// Begins with a submask.
    pub(super) fn begin(&mut self, site: Site) {
        let reads = Reads::new(&site.stack, site.layout.lines());
        self.wait(reads, Purpose::Submask(site));
    }

    /// Begins with the tokens of a base walk.
    pub(super) fn begin_base(&mut self, except: Option<StoredTokensId>) {
        let reads = std::mem::replace(&mut self.current.reads, Reads::none());
        self.wait(reads, Purpose::Base(except));
    }

    /// The task at work waits for another.
    fn wait(&mut self, reads: Reads, purpose: Purpose) {
        let mut task = self.spare.pop().unwrap_or_else(Task::new);
        (task.reads, task.purpose) = (reads, purpose);
        self.waiting.push(std::mem::replace(&mut self.current, task));
    }

    /// The task at work has done all: what it looked for and what it read, and the task around it
    /// goes on. `None` where that was the mask.
    pub(super) fn finish(&mut self) -> Option<(Purpose, Reads)> {
        let around = self.waiting.pop()?;
        let mut done = std::mem::replace(&mut self.current, around);
        let reads = std::mem::replace(&mut done.reads, Reads::none());
        let purpose = std::mem::replace(&mut done.purpose, Purpose::Mask);
        self.spare.push(done);
        Some((purpose, reads))
    }
}
