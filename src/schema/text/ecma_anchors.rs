//! Assertions in look-aheads about the position at which they are evaluated.
//!
//! `^` and `\b` at the beginning of a look-ahead read the text before it, which the lexer's
//! look-aheads cannot do. So such a look-ahead is split by the text before it: `(?=R)` becomes
//! `^(?=A)|(?<!^)(?=B)`. In `A`, each `^` before which nothing was read holds; in `B`, none does.
//! Tests whether the last character is in a set are treated likewise.
//!
//! `$` reads the mark after the text, which appears there once. So a look-ahead that contains one
//! becomes `(?=A|BM)` with the mark `M`: in `A` no `$` holds, and `B` matches up to the end,
//! without the assertions that hold there.

use regex_syntax::hir::ClassUnicode;

use crate::schema::text::ecma_tree::{Refusal, Regex, category, set};

/// Maximum number of sets that a look-ahead may test the last character for; each doubles its size.
const MOST_SETS: usize = 3;
/// Maximum number of parts of a look-ahead that is split; each nested one may double the parts.
const MOST_PARTS: usize = 1_000;
/// Maximum number of consecutive parts that may read nothing; each is a separate alternative.
const MOST_WAYS: usize = 32;

/// Rewrites a regex so that no look-ahead tests the text before it or contains an anchor of the
/// end.
pub(super) fn taken_out(regex: Regex) -> Result<Regex, Refusal> {
    Ok(match regex {
        Regex::Concat(parts) => {
            concat(parts.into_iter().map(taken_out).collect::<Result<Vec<_>, _>>()?)
        }
        Regex::Alternation(parts) => {
            Regex::Alternation(parts.into_iter().map(taken_out).collect::<Result<_, _>>()?)
        }
        Regex::Repeat(inner, min, max) => Regex::Repeat(Box::new(taken_out(*inner)?), min, max),
        Regex::Look { ahead: true, negated, inner } => {
            let inner = taken_out(*inner)?;
            let mut asked = Asked {
                start: holds(&inner, &|part| matches!(part, Regex::Start) || is_not_start(part)),
                sets: Vec::new(),
            };
            asked.meet(&inner);
            let is_asked = asked.start || !asked.sets.is_empty();
            if (is_asked || holds_end(&inner)) && size(&inner) > MOST_PARTS {
                return Err(refusal());
            }
            match is_asked {
                true => asked.apart(negated, &inner)?,
                false => look_ahead(negated, &inner)?,
            }
        }
        other => other,
    })
}

/// Tests of a look-ahead on the text before it.
struct Asked {
    /// Whether the text is tested for being empty.
    start: bool,
    /// Sets that its last character is tested for.
    sets: Vec<ClassUnicode>,
}

impl Asked {
    /// Adds the sets that a regex tests before it has read anything. Returns whether it may read
    /// nothing.
    fn meet(&mut self, regex: &Regex) -> bool {
        if let Some((set, _)) = last_character(regex) {
            if !self.sets.contains(&set) {
                self.sets.push(set);
            }
            return true;
        }
        match regex {
            Regex::Set(_) | Regex::Mark(_) => false,
            Regex::Concat(parts) => parts.iter().all(|part| self.meet(part)),
            Regex::Alternation(parts) => parts.iter().filter(|part| self.meet(part)).count() > 0,
            Regex::Repeat(inner, min, _) => self.meet(inner) || *min == 0,
            _ => true,
        }
    }

    /// Returns an alternation of one look-ahead for each kind of text before it.
    fn apart(&self, negated: bool, inner: &Regex) -> Result<Regex, Refusal> {
        if self.sets.len() > MOST_SETS {
            return Err(Refusal(
                "a look-ahead has too many conditions on the text before it".to_owned(),
            ));
        }
        let mut ways = Vec::new();
        for known in 0..1 << self.sets.len() {
            let behind = Before { is_start: false, sets: &self.sets, known };
            let is_one = |at: usize| known >> at & 1 == 1;
            let guards = self.sets.iter().enumerate().map(|(at, set)| look_behind(set, is_one(at)));
            let guards = self.start.then(not_start).into_iter().chain(guards);
            ways.extend(way(guards, negated, Split::of(inner, &behind)?)?);
        }
        if self.start {
            let start = Before { is_start: true, sets: &self.sets, known: 0 };
            ways.extend(way([Regex::Start], negated, Split::of(inner, &start)?)?);
        }
        Ok(ways.into_iter().fold(None, |all, way| either(all, Some(way))).unwrap_or_else(nothing))
    }
}

/// Returns the look-ahead with its guards, or `None` if it cannot hold.
fn way(
    guards: impl IntoIterator<Item = Regex>,
    negated: bool,
    split: Split,
) -> Result<Option<Regex>, Refusal> {
    let inner = split.whole();
    let look = match (is_nothing(&inner), negated) {
        (true, false) => return Ok(None),
        (true, true) => empty(),
        (false, _) => look_ahead(negated, &inner)?,
    };
    Ok(Some(concat(guards.into_iter().chain([look]))))
}

/// The text before a look-ahead.
struct Before<'a> {
    /// Whether it is empty.
    is_start: bool,
    /// Sets, and a bit for each that tells whether it contains the last character.
    sets: &'a [ClassUnicode],
    known: usize,
}

impl Before<'_> {
    /// Returns the rest of a part that reads nothing, or `None` if it does not hold.
    fn rest(&self, part: &Regex) -> Option<Regex> {
        let holds = |holds: bool| holds.then(empty);
        if let Regex::Start = part {
            return holds(self.is_start);
        }
        if is_not_start(part) {
            return holds(!self.is_start);
        }
        let known = last_character(part).and_then(|(set, negated)| {
            let at = self.sets.iter().position(|known| *known == set)?;
            Some((set, (self.known >> at & 1 == 1) != negated))
        });
        match (known, part) {
            (None, _) => Some(part.clone()),
            // At a boundary, exactly one of the last and the next character is a word character.
            (Some((words, is_word)), Regex::Boundary(is_boundary)) => Some(Regex::Look {
                ahead: true,
                negated: is_word == *is_boundary,
                inner: Box::new(Regex::Set(words)),
            }),
            (Some((_, found)), _) => holds(found),
        }
    }
}

/// Returns the set that a part tests the last character for, and whether the test is negated. A
/// word boundary tests for word characters.
fn last_character(part: &Regex) -> Option<(ClassUnicode, bool)> {
    match part {
        Regex::Boundary(_) => Some((category('w')?, false)),
        Regex::Look { ahead: false, negated, inner } => Some((one_character(inner)?, *negated)),
        _ => None,
    }
}

/// Returns the characters that a regex matches, if it matches exactly one character.
fn one_character(regex: &Regex) -> Option<ClassUnicode> {
    match regex {
        Regex::Set(set) => Some(set.clone()),
        Regex::Concat(parts) => match &parts[..] {
            [only] => one_character(only),
            _ => None,
        },
        Regex::Alternation(parts) => parts.iter().try_fold(set(&[]), |mut all, part| {
            all.union(&one_character(part)?);
            Some(all)
        }),
        _ => None,
    }
}

/// Returns a look-ahead for a regex without anchors of the start.
fn look_ahead(negated: bool, inner: &Regex) -> Result<Regex, Refusal> {
    let inner = match holds_end(inner) {
        true => {
            Regex::Alternation(vec![before_end(inner), concat([up_to_end(inner)?, Regex::Mark(1)])])
        }
        false => inner.clone(),
    };
    Ok(Regex::Look { ahead: true, negated, inner: Box::new(inner) })
}

/// Restricts a regex to matches before the end, where no anchor of the end holds.
fn before_end(regex: &Regex) -> Regex {
    map(regex, &|part| matches!(part, Regex::End).then(nothing))
}

/// Restricts a regex to matches up to the end of the text, without its anchors of the end.
fn up_to_end(regex: &Regex) -> Result<Regex, Refusal> {
    if !holds_end(regex) {
        return Ok(regex.clone());
    }
    Ok(match regex {
        Regex::Concat(parts) => {
            // One alternative for each part that may read last, in reverse order. The parts after
            // it read nothing.
            let mut ways = Vec::new();
            let mut behind = Some(empty());
            for (at, part) in parts.iter().enumerate().rev() {
                let Some(rest) = behind else { break };
                if ways.len() == MOST_WAYS {
                    return Err(refusal());
                }
                let before = parts[..at].iter().map(before_end);
                let here = [up_to_end(part)?, rest.clone()];
                ways.push(concat(before.chain(here)));
                behind = empty_at_end(part).map(|part| concat([part, rest]));
            }
            Regex::Alternation(ways)
        }
        Regex::Alternation(parts) => {
            Regex::Alternation(parts.iter().map(up_to_end).collect::<Result<_, _>>()?)
        }
        Regex::Repeat(_, _, Some(0)) => empty(),
        Regex::Repeat(inner, min, max) => {
            let least = match empty_at_end(inner) {
                None => min.saturating_sub(1),
                Some(asked) if is_empty(&asked) => 0,
                Some(_) => return Err(refusal()),
            };
            let (rounds, most) = (before_end(inner), max.map(|max| max - 1));
            let rounds = Regex::Repeat(Box::new(rounds), least, most);
            let some = concat([rounds, up_to_end(inner)?]);
            if *min > 0 { some } else { Regex::Alternation(vec![empty(), some]) }
        }
        // Only an anchor of the end remains.
        _ => empty(),
    })
}

/// Returns the assertions under which a regex matches the empty text at the end of a text, or
/// `None` if it never does.
fn empty_at_end(regex: &Regex) -> Option<Regex> {
    match regex {
        Regex::Set(_) | Regex::Mark(0) => None,
        Regex::End | Regex::Mark(_) => Some(empty()),
        Regex::Look { ahead: true, negated, inner } => match (empty_at_end(inner), negated) {
            (asked, false) => asked,
            (None, true) => Some(empty()),
            (Some(asked), true) if is_empty(&asked) => None,
            (Some(asked), true) => {
                Some(Regex::Look { ahead: true, negated: true, inner: Box::new(asked) })
            }
        },
        Regex::Start | Regex::Boundary(_) | Regex::Look { .. } => Some(regex.clone()),
        Regex::Concat(parts) => {
            parts.iter().map(empty_at_end).collect::<Option<Vec<_>>>().map(concat)
        }
        Regex::Alternation(parts) => {
            let ways: Vec<Regex> = parts.iter().filter_map(empty_at_end).collect();
            match ways.iter().any(is_empty) {
                true => Some(empty()),
                false => (!ways.is_empty()).then_some(Regex::Alternation(ways)),
            }
        }
        Regex::Repeat(_, 0, _) => Some(empty()),
        Regex::Repeat(inner, ..) => empty_at_end(inner),
    }
}

/// Matches of a regex after a given text, whose tests are resolved: the empty text, with its
/// remaining assertions, and others.
struct Split {
    empty: Option<Regex>,
    others: Option<Regex>,
}

impl Split {
    fn of(regex: &Regex, before: &Before<'_>) -> Result<Self, Refusal> {
        Ok(match regex {
            Regex::Set(_) | Regex::Mark(_) => Self { empty: None, others: Some(regex.clone()) },
            Regex::Start | Regex::End | Regex::Boundary(_) | Regex::Look { .. } => {
                Self { empty: before.rest(regex), others: None }
            }
            Regex::Concat(parts) => {
                let mut all = Self { empty: Some(empty()), others: None };
                for (at, part) in parts.iter().enumerate() {
                    let own = Self::of(part, before)?;
                    let begun = all.others.map(|begun| concat([begun, elsewhere(part)]));
                    let (mut empty, mut others) = (None, begun);
                    if let Some(asked) = all.empty {
                        if at >= MOST_WAYS && others.is_some() {
                            return Err(refusal());
                        }
                        let first = own.others.map(|first| concat([asked.clone(), first]));
                        others = either(others, first);
                        empty = own.empty.map(|own| concat([asked, own]));
                    }
                    all = Self { empty, others };
                }
                all
            }
            Regex::Alternation(parts) => {
                let mut all = Self { empty: None, others: None };
                for part in parts {
                    let Self { empty, others } = Self::of(part, before)?;
                    all = Self {
                        empty: either(all.empty, empty),
                        others: either(all.others, others),
                    };
                }
                all
            }
            Regex::Repeat(inner, min, max) => {
                let Self { empty: nothing_read, others } = Self::of(inner, before)?;
                // Rounds that read nothing and assert nothing may be repeated any number of times.
                let min = match &nothing_read {
                    Some(asked) if is_empty(asked) => 0,
                    Some(_) if *min > 0 => return Err(refusal()),
                    _ => *min,
                };
                let rounds = max.map(|max| max.saturating_sub(1));
                let more = Regex::Repeat(Box::new(elsewhere(inner)), min.saturating_sub(1), rounds);
                Self {
                    empty: (min == 0).then(empty),
                    others: others.filter(|_| *max != Some(0)).map(|first| concat([first, more])),
                }
            }
        })
    }

    fn whole(self) -> Regex {
        either(self.empty, self.others).unwrap_or_else(nothing)
    }
}

/// Restricts a regex to matches after the start of the text.
fn elsewhere(regex: &Regex) -> Regex {
    map(regex, &|part| match part {
        Regex::Start => Some(nothing()),
        part => is_not_start(part).then(empty),
    })
}

/// Replaces the parts for which `replaced` returns a regex, except inside look-arounds.
fn map(regex: &Regex, replaced: &impl Fn(&Regex) -> Option<Regex>) -> Regex {
    let part = |part: &Regex| map(part, replaced);
    match (replaced(regex), regex) {
        (Some(other), _) => other,
        (None, Regex::Concat(parts)) => concat(parts.iter().map(part)),
        (None, Regex::Alternation(parts)) => Regex::Alternation(parts.iter().map(part).collect()),
        (None, Regex::Repeat(inner, min, max)) => Regex::Repeat(Box::new(part(inner)), *min, *max),
        (None, other) => other.clone(),
    }
}

/// Whether the regex contains such a part outside of its look-arounds.
fn holds(regex: &Regex, is_such: &impl Fn(&Regex) -> bool) -> bool {
    match regex {
        Regex::Concat(parts) | Regex::Alternation(parts) => {
            parts.iter().any(|part| holds(part, is_such))
        }
        Regex::Repeat(inner, ..) => holds(inner, is_such),
        part => is_such(part),
    }
}

/// Returns the number of parts of a regex, including those of its look-arounds.
fn size(regex: &Regex) -> usize {
    match regex {
        Regex::Concat(parts) | Regex::Alternation(parts) => {
            parts.iter().map(size).fold(1, usize::saturating_add)
        }
        Regex::Repeat(inner, ..) | Regex::Look { inner, .. } => size(inner).saturating_add(1),
        _ => 1,
    }
}

fn holds_end(regex: &Regex) -> bool {
    holds(regex, &|part| matches!(part, Regex::End))
}

/// Whether the regex obviously matches nothing.
fn is_nothing(regex: &Regex) -> bool {
    match regex {
        Regex::Set(set) => set.ranges().is_empty(),
        Regex::Concat(parts) => parts.iter().any(is_nothing),
        Regex::Alternation(parts) => parts.iter().all(is_nothing),
        Regex::Repeat(inner, min, _) => *min > 0 && is_nothing(inner),
        _ => false,
    }
}

fn nothing() -> Regex {
    Regex::Set(set(&[]))
}

/// Returns the regex of the empty text, without assertions.
fn empty() -> Regex {
    Regex::Concat(Vec::new())
}

fn is_empty(regex: &Regex) -> bool {
    matches!(regex, Regex::Concat(parts) if parts.is_empty())
}

fn refusal() -> Refusal {
    Refusal(
        "a look-ahead is too large, or repeats an expression that may be empty and depends on its \
         position"
            .to_owned(),
    )
}

/// Asserts that the last character is in a set, or that it is not.
fn look_behind(set: &ClassUnicode, is_one: bool) -> Regex {
    Regex::Look { ahead: false, negated: !is_one, inner: Box::new(Regex::Set(set.clone())) }
}

/// Returns `(?<!^)`.
fn not_start() -> Regex {
    Regex::Look { ahead: false, negated: true, inner: Box::new(Regex::Start) }
}

fn is_not_start(regex: &Regex) -> bool {
    let Regex::Look { ahead: false, negated: true, inner } = regex else { return false };
    matches!(**inner, Regex::Start)
}

/// Concatenates parts, and flattens those that are sequences.
fn concat(parts: impl IntoIterator<Item = Regex>) -> Regex {
    let mut all = Vec::new();
    for part in parts {
        match part {
            Regex::Concat(parts) => all.extend(parts),
            other => all.push(other),
        }
    }
    Regex::Concat(all)
}

/// Returns the alternation of both, or the only one that is given.
fn either(one: Option<Regex>, other: Option<Regex>) -> Option<Regex> {
    match (one, other) {
        (Some(Regex::Alternation(mut parts)), Some(other)) => {
            parts.push(other);
            Some(Regex::Alternation(parts))
        }
        (Some(one), Some(other)) => Some(Regex::Alternation(vec![one, other])),
        (one, other) => one.or(other),
    }
}
