//! Formulas: what is asked of a value, as a boolean combination of atoms. Equal formulas have equal
//! ids.
//!
//! The constructors fold constants, flatten, sort, and take away what another part implies at once
//! (`a and (a or b)` is `a`, `a and (not a or b)` is `a and b`). That is not a normal form, and
//! need not be: equivalent formulas that stay apart cost states and nothing else.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::util::lists::Lists;

/// A formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FormulaId(u32);

impl FormulaId {
    /// Holds of every value.
    pub(super) const TRUE: Self = Self(0);
    /// Holds of none.
    pub(super) const FALSE: Self = Self(1);

    pub(super) fn is_constant(self) -> bool {
        self.0 < 2
    }
}

/// The six types of values. The first byte of a value tells them apart.
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
    /// Whether it holds of a number that stands so to the one it names.
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::AtLeast => order.is_ge(),
            Self::Above => order.is_gt(),
            Self::AtMost => order.is_le(),
            Self::Below => order.is_lt(),
        }
    }
}

/// A rule that gives every value a small number. Values with different numbers differ; values with
/// the same number may or may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Fingerprint {
    /// How many numbers there are, 16 at most.
    pub(super) modulus: u8,
    /// The key of the member that stands for an object, if one does.
    pub(super) key: Option<u32>,
}

/// What is asked of one level of a value. The numbers are those of tables beside
/// ([`Atoms`](super::atoms::Atoms)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    /// The schema of this number.
    Schema(u32),
    /// Of the next member or item: that it satisfies a formula. Stands only in the formulas that a
    /// step makes.
    Child(FormulaId),
    /// Of the next item: what is left depends on its fingerprint, as the list of this number says.
    /// Stands only in the formulas that a step makes.
    ByFingerprint(Fingerprint, u32),
    /// The value is told apart from those that are known to satisfy the formula, and may satisfy it
    /// all the same. Stands where nothing hangs on it that it does not.
    Otherwise(FormulaId),
    /// The fingerprint of the value is in this set, a bit for each.
    Fingerprint(Fingerprint, u16),
    Type(Type),
    Boolean(bool),
    /// A number without a fractional part; `1.0` among them or not.
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
    /// So many items at least and at most satisfy the formula.
    Contains {
        schema: FormulaId,
        min: u64,
        max: Option<u64>,
    },
    /// No two items are the same: the `uniqueItems` of this number. Stands in no formula that was
    /// told apart by types.
    Distinct(u32),
    /// The same in an array whose items are followed.
    Followed(u32),
    /// The value is an item of such an array.
    Apart,
    /// The items are among the values of this number, each at most once.
    Unique(u32),
    /// The items have different fingerprints, none of them in the set `seen`, and are so many at
    /// most.
    Fresh {
        rule: Fingerprint,
        seen: u16,
        left: u8,
    },
    Properties(u32),
    Required(u32),
    /// The same where it is denied, and keys may stand twice: the last member whose value may undo
    /// it stood under a key of the class `witness`, if there was one.
    Denied {
        properties: u32,
        witness: Option<u32>,
    },
    MinProperties(u64),
    /// The same where keys may stand twice: of keys that are not named, those count whose
    /// fingerprint is not in `seen`.
    MinKeys {
        count: u64,
        seen: u16,
    },
    MaxProperties(u64),
    PropertyNames(FormulaId),
}

/// The shape of a formula. Parts are by their number in the lists of [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    True,
    False,
    Atom(Atom),
    Not(FormulaId),
    And(u32),
    Or(u32),
    /// Exactly one of the parts.
    One(u32),
}

/// Whether atoms stand in a formula that are not told apart by types as others are.
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

/// Parts that are put together, few as a rule.
type Parts = SmallVec<[FormulaId; 8]>;

/// All formulas that were met.
#[derive(Debug)]
pub(super) struct Formulas {
    shapes: Vec<Shape>,
    /// By formula, which of these atoms stand in it.
    held: Vec<Held>,
    ids: HashTable<FormulaId>,
    parts: Lists<FormulaId>,
    part_ids: HashTable<u32>,
    /// How many formulas and parts were looked at.
    pub(super) work: usize,
}

use FormulaId as F;

impl Formulas {
    /// That the next member satisfies `formula`.
    pub(super) fn child(&mut self, formula: FormulaId) -> FormulaId {
        if formula.is_constant() { formula } else { self.atom(Atom::Child(formula)) }
    }

    pub(super) fn new() -> Self {
        let mut formulas = Self {
            shapes: Vec::new(),
            held: Vec::new(),
            ids: HashTable::new(),
            parts: Lists::new(),
            part_ids: HashTable::new(),
            work: 0,
        };
        formulas.intern(Shape::True);
        formulas.intern(Shape::False);
        formulas
    }

    fn intern(&mut self, shape: Shape) -> F {
        let hashed = FxBuildHasher.hash_one(shape);
        let shapes = &mut self.shapes;
        if let Some(&known) = self.ids.find(hashed, |&id| shapes[id.0 as usize] == shape) {
            return known;
        }
        let next = F(shapes.len() as u32);
        shapes.push(shape);
        self.ids.insert_unique(hashed, next, |&id| FxBuildHasher.hash_one(shapes[id.0 as usize]));
        self.held.push(self.held_by(shape));
        next
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

    /// Which of these atoms stand in the formula.
    pub(super) fn held(&self, formula: F) -> Held {
        self.held[formula.0 as usize]
    }

    /// Whether the formula asks for another type than `of` in so many words.
    pub(super) fn is_of_another_type(&self, formula: F, of: Type) -> bool {
        let is_another =
            |&part: &F| matches!(self.shape(part), Shape::Atom(Atom::Type(own)) if own != of);
        match self.shape(formula) {
            Shape::And(list) => self.parts(list).iter().any(is_another),
            _ => is_another(&formula),
        }
    }

    fn list(&mut self, parts: &[F]) -> u32 {
        let hashed = FxBuildHasher.hash_one(parts);
        let lists = &mut self.parts;
        if let Some(&known) = self.part_ids.find(hashed, |&id| lists.get(id as usize) == parts) {
            return known;
        }
        lists.extend(parts);
        let id = lists.close() as u32;
        self.part_ids
            .insert_unique(hashed, id, |&id| FxBuildHasher.hash_one(lists.get(id as usize)));
        id
    }

    pub(super) fn shape(&self, formula: F) -> Shape {
        self.shapes[formula.0 as usize]
    }

    /// The parts of a conjunction, a disjunction or a [`Shape::One`].
    pub(super) fn parts(&self, list: u32) -> &[F] {
        self.parts.get(list as usize)
    }

    pub(super) fn atom(&mut self, atom: Atom) -> F {
        self.intern(Shape::Atom(atom))
    }

    /// That the fingerprint of a value is in `set`.
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

    /// The conjunction of `parts`, or the disjunction.
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

    /// The parts with those of inner junctions of the same kind, without constants; `None` where
    /// one of them decides the whole.
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

    /// What becomes of parts, which ascend, in view of the others; `None` where two contradict one
    /// another, which decides the whole.
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

    /// An inner junction without what another part says already; `None` where that is nothing.
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

    /// Sets of fingerprints of one rule as one set, at the last place of the rule.
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

    /// Formulas of one fingerprint each, whose disjunction the formula is: itself, where it asks
    /// for no set of them. All sets together have a few automata then.
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

    /// That exactly one of `parts` holds, equal ones counted apart.
    pub(super) fn one(&mut self, parts: impl IntoIterator<Item = F>) -> F {
        let mut all: Vec<F> = parts.into_iter().filter(|&part| part != F::FALSE).collect();
        all.sort_unstable();
        let truths = all.iter().take_while(|&&part| part == F::TRUE).count();
        all.drain(..truths);
        // What stands twice must not hold.
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
