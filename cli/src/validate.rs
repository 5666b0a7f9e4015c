//! `lrmask validate`: is each whole text in the language?

use std::io::Read;

use lrmask::{Matcher, ParseTree};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Answer;
use crate::failure::Failure;
use crate::fault::{self, CHUNK, Chunk, Fault, WINDOW};
use crate::grammars::{self, GrammarArgument};
use crate::input::{self, Inputs};
use crate::output::{self, Output};
use crate::place::TextPlace;
use crate::tokens::Spelled;
use crate::tree;
use crate::vocabularies;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    /// The texts; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Whether a text may have one extra line end.
    #[arg(long, value_enum, value_name = "WHETHER", default_value_t = FinalNewline::Refuse)]
    final_newline: FinalNewline,
    /// Also show the token of this vocabulary that leaves the language: gpt2, p50k, cl100k, o200k,
    /// o200k_harmony, or the file of a tokenizer.
    #[arg(long, value_name = "V")]
    vocab: Option<String>,
    /// Also print the parse tree of each text of the language.
    #[arg(long)]
    tree: bool,
}

/// Whether a text may have one extra line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FinalNewline {
    /// A text may have one line end more than the grammar allows.
    Allow,
    /// Texts are read unchanged.
    Refuse,
}

#[derive(Debug, Default, Serialize)]
struct Validated<'a> {
    file: &'a str,
    ok: bool,
    offset: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    /// The kind of the reason, in one word.
    kind: Option<&'static str>,
    expected: &'a [String],
    then: &'a [String],
    /// The lexeme that is incomplete at the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<Within<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    hints: &'a [String],
    /// The token with the first wrong byte, if a vocabulary is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a Spelled>,
    /// The parse tree, if it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<Box<RawValue>>,
}

/// A lexeme that began before a fault.
#[derive(Debug, Serialize)]
struct Within<'a> {
    offset: usize,
    line: usize,
    column: usize,
    expected: &'a [String],
}

/// Answers yes if all texts are in the language.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let compiled = grammars::compile(&arguments.grammar, inputs)?;
    let vocabulary = match &arguments.vocab {
        Some(name) => Some(vocabularies::load_with_cutter(name, None, inputs)?),
        None => None,
    };
    let mut matcher = compiled.matcher();
    let mut all = true;
    let mut unreadable = None;
    for file in &arguments.files {
        matcher.reset();
        let mut whole = Vec::new();
        let read = inputs.open(file).and_then(|mut text| {
            let newline = arguments.final_newline;
            let fault = match vocabulary.is_some() || arguments.tree {
                false => find_fault(&mut matcher, &mut *text, newline),
                true => text
                    .read_to_end(&mut whole)
                    .and_then(|_| find_fault(&mut matcher, &mut &whole[..], newline)),
            };
            fault.map_err(|error| input::unreadable(file, &error))
        });
        let fault = match read {
            Ok(fault) => fault,
            Err(Failure::Unusable(message)) => {
                if let Some(before) = unreadable.replace(message) {
                    output::note(&before);
                }
                continue;
            }
            Err(other) => return Err(other),
        };
        if fault.is_some() {
            grammars::tell_dropped(input::name(file), matcher.dropped_readings());
        }
        all &= fault.is_none();
        let token = fault.as_ref().zip(vocabulary.as_ref());
        let token = token.and_then(|((fault, _), (vocabulary, cutter))| {
            Spelled::of(vocabulary, &cutter.cut(vocabulary, &whole, 0)?, fault.offset)
        });
        let parsed = arguments.tree.then(|| {
            // A text may have one line end more than the grammar allows.
            let bare =
                whole.strip_suffix(b"\n").map(|bare| bare.strip_suffix(b"\r").unwrap_or(bare));
            let tree = [Some(&whole[..]), bare].into_iter().flatten().find_map(|text| {
                let mut listener = compiled.listener();
                listener.read_bytes(text);
                listener.finish().1
            });
            (tree.unwrap_or_default(), &whole[..])
        });
        print(file, fault.as_ref(), token.as_ref(), parsed, out)?;
    }
    grammars::tell_undecided(compiled.undecided());
    match unreadable {
        Some(message) => Err(Failure::Unusable(message)),
        None => Ok(all.into()),
    }
}

impl Chunk {
    /// Reads up to one more chunk, and returns the number of bytes.
    fn read(&mut self, text: &mut dyn Read) -> std::io::Result<usize> {
        text.take(CHUNK as u64).read_to_end(&mut self.bytes)
    }

    /// Drops bytes that no message will show.
    fn forget(&mut self) {
        let Some(mut cut) = self.bytes.len().checked_sub(WINDOW + 4) else { return };
        // Pieces begin with a character, if the text is UTF-8.
        while cut > 0 && self.bytes[cut] & 0xc0 == 0x80 && self.bytes.len() - cut < WINDOW + 8 {
            cut -= 1;
        }
        self.begins = self.begins.within(self.first, &self.bytes, cut);
        self.first += cut;
        self.bytes.drain(..cut);
    }
}

/// Returns where `text`, as a whole, leaves the language, with the text around that position. Holds
/// at most two chunks of it in memory.
fn find_fault(
    matcher: &mut Matcher,
    text: &mut dyn Read,
    final_newline: FinalNewline,
) -> std::io::Result<Option<(Fault, Chunk)>> {
    let mut chunk = Chunk::whole(&[]);
    // The bytes that were read last, and the matcher before them.
    let (mut before, mut last) = (matcher.clone(), Vec::new());
    loop {
        let begins = chunk.bytes.len();
        if chunk.read(text)? == 0 {
            break;
        }
        let first = chunk.first + begins;
        before = matcher.clone();
        last = chunk.bytes[begins..].to_vec();
        let Some(fault) = fault::take(matcher, &last) else {
            chunk.forget();
            continue;
        };
        let fault = fault.moved(first);
        if chunk.first + chunk.bytes.len() < fault.offset + WINDOW {
            chunk.read(text)?;
        }
        let rest = &chunk.bytes[fault.offset - chunk.first..];
        let is_whole = final_newline == FinalNewline::Allow
            && matches!(rest, b"\n" | b"\r\n")
            && matcher.is_accepting();
        return Ok((!is_whole).then_some((fault, chunk)));
    }
    let begins = chunk.first + chunk.bytes.len() - last.len();
    let fault = fault::at_end(&before, matcher, &last);
    Ok(fault.map(|fault| (fault.moved(begins), chunk)))
}

fn print(
    file: &str,
    fault: Option<&(Fault, Chunk)>,
    token: Option<&Spelled>,
    parsed: Option<(ParseTree, &[u8])>,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some((fault, chunk)) = fault else {
        if out.is_json() {
            let tree = parsed.and_then(|(tree, text)| tree::nested(&tree, text));
            return out.json(&Validated { file, ok: true, tree, ..Validated::default() });
        }
        out.text(format_args!("{}: ok\n", input::name(file)))?;
        let (tree, text) = parsed.unwrap_or_default();
        return out.text(format_args!("{}", tree::describe(&tree, text)));
    };
    if out.is_json() {
        let place = chunk.place(fault.offset);
        let within = fault.within.as_ref().map(|within| {
            let TextPlace { line, column, .. } = chunk.place(within.offset);
            Within { offset: within.offset, line, column, expected: &within.expected }
        });
        return out.json(&Validated {
            file,
            ok: false,
            offset: Some(fault.offset),
            line: Some(place.line),
            column: Some(place.column),
            kind: fault.kind,
            expected: &fault.expected,
            then: &fault.then,
            within,
            hints: &fault.hints,
            token,
            tree: None,
        });
    }
    let picture = fault::describe(input::name(file), chunk, fault, out.is_styled());
    out.text(format_args!("{picture}\n"))?;
    match token {
        Some(token) => out.text(format_args!("  = note: {token}\n")),
        None => Ok(()),
    }
}
