//! Takes out of a `.y` file what says nothing about the language, and checks what its reader would stumble over.
//!
//! The result has the same length, and each word stands where it stood, so that the reader's offsets are the
//! file's. Taken out are: comments, actions (also inside a rule: without them the parser sees more before it must
//! decide), the code before, between and behind the rules, types, token numbers, names of references, and
//! declarations that only concern the generated code. Quotation marks that are escaped are masked.

use hashbrown::HashMap;

use crate::syntax::ast::{Span, Spanned};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::token::Shortened;

/// The longest name, in bytes: the reader copies a rule's name once for each of its productions.
const MAX_NAME: usize = 1000;

/// The longest `<type>` or `[name]`, in bytes: keeps unclosed ones linear.
const MAX_BRACKETED: usize = 200;

/// Declarations about the generated code, not the language.
const WITHOUT_EFFECT: [&str; 42] = [
    "actiontype",
    "avoid_insert",
    "code",
    "debug",
    "define",
    "defines",
    "destructor",
    "epp",
    "error-verbose",
    "expect",
    "expect-rr",
    "expect-unused",
    "file-prefix",
    "grmtools",
    "header",
    "initial-action",
    "language",
    "lex-param",
    "locations",
    "name-prefix",
    "no-lines",
    "nterm",
    "output",
    "param",
    "parse-generics",
    "parse-param",
    "printer",
    "pure-parser",
    "pure_parser",
    "require",
    "skeleton",
    "token-table",
    "type",
    "union",
    "verbose",
    "yacc",
    "name_prefix",
    "no_lines",
    "error_verbose",
    "token_table",
    "file_prefix",
    "glr-parser",
];

/// A cleaned file.
#[derive(Debug)]
pub(super) struct Cleaned<'text> {
    /// The text for the reader, as long as the file.
    pub(super) text: String,
    /// What stands between quotation marks, each by its place in the file, ascending.
    pub(super) quoted: Vec<Span>,
    /// `%token EQ "=="`: the quoted text stands for the token.
    pub(super) aliases: HashMap<&'text str, &'text str>,
}

impl Cleaned<'_> {
    /// Whether the symbol at `span` stood between quotation marks.
    pub(super) fn is_quoted(&self, span: &Span) -> bool {
        self.quoted.binary_search_by_key(&span.start, |quoted| quoted.start).is_ok()
    }
}

/// Cleans `text`. Linear.
pub(super) fn clean(text: &str) -> Result<Cleaned<'_>> {
    let mut cleaner = Cleaner {
        text,
        at: 0,
        cleaned: Cleaned {
            text: String::with_capacity(text.len()),
            quoted: Vec::new(),
            aliases: HashMap::new(),
        },
        levels: HashMap::new(),
    };
    if cleaner.declarations()? {
        cleaner.rules()?;
    }
    cleaner.blank_to(text.len());
    Ok(cleaner.cleaned)
}

type Result<T> = std::result::Result<T, SyntaxError>;

/// A piece of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'text> {
    /// `%%`.
    Section,
    /// `%{ ... %}`.
    Code,
    /// `%word`.
    Directive(&'text str),
    Name(&'text str),
    /// What stands between quotation marks.
    Quoted(&'text str),
    Number,
    /// `{ ... }`.
    Braces,
    /// `<type>`.
    Type,
    /// `[name]`.
    Reference,
    /// Any other character.
    Sign,
}

/// What the operands of a declaration are.
#[derive(Clone, Copy, Debug)]
enum Operands<'text> {
    /// Of no effect.
    None,
    /// Tokens; the last name may get an alias.
    Tokens(Option<&'text str>),
    /// A precedence level.
    Level,
    /// Kept as they are.
    Other,
}

struct Cleaner<'text> {
    text: &'text str,
    at: usize,
    cleaned: Cleaned<'text>,
    /// What has a precedence, and where it got it.
    levels: HashMap<&'text str, Span>,
}

impl<'text> Cleaner<'text> {
    /// The first section; false when the file ends in it.
    fn declarations(&mut self) -> Result<bool> {
        let mut operands = Operands::Other;
        while let Some((piece, span)) = self.piece()? {
            match piece {
                Piece::Section => {
                    self.begin_line();
                    self.keep(piece, &span);
                    return Ok(true);
                }
                Piece::Directive(word) => {
                    operands = match word {
                        "token" => Operands::Tokens(None),
                        "left" | "right" | "nonassoc" => Operands::Level,
                        "start" => Operands::Other,
                        word if WITHOUT_EFFECT.contains(&word) => Operands::None,
                        _ => return Err(unknown_directive(word, span)),
                    };
                    if !matches!(operands, Operands::None) {
                        self.begin_line();
                        self.keep(piece, &span);
                    }
                }
                Piece::Code | Piece::Type | Piece::Number => {}
                _ => self.operand(&mut operands, piece, &span)?,
            }
            self.blank_to(self.at);
        }
        Ok(false)
    }

    fn operand(&mut self, operands: &mut Operands<'text>, piece: Piece<'text>, span: &Span) -> Result<()> {
        match (operands, piece) {
            (Operands::None, _) => return Ok(()),
            (Operands::Tokens(last), Piece::Name(name)) => *last = Some(name),
            (Operands::Tokens(last), Piece::Quoted(alias)) => {
                if let Some(name) = last.take() {
                    self.cleaned.aliases.insert(alias, name);
                    return Ok(());
                }
            }
            (Operands::Level, Piece::Name(name) | Piece::Quoted(name)) => {
                if let Some(first) = self.levels.insert(name, span.clone()) {
                    let message = format!("`{}` has a precedence already", Shortened(name));
                    return Err(SyntaxError::new(SyntaxErrorKind::Yacc, span.clone(), message)
                        .related(first, "given here")
                        .help("name each token in one precedence line only"));
                }
            }
            _ => {}
        }
        self.keep(piece, span);
        Ok(())
    }

    /// The second section, and the end of the file.
    fn rules(&mut self) -> Result<()> {
        let mut after_prec = false;
        while let Some((piece, span)) = self.piece()? {
            match piece {
                Piece::Section => {
                    self.at = self.text.len();
                    return Ok(());
                }
                Piece::Braces | Piece::Reference => {}
                Piece::Name(name) | Piece::Quoted(name) => {
                    if after_prec && !self.levels.contains_key(name) {
                        let message = format!("`{}` has no precedence", Shortened(name));
                        return Err(SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
                            .help("name it in a `%left`, `%right` or `%nonassoc` line"));
                    }
                    self.keep(piece, &span);
                }
                Piece::Directive("prec" | "empty") | Piece::Sign | Piece::Number | Piece::Type => {
                    self.keep(piece, &span);
                }
                Piece::Directive(word) => return Err(unknown_directive(word, span)),
                Piece::Code => {
                    let message = "code among the rules";
                    return Err(SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
                        .help("take it out, or put it before the first `%%`"));
                }
            }
            after_prec = piece == Piece::Directive("prec");
            self.blank_to(self.at);
        }
        Ok(())
    }

    /// Blanks what has not been kept before `end`.
    fn blank_to(&mut self, end: usize) {
        let out = &mut self.cleaned.text;
        out.extend(std::iter::repeat_n(' ', end.saturating_sub(out.len())));
    }

    /// Keeps the piece at `span`, and blanks what has not been kept before it.
    fn keep(&mut self, piece: Piece<'text>, span: &Span) {
        if !matches!(piece, Piece::Quoted(_)) {
            self.blank_to(span.start);
            self.cleaned.text.push_str(&self.text[span.clone()]);
            return;
        }
        self.blank_to(span.start - 1);
        let mark = &self.text[span.start - 1..span.start];
        self.cleaned.quoted.push(span.clone());
        let out = &mut self.cleaned.text;
        out.push_str(mark);
        let mut chars = self.text[span.clone()].chars();
        while let Some(character) = chars.next() {
            match (character, chars.as_str().chars().next()) {
                ('\\', Some(escaped @ ('\'' | '"'))) => {
                    out.push_str(if escaped == '"' { "\u{1}\u{2}" } else { "\u{1}\u{3}" });
                    chars.next();
                }
                ('\\', Some(escaped)) => {
                    out.extend(['\\', escaped]);
                    chars.next();
                }
                _ => out.push(character),
            }
        }
        out.push_str(mark);
    }

    /// The reader ends some declarations with their line, Yacc with the next declaration: lines are cut so that
    /// the two agree.
    fn begin_line(&mut self) {
        if self.cleaned.text.ends_with(' ') {
            self.cleaned.text.pop();
            self.cleaned.text.push('\n');
        }
    }

    fn rest(&self) -> &'text str {
        &self.text[self.at..]
    }

    /// The next piece and its place (of [`Piece::Quoted`] what is between the marks), past blanks and comments.
    fn piece(&mut self) -> Result<Option<(Piece<'text>, Span)>> {
        self.skip_blanks()?;
        // All that was passed over is blank before the piece is kept.
        self.blank_to(self.at);
        let (start, rest) = (self.at, self.rest());
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let word = |from: usize, more: &[u8]| {
            let of = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || more.contains(byte);
            &rest[from..from + rest[from..].bytes().take_while(|byte| of(byte)).count()]
        };
        let (piece, length) = match first {
            '%' if rest.starts_with("%%") => (Piece::Section, 2),
            '%' if rest.starts_with("%{") => match rest.find("%}") {
                Some(end) => (Piece::Code, end + 2),
                None => return Err(unclosed(start, 2, "`%{` is not closed", "close it with `%}`")),
            },
            '%' => {
                let word = word(1, b"-");
                (Piece::Directive(word), 1 + word.len())
            }
            'a'..='z' | 'A'..='Z' | '_' | '.' => {
                let name = word(0, b".");
                if name.len() > MAX_NAME {
                    let message = format!("this name is longer than {MAX_NAME} bytes");
                    return Err(SyntaxError::new(
                        SyntaxErrorKind::BadName,
                        start..start + name.len(),
                        message,
                    ));
                }
                (Piece::Name(name), name.len())
            }
            '0'..='9' => (Piece::Number, word(0, b"").len()),
            '"' | '\'' => {
                let inner = quoted(rest, start)?;
                self.at += inner.len() + 2;
                return Ok(Some((Piece::Quoted(inner), start + 1..start + 1 + inner.len())));
            }
            '{' => match closing_brace(rest) {
                Some(end) => (Piece::Braces, end + 1),
                None => return Err(unclosed(start, 1, "this action is not closed", "close it with `}`")),
            },
            '<' | '[' => {
                let (piece, close) =
                    if first == '<' { (Piece::Type, b'>') } else { (Piece::Reference, b']') };
                let end = rest.bytes().take(MAX_BRACKETED).position(|byte| byte == b'\n' || byte == close);
                match end.filter(|&end| rest.as_bytes()[end] == close) {
                    Some(end) => (piece, end + 1),
                    None => (Piece::Sign, 1),
                }
            }
            _ => (Piece::Sign, first.len_utf8()),
        };
        self.at += length;
        Ok(Some((piece, start..self.at)))
    }

    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let bytes = rest.as_bytes();
            match bytes {
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.at += 1,
                [b'/', b'/', ..] => self.at += rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => match rest[2..].find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        return Err(unclosed(self.at, 2, "this comment is not closed", "close it with `*/`"));
                    }
                },
                _ => return Ok(()),
            }
        }
    }
}

fn unclosed(start: usize, length: usize, message: &str, help: &str) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::UnclosedBracket, start..start + length, message).help(help)
}

fn unknown_directive(word: &str, span: Span) -> SyntaxError {
    let help = match word {
        "precedence" => "write `%nonassoc`, `%left` or `%right`",
        "prec" | "empty" => "it stands among the rules, behind the first `%%`",
        "dprec" | "merge" => "ambiguity is not resolved while a text is read: make the rules unambiguous",
        _ => {
            "the declarations are `%token`, `%start`, `%left`, `%right` and `%nonassoc`; among the rules stand \
              `%prec` and `%empty`"
        }
    };
    let message = format!("`%{}` cannot stand here", Shortened(word));
    SyntaxError::new(SyntaxErrorKind::UnknownDirective, span, message).help(help)
}

/// What stands between the quotation mark that `rest` begins with and the next one.
fn quoted(rest: &str, start: usize) -> Result<&str> {
    let mark = rest.as_bytes()[0];
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if !matches!(rest.as_bytes().get(at + 1), Some(b'\n' | b'\r')) => {
                bytes.next();
            }
            _ if byte == mark && at == 1 => {
                let error =
                    SyntaxError::new(SyntaxErrorKind::EmptyLiteral, start..start + 2, "an empty string");
                return Err(
                    error.help("leave it out: an alternative with nothing in it matches the empty text")
                );
            }
            _ if byte == mark => return Ok(&rest[1..at]),
            b'\n' => break,
            // Control characters mask escaped quotation marks.
            0..0x20 => {
                let message = format!("the character U+{byte:04X} in a string");
                let span = start + at..start + at + 1;
                return Err(SyntaxError::new(SyntaxErrorKind::UnexpectedCharacter, span, message)
                    .help("write it as an escape such as `\\t`"));
            }
            _ => {}
        }
    }
    let length = rest.find('\n').unwrap_or(rest.len());
    let message = "this string is not closed on its line";
    Err(SyntaxError::new(SyntaxErrorKind::UnterminatedString, start..start + length, message)
        .help(format!("close it with `{}`", char::from(mark))))
}

/// Where the brace closes that `text` begins with, past the strings, characters and comments of the code in it.
fn closing_brace(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0u32);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Some(at),
            b'}' => depth -= 1,
            b'"' => at += 1 + string_length(&bytes[at + 1..]),
            // A character; a lone mark is a lifetime or part of a word in a macro.
            b'\'' => match bytes[at + 1..] {
                [b'\\', _, ..] => {
                    at += 2 + bytes[at + 3..].iter().take(10).position(|&b| b == b'\'').map_or(0, |n| n + 1);
                }
                [_, b'\'', ..] => at += 2,
                _ => {}
            },
            b'/' if bytes.get(at + 1) == Some(&b'/') => at += text[at..].find('\n')?,
            b'/' if bytes.get(at + 1) == Some(&b'*') => at += 3 + text[at + 2..].find("*/")?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The bytes before the quotation mark that closes a string, or of the line when none does.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\n' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A name and where it stands.
pub(super) fn named(name: &str, span: &Span) -> Spanned<String> {
    Spanned { node: name.to_string(), span: span.clone() }
}
