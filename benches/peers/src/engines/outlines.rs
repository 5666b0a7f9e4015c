//! outlines-core: a regular expression's automaton, with the tokens of each state found beforehand.

use outlines_core::index::Index;
use outlines_core::primitives::StateId;
use outlines_core::vocabulary::Vocabulary;

use crate::case::{GrammarText, Words};
use crate::engine::{Engine, Sequence};

/// outlines-core.
#[derive(Debug)]
pub struct Outlines;

/// A state of the index.
pub struct Running<'c> {
    index: &'c Index,
    state: StateId,
}

impl Engine for Outlines {
    type Vocabulary = Vocabulary;
    type Constraint<'v> = Index;
    type Sequence<'c> = Running<'c>;

    fn prepare(words: &Words) -> Result<Vocabulary, String> {
        let stop = *words.stops.first().ok_or("a vocabulary without an end")?;
        let mut vocabulary = Vocabulary::new(stop);
        for (id, word) in words.words.iter().enumerate().filter(|(_, word)| !word.is_empty()) {
            vocabulary.try_insert(word.clone(), id as u32).map_err(|error| error.to_string())?;
        }
        Ok(vocabulary)
    }

    fn compile(vocabulary: &Vocabulary, grammar: &GrammarText) -> Result<Index, String> {
        Index::new(grammar.as_regex()?, vocabulary).map_err(|error| error.to_string())
    }

    fn start<'c>(index: &'c mut Index) -> Result<Running<'c>, String> {
        Ok(Running { state: index.initial_state(), index })
    }
}

impl Sequence for Running<'_> {
    // As its guide writes a mask.
    fn fill_mask(&mut self, row: &mut [u32]) -> Result<(), String> {
        row.fill(0);
        for &token in self.index.allowed_tokens_iter(&self.state).into_iter().flatten() {
            row[token as usize / 32] |= 1 << (token % 32);
        }
        Ok(())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        self.state = self.index.next_state(&self.state, &token).ok_or("no transition")?;
        Ok(())
    }
}
