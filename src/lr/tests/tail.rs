//! Tail calls: a stack without its idle rounds behaves like the one that keeps them.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::stack::Stack;
use super::super::table::ParseTable;
use super::oracle::{cases, realise, sketches};
use super::text::grammar;
use crate::grammar::Grammar;
use crate::util::append::Interner;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// How many texts of one grammar are followed.
const TEXTS: usize = 600;

/// Follows the shortest texts with and without the rounds, and asks both stacks what they can shift. Returns how
/// many states were saved; `None` for a grammar without a table.
fn compare(grammar: &Grammar) -> Option<u32> {
    let table = ParseTable::build(grammar).ok()?;
    let mut plain = ParseTable::build(grammar).ok()?;
    plain.tails.fill(None);
    let sets: Interner<BitSet> = Interner::default();
    let states = |stack: &Stack| {
        std::iter::successors(Some(stack), |stack| stack.below()).map(Stack::top).collect::<Vec<_>>()
    };
    let start = Stack::new(table.start());
    let mut pairs = vec![(start.clone(), start)];
    let mut seen = HashSet::new();
    let (mut at, mut saved) = (0, 0);
    while let Some((short, long)) = pairs.get(at).cloned() {
        at += 1;
        let found = short.acceptable(&table, &sets).set;
        assert_eq!(found, long.acceptable(&plain, &sets).set, "{:?} and {:?}", states(&short), states(&long));
        saved += long.depth() - short.depth();
        for terminal in sets.get(found).iter().map(TerminalId::new).filter(|&t| t != table.end()) {
            let next = short.feed(&table, terminal, &mut 0).zip(long.feed(&plain, terminal, &mut 0));
            let (short, long) = next.expect("both can shift it");
            if pairs.len() < TEXTS && seen.insert(states(&long)) {
                pairs.push((short, long));
            }
        }
    }
    Some(saved)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn idle_rounds_of_random_grammars_change_nothing(sketch in sketches()) {
        if let Some(grammar) = realise(&sketch) {
            compare(&grammar);
        }
    }
}

#[test]
fn idle_rounds_of_right_recursion_change_nothing() {
    for text in [
        "L -> x , L | x",
        "L -> x L | x",
        "L -> x L |",
        "S -> [ L ] | L\nL -> x M | x\nM -> y L | y z",
        "S -> a L b | c L d\nL -> x L | S | x",
        "%right =\n%right +\nE -> E = E | E + E | ( E ) | x",
        "%left +\n%right ^\n%left -\nE -> E + E | E ^ E | - E | x",
        "%nonassoc <\n%right =\nE -> E = E | E < E | x",
        "A -> x B\nB -> y A | y B z A | w",
    ] {
        let saved = compare(&grammar(text)).unwrap_or_else(|| panic!("a conflict in {text}"));
        assert!(saved > 0, "nothing was saved: {text}");
    }
}
