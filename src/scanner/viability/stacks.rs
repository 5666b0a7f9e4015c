//! Decisions about stacks: the lexemes of [`Exactly`] on the pushdown of [`crate::lr`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lines::{Line, Loosely};
use super::places::{Exactly, Held, Places};
use super::verdicts::{Top, Verdicts};
use crate::lr::completion::Order;
use crate::lr::derivations::Derivations;
use crate::lr::stack::{Depths, Stack};
use crate::lr::trail::Trailing;
use crate::scanner::lookahead::Between;
use crate::scanner::reads::Reads;
use crate::scanner::{Layout, ObligationsId, Scanner};

/// What was worked out for decisions. Begun anew when it has grown too large.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Decisions {
    known: Mutex<Option<Known>>,
    /// How many took too long.
    undecided: AtomicUsize,
}

#[derive(Debug)]
struct Known {
    derivations: Derivations,
    /// Those by the shortest productions alone.
    shortest: Derivations,
    /// Those in which nothing but lines and brackets is looked at.
    loose: Derivations,
    places: Places,
    verdicts: Verdicts,
}

impl Known {
    fn len(&self) -> usize {
        let derivations = self.derivations.len() + self.shortest.len() + self.loose.len();
        derivations + self.places.len() + self.verdicts.len()
    }
}

/// How many derivations and places are kept.
const MAX_KNOWN: usize = 1 << 20;

/// Most decisions take far fewer steps. Past them, the shortest ways to complete the text are
/// tried, then whether lines alone forbid it, and all ways last.
const FEW_STEPS: usize = 2_000;
/// The shortest ways are tried so long.
const MORE_STEPS: usize = 100_000;

/// Where a mask has taken its steps, each decision gets so many, which most need no more than;
/// until it has taken a quarter more, and all is given up.
const LEAST_STEPS: usize = 64;

/// A step of looking at lexemes takes as long as so many others, and as much memory.
const LOOK: usize = 8;

impl Scanner {
    /// Whether the stack can be completed behind a lexeme that has left this open.
    pub(super) fn can_empty(&self, at: &Between, open: ObligationsId, reads: &mut Reads) -> bool {
        let mut known = self.decisions.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|known| known.len() > MAX_KNOWN) {
            *known = None;
        }
        let in_context = self.table().tells_contexts_apart();
        let known = known.get_or_insert_with(|| Known {
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
        let obligations = self.threats(open);
        let held = Held { acceptable, obligations, expectations: at.expectations, last, line };
        let top = (known.places.place(held), brackets);
        if let Some(can) = known.verdicts.find(top, &at.stack, self.table(), reads) {
            return can;
        }
        let steps = self.steps_left(reads);
        if steps == 0 {
            return self.give_up(reads);
        }
        let mut spent = 0;
        let mut depths = Trailing::new(&at.stack, reads);
        let can = self.decide(known, (&at.stack, top), line, &mut depths, steps, &mut spent);
        let has_stopped = depths.has_stopped();
        if let Some(can) = can {
            known.verdicts.keep((top, spent, can), &at.stack, self.table(), &depths);
        }
        *reads.steps() += spent;
        can.unwrap_or_else(|| !has_stopped && self.give_up(reads))
    }

    /// Whether the stack can be completed where this holds on top of it. `None` where that takes
    /// more than so many steps, or the reading has to stop. The steps taken are added to `spent`.
    fn decide(
        &self,
        known: &mut Known,
        (stack, top): (&Stack, Top),
        line: Line,
        depths: &mut Trailing<'_, impl Depths>,
        steps: usize,
        spent: &mut usize,
    ) -> Option<bool> {
        let Known { derivations, shortest, loose, places, .. } = known;
        let mut exactly = Exactly::new(self, places, derivations.in_context(), steps);
        let mut can_complete =
            |derivations: &mut Derivations, order, steps, depths: &mut _, spent: &mut _| {
                let asked = (stack, top, order);
                derivations.can_complete(self.table(), &mut exactly, asked, depths, steps, spent)
            };
        let can = 'decided: {
            let (few, more) = (steps.min(FEW_STEPS), steps.min(MORE_STEPS));
            if let Some(can) = can_complete(derivations, Order::FromTheTop, few, depths, spent) {
                break 'decided Some(can);
            }
            if depths.has_stopped() {
                break 'decided None;
            }
            if can_complete(shortest, Order::ShortestFirst, more, depths, spent) == Some(true) {
                break 'decided Some(true);
            }
            if line != Line::None {
                let (place, mut lexemes) = (Loosely::place(line), Loosely { scanner: self });
                let asked = (stack, (place, top.1), Order::FromTheTop);
                let can =
                    loose.can_complete(self.table(), &mut lexemes, asked, depths, steps, spent);
                if can == Some(false) {
                    break 'decided can;
                }
            }
            can_complete(derivations, Order::ShortestFirst, steps, depths, spent)
        };
        *spent += LOOK * exactly.looked(steps);
        can.filter(|&can| can || exactly.places.are_whole())
    }

    /// So many steps the next decision of a computation may take; none where nothing more is to be
    /// done for it.
    pub(crate) fn steps_left(&self, reads: &mut Reads) -> usize {
        let (most, all) = (self.bounds.decision_steps, self.bounds.mask_steps);
        let taken = *reads.steps();
        match all.saturating_sub(taken) {
            left if left > LEAST_STEPS => most.min(left),
            _ if taken < all.saturating_add(all / 4) => most.min(LEAST_STEPS),
            _ => 0,
        }
    }

    /// Looks at lexemes for no more steps than that, and charges the computation for them.
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

    /// A decision that would take too long counts as a no: masks are too narrow then, not wrong.
    pub(crate) fn give_up(&self, reads: &mut Reads) -> bool {
        self.decisions.undecided.fetch_add(1, Ordering::Relaxed);
        reads.leave_undecided();
        false
    }

    /// How many decisions took too long.
    pub(crate) fn undecided(&self) -> usize {
        self.decisions.undecided.load(Ordering::Relaxed) + self.table().cut_closures()
    }

    /// Where a text stands among lines, and how many brackets are open.
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
