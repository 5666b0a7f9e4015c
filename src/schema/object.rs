//! Objects: which keys a frame tells apart, and what a member leaves to be asked.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lexer::Dfa;
use crate::schema::atoms::Properties;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Formulas, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::names;
use crate::schema::states::{Classes, Frame, Key, OtherKeys, Step, Tuple, TupleId};

use FormulaId as F;

/// How many classes of other keys a frame may have.
const MOST_OTHERS: usize = 256;

impl Machine<'_> {
    /// The frame of objects that begin with `start`.
    pub(super) fn frame(&mut self, start: TupleId) -> Result<u32, SchemaError> {
        if let Some(&known) = self.frames_of.get(&start) {
            return Ok(known);
        }
        let formulas = self.tuple(start).to_vec();
        let formulas = self.opened(&formulas);
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut required = Vec::new();
        let mut patterns = Vec::new();
        let mut conditions = Vec::new();
        for atom in self.reader.formulas.atoms(&formulas) {
            match atom {
                Atom::Properties(number) => {
                    let properties = self.reader.atoms.properties.get(number);
                    lists.push(properties.named.iter().map(|&(name, _)| name).collect());
                    patterns.extend(properties.patterns.iter().map(|&(pattern, _)| pattern));
                }
                Atom::Required(name) => required.push(name),
                Atom::PropertyNames(names) => conditions.push(names),
                _ => {}
            }
        }
        // In what order names are required says nothing.
        lists.extend(required.into_iter().map(|name| vec![name]));
        let names = names::merge(&lists);
        patterns.sort_unstable();
        patterns.dedup();
        self.spend(names.len())?;
        let (mut others, mut guarded) = (Vec::new(), self.tuple_id(formulas.clone()));
        if !formulas.iter().all(|&formula| self.is_closed(formula)) {
            others = self.classes_of_others(&names, &patterns, &conditions)?;
            guarded = self.guarded(start);
            if let Some(modulus) = self.modulus(guarded, names.len()) {
                others = self.told_apart(&others, modulus)?;
            }
        }
        let frame =
            self.frames.id(Frame { start, guarded, names: names.into(), others: others.into() });
        self.frames_of.insert(start, frame);
        Ok(frame)
    }

    /// Whether the formula at first sight allows no key that is not named.
    fn is_closed(&self, formula: F) -> bool {
        let formulas = &self.reader.formulas;
        let is_closed = |part: &F| match formulas.shape(*part) {
            Shape::False => true,
            Shape::Atom(Atom::Properties(number)) => {
                let properties = self.reader.atoms.properties.get(number);
                properties.additional == F::FALSE && properties.patterns.is_empty()
            }
            _ => false,
        };
        match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).iter().any(is_closed),
            _ => is_closed(&formula),
        }
    }

    /// All keys but these.
    fn all_but(&mut self, names: &[u32]) -> Result<Rc<Dfa>, SchemaError> {
        let mut sorted: Box<[u32]> = names.into();
        sorted.sort_unstable();
        if let Some(known) = self.other_keys.get(&sorted) {
            return Ok(known.clone());
        }
        let texts: Vec<&str> =
            names.iter().map(|&name| self.reader.atoms.texts.get(name).as_str()).collect();
        let others = self.texts.all_but(&texts).map_err(|error| self.too_large(&error))?;
        self.other_keys.insert(sorted, others.clone());
        Ok(others)
    }

    /// The keys that are none of `names`, told apart by which patterns match and which conditions
    /// hold.
    fn classes_of_others(
        &mut self,
        names: &[u32],
        patterns: &[u32],
        conditions: &[F],
    ) -> Result<Vec<OtherKeys>, SchemaError> {
        let rest = self.all_but(names)?;
        let (patterns_of, names_of) = (Vec::new(), Vec::new());
        let mut classes =
            vec![OtherKeys { keys: rest, patterns: patterns_of, names: names_of, fingerprint: 0 }];
        let mut tests: Vec<(Rc<Dfa>, Option<u32>, F)> = Vec::new();
        for &pattern in patterns {
            tests.push((self.pattern(pattern)?, Some(pattern), F::TRUE));
        }
        for &condition in conditions {
            let projected = self.project(condition, Type::String)?;
            tests.push((self.strings(projected)?, None, condition));
        }
        for (keys, pattern, condition) in tests {
            let mut finer = Vec::new();
            for class in classes {
                let (inside, outside) =
                    self.texts.part(&class.keys, &keys).map_err(|error| self.too_large(&error))?;
                if !inside.is_empty() {
                    let mut own = OtherKeys { keys: inside, ..class.clone() };
                    match pattern {
                        Some(pattern) => own.patterns.push(pattern),
                        None => own.names.push(condition),
                    }
                    finer.push(own);
                }
                if !outside.is_empty() {
                    finer.push(OtherKeys { keys: outside, ..class });
                }
            }
            classes = finer;
            if classes.len() > MOST_OTHERS {
                let message =
                    format!("patterns tell more than {MOST_OTHERS} classes of keys apart");
                return Err(SchemaError::new(SchemaErrorKind::TooLarge, message));
            }
        }
        Ok(classes)
    }

    /// The classes told apart further by the fingerprints of their keys.
    fn told_apart(
        &mut self,
        classes: &[OtherKeys],
        modulus: u8,
    ) -> Result<Vec<OtherKeys>, SchemaError> {
        let mut finer = Vec::new();
        for fingerprint in 0..modulus {
            let rule = Fingerprint { modulus, key: None };
            let own = self.reader.formulas.fingerprint(rule, 1 << fingerprint);
            let of = self.strings(own)?;
            for class in classes {
                let (keys, _) =
                    self.texts.part(&class.keys, &of).map_err(|error| self.too_large(&error))?;
                if !keys.is_empty() {
                    finer.push(OtherKeys { keys, fingerprint, ..class.clone() });
                }
            }
        }
        Ok(finer)
    }

    /// What the residual of an object asks of the member under `step`'s key, and of those behind
    /// it.
    pub(super) fn member_step(
        &mut self,
        step: Step,
        tuple: TupleId,
    ) -> Result<Vec<F>, SchemaError> {
        let residuals = self.tuple(tuple).to_vec();
        let frame = self.frames.get(step.frame).clone();
        // What patterns and `propertyNames` say of a name takes automata, which may fail.
        let (mut matching, mut holding) = (Vec::new(), Vec::new());
        match step.key {
            Key::Named(name) => {
                for atom in self.reader.formulas.atoms(&residuals) {
                    match atom {
                        Atom::Properties(properties) | Atom::Denied { properties, .. } => {
                            let patterns =
                                self.reader.atoms.properties.get(properties).patterns.clone();
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
            }
            Key::Other(class) => {
                let class = &frame.others[class as usize];
                (matching, holding) = (class.patterns.clone(), class.names.clone());
            }
            Key::Absent(_) => {}
        }
        let rest = &frame.names[(step.position as usize).min(frame.names.len())..];
        let table = &self.reader.atoms.properties;
        let trimmed = |formulas: &mut Formulas, number: u32| {
            let properties = table.get(number);
            match says_nothing(properties, rest) {
                true => F::TRUE,
                false => formulas.atom(Atom::Properties(number)),
            }
        };
        // What `properties`, patterns and `additionalProperties` ask of the member under a key.
        let asked = |formulas: &mut Formulas, number: u32, key: Key| {
            let properties = table.get(number);
            let named = match key {
                Key::Named(name) => properties.named(name),
                _ => None,
            };
            let patterns = properties.patterns.iter();
            let patterns =
                patterns.filter(|(pattern, _)| matching.contains(pattern)).map(|&(_, f)| f);
            let mut parts: Vec<F> = named.into_iter().chain(patterns).collect();
            if parts.is_empty() {
                parts.push(properties.additional);
            }
            for part in &mut parts {
                *part = formulas.child(*part);
            }
            formulas.and(parts)
        };
        let mut replace = |formulas: &mut Formulas, atom| match (atom, step.key) {
            (Atom::Required(name), Key::Absent(key)) if name == key => F::FALSE,
            (Atom::Required(name), Key::Named(key)) if name == key => F::TRUE,
            (Atom::Properties(number), Key::Absent(_)) => trimmed(formulas, number),
            (_, Key::Absent(_)) => formulas.atom(atom),
            (Atom::Properties(number), key) => {
                let member = asked(formulas, number, key);
                let behind = trimmed(formulas, number);
                formulas.and([member, behind])
            }
            (Atom::Denied { properties, witness }, key) => {
                let member = asked(formulas, properties, key);
                let same = formulas.atom(atom);
                match key {
                    // Under another class stands another key.
                    Key::Other(class)
                        if !member.is_constant() && witness.is_none_or(|own| own == class) =>
                    {
                        let [none, some] = [None, Some(class)]
                            .map(|witness| formulas.atom(Atom::Denied { properties, witness }));
                        let not = formulas.not(member);
                        let (kept, broken) =
                            (formulas.and([member, none]), formulas.and([not, some]));
                        formulas.or([kept, broken])
                    }
                    Key::Other(_) if !member.is_constant() => same,
                    _ => formulas.and([member, same]),
                }
            }
            (Atom::MinProperties(0 | 1), _) => F::TRUE,
            (Atom::MinProperties(count), _) => formulas.atom(Atom::MinProperties(count - 1)),
            (Atom::MinKeys { seen, .. }, Key::Other(class))
                if seen >> frame.others[class as usize].fingerprint & 1 == 1 =>
            {
                formulas.atom(atom)
            }
            (Atom::MinKeys { count: 0 | 1, .. }, _) => F::TRUE,
            (Atom::MinKeys { count, mut seen }, key) => {
                if let Key::Other(class) = key {
                    seen |= 1 << frame.others[class as usize].fingerprint;
                }
                formulas.atom(Atom::MinKeys { count: count - 1, seen })
            }
            (Atom::MaxProperties(0), _) => F::FALSE,
            (Atom::MaxProperties(count), _) => formulas.atom(Atom::MaxProperties(count - 1)),
            (Atom::PropertyNames(names), _) if !holding.contains(&names) => F::FALSE,
            _ => formulas.atom(atom),
        };
        let memo = self.member_steps.entry(step).or_default();
        let formulas = &mut self.reader.formulas;
        Ok(residuals.iter().map(|&residual| formulas.map(residual, memo, &mut replace)).collect())
    }

    /// Of the `names` of objects that begin with `start`, those that are free, and the others. A
    /// name is free when it is not required, and each formula asks of its member the same one
    /// thing, whatever the other members are.
    pub(super) fn free_names(&self, start: TupleId, names: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let formulas = &self.reader.formulas;
        let tuple = self.tuple(start);
        let parts = |formula: F| match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![formula],
        };
        let all: Vec<Vec<F>> = tuple.iter().map(|&formula| parts(formula)).collect();
        let mut bound: FxHashSet<u32> = FxHashSet::default();
        let mut entangled = Vec::new();
        for part in all.iter().flatten() {
            // What every formula asks for does not tell them apart.
            let is_common = all.iter().all(|parts| parts.contains(part));
            match formulas.shape(*part) {
                Shape::Atom(Atom::Required(name)) if is_common => {
                    bound.insert(name);
                }
                Shape::Atom(Atom::Properties(_) | Atom::PropertyNames(_)) if is_common => {}
                _ => entangled.push(*part),
            }
        }
        let mut is_all_bound = false;
        for atom in formulas.atoms(&entangled) {
            match atom {
                Atom::Required(name) => {
                    bound.insert(name);
                }
                Atom::Properties(number) => {
                    let properties = self.reader.atoms.properties.get(number);
                    bound.extend(properties.named.iter().map(|&(name, _)| name));
                    is_all_bound |= !says_nothing(properties, &[]);
                }
                _ => is_all_bound = true,
            }
        }
        names.iter().partition(|name| !is_all_bound && !bound.contains(name))
    }

    /// The classes of the member under `step`'s key.
    pub(super) fn member_classes(
        &mut self,
        step: Step,
        tuple: TupleId,
    ) -> Result<Classes, SchemaError> {
        let stepped = self.member_step(step, tuple)?;
        self.split(stepped)
    }

    /// Of each residual, whether it holds of the object as it stands, without members of the names
    /// from `position` on.
    pub(super) fn object_ends(&mut self, tuple: TupleId) -> Tuple {
        let mut replace = |_: &mut Formulas, atom| match atom {
            Atom::Required(_)
            | Atom::MinProperties(_)
            | Atom::MinKeys { .. }
            | Atom::Denied { witness: Some(_), .. } => F::FALSE,
            _ => F::TRUE,
        };
        let residuals = self.tuples.get(tuple.0).clone();
        let mut memo = FxHashMap::default();
        residuals
            .iter()
            .map(|&residual| self.reader.formulas.map(residual, &mut memo, &mut replace))
            .collect()
    }
}

/// Whether `properties` ask nothing of other keys, nor of those of `names`.
fn says_nothing(properties: &Properties, names: &[u32]) -> bool {
    properties.additional == F::TRUE
        && properties.patterns.iter().all(|&(_, formula)| formula == F::TRUE)
        && names.iter().all(|&name| properties.named(name).unwrap_or(F::TRUE) == F::TRUE)
}
