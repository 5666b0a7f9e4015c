//! Ignored terminals that only some terminals may follow.
//!
//! Nearly always anything may follow white space, and it needs no check. A comment that runs to the
//! end of its line may only be followed by a line end: where the parser does not take one, the
//! comment must not even begin. For such a terminal the scanner gets the set of terminals that may
//! follow, a *gate*: the stack must take one of them. This is exact if it is certain of each
//! terminal whether it may follow. If longest match among varying candidates leaves that open, the
//! terminal has no gate, and the proof has to show that all stacks can be completed after it.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::grammar::ir::Grammar;
use crate::lexer::Dfa;
use crate::scanner::Lexis;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// Limit on the steps of two automata taken to decide with certainty. No grammar from other
/// projects takes more than 71,000.
const MOST_STEPS: usize = 1 << 21;

/// Ignored terminals by their followers.
#[derive(Debug, Default)]
pub(super) struct IgnoredFollow {
    /// Terminals that are known to be followed by some terminals and not by others, each with the
    /// former.
    pub(super) gates: Vec<(TerminalId, BitSet)>,
    /// Terminals that not everything may follow, without such certainty.
    pub(super) doubtful: Vec<TerminalId>,
}

/// Sorts the ignored terminals. `follows` has the certain followers of a terminal, possibly after
/// ignored ones; `loosely` has the same if `newline` is ignored, too; `possible` has the terminals
/// that a lexeme may ever be.
pub(super) fn sort(
    grammar: &Grammar,
    lexis: &Lexis,
    (follows, loosely): (&[BitSet], &[BitSet]),
    newline: Option<TerminalId>,
    possible: &BitSet,
) -> IgnoredFollow {
    // Nothing is ignored before exclusive terminals.
    let possible: Vec<usize> =
        possible.iter().filter(|&index| lexis.is_ordinary(TerminalId::new(index))).collect();
    let is_ignored = |index: &usize| grammar.terminals[*index].ignored;
    let covers = |row: &BitSet, but: Option<TerminalId>| {
        let mut real = possible.iter().copied().filter(|index| !is_ignored(index));
        real.all(|index| row.contains(index) || but.is_some_and(|but| but.index() == index))
    };
    let mut sorted = IgnoredFollow::default();
    let mut left = MOST_STEPS;
    for ignored in possible.iter().copied().filter(is_ignored) {
        let states = lexis.states();
        if !lexis.lookaheads.is_empty() || states.has_conditions() || states.has_past() {
            // The searches for the requirements of words on the labels after them, and of terminals
            // on the text around them, do not look at gates.
            sorted.doubtful.push(TerminalId::new(ignored));
            continue;
        }
        let row = &follows[ignored];
        let loosely_all = newline.is_none() || covers(&loosely[ignored], newline);
        if loosely_all && covers(row, None) {
            continue;
        }
        let before = std::iter::once(ignored)
            .chain(row.iter().filter(|&other| other < grammar.terminals.len()));
        let uncertain = before.filter(is_ignored).any(|before| {
            let others = possible.iter().copied().filter(|&other| !row.contains(other));
            others.into_iter().any(|other| may_ever_follow(lexis, before, other, &mut left))
        });
        if loosely_all && !uncertain {
            let mut row = row.clone();
            if newline.is_none() {
                row.insert(lexis.table().end().index());
            }
            sorted.gates.push((TerminalId::new(ignored), row));
        } else {
            sorted.doubtful.push(TerminalId::new(ignored));
        }
    }
    sorted
        .doubtful
        .extend(newline.filter(|newline| !covers(&loosely[newline.index()], Some(*newline))));
    sorted
}

/// Returns whether some lexeme of `next` may directly follow some lexeme of `last`, or no steps are
/// `left` to find out. It may if the longer match pending from `last` fails during `next` or after
/// it. So it is enough that `next` matches before `last` does again.
fn may_ever_follow(lexis: &Lexis, last: usize, next: usize, left: &mut usize) -> bool {
    let scan = lexis.states();
    let dfa = |index| scan.dfa(TerminalId::new(index));
    let (Some(last), Some(next)) = (dfa(last), dfa(next)) else { return false };
    let ends = (0..last.state_count() as u32).filter(|&state| last.is_accept(state));
    let mut pending: Vec<(u32, u32)> = ends.map(|end| (end, next.start())).collect();
    let mut seen: HashSet<(u32, u32), FxBuildHasher> = HashSet::default();
    let representatives = scan.classes().representatives();
    while let Some((end, state)) = pending.pop() {
        *left = left.saturating_sub(representatives.len());
        if *left == 0 {
            return true;
        }
        for &byte in representatives {
            let (end, state) = (last.next(end, byte), next.next(state, byte));
            if state == Dfa::DEAD {
                continue;
            }
            if last.is_accept(end) {
                continue;
            }
            if end == Dfa::DEAD || next.is_accept(state) {
                return true;
            }
            if seen.insert((end, state)) {
                pending.push((end, state));
            }
        }
    }
    false
}
