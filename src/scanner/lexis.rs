//! What the grammar says of lexemes, before anything is proved about it: its tables, its scan
//! states, which terminals compete, and what a lexeme may be read as. The check of the grammar
//! looks at this, and so does the [`Scanner`](super::Scanner), which knows the outcome as well.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::budgets::Budgets;
use super::candidate_sets::{self, Starts};
use super::indentation::Indentation;
use super::lines::blank_classes;
use super::lookahead::{Lookaheads, Reading};
use super::states::{Endings, ScanStates};
use crate::grammar::ir::{Distinct, Fallback, Grammar, LexerKind, Matching, Symbol, Terminal};
use crate::grammar::pattern::Pattern;
use crate::lexer::Dfa;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, TerminalId};

/// Tables, scan states, and what competes with what.
#[derive(Debug)]
pub(crate) struct Lexis {
    pub(super) table: ParseTable,
    pub(super) states: ScanStates,
    pub(super) lexer: LexerKind,
    pub(super) ignored: BitSet,
    /// Whether a text may begin with what is ignored.
    pub(super) leading_ignored: bool,
    pub(super) exclusive: BitSet,
    /// Candidate sets of which each that has an exclusive terminal is a part.
    pub(super) candidate_sets: Vec<BitSet>,
    /// Where lexemes start in the greatest candidate sets.
    pub(super) candidate_starts: Starts,
    /// By terminal: the words reserved against it.
    pub(super) reserved: Vec<Vec<TerminalId>>,
    pub(super) fallbacks: Vec<Option<Fallback>>,
    /// By label: what a lexeme of it is as well.
    pub(super) meant: Vec<Vec<TerminalId>>,
    /// By terminal: the label of its lexemes, where that is another one; else itself.
    labels: Vec<TerminalId>,
    pub(super) lookaheads: Lookaheads,
    pub(super) budgets: Budgets,
    /// What terminals are to lists of items that must differ; empty where there are none.
    distinct: Vec<Option<Distinct>>,
    /// Where some terminal may end at each match, by terminal: the bytes that may stand behind a
    /// lexeme of it.
    pub(super) bytes_behind: Vec<[bool; 256]>,
    /// `%indent`.
    pub(super) indentation: Option<Indentation>,
}

impl Lexis {
    /// What `grammar` says over its tables and the DFAs of its terminals.
    pub(crate) fn new(grammar: &Grammar, mut table: ParseTable, dfas: Vec<Option<Dfa>>) -> Self {
        let (states, lookaheads) = (scan_states(grammar, dfas), Lookaheads::new(grammar));
        let count = grammar.terminals.len();
        // What competes for a lexeme, and what a word is, may hang on what the stack cannot shift.
        let hangs_on_context = |terminal: &Terminal| {
            terminal.exclusive || terminal.fallback.is_some_and(|fallback| !fallback.soft)
        };
        if grammar.lexer == LexerKind::Contextual || grammar.terminals.iter().any(hangs_on_context)
        {
            table.tell_contexts_apart();
        }
        let mut ignored = BitSet::new(count + 1);
        let mut exclusive = BitSet::new(count + 1);
        for (index, terminal) in grammar.terminals.iter().enumerate() {
            if terminal.ignored {
                ignored.insert(index);
            }
            if terminal.exclusive {
                exclusive.insert(index);
            }
        }
        let meant: Vec<_> =
            grammar.terminals.iter().map(|terminal| terminal.meant.clone()).collect();
        let labels = labels(&meant);
        let candidate_sets =
            candidate_sets::exclusive_candidates(&table, &exclusive, &ignored, &labels);
        Self {
            lexer: grammar.lexer,
            leading_ignored: grammar.leading_ignored,
            candidate_starts: candidate_sets::greatest(&states, &exclusive, &candidate_sets),
            reserved: reserved(grammar, states.dfas()),
            fallbacks: grammar.terminals.iter().map(|terminal| terminal.fallback).collect(),
            meant,
            labels,
            indentation: grammar
                .indentation
                .as_ref()
                .map(|directive| Indentation::new(directive, &table)),
            budgets: Budgets::new(grammar),
            distinct: distinct(grammar),
            bytes_behind: bytes_behind(&table, &states),
            table,
            states,
            ignored,
            exclusive,
            candidate_sets,
            lookaheads,
        }
    }

    /// The parse tables.
    pub(crate) fn table(&self) -> &ParseTable {
        &self.table
    }

    /// The scan states.
    pub(crate) fn states(&self) -> &ScanStates {
        &self.states
    }

    /// `%indent`, if the grammar has it.
    #[inline]
    pub(crate) fn indentation(&self) -> Option<&Indentation> {
        self.indentation.as_ref()
    }

    /// How many terminals there are.
    pub(super) fn terminal_count(&self) -> usize {
        self.fallbacks.len()
    }

    /// Whether lexemes of `terminal` are dropped.
    pub(crate) fn is_ignored(&self, terminal: TerminalId) -> bool {
        self.ignored.contains(terminal.index())
    }

    /// Whether items of some lists must differ.
    pub(crate) fn has_distinct(&self) -> bool {
        !self.distinct.is_empty()
    }

    /// What a terminal is to such lists.
    pub(crate) fn distinct(&self, terminal: TerminalId) -> Option<Distinct> {
        *self.distinct.get(terminal.index())?
    }

    /// Whether `word` competes wherever `terminal` does.
    pub(super) fn is_reserved_against(&self, word: TerminalId, terminal: TerminalId) -> bool {
        self.reserved[terminal.index()].contains(&word)
    }

    /// What a lexeme with this label may be beside the label itself.
    pub(super) fn other_readings(&self, label: TerminalId) -> impl Iterator<Item = TerminalId> {
        let fallback = self.fallbacks[label.index()].map(|fallback| fallback.terminal);
        let other = fallback.or_else(|| self.lookaheads.word(label).map(|word| word.other));
        other.into_iter().chain(self.meant[label.index()].iter().copied())
    }

    /// Whether a lexeme with this label may be `terminal`, which is another one.
    pub(super) fn may_be_read_as(&self, label: TerminalId, terminal: TerminalId) -> bool {
        self.other_readings(label).any(|other| other == terminal)
    }

    /// Whether what the parser can take has no say in what a lexeme with this label is.
    pub(super) fn has_one_reading(&self, label: TerminalId) -> bool {
        self.fallbacks[label.index()].is_none() && self.meant[label.index()].is_empty()
    }

    /// The label of lexemes of `terminal`: itself, but where another terminal has all of its texts
    /// ([`Terminal::meant`]).
    pub(super) fn label_of(&self, terminal: TerminalId) -> TerminalId {
        self.labels[terminal.index()]
    }

    /// The texts of `terminal`.
    pub(crate) fn texts(&self, terminal: TerminalId) -> Option<&Dfa> {
        self.states.dfa(self.label_of(terminal))
    }

    /// By terminal: the label of its lexemes.
    pub(super) fn labels(&self) -> &[TerminalId] {
        &self.labels
    }

    /// Adds the labels of these terminals.
    pub(super) fn add_labels(&self, terminals: &mut BitSet) {
        candidate_sets::add_labels(&self.labels, terminals);
    }

    /// The readings of `label`, which is not ignored, where the stack can shift the terminals in
    /// `acceptable` and has shifted `last` last; none when the lexeme is an error there.
    pub(crate) fn readings(
        &self,
        label: TerminalId,
        acceptable: &BitSet,
        last: Option<TerminalId>,
    ) -> SmallVec<[Reading; 2]> {
        if self.lookaheads.word(label).is_some() {
            return self.lookaheads.readings(label, acceptable, last);
        }
        let mut readings = SmallVec::new();
        for read in self.plain_readings(label, acceptable) {
            readings.push((read, None));
        }
        readings
    }

    /// The terminals that a lexeme with this label may be, wherever it stands.
    pub(crate) fn all_readings(&self, label: TerminalId) -> SmallVec<[TerminalId; 2]> {
        std::iter::once(label).chain(self.other_readings(label)).collect()
    }

    /// The readings of a label about which the parser alone decides.
    pub(super) fn plain_readings(
        &self,
        label: TerminalId,
        acceptable: &BitSet,
    ) -> SmallVec<[TerminalId; 2]> {
        let mut readings = SmallVec::new();
        let mut fallback = self.fallbacks[label.index()];
        if acceptable.contains(label.index()) {
            readings.push(label);
            fallback = fallback.filter(|fallback| fallback.soft);
        }
        if let Some(fallback) =
            fallback.filter(|fallback| acceptable.contains(fallback.terminal.index()))
        {
            readings.push(fallback.terminal);
        }
        let meant = self.meant[label.index()].iter().copied();
        readings.extend(meant.filter(|other| acceptable.contains(other.index())));
        readings
    }
}

/// The scan states of a grammar, none of which has been met.
pub(super) fn scan_states(grammar: &Grammar, dfas: Vec<Option<Dfa>>) -> ScanStates {
    let ranks = grammar.terminals.iter().map(|terminal| terminal.rank).collect();
    let blanks = grammar.indentation.as_ref().map(|_| blank_classes());
    let those = |is: fn(&Terminal) -> bool| {
        let mut set = BitSet::new(grammar.terminals.len());
        for (index, _) in grammar.terminals.iter().enumerate().filter(|(_, terminal)| is(terminal))
        {
            set.insert(index);
        }
        set
    };
    let endings = Endings {
        first: those(|terminal| terminal.lazy),
        every: those(|terminal| terminal.every_match),
        priorities: priorities(grammar),
    };
    ScanStates::new(dfas, ranks, endings, blanks.as_ref())
}

/// By terminal: the label of its lexemes.
fn labels(meant: &[Vec<TerminalId>]) -> Vec<TerminalId> {
    let mut labels: Vec<TerminalId> = (0..meant.len()).map(TerminalId::new).collect();
    for (label, meant) in meant.iter().enumerate() {
        meant.iter().for_each(|other| labels[other.index()] = TerminalId::new(label));
    }
    labels
}

/// By terminal: its priority, where some match goes before longer ones.
fn priorities(grammar: &Grammar) -> Vec<i32> {
    let of = || grammar.terminals.iter().map(|terminal| terminal.priority);
    let differ = grammar.matching == Matching::Priority && of().min() != of().max();
    if differ { of().collect() } else { Vec::new() }
}

/// By terminal: the bytes with which terminals begin that the tables let follow it. Nothing where
/// no terminal may end at each match.
fn bytes_behind(table: &ParseTable, states: &ScanStates) -> Vec<[bool; 256]> {
    if !states.has_every_match() {
        return Vec::new();
    }
    let begins = |dfa: &Dfa| -> Vec<u8> {
        (0..=u8::MAX).filter(|&byte| dfa.next(dfa.start(), byte) != Dfa::DEAD).collect()
    };
    let first: Vec<Vec<u8>> =
        states.dfas().iter().map(|dfa| dfa.as_ref().map(begins).unwrap_or_default()).collect();
    // Many states have one row.
    let mut of_rows: HashMap<&BitSet, [bool; 256]> = HashMap::new();
    let mut behind = vec![[false; 256]; first.len()];
    for core in (0..table.state_count()).map(CoreId::new) {
        let Some(Symbol::Terminal(terminal)) = table.accessing(core) else { continue };
        let of_row = of_rows.entry(table.row(core)).or_insert_with_key(|row| {
            let mut bytes = [false; 256];
            let next = row.iter().filter_map(|next| first.get(next));
            next.flatten().for_each(|&byte| bytes[usize::from(byte)] = true);
            bytes
        });
        behind[terminal.index()]
            .iter_mut()
            .zip(of_row)
            .for_each(|(may, &mut begins)| *may |= begins);
    }
    behind
}

/// By terminal: what it is to lists of items that must differ. Nothing where there are none.
fn distinct(grammar: &Grammar) -> Vec<Option<Distinct>> {
    let of: Vec<_> = grammar.terminals.iter().map(|terminal| terminal.distinct).collect();
    if of.iter().any(Option::is_some) { of } else { Vec::new() }
}

/// By terminal: the words reserved against it.
fn reserved(grammar: &Grammar, dfas: &[Option<Dfa>]) -> Vec<Vec<TerminalId>> {
    let mut reserved = vec![Vec::new(); grammar.terminals.len()];
    for (index, terminal) in grammar.terminals.iter().enumerate() {
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
    reserved
}
