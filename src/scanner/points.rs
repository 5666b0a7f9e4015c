//! Points: what bytes do to the lexeme in progress and to the obligations of those before it, as
//! one table.
//!
//! Until a lexeme ends, all that a byte does depends on the scan state and the obligations alone. A
//! *point* is such a pair. What was found out of a point and a byte is kept, so that a walk of the
//! vocabulary's trie, which asks for hundreds of thousands of steps, pays one load for each.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::viability::End;
use super::{LexemeEnds, ObligationsId, Scanner};
use crate::util::append::{Interner, Slots};
use crate::util::byte_groups::{
    BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, NOT_ASCII, Within, group, step_utf8,
};
use crate::util::id::ScanStateId;

/// The points met so far.
#[derive(Debug, Default)]
pub(crate) struct Points {
    keys: Interner<(ScanStateId, ObligationsId)>,
    /// By scan state: the number without obligations, which is asked for most.
    plain: Slots<PointId>,
    points: Slots<Point>,
    classes: Interner<Class>,
    ended: Interner<LexemeEnds>,
}

/// The number of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PointId(pub(super) u32);

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
    class: OnceLock<u32>,
    loops: OnceLock<Groups>,
    /// By byte class.
    steps: Box<[AtomicU64]>,
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

impl Point {
    /// The step that leads back here, and says of no end.
    #[inline]
    pub(crate) fn back(&self) -> Step {
        Step::new(Some(self.id), None)
    }
}

impl Scanner {
    /// The point of a scan state and obligations.
    pub(crate) fn point(&self, state: ScanStateId, obligations: ObligationsId) -> PointId {
        let number = || PointId(self.points.keys.intern((state, obligations)));
        match obligations {
            ObligationsId::NONE => *self.points.plain.get_or_init(state.0, number),
            _ => number(),
        }
    }

    /// What is known of a point.
    #[inline]
    pub(crate) fn at_point(&self, id: PointId) -> &Point {
        self.points.points.get_or_init(id.0, || {
            let &(state, obligations) = self.points.keys.get(id.0);
            let steps = self.states().classes().representatives().iter();
            Point {
                id,
                state,
                obligations,
                accepts: self.states().accepts_surely(state),
                class: OnceLock::new(),
                loops: OnceLock::new(),
                steps: steps.map(|_| AtomicU64::new(Step::UNKNOWN)).collect(),
            }
        })
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
            Some(obligations) => {
                let next = self.states().next(point.state, byte);
                let ended = self.end_before(point.state, byte, next, obligations);
                let next = next.map(|next| self.point(next, self.keep_obligations(obligations, next)));
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
        *point.class.get_or_init(|| {
            let class = match point.obligations {
                ObligationsId::NONE if self.settles_at_sight(point.state) => {
                    Class::Reach(self.states().reach(point.state))
                }
                ObligationsId::NONE => Class::Ends(self.ends(point.id).into()),
                obligations => Class::Point(point.state, obligations),
            };
            self.points.classes.intern(class)
        })
    }

    /// Whether a text that begins with this byte can be one of those for which [`Scanner::stays`]
    /// holds: one character shows it for most points, which stay nowhere.
    #[inline]
    pub(crate) fn may_stay(&self, point: &Point, first: u8) -> bool {
        match first {
            0..0x80 => self.step_point(point, first) == point.back(),
            _ => self.stays_past_ascii(point),
        }
    }

    fn stays_past_ascii(&self, point: &Point) -> bool {
        if let Some(&loops) = point.loops.get() {
            return loops & NOT_ASCII != 0;
        }
        // Past ASCII all characters lead back, or none of them does: any one shows it.
        let [first, last] = [0xc3, 0xa9];
        let within = self.step_point(point, first).next();
        within.is_some_and(|within| self.step_point(self.at_point(within), last).next() == Some(point.id))
    }

    /// Whether a text of these groups can be anything but a way back to this point, on which no
    /// lexeme ends and all is of one class. The inside of a name, a string, a comment is such a
    /// text.
    #[inline]
    pub(crate) fn stays(&self, point: &Point, groups: Groups) -> bool {
        groups & !self.loops(point) == 0
    }

    /// The groups of texts that are a way back to this point.
    #[inline]
    pub(crate) fn loops(&self, point: &Point) -> Groups {
        *point.loops.get_or_init(|| self.find_loops(point))
    }

    #[cold]
    fn find_loops(&self, point: &Point) -> Groups {
        let leaves = |&byte: &u8| self.step_point(point, byte) != point.back();
        let loops = !(0..=255).filter(leaves).fold(0, |all, byte| all | group(byte));
        if loops & NOT_ASCII == 0 { loops | self.find_character_loops(point) } else { loops }
    }

    /// Which of whole and cut characters lead back to `point`. Where a lexeme may end before one of
    /// their bytes, that must be refuted before the character ends: by an accept behind it, which
    /// breaks the obligation.
    fn find_character_loops(&self, point: &Point) -> Groups {
        let mut loops = CHARACTERS | CUT_CHARACTERS;
        let mut seen: Vec<(Within, PointId)> = vec![(BETWEEN, point.id)];
        let mut at = 0;
        while let Some(&(within, from)) = seen.get(at) {
            at += 1;
            let from = self.at_point(from);
            let mut before = None;
            for byte in 0x80..=0xff {
                let Some(within) = step_utf8(within, byte) else { continue };
                // Neighbours are mostly alike.
                let alike = Some((within, self.states().classes().get(byte)));
                if std::mem::replace(&mut before, alike) == alike {
                    continue;
                }
                let step = self.step_point(from, byte);
                let Some(next) = step.next() else { return 0 };
                if step.ended().is_some() {
                    loops &= if point.accepts { CHARACTERS } else { 0 };
                }
                if within == BETWEEN {
                    loops &= if next == point.id { loops } else { 0 };
                } else {
                    if self.class_of(self.at_point(next)) != self.class_of(point) {
                        loops &= CHARACTERS;
                    }
                    if !seen.contains(&(within, next)) {
                        seen.push((within, next));
                    }
                }
                if loops == 0 {
                    return 0;
                }
            }
        }
        loops
    }
}
