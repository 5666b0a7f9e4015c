//! Decisions about stacks: the lexemes of [`Exactly`] on the pushdown automaton of [`crate::lr`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lines::{Line, Loosely};
use super::places::{Exactly, LexicalState, Places};
use super::verdicts::{Top, Verdicts};
use crate::lr::completion::Order;
use crate::lr::derivations::Derivations;
use crate::lr::stack::Stack;
use crate::scanner::lookahead::Between;
use crate::scanner::reads::Reads;
use crate::scanner::{Layout, ObligationsId, Scanner};

/// The cache of decisions. Cleared when it has grown too large.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Decisions {
    known: Mutex<Option<Caches>>,
    /// Number of decisions that took too long.
    undecided: AtomicUsize,
}

#[derive(Debug)]
struct Caches {
    derivations: Derivations,
    /// Derivations by the shortest productions alone.
    shortest: Derivations,
    /// Derivations that only look at lines and brackets.
    loose: Derivations,
    places: Places,
    verdicts: Verdicts,
}

impl Caches {
    fn len(&self) -> usize {
        let derivations = self.derivations.len() + self.shortest.len() + self.loose.len();
        derivations + self.places.len() + self.verdicts.len()
    }
}

/// Maximum number of derivations and places kept.
const MAX_KNOWN: usize = 1 << 20;

/// Most decisions take far fewer steps. After this many, the shortest ways to complete the text are
/// tried, then whether lines alone rule it out, and all ways last.
const FEW_STEPS: usize = 2_000;
/// Maximum steps for the shortest ways.
const MORE_STEPS: usize = 100_000;

/// Steps for each decision once a mask has used up its steps, which is enough for most. When the
/// mask has taken a quarter more, everything is given up.
const LEAST_STEPS: usize = 64;

/// A step of looking at lexemes takes the time and memory of this many other steps.
const LOOK: usize = 8;

impl Scanner {
    /// Returns whether the stack can be completed after a lexeme that has left these obligations.
    pub(super) fn can_empty(&self, at: &Between, open: ObligationsId, reads: &mut Reads) -> bool {
        let mut known = self.decisions.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|known| known.len() > MAX_KNOWN) {
            *known = None;
        }
        let in_context = self.table().tells_contexts_apart();
        let known = known.get_or_insert_with(|| Caches {
            derivations: Derivations::new(self.table(), in_context),
            shortest: Derivations::shortest(self.table(), in_context),
            loose: Derivations::new(self.table(), false),
            places: Places::default(),
            verdicts: Verdicts::default(),
        });
        let acceptable = in_context.then(|| {
            let acceptable = at.stack.acceptable(self.table());
            reads.stack(acceptable.lowest);
            acceptable.set
        });
        let asks_last = !self.lexis.lookaheads.is_empty();
        let last = at.stack.last_terminal(self.table()).filter(|_| asks_last);
        let (line, brackets) = self.line(&at.stack, &at.layout, reads);
        let obligations = self.representatives(open);
        let held =
            LexicalState { acceptable, obligations, expectations: at.expectations, last, line };
        let top = (known.places.place(held), brackets);
        if let Some(can) = known.verdicts.find(top, &at.stack, self.table(), reads) {
            return can;
        }
        let steps = self.steps_left(reads);
        if steps == 0 {
            return self.give_up(reads);
        }
        let mut spent = 0;
        let mut own = reads.alone(&at.stack);
        let can = self.decide(known, (&at.stack, top), line, &mut own, steps, &mut spent);
        let has_stopped = own.is_past_fork();
        if let Some(can) = can {
            known.verdicts.keep((top, spent, can), &at.stack, self.table(), &own);
        }
        *own.steps() += spent;
        reads.include(&own);
        can.unwrap_or_else(|| !has_stopped && self.give_up(reads))
    }

    /// Returns whether the stack can be completed with this state on top. `None` if that takes more
    /// than `steps`, or the reading has to stop. Adds the steps taken to `spent`.
    fn decide(
        &self,
        known: &mut Caches,
        (stack, top): (&Stack, Top),
        line: Line,
        reads: &mut Reads,
        steps: usize,
        spent: &mut usize,
    ) -> Option<bool> {
        let Caches { derivations, shortest, loose, places, .. } = known;
        let mut exactly = Exactly::new(self, places, derivations.in_context(), steps);
        let mut can_complete =
            |derivations: &mut Derivations, order, steps, reads: &mut _, spent: &mut _| {
                let asked = (stack, top, order);
                derivations.can_complete(self.table(), &mut exactly, asked, reads, steps, spent)
            };
        let can = 'decided: {
            let (few, more) = (steps.min(FEW_STEPS), steps.min(MORE_STEPS));
            if let Some(can) = can_complete(derivations, Order::FromTheTop, few, reads, spent) {
                break 'decided Some(can);
            }
            if reads.is_past_fork() {
                break 'decided None;
            }
            if can_complete(shortest, Order::ShortestFirst, more, reads, spent) == Some(true) {
                break 'decided Some(true);
            }
            if line != Line::None {
                let (place, mut lexemes) = (Loosely::place(line), Loosely { scanner: self });
                let asked = (stack, (place, top.1), Order::FromTheTop);
                let can =
                    loose.can_complete(self.table(), &mut lexemes, asked, reads, steps, spent);
                if can == Some(false) {
                    break 'decided can;
                }
            }
            can_complete(derivations, Order::ShortestFirst, steps, reads, spent)
        };
        *spent += LOOK * exactly.looked(steps);
        can.filter(|&can| can || exactly.places.are_whole())
    }

    /// Returns the number of steps that the next decision of a computation may take; 0 if the
    /// computation has no more.
    pub(crate) fn steps_left(&self, reads: &mut Reads) -> usize {
        let (most, all) = (self.bounds.decision_steps, self.bounds.mask_steps);
        let taken = *reads.steps();
        match all.saturating_sub(taken) {
            left if left > LEAST_STEPS => most.min(left),
            _ if taken < all.saturating_add(all / 4) => most.min(LEAST_STEPS),
            _ => 0,
        }
    }

    /// Calls `look` with the steps that are left, and charges the computation for those it takes.
    pub(super) fn charge<T>(&self, reads: &mut Reads, look: impl FnOnce(&mut usize) -> T) -> T {
        let steps = self.steps_left(reads);
        let mut left = steps;
        let found = look(&mut left);
        *reads.steps() += LOOK * (steps - left);
        if left == 0 {
            reads.leave_undecided();
        }
        found
    }

    /// Gives up a decision that would take too long. It counts as a no: masks are then too narrow,
    /// not wrong.
    pub(crate) fn give_up(&self, reads: &mut Reads) -> bool {
        self.decisions.undecided.fetch_add(1, Ordering::Relaxed);
        reads.leave_undecided();
        false
    }

    /// Returns the number of decisions that took too long.
    pub(crate) fn undecided(&self) -> usize {
        self.decisions.undecided.load(Ordering::Relaxed) + self.table().cut_closures()
    }

    /// Returns the position of a text in its lines, and the number of open brackets.
    fn line(&self, stack: &Stack, layout: &Layout, reads: &mut Reads) -> (Line, u32) {
        let (Some(indentation), Some(lines)) = (self.indentation(), layout.lines()) else {
            return (Line::None, 0);
        };
        if lines.leading.is_some() {
            // A line that has begun can be left blank: the next one begins with other blanks.
            let may_indent = stack.last_terminal(self.table()) == Some(indentation.newline);
            return (Line::Begin { may_indent, may_dedent: may_indent }, 0);
        }
        match reads.brackets(lines) {
            true => {
                reads.layout();
                (Line::Brackets, lines.depth)
            }
            false => (Line::Inside, 0),
        }
    }
}
