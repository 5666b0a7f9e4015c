//! `%indent`: against CPython, on deep texts, and where it is impossible.

#![allow(clippy::unwrap_used)]

use lrmask::{CompiledGrammar, Constraint, Grammar, Matcher, Vocabulary};

/// A subset of Python that covers the texts of `data/indentation.tsv`, and a little more.
const PYTHON: &str = r#"
%lexer basic
%declare INDENT DEDENT
%indent NEWLINE INDENT DEDENT open "(" "[" close ")" "]" join JOIN levels 99
start: statement*
statement: simple | "if" expression ":" block ["else" ":" block]
simple: small (";" small)* [";"] NEWLINE
small: expression | "pass"
block: simple | NEWLINE INDENT statement+ DEDENT
expression: primary
primary: atom | primary "(" [expression] ")" | primary "[" expression "]"
atom: NAME | "(" [expression] ")" | "[" [expression] "]"
NAME: /[a-z]+/
NEWLINE: /\r\n|\r|\n/
JOIN: /\\(\r\n|\r|\n)/
%ignore JOIN
%ignore /[ \t\f]+/
%ignore /#[^\r\n]*/
"#;

fn vocabulary() -> Vocabulary {
    let longer = [
        "\n    ",
        ":\n        return",
        "\n\n",
        "\n\tx\n",
        "  ",
        "        ",
        " \t",
        "x)\n",
        "()\r\n  x",
    ];
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let tokens = bytes
        .chain(longer.iter().map(|token| token.as_bytes().to_vec()))
        .chain([b"<end>".to_vec()]);
    let tokens: Vec<Vec<u8>> = tokens.collect();
    let end = tokens.len() as u32 - 1;
    Vocabulary::from_tokens(tokens)
        .unwrap()
        .with_special(end, "<end>")
        .unwrap()
        .with_stop_tokens([end])
        .unwrap()
}

fn constraint(grammar: &str) -> Constraint {
    Constraint::new(&Grammar::from_lark(grammar).unwrap(), &vocabulary()).unwrap()
}

fn accepts(matcher: &mut Matcher, text: &str) -> bool {
    matcher.reset();
    matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Returns the text of a Python string literal without quotes.
fn unescaped(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = literal.chars();
    while let Some(character) = rest.next() {
        let escaped = if character == '\\' { rest.next() } else { None };
        text.push(match escaped {
            None => character,
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('\\') => '\\',
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).unwrap().into()
            }
            Some(other) => panic!("\\{other}"),
        });
    }
    text
}

#[test]
fn lines_begin_and_end_as_in_cpython() {
    let constraint = constraint(PYTHON);
    let mut matcher = constraint.matcher();
    let (mut yes, mut no) = (0, 0);
    for line in include_str!("data/indentation.tsv").lines() {
        let (verdict, literal) = line.split_once('\t').unwrap();
        let text = unescaped(literal);
        assert_eq!(accepts(&mut matcher, &text), verdict == "yes", "{verdict} {literal}");
        if verdict == "yes" { yes += 1 } else { no += 1 }
    }
    assert!(yes > 400 && no > 400, "{yes} {no}");
}

#[test]
fn every_viable_text_is_completed_to_one_that_is_accepted() {
    let constraint = constraint(PYTHON);
    let mut matcher = constraint.matcher();
    let mut completed = 0;
    for line in include_str!("data/indentation.tsv").lines().step_by(3) {
        let text = unescaped(line.split_once('\t').unwrap().1);
        matcher.reset();
        for byte in text.bytes() {
            if matcher.advance_bytes(&[byte]).is_err() {
                break;
            }
            let completion =
                matcher.shortest_completion().expect("what is viable can be completed");
            let mut end = matcher.clone();
            assert!(
                end.advance_bytes(&completion).is_ok() && end.is_accepting(),
                "{line}: {completion:?}"
            );
            completed += 1;
        }
    }
    assert!(completed > 2000, "{completed}");
}

#[test]
fn deep_texts_are_completed_by_plan() {
    let mut matcher = constraint(PYTHON).matcher();
    let lines: String = (0..98).map(|level| format!("{}if x:\n", "\t".repeat(level))).collect();
    let inside = format!("{lines}{}x \\\n (x(", "\t".repeat(98));
    for (text, completion) in [(lines, 98), (inside, 0)] {
        matcher.reset();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        let found = matcher.shortest_completion().unwrap();
        assert!(found.len() < 8 * completion + 16, "{}", found.len());
        matcher.advance_bytes(&found).unwrap();
        assert!(matcher.is_accepting());
    }
}

#[test]
fn a_mask_does_not_depend_on_the_bytes_that_a_width_is_written_with() {
    let constraint = constraint(PYTHON);
    let mask = |text: &str| {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        let mut mask = constraint.new_mask();
        matcher.fill_mask(&mut mask);
        mask
    };
    assert_eq!(mask("if x:\n  x\n"), mask("if x:\n    \x0c  x\n"));
    assert_ne!(mask("if x:\n        x\n"), mask("if x:\n\tx\n"));
    assert_eq!(mask("if x:\n  x\n"), mask("if x:\n  x\n      # x\n\n"));
}

#[test]
fn what_cannot_be_exact_is_refused() {
    let base = "%declare INDENT DEDENT\nNEWLINE: \"\\n\"\n";
    let indent = "%indent NEWLINE INDENT DEDENT\n";
    let block = "start: line+\nline: \"x\" NEWLINE | \"i\" NEWLINE INDENT line+ DEDENT\n";
    let blanks = "%ignore / +/\n";
    let cases = [
        ("unreadable-blanks", format!("{base}{indent}{block}")),
        ("unreadable-blanks", format!("{base}{indent}{block}%ignore /(  )+/\n")),
        (
            "blank-begins-line",
            format!("{base}{indent}start: line+\nline: \"x\" NEWLINE | / y/ NEWLINE\n{blanks}"),
        ),
        (
            "newline-with-blanks",
            format!("%declare INDENT DEDENT\nNEWLINE: /\\n( y)*/\n{indent}{block}{blanks}"),
        ),
        (
            "unbalanced-blocks",
            format!("{base}{indent}start: \"x\" NEWLINE INDENT \"x\" NEWLINE\n{blanks}"),
        ),
        (
            "unbalanced-brackets",
            format!(
                "{base}%indent NEWLINE INDENT DEDENT open \"(\" close \")\"\nstart: \"x\" \"(\" NEWLINE\n{blanks}"
            ),
        ),
        (
            "line-in-brackets",
            format!(
                "{base}%indent NEWLINE INDENT DEDENT open \"(\" close \")\"\nstart: \"(\" l \")\" NEWLINE\nl: \"x\" NEWLINE\n{blanks}"
            ),
        ),
        (
            "bad-indent",
            format!(
                "{base}INDENT_TEXT: \"x\"\n%indent NEWLINE INDENT_TEXT DEDENT\n{block}{blanks}"
            ),
        ),
        ("bad-indent", format!("{base}%indent NEWLINE INDENT INDENT\n{block}{blanks}")),
        (
            "bad-indent",
            format!(
                "{base}JOIN: /\\\\\\n/\n%indent NEWLINE INDENT DEDENT join JOIN\n{block}{blanks}"
            ),
        ),
        ("empty-language", format!("{base}{indent}start: \"x\" NEWLINE NEWLINE\n{blanks}")),
        ("empty-language", format!("{base}{indent}start: \"x\"\n{blanks}")),
        (
            "empty-language",
            format!("{base}{indent}start: \"x\" INDENT \"y\" DEDENT NEWLINE\n{blanks}"),
        ),
        ("unending-line", format!("{base}{indent}{block}{blanks}%ignore /#(.|\\n)*/\n")),
        ("indent-with-look-ahead", format!("{base}{indent}{block}{blanks}%ignore /#(?=x)/\n")),
        ("indent-with-look-behind", format!("{base}{indent}{block}{blanks}%ignore /(?<=x)#/\n")),
        (
            "indent-with-look-ahead",
            format!("{base}{indent}start: line+\nline: /x(?=\\ny)|y/ NEWLINE\n{blanks}"),
        ),
        (
            "level-limit",
            format!(
                "{base}%indent NEWLINE INDENT DEDENT levels 0\nstart: \"i\" NEWLINE INDENT \"x\" NEWLINE DEDENT\n{blanks}"
            ),
        ),
    ];
    for (code, grammar) in cases {
        let found: Vec<&str> = match Grammar::from_lark(&grammar) {
            Err(error) => error.diagnostics().iter().map(|finding| finding.code).collect(),
            Ok(grammar) => match CompiledGrammar::new(&grammar) {
                Err(error) => error.diagnostics().iter().map(|finding| finding.code).collect(),
                Ok(_) => Vec::new(),
            },
        };
        assert!(found.contains(&code), "{code}: found {found:?} in\n{grammar}");
    }
}

#[test]
fn faults_of_the_directive_are_found_where_they_stand() {
    let base = "start: \"x\" NEWLINE\nNEWLINE: \"\\n\"\n%declare I D\n";
    for (code, line) in [
        ("bad-clause", "%indent NEWLINE I D tab 0"),
        ("bad-clause", "%indent NEWLINE I D open"),
        ("bad-clause", "%indent NEWLINE I D wide 3"),
        ("bad-clause", "%indent NEWLINE I D join NEWLINE NEWLINE"),
        ("duplicate-directive", "%indent NEWLINE I D tab 4 tab 8"),
        ("duplicate-directive", "%indent NEWLINE I D\n%indent NEWLINE I D"),
        ("undefined-symbol", "%indent NEWLINE I DE"),
    ] {
        let error = Grammar::from_lark(&format!("{base}{line}\n")).unwrap_err();
        let finding = error.diagnostics().iter().find(|finding| finding.code == code);
        let place = finding
            .and_then(|finding| finding.place.as_ref())
            .unwrap_or_else(|| panic!("{code}: {error}"));
        assert!(place.line >= 4, "{code}: {place:?}");
    }
}

/// Rules for the two ends of a block are inlined where they are used.
#[test]
fn ends_of_blocks_may_have_rules_of_their_own() {
    let rest =
        "\n%declare _INDENT _DEDENT\n_NL: /(\\r?\\n[\\t ]*)+/\nNAME: /[a-z]+/\n%ignore /[\\t ]+/\n";
    let plain =
        format!("start: line+\nline: NAME _NL | NAME \":\" _NL _INDENT line+ _DEDENT{rest}");
    let named = format!(
        "start: line+\nline: NAME _NL | NAME \":\" begin line+ end\nbegin: _NL indent\n\
         indent: _INDENT -> deeper\nend: _DEDENT{rest}"
    );
    let (plain, named) = (constraint(&plain), constraint(&named));
    for text in ["a\n", "a:\n b\n", "a:\n b:\n  c\n d\n", "a:\nb\n", "a:\n b\n  c\n", "a:\n"] {
        let verdicts = [&plain, &named].map(|constraint| accepts(&mut constraint.matcher(), text));
        assert_eq!(verdicts[0], verdicts[1], "{text:?}");
    }
    assert!(accepts(&mut named.matcher(), "a:\n b:\n  c\n d\n"));
    let brackets = format!(
        "start: line+\nline: value _NL | NAME \":\" _NL _INDENT line+ _DEDENT\n\
         value: NAME | open value* close\nopen: \"(\"\nclose: \")\"\n%indent _NL _INDENT _DEDENT open \"(\" close \")\"{rest}"
    );
    assert!(accepts(&mut constraint(&brackets).matcher(), "(a\n  (b)\n)\nc\n"));
}
