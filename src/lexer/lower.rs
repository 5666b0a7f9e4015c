//! Lowering of a pattern to a Hir: one tree of literals, character classes, concatenations,
//! alternations and repetitions.
//!
//! The Hir is built with its own smart constructors, which flatten and merge. A pattern without a
//! lazy repetition is only its language: greediness and captures are dropped. With a lazy
//! repetition the order of attempts matters, and alternatives and repetitions stay as they are.
//! Look-arounds become empty captures ([`lower_lookaround`](super::lower_lookaround)).

use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition,
};
use rustc_hash::FxHashMap;

use crate::grammar::pattern::Pattern;
use crate::grammar::regex::sets::fold_ascii;
use crate::grammar::tokens::MARK;
use crate::lexer::approximation::Narrowed;
use crate::lexer::determinize_lookaround::LookAround;
use crate::lexer::error::{PatternError, PatternErrorKind};
use crate::lexer::joined::joined;
use crate::lexer::python::{self, Tables};
use crate::util::meter::{Holding, Meter};

/// A pattern as a Hir.
pub(super) struct Lowered {
    pub(super) hir: Hir,
    /// Whether some repetition is lazy: then a text matches where Python's `re` finds it, not
    /// wherever the regex describes it.
    pub(super) is_lazy: bool,
    /// The look-arounds that the captures represent.
    pub(super) looks: Vec<LookAround>,
    pub(super) narrowed: Vec<Narrowed>,
    /// Whether [`Narrowing::Opposite`] has at least the texts of the pattern.
    pub(super) has_opposite: bool,
}

/// How a group that a back reference names is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrowing {
    /// Exactly.
    Refused,
    /// With fewer texts, if necessary.
    Allowed,
    /// With more texts where it would have fewer, for comparison.
    Opposite,
}

/// Lowers `pattern`.
pub(super) fn lower(
    pattern: &Pattern,
    meter: &Meter,
    folding: &mut Folding,
    narrowing: Narrowing,
) -> Result<Lowered, PatternError> {
    let mut builder = Builder::new(meter, folding, false).narrowing(narrowing);
    let hir = builder.pattern(pattern, 0)?;
    if !builder.is_lazy {
        return Ok(builder.lowered(hir, false));
    }
    let mut builder = Builder::new(meter, folding, true).narrowing(narrowing);
    let hir = builder.pattern(pattern, 0)?;
    Ok(builder.lowered(hir, true))
}

/// Lowers `pattern` for whole texts, for which a lazy repetition is equivalent to a greedy one.
pub(super) fn lower_whole(
    pattern: &Pattern,
    meter: &Meter,
    folding: &mut Folding,
    narrowing: Narrowing,
) -> Result<Lowered, PatternError> {
    let builder = Builder { is_whole: true, ..Builder::new(meter, folding, false) };
    let mut builder = builder.narrowing(narrowing);
    let hir = builder.pattern(pattern, 0)?;
    Ok(builder.lowered(hir, false))
}

/// Data about characters that does not depend on the pattern.
#[derive(Default)]
pub(super) struct Folding {
    pub(super) tables: Tables,
    /// By character and whether folding is limited to ASCII: the class that matches the character
    /// without regard to case, and the number of characters that were folded.
    chars: FxHashMap<(char, bool), (ClassUnicode, usize)>,
}

/// Maximum depth of nested groups and pattern nodes.
pub(super) const MAX_DEPTH: usize = 200;

/// Cost of a range of a class, which is copied, sorted and merged a few times.
const STEPS_OF_A_RANGE: usize = 5;
/// Memory of a range, which is stored about twice.
const BYTES_OF_A_RANGE: usize = 2 * size_of::<ClassUnicodeRange>();

/// Builds the Hir while counting its cost.
pub(super) struct Builder<'a> {
    pub(super) meter: &'a Meter,
    pub(super) folding: &'a mut Folding,
    /// Ranges handled in all character classes so far.
    spent: usize,
    held: Holding,
    /// Whether a lazy repetition was found.
    pub(super) is_lazy: bool,
    /// Whether the current regex matches bytes.
    pub(super) bytes: bool,
    /// Whether the order of alternatives matters.
    pub(super) keeps_order: bool,
    pub(super) looks: Vec<LookAround>,
    /// The first look-around of the current regex: earlier ones belong to the regex whose
    /// look-around contains this one.
    pub(super) first_look: usize,
    /// Whether the language may be narrowed.
    pub(super) may_narrow: bool,
    /// Whether narrowed parts are widened instead, for comparison.
    pub(super) widens: bool,
    /// Whether every narrowed part can be widened.
    pub(super) has_opposite: bool,
    /// Number of negations around the current position.
    pub(super) negations: usize,
    /// Whether every match passes the current position: it is in no alternative and no repetition.
    pub(super) is_only_way: bool,
    /// Whether texts are matched as a whole, so that the order of attempts does not matter.
    pub(super) is_whole: bool,
    pub(super) narrowed: Vec<Narrowed>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(meter: &'a Meter, folding: &'a mut Folding, keeps_order: bool) -> Self {
        Self {
            meter,
            folding,
            spent: 0,
            held: meter.holding(),
            is_lazy: false,
            bytes: false,
            keeps_order,
            looks: Vec::new(),
            first_look: 0,
            may_narrow: false,
            widens: false,
            has_opposite: true,
            negations: 0,
            is_only_way: true,
            is_whole: false,
            narrowed: Vec::new(),
        }
    }

    pub(super) fn lowered(self, hir: Hir, is_lazy: bool) -> Lowered {
        let has_opposite = self.has_opposite && !is_lazy;
        Lowered { hir, is_lazy, looks: self.looks, narrowed: self.narrowed, has_opposite }
    }

    fn narrowing(self, narrowing: Narrowing) -> Self {
        let (may_narrow, widens) =
            (narrowing != Narrowing::Refused, narrowing == Narrowing::Opposite);
        Self { may_narrow, widens, ..self }
    }
}

impl Builder<'_> {
    fn pattern(&mut self, pattern: &Pattern, depth: usize) -> Result<Hir, PatternError> {
        if depth > MAX_DEPTH {
            return Err(PatternError::too_deep(MAX_DEPTH));
        }
        match pattern {
            Pattern::Literal { text, ignore_case: false } => Ok(Hir::literal(text.as_bytes())),
            Pattern::Literal { text, ignore_case: true } => {
                if text.chars().nth(self.meter.states()).is_some() {
                    return Err(PatternError::string_too_long(text.len(), self.meter));
                }
                let chars: Result<Vec<Hir>, _> =
                    text.chars().map(|c| self.folded_char(c, false)).collect();
                Ok(Hir::concat(chars?))
            }
            Pattern::Range(first, last) if first > last => Err(PatternError::new(
                PatternErrorKind::Syntax,
                format!("the range {first:?}..{last:?} is empty"),
            )
            .help("write the smaller character first")),
            Pattern::Range(first, last) => {
                self.class(ClassUnicode::new([ClassUnicodeRange::new(*first, *last)]))
            }
            Pattern::Regex { pattern, flags, place } => {
                self.bytes = flags.bytes;
                let hir = python::parse(pattern, *flags, place.as_ref(), self);
                self.bytes = false;
                hir
            }
            Pattern::Concat(parts) => {
                let looks = self.looks.len();
                let whole = self.parts(parts, depth);
                match whole {
                    Err(error) if error.kind() == PatternErrorKind::Syntax => {
                        let Some(joined) = joined(parts) else { return Err(error) };
                        self.looks.truncate(looks);
                        self.pattern(&joined, depth + 1).map_err(|_| error)
                    }
                    whole => whole.map(|parts| self.concat(parts)),
                }
            }
            Pattern::Alternation(parts) => {
                let is_only = parts.len() == 1;
                let parts = self.beside(is_only, |all| all.parts(parts, depth))?;
                Ok(self.alternation(parts))
            }
            Pattern::Repeat { min, max: Some(max), .. } if min > max => {
                Err(PatternError::counts_swapped(*min, *max))
            }
            Pattern::Repeat { pattern, min, max } => {
                let sub = self.beside(false, |all| all.pattern(pattern, depth + 1))?;
                Ok(self.repeat(sub, *min, *max, true))
            }
            // The compiler combines automata for these.
            Pattern::Intersection(_)
            | Pattern::Complement(_)
            | Pattern::Automaton(_)
            | Pattern::Counted(_)
            | Pattern::Shortest(_)
            | Pattern::Tokens(_)
            | Pattern::Schema(_) => Ok(Hir::fail()),
        }
    }

    /// Reads a part that is the only alternative, or one of several.
    pub(super) fn beside<T>(&mut self, is_only: bool, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.is_only_way;
        self.is_only_way &= is_only;
        let read = read(self);
        self.is_only_way = outer;
        read
    }

    fn parts(&mut self, parts: &[Pattern], depth: usize) -> Result<Vec<Hir>, PatternError> {
        parts.iter().map(|part| self.pattern(part, depth + 1)).collect()
    }

    /// Returns `sub` repeated `min` to `max` times: as often as possible first if `greedy`, else as
    /// seldom.
    pub(super) fn repeat(&mut self, sub: Hir, min: u32, max: Option<u32>, greedy: bool) -> Hir {
        self.is_lazy |= !greedy;
        let greedy = greedy || !self.keeps_order;
        if let HirKind::Repetition(inner) = sub.kind()
            && !self.keeps_order
            && let Some((min, max)) = repeated_counts((inner.min, inner.max), (min, max))
        {
            let sub = inner.sub.clone();
            return Hir::repetition(Repetition { min, max, greedy, sub });
        }
        Hir::repetition(Repetition { min, max, greedy, sub: Box::new(sub) })
    }

    /// Returns the concatenation of `parts`. Where order does not matter, adjacent repetitions of
    /// the same pattern are merged into one: otherwise each of a thousand options in a row is
    /// skipped from every position before it.
    pub(super) fn concat(&self, parts: Vec<Hir>) -> Hir {
        if self.keeps_order {
            return Hir::concat(parts);
        }
        let mut merged: Vec<Hir> = Vec::with_capacity(parts.len());
        for part in parts {
            let both = merged.last().and_then(|last| repeated_twice(last, &part));
            match both {
                Some(both) => {
                    merged.pop();
                    merged.push(both);
                }
                None => merged.push(part),
            }
        }
        Hir::concat(merged)
    }

    /// Returns the alternation of `parts`. Where order does not matter, classes are merged at once:
    /// Hir's own merging is quadratic in their number.
    pub(super) fn alternation(&self, parts: Vec<Hir>) -> Hir {
        if self.keeps_order {
            return Hir::alternation(parts);
        }
        let mut ranges: Vec<ClassUnicodeRange> = Vec::new();
        let mut others: Vec<Hir> = Vec::new();
        for part in parts {
            match part.kind() {
                HirKind::Class(Class::Unicode(class)) => ranges.extend_from_slice(class.ranges()),
                _ => others.push(part),
            }
        }
        if !ranges.is_empty() {
            others.push(Hir::class(Class::Unicode(ClassUnicode::new(ranges))));
        }
        Hir::alternation(others)
    }

    /// Returns a character class; the empty one matches nothing.
    pub(super) fn class(&mut self, class: ClassUnicode) -> Result<Hir, PatternError> {
        self.spend(class.ranges().len())?;
        if self.bytes {
            let byte = |c: char| u8::try_from(c).unwrap_or(u8::MAX).min(MARK - 1);
            let within = class.ranges().iter().filter(|range| range.start() < char::from(MARK));
            let ranges =
                within.map(|range| ClassBytesRange::new(byte(range.start()), byte(range.end())));
            return Ok(Hir::class(Class::Bytes(ClassBytes::new(ranges))));
        }
        Ok(Hir::class(Class::Unicode(class)))
    }

    /// Returns the pattern that matches the character `c` under the flag `i`.
    pub(super) fn folded_char(&mut self, c: char, ascii: bool) -> Result<Hir, PatternError> {
        let Folding { tables, chars } = &mut *self.folding;
        let (class, characters) = chars.entry((c, ascii)).or_insert_with(|| {
            let class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            if ascii { (fold_ascii(class), 0) } else { tables.fold(class) }
        });
        let (class, characters) = (class.clone(), *characters);
        self.spend(characters)?;
        self.class(class)
    }

    /// Returns the class that matches `class` under the flag `i`.
    pub(super) fn folded(
        &mut self,
        class: ClassUnicode,
        ascii: bool,
    ) -> Result<ClassUnicode, PatternError> {
        if ascii {
            return Ok(fold_ascii(class));
        }
        let (folded, characters) = self.folding.tables.fold(class);
        self.spend(characters)?;
        Ok(folded)
    }

    /// Records that `ranges` more ranges are handled. Bounds both the time and the memory of
    /// character classes: a short pattern can contain many large ones.
    pub(super) fn spend(&mut self, ranges: usize) -> Result<(), PatternError> {
        self.spent += ranges;
        self.meter.step(STEPS_OF_A_RANGE * ranges)?;
        Ok(self.held.set(self.spent * BYTES_OF_A_RANGE)?)
    }
}

/// Returns the counts of `x` in `(x{a,b}){c,d}`, if they form an interval: there is no gap between
/// `k` and `k + 1` rounds, the critical case being `k = c`.
fn repeated_counts(
    (a, b): (u32, Option<u32>),
    (c, d): (u32, Option<u32>),
) -> Option<(u32, Option<u32>)> {
    let has_no_gap = d == Some(c)
        || b.is_none_or(|b| u64::from(c) * u64::from(b) + 1 >= (u64::from(c) + 1) * u64::from(a));
    // No rounds give only the empty text, however many repetitions a round may have.
    let has_no_gap = has_no_gap && (c > 0 || a <= 1);
    let max = match (b, d) {
        (_, Some(0)) | (Some(0), _) => Some(0),
        (Some(b), Some(d)) => Some(b.checked_mul(d)?),
        _ => None,
    };
    has_no_gap.then_some((a.checked_mul(c)?, max))
}

/// Returns the two as one repetition, if they repeat the same pattern.
fn repeated_twice(one: &Hir, other: &Hir) -> Option<Hir> {
    fn counts(hir: &Hir) -> (&Hir, u32, Option<u32>) {
        match hir.kind() {
            HirKind::Repetition(repetition) => (&repetition.sub, repetition.min, repetition.max),
            _ => (hir, 1, Some(1)),
        }
    }
    let is_repetition = |hir: &Hir| matches!(hir.kind(), HirKind::Repetition(_));
    if !is_repetition(one) && !is_repetition(other) {
        return None;
    }
    let ((sub, a, b), (same, c, d)) = (counts(one), counts(other));
    let max = match (b, d) {
        (Some(b), Some(d)) => Some(b.checked_add(d)?),
        _ => None,
    };
    let min = a.checked_add(c)?;
    (sub == same)
        .then(|| Hir::repetition(Repetition { min, max, greedy: true, sub: Box::new(sub.clone()) }))
}
