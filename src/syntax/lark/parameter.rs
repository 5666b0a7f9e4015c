//! `::value` after a rule's name and `%if condition` after an alternative: each is one word.

use crate::syntax::error::{SyntaxError, SyntaxErrorKind};
use crate::syntax::lark::lexer::{Lexer, Result};
use crate::syntax::lark::token::{Shortened, Token};
use crate::syntax::parameter::{Bits, Comparison, Condition, Value};

/// Maximum depth of nested conditions.
const MAX_DEPTH: usize = 50;

const VALUES: &str = "a parameter is a number, `_`, set_bit(k), clear_bit(k), bit_and(v), \
     bit_or(v), incr([x:y]) or decr([x:y])";

const CONDITIONS: &str = "a condition is true, bit_clear(k), bit_set(k), is_ones([x:y]), \
                          is_zeros([x:y]), eq, ne, lt, le, gt or ge of ([x:y], v), one of these \
                          with the prefix bit_count_, and(c, d), or(c, d) or not(c)";

impl<'input> Lexer<'input> {
    /// Reads `::value`, from the colons on.
    pub(super) fn parameter(&mut self) -> Result<Token<'input>> {
        let (start, written) = (self.at, self.rest());
        self.at += 2;
        let value = self.value();
        value.map(Token::Parameter).ok_or_else(|| self.no_parameter(start, written, VALUES))
    }

    /// Reads the condition after `%if`.
    pub(super) fn condition(&mut self, start: usize) -> Result<Token<'input>> {
        let written = self.rest();
        let condition = self.condition_within(MAX_DEPTH);
        condition.map(Token::If).ok_or_else(|| self.no_parameter(start, written, CONDITIONS))
    }

    fn no_parameter(&self, start: usize, written: &str, help: &str) -> SyntaxError {
        let line = written.lines().next().unwrap_or_default();
        let message = format!("`{}` cannot be read as part of a parameter", Shortened(line.trim()));
        self.error(SyntaxErrorKind::BadDialect, start..self.at, message).help(help)
    }

    fn value(&mut self) -> Option<Value> {
        self.blanks();
        if self.byte(0).is_some_and(|byte| byte.is_ascii_digit()) {
            return Some(Value::Constant(self.unsigned()?));
        }
        let name = self.take(self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        if name == "_" {
            return Some(Value::Same);
        }
        self.sign_of_parameter(b'(')?;
        let value = match name {
            "set_bit" => Value::Or(1 << self.bit()?),
            "clear_bit" => Value::And(!(1 << self.bit()?)),
            "bit_or" => Value::Or(self.unsigned()?),
            "bit_and" => Value::And(self.unsigned()?),
            "incr" => Value::Increment(self.bits()?),
            "decr" => Value::Decrement(self.bits()?),
            _ => return None,
        };
        self.sign_of_parameter(b')')?;
        Some(value)
    }

    fn condition_within(&mut self, depth: usize) -> Option<Condition> {
        let depth = depth.checked_sub(1)?;
        self.blanks();
        let name = self.take(self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        if name == "true" {
            if self.sign_of_parameter(b'(').is_some() {
                self.sign_of_parameter(b')')?;
            }
            return Some(Condition::True);
        }
        self.sign_of_parameter(b'(')?;
        let condition = match name {
            "and" => Condition::And(Box::new(self.both(depth)?)),
            "or" => Condition::Or(Box::new(self.both(depth)?)),
            "not" => Condition::Not(Box::new(self.condition_within(depth)?)),
            "is_ones" => Condition::all_set(self.bits()?),
            "is_zeros" => Condition::none_set(self.bits()?),
            "bit_set" | "bit_clear" => {
                let bit = self.bit()?;
                let bits = Bits::new(bit, bit + 1)?;
                if name == "bit_set" { Condition::all_set(bits) } else { Condition::none_set(bits) }
            }
            _ => {
                let (counted, name) = match name.strip_prefix("bit_count_") {
                    Some(name) => (true, name),
                    None => (false, name),
                };
                let (_, comparison) =
                    *Comparison::NAMES.iter().find(|(known, _)| *known == name)?;
                let bits = self.bits()?;
                self.sign_of_parameter(b',')?;
                Condition::Compare { bits, counted, comparison, with: self.unsigned()? }
            }
        };
        self.sign_of_parameter(b')')?;
        Some(condition)
    }

    fn both(&mut self, depth: usize) -> Option<(Condition, Condition)> {
        let first = self.condition_within(depth)?;
        self.sign_of_parameter(b',')?;
        Some((first, self.condition_within(depth)?))
    }

    /// Reads the number of a bit.
    fn bit(&mut self) -> Option<u64> {
        self.unsigned().filter(|&bit| bit < 64)
    }

    /// Reads `[x:y]`, or `_` for all bits.
    fn bits(&mut self) -> Option<Bits> {
        if self.sign_of_parameter(b'_').is_some() {
            return Some(Bits::WHOLE);
        }
        self.sign_of_parameter(b'[')?;
        let start = self.unsigned()?;
        self.sign_of_parameter(b':')?;
        let end = self.unsigned()?;
        self.sign_of_parameter(b']')?;
        Bits::new(start, end)
    }

    /// Reads a number, decimal or with `0x`.
    fn unsigned(&mut self) -> Option<u64> {
        self.blanks();
        let digits = self.take(self.run(|byte| byte.is_ascii_alphanumeric()));
        match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        }
    }

    fn sign_of_parameter(&mut self, sign: u8) -> Option<()> {
        self.blanks();
        let is_there = self.byte(0) == Some(sign);
        self.at += usize::from(is_there);
        is_there.then_some(())
    }

    fn blanks(&mut self) {
        self.at += self.run(|byte| matches!(byte, b' ' | b'\t'));
    }
}
