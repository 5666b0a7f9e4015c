//! The scanner: the meaning of the bytes of a text for a parse stack. This is the one place that
//! defines longest match, labels, ignored terminals, reserved words and fallback words.
//!
//! # The meaning
//!
//! Where a lexeme starts on parse stack `g`, the *candidates* are all terminals (`basic`), or those
//! that `g` can really shift, the ignored ones, and every word reserved against one of these
//! (`contextual`); exclusive ones are not among them. If `g` can shift an *exclusive* terminal,
//! however, the candidates are the terminals that `g` can shift, under either lexer, and nothing is
//! ignored. The lexeme is the longest text that a candidate matches; its *label* is the accepting
//! candidate of least rank. The label has *readings*: an ignored terminal leaves the stack alone; a
//! `%fallback` word is itself where the stack can shift it and the other terminal elsewhere; a
//! `%soft` word is whichever of the two the stack can shift, or both; the reading of a `%lookahead`
//! word depends on the lexemes around it ([`lookahead`]). A reading that the stack cannot shift
//! does not count.
//!
//! # Longest match as obligations
//!
//! Only later bytes show whether a lexeme has ended, because a longer match may follow: `1e` may
//! become `1e5`, or be `1` and the start of `else`. So ending a lexeme in scan state `q` leaves an
//! *obligation*: read from `q`, the rest of the text must not lead to an accept. An obligation is
//! discharged when its state dies, or at the end of the text; it is broken when its state accepts.
//! This expresses longest match and backing up in one rule, and keeps it exact while the outcome is
//! open. In most languages nearly every obligation dies on the next byte.

mod budget;
mod budgets;
mod candidate_sets;
mod candidates;
pub(crate) mod check;
pub(crate) mod configuration;
mod discharge;
mod distinct;
mod given;
mod in_lines;
mod indentation;
mod item_trie;
mod layout;
mod lexis;
mod lines;
pub(crate) mod lookahead;
mod obligations;
mod one_way;
pub(crate) mod product_state;
mod proof;
mod reads;
mod rule_attributes;
pub(crate) mod self_loops;
mod size;
mod states;
mod step;
mod subsumption;
mod utf8_units;
mod viability;

use std::sync::OnceLock;

use smallvec::SmallVec;

pub(crate) use crate::grammar::ir::Distinct;
use crate::lr::minimal_completion::MinimalCompletion;
use crate::lr::stack::Stack;
use crate::lr::table::ParseTable;
use crate::util::append::Slots;
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

use discharge::Discharges;
pub(crate) use distinct::{Lexeme, LexemeCounts};
pub(crate) use indentation::Indentation;
pub(crate) use item_trie::Seen;
pub(crate) use layout::Layout;
pub(crate) use lexis::Lexis;
pub(crate) use lines::{Lines, Width, is_blank};
use lookahead::{Between, ExpectationsId};
use obligations::ObligationSets;
pub(crate) use obligations::{Obligations, ObligationsId};
use product_state::Points;
pub(crate) use proof::Proof;
pub(crate) use reads::{Line, Question, Read, Reads, STEPS_OF_FOLLOWING};
pub(crate) use rule_attributes::{Mark, Marks};
pub(crate) use states::ScanStates;
use utf8_units::Utf8Units;
use viability::{Decisions, Ends};

/// The scanner of a grammar: its lexical rules, the facts proved about them, and a cache of
/// everything met so far.
#[derive(Debug)]
pub(crate) struct Scanner {
    lexis: Lexis,
    proof: Proof,
    /// Whether the set of lexemes that a stack takes depends on the stack alone: no lines and no
    /// conditions on the following text.
    stack_tells: bool,
    /// Whether longest match alone ends lexemes, and no lexeme depends on the text before or after
    /// it.
    is_plain: bool,
    /// By id of the acceptable set.
    contexts: Slots<Context>,
    /// By id of the acceptable set: contexts where a line begins and between brackets.
    loose_contexts: Slots<Context>,
    /// Id of the set of no terminals.
    nothing: u32,
    obligations: ObligationSets,
    points: Points,
    /// Computed when a walk first asks for loops.
    pieces: OnceLock<Utf8Units>,
    ends: Ends,
    decisions: Decisions,
    discharges: Discharges,
    bounds: Bounds,
    /// Computed when a text is first to be ended.
    minimal_completion: OnceLock<MinimalCompletion>,
}

/// Limits on the cost of reading a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Steps of one decision whether a text can be completed.
    pub(crate) decision_steps: usize,
    /// Steps of all decisions of one mask.
    pub(crate) mask_steps: usize,
    /// Readings that are kept from one token to the next; at least 1.
    pub(crate) readings: usize,
    /// Steps of following all readings of one text, from its beginning.
    pub(crate) reading_steps: usize,
}

/// The meaning of a set of acceptable terminals for scanning.
#[derive(Debug)]
pub(crate) struct Context {
    /// The terminals (and `$`) that the stack can really shift (accept).
    pub(crate) acceptable: BitSet,
    /// The labels that have a reading; a `%lookahead` word among them may turn out to have none.
    pub(crate) takes: BitSet,
    /// The scan state where the next lexeme starts, without the effect of the preceding text.
    pub(crate) start: ScanStateId,
}

/// The possible labels of a lexeme that ends, each with the obligations it then leaves; nearly
/// always one.
pub(crate) type LexemeEnds = SmallVec<[(TerminalId, ObligationsId); 1]>;

/// The contexts of a text that can go on in several ways with the same stack; nearly always one.
pub(crate) type Contexts<'s> = SmallVec<[&'s Context; 1]>;

impl Scanner {
    /// Creates the scanner of a checked grammar.
    pub(crate) fn new(lexis: Lexis, proof: Proof, bounds: Bounds) -> Self {
        let nothing = lexis.table.acceptable_sets().intern(BitSet::new(lexis.terminal_count() + 1));
        let states = &lexis.states;
        let stack_tells = lexis.indentation.is_none() && !states.has_conditions();
        let is_plain = !states.has_conditions() && !states.has_past() && !states.has_every_match();
        Self {
            lexis,
            proof,
            stack_tells,
            is_plain,
            contexts: Slots::default(),
            loose_contexts: Slots::default(),
            nothing,
            obligations: ObligationSets::new(),
            points: Points::default(),
            pieces: OnceLock::new(),
            ends: Ends::default(),
            decisions: Decisions::default(),
            discharges: Discharges::default(),
            bounds,
            minimal_completion: OnceLock::new(),
        }
    }

    /// Returns the limits on the cost of reading a text.
    pub(crate) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns the lexical rules of the grammar.
    pub(crate) fn lexis(&self) -> &Lexis {
        &self.lexis
    }

    /// Returns the parse tables.
    #[inline]
    pub(crate) fn table(&self) -> &ParseTable {
        &self.lexis.table
    }

    /// Returns the scan states.
    #[inline]
    pub(crate) fn states(&self) -> &ScanStates {
        &self.lexis.states
    }

    /// Returns the pieces of texts, as far as scan states distinguish them.
    #[inline]
    fn pieces(&self) -> &Utf8Units {
        self.pieces.get_or_init(|| Utf8Units::new(self.states().classes()))
    }

    /// Returns whether any lexeme may directly follow any other where the rules let its terminal
    /// follow, and ends there as meant.
    pub(crate) fn is_separate(&self) -> bool {
        self.proof.is_separate
    }

    /// Returns whether the reading of some word depends on the lexemes around it.
    pub(crate) fn asks_about_words(&self) -> bool {
        !self.lexis.lookaheads.is_empty()
    }

    /// Returns `%indent`, if the grammar has it.
    #[inline]
    pub(crate) fn indentation(&self) -> Option<&Indentation> {
        self.lexis.indentation.as_ref()
    }

    /// Returns whether lexemes of `terminal` are dropped.
    pub(crate) fn is_ignored(&self, terminal: TerminalId) -> bool {
        self.lexis.is_ignored(terminal)
    }

    /// Returns the context of `stack`: the terminals that it can really shift, and their meaning.
    #[inline]
    pub(crate) fn context(&self, stack: &Stack, reads: &mut Reads) -> &Context {
        let acceptable = stack.acceptable(self.table());
        reads.stack(acceptable.lowest);
        self.context_of(acceptable.set)
    }

    fn context_of(&self, set: u32) -> &Context {
        self.contexts.get_or_init(set, || {
            self.make_context(self.table().acceptable_sets().get(set).clone(), None)
        })
    }

    /// Creates the context of `acceptable`, where `loose` is a terminal that is ignored only here.
    fn make_context(&self, acceptable: BitSet, loose: Option<usize>) -> Context {
        // Nothing is ignored before literal text.
        let mut competing = acceptable.clone();
        if let Some(loose) = loose.filter(|_| !acceptable.intersects(&self.lexis.exclusive)) {
            competing.insert(loose);
        }
        let candidates = self.lexis.candidates(&competing);
        let mut takes = acceptable.clone();
        for label in candidates.iter().map(TerminalId::new) {
            if self.lexis.other_readings(label).any(|other| acceptable.contains(other.index())) {
                takes.insert(label.index());
            }
        }
        let gates = if loose.is_none() { &self.proof.gates[..] } else { &[] };
        let closed = gates.iter().filter(|(_, passing)| !passing.intersects(&takes));
        let mut ignored = self.lexis.ignored.clone();
        closed.for_each(|(closed, _)| ignored.remove(closed.index()));
        takes.union_with(&ignored);
        if let Some(loose) = loose {
            takes.insert(loose);
        }
        Context { acceptable, takes, start: self.states().start(&candidates) }
    }

    /// Passes the state after a lexeme with this label to `emit`, once for each reading. Reports to
    /// `reads`.
    ///
    /// Nearly always there is one reading. Returning lists of them took more of the processor's
    /// instruction cache than the rest of a cold mask had left.
    pub(crate) fn after_lexeme(
        &self,
        stack: &Stack,
        layout: &Layout,
        expectations: ExpectationsId,
        label: TerminalId,
        reads: &mut Reads,
        emit: &mut dyn FnMut(Between, &mut Reads),
    ) {
        if self.lexis.indentation.is_some() {
            return self.after_lexeme_in_lines(stack, layout, label, reads, emit);
        }
        if self.lexis.ignored.contains(label.index()) {
            let stack = stack.clone();
            return emit(Between { stack, layout: Layout::NONE, expectations }, reads);
        }
        if !self.lexis.lookaheads.is_empty() {
            return self.after_lexeme_among_words(stack, expectations, label, reads, emit);
        }
        let mut feed = |terminal, reads: &mut Reads| {
            for stack in stack.feed(self.table(), terminal, reads) {
                emit(Between { stack, layout: Layout::NONE, expectations }, reads);
            }
        };
        // If there is only one reading, the stack shifts it or does not; computing everything that
        // the stack shifts would read more of it.
        if self.lexis.has_one_reading(label) {
            feed(label, reads);
        } else {
            let context = self.context(stack, reads);
            for terminal in self.lexis.plain_readings(label, &context.acceptable) {
                feed(terminal, reads);
            }
        }
    }

    /// Returns whether the text may end after a lexeme with this label.
    pub(crate) fn ends_text(
        &self,
        stack: &Stack,
        layout: &Layout,
        expectations: ExpectationsId,
        label: TerminalId,
        reads: &mut Reads,
    ) -> bool {
        let joins = self
            .lexis
            .indentation
            .as_ref()
            .is_some_and(|indentation| indentation.join == Some(label));
        let mut ends = false;
        if !joins {
            self.after_lexeme(stack, layout, expectations, label, reads, &mut |after, reads| {
                ends = ends
                    || self.lexis.lookaheads.facts(after.expectations).may_end
                        && self.ends_between(&after.stack, &after.layout, reads);
            });
        }
        ends
    }

    /// Returns the terminals that complete the text after `stack` at the least cost in bytes.
    /// `None` if that takes more than `steps`.
    pub(crate) fn completion_plan(
        &self,
        stack: &Stack,
        steps: &mut usize,
    ) -> Option<Vec<TerminalId>> {
        self.minimal_completion().plan(self.table(), stack, steps)
    }

    /// Returns the cost of that plan.
    pub(crate) fn completion_cost(&self, stack: &Stack, steps: &mut usize) -> Option<u64> {
        self.minimal_completion().cost(self.table(), stack, steps)
    }

    fn minimal_completion(&self) -> &MinimalCompletion {
        self.minimal_completion.get_or_init(|| {
            self.completions(|label| {
                let dfa = self.states().dfa(label)?;
                Some(u64::from(dfa.shortest_length()))
            })
        })
    }

    /// Returns the cheapest completions of stacks, for these costs of the lexemes of labels; `None`
    /// for one that cannot be written.
    pub(crate) fn completions(
        &self,
        cost_of: impl Fn(TerminalId) -> Option<u64>,
    ) -> MinimalCompletion {
        let cost = |index: usize| {
            if let Some(indentation) = &self.lexis.indentation
                && (index == indentation.indent.index() || index == indentation.dedent.index())
            {
                return Some(u64::from(index == indentation.indent.index()));
            }
            let terminal = TerminalId::new(index);
            let occurs = self.lexis.may_occur(terminal);
            let cost = occurs.then(|| cost_of(self.lexis.label_of(terminal))).flatten()?;
            // The lexemes around such a word must fit, which the plan does not check, so it is used
            // only where nothing else is possible.
            let asks = self.lexis.lookaheads.word(terminal).is_some();
            Some(cost + if asks { 1_000 } else { 0 })
        };
        let costs: Vec<_> = (0..self.lexis.terminal_count()).map(cost).collect();
        MinimalCompletion::new(self.table(), &costs)
    }

    /// Returns whether the text may end on `stack`.
    pub(crate) fn is_sentence(&self, stack: &Stack, reads: &mut Reads) -> bool {
        stack.takes(self.table(), self.table().end(), reads)
    }

    /// Applies longest match: returns the labels of a lexeme in `state` that ends before `byte`,
    /// which leads to `next`, each with the obligations that it then leaves in addition to
    /// `obligations`. Empty if the lexeme cannot end because the byte extends the match. There are
    /// several if the label depends on the text after the lexeme, or if each match may end it.
    #[inline]
    pub(crate) fn end_before(
        &self,
        state: ScanStateId,
        byte: u8,
        next: Option<ScanStateId>,
        obligations: ObligationsId,
    ) -> LexemeEnds {
        let mut ends = LexemeEnds::new();
        let Some(label) = self.states().label(state) else { return ends };
        if self.states().is_every_match(state) {
            // The others cannot be continued.
            let behind =
                |label: TerminalId| self.lexis.bytes_behind[label.index()][usize::from(byte)];
            let labels = self.states().labels(state).into_iter().filter(|&label| behind(label));
            let past = self.states().past(state);
            ends.extend(labels.map(|label| (label, self.with_past(obligations, past))));
            return ends;
        }
        let Some(asked) =
            next.map_or(Some(obligations), |next| self.ask_for_no_match(obligations, next))
        else {
            return ends;
        };
        let past = self.states().past(state);
        if self.states().guarded(state).is_none() {
            ends.push((label, self.with_past(asked, past)));
            return ends;
        }
        for (label, guards) in self.states().ends(state) {
            let asked = self.guard(asked, guards, byte);
            ends.extend(asked.map(|asked| (label, self.with_past(asked, past))));
        }
        ends
    }
}
