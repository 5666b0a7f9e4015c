//! Steps of an array's residual over an item.

use crate::schema::atoms::Items;
use crate::schema::composites::contains;
use crate::schema::error::SchemaError;
use crate::schema::fingerprint;
use crate::schema::formula::{Atom, FormulaId, Formulas};
use crate::schema::machine::Machine;
use crate::schema::states::{Classes, Formed, Tuple, TupleId};
use crate::schema::unique;

use FormulaId as F;

impl Machine<'_> {
    /// Returns the constraints of an array's residual on the next item and on those after it.
    fn item_step(&mut self, formula: F) -> F {
        let atoms = &mut self.reader.atoms;
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Items(items) => {
                let Items { prefix, rest } = atoms.items.get(items).clone();
                let (child, prefix) = match prefix.split_first() {
                    Some((&first, others)) => (first, others.to_vec()),
                    None => (rest, prefix),
                };
                let behind = match prefix.is_empty() && rest == F::TRUE {
                    true => F::TRUE,
                    false => {
                        let items = atoms.items.intern(Items { prefix, rest });
                        formulas.atom(Atom::Items(items))
                    }
                };
                let child = formulas.child(child);
                formulas.and([child, behind])
            }
            Atom::Contains { schema, min, max } => {
                let child = formulas.child(schema);
                let not = formulas.not(child);
                let fewer = contains(
                    formulas,
                    schema,
                    min.saturating_sub(1),
                    max.map(|max| max.checked_sub(1)),
                );
                let same = formulas.atom(atom);
                let (with, without) = (formulas.and([child, fewer]), formulas.and([not, same]));
                formulas.or([with, without])
            }
            Atom::Followed(_) => {
                let apart = formulas.atom(Atom::Apart);
                let (item, same) = (formulas.child(apart), formulas.atom(atom));
                formulas.and([item, same])
            }
            Atom::Unique(values) => {
                let values = atoms.uniques.get(values).clone();
                unique::step(formulas, &values, |formulas, rest| {
                    let rest = atoms.uniques.intern(rest);
                    formulas.atom(Atom::Unique(rest))
                })
            }
            Atom::Fresh { rule, seen, left } => {
                fingerprint::step(formulas, atoms, rule, seen, left)
            }
            Atom::MinItems(0 | 1) => F::TRUE,
            Atom::MinItems(count) => formulas.atom(Atom::MinItems(count - 1)),
            Atom::MaxItems(0) => F::FALSE,
            Atom::MaxItems(count) => formulas.atom(Atom::MaxItems(count - 1)),
            _ => formulas.atom(atom),
        };
        self.reader.formulas.map(formula, &mut self.item_steps, &mut replace)
    }

    /// Returns the classes of the next item after the residuals `tuple` of an array.
    pub(super) fn item_classes(&mut self, tuple: TupleId) -> Result<Classes, SchemaError> {
        let mut stepped = Formed::from_slice(self.tuple(tuple));
        stepped.iter_mut().for_each(|formula| *formula = self.item_step(*formula));
        self.split(&stepped)
    }

    /// Returns, for each residual, whether it holds if the array ends here.
    pub(super) fn array_ends(&mut self, tuple: TupleId) -> Tuple {
        self.holding(tuple, |atom| match atom {
            Atom::MinItems(_) => false,
            Atom::Contains { min, .. } => min == 0,
            _ => true,
        })
    }
}
