//! The reason why a token or a text may not follow, for messages.

use std::fmt;

use smallvec::SmallVec;

use super::taken::{Step, Taken};
use super::{AdvanceError, AdvanceErrorKind, Expected, Matcher, Moment};
use crate::scanner::Reads;
use crate::util::id::TokenId;

/// The reason why a token or a text may not follow: [`Matcher::explain`].
///
/// Displayed in one line: the error, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<'m> {
    error: AdvanceError,
    expected: Vec<Expected<'m>>,
    lexeme: Option<BegunLexeme<'m>>,
}

/// A lexeme that has begun and cannot end yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BegunLexeme<'m> {
    /// Where it begins, counted in bytes from the start of the refused token or text; negative if
    /// it begins before that.
    pub start: isize,
    /// What may begin there.
    pub expected: Vec<Expected<'m>>,
}

impl<'m> Explanation<'m> {
    /// Returns the reason.
    pub fn reason(&self) -> AdvanceErrorKind {
        self.error.kind()
    }

    /// Returns the error that [`Matcher::advance`] returns.
    pub fn error(&self) -> &AdvanceError {
        &self.error
    }

    /// Returns the byte of the token or text at which it fails: the first byte that no sentence has
    /// there.
    pub fn offset(&self) -> usize {
        self.error.accepted_bytes()
    }

    /// Returns what may come at that byte: see [`Matcher::expected`].
    pub fn expected(&self) -> &[Expected<'m>] {
        &self.expected
    }

    /// Returns the lexeme that is in progress before that byte and cannot end there. `None` if
    /// another lexeme could begin at the byte, or if the lexeme began before the text that is
    /// known: the last 4,096 bytes, and none before a step of [`Matcher::advance_bytes`] with more
    /// than six bytes. Of several readings, the one whose lexeme began last counts.
    pub fn lexeme(&self) -> Option<&BegunLexeme<'m>> {
        self.lexeme.as_ref()
    }
}

/// Upper bound on the bytes that are read again.
const KNOWN: usize = 4096;

impl Matcher {
    /// Says why `token` may not follow; `None` if it may. The matcher does not change.
    ///
    /// ```
    /// use lrmask::{AdvanceErrorKind, Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a = t", "ru", "x;", "e;"])?;
    /// let grammar = Grammar::from_lark(r#"start: "a = " ("true" | /[0-9]+/) ";""#)?;
    /// let mut matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
    /// matcher.advance(0)?;
    /// matcher.advance(1)?;
    /// assert!(matcher.explain(3).is_none());
    ///
    /// let why = matcher.explain(2).expect("it is refused");
    /// assert_eq!((why.reason(), why.offset()), (AdvanceErrorKind::Grammar, 0));
    /// assert_eq!(why.expected()[0].to_string(), "\"true\"");
    /// let lexeme = why.lexeme().expect("a word has begun");
    /// assert_eq!(lexeme.start, -3); // `tru`
    /// assert_eq!(lexeme.expected.len(), 2); // the word or a number
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Costs a step for each byte of the last 4,096 at most.
    pub fn explain(&self, token: impl Into<TokenId>) -> Option<Explanation<'_>> {
        let token = token.into();
        let error = self.after_token(&self.now, token).err()?;
        let bytes = self.index.vocabulary().bytes(token).unwrap_or_default();
        Some(self.explained(error, bytes))
    }

    /// Says why these bytes may not follow; `None` if they may. The matcher does not change.
    pub fn explain_bytes(&self, bytes: &[u8]) -> Option<Explanation<'_>> {
        let error = self.checked_text(bytes).err()?;
        Some(self.explained(error, bytes))
    }

    /// Says why the text may not end after these bytes, or why they may not follow; `None` if the
    /// text may end there. The matcher does not change.
    pub fn explain_end(&self, bytes: &[u8]) -> Option<Explanation<'_>> {
        let error = self.checked_text(bytes).err().or_else(|| {
            let is_end = self.after_text(&self.now, bytes).is_ok_and(|end| self.may_end(&end));
            let incomplete = AdvanceErrorKind::Incomplete;
            (!is_end).then(|| AdvanceError::new(incomplete, None, bytes.len()))
        })?;
        Some(self.explained(error, bytes))
    }

    /// Explains an error after a prefix of `bytes`.
    fn explained(&self, error: AdvanceError, bytes: &[u8]) -> Explanation<'_> {
        let viable = &bytes[..error.accepted_bytes().min(bytes.len())];
        let (from, before) = self.known_text();
        let read = [&before[..], viable].concat();
        let expected = self
            .after_text(&self.now, viable)
            .map_or_else(|_| Vec::new(), |at| self.expected_at(&at));
        let start = self.begun_lexeme(from, &read);
        let lexeme = start.map(|start| BegunLexeme {
            start: start as isize - before.len() as isize,
            expected: self
                .after_text(from, &read[..start])
                .map_or_else(|_| Vec::new(), |at| self.expected_at(&at)),
        });
        Explanation { error, expected, lexeme }
    }

    /// Returns the bytes of the last steps, as far as they are known, and the state before them.
    fn known_text(&self) -> (&Moment, Vec<u8>) {
        let (mut from, mut steps, mut length) = (&self.now, Vec::new(), 0);
        for Step { before, taken } in self.history.iter() {
            let bytes = match taken {
                Taken::Token(token) => self.index.vocabulary().bytes(*token),
                Taken::Bytes(few, count) => few.get(..usize::from(*count)),
                Taken::Text => None,
            };
            let Some(bytes) = bytes else { break };
            length += bytes.len();
            if length > KNOWN {
                break;
            }
            steps.push(bytes);
            from = before;
        }
        steps.reverse();
        (from, steps.concat())
    }

    /// Whether the only reason against a byte after `bytes` is that it would repeat an item of a
    /// list of distinct items: without side state, the text is viable.
    pub(super) fn repeats_an_item(&self, from: &Moment, bytes: &[u8]) -> bool {
        let scanner = self.index.scanner();
        if !scanner.lexis().has_distinct() {
            return false;
        }
        let mut now = from.readings.clone();
        for &byte in bytes {
            let mut next = SmallVec::new();
            for reading in &now {
                scanner.step(reading, byte, &mut Reads::none(), |after| {
                    if scanner.is_viable(&after, &mut Reads::none()) {
                        next.push(after);
                    }
                });
            }
            next.truncate(scanner.bounds().readings);
            now = next;
        }
        !now.is_empty()
    }
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.error)?;
        for (place, expected) in self.expected.iter().enumerate() {
            let before = if place == 0 { "; expected" } else { "," };
            write!(f, "{before} {expected}")?;
        }
        Ok(())
    }
}
