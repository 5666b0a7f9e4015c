//! SQLite's tokens, as far as splitting and mutating need them. Written from SQLite's documentation
//! of its tokens, and independent of the engine.

/// The kind of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// White space or a comment.
    Blank,
    /// A semicolon.
    Semicolon,
    /// Anything else, valid or not.
    Token,
}

/// Splits a text into pieces, without gaps.
pub fn pieces(text: &str) -> Vec<(Kind, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (kind, length) = first(rest.as_bytes());
        let mut length = length.clamp(1, rest.len());
        while !rest.is_char_boundary(length) {
            length += 1;
        }
        let (piece, behind) = rest.split_at(length);
        pieces.push((kind, piece));
        rest = behind;
    }
    pieces
}

/// Returns the tokens of a text, including semicolons.
pub fn tokens(text: &str) -> Vec<&str> {
    pieces(text)
        .into_iter()
        .filter(|(kind, _)| *kind != Kind::Blank)
        .map(|(_, piece)| piece)
        .collect()
}

/// Returns the end of the last token of a text.
pub fn end_of_last(text: &str) -> usize {
    let mut end = 0;
    let mut last = 0;
    for (kind, piece) in pieces(text) {
        end += piece.len();
        if kind != Kind::Blank {
            last = end;
        }
    }
    last
}

/// Returns the statements of a script, without the semicolons between them; those without a token
/// are left out. Semicolons in the body of a trigger do not end the statement, which continues up
/// to the one after its END; neither do those within the parentheses of a virtual table, which may
/// contain anything.
pub fn statements(text: &str) -> Vec<&str> {
    let mut statements = Vec::new();
    let (mut begin, mut at) = (0, 0);
    let mut words: Vec<&str> = Vec::new();
    for (kind, piece) in pieces(text) {
        match kind {
            Kind::Blank => {}
            Kind::Semicolon if is_trigger(&words) && !ends_trigger(&words) => words.push(piece),
            Kind::Semicolon if is_virtual_table(&words) && is_open(&words) => words.push(piece),
            Kind::Semicolon => {
                if !words.is_empty() {
                    statements.push(&text[begin..at]);
                }
                words.clear();
                begin = at + piece.len();
            }
            Kind::Token => words.push(piece),
        }
        at += piece.len();
    }
    if !words.is_empty() {
        statements.push(&text[begin..]);
    }
    statements
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

/// Whether a statement that begins with `words` creates a trigger.
fn is_trigger(words: &[&str]) -> bool {
    let words = match created(words) {
        Some([temporary, rest @ ..]) if is(temporary, "temp") || is(temporary, "temporary") => rest,
        Some(words) => words,
        None => return false,
    };
    matches!(words, [trigger, ..] if is(trigger, "trigger"))
}

/// Whether a statement that begins with `words` creates a virtual table.
fn is_virtual_table(words: &[&str]) -> bool {
    matches!(created(words), Some([kind, ..]) if is(kind, "virtual"))
}

/// Returns the words after CREATE, if a statement begins with it.
fn created<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let words = match words {
        [explain, query, _, rest @ ..] if is(explain, "explain") && is(query, "query") => rest,
        [explain, rest @ ..] if is(explain, "explain") => rest,
        words => words,
    };
    words.split_first().filter(|(create, _)| is(create, "create")).map(|(_, rest)| rest)
}

/// Whether a parenthesis is open after `words`.
fn is_open(words: &[&str]) -> bool {
    let count = |sign: &str| words.iter().filter(|word| **word == sign).count();
    count("(") > count(")")
}

/// Whether the body of a trigger ends with `words`.
fn ends_trigger(words: &[&str]) -> bool {
    matches!(words, [.., ";", end] if is(end, "end"))
}

/// Returns the kind and the length of the first piece of a text that is not empty.
fn first(text: &[u8]) -> (Kind, usize) {
    let at = |index: usize| text.get(index).copied().unwrap_or(0);
    let run = |from: usize, of: fn(u8) -> bool| {
        from + text[from.min(text.len())..].iter().take_while(|&&byte| of(byte)).count()
    };
    match at(0) {
        b' ' | b'\t' | b'\n' | b'\r' | 0x0c => (Kind::Blank, run(1, is_space)),
        // The byte order mark of some files is white space anywhere.
        0xef if at(1) == 0xbb && at(2) == 0xbf => (Kind::Blank, 3),
        b'-' if at(1) == b'-' => (Kind::Blank, run(2, |byte| byte != b'\n')),
        b'-' if at(1) == b'>' => (Kind::Token, if at(2) == b'>' { 3 } else { 2 }),
        // At the very end of a text these are a slash and an asterisk.
        b'/' if at(1) == b'*' && text.len() > 2 => {
            let end = (3..text.len()).find(|&end| text[end - 1] == b'*' && text[end] == b'/');
            (Kind::Blank, end.map_or(text.len(), |end| end + 1))
        }
        b';' => (Kind::Semicolon, 1),
        b'=' if at(1) == b'=' => (Kind::Token, 2),
        b'<' if matches!(at(1), b'=' | b'>' | b'<') => (Kind::Token, 2),
        b'>' if matches!(at(1), b'=' | b'>') => (Kind::Token, 2),
        b'!' if at(1) == b'=' => (Kind::Token, 2),
        b'|' if at(1) == b'|' => (Kind::Token, 2),
        quote @ (b'\'' | b'"' | b'`') => (Kind::Token, quoted(text, 1, quote)),
        b'[' => (
            Kind::Token,
            text.iter().position(|&byte| byte == b']').map_or(text.len(), |end| end + 1),
        ),
        b'x' | b'X' if at(1) == b'\'' => {
            let end = text[2..].iter().position(|&byte| byte == b'\'');
            (Kind::Token, end.map_or(text.len(), |end| end + 3))
        }
        b'0'..=b'9' => (Kind::Token, number(text)),
        b'.' if at(1).is_ascii_digit() => (Kind::Token, number(text)),
        b'?' => (Kind::Token, run(1, |byte| byte.is_ascii_digit())),
        b'$' | b'@' | b':' | b'#' => (Kind::Token, variable(text)),
        byte if is_name(byte) => (Kind::Token, run(1, is_name)),
        _ => (Kind::Token, 1),
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Returns the length of a quoted text, in which quotes are doubled.
fn quoted(text: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < text.len() {
        match text[at] == quote {
            true if text.get(at + 1) == Some(&quote) => at += 2,
            true => return at + 1,
            false => at += 1,
        }
    }
    text.len()
}

/// Returns the length of a number, including invalid characters after it.
fn number(text: &[u8]) -> usize {
    let at = |index: usize| text.get(index).copied().unwrap_or(0);
    let mut end = 0;
    if at(0) == b'0' && matches!(at(1), b'x' | b'X') && at(2).is_ascii_hexdigit() {
        end = 2;
    } else {
        let digits = |mut end: usize| {
            while at(end).is_ascii_digit() || at(end) == b'_' {
                end += 1;
            }
            end
        };
        end = digits(end);
        if at(end) == b'.' {
            end = digits(end + 1);
        }
        if matches!(at(end), b'e' | b'E') {
            let signed = usize::from(matches!(at(end + 1), b'+' | b'-'));
            if at(end + 1 + signed).is_ascii_digit() {
                end = digits(end + 1 + signed);
            }
        }
    }
    while is_name(at(end)) {
        end += 1;
    }
    end
}

/// Returns the length of a named variable.
fn variable(text: &[u8]) -> usize {
    let at = |index: usize| text.get(index).copied().unwrap_or(0);
    let mut end = 1;
    let mut named = false;
    while end < text.len() {
        if is_name(at(end)) {
            named = true;
            end += 1;
        } else if at(end) == b'(' && named {
            while end < text.len() && !is_space(at(end)) && at(end) != b')' {
                end += 1;
            }
            return end + usize::from(at(end) == b')');
        } else if at(end) == b':' && at(end + 1) == b':' {
            end += 2;
        } else {
            break;
        }
    }
    end
}
