//! Conflicts: states with more than one action before a terminal.
//!
//! A conflict between shift and reduce is resolved by precedence as in Yacc (Aho, Johnson and
//! Ullman, "Deterministic Parsing of Ambiguous Grammars", CACM 18:8, 1975) if both the terminal and
//! the production have one. The grammar decides about the rest: all actions stay, and the parser
//! follows them in parallel; or the shift wins, and among reductions that of the highest priority,
//! then the first; or it is an error. No conflict is resolved silently.

use std::fmt;

use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::names::Names;
use super::rules::Rules;
use super::terminal_sets::{Gathered, contains, terminals};
use crate::grammar::Grammar;
use crate::grammar::ir::{Associativity, Conflicts, Precedence};
use crate::util::diagnostic::{self, Diagnostic};
use crate::util::meter::{LimitReached, Meter};

/// Error of a grammar that has no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConflictError {
    kind: ConflictErrorKind,
    diagnostics: Vec<Diagnostic>,
}

/// The reason why there is no table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictErrorKind {
    /// The grammar is not LALR(1), precedence does not decide, and conflicts are to be refused.
    Conflict,
    /// The table would be too large.
    Limit,
}

impl ConflictError {
    /// Creates an error about conflicts.
    pub(super) fn conflicts(diagnostics: Vec<Diagnostic>) -> Self {
        Self { kind: ConflictErrorKind::Conflict, diagnostics }
    }

    /// Returns the reason why there is no table.
    #[cfg(test)]
    pub(crate) fn kind(&self) -> ConflictErrorKind {
        self.kind
    }

    /// Returns one finding for each conflict (or the one limit), with its example; the last may
    /// give the number of further ones.
    #[cfg(test)]
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Returns the findings, for an error of a higher layer.
    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }
}

impl From<LimitReached> for ConflictError {
    fn from(limit: LimitReached) -> Self {
        let help = "make the grammar smaller: long counted repetitions and templates with many \
                    uses enlarge it";
        let diagnostics = vec![Diagnostic::of_limit("table-limit", limit).help(help)];
        Self { kind: ConflictErrorKind::Limit, diagnostics }
    }
}

impl fmt::Display for ConflictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        diagnostic::fmt_all(&self.diagnostics, f)
    }
}

impl std::error::Error for ConflictError {}

/// Mutually exclusive actions of one state, the same before each of some terminals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) state: usize,
    /// The terminals (or `$`), ascending; never empty.
    pub(super) terminals: Vec<usize>,
    /// Whether one of the actions is a shift.
    pub(super) shift: bool,
    /// The productions that the other actions reduce; maybe the one of `$accept`.
    pub(super) reductions: Vec<u32>,
}

/// Result of [`resolve`], apart from the removed look-aheads.
#[derive(Debug, Default)]
pub(super) struct Resolution {
    /// The removed edges by terminals, ascending: state and terminal.
    pub(super) dropped_shifts: Vec<(u32, u32)>,
    /// The removed reductions, ascending: state, production and terminal.
    pub(super) barred: Vec<[u32; 3]>,
    /// Conflicts that precedence does not resolve.
    pub(super) conflicts: Vec<Conflict>,
    /// Whether precedence or the order of rules removed an action.
    pub(super) settled: bool,
    /// The compared levels, with repetitions.
    levels: Vec<u32>,
    /// Heap bytes of the conflicts.
    bytes: usize,
}

/// Resolves conflicts by precedence, by removing look-aheads and shifts, and lists the others;
/// these are resolved too if the grammar asks for it.
pub(super) fn resolve(
    grammar: &Grammar,
    rules: &Rules,
    automaton: &Automaton,
    lookaheads: &mut LookAheads,
    meter: &Meter,
) -> Result<Resolution, LimitReached> {
    let mut resolution = Resolution::default();
    let bound = rules.terminal_count() + 1;
    let (mut seen, mut twice) = (Gathered::new(bound), Gathered::new(bound));
    let mut held = meter.holding();
    for state in 0..automaton.state_count() {
        let reductions = automaton.complete.range(state);
        let shifts = automaton.by_terminals(state);
        if reductions.is_empty() || reductions.len() == 1 && shifts.is_empty() {
            continue;
        }
        shifts.iter().for_each(|shift| seen.insert(shift.symbol));
        for reduction in reductions {
            seen.add_again(lookaheads.get(reduction), &mut twice);
        }
        let rivals = automaton.complete.range(state).len();
        meter.step(rivals + seen.take().len())?;
        for terminal in terminals(twice.take()) {
            meter.step(STEPS_OF_A_CELL + 2 * rivals)?;
            let cell = (state, terminal as usize);
            let compared = resolution.settle((grammar, rules), automaton, lookaheads, cell);
            meter.step(STEPS_OF_A_CONFLICT * compared)?;
            held.set(resolution.bytes())?;
        }
    }
    resolution.barred.sort_unstable();
    Ok(resolution)
}

/// Steps that resolving one cell takes.
const STEPS_OF_A_CELL: usize = 20;

/// Steps that it takes to hold a conflict against another one.
const STEPS_OF_A_CONFLICT: usize = 2;

impl Resolution {
    /// Returns the approximate heap size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let settled = size_of::<(u32, u32)>() * self.dropped_shifts.len()
            + size_of::<[u32; 3]>() * self.barred.len()
            + size_of::<u32>() * self.levels.len();
        // Growing lists have capacity for up to twice their length.
        2 * settled + self.bytes
    }

    /// Returns whether the edge of `state` by `symbol` was not removed.
    pub(super) fn keeps_shift(&self, state: u32, symbol: u32) -> bool {
        self.dropped_shifts.binary_search(&(state, symbol)).is_err()
    }

    /// One cell. Each reduction is compared with the shift, if there is one; then
    /// * a reduction that loses to the shift is out;
    /// * when one reduction beats the shift, the shift is out;
    /// * when none does and one of equal level is `%nonassoc`, the shift is out and so is that
    ///   reduction;
    /// * what is left, if it is more than a single action, is a conflict.
    ///
    /// Returns how many conflicts it was held against.
    fn settle(
        &mut self,
        (grammar, rules): (&Grammar, &Rules),
        automaton: &Automaton,
        lookaheads: &mut LookAheads,
        (state, terminal): (usize, usize),
    ) -> usize {
        let mut rivals: Vec<(usize, u32)> = automaton
            .complete
            .range(state)
            .zip(automaton.complete.get(state).iter().copied())
            .filter(|&(reduction, _)| contains(lookaheads.get(reduction), terminal as u32))
            .collect();
        let shift = automaton
            .by_terminals(state)
            .binary_search_by_key(&terminal, |edge| edge.symbol as usize)
            .is_ok();
        let (mut shifts, mut undecided, mut compared) = (shift, false, 0);
        if shift {
            rivals.retain(|&(reduction, production)| {
                let verdict = self.verdict(grammar, rules.origin(production), terminal);
                self.settled |= verdict.is_some();
                undecided |= verdict.is_none();
                shifts &= !matches!(verdict, Some(Associativity::Left | Associativity::Nonassoc));
                let out = matches!(verdict, Some(Associativity::Right | Associativity::Nonassoc));
                if out {
                    lookaheads.remove(reduction, terminal);
                    self.barred.push([state as u32, production, terminal as u32]);
                }
                !out
            });
        }
        if undecided || rivals.len() > 1 {
            let reductions = rivals.iter().map(|&(_, production)| production).collect();
            compared = self.report(state, terminal, undecided, reductions);
            if grammar.conflicts == Conflicts::Shift {
                self.settled = true;
                let kept = if shifts { None } else { first_of(grammar, rules, &rivals) };
                for &(reduction, production) in &rivals {
                    if Some(production) != kept {
                        lookaheads.remove(reduction, terminal);
                        self.barred.push([state as u32, production, terminal as u32]);
                    }
                }
            }
        }
        if shift && !shifts {
            self.dropped_shifts.push((state as u32, terminal as u32));
        }
        compared
    }

    /// Compares by precedence. `Left`: the reduction wins; `Right`: the shift; `Nonassoc`: neither;
    /// `None`: precedence does not decide.
    fn verdict(
        &mut self,
        grammar: &Grammar,
        production: usize,
        terminal: usize,
    ) -> Option<Associativity> {
        let production: Precedence = grammar.productions.get(production)?.precedence?;
        let terminal: Precedence = grammar.terminals.get(terminal)?.precedence?;
        self.levels.extend([production.level, terminal.level]);
        Some(match production.level.cmp(&terminal.level) {
            std::cmp::Ordering::Greater => Associativity::Left,
            std::cmp::Ordering::Less => Associativity::Right,
            std::cmp::Ordering::Equal => terminal.associativity,
        })
    }

    /// Returns how many conflicts it was held against.
    fn report(
        &mut self,
        state: usize,
        terminal: usize,
        shift: bool,
        mut reductions: Vec<u32>,
    ) -> usize {
        reductions.sort_unstable();
        let same = self.conflicts.iter_mut().rev().take_while(|conflict| conflict.state == state);
        let mut compared = 0;
        for conflict in same {
            compared += 1;
            if conflict.shift == shift && conflict.reductions == reductions {
                conflict.terminals.push(terminal);
                self.bytes += 2 * size_of::<usize>();
                return compared;
            }
        }
        self.bytes +=
            2 * size_of::<Conflict>() + 4 * size_of::<usize>() + size_of_val(&*reductions);
        self.conflicts.push(Conflict { state, terminals: vec![terminal], shift, reductions });
        compared
    }

    /// Returns a warning for each level of precedence that resolved no conflict.
    pub(super) fn warnings(&mut self, grammar: &Grammar, names: &Names) -> Vec<Diagnostic> {
        self.levels.sort_unstable();
        self.levels.dedup();
        let mut unused: Vec<(u32, Option<usize>, Option<usize>)> = Vec::new();
        for (terminal, definition) in grammar.terminals.iter().enumerate() {
            if let Some(precedence) = definition.precedence {
                unused.push((precedence.level, Some(terminal), None));
            }
        }
        for (production, definition) in grammar.productions.iter().enumerate() {
            if let Some(precedence) = definition.precedence {
                unused.push((precedence.level, None, Some(production)));
            }
        }
        unused.retain(|(level, ..)| self.levels.binary_search(level).is_err());
        unused.sort_by_key(|&(level, terminal, _)| (level, terminal.is_none()));
        let mut warnings = Vec::new();
        for group in unused.chunk_by(|a, b| a.0 == b.0) {
            let terminals: Vec<&str> = group
                .iter()
                .filter_map(|entry| entry.1)
                .take(8)
                .map(|t| names.symbol(t as u32))
                .collect();
            let place = match group[0] {
                (_, Some(terminal), _) => grammar.terminals[terminal].place.clone(),
                (_, _, Some(production)) => grammar.productions[production].place.clone(),
                (_, None, None) => None,
            };
            let message = if terminals.is_empty() {
                "the precedence of this alternative decides no conflict".to_owned()
            } else {
                format!("the precedence of {} decides no conflict", terminals.join(" "))
            };
            let help = "remove it: an unused precedence can hide a later mistake";
            warnings.push(Diagnostic::warning("unused-precedence", message).at(place).help(help));
        }
        warnings
    }
}

/// Returns the reduction of the highest priority; of several, the first in the file. Accepting
/// precedes them all: it shifts `$`.
fn first_of(grammar: &Grammar, rules: &Rules, rivals: &[(usize, u32)]) -> Option<u32> {
    let rank = |&production: &u32| {
        let origin = rules.origin(production);
        let priority = grammar.productions.get(origin).map_or(0, |production| production.priority);
        (production != rules.accept(), std::cmp::Reverse(priority), origin)
    };
    rivals.iter().map(|&(_, production)| production).min_by_key(rank)
}
