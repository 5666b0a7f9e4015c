//! Fingerprints: small numbers assigned to values. Values with different fingerprints are
//! different.
//!
//! Pairwise difference of many values is not context-free. Pairwise difference of their
//! fingerprints is, and it is stricter: the state contains a set of small numbers. This
//! approximates unique items that cannot be [followed](super::unique_followed), and keys that must
//! not count twice.

use crate::schema::atoms::{Atoms, Items, Properties};
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Formulas, Type};

use FormulaId as F;

/// Projects a fingerprint condition to values of one type. Strings and numbers are distinguished by
/// their texts, arrays by their first items, objects by the member of a key.
pub(super) fn project(
    formulas: &mut Formulas,
    atoms: &mut Atoms,
    rule: Fingerprint,
    set: u16,
    to: Type,
) -> F {
    let of_text = Fingerprint { key: None, ..rule };
    match (to, rule.key) {
        (Type::Number | Type::String, _) => formulas.fingerprint(of_text, set),
        (Type::Boolean, _) => match set & 3 {
            0 => F::FALSE,
            3 => F::TRUE,
            only => formulas.atom(Atom::Boolean(only == 2)),
        },
        (Type::Object, Some(key)) => {
            let member = formulas.fingerprint(of_text, set);
            let properties =
                atoms.properties.intern(Properties::new(vec![(key, member)], Vec::new(), F::TRUE));
            let properties = formulas.atom(Atom::Properties(properties));
            // Objects without the member have fingerprint 0, as has the empty array.
            let has_key = if set & 1 == 1 { F::TRUE } else { formulas.atom(Atom::Required(key)) };
            formulas.and([properties, has_key])
        }
        (Type::Array, _) => {
            let first = formulas.fingerprint(rule, set);
            let items = atoms.items.intern(Items { prefix: vec![first], rest: F::TRUE });
            let items = formulas.atom(Atom::Items(items));
            let has_first = if set & 1 == 1 { F::TRUE } else { formulas.atom(Atom::MinItems(1)) };
            formulas.and([items, has_first])
        }
        _ => Formulas::constant(set & 1 == 1),
    }
}

/// Returns the formula for the next item, and the items after it, of an array whose items have
/// different fingerprints, none of them in `seen`.
pub(super) fn step(
    formulas: &mut Formulas,
    atoms: &mut Atoms,
    rule: Fingerprint,
    seen: u16,
    left: u8,
) -> F {
    let Some(left) = left.checked_sub(1) else { return F::FALSE };
    let behind = |own: u8| match seen >> own & 1 {
        1 => F::FALSE,
        // After the last item, the fingerprints seen are irrelevant.
        _ if left == 0 => formulas.atom(Atom::Fresh { rule, seen: 0, left }),
        _ => formulas.atom(Atom::Fresh { rule, seen: seen | 1 << own, left }),
    };
    let branches = atoms.branches.intern((0..rule.modulus).map(behind).collect());
    formulas.atom(Atom::ByFingerprint(rule, branches))
}
