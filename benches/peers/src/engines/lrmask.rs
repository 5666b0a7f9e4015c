//! This project's engine.

use std::fs;

use lrmask::{Constraint, GrammarReader, Matcher, SchemaOptions, Vocabulary};

use crate::case::{Form, GrammarText, Words};
use crate::engine::{Engine, Sequence};

/// lrmask.
#[derive(Debug)]
pub struct Lrmask;

impl Engine for Lrmask {
    type Vocabulary = Vocabulary;
    type Constraint<'v> = Constraint;
    type Sequence<'c> = Matcher;

    fn prepare(words: &Words) -> Result<Vocabulary, String> {
        // `from_tokens` leaves off nothing but what has no bytes at the end: the width is set for
        // that.
        Vocabulary::from_tokens(words.words.iter().cloned())
            .and_then(|vocabulary| vocabulary.with_width(words.words.len()))
            .and_then(|vocabulary| vocabulary.with_stop_tokens(&words.stops))
            .map_err(|error| error.to_string())
    }

    fn compile(vocabulary: &Vocabulary, grammar: &GrammarText) -> Result<Constraint, String> {
        if grammar.form == Form::Schema {
            let constraint =
                Constraint::from_schema(&grammar.text, &SchemaOptions::default(), vocabulary);
            return constraint.map_err(|error| error.to_string());
        }
        let text = grammar.as_lark()?;
        let path = grammar.path.to_string_lossy();
        let grammar = GrammarReader::new()
            .name(&path)
            .imports(&|path| fs::read_to_string(path))
            .lark(&text)
            .map_err(|error| error.to_string())?;
        Constraint::new(&grammar, vocabulary).map_err(|error| error.to_string())
    }

    fn start(constraint: &mut Constraint) -> Result<Matcher, String> {
        Ok(constraint.matcher())
    }
}

impl Sequence for Matcher {
    fn fill_mask(&mut self, row: &mut [u32]) -> Result<(), String> {
        self.fill_mask_into(row).map(drop).map_err(|error| error.to_string())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        Matcher::advance(self, token).map_err(|error| error.to_string())
    }
}
