//! The parser of the rules of a `.y` file.

use hashbrown::{HashMap, HashSet};

use crate::syntax::ast::{
    Alternative, Directive, Expansions, Expr, ExprKind, File, Mode, Rule, Span, Spanned, Statement,
    Word,
};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::token::Shortened;
use crate::syntax::yacc::MAX_BYTES;
use crate::syntax::yacc::declarations::{Declarations, Token, unknown_directive, word_of};
use crate::syntax::yacc::escape;
use crate::syntax::yacc::lexer::{Lexeme, Lexer};
use crate::syntax::yacc::place::{Result, begins_rule, fault, misplaced, named};

/// The allowed names of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Names that a terminal can have in Lark's notation.
    OfTerminals,
    /// Any name.
    Any,
}

/// The contents of a `.y` file.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) file: File,
    /// The unquoted tokens that rules use, in the order of first use.
    pub(super) tokens: Vec<Spanned<String>>,
}

/// Reads a `.y` file.
pub(super) fn parse_rules(text: &str, names: Names) -> Result<Rules> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(
            SyntaxError::new(SyntaxErrorKind::TooLarge, 0..0, message).help("make it smaller")
        );
    }
    let mut lexemes = Vec::new();
    let mut lexer = Lexer::new(text);
    let mut sections = 0;
    // Any text may follow the second `%%`.
    while let Some((lexeme, span)) = lexer.lexeme()? {
        sections += usize::from(lexeme == Lexeme::Section);
        if sections == 2 {
            break;
        }
        lexemes.push((lexeme, span));
    }
    let section = lexemes.iter().position(|(lexeme, _)| *lexeme == Lexeme::Section);
    let Some(section) = section else {
        return Err(fault(text.len()..text.len(), "the file ends before its rules")
            .help("write `%%` between the declarations and the rules"));
    };
    let mut declarations = Declarations::default();
    declarations.read(&lexemes[..section])?;
    let behind = declarations.take(&lexemes[section + 1..])?;
    let behind = &behind[..];
    if behind.is_empty() {
        return Err(fault(lexemes[section].1.clone(), "the file has no rule")
            .help("write rules after `%%`: `name: symbol symbol | symbol;`"));
    }
    let defined = behind.iter().enumerate().filter_map(|(at, (lexeme, span))| match lexeme {
        Lexeme::Name(name) if begins_rule(behind, at) => Some((*name, span.clone())),
        _ => None,
    });
    let parser = Parser {
        lexemes: behind,
        at: 0,
        end: text.len(),
        names,
        declarations: &declarations,
        defined: defined.clone().map(|(name, _)| name).collect(),
        tokens: Vec::new(),
        met: HashSet::new(),
    };
    for (name, span) in defined {
        if declarations.tokens.contains(name) {
            return Err(fault(span, format!("`{}` is both a token and a rule", Shortened(name)))
                .help("rename one of the two"));
        }
    }
    parser.file()
}

/// The second section.
struct Parser<'text, 'lexemes> {
    lexemes: &'lexemes [(Lexeme<'text>, Span)],
    at: usize,
    end: usize,
    names: Names,
    declarations: &'lexemes Declarations<'text>,
    defined: HashSet<&'text str>,
    tokens: Vec<Spanned<String>>,
    met: HashSet<&'text str>,
}

impl<'text> Parser<'text, '_> {
    fn file(mut self) -> Result<Rules> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        while let Some((lexeme, span)) = self.lexemes.get(self.at) {
            match lexeme {
                Lexeme::Semicolon | Lexeme::Code | Lexeme::Braces => self.at += 1,
                Lexeme::Name(name) if begins_rule(self.lexemes, self.at) => {
                    self.at += if self.lexemes[self.at + 1].0 == Lexeme::Colon { 2 } else { 3 };
                    let body = self.body()?;
                    // A rule may be given in several parts.
                    let next = rules.len();
                    let number = *numbers.entry(name).or_insert(next);
                    match rules.get_mut(number) {
                        Some(rule) => rule.body.alternatives.extend(body.alternatives),
                        None => rules.push(Rule {
                            mode: Mode::Define,
                            name: named(name, span),
                            modifiers: String::new(),
                            parameters: Vec::new(),
                            priority: None,
                            attributes: Vec::new(),
                            body,
                        }),
                    }
                }
                _ => {
                    return Err(misplaced(
                        span,
                        "a rule is written `name: symbol symbol | symbol;`",
                    ));
                }
            }
        }
        let mut items = Vec::new();
        let first = rules.first().map(|rule| (rule.name.node.clone(), rule.name.span.clone()));
        let start =
            self.declarations.start.as_ref().map(|(name, span)| ((*name).to_owned(), span.clone()));
        if let Some((name, span)) = start.or(first) {
            if !self.defined.contains(name.as_str()) {
                let message = format!("the start rule `{}` is not defined", Shortened(&name));
                return Err(fault(span, message).help("write a rule for it"));
            }
            items.push(Statement::Directive(Spanned {
                node: Directive::Start(vec![Spanned { node: name, span: span.clone() }]),
                span,
            }));
        }
        for (associativity, tokens, span) in &self.declarations.levels {
            let words =
                tokens.iter().map(word_of(self.declarations)).collect::<Result<Vec<_>>>()?;
            let associativity = *associativity;
            if !words.is_empty() {
                let node = Directive::Precedence { associativity, words };
                items.push(Statement::Directive(Spanned { node, span: span.clone() }));
            }
        }
        if self.met.contains("error") {
            items.push(Statement::Declare(vec![Spanned {
                node: "error".to_owned(),
                span: self.end..self.end,
            }]));
        }
        items.extend(rules.into_iter().map(Statement::Rule));
        Ok(Rules { file: File { items }, tokens: self.tokens })
    }

    /// Reads the alternatives of a rule, up to its `;` or the beginning of the next one.
    fn body(&mut self) -> Result<Expansions> {
        let start = self.lexemes.get(self.at).map_or(self.end, |(_, span)| span.start);
        let mut alternatives = vec![new_alternative(start)];
        while let Some((lexeme, span)) = self.lexemes.get(self.at) {
            let alternative = alternatives.last_mut();
            let Some(alternative) = alternative else { break };
            if matches!(lexeme, Lexeme::Semicolon | Lexeme::Name(_)) && self.ends_body(lexeme) {
                break;
            }
            self.at += 1;
            match *lexeme {
                Lexeme::Or => alternatives.push(new_alternative(span.end)),
                Lexeme::Name(_) | Lexeme::Quoted(_) => {
                    let expr = self.symbol(*lexeme, span)?;
                    extend(alternative, &expr.span);
                    alternative.items.push(expr);
                }
                Lexeme::Directive("prec") => alternative.precedence = Some(self.precedence(span)?),
                Lexeme::Directive("empty") if alternative.items.is_empty() => {}
                Lexeme::Directive("empty") => {
                    return Err(fault(span.clone(), "an alternative with `%empty` has symbols")
                        .help("remove `%empty`, or the symbols"));
                }
                // The number of conflicts, and which of several parses is chosen, do not affect the
                // language.
                Lexeme::Directive("dprec" | "expect" | "expect-rr" | "merge") => {}
                Lexeme::Directive(word) => return Err(unknown_directive(word, span.clone())),
                Lexeme::Braces
                | Lexeme::Reference
                | Lexeme::Type
                | Lexeme::Number
                | Lexeme::Code => {}
                Lexeme::Semicolon | Lexeme::Colon | Lexeme::Sign | Lexeme::Section => {
                    return Err(misplaced(span, "symbols are names, or texts in quotation marks"));
                }
            }
        }
        let end = alternatives.last().map_or(start, |alternative| alternative.span.end);
        Ok(Expansions { alternatives, span: start..end.max(start) })
    }

    fn ends_body(&self, lexeme: &Lexeme<'_>) -> bool {
        *lexeme == Lexeme::Semicolon || begins_rule(self.lexemes, self.at)
    }

    /// Reads the token after `%prec`.
    fn precedence(&mut self, directive: &Span) -> Result<Word> {
        let Some((lexeme, span)) = self.lexemes.get(self.at) else {
            return Err(misplaced(directive, "write a token after `%prec`"));
        };
        self.at += 1;
        let token = match *lexeme {
            Lexeme::Name(name) => Token::Name(name, span.clone()),
            Lexeme::Quoted(text) => Token::Quoted(text, span.clone()),
            _ => return Err(misplaced(span, "write a token after `%prec`")),
        };
        let (Token::Name(name, _) | Token::Quoted(name, _)) = token;
        if !self.declarations.leveled.contains_key(name) {
            return Err(fault(span.clone(), format!("`{}` has no precedence", Shortened(name)))
                .help("name it in a `%left`, `%right`, `%nonassoc` or `%precedence` line"));
        }
        word_of(self.declarations)(&token)
    }

    fn symbol(&mut self, lexeme: Lexeme<'text>, span: &Span) -> Result<Expr> {
        let outer = span.start - usize::from(matches!(lexeme, Lexeme::Quoted(_)))..span.end;
        match lexeme {
            Lexeme::Quoted(text) => {
                let span = outer.start..span.end + 1;
                let node = match self.declarations.aliases.get(text) {
                    Some(token) => self.token(token, &span)?,
                    None => ExprKind::Literal {
                        text: escape::symbol(text, outer.start + 1)?,
                        ignore_case: false,
                    },
                };
                Ok(Spanned { node, span })
            }
            Lexeme::Name(name) => {
                let is_token = self.declarations.tokens.contains(name)
                    || self.declarations.leveled.contains_key(name);
                let node = if self.defined.contains(name) {
                    ExprKind::Rule(name.to_owned())
                } else if name == "error" {
                    self.met.insert(name);
                    ExprKind::Terminal(name.to_owned())
                } else if is_token {
                    self.token(name, span)?
                } else {
                    let message = format!("`{}` is neither a rule nor a token", Shortened(name));
                    return Err(fault(span.clone(), message).help(
                        "write a rule for it, or name it in a `%token` line and define its pattern \
                         with the terminals of the `.y` file",
                    ));
                };
                Ok(Spanned { node, span: span.clone() })
            }
            // Unreachable: callers have checked the lexeme.
            _ => Err(misplaced(span, "symbols are names, or texts in quotation marks")),
        }
    }

    /// Returns a token by its name, which the file of terminals must be able to define.
    fn token(&mut self, name: &'text str, span: &Span) -> Result<ExprKind> {
        let bare = name.strip_prefix('_').unwrap_or(name);
        let of = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let is_terminal = bare.bytes().next().is_some_and(|first| first.is_ascii_uppercase())
            && bare.bytes().all(of);
        if !is_terminal && self.names == Names::OfTerminals {
            let message = format!("`{}` is not a valid name for a terminal", Shortened(name));
            return Err(SyntaxError::new(SyntaxErrorKind::BadName, span.clone(), message)
                .help("write the name in upper case: letters, digits and underscores"));
        }
        if self.met.insert(name) {
            self.tokens.push(named(name, span));
        }
        Ok(ExprKind::Terminal(name.to_owned()))
    }
}

fn new_alternative(at: usize) -> Alternative {
    Alternative { items: Vec::new(), alias: None, precedence: None, span: at..at }
}

/// Extends the alternative to the end of `span`.
fn extend(alternative: &mut Alternative, span: &Span) {
    if alternative.items.is_empty() {
        alternative.span.start = span.start;
    }
    alternative.span.end = span.end;
}
