//! Formulas: conditions on a value, as boolean combinations of atoms. Equal formulas have equal
//! ids.
//!
//! The constructors fold constants, flatten, sort, and remove parts that another part obviously
//! implies (`a and (a or b)` is `a`, `a and (not a or b)` is `a and b`). The result is not a normal
//! form and need not be: equivalent formulas with different ids only cost states.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::util::append::Interner;

/// A formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FormulaId(u32);

impl FormulaId {
    /// Holds of every value.
    pub(super) const TRUE: Self = Self(0);
    /// Holds of no value.
    pub(super) const FALSE: Self = Self(1);

    pub(super) fn is_constant(self) -> bool {
        self.0 < 2
    }
}

/// The six types of values, which the first byte of a value distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    pub(super) const ALL: [Self; 6] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Comparison {
    AtLeast,
    Above,
    AtMost,
    Below,
}

impl Comparison {
    /// Whether the comparison holds of a number that compares to the bound as `order`.
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::AtLeast => order.is_ge(),
            Self::Above => order.is_gt(),
            Self::AtMost => order.is_le(),
            Self::Below => order.is_lt(),
        }
    }
}

/// Rule that assigns a small number to every value. Values with different numbers differ; values
/// with the same number may or may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fingerprint {
    /// Number of fingerprints, at most 16.
    pub(super) modulus: u8,
    /// Key of the member that represents an object, if one does.
    pub(super) key: Option<u32>,
}

/// Condition on one level of a value. The numbers refer to the tables in
/// [`Atoms`](super::atoms::Atoms).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The value satisfies the schema of this number.
    Schema(u32),
    /// The next member or item satisfies a formula. Appears only in formulas made by a step.
    Child(FormulaId),
    /// The residual depends on the fingerprint of the next item, by the list of this number.
    /// Appears only in formulas made by a step.
    ByFingerprint(Fingerprint, u32),
    /// The value is distinguished from those known to satisfy the formula, but may satisfy it too.
    /// Used only where satisfying it makes no condition stricter.
    Otherwise(FormulaId),
    /// The fingerprint of the value is in this set, one bit for each.
    Fingerprint(Fingerprint, u16),
    Type(Type),
    Boolean(bool),
    /// A number without a fractional part; `takes_point`: including `1.0`.
    Integer {
        takes_point: bool,
    },
    /// One of these numbers.
    Numbers(u32),
    Compare(Comparison, u32),
    MultipleOf(u32),
    /// One of these strings.
    Strings(u32),
    Pattern(u32),
    Format(u32),
    MinLength(u64),
    MaxLength(u64),
    Items(u32),
    MinItems(u64),
    MaxItems(u64),
    /// At least `min` and at most `max` items satisfy the formula.
    Contains {
        schema: FormulaId,
        min: u64,
        max: Option<u64>,
    },
    /// No two items are equal: the `uniqueItems` of this number. Does not appear in formulas
    /// projected to a type.
    Distinct(u32),
    /// Same as `Distinct`, in an array whose items are followed.
    Followed(u32),
    /// The value is an item of an array whose items are followed.
    Apart,
    /// Each item is one of the values of this number, each used at most once.
    Unique(u32),
    /// The items have different fingerprints, none of them in the set `seen`; there are at most
    /// `left` items.
    Fresh {
        rule: Fingerprint,
        seen: u16,
        left: u8,
    },
    Properties(u32),
    Required(u32),
    /// Denied `Properties` where keys may be repeated: `witness` is the class of the key of the
    /// last member that violates them, if one did. A later member of this class may replace it.
    Denied {
        properties: u32,
        witness: Option<u32>,
    },
    MinProperties(u64),
    /// `MinProperties` where keys may be repeated: an unnamed key counts only if its fingerprint is
    /// not in `seen`.
    MinKeys {
        count: u64,
        seen: u16,
    },
    MaxProperties(u64),
    PropertyNames(FormulaId),
}

/// Shape of a formula. Parts are given by their number in the lists of [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    True,
    False,
    Atom(Atom),
    Not(FormulaId),
    And(u32),
    Or(u32),
    /// Exactly one of the parts holds.
    One(u32),
}

/// Whether a formula contains atoms of certain kinds, which need more than the projection to a
/// type.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// [`Atom::Schema`].
    pub(super) schema: bool,
    /// [`Atom::Otherwise`].
    pub(super) otherwise: bool,
    /// [`Atom::Distinct`].
    pub(super) distinct: bool,
    /// [`Atom::Followed`].
    pub(super) followed: bool,
    /// [`Atom::Apart`].
    pub(super) apart: bool,
}

/// Parts being combined, usually few.
type Parts = SmallVec<[FormulaId; 8]>;

/// All formulas made so far.
#[derive(Debug)]
pub(super) struct Formulas {
    shapes: Interner<Shape>,
    /// For each formula, which of these atoms it contains.
    held: Vec<Held>,
    parts: Interner<Box<[FormulaId]>>,
    /// Number of formulas and parts visited.
    pub(super) work: usize,
}

use FormulaId as F;

impl Formulas {
    /// States that the next member satisfies `formula`.
    pub(super) fn child(&mut self, formula: FormulaId) -> FormulaId {
        if formula.is_constant() { formula } else { self.atom(Atom::Child(formula)) }
    }

    pub(super) fn new() -> Self {
        let mut formulas = Self {
            shapes: Interner::default(),
            held: Vec::new(),
            parts: Interner::default(),
            work: 0,
        };
        formulas.intern(Shape::True);
        formulas.intern(Shape::False);
        formulas
    }

    fn intern(&mut self, shape: Shape) -> F {
        let id = self.shapes.intern(shape);
        if id as usize == self.held.len() {
            self.held.push(self.held_by(shape));
        }
        F(id)
    }

    fn held_by(&self, shape: Shape) -> Held {
        match shape {
            Shape::True | Shape::False => Held::default(),
            Shape::Atom(atom) => Held {
                schema: matches!(atom, Atom::Schema(_)),
                otherwise: matches!(atom, Atom::Otherwise(_)),
                distinct: matches!(atom, Atom::Distinct(_)),
                followed: matches!(atom, Atom::Followed(_)),
                apart: atom == Atom::Apart,
            },
            Shape::Not(inner) => self.held(inner),
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                let parts = self.parts(list).iter().map(|&part| self.held(part));
                parts.fold(Held::default(), |all, part| Held {
                    schema: all.schema || part.schema,
                    otherwise: all.otherwise || part.otherwise,
                    distinct: all.distinct || part.distinct,
                    followed: all.followed || part.followed,
                    apart: all.apart || part.apart,
                })
            }
        }
    }

    /// Returns which of these atoms the formula contains.
    pub(super) fn held(&self, formula: F) -> Held {
        self.held[formula.0 as usize]
    }

    /// Whether the formula explicitly asks for a type other than `of`.
    pub(super) fn is_of_another_type(&self, formula: F, of: Type) -> bool {
        let is_another =
            |&part: &F| matches!(self.shape(part), Shape::Atom(Atom::Type(own)) if own != of);
        match self.shape(formula) {
            Shape::And(list) => self.parts(list).iter().any(is_another),
            _ => is_another(&formula),
        }
    }

    fn list(&mut self, parts: &[F]) -> u32 {
        self.parts.intern_ref(parts)
    }

    pub(super) fn shape(&self, formula: F) -> Shape {
        *self.shapes.get(formula.0)
    }

    /// Returns the parts of a conjunction, a disjunction or a [`Shape::One`].
    pub(super) fn parts(&self, list: u32) -> &[F] {
        self.parts.get(list)
    }

    pub(super) fn atom(&mut self, atom: Atom) -> F {
        self.intern(Shape::Atom(atom))
    }

    /// States that the fingerprint of a value is in `set`.
    pub(super) fn fingerprint(&mut self, rule: Fingerprint, set: u16) -> F {
        match set {
            0 => F::FALSE,
            _ if set.count_ones() == u32::from(rule.modulus) => F::TRUE,
            _ => self.atom(Atom::Fingerprint(rule, set)),
        }
    }

    pub(super) fn constant(value: bool) -> F {
        if value { F::TRUE } else { F::FALSE }
    }

    pub(super) fn not(&mut self, formula: F) -> F {
        match self.shape(formula) {
            Shape::True => F::FALSE,
            Shape::False => F::TRUE,
            Shape::Not(inner) => inner,
            Shape::Atom(Atom::Fingerprint(rule, set)) => {
                let all = ((1u32 << rule.modulus) - 1) as u16;
                self.fingerprint(rule, all & !set)
            }
            _ => self.intern(Shape::Not(formula)),
        }
    }

    pub(super) fn and(&mut self, parts: impl IntoIterator<Item = F>) -> F {
        self.junction(true, parts)
    }

    pub(super) fn or(&mut self, parts: impl IntoIterator<Item = F>) -> F {
        self.junction(false, parts)
    }

    /// Returns the conjunction or disjunction of `parts`.
    fn junction(&mut self, is_and: bool, parts: impl IntoIterator<Item = F>) -> F {
        let (neutral, other) = if is_and { (F::TRUE, F::FALSE) } else { (F::FALSE, F::TRUE) };
        let Some(mut all) = self.flat(is_and, parts) else { return other };
        loop {
            all.sort_unstable();
            all.dedup();
            let Some(changes) = self.changes(is_and, &all) else { return other };
            if changes.is_empty() {
                break;
            }
            for (at, part) in changes {
                all[at] = part;
            }
            let Some(flat) = self.flat(is_and, all) else { return other };
            all = flat;
        }
        match all[..] {
            [] => neutral,
            [only] => only,
            _ => {
                let list = self.list(&all);
                self.intern(if is_and { Shape::And(list) } else { Shape::Or(list) })
            }
        }
    }

    /// Flattens nested junctions of the same kind and drops constants; `None` if one part decides
    /// the whole.
    fn flat(&mut self, is_and: bool, parts: impl IntoIterator<Item = F>) -> Option<Parts> {
        let (neutral, other) = if is_and { (F::TRUE, F::FALSE) } else { (F::FALSE, F::TRUE) };
        let mut all = Parts::new();
        for part in parts {
            self.work += 1;
            match self.shape(part) {
                _ if part == other => return None,
                _ if part == neutral => {}
                Shape::And(list) if is_and => all.extend_from_slice(self.parts(list)),
                Shape::Or(list) if !is_and => all.extend_from_slice(self.parts(list)),
                _ => all.push(part),
            }
        }
        self.work += all.len();
        Some(all)
    }

    /// Returns simplifications of parts, which ascend, given the others; `None` if two parts
    /// contradict each other, which decides the whole.
    fn changes(&mut self, is_and: bool, all: &[F]) -> Option<Vec<(usize, F)>> {
        let mut negated: Vec<F> = Vec::new();
        let mut inner: Vec<(usize, u32)> = Vec::new();
        let mut fingerprints: Vec<(usize, Fingerprint, u16)> = Vec::new();
        for (at, &part) in all.iter().enumerate() {
            match self.shape(part) {
                Shape::Not(of) if all.binary_search(&of).is_ok() => return None,
                Shape::Not(of) => negated.push(of),
                Shape::Atom(Atom::Fingerprint(rule, own)) => fingerprints.push((at, rule, own)),
                Shape::Or(list) if is_and => inner.push((at, list)),
                Shape::And(list) if !is_and => inner.push((at, list)),
                _ => {}
            }
        }
        let mut changes = self.united(is_and, &fingerprints);
        for (at, list) in inner {
            changes.extend(self.absorbed(is_and, all, &negated, list).map(|part| (at, part)));
        }
        Some(changes)
    }

    /// Returns an inner junction without parts that are redundant; `None` if none is.
    fn absorbed(&mut self, is_and: bool, all: &[F], negated: &[F], list: u32) -> Option<F> {
        let parts = self.parts(list).to_vec();
        self.work += parts.len();
        if parts.iter().any(|part| all.binary_search(part).is_ok()) {
            return Some(Self::constant(is_and));
        }
        let contradicts = |part: F| match self.shape(part) {
            Shape::Not(of) => all.binary_search(&of).is_ok(),
            _ => negated.contains(&part),
        };
        let kept: Vec<F> = parts.iter().copied().filter(|&part| !contradicts(part)).collect();
        (kept.len() < parts.len()).then(|| self.junction(!is_and, kept))
    }

    /// Combines the sets of fingerprints of each rule, at the last position of the rule.
    fn united(&mut self, is_and: bool, all: &[(usize, Fingerprint, u16)]) -> Vec<(usize, F)> {
        let mut changes = Vec::new();
        for (number, &(at, rule, own)) in all.iter().enumerate() {
            let before = all[..number].iter().filter(|&&(_, other, _)| other == rule);
            if all[number + 1..].iter().any(|&(_, other, _)| other == rule) {
                changes.push((at, Self::constant(is_and)));
            } else if before.clone().next().is_some() {
                let set =
                    before.fold(own, |set, &(.., one)| if is_and { set & one } else { set | one });
                changes.push((at, self.fingerprint(rule, set)));
            }
        }
        changes
    }

    /// Splits the formula into a disjunction of formulas with one fingerprint each; just the
    /// formula itself if it asks for no set of them. All sets then share a few automata.
    pub(super) fn by_fingerprint(&mut self, formula: F) -> Vec<F> {
        let parts = match self.shape(formula) {
            Shape::And(list) => self.parts(list),
            _ => std::slice::from_ref(&formula),
        };
        let found = parts.iter().find_map(|&part| match self.shape(part) {
            Shape::Atom(Atom::Fingerprint(rule, set)) => Some((rule, set)),
            _ => None,
        });
        let Some((rule, set)) = found else { return vec![formula] };
        let each = (0..u16::from(rule.modulus)).filter(|own| set >> own & 1 == 1);
        let each: Vec<F> = each.map(|own| self.fingerprint(rule, 1 << own)).collect();
        each.into_iter().map(|own| self.and([formula, own])).collect()
    }

    /// States that exactly one of `parts` holds. Equal parts count separately.
    pub(super) fn one(&mut self, parts: impl IntoIterator<Item = F>) -> F {
        let mut all: Vec<F> = parts.into_iter().filter(|&part| part != F::FALSE).collect();
        all.sort_unstable();
        let truths = all.iter().take_while(|&&part| part == F::TRUE).count();
        all.drain(..truths);
        // A part that occurs twice must not hold.
        let mut extra = Vec::new();
        let mut single: Vec<F> = Vec::new();
        for group in all.chunk_by(|one, other| one == other) {
            match group {
                [only] => single.push(*only),
                _ => extra.push(self.not(group[0])),
            }
        }
        let rest = match (truths, &single[..]) {
            (2.., _) | (0, []) => return F::FALSE,
            (1, _) => {
                let none: Vec<F> = single.iter().map(|&part| self.not(part)).collect();
                self.and(none)
            }
            (_, [only]) => *only,
            (_, &[first, second]) if self.not(first) == second => F::TRUE,
            (_, many) => {
                let list = self.list(many);
                self.intern(Shape::One(list))
            }
        };
        extra.push(rest);
        self.and(extra)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fold_and_parts_absorb() {
        let mut f = Formulas::new();
        let [a, b, c] = [1, 2, 3].map(|number| f.atom(Atom::MinItems(number)));
        let not_a = f.not(a);
        assert_eq!(f.and([a, not_a]), F::FALSE);
        assert_eq!(f.or([a, not_a]), F::TRUE);
        assert_eq!(f.and([]), F::TRUE);
        let a_or_b = f.or([a, b]);
        assert_eq!(f.and([a, a_or_b]), a);
        let implies = f.or([not_a, b]);
        assert_eq!(f.and([implies, a]), f.and([a, b]));
        assert_eq!(f.one([a, a, b]), f.and([not_a, b]));
        assert_eq!(f.one([F::TRUE, a]), not_a);
        assert_eq!(f.one([F::TRUE, F::TRUE, c]), F::FALSE);
        assert_eq!(f.one([a, not_a]), F::TRUE);
    }
}
