//! Random trees are printed and read again.

use super::*;

fn spanned<T>(node: T) -> Spanned<T> {
    Spanned { node, span: 0..0 }
}

fn rule_name() -> impl Strategy<Value = String> {
    "_?[a-z][a-z0-9_]{0,4}"
}

fn terminal_name() -> impl Strategy<Value = String> {
    "_?[A-Z][A-Z0-9_]{0,4}"
}

fn name() -> impl Strategy<Value = Spanned<String>> {
    prop_oneof![rule_name(), terminal_name()].prop_map(spanned)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["(?s:.){1,6}", r#"[\\"/nxu0-9\n\r\t]{1,6}"#]
}

fn regex() -> impl Strategy<Value = ExprKind> {
    let piece = prop_oneof![r"[a-z\[\]()/#. *+|]", r"\\[a-z\\.\[#]", Just("\"".to_string())];
    (proptest::collection::vec(piece, 1..6), "[imslux]{0,3}")
        .prop_map(|(pieces, flags)| ExprKind::Regex { pattern: pieces.concat(), flags })
}

fn value() -> impl Strategy<Value = ExprKind> {
    let leaf = prop_oneof![
        rule_name().prop_map(ExprKind::Rule),
        terminal_name().prop_map(ExprKind::Terminal),
        (text(), any::<bool>())
            .prop_map(|(text, ignore_case)| ExprKind::Literal { text, ignore_case }),
        (any::<char>(), any::<char>()).prop_map(|(a, b)| ExprKind::CharRange(a.min(b), a.max(b))),
        regex(),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        (rule_name(), proptest::collection::vec(inner.prop_map(spanned), 1..3))
            .prop_map(|(name, arguments)| ExprKind::Template { name, arguments })
    })
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        terminal_name().prop_map(|name| Word::Name(spanned(name))),
        (text(), any::<bool>()).prop_map(|(text, ignore_case)| Word::Literal {
            text,
            ignore_case,
            span: 0..0
        }),
    ]
}

fn words(least: usize) -> impl Strategy<Value = Vec<Word>> {
    proptest::collection::vec(word(), least..4)
}

fn expansions_of(item: impl Strategy<Value = ExprKind>) -> impl Strategy<Value = Expansions> {
    let alternative = (
        proptest::collection::vec(item.prop_map(spanned), 0..4),
        proptest::option::of(rule_name().prop_map(spanned)),
        proptest::option::of(word()),
    )
        .prop_map(|(items, alias, precedence)| Alternative {
            items,
            alias,
            precedence,
            span: 0..0,
        });
    proptest::collection::vec(alternative, 1..4)
        .prop_map(|alternatives| Expansions { alternatives, span: 0..0 })
}

fn expr_kind() -> impl Strategy<Value = ExprKind> {
    value().prop_recursive(3, 24, 4, |inner| {
        let group = prop_oneof![
            expansions_of(inner.clone()).prop_map(ExprKind::Group),
            expansions_of(inner.clone()).prop_map(ExprKind::Maybe),
        ];
        let bounds = prop_oneof![
            Just((0, None)),
            Just((1, None)),
            (any::<u32>(), any::<u32>()).prop_map(|(a, b)| (a.min(b), Some(a.max(b)))),
            (0u32..3).prop_map(|n| (n, Some(n))),
            Just((0, Some(1))),
        ];
        let repeat =
            (prop_oneof![value(), group.clone()], bounds).prop_map(|(expr, (min, max))| {
                ExprKind::Repeat { expr: Box::new(spanned(expr)), min, max }
            });
        prop_oneof![group, repeat]
    })
}

fn expansions() -> impl Strategy<Value = Expansions> {
    expansions_of(expr_kind())
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Define), Just(Mode::Override), Just(Mode::Extend)]
}

fn rule() -> impl Strategy<Value = Statement> {
    let modifiers = prop_oneof![Just(""), Just("?"), Just("!"), Just("?!"), Just("!?")];
    let parameters = proptest::collection::vec(rule_name().prop_map(spanned), 0..3);
    let priority = proptest::option::of(any::<i32>().prop_map(spanned));
    (mode(), modifiers, rule_name(), parameters, priority, expansions()).prop_map(
        |(mode, modifiers, name, parameters, priority, body)| {
            let (name, modifiers) = (spanned(name), modifiers.to_string());
            Statement::Rule(Rule {
                mode,
                name,
                modifiers,
                parameters,
                priority,
                attributes: Vec::new(),
                body,
            })
        },
    )
}

fn terminal() -> impl Strategy<Value = Statement> {
    (mode(), terminal_name(), any::<i32>(), expansions()).prop_map(
        |(mode, name, priority, body)| {
            Statement::Terminal(TerminalDefinition { mode, name: spanned(name), priority, body })
        },
    )
}

fn import() -> impl Strategy<Value = Statement> {
    let path = proptest::collection::vec(name(), 1..4);
    let names = proptest::collection::vec((name(), proptest::option::of(name())), 1..4);
    (0u32..5, path, names).prop_map(|(level, path, names)| {
        Statement::Import(Import { level, path, names, span: 0..0 })
    })
}

fn clause() -> impl Strategy<Value = Clause> {
    let number = proptest::option::of(any::<u32>().prop_map(spanned));
    (rule_name().prop_map(spanned), words(0), number).prop_map(|(name, words, number)| Clause {
        name,
        words,
        number,
    })
}

fn directive() -> impl Strategy<Value = Statement> {
    let associativity = prop_oneof![
        Just(Associativity::Left),
        Just(Associativity::Right),
        Just(Associativity::Nonassoc)
    ];
    prop_oneof![
        proptest::collection::vec(rule_name(), 1..4)
            .prop_map(|names| Directive::Start(names.into_iter().map(spanned).collect())),
        rule_name().prop_map(|name| Directive::Lexer(spanned(name))),
        rule_name().prop_map(|name| Directive::Conflicts(spanned(name))),
        (word(), words(0)).prop_map(|(against, words)| Directive::Reserved { against, words }),
        (word(), words(1)).prop_map(|(to, words)| Directive::Fallback { to, words }),
        (word(), words(1)).prop_map(|(to, words)| Directive::Soft { to, words }),
        words(1).prop_map(Directive::Exclusive),
        (
            (word(), word()),
            proptest::option::of(words(1)),
            proptest::collection::vec(words(1), 1..4),
        )
            .prop_map(|((to, word), after, before)| Directive::Lookahead {
                to,
                word,
                after,
                before
            }),
        (associativity, words(1))
            .prop_map(|(associativity, words)| Directive::Precedence { associativity, words }),
        (word(), word(), word(), proptest::collection::vec(clause(), 0..3)).prop_map(
            |(newline, indent, dedent, clauses)| Directive::Indent {
                newline,
                indent,
                dedent,
                clauses
            }
        ),
    ]
    .prop_map(|directive| Statement::Directive(spanned(directive)))
}

fn file() -> impl Strategy<Value = File> {
    let item = prop_oneof![
        3 => rule(),
        2 => terminal(),
        1 => import(),
        1 => expansions().prop_map(|expansions| Statement::Ignore(spanned(expansions))),
        1 => proptest::collection::vec(name(), 1..4).prop_map(Statement::Declare),
        2 => directive(),
    ];
    proptest::collection::vec(item, 0..5).prop_map(|items| File { items })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_printed_reads_back_to_the_same_tree(file in file()) {
        let text = file.to_string();
        match parse_lark(&text) {
            Ok(read) => prop_assert_eq!(shape(&file), shape(&read), "{}", text),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }

    #[test]
    fn any_text_is_read_or_refused_at_a_place_within_it(text in any::<String>()) {
        if let Err(error) = parse_lark(&text) {
            prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error);
        }
    }

    #[test]
    fn any_words_are_read_or_refused_at_a_place_within_them(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "a", "B", "_c", "\"x\"", "\"y\"i", "/r/i", "2", "-1", ":", ",", "|", ".", "..",
                "->", "~", "?",
                "*", "+", "!", "(", ")", "[", "]", "{", "}", "\n", "\n", "%import", "%ignore",
                "%declare",
                "%override", "%extend", "%start", "%reserved", "%lookahead", "before", "%left",
                "%prec", "//", "#", "\\\n", "\r\n",
            ]),
            0..24,
        ),
    ) {
        let text = words.join(" ");
        match parse_lark(&text) {
            Ok(file) => prop_assert_eq!(shape(&file), shape(&read(&file.to_string()))),
            Err(error) => prop_assert!(text.get(error.span()).is_some(), "{:?}: {}", text, error),
        }
    }
}
