//! Plans against saturation: what a plan proves, `pre*` proves too.

use proptest::prelude::{Just, Strategy, prop, prop_oneof};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::oracle::{cases, realise, sketches};
use crate::lr::completable::{Completability, saturate};
use crate::lr::plan::complete_every_stack;
use crate::lr::table::ParseTable;
use crate::util::id::TerminalId;

/// Pairs of terminals that may not stand side by side, each as one number.
fn apart() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![1 => Just(Vec::new()), 2 => prop::collection::vec(0u32..25, 1..4)]
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
        let may_follow = |last: Option<TerminalId>, next: TerminalId| {
            last.is_none_or(|last| !apart.contains(&(last.0 * 5 + next.0)))
        };
        let ignored: &[TerminalId] = if apart.len().is_multiple_of(2) { &[] } else { &[TerminalId(4)] };
        let planned = complete_every_stack(&table, &may_follow, ignored, &|_| true);
        let saturated = saturate(&table, &may_follow, ignored, &|_| true, 1_000_000);
        match (planned, saturated == Completability::Proved) {
            (true, true) => proved += 1,
            (true, false) => panic!("{grammar}\napart: {apart:?}\n{saturated:?}"),
            (false, true) => by_saturation += 1,
            (false, false) => stuck += 1,
        }
    }
    assert!(proved > 0 && by_saturation > 0 && stuck > 0, "{proved} {by_saturation} {stuck}");
}
