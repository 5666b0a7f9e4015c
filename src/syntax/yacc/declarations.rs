//! The first section of a `.y` file, and the declarations among its rules: the tokens, their names,
//! and their levels of precedence.

use hashbrown::{HashMap, HashSet};

use crate::syntax::ast::{Associativity, Span, Word};
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::token::Shortened;
use crate::syntax::yacc::escape;
use crate::syntax::yacc::lexer::Lexeme;
use crate::syntax::yacc::place::{Result, begins_rule, fault, misplaced, named};
use crate::util::names::is_among;

/// Declarations about the generated code, not the language.
const WITHOUT_EFFECT: &str = "\
    actiontype|avoid_insert|before-reduction|code|debug|default-prec|define|defines|destructor|\
    epp|error-verbose|expect|expect-rr|expect-unused|file-prefix|grmtools|header|initial-action|\
    language|lex-param|locations|name-prefix|no-default-prec|no-lines|nterm|output|param|\
    parse-generics|parse-param|printer|pure-parser|pure_parser|require|skeleton|token-table|type|\
    union|verbose|yacc|name_prefix|no_lines|error_verbose|token_table|file_prefix|glr-parser";

/// Directives that occur within rules.
const IN_RULES: [&str; 6] = ["prec", "empty", "dprec", "merge", "expect", "expect-rr"];

/// A token, by its name or between quotation marks.
#[derive(Clone, Debug)]
pub(super) enum Token<'text> {
    Name(&'text str, Span),
    Quoted(&'text str, Span),
}

/// The first section.
#[derive(Debug, Default)]
pub(super) struct Declarations<'text> {
    pub(super) start: Option<(&'text str, Span)>,
    /// Tokens named by `%token` or a level.
    pub(super) tokens: HashSet<&'text str>,
    /// The levels of precedence. A token that only a level names may turn out to be a rule.
    pub(super) levels: Vec<(Associativity, Vec<Token<'text>>, Span)>,
    /// Tokens with a level, and the position where it was given.
    pub(super) leveled: HashMap<&'text str, Span>,
    /// `%token EQ "=="`: the quoted text is another name of the token.
    pub(super) aliases: HashMap<&'text str, &'text str>,
}

/// The kind of the operands of a declaration.
#[derive(Clone, Copy, Debug)]
enum Operands<'text> {
    /// Operands without effect.
    None,
    /// Tokens; the last name may get an alias.
    Tokens(Option<&'text str>),
    Level,
    Start,
}

impl<'text> Declarations<'text> {
    pub(super) fn read(&mut self, lexemes: &[(Lexeme<'text>, Span)]) -> Result<()> {
        let mut operands = None;
        for (lexeme, span) in lexemes {
            match *lexeme {
                Lexeme::Directive(word) => operands = Some(self.operands(word, span)?),
                Lexeme::Code | Lexeme::Type | Lexeme::Number | Lexeme::Semicolon => {}
                lexeme => match &mut operands {
                    Some(operands) => self.operand(operands, lexeme, span)?,
                    None => return Err(misplaced(span, "a declaration begins with `%`")),
                },
            }
        }
        Ok(())
    }

    /// Reads the declarations among the rules, each of which extends to a `;` or to the next rule,
    /// and returns the rules.
    pub(super) fn take(
        &mut self,
        lexemes: &[(Lexeme<'text>, Span)],
    ) -> Result<Vec<(Lexeme<'text>, Span)>> {
        let mut rules = Vec::with_capacity(lexemes.len());
        let mut at = 0;
        while let Some((lexeme, span)) = lexemes.get(at) {
            let length = match lexeme {
                Lexeme::Directive(word) if !IN_RULES.contains(word) => {
                    let ends = |&(number, (lexeme, _)): &(usize, &(Lexeme<'_>, Span))| {
                        *lexeme == Lexeme::Semicolon
                            || begins_rule(lexemes, number) && matches!(lexeme, Lexeme::Name(_))
                    };
                    let end = lexemes.iter().enumerate().skip(at + 1).find(ends);
                    end.map_or(lexemes.len(), |(end, _)| end) - at
                }
                _ => {
                    rules.push((*lexeme, span.clone()));
                    at += 1;
                    continue;
                }
            };
            self.read(&lexemes[at..at + length])?;
            // A declaration ends the rule before it.
            rules.push((Lexeme::Semicolon, span.clone()));
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
            word if is_among(WITHOUT_EFFECT, word) => return Ok(Operands::None),
            _ => return Err(unknown_directive(word, span.clone())),
        };
        self.levels.push((associativity, Vec::new(), span.clone()));
        Ok(Operands::Level)
    }

    fn operand(
        &mut self,
        operands: &mut Operands<'text>,
        lexeme: Lexeme<'text>,
        span: &Span,
    ) -> Result<()> {
        match (operands, lexeme) {
            (Operands::None, _) => {}
            (Operands::Tokens(last), Lexeme::Name(name)) => {
                self.tokens.insert(name);
                *last = Some(name);
            }
            (Operands::Tokens(last), Lexeme::Quoted(alias)) => {
                if let Some(name) = last.take() {
                    self.aliases.insert(alias, name);
                }
            }
            // `_("text")` marks a text to be translated.
            (Operands::Tokens(_), Lexeme::Sign) => {}
            (Operands::Start, Lexeme::Name(name)) => self.start = Some((name, span.clone())),
            (Operands::Level, Lexeme::Name(name) | Lexeme::Quoted(name)) => {
                if let Some(first) = self.leveled.insert(name, span.clone()) {
                    let message = format!("`{}` has a precedence already", Shortened(name));
                    return Err(fault(span.clone(), message)
                        .related(first, "given here")
                        .help("name each token in only one precedence line"));
                }
                if let Some((_, tokens, whole)) = self.levels.last_mut() {
                    let is_name = matches!(lexeme, Lexeme::Name(_));
                    let token = if is_name { Token::Name } else { Token::Quoted };
                    whole.start = if tokens.is_empty() { span.start } else { whole.start };
                    whole.end = span.end;
                    tokens.push(token(name, span.clone()));
                }
            }
            _ => {
                return Err(misplaced(
                    span,
                    "the operands of a declaration must be names and quoted texts",
                ));
            }
        }
        Ok(())
    }
}

pub(super) fn unknown_directive(word: &str, span: Span) -> SyntaxError {
    let help = match word {
        "prec" | "empty" => "move it to the rules, after the first `%%`",
        "" => "the decisions of actions are not part of the grammar: write them as rules",
        _ => {
            "the declarations are `%token`, `%start`, `%left`, `%right`, `%nonassoc` and \
             `%precedence`; `%prec` and `%empty` belong in the rules"
        }
    };
    let message = format!("`%{}` is not allowed here", Shortened(word));
    SyntaxError::new(SyntaxErrorKind::UnknownDirective, span, message).help(help)
}

/// Returns a token as a directive names it.
pub(super) fn word_of<'a>(
    declarations: &'a Declarations<'_>,
) -> impl Fn(&Token<'_>) -> Result<Word> + 'a {
    move |token| {
        let (text, span) = match token {
            Token::Name(name, span) => return Ok(Word::Name(named(name, span))),
            Token::Quoted(text, span) => (*text, span),
        };
        let outer = span.start - 1..span.end + 1;
        Ok(match declarations.aliases.get(text) {
            Some(token) => Word::Name(named(token, &outer)),
            None => Word::Literal {
                text: escape::symbol(text, span.start)?,
                ignore_case: false,
                span: outer,
            },
        })
    }
}
