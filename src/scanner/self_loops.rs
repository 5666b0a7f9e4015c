//! Which texts lead a point back to itself.
//!
//! The scanner's side of the contract of [`self_loops`](crate::util::self_loops).

use super::Scanner;
use super::points::{Point, PointId};
use crate::util::self_loops::{
    BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, NOT_ASCII, Within, group, step_utf8,
};

impl Scanner {
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
