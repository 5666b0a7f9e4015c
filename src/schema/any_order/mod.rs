//! Productions of objects with keys in any order, where too many of these hang together.
//!
//! What can become of the object is a set of [alternatives](super::alternatives). A member leaves
//! those that allow it. So a state is the set of alternatives that are left, and there are few:
//! most keys exclude none. Which keys were there no state knows. The list of members is
//! right-recursive, and a [`Requirement`] lets it end where one of the alternatives that are left
//! has all that it requires: members under certain keys, and such as break the conditions that are
//! denied. A key may stand twice; whichever member a reader keeps, all alternatives that are left
//! allow it. Only of members that break a condition the last one under a key counts. An alternative
//! that allows few members counts those that it does not require, each time that they stand there.
//!
//! Only one outcome may end in a state, and as a rule only one can: where alternatives of two are
//! left, they exclude each other by a member that one of them requires and that would not leave the
//! other. It has not been read, so the alternative that requires it cannot end there.
//!
//! Where the states or the classes of members are too many, each alternative is read by itself,
//! side by side with the others: a `generator` may say what `parameters` are, and stand behind
//! them. Which of these readings is meant shows later, and the parser follows all of them. Each
//! begins with a nonterminal of its own that derives nothing. The brace comes next in all of them,
//! and they part there, so that lexemes of one never compete with those of another.

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

/// More productions of members than these are not made for one object.
const MOST_PRODUCTIONS: usize = 10_000;
/// Where the grammar is large already, no more than these.
const FEW_PRODUCTIONS: usize = 1_000;

/// Members under one key are told apart by no more answers than these.
const MOST_ANSWERS: usize = 200;
/// Where more formulas than these ask of the array or the object under one key, alternatives had
/// better be read side by side. There may be a class of values for each set of such formulas, and
/// what is nested in each class must be told apart in turn.
const MOST_TOLD: usize = 4;
/// No more alternatives are read side by side: where such objects are nested in one another, each
/// of the readings of one goes on with all of the next.
const MOST_READINGS: usize = 32;
/// More conditions than these are not denied at once.
const MOST_DENIED: usize = 8;

/// What a list of members has come to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The alternatives that are left.
    left: BitSet,
    /// By alternative that allows only so many: how many other members it may still have.
    room: Rc<[u64]>,
}

/// A key, or keys that are alike.
struct Under {
    lexeme: Symbol,
    /// The classes of values that may stand under it.
    formulas: Vec<F>,
    /// By class: the number of the members, `None` where no alternative allows one.
    members: Vec<Option<usize>>,
    /// Whether the last member counts.
    is_revocable: bool,
}

/// Alternatives of an object that are read together, and whose productions are to be made.
struct Object {
    alternatives: Vec<Alternative>,
    /// All conditions that alternatives deny.
    denied: Vec<F>,
    keys: Vec<Under>,
    members: Vec<Member>,
    /// The number of a member by its key, where that matters, and by what it does.
    numbers: FxHashMap<(Option<Key>, Effect), usize>,
    /// By alternative.
    required: Vec<Required>,
    /// What members lead to; the beginning comes first.
    states: Vec<State>,
    /// How many productions members have behind them.
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

    /// Adds a key, and numbers the members under it. What does the same is one member, unless it
    /// matters under which key it stands.
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

    /// The outcomes of these alternatives, ascending.
    fn outcomes(&self, of: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut outcomes: Vec<usize> =
            of.into_iter().map(|number| self.alternatives[number].outcome).collect();
        outcomes.dedup();
        outcomes
    }

    /// The alternatives that may have all that they require while all of `left` are.
    fn ends(&self, left: &BitSet) -> Vec<usize> {
        let leaves_all = |member: usize| left.is_subset(&self.members[member].effect.leaves);
        left.iter().filter(|&number| self.required[number].is_met(leaves_all)).collect()
    }

    /// What a member leads to.
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
            // What is out has no room, so that there are as few states as can be.
            let is_left = left.contains(number);
            Rc::make_mut(&mut room)[number] = if is_left { room[number] - 1 } else { 0 };
        }
        State { left, room }
    }

    /// Finds what alternatives require, and what members lead to. Whether that was found, these
    /// states are few, and one outcome at most can end in each.
    fn find_states(&mut self, most: usize) -> bool {
        // Nearly all may stand at the beginning.
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
        // No object satisfies an alternative that allows none of some members that it requires.
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
    /// Productions for all outcomes of the objects that begin with `start`, with keys in any order;
    /// `false` where that is not to be had.
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

    /// Whether too many formulas ask of the array or the object under one of these keys for its
    /// classes to be told apart.
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

    /// For each of some sets of alternatives what is to be read; `None` where that is too much.
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

    /// What a member does behind which `behind` is left to be asked.
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

    /// Productions of the members; gives the first of their nonterminals.
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

    /// Productions of the lists of members, whose nonterminals begin with `symbols`; `front` stands
    /// before the brace.
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
