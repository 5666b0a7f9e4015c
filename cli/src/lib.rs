//! The command line: `lrmask COMMAND`. Each command is in its own file and uses only the public
//! API. It is a library, so that the Python package has the same commands.
//!
//! Exit status: 0 for success, 1 if the answer is no (a text is not in the language, a grammar is
//! not sound), 2 for wrong use and unreadable input. Answers go to standard output, everything else
//! to standard error.

mod check;
mod debug;
mod failure;
mod fault;
mod files;
mod generate;
mod grammars;
mod hints;
mod index;
mod input;
mod limits;
mod manual;
mod mask;
mod notation;
mod output;
mod place;
mod random;
mod replay;
mod report;
mod sampler;
mod schemas;
mod similar;
mod speculate;
#[cfg_attr(not(feature = "tokenizers"), path = "no_tokenizer.rs")]
mod tokenizer;
mod tokens;
mod tree;
mod validate;
mod vocabularies;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use failure::Failure;
use input::Inputs;
use output::{Color, Output};

/// Keeps a language model's output inside a grammar: checks grammars, texts and vocabularies.
#[derive(Debug, Parser)]
#[command(name = "lrmask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object per line, for programs.
    #[arg(long, global = true)]
    json: bool,
    /// When to colour messages.
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks a grammar: prints counts, warnings, conflicts with examples, and the bytes that a
    /// vocabulary cannot spell.
    Check(check::Arguments),
    /// Checks whether whole texts are in the language; if not, shows the place and the expected
    /// continuation.
    Validate(validate::Arguments),
    /// Lists the tokens that may follow a text.
    Mask(mask::Arguments),
    /// Tokenises texts and replays them token by token: checks that each token is allowed, and
    /// measures the time.
    Replay(replay::Arguments),
    /// Learns from texts which tokens follow in which state, and measures how well that predicts
    /// other texts.
    Speculate(speculate::Arguments),
    /// Generates random texts from the masks.
    Generate(generate::Arguments),
    /// Saves a grammar with sample texts for a vocabulary. The file is compiled when it is loaded,
    /// and the masks along the samples are computed first.
    Index(index::Arguments),
    /// Prints the result of a stage of compilation.
    Debug(debug::Arguments),
    /// Prints a shell script that completes the arguments of this program.
    Completions(manual::Completions),
    /// Prints the manual page, in troff: `lrmask man | man -l -`.
    Man,
}

/// The answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }
}

/// Renders findings with the lines that they are about. `files` are the texts of files, by the
/// names that places have for them.
pub fn render(findings: &[lrmask::Diagnostic], files: &[(&str, &str)]) -> String {
    let sources = grammars::Sources::default();
    files.iter().for_each(|(name, text)| sources.add(name, text));
    report::render(findings, &sources, false)
}

/// Runs the command of `arguments`, the first of which is the name of the program. Returns the exit
/// status.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(shown) => {
            // Help and versions are shown in the same way as wrong use. If that cannot be written,
            // nobody reads it.
            let _ = shown.print();
            return u8::try_from(shown.exit_code()).unwrap_or(2);
        }
    };
    output::set_color(cli.color);
    let mut out = Output::new(cli.json);
    let inputs = Inputs::default();
    let answer = match &cli.command {
        Command::Check(arguments) => check::run(arguments, &inputs, &mut out),
        Command::Validate(arguments) => validate::run(arguments, &inputs, &mut out),
        Command::Mask(arguments) => mask::run(arguments, &inputs, &mut out),
        Command::Replay(arguments) => replay::run(arguments, &inputs, &mut out),
        Command::Speculate(arguments) => speculate::run(arguments, &inputs, &mut out),
        Command::Generate(arguments) => generate::run(arguments, &inputs, &mut out),
        Command::Index(arguments) => index::run(arguments, &inputs, &mut out),
        Command::Debug(arguments) => debug::run(arguments, &inputs, &mut out),
        Command::Completions(arguments) => manual::completions(arguments, &mut out),
        Command::Man => manual::page(&mut out),
    };
    // Answers before a failure are part of the output.
    let flushed = out.flush();
    match answer.and_then(|answer| flushed.map(|()| answer)) {
        Ok(Answer::Yes) | Err(Failure::ReaderGone) => 0,
        Ok(Answer::No) => 1,
        Err(Failure::Unusable(message)) => {
            output::note(&message);
            2
        }
    }
}
