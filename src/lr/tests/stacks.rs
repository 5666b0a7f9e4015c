//! Tests of nodes that represent several stacks.

use super::super::forks::join;
use super::super::read_prefix::Trail;
use super::super::stack::{Stack, Stacks, Unread};
use super::table_of;
use super::text::grammar;
use crate::grammar::ir::Conflicts;
use crate::util::id::TerminalId;

/// Reads of a stack are reported by depth. The depth of a node above several others is that of its
/// shortest path: with the longest, the lowest node below would be lower than any depth reported
/// for it.
#[test]
fn a_node_over_several_is_as_deep_as_its_shortest_way() {
    let mut grammar = grammar("S -> a R | R b |\nR -> a | R S b");
    grammar.conflicts = Conflicts::Follow;
    let table = table_of(&grammar).expect("followed");
    let mut heights_differ = false;
    let mut texts = vec![(8, Stacks::from_iter([Stack::new(&table)]))];
    while let Some((words, stacks)) = texts.pop() {
        let mut left: Vec<&Stack> = stacks.iter().collect();
        while let Some(stack) = left.pop() {
            let depths = || stack.below().iter().map(Stack::depth);
            assert_eq!(depths().min().map_or(0, |least| least + 1), stack.depth());
            heights_differ |= depths().min() != depths().max();
            left.extend(stack.below());
        }
        for word in (0..grammar.terminals.len()).filter(|_| words > 0).map(TerminalId::new) {
            let mut longer = Stacks::new();
            let fed = stacks.iter().flat_map(|stack| stack.feed(&table, word, &mut Unread));
            fed.for_each(|stack| join(&mut longer, stack, &table, &mut 0));
            texts.push((words - 1, longer));
        }
    }
    assert!(heights_differ);
}

/// Each symbol of this text can be the last of as many readings as there are symbols before it, and
/// the common part of these was united in the step before.
#[test]
fn a_step_makes_no_more_unions_than_there_are_symbols_before() {
    let mut grammar = grammar("R -> | Q\nQ -> a R | R Q b | R c");
    grammar.conflicts = Conflicts::Follow;
    let table = table_of(&grammar).expect("followed");
    let mut stacks = Stacks::from_iter([Stack::new(&table)]);
    let mut unions = |symbols: usize| {
        let before = table.unions.kept();
        for _ in 0..symbols {
            let mut longer = Stacks::new();
            let fed =
                stacks.iter().flat_map(|stack| stack.feed(&table, TerminalId(0), &mut Unread));
            fed.for_each(|stack| join(&mut longer, stack, &table, &mut 0));
            stacks = longer;
        }
        table.unions.kept() - before
    };
    unions(100);
    let at_100 = unions(10);
    unions(90);
    let at_200 = unions(10);
    assert!(at_100 > 0 && at_200 < 3 * at_100, "{at_100} unions, then {at_200}");
}

/// A trail fits the stacks that are the same down to the lowest depth read, and no others.
#[test]
fn a_trail_fits_what_is_alike_as_far_down() {
    let table = table_of(&grammar("S -> a S a | b S b | c")).expect("no conflicts");
    let stack = |words: &[usize]| {
        let mut stack = Stack::new(&table);
        for &word in words {
            stack = stack.feed(&table, TerminalId::new(word), &mut Unread).remove(0);
        }
        stack
    };
    let read = stack(&[0, 0, 1, 1]);
    let trail = |lowest: u32, state: Option<u32>| {
        Trail::new(&read, (lowest, state), &table).expect("short and straight")
    };
    for (other, alike) in
        [(stack(&[0, 0, 1, 1]), 4), (stack(&[1, 0, 1, 1]), 2), (stack(&[1, 1, 0]), 0)]
    {
        for down in 0..=4 {
            let fits = trail(4 - down, None).fits(&other, &table, &mut Unread);
            assert_eq!(fits, down <= alike && other.core() == read.core(), "{down} of {other:?}");
        }
    }
    assert!(trail(3, Some(3)).fits(&stack(&[0, 0, 1, 1]), &table, &mut Unread));
    assert!(!trail(3, None).fits(&stack(&[1]), &table, &mut Unread));
}

/// The cached terminals that a stack shifts, found for another stack that is the same down to the
/// lowest depth read, are those that it takes, with the same depths read.
#[test]
fn what_a_stack_shifts_is_what_it_takes() {
    let mut ambiguous = grammar("S -> S S | a | ( S )");
    ambiguous.conflicts = Conflicts::Follow;
    let precedence = "E -> E + T | T\nT -> T * F | F\nF -> ( E ) | a | [ E , E ]";
    let deep = "S -> a S a | b S b | c";
    for grammar in [grammar(precedence), grammar(deep), ambiguous] {
        let table = table_of(&grammar).expect("no conflicts, or followed");
        let terminals = || (0..=grammar.terminals.len()).map(TerminalId::new);
        let mut texts = vec![(Stack::new(&table), vec![])];
        let mut count = 0;
        while let Some((stack, text)) = texts.pop() {
            let acceptable = stack.acceptable(&table);
            let set = table.acceptable_sets().get(acceptable.set);
            let takes = |terminal: &TerminalId| stack.takes(&table, *terminal, &mut Unread);
            let taken: Vec<_> = terminals().filter(takes).map(TerminalId::index).collect();
            assert_eq!(set.iter().collect::<Vec<_>>(), taken, "{text:?}");
            count += 1;
            for word in terminals().take(grammar.terminals.len()).filter(|_| text.len() < 7) {
                let longer = [&text[..], &[word]].concat();
                let fed = stack.feed(&table, word, &mut Unread);
                texts.extend(fed.into_iter().map(|stack| (stack, longer.clone())));
            }
        }
        assert!(count > 100);
    }
}
