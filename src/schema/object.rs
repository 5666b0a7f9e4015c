//! Objects: which keys a frame tells apart, and what a member leaves to be asked.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::pattern::Pattern;
use crate::lexer::Dfa;
use crate::schema::atoms::Properties;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Formulas, Shape, Type};
use crate::schema::machine::Machine;
use crate::schema::names;
use crate::schema::states::{Classes, Frame, Keys, OtherKeys, Step, Tuple, TupleId};

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
        // What is required but nowhere else named comes as it was first met.
        required.sort_by_key(|&name| self.reader.formulas.atom(Atom::Required(name)));
        lists.extend(required.into_iter().map(|name| vec![name]));
        let names = names::merge(&lists);
        patterns.sort_unstable();
        patterns.dedup();
        self.spend(names.len())?;
        let (mut others, mut guarded) = (Vec::new(), self.tuple_id(&formulas));
        if !formulas.iter().all(|&formula| self.is_closed(formula)) {
            others = self.classes_of_others(&names, &patterns, &conditions)?;
            guarded = self.guarded(start);
            if let Some(modulus) = self.modulus(guarded, names.len()) {
                others = self.told_apart(&others, modulus)?;
            }
        }
        let tests_names = !patterns.is_empty() || !conditions.is_empty();
        let (names, others) = (names.into(), others.into());
        let frame = self.frames.id(Frame { start, guarded, names, others, tests_names });
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

    /// The names that residuals speak of, where each allows members under none but these; `None`
    /// where one may allow others.
    pub(super) fn names_spoken_of(&self, frame: u32, residuals: TupleId) -> Option<Vec<u32>> {
        if self.frames.get(frame).tests_names {
            return None;
        }
        let formulas = &self.reader.formulas;
        let tuple = self.tuple(residuals);
        let allows_no_other = |&formula: &F| match formulas.shape(formula) {
            Shape::Or(list) | Shape::One(list) => {
                formulas.parts(list).iter().all(|&part| self.is_closed(part))
            }
            _ => self.is_closed(formula),
        };
        if !tuple.iter().all(allows_no_other) {
            return None;
        }
        let mut names = Vec::new();
        for atom in formulas.atoms(tuple) {
            match atom {
                Atom::Required(name) => names.push(name),
                Atom::Properties(number) => {
                    let named = &self.reader.atoms.properties.get(number).named;
                    names.extend(named.iter().map(|&(name, _)| name));
                }
                _ => {}
            }
        }
        Some(names)
    }

    /// The contents of keys.
    fn contents(&mut self, keys: &Keys) -> Result<Rc<Dfa>, SchemaError> {
        let names = match keys {
            Keys::AllBut(names) => names,
            Keys::Contents(contents) => return Ok(contents.clone()),
        };
        if let Some(known) = self.other_keys.get(names) {
            return Ok(known.clone());
        }
        let texts: Vec<&str> =
            names.iter().map(|&name| self.reader.atoms.texts.get(name).as_str()).collect();
        let others = self.texts.all_but(&texts).map_err(|error| self.too_large(&error))?;
        self.other_keys.insert(names.clone(), others.clone());
        Ok(others)
    }

    /// What the lexer calls keys.
    pub(super) fn spelled_keys(&mut self, keys: &Keys) -> Result<Pattern, SchemaError> {
        let spelled = match keys {
            Keys::AllBut(names) => {
                let texts = names.iter().map(|&name| self.reader.atoms.texts.get(name).as_str());
                self.texts.spelled_but(texts)
            }
            Keys::Contents(contents) => self.texts.spelled(contents),
        };
        spelled.map_err(|error| self.too_large(&error))
    }

    /// The keys that are none of `names`, told apart by which patterns match and which conditions
    /// hold.
    fn classes_of_others(
        &mut self,
        names: &[u32],
        patterns: &[u32],
        conditions: &[F],
    ) -> Result<Vec<OtherKeys>, SchemaError> {
        let mut sorted: Vec<u32> = names.into();
        sorted.sort_unstable();
        let mut tests: Vec<KeyTest> = Vec::new();
        for &pattern in patterns {
            tests.push(KeyTest { keys: self.pattern(pattern)?, of: Tested::Pattern(pattern) });
        }
        for &condition in conditions {
            let projected = self.project(condition, Type::String)?;
            tests.push(KeyTest { keys: self.strings(projected)?, of: Tested::Name(condition) });
        }
        let sets: Vec<Rc<Dfa>> = tests.iter().map(|test| test.keys.clone()).collect();
        // Most patterns of an object have no key in common.
        let apart = self.texts.apart(&sets).map_err(|error| self.too_large(&error))?;
        let mut classes = self.others_apart(&sorted, &tests[..apart])?;
        for test in &tests[apart..] {
            let mut finer = Vec::new();
            for class in classes {
                let contents = self.contents(&class.keys)?;
                let parts = self.texts.part(&contents, &test.keys);
                let (inside, outside) = parts.map_err(|error| self.too_large(&error))?;
                if !inside.is_empty() {
                    finer.push(test.passed_by(inside, &class));
                }
                if !outside.is_empty() {
                    finer.push(OtherKeys { keys: Keys::Contents(outside), ..class });
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

    /// The same where no key passes two of the tests.
    fn others_apart(
        &mut self,
        names: &[u32],
        tests: &[KeyTest],
    ) -> Result<Vec<OtherKeys>, SchemaError> {
        let keys = Keys::AllBut(names.into());
        let (patterns_of, names_of) = (Vec::new(), Vec::new());
        let all = OtherKeys { keys, patterns: patterns_of, names: names_of, fingerprint: 0 };
        if tests.is_empty() {
            return Ok(vec![all]);
        }
        let sets: Vec<Rc<Dfa>> = tests.iter().map(|test| test.keys.clone()).collect();
        let text = |&name: &u32| self.reader.atoms.texts.get(name).as_str();
        let texts: Vec<&str> = names.iter().map(text).collect();
        let parts = self.texts.parts_of_others(&texts, &sets);
        let (insides, outside) = parts.map_err(|error| self.too_large(&error))?;
        let mut classes = Vec::with_capacity(tests.len() + 1);
        for (inside, test) in insides.into_iter().zip(tests).filter(|(keys, _)| !keys.is_empty()) {
            classes.push(test.passed_by(inside, &all));
        }
        if !outside.is_empty() {
            classes.push(OtherKeys { keys: Keys::Contents(outside), ..all });
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
                let contents = self.contents(&class.keys)?;
                let keys =
                    self.texts.both(&contents, &of).map_err(|error| self.too_large(&error))?;
                if !keys.is_empty() {
                    let keys = Keys::Contents(keys);
                    finer.push(OtherKeys { keys, fingerprint, ..class.clone() });
                }
            }
        }
        Ok(finer)
    }

    /// What is to be known of the `names` of objects that begin with `start`.
    pub(super) fn sort_names(&self, start: TupleId, names: &[u32]) -> SortedNames {
        let formulas = &self.reader.formulas;
        let tuple = self.tuple(start);
        let parts = |formula: F| match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).to_vec(),
            _ => vec![formula],
        };
        let all: Vec<Vec<F>> = tuple.iter().map(|&formula| parts(formula)).collect();
        let mut required: FxHashSet<u32> = FxHashSet::default();
        let mut entangled = Vec::new();
        for part in all.iter().flatten() {
            // What every formula asks for does not tell them apart.
            let is_common = all.iter().all(|parts| parts.contains(part));
            match formulas.shape(*part) {
                Shape::Atom(Atom::Required(name)) if is_common => {
                    required.insert(name);
                }
                Shape::Atom(Atom::Properties(_) | Atom::PropertyNames(_)) if is_common => {}
                _ => entangled.push(*part),
            }
        }
        let mut bound: FxHashSet<u32> = FxHashSet::default();
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
        let mut sorted = SortedNames::default();
        for &name in names {
            let sort = match is_all_bound || bound.contains(&name) {
                true => &mut sorted.tracked,
                false if required.contains(&name) => &mut sorted.owed,
                false => &mut sorted.free,
            };
            sort.push(name);
        }
        sorted
    }

    /// The same without asking for members under these names.
    pub(super) fn without_required(&mut self, tuple: TupleId, names: &[u32]) -> TupleId {
        if names.is_empty() {
            return tuple;
        }
        let names: FxHashSet<u32> = names.iter().copied().collect();
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Required(name) if names.contains(&name) => F::TRUE,
            _ => formulas.atom(atom),
        };
        let residuals = self.tuples.get(tuple.0).clone();
        let mut memo = FxHashMap::default();
        let left: Vec<F> = residuals
            .iter()
            .map(|&residual| self.reader.formulas.map(residual, &mut memo, &mut replace))
            .collect();
        self.tuple_id(&left)
    }

    /// The classes of the member under `step`'s key.
    pub(super) fn member_classes(
        &mut self,
        step: Step,
        tuple: TupleId,
    ) -> Result<Classes, SchemaError> {
        let stepped = self.member_step(step, tuple)?;
        self.split(&stepped)
    }

    /// The same, `None` where they are made of more than `most` answers.
    pub(super) fn member_classes_up_to(
        &mut self,
        most: usize,
        step: Step,
        tuple: TupleId,
    ) -> Result<Option<Classes>, SchemaError> {
        let stepped = self.member_step(step, tuple)?;
        self.split_up_to(most, &stepped)
    }

    /// Of each residual, whether it holds of the object as it stands, without members of the names
    /// from `position` on.
    pub(super) fn object_ends(&mut self, tuple: TupleId) -> Tuple {
        self.holding(tuple, |atom| {
            !matches!(
                atom,
                Atom::Required(_)
                    | Atom::MinProperties(_)
                    | Atom::MinKeys { .. }
                    | Atom::Denied { witness: Some(_), .. }
            )
        })
    }
}

/// The names of an object, by what a state has to know of them.
#[derive(Debug, Default)]
pub(super) struct SortedNames {
    /// Nothing: each formula asks of the member the same one thing, whatever the other members are.
    pub(super) free: Vec<u32>,
    /// That it was there, but for which it is as free.
    pub(super) owed: Vec<u32>,
    /// Whether it was there, and with what.
    pub(super) tracked: Vec<u32>,
    /// Those among the tracked ones that would be owed otherwise.
    pub(super) due: Vec<u32>,
}

impl SortedNames {
    /// What is owed is kept track of, too; `all` are the names in their order.
    pub(super) fn track_owed(&mut self, all: &[u32]) {
        if !self.owed.is_empty() {
            let free: FxHashSet<u32> = self.free.iter().copied().collect();
            self.tracked = all.iter().filter(|name| !free.contains(name)).copied().collect();
            self.due = std::mem::take(&mut self.owed);
        }
    }
}

/// What tells keys apart that are not named.
struct KeyTest {
    keys: Rc<Dfa>,
    of: Tested,
}

/// Where a test of keys comes from.
enum Tested {
    /// `patternProperties`.
    Pattern(u32),
    /// `propertyNames`.
    Name(F),
}

impl KeyTest {
    /// The keys of a class that pass.
    fn passed_by(&self, keys: Rc<Dfa>, class: &OtherKeys) -> OtherKeys {
        let mut own = OtherKeys { keys: Keys::Contents(keys), ..class.clone() };
        match self.of {
            Tested::Pattern(pattern) => own.patterns.push(pattern),
            Tested::Name(condition) => own.names.push(condition),
        }
        own
    }
}

/// Whether `properties` ask nothing of other keys, nor of those of `names`.
pub(super) fn says_nothing(properties: &Properties, names: &[u32]) -> bool {
    properties.additional == F::TRUE
        && properties.patterns.iter().all(|&(_, formula)| formula == F::TRUE)
        && names.iter().all(|&name| properties.named(name).unwrap_or(F::TRUE) == F::TRUE)
}
