//! The command line, run as users and programs run it.
// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn lrmask(arguments: &[&str]) -> Output {
    lrmask_with(arguments, b"")
}

/// Runs the program with `input` as its standard input.
fn lrmask_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lrmask"))
        .args(arguments)
        .env_remove("NO_COLOR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that fails early does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("no signal ended it")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn objects(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A directory that is removed at the end of its test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lrmask-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Not LALR(1): which `if` has the `else`?
const DANGLING: &str = "start: \"if\" start | \"if\" start \"else\" start | \"x\"\n";

#[test]
fn check_finds_the_json_grammar_sound() {
    let output = lrmask(&["check", "json"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).starts_with("json: sound: "), "{}", stdout(&output));

    let output = lrmask(&["check", "json:value", "--vocab", "gpt2", "--json"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let objects = objects(&output);
    assert_eq!(objects.len(), 1);
    assert_eq!(objects[0]["ok"], true);
    assert_eq!(objects[0]["findings"], serde_json::json!([]));
}

#[test]
fn check_shows_a_fault_with_its_line_and_a_caret() {
    let grammar = "start: \"a\" nowhere\n";
    let output = lrmask_with(&["check", "-"], grammar.as_bytes());
    assert_eq!(status(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("error["), "{text}");
    assert!(text.contains("<stdin>:1:12"), "{text}");
    assert!(text.contains("1 | start: \"a\" nowhere"), "{text}");
    assert!(text.contains("           ^^^^^^^"), "{text}");
    assert!(!text.contains('\x1b'), "no colours into a pipe");

    let output = lrmask_with(&["check", "-", "--json"], grammar.as_bytes());
    assert_eq!(status(&output), 1);
    let finding = &objects(&output)[0]["findings"][0];
    assert_eq!(finding["severity"], "error");
    assert_eq!((&finding["place"]["line"], &finding["place"]["column"]), (&1.into(), &12.into()));
}

#[test]
fn a_conflict_is_shown_with_an_example() {
    for (line, severity, code) in [("", "warning", 0), ("%conflicts refuse\n", "error", 1)] {
        let output = lrmask_with(&["check", "-"], format!("{line}{DANGLING}").as_bytes());
        assert_eq!(status(&output), code);
        assert!(stdout(&output).contains(&format!("{severity}[conflict]")), "{}", stdout(&output));
        assert!(stdout(&output).contains("if if x • else"), "{}", stdout(&output));
    }

    let output = lrmask_with(&["debug", "conflicts", "-", "--json"], DANGLING.as_bytes());
    assert_eq!(status(&output), 1);
    assert_eq!(objects(&output)[0]["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(stdout(&lrmask(&["debug", "conflicts", "json"])), "no conflicts\n");
}

#[test]
fn a_file_without_start_is_read_from_the_rule_that_is_asked_for() {
    let directory = Directory::new("start");
    let file = directory.file("lists.lark", "list: \"[\" item* \"]\"\nitem: \"x\"\n");
    for arguments in
        [vec!["check", &file, "--start", "item"], vec!["check", &format!("{file}:list")]]
    {
        let output = lrmask(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let output = lrmask(&["check", &file, "--start", "items"]);
    assert!(stdout(&output).contains("did you mean `item`"), "{}", stdout(&output));
    assert!(!lrmask(&["check", &file]).status.success());
}

#[test]
fn imported_files_are_read_beside_the_grammar_and_shown() {
    let directory = Directory::new("import");
    let main = directory.file("main.lark", "%import .words.WORD\nstart: WORD+\n%ignore \" \"\n");
    directory.file("words.lark", "WORD: /[a-z]+/\n");
    let text = directory.file("text", "some words");
    let output = lrmask(&["validate", &main, &text]);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));

    directory.file("words.lark", "WORD: /[a-z/\n");
    let output = lrmask(&["validate", &main, &text]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("WORD: /[a-z/"), "{}", stderr(&output));
}

#[test]
fn yacc_grammars_have_their_terminals_beside_them() {
    let directory = Directory::new("yacc");
    let grammar = directory.file("sum.y", "%token NUM\n%left '+'\n%%\nsum: sum '+' sum | NUM ;\n");
    let terminals = directory.file("sum.lark", "NUM: /[0-9]+/\n%ignore \" \"\n");
    let text = directory.file("text", "1 + 22+3");
    let output = lrmask(&["validate", &grammar, "--terminals", &terminals, &text]);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));

    directory.file("sum.lark", "NUM: /[0-9+/\n");
    let output = lrmask(&["check", &grammar, "--terminals", &terminals]);
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).contains(&format!("{terminals}:1:")), "{}", stdout(&output));
    let output = lrmask(&["check", &grammar, "--terminals", &terminals, "--json"]);
    assert_eq!(objects(&output)[0]["findings"][0]["place"]["file"], *terminals);
}

/// A schema's lexemes are named as its author would write them, and behind the comma that is
/// missing stands the key that is.
#[test]
fn what_a_schema_expects_is_said_in_its_own_words() {
    let directory = Directory::new("validate-schema");
    let schema = r#"{"properties": {"color": {"enum": ["red", "green"]}, "size": {"const": "x"}},
        "required": ["color", "size"], "additionalProperties": false}"#;
    let schema = directory.file("colors.json", schema);
    for (text, said) in [
        (r#"{"color": 1"#, r#"expected one of "red", "green" (at #/properties/color)"#),
        (r#"{"color": "red"}"#, r#"expected ",", then key "size""#),
        (r#"{"color": "red", "size": "x""#, r#"expected "}", then end of text"#),
    ] {
        let text = directory.file("text", text);
        let output = lrmask(&["validate", &schema, &text]);
        assert!(stdout(&output).contains(said), "{}", stdout(&output));
    }
}

#[test]
fn validate_says_where_and_what_was_expected() {
    let directory = Directory::new("validate");
    let good = directory.file("good", "{\"a\": [1, 2.5e3, \"ä\"]}");
    let bad = directory.file("bad", "[\"äö\",\n 1,]");
    let short = directory.file("short", "[1");
    let output = lrmask(&["validate", "json", &good]);
    assert_eq!((status(&output), stdout(&output)), (0, &*format!("{good}: ok\n")));

    let output = lrmask(&["validate", "json", &good, &bad, &short, "--json"]);
    assert_eq!(status(&output), 1);
    let objects = objects(&output);
    assert_eq!(
        objects[0],
        serde_json::json!({
            "file": good, "ok": true, "offset": null, "line": null, "column": null,
            "kind": null, "expected": [], "then": []
        })
    );
    assert_eq!((&objects[1]["ok"], &objects[1]["offset"]), (&false.into(), &12.into()));
    assert_eq!((&objects[1]["line"], &objects[1]["column"]), (&2.into(), &4.into()));
    let expected = objects[1]["expected"].as_array().unwrap();
    assert!(
        expected.contains(&"\"{\"".into()) && expected.contains(&"NUMBER".into()),
        "{expected:?}"
    );
    assert!(!expected.contains(&"\"]\"".into()), "{expected:?}");
    assert_eq!((&objects[2]["ok"], &objects[2]["offset"]), (&false.into(), &2.into()));
    assert_eq!(objects[2]["expected"], serde_json::json!(["\",\"", "\"]\""]));
    assert_eq!(objects[2]["then"], serde_json::json!([]));

    let output = lrmask(&["validate", "json", &bad]);
    let text = stdout(&output);
    assert!(text.contains(":2:4: ']' is not allowed here (byte 12)"), "{text}");
    assert!(text.contains("2 |  1,]"), "{text}");
    assert!(text.contains("expected one of "), "{text}");
    let output = lrmask(&["validate", "json", &short]);
    assert!(stdout(&output).contains("the text ends too early"), "{}", stdout(&output));
}

#[test]
fn a_lexeme_that_has_begun_is_expected_to_go_on() {
    for (text, expected) in [("[tru?", "\"true\""), ("\"abc", "STRING"), ("-", "NUMBER")] {
        let output = lrmask_with(&["validate", "json", "-", "--json"], text.as_bytes());
        assert_eq!(objects(&output)[0]["expected"], serde_json::json!([expected]), "{text}");
    }
    let output = lrmask_with(&["validate", "json", "-", "--json"], b"1 1");
    assert_eq!(objects(&output)[0]["expected"], serde_json::json!(["end of text"]));
}

#[test]
fn a_long_text_is_taken_in_pieces() {
    let mut text = "[".to_owned() + &"12345, ".repeat(100_000) + "1";
    let output = lrmask_with(&["validate", "json", "-", "--json"], text.as_bytes());
    assert_eq!(objects(&output)[0]["offset"], 700_002);
    text.push_str("]]");
    let output = lrmask_with(&["validate", "json", "-", "--json"], text.as_bytes());
    assert_eq!(objects(&output)[0]["offset"], 700_003);
    text.pop();
    assert_eq!(status(&lrmask_with(&["validate", "json", "-"], text.as_bytes())), 0);
}

#[test]
fn wrong_use_and_unreadable_input_exit_with_2() {
    let directory = Directory::new("wrong");
    let binary = directory.file("binary.lark", b"start: \xff");
    let text = directory.file("text", "1");
    let cases: &[&[&str]] = &[
        &[],
        &["no-such-command"],
        &["validate", "json"],
        &["validate", "json", "/no/such/file"],
        &["validate", "no-such-grammar", &text],
        &["check", "/no/such/grammar.lark"],
        &["check", &binary],
        &["check", "json", "--start", "no-such-rule", "--vocab", "no-such-vocabulary"],
        &["mask", "json", "--vocab", &text],
        &["mask", "json", "--vocab", "no-such-vocabulary"],
        &["validate", "-", "-"],
        &["replay", "json", &text, "--passes", "0"],
        &["check", "json", "--terminals", &text],
    ];
    for case in cases {
        let output = lrmask_with(case, b"start: \"a\"\n");
        if *case == ["check", "json", "--start", "no-such-rule", "--vocab", "no-such-vocabulary"] {
            // The grammar is asked about, and the answer is no.
            assert_eq!(status(&output), 1, "{case:?}");
            continue;
        }
        assert_eq!(status(&output), 2, "{case:?}: {}{}", stdout(&output), stderr(&output));
        assert!(!stderr(&output).is_empty(), "{case:?}");
        assert!(!stderr(&output).contains("panicked"), "{case:?}: {}", stderr(&output));
    }
    // The other files are answered all the same.
    let output = lrmask(&["validate", "json", "/no/such/file", &text]);
    assert_eq!((status(&output), stdout(&output)), (2, &*format!("{text}: ok\n")));
}

#[test]
fn mask_lists_what_may_come_next() {
    let output = lrmask(&["mask", "json", "--prefix", "[1", "--json"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let mask = &objects(&output)[0];
    assert_eq!(mask["eos"], false);
    let (ids, texts) = (mask["ids"].as_array().unwrap(), mask["texts"].as_array().unwrap());
    assert_eq!((ids.len(), texts.len()), (texts.len(), mask["count"].as_u64().unwrap() as usize));
    for (text, allowed) in [("]", true), (",", true), ("2", true), ("}", false), (":", false)] {
        assert_eq!(texts.contains(&text.into()), allowed, "{text}");
    }

    let output = lrmask(&["mask", "json", "--vocab", "gpt2", "--prefix", "{}", "--limit", "2"]);
    assert!(stdout(&output).contains("of 50257 tokens may come next; the text may end here"));
    assert!(stdout(&output).contains("(--limit 0 lists all)"), "{}", stdout(&output));
    assert_eq!(stdout(&output).lines().count(), 4);

    let output = lrmask(&["mask", "json", "--prefix", "]"]);
    assert_eq!(status(&output), 1);
    assert!(
        stderr(&output).contains("--prefix:1:1: ']' is not allowed here"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_came_to_a_limit_is_told() {
    let directory = Directory::new("limits");
    let text = "%lexer basic\nstart: (A | L B)+ \"!\"\nA: \"a\"\nL: /a{3}/\n\
        B: /b+(?!c)/\nC: \"ab\"\nD: /ba{2}/\n";
    let grammar = directory.file("dead_ends.lark", text);
    for prefix in ["a", "aa"] {
        let output = lrmask(&["mask", &grammar, "--prefix", prefix, "--decision-steps", "1"]);
        let told = "question whether a text can be completed reached a limit";
        assert!(stderr(&output).replace("questions", "question").contains(told), "{prefix}");
        let output = lrmask(&["mask", &grammar, "--prefix", prefix]);
        assert!(!stderr(&output).contains("limit"), "{}", stderr(&output));
    }
}

#[test]
fn speculate_predicts_texts_like_those_it_has_learnt() {
    let directory = Directory::new("speculate");
    let texts: Vec<String> = (0..6)
        .map(|n| directory.file(&n.to_string(), format!("{{\"name\": \"n{n}\", \"age\": {n}}}")))
        .collect();
    let counts = directory.0.join("counts");
    let counts = counts.to_str().unwrap();
    let mut arguments = vec!["speculate", "json", "--learn", "3", "--json"];
    arguments.extend(texts.iter().map(String::as_str));
    let output = lrmask(&[&arguments[..], &["-o", counts]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let summary = &objects(&output)[0];
    assert_eq!((&summary["learnt"], &summary["predicted"]), (&3.into(), &3.into()));
    let rate = summary["tokens_per_call"].as_f64().unwrap();
    assert!(rate > 2.0, "{summary}");

    // The same from the saved counts, without learning.
    let mut arguments = vec!["speculate", "json", "--learn", "0", "--json", "--counts", counts];
    arguments.extend(texts[3..].iter().map(String::as_str));
    let output = lrmask(&arguments);
    let again = &objects(&output)[0];
    assert_eq!(again["tokens_per_call"], summary["tokens_per_call"]);
    let other = lrmask(&["speculate", "json:value", &texts[0], "--counts", counts]);
    assert_eq!(status(&other), 2);
    assert!(stderr(&other).contains("different grammar"), "{}", stderr(&other));
    let bad = directory.file("bad", "[1, 2}");
    let output = lrmask(&["speculate", "json", &bad]);
    assert_eq!(status(&output), 1);
    assert!(stderr(&output).contains("not a text of the language"));
}

#[test]
fn validate_prints_the_tree() {
    let directory = Directory::new("tree");
    let text = directory.file("text", "[1, {\"a\": null}]");
    let output = lrmask(&["validate", "json", "--tree", &text]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let lines: Vec<&str> = stdout(&output).lines().skip(1).collect();
    assert_eq!(
        lines[..6],
        [
            "  json",
            "    value",
            "      array",
            "        \"[\"",
            "        value",
            "          NUMBER \"1\""
        ]
    );
    let output = lrmask(&["validate", "json", "--tree", "--json", &text]);
    let tree = &objects(&output)[0]["tree"];
    assert_eq!(
        (&tree["rule"], &tree["start"], &tree["end"]),
        (&"json".into(), &0.into(), &16.into())
    );
    let array = &tree["children"][0]["children"][0];
    assert_eq!(array["rule"], "array");
    assert_eq!(array["children"][0]["terminal"], "\"[\"");
    assert_eq!(array["children"].as_array().unwrap().len(), 5);
    assert_eq!(array["children"][1]["children"][0]["text"], "1");
    let bad = directory.file("bad", "[1");
    let output = lrmask(&["validate", "json", "--tree", "--json", &bad]);
    assert_eq!((status(&output), &objects(&output)[0]["tree"]), (1, &Value::Null));
    assert_eq!(objects(&output)[0]["kind"], "incomplete");
}

#[test]
fn replay_counts_what_a_lookahead_would_refuse() {
    let directory = Directory::new("lookahead");
    let text = directory.file("text", "{\"name\": [1, 2.5e3, \"b\"]}");
    let beyond = |lookahead: &str| {
        let output = lrmask(&[
            "replay",
            "json",
            "--vocab",
            "gpt2",
            &text,
            "--lookahead",
            lookahead,
            "--json",
        ]);
        assert_eq!(status(&output), 0, "{}", stdout(&output));
        objects(&output)[0]["beyond_lookahead"].as_u64().unwrap()
    };
    assert!(beyond("0") > 2 && beyond("0") > beyond("1"));
    assert_eq!(beyond("9"), 0);
    let output = lrmask(&["replay", "json", &text, "--lookahead", "0"]);
    assert!(stdout(&output).contains(" beyond the lookahead"), "{}", stdout(&output));
    assert_eq!(
        objects(&lrmask(&["replay", "json", &text, "--json"]))[0]["beyond_lookahead"],
        Value::Null
    );
}

#[test]
fn replay_takes_every_token_and_the_end() {
    let directory = Directory::new("replay");
    let good = directory.file("good", "{\"name\": [1, 2.5e3, \"häß\\u00e4\"], \"b\": {}}\n");
    let short = directory.file("short", "{\"a\": ");
    let bad = directory.file("bad", "[1, 2}");
    let output = lrmask(&["replay", "json", "--vocab", "gpt2", &good, "--passes", "3", "--json"]);
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
    let objects = objects(&output);
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["rejected_at"], Value::Null);
    assert_eq!(objects[0]["eos_at_end"], true);
    assert!(objects[0]["tokens"].as_u64().unwrap() > 10);
    let passes = objects[1]["passes"].as_array().unwrap();
    assert_eq!(passes.len(), 3);
    for (what, part) in
        [("mask_ns", "p50"), ("mask_ns", "p99"), ("advance_ns", "max"), ("advance_ns", "mean")]
    {
        assert!(passes[0][what][part].is_u64(), "{what}.{part}");
    }
    for key in ["compile_us", "first_mask_us", "index_bytes"] {
        assert!(objects[1][key].is_u64(), "{key}");
    }

    let output = lrmask(&["replay", "json", &good, &short, &bad, "--retokenize", "7", "--json"]);
    assert_eq!(status(&output), 1);
    let objects = self::objects(&output);
    assert_eq!(
        (&objects[0]["rejected_at"], &objects[0]["eos_at_end"]),
        (&Value::Null, &true.into())
    );
    assert_eq!(
        (&objects[1]["rejected_at"], &objects[1]["eos_at_end"]),
        (&Value::Null, &false.into())
    );
    assert!(objects[2]["rejected_at"].is_u64());

    let output = lrmask(&["replay", "json", &good, &bad]);
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).contains("was rejected"), "{}", stdout(&output));
    assert!(stdout(&output).contains("pass 1 mask"), "{}", stdout(&output));
}

#[test]
fn generated_texts_are_json_within_their_budget() {
    for budget in [1, 2, 7, 100] {
        let budget_text = budget.to_string();
        let output = lrmask(&[
            "generate",
            "json",
            "--count",
            "2500",
            "--seed",
            "5",
            "--max-tokens",
            &budget_text,
            "--json",
        ]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let objects = objects(&output);
        assert_eq!(objects.len(), 2500);
        for object in objects {
            let text = object["text"].as_str().unwrap();
            // Not into a `Value`, which has no room for some numbers.
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok(), "{text}");
            assert!(object["tokens"].as_u64().unwrap() <= budget, "{object}");
        }
    }
}

#[test]
fn generated_texts_are_the_same_for_the_same_seed_only() {
    let generate =
        |seed| stdout(&lrmask(&["generate", "json", "--count", "20", "--seed", seed])).to_owned();
    assert_eq!(generate("1"), generate("1"));
    assert_ne!(generate("1"), generate("2"));
}

#[test]
fn a_budget_that_cannot_be_met_is_exceeded_and_said_so() {
    let grammar = b"start: \"(\" \"(\" \"(\" \"x\" \")\" \")\" \")\"\n";
    let output = lrmask_with(&["generate", "-", "--max-tokens", "1"], grammar);
    assert_eq!((status(&output), stdout(&output)), (0, "(((x)))\n"));
    assert!(stderr(&output).contains("longer than 1 tokens"), "{}", stderr(&output));
}

#[test]
fn generated_texts_contain_the_special_tokens_that_the_grammar_asks_for() {
    let tokens = |grammar: &[u8]| {
        let arguments = ["generate", "-", "--vocab", "gpt2", "--json", "--ids"];
        let output = lrmask_with(&arguments, grammar);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        objects(&output)[0]["ids"].clone()
    };
    assert_eq!(tokens(b"start: \"a\" <|endoftext|> \"b\"\n"), serde_json::json!([64, 50256, 65]));
    assert_eq!(tokens(b"start: <|endoftext|>\n"), serde_json::json!([50256]));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_grammar() {
    let check = |notation: &str, grammar: &[u8], text: &str| {
        let directory = std::env::temp_dir().join(format!("lrmask-mark-{notation}"));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join(format!("marked.{notation}"));
        std::fs::write(&path, [b"\xef\xbb\xbf", grammar].concat()).unwrap();
        let output = lrmask_with(&["validate", path.to_str().unwrap(), "-"], text.as_bytes());
        assert_eq!(status(&output), 0, "{notation}: {}", stderr(&output));
    };
    check("txt", b"yes\nno\n", "yes");
    check("regex", b"ab+\n", "abb");
    check("lark", b"start: \"a\"\n", "a");
    check("json", b"true", "1");
}

#[test]
fn a_mask_keeps_within_a_budget() {
    let grammar = b"start: \"[\" start \"]\" | \"x\"\n";
    let mask = |budget: &str| {
        let arguments = ["mask", "-", "--prefix", "[", "--budget", budget, "--json"];
        lrmask_with(&arguments, grammar)
    };
    let allows = |output: &Output, token: &str| {
        let texts = objects(output)[0]["texts"].clone();
        texts.as_array().unwrap().contains(&serde_json::json!(token))
    };
    let near = mask("2");
    assert!(allows(&near, "x") && !allows(&near, "["), "{}", stdout(&near));
    assert!(allows(&mask("4"), "["));
    let refused = mask("0");
    assert_eq!(status(&refused), 1);
    assert!(stderr(&refused).contains("--budget: "), "{}", stderr(&refused));
}

#[test]
fn debug_prints_every_stage() {
    for (stage, part) in [("grammar", "member"), ("states", "state"), ("scanner", "STRING")] {
        let output = lrmask(&["debug", stage, "json"]);
        assert_eq!(status(&output), 0, "{stage}: {}", stderr(&output));
        assert!(stdout(&output).contains(part), "{stage}: {}", stdout(&output));
    }
    let output = lrmask(&["debug", "index", "json", "--prefix", "{\"a\"", "--json"]);
    let object = &objects(&output)[0];
    assert_eq!(object["expected"], serde_json::json!(["\":\""]));
    assert!(object["masks"].as_u64().unwrap() > 0);
    assert!(stdout(&lrmask(&["debug", "index", "json"])).contains("scan states"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lrmask"))
        .args(["mask", "json", "--limit", "0", "--prefix", "\""])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((status(&output), stderr(&output)), (0, ""));
}

#[test]
fn a_saved_constraint_stands_for_its_grammar() {
    let directory = Directory::new("index");
    let saved = directory.0.join("json.lrmask").to_str().unwrap().to_owned();
    let sample = directory.file("sample.json", r#"{"a": [1, true]}"#);
    let output =
        lrmask(&["index", "json", "--vocab", "gpt2", "-o", &saved, "--samples", &sample, "--json"]);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    assert!(objects(&output)[0]["tokens"].as_u64() > Some(3));
    for command in
        [&["mask", "--prefix", "[1", "--json"][..], &["generate", "--seed", "3", "--json"]]
    {
        let of = |grammar: &str| {
            let mut arguments = vec![command[0], grammar];
            arguments.extend(&command[1..]);
            stdout(&lrmask(&arguments)).to_owned()
        };
        assert_eq!(of(&saved), of("json"));
    }
    assert_eq!(status(&lrmask(&["validate", &saved, &sample])), 0);
    let other = lrmask(&["mask", &saved, "--vocab", "cl100k"]);
    assert_eq!(status(&other), 2);
    assert!(stderr(&other).contains("different vocabulary"), "{}", stderr(&other));
    // Samples that are no texts of the language are named, and the file is written all the same.
    let wrong = directory.file("wrong.json", "[1,,");
    let output = lrmask(&["index", "json", "-o", &saved, "--samples", &wrong, "--json"]);
    assert_eq!((status(&output), &objects(&output)[0]["rejected"][0]), (1, &Value::from(wrong)));
    assert_eq!(status(&lrmask(&["mask", &saved])), 0);
}

#[test]
fn the_notation_goes_by_the_extension_or_by_its_name() {
    let directory = Directory::new("notations");
    let text = directory.file("text", "aab");
    let gbnf = "root ::= \"a\"* \"b\"\nother ::= \"aab\" | root";
    let cases = [
        vec![directory.file("g.gbnf", gbnf)],
        vec![directory.file("g.ebnf", gbnf)],
        vec![directory.file("gbnf.txt", gbnf), "--notation".into(), "gbnf".into()],
        vec![directory.file("g.regex", "a*b\n")],
        vec![directory.file("g.lark", "start: \"a\"* \"b\"")],
        vec![directory.file("odd.gbnf", "start: \"a\"* \"b\""), "--notation".into(), "lark".into()],
        vec![directory.file("start.gbnf", gbnf), "--start".into(), "other".into()],
    ];
    for case in &cases {
        let arguments = case.iter().map(String::as_str);
        let arguments: Vec<&str> =
            ["validate"].into_iter().chain(arguments).chain([text.as_str()]).collect();
        let output = lrmask(&arguments);
        assert_eq!(status(&output), 0, "{arguments:?}: {}", stderr(&output));
        let checked: Vec<&str> =
            ["check"].into_iter().chain(case.iter().map(String::as_str)).collect();
        assert_eq!(status(&lrmask(&checked)), 0, "{checked:?}");
    }
    let wrong = directory.file("wrong.gbnf", "root ::= thought");
    let output = lrmask(&["check", &wrong]);
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).contains("undefined-symbol"), "{}", stdout(&output));
    assert!(stdout(&output).contains("wrong.gbnf:1:10"), "{}", stdout(&output));
}

#[test]
fn yacc_rules_are_checked_without_terminals() {
    let directory = Directory::new("rules");
    let grammar =
        directory.file("sum.y", "%left '+'\n%token NUM;\n%%\nsum: sum '+' sum | NUM | error");
    let output = lrmask(&["check", &grammar]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("`error`"), "{}", stdout(&output));
    let text = directory.file("text", "NUM + NUM");
    let output = lrmask(&["validate", &grammar, &text]);
    assert_eq!(status(&output), 0, "{}", stdout(&output));
}

#[test]
fn documents_stand_beside_a_schema() {
    let directory = Directory::new("documents");
    let schema = directory.file("a.json", r##"{"$id": "https://x.y/a", "$ref": "b.json#/n"}"##);
    let output = lrmask(&["check", &schema]);
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).contains("`https://x.y/b.json`"), "{}", stdout(&output));
    let other = directory.file("b.json", r#"{"n": {"type": "integer", "minimum": 3}}"#);
    let document = format!("https://x.y/b.json={other}");
    for (text, code) in [("3", 0), ("2", 1)] {
        let text = directory.file("text", text);
        let output = lrmask(&["validate", "--document", &document, &schema, &text]);
        assert_eq!(status(&output), code, "{}", stderr(&output));
    }
    assert_eq!(status(&lrmask(&["check", "--document", &other, &schema])), 2);
}
