//! Printing of a syntax tree as notation that is read back as the same tree, except for spans.
//!
//! This holds for every tree that the reader of Lark's notation produces. Names from a Yacc file
//! are printed as they are, though Lark's notation might not accept them.

use std::fmt::{self, Display, Formatter, Write};

use crate::syntax::ast::{
    Alternative, Associativity, Attribute, AttributeValue, Clause, Directive, Expansions, ExprKind,
    File, Import, Mode, Options, PARAMETER, Rule, Statement, TerminalDefinition, TokenNames, Word,
};

impl Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.items.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Rule(rule) => rule.fmt(f),
            Statement::Terminal(terminal) => terminal.fmt(f),
            Statement::Import(import) => import.fmt(f),
            Statement::Ignore(expansions) => write!(f, "%ignore {}", expansions.node),
            Statement::Declare(names) => {
                f.write_str("%declare")?;
                names.iter().try_for_each(|name| write!(f, " {}", name.node))
            }
            Statement::Directive(directive) => directive.node.fmt(f),
        }
    }
}

impl Display for Mode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Define => "",
            Mode::Override => "%override ",
            Mode::Extend => "%extend ",
        })
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.mode, self.modifiers, self.name.node)?;
        let is_parametric = matches!(&self.parameters[..], [only] if only.node == PARAMETER);
        if is_parametric {
            write!(f, "::{PARAMETER}")?;
        } else if !self.parameters.is_empty() {
            f.write_char('{')?;
            separated(f, self.parameters.iter().map(|parameter| &parameter.node), ", ")?;
            f.write_char('}')?;
        }
        if let Some(priority) = &self.priority {
            write!(f, ".{}", priority.node)?;
        }
        if !self.attributes.is_empty() {
            f.write_char('[')?;
            separated(f, &self.attributes, ", ")?;
            f.write_char(']')?;
        }
        definition(f, &self.body)
    }
}

impl Display for Attribute {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key.node)?;
        match &self.value {
            None => Ok(()),
            Some(AttributeValue::Expr(expr)) => write!(f, "={}", expr.node),
            Some(AttributeValue::Number(number)) => write!(f, "={}", number.node),
        }
    }
}

impl Display for TokenNames {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TokenNames::Name(name) => f.write_str(name),
            TokenNames::Ids(ids) => {
                f.write_str("<[")?;
                let range = |&(first, last): &(u32, u32)| match first == last {
                    true => first.to_string(),
                    false => format!("{first}-{last}"),
                };
                separated(f, ids.iter().map(range), ",")?;
                f.write_str("]>")
            }
        }
    }
}

impl Display for Options {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut options = serde_json::Map::new();
        let flags = [
            ("allow_initial_skip", self.allow_initial_skip),
            ("allow_invalid_utf8", self.allow_invalid_utf8),
        ];
        options
            .extend(flags.iter().filter_map(|&(key, flag)| Some((key.to_owned(), flag?.into()))));
        if let Some(once) = self.skip_once {
            options.insert("skip_repetition".to_owned(), if once { "once" } else { "many" }.into());
        }
        write!(f, "%llguidance {}", serde_json::Value::from(options))
    }
}

impl Display for TerminalDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.mode, self.name.node)?;
        if self.priority != 0 {
            write!(f, ".{}", self.priority)?;
        }
        definition(f, &self.body)
    }
}

/// Prints `: alternatives`, each from the second on its own line.
fn definition(f: &mut Formatter<'_>, body: &Expansions) -> fmt::Result {
    f.write_char(':')?;
    for (i, alternative) in body.alternatives.iter().enumerate() {
        f.write_str(if i > 0 { "\n    |" } else { "" })?;
        if !alternative.is_blank() {
            write!(f, " {alternative}")?;
        }
    }
    Ok(())
}

impl Display for Expansions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        separated(f, &self.alternatives, " | ")
    }
}

impl Alternative {
    /// Returns whether there is nothing to print.
    fn is_blank(&self) -> bool {
        self.items.is_empty() && self.alias.is_none() && self.precedence.is_none()
    }
}

impl Display for Alternative {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        separated(f, self.items.iter().map(|item| &item.node), " ")?;
        let mut gap = if self.items.is_empty() { "" } else { " " };
        if let Some(word) = &self.precedence {
            write!(f, "{gap}%prec {word}")?;
            gap = " ";
        }
        match &self.alias {
            Some(alias) => write!(f, "{gap}-> {}", alias.node),
            None => Ok(()),
        }
    }
}

impl Display for ExprKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExprKind::Rule(name) | ExprKind::Terminal(name) => f.write_str(name),
            ExprKind::Literal { text, ignore_case } => literal(f, text, *ignore_case),
            ExprKind::CharRange(first, last) => {
                literal(f, first.encode_utf8(&mut [0; 4]), false)?;
                f.write_str("..")?;
                literal(f, last.encode_utf8(&mut [0; 4]), false)
            }
            ExprKind::Regex { pattern, flags } => regex(f, pattern, flags),
            ExprKind::Template { name, arguments } => {
                write!(f, "{name}{{")?;
                separated(f, arguments.iter().map(|argument| &argument.node), ", ")?;
                f.write_char('}')
            }
            ExprKind::Parametric { name, value } => write!(f, "{name}::{value}"),
            ExprKind::If(condition) => write!(f, "%if {condition}"),
            ExprKind::Group(expansions) => write!(f, "({expansions})"),
            ExprKind::Maybe(expansions) => write!(f, "[{expansions}]"),
            ExprKind::Repeat { expr, min, max } => {
                let expr = &expr.node;
                match (*min, *max) {
                    (0, Some(1)) => write!(f, "{expr}?"),
                    (0, None) => write!(f, "{expr}*"),
                    (1, None) => write!(f, "{expr}+"),
                    (min, Some(max)) if min == max => write!(f, "{expr}~{min}"),
                    (min, Some(max)) => write!(f, "{expr}~{min}..{max}"),
                    (min, None) => write!(f, "{expr}{{{min},}}"),
                }
            }
            ExprKind::And(parts) => separated(f, parts, " & "),
            ExprKind::Not(expr) => write!(f, "~{}", expr.node),
            ExprKind::Tokens(tokens) => tokens.fmt(f),
            ExprKind::Substring(chunks) => {
                write!(f, "%regex {}", serde_json::json!({ "substring_chunks": chunks }))
            }
            ExprKind::Grammar(name) => write!(f, "@{name}"),
            ExprKind::Json(json) => write!(f, "%json {json}"),
            ExprKind::Nested(file) => write!(f, "%lark {{\n{file}}}"),
        }
    }
}

impl Display for Import {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("%import ")?;
        (0..self.level).try_for_each(|_| f.write_char('.'))?;
        separated(f, self.path.iter().map(|name| &name.node), ".")?;
        f.write_str(" (")?;
        for (i, (name, new_name)) in self.names.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(&name.node)?;
            if let Some(new_name) = new_name {
                write!(f, " -> {}", new_name.node)?;
            }
        }
        f.write_char(')')
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (directive, first, words) = match self {
            Directive::Start(names) => {
                f.write_str("%start")?;
                return names.iter().try_for_each(|name| write!(f, " {}", name.node));
            }
            Directive::Options(options) => return options.fmt(f),
            Directive::Lexer(name) => return write!(f, "%lexer {}", name.node),
            Directive::Match(name) => return write!(f, "%match {}", name.node),
            Directive::Conflicts(name) => return write!(f, "%conflicts {}", name.node),
            Directive::Lookahead { to, word, after, before } => {
                write!(f, "%lookahead {to} {word}")?;
                let after = after.iter().map(|list| ("after", list));
                let ahead = std::iter::once("before").chain(std::iter::repeat("then")).zip(before);
                return after.chain(ahead).try_for_each(|(name, list)| {
                    write!(f, " {name}")?;
                    list.iter().try_for_each(|word| write!(f, " {word}"))
                });
            }
            Directive::Reserved { against, words } => ("%reserved", Some(against), words),
            Directive::Fallback { to, words } => ("%fallback", Some(to), words),
            Directive::Soft { to, words } => ("%soft", Some(to), words),
            Directive::Exclusive(words) => ("%exclusive", None, words),
            Directive::Precedence { associativity: Associativity::Left, words } => {
                ("%left", None, words)
            }
            Directive::Precedence { associativity: Associativity::Right, words } => {
                ("%right", None, words)
            }
            Directive::Precedence { associativity: Associativity::Nonassoc, words } => {
                ("%nonassoc", None, words)
            }
            Directive::Indent { newline, indent, dedent, clauses } => {
                write!(f, "%indent {newline} {indent} {dedent}")?;
                return clauses.iter().try_for_each(|clause| write!(f, " {clause}"));
            }
        };
        f.write_str(directive)?;
        first.into_iter().chain(words).try_for_each(|word| write!(f, " {word}"))
    }
}

impl Display for Clause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.node)?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))?;
        self.number.iter().try_for_each(|number| write!(f, " {}", number.node))
    }
}

impl Display for Word {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Word::Name(name) => f.write_str(&name.node),
            Word::Literal { text, ignore_case, .. } => literal(f, text, *ignore_case),
        }
    }
}

fn separated<T: Display>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
    separator: &str,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        f.write_str(if i > 0 { separator } else { "" })?;
        item.fmt(f)?;
    }
    Ok(())
}

fn literal(f: &mut Formatter<'_>, text: &str, ignore_case: bool) -> fmt::Result {
    f.write_char('"')?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\x0c' => f.write_str("\\f")?,
            _ if character.is_control() => write!(f, "\\x{:02x}", u32::from(character))?,
            _ => f.write_char(character)?,
        }
    }
    f.write_str(if ignore_case { "\"i" } else { "\"" })
}

/// Prints a regex. Every slash in the pattern gets its backslash back: the reader has removed them
/// all.
fn regex(f: &mut Formatter<'_>, pattern: &str, flags: &str) -> fmt::Result {
    write!(f, "/{}/{flags}", pattern.replace('/', "\\/"))
}
