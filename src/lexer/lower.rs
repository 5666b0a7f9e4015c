//! From a pattern to a Hir: one tree of literals, character classes, concatenations, alternations,
//! repetitions.
//!
//! Hir is built with its own smart constructors, which flatten and merge. A pattern without lazy
//! repetition is its language only: greediness and captures are dropped. Where some repetition is
//! lazy, what comes first matters, and alternatives and repetitions stay as they are. Look-arounds
//! are captures around nothing ([`looking`]).

use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Repetition,
};
use rustc_hash::FxHashMap;

use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::MARK;
use crate::lexer::determinize::{self, Texts};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::{PatternError, PatternErrorKind};
use crate::lexer::joined::joined;
use crate::lexer::looking::{self, LookAround};
use crate::lexer::narrowed::Narrowed;
use crate::lexer::python::{self, Tables, fold_ascii};
use crate::util::meter::{Holding, Meter};

/// A pattern as Hir.
pub(super) struct Lowered {
    pub(super) hir: Hir,
    /// Whether some repetition is lazy: then a text matches where Python's `re` finds it, not
    /// wherever the regex describes it.
    pub(super) is_lazy: bool,
    /// The look-arounds, which captures stand for.
    pub(super) looks: Vec<LookAround>,
    pub(super) narrowed: Vec<Narrowed>,
}

/// Lowers `pattern`. Where `may_narrow`, a group that a back reference means may be read as some of
/// its texts.
pub(super) fn lower(
    pattern: &Pattern,
    meter: &Meter,
    folding: &mut Folding,
    may_narrow: bool,
) -> Result<Lowered, PatternError> {
    let mut builder = Builder { may_narrow, ..Builder::new(meter, folding, false) };
    let hir = builder.pattern(pattern, 0)?;
    if !builder.is_lazy {
        return Ok(builder.lowered(hir, false));
    }
    let mut builder = Builder { may_narrow, ..Builder::new(meter, folding, true) };
    let hir = builder.pattern(pattern, 0)?;
    Ok(builder.lowered(hir, true))
}

/// Lowers `pattern` for whole texts, of which a lazy repetition says no more than a greedy one.
pub(super) fn lower_whole(
    pattern: &Pattern,
    meter: &Meter,
    folding: &mut Folding,
    may_narrow: bool,
) -> Result<Lowered, PatternError> {
    let mut builder = Builder { may_narrow, is_whole: true, ..Builder::new(meter, folding, false) };
    let hir = builder.pattern(pattern, 0)?;
    Ok(builder.lowered(hir, false))
}

/// What is known of characters, whichever pattern they stand in.
#[derive(Default)]
pub(super) struct Folding {
    pub(super) tables: Tables,
    /// What matches a character, without regard to case, or in ASCII only, and how many characters
    /// had to be folded.
    chars: FxHashMap<(char, bool), (ClassUnicode, usize)>,
}

/// How deep groups and pattern nodes may nest.
pub(super) const MAX_DEPTH: usize = 200;

/// A terminal may hold no more look-arounds: each is an automaton that is followed beside the
/// terminal's own.
const MAX_LOOKS: usize = 100;

/// A range of a class is copied, sorted and merged a few times.
const STEPS_OF_A_RANGE: usize = 5;
/// And is held about twice.
const BYTES_OF_A_RANGE: usize = 2 * size_of::<ClassUnicodeRange>();

/// Makes Hir while counting what it takes.
pub(super) struct Builder<'a> {
    pub(super) meter: &'a Meter,
    pub(super) folding: &'a mut Folding,
    /// Ranges handled in all character classes so far.
    spent: usize,
    held: Holding,
    /// Whether a lazy repetition was met.
    pub(super) is_lazy: bool,
    /// Whether the regex at hand is one of bytes.
    pub(super) bytes: bool,
    /// Whether what comes first matters.
    keeps_order: bool,
    pub(super) looks: Vec<LookAround>,
    /// The first of the look-arounds that are of the regex at hand: those before it are of the
    /// regex in whose look-around this one stands.
    pub(super) first_look: usize,
    /// Whether the language may become smaller.
    pub(super) may_narrow: bool,
    /// Whether a text is matched as a whole, so that nothing is tried first.
    pub(super) is_whole: bool,
    pub(super) narrowed: Vec<Narrowed>,
}

impl<'a> Builder<'a> {
    fn new(meter: &'a Meter, folding: &'a mut Folding, keeps_order: bool) -> Self {
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
            is_whole: false,
            narrowed: Vec::new(),
        }
    }

    fn lowered(self, hir: Hir, is_lazy: bool) -> Lowered {
        Lowered { hir, is_lazy, looks: self.looks, narrowed: self.narrowed }
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
                    let what = format!("more than {} states", self.meter.states());
                    return Err(PatternError::string_too_long(text.len(), what));
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
                    whole => whole.map(Hir::concat),
                }
            }
            Pattern::Alternation(parts) => {
                let parts = self.parts(parts, depth)?;
                Ok(self.alternation(parts))
            }
            Pattern::Repeat { min, max: Some(max), .. } if min > max => {
                Err(PatternError::counts_swapped(*min, *max))
            }
            Pattern::Repeat { pattern, min, max } => {
                let sub = self.pattern(pattern, depth + 1)?;
                Ok(self.repeat(sub, *min, *max, true))
            }
            // The compiler combines automata where there are such.
            Pattern::Intersection(_)
            | Pattern::Complement(_)
            | Pattern::Automaton(_)
            | Pattern::Counted(_)
            | Pattern::Shortest(_)
            | Pattern::Tokens(_)
            | Pattern::Schema(_) => Ok(Hir::fail()),
        }
    }

    fn parts(&mut self, parts: &[Pattern], depth: usize) -> Result<Vec<Hir>, PatternError> {
        parts.iter().map(|part| self.pattern(part, depth + 1)).collect()
    }

    /// `sub` at least `min` times, at most `max`; as often as possible first, or as seldom.
    pub(super) fn repeat(&mut self, sub: Hir, min: u32, max: Option<u32>, greedy: bool) -> Hir {
        self.is_lazy |= !greedy;
        let greedy = greedy || !self.keeps_order;
        Hir::repetition(Repetition { min, max, greedy, sub: Box::new(sub) })
    }

    /// Any of `parts`. Where their order does not matter classes are merged at once: Hir's own
    /// merging is quadratic in their number.
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

    /// A look-around: a capture that says which one. Equal ones have one number, so that what they
    /// ask in several places is one thing to follow: a grammar's `\b` mostly.
    pub(super) fn look(&mut self, look: LookAround) -> Result<Hir, PatternError> {
        let known = self.looks[self.first_look..].iter().position(|known| known.asks_as(&look));
        if let Some(known) = known {
            return Ok(place_of_look(self.first_look + known));
        }
        if self.looks.len() >= MAX_LOOKS {
            return Err(PatternError::too_large(format!(
                "it looks around in more than {MAX_LOOKS} places"
            ))
            .help("take the pattern apart into several terminals"));
        }
        self.looks.push(look);
        Ok(place_of_look(self.looks.len() - 1))
    }

    /// The automaton of what a look-around looks for, in which the look-arounds from number `first`
    /// on stand.
    pub(super) fn automaton(&mut self, hir: &Hir, first: usize) -> Result<Dfa, PatternError> {
        let inner = self.looks.split_off(first);
        if inner.is_empty() {
            let nfa =
                determinize::nondeterministic(&determinize::thompson(self.meter), hir, self.meter)?;
            return Ok(
                determinize::determinize(&nfa, Texts::All, self.meter)?.minimize(self.meter)?
            );
        }
        let compiler = determinize::thompson_with_looks(self.meter);
        let nfa = determinize::nondeterministic(&compiler, hir, self.meter)?;
        Ok(looking::determinize_nested(&nfa, &inner, first, self.meter)?.minimize(self.meter)?)
    }

    /// A character class; the empty one matches nothing.
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

    /// What matches the character `c` under the flag `i`.
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

    /// What matches a set of `class` under the flag `i`.
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

    /// Notes that `ranges` more ranges are handled. Bounds both the time and the memory of
    /// character classes, of which a short pattern can hold many large ones.
    pub(super) fn spend(&mut self, ranges: usize) -> Result<(), PatternError> {
        self.spent += ranges;
        self.meter.step(STEPS_OF_A_RANGE * ranges)?;
        Ok(self.held.set(self.spent * BYTES_OF_A_RANGE)?)
    }
}

/// Where look-around number `number` stands.
fn place_of_look(number: usize) -> Hir {
    let sub = Box::new(Hir::empty());
    Hir::capture(Capture { index: number as u32 + 1, name: None, sub })
}
