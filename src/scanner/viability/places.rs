//! The exact state between two lexemes, as far as it matters to what may follow, including the
//! obligations of earlier lexemes.

use std::cell::Cell;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::lines::Line;
use crate::lr::derivations::{After, LexicalStateId, Node, Succession};
use crate::scanner::lookahead::{Expectation, ExpectationsId};
use crate::scanner::{Context, ObligationsId, Scanner};
use crate::util::id::{ParseStateId, ScanStateId, TerminalId};

/// The state between two lexemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LexicalState {
    /// The terminals that the stack can shift, as the number of an acceptable set; `None` if the
    /// lexer does not depend on it.
    pub(super) acceptable: Option<u32>,
    pub(super) obligations: ObligationsId,
    pub(super) expectations: ExpectationsId,
    /// The last terminal shifted, if words depend on it.
    pub(super) last: Option<TerminalId>,
    pub(super) line: Line,
}

/// The places met so far.
#[derive(Debug, Default)]
pub(super) struct Places {
    all: Vec<LexicalState>,
    numbers: HashMap<LexicalState, LexicalStateId, FxBuildHasher>,
    ways: HashMap<LexicalStateId, NextLexemes, FxBuildHasher>,
    /// Whether some ways may be missing, so that a negative result is not certain.
    are_cut: bool,
}

/// The ways in which a text may go on at a place.
#[derive(Clone, Debug)]
struct NextLexemes {
    ways: Arc<[NextLexeme]>,
    /// Whether the text may end, possibly after lexemes that have no effect.
    may_end: bool,
}

/// A next lexeme that is not ignored.
#[derive(Debug)]
struct NextLexeme {
    label: TerminalId,
    /// Whether it is possible after all obligations have been discharged.
    is_clean: bool,
    /// The obligations that may be open after it.
    open: SmallVec<[ObligationsId; 2]>,
}

impl Places {
    /// Returns the number of a state.
    pub(super) fn place(&mut self, held: LexicalState) -> LexicalStateId {
        let next = self.all.len() as LexicalStateId;
        let place = *self.numbers.entry(held).or_insert(next);
        if place == next {
            self.all.push(held);
        }
        place
    }

    /// Returns whether a negative result is certain.
    pub(super) fn are_whole(&self) -> bool {
        !self.are_cut
    }

    /// Returns the number of places.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// The places of a scanner.
pub(super) struct Exactly<'a> {
    pub(super) scanner: &'a Scanner,
    pub(super) places: &'a mut Places,
    /// Whether the lexer depends on the terminals that a stack can shift.
    pub(super) in_context: bool,
    work: Work,
}

/// The work of answering.
pub(super) struct Work {
    /// Steps that are left for looking at lexemes.
    left: usize,
    /// Those that were left at the last [`Succession::take_spent`].
    charged: usize,
    comparisons: Cell<usize>,
}

/// Comparisons of obligations that count as one step.
pub(super) const COMPARISONS: usize = 16;

impl Work {
    fn take_spent(&mut self) -> usize {
        if self.left == 0 {
            return usize::MAX;
        }
        let rest = self.comparisons.get() % COMPARISONS;
        let compared = self.comparisons.replace(rest) / COMPARISONS;
        let looked = std::mem::replace(&mut self.charged, self.left) - self.left;
        compared + looked
    }
}

impl<'a> Exactly<'a> {
    /// Creates the places of a scanner, for a decision of this many steps.
    pub(super) fn new(
        scanner: &'a Scanner,
        places: &'a mut Places,
        in_context: bool,
        steps: usize,
    ) -> Self {
        let work = Work { left: steps, charged: steps, comparisons: Cell::new(0) };
        Self { scanner, places, in_context, work }
    }

    /// Returns how many of its `steps` the decision has spent on lexemes.
    pub(super) fn looked(&self, steps: usize) -> usize {
        steps - self.work.left
    }

    /// Returns whether one of `by` leaves no more open than `open`.
    fn is_covered(&self, by: &[ObligationsId], open: ObligationsId) -> bool {
        by.iter().any(|&less| self.scanner.is_within(less, open, &self.work.comparisons))
    }

    fn context(&self, held: &LexicalState) -> Option<&Context> {
        let is_loose = matches!(held.line, Line::Brackets | Line::Begin { .. } | Line::Indented);
        let set = held.acceptable?;
        Some(if is_loose {
            self.scanner.loose_context_of(set)
        } else {
            self.scanner.context_of(set)
        })
    }

    /// Returns the scan state where the next lexeme starts, without the effect of the preceding
    /// text.
    fn start(&self, held: &LexicalState) -> ScanStateId {
        let everywhere = || self.scanner.lexis.candidate_starts.ordinary[0];
        self.context(held).map_or_else(everywhere, |context| context.start)
    }

    /// Returns whether a lexeme with this label has no effect here.
    fn is_passed_over(&self, held: &LexicalState, label: TerminalId) -> bool {
        let is_newline = || self.scanner.indentation().is_some_and(|lines| lines.newline == label);
        self.scanner.is_ignored(label)
            || !matches!(held.line, Line::None | Line::Inside) && is_newline()
    }

    /// Returns the possible next lexemes, after any number of those that have no effect.
    fn ways(&mut self, place: LexicalStateId) -> NextLexemes {
        if let Some(known) = self.places.ways.get(&place) {
            return known.clone();
        }
        let held = self.places.all[place as usize];
        let start = self.start(&held);
        let scanner = self.scanner;
        let mut ways: Vec<NextLexeme> = Vec::new();
        let mut before: Vec<ObligationsId> = vec![held.obligations];
        let mut at = 0;
        while let Some(&obligations) = before.get(at) {
            at += 1;
            let (state, obligations) = scanner.begin(start, obligations);
            let point = scanner.point(state, obligations);
            let clean = scanner.clean_labels(point, &mut self.work.left);
            let found = scanner.ends(point, &mut self.work.left);
            self.places.are_cut |= !found.is_whole && self.work.left > 0;
            for &(label, open) in found.ends {
                if self.is_passed_over(&held, label) {
                    if !self.is_covered(&before, open) {
                        before.push(open);
                    }
                    continue;
                }
                let is_clean = clean.contains(label.index());
                match ways.iter_mut().find(|way| way.label == label) {
                    Some(way) => {
                        way.is_clean |= is_clean;
                        if !self.is_covered(&way.open, open) {
                            way.open.push(open);
                        }
                    }
                    None => {
                        let open = SmallVec::from_iter([open]);
                        ways.push(NextLexeme { label, is_clean, open });
                    }
                }
            }
        }
        let may_end = before.iter().any(|&obligations| self.scanner.may_end_with(obligations));
        let ways = NextLexemes { ways: ways.into(), may_end };
        if self.work.left > 0 {
            self.places.ways.insert(place, ways.clone());
        }
        ways
    }

    /// Returns the expectations after a lexeme with this label that is read as `terminal`; `None`
    /// if that is not possible.
    fn read(
        &self,
        held: &LexicalState,
        label: TerminalId,
        terminal: TerminalId,
    ) -> Option<ExpectationsId> {
        let lexis = &self.scanner.lexis;
        let mut expectation: Option<Expectation> = None;
        if let Some(word) = lexis.lookaheads.word(label) {
            let may_be_itself = word.may_follow(held.last);
            if terminal == label && may_be_itself {
                expectation = Some(lexis.lookaheads.expect(label, true));
            } else if terminal == word.other {
                expectation = may_be_itself.then(|| lexis.lookaheads.expect(label, false));
            } else {
                return None;
            }
        } else if terminal != label && !lexis.meant[label.index()].contains(&terminal) {
            let fallback =
                lexis.fallbacks[label.index()].filter(|fallback| fallback.terminal == terminal)?;
            let stands = || {
                self.context(held).is_some_and(|context| context.acceptable.contains(label.index()))
            };
            if !fallback.soft && stands() {
                return None;
            }
        }
        let advanced = lexis.lookaheads.advance(held.expectations, label)?;
        Some(lexis.lookaheads.add(advanced, expectation))
    }
}

impl Succession for Exactly<'_> {
    fn after(
        &mut self,
        place: LexicalStateId,
        next: TerminalId,
        onto: Node,
    ) -> SmallVec<[After; 2]> {
        let held = self.places.all[place as usize];
        let mut after = SmallVec::new();
        let Some((line, is_lexeme)) = self.scanner.line_after(held.line, next) else {
            return after;
        };
        let table = self.scanner.table();
        let acceptable = self.in_context.then(|| table.acceptable_in(ParseStateId(onto.0)));
        let last = held.last.is_some() || !self.scanner.lexis.lookaheads.is_empty();
        let behind = LexicalState { acceptable, last: last.then_some(next), line, ..held };
        if !is_lexeme {
            after.push(After::State(self.places.place(behind)));
            return after;
        }
        for way in self.ways(place).ways.iter() {
            let Some(expectations) = self.read(&held, way.label, next) else { continue };
            let is_sure = self.scanner.proof.sure.contains(way.label.index());
            let has_room = self.scanner.indentation().is_none_or(|lines| !lines.is_limited());
            if way.is_clean && is_sure && has_room && expectations == ExpectationsId::NONE {
                return SmallVec::from_iter([After::Settled]);
            }
            for &obligations in &way.open {
                let behind = LexicalState { obligations, expectations, ..behind };
                after.push(After::State(self.places.place(behind)));
            }
        }
        if self.scanner.ends_last_line(held.line, next) {
            after.push(After::State(self.places.place(LexicalState {
                line: Line::End,
                acceptable,
                ..held
            })));
        }
        after
    }

    fn leave(&mut self, place: LexicalStateId, before: LexicalStateId) -> LexicalStateId {
        let line = self.places.all[before as usize].line.behind();
        self.places.place(LexicalState { line, ..self.places.all[place as usize] })
    }

    fn outside(&mut self, place: LexicalStateId, brackets: u32) -> LexicalStateId {
        let line = self.places.all[place as usize].line;
        if line == Line::None {
            return place;
        }
        // Only the line is used.
        let nothing = LexicalState {
            acceptable: None,
            obligations: ObligationsId::NONE,
            expectations: ExpectationsId::NONE,
            last: None,
            line: line.outside(brackets),
        };
        self.places.place(nothing)
    }

    fn bracket(&self, terminal: TerminalId) -> i32 {
        self.scanner.bracket(terminal)
    }

    fn may_end(&mut self, place: LexicalStateId) -> bool {
        let held = self.places.all[place as usize];
        held.line.may_end()
            && self.scanner.lexis.lookaheads.facts(held.expectations).may_end
            && (self.scanner.may_end_with(held.obligations) || self.ways(place).may_end)
    }

    fn is_best(&self, _: LexicalStateId) -> bool {
        false
    }

    fn covers(&self, place: LexicalStateId, other: LexicalStateId) -> bool {
        let (held, other) = (&self.places.all[place as usize], &self.places.all[other as usize]);
        let alike = LexicalState { obligations: held.obligations, ..*other } == *held;
        let comparisons = &self.work.comparisons;
        comparisons.set(comparisons.get() + 1);
        alike && self.scanner.is_within(held.obligations, other.obligations, comparisons)
    }

    fn take_spent(&mut self) -> usize {
        self.work.take_spent()
    }
}
