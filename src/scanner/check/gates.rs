//! Ignored terminals that not everything may follow.
//!
//! White space may nearly always be followed by anything, and needs no thought. A comment that runs
//! to the end of its line may only be followed by a line end: where the parser takes none it must
//! not even begin. For such a terminal the scanner is given the set of those that may follow: a
//! *gate*, that some terminal which the stack takes must pass. That is exact where it is certain of
//! each terminal that it may follow or that it may not. Where longest match among varying
//! candidates leaves that open, the terminal has no gate, and the proof has to show that all stacks
//! can be completed behind it.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::grammar::ir::Grammar;
use crate::lexer::Dfa;
use crate::scanner::Lexis;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// So many steps of two automata are taken to be certain of terminals. Of the grammars of others
/// none takes more than 71,000.
const MOST_STEPS: usize = 1 << 21;

/// Ignored terminals by what may follow them.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// Those that some may follow and others may not, and the ones that may.
    pub(super) gates: Vec<(TerminalId, BitSet)>,
    /// Those of which it is not certain, though not everything may follow.
    pub(super) doubtful: Vec<TerminalId>,
}

/// Sorts the ignored terminals. `follows` says what is certain to follow a terminal, maybe behind
/// ignored ones; `loosely` the same where `newline` is ignored, too; `possible` which terminals a
/// lexeme may ever be.
pub(super) fn sort(
    grammar: &Grammar,
    lexis: &Lexis,
    (follows, loosely): (&[BitSet], &[BitSet]),
    newline: Option<TerminalId>,
    possible: &BitSet,
) -> Gates {
    // Before exclusive terminals nothing is ignored.
    let possible: Vec<usize> =
        possible.iter().filter(|&index| lexis.is_ordinary(TerminalId::new(index))).collect();
    let is_ignored = |index: &usize| grammar.terminals[*index].ignored;
    let covers = |row: &BitSet, but: Option<TerminalId>| {
        let mut real = possible.iter().copied().filter(|index| !is_ignored(index));
        real.all(|index| row.contains(index) || but.is_some_and(|but| but.index() == index))
    };
    let mut sorted = Gates::default();
    let mut left = MOST_STEPS;
    for ignored in possible.iter().copied().filter(is_ignored) {
        let states = lexis.states();
        if !lexis.lookaheads.is_empty() || states.has_conditions() || states.has_past() {
            // What words ask of the labels behind them, and terminals of the text around them, is
            // searched for without regard to gates.
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

/// Whether some lexeme of `next` may stand behind some lexeme of `last`, with no other terminal
/// about; or no steps are `left` to find out. It stands there where the longer match that `last`
/// has pending comes to nothing: while `next` goes on, or behind it. So it is enough that `next`
/// matches before `last` does again.
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
