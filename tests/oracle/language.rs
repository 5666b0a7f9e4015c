//! Membership: a direct implementation of the definition of the language.

use super::automaton::Automaton;
use super::layout::{Layout, Step};
use super::spec::{Indentation, LexerKind, Matching, Spec, Terminal};
use super::stacks::{self, Stack};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// A grammar with a cache of earlier answers.
#[derive(Debug)]
pub struct Language {
    spec: Spec,
    automaton: Automaton,
    /// The terminals that compete under the basic lexer.
    competing: u32,
    /// The terminals that are all meant if several of them match one lexeme.
    meant: u32,
    /// Number of lexemes that a word may depend on, including itself and the one before it.
    memory: usize,
    stacks: RefCell<Vec<Known>>,
    numbers: RefCell<HashMap<Stack, usize>>,
    /// For each slice: the terminals that match it in full, and those that may match an extension
    /// of it.
    slices: RefCell<HashMap<Vec<u8>, (u32, u32)>>,
}

/// Upper bound on the visited readings of a text: in the worst grammars they double with each
/// lexeme.
const MOST_READINGS: usize = 20_000;

/// Properties of one stack.
#[derive(Debug)]
struct Known {
    stack: Stack,
    /// The terminals that it can actually shift.
    acceptable: u32,
    /// The terminals that compete for the next lexeme.
    candidates: u32,
    is_sentence: bool,
    /// The stacks after each terminal.
    next: HashMap<usize, Vec<usize>>,
}

/// The state of a reading between two lexemes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Number of its stack.
    pub stack: usize,
    pub layout: Layout,
    /// The previous lexemes that are not ignored, as far back as any word depends on them: the
    /// winner of each, and the terminal as which it is read.
    pub trail: Vec<(usize, usize)>,
}

/// A way for a lexeme to start: the terminals that compete, and the stack for a lexeme that is not
/// ignored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opening {
    /// The stack that takes the lexeme, and its layout: those after INDENT or DEDENT if it is the
    /// first of a line. `None` if the width of the line is wrong.
    taker: Option<(usize, Layout)>,
    /// The terminals that the stack accepts here.
    acceptable: u32,
    /// The terminals that compete.
    pub candidates: u32,
}

impl Language {
    pub fn new(spec: Spec) -> Self {
        let automaton = Automaton::new(&spec);
        let furthest =
            spec.terminals.iter().filter_map(|t| Some(t.lookahead.as_ref()?.ahead.len() + 2)).max();
        let memory = furthest.unwrap_or(0);
        let (stacks, numbers, slices) =
            (RefCell::default(), RefCell::default(), RefCell::default());
        let (competing, meant) = (spec.competing(), spec.are_all_meant());
        let language = Self { spec, automaton, competing, meant, memory, stacks, numbers, slices };
        language.number(stacks::bottom());
        language
    }

    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Whether `text` is in the language: some reading ends at its end. `None` if it has too many
    /// readings to enumerate.
    pub fn is_member(&self, text: &[u8]) -> Option<bool> {
        let mut todo = vec![(0, self.begin())];
        let mut seen = HashSet::new();
        while let Some((at, place)) = todo.pop() {
            if at == text.len() {
                if self.ends(&place) {
                    return Some(true);
                }
                continue;
            }
            if seen.len() > MOST_READINGS {
                return None;
            }
            for opening in self.openings(&place) {
                let lexeme = self.lexeme(&opening, text.split_at(at));
                if let Some((length, winners)) = lexeme {
                    let behind =
                        self.behind_all(&place, &opening, &winners, &text[at..at + length]);
                    let behind = behind.into_iter().map(|place| (at + length, place));
                    todo.extend(behind.filter(|reading| seen.insert(reading.clone())));
                }
            }
        }
        Some(false)
    }

    /// Returns the state before the first lexeme.
    pub fn begin(&self) -> Place {
        let layout =
            self.spec.indentation.as_ref().map_or_else(Layout::default, |_| Layout::begin());
        Place { stack: 0, layout, trail: Vec::new() }
    }

    /// Whether the text may end here.
    pub fn ends(&self, place: &Place) -> bool {
        if !self.is_right(&place.trail, true) {
            return false;
        }
        let mut stacks = vec![place.stack];
        if let Some(rules) = &self.spec.indentation {
            if place.layout.is_joined() {
                return false;
            }
            if let Some(line) = place.layout.ends_line() {
                let newline = line.then_some(rules.newline);
                let dedents = std::iter::repeat_n(rules.dedent, place.layout.blocks());
                stacks = self.after_all(place.stack, newline.into_iter().chain(dedents));
            }
        }
        stacks.iter().any(|&stack| self.stacks.borrow()[stack].is_sentence)
    }

    /// Returns the ways for a lexeme to start here. Each stack lexes separately, including those
    /// that the beginning of a line creates.
    pub fn openings(&self, place: &Place) -> Vec<Opening> {
        let Place { stack, layout, .. } = place;
        let known = |stack: usize| {
            let known = &self.stacks.borrow()[stack];
            (known.acceptable, known.candidates)
        };
        let Some(rules) = self.spec.indentation.as_ref().filter(|_| layout.is_loose()) else {
            let (acceptable, candidates) = known(*stack);
            return vec![Opening { taker: Some((*stack, layout.clone())), acceptable, candidates }];
        };
        let loose = |taker: Option<(usize, Layout)>| {
            let newline = 1 << rules.newline;
            let acceptable = taker.as_ref().map_or(0, |(stack, _)| known(*stack).0) & !newline;
            let ignored = if acceptable & self.exclusive() == 0 { newline } else { 0 };
            Opening { taker, acceptable, candidates: self.candidates(acceptable | ignored) }
        };
        if !layout.begins_line() {
            return vec![loose(Some((*stack, layout.clone())))];
        }
        match self.before_first(*stack, layout, rules) {
            takers if takers.is_empty() => vec![loose(None)],
            takers => takers.into_iter().map(|taker| loose(Some(taker))).collect(),
        }
    }

    /// Returns the stacks and layouts before the lexeme that starts here, if it is the first of a
    /// line and the line's width is right.
    fn before_first(
        &self,
        stack: usize,
        layout: &Layout,
        rules: &Indentation,
    ) -> Vec<(usize, Layout)> {
        let Some(step) = layout.step(rules) else { return Vec::new() };
        let (terminal, count) = match step {
            Step::Indent(_) => (rules.indent, 1),
            Step::Dedent(count) => (rules.dedent, count),
        };
        let stacks = self.after_all(stack, std::iter::repeat_n(terminal, count));
        stacks.into_iter().map(|stack| (stack, layout.after_step(step))).collect()
    }

    /// Returns the candidates that may begin after `before`, of which only the end matters.
    pub fn behind_text(&self, candidates: u32, before: &[u8]) -> u32 {
        let terminals = self.spec.terminals.iter().enumerate();
        let may = terminals.filter(|(_, terminal)| terminal.may_begin(before));
        may.fold(0, |set, (t, _)| set | 1 << t) & candidates
    }

    /// Returns the longest non-empty prefix of `rest` that a candidate matches in full, and its
    /// terminals: the best one, or all that are meant. With `match priority`, only the candidates
    /// of the highest priority that match any prefix count.
    fn lexeme(
        &self,
        opening: &Opening,
        (before, rest): (&[u8], &[u8]),
    ) -> Option<(usize, Vec<usize>)> {
        let candidates = self.behind_text(opening.candidates, before);
        if self.spec.matching != Matching::Priority {
            return self.longest(candidates, rest);
        }
        let mut levels: Vec<i32> = self.spec.terminals.iter().map(|t| t.priority).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().rev().find_map(|level| {
            let terminals = self.spec.terminals.iter().enumerate();
            let own = terminals.fold(0, |set, (t, of)| set | u32::from(of.priority == level) << t);
            self.longest(candidates & own, rest)
        })
    }

    fn longest(&self, candidates: u32, rest: &[u8]) -> Option<(usize, Vec<usize>)> {
        let mut longest = None;
        for length in 1..=rest.len() {
            let (matching, extensible) = self.slice(&rest[..length]);
            let fits =
                |&t: &usize| matching & 1 << t != 0 && self.spec.terminals[t].fits(&rest[length..]);
            let mut competing = (0..self.spec.terminals.len()).filter(|t| candidates & 1 << t != 0);
            let winner = competing.find(fits);
            longest = winner
                .map(|winner| (length, self.meant_with(winner, candidates & matching)))
                .or(longest);
            if candidates & extensible == 0 {
                break;
            }
        }
        longest
    }

    /// Returns the terminals of a lexeme, given the best one and all that match it.
    pub fn meant_with(&self, winner: usize, matching: u32) -> Vec<usize> {
        if self.meant & 1 << winner == 0 {
            return vec![winner];
        }
        (0..self.spec.terminals.len()).filter(|t| self.meant & matching & 1 << t != 0).collect()
    }

    /// Returns the states after a lexeme that all these terminals have won.
    pub fn behind_all(
        &self,
        place: &Place,
        opening: &Opening,
        winners: &[usize],
        lexeme: &[u8],
    ) -> Vec<Place> {
        let behind = |&winner: &usize| self.behind(place, opening, winner, lexeme);
        winners.iter().flat_map(behind).collect()
    }

    /// Returns the states after a lexeme that `winner` has won.
    fn behind(&self, place: &Place, opening: &Opening, winner: usize, lexeme: &[u8]) -> Vec<Place> {
        let mut behind = Vec::new();
        for label in self.labels(place, opening, winner) {
            let Some(terminal) = label else {
                let rules = self.spec.indentation.as_ref();
                let layout = rules.map(|rules| place.layout.after_ignored(winner, lexeme, rules));
                behind.push(Place { layout: layout.unwrap_or_default(), ..place.clone() });
                continue;
            };
            let mut trail = place.trail.clone();
            trail.push((winner, terminal));
            let Some((stack, layout)) =
                opening.taker.as_ref().filter(|_| self.is_right(&trail, false))
            else {
                continue;
            };
            let trail = trail.split_off(trail.len().saturating_sub(self.memory));
            let rules = self.spec.indentation.as_ref();
            let layout =
                rules.map(|rules| layout.after_terminal(terminal, rules)).unwrap_or_default();
            let after = self.after(*stack, terminal).into_iter();
            behind.extend(after.map(|stack| Place {
                stack,
                layout: layout.clone(),
                trail: trail.clone(),
            }));
        }
        behind
    }

    /// Whether any lexeme won by one of these has a reading.
    pub fn has_reading(&self, place: &Place, opening: &Opening, winners: u32) -> bool {
        let all = 0..self.spec.terminals.len();
        all.filter(|winner| winners & 1 << winner != 0)
            .any(|winner| !self.labels(place, opening, winner).is_empty())
    }

    /// Returns the terminals that a lexeme won by `winner` can be; `None` is an ignored lexeme.
    fn labels(&self, place: &Place, opening: &Opening, winner: usize) -> Vec<Option<usize>> {
        let can_stand = |terminal: usize| opening.acceptable & (1 << terminal) != 0;
        let terminal = &self.spec.terminals[winner];
        let newline = self.spec.indentation.as_ref().is_some_and(|rules| rules.newline == winner);
        if terminal.ignored || newline && place.layout.is_loose() {
            return vec![None];
        }
        let mut labels = Vec::new();
        if let Some(lookahead) = &terminal.lookahead {
            return [winner, lookahead.other]
                .into_iter()
                .filter(|&t| can_stand(t))
                .map(Some)
                .collect();
        }
        if can_stand(winner) {
            labels.push(Some(winner));
        }
        if let Some(fallback) = terminal.fallback
            && can_stand(fallback.terminal)
            && (fallback.soft || !can_stand(winner))
        {
            labels.push(Some(fallback.terminal));
        }
        labels
    }

    /// Whether each word of the trail is read as its context requires, as far as that can be
    /// decided: at the end of the text it always can.
    fn is_right(&self, trail: &[(usize, usize)], is_whole: bool) -> bool {
        (0..trail.len()).all(|at| {
            let (winner, terminal) = trail[at];
            let Some(lookahead) = &self.spec.terminals[winner].lookahead else { return true };
            let last = at.checked_sub(1).map(|last| trail[last].1);
            if at == 0 && trail.len() >= self.memory {
                // Decided long ago; the lexemes before it are forgotten.
                return true;
            }
            let mut itself = Some(
                lookahead
                    .after
                    .as_ref()
                    .is_none_or(|after| last.is_some_and(|last| after.contains(&last))),
            );
            for (distance, list) in lookahead.ahead.iter().enumerate() {
                itself = match (itself, trail.get(at + 1 + distance)) {
                    (Some(true), Some((next, _))) => Some(self.meets(*next, list)),
                    (Some(true), None) if is_whole => Some(false),
                    (Some(true), None) => None,
                    (decided, _) => decided,
                };
            }
            itself.is_none_or(|itself| itself == (terminal == winner))
        })
    }

    /// Whether a lexeme won by `winner` is in a list, by its own name or by that of its fallback.
    fn meets(&self, winner: usize, list: &[usize]) -> bool {
        let fallback = self.spec.terminals[winner].fallback;
        list.contains(&winner) || fallback.is_some_and(|fallback| list.contains(&fallback.terminal))
    }

    fn slice(&self, slice: &[u8]) -> (u32, u32) {
        if let Some(&known) = self.slices.borrow().get(slice) {
            return known;
        }
        let mut matching = 0;
        let mut extensible = 0;
        for (t, terminal) in self.spec.terminals.iter().enumerate() {
            if let Some(pattern) = &terminal.pattern {
                let begun = slice
                    .iter()
                    .try_fold(pattern.start(), |state, &byte| pattern.next(state, byte));
                matching |= u32::from(pattern.matches(slice)) << t;
                extensible |= u32::from(begun.is_some_and(|state| pattern.goes_on(state))) << t;
            }
        }
        self.slices.borrow_mut().insert(slice.to_vec(), (matching, extensible));
        (matching, extensible)
    }

    /// Returns the stacks after all these terminals.
    fn after_all(&self, stack: usize, terminals: impl IntoIterator<Item = usize>) -> Vec<usize> {
        terminals.into_iter().fold(vec![stack], |stacks, terminal| {
            let mut after: Vec<usize> =
                stacks.into_iter().flat_map(|stack| self.after(stack, terminal)).collect();
            after.sort_unstable();
            after.dedup();
            after
        })
    }

    /// Returns the stacks after one more terminal.
    fn after(&self, stack: usize, terminal: usize) -> Vec<usize> {
        if let Some(next) = self.stacks.borrow()[stack].next.get(&terminal) {
            return next.clone();
        }
        let from = self.stacks.borrow()[stack].stack.clone();
        let after = stacks::after(&self.automaton, &from, terminal);
        let next: Vec<usize> = after.into_iter().map(|stack| self.number(stack)).collect();
        self.stacks.borrow_mut()[stack].next.insert(terminal, next.clone());
        next
    }

    /// Returns the number of cores on a stack.
    pub fn height(&self, stack: usize) -> usize {
        self.stacks.borrow()[stack].stack.len()
    }

    /// Returns the number of a stack.
    fn number(&self, stack: Stack) -> usize {
        if let Some(&number) = self.numbers.borrow().get(&stack) {
            return number;
        }
        let takes =
            |&terminal: &usize| !stacks::after(&self.automaton, &stack, terminal).is_empty();
        let acceptable =
            (0..self.spec.terminals.len()).filter(takes).fold(0, |set, t| set | 1 << t);
        let is_sentence = stacks::is_sentence(&self.automaton, &stack);
        let candidates = self.candidates(acceptable);
        let number = self.stacks.borrow().len();
        self.numbers.borrow_mut().insert(stack.clone(), number);
        let known = Known { stack, acceptable, candidates, is_sentence, next: HashMap::new() };
        self.stacks.borrow_mut().push(known);
        number
    }

    fn exclusive(&self) -> u32 {
        let is_exclusive = |(t, terminal): (usize, &Terminal)| u32::from(terminal.exclusive) << t;
        self.spec.terminals.iter().enumerate().map(is_exclusive).sum()
    }

    /// Returns the terminals that compete where these are accepted.
    fn candidates(&self, acceptable: u32) -> u32 {
        let all = || self.spec.terminals.iter().enumerate();
        let exclusive = self.exclusive();
        let candidates = match self.spec.lexer {
            _ if acceptable & exclusive != 0 => all()
                .filter(|(_, terminal)| terminal.ignored)
                .fold(acceptable, |set, (t, _)| set & !(1 << t)),
            LexerKind::Basic => self.competing,
            LexerKind::Contextual => {
                let plain = all()
                    .fold(acceptable, |set, (t, terminal)| set | u32::from(terminal.ignored) << t);
                all().fold(plain, |set, (t, terminal)| {
                    let against = terminal.reserved_against.iter().copied();
                    let mut against = against.chain(terminal.lookahead.iter().map(|l| l.other));
                    let competes = against.any(|other| plain & (1 << other) != 0);
                    set | u32::from(competes) << t
                })
            }
        };
        if acceptable & exclusive != 0 { candidates } else { candidates & !exclusive }
    }
}
