//! Productions of objects with keys in any order, where too many of these hang together.
//!
//! What can become of the object is a set of [alternatives](super::alternatives). A member leaves
//! those that allow it. So a state is the set of alternatives that are left, and there are few:
//! most keys exclude none. Which keys were there no state knows. The list of members is
//! right-recursive, and a [`Requirement`] lets it end where one of the alternatives that are left
//! has all that it requires: members under certain keys, and one that breaks a condition where that
//! is denied. A key may stand twice; whichever member a reader keeps, all alternatives that are
//! left allow it. Only of members that break a condition the last one under a key counts.
//!
//! As a rule only one outcome can end in a state: where alternatives of two are left, they exclude
//! each other by a member that one of them requires and that would not leave the other. It has not
//! been read, so the alternative that requires it cannot end there.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::ir::Symbol;
use crate::grammar::requirement::{End, Requirement};
use crate::schema::alternatives::Alternative;
use crate::schema::build::{Builder, nth};
use crate::schema::error::SchemaError;
use crate::schema::formula::FormulaId;
use crate::schema::members::MOST_OWED;
use crate::schema::states::{Key, Step, TupleId};
use crate::util::id::NonterminalId;

use FormulaId as F;

/// More productions than these are not made for one object.
const MOST_PRODUCTIONS: usize = 10_000;
/// Where the grammar is large already, no more than these.
const FEW_PRODUCTIONS: usize = 1_000;

/// Alternatives, a bit each.
type Left = u64;

/// Members that leave the same alternatives, and break the same of what alternatives deny.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// The key, where it matters under which key they stand.
    key: Option<Key>,
    leaves: Left,
    breaks: Left,
    symbol: NonterminalId,
}

/// An object whose productions are to be made.
struct Object {
    alternatives: Vec<Alternative>,
    members: Vec<Member>,
    /// By alternative, of each key that it requires, and of what breaks the condition that it
    /// denies, the members that it allows.
    required: Vec<Vec<Vec<Member>>>,
    /// The members under keys of which the last counts.
    keys: Vec<Vec<NonterminalId>>,
    /// The sets of alternatives that members leave, all of them first.
    states: Vec<Left>,
}

impl Object {
    /// The outcomes of the alternatives that are left, ascending.
    fn outcomes(&self, left: Left) -> Vec<usize> {
        let mut outcomes: Vec<usize> =
            bits(left).map(|number| self.alternatives[number].outcome).collect();
        outcomes.dedup();
        outcomes
    }

    /// The alternatives that may have all that they require while all of `left` are.
    fn ends(&self, left: Left) -> impl Iterator<Item = usize> {
        let leaves_all = move |member: &Member| member.leaves & left == left;
        let is_met = move |members: &Vec<Member>| members.iter().any(leaves_all);
        bits(left).filter(move |&number| self.required[number].iter().all(is_met))
    }

    /// Finds what alternatives require.
    fn find_required(&mut self) {
        let mut by_key: FxHashMap<Key, Vec<Member>> = FxHashMap::default();
        for &member in &self.members {
            if let Some(key) = member.key {
                by_key.entry(key).or_default().push(member);
            }
        }
        for (number, alternative) in self.alternatives.iter().enumerate() {
            let is_allowed = |member: &&Member| member.leaves >> number & 1 == 1;
            let of_key = |name: &u32| {
                let members = by_key.get(&Key::Named(*name)).into_iter().flatten();
                members.filter(is_allowed).copied().collect()
            };
            let mut required: Vec<Vec<Member>> = alternative.required.iter().map(of_key).collect();
            if alternative.denied.is_some() {
                let members = self.members.iter().filter(is_allowed);
                required.push(members.filter(|of| of.breaks >> number & 1 == 1).copied().collect());
            }
            self.required.push(required);
        }
    }

    /// Finds the sets of alternatives that members leave. Whether they are few, and one outcome at
    /// most can end in each.
    fn find_states(&mut self, most: usize) -> bool {
        // No object satisfies an alternative that allows none of some members that it requires.
        let is_met = |&number: &usize| self.required[number].iter().all(|of| !of.is_empty());
        let all = (0..self.alternatives.len()).filter(is_met);
        let all = all.fold(0, |all, number| all | 1 << number);
        let mut seen: FxHashSet<Left> = [all].into_iter().collect();
        self.states.push(all);
        let (mut next, mut productions) = (0, 0);
        while let Some(&left) = self.states.get(next) {
            next += 1;
            let mut outcomes: Vec<usize> =
                self.ends(left).map(|number| self.alternatives[number].outcome).collect();
            outcomes.dedup();
            for member in &self.members {
                let behind = left & member.leaves;
                productions += self.outcomes(behind).len();
                if behind != 0 && seen.insert(behind) {
                    self.states.push(behind);
                }
            }
            if productions > most || outcomes.len() > 1 {
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
        if alternatives.iter().any(|own| own.required.len() > MOST_OWED) {
            return Ok(false);
        }
        let frame = self.machine.frame(start)?;
        let others = self.other_lexemes(frame)?;
        let mut object = Object {
            alternatives,
            members: Vec::new(),
            required: Vec::new(),
            keys: Vec::new(),
            states: Vec::new(),
        };
        self.members_by_alternatives(&mut object, frame, &others)?;
        object.find_required();
        let most = if has_room { MOST_PRODUCTIONS } else { FEW_PRODUCTIONS };
        if !object.find_states(most) {
            return Ok(false);
        }
        self.lists(&object, composite)?;
        Ok(true)
    }

    /// Finds the members, and makes their productions.
    fn members_by_alternatives(
        &mut self,
        object: &mut Object,
        frame: u32,
        others: &[Symbol],
    ) -> Result<(), SchemaError> {
        let mut asks: Vec<F> = object.alternatives.iter().map(|own| own.asks).collect();
        for own in &object.alternatives {
            let broken = own.denied.map(|denied| self.machine.reader.formulas.not(denied));
            asks.push(broken.unwrap_or(F::FALSE));
        }
        let asks = self.machine.tuple_id(&asks);
        let required: FxHashSet<u32> =
            object.alternatives.iter().flat_map(|own| &own.required).copied().collect();
        let names = self.machine.frames.get(frame).names.clone();
        let named = names.iter().map(|&name| Key::Named(name));
        let keys: Vec<Key> = named.chain((0..others.len() as u32).map(Key::Other)).collect();
        let mut known: FxHashMap<(Option<Key>, Left, Left), NonterminalId> = FxHashMap::default();
        for key in keys {
            let lexeme = match key {
                Key::Other(class) => others[class as usize],
                Key::Named(name) | Key::Absent(name) => self.key(name),
            };
            let classes = self.machine.member_classes(Step { frame, key, position: 0 }, asks)?;
            let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
            let effects: Vec<[Left; 2]> =
                classes.iter().map(|&(behind, _)| self.effects(object, behind)).collect();
            let is_required = matches!(key, Key::Named(name) if required.contains(&name));
            let breaks_any = effects.iter().any(|&[_, breaks]| breaks != 0);
            let own = (is_required || breaks_any).then_some(key);
            let first = object.members.len();
            for (outcome, [leaves, breaks]) in effects.into_iter().enumerate() {
                if leaves == 0 {
                    continue;
                }
                let value = self.value(&formulas, outcome)?;
                let symbol = *known.entry((own, leaves, breaks)).or_insert_with(|| {
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
        Ok(())
    }

    /// Which alternatives members leave behind which `behind` is left to be asked, and which
    /// conditions that are denied they break.
    fn effects(&self, object: &Object, behind: TupleId) -> [Left; 2] {
        let residuals = self.machine.tuple(behind);
        let (asks, denied) = residuals.split_at(object.alternatives.len().min(residuals.len()));
        let set = |holds: &dyn Fn(F) -> bool, of: &[F]| {
            let numbers = of.iter().enumerate().filter(|&(_, &residual)| holds(residual));
            numbers.fold(0, |set, (number, _)| set | 1 << number)
        };
        [set(&|residual| residual != F::FALSE, asks), set(&|residual| residual == F::TRUE, denied)]
    }

    /// Productions of the lists of members.
    fn lists(&mut self, object: &Object, composite: NonterminalId) -> Result<(), SchemaError> {
        let (open, close) = (self.punctuation.open_object, self.punctuation.close_object);
        let comma = self.punctuation.comma;
        let count = object.alternatives.iter().map(|own| own.outcome + 1).max().unwrap_or(0);
        let first: FxHashMap<Left, [NonterminalId; 2]> = (object.states.iter())
            .map(|&left| {
                (left, ["members", "rest"].map(|name| self.fragment.nonterminals(name, count)))
            })
            .collect();
        let mut ends = Vec::with_capacity(object.states.len());
        for &left in &object.states {
            let [more, rest] = first[&left];
            let sets: Vec<usize> = object.ends(left).collect();
            for outcome in object.outcomes(left) {
                let more = nth(more, outcome);
                for member in &object.members {
                    let next = left & member.leaves;
                    if object.outcomes(next).contains(&outcome) {
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
        let all = object.states[0];
        for outcome in object.outcomes(all) {
            let members = Symbol::Nonterminal(nth(first[&all][0], outcome));
            self.production(nth(composite, outcome), [open, members, close])?;
            let mut own = object.alternatives.iter().filter(|own| own.outcome == outcome);
            if own.any(|own| own.required.is_empty() && own.denied.is_none()) {
                self.production(nth(composite, outcome), [open, close])?;
            }
        }
        let members = |of: &Vec<Member>| of.iter().map(|member| member.symbol).collect();
        let set = |of: &Vec<Vec<Member>>| of.iter().map(members).collect();
        let sets = object.required.iter().map(set).collect();
        if let (Symbol::Terminal(separator), Symbol::Terminal(open)) = (comma, open) {
            let (separator, keys) = (Some(separator), object.keys.clone());
            self.fragment.requirements.push(Requirement { ends, separator, open, sets, keys });
        }
        Ok(())
    }
}

/// The numbers of the bits that are set, ascending.
fn bits(left: Left) -> impl Iterator<Item = usize> {
    (0..Left::BITS as usize).filter(move |&number| left >> number & 1 == 1)
}
