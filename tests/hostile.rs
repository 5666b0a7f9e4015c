//! Bad input: a typed error or a correct answer, in bounded time and memory, never a panic.

use lrmask::{CompiledGrammar, Constraint, Grammar, Vocabulary};

fn bytes_only() -> Vocabulary {
    Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("a sound vocabulary")
}

/// Builds a grammar; returns its constraint, or the codes of its errors.
fn build(text: &str) -> Result<Constraint, Vec<&'static str>> {
    let grammar = Grammar::from_lark(text).map_err(|error| codes(error.diagnostics()))?;
    let compiled = CompiledGrammar::new(&grammar).map_err(|error| codes(error.diagnostics()))?;
    compiled.constraint(&bytes_only()).map_err(|error| codes(error.diagnostics()))
}

fn codes(diagnostics: &[lrmask::Diagnostic]) -> Vec<&'static str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn accepts(constraint: &Constraint, text: &[u8]) -> bool {
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(text).is_ok() && matcher.is_accepting()
}

#[test]
fn groups_nested_two_hundred_deep_and_a_million_deep() {
    for depth in [200, 1_000_000] {
        let text = format!("start: {}\"a\"{}\n", "(".repeat(depth), ")".repeat(depth));
        match build(&text) {
            Ok(constraint) => assert!(depth <= 200 && accepts(&constraint, b"a")),
            Err(codes) => assert!(depth > 200, "{codes:?}"),
        }
    }
}

#[test]
fn regex_groups_nested_a_million_deep() {
    let text = format!("start: /{}a{}/\n", "(".repeat(1_000_000), ")".repeat(1_000_000));
    assert!(build(&text).is_err());
}

#[test]
fn a_literal_of_ten_megabytes() {
    let literal = "x".repeat(10 << 20);
    match build(&format!("start: \"{literal}\"\n")) {
        Ok(constraint) => assert!(accepts(&constraint, literal.as_bytes())),
        Err(codes) => assert!(!codes.is_empty()),
    }
}

#[test]
fn a_regex_repeated_a_hundred_thousand_times() {
    match build("start: /[a-z]{1,100000}/\n") {
        Ok(constraint) => {
            assert!(accepts(&constraint, "a".repeat(100_000).as_bytes()));
            assert!(!accepts(&constraint, "a".repeat(100_001).as_bytes()));
        }
        Err(codes) => assert!(!codes.is_empty()),
    }
}

#[test]
fn a_regex_whose_automaton_explodes() {
    assert!(build("start: /(a|b)*a(a|b){40}/\n").is_err());
}

#[test]
fn terminals_whose_union_explodes() {
    // Each is small, but together they count in many ways at once.
    let names = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29];
    let rule: Vec<String> = names.iter().map(|n| format!("T{n}")).collect();
    let terminals: String =
        names.iter().map(|n| format!("T{n}: /(a{{{n}}})+b{{{n}}}/\n")).collect();
    let text = format!("%lexer basic\nstart: {}\n{terminals}", rule.join(" | "));
    assert!(build(&text).is_err());
}

#[test]
fn a_hundred_thousand_alternatives() {
    let alternatives: Vec<String> = (0..100_000).map(|i| format!("\"w{i}\"")).collect();
    match build(&format!("start: {}\n", alternatives.join(" | "))) {
        Ok(constraint) => {
            assert!(accepts(&constraint, b"w99999"));
            assert!(!accepts(&constraint, b"w100000"));
        }
        Err(codes) => assert!(!codes.is_empty()),
    }
}

#[test]
fn a_rule_of_a_hundred_thousand_alternatives_over_few_terminals() {
    let digits =
        |i: u32| (0..17).map(|bit| if i >> bit & 1 == 1 { "A " } else { "B " }).collect::<String>();
    let alternatives: Vec<String> = (0..100_000).map(digits).collect();
    let text = format!("start: {}\nA: \"a\"\nB: \"b\"\n", alternatives.join("| "));
    match build(&text) {
        Ok(constraint) => assert!(accepts(&constraint, &[b'b'; 17])),
        Err(codes) => assert!(!codes.is_empty()),
    }
}

#[test]
fn right_recursion_takes_no_stack() {
    let constraint =
        build("start: \"[\" list \"]\"\nlist: \"x\" | \"x\" \",\" list\n").expect("LALR(1)");
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    matcher.advance_bytes(b"[x").expect("a prefix");
    for _ in 0..300_000 {
        matcher.advance_bytes(b",x").expect("one more");
        matcher.fill_mask(&mut mask);
        assert_eq!(mask.count(), 2);
    }
    matcher.advance_bytes(b"]").expect("the end");
    assert!(matcher.is_accepting());
    assert!(constraint.index_size().branches < 100, "{:?}", constraint.index_size());
}

#[test]
fn right_recursion_without_a_separator_takes_no_stack() {
    for list in [
        "\"x\" | \"x\" list",
        "| \"x\" list",
        "\"x\" | \"x\" other\nother: \"x\" list | \"x\" \"y\"",
    ] {
        let constraint =
            build(&format!("start: \"[\" list \"]\"\nlist: {list}\n")).expect("LALR(1)");
        let mut matcher = constraint.matcher();
        let mut mask = constraint.new_mask();
        matcher.advance_bytes(b"[").expect("a prefix");
        for _ in 0..30_001 {
            matcher.advance_bytes(b"x").expect("one more");
            matcher.fill_mask(&mut mask);
        }
        matcher.advance_bytes(b"]").expect("the end");
        assert!(matcher.is_accepting());
        assert!(constraint.index_size().branches < 100, "{list}: {:?}", constraint.index_size());
    }
}

#[test]
fn right_recursive_nesting_a_million_deep() {
    let constraint = build("start: \"x\" | \"-\" start | \"(\" start \")\"\n").expect("LALR(1)");
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(&[b'-'; 1_000_000]).expect("any number of signs");
    matcher.advance_bytes(&[b'('; 1_000_000]).expect("any nesting");
    matcher.advance_bytes(b"x").expect("the middle");
    matcher.advance_bytes(&[b')'; 1_000_000]).expect("as many closed");
    assert!(matcher.is_accepting());
    assert!(matcher.advance_bytes(b")").is_err());
}

/// Returns meaningless bytes, the same in every run.
fn garbage(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn garbage_as_grammar_vocabulary_and_text() {
    for length in [0, 1, 2, 100, 100_000] {
        let bytes = garbage(length);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(Grammar::from_lark(&text).is_err(), "{length} bytes are no grammar");
        assert!(Vocabulary::from_file_bytes(&bytes).is_err(), "{length} bytes are no vocabulary");
        if length > 0 {
            let json = build(include_str!("../grammars/json/json.lark")).expect("JSON");
            assert!(!accepts(&json, &bytes), "{length} bytes are no JSON");
        }
    }
}

#[test]
fn every_id_is_defined() {
    let vocabulary =
        bytes_only().with_width(300).expect("wider").with_stop_tokens([299]).expect("in range");
    let grammar = Grammar::from_lark("start: \"a\"+\n").expect("sound");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    for round in 0..3 {
        matcher.fill_mask(&mut mask);
        for id in (0..400).chain([u32::MAX - 1, u32::MAX]) {
            let allowed = mask.contains(id);
            assert_eq!(matcher.allows(id), allowed, "{id}");
            let mut other = matcher.clone();
            assert_eq!(other.advance(id).is_ok(), allowed, "{id}");
        }
        // After one lexeme, and after the end.
        matcher.advance(if round == 0 { u32::from(b'a') } else { 299 }).expect("allowed");
    }
    assert!(matcher.is_finished());
    assert_eq!(matcher.rollback(100), 3);
    assert!(!matcher.is_accepting());
}

#[test]
fn rows_that_are_long_enough_are_filled() {
    let constraint = build("start: \"a\" | \"z\"\n").expect("sound");
    let matcher = constraint.matcher();
    for words in [0, 1, 7, 8, 9, 20] {
        let mut row = vec![u32::MAX; words];
        let filled = matcher.fill_mask_into(&mut row);
        if words < 8 {
            assert_eq!(filled, Err(lrmask::RowError::Short { words, needed: 8 }));
            assert!(row.iter().all(|&word| word == u32::MAX), "it is left as it was");
            continue;
        }
        assert!(filled.is_ok_and(|info| info.is_exact() && !info.is_full()));
        let set: Vec<usize> =
            (0..words * 32).filter(|bit| row[bit / 32] >> (bit % 32) & 1 == 1).collect();
        assert_eq!(set, [97, 122]);
    }
}

#[test]
fn the_words_of_the_dialect_in_great_numbers() {
    let long = 200_000;
    let ids: Vec<String> = (0..long).map(|id| (3 * id).to_string()).collect();
    let texts = [
        format!("start: {}\"a\"", "~".repeat(long)),
        format!("start: A\nA: {}/a/", "/a/ & ".repeat(10_000)),
        format!("start: {}\"a\"{}", "%lark { start: ".repeat(long), "}".repeat(long)),
        format!("start: {}", "%lark { start: \"a\" } ".repeat(2_000)),
        format!("start: <[{}]>", ids.join(",")),
        format!("start: <{}>", "x".repeat(long)),
        format!("start: a\na[{}]: \"a\"", "capture,".repeat(long)),
        format!("start: %json {}{}", "[".repeat(long), "]".repeat(long)),
        format!("start: %regex {{\"substring_chars\": \"{}\"}}", "abcde fghi ".repeat(long / 4)),
        format!(
            "start: %regex {{\"substring_chunks\": [{}\"a\"]}}",
            "\"a\", \"aa\", ".repeat(2_000)
        ),
        "start: a{4000000000}\na: b{4000000000}\nb: \"x\"".to_owned(),
        "start: A\nA: (/[ab]*a[ab]{60}/ & ~/[ab]*b[ab]{60}/) & ~/(ab){1,50}/".to_owned(),
        "%llguidance {\"no_forcing\": 7}\nstart: \"a\"".to_owned(),
        "start: @other".to_owned(),
        "start: \"a\" %lark {".to_owned(),
    ];
    for (number, text) in texts.iter().enumerate() {
        // Either a clear error, or a constraint that works.
        match build(text) {
            Err(codes) => assert!(!codes.is_empty(), "{number}"),
            Ok(constraint) => assert!(constraint.matcher().validate([0; 0]) == 0, "{number}"),
        }
    }
}

#[test]
fn captures_of_a_long_text() {
    let constraint = build("start: item*\nitem[capture]: \"(\" item* \")\"").expect("sound");
    for text in ["()".repeat(3_000), "(".repeat(2_000) + &")".repeat(2_000)] {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).expect("viable");
        assert_eq!(matcher.captures().len(), text.len() / 2);
    }
    // Right recursion takes the square of the text, and is given up if that is too much.
    let constraint = build("start: item\nitem[capture]: \"a\" item | \"a\"").expect("sound");
    let mut matcher = constraint.matcher();
    matcher.advance_bytes("a".repeat(500).as_bytes()).expect("viable");
    assert_eq!(matcher.captures().len(), 500);
    matcher.advance_bytes("a".repeat(9_500).as_bytes()).expect("viable");
    assert_eq!(matcher.captures().len(), 0);
}

/// Builds a grammar of characters; returns its constraint, or the codes of its errors.
fn build_gbnf(text: &str) -> Result<Constraint, Vec<&'static str>> {
    let grammar = Grammar::from_gbnf(text).map_err(|error| codes(error.diagnostics()))?;
    let compiled = CompiledGrammar::new(&grammar).map_err(|error| codes(error.diagnostics()))?;
    compiled.constraint(&bytes_only()).map_err(|error| codes(error.diagnostics()))
}

/// Asserts that the texts are distinguished, or that the grammar is refused with a code.
fn told_apart_or_refused(gbnf: &str, member: &[u8], other: &[u8]) {
    match build_gbnf(gbnf) {
        Ok(constraint) => {
            assert!(accepts(&constraint, member));
            assert!(!accepts(&constraint, other));
        }
        Err(codes) => assert!(!codes.is_empty()),
    }
}

#[test]
fn a_million_alternatives_of_characters() {
    let alternatives: Vec<String> = (0..1_000_000).map(|i| format!("\"w{i}\"")).collect();
    told_apart_or_refused(&format!("root ::= {}", alternatives.join("|")), b"w999999", b"w1000000");
}

#[test]
fn twenty_thousand_words_beside_a_name() {
    let words: Vec<String> = (0..20_000).map(|i| format!("\"w{i}\"")).collect();
    let text = format!(
        "root ::= \"(\" root \")\" | word \"(\" root \")\" | [a-z0-9]+\nword ::= {}",
        words.join("|")
    );
    told_apart_or_refused(&text, b"w19(a)", b"w20000(a)");
}

#[test]
fn groups_of_characters_nested_two_hundred_deep_and_a_million_deep() {
    for depth in [200, 1_000_000] {
        let text = format!("root ::= {}\"a\" root?{}", "(".repeat(depth), ")".repeat(depth));
        assert!(accepts(&build_gbnf(&text).expect("accepted"), b"aa"));
    }
}

#[test]
fn a_chain_of_a_hundred_thousand_rules() {
    let rules: String = (0..100_000).map(|i| format!("r{i} ::= \"a\"? r{}\n", i + 1)).collect();
    told_apart_or_refused(&format!("root ::= r0\n{rules}r100000 ::= \"b\""), b"aab", b"aa");
    let doubling: String = (0..64).map(|i| format!("r{i} ::= r{0} r{0}\n", i + 1)).collect();
    told_apart_or_refused(&format!("root ::= \"x\" | r0\n{doubling}r64 ::= \"b\""), b"x", b"b");
}

#[test]
fn characters_repeated_a_million_times() {
    told_apart_or_refused("root ::= [a-z]{1000000}", &[b'a'; 1_000_000], b"a");
    told_apart_or_refused("root ::= ((\"a\"{0,1000}){1000}){1000}", b"a", b"b");
    told_apart_or_refused("root ::= \"(\" root \")\" | [a-z]{0,1000000} \"x\"", b"(x)", b"(a");
    told_apart_or_refused("root ::= (\"(\" root \")\"){4000000000} | \"a\"", b"a", b"()");
}

#[test]
fn a_grammar_of_characters_whose_automata_explode() {
    told_apart_or_refused(
        "root ::= \"(\" root \")\" | [ab]* \"a\" [ab]{40}",
        &[b'a'; 41],
        &[b'b'; 41],
    );
}

#[test]
fn equations_of_many_rules() {
    let rules: String = (0..200)
        .map(|i| {
            format!(
                "r{i} ::= \"a\" r{} | \"b\" r{} | \"c\"\n",
                (i * 7 + 1) % 200,
                (i * 11 + 3) % 200
            )
        })
        .collect();
    told_apart_or_refused(&format!("root ::= r0\n{rules}"), b"abc", b"ab");
}

/// Asserts that a grammar from some reader gives a constraint that works, or errors with codes.
fn works_or_is_refused(grammar: Result<Grammar, lrmask::GrammarError>, name: &str) {
    let built = grammar
        .and_then(|grammar| CompiledGrammar::new(&grammar)?.constraint(&bytes_only()))
        .map_err(|error| codes(error.diagnostics()));
    match built {
        Ok(constraint) => {
            let mut mask = constraint.new_mask();
            constraint.matcher().fill_mask(&mut mask);
            assert!(mask.count() > 0 || constraint.matcher().is_accepting(), "{name}");
        }
        Err(codes) => assert!(!codes.is_empty(), "{name}"),
    }
}

#[test]
fn regexes_for_whole_texts_of_all_hostile_forms() {
    let many = 1_000_000;
    let nested =
        |open: &str, close: &str, depth: usize| open.repeat(depth) + "a" + &close.repeat(depth);
    let conditions: String =
        (0..30).map(|i| format!("(?=(?:..)*{})", char::from(b'a' + i % 26))).collect();
    let texts = [
        ("alternatives", "ab|".repeat(many) + "b"),
        ("groups", nested("(", ")", many)),
        ("groups without captures", nested("(?:", ")*", 150)),
        ("counts of counts", nested("(?:", "{0,99}){0,99}", 10)),
        ("counts behind each other", "a{0,99}".to_owned() + &"{0,99}".repeat(100)),
        ("a tower of look-aheads", nested("(?=", ")", many) + "a"),
        ("a tower of negations", nested("(?!", ")", 150) + "a"),
        ("look-aheads in a row", "(?=a)".repeat(many / 10) + "a"),
        ("look-behinds in a row", "a".to_owned() + &"(?<=a)".repeat(many / 10)),
        ("look-aheads that count together", conditions + ".*"),
        ("word boundaries", "\\b\\w".repeat(many / 10)),
        ("large classes", "[\\w\\W]".repeat(many / 10)),
        ("large classes, folded", "(?i)".to_owned() + &"\\w{9}".repeat(many / 100)),
        ("flags", "(?i)".repeat(many)),
        ("names", format!("(?P<{}>a)", "n".repeat(many))),
    ];
    for (name, text) in &texts {
        works_or_is_refused(Grammar::from_regex(text), name);
        works_or_is_refused(Grammar::from_lark(&format!("start: /{text}/")), name);
    }
}

#[test]
fn a_million_choices() {
    let grammar = Grammar::from_choices((0..1_000_000).map(|number| format!("w{number}")));
    works_or_is_refused(grammar, "numbers");
    works_or_is_refused(Grammar::from_choices([&"ab".repeat(5_000_000)]), "one long text");
}

#[test]
fn yacc_files_of_all_hostile_forms() {
    let many = 1_000_000;
    let names: String = (0..many / 10).map(|number| format!(" T{number}")).collect();
    let texts = [
        ("alternatives", "%%\ns: ".to_owned() + &"'a' 'b' | ".repeat(many / 10)),
        ("braces", "%%\ns: 'a' ".to_owned() + &"{".repeat(many)),
        ("actions", "%%\ns: ".to_owned() + &"{ } 'a' ".repeat(many / 100)),
        ("tokens", format!("%token{names}\n%%\ns: T1 T2")),
        (
            "rules",
            "%%\n".to_owned()
                + &(0..many / 20).map(|i| format!("r{i}: 'a' r{} ;", i + 1)).collect::<String>(),
        ),
        ("a comment", "%%\ns: 'a' /*".to_owned() + &"/*".repeat(many)),
        ("precedence", "%left 'a'\n".repeat(many / 10) + "%%\ns: 'a'"),
        ("declarations", "%union {".repeat(many / 10) + "%%\ns: 'a'"),
    ];
    for (name, text) in &texts {
        works_or_is_refused(Grammar::from_yacc_rules(text), name);
    }
}

#[test]
fn tokens_and_budgets_in_great_numbers() {
    let ids: Vec<String> = (0..100_000).map(|id| format!("<[{id}]>")).collect();
    let names: Vec<String> = (0..100_000).map(|id| format!("<t{id}>")).collect();
    for (name, parts) in [("ids", &ids), ("names", &names)] {
        let grammar = Grammar::from_gbnf(&format!("root ::= \"a\" | {}", parts.join("|")));
        works_or_is_refused(grammar, name);
        let grammar = Grammar::from_gbnf(&format!("root ::= \"a\" | !{}", parts.join("|!")));
        works_or_is_refused(grammar, name);
    }
    for count in [40, 2_000] {
        let uses: Vec<String> = (1..=count).map(|i| format!("r{i} \"{i};\"")).collect();
        let rules: String =
            (1..=count).map(|i| format!("r{i}[max_tokens={i}]: /[a-z]+/\n")).collect();
        let grammar = Grammar::from_lark(&format!("start: {}\n{rules}", uses.join(" | ")));
        works_or_is_refused(grammar, "budgets");
    }
    let constraint = build("start: a\na[max_tokens=4294967295]: /[a-z]*/").expect("sound");
    let mut matcher = constraint.matcher();
    for _ in 0..10_000 {
        matcher.advance_bytes(b"a").expect("there are some left");
    }
    assert!(matcher.is_accepting());
}
