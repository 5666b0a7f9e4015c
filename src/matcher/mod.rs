//! One sequence being generated: its mask, its next token, its history.

mod batch;
mod captures;
mod completion;
mod distinct;
mod expected;
mod history;
mod kept;
mod lines;
mod mask;
mod noted;
mod one_reading;
mod text_so_far;
mod value_map;
mod values;

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::index::Index;
use crate::scanner::configuration::{Configuration, Readings};
use crate::scanner::{Reads, STEPS_OF_FOLLOWING};
use crate::util::id::TokenId;

pub use batch::fill_masks;
pub use captures::Capture;
use captures::Said;
pub use expected::Expected;
use history::History;
use kept::{Followed, Spent};
pub use mask::TokenMask;
use noted::{Note, Notes};

/// One sequence being generated under a constraint.
///
/// A matcher is cheap to make and to clone: parse stacks and what can be taken back are shared
/// between all matchers that have a history in common, and what one matcher learns of the grammar
/// all others know. It holds 90 bytes or so for each step that can be taken back, and 48 for each
/// state that it has put on the parse stack: for a text in tokens of a large vocabulary at most 64
/// bytes a byte (96 if it does nothing but nest), for one taken byte by byte at most 136. Where
/// items of arrays must differ, each of their bytes takes some 200 more. Every call is defined at
/// any time and for any id; none panics.
#[derive(Clone)]
pub struct Matcher {
    index: Arc<Index>,
    /// What holds now.
    now: Moment,
    /// What held before each step, oldest first.
    history: History<Moment>,
    /// What each step took, where the grammar wants to know what its rules derive.
    said: History<Said>,
}

/// The state of a sequence between two steps.
#[derive(Clone, Debug)]
struct Moment {
    /// The readings of the text so far; at least one, and each viable.
    readings: SmallVec<[Configuration; 1]>,
    notes: Notes,
    progress: Progress,
    /// How many readings were dropped, one token after another.
    dropped: u32,
    /// How many steps were taken to follow the readings where their stacks fork.
    spent: Spent,
}

/// Where the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// No byte yet.
    Fresh,
    /// Some bytes.
    Begun,
    /// A stop token was taken.
    Finished,
}

/// So many bytes of a text that is no token are read before its readings are limited.
const PIECE: usize = 8;

/// A token or text that the grammar does not allow at this point. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedToken {
    token: Option<TokenId>,
    accepted: usize,
}

impl RejectedToken {
    /// The token that was refused; `None` when bytes were.
    pub fn token(&self) -> Option<TokenId> {
        self.token
    }

    /// How many of the leading bytes are viable: the byte at this offset is the first one that no
    /// sentence has there.
    pub fn accepted_bytes(&self) -> usize {
        self.accepted
    }
}

impl fmt::Display for RejectedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.token {
            Some(token) => write!(f, "token {token} is not allowed here")?,
            None => write!(f, "these bytes are not allowed here")?,
        }
        write!(f, " (the first {} bytes are); the mask tells which tokens are", self.accepted)
    }
}

impl std::error::Error for RejectedToken {}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("now", &self.now)
            .field("steps", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Matcher {
    /// A matcher before the first token.
    pub(crate) fn new(index: Arc<Index>) -> Self {
        let readings = index.scanner().initial();
        let notes = Notes::before(readings.len(), index.scanner());
        Self {
            index,
            now: Moment {
                readings,
                notes,
                progress: Progress::Fresh,
                dropped: 0,
                spent: Spent::default(),
            },
            history: History::default(),
            said: History::default(),
        }
    }

    /// Makes `mask` say which tokens may come next: bit `t` is set exactly when the text so far and
    /// the bytes of `t` begin some sentence, and the stop tokens' bits exactly when the text so far
    /// is one. After a stop token only the stop tokens are allowed.
    ///
    /// A step that any sequence of the same constraint has seen before costs a few look-ups and a
    /// copy of the mask; a new one some microseconds to a millisecond.
    pub fn fill_mask(&self, mask: &mut TokenMask) {
        mask.resize(self.index.vocabulary().width());
        self.fill_row(mask.words_mut());
    }

    /// The same into a row of the caller's, bit `t % 32` of word `t / 32`. Words past the
    /// vocabulary's width are cleared; where the row is shorter, it holds the tokens that it has
    /// room for. A row that begins at a multiple of 64 bytes is written fastest.
    pub fn fill_mask_into(&self, row: &mut [u32]) {
        let words = self.index.words();
        if row.len() >= words {
            let (row, rest) = row.split_at_mut(words);
            rest.fill(0);
            self.fill_row(row);
        } else {
            let mut whole = vec![0; words];
            self.fill_row(&mut whole);
            row.copy_from_slice(&whole[..row.len()]);
        }
    }

    fn fill_row(&self, row: &mut [u32]) {
        if self.is_finished() {
            row.fill(0);
            return self.index.allow_end(row);
        }
        if !self.has_notes() {
            return self.index.write_mask(
                &self.now.readings,
                self.now.progress == Progress::Fresh,
                row,
            );
        }
        let mut masks = [true, false].into_iter().filter_map(|between| {
            let readings = self.now.are_between(between);
            (!readings.is_empty()).then_some((between, readings))
        });
        let Some((between, readings)) = masks.next() else { return row.fill(0) };
        self.index.write_mask(&readings, between, row);
        if let Some((between, readings)) = masks.next() {
            let mut other = vec![0; row.len()];
            self.index.write_mask(&readings, between, &mut other);
            row.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
        }
        if self.index.scanner().lexis().has_distinct() {
            self.take_out_repeated(row);
        }
    }

    /// Whether `token` may come next, without the mask: costs the token's bytes.
    pub fn allows(&self, token: impl Into<TokenId>) -> bool {
        self.after_token(&self.now, token.into()).is_ok()
    }

    /// Takes `token`. Succeeds exactly when its bit is set.
    ///
    /// # Errors
    ///
    /// When the token is not allowed; nothing has changed then.
    pub fn advance(&mut self, token: impl Into<TokenId>) -> Result<(), RejectedToken> {
        let token = token.into();
        let next = self.after_token(&self.now, token)?;
        self.note(|| Said::Token(token));
        self.history.push(std::mem::replace(&mut self.now, next));
        Ok(())
    }

    /// Takes bytes that come from elsewhere (a prompt that the grammar covers, a forced text) as
    /// one step.
    ///
    /// # Errors
    ///
    /// When the text so far and these bytes do not begin a sentence; nothing has changed then.
    pub fn advance_bytes(&mut self, bytes: &[u8]) -> Result<(), RejectedToken> {
        // Bytes are text: no token is meant by them.
        let mark = self
            .index
            .spelled()
            .mark()
            .and_then(|mark| bytes.iter().position(|&byte| byte == mark));
        if let Some(mark) = mark {
            let accepted = self.after_bytes(&self.now, &bytes[..mark]).err().unwrap_or(mark);
            return Err(RejectedToken { token: None, accepted });
        }
        let next = self
            .after_text(&self.now, bytes)
            .map_err(|accepted| RejectedToken { token: None, accepted })?;
        self.note(|| Said::Bytes(bytes.into()));
        self.history.push(std::mem::replace(&mut self.now, next));
        Ok(())
    }

    /// How many of these tokens, from the first on, could be taken one after the other. Changes
    /// nothing.
    pub fn validate(&self, tokens: impl IntoIterator<Item: Into<TokenId>>) -> usize {
        let mut now = self.now.clone();
        let mut count = 0;
        for token in tokens {
            match self.after_token(&now, token.into()) {
                Ok(next) => now = next,
                Err(_) => break,
            }
            count += 1;
        }
        count
    }

    /// Takes back the last `steps` successful calls of [`Matcher::advance`] and
    /// [`Matcher::advance_bytes`], stop tokens among them; all of them when there were fewer.
    /// Returns how many were taken back.
    pub fn rollback(&mut self, steps: usize) -> usize {
        let steps = steps.min(self.history.len());
        for before in std::iter::from_fn(|| self.history.pop()).take(steps) {
            self.now = before;
            self.said.pop();
        }
        steps
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        self.rollback(usize::MAX);
        self.history = History::default();
        self.said = History::default();
    }

    /// How many steps can be taken back.
    pub fn steps(&self) -> usize {
        self.history.len()
    }

    /// Whether the text so far is a sentence: exactly then a stop token is allowed.
    pub fn is_accepting(&self) -> bool {
        let scanner = self.index.scanner();
        let mut readings = self.now.readings.iter().enumerate();
        self.is_finished()
            || readings.any(|(place, at)| match self.now.is_between(place) {
                true => scanner.is_complete_between(at, &mut Reads::none()),
                false => scanner.is_complete(at, &mut Reads::none()),
            })
    }

    /// How many readings of the text so far were dropped, because there were more than
    /// [`Limits::readings`] at the end of a token, or more than one when
    /// [`Limits::reading_steps`] were spent, or [`Limits::mask_steps`] within a token. As long as
    /// this is 0 masks are exact; else they may be too narrow. None is ever too wide, and none is
    /// empty: each reading that was kept can be completed.
    ///
    /// [`Limits::readings`]: crate::Limits::readings
    /// [`Limits::reading_steps`]: crate::Limits::reading_steps
    /// [`Limits::mask_steps`]: crate::Limits::mask_steps
    pub fn dropped_readings(&self) -> usize {
        self.now.dropped as usize
    }

    /// Whether a stop token was taken.
    pub fn is_finished(&self) -> bool {
        self.now.progress == Progress::Finished
    }

    /// The bytes that must come next whatever the model says: as long as the text so far is not a
    /// sentence and exactly one byte can follow. Empty where there is a choice, and where a token
    /// must follow that is no text. At most 4,096 bytes.
    pub fn forced_bytes(&self) -> Vec<u8> {
        const LIMIT: usize = 4096;
        let mut forced = Vec::new();
        let mut at = self.clone();
        at.history = History::default();
        while forced.len() < LIMIT && !at.is_accepting() {
            let only = at.only_byte().filter(|&byte| self.index.spelled().mark() != Some(byte));
            let Some(byte) = only else { break };
            let Ok(next) = at.within_token(&at.now, &[byte]) else { break };
            at.now = next;
            forced.push(byte);
        }
        forced
    }

    /// The only byte that may follow, if there is just one.
    fn only_byte(&self) -> Option<u8> {
        let classes = self.index.scanner().states().classes();
        let mut only = None;
        for &byte in classes.representatives() {
            if self.within_token(&self.now, &[byte]).is_ok() {
                if only.is_some() {
                    return None;
                }
                only = Some(byte);
            }
        }
        only.filter(|&byte| classes.bytes(classes.get(byte)).count() == 1)
    }

    fn after_token(&self, from: &Moment, token: TokenId) -> Result<Moment, RejectedToken> {
        let rejected = |accepted| RejectedToken { token: Some(token), accepted };
        if self.index.vocabulary().stop_tokens().contains(&token) {
            let here = Matcher {
                now: from.clone(),
                history: History::default(),
                said: History::default(),
                ..self.clone()
            };
            if here.is_accepting() {
                return Ok(Moment { progress: Progress::Finished, ..from.clone() });
            }
        }
        // A token that the grammar names may be meant as itself and by its bytes: the text is read
        // both ways.
        let mut after: Result<Moment, usize> = Err(0);
        for spelling in self.index.spelled().spellings(token) {
            after = match (after, self.after_bytes(from, spelling)) {
                (Ok(one), Ok(other)) => Ok(self.either(one, other)),
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(one), Err(other)) => Err(one.max(other)),
            };
        }
        after.map_err(rejected)
    }

    /// What holds where a text is read in one of two ways.
    fn either(&self, one: Moment, other: Moment) -> Moment {
        let mut steps = 0;
        if self.has_notes() {
            let readings = self.either_noted(&one, &other, &mut steps);
            let mut from = if one.dropped > other.dropped { one.clone() } else { other.clone() };
            from.spent = one.spent.max(other.spent);
            return self.moment(&from, readings, Followed { steps, dropped: 0 });
        }
        let mut all = Readings::default();
        let table = self.index.scanner().table();
        one.readings.into_iter().chain(other.readings).for_each(|reading| all.add(reading, table));
        let readings = all.into_all(table, &mut steps);
        let mut either = Moment {
            readings,
            notes: Notes::default(),
            progress: one.progress,
            dropped: one.dropped.max(other.dropped),
            spent: one.spent.max(other.spent),
        };
        either.spend(steps);
        either.limit(self.index.scanner());
        either
    }

    /// What holds after this text, or how many of its bytes are viable. The readings of a long text
    /// are limited on the way: no mask says which bytes it has.
    fn after_text(&self, from: &Moment, text: &[u8]) -> Result<Moment, usize> {
        let last = text.len().saturating_sub(1) / PIECE * PIECE;
        let (pieces, last_piece) = text.split_at(last);
        let mut now = from.clone();
        for (number, piece) in pieces.chunks(PIECE).enumerate() {
            now = self.within_token(&now, piece).map_err(|count| number * PIECE + count)?;
        }
        self.after_bytes(&now, last_piece).map_err(|count| last + count)
    }

    /// Whether the readings of a token take longer to follow than a mask may take.
    #[inline]
    fn takes_too_long(&self, following: usize) -> bool {
        following > self.index.scanner().bounds().mask_steps / STEPS_OF_FOLLOWING
    }

    /// Whether a text that ends in this reading may be viable. Within a token what is not decided
    /// in time goes on: the mask asked for its end alone, and has as many steps for that as here.
    fn may_be_viable(&self, at: &Configuration, is_last: bool, viewed: &mut Reads) -> bool {
        self.index.scanner().is_viable(at, viewed) || Self::is_open(is_last, viewed)
    }

    /// Whether a question was not decided, and need not be.
    fn is_open(is_last: bool, viewed: &mut Reads) -> bool {
        !is_last && viewed.take_undecided()
    }

    /// What holds after a token with these bytes, or how many of them are viable.
    fn after_bytes(&self, from: &Moment, bytes: &[u8]) -> Result<Moment, usize> {
        if !self.has_notes() || bytes.is_empty() || from.progress == Progress::Finished {
            return self.within_token(from, bytes);
        }
        let (readings, followed) = self.read_noted(from, bytes)?;
        Ok(self.end_token(from, &readings, followed))
    }

    /// The same where more bytes of the token may follow.
    fn within_token(&self, from: &Moment, bytes: &[u8]) -> Result<Moment, usize> {
        let scanner = self.index.scanner();
        if bytes.is_empty() {
            return Ok(from.clone());
        }
        if from.progress == Progress::Finished {
            return Err(0);
        }
        if self.has_notes() {
            let (readings, followed) = self.read_noted(from, bytes)?;
            return Ok(self.moment(from, readings, followed));
        }
        let (mut stepped, mut viewed, mut united) = (Reads::none(), Reads::none(), 0);
        let mut dropped = 0;
        let mut now: SmallVec<[Configuration; 1]> = from.readings.clone();
        for (count, &byte) in bytes.iter().enumerate() {
            let is_last = count + 1 == bytes.len();
            if is_last {
                viewed.begin_anew();
            }
            // Before the first byte there may be nothing to go on with: the text is empty then.
            if let [reading] = &mut now[..]
                && (count > 0 || from.progress == Progress::Begun)
                && let Some(is_viable) = scanner.step_alone(reading, byte, &mut viewed)
            {
                if is_viable || Self::is_open(is_last, &mut viewed) {
                    continue;
                }
                if !viewed.take_undecided() {
                    return Err(count);
                }
                // The reading has gone on, so its ways are followed from the token's beginning.
                let (one, _) = self.one_reading(from.noted().into_iter(), bytes).ok_or(count)?;
                (now, dropped) = (SmallVec::from_iter([one]), 1);
                break;
            }
            let mut next = Readings::with_room(now.len());
            for reading in &now {
                scanner.step(reading, byte, &mut stepped, |after| {
                    if self.may_be_viable(&after, is_last, &mut viewed) {
                        next.add(after, scanner.table());
                    }
                });
            }
            let next = next.into_all(scanner.table(), &mut united);
            let is_long = self.takes_too_long(stepped.following() + united) && !is_last;
            let is_open = next.is_empty() && viewed.take_undecided();
            if next.is_empty() && !is_open {
                return Err(count);
            }
            if is_long || is_open {
                let (from, rest) = if is_open { (now, count) } else { (next, count + 1) };
                let from = from.into_iter().map(|reading| (reading, Note::default()));
                let (one, _) = self.one_reading(from, &bytes[rest..]).ok_or(count)?;
                (now, dropped) = (SmallVec::from_iter([one]), 1);
                break;
            }
            now = next;
        }
        let mut after = Moment {
            readings: now,
            notes: Notes::default(),
            progress: Progress::Begun,
            dropped: from.dropped.saturating_add(dropped),
            spent: from.spent,
        };
        after.spend(stepped.following() + viewed.following() + united);
        after.limit(scanner);
        Ok(after)
    }
}
