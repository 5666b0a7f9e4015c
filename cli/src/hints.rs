//! Advice to the author of a text that leaves the language: each hint is tried on the matcher
//! before it is given.

use lrmask::Matcher;

use crate::place::TextPlace;
use crate::similar;

/// Maximum number of character ranges in a message.
const RANGES: usize = 6;

/// Returns the matcher after `text`, if it accepts that.
pub(crate) fn after(matcher: &Matcher, text: &[u8]) -> Option<Matcher> {
    let mut after = matcher.clone();
    (text.is_empty() || after.advance_bytes(text).is_ok()).then_some(after)
}

/// Returns hints for a text that `before` accepts up to the state `at`, by the bytes `read`. The
/// bytes `rest` follow, and `lexeme` is the start of a lexeme that is incomplete there.
pub(crate) fn hints(
    before: &Matcher,
    at: &Matcher,
    read: &[u8],
    rest: &[u8],
    lexeme: Option<usize>,
) -> Vec<String> {
    let hint = unclosed(read, rest, lexeme)
        .or_else(|| line_end(at, rest))
        .or_else(|| missing_blank(at, read, rest))
        .or_else(|| misspelt(before, read, rest, lexeme))
        .or_else(|| indentation(before, read, rest));
    hint.into_iter().collect()
}

/// Returns a hint for a string or comment that is never closed.
fn unclosed(read: &[u8], rest: &[u8], lexeme: Option<usize>) -> Option<String> {
    let begun = std::str::from_utf8(read.get(lexeme?..)?).ok()?;
    let opens = ["\"\"\"", "'''", "\"", "'", "`", "/*", "(*", "<!--"];
    let open = opens.iter().find(|open| begun.starts_with(**open) && begun.len() > open.len())?;
    let is_line_end = rest.first().is_none_or(|&byte| byte == b'\n' || byte == b'\r');
    is_line_end.then(|| {
        let place = TextPlace::of(read, lexeme.unwrap_or_default());
        match read.contains(&b'\n') || place.line > 1 {
            true => format!("close the {open}"),
            false => format!("close the {open} that opens at column {}", place.column),
        }
    })
}

/// Returns a hint for a superfluous or missing line end at the end of the text.
fn line_end(at: &Matcher, rest: &[u8]) -> Option<String> {
    let is_line_end =
        |text: &[u8]| !text.is_empty() && text.iter().all(|byte| b"\r\n".contains(byte));
    if is_line_end(rest) && at.is_accepting() {
        return Some(
            "the text is complete before its last line end; --final-newline allow accepts that"
                .to_owned(),
        );
    }
    let is_missing = rest.is_empty() && after(at, b"\n").is_some_and(|at| at.is_accepting());
    is_missing.then(|| "end the text with a line end".to_owned())
}

/// Returns a hint for two words that lack a blank between them.
fn missing_blank(at: &Matcher, read: &[u8], rest: &[u8]) -> Option<String> {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    read.last().filter(is_word)?;
    let next = rest.first().filter(is_word)?;
    let apart = after(at, b" ").and_then(|at| after(&at, &[*next]));
    apart.map(|_| format!("put a blank before '{}'", char::from(*next)))
}

/// Returns a hint for a word similar to an expected one: the word that leaves the language, or the
/// one before it, which was read as something else.
fn misspelt(before: &Matcher, read: &[u8], rest: &[u8], lexeme: Option<usize>) -> Option<String> {
    let text = [read, &rest[..rest.len().min(64)]].concat();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let begin =
        |end: usize| end - text[..end].iter().rev().take_while(|byte| is_word(byte)).count();
    let here = lexeme.unwrap_or_else(|| begin(read.len()));
    let blanks = text[..here].iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    [here, begin(here - blanks)].into_iter().find_map(|start| {
        let length = text[start..].iter().take_while(|byte| is_word(byte)).count();
        let word = std::str::from_utf8(&text[start..start + length]).ok()?;
        let place = after(before, &read[..start.min(read.len())])?;
        let expected: Vec<String> = place.expected().iter().map(ToString::to_string).collect();
        // A terminal's name counts too if it is its text: `FROM`.
        let words = expected.iter().filter_map(|shown| {
            let literal = shown.strip_prefix('"').and_then(|shown| shown.strip_suffix('"'));
            let known = literal.unwrap_or(shown);
            let is_known = known.bytes().all(|byte| is_word(&byte)) && known != word;
            (is_known && after(&place, known.as_bytes()).is_some()).then_some(known)
        });
        let nearest = similar::nearest(word, words).filter(|_| word.len() > 1)?;
        Some(format!("did you mean `{nearest}` instead of `{word}`?"))
    })
}

/// Returns a hint for a line whose indentation matches no open block.
fn indentation(before: &Matcher, read: &[u8], rest: &[u8]) -> Option<String> {
    let next = *rest.first().filter(|byte| !byte.is_ascii_whitespace())?;
    let start = read.iter().rposition(|&byte| byte == b'\n')? + 1;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let own = &read[start..];
    let blanks = |line: &[u8]| line.iter().take_while(|byte| is_blank(byte)).count();
    if !own.iter().all(is_blank) {
        return None;
    }
    let begun = after(before, &read[..start])?;
    let mut known: Vec<&[u8]> = read[..start]
        .split(|&byte| byte == b'\n')
        .filter(|line| blanks(line) < line.len())
        .map(|line| &line[..blanks(line)])
        .chain([&b""[..]])
        .collect();
    known.sort_unstable_by_key(|blanks| blanks.len());
    known.dedup();
    let mut widths: Vec<String> = known
        .into_iter()
        .filter(|blanks| *blanks != own)
        .filter(|blanks| after(&begun, &[blanks, &[next][..]].concat()).is_some())
        .map(|blanks| blanks.len().to_string())
        .collect();
    let deeper = [own, b"    ", &[next]].concat();
    if widths.is_empty() {
        return after(&begun, &deeper).map(|_| {
            format!(
                "an indented block is expected here: indent the line by more than {}",
                own.len()
            )
        });
    }
    widths.dedup();
    Some(format!(
        "the line is indented by {} columns, which matches no open block: expected {}",
        own.len(),
        widths.join(" or ")
    ))
}

/// Returns the characters that may come next, if they form few ranges.
pub(crate) fn characters(at: &Matcher) -> Option<String> {
    let mut ranges: Vec<(u8, u8)> = Vec::new();
    for byte in (0..0x80).filter(|&byte| after(at, &[byte]).is_some()) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == byte => *last = byte,
            _ => ranges.push((byte, byte)),
        }
    }
    let more = (0xc2..=0xf4).any(|byte| after(at, &[byte]).is_some());
    if ranges.len() > RANGES || ranges.is_empty() || more {
        return None;
    }
    let shown = ranges.iter().map(|&(first, last)| match last - first {
        0 => format!("{:?}", char::from(first)),
        _ => format!("{:?} to {:?}", char::from(first), char::from(last)),
    });
    Some(shown.collect::<Vec<_>>().join(", "))
}
