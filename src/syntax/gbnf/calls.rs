//! XGrammar's additions to the notation: functions with arguments, such as `Regex("[a-z]+")`, and
//! attributes of rules, `name[lazy] ::= ...`.
//!
//! A name is a function where a bracket follows it and no rule of the file is called so. All of it
//! is one word, so the parser knows nothing of arguments.

use hashbrown::HashSet;

use crate::syntax::ast::Spanned;
use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::gbnf::ast::{Argument, Attributes, Call, Function, Value};
use crate::syntax::gbnf::lexer::{Lexer, is_name_character, name_length};
use crate::syntax::gbnf::token::Token;

type Result<T> = std::result::Result<T, SyntaxError>;

/// Tuples in tuples: no function takes deeper ones.
const MOST_TUPLES: usize = 4;

/// The most bytes between the brackets of a rule's attributes.
const MOST_ATTRIBUTES: usize = 1000;

impl<'input> Lexer<'input> {
    /// The function of this name, with the arguments that follow; `None` where it is none.
    pub(super) fn call(&mut self, name: &'input str) -> Result<Option<Call>> {
        let Some(function) = Function::named(name) else { return Ok(None) };
        let before = self.at;
        self.skip_blanks()?;
        let text = self.text;
        let defined = self.defined_functions.get_or_insert_with(|| defined_functions(text));
        let is_rule = defined.contains(name);
        if is_rule || !self.rest().starts_with('(') {
            self.at = before;
            return Ok(None);
        }
        self.take(1);
        let mut arguments = Vec::new();
        while !self.closes()? {
            let start = self.at;
            let length = name_length(self.rest());
            let name = self.take(length);
            self.skip_blanks()?;
            let name = if length > 0 && self.rest().starts_with('=') {
                self.take(1);
                Some(name.to_owned())
            } else {
                self.at = start;
                None
            };
            let value = self.value(0)?;
            arguments.push(Argument { name, value });
        }
        Ok(Some(Call { function, arguments }))
    }

    /// Whether the arguments end here; what ends them, or the comma before the next one, is taken.
    fn closes(&mut self) -> Result<bool> {
        self.skip_blanks()?;
        let comma = self.rest().starts_with(',');
        self.take(usize::from(comma));
        self.skip_blanks()?;
        let closes = self.rest().starts_with(')');
        self.take(usize::from(closes));
        Ok(closes)
    }

    /// A value: a string, a number, `true`, `false`, a rule's name, or several between brackets.
    fn value(&mut self, depth: usize) -> Result<Spanned<Value>> {
        self.skip_blanks()?;
        self.count_word()?;
        let start = self.at;
        let node = match self.rest().chars().next() {
            Some(mark @ ('"' | '\'')) => match self.literal(mark)? {
                Token::Literal(text) => Value::Text(text),
                _ => return Err(Self::no_value(start)),
            },
            Some('(') if depth < MOST_TUPLES => {
                self.take(1);
                let mut values = Vec::new();
                while !self.closes()? {
                    values.push(self.value(depth + 1)?);
                }
                Value::Several(values)
            }
            _ => {
                let length = name_length(self.rest());
                match self.take(length) {
                    "" => return Err(Self::no_value(start)),
                    "true" => Value::Flag(true),
                    "false" => Value::Flag(false),
                    digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                        Value::Number(digits.parse().map_err(|_| {
                            let message = format!("`{digits}` is not a token number");
                            SyntaxError::new(SyntaxErrorKind::BadNumber, start..self.at, message)
                        })?)
                    }
                    name => Value::Name(name.to_owned()),
                }
            }
        };
        Ok(Spanned { node, span: start..self.at })
    }

    fn no_value(at: usize) -> SyntaxError {
        let message = "expected an argument";
        SyntaxError::new(SyntaxErrorKind::UnexpectedToken, at..at, message).help(
            "arguments are strings, numbers, `true`, `false`, rule names, and lists of these in \
             brackets, separated by commas",
        )
    }

    /// Reads attributes at this place and the `::=` after them; `None` if there are none.
    pub(super) fn attributes(&mut self) -> Option<Attributes> {
        let rest = self.rest();
        let end = rest.strip_prefix('[')?.find([']', '\n']).filter(|&end| end < MOST_ATTRIBUTES)?;
        let behind = rest[1 + end..].strip_prefix(']')?;
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        behind[blanks..].strip_prefix("::=")?;
        let mut attributes = Attributes::default();
        let mut at = self.at + 1;
        for part in rest[1..=end].split(',') {
            let name = part.split('=').next().unwrap_or_default().trim();
            match name {
                "lazy" => attributes.lazy = true,
                _ => {
                    let span = at..at + part.len();
                    attributes.others.push(Spanned { node: name.to_owned(), span });
                }
            }
            at += part.len() + 1;
        }
        self.at += 1 + end + 1 + blanks + 3;
        Some(attributes)
    }
}

/// The functions whose names are those of rules in this file.
fn defined_functions(text: &str) -> HashSet<&str> {
    let before = text.match_indices("::=").map(|(at, _)| text[..at].trim_end());
    let names = before.map(|before| {
        // No function has a longer name.
        let from = (before.len().saturating_sub(64)..before.len())
            .find(|&at| before.is_char_boundary(at))
            .unwrap_or(before.len());
        before[from..].rsplit(|c| !is_name_character(c)).next().unwrap_or_default()
    });
    names.filter(|name| Function::named(name).is_some()).collect()
}
