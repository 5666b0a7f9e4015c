//! Scan states: a union of terminal DFAs, determinised lazily.
//!
//! A scan state is the list of its live components, each a terminal and a state of its DFA. Equal
//! lists are one state, whichever parse state the lexeme began in: inside a string all contexts
//! share one state, and so share everything that the index knows about it.
//!
//! Conditions of lexeme ends on the following text are in [`ends`], the effect of the preceding
//! text in [`past`], the labels that can still be reached in [`reach`], and all steps from a state
//! in [`moves`].

mod ends;
mod key;
mod moves;
mod past;
mod reach;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::lexer::{Condition, Dfa};
use crate::util::append::{Interner, Slots};
use crate::util::append_map::AppendMap;
use crate::util::bitset::BitSet;
use crate::util::byte_classes::{ByteClasses, ClassSet};
use crate::util::id::{ScanStateId, TerminalId};
pub(crate) use ends::{Endings, Guarded};
pub(crate) use past::Past;
use past::View;
use reach::Outranked;

/// A terminal and a state of its DFA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Component {
    pub(crate) terminal: TerminalId,
    pub(crate) state: u32,
}

/// The facts of a scan state other than its components.
#[derive(Debug)]
struct Facts {
    /// One entry for each byte class: the next state, [`DEAD`] or [`UNKNOWN`].
    next: Box<[AtomicU32]>,
    /// The label of a lexeme that ends here, before fallback words: the accepting terminal of least
    /// rank.
    label: Option<TerminalId>,
    /// Present if the label depends on the text after the lexeme.
    guarded: Option<Box<Guarded>>,
    /// The labels that a lexeme in this state can end with, here or later.
    reach: OnceLock<u32>,
    /// Those with which it can end without a condition on the following text.
    sure_reach: OnceLock<u32>,
}

/// No component lives.
const DEAD: u32 = u32::MAX;
/// Not computed yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// All scan states met so far.
#[derive(Debug)]
pub(crate) struct ScanStates {
    /// By terminal; `None` for a declared terminal, which matches nothing.
    dfas: Vec<Option<Dfa>>,
    /// Automata of conditions on the following text: two for each condition, one accepting when it
    /// holds and one when it fails. Their numbers in components follow those of the terminals.
    conditions: Vec<Dfa>,
    /// Start states of these automata. They are the first scan states.
    condition_starts: Vec<ScanStateId>,
    /// By terminal: the positions of its conditions in this list. Terminals with the same condition
    /// (mostly that no word goes on) share it.
    conditions_of: Vec<Box<[usize]>>,
    /// Terminals that look at the text before their lexemes.
    looking: Vec<TerminalId>,
    /// Automata that read the whole text for these terminals, each given by a terminal with that
    /// automaton. Their numbers in components follow those of the conditions.
    trackers: Vec<TerminalId>,
    /// By terminal with a look-behind: its tracker.
    views: Vec<View>,
    ranks: Vec<u32>,
    endings: Endings,
    classes: ByteClasses,
    /// By terminal and class of its DFA: the classes of bytes that it consists of.
    parts: Vec<Box<[ClassSet]>>,
    pub(in crate::scanner) components: Interner<Box<[Component]>>,
    /// Lists of the components that read the whole text: [`Past`].
    pub(in crate::scanner) pasts: Interner<Box<[Component]>>,
    /// By start state of a lexeme, as [`ScanStates::start`] returns it, and past.
    begun: AppendMap<(ScanStateId, Past), ScanStateId>,
    facts: Slots<Facts>,
    /// Sets of labels: [`Facts::reach`].
    pub(in crate::scanner) label_sets: Interner<BitSet>,
    /// Whether lexemes can still end with labels that others outrank.
    outranked: Mutex<Outranked>,
    /// Steps that may still be taken to find these; unlimited while texts are read.
    looks_left: AtomicUsize,
}

impl ScanStates {
    /// Creates the scan states over `dfas`, one for each terminal; `ranks` decide between terminals
    /// that accept the same text. Bytes that `distinct` distinguishes get different classes.
    pub(crate) fn new(
        dfas: Vec<Option<Dfa>>,
        ranks: Vec<u32>,
        endings: Endings,
        distinct: Option<&ByteClasses>,
    ) -> Self {
        let mut conditions: Vec<Dfa> = Vec::new();
        let mut conditions_of = Vec::with_capacity(dfas.len());
        let mut known: HashMap<&Condition, usize> = HashMap::new();
        for dfa in &dfas {
            let place = |condition| {
                *known.entry(condition).or_insert_with_key(|Condition { holds, fails }| {
                    conditions.extend([holds.clone(), fails.clone()]);
                    conditions.len() - 2
                })
            };
            conditions_of.push(dfa.iter().flat_map(Dfa::conditions).map(place).collect());
        }
        drop(known);
        let looks = |&terminal: &TerminalId| {
            dfas[terminal.index()].as_ref().is_some_and(|dfa| dfa.looks_behind() && !dfa.is_empty())
        };
        let looking: Vec<TerminalId> = (0..dfas.len()).map(TerminalId::new).filter(looks).collect();
        let all = || dfas.iter().map(Option::as_ref).chain(conditions.iter().map(Some));
        // Automata of conditions read the end of the text as a byte of its own.
        let end = (!conditions.is_empty())
            .then(|| ByteClasses::by_key(|byte| usize::from(byte == Dfa::END)));
        let classes = ByteClasses::refinement(
            all().flatten().map(Dfa::classes).chain(distinct).chain(end.as_ref()),
        );
        let (trackers, views) = past::trackers(&looking, &dfas, &classes);
        let of_trackers = trackers.iter().map(|terminal| dfas[terminal.index()].as_ref());
        let part = |dfa: Option<&Dfa>| {
            dfa.map_or_else(Box::default, |dfa| classes.coarsened(dfa.classes()))
        };
        let components: Interner<Box<[Component]>> = Interner::default();
        let pasts = Interner::default();
        pasts.intern(Box::default());
        let start = |(place, condition): (usize, &Dfa)| {
            let component = Component {
                terminal: TerminalId::new(dfas.len() + place),
                state: condition.start(),
            };
            ScanStateId(components.intern_ref(&[component]))
        };
        Self {
            condition_starts: conditions.iter().enumerate().map(start).collect(),
            parts: all().chain(of_trackers).map(part).collect(),
            dfas,
            conditions,
            conditions_of,
            looking,
            trackers,
            views,
            ranks,
            endings,
            classes,
            components,
            pasts,
            begun: AppendMap::default(),
            facts: Slots::default(),
            label_sets: Interner::default(),
            outranked: Mutex::default(),
            looks_left: AtomicUsize::new(usize::MAX),
        }
    }

    /// Returns classes of bytes that no scan state distinguishes.
    pub(crate) fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// Returns the DFA of a terminal.
    pub(crate) fn dfa(&self, terminal: TerminalId) -> Option<&Dfa> {
        self.dfas[terminal.index()].as_ref()
    }

    /// Returns the automaton of a component.
    pub(in crate::scanner) fn automaton(&self, number: TerminalId) -> Option<&Dfa> {
        match self.dfas.get(number.index()) {
            Some(dfa) => dfa.as_ref(),
            None => match self.conditions.get(number.index() - self.dfas.len()) {
                Some(condition) => Some(condition),
                None => self.dfa(*self.trackers.get(number.index() - self.first_tracker())?),
            },
        }
    }

    /// Returns whether some terminal has a condition on the text after it.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Returns the states of its automaton in which lexemes of `terminal` begin.
    pub(crate) fn starts_of(&self, terminal: TerminalId) -> Vec<u32> {
        self.dfa(terminal).map_or_else(Vec::new, |dfa| dfa.starts().collect())
    }

    /// Returns the state of a terminal's automaton after `byte`, if it goes on.
    #[inline]
    pub(crate) fn step_of(&self, terminal: TerminalId, state: u32, byte: u8) -> Option<u32> {
        let next = self.dfa(terminal)?.next(state, byte);
        (next != Dfa::DEAD).then_some(next)
    }

    /// Returns the state after a shortest lexeme of `terminal`, with which no other competes.
    pub(crate) fn finished(&self, terminal: TerminalId) -> Option<ScanStateId> {
        let dfa = self.dfa(terminal).filter(|dfa| !dfa.looks_behind())?;
        let end = dfa.shortest().iter().fold(dfa.start(), |state, &byte| dfa.next(state, byte));
        (end != Dfa::DEAD).then(|| self.of_terminal(terminal, end))
    }

    /// Returns a shortest text that completes a lexeme from a state of a terminal's automaton.
    pub(crate) fn shortest_from(&self, terminal: TerminalId, state: u32) -> Vec<u8> {
        self.dfa(terminal).map_or_else(Vec::new, |dfa| dfa.shortest_from(state))
    }

    /// Returns how many bytes a state of a terminal's automaton is away from accepting.
    #[inline]
    pub(crate) fn distance_of(&self, terminal: TerminalId, state: u32) -> u32 {
        self.dfa(terminal).map_or(u32::MAX, |dfa| dfa.distance(state))
    }

    /// Returns the DFAs of all terminals.
    pub(crate) fn dfas(&self) -> &[Option<Dfa>] {
        &self.dfas
    }

    /// Returns whether some match rules out longer ones: that of a lazy terminal, or one of higher
    /// priority.
    pub(crate) fn has_cuts(&self) -> bool {
        !self.endings.first.is_empty() || !self.endings.priorities.is_empty()
    }

    /// Returns whether some terminal may end at each match.
    pub(crate) fn has_every_match(&self) -> bool {
        !self.endings.every.is_empty()
    }

    /// Returns whether the first match of this terminal ends its lexeme.
    pub(in crate::scanner) fn ends_at_first_match(&self, terminal: TerminalId) -> bool {
        self.endings.first.contains(terminal.index())
    }

    /// Returns the heap bytes of a state with this many components, all of whose steps are known.
    pub(crate) fn bytes_of_a_state(&self, components: usize) -> usize {
        // Its entry among the facts, its places in tables, and the facts themselves.
        200 + components * size_of::<Component>() + self.classes.count() * size_of::<u32>()
    }

    /// Returns the number of states met.
    pub(crate) fn len(&self) -> usize {
        self.components.len()
    }

    /// Returns the state in which a lexeme of one of `candidates` starts. Terminals with a
    /// look-behind are in it as if no text had been read; [`ScanStates::begin`] adds the text.
    pub(crate) fn start(&self, candidates: &BitSet) -> ScanStateId {
        let components = candidates.iter().filter_map(|index| {
            let dfa = self.dfas.get(index)?.as_ref().filter(|dfa| !dfa.is_empty())?;
            Some(Component { terminal: TerminalId::new(index), state: dfa.start() })
        });
        ScanStateId(self.components.intern(components.collect()))
    }

    /// Returns the state in which only this terminal is left, in this state of its automaton.
    fn of_terminal(&self, terminal: TerminalId, state: u32) -> ScanStateId {
        ScanStateId(self.components.intern_ref(&[Component { terminal, state }]))
    }

    /// Returns the state after `byte`, or `None` if no candidate goes on. One load if the step is
    /// known.
    #[inline]
    pub(crate) fn next(&self, state: ScanStateId, byte: u8) -> Option<ScanStateId> {
        let class = self.classes.get(byte);
        match self.facts(state).next[usize::from(class)].load(Ordering::Acquire) {
            UNKNOWN => self.step(state, byte),
            DEAD => None,
            next => Some(ScanStateId(next)),
        }
    }

    /// Returns whether a lexeme has ended here because no byte moves any component: a lazy terminal
    /// has its first match, or a text is complete.
    pub(crate) fn has_ended(&self, state: ScanStateId) -> bool {
        self.label(state).is_some() && self.moves(state).is_empty()
    }

    /// Returns the state with only the components that `keeps` accepts; `None` if none is left.
    pub(crate) fn restricted(
        &self,
        state: ScanStateId,
        keeps: impl Fn(TerminalId) -> bool,
    ) -> Option<ScanStateId> {
        let kept = self.components(state).iter().filter(|component| keeps(component.terminal));
        let kept: SmallVec<[Component; 8]> = kept.copied().collect();
        (!kept.is_empty()).then(|| ScanStateId(self.components.intern_ref(kept.as_slice())))
    }

    /// Returns the components of a state, by ascending terminal.
    pub(crate) fn components(&self, state: ScanStateId) -> &[Component] {
        self.components.get(state.0)
    }

    #[inline]
    fn facts(&self, state: ScanStateId) -> &Facts {
        self.facts.get_or_init(state.0, || Facts {
            next: (0..self.classes.count()).map(|_| AtomicU32::new(UNKNOWN)).collect(),
            label: self.best_label(state),
            guarded: self.find_guarded(state),
            reach: OnceLock::new(),
            sure_reach: OnceLock::new(),
        })
    }

    /// Returns the components that the next byte moves: all, if no match ends the lexeme. A match
    /// stops terminals of lower priority, and a match of a lazy terminal those of equal priority
    /// too. Trackers go on with the others.
    #[inline]
    fn moving(&self, state: ScanStateId) -> Cow<'_, [Component]> {
        let components = self.components(state);
        match self.has_cuts() && self.label(state).is_some() {
            true => self.moving_after_match(state),
            false => Cow::Borrowed(components),
        }
    }

    #[cold]
    fn moving_after_match(&self, state: ScanStateId) -> Cow<'_, [Component]> {
        let is_lexeme = |of: &Component| of.terminal.index() < self.first_tracker();
        let priority = |of: &Component| self.endings.priorities.get(of.terminal.index()).copied();
        let is_lazy = |of: &&Component| {
            of.terminal.index() < self.dfas.len() && self.ends_at_first_match(of.terminal)
        };
        // A match that depends on the following text stops nothing.
        let is_certain = |of: &&Component| {
            let dfa = self.automaton(of.terminal);
            dfa.is_none_or(|dfa| dfa.condition(of.state).is_none())
        };
        let matched = self.accepting(state).filter(is_certain).map(priority).max();
        let ended = self.accepting(state).filter(is_lazy).map(priority).max();
        let goes_on = |of: &&Component| {
            let own = priority(of);
            matched.is_none_or(|matched| own >= matched) && ended.is_none_or(|ended| own > ended)
        };
        let all = self.components(state).iter();
        let moving: Vec<Component> =
            all.filter(|of| !is_lexeme(of) || goes_on(of)).copied().collect();
        match moving.iter().any(is_lexeme) {
            true => Cow::Owned(moving),
            false => Cow::Borrowed(&[]),
        }
    }

    #[cold]
    fn step(&self, state: ScanStateId, byte: u8) -> Option<ScanStateId> {
        let after = |&component: &Component| {
            let state = self.automaton(component.terminal)?.next(component.state, byte);
            (state != Dfa::DEAD).then_some(Component { state, ..component })
        };
        let next = match &*self.moving(state) {
            [only] => self.alive(after(only).as_slice()),
            all => self.alive(&all.iter().filter_map(after).collect::<SmallVec<[_; 8]>>()),
        };
        self.facts(state).next[usize::from(self.classes.get(byte))].store(next, Ordering::Release);
        (next != DEAD).then_some(ScanStateId(next))
    }

    /// Returns the number of the state with these components; [`DEAD`] if no lexeme goes on.
    fn alive(&self, components: &[Component]) -> u32 {
        match components.first() {
            Some(first) if first.terminal.index() < self.first_tracker() => {
                self.components.intern_ref(components)
            }
            _ => DEAD,
        }
    }
}

/// Returns the scan states over these regexes, for tests.
#[cfg(test)]
fn of_regexes(regexes: &[&str]) -> ScanStates {
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    let meter = Meter::new(&Limits::default());
    let dfa = |regex: &&str| {
        let (pattern, flags) = ((*regex).to_owned(), RegexFlags::default());
        let pattern = Pattern::Regex { pattern, flags, place: None };
        Some(Compiler::new(&meter).compile(&pattern).expect("a regex"))
    };
    let [first, every] = [(); 2].map(|()| BitSet::new(regexes.len()));
    let ranks = (0..regexes.len() as u32).collect();
    ScanStates::new(
        regexes.iter().map(dfa).collect(),
        ranks,
        Endings { first, every, priorities: Vec::new() },
        None,
    )
}
