//! Deterministic machine of a schema, built level by level.
//!
//! A *value state* is a tuple of formulas no two of which hold of the same value: the formula that
//! a value satisfies is its outcome. The constraints of a state are first separated by the value's
//! type ([`Machine::project`]). An array or an object is read member by member; an intermediate
//! state is the tuple of *residuals*: the constraints that remain after the members so far. A step
//! turns each residual into a formula about the next member ([`Atom::Child`]) and the residual
//! after it, and [`Machine::split`] finds the classes of members that lead to the same residuals
//! ([`super::member_classes`]). The classes are disjoint, so they form a value state again.
//!
//! This is a bottom-up deterministic tree automaton run from the top (Bruyère, Perez, Staquet,
//! "Validating Streaming JSON Documents with Learned VPAs", TACAS 2023, has the general argument).
//! Members are read in one order, so a residual need not record in which order they came.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::lexer::Dfa;
use crate::schema::emptiness::Inhabited;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::fingerprint;
use crate::schema::formula::{Atom, FormulaId, Formulas, Type};
use crate::schema::json::NodeId;
use crate::schema::keywords::Reader;
use crate::schema::states::{Asked, Classes, Frame, Step, Tuple, TupleId};
use crate::schema::text::Texts;
use crate::util::append::Interner;
use crate::util::diagnostic::Diagnostic;
use crate::util::meter::{Holding, Meter};

use FormulaId as F;

/// Amount of work reported to the meter at a time.
const COUNTED_AT_ONCE: usize = 100;
/// Steps of the meter for a step of the analysis, which makes and looks up formulas: 20 to 30
/// nanoseconds.
const STEPS_OF_WORK: usize = 3;
/// Bytes of the meter for a step of the analysis, which keeps some of the formulas.
const BYTES_OF_WORK: usize = 3;

/// The machine, as far as it has been built.
pub(super) struct Machine<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) texts: Texts<'a>,
    pub(super) tuples: Interner<Tuple>,
    pub(super) frames: Interner<Frame>,
    pub(super) frames_of: FxHashMap<TupleId, u32>,
    /// All keys other than some names, by these names in ascending order.
    pub(super) other_keys: FxHashMap<Rc<[u32]>, Rc<Dfa>>,
    pub(super) inhabited: Inhabited,
    whole: FxHashMap<F, F>,
    projected: FxHashMap<(F, Type), F>,
    pub(super) item_steps: FxHashMap<F, F>,
    pub(super) member_steps: FxHashMap<Step, FxHashMap<F, F>>,
    /// By frame and properties, the number of leading names after which these ask nothing of the
    /// rest.
    pub(super) silent_from: RefCell<FxHashMap<(u32, u32), u32>>,
    pub(super) splits: FxHashMap<TupleId, Classes>,
    pub(super) first_asked: FxHashMap<F, Option<Asked>>,
    /// Steps taken so far, excluding the work of the formulas.
    work: usize,
    /// Part of all work that was reported to the meter.
    counted: usize,
    pub(super) meter: &'a Meter,
    held: Holding,
}

impl<'a> Machine<'a> {
    pub(super) fn new(reader: Reader<'a>, meter: &'a Meter) -> Self {
        Self {
            texts: Texts::new(meter, reader.options),
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
            silent_from: RefCell::default(),
            splits: FxHashMap::default(),
            first_asked: FxHashMap::default(),
            work: 0,
            counted: 0,
            held: meter.holding(),
            meter,
        }
    }

    /// Returns the meter that counts the work.
    pub(super) fn meter(&self) -> &Meter {
        self.meter
    }

    pub(super) fn tuple(&self, id: TupleId) -> &[F] {
        self.tuples.get(id.0)
    }

    pub(super) fn tuple_id(&mut self, tuple: &[F]) -> TupleId {
        TupleId(self.tuples.intern_ref(tuple))
    }

    /// Counts `steps`, and fails if there were too many.
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), SchemaError> {
        self.work += steps;
        let work = self.work + self.reader.formulas.work;
        let most = self.meter.of_schemas().steps;
        if work <= most {
            if work - self.counted >= COUNTED_AT_ONCE {
                let steps = work - std::mem::replace(&mut self.counted, work);
                self.meter.step(STEPS_OF_WORK * steps)?;
                self.held.set(BYTES_OF_WORK * work)?;
            }
            return Ok(());
        }
        let message = format!("the analysis of the schema takes more than {most} steps");
        let error = SchemaError::new(SchemaErrorKind::TooLarge, message)
            .help("raise `schema_steps` of the limits, or put fewer conditions on one value");
        Err(self.where_most_was_taken(error))
    }

    /// Attributes further steps to the values that satisfy a formula. Returns the schema that steps
    /// were attributed to before.
    pub(super) fn turn_to(&mut self, formula: F) -> Option<NodeId> {
        let whole = self.whole.get(&formula).copied().unwrap_or(formula);
        let Reader { origins, formulas, .. } = &self.reader;
        let origin = origins.of(formulas, whole).map(|(node, _)| node);
        let to = origin.or(self.reader.origins.now());
        self.turn_back(to)
    }

    /// Attributes further steps to the values of a schema. Returns the schema before it.
    pub(super) fn turn_back(&mut self, to: Option<NodeId>) -> Option<NodeId> {
        let steps = self.work + self.reader.formulas.work;
        self.reader.origins.turn(to, steps)
    }

    /// Warns that the language is narrowed at the schema that steps are currently attributed to.
    pub(super) fn warn_of_narrowing(&mut self, message: impl Into<String>, help: &str) {
        let place = self.reader.origins.now().map(|node| self.reader.schemas.json.place(node));
        let warning = Diagnostic::warning("narrowed-schema", message).help(help);
        self.reader.warn(warning.at(place));
    }

    /// Adds to an error the location of the schema whose values took most steps.
    pub(super) fn where_most_was_taken(&mut self, error: SchemaError) -> SchemaError {
        let now = self.reader.origins.now();
        self.turn_back(now);
        match self.reader.origins.costliest() {
            Some(node) => {
                let json = &self.reader.schemas.json;
                error.at(json.pointer(node), json.place(node))
            }
            None => error,
        }
    }

    /// Returns the formula with schemas replaced by their formulas.
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

    /// Projects the formula to values of one type.
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
        let projected = self.with_one_list(projected);
        let projected = self.followed_or_narrower(projected)?;
        self.projected.insert((whole, to), projected);
        Ok(projected)
    }

    /// Projects a formula without schemas. Leaves `uniqueItems` that is not denied as it is.
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
        let projected = self.reader.formulas.map(whole, &mut FxHashMap::default(), &mut replace);
        // Items under a denied `uniqueItems` are never followed, which may leave few values or
        // none.
        self.narrower_where(projected, |unique| unique.is_denied)
    }

    /// Whether a formula projected to booleans holds of `value`.
    pub(super) fn holds_of_boolean(&mut self, formula: F, value: bool) -> bool {
        let mut replace = |formulas: &mut Formulas, atom| match atom {
            Atom::Boolean(own) => Formulas::constant(own == value),
            _ => formulas.atom(atom),
        };
        self.reader.formulas.map(formula, &mut FxHashMap::default(), &mut replace) == F::TRUE
    }

    /// Returns, for each residual, whether it holds if its atoms hold as `holds` says.
    pub(super) fn holding(&mut self, tuple: TupleId, holds: impl Fn(Atom) -> bool) -> Tuple {
        let mut replace = |_: &mut Formulas, atom| Formulas::constant(holds(atom));
        let residuals = self.tuples.get(tuple.0).clone();
        let (formulas, mut memo) = (&mut self.reader.formulas, FxHashMap::default());
        residuals.iter().map(|&own| formulas.map(own, &mut memo, &mut replace)).collect()
    }
}
