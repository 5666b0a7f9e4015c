//! Plans against saturation: what a plan proves, `pre*` proves too.

use proptest::prelude::{Just, Strategy, prop, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use smallvec::SmallVec;

use super::oracle::{cases, realise, sketches};
use crate::lr::completable::{Completability, Succession, saturate};
use crate::lr::plan::complete_every_stack;
use crate::lr::table::ParseTable;
use crate::util::id::TerminalId;

/// Pairs of terminals that may not stand side by side, each as one number.
fn apart() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![1 => Just(Vec::new()), 2 => prop::collection::vec(0u32..25, 1..4)]
}

/// Terminals of which some may not stand side by side, and none asks anything.
struct Apart {
    pairs: Vec<u32>,
    ignored: Vec<TerminalId>,
    end: TerminalId,
}

impl Succession for Apart {
    fn may_follow(&self, taken: Option<TerminalId>, ignored: Option<TerminalId>, next: TerminalId) -> bool {
        let behind = ignored.or(taken);
        next == self.end || behind.is_none_or(|behind| !self.pairs.contains(&(behind.0 * 5 + next.0)))
    }

    fn ignored(&self) -> &[TerminalId] {
        &self.ignored
    }

    fn is_possible(&self, _: TerminalId) -> bool {
        true
    }

    fn is_plain(&self, _: TerminalId) -> bool {
        true
    }

    fn may_ask_nothing(&self, _: TerminalId) -> bool {
        true
    }

    fn after(
        &self,
        condition: u32,
        last: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> SmallVec<[u32; 2]> {
        self.may_follow(last, ignored, next).then_some(condition).into_iter().collect()
    }

    fn may_end(&self, _: u32) -> bool {
        true
    }
}

#[test]
fn what_plans_complete_can_be_completed() {
    let mut runner = TestRunner::deterministic();
    let (mut proved, mut by_saturation, mut stuck) = (0, 0, 0);
    for _ in 0..4 * cases() {
        let sketch = sketches().new_tree(&mut runner).expect("no filter rejects").current();
        let apart = apart().new_tree(&mut runner).expect("no filter rejects").current();
        let Some(grammar) = realise(&sketch) else { continue };
        let Ok(table) = ParseTable::build(&grammar) else { continue };
        let ignored = if apart.len().is_multiple_of(2) { Vec::new() } else { vec![TerminalId(4)] };
        let succession = Apart { pairs: apart.clone(), ignored, end: table.end() };
        let planned = complete_every_stack(&table, &succession);
        let saturated = saturate(&table, &succession, 1_000_000);
        match (planned, saturated == Completability::Proved) {
            (true, true) => proved += 1,
            (true, false) => panic!("{grammar}\napart: {apart:?}\n{saturated:?}"),
            (false, true) => by_saturation += 1,
            (false, false) => stuck += 1,
        }
    }
    assert!(proved > 0 && by_saturation > 0 && stuck > 0, "{proved} {by_saturation} {stuck}");
}
