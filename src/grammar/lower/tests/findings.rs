//! Every kind of finding, with line and column.

use super::places;
use crate::grammar::Grammar;

#[test]
fn each_finding_has_its_place() {
    type Places = &'static [(&'static str, u32, u32)];
    let table: &[(&str, Places)] = &[
        ("start: b\na: \"a\"\n", &[("undefined-symbol", 1, 8)]),
        ("start: AB\nABC: \"a\"\n", &[("undefined-symbol", 1, 8)]),
        ("start: \"a\"\n\n  start: \"b\"\n", &[("duplicate-definition", 3, 3)]),
        ("start: A\nA: \"a\"\n%declare A\n", &[("duplicate-definition", 3, 10)]),
        ("start: \"a\"\n%override b: \"b\"\n", &[("undefined-symbol", 2, 11)]),
        ("start: t{A}\nt{x}: x\n%extend t{y}: y\nA: \"a\"\n", &[("extend-mismatch", 3, 9)]),
        ("start: t{A}\nt{x, x}: x\nA: \"a\"\n", &[("duplicate-parameter", 2, 6)]),
        ("start: t{A, A}\nt{x}: x\nA: \"a\"\n", &[("template-arguments", 1, 8)]),
        ("start: A t\nt{x}: x\nA: \"a\"\n", &[("template-arguments", 1, 10)]),
        ("start: a{A}\na: A\nA: \"a\"\n", &[("not-a-template", 1, 8)]),
        ("start: t{A}\nt{x}: A t{u{x}}\nu{x}: x\nA: \"a\"\n", &[("template-limit", 2, 9)]),
        ("start: A\nA: \"a\" B\nB: C\nC: A?\n", &[("recursive-terminal", 2, 1)]),
        ("start: A\nA: \"a\" b\nb: \"b\"\n", &[("rule-in-terminal", 2, 8)]),
        ("start: A\nA: \"a\" B\n%declare B\n", &[("declared-terminal", 2, 8)]),
        ("start: (\"a\" %prec \"a\") \"b\"\n%left \"a\"\n", &[("misplaced-prec", 1, 9)]),
        ("start: A\nA: \"a\" %prec \"a\"\n", &[("misplaced-prec", 2, 4)]),
        ("start: \"a\" %prec \"b\"\n", &[("undefined-precedence", 1, 8)]),
        ("start: \"a\"\n%left \"a\"\n%right \"a\"\n", &[("duplicate-precedence", 3, 8)]),
        ("start: \"a\"\n%start start\n%start start\n", &[("duplicate-directive", 3, 1)]),
        ("start: \"a\"\n%lexer basic\n%lexer contextual\n", &[("duplicate-directive", 3, 1)]),
        ("start: \"a\"\n%lexer magic\n", &[("unknown-lexer", 2, 8)]),
        ("begin: \"a\"\n", &[("no-start", 0, 0)]),
        ("begin: \"a\"\n%start begn\n", &[("undefined-symbol", 2, 8)]),
        ("begin: t{\"a\"}\nt{x}: x\n%start t\n", &[("bad-start", 3, 8)]),
        ("start: A \"if\"\nA: /a/\n%reserved B \"if\"\n", &[("undefined-symbol", 3, 11)]),
        (
            "start: A \"if\"\nA: /a/\n%reserved A \"if\"\n%soft A \"if\"\n",
            &[("contradicting-words", 4, 9)],
        ),
        (
            "start: A B \"if\"\nA: /a/\nB: /b/\n%soft A \"if\"\n%soft B \"if\"\n",
            &[("contradicting-words", 5, 9)],
        ),
        (
            "start: A B\nA: /a/\nB: / /\n%ignore B\n%exclusive A B\n",
            &[("contradicting-words", 5, 14)],
        ),
        ("start: A\nA: /a/\n%exclusive B\n", &[("undefined-symbol", 3, 12)]),
        ("start: A\nA: /a/\n%fallback A A\n", &[("contradicting-words", 3, 13)]),
        ("start: A\nA: /a/\n%lookahead A A before A\n", &[("contradicting-words", 3, 14)]),
        (
            "start: A \"if\"\nA: /a/\n%reserved A \"if\"\n%lookahead A \"if\" before A\n",
            &[("contradicting-words", 4, 14)],
        ),
        (
            "start: A B \"if\"\nA: /a/\nB: /b/\n%soft B \"if\"\n%lookahead A \"if\" before A\n",
            &[("contradicting-words", 5, 14)],
        ),
        (
            "start: A \"if\"\nA: /a/\n%lookahead A \"if\" before A\n%lookahead A \"if\" before A\n",
            &[("contradicting-words", 4, 14)],
        ),
        (
            "start: A \"if\"\nA: /a/\n%lookahead A \"if\" after B before A then C\n",
            &[("undefined-symbol", 3, 25), ("undefined-symbol", 3, 41)],
        ),
        (
            "start: A \"if\"\nA: /a/\n%exclusive \"if\"\n%lookahead A \"if\" before A\n",
            &[("contradicting-words", 4, 14)],
        ),
        ("start: A \"if\"\nA: /a/\n%lookahead A \"if\" after A\n", &[("bad-lookahead", 3, 1)]),
        ("start: A \"if\"\nA: /a/\n%lookahead A \"if\" A before A\n", &[("bad-lookahead", 3, 1)]),
        ("start: A \"if\"\nA: /a/\n%lookahead A \"if\" behind A\n", &[("bad-lookahead", 3, 19)]),
        (
            "start: A \"if\"\nA: /a/\n%lookahead A \"if\" before A after A\n",
            &[("bad-lookahead", 3, 28)],
        ),
        ("start: A \"if\"\nA: /a/\n%lookahead A \"if\" then A\n", &[("bad-lookahead", 3, 19)]),
        // Structural findings.
        ("start: a\na: \"(\" a \")\"\n", &[("unproductive", 1, 1), ("unproductive", 2, 1)]),
        (
            "start: \"a\" _INDENT\n%declare _INDENT\n",
            &[("unproductive", 1, 1), ("dead-alternative", 1, 8)],
        ),
        ("%conflicts refuse\nstart: a+\na: \"x\"?\n", &[("cyclic", 2, 8)]),
        // Warnings.
        (
            "start: \"x\" | a\na: \"(\" b\nb: a \")\"\n",
            &[("unproductive", 2, 1), ("unproductive", 3, 1)],
        ),
        ("start: \"a\"\n  | a\na: a \"b\" | start\n", &[("cyclic", 1, 1)]),
        ("start: a+\na: \"x\"?\n", &[("cyclic", 1, 8)]),
        ("start: \"b\" e\ne: e e\n  | \"a\"\n  |\n", &[("cyclic", 2, 1)]),
        ("start: \"a\"\nb: \"b\"\n", &[("unused-rule", 2, 1)]),
        ("start: \"a\"\nb: \"b\" c\nc: \"c\" b\n", &[("unreachable", 2, 1), ("unreachable", 3, 1)]),
        ("start: \"a\"\nb{x}: x\n", &[("unused-rule", 2, 1)]),
        ("start: \"a\"\nb: c\nc: \"c\"\nd: \"d\"\n%start start b\n", &[("unused-rule", 4, 1)]),
        ("start: \"a\"\nB: C\nC: \"b\"\n", &[("unused-terminal", 2, 1)]),
        ("start: ID\nID: /a/\n%fallback ID \"abort\"\n", &[("unused-terminal", 3, 14)]),
        ("start.2: \"a\"\n", &[("rule-priority", 1, 7)]),
        // Ignored terminals may also occur in rules.
        ("start: \"a\" [NL] \"b\"\nNL: \"n\"\n%ignore NL\n", &[]),
    ];
    for (text, expected) in table {
        let result = Grammar::from_lark(text);
        assert_eq!(&places(&result), expected, "{text}\n{result:?}");
    }
}

#[test]
fn every_table_entry_that_is_an_error_is_refused_and_every_warning_is_not() {
    let warns = Grammar::from_lark("start: \"a\"\nb: \"b\"\n").unwrap();
    assert_eq!(warns.warnings().len(), 1);
    assert!(Grammar::from_lark("start: b\n").is_err());
}

#[test]
fn the_recursion_without_end_is_shown() {
    let grammar = Grammar::from_lark("start: \"x\" | a\na: \"(\" b\nb: a \")\"\n").unwrap();
    assert_eq!(
        grammar.warnings()[0].example.as_deref(),
        Some("`a` needs `b` needs `a`, and so on without end")
    );
    let grammar = Grammar::from_lark("start: a\na: b | \"a\"\nb: a c\nc: \"c\"?\n").unwrap();
    assert_eq!(grammar.warnings()[0].example.as_deref(), Some("a -> b -> a"));
}

#[test]
fn findings_stand_in_the_order_of_the_file_and_are_limited() {
    let text: String = (0..500).map(|i| format!("r{i}: undefined{i}\n")).collect();
    let error = Grammar::from_lark(&text).unwrap_err();
    assert_eq!(error.diagnostics().len(), 101);
    let lines: Vec<u32> = error.diagnostics()[..100]
        .iter()
        .filter_map(|d| d.place.as_ref())
        .map(|place| place.line)
        .collect();
    assert!(lines.is_sorted());
}
