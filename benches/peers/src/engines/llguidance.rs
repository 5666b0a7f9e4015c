//! llguidance: Earley's algorithm over a lexer of derivatives.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};

use crate::case::{Form, GrammarText, Words};
use crate::engine::{Engine, Sequence};

/// llguidance.
#[derive(Debug)]
pub struct Llguidance;

/// The one sequence, which knows what those before it have learnt.
pub struct Running<'c>(&'c mut Matcher);

impl Engine for Llguidance {
    type Vocabulary = ParserFactory;
    type Constraint<'v> = Matcher;
    type Sequence<'c> = Running<'c>;

    fn prepare(words: &Words) -> Result<ParserFactory, String> {
        let stop = *words.stops.first().ok_or("a vocabulary without an end")?;
        let info = TokRxInfo::new(words.words.len() as u32, stop);
        let mut bytes = words.words.clone();
        // The end has to be in the trie, as a special token.
        bytes[stop as usize] = b"\xff<|end|>".to_vec();
        let env: TokEnv = Arc::new(ApproximateTokEnv::new(TokTrie::from(&info, &bytes)));
        let mut factory = ParserFactory::new_simple(&env).map_err(|error| error.to_string())?;
        factory.quiet();
        // By default it gives up on steps that take it too long, and on some of the C-like language
        // it does.
        let limits = factory.limits_mut();
        limits.step_max_items *= 200;
        limits.step_lexer_fuel *= 200;
        limits.verbose_errors = false;
        Ok(factory)
    }

    fn compile(factory: &ParserFactory, grammar: &GrammarText) -> Result<Matcher, String> {
        let grammar = match grammar.form {
            Form::Regex => TopLevelGrammar::from_regex(grammar.as_regex()?),
            Form::Lark | Form::Ebnf => TopLevelGrammar::from_lark(grammar.as_lark()?),
            Form::Schema => {
                let schema =
                    serde_json::from_str(&grammar.text).map_err(|error| error.to_string())?;
                TopLevelGrammar::from_json_schema(schema)
            }
        };
        let matcher = Matcher::new(factory.create_parser(grammar));
        matcher.get_error().map_or(Ok(matcher), Err)
    }

    // A reset keeps the lexer's automaton; a clone for each sequence would build it again.
    fn start<'c>(matcher: &'c mut Matcher) -> Result<Running<'c>, String> {
        matcher.reset().map_err(|error| error.to_string())?;
        Ok(Running(matcher))
    }
}

impl Sequence for Running<'_> {
    // The engine gives a mask of its own; servers copy it into their row, as its C interface does.
    fn fill_mask(&mut self, row: &mut [u32]) -> Result<(), String> {
        let mask = self.0.compute_mask_or_eos().map_err(|error| error.to_string())?;
        let mask = mask.as_slice();
        let shared = mask.len().min(row.len());
        row[..shared].copy_from_slice(&mask[..shared]);
        row[shared..].fill(0);
        Ok(())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        self.0.consume_token(token).map_err(|error| error.to_string())
    }
}
