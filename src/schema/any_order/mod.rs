//! Productions of objects with keys in any order, if too many keys depend on each other.
//!
//! The possible results for an object are a set of [alternatives](super::alternatives). After a
//! member, only those that allow it remain. So a state is the set of remaining alternatives, and
//! there are few states: most keys exclude none. A state does not know which keys were present. The
//! list of members is right-recursive, and a [`Requirement`] lets it end once one of the remaining
//! alternatives has everything it requires: members under certain keys, and members that violate
//! the denied conditions. A key may appear twice; whichever member a reader keeps, all remaining
//! alternatives allow it. Among members that violate a condition, only the last one under a key
//! counts. An alternative that allows few members counts those that it does not require at every
//! occurrence.
//!
//! Only one outcome may end in a state, and usually only one can: if alternatives of two outcomes
//! remain, they exclude each other by a member that one of them requires and the other does not
//! allow. It has not been read, so the alternative that requires it cannot end there.
//!
//! If there are too many states or classes of members, each alternative is a separate reading: a
//! `generator` may determine the `parameters`, but come after them. The intended reading is known
//! only later, and the parser follows all of them. Each begins with its own nonterminal, which
//! derives the empty text. All of them continue with the brace and diverge there, so that lexemes
//! of one reading never compete with those of another.

mod required;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::ir::{Symbol, Symbols};
use crate::grammar::requirement::{End, Requirement, Set};
use crate::schema::alternatives::Alternative;
use crate::schema::build::{Builder, nth};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, FormulaId, Type};
use crate::schema::members::MOST_OWED;
use crate::schema::states::{Key, Step, TupleId};
use crate::util::bitset::BitSet;
use crate::util::id::NonterminalId;

use required::{Effect, Member, Required};

use FormulaId as F;

/// Maximum number of productions for the members of one object.
const MOST_PRODUCTIONS: usize = 10_000;
/// The same maximum if the grammar is large already.
const FEW_PRODUCTIONS: usize = 1_000;

/// Maximum number of answers that distinguish members under one key.
const MOST_ANSWERS: usize = 200;
/// Maximum number of formulas on the array or object under one key. With more, separate readings of
/// the alternatives are preferable: there may be a class of values for each set of such formulas,
/// and the values nested in each class must be distinguished in turn.
const MOST_TOLD: usize = 4;
/// Maximum number of alternatives with separate readings. If such objects are nested, each reading
/// of one continues with all readings of the next.
const MOST_READINGS: usize = 32;
/// Maximum number of conditions that are denied at once.
const MOST_DENIED: usize = 8;

/// State of a list of members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The remaining alternatives.
    left: BitSet,
    /// For each alternative with a limit on other members, the number of those it may still have.
    room: Rc<[u64]>,
}

/// A key, or a class of equivalent keys.
struct Under {
    lexeme: Symbol,
    /// Classes of values allowed under it.
    formulas: Vec<F>,
    /// For each class, the number of the member; `None` if no alternative allows one.
    members: Vec<Option<usize>>,
    /// Whether only the last member counts.
    is_revocable: bool,
}

/// Alternatives of an object that are read together, and whose productions are still to be built.
struct Object {
    alternatives: Vec<Alternative>,
    /// All conditions that alternatives deny.
    denied: Vec<F>,
    keys: Vec<Under>,
    members: Vec<Member>,
    /// Numbers of members, by effect and by key where the key matters.
    numbers: FxHashMap<(Option<Key>, Effect), usize>,
    /// Requirements of each alternative.
    required: Vec<Required>,
    /// States reached by members; the initial state is first.
    states: Vec<State>,
    /// Number of productions for members with a successor state.
    productions: usize,
}

impl Object {
    fn new(alternatives: Vec<Alternative>) -> Self {
        let mut denied: Vec<F> = alternatives.iter().flat_map(|own| &own.denied).copied().collect();
        denied.sort_unstable();
        denied.dedup();
        Self {
            alternatives,
            denied,
            keys: Vec::new(),
            members: Vec::new(),
            numbers: FxHashMap::default(),
            required: Vec::new(),
            states: Vec::new(),
            productions: 0,
        }
    }

    /// Adds a key, and numbers the members under it. Members with the same effect share one number,
    /// unless their key matters.
    fn add_key(&mut self, key: Key, lexeme: Symbol, formulas: Vec<F>, effects: Vec<Effect>) {
        let is_required = match key {
            Key::Named(name) => self.alternatives.iter().any(|own| own.required.contains(&name)),
            Key::Other(_) | Key::Absent(_) => false,
        };
        let is_revocable = effects.iter().any(|effect| !effect.breaks.is_empty());
        let own = (is_required || is_revocable).then_some(key);
        let number = |effect: Effect| {
            if effect.leaves.is_empty() {
                return None;
            }
            let new = self.numbers.len();
            let number = *self.numbers.entry((own, effect.clone())).or_insert(new);
            if number == new {
                self.members.push(Member { key: own, effect });
            }
            Some(number)
        };
        let members = effects.into_iter().map(number).collect();
        self.keys.push(Under { lexeme, formulas, members, is_revocable });
    }

    /// Returns the outcomes of these alternatives, in ascending order.
    fn outcomes(&self, of: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut outcomes: Vec<usize> =
            of.into_iter().map(|number| self.alternatives[number].outcome).collect();
        outcomes.dedup();
        outcomes
    }

    /// Returns the alternatives whose requirements can be met while all of `left` remain.
    fn ends(&self, left: &BitSet) -> Vec<usize> {
        let leaves_all = |member: usize| left.is_subset(&self.members[member].effect.leaves);
        left.iter().filter(|&number| self.required[number].is_met(leaves_all)).collect()
    }

    /// Returns the state after a member.
    fn behind(&self, state: &State, member: &Member) -> State {
        let State { mut left, mut room } = state.clone();
        left.intersect_with(&member.effect.leaves);
        for number in state.left.iter() {
            let own = &self.alternatives[number];
            let is_required =
                matches!(member.key, Some(Key::Named(name)) if own.required.contains(&name));
            if own.most_others.is_none() || is_required {
                continue;
            }
            if room[number] == 0 {
                left.remove(number);
            }
            // An excluded alternative has no room, to keep the number of states minimal.
            let is_left = left.contains(number);
            Rc::make_mut(&mut room)[number] = if is_left { room[number] - 1 } else { 0 };
        }
        State { left, room }
    }

    /// Finds the requirements of alternatives and the states reached by members. Returns whether it
    /// succeeded with few states and at most one outcome that can end in each.
    fn find_states(&mut self, most: usize) -> bool {
        // Nearly all of them are allowed at the beginning.
        if self.members.len() > most {
            return false;
        }
        let mut by_name: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (number, member) in self.members.iter().enumerate() {
            if let Some(Key::Named(name)) = member.key {
                by_name.entry(name).or_default().push(number);
            }
        }
        for (number, alternative) in self.alternatives.iter().enumerate() {
            let (denied, members) = (&self.denied, &self.members);
            let required = Required::of(alternative, number, denied, members, &by_name);
            let Some(required) = required else { return false };
            self.required.push(required);
        }
        // An alternative that requires a member but allows none for it has no objects.
        let mut left = BitSet::new(self.alternatives.len());
        let mut room = vec![0; self.alternatives.len()];
        for (number, own) in self.alternatives.iter().enumerate() {
            if self.required[number].is_met(|_| true) {
                left.insert(number);
                room[number] = own.most_others.unwrap_or_default();
            }
        }
        let first = State { left, room: room.into() };
        let mut seen: FxHashSet<State> = [first.clone()].into_iter().collect();
        self.states.push(first);
        let mut next = 0;
        while let Some(state) = self.states.get(next).cloned() {
            next += 1;
            for member in &self.members {
                let behind = self.behind(&state, member);
                self.productions += self.outcomes(behind.left.iter()).len();
                if !behind.left.is_empty() && seen.insert(behind.clone()) {
                    self.states.push(behind);
                }
            }
            if self.productions > most || self.outcomes(self.ends(&state.left)).len() > 1 {
                return false;
            }
        }
        true
    }
}

impl Builder<'_, '_> {
    /// Adds productions for all outcomes of the objects that begin with `start`, with keys in any
    /// order. Returns `false` if that is not possible.
    pub(super) fn object_in_any_order(
        &mut self,
        composite: NonterminalId,
        start: TupleId,
        has_room: bool,
    ) -> Result<bool, SchemaError> {
        let Some(alternatives) = self.machine.alternatives(start)? else { return Ok(false) };
        let are_many =
            |own: &Alternative| own.required.len() > MOST_OWED || own.denied.len() > MOST_DENIED;
        if alternatives.iter().any(are_many) {
            return Ok(false);
        }
        let frame = self.machine.frame(start)?;
        let names = self.machine.frames.get(frame).names.clone();
        let mut keys: Vec<(Key, Symbol)> =
            names.iter().map(|&name| (Key::Named(name), self.key(name))).collect();
        keys.extend((0..).map(Key::Other).zip(self.other_lexemes(frame)?));
        let most = if has_room { MOST_PRODUCTIONS } else { FEW_PRODUCTIONS };
        let apart: Vec<Vec<Alternative>> =
            alternatives.iter().map(|own| vec![own.clone()]).collect();
        let mut readings = vec![vec![alternatives]];
        if apart.len() > 1 && apart.len() <= MOST_READINGS {
            readings.push(apart);
        }
        if self.asks_much(frame, start, keys.iter().map(|&(key, _)| key))? {
            readings.reverse();
        }
        for readings in readings {
            let Some(objects) = self.objects(readings, frame, &keys, most)? else { continue };
            let are_several = objects.len() > 1;
            self.fragment.has_conflicts |= are_several;
            for object in objects {
                let mut begin = Symbols::new();
                if are_several {
                    let own = self.fragment.nonterminals("alternative", 1);
                    self.production(own, [])?;
                    begin.push(Symbol::Nonterminal(own));
                }
                let members = self.members(&object)?;
                self.lists(&object, composite, &begin, members)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether too many formulas constrain the array or the object under one of these keys to
    /// distinguish its classes.
    pub(super) fn asks_much(
        &mut self,
        frame: u32,
        start: TupleId,
        keys: impl IntoIterator<Item = Key>,
    ) -> Result<bool, SchemaError> {
        for key in keys {
            let stepped = self.machine.member_step(Step { frame, key, position: 0 }, start)?;
            let atoms = self.machine.reader.formulas.atoms(&stepped);
            self.machine.spend(atoms.len())?;
            let mut told = 0;
            for atom in atoms {
                let Atom::Child(child) = atom else { continue };
                let is_nested = self.machine.project(child, Type::Array)? != F::FALSE
                    || self.machine.project(child, Type::Object)? != F::FALSE;
                told += usize::from(is_nested);
            }
            if told > MOST_TOLD {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Builds the object of each set of alternatives, or returns `None` if it takes too many
    /// productions.
    fn objects(
        &mut self,
        readings: Vec<Vec<Alternative>>,
        frame: u32,
        keys: &[(Key, Symbol)],
        most: usize,
    ) -> Result<Option<Vec<Object>>, SchemaError> {
        let mut objects = Vec::with_capacity(readings.len());
        let mut room = most;
        for alternatives in readings {
            let mut object = Object::new(alternatives);
            let mut asks: Vec<F> = object.alternatives.iter().map(|own| own.asks).collect();
            for &denied in &object.denied {
                asks.push(self.machine.reader.formulas.not(denied));
            }
            let asks = self.machine.tuple_id(&asks);
            for &(key, lexeme) in keys {
                let step = Step { frame, key, position: 0 };
                let classes = self.machine.member_classes_up_to(MOST_ANSWERS, step, asks)?;
                let Some(classes) = classes else { return Ok(None) };
                let formulas = classes.iter().map(|&(_, class)| class).collect();
                let effects =
                    classes.iter().map(|&(behind, _)| self.effect(&object, behind)).collect();
                object.add_key(key, lexeme, formulas, effects);
            }
            if !object.find_states(room) {
                return Ok(None);
            }
            room -= object.productions;
            objects.push(object);
        }
        Ok(Some(objects))
    }

    /// Returns the effect of a member after which the residuals are `behind`.
    fn effect(&self, object: &Object, behind: TupleId) -> Effect {
        let residuals = self.machine.tuple(behind);
        let (asks, denied) = residuals.split_at(object.alternatives.len().min(residuals.len()));
        let set = |holds: &dyn Fn(F) -> bool, of: &[F]| {
            let mut set = BitSet::new(of.len());
            for (number, &residual) in of.iter().enumerate() {
                if holds(residual) {
                    set.insert(number);
                }
            }
            set
        };
        let leaves = set(&|residual| residual != F::FALSE, asks);
        Effect { leaves, breaks: set(&|residual| residual == F::TRUE, denied) }
    }

    /// Adds productions of the members, and returns the first of their nonterminals.
    fn members(&mut self, object: &Object) -> Result<NonterminalId, SchemaError> {
        let first = self.fragment.nonterminals("member", object.members.len());
        let colon = self.punctuation.colon;
        for Under { lexeme, formulas, members, .. } in &object.keys {
            let values = self.values(formulas)?;
            for (member, value) in members.iter().zip(values) {
                if let Some(member) = *member {
                    self.production(nth(first, member), [*lexeme, colon, value])?;
                }
            }
        }
        Ok(first)
    }

    /// Adds productions of the lists of members, whose nonterminals begin with `symbols`; `front`
    /// comes before the brace.
    fn lists(
        &mut self,
        object: &Object,
        composite: NonterminalId,
        front: &[Symbol],
        symbols: NonterminalId,
    ) -> Result<(), SchemaError> {
        let (open, close) = (self.punctuation.open_object, self.punctuation.close_object);
        let comma = self.punctuation.comma;
        let count = object.alternatives.iter().map(|own| own.outcome + 1).max().unwrap_or(0);
        let first: FxHashMap<&State, [NonterminalId; 2]> = (object.states.iter())
            .map(|state| {
                (state, ["members", "rest"].map(|name| self.fragment.nonterminals(name, count)))
            })
            .collect();
        let mut ends = Vec::with_capacity(object.states.len());
        for state in &object.states {
            let [more, rest] = first[state];
            let sets = object.ends(&state.left);
            for outcome in object.outcomes(state.left.iter()) {
                let more = nth(more, outcome);
                for (number, member) in object.members.iter().enumerate() {
                    let next = object.behind(state, member);
                    if object.outcomes(next.left.iter()).contains(&outcome) {
                        let behind = [nth(symbols, number), nth(first[&next][1], outcome)];
                        self.production(more, behind.map(Symbol::Nonterminal))?;
                    }
                }
                let rest = nth(rest, outcome);
                self.production(rest, [comma, Symbol::Nonterminal(more)])?;
                let own = sets.iter().filter(|&&set| object.alternatives[set].outcome == outcome);
                let own: Vec<u32> = own.map(|&set| set as u32).collect();
                if !own.is_empty() {
                    self.production(rest, [])?;
                }
                ends.push(End { rest, sets: own });
            }
        }
        let begin = &object.states[0];
        for outcome in object.outcomes(begin.left.iter()) {
            let members = Symbol::Nonterminal(nth(first[begin][0], outcome));
            let whole = front.iter().copied().chain([open, members, close]);
            self.production(nth(composite, outcome), whole)?;
            let mut own = object.alternatives.iter().filter(|own| own.outcome == outcome);
            if own.any(Alternative::allows_none) {
                let empty = front.iter().copied().chain([open, close]);
                self.production(nth(composite, outcome), empty)?;
            }
        }
        let member = |of: &Vec<usize>| of.iter().map(|&own| nth(symbols, own)).collect();
        let members = |of: &[Vec<usize>]| of.iter().map(member).collect();
        let set = |Required { lasting, revocable, remedy }: &Required| Set {
            lasting: members(lasting),
            revocable: members(revocable),
            remedy: members(remedy),
        };
        let sets = object.required.iter().map(set).collect();
        if let (Symbol::Terminal(separator), Symbol::Terminal(open)) = (comma, open) {
            let revocable = object.keys.iter().filter(|under| under.is_revocable);
            let of = |under: &Under| {
                let mut members: Vec<usize> = under.members.iter().flatten().copied().collect();
                members.sort_unstable();
                members.dedup();
                members.into_iter().map(|member| nth(symbols, member)).collect()
            };
            let (separator, keys) = (Some(separator), revocable.map(of).collect());
            self.fragment.requirements.push(Requirement { ends, separator, open, sets, keys });
        }
        Ok(())
    }
}
