//! A configuration: all that the future of a text depends on, under one way of reading it.

use std::hash::BuildHasher;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::lookahead::{Between, ExpectationsId, Facts};
use super::reads::{Line, Reads};
use super::{Layout, ObligationsId, Scanner};
use crate::lr::stack::Stack;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

/// One reading of the text so far. Nearly always there is only one; several are alive while a longest match
/// is open or a soft keyword undecided.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// The parse stack after all lexemes that have ended.
    pub(crate) stack: Stack,
    /// Where the text stands among lines and blocks, after all of its bytes.
    pub(crate) layout: Layout,
    /// Where the lexeme in progress stands. A lexeme ends only when the next byte is read, so this is a start
    /// state only at the very beginning of the text.
    pub(crate) state: ScanStateId,
    /// What the lexemes that have ended still ask of the text.
    pub(crate) obligations: ObligationsId,
    /// What the words that have ended still ask of the labels behind them.
    pub(crate) expectations: ExpectationsId,
}

/// Which lexemes a stack takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taking<'s> {
    /// What is equal for two stacks if all of this is.
    pub(crate) number: u32,
    takes: &'s BitSet,
    facts: Option<&'s Facts>,
}

impl Taking<'_> {
    /// Whether a lexeme that can become these labels is viable; `None` where it takes a search to say.
    #[inline]
    pub(crate) fn takes(&self, labels: &BitSet) -> Option<bool> {
        match self.facts {
            None => Some(labels.intersects(self.takes)),
            Some(facts) if labels.intersects_both(self.takes, &facts.settling) => Some(true),
            Some(facts) if labels.intersects_both(self.takes, &facts.permitted) => None,
            Some(_) => Some(false),
        }
    }
}

/// How many configurations a search for a way to discharge obligations may try. The check of the grammar makes
/// sure that the searches end long before.
const SEARCH_LIMIT: usize = 100_000;

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

/// Readings of one text. Those that differ by their stacks only, with the same state on top, are one.
#[derive(Debug, Default)]
pub(crate) struct Readings {
    all: SmallVec<[Configuration; 1]>,
    /// Where there are many: where those lie that may be the same but for their stacks.
    places: HashMap<u64, SmallVec<[u32; 2]>, FxBuildHasher>,
}

/// So many readings are looked through one by one.
const FEW: usize = 16;

impl Readings {
    /// Adds one.
    pub(crate) fn add(&mut self, reading: Configuration, table: &ParseTable) {
        let (all, places) = (&mut self.all, &mut self.places);
        let is_same = |known: &Configuration| {
            known.differs_by_stack(&reading) && known.stack.same_top(&reading.stack, table)
        };
        let known = if all.len() < FEW {
            all.iter().position(is_same)
        } else {
            if places.is_empty() {
                for (place, known) in (0..).zip(all.iter()) {
                    places.entry(known.hash()).or_default().push(place);
                }
            }
            let alike = places.entry(reading.hash()).or_default();
            let known = alike.iter().map(|&place| place as usize).find(|&place| is_same(&all[place]));
            if known.is_none() {
                alike.push(all.len() as u32);
            }
            known
        };
        match known {
            Some(place) => all[place].stack = all[place].stack.union(&reading.stack, table),
            None => all.push(reading),
        }
    }

    /// All of them, in the order in which they came.
    pub(crate) fn into_all(self) -> SmallVec<[Configuration; 1]> {
        self.all
    }
}

impl Configuration {
    fn hash(&self) -> u64 {
        FxBuildHasher.hash_one((self.state, self.obligations, self.expectations, self.stack.core()))
    }
}

impl Scanner {
    /// The configurations before the first byte.
    pub(crate) fn initial(&self) -> SmallVec<[Configuration; 1]> {
        let (stack, layout) = (Stack::new(self.table()), self.initial_layout());
        let expectations = ExpectationsId::NONE;
        self.begin_lexeme(Between { stack, layout, expectations }, ObligationsId::NONE, &mut Reads::none())
    }

    /// The configurations before the first byte of a lexeme; `obligations` already know that byte.
    pub(crate) fn begin_lexeme(
        &self,
        at: Between,
        obligations: ObligationsId,
        reads: &mut Reads,
    ) -> SmallVec<[Configuration; 1]> {
        let Between { stack, layout, expectations } = at;
        if self.indentation.is_none() {
            let state = self.context(&stack, reads).start;
            return SmallVec::from_buf([Configuration { stack, layout, state, obligations, expectations }]);
        }
        let mut begun = SmallVec::new();
        for (state, layout) in self.starts_at(&stack, &layout, reads) {
            let stack = stack.clone();
            begun.push(Configuration { stack, layout, state, obligations, expectations });
        }
        begun
    }

    /// Hands the configurations after `byte` to `emit`: the lexeme goes on, or it has ended and the byte begins
    /// another, or both while that is open. `reads` is told what was read.
    pub(crate) fn step(
        &self,
        from: &Configuration,
        byte: u8,
        reads: &mut Reads,
        mut emit: impl FnMut(Configuration),
    ) {
        let Some(obligations) = self.step_obligations(from.obligations, byte) else { return };
        let next = self.states().next(from.state, byte);
        if let Some((label, obligations)) = self.end_before(from.state, next, obligations) {
            for between in self.after_lexeme(&from.stack, &from.layout, from.expectations, label, reads) {
                for begun in self.begin_lexeme(between, obligations, reads) {
                    if let Some(state) = self.states().next(begun.state, byte) {
                        emit(Configuration { layout: self.read(&begun.layout, byte), state, ..begun });
                    }
                }
            }
        }
        if let Some(state) = next {
            let (stack, expectations) = (from.stack.clone(), from.expectations);
            let layout = self.read(&from.layout, byte);
            emit(Configuration { stack, layout, state, obligations, expectations });
        }
    }

    /// What [`Scanner::step`] does, in place, where that is no more than to go on with the lexeme: as most bytes do. Returns
    /// whether it is.
    #[inline]
    pub(crate) fn step_within(&self, at: &mut Configuration, byte: u8) -> bool {
        let states = self.states();
        let next = states.next(at.state, byte).filter(|_| at.obligations == ObligationsId::NONE);
        match next {
            Some(next) if states.label(at.state).is_none() || states.label(next).is_some() => {
                at.state = next;
                if at.layout.is_counting() {
                    at.layout = self.read(&at.layout, byte);
                }
                true
            }
            _ => false,
        }
    }

    /// Whether some rest of the text makes it a sentence. `reads` is told what was read.
    ///
    /// Without obligations it suffices that the lexeme can still become a label that the stack takes: the check
    /// of the grammar has shown that every stack so reached can be completed.
    #[inline]
    pub(crate) fn is_viable(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.takes_lexeme(at, reads)
            && (at.obligations == ObligationsId::NONE || self.can_discharge(at, reads))
    }

    /// What the stack says of lexemes without obligations, where neither lines nor expectations have a say.
    #[inline]
    pub(crate) fn taking(
        &self,
        stack: &Stack,
        expectations: ExpectationsId,
        reads: &mut Reads,
    ) -> Option<Taking<'_>> {
        if self.indentation.is_some() || expectations != ExpectationsId::NONE {
            return None;
        }
        let facts = (!self.lookaheads.is_empty()).then(|| self.lookaheads.facts(expectations));
        let context = self.context(stack, reads);
        let number = stack.acceptable(&self.table).set;
        Some(Taking { number, takes: &context.takes, facts })
    }

    /// Whether the text may end here.
    pub(crate) fn is_complete(&self, at: &Configuration, reads: &mut Reads) -> bool {
        self.states()
            .label(at.state)
            .is_some_and(|label| self.ends_text(&at.stack, &at.layout, at.expectations, label, reads))
    }

    /// The same, but `None` where it depends on all open blocks.
    pub(crate) fn is_complete_whatever_blocks(&self, at: &Configuration, reads: &mut Reads) -> Option<bool> {
        if at.layout.lines().is_none() {
            return Some(self.is_complete(at, reads));
        }
        let Some(label) = self.states().label(at.state) else { return Some(false) };
        let after = self.after_lexeme(&at.stack, &at.layout, at.expectations, label, reads);
        let possible = after.iter().any(|after| self.may_end_between(&after.stack, &after.layout, reads));
        if possible { None } else { Some(false) }
    }

    /// Whether some rest of the text discharges all obligations, breaks none, and goes on being viable. Breadth
    /// first over the bytes that scan states tell apart.
    #[cold]
    fn can_discharge(&self, from: &Configuration, reads: &mut Reads) -> bool {
        if self.is_beaten(from) {
            return false;
        }
        let line = reads.set_line(Line::Unknown);
        let found = self.finds_discharge(from, reads);
        reads.set_line(line);
        found
    }

    /// Whether what is pending matches as soon as the lexeme in progress does: as where a name has ended before a cut character
    /// with which it would go on, and that character begins another name.
    fn is_beaten(&self, at: &Configuration) -> bool {
        let states = self.states();
        let lexeme = states.components(at.state);
        let beats = |&pending: &ScanStateId| {
            let pending = states.components(pending);
            lexeme.iter().all(|component| pending.binary_search(component).is_ok())
        };
        states.label(at.state).is_none() && self.obligations(at.obligations).iter().any(beats)
    }

    fn finds_discharge(&self, from: &Configuration, reads: &mut Reads) -> bool {
        let mut seen: Vec<Configuration> = vec![from.clone()];
        let mut at = 0;
        while at < seen.len().min(SEARCH_LIMIT) {
            let configuration = seen[at].clone();
            at += 1;
            for &byte in self.states().classes().representatives() {
                let mut next = SmallVec::<[Configuration; 2]>::new();
                self.step(&configuration, byte, reads, |after| next.push(after));
                for after in next {
                    if self.takes_lexeme(&after, reads) {
                        if after.obligations == ObligationsId::NONE {
                            return true;
                        }
                        if !seen.iter().any(|known| known.same(&after)) {
                            seen.push(after);
                        }
                    }
                }
            }
            // Last, because it may read all of the stack, and one byte nearly always settles the matter.
            if self.is_complete(&configuration, reads) || self.outlasts(&configuration, reads) {
                return true;
            }
        }
        false
    }

    /// Whether a lexeme can end here whose future obligations do not matter: only the end of the text
    /// discharges them, and every terminal has lexemes that do not break them.
    fn outlasts(&self, at: &Configuration, reads: &mut Reads) -> bool {
        let lasting = self.obligations(at.obligations).iter().all(|&pending| self.is_lasting(pending));
        let label = self.states().label(at.state).filter(|_| lasting);
        let after =
            label.map(|label| self.after_lexeme(&at.stack, &at.layout, at.expectations, label, reads));
        after.into_iter().flatten().any(|after| self.goes_on(after, reads))
    }

    /// Whether the lexeme in progress can still become one that the stack takes, and with which what is expected of
    /// the labels can be met.
    #[inline]
    fn takes_lexeme(&self, at: &Configuration, reads: &mut Reads) -> bool {
        if at.layout.lines().is_some() {
            return self.takes_lexeme_in_lines(at, reads);
        }
        let reach = self.states().label_set(self.states().reach(at.state));
        if !self.lookaheads.is_empty() {
            return self.can_settle(&at.stack, at.expectations, reach, reads);
        }
        let context = self.context(&at.stack, reads);
        reach.intersects(&context.takes)
    }

    #[cold]
    fn takes_lexeme_in_lines(&self, at: &Configuration, reads: &mut Reads) -> bool {
        let reach = self.states().label_set(self.states().reach(at.state));
        if at.layout.begins_line()
            && let Some(opens) = self.opens_line(reach)
        {
            return opens;
        }
        let contexts = self.contexts_at(&at.stack, &at.layout, reads);
        contexts.iter().any(|context| reach.intersects(&context.takes))
            && (!self.is_crowded(&at.layout, reads) || self.finds_room(at, reach, reads))
    }

    /// Whether the lexeme in progress can become one that leaves room for the blocks which it makes necessary.
    #[cold]
    fn finds_room(&self, at: &Configuration, reach: &BitSet, reads: &mut Reads) -> bool {
        let contexts = self.contexts_at(&at.stack, &at.layout, reads);
        let taken = |&label: &usize| contexts.iter().any(|context| context.takes.contains(label));
        let mut labels = reach.iter().filter(taken).map(TerminalId::new);
        labels
            .any(|label| !self.after_lexeme(&at.stack, &at.layout, at.expectations, label, reads).is_empty())
    }
}
