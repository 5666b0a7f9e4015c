//! What words ask of the lexemes behind them: is it settled soon, whatever the stack?
//!
//! Behind a word the engine searches for lexemes that settle what is expected. The search is over labels, so each must
//! be sure to follow what it is tried behind; and it must end, be it because some place on the way is known to be fine.
//! Both are shown here for all that the search may meet: terminals with what is expected behind them, and what the
//! tables let follow, which is more than any one stack does.

use std::cell::RefCell;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use super::adjacency::Adjacency;
use super::succession::Lexemes;
use crate::grammar::ir::Grammar;
use crate::lr::completable::always_completable;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Reading, Scanner};
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TerminalId;

/// Behind a word or a lexeme that did not settle all that was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    /// The lexeme's label.
    label: TerminalId,
    /// What it was read as.
    read: TerminalId,
    expectations: ExpectationsId,
}

/// Finds words about which the engine could not decide exactly.
pub(super) fn check(
    grammar: &Grammar,
    scanner: &Scanner,
    adjacency: &Adjacency,
    limit: usize,
    proof_steps: usize,
) -> Option<Diagnostic> {
    if scanner.lookaheads.is_empty() {
        return None;
    }
    let rows = super::rows(scanner.table());
    let mut search = Search {
        grammar,
        scanner,
        adjacency,
        rows,
        places: Vec::new(),
        ids: HashMap::default(),
        next: Vec::new(),
        stands: RefCell::default(),
    };
    search.begin();
    let found = search.words_stand_for_others();
    found.or_else(|| search.explore(limit)).or_else(|| search.end(proof_steps))
}

struct Search<'a> {
    grammar: &'a Grammar,
    scanner: &'a Scanner,
    adjacency: &'a Adjacency,
    /// By terminal, what the tables let follow it.
    rows: Vec<BitSet>,
    places: Vec<Place>,
    ids: HashMap<Place, usize, FxBuildHasher>,
    /// By place, where a lexeme leads that does not settle all.
    next: Vec<Vec<usize>>,
    /// Labels that were found able to stand for a terminal.
    stands: RefCell<HashSet<(TerminalId, TerminalId), FxBuildHasher>>,
}

impl Search<'_> {
    /// Every word that has just ended.
    fn begin(&mut self) {
        let lookaheads = &self.scanner.lookaheads;
        let mut places = Vec::new();
        for (label, word) in lookaheads.words() {
            let expect =
                |must_hold| lookaheads.add(ExpectationsId::NONE, Some(lookaheads.expect(label, must_hold)));
            for (read, must_hold) in [(label, true), (word.other, false)] {
                places.push(Place { label, read, expectations: expect(must_hold) });
            }
        }
        places.into_iter().for_each(|place| {
            self.meet(place);
        });
    }

    fn meet(&mut self, place: Place) -> usize {
        if let Some(&known) = self.ids.get(&place) {
            return known;
        }
        let id = self.places.len();
        self.ids.insert(place, id);
        self.places.push(place);
        id
    }

    /// Whether each word may stand for its other terminal, where nothing is expected as well.
    fn words_stand_for_others(&self) -> Option<Diagnostic> {
        let mut words = self.places.iter().filter(|place| place.label != place.read);
        words.find_map(|place| self.cannot_stand_for(place.label, place.read, place.expectations))
    }

    /// Meets all places that searches may meet.
    fn explore(&mut self, limit: usize) -> Option<Diagnostic> {
        let lookaheads = &self.scanner.lookaheads;
        let labels: Vec<TerminalId> = (0..self.grammar.terminals.len())
            .map(TerminalId::new)
            .filter(|&label| !self.scanner.is_ignored(label) && self.scanner.may_be_label(label))
            .collect();
        let mut at = 0;
        while let Some(&place) = self.places.get(at) {
            let Place { label: behind, read: last, expectations } = place;
            at += 1;
            if at > limit {
                return Some(self.unbounded(expectations));
            }
            let mut next = Vec::new();
            for &label in &labels {
                let Some(advanced) = lookaheads.advance(expectations, label) else { continue };
                let readings = self.readings(label, last);
                if !readings.is_empty() && !self.may_follow(behind, label) {
                    return Some(self.uncertain(behind, label, expectations));
                }
                for (read, expectation) in readings {
                    let barred = self.cannot_stand_for(label, read, expectations);
                    if barred.is_some() {
                        return barred;
                    }
                    let after = lookaheads.add(advanced, expectation);
                    let plain = self.adjacency.may_follow(None, None, read);
                    if after != ExpectationsId::NONE
                        && !(plain && lookaheads.is_spare(expectations, label, read, after))
                    {
                        next.push(Place { label, read, expectations: after });
                    }
                }
            }
            let next = next.into_iter().map(|place| self.meet(place)).collect();
            self.next.push(next);
        }
        None
    }

    /// All that a lexeme behind `last` may be on some stack: a word that falls back is either there.
    fn readings(&self, label: TerminalId, last: TerminalId) -> Vec<Reading> {
        let row = &self.rows[last.index()];
        let mut readings = self.scanner.readings(label, row, Some(last)).into_vec();
        if let Some(fallback) = &self.grammar.terminals[label.index()].fallback {
            let other = (fallback.terminal, None);
            if row.contains(fallback.terminal.index()) && !readings.contains(&other) {
                readings.push(other);
            }
        }
        readings
    }

    /// Whether a lexeme with this label can always be made to follow, directly and behind whatever is ignored.
    fn may_follow(&self, last: TerminalId, label: TerminalId) -> bool {
        let mut before = std::iter::once(last).chain(self.adjacency.doubtful().iter().copied());
        before.all(|before| self.adjacency.may_follow(Some(before), None, label))
    }

    /// The proof that every stack can be completed lets a word go on to a longer lexeme of the terminal that it is read
    /// as. Its label is another one then: so whatever can follow the other must be able to follow the word.
    fn cannot_stand_for(
        &self,
        label: TerminalId,
        read: TerminalId,
        expectations: ExpectationsId,
    ) -> Option<Diagnostic> {
        if label == read || self.stands.borrow().contains(&(label, read)) {
            return None;
        }
        let mut next = self.rows[read.index()].iter().map(TerminalId::new);
        let barred = next.find(|&next| {
            self.adjacency.may_follow(Some(read), None, next)
                && !self.adjacency.may_follow(Some(label), None, next)
        });
        let Some(barred) = barred else {
            self.stands.borrow_mut().insert((label, read));
            return None;
        };
        Some(self.uncertain(label, barred, expectations))
    }

    /// Sees to it that no search goes on without end: where places lead back to themselves, each round must hold one
    /// that is proved to be completed on every stack. The scanner is told of these.
    fn end(&self, proof_steps: usize) -> Option<Diagnostic> {
        let round = self.on_rounds(&|_| false);
        if round.is_empty() {
            return None;
        }
        let lexemes = Lexemes { grammar: self.grammar, scanner: self.scanner, adjacency: self.adjacency };
        let mut places: Vec<(TerminalId, u32)> =
            round.iter().map(|&at| (self.places[at].read, self.places[at].expectations.0)).collect();
        places.sort_unstable();
        places.dedup();
        let proved = always_completable(self.scanner.table(), &lexemes, &places, proof_steps);
        let settled: Vec<(TerminalId, ExpectationsId)> = (places.into_iter().zip(proved))
            .filter(|(_, proved)| *proved)
            .map(|((read, expectations), _)| (read, ExpectationsId(expectations)))
            .collect();
        let is_settled = |at: usize| settled.contains(&(self.places[at].read, self.places[at].expectations));
        let endless =
            self.on_rounds(&is_settled).first().map(|&at| self.unbounded(self.places[at].expectations));
        self.scanner.lookaheads.set_settled(settled);
        endless
    }

    /// The places on a round or behind one, without those that are left out.
    fn on_rounds(&self, left_out: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let kept: Vec<usize> = (0..self.places.len()).filter(|&at| !left_out(at)).collect();
        let mut entries = vec![0usize; self.places.len()];
        kept.iter().flat_map(|&at| &self.next[at]).for_each(|&next| entries[next] += 1);
        let mut free: Vec<usize> = kept.iter().copied().filter(|&at| entries[at] == 0).collect();
        while let Some(at) = free.pop() {
            for &next in &self.next[at] {
                entries[next] -= 1;
                if entries[next] == 0 && !left_out(next) {
                    free.push(next);
                }
            }
        }
        kept.into_iter().filter(|&at| entries[at] > 0).collect()
    }

    fn unbounded(&self, expectations: ExpectationsId) -> Diagnostic {
        let word = self.word(expectations);
        Diagnostic::error(
            "unbounded-lookahead",
            format!("what {} is may depend on word after word behind it, without bound", self.name(word)),
        )
        .at(word.and_then(|word| self.grammar.terminals[word.index()].place.clone()))
        .help("where a list names a word that has a %lookahead itself, let it name what that word is elsewhere, too")
    }

    fn uncertain(&self, last: TerminalId, next: TerminalId, expectations: ExpectationsId) -> Diagnostic {
        let word = self.word(expectations);
        Diagnostic::error(
            "dead-end",
            format!(
                "what {} is depends on the lexemes behind it, and {} is not sure to be able to follow {} there, because \
                 lexemes run into one another",
                self.name(word),
                self.name(Some(next)),
                self.name(Some(last))
            ),
        )
        .at(word.and_then(|word| self.grammar.terminals[word.index()].place.clone()))
        .help("let an ignored terminal (white space) stand between the lexemes")
    }

    fn word(&self, expectations: ExpectationsId) -> Option<TerminalId> {
        self.scanner.lookaheads.about(expectations)
    }

    fn name(&self, terminal: Option<TerminalId>) -> &str {
        terminal.map_or("a word", |terminal| self.scanner.table().terminal_name(terminal))
    }
}
