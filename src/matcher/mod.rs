//! The state of one generated sequence: its mask, its next token, its history.

mod batch;
mod budget;
mod canonical;
mod canonical_ways;
mod captures;
mod completion;
mod distinct;
mod drafts;
mod endings;
mod error;
mod expected;
mod explain;
mod forced;
mod free_text;
mod heal;
mod history;
mod lexed;
mod lexeme;
mod limits;
mod lines;
mod listener;
mod mask;
mod next_tokens;
mod one_reading;
mod only_end;
mod retokenize;
mod sampling;
mod side_state;
mod state_key;
mod taken;
mod terminals_ahead;
mod text_so_far;
mod tree;
mod value_map;
mod values;

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::index::Index;
use crate::scanner::configuration::{Configuration, Readings};
use crate::scanner::{Reads, STEPS_OF_FOLLOWING};
use crate::util::id::TokenId;
use crate::vocab::{CanonicalTokens, Vocabulary};

pub use batch::{fill_masks, fill_rows};
pub use budget::BudgetError;
use budget::TokenState;
pub use captures::Capture;
use captures::Input;
pub use drafts::Draft;
use error::Refused;
pub use error::{AdvanceError, AdvanceErrorKind, RowError};
pub use expected::Expected;
pub use explain::{BegunLexeme, Explanation};
pub use free_text::FreeText;
use heal::Healing;
use history::History;
use limits::{Followed, Spent};
pub use listener::{Listener, ParseEvent};
pub use mask::{MaskInfo, TokenMask};
pub use sampling::Choices;
use side_state::{Note, Notes};
use taken::{Step, Taken};
pub use tree::{ParseTree, TreeNode};

/// The state of one sequence generated under a constraint.
///
/// A matcher is cheap to create and to clone: parse stacks and undo steps are shared by all
/// matchers with a common history, and caches are shared by all matchers of a grammar. It uses
/// about 110 bytes for each step that can be rolled back, and 48 for each state that it has put on
/// the parse stack: for a text in tokens of a large vocabulary at most 72 bytes per byte (108 if it
/// does nothing but nest), for one taken byte by byte at most 160. Where items of arrays must
/// differ, each of their bytes takes about 200 more. Every method is defined at any time and for
/// any id; none panics.
#[derive(Clone)]
pub struct Matcher {
    index: Arc<Index>,
    /// The current state.
    now: Moment,
    /// The state before each step, and its input.
    history: History<Step>,
    /// The input of each step, if the grammar marks rules.
    inputs: History<Input>,
    /// The tokens that end this text, if they differ from those of the vocabulary.
    stops: Option<Arc<[TokenId]>>,
    /// Bytes held by the scanner when this matcher last looked.
    met: usize,
    choices: Choices,
    /// Upper bound on the lexemes that end within a token, if there is one.
    lookahead: Option<usize>,
    /// What decides which tokens are canonical, if only these are allowed.
    canonical: Option<Arc<CanonicalTokens>>,
}

/// The state of a sequence between two steps.
#[derive(Clone, Debug)]
struct Moment {
    /// The readings of the text so far; there is at least one, and each is viable.
    readings: SmallVec<[Configuration; 1]>,
    notes: Notes,
    progress: Progress,
    /// Number of readings dropped, summed over all tokens.
    dropped: u32,
    /// How many steps were taken to follow and decide the readings.
    spent: Spent,
    /// The tokens left, if their number is limited, and the tokens so far, if only canonical ones
    /// are allowed and there are some.
    tokens: Option<Arc<TokenState>>,
    /// Bytes that must be written before the readings go on.
    healing: Option<Arc<Healing>>,
}

/// Progress of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// No byte yet.
    Fresh,
    /// Some bytes.
    Begun,
    /// A stop token was taken.
    Finished,
}

/// Bytes read between two limits on the readings, in a text that is not a token.
const PIECE: usize = 8;

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("now", &self.now)
            .field("steps", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Matcher {
    /// Creates a matcher before the first token.
    pub(crate) fn new(index: Arc<Index>) -> Self {
        let readings = index.scanner().initial();
        let notes = Notes::before(readings.len(), index.scanner());
        Self {
            met: index.scanner().met_bytes(),
            index,
            now: Moment {
                readings,
                notes,
                progress: Progress::Fresh,
                dropped: 0,
                spent: Spent::default(),
                tokens: None,
                healing: None,
            },
            history: History::default(),
            inputs: History::default(),
            stops: None,
            choices: Choices::default(),
            lookahead: None,
            canonical: None,
        }
    }

    /// Returns this matcher with other tokens that end the text.
    pub(crate) fn with_stops(self, stops: Arc<[TokenId]>) -> Self {
        Self { stops: Some(stops), ..self }
    }

    /// Returns the vocabulary of the matcher's masks.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.index.vocabulary()
    }

    /// Returns the tokens that end this text: those of the vocabulary, unless the matcher was
    /// created by [`Constraint::matcher_with_stops`](crate::Constraint::matcher_with_stops).
    pub fn stop_tokens(&self) -> &[TokenId] {
        self.stops.as_deref().unwrap_or_else(|| self.index.vocabulary().stop_tokens())
    }

    /// Fills `mask` with the tokens that may come next. Bit `t` is set if and only if the text so
    /// far, followed by the bytes of `t`, is a prefix of some sentence; the bits of stop tokens are
    /// set if and only if the text so far is a sentence. After a stop token only stop tokens are
    /// allowed.
    ///
    /// A step that any sequence of the same constraint has seen before costs a few look-ups and a
    /// copy of the mask; a new one costs some microseconds to a millisecond.
    pub fn fill_mask(&self, mask: &mut TokenMask) -> MaskInfo {
        mask.resize(self.index.vocabulary().width());
        self.fill_row(&self.now, mask.words_mut());
        self.info(&self.now, mask.words())
    }

    /// Fills a row of the caller's, bit `t % 32` of word `t / 32`, as [`Matcher::fill_mask`] does.
    /// Words past the vocabulary's width are cleared: logits may be wider than the vocabulary.
    /// Writing is fastest if the row is aligned to 64 bytes.
    ///
    /// # Errors
    ///
    /// If the row has fewer words than the mask, `width.div_ceil(32)`. The row is unchanged then.
    pub fn fill_mask_into(&self, row: &mut [u32]) -> Result<MaskInfo, RowError> {
        self.check_row(row.len())?;
        self.fill_wide_row(&self.now, row);
        Ok(self.info(&self.now, &row[..self.index.words()]))
    }

    /// Returns an error if a row of this many words is too short.
    fn check_row(&self, words: usize) -> Result<(), RowError> {
        let needed = self.index.words();
        if words < needed { Err(RowError::Short { words, needed }) } else { Ok(()) }
    }

    /// Fills a row that is long enough.
    fn fill_wide_row(&self, at: &Moment, row: &mut [u32]) {
        let (row, rest) = row.split_at_mut(self.index.words());
        rest.fill(0);
        self.fill_row(at, row);
    }

    fn fill_row(&self, at: &Moment, row: &mut [u32]) {
        if let Some(healing) = &at.healing {
            return self.fill_healing_row(at, healing, row);
        }
        self.fill_shared_row(at, row);
        if let Some(stops) = &self.stops {
            // The stop tokens of the vocabulary are then allowed by their bytes only, if they have
            // any.
            for &token in self.index.vocabulary().stop_tokens() {
                let bit = 1 << (token.get() % 32);
                row[token.index() / 32] &= !bit;
                if self.after_spelled(at, token).is_ok() {
                    row[token.index() / 32] |= bit;
                }
            }
            if self.may_end(at) {
                crate::index::allow(stops, row);
            }
        }
        if let Some(most) = self.lookahead {
            self.take_out_far(at, most, row);
        }
        match &self.canonical {
            Some(tables) => self.keep_canonical(tables, at, row),
            None => self.keep_within_budget(at, row),
        }
    }

    /// Fills a row with the stop tokens of the vocabulary.
    fn fill_shared_row(&self, at: &Moment, row: &mut [u32]) {
        if at.progress == Progress::Finished || self.is_given_up(at) {
            row.fill(0);
            if self.may_end(at) {
                self.index.allow_end(row);
            }
            return;
        }
        if !self.has_notes() {
            return self.index.write_mask(&at.readings, at.progress == Progress::Fresh, row);
        }
        let mut masks = [true, false].into_iter().filter_map(|between| {
            let readings = at.are_between(between);
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
            self.take_out_repeated(at, row);
        }
    }

    fn info(&self, at: &Moment, row: &[u32]) -> MaskInfo {
        let is_whole = at.dropped == 0 && !self.is_given_up(at);
        let is_exact = is_whole && self.index.scanner().undecided() == 0;
        MaskInfo::new(row, self.index.vocabulary().width(), is_exact)
    }

    /// Whether `token` may come next, without computing the mask. Costs the token's bytes.
    pub fn allows(&self, token: impl Into<TokenId>) -> bool {
        self.after_token(&self.now, token.into()).is_ok()
    }

    /// Takes `token`. Succeeds if and only if its bit in the mask is set.
    ///
    /// # Errors
    ///
    /// If the token is not allowed. The matcher is unchanged then.
    pub fn advance(&mut self, token: impl Into<TokenId>) -> Result<(), AdvanceError> {
        let token = token.into();
        let next = self.after_token(&self.now, token)?;
        let (said, taken) = match &self.now.healing {
            None => (Input::Token(token), Taken::Token(token)),
            Some(healing) => {
                let rest = self.read_while_healing(healing, token);
                (Input::Bytes(rest.into()), Taken::bytes(rest))
            }
        };
        self.note(|| said);
        self.step(next, taken);
        Ok(())
    }

    /// Takes bytes from elsewhere (a prompt that the grammar covers, a forced text) as one step.
    ///
    /// # Errors
    ///
    /// If the text so far, followed by these bytes, is not a prefix of a sentence. The matcher is
    /// unchanged then.
    pub fn advance_bytes(&mut self, bytes: &[u8]) -> Result<(), AdvanceError> {
        let (next, rest) = match &self.now.healing {
            None => (self.checked_text(bytes)?, bytes),
            Some(healing) => self.text_while_healing(healing, bytes)?,
        };
        self.note(|| Input::Bytes(rest.into()));
        self.step(next, Taken::bytes(rest));
        Ok(())
    }

    /// Returns the state after these bytes.
    fn checked_text(&self, bytes: &[u8]) -> Result<Moment, AdvanceError> {
        // Bytes are text: they never denote a token.
        let mark = self
            .index
            .spelled()
            .mark()
            .and_then(|mark| bytes.iter().position(|&byte| byte == mark));
        if let Some(mark) = mark {
            let refused = self.after_bytes(&self.now, &bytes[..mark]).err();
            return Err(self.error(&self.now, None, bytes, refused.unwrap_or(Refused::at(mark))));
        }
        let next = self.after_text(&self.now, bytes);
        let next = next.map_err(|refused| self.error(&self.now, None, bytes, refused))?;
        match &self.canonical {
            Some(tables) => self.canonically_after_text(tables, &self.now, bytes.len(), next),
            None => self.with_same_budget(&self.now, bytes.len(), next),
        }
    }

    /// Goes on to a state.
    fn step(&mut self, next: Moment, taken: Taken) {
        let next = self.charged(next);
        let before = std::mem::replace(&mut self.now, next);
        self.history.push(Step { before, taken });
    }

    /// Returns how many of these tokens, from the first on, could be taken in order. The matcher
    /// does not change.
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

    /// Rolls back the last `steps` successful calls of [`Matcher::advance`] and
    /// [`Matcher::advance_bytes`], including those for stop tokens, or all of them if there are
    /// fewer. Returns the number of calls rolled back.
    pub fn rollback(&mut self, steps: usize) -> usize {
        let steps = steps.min(self.history.len());
        for step in std::iter::from_fn(|| self.history.pop()).take(steps) {
            self.now = step.before;
            self.inputs.pop();
        }
        steps
    }

    /// Resets the matcher to the beginning of the text.
    pub fn reset(&mut self) {
        self.rollback(usize::MAX);
        self.history = History::default();
        self.inputs = History::default();
        self.choices = Choices::default();
    }

    /// Returns the number of steps that can be rolled back.
    pub fn steps(&self) -> usize {
        self.history.len()
    }

    /// Whether the text so far is a sentence, so that a stop token is allowed.
    pub fn is_accepting(&self) -> bool {
        self.may_end(&self.now)
    }

    fn may_end(&self, from: &Moment) -> bool {
        self.may_end_by_grammar(from) && self.is_canonical(from)
    }

    /// Whether a stop token was taken.
    pub fn is_finished(&self) -> bool {
        self.now.progress == Progress::Finished
    }

    fn after_token(&self, from: &Moment, token: TokenId) -> Result<Moment, AdvanceError> {
        if let Some(healing) = &from.healing {
            return self.after_healing(from, healing, token);
        }
        if self.stop_tokens().contains(&token) && self.may_end(from) {
            return Ok(Moment { progress: Progress::Finished, ..from.clone() });
        }
        let after = self.after_spelled(from, token).map_err(|refused| {
            let bytes = self.index.vocabulary().bytes(token).unwrap_or_default();
            self.error(from, Some(token), bytes, refused)
        })?;
        self.check_lookahead(from, token)?;
        match &self.canonical {
            Some(tables) => self.canonically(tables, from, token, after, true),
            None => self.within_budget(from, token, after),
        }
    }

    /// Returns the error for a token with these bytes, or for bytes alone, that may not follow.
    #[cold]
    fn error(
        &self,
        from: &Moment,
        token: Option<TokenId>,
        bytes: &[u8],
        refused: Refused,
    ) -> AdvanceError {
        let has_no_text = |token| self.index.spelled().spellings(token).next().is_none();
        let kind = match token {
            Some(token) if token.index() >= self.index.vocabulary().width() => {
                AdvanceErrorKind::Width
            }
            _ if from.progress == Progress::Finished => AdvanceErrorKind::Finished,
            _ if refused.is_undecided => AdvanceErrorKind::Limit,
            Some(token) if has_no_text(token) => match self.stop_tokens().contains(&token) {
                true => AdvanceErrorKind::Incomplete,
                false => AdvanceErrorKind::NoText,
            },
            _ if bytes
                .get(..=refused.accepted)
                .is_some_and(|viable| self.repeats_an_item(from, viable)) =>
            {
                AdvanceErrorKind::RepeatedItem
            }
            _ => AdvanceErrorKind::Grammar,
        };
        AdvanceError::new(kind, token, refused.accepted)
    }

    /// Returns the state after a token that does not end the text.
    fn after_spelled(&self, from: &Moment, token: TokenId) -> Result<Moment, Refused> {
        // A token that the grammar names can be meant as itself or as its bytes, so the text is
        // read both ways.
        let mut after: Result<Moment, Refused> = Err(Refused::at(0));
        for spelling in self.index.spelled().spellings(token) {
            after = match (after, self.after_bytes(from, spelling)) {
                (Ok(one), Ok(other)) => Ok(self.either(one, other)),
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(one), Err(other)) => Err(one.max(other)),
            };
        }
        after
    }

    /// Merges the states of two ways to read one text.
    fn either(&self, one: Moment, other: Moment) -> Moment {
        let mut steps = 0;
        if self.has_notes() {
            let readings = self.either_noted(&one, &other, &mut steps);
            let mut from = if one.dropped > other.dropped { one.clone() } else { other.clone() };
            from.spent = one.spent.max(other.spent);
            return self.moment(&from, readings, Followed { steps, ..Followed::default() });
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
            tokens: None,
            healing: None,
        };
        either.spend(Followed { steps, ..Followed::default() }, self.index.scanner());
        either.limit(self.index.scanner());
        either
    }

    /// Returns the state after this text, or how many of its bytes are viable. The readings of a
    /// long text are limited on the way, as no mask depends on its bytes.
    fn after_text(&self, from: &Moment, text: &[u8]) -> Result<Moment, Refused> {
        let last = text.len().saturating_sub(1) / PIECE * PIECE;
        let (pieces, last_piece) = text.split_at(last);
        let mut now = from.clone();
        for (number, piece) in pieces.chunks(PIECE).enumerate() {
            now =
                self.within_token(&now, piece).map_err(|refused| refused.behind(number * PIECE))?;
        }
        self.after_bytes(&now, last_piece).map_err(|refused| refused.behind(last))
    }

    /// Whether following the readings of a token has taken longer than a mask may take.
    #[inline]
    fn takes_too_long(&self, following: usize) -> bool {
        following > self.index.scanner().bounds().mask_steps / STEPS_OF_FOLLOWING
    }

    /// Whether a text that ends in this reading may be viable. Undecided readings are kept within a
    /// token: the mask only tested the end of the token, with as many steps as are available here.
    fn may_be_viable(&self, at: &Configuration, is_last: bool, viewed: &mut Reads) -> bool {
        self.index.scanner().is_viable(at, viewed) || Self::is_open(is_last, viewed)
    }

    /// Whether a question is undecided and may stay so.
    fn is_open(is_last: bool, viewed: &mut Reads) -> bool {
        !is_last && viewed.take_undecided()
    }

    /// Returns the state after a token with these bytes, or how many of them are viable.
    fn after_bytes(&self, from: &Moment, bytes: &[u8]) -> Result<Moment, Refused> {
        if !self.has_notes() || bytes.is_empty() || from.progress == Progress::Finished {
            return self.within_token(from, bytes);
        }
        let (readings, followed) = self.read_noted(from, bytes)?;
        Ok(self.end_token(from, &readings, followed))
    }

    /// Returns the same for bytes of a token that may have more bytes.
    fn within_token(&self, from: &Moment, bytes: &[u8]) -> Result<Moment, Refused> {
        let scanner = self.index.scanner();
        if bytes.is_empty() {
            return Ok(from.clone());
        }
        if from.progress == Progress::Finished {
            return Err(Refused::at(0));
        }
        if self.is_given_up(from) {
            return Err(Refused::undecided(0));
        }
        if self.has_notes() {
            let (readings, followed) = self.read_noted(from, bytes)?;
            return Ok(self.moment(from, readings, followed));
        }
        let (mut stepped, mut viewed, mut united) = (Reads::none(), Reads::none(), 0);
        let (mut dropped, mut decided) = (0, 0);
        let mut now: SmallVec<[Configuration; 1]> = from.readings.clone();
        for (count, &byte) in bytes.iter().enumerate() {
            let is_last = count + 1 == bytes.len();
            if is_last {
                decided += *viewed.steps();
                viewed.begin_anew();
            }
            // Before the first byte there may be no lexeme to continue: the text is empty then.
            if let [reading] = &mut now[..]
                && (count > 0 || from.progress == Progress::Begun)
                && let Some(is_viable) = scanner.step_alone(reading, byte, &mut viewed)
            {
                if is_viable || Self::is_open(is_last, &mut viewed) {
                    continue;
                }
                if !viewed.take_undecided() {
                    return Err(Refused::at(count));
                }
                // The reading has already been changed, so its ways are followed from the start of
                // the token.
                let (one, _) = self
                    .one_reading(from.noted().into_iter(), bytes, &mut decided)
                    .ok_or(Refused::undecided(count))?;
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
                return Err(Refused::at(count));
            }
            if is_long || is_open {
                let (from, rest) = if is_open { (now, count) } else { (next, count + 1) };
                let from = from.into_iter().map(|reading| (reading, Note::default()));
                let (one, _) = self
                    .one_reading(from, &bytes[rest..], &mut decided)
                    .ok_or(Refused::undecided(count))?;
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
            tokens: None,
            healing: None,
        };
        let steps = stepped.following() + viewed.following() + united;
        decided += *viewed.steps();
        let decided = decided.saturating_sub(STEPS_OF_FOLLOWING * viewed.following());
        after.spend(Followed { steps, decided, dropped }, scanner);
        after.limit(scanner);
        Ok(after)
    }
}
