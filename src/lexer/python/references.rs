//! Back references.
//!
//! What matches the text that a group has matched is no regular language, unless the group has but
//! finitely many texts: `("|').*?\1` is `".*?"|'.*?'`. So what follows such a group is read once
//! for each of its texts, in the order in which the group tries them: that is what `re` does, too.
//!
//! A group with more texts is narrowed to a few. So that what is left is found as `re` finds it, no
//! byte follows such a text with which the group might go on: there `re` might take the group to
//! have matched more.

use std::collections::VecDeque;

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind, Repetition};

use crate::lexer::dfa::{Dfa, untidiness};
use crate::lexer::looking::{LookAround, Side};
use crate::lexer::narrowed::Narrowed;

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::TooLarge;
use crate::lexer::python::around::BYTES_A_STEP;
use crate::lexer::python::parser::{Item, Parser};

/// A group with more texts is narrowed to so many.
const MAX_TEXTS: usize = 16;

/// Texts that people write for what ends as it began: they go before others.
const USUAL: [&str; 10] =
    ["EOF", "EOT", "EOS", "END", "TEXT", "SQL", "JSON", "HTML", "body", "div"];

/// Texts of a group are looked for among so many beginnings.
const MAX_BEGINNINGS: usize = 4096;

/// A group with a greater number is not taken apart: no reference by number means it.
const MAX_NUMBER: usize = 99;

/// What follows groups is read so many times in one pattern at most.
const MAX_READINGS: usize = 256;

impl Parser<'_, '_> {
    /// Reads what follows group `number`, which is read already and matches what `group` does, up
    /// to the end of its sequence, once for each text of the group, or for a few of them. `None`
    /// where nothing refers to the group.
    pub(super) fn behind_group(
        &mut self,
        number: usize,
        (start, group): (usize, &Hir),
        depth: usize,
    ) -> Result<Option<Item>, PatternError> {
        if !self.may_refer_to(number) || self.is_before_quantifier() {
            return Ok(None);
        }
        let (texts, narrowed) = match texts(group) {
            Some(texts) => (texts, None),
            // A group that looks around is no language of its own.
            None if !self.builder.may_narrow || group.properties().explicit_captures_len() > 0 => {
                return Ok(None);
            }
            None => {
                let dfa = self.builder.automaton(group, self.builder.looks.len())?;
                let texts = some_texts(&dfa);
                let (group, place) = (
                    self.cursor.text[start..self.cursor.pos].to_owned(),
                    self.cursor.place.cloned(),
                );
                self.builder.narrowed.push(Narrowed { group, texts: texts.clone(), place });
                (texts, Some(dfa))
            }
        };
        let (pos, count) = (self.cursor.pos, self.groups.count);
        let mut ways = Vec::new();
        for text in texts {
            self.groups.readings += 1;
            if self.groups.readings > MAX_READINGS {
                let message = "the groups that back references mean have too many texts together";
                return Err(self.cursor.error(TooLarge, pos - 1..pos, message).help(
                    "write fewer alternatives in them, or take the pattern apart into several \
                     terminals",
                ));
            }
            (self.cursor.pos, self.groups.count) = (pos, count);
            self.groups.numbers.retain(|_, &mut known| known <= count);
            let mut matched = vec![Hir::literal(text.as_bytes())];
            if let Some(group) = narrowed.as_ref().filter(|_| !self.builder.is_whole) {
                matched.extend(self.not_longer(group, &text)?);
            }
            self.groups.matched.push((number, text));
            let rest = self.sequence(depth)?;
            self.groups.matched.pop();
            matched.push(rest);
            ways.push(Hir::concat(matched));
        }
        Ok(Some(Item { hir: self.builder.alternation(ways), repeated: false }))
    }

    /// A look-ahead for anything but a byte with which a text of `group` goes on behind `text`.
    fn not_longer(&mut self, group: &Dfa, text: &str) -> Result<Option<Hir>, PatternError> {
        let state = text.bytes().fold(group.start(), |state, byte| group.next(state, byte));
        let goes_on = |&byte: &u8| group.next(state, byte) != Dfa::DEAD;
        let bytes: Vec<u8> = (0..=u8::MAX).filter(goes_on).collect();
        // What stands behind the group says so already, most often: a line end, a bracket.
        let is_next = |byte: &u8| {
            self.cursor
                .text
                .as_bytes()
                .get(self.cursor.pos..)
                .is_some_and(|rest| may_begin(rest, *byte))
        };
        if !bytes.iter().any(is_next) {
            return Ok(None);
        }
        let ranges = bytes.into_iter().map(|byte| ClassBytesRange::new(byte, byte));
        let first = self.builder.looks.len();
        let dfa =
            self.builder.automaton(&Hir::class(Class::Bytes(ClassBytes::new(ranges))), first)?;
        self.builder.meter.step(self.cursor.text.len() / BYTES_A_STEP)?;
        let undecided = self.cursor.back_reference(self.cursor.pos);
        self.builder.look(LookAround { side: Side::Ahead, negated: true, dfa, undecided }).map(Some)
    }

    /// The text of a group that a reference from `start` to here means, by number or name.
    pub(super) fn reference(&mut self, start: usize, group: &str) -> Result<Hir, PatternError> {
        let number = group.parse().ok().or_else(|| self.groups.numbers.get(group).copied());
        let matched = self.groups.matched.iter().rev().find(|(known, _)| Some(*known) == number);
        let Some((_, text)) = matched else { return Err(self.cursor.back_reference(start)) };
        let chars: Result<Vec<Hir>, _> = text.clone().chars().map(|c| self.literal(c)).collect();
        Ok(Hir::concat(chars?))
    }

    /// Whether something that looks like a reference to the group stands further on.
    fn may_refer_to(&self, number: usize) -> bool {
        if number > MAX_NUMBER {
            return false;
        }
        let rest = &self.cursor.text[self.cursor.pos..];
        let name = self.groups.numbers.iter().find(|&(_, &known)| known == number);
        rest.contains(&format!("\\{number}"))
            || name.is_some_and(|(name, _)| rest.contains(&format!("(?P={name})")))
    }

    fn is_before_quantifier(&self) -> bool {
        let rest = self.cursor.text[self.cursor.pos..].trim_start();
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
        HirKind::Repetition(Repetition { min, max: Some(max), greedy, sub })
            if *max <= MAX_TEXTS as u32 =>
        {
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
    let behind =
        |one: &String| others.iter().map(|other| format!("{one}{other}")).collect::<Vec<_>>();
    (first.len() * others.len() <= MAX_TEXTS).then(|| first.iter().flat_map(behind).collect())
}

/// A few of the texts of `group`: usual ones, then the shortest, of letters rather than digits, of
/// those rather than punctuation. Longer ones first, as a greedy group tries them.
fn some_texts(group: &Dfa) -> Vec<String> {
    let mut bytes: Vec<u8> = (b' '..=b'~').collect();
    bytes.sort_by_key(|&byte| (untidiness(byte), byte));
    let mut found: Vec<String> = USUAL
        .iter()
        .filter(|text| group.matches(text.as_bytes()))
        .map(|&text| text.to_owned())
        .collect();
    let mut beginnings = VecDeque::from([(group.start(), String::new())]);
    let mut seen = 0;
    while let Some((state, text)) = beginnings.pop_front() {
        seen += 1;
        if found.len() >= MAX_TEXTS || seen > MAX_BEGINNINGS {
            break;
        }
        if group.is_accept(state) && !found.contains(&text) {
            found.push(text.clone());
        }
        let room = MAX_BEGINNINGS.saturating_sub(beginnings.len());
        let ways = bytes.iter().map(|&byte| (group.next(state, byte), byte));
        let ways = ways.filter(|&(next, _)| next != Dfa::DEAD).take(room);
        beginnings.extend(ways.map(|(next, byte)| (next, format!("{text}{}", char::from(byte)))));
    }
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found
}

/// Whether a regex that begins like this may match a text that begins with `byte`: no only where
/// that is plain.
fn may_begin(regex: &[u8], byte: u8) -> bool {
    let (plain, rest) = match regex {
        [b'\\', b'n', rest @ ..] => (b'\n', rest),
        [b'\\', sign, rest @ ..] if sign.is_ascii_punctuation() => (*sign, rest),
        [sign, rest @ ..] if !b"\\.[]()*+?{}|^$".contains(sign) => (*sign, rest),
        _ => return true,
    };
    let may_be_absent = matches!(rest, [b'*' | b'?' | b'{', ..]);
    may_be_absent || plain.eq_ignore_ascii_case(&byte)
}
