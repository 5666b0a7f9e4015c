//! From the pieces of a `.y` file to its rules.

use hashbrown::{HashMap, HashSet};

use crate::syntax::ast::{
    Alternative, Associativity, Directive, Expansions, Expr, ExprKind, File, Item, Mode, Rule, Span, Spanned,
    Word,
};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::escape::code_point;
use crate::syntax::lark::token::Shortened;
use crate::syntax::yacc::MAX_BYTES;
use crate::syntax::yacc::lexer::{Lexer, Piece};

/// Declarations about the generated code, not the language.
const WITHOUT_EFFECT: [&str; 45] = [
    "actiontype",
    "avoid_insert",
    "before-reduction",
    "code",
    "debug",
    "default-prec",
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
    "no-default-prec",
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

/// What stands within rules.
const IN_RULES: [&str; 6] = ["prec", "empty", "dprec", "merge", "expect", "expect-rr"];

type Result<T> = std::result::Result<T, SyntaxError>;

/// What tokens may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// What a terminal can be called in Lark's notation.
    OfTerminals,
    /// Anything.
    Any,
}

/// What a `.y` file says.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) file: File,
    /// The tokens that rules name and that are not quoted, in the order in which rules name them.
    pub(super) tokens: Vec<Spanned<String>>,
}

/// Reads a `.y` file.
pub(super) fn parse_rules(text: &str, names: Names) -> Result<Rules> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_BYTES}", text.len());
        return Err(SyntaxError::new(SyntaxErrorKind::TooLarge, 0..0, message).help("make it smaller"));
    }
    let mut pieces = Vec::new();
    let mut lexer = Lexer::new(text);
    let mut sections = 0;
    // Behind the second `%%` anything may stand.
    while let Some((piece, span)) = lexer.piece()? {
        sections += usize::from(piece == Piece::Section);
        if sections == 2 {
            break;
        }
        pieces.push((piece, span));
    }
    let section = pieces.iter().position(|(piece, _)| *piece == Piece::Section);
    let Some(section) = section else {
        return Err(fault(text.len()..text.len(), "the file ends before its rules")
            .help("write `%%` between the declarations and the rules"));
    };
    let mut declarations = Declarations::default();
    declarations.read(&pieces[..section])?;
    let behind = declarations.take(&pieces[section + 1..])?;
    let behind = &behind[..];
    if behind.is_empty() {
        return Err(fault(pieces[section].1.clone(), "the file has no rule")
            .help("write rules behind `%%`: `name: symbol symbol | symbol;`"));
    }
    let defined = behind.iter().enumerate().filter_map(|(at, (piece, span))| match piece {
        Piece::Name(name) if begins_rule(behind, at) => Some((*name, span.clone())),
        _ => None,
    });
    let parser = Parser {
        pieces: behind,
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
            return Err(fault(span, format!("`{}` is a token and a rule", Shortened(name)))
                .help("give one of the two another name"));
        }
    }
    parser.file()
}

/// Whether a rule begins at `at`: a name, maybe that of a reference, and a colon.
fn begins_rule(pieces: &[(Piece<'_>, Span)], at: usize) -> bool {
    let is = |at: usize, wanted: Piece<'_>| pieces.get(at).is_some_and(|(piece, _)| *piece == wanted);
    is(at + 1, Piece::Colon) || is(at + 1, Piece::Reference) && is(at + 2, Piece::Colon)
}

fn fault(span: Span, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(SyntaxErrorKind::Yacc, span, message)
}

/// A token, by its name or between quotation marks.
#[derive(Clone, Debug)]
enum Token<'text> {
    Name(&'text str, Span),
    Quoted(&'text str, Span),
}

/// The first section.
#[derive(Debug, Default)]
struct Declarations<'text> {
    start: Option<(&'text str, Span)>,
    /// Named by `%token` or a level.
    tokens: HashSet<&'text str>,
    /// Named by a level, and perhaps by nothing else: then it is a token only if it is no rule.
    levels: Vec<(Associativity, Vec<Token<'text>>, Span)>,
    /// What has a level, and where it got it.
    leveled: HashMap<&'text str, Span>,
    /// `%token EQ "=="`: the quoted text stands for the token.
    aliases: HashMap<&'text str, &'text str>,
}

/// What the operands of a declaration are.
#[derive(Clone, Copy, Debug)]
enum Operands<'text> {
    /// Of no effect.
    None,
    /// Tokens; the last name may get an alias.
    Tokens(Option<&'text str>),
    Level,
    Start,
}

impl<'text> Declarations<'text> {
    fn read(&mut self, pieces: &[(Piece<'text>, Span)]) -> Result<()> {
        let mut operands = None;
        for (piece, span) in pieces {
            match *piece {
                Piece::Directive(word) => operands = Some(self.operands(word, span)?),
                Piece::Code | Piece::Type | Piece::Number | Piece::Semicolon => {}
                piece => match &mut operands {
                    Some(operands) => self.operand(operands, piece, span)?,
                    None => return Err(misplaced(span, "a declaration begins with `%`")),
                },
            }
        }
        Ok(())
    }

    /// Reads the declarations among the rules, each of which goes on to a `;` or to the next rule;
    /// the rules.
    fn take(&mut self, pieces: &[(Piece<'text>, Span)]) -> Result<Vec<(Piece<'text>, Span)>> {
        let mut rules = Vec::with_capacity(pieces.len());
        let mut at = 0;
        while let Some((piece, span)) = pieces.get(at) {
            let length = match piece {
                Piece::Directive(word) if !IN_RULES.contains(word) => {
                    let ends = |&(number, (piece, _)): &(usize, &(Piece<'_>, Span))| {
                        *piece == Piece::Semicolon
                            || begins_rule(pieces, number) && matches!(piece, Piece::Name(_))
                    };
                    let end = pieces.iter().enumerate().skip(at + 1).find(ends);
                    end.map_or(pieces.len(), |(end, _)| end) - at
                }
                _ => {
                    rules.push((*piece, span.clone()));
                    at += 1;
                    continue;
                }
            };
            self.read(&pieces[at..at + length])?;
            // Where a declaration stands, a rule has ended.
            rules.push((Piece::Semicolon, span.clone()));
            at += length;
        }
        Ok(rules)
    }

    fn operands(&mut self, word: &str, span: &Span) -> Result<Operands<'text>> {
        let associativity = match word {
            "token" | "term" => return Ok(Operands::Tokens(None)),
            "start" => return Ok(Operands::Start),
            "left" => Associativity::Left,
            "right" | "precedence" => Associativity::Right,
            "nonassoc" | "binary" => Associativity::Nonassoc,
            word if WITHOUT_EFFECT.contains(&word) => return Ok(Operands::None),
            _ => return Err(unknown_directive(word, span.clone())),
        };
        self.levels.push((associativity, Vec::new(), span.clone()));
        Ok(Operands::Level)
    }

    fn operand(&mut self, operands: &mut Operands<'text>, piece: Piece<'text>, span: &Span) -> Result<()> {
        match (operands, piece) {
            (Operands::None, _) => {}
            (Operands::Tokens(last), Piece::Name(name)) => {
                self.tokens.insert(name);
                *last = Some(name);
            }
            (Operands::Tokens(last), Piece::Quoted(alias)) => {
                if let Some(name) = last.take() {
                    self.aliases.insert(alias, name);
                }
            }
            // `_("text")` marks what is to be translated.
            (Operands::Tokens(_), Piece::Sign) => {}
            (Operands::Start, Piece::Name(name)) => self.start = Some((name, span.clone())),
            (Operands::Level, Piece::Name(name) | Piece::Quoted(name)) => {
                if let Some(first) = self.leveled.insert(name, span.clone()) {
                    let message = format!("`{}` has a precedence already", Shortened(name));
                    return Err(fault(span.clone(), message)
                        .related(first, "given here")
                        .help("name each token in one precedence line only"));
                }
                if let Some((_, tokens, whole)) = self.levels.last_mut() {
                    let is_name = matches!(piece, Piece::Name(_));
                    let token = if is_name { Token::Name } else { Token::Quoted };
                    whole.start = if tokens.is_empty() { span.start } else { whole.start };
                    whole.end = span.end;
                    tokens.push(token(name, span.clone()));
                }
            }
            _ => return Err(misplaced(span, "the operands of a declaration are names and quoted texts")),
        }
        Ok(())
    }
}

fn misplaced(span: &Span, help: &str) -> SyntaxError {
    fault(span.clone(), "this cannot stand here").help(help)
}

fn unknown_directive(word: &str, span: Span) -> SyntaxError {
    let help = match word {
        "prec" | "empty" => "it stands among the rules, behind the first `%%`",
        "" => "what an action decides while a text is read is no part of the grammar: make it rules",
        _ => {
            "the declarations are `%token`, `%start`, `%left`, `%right`, `%nonassoc` and `%precedence`; among the rules \
             stand `%prec` and `%empty`"
        }
    };
    let message = format!("`%{}` cannot stand here", Shortened(word));
    SyntaxError::new(SyntaxErrorKind::UnknownDirective, span, message).help(help)
}

/// The second section.
struct Parser<'text, 'pieces> {
    pieces: &'pieces [(Piece<'text>, Span)],
    at: usize,
    end: usize,
    names: Names,
    declarations: &'pieces Declarations<'text>,
    defined: HashSet<&'text str>,
    tokens: Vec<Spanned<String>>,
    met: HashSet<&'text str>,
}

impl<'text> Parser<'text, '_> {
    fn file(mut self) -> Result<Rules> {
        let mut rules: Vec<Rule> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        while let Some((piece, span)) = self.pieces.get(self.at) {
            match piece {
                Piece::Semicolon | Piece::Code | Piece::Braces => self.at += 1,
                Piece::Name(name) if begins_rule(self.pieces, self.at) => {
                    self.at += if self.pieces[self.at + 1].0 == Piece::Colon { 2 } else { 3 };
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
                _ => return Err(misplaced(span, "a rule is written `name: symbol symbol | symbol;`")),
            }
        }
        let mut items = Vec::new();
        let first = rules.first().map(|rule| (rule.name.node.clone(), rule.name.span.clone()));
        let start = self.declarations.start.as_ref().map(|(name, span)| ((*name).to_owned(), span.clone()));
        if let Some((name, span)) = start.or(first) {
            if !self.defined.contains(name.as_str()) {
                let message = format!("the start rule `{}` is not defined", Shortened(&name));
                return Err(fault(span, message).help("write a rule for it"));
            }
            items.push(Item::Directive(Spanned {
                node: Directive::Start(vec![Spanned { node: name, span: span.clone() }]),
                span,
            }));
        }
        for (associativity, tokens, span) in &self.declarations.levels {
            let words = tokens.iter().map(word_of(self.declarations)).collect::<Result<Vec<_>>>()?;
            let associativity = *associativity;
            if !words.is_empty() {
                let node = Directive::Precedence { associativity, words };
                items.push(Item::Directive(Spanned { node, span: span.clone() }));
            }
        }
        if self.met.contains("error") {
            items.push(Item::Declare(vec![Spanned { node: "error".to_owned(), span: self.end..self.end }]));
        }
        items.extend(rules.into_iter().map(Item::Rule));
        Ok(Rules { file: File { items }, tokens: self.tokens })
    }

    /// The alternatives of a rule, to its `;` or to where the next one begins.
    fn body(&mut self) -> Result<Expansions> {
        let start = self.pieces.get(self.at).map_or(self.end, |(_, span)| span.start);
        let mut alternatives = vec![new_alternative(start)];
        while let Some((piece, span)) = self.pieces.get(self.at) {
            let alternative = alternatives.last_mut();
            let Some(alternative) = alternative else { break };
            if matches!(piece, Piece::Semicolon | Piece::Name(_)) && self.ends_body(piece) {
                break;
            }
            self.at += 1;
            match *piece {
                Piece::Or => alternatives.push(new_alternative(span.end)),
                Piece::Name(_) | Piece::Quoted(_) => {
                    let expr = self.symbol(*piece, span)?;
                    extend(alternative, &expr.span);
                    alternative.items.push(expr);
                }
                Piece::Directive("prec") => alternative.precedence = Some(self.precedence(span)?),
                Piece::Directive("empty") if alternative.items.is_empty() => {}
                Piece::Directive("empty") => {
                    return Err(fault(span.clone(), "an alternative with symbols is not empty")
                        .help("take out `%empty`, or the symbols"));
                }
                // Which of several parses counts, and how many conflicts there are, is no matter of
                // the language.
                Piece::Directive("dprec" | "expect" | "expect-rr" | "merge") => {}
                Piece::Directive(word) => return Err(unknown_directive(word, span.clone())),
                Piece::Braces | Piece::Reference | Piece::Type | Piece::Number | Piece::Code => {}
                Piece::Semicolon | Piece::Colon | Piece::Sign | Piece::Section => {
                    return Err(misplaced(span, "symbols are names, or texts between quotation marks"));
                }
            }
        }
        let end = alternatives.last().map_or(start, |alternative| alternative.span.end);
        Ok(Expansions { alternatives, span: start..end.max(start) })
    }

    fn ends_body(&self, piece: &Piece<'_>) -> bool {
        *piece == Piece::Semicolon || begins_rule(self.pieces, self.at)
    }

    /// What stands behind `%prec`.
    fn precedence(&mut self, directive: &Span) -> Result<Word> {
        let Some((piece, span)) = self.pieces.get(self.at) else {
            return Err(misplaced(directive, "write a token behind `%prec`"));
        };
        self.at += 1;
        let token = match *piece {
            Piece::Name(name) => Token::Name(name, span.clone()),
            Piece::Quoted(text) => Token::Quoted(text, span.clone()),
            _ => return Err(misplaced(span, "write a token behind `%prec`")),
        };
        let (Token::Name(name, _) | Token::Quoted(name, _)) = token;
        if !self.declarations.leveled.contains_key(name) {
            return Err(fault(span.clone(), format!("`{}` has no precedence", Shortened(name)))
                .help("name it in a `%left`, `%right`, `%nonassoc` or `%precedence` line"));
        }
        word_of(self.declarations)(&token)
    }

    fn symbol(&mut self, piece: Piece<'text>, span: &Span) -> Result<Expr> {
        let outer = span.start - usize::from(matches!(piece, Piece::Quoted(_)))..span.end;
        match piece {
            Piece::Quoted(text) => {
                let span = outer.start..span.end + 1;
                let node = match self.declarations.aliases.get(text) {
                    Some(token) => self.token(token, &span)?,
                    None => ExprKind::Literal { text: unescape(text, outer.start + 1)?, ignore_case: false },
                };
                Ok(Spanned { node, span })
            }
            Piece::Name(name) => {
                let is_token =
                    self.declarations.tokens.contains(name) || self.declarations.leveled.contains_key(name);
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
                        "write a rule for it, or name it in a `%token` line and give its pattern beside the `.y` file",
                    ));
                };
                Ok(Spanned { node, span: span.clone() })
            }
            // Never: callers have looked.
            _ => Err(misplaced(span, "symbols are names, or texts between quotation marks")),
        }
    }

    /// A token by its name, which the file beside must be able to define.
    fn token(&mut self, name: &'text str, span: &Span) -> Result<ExprKind> {
        let bare = name.strip_prefix('_').unwrap_or(name);
        let of = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        let is_terminal =
            bare.bytes().next().is_some_and(|first| first.is_ascii_uppercase()) && bare.bytes().all(of);
        if !is_terminal && self.names == Names::OfTerminals {
            let message = format!("the token `{}` has no name that a terminal can have", Shortened(name));
            return Err(SyntaxError::new(SyntaxErrorKind::BadName, span.clone(), message)
                .help("write it in upper case: letters, digits and underscores"));
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

/// The alternative goes on to the end of `span`.
fn extend(alternative: &mut Alternative, span: &Span) {
    if alternative.items.is_empty() {
        alternative.span.start = span.start;
    }
    alternative.span.end = span.end;
}

/// A token as a directive names it.
fn word_of<'a>(declarations: &'a Declarations<'_>) -> impl Fn(&Token<'_>) -> Result<Word> + 'a {
    move |token| {
        let (text, span) = match token {
            Token::Name(name, span) => return Ok(Word::Name(named(name, span))),
            Token::Quoted(text, span) => (*text, span),
        };
        let outer = span.start - 1..span.end + 1;
        Ok(match declarations.aliases.get(text) {
            Some(token) => Word::Name(named(token, &outer)),
            None => Word::Literal { text: unescape(text, span.start)?, ignore_case: false, span: outer },
        })
    }
}

/// A name and where it stands.
fn named(name: &str, span: &Span) -> Spanned<String> {
    Spanned { node: name.to_string(), span: span.clone() }
}

/// What a quoted symbol stands for: the escapes are C's. `at` is where `raw` begins in the file.
fn unescape(raw: &str, at: usize) -> Result<String> {
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
