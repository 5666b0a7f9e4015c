//! Arrays of unique items whose texts are followed: what they ask of the next item.
//!
//! [`items_apart`](super::items_apart) says which arrays these are.

use crate::grammar::ir::Part;
use crate::schema::atoms::{Atoms, Properties};
use crate::schema::formula::{Atom, FormulaId, Formulas, Type};

use FormulaId as F;

/// What is asked of the next item of an array whose items are followed, `atom`, and of those behind
/// it.
pub(super) fn step(formulas: &mut Formulas, atoms: &mut Atoms, keys: Option<u32>, atom: Atom) -> F {
    let item = match keys {
        None => formulas.atom(Atom::Apart(Part::WHOLE)),
        Some(keys) => {
            let keys = atoms.sets.get(keys).clone();
            let of = keys.len() as u8;
            let apart = |number| Atom::Apart(Part { number, of });
            let apart = keys.iter().zip(0..).map(|(&key, own)| (key, formulas.atom(apart(own))));
            let members = Properties::new(apart.collect(), Vec::new(), F::TRUE);
            let members = Atom::Properties(atoms.properties.id(members));
            let parts = keys.into_iter().map(Atom::Required);
            let parts = parts.chain([Atom::Type(Type::Object), members]);
            let parts: Vec<F> = parts.map(|part| formulas.atom(part)).collect();
            formulas.and(parts)
        }
    };
    let (item, same) = (formulas.child(item), formulas.atom(atom));
    formulas.and([item, same])
}
