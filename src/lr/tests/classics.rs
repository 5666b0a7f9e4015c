//! Textbook grammars.

use smallvec::smallvec;

use super::super::conflict::ConflictErrorKind;
use super::super::rules::code;
use super::super::table::Action;
use super::super::table::ParseTable;
use super::table_of;
use super::text::{grammar, run};
use crate::grammar::ir::{Nonterminal, Production, Symbol};
use crate::util::id::{CoreId, NonterminalId, TerminalId};
use crate::util::limits::Limits;
use crate::util::meter::Meter;

fn build(text: &str) -> ParseTable {
    table_of(&grammar(text)).unwrap_or_else(|error| panic!("{error}"))
}

/// Checks that the table accepts the sentences and rejects the others.
fn check(text: &str, sentences: &[&str], others: &[&str]) -> ParseTable {
    let grammar = grammar(text);
    let table = table_of(&grammar).unwrap_or_else(|error| panic!("{error}"));
    for sentence in sentences {
        assert!(run(&grammar, &table, sentence), "{sentence:?} is a sentence");
    }
    for other in others {
        assert!(!run(&grammar, &table, other), "{other:?} is none");
    }
    table
}

const POINTERS: &str = "S -> L = R | R
                        L -> * R | x
                        R -> L";

#[test]
fn lalr_but_not_slr() {
    let table =
        check(POINTERS, &["x", "x = x", "* x = * * x", "* x"], &["", "x = x = x", "= x", "x *"]);
    assert_eq!(table.state_count(), 10);
}

#[test]
fn rows_shifts_and_reductions_say_what_the_cells_say() {
    for text in
        [POINTERS, "S -> A B c | d\nA -> a |\nB -> b |", "%left +\n%left *\nE -> E + E | E * E | n"]
    {
        let table = build(text);
        for state in (0..table.state_count()).map(CoreId::new) {
            for terminal in 0..=table.end().index() {
                let actions = table.actions(state, TerminalId::new(terminal));
                assert_eq!(table.row(state).contains(terminal), !actions.is_empty());
                let shifts = matches!(actions, [Action::Shift(_) | Action::Accept]);
                assert_eq!(table.shifts(state).contains(terminal), shifts);
                let by_set: Vec<_> = table
                    .reductions(state)
                    .iter()
                    .filter(|r| table.lookaheads(r).contains(terminal))
                    .collect();
                match actions {
                    [Action::Reduce(p)] => {
                        assert_eq!(by_set.len(), 1);
                        assert_eq!((by_set[0].lhs, by_set[0].length), table.production(*p));
                    }
                    _ => assert!(by_set.is_empty()),
                }
            }
            for below in table.predecessors(state) {
                let symbol = table.accessing(state).unwrap();
                let edge =
                    table.automaton.step(below.index(), code(table.rules.terminal_count(), symbol));
                assert_eq!(edge, Some(state.0));
            }
        }
    }
}

#[test]
fn empty_rules() {
    let text = "S -> A B C end\nA -> a |\nB -> b B |\nC -> d A c |";
    check(
        text,
        &["end", "a end", "b b end", "a b d a c end", "d c end"],
        &["", "a a end", "c b end"],
    );
}

#[test]
fn empty_language_start() {
    check("S ->", &[""], &[]);
}

#[test]
fn left_and_right_recursion() {
    check("S -> S a | a", &["a", "a a a"], &[""]);
    check("S -> a S | a", &["a", "a a a"], &[""]);
}

const EXPRESSIONS: &str = "%nonassoc <\n%left +\n%right ^\n%left neg
                           E -> E + E | E ^ E | E < E | - E %prec neg | ( E ) | n";

#[test]
fn precedence_settles_expressions() {
    let grammar = grammar(EXPRESSIONS);
    let table = check(
        EXPRESSIONS,
        &["n + n + n", "n ^ n ^ n", "n < n + n", "- n + n"],
        &["n < n < n", "n +", "- "],
    );
    assert!(table.has_settled_conflicts());
    assert!(table.warnings().is_empty());
    let code = |name: &str| grammar.terminals.iter().position(|t| t.name == name).unwrap();
    let walk = |path: &[&str]| {
        path.iter().fold(0, |state, name| {
            let symbol =
                if *name == "E" { table.rules.nonterminal_code(0) } else { code(name) as u32 };
            table.automaton.step(state, symbol).unwrap() as usize
        })
    };
    let action = |path: &[&str], next: &str| {
        table.actions(CoreId::new(walk(path)), TerminalId::new(code(next))).first().copied()
    };
    assert!(matches!(action(&["E", "+", "E"], "+"), Some(Action::Reduce(_))));
    assert!(matches!(action(&["E", "^", "E"], "^"), Some(Action::Shift(_))));
    assert!(matches!(action(&["E", "+", "E"], "^"), Some(Action::Shift(_))));
    assert!(matches!(action(&["-", "E"], "^"), Some(Action::Reduce(_))));
    assert_eq!(action(&["E", "<", "E"], "<"), None);
}

#[test]
fn precedence_that_decides_nothing_is_reported() {
    let table = build("%left +\n%left *\nE -> E + n | n | x *");
    assert!(!table.has_settled_conflicts());
    let messages: Vec<_> =
        table.warnings().iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the precedence of \"+\" decides no conflict",
            "the precedence of \"*\" decides no conflict"
        ]
    );
}

#[test]
fn limits_are_errors() {
    let tiny = [
        Limits { build_steps: 5, ..Limits::default() },
        Limits { build_steps: 100, ..Limits::default() },
        Limits { build_bytes: 2, ..Limits::default() },
        Limits { build_bytes: 500, ..Limits::default() },
    ];
    for limits in tiny {
        let error = ParseTable::build(&grammar(POINTERS), &Meter::new(&limits)).unwrap_err();
        assert_eq!(error.kind(), ConflictErrorKind::Limit, "{limits:?}");
        assert_eq!(error.diagnostics()[0].code, "table-limit");
    }
}

#[test]
fn long_chains_are_no_recursion() {
    // N0 -> x N1, N1 -> x N2, ..., and N0 -> N0' , N0' -> N1', ... down to a nullable end.
    let count = 20_000;
    let mut deep = grammar("S -> x S | T\nT ->");
    for chain in [Symbol::Terminal(TerminalId(0)), Symbol::Nonterminal(NonterminalId(1))] {
        let base = deep.nonterminals.len();
        deep.productions[1].rhs.push(Symbol::Nonterminal(NonterminalId::new(base)));
        for i in base..base + count {
            let rhs = smallvec![chain, Symbol::Nonterminal(NonterminalId::new(i + 1))];
            let first = deep.productions[0].clone();
            deep.productions.push(Production { lhs: NonterminalId::new(i), rhs, ..first });
            deep.nonterminals.push(Nonterminal {
                name: format!("N{i}").into(),
                productions: smallvec![],
                marks: None,
                place: None,
            });
        }
        let last = Production {
            lhs: NonterminalId::new(base + count),
            rhs: smallvec![],
            ..deep.productions[0].clone()
        };
        deep.nonterminals.push(Nonterminal {
            name: "last".into(),
            productions: smallvec![],
            marks: None,
            place: None,
        });
        deep.productions.push(last);
    }
    deep.productions.remove(0);
    let table = table_of(&deep).unwrap_or_else(|error| panic!("{error}"));
    assert!(table.state_count() > count);
}

#[test]
fn the_readme_shows_what_display_prints() {
    let readme = include_str!("../README.md");
    assert!(readme.contains(&format!("```text\n{}```", build(POINTERS))), "{}", build(POINTERS));
}
