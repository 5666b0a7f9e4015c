//! Conflicts: found, explained by a text that really occurs, and distinguished from artefacts of
//! LALR(1).

use super::super::conflict::ConflictErrorKind;
use super::table_of;
use super::text::grammar;
use crate::util::diagnostic::Diagnostic;

fn conflicts(text: &str) -> Vec<Diagnostic> {
    let error = table_of(&grammar(text)).expect_err("the grammar has conflicts");
    assert_eq!(error.kind(), ConflictErrorKind::Conflict);
    error.into_diagnostics()
}

/// The lines of the example of the only conflict.
fn example(text: &str) -> Vec<String> {
    let found = conflicts(text);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].code, "conflict");
    found[0].example.iter().flat_map(|example| example.lines()).map(str::to_owned).collect()
}

const ARTEFACT: &str = "the conflict is due to LALR(1) merging; the grammar may be LR(1)";
const AMBIGUOUS: &str = "the same text has both parses: the grammar is ambiguous";

#[test]
fn dangling_else_shows_both_parses() {
    assert_eq!(
        example("S -> if x then S | if x then S else S | s"),
        [
            "if x then if x then s • else",
            "state 6, before \"else\":",
            "  reduce  S → \"if\" \"x\" \"then\" S •",
            "  shift   S → \"if\" \"x\" \"then\" S • \"else\" S",
            "if reduced  ⟨S: if x then ⟨S: if x then s⟩ • else s⟩",
            "if shifted  ⟨S: if x then ⟨S: if x then s • else s⟩⟩",
            AMBIGUOUS,
        ]
    );
}

#[test]
fn lr1_but_not_lalr1_is_flagged_as_artefact() {
    assert_eq!(
        example("S -> A a | b A c | D c | b D a\nA -> d\nD -> d"),
        [
            "no single text leads to both, but one leads to each:",
            "d • a",
            "  parsed as  ⟨S: ⟨A: d⟩ • a⟩",
            "b d • a",
            "  parsed as  ⟨S: b ⟨D: d⟩ • a⟩",
            "state 2, before \"a\":",
            "  reduce  A → \"d\" •",
            "  reduce  D → \"d\" •",
            ARTEFACT,
        ]
    );
}

#[test]
fn a_real_conflict_beside_an_artefact_is_the_one_shown() {
    // Before `a` and `c` only because of merging, before `e` really.
    let lines = example("S -> A a | b A c | D c | b D a | A e | D e\nA -> d\nD -> d");
    assert_eq!(lines[0], "d • e");
    assert_eq!(lines.last().map(String::as_str), Some(AMBIGUOUS));
}

#[test]
fn of_three_reductions_the_two_that_meet_in_truth_are_shown() {
    // Before `b`, only merging adds `A` to the others.
    let text = "S -> x A a | x B b | x C b | y A b | y B a | y C c\nA -> d\nB -> d\nC -> d";
    let examples: Vec<String> =
        conflicts(text).into_iter().filter_map(|found| found.example).collect();
    let [before_a, before_b] = &examples[..] else { panic!("{examples:#?}") };
    assert!(before_a.ends_with(ARTEFACT));
    let lines: Vec<&str> = before_b.lines().collect();
    assert_eq!(lines[0], "x d • b");
    let parses = ["if reduced  ⟨S: x ⟨B: d⟩ • b⟩", "if reduced  ⟨S: x ⟨C: d⟩ • b⟩", AMBIGUOUS];
    assert_eq!(lines[5..], parses);
}

#[test]
fn a_look_ahead_from_further_out_is_met_on_the_very_path() {
    // The shortest path to the conflict's state is `p A`, where `c` never follows; only `q A` can
    // be followed by `c`.
    let lines = example("S -> p A d | q r A c\nA -> x | x B\nB -> c | c y\nZ -> S");
    assert_eq!(lines[0], "q r x • c");
}

#[test]
fn two_rules_with_the_same_text() {
    let lines = example("S -> A | B\nA -> x\nB -> x");
    assert_eq!(lines[0], "x • $end");
    assert_eq!(lines[4..], ["if reduced  ⟨A: x⟩ • $end", "if reduced  ⟨B: x⟩ • $end", AMBIGUOUS]);
}

#[test]
fn not_lr1_but_unambiguous_shows_two_texts() {
    let lines = example("S -> A y end | B y stop\nA -> x\nB -> x");
    assert_eq!(lines[4..], ["if reduced  ⟨S: ⟨A: x⟩ • y end⟩", "if reduced  ⟨S: ⟨B: x⟩ • y stop⟩"]);
}

#[test]
fn a_cycle_is_a_conflict_not_a_hang() {
    assert_eq!(example("S -> S | x")[0], "x • $end");
}

#[test]
fn reduce_reduce_is_never_settled_settled() {
    let found = conflicts("%left x\n%left y\nS -> A | B\nA -> x\nB -> x %prec y");
    assert_eq!(found[0].message, "before $end, `A` or `B` can end");
}

#[test]
fn precedence_needs_both_sides() {
    let lines = example("%left n\nE -> E E | n");
    assert_eq!((lines[0].as_str(), lines.last().map(String::as_str)), ("n n • n", Some(AMBIGUOUS)));
}

#[test]
fn a_reduction_that_loses_to_the_shift_leaves_the_other_alone() {
    // Before `+`, the shift beats `A` and loses to `B`, whatever the order of the rules.
    for rules in ["A -> x %prec lo\nB -> x %prec hi", "B -> x %prec hi\nA -> x %prec lo"] {
        let text =
            format!("%left lo\n%left +\n%left hi\nS -> A + q | B + r | x + s | B t\n{rules}");
        let table = table_of(&grammar(&text)).unwrap_or_else(|error| panic!("{error}"));
        assert!(table.has_settled_conflicts());
    }
}

#[test]
fn many_conflicts_are_counted() {
    let mut text = String::from("S -> ");
    for i in 0..30 {
        text.push_str(&format!("{}k{i} A{i} | k{i} B{i}", if i > 0 { " | " } else { "" }));
    }
    for i in 0..30 {
        text.push_str(&format!("\nA{i} -> x\nB{i} -> x"));
    }
    let found = conflicts(&text);
    assert_eq!(found.len(), 21);
    assert_eq!(found[20].message, "and 10 more conflicts");
}

#[test]
fn texts_of_exponential_length_are_not_written_out() {
    let mut text = String::from("S -> N0 A | N0 B\nA -> x\nB -> x");
    for i in 0..60 {
        text.push_str(&format!("\nN{i} -> N{0} N{0}", i + 1));
    }
    text.push_str("\nN60 -> y");
    assert_eq!(example(&text)[0], "N0 x • $end");
}

#[test]
fn long_examples_are_clipped_around_the_dot() {
    let mut text = String::from("S -> N0\nA -> x\nB -> x");
    for i in 0..3_000 {
        text.push_str(&format!("\nN{i} -> k N{} end", i + 1));
    }
    text.push_str("\nN3000 -> A | B");
    let lines = example(&text);
    assert!(lines.iter().all(|line| line.len() < 1_500), "{lines:?}");
    assert!(lines[0].starts_with("… k") && lines[0].ends_with("x • end"));
    assert_eq!(lines.last().map(String::as_str), Some(AMBIGUOUS));
}

#[test]
fn the_dot_is_kept_where_a_phrase_ends_with_it() {
    let mut text = String::from("S -> N0\nA -> x\nB -> x");
    for i in 0..100 {
        text.push_str(&format!("\nN{i} -> k N{}", i + 1));
    }
    text.push_str("\nN100 -> A | B");
    let lines = example(&text);
    assert!(
        lines.iter().filter(|line| line.starts_with("if ")).all(|line| line.contains('•')),
        "{lines:?}"
    );
}
