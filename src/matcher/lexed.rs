//! Readings of a text with the lexemes that have ended: for captures and for listeners, who read
//! the text once more.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::index::Index;
use crate::lr::forks::union_of;
use crate::lr::table::ParseTable;
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::util::id::TerminalId;

/// A reading of the text so far, with the lexemes that have ended.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) at: Configuration,
    pub(super) ended: Option<Arc<Ended>>,
    /// Start of the lexeme in progress, or of the next one if none is in progress.
    pub(super) start: usize,
    /// Number of tokens that have ended within that lexeme.
    pub(super) tokens: u32,
    /// Whether that lexeme has no byte yet.
    pub(super) between: bool,
}

/// A completed lexeme, linked to those before it.
pub(super) struct Ended {
    lexeme: Lexeme,
    earlier: Option<Arc<Ended>>,
    /// Number of lexemes, including this one.
    count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lexeme {
    pub(super) label: TerminalId,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The terminals that the parser was given for it, the one of the lexeme last; none if it is
    /// ignored, or if it is the last one of the text.
    pub(super) given: SmallVec<[TerminalId; 1]>,
}

impl Drop for Ended {
    /// Drops the list in a loop: the derived drop would recurse once per lexeme.
    fn drop(&mut self) {
        let mut earlier = self.earlier.take();
        while let Some(ended) = earlier {
            earlier = Arc::into_inner(ended).and_then(|mut ended| ended.earlier.take());
        }
    }
}

impl Reading {
    /// Returns the readings before the first byte.
    pub(super) fn initial(index: &Index) -> Vec<Self> {
        let initial = index.scanner().initial().into_iter();
        let begin = |at| Self { at, ended: None, start: 0, tokens: 0, between: true };
        initial.map(begin).collect()
    }

    /// Whether this reading has the given configuration and token count, so that both continue
    /// alike.
    fn is_alike(&self, at: &Configuration, tokens: u32) -> bool {
        self.tokens == tokens && self.at.same(at)
    }

    /// Returns how many lexemes have ended.
    pub(super) fn count(&self) -> usize {
        self.ended.as_ref().map_or(0, |ended| ended.count)
    }

    /// Returns the lexemes that have ended, without the first ones.
    pub(super) fn lexemes_from(&self, first: usize) -> Vec<Lexeme> {
        let ended = std::iter::successors(self.ended.as_deref(), |ended| ended.earlier.as_deref());
        let later = ended.take_while(|ended| ended.count > first);
        let mut lexemes: Vec<Lexeme> = later.map(|ended| ended.lexeme.clone()).collect();
        lexemes.reverse();
        lexemes
    }

    /// Returns the lexeme in progress, if it ends at offset `end` with this label.
    pub(super) fn last_lexeme(&self, label: TerminalId, end: usize) -> Lexeme {
        Lexeme { label, start: self.start, end, given: SmallVec::new() }
    }

    /// Returns this reading after its lexeme has ended before offset `end` with this label. `at` is
    /// the configuration after the end, and perhaps after the first byte of the next lexeme.
    fn ended(&self, at: Configuration, label: TerminalId, end: usize, index: &Index) -> Self {
        let scanner = index.scanner();
        let mut given = scanner.given_before(&self.at.layout, label);
        if let Some(given) = &mut given {
            given.push(at.stack.last_terminal(scanner.table()).unwrap_or(label));
        }
        let lexeme = Lexeme { label, start: self.start, end, given: given.unwrap_or_default() };
        let (earlier, count) = (self.ended.clone(), self.count() + 1);
        let ended = Some(Arc::new(Ended { lexeme, earlier, count }));
        Self { at, ended, start: end, tokens: 0, between: false }
    }

    /// Reads `bytes`, which start at `offset`, from each of the given readings.
    pub(super) fn follow(
        from: &[Self],
        bytes: &[u8],
        offset: usize,
        to: &mut Vec<Self>,
        index: &Index,
    ) {
        let scanner = index.scanner();
        let is_text = index.spelled().mark() != bytes.first().copied();
        let mut readings = from.to_vec();
        for (count, &byte) in bytes.iter().enumerate() {
            let place = offset + if is_text { count } else { 0 };
            let mut next: Vec<Self> = Vec::new();
            for reading in &readings {
                scanner.step_over(&reading.at, byte, &mut Reads::none(), |at, label| {
                    if scanner.is_viable(&at, &mut Reads::none()) {
                        let after = match label {
                            None => Self { at, between: false, ..reading.clone() },
                            Some(label) => reading.ended(at, label, place, index),
                        };
                        after.add_to(&mut next, scanner.table());
                    }
                });
            }
            readings = next;
        }
        readings.into_iter().for_each(|reading| reading.add_to(to, scanner.table()));
    }

    /// Adds this reading to others, unless one of them is alike. If it has the same lexemes as one
    /// and differs from it only by the stack below its top, both become one on a graph of stacks.
    fn add_to(self, others: &mut Vec<Self>, table: &ParseTable) {
        if others.iter().any(|known| known.is_alike(&self.at, self.tokens)) {
            return;
        }
        let known = others.iter_mut().find(|known| {
            known.tokens == self.tokens
                && known.at.differs_by_stack(&self.at)
                && known.at.stack.same_top(&self.at.stack, table)
                && known.has_the_lexemes_of(&self)
        });
        match known {
            Some(known) => {
                let both = [known.at.stack.clone(), self.at.stack];
                known.at.stack = union_of(both.into_iter().collect(), table, &mut 0);
            }
            None => others.push(self),
        }
    }

    /// Whether both have the same lexemes for certain. Those of readings with a common history are
    /// the same in memory but for the last one.
    fn has_the_lexemes_of(&self, other: &Self) -> bool {
        let is_same = |one: &Option<Arc<Ended>>, other: &Option<Arc<Ended>>| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        };
        let (own, others) = (&self.ended, &other.ended);
        is_same(own, others)
            || own.as_ref().zip(others.as_ref()).is_some_and(|(own, other)| {
                own.lexeme == other.lexeme && is_same(&own.earlier, &other.earlier)
            })
    }

    /// Returns the readings at the end of a token that ends at offset `place`, for grammars that
    /// count tokens.
    pub(super) fn end_step(readings: &[Self], place: usize, index: &Index) -> Vec<Self> {
        let mut ended: Vec<Self> = Vec::new();
        for reading in readings {
            let tokens = reading.tokens + 1;
            for (at, cut) in index.scanner().settle(&reading.at, tokens) {
                let next = match cut {
                    None => Self { at, tokens, ..reading.clone() },
                    Some(label) => Self { between: true, ..reading.ended(at, label, place, index) },
                };
                if !ended.iter().any(|known| {
                    known.is_alike(&next.at, next.tokens) && known.between == next.between
                }) {
                    ended.push(next);
                }
            }
        }
        ended
    }
}
