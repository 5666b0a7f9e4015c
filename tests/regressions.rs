//! Faults found earlier, each with the smallest grammar that shows it.

use lrmask::{
    CompiledGrammar, Constraint, Grammar, GrammarErrorKind, GrammarReader, LimitKind, Limits,
    Matcher, TokenMask, Vocabulary,
};

/// Returns a matcher of the grammar over single bytes.
fn matcher(text: &str) -> Matcher {
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    Constraint::new(&grammar, &vocabulary).expect("every viable text can be completed").matcher()
}

/// After a blank, every dot continues the ignored lexeme: no text that begins with a blank is a
/// sentence.
#[test]
fn nothing_can_follow_what_is_ignored() {
    for lexer in ["basic", "contextual"] {
        let matcher = matcher(&format!(
            "%lexer {lexer}\nstart: DOT\nDOT: \".\"\nBLANK: /[ .]+/\n%ignore BLANK\n"
        ));
        assert!(matcher.clone().advance_bytes(b" ").is_err(), "{lexer}");
        assert!(matcher.clone().advance_bytes(b". ").is_err(), "{lexer}");
        assert!(matcher.clone().advance_bytes(b".").is_ok(), "{lexer}");
    }
}

/// Only a line end can follow a comment: where no line end is allowed, nothing can follow a
/// comment. Between lines the text may end instead.
#[test]
fn comment_where_no_line_can_end() {
    let rest = "END: /\\n/\nNAME: /[a-z]+/\nCOMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore \" \"\n";
    let matcher = matcher(&format!("start: (NAME NAME END)*\n{rest}"));
    assert!(matcher.clone().advance_bytes(b"a #").is_err());
    assert!(matcher.clone().advance_bytes(b"a b # a\n # b").is_ok());
}

/// The example for a grammar with an empty language shows two lexemes that run into one another.
#[test]
fn a_dead_end_shows_which_lexemes_run_together() {
    let grammar = Grammar::from_lark("start: A A\nA: /a+/\n").expect("the grammar can be read");
    let error = CompiledGrammar::new(&grammar).expect_err("no text belongs to it");
    assert_eq!(error.diagnostics()[0].code, "empty-language");
    assert_eq!(
        error.diagnostics()[0].example.as_deref(),
        Some("A A\n`a` may run into a following A")
    );
}

/// The cheapest continuation is a dot, but the blank would swallow it: the completion is another
/// one.
#[test]
fn completion_goes_round_what_cannot_be_spelled() {
    let rest = "DOT: /\\./\nBLANK: /[ .]+/\n%ignore BLANK\n";
    let cases = [
        ("start: NAME DOT | NAME NAME NAME\nNAME: /[abc]/\n", "a "),
        ("start: \"bcd\" | DOT\n", " "),
    ];
    for (rules, text) in cases {
        let grammar =
            Grammar::from_lark(&format!("{rules}{rest}")).expect("the grammar can be read");
        let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
        let constraint =
            Constraint::new(&grammar, &vocabulary).expect("every text can be completed");
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).expect("viable");
        let completion = matcher.shortest_completion().expect("there is one");
        matcher.advance_bytes(&completion).expect("viable");
        assert!(matcher.is_accepting(), "{text:?} and {completion:?}");
    }
}

/// The second terminal shadows the third wherever both are allowed, but not at the beginning: there
/// the third one is read, and swallows everything that could follow it. So it must not begin.
#[test]
fn what_is_shadowed_elsewhere_is_no_dead_end() {
    let grammar = "start: T1 | T2 T1 rest\nrest: T0 | T2\nT0: /c[ab]*/\nT1: \"a\"\nT2: /c[ab]*/\n";
    let matcher = matcher(grammar);
    assert!(matcher.clone().advance_bytes(b"c").is_err());
    assert!(matcher.clone().advance_bytes(b"a").is_ok());
}

/// Each word doubles the readings, and none is dropped.
#[test]
fn readings_that_double_with_every_word() {
    let grammar = "start: A start \"1\" | B start \"2\" | \".\"\nA: \"a\"\nB: /b/\n%soft B A\n";
    let mut matcher = matcher(&format!("%lexer basic\n{grammar}"));
    let mut mask = TokenMask::default();
    for count in 0..200 {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).collect();
        assert_eq!(allowed, [b'.', b'a', b'b'].map(u32::from), "after {count} words");
        matcher.advance(u32::from(b'a')).expect("a word may follow");
    }
    matcher.advance_bytes(b".").expect("viable");
    for count in 0..200 {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).collect();
        assert_eq!(allowed, [b'1', b'2'].map(u32::from), "after {count} ends");
        matcher.advance(u32::from(b'1' + count % 2)).expect("viable");
    }
    assert!(matcher.is_accepting());
}

/// A fallback word that does not compete in a state cannot end an ignored lexeme there.
#[test]
fn a_word_that_does_not_compete_passes_no_gate() {
    let rest = "DOT: /\\./\nWORD: \"b\"\n%fallback DOT WORD\nBLANK: /[ .]+/\n%ignore BLANK\n";
    let matcher = matcher(&format!("start: DOT WORD\n{rest}"));
    assert!(matcher.clone().advance_bytes(b" ").is_err());
    assert!(matcher.clone().advance_bytes(b".b").is_ok());
}

/// The empty text is a sentence here, and no other text is a prefix of one.
#[test]
fn nothing_follows_where_only_the_empty_text_is_a_sentence() {
    let text = "%lexer basic\n%start other empty\nother: A\nempty:\nA: \"ab\"\n";
    let grammar = Grammar::from_lark(text).and_then(|grammar| grammar.with_start("empty"));
    let tokens = [b"a".to_vec(), b"ab".to_vec()];
    let vocabulary = Vocabulary::from_tokens(tokens).expect("two tokens");
    let constraint = Constraint::new(&grammar.expect("both can be read"), &vocabulary);
    let matcher = constraint.expect("a language of one text").matcher();
    assert!(matcher.is_accepting());
    assert!(!matcher.allows(0) && !matcher.allows(1));
    assert_eq!(matcher.validate([0]), 0);
}

/// A token that contains many words with two readings each multiplies the readings.
#[test]
fn a_token_of_many_readings() {
    let text = "%lexer basic\nstart: TA start \"1\" | TB start \"2\" | \".\"\nTA: \"b\"\nTB: /c/\n%soft TB TA\n";
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let vocabulary = Vocabulary::from_tokens(bytes.chain((2..12).map(|count| vec![b'b'; count])))
        .expect("bytes");
    let constraint =
        Constraint::new(&grammar, &vocabulary).expect("every viable text can be completed");
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for _ in 0..5 {
        matcher.fill_mask(&mut mask);
        for token in 0..vocabulary.width() as u32 {
            assert_eq!(
                mask.contains(token),
                matcher.allows(token),
                "token {token} after {} words",
                matcher.steps()
            );
        }
        matcher.advance(u32::from(b'b')).expect("a word may follow");
    }
}

/// Returns the grammar's constraint over single bytes and these tokens.
fn constraint(text: &str, tokens: &[Vec<u8>]) -> Constraint {
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let vocabulary = Vocabulary::from_tokens(bytes.chain(tokens.iter().cloned())).expect("bytes");
    Constraint::new(&grammar, &vocabulary).expect("the language is not empty")
}

/// A long match may be pending from more positions than a word has bits.
#[test]
fn a_token_with_more_pending_matches_than_64() {
    let tokens = [64, 65, 66].map(|count| vec![b'a'; count]);
    let constraint = constraint("%lexer basic\nstart: (A | X)+\nA: \"a\"\nX: /a{65}b/\n", &tokens);
    let mut mask = constraint.new_mask();
    constraint.matcher().fill_mask(&mut mask);
    for token in 256..259 {
        assert!(mask.contains(token), "{token}");
        assert!(constraint.matcher().advance(token).is_ok(), "{token}");
    }
}

/// The pending match is given up at the end of the text at the latest: a hundred dashes are a
/// sentence.
#[test]
fn a_hundred_dashes_of_which_seventy_may_begin_another_lexeme() {
    let text = "%lexer basic\nstart: (A | X)~100\nA: \"-\"\nX: /-{70}b/\n";
    let constraint = constraint(text, &[vec![b'-'; 30]]);
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for count in 0..100 {
        assert!(!matcher.is_accepting(), "after {count}");
        matcher.fill_mask(&mut mask);
        assert!(mask.contains(u32::from(b'-')), "after {count}");
        assert!(mask.contains(256), "after {count}: the last seventy of them may begin an X");
        matcher.advance(u32::from(b'-')).expect("a dash may follow");
    }
    assert!(matcher.is_accepting());
}

/// Returns nested rules with two readings each, around `last`.
fn nested_pairs(last: &str) -> String {
    let rules: String = ["start", "b", "c", "d", "e", "f", "g", "h"]
        .windows(2)
        .map(|pair| format!("{}: M {} X | N {} Y\n", pair[0], pair[1], pair[1]))
        .collect();
    format!("{rules}h: {last}\nM: \"m\"\nN: /m/\nX: \"x\"\nY: \"y\"\n%ignore \" \"\n%soft N M\n")
}

/// Nested rules with two readings each have very many stacks, but few levels.
#[test]
fn nested_rules_of_two_readings_each() {
    let mut matcher = matcher(&nested_pairs("\".\""));
    matcher.advance_bytes(b"m m m m m m m .").expect("viable");
    for letter in b"xyxyxyx" {
        assert!(!matcher.is_accepting());
        matcher.advance_bytes(&[b' ', *letter]).expect("either may follow");
    }
    assert!(matcher.is_accepting());
}

/// In a string that occurs in each of many readings, the masks are those of the string.
#[test]
fn a_string_that_many_readings_read() {
    let text = nested_pairs("STR\nSTR: /\"[^\"]*\"/");
    let constraint =
        constraint(&text, &[b"words and \"".to_vec(), b"\"xy".to_vec(), b"\"m".to_vec()]);
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    matcher.advance_bytes(b"mmmmmmm\"some words ").expect("viable");
    matcher.fill_mask(&mut mask);
    assert!(mask.contains(256) && mask.contains(257) && !mask.contains(258));
    matcher.advance_bytes(b"in it\"xyxyxyx").expect("viable");
    assert!(matcher.is_accepting());
}

/// A word that the sixth word after it decides: six words and more are undecided at a time.
#[test]
fn words_that_the_sixth_one_behind_decides() {
    let then = " then W X Y NAME".repeat(4);
    let text = format!(
        "%lexer basic\nstart: (W | NAME | X | Y)*\nW: \"w\"\nX: \"x\"\nY: \"y\"\nNAME: /[a-z]+/\n%ignore \" \"\n\
         %lookahead NAME W before W X Y NAME{then} then W Y NAME\n"
    );
    for count in 1..20 {
        let mut matcher = matcher(&text);
        let words = "w ".repeat(count) + "x";
        assert!(
            matcher.advance_bytes(words.as_bytes()).is_ok() && matcher.is_accepting(),
            "{count} words"
        );
    }
}

/// A match that may be pending from each of eight hundred positions: no mask allows a token that
/// `advance` refuses.
#[test]
fn a_match_pending_for_eight_hundred_bytes() {
    let tokens = [vec![b'-'; 40], b"-b".to_vec()];
    let constraint = constraint("%lexer basic\nstart: (A | X)+\nA: \"-\"\nX: /-{800}b/\n", &tokens);
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for count in (0..=840).step_by(40) {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).collect();
        let longer = (count >= 799).then_some(257);
        let byte = (count >= 800).then_some(u32::from(b'b'));
        let expected: Vec<u32> =
            [u32::from(b'-')].into_iter().chain(byte).chain([256]).chain(longer).collect();
        assert_eq!(allowed, expected, "after {count}");
        assert!(
            expected.iter().all(|&token| matcher.clone().advance(token).is_ok()),
            "after {count}"
        );
        matcher.advance(256).expect("dashes may follow");
    }
}

/// Two readings on deep stacks cost as much as one: not the square of the depth.
#[test]
fn two_readings_on_deep_stacks() {
    let text =
        "start: M v \"x\" | N v \"y\"\nv: \"(\" v \")\" | \".\"\nM: \"m\"\nN: /m/\n%soft N M\n";
    let depth = 40_000;
    let mut matcher = matcher(&format!("%lexer basic\n{text}"));
    let long = ["m", &"(".repeat(depth), ".", &")".repeat(depth)].concat();
    matcher.advance_bytes(long.as_bytes()).expect("viable");
    for last in [b"x", b"y"] {
        let mut end = matcher.clone();
        assert!(end.advance_bytes(last).is_ok() && end.is_accepting());
    }
}

/// `ab` is a T0, but `abcc` is a T1 and a `c`: tokens are in one class only if they leave the same
/// matches pending.
#[test]
fn a_token_that_ends_where_a_longer_match_is_sure_to_come() {
    let cases = [
        ("start: T0 T2 T1\nT2: \"cc\"\nT0: /a*b/\nT1: \"abc\"\n", "ab"),
        ("start: T3 T3 | T0 T1\nT3: /(ab)+/\nT0: /a*b/\nT1: \"abc\"\n", "ab"),
        ("start: T0 T1\nT0: /[ab]{2}/\nT1: /a[^b]*b/\n", "aa"),
    ];
    for (rules, token) in cases {
        let constraint = constraint(&format!("%lexer basic\n{rules}"), &[token.into()]);
        let mut mask = constraint.new_mask();
        constraint.matcher().fill_mask(&mut mask);
        assert_eq!(mask.contains(256), constraint.matcher().advance(256).is_ok(), "{rules}");
    }
}

/// Of two alternatives that differ only in their precedence levels, precedence removes one and not
/// the other.
#[test]
fn the_same_alternative_with_and_without_a_level() {
    for start in ["start: r T | %prec T | \n", "start: r T | | %prec T\n"] {
        let mut matcher = matcher(&format!("{start}r: T | start\nT: \"a\"\n%right T\n"));
        assert!(matcher.advance_bytes(b"a").is_ok() && matcher.is_accepting(), "{start}");
    }
}

/// Blanks may continue without end, but nothing can follow them.
#[test]
fn a_language_is_empty_though_blanks_may_go_on() {
    for rules in [
        "%lexer basic\nstart: A B\nA: \"a\"\nB.1: /a/\n",
        "%lexer basic\nstart: T1 T0\nT0: /[ab]+/\nT1: /a+/\n",
        "%conflicts shift\nstart: | r start\nr.1:\n",
    ] {
        assert!(is_empty(rules), "{rules}");
        assert!(is_empty(&format!("{rules}%ignore \" \"\n")), "{rules} with blanks");
    }
}

/// A NEWLINE at the beginning of a line ends a blank line: the parser never gets it.
#[test]
fn a_line_never_begins_with_its_end() {
    for rules in [
        "start: NEWLINE\n",
        "start: NEWLINE \"a\" NEWLINE\n",
        "start: NEWLINE INDENT \"a\" NEWLINE DEDENT\n",
        "start: \"a\" NEWLINE INDENT b DEDENT\nb: \"b\" NEWLINE NEWLINE\n",
    ] {
        let rest =
            "NEWLINE: /\\n/\n%ignore / +/\n%declare INDENT DEDENT\n%indent NEWLINE INDENT DEDENT\n";
        assert!(is_empty(&format!("{rules}{rest}")), "{rules}");
    }
}

/// The paths through a long token double with each of its letters, but their end states do not.
#[test]
fn a_token_along_which_stacks_double() {
    let soft = "%lexer basic\nstart: s \".\"\ns: A s B | B s A |\nA: \"a\"\nB: /[ab]/\n%soft B A\n";
    let cyclic = "start: r T | start\nr: | T start start | start start\nT: \"a\"\n";
    for (text, length) in [(soft, 64), (cyclic, 64)] {
        let constraint = constraint(text, &["a".repeat(length).into()]);
        let mut mask = constraint.new_mask();
        constraint.matcher().fill_mask(&mut mask);
        assert_eq!(mask.contains(256), constraint.matcher().advance(256).is_ok(), "{text}");
    }
}

/// Strings up to the last quote, and hundreds of names: each name leaves a different match pending,
/// and all of these are refuted in the same way.
#[test]
fn names_that_leave_the_same_pending() {
    let rules = concat!(
        r#"start: expr ("is" "not" expr)* ("o" expr ("is" "not" expr)*)* /\r?\n[\t ]*/"#,
        "\n",
        r#"expr: atom_expr ("|" ("^" "a"? atom_expr)*)*"#,
        "\n",
        r#"atom_expr: "_" | "a".."f" | "A".."e" | "E"* | /([ubf]?r?|r[ubf])('([^\\']|.)*?')/i"#,
        "\n",
        r#"| /([ubf]?r?|r[ubf])("([^\\"]|.)*?")/i"#,
        "\n",
    );
    assert!(matcher(rules).advance_bytes(b"\"a\"\n").is_ok());
}

/// Rules that double have a shortest sentence that does not fit into memory.
#[test]
fn a_completion_that_fits_nowhere_is_none() {
    let doubling = |levels: usize| {
        let rules: String =
            (1..levels).map(|at| format!("r{at}: r{} r{}\n", at - 1, at - 1)).collect();
        format!("%lexer basic\nstart: \"b\" r{}\nr0: \"a\"\n{rules}", levels - 1)
    };
    let completion = |levels| {
        let mut matcher = matcher(&doubling(levels));
        matcher.advance_bytes(b"b").expect("the text begins so");
        matcher.shortest_completion()
    };
    assert_eq!(completion(10), Some(vec![b'a'; 512]));
    assert_eq!(completion(60), None);
}

fn is_empty(text: &str) -> bool {
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    CompiledGrammar::new(&grammar)
        .is_err_and(|e| e.diagnostics().iter().any(|d| d.code == "empty-language"))
}

/// A line end is read for the rules where they allow it, and ignored elsewhere.
#[test]
fn what_the_rules_ask_for_goes_before_what_is_ignored() {
    let rules = "start: (NAME \"=\" NAME NEWLINE)+\nNAME: /[a-z]+/\n";
    for rest in ["NEWLINE: /\\n+/\n%ignore /\\s+/\n", "%ignore WS\n%import common (WS, NEWLINE)\n"]
    {
        let matcher = matcher(&format!("{rules}{rest}"));
        let mut two = matcher.clone();
        two.advance_bytes(b"a =\n b\nc = d\n\n").expect("two lines");
        assert!(two.is_accepting());
        assert!(matcher.clone().advance_bytes(b"a = b c").is_err());
    }
}

/// Every name in a finding occurs in the grammar.
#[test]
fn findings_do_not_show_the_names_of_helpers() {
    let text = "start: list (\",\" list)* (/x+y/ list)+ /x/*\nlist: N (\",\" N)* | (N | /x+/ list)~3..40\nN: /[0-9]+/\n";
    let grammar = Grammar::from_lark(text).expect("the grammar can be read");
    let compiled = CompiledGrammar::new(&grammar).expect("its texts can be told");
    let warnings = compiled.warnings();
    let found: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|warning| warning.code == "conflict"), "{found:?}");
    assert!(found.iter().any(|finding| finding.contains("(…)+ of list")), "{found:?}");
    assert!(found.iter().all(|finding| !finding.contains("__")), "{found:?}");
}

/// A GBNF file may have a file name of another notation.
#[test]
fn gbnf_in_a_file_of_larks_notation_is_called_by_its_name() {
    let error = Grammar::from_lark("root ::= \"a\"\n").expect_err("it is GBNF");
    let help = error.diagnostics()[0].help.clone();
    assert!(help.as_deref().is_some_and(|help| help.contains("--notation gbnf")), "{help:?}");
}

/// Blanks that the rules require in some places are ignored elsewhere.
#[test]
fn what_is_ignored_may_be_asked_for_as_well() {
    let matcher =
        matcher("start: NAME \":\" (NAME WS+ NAME)+\nNAME: /[a-z]+/\nWS: / /\n%ignore WS\n");
    let mut spaced = matcher.clone();
    spaced.advance_bytes(b"a : b  c d e").expect("blanks stand between");
    assert!(spaced.is_accepting());
    assert!(matcher.clone().advance_bytes(b"a : b:").is_err());
}

/// The keywords of a look-ahead are enclosed in word boundaries.
#[test]
fn keywords_are_left_out_between_word_boundaries() {
    for keywords in [r"\b(if|in)\b", r"(\b(if|in)\b)", r"\bif\b|\bin\b", r"(?:\bif|(\bin))\b"] {
        let matcher = matcher(&format!("start: /[0-9]?/ NAME\nNAME: /(?!{keywords})[a-z]\\w*/\n"));
        for (text, is_sentence) in
            [("if", false), ("ifs", true), ("of", true), ("in", false), ("1if", true)]
        {
            let mut matcher = matcher.clone();
            let accepts = matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
            assert_eq!(accepts, is_sentence, "{keywords} {text}");
        }
    }
}

/// A lexeme has eighty ways to leave a match pending, and each next one has as many. A few of them
/// show that the text can be completed.
#[test]
fn few_of_many_ways_complete_a_text() {
    let grammar = "%lexer basic\nstart: T0 T2 T2 | T0 T2 start\nT0: /a{80}b/\nT2: /a+(?!bb)/\n\
                   I0: / +(?!c)/\n%ignore I0\n";
    let grammar = Grammar::from_lark(grammar).expect("the grammar can be read");
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    let constraint = Constraint::new(&grammar, &vocabulary).expect("some texts belong to it");
    let loaded = Constraint::load(constraint.save(), &vocabulary).expect("it was saved");
    for constraint in [constraint, loaded] {
        let mut mask = TokenMask::new(256);
        constraint.matcher().fill_mask(&mut mask);
        assert!((0..256).all(|byte| mask.contains(byte) == b" a".contains(&(byte as u8))));
        assert_eq!(constraint.undecided(), 0);
    }
}

/// A short completion is found among others that are very long: the contents of a list within
/// braces, juxtaposed in any way, took all the steps of a decision before the closing brace was
/// tried, and the text was refused.
#[test]
fn the_shortest_way_on_is_tried_first() {
    let text = r#"
start: (expression | hint | "rest" ".")*
hint: "show" ":" (expression ","?)+ "."
?expression: "if" expression "then" expression "else" expression | joined
joined: juxtaposed
?juxtaposed: juxtaposed juxtaposed | difference
COLON: ":"
?difference: sum
?sum: product ("+")*
?product: quotient ("*")*
?quotient: power ("/")* | power ("%" power)+
?power: factorial ("^" factorial)*
?factorial: call
?call: atom "(" (expression (",")*)? ")" | atom "[" expression "]" | atom
?atom: name | "{" (expression (",")*)? "}" | "{" ".." expression "}"
    | "{" expression "," expression ".." expression "}"
    | "{" expression COLON expression ("," expression)* "}"
name: NAME
NAME: /(?!(section|if|then|else|show|true|false|and|or|not|iff|forall|exists|let|be|is|are|ω)\b)[ℕ𝕀ℙℂℚωℝπστ$a-zA-Z_][$a-zA-Z_0-9ℕ𝕀ℙℂℚωℝπστ]*/
"#;
    let mut matcher = matcher(text);
    assert!(matcher.advance_bytes(b"{x}").is_ok() && matcher.is_accepting());
}

/// Seven thousand strings with few common prefixes: more states than one terminal may have.
fn long_list() -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..7_000).map(|_| (0..36).map(|_| random.char('a'..='z')).collect()).collect()
}

/// A long list of strings is split into as many terminals as necessary, wherever it is used.
#[test]
fn long_lists_of_strings_are_made_wherever_they_stand() {
    let words = long_list();
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    for grammar in [
        Grammar::from_lark(&format!("start: \"<\" T T \">\"\nT: {}", quoted.join("|"))).unwrap(),
        Grammar::from_lark(&format!("start: \"<\" T T \">\"\nT: /{}/", words.join("|"))).unwrap(),
        Grammar::from_lark(&format!("start: \"<\" t t \">\"\nt: {}", quoted.join("|"))).unwrap(),
    ] {
        let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
        for word in [&words[0], &words[6_999]] {
            let mut matcher = constraint.matcher();
            matcher.advance_bytes(format!("<{}{word}", words[3_000]).as_bytes()).unwrap();
            assert!(matcher.allows(u32::from(b'>')) && !matcher.allows(u32::from(b'a')));
        }
        assert!(constraint.matcher().advance_bytes(b"<aaaaaaaaaaaaaaa").is_err());
    }
    let regex = Grammar::from_regex(&words.join("|")).unwrap();
    let constraint = Constraint::new(&regex, &vocabulary).unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(words[5].as_bytes()).unwrap();
    assert!(matcher.is_accepting());
}

/// Whenever there are too many states, the error is of kind `Limit` and names the limit.
#[test]
fn too_many_states_are_a_limit() {
    let limits = Limits::strict();
    let text = "start: A\nA: /(a|b)*a(a|b){25}/";
    let grammar = GrammarReader::new().limits(&limits).lark(text).unwrap();
    let error = Constraint::builder().limits(&limits).compile(&grammar).unwrap_err();
    assert_eq!(error.kind(), GrammarErrorKind::Limit);
    let limit = error.limit().expect("a limit");
    assert_eq!((limit.kind(), limit.limit()), (LimitKind::TerminalStates, 50_000));
}

/// In llguidance's dialect regexes are Rust's; in plain Lark they are Python's, with a warning.
#[test]
fn regexes_of_the_dialect_are_those_of_rust() {
    let tokens: Vec<Vec<u8>> = (0..=255u8).map(|byte| vec![byte]).collect();
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap();
    for (regex, yes, no) in [
        ("[[:alpha:]]+", &["ab", "Z"][..], &["a1", ":"][..]),
        ("[a-z&&[^aeiou]]+", &["xyz"], &["a", "&", "x&"]),
        ("[a-z--[b-y]]", &["a", "z"], &["b", "-"]),
        ("[a-c~~b-d]", &["a", "d"], &["b", "~"]),
        (r"(?<n>a)\x{41}\u{1F600}", &["aA😀"], &["aA"]),
        ("a(?i)b", &["ab", "aB"], &["Ab"]),
        (r"(?![[:digit:]])\w+", &["a1"], &["1a"]),
    ] {
        let text = format!("%llguidance {{}}\nstart: /{regex}/ \"!\"");
        let grammar = Grammar::from_lark(&text).unwrap_or_else(|error| panic!("{regex}: {error}"));
        let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
        let accepts = |text: &str| {
            let mut matcher = constraint.matcher();
            matcher.advance_bytes(format!("{text}!").as_bytes()).is_ok() && matcher.is_accepting()
        };
        yes.iter().for_each(|text| assert!(accepts(text), "{regex} {text}"));
        no.iter().for_each(|text| assert!(!accepts(text), "{regex} {text}"));
    }
    let plain = Grammar::from_lark("start: /[[:alpha:]]+/ \"!\"").unwrap();
    assert!(plain.warnings().iter().any(|warning| warning.code == "set-of-signs"));
}
