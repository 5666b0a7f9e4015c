//! Lexemes as the proof that every stack can be completed sees them: which may follow which, and
//! the requirements of words on the lexemes after them.
//!
//! A completion of a stack consists of plain lexemes, each labelled with its own terminal. A
//! `%lookahead` word may be among them where its `after` is met; then the lexemes after it must
//! match its lists. It is used as the other terminal only if that one has no lexemes of its own, or
//! if words require the word.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::adjacency::Adjacency;
use crate::lr::derivations::{After, LexicalStateId, Node, Succession};
use crate::scanner::Lexis;
use crate::scanner::lookahead::ExpectationsId;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// The lexemes of a grammar, for the proof.
pub(super) struct Lexemes<'a> {
    lexis: &'a Lexis,
    adjacency: &'a Adjacency,
    places: Vec<Ahead>,
    by_ahead: HashMap<Ahead, LexicalStateId, FxBuildHasher>,
    numbers: HashMap<Behind, LexicalStateId, FxBuildHasher>,
}

/// The relevant facts of a place. Places with equal facts are merged.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Ahead {
    /// The terminals that may follow.
    row: BitSet,
    /// The words that the preceding terminal allows here.
    words: BitSet,
    /// The requirements of words.
    asked: ExpectationsId,
}

/// Where a lexeme may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Behind {
    /// The last terminal that the parser has taken; `None` at the beginning of the text.
    pub(super) taken: Option<TerminalId>,
    /// The ignored terminal of the last lexeme, if it is one.
    pub(super) ignored: Option<TerminalId>,
    /// The requirements of words.
    pub(super) asked: ExpectationsId,
}

impl<'a> Lexemes<'a> {
    /// Creates the lexemes of `lexis` with this relation between neighbours.
    pub(super) fn new(lexis: &'a Lexis, adjacency: &'a Adjacency) -> Self {
        let (by_ahead, numbers) = (HashMap::default(), HashMap::default());
        Self { lexis, adjacency, places: Vec::new(), by_ahead, numbers }
    }

    /// Returns the number of a place.
    pub(super) fn place(&mut self, behind: Behind) -> LexicalStateId {
        if let Some(&known) = self.numbers.get(&behind) {
            return known;
        }
        let ahead = self.ahead(behind);
        let next = self.places.len() as LexicalStateId;
        let place = *self.by_ahead.entry(ahead.clone()).or_insert(next);
        if place == next {
            self.places.push(ahead);
        }
        self.numbers.insert(behind, place);
        place
    }

    fn ahead(&self, Behind { taken, ignored, asked }: Behind) -> Ahead {
        let row = self.adjacency.followers(taken, ignored);
        let lookaheads = &self.lexis.lookaheads;
        // Without words, the empty set takes no room.
        let bound = if lookaheads.is_empty() { 0 } else { self.lexis.terminal_count() };
        let mut words = BitSet::new(bound);
        for (label, _) in lookaheads.words().filter(|(_, word)| word.may_follow(taken)) {
            words.insert(label.index());
        }
        Ahead { row, words, asked }
    }

    /// Returns a place after which everything that may appear anywhere may follow, if there is one,
    /// apart from words with an `after`.
    pub(super) fn best(&mut self) -> Option<LexicalStateId> {
        let count = self.lexis.terminal_count();
        for terminal in
            (0..count).map(TerminalId::new).filter(|&terminal| self.adjacency.is_possible(terminal))
        {
            self.place(Behind {
                taken: Some(terminal),
                ignored: None,
                asked: ExpectationsId::NONE,
            });
        }
        (0..self.places.len() as LexicalStateId).find(|&place| self.is_best(place))
    }
}

impl Succession for Lexemes<'_> {
    fn after(&mut self, place: LexicalStateId, next: TerminalId, _: Node) -> SmallVec<[After; 2]> {
        let none = Behind { taken: Some(next), ignored: None, asked: ExpectationsId::NONE };
        if self.lexis.lookaheads.is_empty() {
            let follows = self.places[place as usize].row.contains(next.index());
            return follows.then(|| After::State(self.place(none))).into_iter().collect();
        }
        let asked = self.asked_after(&self.places[place as usize], next);
        asked.into_iter().map(|asked| After::State(self.place(Behind { asked, ..none }))).collect()
    }

    fn leave(&mut self, place: LexicalStateId, _: LexicalStateId) -> LexicalStateId {
        place
    }

    fn outside(&mut self, place: LexicalStateId, _: u32) -> LexicalStateId {
        place
    }

    fn bracket(&self, _: TerminalId) -> i32 {
        0
    }

    fn may_end(&mut self, place: LexicalStateId) -> bool {
        let Ahead { row, asked, .. } = &self.places[place as usize];
        row.contains(self.lexis.table.end().index()) && self.lexis.lookaheads.facts(*asked).may_end
    }

    fn is_best(&self, place: LexicalStateId) -> bool {
        let Ahead { row, asked, .. } = &self.places[place as usize];
        *asked == ExpectationsId::NONE && self.adjacency.is_all(row)
    }

    fn covers(&self, place: LexicalStateId, other: LexicalStateId) -> bool {
        let (this, less) = (&self.places[place as usize], &self.places[other as usize]);
        place == other
            || this.asked == ExpectationsId::NONE
                && less.row.is_subset(&this.row)
                && less.words.is_subset(&this.words)
    }
}

impl Lexemes<'_> {
    /// Returns the requirements after `next`, one for each way in which a lexeme of it can always
    /// be made to follow.
    fn asked_after(&self, ahead: &Ahead, next: TerminalId) -> SmallVec<[ExpectationsId; 2]> {
        let Ahead { row, words, asked } = ahead;
        let lookaheads = &self.lexis.lookaheads;
        let may_be_itself = |label: TerminalId| words.contains(label.index());
        let mut after = SmallVec::new();
        let mut read = |label: TerminalId, must_hold: bool| {
            if !row.contains(label.index()) {
                return;
            }
            let Some(advanced) = lookaheads.advance(*asked, label) else { return };
            let decided = may_be_itself(label);
            let expectation = decided.then(|| lookaheads.expect(label, must_hold));
            after.push(lookaheads.add(advanced, expectation));
        };
        if lookaheads.word(next).is_none() || may_be_itself(next) {
            read(next, true);
        }
        // Where an exclusive terminal is possible, words that are not possible there do not
        // compete.
        let always_compete =
            !self.lexis.candidate_sets.iter().any(|candidates| candidates.contains(next.index()));
        let nothing_asked = *asked == ExpectationsId::NONE;
        if always_compete && (!nothing_asked || !self.adjacency.may_follow(None, None, next)) {
            for (label, _) in lookaheads.words().filter(|(_, word)| word.other == next) {
                read(label, false);
            }
        }
        after
    }
}
