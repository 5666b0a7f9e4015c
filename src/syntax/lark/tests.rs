//! Tests of the reader: each construct, each kind of error, and that printing is the inverse of
//! reading.

use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::syntax::ast::{
    Alternative, Associativity, Clause, Directive, Expansions, ExprKind, Import, Mode, Rule,
    Spanned, Statement, TerminalDefinition, Word,
};

mod errors;
mod random;

fn read(text: &str) -> File {
    parse_lark(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn error(text: &str) -> SyntaxError {
    parse_lark(text).map(|file| panic!("{text:?} was read as\n{file}")).expect_err("the line above")
}

/// Returns the tree without its spans.
fn shape(file: &File) -> String {
    let spans = Regex::new(r"span: \d+\.\.\d+").expect("a sound pattern");
    spans.replace_all(&format!("{file:?}"), "span").into_owned()
}

/// Checks that both are read as the same tree, except for spans.
#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(shape(&read(one)), shape(&read(other)), "{one:?} against {other:?}");
}

/// Returns the body of the first definition.
fn body(text: &str) -> Expansions {
    match read(text).items.into_iter().next() {
        Some(
            Statement::Rule(Rule { body, .. })
            | Statement::Terminal(TerminalDefinition { body, .. }),
        ) => body,
        other => panic!("{text:?} begins with {other:?}"),
    }
}

/// Returns the only expression of the only alternative of the first definition.
fn expr(text: &str) -> ExprKind {
    match &mut body(&format!("a: {text}")).alternatives[..] {
        [Alternative { items, .. }] if items.len() == 1 => items.remove(0).node,
        other => panic!("{text:?} is {other:?}"),
    }
}

fn literal(text: &str) -> ExprKind {
    ExprKind::Literal { text: text.into(), ignore_case: false }
}

mod constructs {
    use super::*;

    #[test]
    fn rules_have_modifiers_parameters_and_a_priority() {
        let text = "?!_list{item, sep}.-2: item (sep item)*";
        let Some(Statement::Rule(rule)) = read(text).items.into_iter().next() else {
            panic!("no rule")
        };
        assert_eq!(
            (rule.mode, rule.name.node.as_str(), rule.modifiers.as_str()),
            (Mode::Define, "_list", "?!")
        );
        assert_eq!(&text[rule.name.span.clone()], "_list");
        assert_eq!(
            rule.parameters.iter().map(|p| p.node.as_str()).collect::<Vec<_>>(),
            ["item", "sep"]
        );
        assert_eq!(rule.priority.map(|p| p.node), Some(-2));
        assert_eq!(&text[rule.body.span.clone()], "item (sep item)*");
    }

    #[test]
    fn terminals_have_a_priority_of_either_sign() {
        let text = "A: \"a\"\n_B.2: \"b\"\nC.-3: \"c\"\nD.+1: \"d\"\nE.99999999999: \"e\"\nF.-2147483649: \"f\"";
        let priorities: Vec<_> = read(text)
            .items
            .iter()
            .map(|item| match item {
                Statement::Terminal(terminal) => (terminal.name.node.clone(), terminal.priority),
                other => panic!("{other:?}"),
            })
            .collect();
        // Out-of-range numbers are the highest and the lowest.
        let expected = [("A", 0), ("_B", 2), ("C", -3), ("D", 1), ("E", i32::MAX), ("F", i32::MIN)];
        let expected = expected.map(|(name, p)| (name.to_string(), p));
        assert_eq!(priorities, expected);
    }

    #[test]
    fn expressions() {
        assert_eq!(expr("b"), ExprKind::Rule("b".into()));
        assert_eq!(expr("_B1"), ExprKind::Terminal("_B1".into()));
        assert_eq!(expr(r#""x y""#), literal("x y"));
        assert_eq!(expr(r#""x"i"#), ExprKind::Literal { text: "x".into(), ignore_case: true });
        assert_eq!(expr(r#""a".."z""#), ExprKind::CharRange('a', 'z'));
        assert_eq!(expr(r#""\x00" .. "\U0010ffff""#), ExprKind::CharRange('\0', '\u{10ffff}'));
        for (text, min, max) in [
            ("b?", 0, Some(1)),
            ("b*", 0, None),
            ("b+", 1, None),
            ("b~3", 3, Some(3)),
            ("b ~ 0 .. 4294967295", 0, Some(u32::MAX)),
        ] {
            let ExprKind::Repeat { expr: inner, min: from, max: to } = expr(text) else {
                panic!("{text}")
            };
            assert_eq!((inner.node, from, to), (ExprKind::Rule("b".into()), min, max), "{text}");
        }
        assert!(matches!(expr("(b | c)"), ExprKind::Group(inner) if inner.alternatives.len() == 2));
        assert!(matches!(expr("[b]"), ExprKind::Maybe(inner) if inner.alternatives.len() == 1));
        assert!(
            matches!(expr("()"), ExprKind::Group(inner) if inner.alternatives[0].items.is_empty())
        );
        let ExprKind::Template { name, arguments } = expr(r#"sep{b, ",", "0".."9", /x/, t{C}}"#)
        else {
            panic!("no template")
        };
        assert_eq!((name.as_str(), arguments.len()), ("sep", 5));
        assert_eq!(arguments[2].node, ExprKind::CharRange('0', '9'));
    }

    #[test]
    fn strings_undo_escapes_as_lark_does() {
        assert_eq!(
            expr(r#""\n\t\r\f\\\"\x41\u00e9\U0001F600""#),
            literal("\n\t\r\x0c\\\"A\u{e9}\u{1f600}")
        );
        // A backslash before anything else is literal.
        assert_eq!(expr(r#""\d\.\'\/""#), literal(r"\d\.\'\/"));
        assert_eq!(expr(r#""\\""#), literal(r"\"));
        assert_eq!(expr(r#""//#""#), literal("//#"));
    }

    #[test]
    fn regexes_keep_their_escapes_but_the_slash() {
        let regex = |pattern: &str, flags: &str| ExprKind::Regex {
            pattern: pattern.into(),
            flags: flags.into(),
        };
        assert_eq!(expr(r"/\/\*(.|\n)*?\*\//s"), regex(r"/\*(.|\n)*?\*/", "s"));
        assert_eq!(expr(r"/\\\//imslux"), regex(r"\\/", "imslux"));
        assert_eq!(expr(r##"/[^"#]/"##), regex(r##"[^"#]"##, ""));
        assert_eq!(expr("/a b # c\n  d/x"), regex("a b # c\n  d", "x"));
        // Two slashes never begin a regex.
        assert_eq!(body("a: /x//y/ // z").alternatives[0].items.len(), 2);
        assert_eq!(body("a: // /x/").alternatives[0].items.len(), 0);
    }

    #[test]
    fn alternatives_may_be_empty_and_have_an_alias_and_a_precedence() {
        let text = "a: b -> x\n | %prec NEG -> y\n | c -> z %prec \"+\"i\n |";
        let alternatives = body(text).alternatives;
        let aliases: Vec<_> =
            alternatives.iter().map(|a| a.alias.as_ref().map(|name| name.node.as_str())).collect();
        assert_eq!(aliases, [Some("x"), Some("y"), Some("z"), None]);
        assert!(
            matches!(&alternatives[1].precedence, Some(Word::Name(name)) if name.node == "NEG")
        );
        assert!(
            matches!(&alternatives[2].precedence, Some(Word::Literal { text, ignore_case: true, .. }) if text == "+")
        );
        assert!(alternatives[3].items.is_empty());
        assert_eq!(&text[alternatives[2].span.clone()], "c -> z %prec \"+\"i");
        assert_eq!(
            body("a:\n  | b").alternatives.len(),
            2,
            "as in Lark, nothing stands before the first bar"
        );
    }

    #[test]
    fn line_ends_end_definitions_unless_a_bar_follows() {
        same("a: b\n\n  | c\r\n\t| d", "a: b | c | d");
        same("a: b // x\n // y\n# z\n\n | c # w", "a: b | c");
        same("a: (b\n | c)", "a: (b | c)");
        same("a: b \\\n  c\\ \r\n d", "a: b c d");
        same("\n\n// x\na: b\n\n\nc: d", "a: b\nc: d\n");
        same("\u{feff}a: b", "a: b");
        assert!(read("").items.is_empty());
        assert!(read(" \n// only a comment").items.is_empty());
    }

    #[test]
    fn imports() {
        let import = |text: &str| match read(text).items.into_iter().next() {
            Some(Statement::Import(Import { level, path, names, .. })) => {
                let path: Vec<_> = path.into_iter().map(|name| name.node).collect();
                let names = names.into_iter().map(|(name, new)| match new {
                    Some(new) => format!("{}->{}", name.node, new.node),
                    None => name.node,
                });
                (level, path.join("."), names.collect::<Vec<_>>().join(" "))
            }
            other => panic!("{other:?}"),
        };
        let parts = |level, path: &str, names: &str| (level, path.to_string(), names.to_string());
        assert_eq!(import("%import common.NUMBER"), parts(0, "common", "NUMBER"));
        assert_eq!(import("%import common.NUMBER -> NUM"), parts(0, "common", "NUMBER->NUM"));
        assert_eq!(import("%import common (A, B -> C,d)"), parts(0, "common", "A B->C d"));
        assert_eq!(import("%import a.b.C"), parts(0, "a.b", "C"));
        assert_eq!(import("%import .file.rule"), parts(1, "file", "rule"));
        assert_eq!(import("%import ..x (A)"), parts(2, "x", "A"));
        assert_eq!(import("%import ...x.y.Z"), parts(3, "x.y", "Z"));
    }

    #[test]
    fn statements() {
        let items =
            read("%ignore WS | /x/+\n%declare _INDENT _DEDENT\n%override a: b\n%extend A.1: \"b\"")
                .items;
        assert!(
            matches!(&items[0], Statement::Ignore(ignored) if ignored.node.alternatives.len() == 2)
        );
        assert!(matches!(&items[1], Statement::Declare(names) if names[1].node == "_DEDENT"));
        assert!(matches!(&items[2], Statement::Rule(rule) if rule.mode == Mode::Override));
        assert!(
            matches!(&items[3], Statement::Terminal(terminal) if terminal.mode == Mode::Extend)
        );
    }

    #[test]
    fn directives() {
        let text = "%start a b\n%lexer basic\n%reserved NAME\n%reserved NAME \"if\" THEN\n\
                    %fallback NAME \"abort\"\n\
                    %soft NAME \"match\" \"case\"\n%left \"+\" \"-\"\n%right POW\n\
                    %nonassoc \"<\" \\\n \">\"\n\
                    %lookahead NAME \"over\" after \")\" before \"(\" NAME then \"as\" then \"x\"\n\
                    %exclusive TEXT \"$\"\n\
                    %indent NEWLINE INDENT DEDENT open \"(\" \"[\" close \")\" tab 8";
        let directives: Vec<_> = read(text)
            .items
            .into_iter()
            .map(|item| match item {
                Statement::Directive(directive) => directive,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(&text[directives[3].span.clone()], "%reserved NAME \"if\" THEN");
        assert!(
            matches!(&directives[0].node, Directive::Start(names) if names[0].node == "a" && names.len() == 2)
        );
        assert!(matches!(&directives[1].node, Directive::Lexer(name) if name.node == "basic"));
        assert!(
            matches!(&directives[2].node, Directive::Reserved { words, .. } if words.is_empty())
        );
        assert!(
            matches!(&directives[3].node, Directive::Reserved { words, .. } if words.len() == 2)
        );
        assert!(
            matches!(&directives[4].node, Directive::Fallback { words, .. } if words.len() == 1)
        );
        assert!(
            matches!(&directives[5].node, Directive::Soft { to: Word::Name(_), words } if words.len() == 2)
        );
        let Directive::Lookahead { after: Some(after), before, .. } = &directives[9].node else {
            panic!("{directives:?}")
        };
        assert_eq!(
            (after.len(), before.iter().map(Vec::len).collect::<Vec<_>>()),
            (1, vec![2, 1, 1])
        );
        let Directive::Indent { clauses, .. } = &directives[11].node else {
            panic!("{:?}", directives[11])
        };
        assert_eq!(clauses.len(), 3);
        assert_eq!(clauses[0].words.len(), 2);
        assert_eq!(clauses[2].number.as_ref().map(|number| number.node), Some(8));
        let associativities: Vec<_> = directives[6..9]
            .iter()
            .map(|directive| match &directive.node {
                Directive::Precedence { associativity, words } => (*associativity, words.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        let expected =
            [(Associativity::Left, 2), (Associativity::Right, 1), (Associativity::Nonassoc, 2)];
        assert_eq!(associativities, expected);
        assert!(matches!(&directives[10].node, Directive::Exclusive(words) if words.len() == 2));
    }
}

mod limits {
    use super::*;

    #[test]
    fn the_deepest_nesting_is_read_printed_and_dropped() {
        for (open, close) in [("(", ")"), ("[", "]"), ("t{", "}")] {
            let text = format!("a: {}b{}", open.repeat(200), close.repeat(200));
            same(&text, &read(&text).to_string());
        }
    }

    #[test]
    fn a_hundred_thousand_alternatives_are_read() {
        let text = format!(
            "a: \"0\"{}",
            (1..100_000).map(|i| format!("\n  | \"{i}\" b")).collect::<String>()
        );
        assert_eq!(body(&text).alternatives.len(), 100_000);
    }

    #[test]
    fn a_literal_of_ten_megabytes_is_read() {
        let text = format!("a: \"{}\"", "\\\\x".repeat(10 << 18));
        let ExprKind::Literal { text, .. } = &body(&text).alternatives[0].items[0].node else {
            panic!("no literal")
        };
        assert_eq!(text.len(), 10 << 19);
    }

    #[test]
    fn files_and_word_counts_are_bounded() {
        assert_eq!(error(&" ".repeat(MAX_BYTES + 1)).kind(), SyntaxErrorKind::TooLarge);
        assert_eq!(
            error(&"a:\n".repeat(lexer::MAX_WORDS / 2 + 1)).kind(),
            SyntaxErrorKind::TooLarge
        );
    }
}

mod whole_grammars {
    use super::*;

    const CALCULATOR: &str = r##"
        ?start: sum
              | NAME "=" sum    -> assign_var

        ?sum: product
            | sum "+" product   -> add
            | sum "-" product   -> sub

        ?product: atom
            | product "*" atom  -> mul
            | product "/" atom  -> div

        ?atom: NUMBER           -> number
             | "-" atom         -> neg
             | NAME             -> var
             | "(" sum ")"

        %import common.CNAME -> NAME
        %import common.NUMBER
        %import common.WS_INLINE

        %ignore WS_INLINE
    "##;

    const SETTINGS: &str = r##"
        // Sections of settings, with lists and comments.
        %lexer contextual
        start: (section | _NL)*
        section: "[" NAME "]" _NL (setting _NL)*
        setting.2: NAME "=" value
        !value: "yes"i | "no"i | NUMBER~1..3 | STRING | _list{value, ","}
        _list{item, sep}: "{" [item (sep item)*] "}"   # a template

        NAME: ("_" | LETTER) ("_" | LETTER | DIGIT)*
        LETTER: "a".."z" | "A".."Z"
        DIGIT: "0".."9"
        NUMBER.1: /[+-]?\d+(\.\d+)?/
        STRING: /"(\\.|[^"\\\n])*"/ | "'" /[^']/* "'"
        PATH: /\/(usr|etc)\/[^\/ ]+/i
        _NL: /(\r?\n)+/
        COMMENT: /;[^\n]*/
               | /\#
                  [^\n]*   # verbose
                 /x
        %ignore COMMENT
        %ignore /[ \t]+/
        %reserved NAME "yes" "no"
    "##;

    const EXPRESSIONS: &str = r##"
        %start program
        %lexer basic
        %left "or"
        %left "and"
        %nonassoc "<" "=="
        %left "+" "-"
        %right NEG
        program: (expr ";")+
        expr: expr "or" expr | expr "and" expr
            | expr "<" expr  | expr "==" expr
            | expr "+" expr  | expr "-" expr
            | "-" expr %prec NEG -> negate
            | NAME | NUMBER | "if" expr "then" expr
        %import common (NUMBER, CNAME -> NAME)
        %fallback NAME "then"
        %soft NAME "if"
        %override NUMBER: /[0-9]+/
        %extend expr: "(" expr ")"
        %declare _INDENT _DEDENT
    "##;

    #[test]
    fn are_read_and_printed_to_the_same_tree() {
        for (text, items) in [(CALCULATOR, 8), (SETTINGS, 17), (EXPRESSIONS, 15)] {
            let file = read(text);
            assert_eq!(file.items.len(), items, "{file}");
            same(text, &file.to_string());
        }
    }
}

/// The examples in the notation's documentation.
mod documentation {
    use super::*;

    const TEXT: &str = include_str!("../../../docs/grammar.md");

    /// Returns the code blocks after a line of "```" and `label`.
    fn blocks(label: &str) -> Vec<&'static str> {
        let opening = format!("```{label}\n");
        let blocks = TEXT.split(opening.as_str()).skip(1);
        blocks.map(|block| block.split("```").next().unwrap_or(block)).collect()
    }

    #[test]
    fn its_examples_are_read() {
        let examples = blocks("lark");
        assert!(examples.len() > 8);
        for example in examples {
            same(example, &read(example).to_string());
        }
    }

    #[test]
    fn its_yacc_example_is_read_with_its_terminals() {
        let (grammar, terminals) = (blocks("yacc")[0], blocks("lark terminals")[0]);
        let files = crate::syntax::parse_yacc(grammar, terminals).expect("the example is sound");
        assert_eq!((files.grammar.items.len(), files.terminals.items.len()), (5, 4));
    }
}
