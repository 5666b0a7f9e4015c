//! Back references.
//!
//! The language of a back reference is not regular unless its group has only finitely many texts:
//! `("|').*?\1` is `".*?"|'.*?'`. The rest of the sequence after such a group is therefore read
//! once for each of its texts, in the order in which the group tries them, as `re` does.
//!
//! A group with more texts is narrowed to a few. So that every remaining match is one that `re`
//! finds, such a text is not followed by a byte with which the group could continue: there `re`
//! might match a longer text with the group.
//!
//! Narrowing makes the language smaller only below an even number of negations. Below an odd
//! number, the texts left out of the negated part would be accepted by the whole. There only a
//! group of one character is read: as each of some characters, and as any of the others, which its
//! references do not distinguish. So the negated part has more texts than it states, and the whole
//! has fewer. The opposite readings of all groups have at least the texts of the pattern; if both
//! readings make the same automaton, nothing was narrowed
//! ([`Builder::widens`](crate::lexer::lower::Builder::widens)).
//!
//! With a lazy repetition, a failed attempt makes the next alternative the match. A group is
//! therefore narrowed there only if every match passes through it.

use std::collections::VecDeque;

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition,
};

use crate::lexer::approximation::Narrowed;
use crate::lexer::determinize_lookaround::Side;
use crate::lexer::dfa::{Dfa, untidiness};

use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::TooLarge;
use crate::lexer::python::groups::Matched;
use crate::lexer::python::parser::{Item, Parser};

/// Number of texts of a group above which it is narrowed.
const MAX_TEXTS: usize = 128;

/// The same limit below a negation, where little can be narrowed.
const MAX_TEXTS_NEGATED: usize = 1024;

/// Number of texts that a group is narrowed to.
const MAX_NARROWED: usize = 16;

/// Common choices for an end marker that repeats the start marker; tried before other texts.
const USUAL: [&str; 10] =
    ["EOF", "EOT", "EOS", "END", "TEXT", "SQL", "JSON", "HTML", "body", "div"];

/// Number of prefixes that are searched for texts of a group.
const MAX_BEGINNINGS: usize = 4096;

/// Greatest number of a group that is expanded: no reference by number can name a later one.
const MAX_NUMBER: usize = 99;

/// Upper bound on how often the rest after a group is read in one pattern.
pub(super) const MAX_READINGS: usize = 2048;

impl Parser<'_, '_> {
    /// Reads the rest of the sequence after group `number` once for each text of the group, or for
    /// a few of them. The group has been read already and matches `group`. Returns `None` if
    /// nothing refers to the group.
    pub(super) fn behind_group(
        &mut self,
        number: usize,
        (start, group): (usize, &Hir),
        depth: usize,
    ) -> Result<Option<Item>, PatternError> {
        if !self.may_refer_to(number) || self.is_before_quantifier() {
            return Ok(None);
        }
        let Some(Ways { texts, others, longer }) = self.ways(start, group)? else {
            return Ok(None);
        };
        let (pos, count) = (self.cursor.pos, self.groups.count);
        let negations = self.builder.negations;
        let texts =
            texts.into_iter().map(|text| (Hir::literal(text.as_bytes()), Matched::Text(text)));
        let others = others.map(|class| {
            let any = Hir::class(Class::Unicode(class.clone()));
            (any, Matched::OneOf(class, negations))
        });
        let mut ways = Vec::new();
        for (own, matched) in texts.chain(others) {
            if let (Some(group), Matched::Text(text)) = (&longer, &matched)
                && !self.builder.is_whole
                && self.goes_on_with_what_follows(group, text)
            {
                continue;
            }
            self.groups.readings += 1;
            if self.groups.readings > MAX_READINGS {
                let message = "the groups to which back references refer have too many texts in \
                               total";
                return Err(self.cursor.error(TooLarge, pos - 1..pos, message).help(
                    "write fewer alternatives in them, or split the pattern into several terminals",
                ));
            }
            self.builder.meter.step(self.cursor.text.len() - pos + 1)?;
            (self.cursor.pos, self.groups.count) = (pos, count);
            self.groups.numbers.retain(|_, &mut known| known <= count);
            let mut parts = vec![own];
            if let (Some(group), Matched::Text(text)) = (&longer, &matched)
                && !self.builder.is_whole
            {
                parts.extend(self.not_longer(group, text)?);
            }
            self.groups.matched.push((number, matched));
            let rest = self.sequence(depth);
            self.groups.matched.pop();
            parts.push(rest?);
            ways.push(Hir::concat(parts));
        }
        if ways.is_empty() {
            let group = &self.cursor.text[start..pos];
            return Err(self.cursor.back_reference(start).help(format!(
                "exclude the character after the group `{group}` from it, as in \
                 `([^:]*):\\1`: then a few of its texts are read",
            )));
        }
        Ok(Some(Item { hir: self.builder.alternation(ways), repeated: false }))
    }

    /// Returns whether every text that follows the group begins with a byte with which `group`
    /// continues after `text`; `true` only in obvious cases.
    fn goes_on_with_what_follows(&self, group: &Dfa, text: &str) -> bool {
        let rest = self.cursor.text.as_bytes().get(self.cursor.pos..).unwrap_or_default();
        let state = text.bytes().fold(group.start(), |state, byte| group.next(state, byte));
        !self.flags.ignore_case
            && !self.flags.verbose
            && plain_begin(rest).is_some_and(|byte| group.next(state, byte) != Dfa::DEAD)
    }

    /// Returns the texts with which the group from `start` to here is read: all of them if they are
    /// few, else some of them or fewer. Returns `None` if the group cannot be expanded.
    fn ways(&mut self, start: usize, group: &Hir) -> Result<Option<Ways>, PatternError> {
        let is_negated = self.builder.negations % 2 == 1;
        let most = if is_negated { MAX_TEXTS_NEGATED } else { MAX_TEXTS };
        if let Some(texts) = texts(group, most) {
            return Ok(Some(Ways { texts, others: None, longer: None }));
        }
        // A group with look-arounds is no language of its own.
        let looks = group.properties().explicit_captures_len() > 0;
        let is_found = !self.builder.keeps_order || self.builder.is_only_way;
        if looks || !self.builder.may_narrow || !is_found {
            return Ok(None);
        }
        let ways = match group.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                let most = if self.groups.matched.is_empty() { usize::MAX } else { MAX_NARROWED };
                let texts = ascii(class, most);
                let known = texts.iter().flat_map(|text| text.chars());
                let mut others = class.clone();
                let known = known.map(|known| ClassUnicodeRange::new(known, known));
                others.difference(&ClassUnicode::new(known));
                self.builder.spend(others.ranges().len())?;
                let others = (is_negated != self.builder.widens).then_some(others);
                Ways { texts, others, longer: None }
            }
            _ if is_negated => return Ok(None),
            _ => {
                self.builder.has_opposite = false;
                let dfa = self.builder.automaton(group, self.builder.looks.len(), Side::Ahead)?;
                Ways { texts: some_texts(&dfa), others: None, longer: Some(dfa) }
            }
        };
        let narrowed = Narrowed {
            group: self.cursor.text[start..self.cursor.pos].to_owned(),
            texts: ways.texts.clone(),
            is_negated,
            place: self.cursor.place.cloned(),
        };
        // The group may follow another one that is read several times.
        if !self.builder.narrowed.contains(&narrowed) {
            self.builder.narrowed.push(narrowed);
        }
        Ok(Some(ways))
    }

    /// Returns a look-ahead for anything but a byte with which a text of `group` continues after
    /// `text`.
    fn not_longer(&mut self, group: &Dfa, text: &str) -> Result<Option<Hir>, PatternError> {
        let state = text.bytes().fold(group.start(), |state, byte| group.next(state, byte));
        let goes_on = |&byte: &u8| group.next(state, byte) != Dfa::DEAD;
        let bytes: Vec<u8> = (0..=u8::MAX).filter(goes_on).collect();
        // Most often the pattern after the group excludes these bytes itself: a line end, a
        // bracket.
        let rest = self.cursor.text.as_bytes().get(self.cursor.pos..).unwrap_or_default();
        let plain = plain_begin(rest).filter(|_| !self.flags.verbose);
        let is_next = |byte: &u8| plain.is_none_or(|plain| plain.eq_ignore_ascii_case(byte));
        if !bytes.iter().any(is_next) {
            return Ok(None);
        }
        let ranges = bytes.into_iter().map(|byte| ClassBytesRange::new(byte, byte));
        let more = Hir::class(Class::Bytes(ClassBytes::new(ranges)));
        self.builder.look_ahead(&more, self.builder.looks.len(), true).map(Some)
    }

    /// Returns the text of the group to which the reference from `start` to here refers, by number
    /// or name.
    pub(super) fn reference(&mut self, start: usize, group: &str) -> Result<Hir, PatternError> {
        let number = group.parse().ok().or_else(|| self.groups.numbers.get(group).copied());
        let matched = self.groups.matched.iter().rev().find(|(known, _)| Some(*known) == number);
        let is_absent = || {
            let known = self.groups.present.iter().rev().find(|(known, _)| Some(*known) == number);
            known.is_some_and(|&(_, has_matched)| !has_matched)
        };
        let Some((_, matched)) = matched else {
            // A group that has not matched has no text to repeat.
            return if is_absent() {
                Ok(Hir::fail())
            } else {
                Err(self.cursor.back_reference(start))
            };
        };
        match matched.clone() {
            Matched::Text(text) => {
                let chars: Result<Vec<Hir>, _> = text.chars().map(|c| self.literal(c)).collect();
                Ok(Hir::concat(chars?))
            }
            // The character is one of these, whichever it was. An odd difference in negations
            // between the group and the reference turns "more texts" into "fewer".
            Matched::OneOf(class, negations)
                if (self.builder.negations - negations).is_multiple_of(2) =>
            {
                match self.flags.ignore_case {
                    true => {
                        let class = self.builder.folded(class, self.flags.ascii)?;
                        self.builder.class(class)
                    }
                    false => self.builder.class(class),
                }
            }
            Matched::OneOf(..) => Ok(Hir::fail()),
        }
    }

    /// Returns whether something that looks like a reference to the group appears further on.
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

/// The readings of a group that a reference names.
struct Ways {
    texts: Vec<String>,
    /// Characters that are read together as one alternative.
    others: Option<ClassUnicode>,
    /// All texts of the group, where it may have matched more than the current text.
    longer: Option<Dfa>,
}

/// Returns at most `most` ASCII characters of a class, printable ones and common whitespace.
fn ascii(class: &ClassUnicode, most: usize) -> Vec<String> {
    let is_member =
        |c: &char| class.ranges().iter().any(|range| range.start() <= *c && *c <= range.end());
    let texts = (b' '..=b'~').chain(*b"\t\n\r");
    let mut chars: Vec<char> = texts.map(char::from).filter(is_member).collect();
    chars.sort_by_key(|&c| (untidiness(c as u8), c));
    chars.into_iter().take(most).map(String::from).collect()
}

/// Returns the texts of a pattern in the order in which they are tried, if there are at most
/// `most`.
fn texts(hir: &Hir, most: usize) -> Option<Vec<String>> {
    let texts = match hir.kind() {
        HirKind::Empty => vec![String::new()],
        HirKind::Literal(literal) => vec![String::from_utf8(literal.0.to_vec()).ok()?],
        HirKind::Class(Class::Unicode(class)) => {
            let chars = class.iter().flat_map(|range| range.start()..=range.end());
            chars.take(most + 1).map(String::from).collect()
        }
        HirKind::Repetition(Repetition { min, max: Some(max), greedy, sub })
            if *max as usize <= most =>
        {
            // From the last round to the first: after each round, one more or none.
            let once = texts(sub, most)?;
            let mut rest = vec![String::new()];
            for done in (0..*max).rev() {
                let mut more = followed(&once, &rest, most)?;
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
                all = followed(&all, &texts(part, most)?, most)?;
            }
            all
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(texts(part, most)?);
            }
            all
        }
        _ => return None,
    };
    (texts.len() <= most).then_some(texts)
}

/// Returns each of the first texts followed by each of the others, if these are few.
fn followed(first: &[String], others: &[String], most: usize) -> Option<Vec<String>> {
    let behind =
        |one: &String| others.iter().map(|other| format!("{one}{other}")).collect::<Vec<_>>();
    (first.len() * others.len() <= most).then(|| first.iter().flat_map(behind).collect())
}

/// Returns a few of the texts of `group`: the usual ones, then the shortest, letters before digits
/// before punctuation. Longer ones come first, as a greedy group tries them.
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
        if found.len() >= MAX_NARROWED || seen > MAX_BEGINNINGS {
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

/// Returns the byte that all texts of a regex begin with, in either case, if the regex begins with
/// it plainly.
fn plain_begin(regex: &[u8]) -> Option<u8> {
    let (plain, rest) = match regex {
        [b'\\', b'n', rest @ ..] => (b'\n', rest),
        [b'\\', sign, rest @ ..] if sign.is_ascii_punctuation() => (*sign, rest),
        [sign, rest @ ..] if !b"\\.[]()*+?{}|^$".contains(sign) => (*sign, rest),
        _ => return None,
    };
    Some(plain).filter(|_| !matches!(rest, [b'*' | b'?' | b'{', ..]))
}
