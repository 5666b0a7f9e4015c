//! The scanner: what the bytes of a text mean to a parse stack. Longest match, labels, ignored terminals,
//! reserved and fallback words are stated here, once.
//!
//! # The meaning
//!
//! Where a lexeme starts on parse stack `g`, the *candidates* are all terminals (`basic`), or those that `g`
//! can really shift, the ignored ones, and every word reserved against one of these (`contextual`); exclusive
//! ones are not among them. But where `g` can shift an *exclusive* terminal, the candidates are what `g` can
//! shift, under either lexer, and nothing is ignored. The lexeme
//! is the longest text that a candidate matches; its *label* is the accepting candidate of least rank. The
//! label has *readings*: an ignored terminal leaves the stack alone; a `%fallback` word is itself where the
//! stack can shift it and the other terminal elsewhere; a `%soft` word is whichever of the two the stack can
//! shift, or both; what a `%lookahead` word is the lexemes around it decide ([`lookahead`]). A reading that the
//! stack cannot shift is no reading.
//!
//! # Longest match as obligations
//!
//! Whether a lexeme may end is only known when later bytes show that no longer match comes: `1e` may become
//! `1e5`, or be `1` and the start of `else`. So ending a lexeme in scan state `q` leaves an *obligation*: from
//! `q` on, the same bytes that the rest of the text is made of must not lead to an accept. An obligation is
//! discharged when its state dies, or at the end of the text; it is broken when its state accepts. This states
//! longest match and backing up in one rule, and keeps it exact while the outcome is open. In most languages
//! nearly every obligation dies on the next byte.

pub(crate) mod check;
mod company;
pub(crate) mod configuration;
mod indentation;
mod layout;
pub(crate) mod lookahead;
pub(crate) mod points;
mod reads;
mod states;
mod store;

use std::sync::OnceLock;

use smallvec::SmallVec;

use crate::grammar::ir::{Fallback, Grammar, LexerKind, Terminal};
use crate::grammar::pattern::Pattern;
use crate::lexer::Dfa;
use crate::lr::closing::Closing;
use crate::lr::stack::Stack;
use crate::lr::table::ParseTable;
use crate::util::append::{Interner, Slots};
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

pub(crate) use indentation::Indentation;
pub(crate) use layout::{Layout, Lines, Width, is_blank};
use lookahead::{Between, Expectation, ExpectationsId, Lookaheads};
use points::Points;
pub(crate) use reads::{Line, Question, Read, Reads};
use states::Component;
pub(crate) use states::ScanStates;

/// The scanner of a grammar, and its tables.
#[derive(Debug)]
pub(crate) struct Scanner {
    table: ParseTable,
    states: ScanStates,
    lexer: LexerKind,
    ignored: BitSet,
    exclusive: BitSet,
    /// Companies of which each that has an exclusive terminal is a part.
    companies: Vec<BitSet>,
    /// Found once: the check asks often.
    company_starts: OnceLock<company::Starts>,
    /// By terminal: the words reserved against it.
    reserved: Vec<Vec<TerminalId>>,
    fallbacks: Vec<Option<Fallback>>,
    lookaheads: Lookaheads,
    /// By id of the acceptable set.
    contexts: Slots<Context>,
    /// `%indent`.
    indentation: Option<Indentation>,
    /// By id of the acceptable set: where a line begins and between brackets.
    loose_contexts: Slots<Context>,
    /// The id of the set of no terminals.
    nothing: u32,
    obligations: Interner<Obligations>,
    /// By id and byte class: the obligations after it.
    obligation_steps: Slots<Box<[OnceLock<Option<ObligationsId>>]>>,
    points: Points,
    /// Obligations that only the end of the text discharges, by the scan states of all terminals together.
    lasting: OnceLock<Vec<ScanStateId>>,
    /// Ignored terminals that not everything may follow, and what may.
    gates: OnceLock<Vec<(TerminalId, BitSet)>>,
    /// Made when a text is first to be ended.
    closing: OnceLock<Closing>,
}

/// What a set of acceptable terminals means for scanning.
#[derive(Debug)]
pub(crate) struct Context {
    /// The terminals (and `$`) that the stack can really shift (accept).
    pub(crate) acceptable: BitSet,
    /// The labels that have a reading; a word that what stands around it decides about only may have one.
    pub(crate) takes: BitSet,
    /// The scan state where the next lexeme starts.
    pub(crate) start: ScanStateId,
}

/// What lexemes mean to a text that has several ways to go on with the same stack; nearly always one.
pub(crate) type Contexts<'s> = SmallVec<[&'s Context; 1]>;

/// Scan states of ended lexemes that must not accept; ascending.
pub(crate) type Obligations = SmallVec<[ScanStateId; 4]>;

/// An interned set of [`Obligations`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObligationsId(pub(crate) u32);

impl ObligationsId {
    /// No obligations.
    pub(crate) const NONE: Self = Self(0);
}

/// A terminal that a lexeme is, and what that asks of the labels behind it.
pub(crate) type Reading = (TerminalId, Option<Expectation>);

impl Scanner {
    /// The scanner of `grammar` over its tables and the DFAs of its terminals.
    pub(crate) fn new(grammar: &Grammar, mut table: ParseTable, dfas: Vec<Option<Dfa>>) -> Self {
        let count = grammar.terminals.len();
        // What competes for a lexeme, and what a word is, may hang on what the stack cannot shift.
        let hangs_on_context = |terminal: &Terminal| {
            terminal.exclusive || terminal.fallback.is_some_and(|fallback| !fallback.soft)
        };
        if grammar.lexer == LexerKind::Contextual || grammar.terminals.iter().any(hangs_on_context) {
            table.tell_contexts_apart();
        }
        let mut ignored = BitSet::new(count + 1);
        let mut exclusive = BitSet::new(count + 1);
        let mut reserved = vec![Vec::new(); count];
        for (index, terminal) in grammar.terminals.iter().enumerate() {
            if terminal.ignored {
                ignored.insert(index);
            }
            if terminal.exclusive {
                exclusive.insert(index);
            }
            for against in &terminal.reserved_against {
                reserved[against.index()].push(TerminalId::new(index));
            }
            // The parser has no say in what such a word is.
            if let Some(lookahead) = &terminal.lookahead {
                reserved[lookahead.other.index()].push(TerminalId::new(index));
            }
        }
        for &against in &grammar.reserve_covered {
            let Some(dfa) = &dfas[against.index()] else { continue };
            for (index, terminal) in grammar.terminals.iter().enumerate() {
                let Some(Pattern::Literal { text, .. }) = &terminal.pattern else { continue };
                if dfa.matches(text.as_bytes()) {
                    reserved[against.index()].push(TerminalId::new(index));
                }
            }
        }
        let ranks = grammar.terminals.iter().map(|terminal| terminal.rank).collect();
        let obligations = Interner::default();
        obligations.intern(Obligations::new());
        let companies = company::exclusive_companies(&table, &exclusive, &ignored);
        let nothing = table.acceptable_sets().intern(BitSet::new(count + 1));
        let indentation = grammar.indentation.as_ref().map(|directive| Indentation::new(directive, &table));
        let blanks = indentation.as_ref().map(|_| layout::blank_classes());
        Self {
            table,
            states: ScanStates::new(dfas, ranks, blanks.as_ref()),
            lexer: grammar.lexer,
            ignored,
            exclusive,
            companies,
            company_starts: OnceLock::new(),
            reserved,
            fallbacks: grammar.terminals.iter().map(|terminal| terminal.fallback).collect(),
            lookaheads: Lookaheads::new(grammar),
            contexts: Slots::default(),
            indentation,
            loose_contexts: Slots::default(),
            nothing,
            obligations,
            obligation_steps: Slots::default(),
            points: Points::default(),
            lasting: OnceLock::new(),
            gates: OnceLock::new(),
            closing: OnceLock::new(),
        }
    }

    /// Remembers which obligations only the end of the text discharges, as the check of the grammar found.
    fn set_lasting(&self, lasting: Vec<ScanStateId>) {
        let _ = self.lasting.set(lasting);
    }

    /// Remembers what may follow which ignored terminals, as the check of the grammar found.
    fn set_gates(&self, gates: Vec<(TerminalId, BitSet)>) {
        let _ = self.gates.set(gates);
    }

    /// Whether only the end of the text discharges an obligation. Under the contextual lexer fewer terminals
    /// compete than where the check looked.
    fn is_lasting(&self, pending: ScanStateId) -> bool {
        let among = |all: &[Component]| {
            self.states.components(pending).iter().all(|component| all.binary_search(component).is_ok())
        };
        let lasting = self.lasting.get().map_or(&[][..], Vec::as_slice);
        lasting.iter().any(|&all| among(self.states.components(all)))
    }

    /// Whether `word` competes wherever `terminal` does.
    fn is_reserved_against(&self, word: TerminalId, terminal: TerminalId) -> bool {
        self.reserved[terminal.index()].contains(&word)
    }

    /// What a lexeme with this label may be beside the label itself.
    fn other_reading(&self, label: TerminalId) -> Option<TerminalId> {
        let fallback = self.fallbacks[label.index()].map(|fallback| fallback.terminal);
        fallback.or_else(|| self.lookaheads.word(label).map(|word| word.other))
    }

    /// Whether lexemes of `terminal` are dropped.
    pub(crate) fn is_ignored(&self, terminal: TerminalId) -> bool {
        self.ignored.contains(terminal.index())
    }

    /// The parse tables.
    pub(crate) fn table(&self) -> &ParseTable {
        &self.table
    }

    /// The scan states.
    pub(crate) fn states(&self) -> &ScanStates {
        &self.states
    }

    /// What `stack` can really shift, and what that means here.
    #[inline]
    pub(crate) fn context(&self, stack: &Stack, reads: &mut Reads) -> &Context {
        let acceptable = stack.acceptable(&self.table);
        reads.stack(acceptable.lowest);
        self.context_of(acceptable.set)
    }

    fn context_of(&self, set: u32) -> &Context {
        self.contexts
            .get_or_init(set, || self.make_context(self.table.acceptable_sets().get(set).clone(), None))
    }

    /// What `acceptable` means, where `loose` is a terminal that is ignored just here.
    fn make_context(&self, acceptable: BitSet, loose: Option<usize>) -> Context {
        // Before literal text nothing is ignored.
        let mut competing = acceptable.clone();
        if let Some(loose) = loose.filter(|_| !acceptable.intersects(&self.exclusive)) {
            competing.insert(loose);
        }
        let candidates = self.candidates(&competing);
        let mut takes = acceptable.clone();
        for label in candidates.iter().map(TerminalId::new) {
            if self.other_reading(label).is_some_and(|other| acceptable.contains(other.index())) {
                takes.insert(label.index());
            }
        }
        let gates = self.gates.get().filter(|_| loose.is_none()).map_or(&[][..], Vec::as_slice);
        let closed = gates.iter().filter(|(_, passing)| !passing.intersects(&takes));
        let mut ignored = self.ignored.clone();
        closed.for_each(|(closed, _)| ignored.remove(closed.index()));
        takes.union_with(&ignored);
        if let Some(loose) = loose {
            takes.insert(loose);
        }
        Context { acceptable, takes, start: self.states.start(&candidates) }
    }

    /// The readings of `label`, which is not ignored, where the stack can shift the terminals in `acceptable` and has
    /// shifted `last` last; none when the lexeme is an error there.
    pub(crate) fn readings(
        &self,
        label: TerminalId,
        acceptable: &BitSet,
        last: Option<TerminalId>,
    ) -> SmallVec<[Reading; 2]> {
        match self.lookaheads.word(label) {
            Some(_) => self.lookaheads.readings(label, acceptable, last),
            None => self.plain_readings(label, acceptable).into_iter().map(|read| (read, None)).collect(),
        }
    }

    /// The readings of a label about which the parser alone decides.
    fn plain_readings(&self, label: TerminalId, acceptable: &BitSet) -> SmallVec<[TerminalId; 2]> {
        let mut readings = SmallVec::new();
        let mut fallback = self.fallbacks[label.index()];
        if acceptable.contains(label.index()) {
            readings.push(label);
            fallback = fallback.filter(|fallback| fallback.soft);
        }
        if let Some(fallback) = fallback.filter(|fallback| acceptable.contains(fallback.terminal.index())) {
            readings.push(fallback.terminal);
        }
        readings
    }

    /// What holds after a lexeme with this label, for each reading. `reads` is told what was read.
    pub(crate) fn after_lexeme(
        &self,
        stack: &Stack,
        layout: &Layout,
        expectations: ExpectationsId,
        label: TerminalId,
        reads: &mut Reads,
    ) -> SmallVec<[Between; 2]> {
        if self.indentation.is_some() {
            return self.after_lexeme_in_lines(stack, layout, label, reads);
        }
        if self.ignored.contains(label.index()) {
            return SmallVec::from_iter([Between {
                stack: stack.clone(),
                layout: Layout::NONE,
                expectations,
            }]);
        }
        if !self.lookaheads.is_empty() {
            return self.after_lexeme_among_words(stack, expectations, label, reads);
        }
        let mut after = SmallVec::new();
        let mut feed = |terminal, reads: &mut Reads| {
            for stack in stack.feed(&self.table, terminal, reads) {
                after.push(Between { stack, layout: Layout::NONE, expectations });
            }
        };
        // Where there is but one reading, the stack shifts it or does not; to know all that it shifts would read more.
        if self.fallbacks[label.index()].is_none() {
            feed(label, reads);
        } else {
            let context = self.context(stack, reads);
            for terminal in self.plain_readings(label, &context.acceptable) {
                feed(terminal, reads);
            }
        }
        after
    }

    /// Whether the text may end after a lexeme with this label.
    pub(crate) fn ends_text(
        &self,
        stack: &Stack,
        layout: &Layout,
        expectations: ExpectationsId,
        label: TerminalId,
        reads: &mut Reads,
    ) -> bool {
        let joins = self.indentation.as_ref().is_some_and(|indentation| indentation.join == Some(label));
        !joins
            && self.after_lexeme(stack, layout, expectations, label, reads).iter().any(|after| {
                self.lookaheads.facts(after.expectations).may_end
                    && self.ends_between(&after.stack, &after.layout, reads)
            })
    }

    /// The terminals that end the text after `stack` at the least cost in bytes, and that cost.
    pub(crate) fn closing_plan(&self, stack: &Stack) -> Option<(Vec<TerminalId>, u64)> {
        let closing = self.closing.get_or_init(|| {
            let cost = |(index, dfa): (usize, &Option<Dfa>)| {
                if let Some(indentation) = &self.indentation
                    && (index == indentation.indent.index() || index == indentation.dedent.index())
                {
                    return Some(u64::from(index == indentation.indent.index()));
                }
                let dfa = dfa.as_ref().filter(|_| self.may_occur(TerminalId::new(index)));
                let length = dfa.map(|dfa| u64::from(dfa.distance(dfa.start())))?;
                // What stands around such a word must fit, which the plan does not see to: only where it must.
                let asks = self.lookaheads.word(TerminalId::new(index)).is_some();
                Some(length + if asks { 1_000 } else { 0 })
            };
            let costs: Vec<_> = self.states.dfas().iter().enumerate().map(cost).collect();
            Closing::new(&self.table, &costs)
        });
        closing.plan(&self.table, stack)
    }

    /// Whether the text may end on `stack`.
    pub(crate) fn is_sentence(&self, stack: &Stack, reads: &mut Reads) -> bool {
        stack.takes(&self.table, self.table.end(), reads)
    }

    /// The scan states behind an id.
    pub(crate) fn obligations(&self, id: ObligationsId) -> &Obligations {
        self.obligations.get(id.0)
    }

    /// The id of a set of obligations.
    pub(crate) fn intern_obligations(&self, mut states: Obligations) -> ObligationsId {
        states.sort_unstable();
        states.dedup();
        if states.is_empty() { ObligationsId::NONE } else { ObligationsId(self.obligations.intern(states)) }
    }

    /// The obligations after `byte`; `None` when one is broken.
    #[inline]
    pub(crate) fn step_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        if id == ObligationsId::NONE { Some(id) } else { self.step_open_obligations(id, byte) }
    }

    #[cold]
    fn step_open_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let classes = self.states.classes();
        let steps = self
            .obligation_steps
            .get_or_init(id.0, || classes.representatives().iter().map(|_| OnceLock::new()).collect());
        *steps[usize::from(classes.get(byte))].get_or_init(|| self.find_obligations(id, byte))
    }

    fn find_obligations(&self, id: ObligationsId, byte: u8) -> Option<ObligationsId> {
        let mut after = Obligations::new();
        for &state in self.obligations(id) {
            if let Some(next) = self.states.next(state, byte) {
                if self.states.label(next).is_some() {
                    return None;
                }
                after.push(next);
            }
        }
        Some(self.intern_obligations(after))
    }

    /// Longest match: the label of a lexeme in `state` that ends before the byte which leads to `next`, and what is then
    /// asked of the text beside `obligations`; `None` where it cannot end, because the byte lets it match more.
    #[inline]
    pub(crate) fn end_before(
        &self,
        state: ScanStateId,
        next: Option<ScanStateId>,
        obligations: ObligationsId,
    ) -> Option<(TerminalId, ObligationsId)> {
        let label = self.states.label(state)?;
        match next {
            None => Some((label, obligations)),
            Some(next) if self.states.label(next).is_none() => {
                Some((label, self.add_obligation(obligations, next)))
            }
            Some(_) => None,
        }
    }

    /// `id` and one more.
    pub(crate) fn add_obligation(&self, id: ObligationsId, state: ScanStateId) -> ObligationsId {
        let mut states = self.obligations(id).clone();
        states.push(state);
        self.intern_obligations(states)
    }
}
