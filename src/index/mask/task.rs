//! The tasks of a composition. Each looks for some tokens, and owns all that it takes: what it has
//! found, what it has read, and what it is still to look at.
//!
//! One task works; those that asked for what it looks for wait, the mask as a whole first.

use smallvec::SmallVec;

use super::agenda::{Agenda, Readings};
use super::submask::{Site, Sites};
use crate::index::tokens::{StoredTokensId, TokensId};
use crate::index::walk::Walk;
use crate::lr::stack::Stack;
use crate::scanner::configuration::Taking;
use crate::scanner::{Line, Reads};

/// A task.
pub(super) struct Task<'g> {
    pub(super) purpose: Purpose,
    pub(super) reads: Reads,
    pub(super) found: SmallVec<[TokensId; 16]>,
    /// Submasks that have been met and not looked for yet.
    pub(super) sites: Sites,
    /// Walks whose pieces are still to be looked for, the next one last.
    pub(super) walks: SmallVec<[WalkPieces<'g>; 1]>,
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

/// A walk whose pieces are to be looked for.
pub(super) struct WalkPieces<'g> {
    pub(super) walk: &'g Walk,
    pub(super) from: Readings,
    pub(super) line: Line,
    /// Which lexemes the one reading takes, where that is known.
    pub(super) taking: Option<Taking<'g>>,
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
    /// The mask as a whole first; each waits for the one behind it. Behind the one at work stand
    /// finished ones, whose room is used again.
    all: Vec<Task<'g>>,
    /// The place of the one at work.
    at_work: usize,
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

/// So many tasks seldom wait for each other.
const USUAL_TASKS: usize = 8;

/// What it counts to look for something on stacks that fork since: what they shift takes as long as
/// the graph is large.
const COST_OF_A_FORK: usize = 16;

/// What it counts among the steps of the mask to begin to look for something.
const STEPS_OF_A_BEGINNING: usize = 8;

impl Task<'_> {
    fn new() -> Self {
        Self {
            purpose: Purpose::Mask,
            reads: Reads::none(),
            found: SmallVec::new(),
            sites: Sites::new(),
            walks: SmallVec::new(),
            agenda: Agenda::default(),
        }
    }

    /// What has not been looked for yet will not be.
    pub(super) fn abandon(&mut self) {
        self.sites.clear();
        self.walks.clear();
        self.agenda = Agenda::default();
    }

    /// What was read so far.
    pub(super) fn take_reads(&mut self) -> Reads {
        std::mem::replace(&mut self.reads, Reads::none())
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
        let mut all = Vec::with_capacity(USUAL_TASKS);
        all.push(Task { reads, ..Task::new() });
        Self { all, at_work: 0, keeping: Keeping { fork, submasks }, begun: 0 }
    }

    /// The task at work.
    #[inline]
    pub(super) fn current(&mut self) -> &mut Task<'g> {
        &mut self.all[self.at_work]
    }

    /// Why nothing will be found, if it is known by now.
    #[inline]
    pub(super) fn unfound(&self) -> Option<Unfound> {
        if self.all[self.at_work].reads.is_past_fork() {
            return Some(Unfound::PastFork);
        }
        (self.keeping.submasks && self.begun > MAX_BEGUN).then_some(Unfound::TooMuch)
    }

    /// Something is looked for with these readings.
    pub(super) fn count(&mut self, readings: &Readings) {
        let forks = readings.iter().any(|at| at.stack.first_fork() != self.keeping.fork);
        self.begun += if forks { COST_OF_A_FORK } else { 1 };
        *self.current().reads.steps() += STEPS_OF_A_BEGINNING;
    }

    /// Begins with a submask.
    pub(super) fn begin(&mut self, site: Site) {
        let steps = *self.current().reads.steps();
        let reads = Reads::new(&site.stack, site.layout.lines(), steps);
        self.wait(reads, Purpose::Submask(site));
    }

    /// Begins with the tokens of a base walk.
    pub(super) fn begin_base(&mut self, except: Option<StoredTokensId>) {
        let reads = self.current().take_reads();
        self.wait(reads, Purpose::Base(except));
    }

    /// The task at work waits for another.
    fn wait(&mut self, reads: Reads, purpose: Purpose) {
        self.at_work += 1;
        if self.at_work == self.all.len() {
            self.all.push(Task::new());
        }
        let task = self.current();
        (task.reads, task.purpose) = (reads, purpose);
    }

    /// The task at work has done all, and the one around it goes on: what it looked for and what it
    /// read. `None` where that was the mask.
    pub(super) fn finish(&mut self) -> Option<(Purpose, Reads)> {
        let around = self.at_work.checked_sub(1)?;
        let done = self.current();
        let purpose = std::mem::replace(&mut done.purpose, Purpose::Mask);
        let reads = done.take_reads();
        self.at_work = around;
        Some((purpose, reads))
    }
}
