//! `lrmask index`: saves a grammar with samples to warm up with.

use std::time::Instant;

use lrmask::TokenId;
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::files;
use crate::grammars::{self, GrammarArgument};
use crate::input::{self, Inputs};
use crate::output::Output;
use crate::vocabularies::{self, VocabularyArgument};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    /// The file to write. Other commands accept it instead of a grammar, with the same vocabulary.
    /// Equal input yields equal bytes. The file is never incomplete: it is written under another
    /// name and renamed.
    #[arg(short, long, value_name = "FILE")]
    output: String,
    /// Texts of the language. When the file is loaded, the masks along them are computed first.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    samples: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Indexed<'a> {
    file: &'a str,
    bytes: usize,
    samples: usize,
    tokens: usize,
    /// Samples that are not in the language, or that the vocabulary cannot spell.
    rejected: Vec<&'a str>,
    microseconds: u128,
}

/// Answers yes if every sample is a text of the language, or a prefix of one.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let (vocabulary, cutter) =
        vocabularies::load_with_cutter(&arguments.vocabulary.vocab, None, inputs)?;
    let started = Instant::now();
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let mut samples: Vec<Vec<TokenId>> = Vec::new();
    let mut rejected = Vec::new();
    for (index, file) in arguments.samples.iter().enumerate() {
        match cutter.cut(&vocabulary, &inputs.bytes(file)?, index) {
            Some(tokens) => {
                if constraint.matcher().validate(&tokens) < tokens.len() {
                    rejected.push(file.as_str());
                }
                samples.push(tokens);
            }
            None => rejected.push(file.as_str()),
        }
    }
    let sequences: Vec<&[TokenId]> = samples.iter().map(Vec::as_slice).collect();
    grammars::tell_undecided(constraint.undecided());
    let saved = constraint.save_with_samples(&sequences);
    files::write_whole(&arguments.output, &saved)?;
    let indexed = Indexed {
        file: &arguments.output,
        bytes: saved.len(),
        samples: samples.len(),
        tokens: samples.iter().map(Vec::len).sum(),
        microseconds: started.elapsed().as_micros(),
        rejected,
    };
    if out.is_json() {
        out.json(&indexed)?;
    } else {
        for file in &indexed.rejected {
            out.text(format_args!("{}: not a text of the language\n", input::name(file)))?;
        }
        let Indexed { file, bytes, samples, tokens, .. } = indexed;
        out.text(format_args!(
            "{file}: {bytes} bytes, with {tokens} tokens in {samples} samples\n"
        ))?;
    }
    Ok(indexed.rejected.is_empty().into())
}
