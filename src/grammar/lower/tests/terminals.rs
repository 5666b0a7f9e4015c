//! Names, patterns and ranks of terminals.

use super::grammar;

/// Returns the terminals of `text`, one per line.
fn terminals(text: &str) -> String {
    let printed = grammar(text).to_string();
    printed.split("\n\n").nth(2).unwrap_or_default().trim().to_owned()
}

#[test]
fn strings_in_rules_get_larks_names() {
    for (text, expected) in [
        ("start: \"{\"", "LBRACE: \"{\"  [rank 0]"),
        ("start: \"if\"", "IF: \"if\"  [rank 0]"),
        ("start: \"if\"i", "IF: \"if\"i  [rank 0]"),
        ("start: \"if\" \"IF\"", "IF: \"if\"  [rank 0]\n__ANON_0: \"IF\"  [rank 1]"),
        ("start: \"=>\"", "__ANON_0: \"=>\"  [rank 0]"),
        ("start: \"1a\"", "__ANON_0: \"1a\"  [rank 0]"),
        ("start: /a+/i", "__ANON_0: /a+/i  [rank 0]"),
        ("start: \"a\"..\"c\"", "__ANON_0: \"a\"..\"c\"  [rank 0]"),
        // A terminal defined as exactly that string is used instead, also through its fragments.
        ("start: \"if\"\nKW: \"if\"", "KW: \"if\"  [rank 0]"),
        ("start: \"if\"\nKW: W\nW: \"if\"", "KW: \"if\"  [rank 0]"),
        ("start: /a+/\nAS: /a+/", "AS: /a+/  [rank 0]"),
        ("start: \"if\" IF\nIF: /x/", "IF: /x/  [rank 1]\n__ANON_0: \"if\"  [rank 0]"),
        ("start: \"a\"\n%ignore \" \"", "A: \"a\"  [rank 0]\nSPACE: \" \"  [rank 1, ignored]"),
        (
            "start: \"a\"\n%ignore (\" \" | /\\t/)+",
            "A: \"a\"  [rank 0]\n__IGNORE_0: (\" \" | /\\t/)+  [rank 1, ignored]",
        ),
    ] {
        assert_eq!(terminals(text), expected, "{text}");
    }
}

#[test]
fn ranks_go_by_priority_then_strings_then_the_file() {
    let printed = terminals(
        "start: R S \"s\" LATE HIGH LOW\nR: /r/\nS: \"x\"\nLOW.-1: \"l\"\nHIGH.2: /h/\nLATE: \
         \"a\" \"b\"\n",
    );
    let expected = "\
        R: /r/  [rank 3]
S: \"x\"  [rank 2]
LOW: \"l\"  [rank 5]
HIGH: /h/  [rank 0]
LATE: \"a\" \"b\"  [rank 4]
__ANON_0: \"s\"  [rank 1]";
    assert_eq!(printed, expected);
}

#[test]
fn named_terminals_are_written_out() {
    let printed = terminals(
        "start: N\nN: D+ (\".\" D+)? | X~2..3\nD: \"0\"..\"9\"\nX: \"x\" | Y\nY: \"y\" \"z\"\n",
    );
    let expected = r#"N: ("0".."9")+ ("." ("0".."9")+)? | ("x" | "y" "z")~2..3  [rank 0]"#;
    assert_eq!(printed, expected);
}

#[test]
fn terminals_that_only_serve_others_are_left_out_without_a_warning() {
    let grammar = grammar("start: A\nA: B\nB: C\nC: \"c\"\n");
    assert_eq!(grammar.terminals.len(), 1);
    assert_eq!(grammar.warnings(), []);
}
