//! The nesting depth needed to finish a stack, for limits on nesting.
//!
//! Precondition: each production closes the brackets it opens. Then the open brackets of a stack
//! are those opened by the productions being read, and finishing these, innermost first, closes
//! them one by one. Every kernel item of the state on top is possible for the stack (the LR(0)
//! property), so any of them may be finished; the best is the one whose rest nests least.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::rules::{Code, Item, Rules};
use super::stack::{Address, Depths, Stack};
use super::table::ParseTable;
use crate::util::id::{CoreId, NonterminalId, TerminalId};

/// By item: the levels it needs and the levels it has open.
#[derive(Debug)]
pub(crate) struct Nesting {
    /// Least number of further levels that the symbols after the dot open at once.
    rest: Vec<u32>,
    /// Number of levels opened before the dot and closed after it.
    open: Vec<u32>,
    /// Greatest need of any item: a stack with this much room can be finished.
    most: u32,
}

/// The need of a symbol that derives no text.
const NEVER: i64 = i64::MAX / 2;

impl Nesting {
    /// Computes the needs for the brackets `open` and `close` of the grammar of `table`.
    pub(crate) fn new(table: &ParseTable, open: TerminalId, close: TerminalId) -> Self {
        let rules = &table.rules;
        let mut needs = vec![NEVER; rules.nonterminal_count() + 1];
        let mut changed = true;
        while changed {
            changed = false;
            for production in 0..rules.production_count() as u32 {
                let need = deepest(rules, rules.rhs(production), &needs, open, close);
                let lhs = rules.lhs(production);
                if need < needs[lhs] {
                    needs[lhs] = need;
                    changed = true;
                }
            }
        }
        let mut nesting = Self { rest: Vec::new(), open: Vec::new(), most: 0 };
        for item in 0..rules.item_count() as Item {
            let need = deepest(rules, rules.rest(item), &needs, open, close);
            let production = rules.production(item);
            let read = &rules.rhs(production)[..(item - rules.first(production)) as usize];
            let count =
                |bracket: TerminalId| read.iter().filter(|&&code| code == bracket.0).count() as u32;
            let rest = u32::try_from(need).unwrap_or(u32::MAX);
            nesting.rest.push(rest);
            nesting.open.push(count(open).saturating_sub(count(close)));
            if need < NEVER {
                nesting.most = nesting.most.max(rest);
            }
        }
        nesting
    }

    /// Returns the room with which every stack can be finished.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// Returns whether `stack` can be finished when `room` more levels may be opened at once. Costs
    /// the part of the stack with less than [`Nesting::most`] room.
    pub(crate) fn fits(
        &self,
        table: &ParseTable,
        stack: &Stack,
        room: u32,
        depths: &mut impl Depths,
    ) -> bool {
        let mut pending: Vec<(&Stack, Option<CoreId>, u32)> = vec![(stack, None, room)];
        let mut seen: HashSet<(Address, CoreId, u32), FxBuildHasher> = HashSet::default();
        while let Some((below, top, room)) = pending.pop() {
            depths.read(below.depth());
            if room >= self.most {
                return true;
            }
            let state = top.unwrap_or_else(|| below.core());
            for &item in table.automaton.kernels.get(state.index()) {
                if self.rest[item as usize] > room {
                    continue;
                }
                let production = table.rules.production(item);
                if production == table.rules.accept() {
                    return true;
                }
                let read = (item - table.rules.first(production)) as usize;
                let steps = read.saturating_sub(usize::from(top.is_some()));
                let Some(uncovered) = below.descend(steps, depths) else { return false };
                let lhs = NonterminalId::new(table.rules.lhs(production));
                let room = room + self.open[item as usize];
                for under in uncovered {
                    let Some(next) = table.goto(under.core(), lhs) else { continue };
                    if seen.insert((under.address(), next, room)) {
                        pending.push((under, Some(next), room));
                    }
                }
            }
        }
        false
    }
}

/// Returns the least number of levels that `symbols` open at once.
fn deepest(
    rules: &Rules,
    symbols: &[Code],
    needs: &[i64],
    open: TerminalId,
    close: TerminalId,
) -> i64 {
    let (mut depth, mut deepest) = (0, 0);
    for &code in symbols {
        match rules.nonterminal(code) {
            Some(nonterminal) if needs[nonterminal] == NEVER => return NEVER,
            Some(nonterminal) => deepest = deepest.max(depth + needs[nonterminal]),
            None if code == open.0 => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            None if code == close.0 => depth -= 1,
            None => {}
        }
    }
    deepest
}
