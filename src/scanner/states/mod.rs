//! Scan states: a union of terminal DFAs, determinised as text meets it.
//!
//! A scan state is the list of its live components, each a terminal and a state of its DFA. Equal
//! lists are one state, whichever parse state the lexeme began in: inside a string all contexts
//! share one state, and so share everything that the index knows of it.
//!
//! What ends of lexemes ask of the text behind is in [`ends`], what the text before them matters in
//! [`past`], what they can still become in [`reach`], and all steps from a state in [`moves`].

mod ends;
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

/// What is known of a scan state beside its components.
#[derive(Debug)]
struct Facts {
    /// One entry a byte class: the next state, [`DEAD`] or [`UNKNOWN`].
    next: Box<[AtomicU32]>,
    /// The terminal that a lexeme ending here is, before fallback words: the accepting one of least
    /// rank.
    label: Option<TerminalId>,
    /// Where that depends on the text behind the lexeme.
    guarded: Option<Box<Guarded>>,
    /// The labels that a lexeme going through here can end with, here or later.
    reach: OnceLock<u32>,
    /// Those of them with which it can end without asking anything of the text behind.
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
    /// What terminals ask of the text behind, as automata: two for each condition, of its coming
    /// true and of its failing. Components name them by numbers past those of the terminals.
    conditions: Vec<Dfa>,
    /// Where each of these begins to read. They are the first states.
    condition_starts: Vec<ScanStateId>,
    /// By terminal: the places of its conditions among these. Terminals that ask the same (that no
    /// word goes on, mostly) have one condition.
    conditions_of: Vec<Box<[usize]>>,
    /// Terminals that look at the text before their lexemes.
    looking: Vec<TerminalId>,
    /// Automata that read the whole text for these, in components that have numbers past those of
    /// the conditions: each by a terminal of which it is the automaton.
    trackers: Vec<TerminalId>,
    /// By terminal that looks: its tracker.
    views: Vec<View>,
    ranks: Vec<u32>,
    endings: Endings,
    classes: ByteClasses,
    /// By terminal and class of its DFA: the classes that make it up.
    parts: Vec<Box<[ClassSet]>>,
    pub(in crate::scanner) components: Interner<Box<[Component]>>,
    /// Lists of the components by which automata read the whole text: [`Past`].
    pub(in crate::scanner) pasts: Interner<Box<[Component]>>,
    /// By where lexemes start, as [`ScanStates::start`] gives it, and the text before.
    begun: AppendMap<(ScanStateId, Past), ScanStateId>,
    facts: Slots<Facts>,
    /// Sets of labels: [`Facts::reach`].
    pub(in crate::scanner) label_sets: Interner<BitSet>,
    /// With which labels lexemes can still end that others outrank.
    outranked: Mutex<Outranked>,
    /// Steps that may still be taken to find these; all there are while texts run.
    looks_left: AtomicUsize,
}

impl ScanStates {
    /// The scan states over `dfas`, one a terminal; `ranks` decide between terminals that accept
    /// the same text. Bytes that `distinct` tells apart are told apart.
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
        // The end of the text is a byte of its own for what reads it.
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

    /// Classes of bytes that no scan state tells apart.
    pub(crate) fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// The DFA of a terminal.
    pub(crate) fn dfa(&self, terminal: TerminalId) -> Option<&Dfa> {
        self.dfas[terminal.index()].as_ref()
    }

    /// The automaton of a component.
    pub(in crate::scanner) fn automaton(&self, number: TerminalId) -> Option<&Dfa> {
        match self.dfas.get(number.index()) {
            Some(dfa) => dfa.as_ref(),
            None => match self.conditions.get(number.index() - self.dfas.len()) {
                Some(condition) => Some(condition),
                None => self.dfa(*self.trackers.get(number.index() - self.first_tracker())?),
            },
        }
    }

    /// Whether some terminal asks something of the text behind it.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// The DFAs of all terminals.
    pub(crate) fn dfas(&self) -> &[Option<Dfa>] {
        &self.dfas
    }

    /// Whether some match keeps longer ones from being: that of a lazy terminal, or one of higher
    /// priority.
    pub(crate) fn has_cuts(&self) -> bool {
        !self.endings.first.is_empty() || !self.endings.priorities.is_empty()
    }

    /// Whether some terminal may end at each match.
    pub(crate) fn has_every_match(&self) -> bool {
        !self.endings.every.is_empty()
    }

    /// Whether this terminal may end at each match.
    pub(in crate::scanner) fn ends_at_every_match(&self, terminal: TerminalId) -> bool {
        self.endings.every.contains(terminal.index())
    }

    /// Whether the first match of this terminal ends its lexeme.
    pub(in crate::scanner) fn ends_at_first_match(&self, terminal: TerminalId) -> bool {
        self.endings.first.contains(terminal.index())
    }

    /// The heap bytes of a state with so many components, all of whose steps are known.
    pub(crate) fn bytes_of_a_state(&self, components: usize) -> usize {
        // Its entry among the facts, its places in tables, and what is known of it.
        200 + components * size_of::<Component>() + self.classes.count() * size_of::<u32>()
    }

    /// How many states have been met.
    pub(crate) fn len(&self) -> usize {
        self.components.len()
    }

    /// The state in which a lexeme of one of `candidates` starts. Those that look at the text
    /// before it stand there as if it had not been read: [`ScanStates::begin`] knows it.
    pub(crate) fn start(&self, candidates: &BitSet) -> ScanStateId {
        let components = candidates.iter().filter_map(|index| {
            let dfa = self.dfas.get(index)?.as_ref().filter(|dfa| !dfa.is_empty())?;
            Some(Component { terminal: TerminalId::new(index), state: dfa.start() })
        });
        ScanStateId(self.components.intern(components.collect()))
    }

    /// The state in which just this terminal is left, in this state of its automaton.
    pub(crate) fn of_terminal(&self, terminal: TerminalId, state: u32) -> ScanStateId {
        ScanStateId(self.components.intern_ref(&[Component { terminal, state }]))
    }

    /// The state after `byte`, or `None` when no candidate goes on. One load once the step has been
    /// made.
    #[inline]
    pub(crate) fn next(&self, state: ScanStateId, byte: u8) -> Option<ScanStateId> {
        let class = self.classes.get(byte);
        match self.facts(state).next[usize::from(class)].load(Ordering::Acquire) {
            UNKNOWN => self.step(state, byte),
            DEAD => None,
            next => Some(ScanStateId(next)),
        }
    }

    /// Whether a lexeme has ended here, since no byte moves any component: a lazy terminal has its
    /// first match, or a text is whole.
    pub(crate) fn has_ended(&self, state: ScanStateId) -> bool {
        self.label(state).is_some() && self.moves(state).is_empty()
    }

    /// The state without the components that `keeps` does not keep; `None` where none is left.
    pub(crate) fn restricted(
        &self,
        state: ScanStateId,
        keeps: impl Fn(TerminalId) -> bool,
    ) -> Option<ScanStateId> {
        let kept = self.components(state).iter().filter(|component| keeps(component.terminal));
        let kept: SmallVec<[Component; 8]> = kept.copied().collect();
        (!kept.is_empty()).then(|| ScanStateId(self.components.intern_ref(kept.as_slice())))
    }

    /// The components of a state, by ascending terminal.
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

    /// The components that the next byte moves: all, where no match ends the lexeme. A match keeps
    /// those of lower priority from going on, that of a lazy terminal its equals as well. What
    /// reads the whole text goes on with the others.
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
        // A match that the text behind may undo keeps nothing from going on.
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

    /// The number of the state of these components; [`DEAD`] where no lexeme goes on.
    fn alive(&self, components: &[Component]) -> u32 {
        match components.first() {
            Some(first) if first.terminal.index() < self.first_tracker() => {
                self.components.intern_ref(components)
            }
            _ => DEAD,
        }
    }
}

/// The scan states over these regexes, for tests.
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
