//! Productions of objects.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::grammar::ir::Symbol;
use crate::grammar::pattern::Pattern;
use crate::schema::build::Builder;
use crate::schema::error::SchemaError;
use crate::schema::formula::FormulaId;
use crate::schema::machine::{Tuple, TupleId};
use crate::schema::object::{Key, Step};
use crate::schema::options::KeyOrder;
use crate::schema::text;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;

use FormulaId as F;

/// Which named keys may still come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Left {
    /// Those from this position on, in their order.
    From(u32),
    /// Those at these positions, in any order.
    Among(Rc<[u32]>),
}

/// Objects of more names have too many sets of them.
const MOST_UNORDERED: usize = 10;
/// Where there are more productions already, sets of names are too costly.
const MOST_PRODUCTIONS: usize = 10_000;

/// Between which lexemes a state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// A key must come.
    Key,
    /// A named key must come: some were passed over.
    NamedKey,
    /// A comma may come, or the end.
    Member,
}

/// The state of an object in between.
type State = (Left, TupleId, Phase);

/// An object whose productions are being made.
struct Object {
    start: TupleId,
    frame: u32,
    names: Rc<[u32]>,
    known: FxHashMap<State, NonterminalId>,
    pending: Vec<State>,
    /// Lexemes of the named keys and of the classes of other keys.
    keys: Vec<Symbol>,
    others: Vec<Symbol>,
    ends: FxHashMap<(Left, TupleId), Rc<Tuple>>,
}

impl Builder<'_, '_> {
    /// Productions for all outcomes of the objects that begin with `start`.
    pub(super) fn object(&mut self, start: TupleId) -> Result<(), SchemaError> {
        let frame = self.machine.frame(start)?;
        let (keys, others) = self.lexemes(frame)?;
        let names = self.machine.frames.get(frame).names.clone();
        let wants_any = self.machine.reader.options.order == KeyOrder::Any;
        let left = match wants_any && self.has_room(names.len()) {
            true => Left::Among((0..names.len() as u32).collect()),
            false => Left::From(0),
        };
        let (known, ends) = (FxHashMap::default(), FxHashMap::default());
        let mut object = Object { start, frame, names, known, pending: Vec::new(), keys, others, ends };
        let ends = self.ends(&mut object, &left, start)?;
        let (open, close) = (self.punctuation.open_object, self.punctuation.close_object);
        self.close(self.object_symbols(start), &ends, &[open, close])?;
        let first = self.state(&mut object, (left, start, Phase::Key));
        self.production(first, [open])?;
        while let Some(state) = object.pending.pop() {
            let symbol = Symbol::Nonterminal(object.known[&state]);
            match state {
                (left, residuals, Phase::Member) => {
                    self.behind_member(&mut object, symbol, left, residuals)?;
                }
                (left, residuals, Phase::Key) => self.before_key(&mut object, symbol, &left, residuals)?,
                (left, residuals, Phase::NamedKey) => {
                    self.before_name(&mut object, symbol, &left, residuals)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an object of so many names may have states for sets of them. If not, it keeps the
    /// declared order, and a warning says so.
    fn has_room(&mut self, names: usize) -> bool {
        if names <= MOST_UNORDERED && self.fragment.productions.len() < MOST_PRODUCTIONS {
            return true;
        }
        let message = format!("objects of more than {MOST_UNORDERED} named keys keep the declared order");
        self.machine.reader.warn(Diagnostic::warning("narrowed-schema", message));
        false
    }

    /// The terminals of a frame's keys.
    fn lexemes(&mut self, frame: u32) -> Result<(Vec<Symbol>, Vec<Symbol>), SchemaError> {
        let frame = self.machine.frames.get(frame).clone();
        let mut keys = Vec::with_capacity(frame.names.len());
        for &name in &*frame.names {
            let text = text::spelling(self.machine.reader.atoms.texts.get(name));
            keys.push(self.fragment.terminal("KEY", Pattern::Literal { text, ignore_case: false }));
        }
        let mut others = Vec::with_capacity(frame.others.len());
        for class in &*frame.others {
            let spelled = self.machine.texts.spelled(&class.keys);
            let pattern = spelled.map_err(|error| self.machine.too_large(&error))?;
            others.push(self.fragment.terminal("KEYS", pattern));
        }
        Ok((keys, others))
    }

    fn state(&mut self, object: &mut Object, state: State) -> NonterminalId {
        *object.known.entry(state).or_insert_with_key(|state| {
            object.pending.push(state.clone());
            self.fragment.nonterminals("members", 1)
        })
    }

    /// Of each residual, whether it holds when no named key comes any more.
    fn ends(
        &mut self,
        object: &mut Object,
        left: &Left,
        residuals: TupleId,
    ) -> Result<Rc<Tuple>, SchemaError> {
        let mut way = Vec::new();
        let (mut left, mut residuals) = (left.clone(), residuals);
        let ends = loop {
            if let Some(known) = object.ends.get(&(left.clone(), residuals)) {
                break known.clone();
            }
            way.push((left.clone(), residuals));
            let (position, next) = match &left {
                Left::From(position) => (*position, Left::From(position + 1)),
                Left::Among(positions) => match positions.split_first() {
                    Some((&first, rest)) => (first, Left::Among(rest.into())),
                    None => (u32::MAX, left.clone()),
                },
            };
            let Some(&name) = object.names.get(position as usize) else {
                break Rc::new(self.machine.object_ends(residuals));
            };
            residuals = self.machine.absent(object.frame, name, position + 1, residuals)?;
            left = next;
        };
        for state in way {
            object.ends.insert(state, ends.clone());
        }
        Ok(ends)
    }

    fn behind_member(
        &mut self,
        object: &mut Object,
        symbol: Symbol,
        left: Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let ends = self.ends(object, &left, residuals)?;
        let close = [symbol, self.punctuation.close_object];
        self.close(self.object_symbols(object.start), &ends, &close)?;
        let next = self.state(object, (left, residuals, Phase::Key));
        let comma = self.punctuation.comma;
        self.production(next, [symbol, comma])
    }

    fn before_key(
        &mut self,
        object: &mut Object,
        symbol: Symbol,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        for class in 0..object.others.len() {
            let position = match left {
                Left::From(position) => *position,
                Left::Among(_) => 0,
            };
            let step = Step { frame: object.frame, key: Key::Other(class as u32), position };
            let lexeme = object.others[class];
            self.member(object, symbol, lexeme, step, left, residuals)?;
        }
        match left {
            Left::From(position) if (*position as usize) < object.names.len() => {
                let next = self.state(object, (left.clone(), residuals, Phase::NamedKey));
                self.production(next, [symbol])?;
            }
            Left::From(_) => {}
            Left::Among(positions) => {
                for (at, &position) in positions.iter().enumerate() {
                    let rest = positions[..at].iter().chain(&positions[at + 1..]).copied().collect();
                    let key = Key::Named(object.names[position as usize]);
                    let step = Step { frame: object.frame, key, position: 0 };
                    let lexeme = object.keys[position as usize];
                    self.member(object, symbol, lexeme, step, &Left::Among(rest), residuals)?;
                }
            }
        }
        Ok(())
    }

    fn before_name(
        &mut self,
        object: &mut Object,
        symbol: Symbol,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let Left::From(position) = *left else { return Ok(()) };
        let Some(&name) = object.names.get(position as usize) else { return Ok(()) };
        let next = Left::From(position + 1);
        let lexeme = object.keys[position as usize];
        let step = Step { frame: object.frame, key: Key::Named(name), position: position + 1 };
        self.member(object, symbol, lexeme, step, &next, residuals)?;
        let absent = self.machine.absent(object.frame, name, position + 1, residuals)?;
        if self.machine.tuple(absent).iter().any(|&residual| residual != F::FALSE)
            && (position as usize + 1) < object.names.len()
        {
            let passed = self.state(object, (next, absent, Phase::NamedKey));
            self.production(passed, [symbol])?;
        }
        Ok(())
    }

    /// A member under one key, for each class of values that may stand there.
    fn member(
        &mut self,
        object: &mut Object,
        symbol: Symbol,
        lexeme: Symbol,
        step: Step,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let classes = self.machine.member_classes(step, residuals)?;
        let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
        for (outcome, &(next, _)) in classes.iter().enumerate() {
            let value = self.value(&formulas, outcome)?;
            let behind = self.state(object, (left.clone(), next, Phase::Member));
            let colon = self.punctuation.colon;
            self.production(behind, [symbol, lexeme, colon, value])?;
        }
        Ok(())
    }
}
