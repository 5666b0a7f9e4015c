//! Texts that lead a point back to itself, or to other points of its class.
//!
//! This is the scanner's side of the contract of [`self_loops`](crate::util::self_loops).

use super::Scanner;
use super::product_state::{Point, PointId, Step};
use crate::util::self_loops::{
    ASCII, BETWEEN, CHARACTERS, CUT_CHARACTERS, Groups, LETTER, LETTERS, NOT_ASCII, Stretch,
    Within, characters_of, group,
};

/// Minimum number of pieces that are looked at beyond a point.
const PIECES_AHEAD: u8 = 8;

/// Maximum number of points that are looked at if texts spread and never lead back.
const SPREAD: usize = 64;

/// Maximum number if they lead back: a pattern that is searched for has a point for each of its
/// prefixes.
const WANDERED: usize = 512;

impl Scanner {
    /// Returns whether [`Scanner::stays`] may hold for a text that begins with this byte. One
    /// character shows that it does not for most points, which have no loops.
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
        // Past ASCII either all characters lead back or none does, so any one shows it.
        let [first, last] = [0xc3, 0xa9];
        let within = self.step_point(point, first).next();
        within.is_some_and(|within| {
            self.step_point(self.at_point(within), last).next() == Some(point.id)
        })
    }

    /// Returns whether every text of these groups leads back to this point, on a path where no
    /// lexeme ends and everything is of one class. The inside of a name, a string or a comment is
    /// such a text.
    #[inline]
    pub(crate) fn stays(&self, point: &Point, groups: Groups) -> bool {
        groups & !self.loops(point) == 0
    }

    /// Returns the groups of texts that lead back to this point.
    #[inline]
    pub(crate) fn loops(&self, point: &Point) -> Groups {
        *point.loops.get_or_init(|| self.find_loops(point))
    }

    #[cold]
    fn find_loops(&self, point: &Point) -> Groups {
        let loops = self.groups_to(point, point.id);
        if loops & NOT_ASCII == 0 { loops | self.characters_to(point, point) } else { loops }
    }

    /// Returns the texts that lead from the point to others of its class, of `pieces` pieces if
    /// possible. They include characters past ASCII only if `past_ascii` asks for them, because
    /// that takes time to find out.
    #[inline]
    pub(crate) fn stretch(&self, point: &Point, past_ascii: bool, pieces: u8) -> Stretch {
        let (known, is_all) = point.stretches[usize::from(past_ascii)].get();
        match is_all || known.length >= pieces {
            true => known,
            false if self.is_spread(point) => self.find_spread(point, past_ascii),
            false => self.find_stretch(point, past_ascii, pieces),
        }
    }

    /// Returns whether texts lead from this point to others of its class, and never back.
    pub(crate) fn counts(&self, point: &Point) -> bool {
        (1..u8::MAX).contains(&self.stretch(point, false, 1).length)
    }

    /// Returns whether letters lead from this point to several others of its class; or, if they
    /// lead back, whether anything else leads to others from which letters go on, as where a
    /// pattern is searched for.
    fn is_spread(&self, point: &Point) -> bool {
        let step = self.step_point(point, LETTER);
        let leads_back = step == point.back();
        let is_other = |byte: u8| {
            let other = self.step_point(point, byte);
            let alike = |&next: &PointId| self.is_alike(next, point);
            other != step
                && other
                    .next()
                    .filter(alike)
                    .is_some_and(|next| !leads_back || self.goes_on(self.at_point(next), point))
        };
        let mut classes = self.pieces().classes_of(if leads_back { ASCII } else { LETTERS });
        self.goes_on(point, point) && classes.any(|(byte, _)| is_other(byte))
    }

    /// Returns whether texts of any length lead from a point to others of its class, and some lead
    /// back.
    pub(crate) fn wanders(&self, point: &Point) -> bool {
        let Stretch { length, is_spread, .. } = self.stretch(point, true, u8::MAX);
        is_spread && length == u8::MAX
    }

    /// Returns whether a letter leads from `at` to a point of the class of `point`.
    fn goes_on(&self, at: &Point, point: &Point) -> bool {
        let next = self.step_point(at, LETTER).next();
        next.is_some_and(|next| self.is_alike(next, point))
    }

    /// Returns whether a point is of the class of `point`.
    fn is_alike(&self, next: PointId, point: &Point) -> bool {
        self.class_of(self.at_point(next)) == self.class_of(point)
    }

    /// Follows the texts from a point that leads to many others, piece by piece, as long as these
    /// are of its class and not too many.
    #[cold]
    fn find_spread(&self, point: &Point, past_ascii: bool) -> Stretch {
        let mut stretch = Stretch { groups: ASCII, length: 0, is_spread: true };
        if past_ascii {
            stretch.groups |= CHARACTERS | CUT_CHARACTERS;
        }
        let leads_back = self.step_point(point, LETTER) == point.back();
        let most = if leads_back { WANDERED } else { SPREAD };
        let mut met = vec![point.id];
        let mut level = 0;
        while level < met.len() {
            let last = met.len();
            let mut groups = stretch.groups;
            for at in level..last {
                groups = self.groups_within(self.at_point(met[at]), point, groups, &mut met);
            }
            if groups & group(LETTER) == 0 || met.len() > most {
                break;
            }
            stretch = Stretch { groups, length: stretch.length + 1, ..stretch };
            level = last;
        }
        if level == met.len() {
            stretch.length = u8::MAX;
        } else {
            met.truncate(1);
            if leads_back {
                stretch = Stretch { groups: self.loops(point), length: u8::MAX, is_spread: false };
            }
        }
        if stretch.length == 0 {
            stretch = Stretch::NONE;
        }
        for &id in &met {
            self.at_point(id).stretches[usize::from(past_ascii)].set(stretch, true);
        }
        stretch
    }

    /// Returns those of `groups` all of whose pieces lead from `from` to points of the class of
    /// `point` from which letters go on (unlike the beginning of an escape). Adds these points to
    /// `met`.
    fn groups_within(
        &self,
        from: &Point,
        point: &Point,
        mut groups: Groups,
        met: &mut Vec<PointId>,
    ) -> Groups {
        let mut leads_on = |next: PointId| {
            let goes_on = self.is_alike(next, point) && self.goes_on(self.at_point(next), point);
            if goes_on && !met.contains(&next) {
                met.push(next);
            }
            goes_on
        };
        for (byte, of_class) in self.pieces().classes_of(ASCII) {
            if groups & of_class == 0 {
                continue;
            }
            let step = self.step_point(from, byte);
            let is_on = step.next().is_some_and(|next| step == Step::to(next) && leads_on(next));
            if !is_on {
                groups &= !of_class;
            }
        }
        match groups & CHARACTERS {
            0 => groups,
            _ => {
                let class = self.class_of(point);
                groups & (self.characters(from, class, false, leads_on) | !NOT_ASCII)
            }
        }
    }

    /// Goes from letter to letter until the class changes, a point leads back to itself, or enough
    /// pieces have been read; then goes back and adds up the lengths.
    #[cold]
    fn find_stretch(&self, point: &Point, past_ascii: bool, pieces: u8) -> Stretch {
        let enough = usize::from(pieces.max(PIECES_AHEAD));
        let number = usize::from(past_ascii);
        let mut way: Vec<(&Point, &Point)> = Vec::new();
        let mut at = point;
        let (mut stretch, mut is_all) = loop {
            let (known, is_all) = at.stretches[number].get();
            if is_all || way.len() + usize::from(known.length) >= enough {
                break (known, is_all);
            }
            let step = self.step_point(at, LETTER);
            if step == at.back() {
                // No more counting from here.
                let end = Stretch { groups: self.loops(at), length: u8::MAX, is_spread: false };
                at.stretches[number].set(end, true);
                break (end, true);
            }
            let next =
                step.next().filter(|&next| step == Step::to(next)).map(|next| self.at_point(next));
            let Some(next) = next.filter(|next| self.class_of(next) == self.class_of(at)) else {
                at.stretches[number].set(Stretch::NONE, true);
                break (Stretch::NONE, true);
            };
            way.push((at, next));
            at = next;
        };
        for (at, next) in way.into_iter().rev() {
            let mut groups = match past_ascii {
                true => self.pieces_to(at, next),
                false => self.groups_to(at, next.id) & !NOT_ASCII,
            };
            if stretch.length > 0 {
                groups &= stretch.groups;
            }
            let length = match stretch.length {
                // One letter leads on, but not its whole group.
                _ if groups & group(LETTER) == 0 => 0,
                u8::MAX => u8::MAX,
                length => (length + 1).min(u8::MAX - 1),
            };
            (stretch, is_all) = match length {
                0 => (Stretch::NONE, true),
                _ => (Stretch { groups, length, ..stretch }, is_all),
            };
            at.stretches[number].set(stretch, is_all);
        }
        stretch
    }

    /// Returns the groups all of whose pieces lead from `point` to `next`, or to its class if cut.
    fn pieces_to(&self, point: &Point, next: &Point) -> Groups {
        self.groups_to(point, next.id) & !NOT_ASCII | self.characters_to(point, next)
    }

    /// Returns the groups all of whose bytes lead from `point` to `next`.
    fn groups_to(&self, point: &Point, next: PointId) -> Groups {
        // Nearly all bytes are needed.
        self.find_steps(point);
        let mut leaves = 0;
        for (byte, groups) in self.pieces().classes_of(Groups::MAX) {
            if groups & !leaves != 0 && self.step_point(point, byte) != Step::to(next) {
                leaves |= groups;
            }
        }
        !leaves
    }

    /// Returns which groups of whole and cut characters lead from `point` to `target`.
    fn characters_to(&self, point: &Point, target: &Point) -> Groups {
        self.characters(point, self.class_of(target), target.accepts, |next| next == target.id)
    }

    /// Returns which groups of whole and cut characters lead from `point` to targets of this class.
    /// If a lexeme may end before one of their bytes, that end must be refuted before the character
    /// is complete: by a later accept, which breaks the obligation.
    fn characters(
        &self,
        point: &Point,
        class: u32,
        targets_accept: bool,
        mut is_target: impl FnMut(PointId) -> bool,
    ) -> Groups {
        let mut of = |kind| self.characters_of(kind, point, class, targets_accept, &mut is_target);
        let mixed = characters_of(0xe2);
        of(mixed) | of((CHARACTERS | CUT_CHARACTERS) & !mixed)
    }

    /// Does the same for characters of one kind.
    fn characters_of(
        &self,
        kind: Groups,
        point: &Point,
        class: u32,
        targets_accept: bool,
        is_target: &mut impl FnMut(PointId) -> bool,
    ) -> Groups {
        let mut loops = kind;
        let mut seen: Vec<(Within, PointId)> = vec![(BETWEEN, point.id)];
        let mut at = 0;
        while let Some(&(within, from)) = seen.get(at) {
            at += 1;
            let from = self.at_point(from);
            for next in self.pieces().bytes_of(kind, within) {
                let within = next.place;
                let step = self.step_point(from, next.byte);
                let Some(next) = step.next() else { return 0 };
                if step.ended().is_some() {
                    loops &= if targets_accept { CHARACTERS } else { 0 };
                }
                if within == BETWEEN {
                    loops &= if is_target(next) { loops } else { 0 };
                } else {
                    if self.class_of(self.at_point(next)) != class {
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
