//! What the proof that every stack can be completed knows of lexemes: which may follow which, and what words ask of
//! the lexemes behind them.
//!
//! A way to complete a stack is made of plain lexemes, each labelled with the terminal that it stands for. A word that
//! what stands around it decides about may be one, where its `after` is met; then those behind it must meet its lists.
//! As the other terminal it is used only where that has no lexemes of its own, or where words ask for the word.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::adjacency::Adjacency;
use crate::lr::derivations::{After, Node, Place, Succession};
use crate::scanner::Lexis;
use crate::scanner::lookahead::ExpectationsId;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// The lexemes of a grammar, for the proof.
pub(super) struct Lexemes<'a> {
    lexis: &'a Lexis,
    adjacency: &'a Adjacency,
    places: Vec<Behind>,
    /// By place: what may follow. Where no words ask for anything, places with the same row are one.
    rows: Vec<BitSet>,
    by_row: HashMap<BitSet, Place, FxBuildHasher>,
    numbers: HashMap<Behind, Place, FxBuildHasher>,
}

/// Where a lexeme may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Behind {
    /// The last terminal that the parser has taken; `None` at the beginning of the text.
    pub(super) taken: Option<TerminalId>,
    /// The ignored terminal that the last lexeme is, if it is one.
    pub(super) ignored: Option<TerminalId>,
    /// What words ask.
    pub(super) asked: ExpectationsId,
}

impl<'a> Lexemes<'a> {
    /// Those of `lexis`, by the relation of what may follow what.
    pub(super) fn new(lexis: &'a Lexis, adjacency: &'a Adjacency) -> Self {
        let (places, rows) = (Vec::new(), Vec::new());
        Self { lexis, adjacency, places, rows, by_row: HashMap::default(), numbers: HashMap::default() }
    }

    /// The number of a place.
    pub(super) fn place(&mut self, behind: Behind) -> Place {
        if let Some(&known) = self.numbers.get(&behind) {
            return known;
        }
        let row = self.row(behind);
        let next = self.places.len() as Place;
        let place = match self.lexis.lookaheads.is_empty() {
            true => *self.by_row.entry(row.clone()).or_insert(next),
            false => next,
        };
        if place == next {
            self.places.push(behind);
            self.rows.push(row);
        }
        self.numbers.insert(behind, place);
        place
    }

    fn row(&self, Behind { taken, ignored, .. }: Behind) -> BitSet {
        let count = self.lexis.table.end().index() + 1;
        let mut row = BitSet::new(count);
        for next in (0..count).map(TerminalId::new) {
            if self.adjacency.may_follow(taken, ignored, next) {
                row.insert(next.index());
            }
        }
        row
    }

    /// A place behind which whatever may stand anywhere may stand, if there is one.
    pub(super) fn best(&mut self) -> Option<Place> {
        let count = self.lexis.terminal_count();
        for terminal in
            (0..count).map(TerminalId::new).filter(|&terminal| self.adjacency.is_possible(terminal))
        {
            self.place(Behind { taken: Some(terminal), ignored: None, asked: ExpectationsId::NONE });
        }
        (0..self.places.len() as Place).find(|&place| self.is_best(place))
    }
}

impl Succession for Lexemes<'_> {
    fn after(&mut self, place: Place, next: TerminalId, _: Node) -> SmallVec<[After; 2]> {
        let none = Behind { taken: Some(next), ignored: None, asked: ExpectationsId::NONE };
        if self.lexis.lookaheads.is_empty() {
            let follows = self.rows[place as usize].contains(next.index());
            return follows.then(|| After::Place(self.place(none))).into_iter().collect();
        }
        let asked = self.asked_after(self.places[place as usize], next);
        asked.into_iter().map(|asked| After::Place(self.place(Behind { asked, ..none }))).collect()
    }

    fn leave(&mut self, place: Place, _: Place) -> Place {
        place
    }

    fn outside(&mut self, place: Place, _: u32) -> Place {
        place
    }

    fn bracket(&self, _: TerminalId) -> i32 {
        0
    }

    fn may_end(&mut self, place: Place) -> bool {
        let end = self.lexis.table.end().index();
        let asked = self.places[place as usize].asked;
        self.rows[place as usize].contains(end) && self.lexis.lookaheads.facts(asked).may_end
    }

    fn is_best(&self, place: Place) -> bool {
        let row = &self.rows[place as usize];
        let all = (0..=self.lexis.terminal_count()).map(TerminalId::new);
        self.lexis.lookaheads.is_empty()
            && all.clone().all(|next| row.contains(next.index()) || !self.adjacency.is_possible(next))
            && row.contains(self.lexis.table.end().index())
    }

    fn covers(&self, place: Place, other: Place) -> bool {
        place == other
            || self.lexis.lookaheads.is_empty()
                && self.rows[other as usize].is_subset(&self.rows[place as usize])
    }
}

impl Lexemes<'_> {
    /// What is asked behind `next`, one for each way in which a lexeme of it can always be made to follow.
    fn asked_after(
        &self,
        Behind { taken, ignored, asked }: Behind,
        next: TerminalId,
    ) -> SmallVec<[ExpectationsId; 2]> {
        let lookaheads = &self.lexis.lookaheads;
        let mut after = SmallVec::new();
        let mut read = |label: TerminalId, must_hold: bool| {
            if !self.adjacency.may_follow(taken, ignored, label) {
                return;
            }
            let Some(advanced) = lookaheads.advance(asked, label) else { return };
            let decided = lookaheads.word(label).is_some_and(|word| word.may_follow(taken));
            let expectation = decided.then(|| lookaheads.expect(label, must_hold));
            after.push(lookaheads.add(advanced, expectation));
        };
        if lookaheads.word(next).is_none_or(|word| word.may_follow(taken)) {
            read(next, true);
        }
        // Where an exclusive terminal can stand, words that cannot do not compete.
        let always_compete = !self.lexis.companies.iter().any(|company| company.contains(next.index()));
        let nothing_asked = asked == ExpectationsId::NONE;
        if always_compete && (!nothing_asked || !self.adjacency.may_follow(None, None, next)) {
            for (label, _) in lookaheads.words().filter(|(_, word)| word.other == next) {
                read(label, false);
            }
        }
        after
    }
}
