//! Conditionals: `(?(1)yes|no)`.
//!
//! Whether a group has matched is known if the group precedes the conditional in the same sequence,
//! or in one around it: the rest after a group that may be absent is read twice, once after the
//! group and once without it.

use std::ops::Range;

use regex_syntax::hir::Hir;

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::{Syntax, TooLarge};
use crate::lexer::lower::MAX_DEPTH;
use crate::lexer::python::parser::{Item, Parser};
use crate::lexer::python::references::MAX_READINGS;

impl Parser<'_, '_> {
    /// Reads the rest of the sequence after group `number`, which has been read, if a later
    /// conditional tests the group. Returns `None` if none does.
    pub(super) fn behind_condition(
        &mut self,
        number: usize,
        (start, group): (usize, &Hir),
        depth: usize,
    ) -> Result<Option<Item>, PatternError> {
        let rest = &self.cursor.text[self.cursor.pos..];
        let name = self.groups.numbers.iter().find(|&(_, &known)| known == number);
        let is_asked = rest.contains(&format!("(?({number})"))
            || name.is_some_and(|(name, _)| rest.contains(&format!("(?({name})")));
        if !is_asked || rest.starts_with(['*', '+', '{']) || rest.starts_with("?+") {
            return Ok(None);
        }
        let is_optional = self.cursor.eat("?");
        let is_lazy = is_optional && self.cursor.eat("?");
        self.builder.is_lazy |= is_lazy;
        let (pos, count) = (self.cursor.pos, self.groups.count);
        let mut ways = Vec::new();
        for has_matched in [!is_lazy, is_lazy].into_iter().take(1 + usize::from(is_optional)) {
            self.groups.readings += 1;
            if self.groups.readings > MAX_READINGS {
                let message = "too many of the groups that conditionals test are optional";
                return Err(self
                    .cursor
                    .error(TooLarge, pos - 1..pos, message)
                    .help("split the pattern into several terminals"));
            }
            self.builder.meter.step(self.cursor.text.len() - pos + 1)?;
            (self.cursor.pos, self.groups.count) = (pos, count);
            self.groups.numbers.retain(|_, &mut known| known <= count);
            self.groups.present.push((number, has_matched));
            let outer = self.builder.is_only_way;
            self.builder.is_only_way &= !is_optional;
            let way = match has_matched {
                true => self.behind_present(number, (start, group), depth),
                false => self.sequence(depth),
            };
            self.builder.is_only_way = outer;
            self.groups.present.pop();
            ways.push(way?);
        }
        Ok(Some(Item { hir: self.builder.alternation(ways), repeated: false }))
    }

    /// Reads the rest after the group and returns the group followed by it.
    fn behind_present(
        &mut self,
        number: usize,
        group: (usize, &Hir),
        depth: usize,
    ) -> Result<Hir, PatternError> {
        match self.behind_group(number, group, depth)? {
            Some(item) => Ok(item.hir),
            None => {
                let rest = self.sequence(depth)?;
                Ok(Hir::concat(vec![group.1.clone(), rest]))
            }
        }
    }

    /// Reads a conditional from its first alternative on, and returns the alternative that applies.
    pub(super) fn conditional(
        &mut self,
        start: usize,
        group: Range<usize>,
        depth: usize,
    ) -> Result<Hir, PatternError> {
        let name = &self.cursor.text[group];
        let number = name.parse().ok().or_else(|| self.groups.numbers.get(name).copied());
        let known = self.groups.present.iter().rev().find(|(known, _)| Some(*known) == number);
        let Some(&(_, has_matched)) = known else {
            let message = "it is not known here whether this group has matched";
            return Err(self.cursor.unsupported(start, message).help(
                "test a group that precedes the conditional in the same sequence, or in one that \
                 contains it, and is not repeated; or write the cases as alternatives",
            ));
        };
        if depth + 1 > MAX_DEPTH {
            let message = format!("groups are nested more than {MAX_DEPTH} levels deep");
            return Err(self.cursor.too_large(start, message));
        }
        let yes = self.branch(has_matched, depth + 1)?;
        let no = match self.cursor.eat("|") {
            true => self.branch(!has_matched, depth + 1)?,
            false => Hir::empty(),
        };
        if self.cursor.eat(")") {
            return Ok(if has_matched { yes } else { no });
        }
        let message = match self.cursor.peek() {
            Some(_) => "a conditional has more than two alternatives",
            None => "this parenthesis is not closed",
        };
        Err(self.cursor.error(Syntax, start..start + 1, message))
    }

    /// Reads an alternative, and discards its look-arounds and narrowed groups unless it applies.
    fn branch(&mut self, is_meant: bool, depth: usize) -> Result<Hir, PatternError> {
        let (looks, narrowed) = (self.builder.looks.len(), self.builder.narrowed.len());
        self.at_start = false;
        let hir = self.sequence(depth)?;
        if !is_meant {
            self.builder.looks.truncate(looks);
            self.builder.narrowed.truncate(narrowed);
        }
        Ok(hir)
    }
}
