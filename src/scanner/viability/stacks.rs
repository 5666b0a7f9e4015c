//! Decisions about stacks: the lexemes of [`Exactly`] on the pushdown of [`crate::lr`].

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::places::{Exactly, Held, Line, Places};
use crate::lr::derivations::Derivations;
use crate::lr::stack::Stack;
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
    places: Places,
}

/// How many derivations and places are kept.
const MAX_KNOWN: usize = 1 << 20;

/// Most decisions take far fewer steps. Past them, the shortest ways to complete the text are tried
/// before all ways are.
const FEW_STEPS: usize = 2_000;

impl Scanner {
    /// Whether the stack can be completed behind a lexeme that has left this open.
    pub(super) fn can_empty(&self, at: &Between, open: ObligationsId, reads: &mut Reads) -> bool {
        let mut known = self.decisions.known.lock().unwrap_or_else(PoisonError::into_inner);
        let len = |known: &Known| known.derivations.len() + known.shortest.len() + known.places.len();
        if known.as_ref().is_some_and(|known| len(known) > MAX_KNOWN) {
            *known = None;
        }
        let in_context = self.table().tells_contexts_apart();
        let Known { derivations, shortest, places } = known.get_or_insert_with(|| Known {
            derivations: Derivations::new(self.table(), in_context),
            shortest: Derivations::shortest(self.table(), in_context),
            places: Places::default(),
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
        let place = places.place(held);
        let mut exactly = Exactly { scanner: self, places, in_context };
        let mut can_complete = |derivations: &mut Derivations, steps: usize| {
            let at_top = (place, brackets);
            derivations.can_complete(self.table(), &mut exactly, &at.stack, at_top, reads, steps)
        };
        let steps = self.bounds.decision_steps;
        can_complete(derivations, steps.min(FEW_STEPS))
            .or_else(|| can_complete(shortest, steps).filter(|&can| can))
            .or_else(|| can_complete(derivations, steps))
            .unwrap_or_else(|| self.give_up())
    }

    /// A decision that would take too long counts as a no: masks are too narrow then, not wrong.
    pub(super) fn give_up(&self) -> bool {
        self.decisions.undecided.fetch_add(1, Ordering::Relaxed);
        false
    }

    /// How many decisions took too long.
    pub(crate) fn undecided(&self) -> usize {
        self.decisions.undecided.load(Ordering::Relaxed)
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
