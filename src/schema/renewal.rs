//! Arrays and objects to which something can always be added.
//!
//! Of an array whose items are unique, an item may come to an end that another has come to. It must
//! not end there, and has to go on until it differs. So the items of an array can be
//! [followed](super::items_apart) where they are *renewable*: each that may end can also go on, in
//! as many ways as one likes. To an array an item is added, to an object a member under a key that
//! the schema does not name. Where there are no such keys, a member with one that it names comes
//! again, with another value. Of a key that stands twice the last member counts.

use crate::grammar::ir::Symbol;
use crate::schema::atoms::Items;
use crate::schema::build::Builder;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::states::TupleId;

use FormulaId as F;

/// How an array or object that may end can also go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// With one more item, or a member under any other key.
    More,
    /// With one more member under this key.
    Key(u32),
}

impl Machine<'_> {
    /// How the arrays or objects that satisfy a projected formula can go on; `None` where that is
    /// not certain at first sight.
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
                    // Where no item may stand in front, none can be added.
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

    /// Whether a formula asks for nothing that more members or items could undo.
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

    /// Whether it makes no difference to a formula what stands under keys that it does not name.
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

    /// What a conjunction without patterns asks of the member of a key.
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

    /// Whether a scalar, or an empty array or object, satisfies a formula.
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

    /// Whether there is certainly no end to the values that satisfy a formula.
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
    /// Members that may come again in the objects of a frame, and the position of their name among
    /// `names`. `None` where it is not among them: a free name may always come again.
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
