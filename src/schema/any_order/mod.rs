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
//! As a rule only one outcome can end in a state: where alternatives of two are left, they exclude
//! each other by a member that one of them requires and that would not leave the other. It has not
//! been read, so the alternative that requires it cannot end there.

mod required;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::ir::Symbol;
use crate::grammar::requirement::{End, Requirement, Set};
use crate::schema::alternatives::Alternative;
use crate::schema::build::{Builder, nth};
use crate::schema::error::SchemaError;
use crate::schema::formula::FormulaId;
use crate::schema::members::MOST_OWED;
use crate::schema::states::{Key, Step, TupleId};
use crate::util::bitset::BitSet;
use crate::util::id::NonterminalId;

use required::{Member, Required};

use FormulaId as F;

/// More productions than these are not made for one object.
const MOST_PRODUCTIONS: usize = 10_000;
/// Where the grammar is large already, no more than these.
const FEW_PRODUCTIONS: usize = 1_000;

/// Members under one key are told apart by no more answers than these.
const MOST_ANSWERS: usize = 200;
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

/// An object whose productions are to be made.
struct Object {
    alternatives: Vec<Alternative>,
    /// All conditions that alternatives deny.
    denied: Vec<F>,
    members: Vec<Member>,
    /// By alternative.
    required: Vec<Required>,
    /// The members under keys of which the last counts.
    keys: Vec<Vec<NonterminalId>>,
    /// What members lead to; the beginning comes first.
    states: Vec<State>,
}

impl Object {
    fn new(alternatives: Vec<Alternative>) -> Self {
        let mut denied: Vec<F> = alternatives.iter().flat_map(|own| &own.denied).copied().collect();
        denied.sort_unstable();
        denied.dedup();
        Self {
            alternatives,
            denied,
            members: Vec::new(),
            required: Vec::new(),
            keys: Vec::new(),
            states: Vec::new(),
        }
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
        let leaves_all = |member: usize| left.is_subset(&self.members[member].leaves);
        left.iter().filter(|&number| self.required[number].is_met(leaves_all)).collect()
    }

    /// What a member leads to.
    fn behind(&self, state: &State, member: &Member) -> State {
        let State { mut left, mut room } = state.clone();
        left.intersect_with(&member.leaves);
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
        let (mut next, mut productions) = (0, 0);
        while let Some(state) = self.states.get(next).cloned() {
            next += 1;
            for member in &self.members {
                let behind = self.behind(&state, member);
                productions += self.outcomes(behind.left.iter()).len();
                if !behind.left.is_empty() && seen.insert(behind.clone()) {
                    self.states.push(behind);
                }
            }
            if productions > most || self.outcomes(self.ends(&state.left)).len() > 1 {
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
        let mut object = Object::new(alternatives);
        if object.alternatives.iter().any(are_many) {
            return Ok(false);
        }
        let frame = self.machine.frame(start)?;
        let others = self.other_lexemes(frame)?;
        if !self.members_by_alternatives(&mut object, frame, &others)? {
            return Ok(false);
        }
        let most = if has_room { MOST_PRODUCTIONS } else { FEW_PRODUCTIONS };
        if !object.find_states(most) {
            return Ok(false);
        }
        self.lists(&object, composite)?;
        Ok(true)
    }

    /// Finds the members, and makes their productions; `false` where there are too many.
    fn members_by_alternatives(
        &mut self,
        object: &mut Object,
        frame: u32,
        others: &[Symbol],
    ) -> Result<bool, SchemaError> {
        let mut asks: Vec<F> = object.alternatives.iter().map(|own| own.asks).collect();
        for &denied in &object.denied {
            asks.push(self.machine.reader.formulas.not(denied));
        }
        let asks = self.machine.tuple_id(&asks);
        let required: FxHashSet<u32> =
            object.alternatives.iter().flat_map(|own| &own.required).copied().collect();
        let names = self.machine.frames.get(frame).names.clone();
        let named = names.iter().map(|&name| Key::Named(name));
        let keys: Vec<Key> = named.chain((0..others.len() as u32).map(Key::Other)).collect();
        let mut known: FxHashMap<(Option<Key>, BitSet, BitSet), NonterminalId> =
            FxHashMap::default();
        // What is not to be had after all leaves no productions.
        let mut classes_of = Vec::with_capacity(keys.len());
        for &key in &keys {
            let step = Step { frame, key, position: 0 };
            let classes = self.machine.member_classes_up_to(MOST_ANSWERS, step, asks)?;
            let Some(classes) = classes else { return Ok(false) };
            classes_of.push(classes);
        }
        for (key, classes) in keys.into_iter().zip(classes_of) {
            let lexeme = match key {
                Key::Other(class) => others[class as usize],
                Key::Named(name) | Key::Absent(name) => self.key(name),
            };
            let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
            let effects: Vec<(BitSet, BitSet)> =
                classes.iter().map(|&(behind, _)| self.effects(object, behind)).collect();
            let is_required = matches!(key, Key::Named(name) if required.contains(&name));
            let breaks_any = effects.iter().any(|(_, breaks)| !breaks.is_empty());
            let own = (is_required || breaks_any).then_some(key);
            let first = object.members.len();
            for (outcome, (leaves, breaks)) in effects.into_iter().enumerate() {
                if leaves.is_empty() {
                    continue;
                }
                let value = self.value(&formulas, outcome)?;
                let symbol =
                    *known.entry((own, leaves.clone(), breaks.clone())).or_insert_with(|| {
                        let symbol = self.fragment.nonterminals("member", 1);
                        object.members.push(Member { key: own, leaves, breaks, symbol });
                        symbol
                    });
                let colon = self.punctuation.colon;
                self.production(symbol, [lexeme, colon, value])?;
            }
            if breaks_any {
                let members = object.members[first..].iter().map(|member| member.symbol);
                object.keys.push(members.collect());
            }
        }
        Ok(true)
    }

    /// Which alternatives members leave behind which `behind` is left to be asked, and which
    /// conditions that are denied they break.
    fn effects(&self, object: &Object, behind: TupleId) -> (BitSet, BitSet) {
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
        (set(&|residual| residual != F::FALSE, asks), set(&|residual| residual == F::TRUE, denied))
    }

    /// Productions of the lists of members.
    fn lists(&mut self, object: &Object, composite: NonterminalId) -> Result<(), SchemaError> {
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
                for member in &object.members {
                    let next = object.behind(state, member);
                    if object.outcomes(next.left.iter()).contains(&outcome) {
                        let behind = [member.symbol, nth(first[&next][1], outcome)];
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
            self.production(nth(composite, outcome), [open, members, close])?;
            let mut own = object.alternatives.iter().filter(|own| own.outcome == outcome);
            if own.any(Alternative::allows_none) {
                self.production(nth(composite, outcome), [open, close])?;
            }
        }
        let member = |of: &Vec<usize>| of.iter().map(|&own| object.members[own].symbol).collect();
        let members = |of: &[Vec<usize>]| of.iter().map(member).collect();
        let set = |Required { lasting, revocable, remedy }: &Required| Set {
            lasting: members(lasting),
            revocable: members(revocable),
            remedy: members(remedy),
        };
        let sets = object.required.iter().map(set).collect();
        if let (Symbol::Terminal(separator), Symbol::Terminal(open)) = (comma, open) {
            let (separator, keys) = (Some(separator), object.keys.clone());
            self.fragment.requirements.push(Requirement { ends, separator, open, sets, keys });
        }
        Ok(())
    }
}
