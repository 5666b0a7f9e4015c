//! Back references to groups with few texts.
//!
//! What matches the text that a group has matched is no regular language, unless the group has but
//! finitely many texts: `("|').*?\1` is `".*?"|'.*?'`. So what follows such a group is read once
//! for each of its texts, in the order in which the group tries them: that is what `re` does, too.

use std::collections::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::TooLarge;
use crate::lexer::python::parser::{Item, Parser};

/// Groups that have a number, and what they have matched.
#[derive(Debug, Default)]
pub(super) struct Groups<'a> {
    /// How many have begun.
    count: usize,
    numbers: HashMap<&'a str, usize>,
    /// Of the groups that references may mean, the texts that they are taken to have matched.
    matched: Vec<(usize, String)>,
    /// How often what follows a group has been read.
    readings: usize,
}

/// A group with more texts is not taken apart.
const MAX_TEXTS: usize = 16;

/// What follows groups is read so many times in one pattern at most.
const MAX_READINGS: usize = 256;

impl<'a> Groups<'a> {
    /// A group with a number begins, and the number.
    pub(super) fn begin(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Names the group that begins next; false where another one has that name.
    pub(super) fn name(&mut self, name: &'a str) -> bool {
        self.numbers.insert(name, self.count + 1).is_none()
    }
}

impl Parser<'_, '_> {
    /// Reads what follows group `number`, which is read already and matches what `group` does, up
    /// to the end of its sequence, once for each text of the group. `None` where nothing refers to
    /// the group, or it has too many texts.
    pub(super) fn behind_group(
        &mut self,
        number: usize,
        group: &Hir,
        depth: usize,
    ) -> Result<Option<Item>, PatternError> {
        if !self.may_refer_to(number) || self.is_before_quantifier() {
            return Ok(None);
        }
        let Some(texts) = texts(group) else { return Ok(None) };
        let (pos, count) = (self.pos, self.groups.count);
        let mut ways = Vec::new();
        for text in texts {
            self.groups.readings += 1;
            if self.groups.readings > MAX_READINGS {
                let message = "the groups that back references mean have too many texts together";
                return Err(self.error(TooLarge, pos - 1..pos, message).help(
                    "write fewer alternatives in them, or take the pattern apart into several terminals",
                ));
            }
            (self.pos, self.groups.count) = (pos, count);
            self.groups.numbers.retain(|_, &mut known| known <= count);
            let matched = Hir::literal(text.as_bytes());
            self.groups.matched.push((number, text));
            let rest = self.sequence(depth)?;
            self.groups.matched.pop();
            ways.push(Hir::concat(vec![matched, rest]));
        }
        Ok(Some(Item { hir: self.builder.alternation(ways), repeated: false }))
    }

    /// The text of a group that a reference from `start` to here means, by number or name.
    pub(super) fn reference(&mut self, start: usize, group: &str) -> Result<Hir, PatternError> {
        let number = group.parse().ok().or_else(|| self.groups.numbers.get(group).copied());
        let matched = self.groups.matched.iter().rev().find(|(known, _)| Some(*known) == number);
        let Some((_, text)) = matched else { return Err(self.back_reference(start)) };
        let chars: Result<Vec<Hir>, _> = text.clone().chars().map(|c| self.literal(c)).collect();
        Ok(Hir::concat(chars?))
    }

    /// Whether something that looks like a reference to the group stands further on.
    fn may_refer_to(&self, number: usize) -> bool {
        let rest = &self.text[self.pos..];
        let name = self.groups.numbers.iter().find(|&(_, &known)| known == number);
        rest.contains(&format!("\\{number}"))
            || name.is_some_and(|(name, _)| rest.contains(&format!("(?P={name})")))
    }

    fn is_before_quantifier(&self) -> bool {
        let rest = self.text[self.pos..].trim_start();
        rest.starts_with(['*', '+', '?', '{'])
    }
}

/// The texts of a pattern in the order in which they are tried, if they are few.
fn texts(hir: &Hir) -> Option<Vec<String>> {
    let texts = match hir.kind() {
        HirKind::Empty => vec![String::new()],
        HirKind::Literal(literal) => vec![String::from_utf8(literal.0.to_vec()).ok()?],
        HirKind::Class(Class::Unicode(class)) => {
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            chars.take(MAX_TEXTS + 1).map(String::from).collect()
        }
        HirKind::Repetition(Repetition { min, max: Some(max), greedy, sub }) if *max <= MAX_TEXTS as u32 => {
            // From the last one on: behind each, one more or none.
            let once = texts(sub)?;
            let mut rest = vec![String::new()];
            for done in (0..*max).rev() {
                let mut more = followed(&once, &rest)?;
                let end = if *greedy { more.len() } else { 0 };
                if done >= *min {
                    more.insert(end, String::new());
                }
                rest = more;
            }
            rest
        }
        HirKind::Concat(parts) => {
            let mut all = vec![String::new()];
            for part in parts {
                all = followed(&all, &texts(part)?)?;
            }
            all
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(texts(part)?);
            }
            all
        }
        _ => return None,
    };
    (texts.len() <= MAX_TEXTS).then_some(texts)
}

/// Each of the first with each of the others behind it, if these are few.
fn followed(first: &[String], others: &[String]) -> Option<Vec<String>> {
    let behind = |one: &String| others.iter().map(|other| format!("{one}{other}")).collect::<Vec<_>>();
    (first.len() * others.len() <= MAX_TEXTS).then(|| first.iter().flat_map(behind).collect())
}
