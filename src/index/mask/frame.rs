//! The tasks of a composition. Each task looks for some tokens, and owns its results, its reads and
//! its pending work.
//!
//! One task is running; those that need its result wait, with the task of the whole mask at the
//! bottom.

use smallvec::SmallVec;

use super::submask::{Site, Sites};
use super::work_list::{Agenda, Readings};
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
    /// Walks with pieces that have not been looked for yet, the next one last.
    pub(super) walks: SmallVec<[WalkPieces<'g>; 1]>,
    pub(super) agenda: Agenda,
}

/// The result that a task looks for.
pub(super) enum Purpose {
    /// The whole mask.
    Mask,
    /// A submask, which is kept.
    Submask(Site),
    /// The tokens of a base walk without these, on stacks for which no submask is kept. The task
    /// continues the reads of the enclosing task.
    Base(Option<StoredTokensId>),
}

/// A walk with pieces to look for.
pub(super) struct WalkPieces<'g> {
    pub(super) walk: &'g Walk,
    pub(super) from: Readings,
    pub(super) line: Line,
    /// The lexemes that the only reading takes, if known.
    pub(super) taking: Option<Taking<'g>>,
}

/// Why the mask of one way is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// The stack forks above what has to be read: each of its ways must be looked at by itself.
    PastFork,
    /// It takes too long: all ways must be looked at together.
    TooMuch,
}

/// All tasks of one composition.
pub(super) struct Tasks<'g> {
    /// The whole mask first; each task waits for the next one. After the running task come finished
    /// ones, whose memory is reused.
    all: Vec<Task<'g>>,
    /// Index of the running task.
    at_work: usize,
    pub(super) keeping: Keeping,
    /// Number of searches begun.
    begun: usize,
}

/// The parts of a composition that may be kept.
#[derive(Clone, Copy)]
pub(super) struct Keeping {
    /// Depth of the first fork of the stack that all of it uses.
    fork: Option<u32>,
    /// Whether submasks may be kept, and kept ones may be used.
    submasks: bool,
}

/// Maximum number of searches that one mask may begin. Submasks are looked for separately so that
/// they can be kept; if none is worth keeping, the readings of ambiguous texts would double with
/// each lexeme. The masks of real texts begin a few hundred.
const MAX_BEGUN: usize = 1 << 13;

/// Seldom do more tasks than this wait for each other.
const USUAL_TASKS: usize = 8;

/// Count for a search on stacks that have forked since: finding what they shift takes time
/// proportional to the size of the graph.
const COST_OF_A_FORK: usize = 16;

/// Steps of the mask for beginning a search.
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

    /// Drops all pending work.
    pub(super) fn abandon(&mut self) {
        self.sites.clear();
        self.walks.clear();
        self.agenda = Agenda::default();
    }

    /// Takes the reads so far.
    pub(super) fn take_reads(&mut self) -> Reads {
        std::mem::replace(&mut self.reads, Reads::none())
    }
}

impl Keeping {
    /// Returns whether results on this stack may be kept: it must be a single way down to the fork,
    /// below which nothing is read.
    pub(super) fn may_keep(self, stack: &Stack) -> bool {
        self.submasks && stack.first_fork() == self.fork
    }
}

impl<'g> Tasks<'g> {
    /// Creates the task of a mask, on a stack whose first fork is at this depth.
    pub(super) fn new(reads: Reads, fork: Option<u32>, submasks: bool) -> Self {
        let mut all = Vec::with_capacity(USUAL_TASKS);
        all.push(Task { reads, ..Task::new() });
        Self { all, at_work: 0, keeping: Keeping { fork, submasks }, begun: 0 }
    }

    /// Returns the running task.
    #[inline]
    pub(super) fn current(&mut self) -> &mut Task<'g> {
        &mut self.all[self.at_work]
    }

    /// Returns why no result will be found, if that is known by now.
    #[inline]
    pub(super) fn unfound(&self) -> Option<Unfound> {
        if self.all[self.at_work].reads.is_past_fork() {
            return Some(Unfound::PastFork);
        }
        (self.keeping.submasks && self.begun > MAX_BEGUN).then_some(Unfound::TooMuch)
    }

    /// Counts a search with these readings.
    pub(super) fn count(&mut self, readings: &Readings) {
        let forks = readings.iter().any(|at| at.stack.first_fork() != self.keeping.fork);
        self.begun += if forks { COST_OF_A_FORK } else { 1 };
        *self.current().reads.steps() += STEPS_OF_A_BEGINNING;
    }

    /// Begins the search for a submask.
    pub(super) fn begin(&mut self, site: Site) {
        let steps = *self.current().reads.steps();
        let reads = Reads::new(&site.stack, site.layout.lines(), steps);
        self.wait(reads, Purpose::Submask(site));
    }

    /// Begins the search for the tokens of a base walk.
    pub(super) fn begin_base(&mut self, except: Option<StoredTokensId>) {
        let reads = self.current().take_reads();
        self.wait(reads, Purpose::Base(except));
    }

    /// Suspends the running task and starts another.
    fn wait(&mut self, reads: Reads, purpose: Purpose) {
        self.at_work += 1;
        if self.at_work == self.all.len() {
            self.all.push(Task::new());
        }
        let task = self.current();
        (task.reads, task.purpose) = (reads, purpose);
    }

    /// Finishes the running task and resumes the enclosing one. Returns the purpose and the reads
    /// of the former; `None` if it was the mask.
    pub(super) fn finish(&mut self) -> Option<(Purpose, Reads)> {
        let around = self.at_work.checked_sub(1)?;
        let done = self.current();
        let purpose = std::mem::replace(&mut done.purpose, Purpose::Mask);
        let reads = done.take_reads();
        self.at_work = around;
        Some((purpose, reads))
    }
}
