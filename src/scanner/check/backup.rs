//! How long the end of a lexeme can stay open.
//!
//! After an accept the longest match may go on for some bytes without another accept: it is *pending*, and if
//! it fails the text is cut at the accept and the pending bytes are lexed again. While it is pending both
//! readings may be alive. They are compared here, pending state against the lexing of the same bytes by
//! whatever terminals may follow, with more freedom than the scanner has (any accept may end a lexeme, whatever
//! the stack), so that what is found impossible or bounded here is so.
//!
//! * Where nothing can follow that begins with the pending bytes, the end is never open: JSON's `1e`.
//! * Where the comparison has no cycle, it is open for a bounded number of bytes: `1else`.
//! * Where it has a cycle but the pending match never fails there, only the end of the text decides: `a /*b`
//!   with a unary `*`. The engine carries both readings, and can tell that the second is viable if every
//!   terminal has a lexeme that does not complete the pending match.
//! * Else the engine would have to look ahead without bound: refused, with the text that goes round the cycle.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::adjacency::Adjacency;
use super::universe::Universe;
use crate::grammar::ir::Grammar;
use crate::lexer::Dfa;
use crate::scanner::states::Component;
use crate::scanner::{Indentation, Scanner};
use crate::util::bitset::BitSet;
use crate::util::byte_classes::ClassSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// A pending match beside another reading of the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    pending: ScanStateId,
    /// The lexeme that the other reading is in.
    terminal: TerminalId,
    state: u32,
    /// The last terminal before it that was not ignored, if that matters because this one may be ignored; `None` where
    /// it might be any.
    last: Option<TerminalId>,
}

/// Finds pending matches that matter without bound; tells the scanner of those that the end of the text decides.
pub(super) fn check(
    grammar: &Grammar,
    scanner: &Scanner,
    universe: &Universe,
    adjacency: &Adjacency,
    limit: usize,
) -> Option<Diagnostic> {
    let mut comparison = Comparison {
        grammar,
        scanner,
        follow: Follow::new(grammar, scanner),
        newline: scanner.indentation().map(|indentation| indentation.newline),
        pairs: Vec::new(),
        ids: HashMap::default(),
    };
    comparison.begin(universe);
    if !comparison.explore(universe, limit) {
        return Some(
            Diagnostic::error(
                "unbounded-backup",
                "it cannot be shown that longest match backs up by a bounded number of bytes only",
            )
            .help("let terminals that begin alike end alike, or separate them by white space"),
        );
    }
    let open = comparison.beyond_cycles();
    if let Some(&at) = open.iter().find(|&&at| comparison.pairs[at].fails) {
        let first = &grammar.terminals[comparison.first(at).index()];
        return Some(
            Diagnostic::error(
                "unbounded-backup",
                format!(
                    "how a text is cut into {} and what follows may stay open without bound, because a longer match is pending",
                    first.name
                ),
            )
            .at(first.place.clone())
            .example(String::from_utf8_lossy(&comparison.text(at)).into_owned())
            .help("make the longer terminal fail early, or match what it has read so far as well"),
        );
    }
    let mut lasting: Vec<ScanStateId> = open.iter().map(|&at| comparison.pairs[at].pair.pending).collect();
    lasting.sort_unstable();
    lasting.dedup();
    for &pending in &lasting {
        let unsafe_terminal = (0..grammar.terminals.len())
            .map(TerminalId::new)
            .filter(|&terminal| adjacency.is_possible(terminal))
            .find(|&terminal| !comparison.has_lexeme_within(pending, terminal));
        if let Some(terminal) = unsafe_terminal {
            return Some(
                Diagnostic::error(
                    "unbounded-backup",
                    format!(
                        "a longer match stays pending to the end of the text, and every {} would complete it",
                        grammar.terminals[terminal.index()].name
                    ),
                )
                .at(grammar.terminals[terminal.index()].place.clone())
                .help("make the longer terminal match its beginning as well, so that nothing has to be read twice"),
            );
        }
    }
    scanner.set_lasting(lasting);
    None
}

/// What the tables let follow a terminal, and the ignored terminals.
struct Follow {
    /// By terminal, and at last behind any terminal or at the beginning.
    rows: Vec<BitSet>,
    /// Parallel to the rows: the classes of bytes with which those begin.
    begins_behind: Vec<ClassSet>,
    /// By class of bytes: the terminals whose lexemes may begin with it.
    begins: Vec<BitSet>,
}

impl Follow {
    fn new(grammar: &Grammar, scanner: &Scanner) -> Self {
        let table = scanner.table();
        let count = grammar.terminals.len();
        let mut rows = super::rows(table);
        let mut any = BitSet::new(count + 1);
        for state in (0..table.state_count()).map(CoreId::new) {
            any.union_with(table.row(state));
        }
        rows.push(any);
        if let Some(indentation) = scanner.indentation() {
            // INDENT and DEDENT are followed by what may stand behind them; line ends may be ignored anywhere.
            let Indentation { newline, indent, dedent, .. } = *indentation;
            let mut changed = true;
            while changed {
                changed = false;
                for before in 0..=count {
                    for within in [indent, dedent] {
                        if rows[before].contains(within.index()) {
                            let behind = rows[within.index()].clone();
                            changed |= rows[before].union_with(&behind);
                        }
                    }
                }
            }
            rows.iter_mut().for_each(|row| {
                row.insert(newline.index());
            });
        }
        for row in &mut rows {
            row.remove(table.end().index());
            for (index, terminal) in grammar.terminals.iter().enumerate() {
                let other = scanner.other_reading(TerminalId::new(index));
                if terminal.ignored || other.is_some_and(|other| row.contains(other.index())) {
                    row.insert(index);
                }
            }
        }
        let scan = scanner.states();
        let mut begins = vec![BitSet::new(count + 1); scan.classes().count()];
        let mut firsts = Vec::with_capacity(count);
        for (index, dfa) in scan.dfas().iter().enumerate() {
            let start = dfa.as_ref().map_or(Dfa::DEAD, Dfa::start);
            let first = scan.goes_on(Component { terminal: TerminalId::new(index), state: start });
            first.iter().for_each(|class| {
                begins[usize::from(class)].insert(index);
            });
            firsts.push(first);
        }
        let any =
            |row: &BitSet| row.iter().map(|next| firsts[next]).fold(ClassSet::default(), ClassSet::union);
        Self { begins_behind: rows.iter().map(any).collect(), rows, begins }
    }

    /// The classes of bytes with which what may follow `last` begins.
    fn begins_behind(&self, last: Option<TerminalId>) -> ClassSet {
        self.begins_behind[last.map_or(self.rows.len() - 1, TerminalId::index)]
    }

    /// What may follow `last` and begin with a byte of the class.
    fn behind(&self, last: Option<TerminalId>, class: u8) -> BitSet {
        let row = last.map_or(self.rows.len() - 1, TerminalId::index);
        let mut behind = self.begins[usize::from(class)].clone();
        behind.intersect_with(&self.rows[row]);
        behind
    }
}

/// A pair that was met.
struct Met {
    pair: Pair,
    /// Over which byte from which pair; the first ones over a byte behind a lexeme of a terminal.
    from: Result<(usize, u8), (TerminalId, u8)>,
    next: Vec<usize>,
    /// Whether some byte fails the pending match and goes on with the other reading.
    fails: bool,
}

struct Comparison<'a> {
    grammar: &'a Grammar,
    scanner: &'a Scanner,
    follow: Follow,
    /// NEWLINE, if there is `%indent`: ignored in places.
    newline: Option<TerminalId>,
    pairs: Vec<Met>,
    ids: HashMap<Pair, usize, FxBuildHasher>,
}

impl Comparison<'_> {
    /// Every way for a match to become pending.
    fn begin(&mut self, universe: &Universe) {
        let scan = self.scanner.states();
        let mut begun: HashSet<(ScanStateId, Option<TerminalId>, u8), FxBuildHasher> = HashSet::default();
        for (end, labels) in universe.ends(self.grammar.lexer, self.scanner) {
            let fan = universe.fan(scan, end);
            if fan.pends.is_empty() {
                continue;
            }
            let lasts: Vec<(TerminalId, Option<TerminalId>)> = (labels.iter())
                .flat_map(|&label| self.terminals_of(label).into_iter().map(move |last| (label, last)))
                .collect();
            for class in fan.pends.iter() {
                let byte = scan.classes().representatives()[usize::from(class)];
                let Some(pending) = scan.next(end, byte) else { continue };
                for &(label, last) in &lasts {
                    if !begun.insert((pending, last, byte)) {
                        continue;
                    }
                    for pair in self.lexemes_after(pending, last, byte) {
                        self.meet(pair, Err((last.unwrap_or(label), byte)));
                    }
                }
            }
        }
    }

    /// What a lexeme with this label may be. Ignored ones leave the last terminal alone, which might be any.
    fn terminals_of(&self, label: TerminalId) -> Vec<Option<TerminalId>> {
        let terminal = &self.grammar.terminals[label.index()];
        if terminal.ignored {
            return vec![None];
        }
        std::iter::once(Some(label)).chain(self.scanner.other_reading(label).map(Some)).collect()
    }

    /// Whether a lexeme of the terminal may leave the last one before it the last.
    fn may_be_ignored(&self, terminal: TerminalId) -> bool {
        self.grammar.terminals[terminal.index()].ignored || self.newline == Some(terminal)
    }

    fn lexemes_after(&self, pending: ScanStateId, last: Option<TerminalId>, byte: u8) -> Vec<Pair> {
        let scan = self.scanner.states();
        (self.follow.behind(last, scan.classes().get(byte)).iter())
            .filter_map(|terminal| {
                let terminal = TerminalId::new(terminal);
                let dfa = scan.dfa(terminal)?;
                let state = dfa.next(dfa.start(), byte);
                let last = last.filter(|_| self.may_be_ignored(terminal));
                (state != Dfa::DEAD).then_some(Pair { pending, terminal, state, last })
            })
            .collect()
    }

    fn meet(&mut self, pair: Pair, from: Result<(usize, u8), (TerminalId, u8)>) -> usize {
        if let Some(&known) = self.ids.get(&pair) {
            return known;
        }
        let id = self.pairs.len();
        self.ids.insert(pair, id);
        self.pairs.push(Met { pair, from, next: Vec::new(), fails: false });
        id
    }

    /// False when there are more pairs than `limit`.
    fn explore(&mut self, universe: &Universe, limit: usize) -> bool {
        let scan = self.scanner.states();
        let mut at = 0;
        while at < self.pairs.len() {
            if self.pairs.len() > limit {
                return false;
            }
            let Pair { pending, terminal, state, last } = self.pairs[at].pair;
            let Some(dfa) = scan.dfa(terminal) else { return true };
            let lasts = match dfa.is_accept(state) {
                true if self.grammar.terminals[terminal.index()].ignored => vec![last],
                true if self.newline == Some(terminal) => vec![last, Some(terminal)],
                true => self.terminals_of(terminal),
                false => Vec::new(),
            };
            let behind = lasts.iter().map(|&last| self.follow.begins_behind(last));
            let reads = behind.fold(scan.goes_on(Component { terminal, state }), ClassSet::union);
            let fan = universe.fan(scan, pending);
            self.pairs[at].fails = fan.kills.intersects(reads);
            for class in fan.pends.intersection(reads).iter() {
                let byte = scan.classes().representatives()[usize::from(class)];
                let Some(after) = scan.next(pending, byte) else { continue };
                let goes_on = Some(dfa.next(state, byte)).filter(|&next| next != Dfa::DEAD);
                let mut next: Vec<Pair> = Vec::new();
                next.extend(goes_on.map(|state| Pair { pending: after, terminal, state, last }));
                next.extend(lasts.iter().flat_map(|&last| self.lexemes_after(after, last, byte)));
                for pair in next {
                    let id = self.meet(pair, Ok((at, byte)));
                    self.pairs[at].next.push(id);
                }
            }
            at += 1;
        }
        true
    }

    /// The pairs on a cycle or behind one. What can be taken away because nothing (left) leads to it is neither.
    fn beyond_cycles(&self) -> Vec<usize> {
        let mut entries = vec![0usize; self.pairs.len()];
        for met in &self.pairs {
            met.next.iter().for_each(|&next| entries[next] += 1);
        }
        let mut free: Vec<usize> = (0..self.pairs.len()).filter(|&at| entries[at] == 0).collect();
        while let Some(at) = free.pop() {
            for &next in &self.pairs[at].next {
                entries[next] -= 1;
                if entries[next] == 0 {
                    free.push(next);
                }
            }
        }
        (0..self.pairs.len()).filter(|&at| entries[at] > 0).collect()
    }

    /// The lexeme whose end became open on the way to a pair.
    fn first(&self, mut at: usize) -> TerminalId {
        loop {
            match self.pairs[at].from {
                Ok((from, _)) => at = from,
                Err((first, _)) => return first,
            }
        }
    }

    /// A text that leads to a pair.
    fn text(&self, mut at: usize) -> Vec<u8> {
        let mut reversed = Vec::new();
        loop {
            match self.pairs[at].from {
                Ok((from, byte)) => {
                    reversed.push(byte);
                    at = from;
                }
                Err((last, byte)) => {
                    reversed.push(byte);
                    let dfa = self.scanner.states().dfa(last);
                    reversed.extend(dfa.map_or_else(Vec::new, Dfa::shortest).iter().rev());
                    reversed.reverse();
                    return reversed;
                }
            }
        }
    }

    /// Whether some lexeme of `terminal` leaves the match pending.
    fn has_lexeme_within(&self, pending: ScanStateId, terminal: TerminalId) -> bool {
        let scan = self.scanner.states();
        let Some(dfa) = scan.dfa(terminal) else { return false };
        let mut seen = vec![(pending, dfa.start())];
        let mut at = 0;
        while let Some(&(pending, state)) = seen.get(at) {
            at += 1;
            if dfa.is_accept(state) {
                return true;
            }
            for &byte in scan.classes().representatives() {
                let next = dfa.next(state, byte);
                if next == Dfa::DEAD {
                    continue;
                }
                match scan.next(pending, byte) {
                    None => return true,
                    Some(after) if scan.label(after).is_none() => {
                        if !seen.contains(&(after, next)) {
                            seen.push((after, next));
                        }
                    }
                    Some(_) => {}
                }
            }
        }
        false
    }
}
