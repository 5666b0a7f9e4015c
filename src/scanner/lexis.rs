//! The lexical part of a grammar, before anything is proved about it: its tables, its scan states,
//! which terminals compete, and the readings of a lexeme. The check of the grammar uses it, and so
//! does the [`Scanner`](super::Scanner), which also has the outcome of the check.

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
use crate::util::lists::Lists;

/// Tables, scan states, and the rules of competition between terminals.
#[derive(Debug)]
pub(crate) struct Lexis {
    pub(super) table: ParseTable,
    pub(super) states: ScanStates,
    pub(super) lexer: LexerKind,
    pub(super) ignored: BitSet,
    /// Whether a text may begin with ignored lexemes.
    pub(super) leading_ignored: bool,
    pub(super) exclusive: BitSet,
    /// Candidate sets that include every real one with an exclusive terminal as a subset.
    pub(super) candidate_sets: Vec<BitSet>,
    /// The start states of lexemes in the largest candidate sets.
    pub(super) candidate_starts: Starts,
    /// By terminal: the words reserved against it.
    pub(super) reserved: Vec<Vec<TerminalId>>,
    pub(super) fallbacks: Vec<Option<Fallback>>,
    /// By label: the other terminals that a lexeme with it also is.
    pub(super) meant: Vec<Vec<TerminalId>>,
    /// By terminal: the label of its lexemes, if that is another terminal; otherwise itself.
    labels: Vec<TerminalId>,
    /// By terminal: the other labels of lexemes that may be read as it.
    read_as: Lists<TerminalId>,
    pub(super) lookaheads: Lookaheads,
    pub(super) budgets: Budgets,
    /// Roles of terminals in lists whose items must differ; empty if there are no such lists.
    distinct: Vec<Option<Distinct>>,
    /// By terminal, if some terminal may end at each match: the bytes that may follow a lexeme of
    /// it.
    pub(super) bytes_behind: Vec<[bool; 256]>,
    /// `%indent`.
    pub(super) indentation: Option<Indentation>,
}

impl Lexis {
    /// Combines `grammar` with its tables and the DFAs of its terminals.
    pub(crate) fn new(grammar: &Grammar, mut table: ParseTable, dfas: Vec<Option<Dfa>>) -> Self {
        let (states, lookaheads) = (scan_states(grammar, dfas), Lookaheads::new(grammar));
        let count = grammar.terminals.len();
        // The candidates of a lexeme, and the reading of a word, may depend on what the stack
        // cannot shift.
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
        let mut lexis = Self {
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
            read_as: Lists::new(),
        };
        let readings = |label| lexis.other_readings(label).map(move |other| (other, label));
        let readings = (0..count).map(TerminalId::new).flat_map(readings);
        let pairs: Vec<(u32, TerminalId)> =
            readings.map(|(other, label)| (other.index() as u32, label)).collect();
        lexis.read_as = Lists::from_pairs(count, &pairs);
        lexis
    }

    /// Returns the parse tables.
    pub(crate) fn table(&self) -> &ParseTable {
        &self.table
    }

    /// Returns the scan states.
    pub(crate) fn states(&self) -> &ScanStates {
        &self.states
    }

    /// Returns `%indent`, if the grammar has it.
    #[inline]
    pub(crate) fn indentation(&self) -> Option<&Indentation> {
        self.indentation.as_ref()
    }

    /// Returns the number of terminals.
    pub(super) fn terminal_count(&self) -> usize {
        self.fallbacks.len()
    }

    /// Returns whether lexemes of `terminal` are dropped.
    pub(crate) fn is_ignored(&self, terminal: TerminalId) -> bool {
        self.ignored.contains(terminal.index())
    }

    /// Returns whether the grammar has lists whose items must differ.
    pub(crate) fn has_distinct(&self) -> bool {
        !self.distinct.is_empty()
    }

    /// Returns the role of a terminal in such lists.
    pub(crate) fn distinct(&self, terminal: TerminalId) -> Option<Distinct> {
        *self.distinct.get(terminal.index())?
    }

    /// Returns whether `word` competes wherever `terminal` does.
    pub(super) fn is_reserved_against(&self, word: TerminalId, terminal: TerminalId) -> bool {
        self.reserved[terminal.index()].contains(&word)
    }

    /// Returns the readings of a label other than the label itself.
    pub(super) fn other_readings(&self, label: TerminalId) -> impl Iterator<Item = TerminalId> {
        let fallback = self.fallbacks[label.index()].map(|fallback| fallback.terminal);
        let other = fallback.or_else(|| self.lookaheads.word(label).map(|word| word.other));
        other.into_iter().chain(self.meant[label.index()].iter().copied())
    }

    /// Returns whether a lexeme with this label may be read as `terminal`, a different one.
    pub(super) fn may_be_read_as(&self, label: TerminalId, terminal: TerminalId) -> bool {
        self.other_readings(label).any(|other| other == terminal)
    }

    /// Returns the labels of lexemes that may be read as `terminal`, a different one.
    pub(super) fn labels_read_as(&self, terminal: TerminalId) -> &[TerminalId] {
        self.read_as.get(terminal.index())
    }

    /// Returns whether the reading of a label does not depend on what the parser can take.
    pub(super) fn has_one_reading(&self, label: TerminalId) -> bool {
        self.fallbacks[label.index()].is_none() && self.meant[label.index()].is_empty()
    }

    /// Returns the label of lexemes of `terminal`: itself, unless another terminal has all of its
    /// texts ([`Terminal::meant`]).
    pub(super) fn label_of(&self, terminal: TerminalId) -> TerminalId {
        self.labels[terminal.index()]
    }

    /// Returns the texts of `terminal`.
    pub(crate) fn texts(&self, terminal: TerminalId) -> Option<&Dfa> {
        self.states.dfa(self.label_of(terminal))
    }

    /// Returns, by terminal, the label of its lexemes.
    pub(super) fn labels(&self) -> &[TerminalId] {
        &self.labels
    }

    /// Adds the labels of these terminals.
    pub(super) fn add_labels(&self, terminals: &mut BitSet) {
        candidate_sets::add_labels(&self.labels, terminals);
    }

    /// Returns the readings of `label`, which is not ignored, if the stack can shift the terminals
    /// in `acceptable` and has shifted `last` last. Empty if the lexeme is an error there.
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

    /// Returns the terminals that a lexeme with this label may be in any context.
    pub(crate) fn all_readings(&self, label: TerminalId) -> SmallVec<[TerminalId; 2]> {
        std::iter::once(label).chain(self.other_readings(label)).collect()
    }

    /// Returns the readings of a label that depends on the parser alone.
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

/// Returns the scan states of a grammar, none of which has been met.
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

/// Returns, by terminal, the label of its lexemes.
fn labels(meant: &[Vec<TerminalId>]) -> Vec<TerminalId> {
    let mut labels: Vec<TerminalId> = (0..meant.len()).map(TerminalId::new).collect();
    for (label, meant) in meant.iter().enumerate() {
        meant.iter().for_each(|other| labels[other.index()] = TerminalId::new(label));
    }
    labels
}

/// Returns, by terminal, its priority; empty unless matches of higher priority take precedence over
/// longer ones.
fn priorities(grammar: &Grammar) -> Vec<i32> {
    let of = || grammar.terminals.iter().map(|terminal| terminal.priority);
    let differ = grammar.matching == Matching::Priority && of().min() != of().max();
    if differ { of().collect() } else { Vec::new() }
}

/// Returns, by terminal, the first bytes of the terminals that the tables let follow it. Empty if
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
    // Many states share a row.
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

/// Returns, by terminal, its role in lists whose items must differ. Empty if there are no such
/// lists.
fn distinct(grammar: &Grammar) -> Vec<Option<Distinct>> {
    let of: Vec<_> = grammar.terminals.iter().map(|terminal| terminal.distinct).collect();
    if of.iter().any(Option::is_some) { of } else { Vec::new() }
}

/// Returns, by terminal, the words reserved against it.
fn reserved(grammar: &Grammar, dfas: &[Option<Dfa>]) -> Vec<Vec<TerminalId>> {
    let mut reserved = vec![Vec::new(); grammar.terminals.len()];
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        for against in &terminal.reserved_against {
            reserved[against.index()].push(TerminalId::new(index));
        }
        // The parser does not decide the reading of such a word.
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
