//! The Yacc front end: a `.y` file for the rules, and beside it a file in Lark's notation for the terminals.
//!
//! `cfgrammar` reads the `.y` file, after [`mod@clean`] took the code out of it; what it read becomes the same syntax
//! tree that Lark files become, with names as they stand in the file, whatever their case.

mod clean;
#[cfg(test)]
mod tests;

use cfgrammar::Spanned as _;
use cfgrammar::yacc::ast::{ASTWithValidityInfo, GrammarAST, Production, Symbol};
use cfgrammar::yacc::{AssocKind, YaccGrammarError, YaccGrammarErrorKind, YaccKind, YaccOriginalActionKind};

use crate::syntax::ast::{
    Alternative, Associativity, Directive, Expansions, Expr, ExprKind, File, Item, Mode, Rule, Span, Spanned,
    Word,
};
use crate::syntax::error::{SourceText, SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::escape::code_point;
use crate::syntax::lark::parse_lark;
use crate::syntax::lark::token::Shortened;
use crate::syntax::yacc::clean::{Cleaned, clean, named};

/// The largest `.y` file, in bytes.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// The two halves of a Yacc grammar. Spans of each are offsets into its own text.
#[derive(Clone, Debug)]
pub(crate) struct YaccFiles {
    /// From the `.y` file: its rules, `%start`, and its precedence lines.
    pub(crate) grammar: File,
    /// From the file beside it: terminals, imports, `%ignore` and our directives.
    pub(crate) terminals: File,
}

/// Reads the rules from `grammar`, a `.y` file, and the terminals from `terminals`, in Lark's notation.
///
/// A quoted symbol of the `.y` file is its own definition; a `%token` is defined in `terminals`, under the same
/// name. Fails with the first fault, whose [`SyntaxError::source_text`] says which text it is in. Linear.
pub(crate) fn parse_yacc(grammar: &str, terminals: &str) -> Result<YaccFiles, SyntaxError> {
    let grammar = parse_rules(grammar)?;
    let terminals = parse_lark(terminals)
        .and_then(|file| check_terminals(&file).map(|()| file))
        .map_err(|error| error.within(SourceText::Terminals))?;
    Ok(YaccFiles { grammar, terminals })
}

/// Only terminals and what concerns them stand beside a `.y` file.
fn check_terminals(file: &File) -> Result<(), SyntaxError> {
    let misplaced = |span: &Span, what: &str, help: &str| {
        Err(SyntaxError::new(SyntaxErrorKind::Misplaced, span.clone(), format!("{what} among the terminals"))
            .help(help))
    };
    for item in &file.items {
        match item {
            Item::Rule(rule) => {
                return misplaced(
                    &rule.name.span,
                    "a rule",
                    "rules stand in the `.y` file; a terminal's name is written in upper case",
                );
            }
            Item::Directive(Spanned { node: Directive::Start(_), span }) => {
                return misplaced(span, "a start rule", "write `%start` in the `.y` file");
            }
            Item::Directive(Spanned { node: Directive::Precedence { .. }, span }) => {
                return misplaced(span, "a precedence line", "write it in the `.y` file");
            }
            _ => {}
        }
    }
    Ok(())
}

fn parse_rules(text: &str) -> Result<File, SyntaxError> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 0..0, message).help("make it smaller"));
    }
    let cleaned = clean(text)?;
    let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
    let checked = ASTWithValidityInfo::new(kind, &cleaned.text);
    if let Some(error) = checked.errors().first() {
        return Err(translate(text, error));
    }
    Converter { text, cleaned: &cleaned, ast: checked.ast() }.file()
}

/// The reader's error in our words.
fn translate(text: &str, error: &YaccGrammarError) -> SyntaxError {
    use YaccGrammarErrorKind as Kind;
    // The reader's error keeps its kind to itself, but for its text.
    let message = error.to_string();
    let at = |kind: &Kind| message == kind.to_string();
    let mut span = error.spans().first().map_or(0..0, |span| span.start()..span.end());
    // Where the reader saw a blank there may have been the middle of a character.
    span.start = span.start.min(text.len());
    while !text.is_char_boundary(span.start) {
        span.start -= 1;
    }
    span.end = span.end.clamp(span.start, text.len());
    while !text.is_char_boundary(span.end) {
        span.end += 1;
    }
    if span.is_empty() {
        span.end += text[span.start..].chars().next().map_or(0, char::len_utf8);
    }
    let found = &text[span.clone()];
    let (message, help) = if at(&Kind::PrematureEnd) {
        ("the file ends before its rules".to_string(), "write `%%` between the declarations and the rules")
    } else if at(&Kind::NoStartRule) {
        ("the file has no rule".to_string(), "write rules behind `%%`: `name: symbol symbol | symbol;`")
    } else if at(&Kind::IncompleteRule) {
        ("the last rule does not end".to_string(), "end each rule with `;`")
    } else if message.starts_with("Unknown reference") && found == "error" {
        (
            "an alternative for the recovery from errors".to_string(),
            "take the alternatives with `error` out: they accept no text",
        )
    } else if message.starts_with("Unknown reference") {
        (
            format!("`{}` is neither a rule nor a token", Shortened(found)),
            "write a rule for it, or name it in a `%token` line and give its pattern beside the `.y` file",
        )
    } else if message.starts_with("Start rule") {
        (format!("the start rule `{}` is not defined", Shortened(found)), "write a rule for it")
    } else if at(&Kind::IllegalString) && found == ":" {
        ("`:` inside a rule".to_string(), "end the rule before it with `;`")
    } else if at(&Kind::UnknownDeclaration) {
        (
            format!("`{}` where a declaration is due", Shortened(found)),
            "begin it with `%`, or write `%%` before the rules",
        )
    } else {
        (
            lower_first(&message),
            "a rule is written `name: symbol symbol %prec TOKEN | symbol;`, literal text in quotation marks",
        )
    };
    SyntaxError::new(SyntaxErrorKind::Yacc, span, message).help(help)
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

struct Converter<'a> {
    text: &'a str,
    cleaned: &'a Cleaned<'a>,
    ast: &'a GrammarAST,
}

impl Converter<'_> {
    fn file(&self) -> Result<File, SyntaxError> {
        let mut items = Vec::with_capacity(self.ast.rules.len() + self.ast.precs.len() + 1);
        if let Some((name, span)) = &self.ast.start {
            let span = span.start()..span.end();
            items.push(Item::Directive(Spanned { node: Directive::Start(vec![named(name, &span)]), span }));
        }
        self.precedences(&mut items)?;
        for rule in self.ast.rules.values() {
            let (name, span) = (&rule.name.0, rule.name.1.start()..rule.name.1.end());
            if self.is_token(name) {
                let message = format!("`{}` is a token and a rule", Shortened(name));
                return Err(SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
                    .help("give one of the two another name"));
            }
            let alternatives = rule
                .pidxs
                .iter()
                .map(|&production| self.alternative(&self.ast.prods[production]))
                .collect::<Result<Vec<_>, _>>()?;
            let end = alternatives.iter().map(|alternative| alternative.span.end).max().unwrap_or(span.end);
            let start = alternatives.iter().map(|alternative| alternative.span.start).min().unwrap_or(end);
            items.push(Item::Rule(Rule {
                mode: Mode::Define,
                name: named(name, &span),
                modifiers: String::new(),
                parameters: Vec::new(),
                priority: None,
                attributes: Vec::new(),
                body: Expansions { alternatives, span: start..end },
            }));
        }
        Ok(File { items })
    }

    /// Whether a `%token` line names it without quotation marks.
    fn is_token(&self, name: &str) -> bool {
        self.ast.tokens.get_index_of(name).is_some_and(|index| {
            let span = self.ast.spans[index].start()..self.ast.spans[index].end();
            self.ast.token_directives.contains(&index) && !self.cleaned.is_quoted(&span)
        })
    }

    /// The precedence lines, loosest first.
    fn precedences(&self, items: &mut Vec<Item>) -> Result<(), SyntaxError> {
        let mut words: Vec<_> = self.ast.precs.values().collect();
        words.sort_by_key(|(precedence, span)| (precedence.level, span.start()));
        for level in words.chunk_by(|(one, _), (other, _)| one.level == other.level) {
            let associativity = match level[0].0.kind {
                AssocKind::Left => Associativity::Left,
                AssocKind::Right => Associativity::Right,
                AssocKind::Nonassoc => Associativity::Nonassoc,
            };
            let span = level[0].1.start()..level[level.len() - 1].1.end();
            let words = level
                .iter()
                .map(|(_, span)| self.word(&(span.start()..span.end())))
                .collect::<Result<Vec<_>, _>>()?;
            items.push(Item::Directive(Spanned {
                node: Directive::Precedence { associativity, words },
                span,
            }));
        }
        Ok(())
    }

    fn alternative(&self, production: &Production) -> Result<Alternative, SyntaxError> {
        let items =
            production.symbols.iter().map(|symbol| self.symbol(symbol)).collect::<Result<Vec<_>, _>>()?;
        let precedence = match production.precedence.as_ref().and_then(|name| self.ast.precs.get(name)) {
            Some((_, declared)) => Some(self.word(&(declared.start()..declared.end()))?),
            None => None,
        };
        let span = production.prod_span.start()..production.prod_span.end().max(production.prod_span.start());
        Ok(Alternative { items, alias: None, precedence, span })
    }

    fn symbol(&self, symbol: &Symbol) -> Result<Expr, SyntaxError> {
        let (Symbol::Rule(_, span) | Symbol::Token(_, span)) = symbol;
        let span = span.start()..span.end();
        let name = &self.text[span.clone()];
        if self.cleaned.is_quoted(&span) {
            let outer = span.start - 1..span.end + 1;
            return Ok(match self.cleaned.aliases.get(name) {
                Some(token) => Spanned { node: self.terminal(token, &outer)?, span: outer },
                None => Spanned {
                    node: ExprKind::Literal { text: unescape(name, span.start)?, ignore_case: false },
                    span: outer,
                },
            });
        }
        let node = match symbol {
            Symbol::Rule(..) => ExprKind::Rule(name.to_string()),
            Symbol::Token(..) if self.is_token(name) => self.terminal(name, &span)?,
            // A rule with the name of a quoted `%token`.
            Symbol::Token(..) => ExprKind::Rule(name.to_string()),
        };
        Ok(Spanned { node, span })
    }

    /// A token by its name, which the file beside must be able to define.
    fn terminal(&self, name: &str, span: &Span) -> Result<ExprKind, SyntaxError> {
        let bare = name.strip_prefix('_').unwrap_or(name);
        let of = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if bare.bytes().next().is_some_and(|first| first.is_ascii_uppercase()) && bare.bytes().all(of) {
            return Ok(ExprKind::Terminal(name.to_string()));
        }
        let message = format!("the token `{}` has no name that a terminal can have", Shortened(name));
        Err(SyntaxError::new(SyntaxErrorKind::BadName, span.clone(), message)
            .help("write it in upper case: letters, digits and underscores"))
    }

    fn word(&self, span: &Span) -> Result<Word, SyntaxError> {
        let name = &self.text[span.clone()];
        if !self.cleaned.is_quoted(span) {
            return Ok(Word::Name(named(name, span)));
        }
        let outer = span.start - 1..span.end + 1;
        Ok(match self.cleaned.aliases.get(name) {
            Some(token) => Word::Name(named(token, &outer)),
            None => Word::Literal { text: unescape(name, span.start)?, ignore_case: false, span: outer },
        })
    }
}

/// What a quoted symbol stands for: the escapes are C's. `at` is where `raw` begins in the file.
fn unescape(raw: &str, at: usize) -> Result<String, SyntaxError> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(backslash) = rest.find('\\') {
        text.push_str(&rest[..backslash]);
        let start = at + raw.len() - rest.len() + backslash;
        rest = &rest[backslash + 1..];
        let Some(escaped) = rest.chars().next() else { break };
        if escaped.is_digit(8) {
            let digits = rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let value = u32::from_str_radix(&rest[..digits], 8).unwrap_or(u32::MAX);
            rest = &rest[digits..];
            match char::from_u32(value).filter(char::is_ascii) {
                Some(character) => text.push(character),
                None => {
                    let span = start..start + 1 + digits;
                    return Err(SyntaxError::new(
                        SyntaxErrorKind::BadEscape,
                        span,
                        "a byte that is no character",
                    )
                    .help("write the character itself, or `\\uHHHH`"));
                }
            }
            continue;
        }
        rest = &rest[escaped.len_utf8()..];
        text.push(match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'b' => '\x08',
            '\\' | '\'' | '"' | '?' => escaped,
            'x' => code_point(&mut rest, 2, start)?,
            'u' => code_point(&mut rest, 4, start)?,
            'U' => code_point(&mut rest, 8, start)?,
            _ => {
                let span = start..start + 1 + escaped.len_utf8();
                let message = format!("`\\{escaped}` is no escape");
                return Err(SyntaxError::new(SyntaxErrorKind::BadEscape, span, message)
                    .help("a backslash is written `\\\\`"));
            }
        });
    }
    text.push_str(rest);
    Ok(text)
}
