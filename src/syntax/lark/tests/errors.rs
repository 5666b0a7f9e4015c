//! Each kind of error, its place and its message.

use super::*;

/// Each kind of error, with the text at fault.
#[test]
fn every_kind_names_the_place() {
    use SyntaxErrorKind::*;
    let deep = format!("a: {}b{}", "(".repeat(201), ")".repeat(201));
    let cases: &[(&str, SyntaxErrorKind, &str)] = &[
        (&deep, TooDeep, "("),
        ("a: b = c", UnexpectedCharacter, "="),
        ("a: 'b'", UnexpectedCharacter, "'"),
        ("a: b;", UnexpectedCharacter, ";"),
        ("a: \u{0}", UnexpectedCharacter, "\u{0}"),
        ("a: b\u{a0}c", UnexpectedCharacter, "\u{a0}"),
        ("a: b\rc: d", UnexpectedCharacter, "\r"),
        ("a: b \\ c", UnexpectedCharacter, "\\"),
        ("größe: b", UnexpectedCharacter, "ö"),
        ("a b", UnexpectedToken, "b"),
        ("a: b c: d", UnexpectedToken, ":"),
        ("a: b**", UnexpectedToken, "*"),
        ("| a", UnexpectedToken, "|"),
        ("a: %start", UnexpectedToken, "%start"),
        ("%left", UnexpectedToken, ""),
        ("%left /x/", UnexpectedToken, "/x/"),
        ("a: b -> C", UnexpectedToken, "C"),
        ("a: \"b", UnterminatedString, "\"b"),
        ("a: \"b\\\"\nc: \"d\"", UnterminatedString, "\"b\\\""),
        ("a: /b", UnterminatedRegex, "/b"),
        ("A: /b\nC: /d/", UnterminatedRegex, "/b"),
        (r#"a: "b\x4""#, BadEscape, r"\x4"),
        (r#"a: "b\ud800""#, BadEscape, r"\ud800"),
        (r#"a: "\U00110000""#, BadEscape, r"\U00110000"),
        (r#"a: "\xé""#, BadEscape, r"\x"),
        ("%reserved A \"\"", EmptyLiteral, "\"\""),
        ("aB: b", BadName, "aB"),
        ("__a: b", BadName, "__a"),
        ("%ignored X", UnknownDirective, "%ignored"),
        ("% ignore X", UnknownDirective, "%"),
        ("a: (b\nc: d", UnclosedBracket, "("),
        ("a: [b", UnclosedBracket, "["),
        ("a: (b]", UnmatchedBracket, "]"),
        ("a: b)", UnmatchedBracket, ")"),
        ("a: b~4294967296", BadNumber, "4294967296"),
        ("a: b~-1", BadRepetition, "-1"),
        ("a: b~3..2", BadRepetition, "3..2"),
        ("a: \"b\"..\"a\"", BadRange, "\"b\"..\"a\""),
        ("a: \"ab\"..\"c\"", BadRange, "\"ab\"..\"c\""),
        ("a: \"a\"i..\"c\"", BadRange, "\"a\"i..\"c\""),
        ("%import common", BadImport, "%import common"),
        ("%import .NAME -> B", BadImport, "%import .NAME -> B"),
    ];
    for (text, kind, fault) in cases {
        let error = error(text);
        assert_eq!(error.kind(), *kind, "{text:?}: {error}");
        assert_eq!(&text[error.span()], *fault, "{text:?}: {error}");
    }
}

#[test]
fn messages_say_what_was_found_expected_and_what_to_write() {
    let cases = [
        (
            "a b",
            "found the rule name `b`, expected `:`, `.`, `[` or `{`; a definition is written \
             `name: ...`; a line that continues the last one begins with `|`, or the last one \
             ends with a backslash",
        ),
        (
            "a: b\nc",
            "found the end of the file, expected `:`, `.`, `[` or `{`; a definition is written \
             `name: ...`; a line that continues the last one begins with `|`, or the last one \
             ends with a backslash",
        ),
        ("%start\na: b", "found the end of the line, expected a rule's name"),
        (
            "%start A",
            "found the terminal name `A`, expected a rule's name; this must be a name in lower \
             case",
        ),
        ("a: b~c", "found the rule name `c`, expected a number"),
        (
            "%left a",
            "found the rule name `a`, expected a terminal's name or a string; only terminals and \
             strings are allowed in this directive",
        ),
        (
            "a: t{(b)}",
            "found `(`, expected a name, a string or a regex; the arguments of a template are \
             names, \
             strings and regexes; give a group a rule of its own",
        ),
        (
            "a: b.c",
            "found `.`, expected a name, a string, a regex, `(` or `[`, a repetition, the end of \
             the line, `|`, `->`, `{` or `%prec`; a priority follows the name of a definition: \
             `NAME.2: ...`",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(text).to_string(), message, "{text:?}");
    }
}

#[test]
fn a_diagnostic_has_the_place_and_the_bracket() {
    let text = "start: a\na: (b\n";
    let diagnostic = error(text).diagnostic(&"g.lark".into(), text);
    assert_eq!(diagnostic.code, "unclosed-bracket");
    let place = diagnostic.place.expect("syntax errors have a place");
    assert_eq!((place.line, place.column), (2, 4));
    assert_eq!(diagnostic.related.len(), 1);
    assert!(diagnostic.help.is_some());
}

#[test]
fn long_words_are_shortened_in_messages() {
    let message = error(&format!("a: {} = ", "b".repeat(100_000))).to_string();
    assert!(message.len() < 300, "{message}");
    let message = error(&format!("%start \"{}\"", "b".repeat(100_000))).to_string();
    assert!(message.len() < 300, "{message}");
}
