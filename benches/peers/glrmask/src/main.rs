//! Measures glrmask on a case: `peers-glrmask CASE` prints the measurement as JSON.

use std::path::Path;
use std::process::ExitCode;

use glrmask::{CompileOptions, Constraint, ConstraintState, Grammar, MaskStrategy, Vocab};
use lrmask_peers::case::{Case, GrammarText, Words};
use lrmask_peers::engine::{Engine, Sequence};
use lrmask_peers::measure::measure;

/// glrmask, in its static mode: masks are prepared when the grammar is compiled.
struct Glrmask;

/// A sequence.
struct Running<'c>(ConstraintState<'c>);

impl Engine for Glrmask {
    type Vocabulary = Vocab;
    type Constraint<'v> = Constraint;
    type Sequence<'c> = Running<'c>;

    // What else it works out for a vocabulary it does at the first compilation, and counts there.
    fn prepare(words: &Words) -> Result<Vocab, String> {
        let tokens = words.words.iter().zip(0..).filter(|(word, _)| !word.is_empty());
        Ok(Vocab::new(tokens.map(|(word, id)| (id, word.clone())).collect::<Vec<_>>()))
    }

    fn compile(vocabulary: &Vocab, grammar: &GrammarText) -> Result<Constraint, String> {
        let options = CompileOptions::default().mask_strategy(MaskStrategy::ParserDwa);
        Grammar::from_lark(grammar.as_lark()?)
            .and_then(|grammar| grammar.compile_with(vocabulary, options))
            .map_err(|error| error.to_string())
    }

    fn start<'c>(constraint: &'c mut Constraint) -> Result<Running<'c>, String> {
        Ok(Running(constraint.start()))
    }
}

impl Sequence for Running<'_> {
    fn fill_mask(&mut self, row: &mut [u32]) -> Result<(), String> {
        self.0.fill_mask(row);
        Ok(())
    }

    fn advance(&mut self, token: u32) -> Result<(), String> {
        if self.0.commit_token(token) { Ok(()) } else { Err("does not take the token".to_owned()) }
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("usage: peers-glrmask CASE");
        return ExitCode::from(2);
    };
    let measured = Case::read(Path::new(&path)).and_then(|case| measure::<Glrmask>(&case));
    match measured
        .and_then(|measurement| Ok(serde_json::to_writer(std::io::stdout().lock(), &measurement)?))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
