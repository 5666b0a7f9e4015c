//! The deterministic machine of a schema, level by level.
//!
//! A *value state* is a tuple of formulas that no value satisfies two of: which one a value
//! satisfies is its outcome. What a state asks is told apart by the value's type first
//! ([`Machine::project`]). An array or an object is read member by member; the state in between is
//! the tuple of *residuals*, what is still asked when the members so far are known. A step makes of
//! each residual a formula about the next member ([`Atom::Child`]) and the residual behind it, and
//! [`Machine::split`] finds the classes of members that lead to the same residuals. The classes are
//! disjoint, so they are a value state again.
//!
//! This is a bottom-up deterministic tree automaton run from the top (Bruyère, Perez, Staquet,
//! "Validating Streaming JSON Documents with Learned VPAs", TACAS 2023, has the general argument).
//! Members are read in one order, so a residual need not remember which came when.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::lexer::Dfa;
use crate::schema::atoms::Interner;
use crate::schema::emptiness::Inhabited;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::fingerprint;
use crate::schema::formula::{Atom, Fingerprint, FormulaId, Formulas, Shape, Type};
use crate::schema::keywords::Reader;
use crate::schema::states::{Classes, Frame, Step, Tuple, TupleId};
use crate::schema::text::Texts;
use crate::util::meter::{Holding, Meter};

use FormulaId as F;

/// Work that is told to the meter at once.
const COUNTED_AT_ONCE: usize = 100;
/// A step of the analysis makes and looks up formulas: 20 to 30 nanoseconds.
const STEPS_OF_WORK: usize = 3;
/// And keeps some of them.
const BYTES_OF_WORK: usize = 3;

/// So many formulas that exclude each other are told apart at once.
const MANY_APART: usize = 4;

/// What a formula asks of the next member.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// Whether it satisfies a formula.
    Child(F),
    /// Which fingerprint it has.
    Fingerprint(Fingerprint),
}

/// The machine, as far as it was made.
pub(super) struct Machine<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) texts: Texts<'a>,
    pub(super) tuples: Interner<Tuple>,
    pub(super) frames: Interner<Frame>,
    pub(super) frames_of: FxHashMap<TupleId, u32>,
    /// By names, ascending: all other keys.
    pub(super) other_keys: FxHashMap<Rc<[u32]>, Rc<Dfa>>,
    pub(super) inhabited: Inhabited,
    whole: FxHashMap<F, F>,
    projected: FxHashMap<(F, Type), F>,
    pub(super) item_steps: FxHashMap<F, F>,
    pub(super) member_steps: FxHashMap<Step, FxHashMap<F, F>>,
    pub(super) splits: FxHashMap<TupleId, Classes>,
    first_asked: FxHashMap<F, Option<Asked>>,
    /// Steps taken so far, beside what formulas took.
    work: usize,
    /// Of these, and of what formulas took: what the meter knows of.
    counted: usize,
    meter: &'a Meter,
    held: Holding,
}

impl<'a> Machine<'a> {
    pub(super) fn new(reader: Reader<'a>, without_marks: bool, meter: &'a Meter) -> Self {
        Self {
            texts: Texts::new(meter, reader.options, without_marks),
            reader,
            tuples: Interner::default(),
            frames: Interner::default(),
            frames_of: FxHashMap::default(),
            other_keys: FxHashMap::default(),
            inhabited: Inhabited::default(),
            whole: FxHashMap::default(),
            projected: FxHashMap::default(),
            item_steps: FxHashMap::default(),
            member_steps: FxHashMap::default(),
            splits: FxHashMap::default(),
            first_asked: FxHashMap::default(),
            work: 0,
            counted: 0,
            held: meter.holding(),
            meter,
        }
    }

    pub(super) fn tuple(&self, id: TupleId) -> &[F] {
        self.tuples.get(id.0)
    }

    pub(super) fn tuple_id(&mut self, tuple: &[F]) -> TupleId {
        TupleId(self.tuples.id_of_list(tuple))
    }

    /// Counts `steps`, and refuses when there were too many.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), SchemaError> {
        self.work += steps;
        let work = self.work + self.reader.formulas.work;
        if work <= self.reader.options.steps {
            if work - self.counted >= COUNTED_AT_ONCE {
                let steps = work - std::mem::replace(&mut self.counted, work);
                self.meter.step(STEPS_OF_WORK * steps)?;
                self.held.set(BYTES_OF_WORK * work)?;
            }
            return Ok(());
        }
        let message = format!("its analysis takes more than {} steps", self.reader.options.steps);
        Err(SchemaError::new(SchemaErrorKind::TooLarge, message)
            .help("raise `SchemaOptions::steps`, or combine fewer conditions about one value"))
    }

    /// The formula with schemas replaced by what they say.
    pub(super) fn whole(&mut self, formula: F) -> Result<F, SchemaError> {
        if !self.reader.formulas.held(formula).schema {
            return Ok(formula);
        }
        if let Some(&known) = self.whole.get(&formula) {
            return Ok(known);
        }
        let mut said = FxHashMap::default();
        for atom in self.reader.formulas.atoms(&[formula]) {
            if let Atom::Schema(schema) = atom {
                said.insert(schema, self.reader.expand(schema)?);
            }
        }
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Schema(schema) => said.get(&schema).copied().unwrap_or(F::FALSE),
            _ => formulas.atom(atom),
        };
        let whole = self.reader.formulas.map(formula, &mut FxHashMap::default(), &mut replace);
        self.whole.insert(formula, whole);
        Ok(whole)
    }

    /// What the formula asks of values of one type.
    pub(super) fn project(&mut self, formula: F, to: Type) -> Result<F, SchemaError> {
        if formula.is_constant() {
            return Ok(formula);
        }
        let whole = self.whole(formula)?;
        if self.reader.formulas.is_of_another_type(whole, to) {
            return Ok(F::FALSE);
        }
        if let Some(&known) = self.projected.get(&(whole, to)) {
            return Ok(known);
        }
        let projected = self.of_type(whole, to)?;
        let projected = self.followed_or_narrower(projected)?;
        self.projected.insert((whole, to), projected);
        Ok(projected)
    }

    /// The same of a formula without schemas, with `uniqueItems` as it stands.
    pub(super) fn of_type(&mut self, whole: F, to: Type) -> Result<F, SchemaError> {
        self.spend(1)?;
        let mut others = FxHashMap::default();
        if self.reader.formulas.held(whole).otherwise {
            for atom in self.reader.formulas.atoms(&[whole]) {
                if let Atom::Otherwise(inner) = atom {
                    others.insert(inner, self.otherwise(inner, to)?);
                }
            }
        }
        let atoms = &mut self.reader.atoms;
        let mut replace = |formulas: &mut Formulas, atom: Atom| {
            let (of, otherwise) = match atom {
                Atom::Type(of) => return Formulas::constant(of == to),
                Atom::Apart => match to {
                    Type::Null | Type::Boolean | Type::Array | Type::Object => return F::TRUE,
                    Type::Number | Type::String => return formulas.atom(atom),
                },
                Atom::Otherwise(inner) => return others.get(&inner).copied().unwrap_or(F::FALSE),
                Atom::Fingerprint(rule, own) => {
                    return fingerprint::project(formulas, atoms, rule, own, to);
                }
                Atom::Boolean(_) => (Type::Boolean, F::FALSE),
                Atom::Integer { .. } | Atom::Numbers(_) => (Type::Number, F::FALSE),
                Atom::Strings(_) => (Type::String, F::FALSE),
                Atom::Compare(..) | Atom::MultipleOf(_) => (Type::Number, F::TRUE),
                Atom::Pattern(_) | Atom::Format(_) | Atom::MinLength(_) | Atom::MaxLength(_) => {
                    (Type::String, F::TRUE)
                }
                Atom::Items(_)
                | Atom::MinItems(_)
                | Atom::MaxItems(_)
                | Atom::Contains { .. }
                | Atom::Distinct(_)
                | Atom::Followed(_)
                | Atom::Unique(_)
                | Atom::Fresh { .. } => (Type::Array, F::TRUE),
                Atom::Properties(_)
                | Atom::Denied { .. }
                | Atom::Required(_)
                | Atom::MinProperties(_)
                | Atom::MinKeys { .. }
                | Atom::MaxProperties(_)
                | Atom::PropertyNames(_) => (Type::Object, F::TRUE),
                Atom::Schema(_) | Atom::Child(_) | Atom::ByFingerprint(..) => {
                    return formulas.atom(atom);
                }
            };
            if of == to { formulas.atom(atom) } else { otherwise }
        };
        Ok(self.reader.formulas.map(whole, &mut FxHashMap::default(), &mut replace))
    }

    /// Whether a formula that was projected on booleans holds of `value`.
    pub(super) fn holds_of_boolean(&mut self, formula: F, value: bool) -> bool {
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Boolean(own) => Formulas::constant(own == value),
            _ => formulas.atom(atom),
        };
        self.reader.formulas.map(formula, &mut FxHashMap::default(), &mut replace) == F::TRUE
    }

    /// Of each residual, whether it holds where its atoms hold as `holds` says.
    pub(super) fn holding(&mut self, tuple: TupleId, holds: impl Fn(Atom) -> bool) -> Tuple {
        let mut replace = |_: &mut Formulas, atom| Formulas::constant(holds(atom));
        let residuals = self.tuples.get(tuple.0).clone();
        let (formulas, mut memo) = (&mut self.reader.formulas, FxHashMap::default());
        residuals.iter().map(|&own| formulas.map(own, &mut memo, &mut replace)).collect()
    }

    /// The classes of the next member, where `stepped` says what it must satisfy and what is left
    /// then. Classes without a member, and those behind which nothing can hold, are left out.
    pub(super) fn split(&mut self, stepped: &[F]) -> Result<Classes, SchemaError> {
        let id = self.tuple_id(stepped);
        if let Some(known) = self.splits.get(&id) {
            return Ok(known.clone());
        }
        let mut leaves: Vec<(Tuple, F)> = Vec::new();
        let outer = std::mem::replace(&mut self.inhabited.rests_on, usize::MAX);
        self.leaves(stepped.to_vec(), F::TRUE, &mut leaves)?;
        if let [(residuals, class)] = &leaves[..] {
            let (residuals, class) = (self.tuple_id(residuals), *class);
            let split =
                if self.is_inhabited(class)? { vec![(residuals, class)] } else { Vec::new() };
            return Ok(self.keep_split(id, split, outer));
        }
        // In the order in which residuals are met, so that equal schemas give equal machines.
        let mut order: Vec<TupleId> = Vec::new();
        let mut classes: FxHashMap<TupleId, Vec<F>> = FxHashMap::default();
        for (residuals, class) in leaves {
            let residuals = self.tuple_id(&residuals);
            let members = classes.entry(residuals).or_default();
            if members.is_empty() {
                order.push(residuals);
            }
            members.push(class);
        }
        let mut split = Vec::with_capacity(order.len());
        for residuals in order {
            let class = self.reader.formulas.or(classes.remove(&residuals).unwrap_or_default());
            if self.is_inhabited(class)? {
                split.push((residuals, class));
            }
        }
        Ok(self.keep_split(id, split, outer))
    }

    /// Keeps the classes of `id`, unless they may change; what they rest on counts for what `outer`
    /// is found of, too.
    fn keep_split(&mut self, id: TupleId, split: Vec<(TupleId, F)>, outer: usize) -> Classes {
        let split: Classes = split.into();
        // What rests on a formula that is still being searched may change.
        if self.inhabited.rests_on == usize::MAX {
            self.splits.insert(id, split.clone());
        }
        self.inhabited.rests_on = self.inhabited.rests_on.min(outer);
        split
    }

    /// Shannon's expansion over what is asked of the member, which satisfies `class` so far.
    fn leaves(
        &mut self,
        tuple: Vec<F>,
        class: F,
        leaves: &mut Vec<(Tuple, F)>,
    ) -> Result<(), SchemaError> {
        self.spend(tuple.len())?;
        if tuple.iter().all(|&residual| residual == F::FALSE) {
            return Ok(());
        }
        let Some(asked) = tuple.iter().find_map(|&residual| self.first_asked(residual)) else {
            leaves.push((tuple.into(), class));
            return Ok(());
        };
        if let Asked::Child(child) = asked
            && let Some(rests) = self.needed(child, &tuple)
        {
            let narrower = self.reader.formulas.and([class, child]);
            if narrower == F::FALSE || class != F::TRUE && !self.is_inhabited(narrower)? {
                return Ok(());
            }
            return self.leaves(rests, narrower, leaves);
        }
        if let Asked::Child(child) = asked {
            let apart = self.listed_apart(child, &tuple)?;
            if apart.len() >= MANY_APART {
                return self.leaves_apart(&apart, &tuple, class, leaves);
            }
        }
        let answers = self.answers(asked, &tuple);
        let not = match asked {
            Asked::Child(child) => self.not_child(&tuple, child)?,
            Asked::Fingerprint(_) => F::FALSE,
        };
        for (left, set) in answers {
            let Reader { formulas, atoms, .. } = &mut self.reader;
            let literal = match asked {
                Asked::Child(child) if left == [F::TRUE] => child,
                Asked::Child(_) => not,
                Asked::Fingerprint(rule) => formulas.fingerprint(rule, set),
            };
            let narrower = formulas.and([class, literal]);
            let mut replace = |formulas: &mut Formulas, atom| match (asked, atom) {
                (Asked::Child(child), Atom::Child(of)) if of == child => left[0],
                (Asked::Fingerprint(rule), Atom::ByFingerprint(of, list)) if of == rule => {
                    atoms.branches.get(list)[set.trailing_zeros() as usize]
                }
                _ => formulas.atom(atom),
            };
            let mut memo = FxHashMap::default();
            let rest: Vec<F> = tuple
                .iter()
                .map(|&residual| formulas.map(residual, &mut memo, &mut replace))
                .collect();
            if narrower == F::FALSE || rest.iter().all(|&residual| residual == F::FALSE) {
                continue;
            }
            if class != F::TRUE && !self.is_inhabited(narrower)? {
                continue;
            }
            self.leaves(rest, narrower, leaves)?;
        }
        Ok(())
    }

    /// Formulas, `child` among them, that the tuple asks about the next member, that list values,
    /// and of which no value satisfies two: what tells the branches of a large union apart.
    fn listed_apart(&mut self, child: F, tuple: &[F]) -> Result<Vec<F>, SchemaError> {
        let mut apart = vec![child];
        let Some(values) = self.listed_values(child)? else { return Ok(apart) };
        let mut seen: FxHashSet<(bool, u32)> = values.into_iter().collect();
        let mut others: Vec<F> = (self.reader.formulas.atoms(tuple).into_iter())
            .filter_map(|atom| if let Atom::Child(other) = atom { Some(other) } else { None })
            .filter(|&other| other != child)
            .collect();
        others.sort_unstable();
        for other in others {
            let Some(values) = self.listed_values(other)? else { continue };
            if values.iter().all(|value| !seen.contains(value)) {
                seen.extend(values);
                apart.push(other);
            }
        }
        Ok(apart)
    }

    /// The strings or numbers of which each value that satisfies the formula is one, by number, if
    /// it says so at first sight; and whether they are numbers.
    pub(super) fn listed_values(
        &mut self,
        formula: F,
    ) -> Result<Option<Vec<(bool, u32)>>, SchemaError> {
        let whole = self.whole(formula)?;
        let formulas = &self.reader.formulas;
        let listed = |part: F| match formulas.shape(part) {
            Shape::Atom(Atom::Strings(set)) => Some((false, set)),
            Shape::Atom(Atom::Numbers(set)) => Some((true, set)),
            _ => None,
        };
        let found = match formulas.shape(whole) {
            Shape::And(list) => formulas.parts(list).iter().find_map(|&part| listed(part)),
            _ => listed(whole),
        };
        let values = |(is_number, set)| {
            let values = self.reader.atoms.sets.get(set).iter();
            values.map(|&value| (is_number, value)).collect()
        };
        Ok(found.map(values))
    }

    /// The same where the next member satisfies one of these formulas at most: one leaf or more for
    /// each, and for none of them. To expand by one after the other would take a look at all that
    /// is left for each two of them.
    fn leaves_apart(
        &mut self,
        apart: &[F],
        tuple: &[F],
        class: F,
        leaves: &mut Vec<(Tuple, F)>,
    ) -> Result<(), SchemaError> {
        let mut none = class;
        for &child in apart {
            let not = self.not_child(tuple, child)?;
            none = self.reader.formulas.and([none, not]);
        }
        let set: FxHashSet<F> = apart.iter().copied().collect();
        for chosen in apart.iter().copied().map(Some).chain([None]) {
            let narrower = match chosen {
                Some(child) => self.reader.formulas.and([class, child]),
                None => none,
            };
            let mut replace = |formulas: &mut Formulas, atom| match atom {
                Atom::Child(of) if set.contains(&of) => Formulas::constant(chosen == Some(of)),
                _ => formulas.atom(atom),
            };
            let mut memo = FxHashMap::default();
            let rest = tuple.iter();
            let rest: Vec<F> = rest
                .map(|&residual| self.reader.formulas.map(residual, &mut memo, &mut replace))
                .collect();
            let is_empty = narrower == F::FALSE || rest.iter().all(|&of| of == F::FALSE);
            if !is_empty && self.is_inhabited(narrower)? {
                self.leaves(rest, narrower, leaves)?;
            }
        }
        Ok(())
    }

    /// What is left of a tuple all of whose formulas the next member must satisfy `child` for, as
    /// most do; `None` where they are not seen at once to be such.
    fn needed(&mut self, child: F, tuple: &[F]) -> Option<Vec<F>> {
        let asked = self.reader.formulas.atom(Atom::Child(child));
        let mut rests = Vec::with_capacity(tuple.len());
        for &residual in tuple {
            let rest = match self.reader.formulas.shape(residual) {
                Shape::False => F::FALSE,
                Shape::Atom(_) if residual == asked => F::TRUE,
                Shape::And(list) => {
                    let parts: SmallVec<[F; 8]> = self.reader.formulas.parts(list).into();
                    let mut asks = |part: F| {
                        !matches!(self.reader.formulas.shape(part), Shape::Atom(_))
                            && self.first_asked(part).is_some()
                    };
                    if !parts.contains(&asked) || parts.iter().copied().any(&mut asks) {
                        return None;
                    }
                    let others = parts.into_iter().filter(|&part| part != asked);
                    self.reader.formulas.and(others)
                }
                _ => return None,
            };
            rests.push(rest);
        }
        Some(rests)
    }

    /// The answers to what is asked, and what each leaves: of fingerprints those are one answer
    /// behind which the same is left.
    fn answers(&self, asked: Asked, tuple: &[F]) -> Vec<(Vec<F>, u16)> {
        let Asked::Fingerprint(rule) = asked else {
            return vec![(vec![F::TRUE], 0), (vec![F::FALSE], 0)];
        };
        let atoms = self.reader.formulas.atoms(tuple);
        let lists = atoms.into_iter().filter_map(|atom| match atom {
            Atom::ByFingerprint(of, list) if of == rule => Some(list),
            _ => None,
        });
        let lists: Vec<u32> = lists.collect();
        let mut answers: Vec<(Vec<F>, u16)> = Vec::new();
        for own in 0..rule.modulus {
            let left = |&list: &u32| self.reader.atoms.branches.get(list)[usize::from(own)];
            let left: Vec<F> = lists.iter().map(left).collect();
            match answers.iter_mut().find(|(known, _)| *known == left) {
                Some((_, set)) => *set |= 1 << own,
                None => answers.push((left, 1 << own)),
            }
        }
        answers
    }

    /// Something that the formula asks of the next member.
    fn first_asked(&mut self, formula: F) -> Option<Asked> {
        let formulas = &self.reader.formulas;
        match formulas.shape(formula) {
            Shape::Atom(Atom::Child(child)) => return Some(Asked::Child(child)),
            Shape::Atom(Atom::ByFingerprint(rule, _)) => return Some(Asked::Fingerprint(rule)),
            Shape::Atom(_) | Shape::True | Shape::False => return None,
            Shape::Not(inner) => return self.first_asked(inner),
            Shape::And(_) | Shape::Or(_) | Shape::One(_) => {}
        }
        if let Some(&known) = self.first_asked.get(&formula) {
            return known;
        }
        let found = match formulas.shape(formula) {
            Shape::And(list) | Shape::Or(list) | Shape::One(list) => {
                let parts = formulas.parts(list).to_vec();
                parts.into_iter().find_map(|part| self.first_asked(part))
            }
            _ => None,
        };
        self.first_asked.insert(formula, found);
        found
    }
}
