//! Small grammars in, productions or findings out.

mod findings;
mod imports;
mod size;
mod terminals;

use crate::grammar::{Grammar, GrammarError};

/// Returns the grammar of `text`; panics with the findings if it is rejected.
fn grammar(text: &str) -> Grammar {
    Grammar::from_lark(text).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Returns the productions of `text`, one per line, without the text before and after them.
fn productions(text: &str) -> String {
    let printed = grammar(text).to_string();
    printed.split("\n\n").nth(1).unwrap_or_default().trim().to_owned()
}

/// Returns the code, line and column of each finding.
fn places(result: &Result<Grammar, GrammarError>) -> Vec<(&'static str, u32, u32)> {
    let findings = match result {
        Ok(grammar) => grammar.warnings(),
        Err(error) => error.diagnostics(),
    };
    let place = |finding: &crate::util::diagnostic::Diagnostic| match &finding.place {
        Some(place) => (finding.code, place.line, place.column),
        None => (finding.code, 0, 0),
    };
    findings.iter().map(place).collect()
}

#[test]
fn what_may_be_absent_becomes_alternatives_with_and_without_it() {
    for (rule, expected) in [
        ("start: A? B", "start: A B\nstart: B"),
        ("start: [A] [B]", "start: A B\nstart: A\nstart: B\nstart:"),
        (
            "start: A*",
            "start: __start_plus_0\nstart:\n__start_plus_0: A\n__start_plus_0: __start_plus_0 A",
        ),
        (
            "start: A+ B",
            "start: __start_plus_0 B\n__start_plus_0: A\n__start_plus_0: __start_plus_0 A",
        ),
        ("start: (A | B) C", "start: A C\nstart: B C"),
        ("start: A (B C | )", "start: A B C\nstart: A"),
        ("start: A | A | B", "start: A\nstart: B"),
        ("start: A? A?", "start: A A\nstart: A\nstart:"),
        ("start: A~3", "start: A A A"),
        ("start: A~0..2 B", "start: A B\nstart: A A B\nstart: B"),
        ("start: A~0 B", "start: B"),
        ("start: ((A)) -> alias", "start: A"),
        ("?start: !b\n".trim_end_matches("!b\n"), "start:"),
    ] {
        let printed = productions(&format!("{rule}\nA: \"a\"\nB: \"b\"\nC: \"c\"\n"));
        assert_eq!(printed, expected, "{rule}");
    }
}

#[test]
fn equal_repetitions_are_one_nonterminal() {
    let printed = productions("start: (\",\" a)* b\nb: a (\",\" a)* | (\",\" a)+\na: \"a\"");
    assert_eq!(printed.matches("__start_plus_0: COMMA a").count(), 1);
    assert!(!printed.contains("plus_1"), "{printed}");
}

#[test]
fn repeated_repetition_is_flattened() {
    for (rule, same) in [
        ("(A+)+", "A+"),
        ("(A*)*", "A*"),
        ("(A?)*", "A*"),
        ("(A*)?", "A*"),
        ("[A+]", "A*"),
        ("(A+)~1..3", "A+"),
        ("(A+ | B)+", "(A | B)+"),
    ] {
        let terminals = "A: \"a\"\nB: \"b\"\n";
        let shape = |rule: &str| {
            let grammar = Grammar::from_lark(&format!("start: {rule}\n{terminals}"));
            let text =
                grammar.map(|grammar| grammar.to_string().split("\n\n").nth(1).map(str::to_owned));
            // Unreachable helpers leave gaps in the numbers.
            text.map(|text| text.unwrap_or_default().replace("plus_1", "plus_0"))
        };
        assert_eq!(shape(rule), shape(same), "{rule}");
    }
}

#[test]
fn templates_are_instantiated_once_per_arguments() {
    let printed = productions(
        "start: sep{a, \",\"} \";\" sep{a, \",\"} \";\" sep{b, SEMI}\n\
         sep{item, by}: item (by item)*\n\
         a: \"a\"\nb: \"b\"\nSEMI: \";\"\n",
    );
    let expected = "\
        start: sep{a,\",\"} SEMI sep{a,\",\"} SEMI sep{b,SEMI}
a: A
b: B
sep{a,\",\"}: a __sep_plus_0
sep{a,\",\"}: a
sep{b,SEMI}: b __sep_plus_1
sep{b,SEMI}: b
__sep_plus_0: COMMA a
__sep_plus_0: __sep_plus_0 COMMA a
__sep_plus_1: SEMI b
__sep_plus_1: __sep_plus_1 SEMI b";
    assert_eq!(printed, expected);
}

#[test]
fn templates_may_recurse_and_take_templates() {
    let printed = productions(
        "start: list{pair{x}} higher{list, x}\nlist{i}: i | list{i} i\npair{i}: \"(\" i \")\"\nx: \
         \"x\"\n\
         higher{t, i}: t{i}\n",
    );
    assert!(printed.contains("list{pair{x}}: list{pair{x}} pair{x}"), "{printed}");
    assert!(printed.contains("higher{list,x}: list{x}"), "{printed}");
}

#[test]
fn precedence_comes_from_prec_or_from_the_last_terminal() {
    let printed = productions(
        "start: e\ne: e (\"+\" | \"-\") e | e \"*\" e | \"-\" e %prec UNARY | \"x\"\n\
         %left \"+\" \"-\"\n%left \"*\"\n%right UNARY\n",
    );
    let expected = "\
        start: e
e: e PLUS e  [left 1]
e: e MINUS e  [left 1]
e: e STAR e  [left 2]
e: MINUS e  [right 3]
e: X";
    assert_eq!(printed, expected);
}

#[test]
fn another_start_symbol_reaches_other_rules() {
    let first = grammar("start: a B\na: A\nother: C a\nA: \"a\"\nB: \"b\"\nC: \"c\"\n");
    assert_eq!(first.terminals.len(), 2);
    let second = first.with_start("other").unwrap();
    assert_eq!(second.to_string().lines().next(), Some("%start other"));
    assert_eq!(second.terminals.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["A", "C"]);
    assert_eq!(second.with_start("start").unwrap().to_string(), first.to_string());
    let help = first.with_start("othr").unwrap_err().diagnostics()[0].help.clone();
    assert_eq!(help.as_deref(), Some("did you mean `other`?"));
}

#[test]
fn words_are_reserved_and_fall_back() {
    let grammar = grammar(
        "start: ID | \"if\" ID | \"match\" ID | \"abort\"\nID: /[a-z]+/\n\
         %reserved ID \"if\" \"goto\"\n%soft ID \"match\"\n\
         %fallback ID \"abort\"\n%reserved ID\n%lexer basic\n",
    );
    let printed = grammar.to_string();
    let expected = "\
        ID: /[a-z]+/  [rank 4, strings it covers are reserved]
IF: \"if\"  [rank 0, reserved against ID]
MATCH: \"match\"  [rank 1, soft ID]
ABORT: \"abort\"  [rank 2, fallback ID]
GOTO: \"goto\"  [rank 3, reserved against ID]
";
    assert!(printed.ends_with(expected), "{printed}");
    assert!(printed.contains("%lexer basic"));
}

#[test]
fn what_stands_around_a_word_prints() {
    let grammar = grammar(
        "start: ID | \")\" \"over\" \"(\"\nID: /[a-z]+/\nUNUSED: \"u\"\n\
         %lookahead ID \"over\" after \")\" before \"(\" UNUSED ID then ID\n\
         %lookahead ID \"window\" before ID\n",
    );
    let printed = grammar.to_string();
    assert!(
        printed
            .contains("OVER: \"over\"  [rank 1, lookahead ID after RPAR before LPAR ID then ID]"),
        "{printed}"
    );
    // It occurs in no rule, and yet is never an ID in that context.
    assert!(printed.contains("WINDOW: \"window\"  [rank 3, lookahead ID before ID]"), "{printed}");
}

#[test]
fn the_json_grammar_lowers_to_this() {
    let printed = grammar(include_str!("../../../grammars/json/json.lark")).to_string();
    let expected = "\
        %start json
%lexer contextual

json: value
value: object
value: array
value: STRING
value: NUMBER
value: TRUE
value: FALSE
value: NULL
object: LBRACE member __object_plus_0 RBRACE
object: LBRACE member RBRACE
object: LBRACE RBRACE
member: STRING COLON value
array: LSQB value __array_plus_1 RSQB
array: LSQB value RSQB
array: LSQB RSQB
__object_plus_0: COMMA member
__object_plus_0: __object_plus_0 COMMA member
__array_plus_1: COMMA value
__array_plus_1: __array_plus_1 COMMA value
";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(printed.ends_with("RSQB: \"]\"  [rank 8]\n"), "{printed}");
}

#[test]
fn yacc_grammars_lower_with_their_terminals() {
    let rules =
        "%start Sum\n%token NUMBER\n%left '+'\n%%\nSum: Sum '+' Sum | NUMBER | '(' Sum ')';\n";
    let error = Grammar::from_yacc(rules, "NUMBERS: /[0-9]+/\n");
    assert_eq!(places(&error), [("undefined-symbol", 5, 20)]);

    let terminals = "%import common.INT\nNUMBER: INT\n%ignore \" \"\n%lexer basic\n";
    let expected = "\
        %start Sum
%lexer basic

Sum: Sum PLUS Sum  [left 1]
Sum: NUMBER
Sum: LPAR Sum RPAR

NUMBER: (\"0\"..\"9\")+  [rank 4]
PLUS: \"+\"  [rank 1, left 1]
LPAR: \"(\"  [rank 2]
RPAR: \")\"  [rank 3]
SPACE: \" \"  [rank 0, ignored]
";
    assert_eq!(Grammar::from_yacc(rules, terminals).unwrap().to_string(), expected);

    let error = Grammar::from_yacc("%token A\n%%\nstart: A;\n", "\nA: \"a\" B\n");
    assert!(error.unwrap_err().to_string().starts_with("<terminals>:2:8: error[undefined-symbol]"));
}
