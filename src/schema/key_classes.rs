//! Keys that no formula of a frame names, distinguished by the patterns that match them and by the
//! conditions of `propertyNames`.
//!
//! With n patterns that may match a key in any combination there are 2^n classes of keys. But most
//! combinations ask the same of the member: `maxLength` 3 and 5 together ask for 3, and two
//! different constants are unsatisfiable. So the classes are refined by one pattern at a time, and
//! classes with equal constraints are united before the next pattern.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::lexer::Dfa;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Type};
use crate::schema::machine::Machine;
use crate::schema::states::{Keys, OtherKeys};

use FormulaId as F;

/// Maximum number of classes of other keys in a frame.
const MOST_OTHERS: usize = 256;
/// Maximum number of classes if some keys pass several tests.
const MOST_SEVERAL: usize = 64;

impl Machine<'_> {
    /// Returns the automaton of the contents of keys.
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

    /// Returns the classes of keys other than `names`, by the patterns that match and the
    /// conditions that hold, as far as `formulas` ask different things of their members.
    pub(super) fn classes_of_others(
        &mut self,
        names: &[u32],
        patterns: &[u32],
        conditions: &[F],
        formulas: &[F],
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
        // Most patterns of an object match no common key.
        let apart = self.texts.apart(&sets).map_err(|error| self.too_large(&error))?;
        let mut classes = self.others_apart(&sorted, &tests[..apart])?;
        let asked = self.asked_of_keys(formulas);
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
            classes = match &asked {
                Some(asked) => self.united(finer, asked)?,
                None => finer,
            };
            self.leave_out(&mut classes)?;
        }
        Ok(classes)
    }

    /// Returns the properties in `formulas`; `None` if some are denied. A denial depends on the
    /// last member under a class of keys, so classes must not be united.
    fn asked_of_keys(&mut self, formulas: &[F]) -> Option<Vec<u32>> {
        let mut asked = Vec::new();
        for atom in self.reader.formulas.atoms(formulas) {
            if let Atom::Properties(number) = atom {
                let own = self.reader.formulas.atom(atom);
                if formulas.iter().any(|&formula| self.reader.formulas.denies(formula, own)) {
                    return None;
                }
                asked.push(number);
            }
        }
        Some(asked)
    }

    /// Unites classes with equal constraints, keeping the patterns of the first of them.
    fn united(
        &mut self,
        classes: Vec<OtherKeys>,
        asked: &[u32],
    ) -> Result<Vec<OtherKeys>, SchemaError> {
        let mut order: Vec<(OtherKeys, Vec<Rc<Dfa>>)> = Vec::new();
        let mut known: FxHashMap<(Vec<Option<F>>, Vec<F>), usize> = FxHashMap::default();
        for class in classes {
            let members: Result<Vec<Option<F>>, _> =
                asked.iter().map(|&number| self.asked_of_members(number, &class)).collect();
            let contents = self.contents(&class.keys)?;
            let at = *known.entry((members?, class.names.clone())).or_insert(order.len());
            match order.get_mut(at) {
                Some((_, all)) => all.push(contents),
                None => order.push((class, vec![contents])),
            }
        }
        let mut united = Vec::with_capacity(order.len());
        for (class, all) in order {
            united.push(match &all[..] {
                [_] => class,
                all => {
                    let keys = self.texts.product(all, |each| each.contains(&true));
                    let keys = Keys::Contents(keys.map_err(|error| self.too_large(&error))?);
                    OtherKeys { keys, ..class }
                }
            });
        }
        Ok(united)
    }

    /// Returns the formula that the patterns of properties ask of the members under a class of
    /// keys, without obviously redundant parts; `None` if no pattern matches these keys. Then
    /// `additionalProperties` applies, even if its formula is the same, and it no longer applies
    /// once a pattern matches.
    fn asked_of_members(
        &mut self,
        number: u32,
        class: &OtherKeys,
    ) -> Result<Option<F>, SchemaError> {
        let properties = self.reader.atoms.properties.get(number);
        let of_pattern =
            |&(pattern, asked): &(u32, F)| class.patterns.contains(&pattern).then_some(asked);
        let mut asked: Vec<F> = properties.patterns.iter().filter_map(of_pattern).collect();
        if asked.is_empty() {
            return Ok(None);
        }
        for part in &mut asked {
            *part = self.whole(*part)?;
        }
        asked.sort_unstable();
        asked.dedup();
        let mut kept: Vec<F> = Vec::with_capacity(asked.len());
        for part in asked {
            for &other in &kept {
                if self.is_nothing(other, part)? {
                    return Ok(Some(F::FALSE));
                }
            }
            let mut follows = false;
            for &other in &kept {
                let not = self.reader.formulas.not(part);
                follows |= self.is_nothing(other, not)?;
            }
            if follows {
                continue;
            }
            let mut left = Vec::with_capacity(kept.len() + 1);
            for other in kept {
                let not = self.reader.formulas.not(other);
                if !self.is_nothing(part, not)? {
                    left.push(other);
                }
            }
            left.push(part);
            kept = left;
        }
        Ok(Some(self.reader.formulas.and(kept)))
    }

    /// Whether it is obvious that no value satisfies both.
    fn is_nothing(&mut self, one: F, other: F) -> Result<bool, SchemaError> {
        let formulas = &self.reader.formulas;
        let is_apart =
            |of: &Type| [one, other].iter().any(|&part| formulas.is_of_another_type(part, *of));
        if Type::ALL.iter().all(is_apart) {
            return Ok(true);
        }
        // For these atoms, `is_inhabited` is exact and fast.
        let is_plain = |atom: &Atom| {
            matches!(
                atom,
                Atom::Type(_)
                    | Atom::Boolean(_)
                    | Atom::Integer { .. }
                    | Atom::Numbers(_)
                    | Atom::Compare(..)
                    | Atom::Strings(_)
                    | Atom::MinLength(_)
                    | Atom::MaxLength(_)
            )
        };
        if !formulas.atoms(&[one, other]).iter().all(is_plain) {
            return Ok(false);
        }
        let both = self.reader.formulas.and([one, other]);
        Ok(!self.is_inhabited(both)?)
    }

    /// Drops the classes of keys that match most patterns, if there are too many classes, with a
    /// warning.
    fn leave_out(&mut self, classes: &mut Vec<OtherKeys>) -> Result<(), SchemaError> {
        classes.sort_by_key(|class| class.patterns.len() + class.names.len());
        let is_several = |class: &OtherKeys| class.patterns.len() + class.names.len() > 1;
        let single = classes.iter().take_while(|class| !is_several(class)).count();
        let most = single.max(MOST_SEVERAL);
        if most > MOST_OTHERS {
            let message = format!(
                "the patterns divide the keys into more than {MOST_OTHERS} \
                                   classes"
            );
            return Err(SchemaError::new(SchemaErrorKind::TooLarge, message));
        }
        if classes.len() <= most {
            return Ok(());
        }
        classes.truncate(most);
        let message = "keys that match many of the patterns at once are left out: each set of \
                       patterns has different constraints";
        let help = "use fewer patterns, or patterns that do not match the same keys";
        self.warn_of_narrowing(message, help);
        Ok(())
    }

    /// Returns the classes for tests of which no key passes two.
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

    /// Refines the classes by the fingerprints of their keys.
    pub(super) fn told_apart(
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
}

/// Test that distinguishes keys that are not named.
struct KeyTest {
    keys: Rc<Dfa>,
    of: Tested,
}

/// Origin of a test of keys.
enum Tested {
    /// `patternProperties`.
    Pattern(u32),
    /// `propertyNames`.
    Name(F),
}

impl KeyTest {
    /// Returns the keys of a class that pass the test.
    fn passed_by(&self, keys: Rc<Dfa>, class: &OtherKeys) -> OtherKeys {
        let mut own = OtherKeys { keys: Keys::Contents(keys), ..class.clone() };
        match self.of {
            Tested::Pattern(pattern) => own.patterns.push(pattern),
            Tested::Name(condition) => own.names.push(condition),
        }
        own
    }
}
