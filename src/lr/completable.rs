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

use super::plan;
use super::table::{Action, ParseTable};
use crate::grammar::ir::Symbol;
use crate::util::id::{NonterminalId, ParseStateId, TerminalId};

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

/// A control of the pushdown system, which is also a state of the automaton over stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Control {
    /// Between two terminals, directly behind the last one or behind this ignored one.
    Between(Option<TerminalId>),
    /// About to act on this look-ahead.
    Feed(TerminalId),
    /// With this look-ahead: takes so many more states off the stack, whichever they are, then goes to the
    /// nonterminal's state.
    Pop(TerminalId, NonterminalId, u32),
    /// Accepted: whatever lies below.
    Done,
}

/// A transition of the automaton: from a control, reading a parse state, to a control.
type Transition = (Control, ParseStateId, Control);

/// A rule `<control, state> -> <control, states>`, by its right side; the states are given top first.
enum Rule {
    /// Replaces the top.
    Step { from: (Control, ParseStateId) },
    /// Pushes: the second state lies below the first.
    Push { from: (Control, ParseStateId), below: ParseStateId },
}

/// Saturates, then looks for a stack that is not accepted.
struct Saturation<'a> {
    table: &'a ParseTable,
    ignored: &'a [TerminalId],
    /// Rules by the configuration head on their right side.
    rules: HashMap<(Control, ParseStateId), Vec<Rule>, FxBuildHasher>,
    /// Transitions out of a control, by parse state.
    transitions: HashMap<(Control, ParseStateId), Vec<Control>, FxBuildHasher>,
    known: HashSet<Transition, FxBuildHasher>,
    /// Pop controls whose rules have been made.
    opened: HashSet<Control, FxBuildHasher>,
    /// Push rules that wait for a transition of this control over this state.
    waiting: HashMap<(Control, ParseStateId), Vec<(Control, ParseStateId)>, FxBuildHasher>,
    pending: Vec<Transition>,
    steps: usize,
    limit: usize,
}

/// Proves that every stack between two terminals can be completed. `may_follow` says whether a lexeme of the
/// second terminal can always be made to follow one of the first (`None`: the beginning of the text); `$` may
/// always follow. Behind any terminal may stand those in `ignored`, and then the last of them is what the next
/// lexeme has to follow. `possible` says which terminals a lexeme may ever be.
///
/// Tries [`plan`] first. Costs the look-aheads times the reductions they cause, and is bounded by `limit` steps.
pub(crate) fn prove_completable(
    table: &ParseTable,
    may_follow: &dyn Fn(Option<TerminalId>, TerminalId) -> bool,
    ignored: &[TerminalId],
    possible: &dyn Fn(TerminalId) -> bool,
    limit: usize,
) -> Completability {
    if plan::complete_every_stack(table, may_follow, ignored, possible) {
        return Completability::Proved;
    }
    saturate(table, may_follow, ignored, possible, limit)
}

/// [`prove_completable`] without the help of plans.
pub(super) fn saturate(
    table: &ParseTable,
    may_follow: &dyn Fn(Option<TerminalId>, TerminalId) -> bool,
    ignored: &[TerminalId],
    possible: &dyn Fn(TerminalId) -> bool,
    limit: usize,
) -> Completability {
    let mut saturation = Saturation {
        table,
        ignored,
        rules: HashMap::default(),
        transitions: HashMap::default(),
        known: HashSet::default(),
        opened: HashSet::default(),
        waiting: HashMap::default(),
        pending: Vec::new(),
        steps: 0,
        limit,
    };
    saturation.add_rules(may_follow);
    if !saturation.saturate() {
        return Completability::TooLarge;
    }
    saturation.find_stuck(possible)
}

impl Saturation<'_> {
    fn states(&self) -> impl Iterator<Item = ParseStateId> + use<> {
        (0..self.table.state_count()).map(ParseStateId::new)
    }

    /// Translates the tables into rules; those that pop, and acceptance, are transitions at once.
    fn add_rules(&mut self, may_follow: &dyn Fn(Option<TerminalId>, TerminalId) -> bool) {
        let end = self.table.end();
        for state in self.states() {
            let between = match self.table.accessing(state) {
                None => Some(None),
                Some(Symbol::Terminal(terminal)) => Some(Some(terminal)),
                Some(Symbol::Nonterminal(_)) => None,
            };
            for terminal in self.table.row(state).iter().map(TerminalId::new) {
                if let Some(last) = between {
                    let places = std::iter::once((None, last));
                    let ignored = self.ignored.iter().map(|&ignored| (Some(ignored), Some(ignored)));
                    for (place, last) in places.chain(ignored) {
                        if terminal == end || may_follow(last, terminal) {
                            let from = (Control::Between(place), state);
                            self.add_rule((Control::Feed(terminal), state), Rule::Step { from });
                        }
                    }
                }
                let feed = (Control::Feed(terminal), state);
                match self.table.actions(state, terminal).first() {
                    Some(Action::Shift(next)) => {
                        self.add_rule(
                            (Control::Between(None), *next),
                            Rule::Push { from: feed, below: state },
                        );
                    }
                    Some(Action::Reduce(production)) => {
                        let (lhs, length) = self.table.production(*production);
                        match length {
                            0 => {
                                if let Some(goto) = self.table.goto(state, lhs) {
                                    self.add_rule(
                                        (Control::Feed(terminal), goto),
                                        Rule::Push { from: feed, below: state },
                                    );
                                }
                            }
                            _ => {
                                let rest = Control::Pop(terminal, lhs, length as u32 - 1);
                                self.add_transition((feed.0, state, rest));
                            }
                        }
                    }
                    Some(Action::Accept) => self.add_transition((feed.0, state, Control::Done)),
                    None => {}
                }
            }
        }
    }

    fn add_rule(&mut self, head: (Control, ParseStateId), rule: Rule) {
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
        let Control::Pop(terminal, lhs, count) = control else { return };
        if !self.opened.insert(control) {
            return;
        }
        if count > 0 {
            self.open_pop(Control::Pop(terminal, lhs, count - 1));
            return;
        }
        for state in self.states() {
            let Some(goto) = self.table.goto(state, lhs) else { continue };
            let head = (Control::Feed(terminal), goto);
            let from = (control, state);
            self.add_rule(head, Rule::Push { from, below: state });
            // Transitions that were there before the rule.
            for to in self.transitions.get(&head).cloned().unwrap_or_default() {
                self.push_after(from, to, state);
            }
        }
    }

    /// A push rule whose upper state has led to `to`: the lower state must lead on from there.
    fn push_after(&mut self, from: (Control, ParseStateId), to: Control, below: ParseStateId) {
        match to {
            Control::Done => self.add_transition((from.0, from.1, Control::Done)),
            Control::Pop(terminal, lhs, count) if count > 0 => {
                self.add_transition((from.0, from.1, Control::Pop(terminal, lhs, count - 1)));
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

    /// Goes down all paths of the LR(0) automaton at once, from each state between two terminals to the bottom,
    /// and determinises the automaton on the way.
    fn find_stuck(&mut self, possible: &dyn Fn(TerminalId) -> bool) -> Completability {
        let entered = |state| match self.table.accessing(state) {
            Some(Symbol::Terminal(terminal)) => possible(terminal),
            _ => true,
        };
        let mut seen: HashSet<(ParseStateId, Vec<Control>), FxBuildHasher> = HashSet::default();
        // Each entry knows the one above it, so that a stuck stack can be told.
        let mut visited: Vec<(ParseStateId, Vec<Control>, Option<usize>)> = Vec::new();
        let mut pending = VecDeque::new();
        let mut nothing = false;
        // What is ignored behind the first entries, the stacks' tops.
        let mut places: Vec<Option<TerminalId>> = Vec::new();
        for state in self.states() {
            if matches!(self.table.accessing(state), Some(Symbol::Nonterminal(_))) || !entered(state) {
                continue;
            }
            for place in std::iter::once(None).chain(self.ignored.iter().copied().map(Some)) {
                let controls = self.after([Control::Between(place)], state);
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
    fn after(&self, controls: impl IntoIterator<Item = Control>, state: ParseStateId) -> Vec<Control> {
        let mut next = Vec::new();
        for control in controls {
            match control {
                Control::Pop(terminal, lhs, count) if count > 0 => {
                    next.push(Control::Pop(terminal, lhs, count - 1));
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
    fn symbols(&self, visited: &[(ParseStateId, Vec<Control>, Option<usize>)], bottom: usize) -> Vec<Symbol> {
        let above = |&at: &usize| visited[at].2;
        std::iter::successors(Some(bottom), above)
            .filter_map(|at| self.table.accessing(visited[at].0))
            .collect()
    }
}
