//! Words whose reading depends on the lexemes around them: `%lookahead`.
//!
//! Whether such a word is itself is known only when the lexemes after it have ended. Until then
//! each reading carries an *expectation*: that the following labels match the word's lists if it
//! was read as itself, or that they do not if it was read as the other terminal. Each lexeme that
//! ends advances the expectations by its label: one more list is met, or the expectation is
//! decided. Expectations look at labels, not bytes, so they are kept apart from the obligations of
//! longest match, and no fact about scan states depends on them.

use smallvec::SmallVec;

use super::{Context, Layout, ObligationsId, Reads, Scanner};
use crate::grammar::ir::Grammar;
use crate::lr::stack::Stack;
use crate::util::append::{Interner, Slots};
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// The requirement of an ended word on the labels after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Expectation {
    pub(super) word: TerminalId,
    /// Number of its lists that have been met.
    pub(super) met: u32,
    /// Whether all lists must be met; if not, at least one must be missed.
    pub(super) must_hold: bool,
}

/// A terminal that a lexeme is read as, and its requirement on the labels after it.
pub(crate) type Reading = (TerminalId, Option<Expectation>);

/// Expectations that are open together; ascending, without duplicates.
type Expectations = SmallVec<[Expectation; 2]>;

/// An interned set of expectations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ExpectationsId(pub(crate) u32);

impl ExpectationsId {
    /// No expectations.
    pub(crate) const NONE: Self = Self(0);
}

/// The state of a text between two lexemes.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    pub(crate) stack: Stack,
    /// Empty in grammars with such words: the check rejects the combination.
    pub(crate) layout: Layout,
    pub(crate) expectations: ExpectationsId,
}

/// A word, and the lexemes that its reading depends on.
#[derive(Debug)]
pub(super) struct Word {
    /// The terminal that it is otherwise.
    pub(super) other: TerminalId,
    /// The terminals that the last lexeme must have been read as.
    after: Option<BitSet>,
    /// By position after the word: the labels that meet the list.
    pub(super) before: Vec<BitSet>,
}

/// The meaning of a set of expectations for the next label that is not ignored.
#[derive(Debug)]
pub(super) struct Facts {
    /// The labels that break none of them.
    pub(super) permitted: BitSet,
    /// The labels, other than words, after which nothing is expected any more. They include the
    /// ignored ones if nothing is expected now.
    pub(super) settling: BitSet,
    /// Whether the text may end.
    pub(super) may_end: bool,
}

/// The words of a grammar, and the expectations met so far.
#[derive(Debug)]
pub(super) struct Lookaheads {
    /// By terminal.
    pub(super) words: Vec<Option<Word>>,
    any: bool,
    ignored: BitSet,
    pub(super) expectations: Interner<Expectations>,
    facts: Slots<Facts>,
}

impl Word {
    /// Returns whether the word may be itself after a lexeme that was read as `last`.
    pub(super) fn may_follow(&self, last: Option<TerminalId>) -> bool {
        let Some(after) = &self.after else { return true };
        last.is_some_and(|last| after.contains(last.index()))
    }
}

impl Lookaheads {
    /// Collects the words of `grammar`.
    pub(super) fn new(grammar: &Grammar) -> Self {
        let count = grammar.terminals.len();
        let set = |list: &Vec<TerminalId>| {
            let mut set = BitSet::new(count);
            list.iter().for_each(|terminal| {
                set.insert(terminal.index());
            });
            set
        };
        // A terminal in a list also stands for the words that may fall back to it.
        let labels = |list: &Vec<TerminalId>| {
            let mut labels = set(list);
            for (index, terminal) in grammar.terminals.iter().enumerate() {
                if terminal.fallback.is_some_and(|fallback| list.contains(&fallback.terminal)) {
                    labels.insert(index);
                }
            }
            labels
        };
        let words: Vec<Option<Word>> = (grammar.terminals.iter())
            .map(|terminal| {
                let lookahead = terminal.lookahead.as_ref()?;
                Some(Word {
                    other: lookahead.other,
                    after: lookahead.after.as_ref().map(set),
                    before: lookahead.before.iter().map(labels).collect(),
                })
            })
            .collect();
        let mut ignored = BitSet::new(count);
        for (index, _) in
            grammar.terminals.iter().enumerate().filter(|(_, terminal)| terminal.ignored)
        {
            ignored.insert(index);
        }
        let expectations = Interner::default();
        expectations.intern(Expectations::new());
        let any = words.iter().any(Option::is_some);
        Self { words, any, ignored, expectations, facts: Slots::default() }
    }

    /// Returns whether the grammar has no such words.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        !self.any
    }

    /// Returns the word that a terminal is, if it is one.
    #[inline]
    pub(super) fn word(&self, terminal: TerminalId) -> Option<&Word> {
        self.words[terminal.index()].as_ref()
    }

    /// Returns all words.
    pub(super) fn words(&self) -> impl Iterator<Item = (TerminalId, &Word)> {
        let words = self.words.iter().enumerate();
        words.filter_map(|(index, word)| Some((TerminalId::new(index), word.as_ref()?)))
    }

    /// Returns whether a lexeme of some word may be read as `terminal` elsewhere.
    pub(super) fn is_other(&self, terminal: TerminalId) -> bool {
        self.words().any(|(_, word)| word.other == terminal)
    }

    /// Returns the readings of a word if the stack can shift the terminals in `acceptable` and has
    /// shifted `last` last.
    pub(super) fn readings(
        &self,
        label: TerminalId,
        acceptable: &BitSet,
        last: Option<TerminalId>,
    ) -> SmallVec<[Reading; 2]> {
        let mut readings = SmallVec::new();
        let Some(word) = self.word(label) else { return readings };
        let may_be_itself = word.may_follow(last);
        if may_be_itself && acceptable.contains(label.index()) {
            readings.push((label, Some(self.expect(label, true))));
        }
        if acceptable.contains(word.other.index()) {
            readings.push((word.other, may_be_itself.then(|| self.expect(label, false))));
        }
        readings
    }

    /// Returns the expectation of `word` when it has just ended.
    pub(super) fn expect(&self, word: TerminalId, must_hold: bool) -> Expectation {
        Expectation { word, met: 0, must_hold }
    }

    /// Returns the expectations after a lexeme with this label, which is not ignored; `None` if one
    /// is broken.
    #[inline]
    pub(super) fn advance(&self, id: ExpectationsId, label: TerminalId) -> Option<ExpectationsId> {
        if id == ExpectationsId::NONE { Some(id) } else { self.advance_open(id, label) }
    }

    fn advance_open(&self, id: ExpectationsId, label: TerminalId) -> Option<ExpectationsId> {
        let mut after = Expectations::new();
        for &expectation in self.expectations.get(id.0) {
            let Some(word) = self.word(expectation.word) else { continue };
            let met = expectation.met as usize;
            let meets = word.before[met].contains(label.index());
            let last = met + 1 == word.before.len();
            match (meets, last, expectation.must_hold) {
                (false, _, true) | (true, true, false) => return None,
                (false, _, false) | (true, true, true) => {}
                (true, false, _) => {
                    after.push(Expectation { met: expectation.met + 1, ..expectation });
                }
            }
        }
        Some(self.intern(after))
    }

    /// Adds an expectation to `id`.
    pub(super) fn add(
        &self,
        id: ExpectationsId,
        expectation: Option<Expectation>,
    ) -> ExpectationsId {
        let Some(expectation) = expectation else { return id };
        let mut all = self.expectations.get(id.0).clone();
        all.push(expectation);
        self.intern(all)
    }

    fn intern(&self, mut all: Expectations) -> ExpectationsId {
        all.sort_unstable();
        all.dedup();
        if all.is_empty() {
            ExpectationsId::NONE
        } else {
            ExpectationsId(self.expectations.intern(all))
        }
    }

    /// Returns the meaning of a set of expectations.
    pub(super) fn facts(&self, id: ExpectationsId) -> &Facts {
        self.facts.get_or_init(id.0, || {
            let mut permitted = BitSet::new(self.words.len());
            let mut settling = BitSet::new(self.words.len());
            for label in 0..self.words.len() {
                let after = match self.ignored.contains(label) {
                    true => Some(id),
                    false => self.advance(id, TerminalId::new(label)),
                };
                if after.is_some() {
                    permitted.insert(label);
                }
                if after == Some(ExpectationsId::NONE) && self.words[label].is_none() {
                    settling.insert(label);
                }
            }
            let may_end =
                !self.expectations.get(id.0).iter().any(|expectation| expectation.must_hold);
            Facts { permitted, settling, may_end }
        })
    }
}

impl Scanner {
    /// Does what [`Scanner::after_lexeme`] does if the grammar has `%lookahead` words; the label is
    /// not ignored.
    pub(super) fn after_lexeme_among_words(
        &self,
        stack: &Stack,
        expectations: ExpectationsId,
        label: TerminalId,
        reads: &mut Reads,
        emit: &mut dyn FnMut(Between, &mut Reads),
    ) {
        let Some(expectations) = self.lexis.lookaheads.advance(expectations, label) else {
            return;
        };
        let context = self.context(stack, reads);
        let last = stack.last_terminal(self.table());
        for (terminal, expectation) in self.lexis.readings(label, &context.acceptable, last) {
            let expectations = self.lexis.lookaheads.add(expectations, expectation);
            for stack in stack.feed(self.table(), terminal, reads) {
                emit(Between { stack, layout: Layout::NONE, expectations }, reads);
            }
        }
    }

    /// Adds the terminals that a lexeme starting at `from` may be read as, and the end of the text.
    pub(crate) fn next_terminals(&self, from: &Between, next: &mut BitSet) {
        for context in self.contexts_at(&from.stack, &from.layout, &mut Reads::none()) {
            if self.lexis.lookaheads.is_empty() || self.states().has_past() {
                next.union_with(&context.acceptable);
            } else {
                self.next_terminals_among_words(from, context, next);
            }
        }
    }

    fn next_terminals_among_words(&self, from: &Between, context: &Context, next: &mut BitSet) {
        let facts = self.lexis.lookaheads.facts(from.expectations);
        let end = self.table().end().index();
        if facts.may_end && context.acceptable.contains(end) {
            next.insert(end);
        }
        let reach = self.states().label_set(self.states().reach(context.start));
        let labels = reach.iter().filter(|&label| !self.lexis.ignored.contains(label));
        for label in labels.map(TerminalId::new) {
            let Between { stack, layout, expectations } = from;
            let reads = &mut Reads::none();
            self.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, reads| {
                let read = after.stack.last_terminal(self.table());
                let can_be = |_: &_| self.can_be_completed(&after, ObligationsId::NONE, reads);
                if let Some(read) = read.filter(can_be) {
                    next.insert(read.index());
                }
            });
        }
    }
}
