//! Objects as alternatives: a formula on objects as a disjunction of conjunctions. Each conjunction
//! asks the same of each member independently of the others, requires certain members, bounds the
//! number of the others, and names conditions that some member breaks.
//!
//! This is a disjunctive normal form, as far as one can be made: a minimum number of members under
//! arbitrary keys cannot be expressed in it. A denied condition that the others rule out anyway is
//! dropped: the branches of a `oneOf` deny each other, and usually exclude each other already by
//! the value of a key.

use crate::schema::atoms::Properties;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;

use FormulaId as F;

/// Upper bound on alternatives: larger sets need heap memory (`BitSet`).
const MOST_ALTERNATIVES: usize = 256;

/// One way to satisfy one formula of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// Index of the formula in the tuple.
    pub(super) outcome: usize,
    /// Formula that each member must satisfy.
    pub(super) asks: F,
    /// Names of the required members, ascending.
    pub(super) required: Vec<u32>,
    /// Whether there must be a member, under any key.
    pub(super) is_filled: bool,
    /// Maximum number of members under names that are not required.
    pub(super) most_others: Option<u64>,
    /// Conditions on all members, each of which some member must violate.
    pub(super) denied: Vec<F>,
}

impl Alternative {
    /// Whether an object without members satisfies the alternative.
    pub(super) fn allows_none(&self) -> bool {
        self.required.is_empty() && self.denied.is_empty() && !self.is_filled
    }
}

/// Formulas that must all hold, none of which is a conjunction or disjunction.
type Conjunction = Vec<F>;

impl Machine<'_> {
    /// Returns the formulas of a tuple as alternatives: an object that satisfies a formula
    /// satisfies at least one of its alternatives. `None` if there are too many, or if a formula
    /// concerns several members together.
    pub(super) fn alternatives(
        &mut self,
        tuple: TupleId,
    ) -> Result<Option<Vec<Alternative>>, SchemaError> {
        let formulas = self.tuple(tuple).to_vec();
        let mut alternatives = Vec::new();
        for (outcome, formula) in self.opened(&formulas).into_iter().enumerate() {
            if !self.alternatives_of(outcome, formula, &mut alternatives)?
                || alternatives.len() > MOST_ALTERNATIVES
            {
                return Ok(None);
            }
        }
        Ok(Some(alternatives))
    }

    /// Adds the alternatives of one formula. Returns whether it can be expressed in alternatives.
    fn alternatives_of(
        &mut self,
        outcome: usize,
        formula: F,
        alternatives: &mut Vec<Alternative>,
    ) -> Result<bool, SchemaError> {
        let object = self.reader.formulas.atom(Atom::Type(Type::Object));
        let Some(all) = self.conjunctions(formula, false, object)? else { return Ok(false) };
        for conjunction in all {
            let whole = self.reader.formulas.and(conjunction.iter().copied().chain([object]));
            if !self.is_inhabited(whole)? {
                continue;
            }
            // Of two equivalent denials, each is redundant given the other: drop one at a time.
            let mut kept = conjunction.clone();
            for part in conjunction {
                let Shape::Not(of) = self.reader.formulas.shape(part) else { continue };
                let others = kept.iter().copied().filter(|&other| other != part);
                let both = self.reader.formulas.and(others.chain([of, object]));
                if !self.is_inhabited(both)? {
                    kept.retain(|&other| other != part);
                }
            }
            let (mut asks, mut required, mut denied) = (Vec::new(), Vec::new(), Vec::new());
            let (mut least, mut most) = (0, None);
            for part in kept {
                match self.reader.formulas.shape(part) {
                    Shape::Atom(Atom::Required(name)) => required.push(name),
                    Shape::Atom(Atom::MinProperties(count)) => least = least.max(count),
                    Shape::Atom(Atom::MaxProperties(count)) => {
                        most = Some(most.map_or(count, |most: u64| most.min(count)));
                    }
                    Shape::Not(of) => denied.push(of),
                    _ => asks.push(part),
                }
            }
            required.sort_unstable();
            let certain = required.len() as u64;
            // A member that breaks a condition may be a required one or an additional one: counts
            // cannot tell which.
            if least > certain.max(1) || most.is_some() && !denied.is_empty() {
                return Ok(false);
            }
            let asks = self.reader.formulas.and(asks);
            let is_filled = least > certain && denied.is_empty();
            let most_others = most.map(|most| most.saturating_sub(certain));
            let own = Alternative { outcome, asks, required, is_filled, most_others, denied };
            if !alternatives.contains(&own) {
                alternatives.push(own);
            }
        }
        Ok(true)
    }

    /// Returns the formula, or its negation, as a disjunction, under the assumption `given`.
    fn conjunctions(
        &mut self,
        formula: F,
        is_denied: bool,
        given: F,
    ) -> Result<Option<Vec<Conjunction>>, SchemaError> {
        self.spend(1)?;
        let formulas = &mut self.reader.formulas;
        let (is_and, parts) = match formulas.shape(formula) {
            Shape::True | Shape::False => {
                let holds = (formula == F::TRUE) != is_denied;
                return Ok(Some(if holds { vec![Vec::new()] } else { Vec::new() }));
            }
            Shape::Not(of) => return self.conjunctions(of, !is_denied, given),
            Shape::Atom(Atom::Properties(_) | Atom::PropertyNames(_)) if is_denied => {
                let not = formulas.not(formula);
                return Ok(Some(vec![vec![not]]));
            }
            Shape::Atom(Atom::Required(name)) if is_denied => {
                let none = Properties::new(vec![(name, F::FALSE)], Vec::new(), F::TRUE);
                let none = self.reader.atoms.properties.intern(none);
                let none = self.reader.formulas.atom(Atom::Properties(none));
                return Ok(Some(vec![vec![none]]));
            }
            Shape::Atom(Atom::MinProperties(count)) if is_denied => {
                let fewer = count.checked_sub(1).map(Atom::MaxProperties);
                let fewer = fewer.map(|fewer| vec![formulas.atom(fewer)]);
                return Ok(Some(fewer.into_iter().collect()));
            }
            Shape::Atom(Atom::MaxProperties(count)) if is_denied => {
                let more = count.checked_add(1).map(Atom::MinProperties);
                let more = more.map(|more| vec![formulas.atom(more)]);
                return Ok(Some(more.into_iter().collect()));
            }
            Shape::Atom(
                Atom::Properties(_)
                | Atom::PropertyNames(_)
                | Atom::Required(_)
                | Atom::MinProperties(_)
                | Atom::MaxProperties(_),
            ) if !is_denied => return Ok(Some(vec![vec![formula]])),
            Shape::Atom(_) => return Ok(None),
            Shape::And(list) => (!is_denied, formulas.parts(list).to_vec()),
            Shape::Or(list) => (is_denied, formulas.parts(list).to_vec()),
            Shape::One(_) if is_denied => return Ok(None),
            Shape::One(list) => {
                let parts = formulas.parts(list).to_vec();
                let mut all = Vec::new();
                for (at, &part) in parts.iter().enumerate() {
                    let others = parts.iter().enumerate().filter(|&(other, _)| other != at);
                    let mut own = vec![part];
                    for (_, &other) in others {
                        own.push(self.reader.formulas.not(other));
                    }
                    let Some(found) = self.product(&own, false, given)? else { return Ok(None) };
                    all.extend(found);
                }
                return Ok(Some(all).filter(|all| all.len() <= MOST_ALTERNATIVES));
            }
        };
        if is_and {
            return self.product(&parts, is_denied, given);
        }
        let mut all = Vec::new();
        for part in parts {
            let Some(found) = self.conjunctions(part, is_denied, given)? else {
                return Ok(None);
            };
            all.extend(found);
        }
        Ok(Some(all).filter(|all| all.len() <= MOST_ALTERNATIVES))
    }

    /// Whether it is obvious that no object satisfies both: one requires a key for which both list
    /// values, and the lists are disjoint.
    fn excludes(&mut self, one: F, other: F) -> Result<bool, SchemaError> {
        self.spend(1)?;
        let parts = |formula: F| match self.reader.formulas.shape(formula) {
            Shape::And(list) => self.reader.formulas.parts(list),
            _ => &[],
        };
        let atoms = |formula: F| {
            let atom = |&part: &F| match self.reader.formulas.shape(part) {
                Shape::Atom(atom) => Some(atom),
                _ => None,
            };
            parts(formula).iter().filter_map(atom).collect::<Vec<Atom>>()
        };
        let asked = |atoms: &[Atom], name| {
            atoms.iter().find_map(|&atom| match atom {
                Atom::Properties(number) => self.reader.atoms.properties.get(number).named(name),
                _ => None,
            })
        };
        let atoms = [atoms(one), atoms(other)];
        let mut pairs = Vec::new();
        for atom in atoms.iter().flatten() {
            if let Atom::Required(name) = *atom
                && let (Some(one), Some(other)) = (asked(&atoms[0], name), asked(&atoms[1], name))
            {
                pairs.push((one, other));
            }
        }
        for (one, other) in pairs {
            if let (Some(one), Some(other)) = (self.listed_values(one)?, self.listed_values(other)?)
                && one.iter().all(|value| !other.contains(value))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the conjunction of `parts`, or of their negations, under the assumption `given`:
    /// together with `given` the disjunction is equivalent to the parts, on its own it may be
    /// weaker.
    fn product(
        &mut self,
        parts: &[F],
        is_denied: bool,
        given: F,
    ) -> Result<Option<Vec<Conjunction>>, SchemaError> {
        let mut parts: Vec<F> = match is_denied {
            true => parts.iter().map(|&part| self.reader.formulas.not(part)).collect(),
            false => parts.to_vec(),
        };
        // A part relies only on the parts before it: if two relied on each other, each could drop
        // parts of its own because of parts that the other dropped. Denials rely on all others.
        parts.sort_by_key(|&part| match self.reader.formulas.shape(part) {
            Shape::And(_) | Shape::Or(_) | Shape::One(_) => 1,
            Shape::Not(_) => 2,
            _ => 0,
        });
        let mut before = given;
        let mut all: Vec<Conjunction> = vec![Vec::new()];
        for part in parts {
            if let Shape::Not(of) = self.reader.formulas.shape(part) {
                // Denying a part that the others rule out is redundant.
                let both = self.reader.formulas.and([before, of]);
                if self.excludes(before, of)? || !self.is_inhabited(both)? {
                    continue;
                }
            }
            let Some(found) = self.conjunctions(part, false, before)? else { return Ok(None) };
            if !matches!(self.reader.formulas.shape(part), Shape::Not(_)) {
                before = self.reader.formulas.and([before, part]);
            }
            let pairs = all.iter().flat_map(|one| found.iter().map(move |other| (one, other)));
            let joined = pairs.map(|(one, other)| {
                let mut both = [&one[..], other].concat();
                both.sort_unstable();
                both.dedup();
                both
            });
            all = joined.collect();
            all.sort_by_key(Vec::len);
            self.spend(all.len())?;
            let mut kept: Vec<Conjunction> = Vec::new();
            for one in all {
                let says_more = |other: &Conjunction| other.iter().all(|part| one.contains(part));
                if !kept.iter().any(says_more) {
                    kept.push(one);
                }
                if kept.len() > MOST_ALTERNATIVES {
                    return Ok(None);
                }
            }
            all = kept;
        }
        Ok(Some(all))
    }
}
