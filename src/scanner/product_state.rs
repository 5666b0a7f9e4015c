//! Points: a transition table over bytes for the lexeme in progress and the obligations of those
//! before it.
//!
//! Until a lexeme ends, the effect of a byte depends only on the scan state and the obligations. A
//! *point* is such a pair. The step from a point over a byte is cached, so a walk of the
//! vocabulary's trie, which asks for hundreds of thousands of steps, pays one load for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::{LexemeEnds, ObligationsId, Scanner};
use crate::util::append::{Interner, Slots};
use crate::util::byte_classes::ClassSet;
use crate::util::id::{ScanStateId, TerminalId};
use crate::util::self_loops::{Groups, Stretch};

/// The points met so far.
#[derive(Debug, Default)]
pub(crate) struct Points {
    points: ByPoint<Point>,
    /// Points with obligations.
    pairs: Interner<(ScanStateId, ObligationsId)>,
    /// Number of points that have been looked at.
    met: AtomicUsize,
    classes: Interner<Class>,
    ended: Interner<LexemeEnds>,
}

/// Steps are computed one by one if fewer classes of bytes than this are live.
const FEW: usize = 5;

/// Computing the class of a point may take this fraction of the steps of a decision. If it takes
/// more, the point has a class of its own.
const CLASSES_OF_A_DECISION: usize = 16;

/// Memory of a pair in tables that are never full.
const PAIR_BYTES: usize = 64;

/// Number of a point: its scan state's number, or, if it has obligations, the number of the pair
/// with a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PointId(u32);

/// Flag in the number of a point with obligations.
const OBLIGED: u32 = 1 << 31;

/// Facts by point.
#[derive(Debug)]
pub(super) struct ByPoint<T> {
    /// Facts of points without obligations, which are asked for most.
    plain: Slots<T>,
    obliged: Slots<T>,
}

impl<T> Default for ByPoint<T> {
    fn default() -> Self {
        Self { plain: Slots::default(), obliged: Slots::default() }
    }
}

impl<T> ByPoint<T> {
    #[inline]
    fn place(&self, PointId(number): PointId) -> (&Slots<T>, u32) {
        match number.checked_sub(OBLIGED) {
            None => (&self.plain, number),
            Some(pair) => (&self.obliged, pair),
        }
    }

    /// Returns the facts known of a point.
    #[inline]
    pub(super) fn get(&self, point: PointId) -> Option<&T> {
        let (slots, number) = self.place(point);
        slots.get(number)
    }

    /// Returns the facts of a point, computed by `find` if they are not known yet.
    #[inline]
    pub(super) fn get_or_init(&self, point: PointId, find: impl FnOnce() -> T) -> &T {
        let (slots, number) = self.place(point);
        slots.get_or_init(number, find)
    }
}

/// An end of a lexeme: its label and the obligations that it leaves, including the longer matches
/// of the lexeme itself.
pub(super) type End = (TerminalId, ObligationsId);

/// Ways for a lexeme to end.
#[derive(Clone, Copy)]
pub(super) struct KnownEnds<'s> {
    /// Ascending.
    pub(super) ends: &'s [End],
    /// Whether there are no others: no limit was reached.
    pub(super) is_whole: bool,
}

/// The facts that determine the future of a token that ends at a point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Class {
    /// The labels that the lexeme can still get, as the number of a set, if nothing else matters.
    Reach(u32),
    /// The labels that the lexeme can still get, each with the obligations it leaves.
    Ends(Box<[End]>),
    /// The point itself.
    Point(ScanStateId, ObligationsId),
}

/// A scan state and obligations.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) id: PointId,
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// Whether a lexeme ends here, whatever follows. Then no shorter one has ended.
    pub(crate) accepts: bool,
    /// Whether a lexeme may end here even if a longer match follows.
    pub(crate) every_match: bool,
    /// Number of its class, or [`NO_CLASS`] if that has not been asked for.
    class: AtomicU32,
    /// Cache of [`Scanner::loops`].
    pub(super) loops: OnceLock<Groups>,
    /// Cache of [`Scanner::stretch`], within ASCII and past it.
    pub(super) stretches: [KnownStretch; 2],
    /// By byte class.
    steps: Box<[AtomicU64]>,
    /// The classes of bytes with which a lexeme goes on or ends.
    live: OnceLock<ClassSet>,
    /// Whether the steps over all of them were computed at once.
    found: AtomicBool,
}

/// Not the number of any class.
const NO_CLASS: u32 = u32::MAX;

/// The known part of a stretch, and whether it is complete; initially empty.
#[derive(Debug, Default)]
pub(super) struct KnownStretch(AtomicU64);

impl KnownStretch {
    const ALL: u64 = 1 << 40;
    const SPREAD: u64 = 1 << 41;

    #[inline]
    pub(super) fn get(&self) -> (Stretch, bool) {
        let known = self.0.load(Ordering::Acquire);
        let is_spread = known & Self::SPREAD != 0;
        let stretch = Stretch { groups: known as u32, length: (known >> 32) as u8, is_spread };
        (stretch, known & Self::ALL != 0)
    }

    pub(super) fn set(&self, stretch: Stretch, is_all: bool) {
        let Stretch { groups, length, is_spread } = stretch;
        let flags = if is_all { Self::ALL } else { 0 } | if is_spread { Self::SPREAD } else { 0 };
        self.0.store(u64::from(groups) | u64::from(length) << 32 | flags, Ordering::Release);
    }
}

/// The effect of a byte on a point: whether the lexeme goes on, and whether it may have ended
/// before the byte. The lower half is the number of the next point plus 2, or 1; the upper half is
/// the number of the ends plus 1, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u64);

impl Step {
    const UNKNOWN: u64 = 0;

    fn new(next: Option<PointId>, ended: Option<u32>) -> Self {
        let next = next.map_or(1, |point| u64::from(point.0) + 2);
        Self(next | ended.map_or(0, |ended| u64::from(ended) + 1) << 32)
    }

    /// Returns the step that leads to a point, without an end.
    #[inline]
    pub(super) fn to(next: PointId) -> Self {
        Self::new(Some(next), None)
    }

    /// Returns the point after the byte, if the lexeme goes on.
    #[inline]
    pub(crate) fn next(self) -> Option<PointId> {
        (self.0 as u32).checked_sub(2).map(PointId)
    }

    /// Returns the number of the lexeme's ends, if it may have ended before the byte: labels, each
    /// with the obligations after the byte, including those that the end adds.
    #[inline]
    pub(crate) fn ended(self) -> Option<u32> {
        ((self.0 >> 32) as u32).checked_sub(1)
    }
}

impl Points {
    /// Returns the heap bytes, if a point distinguishes `classes` classes of bytes. Costs a few
    /// loads.
    pub(super) fn bytes(&self, classes: usize) -> usize {
        (self.points.plain.room() + self.points.obliged.room()) * size_of::<Point>()
            + self.pairs.len() * PAIR_BYTES
            + self.met.load(Ordering::Relaxed) * classes * size_of::<AtomicU64>()
    }
}

impl Point {
    /// Returns the number of classes of bytes over which the step is not known.
    pub(super) fn unknown_steps(&self) -> usize {
        self.steps.iter().filter(|step| step.load(Ordering::Acquire) == Step::UNKNOWN).count()
    }

    /// Returns the known part of its [`Scanner::stretch`].
    #[inline]
    pub(crate) fn known_stretch(&self, past_ascii: bool) -> Stretch {
        self.stretches[usize::from(past_ascii)].get().0
    }

    /// Returns the step that leads back here, without an end.
    #[inline]
    pub(crate) fn back(&self) -> Step {
        Step::to(self.id)
    }
}

impl Scanner {
    /// Returns the point of a scan state and obligations.
    pub(crate) fn point(&self, state: ScanStateId, obligations: ObligationsId) -> PointId {
        match obligations {
            ObligationsId::NONE => PointId(state.0),
            _ => PointId(self.points.pairs.intern((state, obligations)) | OBLIGED),
        }
    }

    /// Returns the facts of a point.
    #[inline]
    pub(crate) fn at_point(&self, id: PointId) -> &Point {
        self.points.points.get_or_init(id, || self.new_point(id))
    }

    /// Creates a point with nothing computed yet.
    fn new_point(&self, id: PointId) -> Point {
        let Points { pairs, met, .. } = &self.points;
        met.fetch_add(1, Ordering::Relaxed);
        let (state, obligations) = match id.0.checked_sub(OBLIGED) {
            None => (ScanStateId(id.0), ObligationsId::NONE),
            Some(pair) => *pairs.get(pair),
        };
        let steps = self.states().classes().representatives().iter();
        Point {
            id,
            state,
            obligations,
            accepts: self.states().accepts_surely(state),
            every_match: self.states().is_every_match(state),
            class: AtomicU32::new(NO_CLASS),
            loops: OnceLock::new(),
            stretches: <[KnownStretch; 2]>::default(),
            steps: steps.map(|_| AtomicU64::new(Step::UNKNOWN)).collect(),
            live: OnceLock::new(),
            found: AtomicBool::new(false),
        }
    }

    /// Returns the effect of `byte` on a point. One load if it is known.
    #[inline]
    pub(crate) fn step_point(&self, point: &Point, byte: u8) -> Step {
        let class = usize::from(self.states().classes().get(byte));
        match point.steps[class].load(Ordering::Acquire) {
            Step::UNKNOWN => self.find_step(point, byte),
            known => Step(known),
        }
    }

    /// Returns the classes of bytes with which the lexeme goes on from a point, or before which it
    /// may have ended.
    #[inline]
    pub(crate) fn live<'s>(&self, point: &'s Point) -> &'s ClassSet {
        point.live.get_or_init(|| match self.may_end(point) {
            // Every byte has something to note.
            true => self.states().classes().all(),
            false => self.states().live(point.state),
        })
    }

    /// Returns the same set for callers that need most of these steps. Computes them all at once if
    /// they are many and no lexeme may end.
    #[inline]
    pub(crate) fn find_steps<'s>(&self, point: &'s Point) -> &'s ClassSet {
        // Threads that compute them at the same time get the same result.
        if !point.found.load(Ordering::Acquire) {
            self.find_all(point);
            point.found.store(true, Ordering::Release);
        }
        self.live(point)
    }

    #[cold]
    fn find_all(&self, point: &Point) {
        if self.may_end(point) || self.live(point).iter().take(FEW).count() < FEW {
            return;
        }
        let mut dead = self.states().classes().all();
        let note = |step: Step, classes: ClassSet| {
            for class in classes.iter() {
                point.steps[usize::from(class)].store(step.0, Ordering::Release);
            }
        };
        for (next, classes) in self.states().moves(point.state) {
            note(Step::to(self.point(next, point.obligations)), classes);
            dead = dead.difference(classes);
        }
        note(Step::new(None, None), dead);
    }

    /// Returns whether a byte may do anything other than continue the lexeme or kill it.
    fn may_end(&self, point: &Point) -> bool {
        point.obligations != ObligationsId::NONE || self.states().label(point.state).is_some()
    }

    /// Returns the point after the first byte of a lexeme that begins at `start`, whose obligations
    /// have already read the byte.
    #[inline]
    pub(crate) fn begin_at_point(&self, start: &Point, byte: u8) -> Option<&Point> {
        let id = match start.obligations {
            ObligationsId::NONE => self.step_point(start, byte).next()?,
            obligations => {
                let state = self.states().next(start.state, byte)?;
                self.point(state, self.keep_obligations(obligations, state))
            }
        };
        Some(self.at_point(id))
    }

    #[cold]
    fn find_step(&self, point: &Point, byte: u8) -> Step {
        let step = match self.step_obligations(point.obligations, byte) {
            None => Step::new(None, None),
            // True of most points: no lexeme ends here, and there are no obligations.
            Some(ObligationsId::NONE) if !self.may_end(point) => {
                let next = self.states().next(point.state, byte);
                Step::new(next.map(|next| self.point(next, ObligationsId::NONE)), None)
            }
            Some(obligations) => {
                let next = self.states().next(point.state, byte);
                let ended = self.end_before(point.state, byte, next, obligations);
                let next =
                    next.map(|next| self.point(next, self.keep_obligations(obligations, next)));
                Step::new(next, (!ended.is_empty()).then(|| self.points.ended.intern(ended)))
            }
        };
        let class = usize::from(self.states().classes().get(byte));
        point.steps[class].store(step.0, Ordering::Release);
        step
    }

    /// Returns the labels and obligations with the number from [`Step::ended`].
    pub(crate) fn ended(&self, number: u32) -> &LexemeEnds {
        self.points.ended.get(number)
    }

    /// Returns a number shared by all points that have the same future for tokens that end there.
    #[inline]
    pub(crate) fn class_of(&self, point: &Point) -> u32 {
        match point.class.load(Ordering::Acquire) {
            NO_CLASS => self.find_class(point),
            known => known,
        }
    }

    #[cold]
    fn find_class(&self, point: &Point) -> u32 {
        let class = match point.obligations {
            ObligationsId::NONE if self.settles_at_sight(point.state) => {
                Class::Reach(self.states().reach(point.state))
            }
            ObligationsId::NONE => {
                let mut left = self.bounds.decision_steps / CLASSES_OF_A_DECISION;
                match self.ends(point.id, &mut left) {
                    KnownEnds { ends, is_whole: true } => Class::Ends(ends.into()),
                    _ => Class::Point(point.state, ObligationsId::NONE),
                }
            }
            obligations => Class::Point(point.state, obligations),
        };
        let number = self.points.classes.intern(class);
        // Another thread may have computed it, with a different result if it had other steps left.
        match point.class.compare_exchange(NO_CLASS, number, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => number,
            Err(known) => known,
        }
    }
}
