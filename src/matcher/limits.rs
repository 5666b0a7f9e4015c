//! Limits on the readings that are kept from one token to the next.
//!
//! All of them, nearly always. There is a limit to how many, and one to the steps that a text may
//! take: to follow them where their stacks fork, and to decide whether they can be completed. Past
//! it one reading is kept at the end of each token. It can be completed, so masks are too narrow
//! then, but neither wrong nor empty.
//!
//! One reading may go on to take as much at each token. So a text that has taken as many steps more
//! as [`MASKS`] masks may is given up: it may end, where it is a sentence, and no token may follow.
//! From the limit on a token is charged only for what it takes beyond [`FREE`], which most never
//! do: no text is given up for its length.

use smallvec::SmallVec;

use super::{Matcher, Moment};
use crate::scanner::configuration::Configuration;
use crate::scanner::{Bounds, Reads, STEPS_OF_FOLLOWING, Scanner};

/// How many steps a text has taken, as [`Moment::spend`] counts them. In three bytes, for which
/// there is room: a moment is kept for each token of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent([u8; 3]);

/// What it took to follow readings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Followed {
    /// Number of steps taken because stacks fork.
    pub(super) steps: usize,
    /// Steps of deciding whether they can be completed.
    pub(super) decided: usize,
    /// How many were dropped for that at least.
    pub(super) dropped: u32,
}

impl Spent {
    /// Greatest value; larger ones are clamped to it.
    const MOST: u32 = (1 << 24) - 1;

    fn get(self) -> u32 {
        let [first, second, third] = self.0;
        u32::from_le_bytes([first, second, third, 0])
    }

    fn add(&mut self, steps: usize) {
        let steps = u32::try_from(steps).unwrap_or(Self::MOST);
        let [first, second, third, _] =
            self.get().saturating_add(steps).min(Self::MOST).to_le_bytes();
        self.0 = [first, second, third];
    }

    /// Whether one reading is to be kept.
    #[inline]
    fn is_past(self, bounds: Bounds) -> bool {
        self.get() as usize > bounds.reading_steps
    }

    /// Whether none is.
    fn is_all(self, bounds: Bounds) -> bool {
        let more = MASKS * (bounds.mask_steps / STEPS_OF_FOLLOWING);
        self.get() as usize >= bounds.reading_steps.saturating_add(more).min(Self::MOST as usize)
    }

    /// What was taken where there were more.
    pub(super) fn max(self, other: Self) -> Self {
        if other.get() > self.get() { other } else { self }
    }
}

/// Bytes of scanner memory that are charged as one step of following readings. The scanner never
/// frees the states that it creates for a text.
const BYTES_OF_A_STEP: usize = 64;

/// Steps of decisions that no token is charged for: most take far fewer.
const FREE: usize = 2_000;

/// Masks whose steps a text may take after its own limit is reached.
const MASKS: usize = 2;

impl Matcher {
    /// How many readings of the text so far were dropped, because there were more than
    /// [`Limits::readings`] at the end of a token, or more than one when
    /// [`Limits::reading_steps`] were spent, or [`Limits::mask_steps`] within a token. As long as
    /// this is 0 masks are exact; else they may be too narrow. None is ever too wide, and none is
    /// empty, because each reading that was kept can be completed: but for a text that is given up,
    /// as [`Limits::reading_steps`] says.
    ///
    /// [`Limits::readings`]: crate::Limits::readings
    /// [`Limits::reading_steps`]: crate::Limits::reading_steps
    /// [`Limits::mask_steps`]: crate::Limits::mask_steps
    pub fn dropped_readings(&self) -> usize {
        let given_up = if self.is_given_up(&self.now) { self.now.readings.len() } else { 0 };
        self.now.dropped as usize + given_up
    }

    /// Charges a moment for the growth of the scanner since the last call, by the masks and tokens
    /// of this text and of concurrent ones. This keeps any text from growing the scanner without
    /// limit.
    pub(super) fn charged(&mut self, mut next: Moment) -> Moment {
        let met = self.index.scanner().met_bytes();
        next.spent.add(met.saturating_sub(self.met) / BYTES_OF_A_STEP);
        self.met = met;
        next
    }

    /// Whether a text has taken all the steps that it may: no token may follow.
    #[inline]
    pub(super) fn is_given_up(&self, at: &Moment) -> bool {
        at.spent.is_past(self.index.scanner().bounds())
            && at.spent.is_all(self.index.scanner().bounds())
    }
}

impl Moment {
    /// Limits the number of readings; if the steps are spent, keeps one reading on one stack.
    pub(super) fn limit(&mut self, scanner: &Scanner) {
        let bounds = scanner.bounds();
        if self.spent.is_past(bounds) && self.has_several_stacks() {
            let mut reads = Reads::none();
            if let Some((place, one)) = self.one_way(scanner, &mut reads) {
                // A graph stands for two stacks at least.
                self.dropped = self.dropped.saturating_add(self.readings.len().max(2) as u32 - 1);
                self.notes = self.notes.only(place);
                self.readings = SmallVec::from_iter([one]);
            }
            self.spend(Followed { decided: *reads.steps(), ..Followed::default() }, scanner);
        }
        let dropped = self.readings.len().saturating_sub(bounds.readings);
        self.readings.truncate(bounds.readings);
        self.dropped = self.dropped.saturating_add(dropped as u32);
    }

    /// So much more was taken for a token.
    pub(super) fn spend(&mut self, followed: Followed, scanner: &Scanner) {
        let decided = followed.decided.saturating_sub(FREE) / STEPS_OF_FOLLOWING;
        let free = match self.spent.is_past(scanner.bounds()) {
            true => FREE / STEPS_OF_FOLLOWING,
            false => 0,
        };
        self.spent.add(followed.steps.saturating_sub(free) + decided);
    }

    fn has_several_stacks(&self) -> bool {
        !matches!(&self.readings[..], [only] if only.stack.first_fork().is_none())
    }

    /// A reading that can be completed on one stack, and its place: the first of those that leave
    /// the fewest obligations, for these tell ever more readings apart.
    fn one_way(&self, scanner: &Scanner, reads: &mut Reads) -> Option<(usize, Configuration)> {
        let mut readings: Vec<_> = self.readings.iter().enumerate().collect();
        readings.sort_by_key(|(_, reading)| scanner.obligations(reading.obligations).len());
        readings.into_iter().find_map(|(place, reading)| {
            Some((place, scanner.one_way(reading, self.is_between(place), reads)?))
        })
    }
}
