//! A configuration: everything that the future of a text depends on, under one reading of it.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::lookahead::{Between, ExpectationsId, Facts};
use super::reads::Reads;
use super::states::Past;
use super::{Context, Layout, ObligationsId, Scanner};
use crate::lr::forks::union_of;
use crate::lr::stack::Stack;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

/// One reading of the text so far. Nearly always there is only one; several are alive while a
/// longest match is open or a soft keyword is undecided.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// The parse stack after all lexemes that have ended.
    pub(crate) stack: Stack,
    /// The state of lines and blocks after all bytes of the text.
    pub(crate) layout: Layout,
    /// The state of the lexeme in progress. A lexeme ends only when the next byte is read, so this
    /// is a start state only at the very beginning of the text.
    pub(crate) state: ScanStateId,
    /// The requirements of ended lexemes on the rest of the text.
    pub(crate) obligations: ObligationsId,
    /// The requirements of ended words on the labels after them.
    pub(crate) expectations: ExpectationsId,
}

/// The lexemes that a stack takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptedLabels<'s> {
    /// Two stacks with the same number and expectations take the same lexemes.
    pub(crate) number: u32,
    takes: &'s BitSet,
    facts: &'s Facts,
    /// The labels after which every stack can be completed, if not all labels are such.
    sure: Option<&'s BitSet>,
}

impl<'s> AcceptedLabels<'s> {
    /// Creates the one for stacks with this context.
    pub(super) fn new(
        number: u32,
        context: &'s Context,
        facts: &'s Facts,
        sure: Option<&'s BitSet>,
    ) -> Self {
        Self { number, takes: &context.takes, facts, sure }
    }

    /// Returns whether a lexeme with this label has a reading.
    #[inline]
    pub(crate) fn may_take(&self, label: TerminalId) -> bool {
        self.takes.contains(label.index())
    }

    /// Returns whether a lexeme that can become these labels is viable; `None` if that takes a
    /// search.
    #[inline]
    pub(crate) fn takes(&self, labels: &BitSet) -> Option<bool> {
        let Facts { settling, permitted, .. } = self.facts;
        let is_sure = match self.sure {
            None => labels.intersects_both(self.takes, settling),
            Some(sure) => labels.intersects_all([self.takes, settling, sure]),
        };
        match is_sure {
            true => Some(true),
            false if labels.intersects_both(self.takes, permitted) => None,
            false => Some(false),
        }
    }
}

impl Configuration {
    /// Returns whether both are equal, their stacks included.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.differs_by_stack(other) && self.stack.same_stacks(&other.stack)
    }

    /// Returns the same configuration on another stack.
    pub(crate) fn on(&self, stack: Stack) -> Self {
        Self { stack, ..self.clone() }
    }

    /// Returns whether both are equal apart from their stacks.
    pub(crate) fn differs_by_stack(&self, other: &Self) -> bool {
        self.state == other.state
            && self.obligations == other.obligations
            && self.expectations == other.expectations
            && self.layout == other.layout
    }
}

/// Readings of one text. Those that differ only by their stacks, with the same state on top, are
/// merged.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    all: SmallVec<[Configuration; 1]>,
    /// Index of the readings by everything but the lower part of the stack; filled if there are
    /// many.
    places: HashTable<u32>,
    /// Stacks that are still to be united with those of the readings at these positions.
    further: Vec<(u32, Stack)>,
}

/// Up to this many readings are searched linearly.
const FEW: usize = 16;

impl Readings {
    /// Creates an empty collection with room for `count` readings.
    pub(crate) fn with_room(count: usize) -> Self {
        let places = HashTable::with_capacity(if count < FEW { 0 } else { count });
        Self { all: SmallVec::with_capacity(count), places, further: Vec::new() }
    }

    /// Adds a reading.
    pub(crate) fn add(&mut self, reading: Configuration, table: &ParseTable) {
        let Self { all, places, further } = self;
        let is_same = |known: &Configuration| {
            known.differs_by_stack(&reading) && known.stack.same_top(&reading.stack, table)
        };
        let known = if all.len() < FEW {
            all.iter().position(is_same)
        } else {
            let hash = |&place: &u32| all[place as usize].hash();
            if places.is_empty() {
                for place in 0..all.len() as u32 {
                    places.insert_unique(hash(&place), place, hash);
                }
            }
            let own = reading.hash();
            let known = places.find(own, |&place| is_same(&all[place as usize]));
            let known = known.map(|&place| place as usize);
            if known.is_none() {
                places.insert_unique(own, all.len() as u32, hash);
            }
            known
        };
        match known {
            Some(place) => further.push((place as u32, reading.stack)),
            None => {
                // Equal stacks are shared in memory, so code that looks at all of them reads less.
                let last = all.last().map(|last| &last.stack);
                let like_last = last.filter(|last| last.is_like(&reading.stack)).cloned();
                let stack = like_last.unwrap_or(reading.stack);
                all.push(Configuration { stack, ..reading });
            }
        }
    }

    /// Returns all readings, in the order in which they were added. Adds the steps of uniting them
    /// to `steps`.
    pub(crate) fn into_all(
        mut self,
        table: &ParseTable,
        steps: &mut usize,
    ) -> SmallVec<[Configuration; 1]> {
        if !self.further.is_empty() {
            self.unite(table, steps);
        }
        self.all
    }

    /// Unites all at once, because the order matters.
    #[cold]
    fn unite(&mut self, table: &ParseTable, steps: &mut usize) {
        self.further.sort_by_key(|&(place, _)| place);
        for same in self.further.chunk_by(|one, other| one.0 == other.0) {
            let own = &mut self.all[same[0].0 as usize].stack;
            let further = same.iter().map(|(_, stack)| stack.clone());
            *own = union_of([own.clone()].into_iter().chain(further).collect(), table, steps);
        }
    }
}

impl Configuration {
    /// Hashes the fields that [`Configuration::differs_by_stack`] compares and the top of the
    /// stack. In texts with lines there may be many readings that differ only by their open blocks.
    fn hash(&self) -> u64 {
        let Self { stack, state, obligations, expectations, layout } = self;
        FxBuildHasher.hash_one((state, obligations, expectations, stack.core(), layout.lines()))
    }
}

impl Scanner {
    /// Returns the configurations before the first byte.
    pub(crate) fn initial(&self) -> SmallVec<[Configuration; 1]> {
        let (stack, layout) = (Stack::new(self.table()), self.initial_layout());
        let expectations = ExpectationsId::NONE;
        let past = self.states().first_past();
        let (at, left) =
            (Between { stack, layout, expectations }, self.with_past(ObligationsId::NONE, past));
        let mut initial = SmallVec::<[Configuration; 1]>::new();
        self.begin_lexeme(at, left, &mut Reads::none(), |begun, _| initial.push(begun));
        if !self.lexis.leading_ignored {
            for reading in &mut initial {
                let components = self.states().components(reading.state).iter();
                let terminals = components.map(|component| component.terminal.index());
                let mut candidates = BitSet::new(self.lexis.terminal_count() + 1);
                let count = self.lexis.terminal_count();
                let stands =
                    |&terminal: &usize| terminal < count && !self.lexis.ignored.contains(terminal);
                terminals.filter(stands).for_each(|terminal| {
                    candidates.insert(terminal);
                });
                reading.state = self.states().begin(self.states().start(&candidates), past);
            }
        }
        initial
    }

    /// Passes the configurations before the first byte of a lexeme to `emit`. `obligations`, left
    /// by earlier lexemes, have already read that byte.
    #[inline]
    pub(crate) fn begin_lexeme(
        &self,
        at: Between,
        obligations: ObligationsId,
        reads: &mut Reads,
        mut emit: impl FnMut(Configuration, &mut Reads),
    ) {
        let Between { stack, layout, expectations } = at;
        if self.lexis.indentation.is_none() {
            let start = self.context(&stack, reads).start;
            let (state, obligations) = self.begin(start, obligations);
            return emit(Configuration { stack, layout, state, obligations, expectations }, reads);
        }
        for (state, layout) in self.starts_at(&stack, &layout, reads) {
            let stack = stack.clone();
            emit(Configuration { stack, layout, state, obligations, expectations }, reads);
        }
    }

    /// Returns the scan state in which a lexeme starts after earlier ones that left `left`, where
    /// `start` is the state without their text, and the obligations without the past.
    #[inline]
    pub(super) fn begin(
        &self,
        start: ScanStateId,
        left: ObligationsId,
    ) -> (ScanStateId, ObligationsId) {
        (self.states().begin(start, self.past(left)), self.with_past(left, Past::NONE))
    }

    /// Returns the lexemes that stacks take without obligations, if that depends only on the stacks
    /// and their expectations.
    #[inline]
    pub(crate) fn taking(
        &self,
        stack: &Stack,
        expectations: ExpectationsId,
        reads: &mut Reads,
    ) -> AcceptedLabels<'_> {
        let context = self.context(stack, reads);
        let number = stack.acceptable(self.table()).set;
        let facts = self.lexis.lookaheads.facts(expectations);
        let sure = (!self.proof.is_whole).then_some(&self.proof.sure);
        AcceptedLabels::new(number, context, facts, sure)
    }

    /// Returns the same if it holds for every stack with the same number.
    pub(crate) fn numbered_taking(
        &self,
        at: &Configuration,
        reads: &mut Reads,
    ) -> Option<AcceptedLabels<'_>> {
        if at.expectations != ExpectationsId::NONE {
            return None;
        }
        match self.stack_tells {
            true => Some(self.taking(&at.stack, at.expectations, reads)),
            false => self.numbered_taking_in_line(at, reads),
        }
    }

    /// Returns whether the text may end here.
    pub(crate) fn is_complete(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.last_labels(at)
            .into_iter()
            .any(|label| self.ends_text(&at.stack, &at.layout, at.expectations, label, reads))
    }

    /// Returns the labels that the lexeme in progress may have if the text ends here.
    pub(crate) fn last_labels(&self, at: &Configuration) -> SmallVec<[TerminalId; 1]> {
        let states = self.states();
        if !states.has_conditions() {
            return states.labels(at.state);
        }
        let ends = states.ends(at.state).filter(|_| self.may_end_with(at.obligations));
        ends.filter(|(_, guards)| self.may_end_with_guards(guards))
            .map(|(label, _)| label)
            .collect()
    }

    /// Returns whether the text may end here; `None` if that depends on all open blocks.
    pub(crate) fn is_complete_whatever_blocks(
        &self,
        at: &Configuration,
        reads: &mut Reads,
    ) -> Option<bool> {
        if at.layout.lines().is_none() {
            return Some(self.is_complete(at, reads));
        }
        let possible = self.last_labels(at).into_iter().any(|label| {
            let mut possible = false;
            let Configuration { stack, layout, expectations, .. } = at;
            self.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, reads| {
                possible = possible || self.may_end_between(&after.stack, &after.layout, reads);
            });
            possible
        });
        if possible { None } else { Some(false) }
    }
}
