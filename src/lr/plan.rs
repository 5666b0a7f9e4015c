//! A plan for every parse state that completes whatever stack it is on top of: a quick proof that none is stuck.
//!
//! The LR(0) property says that every kernel item of the state on top may be finished. A plan chooses one of them for
//! each state and the shortest text of what is behind its dot. Finishing it takes the item's symbols off the stack and
//! leads to a state with a plan of its own. Items that have read two symbols or more make the stack lower; the others
//! leave it as high and lead to a state of lower *rank*, so the plans come to an end.
//!
//! That is a completion if the tables let each step happen, which precedence may have prevented, and if the lexemes may
//! stand side by side. Both are checked once for each state: the text is fed to the state alone, and then every terminal
//! that the plans of the states below might go on with. Which ones those are is computed from the automaton, without
//! regard to the stack as a whole. So a plan that fails here may be sound on all stacks that there are, and then
//! [`super::completable`] finds out. Nearly all grammars pass, at a hundredth of that proof's cost.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::completable::Succession;
use super::rules::{Code, Item};
use super::table::{Action, ParseTable};
use super::yields::{UNKNOWN, Yields};
use crate::grammar::ir::Symbol;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, TerminalId};

/// Whether plans of plain terminals complete every stack, where each lexeme may follow the one before it, behind one
/// that is ignored as well. `false` proves nothing.
pub(super) fn complete_every_stack(table: &ParseTable, succession: &dyn Succession) -> bool {
    let end = table.end();
    let usable =
        |terminal| terminal == end || succession.is_possible(terminal) && succession.is_plain(terminal);
    let weight = |code: Code| if usable(TerminalId(code)) { 1 } else { UNKNOWN };
    let yields = Yields::weighted(&table.rules, weight);
    let states = reached(table, &|terminal| succession.is_possible(terminal));
    let Some(plans) = choose(table, &yields, &states) else { return false };
    let continuations = continuations(table, &plans, &states);
    states.iter().all(|state| {
        let Some(plan) = &plans[state] else { return false };
        let after = &continuations[state];
        let next = plan.text.first().map_or_else(|| after.iter().collect(), |&first| vec![first.index()]);
        let stands = |next: TerminalId, behind: TerminalId| succession.may_follow(Some(behind), None, next);
        let behind = match table.accessing(CoreId::new(state)) {
            Some(Symbol::Nonterminal(_)) => None,
            Some(Symbol::Terminal(terminal)) => Some(Some(terminal)),
            None => Some(None),
        };
        let mut places = std::iter::once(None).chain(succession.ignored().iter().copied().map(Some));
        let begins = behind.is_none_or(|behind| {
            places.all(|place| {
                next.iter().all(|&next| succession.may_follow(behind, place, TerminalId::new(next)))
            })
        });
        let inside = plan.text.windows(2).all(|pair| stands(pair[1], pair[0]));
        let ends =
            plan.text.last().is_none_or(|&last| after.iter().all(|next| stands(TerminalId::new(next), last)));
        begins && inside && ends && plan.works(table, CoreId::new(state), after)
    })
}

/// What a state does to be rid of an item.
struct Plan {
    item: Item,
    /// What is behind the item's dot, as terminals.
    text: Vec<TerminalId>,
    /// The states that finishing the item may lead to.
    targets: Vec<CoreId>,
}

/// The states that a stack may hold.
fn reached(table: &ParseTable, possible: &dyn Fn(TerminalId) -> bool) -> BitSet {
    let mut reached = BitSet::new(table.state_count());
    reached.insert(table.start().index());
    let mut pending = vec![table.start().index()];
    while let Some(state) = pending.pop() {
        for edge in table.automaton.edges.get(state) {
            let exists = table.rules.nonterminal(edge.symbol).is_some()
                || table.shifts(CoreId::new(state)).contains(edge.symbol as usize)
                    && possible(TerminalId(edge.symbol));
            if exists && reached.insert(edge.target as usize) {
                pending.push(edge.target as usize);
            }
        }
    }
    reached
}

/// How many symbols an item has read.
fn read(table: &ParseTable, item: Item) -> u32 {
    item - table.rules.first(table.rules.production(item))
}

/// Goes down from states to those below them.
struct Descent<'a> {
    table: &'a ParseTable,
    /// The states that a stack may hold.
    states: &'a BitSet,
    /// By state, the level at which it was last met.
    met: Vec<u32>,
    count: u32,
    level: Vec<CoreId>,
    below: Vec<CoreId>,
}

impl<'a> Descent<'a> {
    fn new(table: &'a ParseTable, states: &'a BitSet) -> Self {
        let met = vec![0; table.state_count()];
        Self { table, states, met, count: 0, level: Vec::new(), below: Vec::new() }
    }

    /// The states that finishing `item` in `state` may lead to; none for the item of the whole text.
    fn targets(&mut self, state: usize, item: Item) -> Vec<CoreId> {
        let production = self.table.rules.production(item);
        if production == self.table.rules.accept() {
            return Vec::new();
        }
        self.level.clear();
        self.level.push(CoreId::new(state));
        for _ in 0..read(self.table, item) {
            self.count += 1;
            self.below.clear();
            for below in self.level.iter().flat_map(|&state| self.table.predecessors(state)) {
                let fresh = std::mem::replace(&mut self.met[below.index()], self.count) != self.count;
                if fresh && self.states.contains(below.index()) {
                    self.below.push(below);
                }
            }
            std::mem::swap(&mut self.level, &mut self.below);
        }
        let lhs = NonterminalId::new(self.table.rules.lhs(production));
        let mut targets: Vec<_> =
            self.level.iter().filter_map(|&below| self.table.goto(below, lhs)).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

/// The best item of every state; `None` when some state has none. The rank of a state is the length of its text, and
/// where the stack gets no lower one more than the greatest rank that follows: a fixed point, found from above.
fn choose(table: &ParseTable, yields: &Yields, states: &BitSet) -> Option<Vec<Option<Plan>>> {
    /// An item that has read one symbol at most, and where it leads: the shortest of its nonterminal, for all of these
    /// lead there.
    struct Level {
        state: usize,
        item: Item,
        targets: Vec<CoreId>,
    }
    let mut descent = Descent::new(table, states);
    let mut best: Vec<(u64, Item)> = vec![(UNKNOWN, 0); table.state_count()];
    let mut levels: Vec<Level> = Vec::new();
    let mut shortest: Vec<(usize, Item)> = Vec::new();
    for state in states.iter() {
        shortest.clear();
        for &item in table.automaton.kernels.get(state) {
            let (rest, production) = (yields.rest(item), table.rules.production(item));
            if production == table.rules.accept() || read(table, item) > 1 {
                best[state] = best[state].min((rest, item));
            } else if rest < UNKNOWN {
                let lhs = table.rules.lhs(production);
                match shortest.iter_mut().find(|(other, _)| *other == lhs) {
                    Some((_, other)) if rest < yields.rest(*other) => *other = item,
                    Some(_) => {}
                    None => shortest.push((lhs, item)),
                }
            }
        }
        let level = |&(_, item)| Level { state, item, targets: descent.targets(state, item) };
        levels.extend(shortest.iter().map(level));
    }
    let mut changed = true;
    while changed {
        changed = false;
        for Level { state, item, targets } in &levels {
            let beyond = targets.iter().map(|target| best[target.index()].0).max().unwrap_or(UNKNOWN);
            let rank = yields.rest(*item).saturating_add(beyond).saturating_add(1).min(UNKNOWN);
            if rank < best[*state].0 {
                best[*state] = (rank, *item);
                changed = true;
            }
        }
    }
    // Where the best item is one of those, its targets are known.
    let mut known: Vec<Option<Vec<CoreId>>> = vec![None; table.state_count()];
    for Level { state, item, targets } in levels {
        if best[state].1 == item {
            known[state] = Some(targets);
        }
    }
    let mut plan = |state: usize| {
        let (rank, item) = best[state];
        if !states.contains(state) || rank >= UNKNOWN {
            return None;
        }
        let mut codes = Vec::new();
        yields.expand_up_to(UNKNOWN - 1, &table.rules, table.rules.rest(item), &mut codes);
        let text = codes.into_iter().map(TerminalId).collect();
        let targets = known[state].take().unwrap_or_else(|| descent.targets(state, item));
        Some(Plan { item, text, targets })
    };
    let plans: Vec<_> = (0..table.state_count()).map(&mut plan).collect();
    states.iter().all(|state| plans[state].is_some()).then_some(plans)
}

/// By state: the terminals that may come when its plan's item is finished. They are the first of the texts of the plans
/// that follow, or, where such a text is empty, what comes after that plan.
fn continuations(table: &ParseTable, plans: &[Option<Plan>], states: &BitSet) -> Vec<BitSet> {
    let bound = table.end().index() + 1;
    let mut after = vec![BitSet::new(bound); plans.len()];
    let mut silent: HashMap<usize, Vec<usize>, FxBuildHasher> = HashMap::default();
    for state in states.iter() {
        let Some(plan) = &plans[state] else { continue };
        if plan.targets.is_empty() {
            after[state].insert(table.end().index());
        }
        for target in &plan.targets {
            match plans[target.index()].as_ref().map(|plan| plan.text.first()) {
                Some(Some(first)) => {
                    after[state].insert(first.index());
                }
                Some(None) => silent.entry(target.index()).or_default().push(state),
                None => {}
            }
        }
    }
    let mut pending: Vec<usize> = silent.keys().copied().collect();
    while let Some(target) = pending.pop() {
        let more = after[target].clone();
        for &state in silent.get(&target).into_iter().flatten() {
            if after[state].union_with(&more) && silent.contains_key(&state) {
                pending.push(state);
            }
        }
    }
    after
}

impl Plan {
    /// Whether the parser, with `state` on top, reads the text and then finishes the item before each terminal of
    /// `after`, and does nothing to what lies below until then.
    fn works(&self, table: &ParseTable, state: CoreId, after: &BitSet) -> bool {
        let mut stack = vec![state];
        let shifts = |stack: &mut Vec<CoreId>, terminal| {
            while let Some(action) = table.actions(stack[stack.len() - 1], terminal).first() {
                match action {
                    Action::Shift(next) => {
                        stack.push(*next);
                        return true;
                    }
                    Action::Reduce(production) => {
                        if !reduce(table, stack, production.0) {
                            return false;
                        }
                    }
                    Action::Accept => return false,
                }
            }
            false
        };
        if !self.text.iter().all(|&terminal| shifts(&mut stack, terminal)) {
            return false;
        }
        let wanted = table.rules.production(self.item);
        let read = read(table, self.item) as usize;
        let mut trial = Vec::new();
        let mut finishes = |terminal| {
            trial.clone_from(&stack);
            let stack = &mut trial;
            while let Some(action) = table.actions(stack[stack.len() - 1], terminal).first() {
                match action {
                    Action::Shift(_) => return false,
                    Action::Accept => return wanted == table.rules.accept(),
                    Action::Reduce(production) => {
                        let (_, length) = table.production(*production);
                        if production.0 == wanted && length == read + stack.len() - 1 {
                            return true;
                        }
                        if !reduce(table, stack, production.0) {
                            return false;
                        }
                    }
                }
            }
            false
        };
        after.iter().all(|terminal| finishes(TerminalId::new(terminal)))
    }
}

/// A reduction that leaves the bottom of the stack where it is; `false` when it cannot.
fn reduce(table: &ParseTable, stack: &mut Vec<CoreId>, production: u32) -> bool {
    let lhs = NonterminalId::new(table.rules.lhs(production));
    let length = table.rules.rhs(production).len();
    if length >= stack.len() {
        return false;
    }
    stack.truncate(stack.len() - length);
    let Some(next) = table.goto(stack[stack.len() - 1], lhs) else { return false };
    stack.push(next);
    true
}
