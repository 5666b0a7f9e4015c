//! A configuration: all that the future of a text depends on, under one way of reading it.

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
/// longest match is open or a soft keyword undecided.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// The parse stack after all lexemes that have ended.
    pub(crate) stack: Stack,
    /// Where the text stands among lines and blocks, after all of its bytes.
    pub(crate) layout: Layout,
    /// Where the lexeme in progress stands. A lexeme ends only when the next byte is read, so this
    /// is a start state only at the very beginning of the text.
    pub(crate) state: ScanStateId,
    /// What the lexemes that have ended still ask of the text.
    pub(crate) obligations: ObligationsId,
    /// What the words that have ended still ask of the labels behind them.
    pub(crate) expectations: ExpectationsId,
}

/// Which lexemes a stack takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taking<'s> {
    /// What is equal for two stacks if all of this is, with the same expectations.
    pub(crate) number: u32,
    takes: &'s BitSet,
    facts: &'s Facts,
    /// Where not every stack can be completed whatever it takes: behind which labels it can.
    sure: Option<&'s BitSet>,
}

impl<'s> Taking<'s> {
    /// That of stacks with this context.
    pub(super) fn new(
        number: u32,
        context: &'s Context,
        facts: &'s Facts,
        sure: Option<&'s BitSet>,
    ) -> Self {
        Self { number, takes: &context.takes, facts, sure }
    }

    /// Whether a lexeme with this label has a reading.
    #[inline]
    pub(crate) fn may_take(&self, label: TerminalId) -> bool {
        self.takes.contains(label.index())
    }

    /// Whether a lexeme that can become these labels is viable; `None` where it takes a search to
    /// say.
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
    /// Whether both have the same future for the same reason.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.differs_by_stack(other) && self.stack.same_stacks(&other.stack)
    }

    /// The same on another stack.
    pub(crate) fn on(&self, stack: Stack) -> Self {
        Self { stack, ..self.clone() }
    }

    /// Whether both are the same but for what lies on their stacks.
    pub(crate) fn differs_by_stack(&self, other: &Self) -> bool {
        self.state == other.state
            && self.obligations == other.obligations
            && self.expectations == other.expectations
            && self.layout == other.layout
    }
}

/// Readings of one text. Those that differ by their stacks only, with the same state on top, are
/// one.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    all: SmallVec<[Configuration; 1]>,
    /// Where there are many: their places, by what is the same where only stacks differ.
    places: HashTable<u32>,
    /// Stacks that are still to be united with those at these places.
    further: Vec<(u32, Stack)>,
}

/// So many readings are looked through one by one.
const FEW: usize = 16;

impl Readings {
    /// None yet, and room for so many.
    pub(crate) fn with_room(count: usize) -> Self {
        let places = HashTable::with_capacity(if count < FEW { 0 } else { count });
        Self { all: SmallVec::with_capacity(count), places, further: Vec::new() }
    }

    /// Adds one.
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
                // One in memory where they are equal: what looks at all of them reads less.
                let last = all.last().map(|last| &last.stack);
                let like_last = last.filter(|last| last.is_like(&reading.stack)).cloned();
                let stack = like_last.unwrap_or(reading.stack);
                all.push(Configuration { stack, ..reading });
            }
        }
    }

    /// All of them, in the order in which they came. What it takes to unite them is added to
    /// `steps`.
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

    /// All at once, because it matters in which order.
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
    /// Of all that [`Configuration::differs_by_stack`] compares, and the top of the stack: readings
    /// of lines may be many that differ by their open blocks alone.
    fn hash(&self) -> u64 {
        let Self { stack, state, obligations, expectations, layout } = self;
        FxBuildHasher.hash_one((state, obligations, expectations, stack.core(), layout.lines()))
    }
}

impl Scanner {
    /// The configurations before the first byte.
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

    /// Hands the configurations before the first byte of a lexeme to `emit`; `obligations`, which
    /// lexemes before it have left, already know that byte.
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

    /// Where a lexeme starts behind what lexemes before it have left, and what is still asked.
    #[inline]
    pub(super) fn begin(
        &self,
        start: ScanStateId,
        left: ObligationsId,
    ) -> (ScanStateId, ObligationsId) {
        (self.states().begin(start, self.past(left)), self.with_past(left, Past::NONE))
    }

    /// What stacks say of lexemes without obligations, where nothing but their stacks and what is
    /// expected of them has a say.
    #[inline]
    pub(crate) fn taking(
        &self,
        stack: &Stack,
        expectations: ExpectationsId,
        reads: &mut Reads,
    ) -> Taking<'_> {
        let context = self.context(stack, reads);
        let number = stack.acceptable(self.table()).set;
        let facts = self.lexis.lookaheads.facts(expectations);
        let sure = (!self.proof.is_whole).then_some(&self.proof.sure);
        Taking::new(number, context, facts, sure)
    }

    /// The same, if it is all that there is to say for every stack with the same number.
    pub(crate) fn numbered_taking(
        &self,
        at: &Configuration,
        reads: &mut Reads,
    ) -> Option<Taking<'_>> {
        if at.expectations != ExpectationsId::NONE {
            return None;
        }
        match self.stack_tells {
            true => Some(self.taking(&at.stack, at.expectations, reads)),
            false => self.numbered_taking_in_line(at, reads),
        }
    }

    /// Whether the text may end here.
    pub(crate) fn is_complete(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.last_labels(at)
            .into_iter()
            .any(|label| self.ends_text(&at.stack, &at.layout, at.expectations, label, reads))
    }

    /// The labels that the lexeme in progress may have if the text ends here.
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

    /// The same, but `None` where it depends on all open blocks.
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
