//! Points: what bytes do to the lexeme in progress and to the obligations of those before it, as
//! one table.
//!
//! Until a lexeme ends, all that a byte does depends on the scan state and the obligations alone. A
//! *point* is such a pair. What was found out of a point and a byte is kept, so that a walk of the
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
    /// Those with obligations.
    pairs: Interner<(ScanStateId, ObligationsId)>,
    /// How many have been looked at.
    met: AtomicUsize,
    classes: Interner<Class>,
    ended: Interner<LexemeEnds>,
}

/// The steps of fewer classes of bytes than these are found one by one.
const FEW: usize = 5;

/// To find the class of a point may take this part of the steps of a decision. Where it takes more,
/// the point has a class of its own.
const CLASSES_OF_A_DECISION: usize = 16;

/// What a pair takes in tables that are never full.
const PAIR_BYTES: usize = 64;

/// The number of a point: that of its scan state, or where it has obligations the number of the
/// pair, marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PointId(u32);

/// Marks the number of a point with obligations.
const OBLIGED: u32 = 1 << 31;

/// Facts by point.
#[derive(Debug)]
pub(super) struct ByPoint<T> {
    /// Of points without obligations, which are asked for most.
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

    /// What is known of a point.
    #[inline]
    pub(super) fn get(&self, point: PointId) -> Option<&T> {
        let (slots, number) = self.place(point);
        slots.get(number)
    }

    /// The same, found by `find` where it is not known yet.
    #[inline]
    pub(super) fn get_or_init(&self, point: PointId, find: impl FnOnce() -> T) -> &T {
        let (slots, number) = self.place(point);
        slots.get_or_init(number, find)
    }
}

/// An end of a lexeme: its label, and what it leaves open; what the lexeme itself may yet match is
/// among that.
pub(super) type End = (TerminalId, ObligationsId);

/// Ways for a lexeme to end.
#[derive(Clone, Copy)]
pub(super) struct Found<'s> {
    /// Ascending.
    pub(super) ends: &'s [End],
    /// Whether there are no others: no limit was met.
    pub(super) is_whole: bool,
}

/// What the future of a token that ends at a point depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Class {
    /// What the lexeme can still become, as the number of a set of labels: nothing else is asked.
    Reach(u32),
    /// What the lexeme can still become, and what that leaves open.
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
    /// Whether a lexeme ends here, whatever follows: then no shorter one has ended.
    pub(crate) accepts: bool,
    /// Whether a lexeme may end here however it might go on.
    pub(crate) every_match: bool,
    /// Where lexemes are counted, and nothing else is left.
    pub(super) counting: Option<Counting>,
    /// The number of its class, or [`NO_CLASS`] where that has not been asked for.
    class: AtomicU32,
    /// As [`Scanner::loops`] finds them.
    pub(super) loops: OnceLock<Groups>,
    /// What [`Scanner::stretch`] has found, within ASCII and past it.
    pub(super) stretches: [KnownStretch; 2],
    /// By byte class.
    steps: Box<[AtomicU64]>,
    /// The classes of bytes with which anything goes on or ends.
    live: OnceLock<ClassSet>,
    /// Whether the steps of all of them were found at once.
    found: AtomicBool,
}

/// No class has this number.
const NO_CLASS: u32 = u32::MAX;

/// Where a point stands in the only terminal that is left, whose lexemes are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counting {
    pub(super) terminal: TerminalId,
    /// The state of the table.
    pub(super) at: u32,
    /// Texts of fewer characters reach no bound.
    pub(super) slack: u32,
}

/// A stretch as far as it is known, and whether that is all of it; nothing to begin with.
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

/// What a byte does to a point: whether the lexeme goes on, and whether it may have ended before
/// the byte. In the lower half 1 and the number of the next point, or 1; in the upper half 1 and
/// the number of what has ended, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u64);

impl Step {
    const UNKNOWN: u64 = 0;

    fn new(next: Option<PointId>, ended: Option<u32>) -> Self {
        let next = next.map_or(1, |point| u64::from(point.0) + 2);
        Self(next | ended.map_or(0, |ended| u64::from(ended) + 1) << 32)
    }

    /// The step that leads to a point, and says of no end.
    #[inline]
    pub(super) fn to(next: PointId) -> Self {
        Self::new(Some(next), None)
    }

    /// Whether the lexeme neither goes on nor may have ended before the byte.
    #[inline]
    pub(crate) fn is_dead(self) -> bool {
        self == Self::new(None, None)
    }

    /// The point after the byte, if the lexeme goes on.
    #[inline]
    pub(crate) fn next(self) -> Option<PointId> {
        (self.0 as u32).checked_sub(2).map(PointId)
    }

    /// If the lexeme may have ended before the byte: the number of its labels, each with the
    /// obligations behind the byte, those that the end adds among them.
    #[inline]
    pub(crate) fn ended(self) -> Option<u32> {
        ((self.0 >> 32) as u32).checked_sub(1)
    }
}

impl Points {
    /// Heap bytes, where a point tells so many classes of bytes apart. Costs a few loads.
    pub(super) fn bytes(&self, classes: usize) -> usize {
        (self.points.plain.room() + self.points.obliged.room()) * size_of::<Point>()
            + self.pairs.len() * PAIR_BYTES
            + self.met.load(Ordering::Relaxed) * classes * size_of::<AtomicU64>()
    }
}

impl Point {
    /// Of how many classes of bytes nothing is known.
    pub(super) fn unknown_steps(&self) -> usize {
        self.steps.iter().filter(|step| step.load(Ordering::Acquire) == Step::UNKNOWN).count()
    }

    /// As much as is known of its [`Scanner::stretch`].
    #[inline]
    pub(crate) fn known_stretch(&self, past_ascii: bool) -> Stretch {
        self.stretches[usize::from(past_ascii)].get().0
    }

    /// Whether only a terminal is left whose lexemes are counted.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.counting.is_some()
    }

    /// The step that leads back here, and says of no end.
    #[inline]
    pub(crate) fn back(&self) -> Step {
        Step::to(self.id)
    }
}

impl Scanner {
    /// The point of a scan state and obligations.
    pub(crate) fn point(&self, state: ScanStateId, obligations: ObligationsId) -> PointId {
        match obligations {
            ObligationsId::NONE => PointId(state.0),
            _ => PointId(self.points.pairs.intern((state, obligations)) | OBLIGED),
        }
    }

    /// What is known of a point.
    #[inline]
    pub(crate) fn at_point(&self, id: PointId) -> &Point {
        self.points.points.get_or_init(id, || self.new_point(id))
    }

    /// A point of which nothing has been asked.
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
            counting: self.counting(state, obligations),
            class: AtomicU32::new(NO_CLASS),
            loops: OnceLock::new(),
            stretches: <[KnownStretch; 2]>::default(),
            steps: steps.map(|_| AtomicU64::new(Step::UNKNOWN)).collect(),
            live: OnceLock::new(),
            found: AtomicBool::new(false),
        }
    }

    /// What `byte` does to a point. One load once it has been found out.
    #[inline]
    pub(crate) fn step_point(&self, point: &Point, byte: u8) -> Step {
        let class = usize::from(self.states().classes().get(byte));
        match point.steps[class].load(Ordering::Acquire) {
            Step::UNKNOWN => self.find_step(point, byte),
            known => Step(known),
        }
    }

    /// The classes of bytes with which the lexeme goes on from a point, or may have ended before
    /// them.
    #[inline]
    pub(crate) fn live<'s>(&self, point: &'s Point) -> &'s ClassSet {
        point.live.get_or_init(|| match self.may_end(point) {
            // Something is to be noted with every byte.
            true => self.states().classes().all(),
            false => self.states().live(point.state),
        })
    }

    /// The same for those who will ask for the steps of most of them: they are found at once, if
    /// they are many and no lexeme may end.
    #[inline]
    pub(crate) fn find_steps<'s>(&self, point: &'s Point) -> &'s ClassSet {
        // Threads that find them at the same time find the same.
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

    /// The classes of bytes that lead from both points to the same, if no lexeme may have ended.
    pub(crate) fn alike(&self, one: &Point, other: &Point) -> ClassSet {
        match self.may_end(one) || self.may_end(other) {
            true => ClassSet::default(),
            false => self.states().alike(one.state, other.state),
        }
    }

    /// Whether a byte may be anything but one with which the lexeme goes on, or does not.
    fn may_end(&self, point: &Point) -> bool {
        point.obligations != ObligationsId::NONE || self.states().label(point.state).is_some()
    }

    /// The point behind the first byte of a lexeme that begins at `start`, whose obligations
    /// already know the byte.
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
            // Most points ask for no more: no lexeme ends here, and nothing is open.
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

    /// The labels and the obligations that [`Step::ended`] gave a number.
    pub(crate) fn ended(&self, number: u32) -> &LexemeEnds {
        self.points.ended.get(number)
    }

    /// A number that points share whose futures are the same for tokens that end there.
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
                    Found { ends, is_whole: true } => Class::Ends(ends.into()),
                    _ => Class::Point(point.state, ObligationsId::NONE),
                }
            }
            obligations => Class::Point(point.state, obligations),
        };
        let number = self.points.classes.intern(class);
        // Another thread may have found it, and with other steps left another one.
        match point.class.compare_exchange(NO_CLASS, number, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => number,
            Err(known) => known,
        }
    }
}
