//! The frames of a composition. Each frame looks for some tokens, and owns its results, its reads
//! and its pending work.
//!
//! One frame is running; those that need its result wait, with the frame of the whole mask at the
//! bottom.

use smallvec::SmallVec;

use super::submask::{SubmaskRequest, SubmaskRequests};
use super::work_list::{Readings, WorkList};
use crate::index::tokens::{StoredTokensId, TokensId};
use crate::index::walk::Walk;
use crate::lr::stack::Stack;
use crate::scanner::configuration::AcceptedLabels;
use crate::scanner::{Line, Reads};

/// One composition of a mask or submask in progress.
pub(super) struct Frame<'g> {
    pub(super) purpose: Purpose,
    pub(super) reads: Reads,
    pub(super) found: SmallVec<[TokensId; 16]>,
    /// Submasks that have been met and not looked for yet.
    pub(super) requests: SubmaskRequests,
    /// Walks with parts that have not been looked for yet, the next one last.
    pub(super) walks: SmallVec<[WalkPieces<'g>; 1]>,
    pub(super) work_list: WorkList,
}

/// The result that a frame looks for.
pub(super) enum Purpose {
    /// The whole mask.
    Mask,
    /// A submask, which is kept.
    Submask(SubmaskRequest),
    /// The tokens of a base walk without these, on stacks for which no submask is kept. The frame
    /// continues the reads of the enclosing frame.
    Base(Option<StoredTokensId>),
}

/// A walk with parts to look for.
pub(super) struct WalkPieces<'g> {
    pub(super) walk: &'g Walk,
    pub(super) from: Readings,
    pub(super) line: Line,
    /// The lexemes that the only reading takes, if known.
    pub(super) taking: Option<AcceptedLabels<'g>>,
}

/// Why the mask of one way is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// The stack forks above what has to be read: each of its ways must be looked at by itself.
    PastFork,
    /// It takes too long: all ways must be looked at together.
    TooMuch,
}

/// All frames of one composition.
pub(super) struct FrameStack<'g> {
    /// The whole mask first; each frame waits for the next one. After the running frame come
    /// finished ones, whose memory is reused.
    all: Vec<Frame<'g>>,
    /// Index of the running frame.
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

/// Seldom do more frames than this wait for each other.
const USUAL_TASKS: usize = 8;

/// Count for a search on stacks that have forked since: finding what they shift takes time
/// proportional to the size of the graph.
const COST_OF_A_FORK: usize = 16;

/// Steps of the mask for beginning a search.
const STEPS_OF_A_BEGINNING: usize = 8;

impl Frame<'_> {
    fn new() -> Self {
        Self {
            purpose: Purpose::Mask,
            reads: Reads::none(),
            found: SmallVec::new(),
            requests: SubmaskRequests::new(),
            walks: SmallVec::new(),
            work_list: WorkList::default(),
        }
    }

    /// Drops all pending work.
    pub(super) fn abandon(&mut self) {
        self.requests.clear();
        self.walks.clear();
        self.work_list = WorkList::default();
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

impl<'g> FrameStack<'g> {
    /// Creates the frame of a mask, on a stack whose first fork is at this depth.
    pub(super) fn new(reads: Reads, fork: Option<u32>, submasks: bool) -> Self {
        let mut all = Vec::with_capacity(USUAL_TASKS);
        all.push(Frame { reads, ..Frame::new() });
        Self { all, at_work: 0, keeping: Keeping { fork, submasks }, begun: 0 }
    }

    /// Returns the running frame.
    #[inline]
    pub(super) fn current(&mut self) -> &mut Frame<'g> {
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
    pub(super) fn begin(&mut self, request: SubmaskRequest) {
        let steps = *self.current().reads.steps();
        let reads = Reads::new(&request.stack, request.layout.lines(), steps);
        self.wait(reads, Purpose::Submask(request));
    }

    /// Begins the search for the tokens of a base walk.
    pub(super) fn begin_base(&mut self, except: Option<StoredTokensId>) {
        let reads = self.current().take_reads();
        self.wait(reads, Purpose::Base(except));
    }

    /// Suspends the running frame and starts another.
    fn wait(&mut self, reads: Reads, purpose: Purpose) {
        self.at_work += 1;
        if self.at_work == self.all.len() {
            self.all.push(Frame::new());
        }
        let frame = self.current();
        (frame.reads, frame.purpose) = (reads, purpose);
    }

    /// Finishes the running frame and resumes the enclosing one. Returns the purpose and the reads
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
