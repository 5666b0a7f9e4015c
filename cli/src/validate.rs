//! `lrmask validate`: is each whole text in the language?

use std::io::Read;

use annotate_snippets::{AnnotationKind, Level, Snippet};
use lrmask::{Expected, Matcher};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::grammars::{self, GrammarArgument};
use crate::input::{self, Inputs};
use crate::output::{self, Output};
use crate::place::TextPlace;
use crate::report;

/// A matcher remembers each step; steps of this many bytes are few enough.
const CHUNK: usize = 64 << 10;

/// Bytes of a line to be shown before and behind the place of an error.
const WINDOW: usize = 60;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    /// The texts; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// Where a text leaves the language.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The first byte that no sentence has there; the length of the text where only its end is
    /// wrong.
    pub(crate) offset: usize,
    /// What may stand there instead.
    pub(crate) expected: Vec<String>,
    /// What may stand behind that, where it is one literal.
    pub(crate) then: Vec<String>,
}

impl Fault {
    /// Behind so many bytes, all of which `matcher` has read.
    fn behind(offset: usize, matcher: &Matcher) -> Self {
        Self { offset, expected: expected(matcher), then: then(matcher) }
    }
}

#[derive(Debug, Serialize)]
struct Validated<'a> {
    file: &'a str,
    ok: bool,
    offset: Option<usize>,
    line: Option<usize>,
    column: Option<usize>,
    expected: &'a [String],
    then: &'a [String],
}

/// Yes where all texts are in the language.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let compiled = grammars::compile(&arguments.grammar, inputs)?;
    let mut matcher = compiled.matcher();
    let mut all = true;
    let mut unreadable = None;
    for file in &arguments.files {
        matcher.reset();
        let read = inputs.open(file).and_then(|mut text| {
            find_fault(&mut matcher, &mut *text).map_err(|error| input::unreadable(file, &error))
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
        all &= fault.is_none();
        print(file, fault.as_ref(), out)?;
    }
    grammars::tell_undecided(compiled.undecided());
    match unreadable {
        Some(message) => Err(Failure::Unusable(message)),
        None => Ok(all.into()),
    }
}

/// A piece of a text that is read piece by piece, with what stands before it on its line.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Where it begins in the text, in bytes.
    first: usize,
    /// Where it begins, as people count.
    begins: TextPlace,
    bytes: Vec<u8>,
}

impl Piece {
    /// The whole of a text.
    pub(crate) fn whole(text: &[u8]) -> Self {
        Self { first: 0, begins: TextPlace::START, bytes: text.to_vec() }
    }

    /// Reads on, by a chunk if there is one, and says how many bytes that was.
    fn read(&mut self, text: &mut dyn Read) -> std::io::Result<usize> {
        text.take(CHUNK as u64).read_to_end(&mut self.bytes)
    }

    /// Forgets what no message will show.
    fn forget(&mut self) {
        let Some(mut cut) = self.bytes.len().checked_sub(WINDOW + 4) else { return };
        // Pieces begin with a character, where the text has characters.
        while cut > 0 && self.bytes[cut] & 0xc0 == 0x80 && self.bytes.len() - cut < WINDOW + 8 {
            cut -= 1;
        }
        self.begins = self.begins.within(self.first, &self.bytes, cut);
        self.first += cut;
        self.bytes.drain(..cut);
    }

    fn place(&self, offset: usize) -> TextPlace {
        self.begins.within(self.first, &self.bytes, offset - self.first)
    }
}

/// Where `text`, as a whole, leaves the language, and what stands around there. Holds no more of it
/// than a piece.
fn find_fault(
    matcher: &mut Matcher,
    text: &mut dyn Read,
) -> std::io::Result<Option<(Fault, Piece)>> {
    let mut piece = Piece::whole(&[]);
    loop {
        let begins = piece.bytes.len();
        if piece.read(text)? == 0 {
            break;
        }
        if let Some(mut fault) = take(matcher, &piece.bytes[begins..]) {
            fault.offset += piece.first + begins;
            if piece.first + piece.bytes.len() < fault.offset + WINDOW {
                piece.read(text)?;
            }
            return Ok(Some((fault, piece)));
        }
        piece.forget();
    }
    let offset = piece.first + piece.bytes.len();
    Ok((!matcher.is_accepting()).then(|| (Fault::behind(offset, matcher), piece)))
}

/// What may come next, as messages show it.
pub(crate) fn expected(matcher: &Matcher) -> Vec<String> {
    matcher.expected().iter().map(ToString::to_string).collect()
}

/// What may come behind the one literal that may come next: behind the comma that is missing, the
/// key that is.
fn then(matcher: &Matcher) -> Vec<String> {
    let [Expected::Literal(literal)] = matcher.expected()[..] else { return Vec::new() };
    let text = literal.trim_matches('"');
    let mut behind = matcher.clone();
    // What is escaped in the literal's name is not looked behind.
    match behind.advance_bytes(text.as_bytes()) {
        Ok(()) if !text.contains(['"', '\\']) => expected(&behind),
        _ => Vec::new(),
    }
}

/// Advances `matcher` by `text`, or as far as it is viable.
pub(crate) fn take(matcher: &mut Matcher, text: &[u8]) -> Option<Fault> {
    let mut offset = 0;
    for chunk in text.chunks(CHUNK) {
        if let Err(rejected) = matcher.advance_bytes(chunk) {
            let viable = rejected.accepted_bytes();
            // Cannot fail: these bytes have just been found viable.
            let _ = matcher.advance_bytes(&chunk[..viable]);
            return Some(Fault::behind(offset + viable, matcher));
        }
        offset += chunk.len();
    }
    None
}

fn print(file: &str, fault: Option<&(Fault, Piece)>, out: &mut Output) -> Result<(), Failure> {
    let Some((fault, piece)) = fault else {
        return match out.is_json() {
            true => out.json(&Validated {
                file,
                ok: true,
                offset: None,
                line: None,
                column: None,
                expected: &[],
                then: &[],
            }),
            false => out.text(format_args!("{}: ok\n", input::name(file))),
        };
    };
    if out.is_json() {
        let place = piece.place(fault.offset);
        return out.json(&Validated {
            file,
            ok: false,
            offset: Some(fault.offset),
            line: Some(place.line),
            column: Some(place.column),
            expected: &fault.expected,
            then: &fault.then,
        });
    }
    let picture = describe(input::name(file), piece, fault, out.is_styled());
    out.text(format_args!("{picture}\n"))
}

/// The fault with its place, a picture of it, and what was expected.
pub(crate) fn describe(name: &str, piece: &Piece, fault: &Fault, styled: bool) -> String {
    let place = piece.place(fault.offset);
    let (text, offset) = (&piece.bytes[..], fault.offset - piece.first);
    let what = match text.get(offset..) {
        Some([]) | None => "the text ends too early".to_owned(),
        Some(rest) => format!("{} is not allowed here", character(rest)),
    };
    let title = format!("{name}:{}:{}: {what} (byte {})", place.line, place.column, fault.offset);

    // Of a long line only what is near.
    let from = place.line_start.saturating_sub(piece.first).max(offset.saturating_sub(WINDOW));
    let to = text[offset..].iter().take(WINDOW).position(|&byte| byte == b'\n');
    let to = to.map_or(text.len().min(offset + WINDOW), |at| offset + at);
    let before = String::from_utf8_lossy(&text[from..offset]);
    let at = before.len();
    let line = format!("{before}{}", String::from_utf8_lossy(&text[offset..to]));
    let width = line[at..].chars().next().map_or(0, char::len_utf8);

    let mut group = Level::ERROR.primary_title(title).element(
        Snippet::source(line)
            .line_start(place.line)
            .annotation(AnnotationKind::Primary.span(at..at + width)),
    );
    if !fault.expected.is_empty() {
        let list = |all: &[String]| {
            let one_of = if all.len() > 1 { "one of " } else { "" };
            format!("{one_of}{}", all.join(", "))
        };
        let mut expected = format!("expected {}", list(&fault.expected));
        if !fault.then.is_empty() {
            expected = format!("{expected}, then {}", list(&fault.then));
        }
        group = group.element(Level::NOTE.message(expected));
    }
    report::renderer(styled).render(&[group])
}

/// The first character of `text`, or its first byte where that begins none.
fn character(text: &[u8]) -> String {
    let valid = text.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    match valid {
        Some(character) => format!("{character:?}"),
        None => format!("the byte 0x{:02X}", text.first().copied().unwrap_or_default()),
    }
}
