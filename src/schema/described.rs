//! Descriptions of the terminals of a schema in messages: in the words of its author, with a JSON
//! pointer if only one location is meant.

use crate::grammar::ir::Symbol;
use crate::schema::build::Builder;
use crate::schema::formula::{Atom, FormulaId, Shape, Type};
use crate::schema::keywords::Reader;
use crate::schema::machine::Machine;
use crate::schema::states::OtherKeys;

use FormulaId as F;

/// Maximum number of values of a list that are named.
const SHOWN: usize = 4;

impl Builder<'_, '_> {
    /// Describes a terminal of the scalars of a type that satisfy `formula`; they are values that
    /// satisfy `whole`.
    pub(super) fn describe_scalar(&mut self, symbol: Symbol, of: Type, formula: F, whole: F) {
        if !matches!(of, Type::Number | Type::String) {
            return;
        }
        let what = self.machine.described(of, formula);
        let Reader { origins, formulas, .. } = &self.machine.reader;
        let at = origins.of(formulas, whole).filter(|&(_, is_only)| is_only);
        let at = at.map(|(node, _)| self.machine.reader.schemas.json.pointer(node));
        self.fragment.describe(symbol, what, at.filter(|at| !at.is_empty()));
    }

    /// Describes the terminal of the key of this name.
    pub(super) fn describe_key(&mut self, symbol: Symbol, name: u32) {
        let name = self.machine.reader.atoms.texts.get(name);
        self.fragment.describe(symbol, format!("key {name:?}"), None);
    }

    /// Describes the terminal of a class of keys that a frame does not name.
    pub(super) fn describe_keys(&mut self, symbol: Symbol, keys: &OtherKeys, has_names: bool) {
        let texts = &self.machine.reader.atoms.texts;
        let patterns = keys.patterns.iter().map(|&pattern| format!("/{}/", texts.get(pattern)));
        let patterns: Vec<String> = patterns.collect();
        let what = match (&patterns[..], has_names) {
            ([], true) => "another key".to_owned(),
            ([], false) => "key".to_owned(),
            (patterns, _) => format!("key that matches {}", patterns.join(" and ")),
        };
        self.fragment.describe(symbol, what, None);
    }
}

impl Machine<'_> {
    /// Returns the description of the scalars of a type that satisfy a formula.
    fn described(&self, of: Type, formula: F) -> String {
        let formulas = &self.reader.formulas;
        let parts = match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list),
            _ => std::slice::from_ref(&formula),
        };
        let atoms = |part: &F| match formulas.shape(*part) {
            Shape::Atom(atom) => Some(atom),
            _ => None,
        };
        let atoms: Vec<Atom> = parts.iter().filter_map(atoms).collect();
        let (texts, numbers, sets) =
            (&self.reader.atoms.texts, &self.reader.atoms.numbers, &self.reader.atoms.sets);
        let listed = atoms.iter().find_map(|atom| match atom {
            Atom::Strings(set) => {
                Some(sets.get(*set).iter().map(|&text| format!("{:?}", texts.get(text))).collect())
            }
            Atom::Numbers(set) => {
                Some(sets.get(*set).iter().map(|&own| numbers.get(own).to_string()).collect())
            }
            _ => None,
        });
        let listed: Option<Vec<String>> = listed;
        if let Some(values) = listed
            && parts.len() == 1
        {
            return match &values[..] {
                [only] => only.clone(),
                few if few.len() <= SHOWN => format!("one of {}", few.join(", ")),
                many => format!("one of {}, ... ({} values)", many[..SHOWN].join(", "), many.len()),
            };
        }
        match of {
            Type::Number if atoms.iter().any(|atom| matches!(atom, Atom::Integer { .. })) => {
                "integer".to_owned()
            }
            Type::Number => "number".to_owned(),
            _ => {
                let format = atoms.iter().find_map(|atom| match atom {
                    Atom::Format(format) => {
                        Some(format!("string of the format {}", texts.get(*format)))
                    }
                    _ => None,
                });
                format.unwrap_or_else(|| "string".to_owned())
            }
        }
    }
}
