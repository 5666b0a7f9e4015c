//! The lexer of Lark's notation.
//!
//! A line end is a word of its own unless the next line begins with `|`; blank lines and comments
//! before that line are skipped, as in Lark. Brackets are counted here, so that no tree is deeper
//! than [`MAX_DEPTH`] and an unclosed bracket is reported at its position. Every byte is visited a
//! bounded number of times.

use crate::syntax::ast::Span;
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::escape;
use crate::syntax::lark::token::{DIRECTIVES, Shortened, Token};
use crate::util::similar::nearest;

/// Maximum depth of nested brackets.
pub(crate) const MAX_DEPTH: usize = 200;

/// Maximum number of words in a file: bounds the tree, whose nodes are larger than their text.
pub(crate) const MAX_WORDS: usize = 1 << 22;

pub(super) type Result<T> = std::result::Result<T, SyntaxError>;

/// The words of a file, each between its byte offsets.
#[derive(Debug)]
pub(crate) struct Lexer<'input> {
    text: &'input str,
    pub(super) at: usize,
    words: usize,
    /// Whether there was no word since the last line end: then another line end is no word.
    line_is_blank: bool,
    /// Whether the next word may be a number (otherwise `+` is a repetition).
    number_may_follow: bool,
    /// Whether the next word may be a number with a fraction.
    fraction_may_follow: bool,
    /// Whether strings have JSON's escapes: after `%llguidance`.
    pub(super) has_json_escapes: bool,
    /// The open brackets with their positions.
    open: Vec<(Token<'input>, usize)>,
}

impl<'input> Lexer<'input> {
    /// Creates a lexer for `text`, after a byte order mark if there is one.
    pub(crate) fn new(text: &'input str) -> Self {
        Self {
            text,
            at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
            words: 0,
            line_is_blank: true,
            number_may_follow: false,
            fraction_may_follow: false,
            has_json_escapes: false,
            open: Vec::new(),
        }
    }

    pub(super) fn rest(&self) -> &'input str {
        &self.text[self.at..]
    }

    /// Returns the next word, `None` after the last.
    pub(super) fn word(&mut self) -> Result<Option<(usize, Token<'input>, usize)>> {
        if let Some(line_end) = self.skip_blanks()? {
            if self.rest().starts_with('|') {
                // The line continues the definition: its end is no word.
            } else if !self.line_is_blank {
                self.end_line(line_end)?;
                return Ok(Some((line_end, Token::LineEnd, line_end + 1)));
            }
        }
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            if self.line_is_blank {
                return Ok(None);
            }
            self.end_line(start)?;
            return Ok(Some((start, Token::LineEnd, start)));
        };
        let token = match first {
            'a'..='z' | 'A'..='Z' | '_' => self.name()?,
            '"' => self.literal()?,
            '/' => self.regex()?,
            '%' => self.directive()?,
            '0'..='9' => self.number(),
            '+' | '-'
                if self.number_may_follow
                    && self.byte(1).is_some_and(|next| next.is_ascii_digit()) =>
            {
                self.number()
            }
            _ => self.sign(first)?,
        };
        // A grammar within the grammar begins like a file.
        self.line_is_blank = token == Token::Nested;
        self.fraction_may_follow = token == Token::Equals;
        self.number_may_follow = match token {
            Token::Tilde | Token::Dot | Token::DotDot | Token::LeftCount | Token::Equals => true,
            Token::Comma => matches!(self.open.last(), Some((Token::LeftCount, _))),
            _ => false,
        };
        self.words += 1;
        if self.words > MAX_WORDS {
            let message = format!("the file has more than {MAX_WORDS} words");
            return Err(self.error(SyntaxErrorKind::TooLarge, start..self.at, message));
        }
        Ok(Some((start, token, self.at)))
    }

    /// Skips white space, comments and continued lines; returns where the first line ended, if one
    /// did.
    fn skip_blanks(&mut self) -> Result<Option<usize>> {
        let mut line_end = None;
        loop {
            let bytes = &self.text.as_bytes()[self.at..];
            match bytes {
                [b' ' | b'\t' | b'\x0b' | b'\x0c', ..] => self.at += 1,
                [b'\n', ..] | [b'\r', b'\n', ..] => {
                    line_end.get_or_insert(self.at);
                    self.at += if bytes[0] == b'\r' { 2 } else { 1 };
                }
                [b'/', b'/', ..] | [b'#', ..] => self.at += line_length(bytes),
                [b'\\', ..] => {
                    let blanks = bytes[1..]
                        .iter()
                        .take_while(|&&byte| matches!(byte, b' ' | b'\t' | b'\r'))
                        .count();
                    if bytes.get(1 + blanks) != Some(&b'\n') {
                        let message = "a backslash outside strings and regexes must be at the end \
                                       of its line";
                        return Err(self
                            .error(
                                SyntaxErrorKind::UnexpectedCharacter,
                                self.at..self.at + 1,
                                message.into(),
                            )
                            .help(
                                "put the text in double quotes, or the pattern between slashes",
                            ));
                    }
                    self.at += blanks + 2;
                }
                _ => return Ok(line_end),
            }
        }
    }

    /// Ends a line with a word: no bracket may be open.
    fn end_line(&mut self, at: usize) -> Result<()> {
        let open = self
            .open
            .last()
            .filter(|(bracket, _)| *bracket != Token::Nested || at >= self.text.len());
        if let Some((bracket, start)) = open {
            let (message, start) =
                (format!("{bracket} is not closed before the definition ends"), *start);
            return Err(self
                .error(SyntaxErrorKind::UnclosedBracket, start..start + 1, message)
                .related(at..at, "ends here")
                .help(
                    "close it on the same line; only a line that begins with `|` continues a \
                     definition",
                ));
        }
        self.line_is_blank = true;
        self.fraction_may_follow = false;
        self.number_may_follow = false;
        Ok(())
    }

    /// Returns the previous byte.
    pub(super) fn before(&self) -> Option<u8> {
        self.text.as_bytes()[..self.at].last().copied()
    }

    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Returns how many of the next bytes are of this kind.
    pub(super) fn run(&self, of: impl Fn(u8) -> bool) -> usize {
        self.rest().bytes().take_while(|&byte| of(byte)).count()
    }

    pub(super) fn take(&mut self, length: usize) -> &'input str {
        let taken = &self.rest()[..length];
        self.at += length;
        taken
    }

    pub(super) fn error(&self, kind: SyntaxErrorKind, span: Span, message: String) -> SyntaxError {
        SyntaxError::new(kind, span, message)
    }

    fn name(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        let name = self.take(self.name_length());
        let error = |message: String, help: &str| {
            Err(SyntaxError::new(SyntaxErrorKind::BadName, start..start + name.len(), message)
                .help(help))
        };
        let bare = name.strip_prefix('_').unwrap_or(name);
        match bare.bytes().next() {
            Some(b'a'..=b'z') if !bare.bytes().any(|byte| byte.is_ascii_uppercase()) => {
                Ok(Token::RuleName(name))
            }
            Some(b'A'..=b'Z') if !bare.bytes().any(|byte| byte.is_ascii_lowercase()) => {
                Ok(Token::TerminalName(name))
            }
            Some(b'a'..=b'z' | b'A'..=b'Z') => error(
                format!("the name `{}` mixes upper and lower case", Shortened(name)),
                "write a rule's name in lower case, a terminal's in upper case",
            ),
            _ => error(
                format!("the name `{}` has no letter after its first underscore", Shortened(name)),
                "begin names with a letter, or with one underscore and a letter",
            ),
        }
    }

    /// Returns the length in bytes of the name that begins here. A hyphen is allowed inside, as in
    /// llguidance; in Lark no hyphen can occur there.
    fn name_length(&self) -> usize {
        let bytes = self.rest().as_bytes();
        let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
        (0..bytes.len())
            .find(|&at| {
                !(is_letter(at) || bytes[at] == b'_' || bytes[at] == b'-' && is_letter(at + 1))
            })
            .unwrap_or(bytes.len())
    }

    fn literal(&mut self) -> Result<Token<'input>> {
        let (start, rest) = (self.at, self.rest());
        // The line's end is searched only within the string: a line may hold a hundred thousand
        // strings.
        let Some(length) =
            closing(&rest[1..], b'"').filter(|&length| !rest[1..=length].contains('\n'))
        else {
            let line = line_length(rest.as_bytes());
            let message = "this string is not closed on its line".to_string();
            return Err(self
                .error(SyntaxErrorKind::UnterminatedString, start..start + line, message)
                .help(
                    "close it with `\"`; a line end in a string is written `\\n`, a quotation mark \
                     `\\\"`",
                ));
        };
        let text = escape::string(&rest[1..=length], start + 1, self.has_json_escapes)?;
        self.at += length + 2;
        let ignore_case = self.byte(0) == Some(b'i');
        self.at += usize::from(ignore_case);
        Ok(Token::Literal { text, ignore_case })
    }

    fn regex(&mut self) -> Result<Token<'input>> {
        let (start, rest) = (self.at, self.rest());
        let unterminated = |message: &str| {
            let line = start..start + line_length(rest.as_bytes());
            SyntaxError::new(SyntaxErrorKind::UnterminatedRegex, line, message).help(
                "close it with `/`; a slash in a regex is written `\\/`, and a regex may span \
                 several lines only with the flag `x`",
            )
        };
        let Some(length) = closing(&rest[1..], b'/') else {
            return Err(unterminated("this regex is not closed"));
        };
        let raw = &rest[1..=length];
        self.at += length + 2;
        let flags = self.take(self.run(|byte| b"imslux".contains(&byte)));
        if raw.contains('\n') && !flags.contains('x') {
            return Err(unterminated("this regex is not closed on its line"));
        }
        Ok(Token::Regex { pattern: escape::regex(raw), flags })
    }

    fn directive(&mut self) -> Result<Token<'input>> {
        let start = self.at;
        self.at += 1;
        let word = self.take(self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        if let Some(token) = self.dialect_directive(word, start)? {
            return Ok(token);
        }
        if let Some((_, token)) = DIRECTIVES.iter().find(|(known, _)| *known == word) {
            return Ok(token.clone());
        }
        let known = DIRECTIVES.iter().map(|(word, _)| *word);
        let meant = match nearest(word, known.clone()) {
            Some(near) => format!("did you mean `%{near}`? "),
            None => String::new(),
        };
        let known: Vec<String> = known.map(|word| format!("`%{word}`")).collect();
        let message = format!("`%{}` is not a directive", Shortened(word));
        Err(self
            .error(SyntaxErrorKind::UnknownDirective, start..self.at, message)
            .help(format!("{meant}the directives are {}", known.join(", "))))
    }

    fn number(&mut self) -> Token<'input> {
        let sign = usize::from(matches!(self.byte(0), Some(b'+' | b'-')));
        let may_be_fraction = self.fraction_may_follow;
        let of_number = |byte: &u8| {
            byte.is_ascii_digit() || may_be_fraction && matches!(byte, b'.' | b'e' | b'E')
        };
        let digits = self.rest()[sign..].bytes().take_while(of_number).count();
        Token::Number(self.take(sign + digits))
    }

    fn sign(&mut self, first: char) -> Result<Token<'input>> {
        let start = self.at;
        let (token, length) = match (first, self.byte(1)) {
            ('.', Some(b'.')) => (Token::DotDot, 2),
            ('-', Some(b'>')) => (Token::Arrow, 2),
            ('<', Some(_)) if self.special_token_length().is_some() => return self.special_token(),
            ('@', Some(next)) if next.is_ascii_alphanumeric() || next == b'_' => {
                return Ok(self.grammar_name());
            }
            ('~', _) if self.begins_expression() && !self.count_follows() => (Token::Not, 1),
            ('{', _) if self.count_follows() => (Token::LeftCount, 1),
            ('&', _) => (Token::And, 1),
            ('=', _)
                if self.open.last().is_some_and(|(bracket, _)| *bracket == Token::LeftBracket) =>
            {
                (Token::Equals, 1)
            }
            (':', Some(b':')) if self.byte(2) != Some(b'=') => return self.parameter(),
            (':', _) => (Token::Colon, 1),
            (',', _) => (Token::Comma, 1),
            ('|', _) => (Token::Or, 1),
            ('.', _) => (Token::Dot, 1),
            ('~', _) => (Token::Tilde, 1),
            ('?', _) => (Token::Question, 1),
            ('*', _) => (Token::Star, 1),
            ('+', _) => (Token::Plus, 1),
            ('!', _) => (Token::Bang, 1),
            ('(', _) => (Token::LeftParen, 1),
            (')', _) => (Token::RightParen, 1),
            ('[', _) => (Token::LeftBracket, 1),
            (']', _) => (Token::RightBracket, 1),
            ('{', _) => (Token::LeftBrace, 1),
            ('}', _) => (Token::RightBrace, 1),
            _ => return Err(unexpected_character(first, start)),
        };
        self.at += length;
        match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace | Token::LeftCount => {
                self.open_bracket(&token, start)?;
            }
            Token::RightParen => self.close_bracket(&token, &Token::LeftParen, start)?,
            Token::RightBracket => self.close_bracket(&token, &Token::LeftBracket, start)?,
            Token::RightBrace => {
                let opening = match self.open.last() {
                    Some((bracket @ (Token::LeftCount | Token::Nested), _)) => bracket.clone(),
                    _ => Token::LeftBrace,
                };
                self.close_bracket(&token, &opening, start)?;
            }
            _ => {}
        }
        Ok(token)
    }

    pub(super) fn open_bracket(&mut self, bracket: &Token<'input>, at: usize) -> Result<()> {
        if self.open.len() == MAX_DEPTH {
            let message = format!("brackets are nested more than {MAX_DEPTH} levels deep");
            return Err(self
                .error(SyntaxErrorKind::TooDeep, at..at + 1, message)
                .help("move the inner part to a rule of its own"));
        }
        self.open.push((bracket.clone(), at));
        Ok(())
    }

    fn close_bracket(
        &mut self,
        bracket: &Token<'input>,
        opening: &Token<'input>,
        at: usize,
    ) -> Result<()> {
        let message = match self.open.pop() {
            Some((open, _)) if open == *opening => return Ok(()),
            Some((open, start)) => {
                let message = format!("{bracket} does not close {open}");
                return Err(self
                    .error(SyntaxErrorKind::UnmatchedBracket, at..at + 1, message)
                    .related(start..start + 1, "opened here")
                    .help("close brackets in the reverse order of their opening"));
            }
            None => format!("{bracket} closes nothing"),
        };
        Err(self.error(SyntaxErrorKind::UnmatchedBracket, at..at + 1, message).help(format!(
            "remove it, or put {opening} before it; literal text is written in double quotes"
        )))
    }
}

/// Returns the number of bytes before the line's end.
fn line_length(bytes: &[u8]) -> usize {
    let length = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    if length > 0 && length < bytes.len() && bytes[length - 1] == b'\r' {
        length - 1
    } else {
        length
    }
}

/// Returns the position of the first `delimiter` that no backslash escapes.
fn closing(text: &str, delimiter: u8) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        if byte == delimiter {
            return Some(at);
        }
        if byte == b'\\' {
            bytes.next();
        }
    }
    None
}

fn unexpected_character(found: char, at: usize) -> SyntaxError {
    let help = match found {
        '\'' => "strings are written in double quotes",
        '=' => "a definition is written `name: ...`",
        ';' => "a definition ends with its line: remove the `;`",
        '<' | '>' => {
            "rule names are written without angle brackets, special tokens in angle brackets \
             without blanks: `<|end|>`"
        }
        '-' => "literal text is written in double quotes, an alias as `-> name`",
        '\r' => "a line ends with a line feed, or a carriage return and a line feed",
        _ if found.is_alphabetic() => "names consist of the letters a to z, digits and underscores",
        _ => "literal text is written in double quotes, patterns between slashes",
    };
    let message =
        if found.is_control() || (found.is_whitespace() && found != ' ') || !is_visible(found) {
            format!("the character U+{:04X} is not part of the notation", u32::from(found))
        } else {
            format!("`{found}` is not part of the notation")
        };
    SyntaxError::new(SyntaxErrorKind::UnexpectedCharacter, at..at + found.len_utf8(), message)
        .help(help)
}

/// Returns whether the character is visible, which common format characters and fillers are not.
fn is_visible(found: char) -> bool {
    let is_format = matches!(
        found,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
    );
    !is_format && !matches!(found, '\u{ad}' | '\u{feff}')
}
