//! The position and the reason at which a text leaves the language, and a picture of it.

use annotate_snippets::{AnnotationKind, Level, Snippet};
use lrmask::{Expected, Matcher};

use crate::hints;
use crate::place::TextPlace;
use crate::report;

/// Bytes in a step of a matcher: each step is remembered, and steps of this size are few.
pub(crate) const CHUNK: usize = 64 << 10;

/// Bytes of a line that are shown on each side of an error.
pub(crate) const WINDOW: usize = 60;

/// Maximum number of bytes that the search for the start of a lexeme goes back.
const LEXEME: usize = 4096;

/// Maximum number of expected terminals in a message.
const SHOWN: usize = 24;

/// The position at which a text leaves the language.
#[derive(Debug, Default)]
pub(crate) struct Fault {
    /// The first byte at which no sentence continues; the length of the text if only its end is
    /// wrong.
    pub(crate) offset: usize,
    /// Terminals and literals that the grammar allows at the offset.
    pub(crate) expected: Vec<String>,
    /// Terminals that may follow `expected`, if that is a single literal.
    pub(crate) then: Vec<String>,
    /// The lexeme that is incomplete at the offset.
    pub(crate) within: Option<Lexeme>,
    /// The characters with which the lexeme can continue, if they are few.
    pub(crate) characters: Option<String>,
    /// Advice to the author of the text.
    pub(crate) hints: Vec<String>,
    /// The kind of the reason, in one word.
    pub(crate) kind: Option<&'static str>,
}

/// A lexeme that began before a fault.
#[derive(Debug)]
pub(crate) struct Lexeme {
    /// Start of the lexeme in the text, in bytes.
    pub(crate) offset: usize,
    /// The terminals that could begin there.
    pub(crate) expected: Vec<String>,
}

impl Fault {
    /// Creates the fault after `read`, which leads from `before` to `at`, and before `rest`.
    /// Offsets count from the start of `read`.
    fn new(before: &Matcher, at: &Matcher, read: &[u8], rest: &[u8]) -> Self {
        let first = read.len().saturating_sub(LEXEME);
        let mut near = before.clone();
        let is_near = near.advance_bytes(&read[..first]).is_ok();
        let why = match rest.first() {
            Some(&byte) => near.explain_bytes(&[&read[first..], &[byte]].concat()),
            None => near.explain_end(&read[first..]),
        };
        // White space alone is not the beginning of a word.
        let is_word = |began: usize| read[began..].iter().any(|byte| *byte > b' ');
        let within = why.as_ref().and_then(|why| why.lexeme()).filter(|_| is_near);
        let within = within.and_then(|lexeme| {
            let began = usize::try_from(first as isize + lexeme.start).ok();
            let expected = lexeme.expected.iter().map(ToString::to_string).collect();
            Some(Lexeme { offset: began.filter(|&began| is_word(began))?, expected })
        });
        let lexeme = within.as_ref().map(|within| within.offset);
        Self {
            offset: read.len(),
            expected: expected(at),
            then: then(at),
            characters: within.as_ref().and_then(|_| hints::characters(at)),
            hints: hints::hints(before, at, read, rest, lexeme),
            within,
            kind: why.as_ref().map(|why| why.reason().name()),
        }
    }

    /// Returns the same fault in a text with `by` more bytes before it.
    pub(crate) fn moved(mut self, by: usize) -> Self {
        self.offset += by;
        if let Some(within) = &mut self.within {
            within.offset += by;
        }
        self
    }
}

/// A chunk of a text that is read in chunks, with its position on its line.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Start of the chunk in the text, in bytes.
    pub(crate) first: usize,
    /// Start of the chunk as line and column.
    pub(crate) begins: TextPlace,
    pub(crate) bytes: Vec<u8>,
}

impl Chunk {
    /// Returns the whole text as one chunk.
    pub(crate) fn whole(text: &[u8]) -> Self {
        Self { first: 0, begins: TextPlace::START, bytes: text.to_vec() }
    }

    /// Returns the position of a byte of the text; that of the chunk's first byte if it is before
    /// the chunk.
    pub(crate) fn place(&self, offset: usize) -> TextPlace {
        self.begins.within(self.first, &self.bytes, offset.saturating_sub(self.first))
    }
}

/// Advances `matcher` by `text`, or by its viable prefix, and returns the fault if there is one.
pub(crate) fn take(matcher: &mut Matcher, text: &[u8]) -> Option<Fault> {
    let mut offset = 0;
    for chunk in text.chunks(CHUNK) {
        let before = matcher.clone();
        if let Err(rejected) = matcher.advance_bytes(chunk) {
            let viable = rejected.accepted_bytes();
            // Cannot fail: these bytes have just been found viable.
            let _ = matcher.advance_bytes(&chunk[..viable]);
            let (read, rest) = (&chunk[..viable], &text[offset + viable..]);
            return Some(Fault::new(&before, matcher, read, rest).moved(offset));
        }
        offset += chunk.len();
    }
    None
}

/// Returns the fault of a text that ends at `at`, after `read`, which `before` accepts, if it may
/// not end there.
pub(crate) fn at_end(before: &Matcher, at: &Matcher, read: &[u8]) -> Option<Fault> {
    (!at.is_accepting()).then(|| Fault::new(before, at, read, &[]))
}

/// Returns the expected terminals as shown in messages.
pub(crate) fn expected(matcher: &Matcher) -> Vec<String> {
    matcher.expected().iter().map(ToString::to_string).collect()
}

/// Returns the terminals that may follow the only literal that can come next, for example a missing
/// key after a missing comma.
fn then(matcher: &Matcher) -> Vec<String> {
    let [Expected::Literal(literal)] = matcher.expected()[..] else { return Vec::new() };
    let text = literal.trim_matches('"');
    // Literals with escapes in their name are not followed.
    match hints::after(matcher, text.as_bytes()) {
        Some(behind) if !text.contains(['"', '\\']) => expected(&behind),
        _ => Vec::new(),
    }
}

/// Returns the fault in one line, without the file's name.
pub(crate) fn title(chunk: &Chunk, fault: &Fault) -> String {
    let place = chunk.place(fault.offset);
    let at = fault.offset.saturating_sub(chunk.first).min(chunk.bytes.len());
    let what = match &chunk.bytes[at..] {
        [] => "the text ends too early".to_owned(),
        rest => format!("{} is not allowed here", character(rest)),
    };
    let within = fault.within.as_ref().map(|within| {
        let began = chunk.place(within.offset);
        format!(", in the word that begins at {}:{}", began.line, began.column)
    });
    let within = within.unwrap_or_default();
    format!("{}:{}: {what}{within} (byte {})", place.line, place.column, fault.offset)
}

/// Formats a list for people.
pub(crate) fn list(all: &[String]) -> String {
    let one_of = if all.len() > 1 { "one of " } else { "" };
    let more = all.len().saturating_sub(SHOWN);
    let shown = all[..all.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{one_of}{shown}{more}")
}

/// Returns the fault with its position, a picture of it, and the expected terminals.
pub(crate) fn describe(name: &str, chunk: &Chunk, fault: &Fault, styled: bool) -> String {
    let place = chunk.place(fault.offset);
    let (text, offset) = (&chunk.bytes[..], fault.offset - chunk.first);

    // Long lines are cut to the text near the fault.
    let from = place.line_start.saturating_sub(chunk.first).max(offset.saturating_sub(WINDOW));
    let to = text[offset..].iter().take(WINDOW).position(|&byte| byte == b'\n');
    let to = to.map_or(text.len().min(offset + WINDOW), |at| offset + at);
    let shown = |from: usize, to: usize| String::from_utf8_lossy(&text[from..to]).into_owned();
    let before = shown(from, offset);
    let at = before.len();
    let line = format!("{before}{}", shown(offset, to));
    let width = line[at..].chars().next().map_or(0, char::len_utf8);

    let mut picture = Snippet::source(line)
        .line_start(place.line)
        .annotation(AnnotationKind::Primary.span(at..at + width));
    let within = fault.within.as_ref();
    let began = within.and_then(|within| within.offset.checked_sub(chunk.first));
    if let Some(began) = began.filter(|&began| began >= from && began < offset) {
        let began = shown(from, began).len();
        picture = picture
            .annotation(AnnotationKind::Context.span(began..at).label("the word begins here"));
    }
    let title = format!("{name}:{}", title(chunk, fault));
    let mut group = Level::ERROR.primary_title(title).element(picture);
    let other = within.filter(|within| within.expected != fault.expected);
    if let Some(within) = other.filter(|within| !within.expected.is_empty()) {
        let expected = format!("expected where the word begins: {}", list(&within.expected));
        group = group.element(Level::NOTE.message(expected));
    }
    if !fault.expected.is_empty() {
        let then = match fault.then.is_empty() {
            true => String::new(),
            false => format!(", then {}", list(&fault.then)),
        };
        let expected = list(&fault.expected);
        let begins = if other.is_some() { "so far, it begins" } else { "expected" };
        let goes_on = match &fault.characters {
            Some(characters) => format!(", which continues with {characters}"),
            None => String::new(),
        };
        group = group.element(Level::NOTE.message(format!("{begins} {expected}{goes_on}{then}")));
    }
    for hint in &fault.hints {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    report::renderer(styled).render(&[group])
}

/// Returns the first character of `text`, or its first byte if it begins no character.
fn character(text: &[u8]) -> String {
    let valid = text.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    match valid {
        Some(character) => format!("{character:?}"),
        None => format!("the byte 0x{:02X}", text.first().copied().unwrap_or_default()),
    }
}
