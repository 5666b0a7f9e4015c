//! Imports, overriding, and the `common` library.

use std::error::Error as _;
use std::io::ErrorKind;

use super::{grammar, places};
use crate::grammar::{Grammar, GrammarErrorKind, GrammarReader};

/// Returns a grammar that can import `files`.
fn with_files(text: &str, files: &[(&str, &str)]) -> Result<Grammar, crate::grammar::GrammarError> {
    let imports = |path: &str| {
        let file = files.iter().find(|(name, _)| *name == path);
        file.map(|(_, text)| (*text).to_owned()).ok_or_else(|| ErrorKind::NotFound.into())
    };
    GrammarReader::new().name("dir/main.lark").imports(&imports).lark(text)
}

#[test]
fn every_name_of_common_can_be_imported() {
    let names = "DIGIT HEXDIGIT INT SIGNED_INT DECIMAL _EXP FLOAT SIGNED_FLOAT NUMBER \
                 SIGNED_NUMBER _STRING_INNER _STRING_ESC_INNER ESCAPED_STRING LCASE_LETTER \
                 UCASE_LETTER LETTER WORD CNAME WS_INLINE WS \
                 CR LF NEWLINE SH_COMMENT CPP_COMMENT C_COMMENT SQL_COMMENT";
    for name in names.split_whitespace() {
        let grammar = grammar(&format!("%import common.{name}\nstart: {name}\n"));
        assert_eq!(grammar.terminals.len(), 1);
        assert_eq!(grammar.terminals[0].name, name);
        assert_eq!(grammar.warnings(), []);
    }
}

#[test]
fn imported_rules_bring_what_they_need_under_mangled_names() {
    let files = [(
        "dir/expr.lark",
        "%import common.NUMBER\nsum: sum \"+\" _atom | _atom\n_atom: NUMBER | NAME\n\
         NAME: /[a-z]/\nother: nowhere\n",
    )];
    let text = "%import .expr (sum, NAME -> ID)\nstart: sum ID\n";
    let printed = with_files(text, &files).unwrap().to_string();
    assert!(printed.contains("_expr__atom: expr__NUMBER\n_expr__atom: ID\n"), "{printed}");
    assert!(printed.contains("sum: sum PLUS _expr__atom\n"), "{printed}");
}

#[test]
fn overriding_and_extending_reach_into_the_import() {
    let files = [("dir/base.lark", "top: item+\nitem: \"a\"\nKEY: \"k\"\nuse: KEY\n")];
    let text = "%import .base (top, item, use, KEY)\n%override item: \"b\"\n%extend KEY: \
        \"l\"\nstart: top use\n";
    let printed = with_files(text, &files).unwrap().to_string();
    assert!(printed.contains("item: B\n") && !printed.contains("item: A\n"), "{printed}");
    assert!(printed.contains("KEY: \"k\" | \"l\""), "{printed}");
    // The same without the two: the import itself is not affected.
    let printed = with_files("%import .base (top)\nstart: top\n", &files).unwrap().to_string();
    assert!(printed.contains("base__item: A\n"), "{printed}");
}

#[test]
fn paths_are_relative_to_the_importing_file() {
    let files = [
        ("dir/sub/a.lark", "%import .b.x\n%import ..c.y\na: x y\n"),
        ("dir/sub/b.lark", "x: \"x\"\n"),
        ("dir/c.lark", "y: \"y\"\n"),
    ];
    let printed = with_files("%import .sub.a.a\nstart: a\n", &files).unwrap().to_string();
    assert!(printed.contains("a: sub__a__x sub__a__y\n"), "{printed}");
}

#[test]
fn ignored_and_directed_things_stay_in_the_imported_file() {
    let files = [(
        "dir/a.lark",
        "a: \"a\" B\nB: /b/\n%ignore \" \"\n%start a\n%lexer basic\n%reserved B \"b\"\n",
    )];
    let grammar = with_files("%import .a.a\nstart: a\n", &files);
    assert_eq!(places(&grammar), [("imported-directive", 6, 1)]);
    let grammar = grammar.unwrap();
    assert!(
        !grammar.to_string().contains("ignored")
            && grammar.to_string().contains("%lexer contextual")
    );
}

#[test]
fn faults_in_imports_have_their_places() {
    let cycle = [("dir/a.lark", "%import .b.x\na: x\n"), ("dir/b.lark", "\n%import .a.a -> x\n")];
    for (text, files, expected) in [
        ("%import .a.a\nstart: a\n", &cycle[..], ("import-cycle", 2, 1)),
        ("%import .main.start -> a\nstart: a\n", &[], ("import-cycle", 1, 1)),
        ("\n%import .nowhere.a\nstart: a\n", &[], ("import-not-found", 2, 1)),
        ("\n%import pythn.NAME\nstart: NAME\n", &[], ("import-not-found", 2, 1)),
        ("%import common.NUMBR\nstart: NUMBR\n", &[], ("undefined-symbol", 1, 16)),
        ("%import common.INT\nINT: /x/\nstart: INT\n", &[], ("duplicate-definition", 2, 1)),
        ("%import common.INT -> int\nstart: int\n", &[], ("import-kind", 1, 16)),
    ] {
        let result = with_files(text, files);
        assert_eq!(places(&result).first(), Some(&expected), "{text}\n{result:?}");
        assert!(result.is_err());
    }
}

#[test]
fn files_beside_the_grammar_go_before_libraries() {
    let beside = [("dir/common.lark", "INT: /i+/\n%import common.CR\n")];
    let grammar = with_files("%import common.INT\nstart: INT\n", &beside).unwrap();
    assert!(grammar.to_string().contains("INT: /i+/"), "{grammar}");
    let grammar = with_files("%import common.INT\nstart: INT\n", &[]).unwrap();
    assert!(!grammar.to_string().contains("INT: /i+/"), "{grammar}");
    // A file that is being read does not match the library of its name.
    let text = "%import common.INT\nstart: INT\n";
    let imports = |path: &str| match path {
        "dir/common.lark" => Ok(text.to_owned()),
        _ => Err(ErrorKind::NotFound.into()),
    };
    let grammar = GrammarReader::new().name("dir/common.lark").imports(&imports).lark(text);
    assert!(grammar.is_ok(), "{grammar:?}");
}

#[test]
fn every_name_of_every_library_can_be_imported() {
    for library in ["common", "lark", "python", "unicode"] {
        let file = format!("grammars/library/{library}.lark");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let defined = text.lines().filter_map(|line| {
            let name = line.split([':', '{', '.']).next()?.trim_start_matches(['?', '!']);
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            (line.contains(':') && is_name && !line.contains('{')).then_some(name)
        });
        let mut count = 0;
        for name in defined {
            count += 1;
            let alias = if name.trim_start_matches('_').starts_with(char::is_uppercase) {
                "X"
            } else {
                "x"
            };
            // Blocks are defined by the importer.
            let lines = match library {
                "python" => "%import python (_NEWLINE, _INDENT, _DEDENT)\n",
                _ => "",
            };
            let text =
                format!("{lines}%import {library}.{name} -> {alias}\nstart: {alias} \"!\"\n");
            let grammar = Grammar::from_lark(&text);
            assert!(grammar.is_ok(), "{library}.{name}: {grammar:?}");
        }
        assert!(count >= 2, "{library} has {count} names");
    }
}

#[test]
fn a_name_imported_in_vain_is_an_error_where_it_is_used() {
    let unused = with_files("%import common.keywords\nstart: \"a\"\n", &[]);
    assert_eq!(places(&unused), [("unknown-import", 1, 16)]);
    let used = with_files("%import common.keywords\nstart: keywords | keywords\n", &[]);
    assert_eq!(places(&used), [("undefined-symbol", 1, 16)]);
}

#[test]
fn doubling_imports_meet_a_limit() {
    let imports = |path: &str| {
        let level = path
            .strip_prefix("f")
            .and_then(|rest| rest.split(['.', 'b']).next()?.parse::<u32>().ok());
        let level = level.ok_or(ErrorKind::NotFound)?;
        Ok(format!("%import .f{0}.x\n%import .f{0}b.x -> y\nx: x y \"a\"\n", level + 1))
    };
    let result =
        GrammarReader::new().name("main").imports(&imports).lark("%import .f0.x\nstart: x\n");
    assert_eq!(places(&result)[0].0, "too-many-imports");
}

#[test]
fn a_file_that_cannot_be_read_is_not_a_library() {
    let imports = |_: &str| Err(ErrorKind::PermissionDenied.into());
    let reader = GrammarReader::new().name("dir/main.lark").imports(&imports);
    for text in ["%import .other.x\nstart: x\n", "%import common.INT\nstart: INT\n"] {
        let result = reader.lark(text);
        assert_eq!(places(&result)[0].0, "import-unreadable");
        let error = result.unwrap_err();
        assert_eq!(error.kind(), GrammarErrorKind::Import);
        let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        assert_eq!(source.map(std::io::Error::kind), Some(ErrorKind::PermissionDenied));
    }
}
