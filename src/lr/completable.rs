//! Which stacks can be completed: pushdown reachability, backwards.
//!
//! A stack is *completable* when some sequence of terminals, each of which may follow the one before it, makes
//! the parser accept. The stacks from which a pushdown system reaches a regular set of configurations are
//! themselves regular, and an automaton for them is found by saturation: Bouajjani, Esparza and Maler 1997,
//! in the form of Esparza, Hansel, Rossmanith and Schwoon 2000, algorithm 1 (`pre*`). The parser is such a
//! system: its control is what it is about to do, its stack alphabet the parse states.
//!
//! The proof wanted is that *every* stack the parser can reach between two terminals is completable. Reachable
//! stacks are over-approximated by the paths of the LR(0) automaton that end in a state entered over a terminal,
//! so a refusal may be over-careful, an acceptance never. Where one plan for each state will do, which is nearly always,
//! [`plan`] proves it at a fraction of the cost.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::plan;
use super::table::{Action, ParseTable};
use crate::grammar::ir::Symbol;
use crate::util::id::{CoreId, NonterminalId, TerminalId};

/// What the proof found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Completability {
    /// Every stack can be completed.
    Proved,
    /// This stack cannot; the symbols that lead to it, from the bottom up, and the ignored terminal behind them
    /// if it takes one.
    Stuck(Vec<Symbol>, Option<TerminalId>),
    /// The proof takes more steps than it may.
    TooLarge,
}

/// What the proof has to know of lexemes. A *condition* is a number for what the terminals so far ask of those to
/// come; 0 asks nothing.
pub(crate) trait Succession {
    /// Whether `next`, perhaps `$`, can always be made to follow `taken`, the terminal before it (`None`: the beginning
    /// of the text), where a lexeme of `ignored` stands between (`None`: none does).
    fn may_follow(&self, taken: Option<TerminalId>, ignored: Option<TerminalId>, next: TerminalId) -> bool;

    /// The terminals of which any number may stand behind any other, without a part in the productions. The last of
    /// them is what the next lexeme has to follow.
    fn ignored(&self) -> &[TerminalId];

    /// Whether a lexeme may ever be this terminal.
    fn is_possible(&self, terminal: TerminalId) -> bool;

    /// Whether this terminal may stand wherever the parser takes it, and asks nothing.
    fn is_plain(&self, terminal: TerminalId) -> bool;

    /// Whether nothing may be asked directly behind this terminal.
    fn may_ask_nothing(&self, terminal: TerminalId) -> bool;

    /// The conditions after `next`, one for each way in which a lexeme of it can always be made to follow: where
    /// `condition` holds, `last` was the last terminal, and behind that stands the ignored one, if any. None where it
    /// cannot follow.
    fn after(
        &self,
        condition: u32,
        last: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> SmallVec<[u32; 2]>;

    /// Whether the text may end where `condition` holds.
    fn may_end(&self, condition: u32) -> bool;
}

/// A control of the pushdown system, which is also a state of the automaton over stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Control {
    /// Between two terminals, directly behind the last one or behind this ignored one, where a condition holds.
    Between(Option<TerminalId>, u32),
    /// About to act on this look-ahead.
    Feed(Fed),
    /// With this look-ahead: takes so many more states off the stack, whichever they are, then goes to the
    /// nonterminal's state.
    Pop(Fed, NonterminalId, u32),
    /// Accepted: whatever lies below.
    Done,
}

/// A look-ahead, and the condition that will hold behind it.
type Fed = (TerminalId, u32);

/// A transition of the automaton: from a control, reading a parse state, to a control.
type Transition = (Control, CoreId, Control);

/// A rule `<control, state> -> <control, states>`, by its right side; the states are given top first.
enum Rule {
    /// Replaces the top.
    Step { from: (Control, CoreId) },
    /// Pushes: the second state lies below the first.
    Push { from: (Control, CoreId), below: CoreId },
}

/// Saturates, then looks for a stack that is not accepted.
struct Saturation<'a> {
    table: &'a ParseTable,
    succession: &'a dyn Succession,
    /// Rules by the configuration head on their right side.
    rules: HashMap<(Control, CoreId), Vec<Rule>, FxBuildHasher>,
    /// Transitions out of a control, by parse state.
    transitions: HashMap<(Control, CoreId), Vec<Control>, FxBuildHasher>,
    known: HashSet<Transition, FxBuildHasher>,
    /// Pop controls whose rules have been made.
    opened: HashSet<Control, FxBuildHasher>,
    /// Push rules that wait for a transition of this control over this state.
    waiting: HashMap<(Control, CoreId), Vec<(Control, CoreId)>, FxBuildHasher>,
    pending: Vec<Transition>,
    steps: usize,
    limit: usize,
}

/// Proves that every stack between two terminals where nothing is asked can be completed.
///
/// Tries [`plan`] first. Costs the look-aheads times the reductions they cause, and is bounded by `limit` steps.
pub(crate) fn prove_completable(
    table: &ParseTable,
    succession: &dyn Succession,
    limit: usize,
) -> Completability {
    if plan::complete_every_stack(table, succession) {
        return Completability::Proved;
    }
    saturate(table, succession, limit)
}

/// [`prove_completable`] without the help of plans.
pub(super) fn saturate(table: &ParseTable, succession: &dyn Succession, limit: usize) -> Completability {
    let mut saturation = Saturation::new(table, succession, limit);
    if !saturation.add_rules(vec![0]) || !saturation.saturate() {
        return Completability::TooLarge;
    }
    saturation.find_stuck(0, &|last| last.is_none_or(|last| succession.may_ask_nothing(last)))
}

/// For each terminal and condition whether every stack on which the terminal was shifted last can be completed, where
/// the condition holds. `false` proves nothing.
pub(crate) fn always_completable(
    table: &ParseTable,
    succession: &dyn Succession,
    places: &[(TerminalId, u32)],
    limit: usize,
) -> Vec<bool> {
    let mut saturation = Saturation::new(table, succession, limit);
    let mut conditions: Vec<u32> = std::iter::once(0).chain(places.iter().map(|place| place.1)).collect();
    conditions.sort_unstable();
    conditions.dedup();
    if !saturation.add_rules(conditions) || !saturation.saturate() {
        return vec![false; places.len()];
    }
    let mut proved = |&(terminal, condition): &(TerminalId, u32)| {
        saturation.find_stuck(condition, &|last| last == Some(terminal)) == Completability::Proved
    };
    places.iter().map(&mut proved).collect()
}

impl<'a> Saturation<'a> {
    fn new(table: &'a ParseTable, succession: &'a dyn Succession, limit: usize) -> Self {
        Self {
            table,
            succession,
            rules: HashMap::default(),
            transitions: HashMap::default(),
            known: HashSet::default(),
            opened: HashSet::default(),
            waiting: HashMap::default(),
            pending: Vec::new(),
            steps: 0,
            limit,
        }
    }

    fn states(&self) -> impl Iterator<Item = CoreId> + use<> {
        (0..self.table.state_count()).map(CoreId::new)
    }

    /// Translates the tables into rules; those that pop, and acceptance, are transitions at once. All is meant to
    /// begin where one of the `conditions` holds. False when the limit was exceeded.
    fn add_rules(&mut self, conditions: Vec<u32>) -> bool {
        let Some(fed) = self.add_successions(conditions) else { return false };
        for state in self.states() {
            for terminal in self.table.row(state).iter().map(TerminalId::new) {
                for &condition in &fed[terminal.index()] {
                    self.add_action(state, (terminal, condition));
                }
            }
        }
        true
    }

    /// The rules that choose the next terminal. By terminal, the conditions that may hold behind it; `None` when the
    /// limit was exceeded.
    fn add_successions(&mut self, mut conditions: Vec<u32>) -> Option<Vec<Vec<u32>>> {
        let end = self.table.end();
        let mut fed: Vec<Vec<u32>> = vec![Vec::new(); end.index() + 1];
        let mut at = 0;
        while let Some(&condition) = conditions.get(at) {
            at += 1;
            for state in self.states() {
                let last = match self.table.accessing(state) {
                    None => None,
                    Some(Symbol::Terminal(terminal)) => Some(terminal),
                    Some(Symbol::Nonterminal(_)) => continue,
                };
                let ignored = self.succession.ignored().iter().copied().map(Some);
                let places: Vec<Option<TerminalId>> = std::iter::once(None).chain(ignored).collect();
                for terminal in self.table.row(state).iter().map(TerminalId::new) {
                    for &place in &places {
                        let after = match terminal == end {
                            true => {
                                let ends = self.succession.may_end(condition)
                                    && self.succession.may_follow(last, place, end);
                                ends.then_some(0).into_iter().collect()
                            }
                            false => self.succession.after(condition, last, place, terminal),
                        };
                        for after in after {
                            let from = (Control::Between(place, condition), state);
                            self.add_rule((Control::Feed((terminal, after)), state), Rule::Step { from });
                            if !fed[terminal.index()].contains(&after) {
                                fed[terminal.index()].push(after);
                            }
                            if !conditions.contains(&after) {
                                conditions.push(after);
                            }
                        }
                    }
                    self.steps += usize::from(condition > 0);
                    if self.steps > self.limit {
                        return None;
                    }
                }
            }
        }
        Some(fed)
    }

    /// The rules of a cell.
    fn add_action(&mut self, state: CoreId, fed: Fed) {
        let feed = (Control::Feed(fed), state);
        match self.table.actions(state, fed.0).first() {
            Some(Action::Shift(next)) => {
                self.add_rule(
                    (Control::Between(None, fed.1), *next),
                    Rule::Push { from: feed, below: state },
                );
            }
            Some(Action::Reduce(production)) => {
                let (lhs, length) = self.table.production(*production);
                match length {
                    0 => {
                        if let Some(goto) = self.table.goto(state, lhs) {
                            let head = (Control::Feed(fed), goto);
                            self.add_rule(head, Rule::Push { from: feed, below: state });
                        }
                    }
                    _ => self.add_transition((feed.0, state, Control::Pop(fed, lhs, length as u32 - 1))),
                }
            }
            Some(Action::Accept) => self.add_transition((feed.0, state, Control::Done)),
            None => {}
        }
    }

    fn add_rule(&mut self, head: (Control, CoreId), rule: Rule) {
        self.rules.entry(head).or_default().push(rule);
    }

    fn add_transition(&mut self, transition: Transition) {
        if self.known.insert(transition) {
            let (from, state, to) = transition;
            self.transitions.entry((from, state)).or_default().push(to);
            self.pending.push(transition);
            self.open_pop(to);
        }
    }

    /// The rules of a pop control that has taken off all it must, made when it is first met: from each state
    /// that it may uncover it goes on to the nonterminal's state.
    fn open_pop(&mut self, control: Control) {
        let Control::Pop(fed, lhs, count) = control else { return };
        if !self.opened.insert(control) {
            return;
        }
        if count > 0 {
            self.open_pop(Control::Pop(fed, lhs, count - 1));
            return;
        }
        for state in self.states() {
            let Some(goto) = self.table.goto(state, lhs) else { continue };
            let head = (Control::Feed(fed), goto);
            let from = (control, state);
            self.add_rule(head, Rule::Push { from, below: state });
            // Transitions that were there before the rule.
            for to in self.transitions.get(&head).cloned().unwrap_or_default() {
                self.push_after(from, to, state);
            }
        }
    }

    /// A push rule whose upper state has led to `to`: the lower state must lead on from there.
    fn push_after(&mut self, from: (Control, CoreId), to: Control, below: CoreId) {
        match to {
            Control::Done => self.add_transition((from.0, from.1, Control::Done)),
            Control::Pop(fed, lhs, count) if count > 0 => {
                self.add_transition((from.0, from.1, Control::Pop(fed, lhs, count - 1)));
            }
            _ => {
                self.waiting.entry((to, below)).or_default().push(from);
                for next in self.transitions.get(&(to, below)).cloned().unwrap_or_default() {
                    self.add_transition((from.0, from.1, next));
                }
            }
        }
    }

    /// False when the limit was exceeded.
    fn saturate(&mut self) -> bool {
        while let Some((from, state, to)) = self.pending.pop() {
            self.steps += 1;
            if self.steps > self.limit {
                return false;
            }
            let heads: Vec<_> = match self.rules.get(&(from, state)) {
                None => Vec::new(),
                Some(rules) => rules
                    .iter()
                    .map(|rule| match rule {
                        Rule::Step { from } => (*from, None),
                        Rule::Push { from, below } => (*from, Some(*below)),
                    })
                    .collect(),
            };
            self.steps += heads.len();
            for (head, below) in heads {
                match below {
                    None => self.add_transition((head.0, head.1, to)),
                    Some(below) => self.push_after(head, to, below),
                }
            }
            for head in self.waiting.get(&(from, state)).cloned().unwrap_or_default() {
                self.add_transition((head.0, head.1, to));
            }
        }
        true
    }

    /// Goes down all paths of the LR(0) automaton at once, from each state between two terminals to the bottom, where
    /// the terminal may be the last on a stack where the condition holds,
    /// and determinises the automaton on the way.
    fn find_stuck(
        &mut self,
        condition: u32,
        may_be_last: &dyn Fn(Option<TerminalId>) -> bool,
    ) -> Completability {
        let entered = |state| match self.table.accessing(state) {
            Some(Symbol::Terminal(terminal)) => self.succession.is_possible(terminal),
            _ => true,
        };
        let may_be_top = |state| match self.table.accessing(state) {
            Some(Symbol::Terminal(terminal)) => may_be_last(Some(terminal)),
            Some(Symbol::Nonterminal(_)) => false,
            None => may_be_last(None),
        };
        let mut seen: HashSet<(CoreId, Vec<Control>), FxBuildHasher> = HashSet::default();
        // Each entry knows the one above it, so that a stuck stack can be told.
        let mut visited: Vec<(CoreId, Vec<Control>, Option<usize>)> = Vec::new();
        let mut pending = VecDeque::new();
        let mut nothing = false;
        // What is ignored behind the first entries, the stacks' tops.
        let mut places: Vec<Option<TerminalId>> = Vec::new();
        for state in self.states() {
            if !may_be_top(state) || !entered(state) {
                continue;
            }
            for place in std::iter::once(None).chain(self.succession.ignored().iter().copied().map(Some)) {
                let controls = self.after([Control::Between(place, condition)], state);
                // The start state is looked at by itself and again below the others, for the sake of the example.
                if state == self.table.start() || seen.insert((state, controls.clone())) {
                    pending.push_back(visited.len());
                    visited.push((state, controls, None));
                    places.push(place);
                }
            }
        }
        while let Some(at) = pending.pop_front() {
            self.steps += 1;
            if self.steps > self.limit {
                return Completability::TooLarge;
            }
            let (state, controls, _) = visited[at].clone();
            if controls.contains(&Control::Done) {
                continue;
            }
            if state == self.table.start() {
                let top = std::iter::successors(Some(at), |&at| visited[at].2).last();
                let place = top.and_then(|top| places[top]);
                let symbols = self.symbols(&visited, at);
                if symbols.is_empty() && place.is_none() {
                    // No text at all has an end: a longer stack shows better why.
                    nothing = true;
                    continue;
                }
                return Completability::Stuck(symbols, place);
            }
            for below in self.table.predecessors(state).collect::<Vec<_>>() {
                if !entered(below) {
                    continue;
                }
                let next = self.after(controls.iter().copied(), below);
                if seen.insert((below, next.clone())) {
                    pending.push_back(visited.len());
                    visited.push((below, next, Some(at)));
                }
            }
        }
        if nothing { Completability::Stuck(Vec::new(), None) } else { Completability::Proved }
    }

    /// The controls after reading `state`, ascending. Nothing but `Done` once that is among them.
    fn after(&self, controls: impl IntoIterator<Item = Control>, state: CoreId) -> Vec<Control> {
        let mut next = Vec::new();
        for control in controls {
            match control {
                Control::Pop(fed, lhs, count) if count > 0 => {
                    next.push(Control::Pop(fed, lhs, count - 1));
                }
                _ => next.extend(self.transitions.get(&(control, state)).into_iter().flatten()),
            }
        }
        if next.contains(&Control::Done) {
            return vec![Control::Done];
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// The symbols over which the states of a stack were entered, from the bottom up.
    fn symbols(&self, visited: &[(CoreId, Vec<Control>, Option<usize>)], bottom: usize) -> Vec<Symbol> {
        let above = |&at: &usize| visited[at].2;
        std::iter::successors(Some(bottom), above)
            .filter_map(|at| self.table.accessing(visited[at].0))
            .collect()
    }
}
