//! Residual of an object after a member: the step over a key.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::schema::atoms::Properties;
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Formulas, Type};
use crate::schema::machine::Machine;
use crate::schema::object::says_nothing_of_others;
use crate::schema::states::{Formed, Frame, Key, Step, TupleId};
use crate::util::append::Interner;

use FormulaId as F;

/// A key, and the data known about it.
struct Member<'a> {
    properties: &'a Interner<Properties>,
    frame: &'a Frame,
    key: Key,
    /// Number of the frame's leading names that need no further consideration.
    position: u32,
    /// For each frame and properties, the number of leading names after which the properties ask
    /// nothing. Filled on demand.
    silent_from: &'a RefCell<FxHashMap<(u32, u32), u32>>,
    number: u32,
    /// Patterns that match the key.
    matching: Vec<u32>,
    /// Formulas of `propertyNames` that the key satisfies.
    holding: Vec<F>,
}

impl Machine<'_> {
    /// Returns the conditions that the residual of an object puts on the member under `step`'s key
    /// and on those after it.
    pub(super) fn member_step(
        &mut self,
        step: Step,
        tuple: TupleId,
    ) -> Result<Formed, SchemaError> {
        let residuals = Formed::from_slice(self.tuple(tuple));
        let frame = self.frames.get(step.frame).clone();
        let (matching, holding) = match step.key {
            Key::Named(name) if frame.tests_names => self.said_of_name(name, &residuals)?,
            Key::Other(class) => {
                let class = &frame.others[class as usize];
                (class.patterns.clone(), class.names.clone())
            }
            Key::Named(_) | Key::Absent(_) => (Vec::new(), Vec::new()),
        };
        let member = Member {
            properties: &self.reader.atoms.properties,
            frame: &frame,
            key: step.key,
            position: step.position,
            silent_from: &self.silent_from,
            number: step.frame,
            matching,
            holding,
        };
        let mut replace = |formulas: &mut Formulas, atom| match step.key {
            Key::Absent(name) => member.absent(formulas, atom, name),
            _ => member.present(formulas, atom),
        };
        let formulas = &mut self.reader.formulas;
        let is_flat = residuals.iter().all(|&residual| formulas.is_flat(residual));
        let mut none = FxHashMap::default();
        let memo = match is_flat {
            true => &mut none,
            false => self.member_steps.entry(step).or_default(),
        };
        Ok(residuals.iter().map(|&residual| formulas.map(residual, memo, &mut replace)).collect())
    }

    /// Returns the patterns that match a name, and the formulas of `propertyNames` that it
    /// satisfies. Both take automata, whose construction may fail.
    fn said_of_name(
        &mut self,
        name: u32,
        residuals: &[F],
    ) -> Result<(Vec<u32>, Vec<F>), SchemaError> {
        let (mut matching, mut holding) = (Vec::new(), Vec::new());
        for atom in self.reader.formulas.atoms(residuals) {
            match atom {
                Atom::Properties(properties) | Atom::Denied { properties, .. } => {
                    let patterns = self.reader.atoms.properties.get(properties).patterns.clone();
                    for (pattern, _) in patterns {
                        let keys = self.pattern(pattern)?;
                        if keys.matches(self.reader.atoms.texts.get(name).as_bytes()) {
                            matching.push(pattern);
                        }
                    }
                }
                Atom::PropertyNames(names) => {
                    let projected = self.project(names, Type::String)?;
                    let keys = self.strings(projected)?;
                    if keys.matches(self.reader.atoms.texts.get(name).as_bytes()) {
                        holding.push(names);
                    }
                }
                _ => {}
            }
        }
        Ok((matching, holding))
    }
}

impl Member<'_> {
    /// Returns the residual of an atom if there is no member under this name.
    fn absent(&self, formulas: &mut Formulas, atom: Atom, name: u32) -> F {
        match atom {
            Atom::Required(required) if required == name => F::FALSE,
            Atom::Properties(number) => self.trimmed(formulas, number),
            _ => formulas.atom(atom),
        }
    }

    /// Returns the conditions that an atom puts on the member under the key and on those after it.
    fn present(&self, formulas: &mut Formulas, atom: Atom) -> F {
        match atom {
            Atom::Required(name) if self.key == Key::Named(name) => F::TRUE,
            Atom::Properties(number) => {
                let member = self.asked(formulas, number);
                let behind = self.trimmed(formulas, number);
                formulas.and([member, behind])
            }
            Atom::Denied { properties, witness } => self.denied(formulas, properties, witness),
            Atom::MinProperties(0 | 1) => F::TRUE,
            Atom::MinProperties(count) => formulas.atom(Atom::MinProperties(count - 1)),
            Atom::MinKeys { count, seen } => self.counted(formulas, count, seen),
            Atom::MaxProperties(0) => F::FALSE,
            Atom::MaxProperties(count) => formulas.atom(Atom::MaxProperties(count - 1)),
            Atom::PropertyNames(names) if !self.holding.contains(&names) => F::FALSE,
            _ => formulas.atom(atom),
        }
    }

    /// Returns the conditions that properties put on the members after this one.
    fn trimmed(&self, formulas: &mut Formulas, number: u32) -> F {
        let mut silent_from = self.silent_from.borrow_mut();
        let find = || self.find_silent_from(self.properties.get(number));
        let silent_from = *silent_from.entry((self.number, number)).or_insert_with(find);
        match silent_from <= self.position {
            true => F::TRUE,
            false => formulas.atom(Atom::Properties(number)),
        }
    }

    /// Returns the number of leading names after which `properties` ask nothing, or `u32::MAX` if
    /// they constrain other keys.
    fn find_silent_from(&self, properties: &Properties) -> u32 {
        if !says_nothing_of_others(properties) {
            return u32::MAX;
        }
        let speaking = properties.named.iter().filter(|&&(_, formula)| formula != F::TRUE);
        let positions = speaking.filter_map(|&(name, _)| self.frame.position(name));
        positions.max().map_or(0, |last| last + 1)
    }

    /// Returns the conditions that properties, patterns and `additionalProperties` put on the
    /// member.
    fn asked(&self, formulas: &mut Formulas, number: u32) -> F {
        let properties = self.properties.get(number);
        let named = match self.key {
            Key::Named(name) => properties.named(name),
            _ => None,
        };
        let patterns = properties.patterns.iter();
        let patterns =
            patterns.filter(|(pattern, _)| self.matching.contains(pattern)).map(|&(_, f)| f);
        let mut parts: Vec<F> = named.into_iter().chain(patterns).collect();
        if parts.is_empty() {
            parts.push(properties.additional);
        }
        for part in &mut parts {
            *part = formulas.child(*part);
        }
        formulas.and(parts)
    }

    /// Returns the residual of denied properties.
    fn denied(&self, formulas: &mut Formulas, properties: u32, witness: Option<u32>) -> F {
        let member = self.asked(formulas, properties);
        let same = formulas.atom(Atom::Denied { properties, witness });
        match self.key {
            // Keys of different classes differ.
            Key::Other(class)
                if !member.is_constant() && witness.is_none_or(|own| own == class) =>
            {
                let [none, some] = [None, Some(class)]
                    .map(|witness| formulas.atom(Atom::Denied { properties, witness }));
                let not = formulas.not(member);
                let (kept, broken) = (formulas.and([member, none]), formulas.and([not, some]));
                formulas.or([kept, broken])
            }
            Key::Other(_) if !member.is_constant() => same,
            _ => formulas.and([member, same]),
        }
    }

    /// Returns the residual of a lower bound on keys. A key counts if it is named or its
    /// fingerprint is new.
    fn counted(&self, formulas: &mut Formulas, count: u64, mut seen: u16) -> F {
        if let Key::Other(class) = self.key {
            let own = 1 << self.frame.others[class as usize].fingerprint;
            if seen & own != 0 {
                return formulas.atom(Atom::MinKeys { count, seen });
            }
            seen |= own;
        }
        match count {
            0 | 1 => F::TRUE,
            _ => formulas.atom(Atom::MinKeys { count: count - 1, seen }),
        }
    }
}
