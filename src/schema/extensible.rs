//! Arrays and objects that can always be extended.
//!
//! In an array with unique items, an item may reach a possible end at which it equals another item.
//! It must not end there, and has to continue until it differs. So the items of an array can be
//! [followed](super::unique_followed) if they are *renewable*: every item that may end can also be
//! continued, in as many ways as needed. An array is extended by an item, an object by a member
//! under a key that the schema does not name. If there are no such keys, a member under a named key
//! is repeated with another value. When a key appears twice, the last member counts.

use crate::grammar::ir::Symbol;
use crate::schema::atoms::Items;
use crate::schema::build::Builder;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;

use FormulaId as F;

/// Way to extend an array or object that may also end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// One more item, or a member under any other key.
    More,
    /// One more member under this key.
    Key(u32),
}

impl Machine<'_> {
    /// Returns how the arrays or objects that satisfy a projected formula can be extended, or
    /// `None` if that is not certain from the formula's shape.
    pub(super) fn renewal(
        &mut self,
        projected: F,
        of: Type,
    ) -> Result<Option<Renewal>, SchemaError> {
        if self.minds_no_other_keys(projected, of) {
            return Ok(Some(Renewal::More));
        }
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(projected) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![projected],
        };
        let (mut added, mut names) = (Vec::new(), Vec::new());
        let are_items = |&&part: &&F| matches!(formulas.shape(part), Shape::Atom(Atom::Items(_)));
        let count = parts.iter().filter(are_items).count();
        for part in parts {
            match self.reader.formulas.shape(part) {
                _ if self.asks_for_more(part) => {}
                Shape::Atom(Atom::Items(items)) => {
                    let Items { prefix, rest } = self.reader.atoms.items.get(items).clone();
                    // If an item of the prefix is impossible, none can be added after it.
                    for &item in &prefix {
                        if count > 1 || !self.has_a_value(item)? {
                            return Ok(None);
                        }
                    }
                    added.push(rest);
                }
                Shape::Atom(Atom::Properties(properties)) => {
                    let properties = self.reader.atoms.properties.get(properties);
                    if !properties.patterns.is_empty() {
                        return Ok(None);
                    }
                    added.push(properties.additional);
                    names.extend(properties.named.iter().map(|&(name, _)| name));
                }
                _ => return Ok(None),
            }
        }
        let added = self.reader.formulas.and(added);
        if self.has_a_value(added)? {
            return Ok(Some(Renewal::More));
        }
        for name in names {
            let value = self.member_of(projected, name);
            if self.has_no_end(value)? {
                return Ok(Some(Renewal::Key(name)));
            }
        }
        Ok(None)
    }

    /// Whether adding members or items never violates the formula.
    fn asks_for_more(&self, formula: F) -> bool {
        let formulas = &self.reader.formulas;
        match formulas.shape(formula) {
            Shape::True => true,
            Shape::Atom(atom) => {
                matches!(atom, Atom::MinItems(_) | Atom::Required(_) | Atom::MinProperties(_))
            }
            Shape::And(list) | Shape::Or(list) => {
                formulas.parts(list).iter().all(|&part| self.asks_for_more(part))
            }
            Shape::False | Shape::Not(_) | Shape::One(_) => false,
        }
    }

    /// Whether the values under keys that a formula does not name make no difference to it.
    fn minds_no_other_keys(&self, projected: F, of: Type) -> bool {
        let minds = |atom: &Atom| match *atom {
            Atom::Required(_) => false,
            Atom::Properties(number) => {
                let properties = self.reader.atoms.properties.get(number);
                let patterns = properties.patterns.iter().map(|&(_, formula)| formula);
                patterns.chain([properties.additional]).any(|formula| formula != F::TRUE)
            }
            _ => true,
        };
        of == Type::Object && !self.reader.formulas.atoms(&[projected]).iter().any(minds)
    }

    /// Returns the condition of a conjunction without patterns on the member under a key.
    fn member_of(&mut self, object: F, key: u32) -> F {
        let mut parts = Vec::new();
        for atom in self.reader.formulas.atoms(&[object]) {
            if let Atom::Properties(number) = atom {
                let properties = self.reader.atoms.properties.get(number);
                parts.push(properties.named(key).unwrap_or(properties.additional));
            }
        }
        self.reader.formulas.and(parts)
    }

    /// Whether a scalar, or an empty array or object, satisfies the formula.
    fn has_a_value(&mut self, formula: F) -> Result<bool, SchemaError> {
        let whole = self.whole(formula)?;
        if whole == F::TRUE || self.count_apart(whole)? > 0 {
            return Ok(true);
        }
        let [items, members] = [Type::Array, Type::Object].map(|of| self.of_type(whole, of));
        let [items, members] = [self.tuple_id(&[items?]), self.tuple_id(&[members?])];
        let ends = [self.array_ends(items), self.object_ends(members)];
        Ok(ends.concat().contains(&F::TRUE))
    }

    /// Whether infinitely many values certainly satisfy the formula.
    fn has_no_end(&mut self, value: F) -> Result<bool, SchemaError> {
        let whole = self.whole(value)?;
        if self.count_apart(whole)? == u64::MAX {
            return Ok(true);
        }
        let projected = self.of_type(whole, Type::Object)?;
        Ok(projected != F::FALSE && self.minds_no_other_keys(projected, Type::Object))
    }
}

impl Builder<'_, '_> {
    /// Returns members that may be repeated in the objects of a frame, and the position of their
    /// name in `names`. Returns `None` if the name is not in `names`: a free name may always be
    /// repeated.
    pub(super) fn renewed_member(
        &mut self,
        frame: u32,
        start: TupleId,
        names: &[u32],
    ) -> Result<Option<(u32, Symbol)>, SchemaError> {
        let &[formula] = self.machine.tuple(start) else { return Ok(None) };
        let Some(Renewal::Key(name)) = self.machine.renewal(formula, Type::Object)? else {
            return Ok(None);
        };
        let Some(position) = names.iter().position(|&own| own == name) else { return Ok(None) };
        let member = self.free_members(frame, start, &[name])?;
        Ok(Some((position as u32, Symbol::Nonterminal(member))))
    }
}
