//! Messages of the sources, and words that prose avoids.

use std::path::Path;

use super::{Piece, code_of, in_test_module, is_word, module_of, pieces};

/// Words that comments, messages and pages avoid, and words to use in their place.
const AVOIDED: &[(&str, &str)] = &[
    ("whoever", "`the caller`, `the one that`"),
    ("somebody", "`a user`, `someone`"),
    ("ever so", "`very`, or a figure"),
    ("it is no matter", "`it does not matter`"),
    ("so many", "`this many`, `N`, a figure"),
    ("be it", "`whether`, `either`"),
];

/// The same for comments and messages alone. Code between backticks and terms such as
/// `look-behind` are other words.
const AVOIDED_IN_SOURCES: &[(&str, &str)] =
    &[("behind", "`after`, `below`, `past`"), ("beside", "`with`, `next to`, `in addition to`")];

/// Returns the messages of a source in their order: its string literals of three words or more,
/// each on one line, without those of tests.
pub(super) fn messages(path: &Path, text: &str) -> Vec<String> {
    literals(path, text).into_iter().map(|(_, message)| message).collect()
}

/// Returns avoided words in the comments and messages of a source.
pub(super) fn avoided_in_source(path: &Path, text: &str) -> Vec<String> {
    let mut comments = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Comment(comment) => comments.push_str(comment),
            // A line that has more than a comment separates it from the next one.
            Piece::Code(code) => comments.extend(code.chars().map(|c| match c {
                '\n' | ' ' => c,
                _ => SEPARATOR,
            })),
            Piece::Literal(literal) => {
                comments.extend(literal.chars().filter(|&c| c == '\n'));
                comments.push(SEPARATOR);
            }
        }
    }
    let lines: Vec<&str> =
        comments.lines().map(|line| line.trim().trim_start_matches(['/', '!', '*'])).collect();
    let both = [AVOIDED, AVOIDED_IN_SOURCES].concat();
    let mut faults = found(&lines, 1, &both);
    for (line, message) in literals(path, text) {
        faults.extend(found(&[&message], line, &both));
    }
    faults
}

/// Returns avoided words of a page.
pub(super) fn avoided_on_page(text: &str) -> Vec<String> {
    found(&text.lines().collect::<Vec<_>>(), 1, AVOIDED)
}

/// Takes the place of code between comments; no phrase extends past it.
const SEPARATOR: char = ';';

/// Returns the string literals with three words or more, each with its first line.
fn literals(path: &Path, text: &str) -> Vec<(usize, String)> {
    if module_of(path).iter().any(|name| name == "tests") {
        return Vec::new();
    }
    let pieces = pieces(text);
    let code = code_of(&pieces);
    let (mut found, mut offset, mut line) = (Vec::new(), 0, 1);
    for piece in &pieces {
        if let Piece::Literal(literal) = piece
            && let Some(message) = content(literal)
            && number_of_words(&message) >= 3
            && !in_test_module(&code, offset)
        {
            found.push((line, message));
        }
        offset += code_of(std::slice::from_ref(piece)).len();
        line += piece.text().matches('\n').count();
    }
    found
}

/// Returns the content of a string literal as it is written, with continued lines joined; `None`
/// for a character.
fn content(literal: &str) -> Option<String> {
    let prefix = literal.find(['"', '\''])?;
    let inside = literal[prefix..].strip_prefix('"')?;
    let is_raw = literal.starts_with(['r', 'b']) && literal[..prefix].contains('r');
    if is_raw {
        let inside = inside.trim_end_matches('#');
        return Some(inside.strip_suffix('"').unwrap_or(inside).replace('\n', "\\n"));
    }
    let mut joined = String::new();
    let mut parts = inside.strip_suffix('"').unwrap_or(inside).split("\\\n");
    joined.push_str(parts.next().unwrap_or_default());
    parts.for_each(|part| joined.push_str(part.trim_start()));
    Some(joined.replace('\n', "\\n"))
}

/// Returns the number of words between blanks, without placeholders and signs.
fn number_of_words(message: &str) -> usize {
    let is_placed = |word: &&str| !word.starts_with('{') && word.contains(char::is_alphabetic);
    message.split_whitespace().filter(is_placed).count()
}

/// Returns the avoided words in prose, of which the first line has the number `first`.
fn found(lines: &[&str], first: usize, avoided: &[(&str, &str)]) -> Vec<String> {
    let words = prose_words(lines, first);
    let mut faults = Vec::new();
    for (phrase, instead) in avoided {
        let phrase_words: Vec<&str> = phrase.split(' ').collect();
        for window in words.windows(phrase_words.len()) {
            if window.iter().map(|(_, word)| word).eq(&phrase_words) {
                faults.push(format!("line {}: `{phrase}`, better {instead}", window[0].0));
            }
        }
    }
    faults
}

/// Returns the words and signs of prose in lower case, with their lines. Code between backticks
/// and in blocks is one sign.
fn prose_words(lines: &[&str], first: usize) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let (mut is_block, mut is_code) = (false, false);
    for (number, line) in (first..).zip(lines) {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            words.push((number, "`".to_owned()));
            continue;
        }
        if line.trim().is_empty() {
            is_code = false;
            words.push((number, String::new()));
        }
        let mut word = String::new();
        for c in line.chars().chain([' ']) {
            if !is_block && !is_code && (is_word(c) || c == '-') {
                word.extend(c.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                words.push((number, std::mem::take(&mut word)));
            }
            if c == '`' {
                is_code = !is_code;
            }
            // Code that has no end on its line begins anew after a separator.
            is_code &= c != SEPARATOR || line.matches('`').count() > 1;
            if !c.is_whitespace() {
                words.push((number, c.to_string()));
            }
        }
    }
    words
}

#[test]
fn messages_are_joined() {
    let text = "fn f() { g(\"one {two} three \\\n     four\", r#\"five six \"seven\"\"#, \"eight\") }\n\
                #[cfg(test)]\nmod tests { const A: &str = \"not a message\"; }\n\
                // \"nor is this\"\n";
    let found = messages(Path::new("lr/table.rs"), text);
    assert_eq!(found, ["one {two} three four", "five six \"seven\""]);
    assert!(messages(Path::new("lr/tests/table.rs"), text).is_empty());
}

#[test]
fn avoided_words_are_found() {
    let lines = |text| avoided_in_source(Path::new("lr/table.rs"), text);
    assert!(
        lines("// A look-behind, and `what is behind`: somebodies.\nlet behind = 1;").is_empty()
    );
    assert!(lines("// It may be. It is so\nlet a = 1;\n// many\n").is_empty());
    assert_eq!(lines("/// There are so\n/// many of them.")[0].split(':').next(), Some("line 1"));
    assert_eq!(lines("let a = 'b';\n// Behind it.").len(), 1);
    assert_eq!(lines("f(\"what stands \\\n    behind it\", \"behind\")").len(), 1);
    assert_eq!(avoided_on_page("Whoever\n```\nwhoever\n```\n`whoever` behind").len(), 1);
}
