//! Keys that appear twice in an object.
//!
//! No context-free grammar can tell whether a key that the schema does not name appeared before. A
//! reader of such a text keeps the last member. Conditions on all members, and upper bounds on
//! their number, hold of the kept members too; two kinds of conditions may not. Fewer members are
//! kept than were counted. And a member that has to violate a condition (below `not`, or in the
//! other branches of a `oneOf`) may be replaced by one that satisfies it. These two are narrowed
//! here: only members whose keys certainly differ are counted, and a member that violates the
//! condition is not followed by one of the same class of keys that satisfies it.

use rustc_hash::FxHashMap;

use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Numbers of fingerprints of keys: `MANY` if few members are counted and few keys are named, and
/// `FEW` otherwise.
const MANY: u8 = 16;
const FEW: u8 = 8;
/// Largest numbers of members and of names that count as few.
const FEW_MEMBERS: u64 = 3;
const FEW_NAMES: usize = 16;

/// Converted formulas, by original formula and whether it is denied.
type Memo = FxHashMap<(F, bool), F>;

impl Machine<'_> {
    /// Returns the conditions on an object of a frame that has keys other than the named ones.
    pub(super) fn guarded(&mut self, start: TupleId) -> TupleId {
        let mut memo = Memo::default();
        let formulas = self.tuple(start).to_vec();
        let guarded: Vec<F> =
            formulas.iter().map(|&formula| self.guard(formula, false, &mut memo)).collect();
        if guarded == formulas {
            return start;
        }
        if guarded == self.opened(&formulas) {
            return self.tuple_id(&guarded);
        }
        let message = "a key that the schema does not name may occur twice, so only members whose \
                       keys certainly differ are counted";
        let help = "name the keys, or set `additionalProperties` to false";
        self.reader.warn(Diagnostic::warning("narrowed-schema", message).help(help));
        self.tuple_id(&guarded)
    }

    /// Returns the class of members that is distinguished from those that satisfy `child`, where
    /// `tuple` is the residual. If satisfying `child` makes no remaining condition stricter, the
    /// distinction is dropped.
    pub(super) fn not_child(&mut self, tuple: &[F], child: F) -> Result<F, SchemaError> {
        let projected = self.project(child, Type::Object)?;
        let formulas = &mut self.reader.formulas;
        let asked = formulas.atom(Atom::Child(child));
        if !self.is_guarded(projected)
            || tuple.iter().any(|&of| self.reader.formulas.denies(of, asked))
        {
            return Ok(self.reader.formulas.not(child));
        }
        Ok(self.reader.formulas.atom(Atom::Otherwise(child)))
    }

    /// Returns the condition that [`Atom::Otherwise`] puts on values of one type.
    pub(super) fn otherwise(&mut self, inner: F, of: Type) -> Result<F, SchemaError> {
        let projected = self.project(inner, of)?;
        Ok(match of == Type::Object && self.is_guarded(projected) {
            true => self.reader.formulas.atom(Atom::Otherwise(projected)),
            false => self.reader.formulas.not(projected),
        })
    }

    /// Whether repeated keys may matter to the formula.
    fn is_guarded(&self, formula: F) -> bool {
        self.reader.formulas.atoms(&[formula]).into_iter().any(|atom| match atom {
            Atom::MinProperties(2..) | Atom::MaxProperties(1..) => true,
            Atom::Properties(properties) => self.asks_of_values(properties),
            _ => false,
        })
    }

    /// Replaces each [`Atom::Otherwise`] of an object by a denial.
    pub(super) fn opened(&mut self, formulas: &[F]) -> Vec<F> {
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Otherwise(inner) => formulas.not(inner),
            _ => formulas.atom(atom),
        };
        let (own, mut memo) = (&mut self.reader.formulas, FxHashMap::default());
        formulas.iter().map(|&formula| own.map(formula, &mut memo, &mut replace)).collect()
    }

    /// Returns the number of fingerprints of keys that a frame distinguishes, if it counts members.
    pub(super) fn modulus(&self, guarded: TupleId, names: usize) -> Option<u8> {
        let counts = self.reader.formulas.atoms(self.tuple(guarded)).into_iter();
        let most = counts.filter_map(|atom| match atom {
            Atom::MinKeys { count, .. } => Some(count),
            _ => None,
        });
        most.max().map(|most| if most <= FEW_MEMBERS && names <= FEW_NAMES { MANY } else { FEW })
    }

    fn guard(&mut self, formula: F, is_denied: bool, memo: &mut Memo) -> F {
        if let Some(&known) = memo.get(&(formula, is_denied)) {
            return known;
        }
        let guarded = match self.reader.formulas.shape(formula) {
            Shape::Atom(Atom::MinProperties(count @ 2..)) if !is_denied => {
                self.reader.formulas.atom(Atom::MinKeys { count, seen: 0 })
            }
            Shape::Atom(Atom::MaxProperties(count @ 1..)) if is_denied => {
                let more = self.reader.formulas.atom(Atom::MinKeys { count: count + 1, seen: 0 });
                self.reader.formulas.not(more)
            }
            Shape::Atom(Atom::Properties(properties))
                if is_denied && self.asks_of_values(properties) =>
            {
                self.reader.formulas.atom(Atom::Denied { properties, witness: None })
            }
            Shape::Atom(Atom::Otherwise(inner)) => {
                let inner = self.guard(inner, false, memo);
                self.reader.formulas.not(inner)
            }
            Shape::True | Shape::False | Shape::Atom(_) => formula,
            Shape::Not(inner) => {
                let inner = self.guard(inner, !is_denied, memo);
                self.reader.formulas.not(inner)
            }
            shape @ (Shape::And(list) | Shape::Or(list)) => {
                let parts = self.reader.formulas.parts(list).to_vec();
                let parts: Vec<F> =
                    parts.into_iter().map(|part| self.guard(part, is_denied, memo)).collect();
                match shape {
                    Shape::And(_) => self.reader.formulas.and(parts),
                    _ => self.reader.formulas.or(parts),
                }
            }
            Shape::One(list) => {
                let parts = self.reader.formulas.parts(list).to_vec();
                let [holding, denied] = [is_denied, !is_denied].map(|is| {
                    parts.iter().map(|&part| self.guard(part, is, memo)).collect::<Vec<F>>()
                });
                match holding == parts && denied == parts {
                    true => formula,
                    false => self.reader.one(holding, &denied),
                }
            }
        };
        memo.insert((formula, is_denied), guarded);
        guarded
    }

    /// Whether the condition on a member that is not named depends on its value.
    fn asks_of_values(&self, properties: u32) -> bool {
        let properties = self.reader.atoms.properties.get(properties);
        let patterns = properties.patterns.iter().map(|&(_, formula)| formula);
        patterns.chain([properties.additional]).any(|formula| !formula.is_constant())
    }
}
