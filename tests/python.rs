//! Python 3.12, as CPython's parser accepts it.
//!
//! The oracle is CPython 3.12's `ast.parse`: `tests/data/python/snippets.txt` has its verdicts on
//! small texts.
//! `LRMASK_LONG=1 LRMASK_PYTHON=python3.12 cargo test --release --test python -- --nocapture` also
//! runs it on its own library, on tens of thousands of mutations of that, and on prefixes of its
//! files (`tests/data/python/verdicts.py`), and replays all samples.

#![allow(clippy::print_stdout, reason = "a long run says what it did")]

use crate::corpus;

use std::io::Write as _;
use std::process::{Command, Stdio};

use lrmask::{CompiledGrammar, Constraint, Grammar, GrammarReader, TokenId, Vocabulary};
use serde::Deserialize;

const PYTHON: &str = include_str!("../grammars/python/python.lark");
const IDENTIFIERS: &str = include_str!("../grammars/python/identifiers.lark");

/// Small texts and whether CPython parses them.
const SNIPPETS: &str = include_str!("data/python/snippets.txt");

/// Texts that [`no_true_token_is_refused`] replays if no samples are available.
const MODULE: &str = include_str!("data/python/verdicts.py");

#[derive(Deserialize)]
struct Snippet {
    id: String,
    code: String,
    parser_ok_313: bool,
}

fn grammar() -> Grammar {
    let imports = |path: &str| match path.ends_with("identifiers.lark") {
        true => Ok(IDENTIFIERS.to_owned()),
        false => Err(std::io::ErrorKind::NotFound.into()),
    };
    GrammarReader::new()
        .name("grammars/python/python.lark")
        .imports(&imports)
        .lark(PYTHON)
        .expect("the grammar is sound")
}

fn compiled() -> CompiledGrammar {
    CompiledGrammar::new(&grammar()).expect("the engine can do it exactly")
}

fn bytes_only() -> Vocabulary {
    Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("a sound vocabulary")
}

/// Whether a whole text is in the language.
fn accepts(constraint: &Constraint, text: &[u8]) -> bool {
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(text).is_ok() && matcher.is_accepting()
}

fn long_run() -> bool {
    std::env::var_os("LRMASK_LONG").is_some()
}

/// Returns verdicts and texts, or references to texts.
fn verdicts(lines: &str) -> impl Iterator<Item = (&str, String)> {
    lines.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (verdict, text) = line.split_once('\t').expect("a verdict and a text");
        (verdict, serde_json::from_str(text).expect("the text as a JSON string"))
    })
}

/// Returns CPython's output, in a long run if CPython is available.
fn ask(arguments: &[&str]) -> Option<String> {
    ask_about(arguments, "")
}

/// Returns CPython's output about `texts`.
fn ask_about(arguments: &[&str], texts: &str) -> Option<String> {
    let python = std::env::var_os("LRMASK_PYTHON").filter(|_| long_run())?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/python/verdicts.py");
    let mut command = Command::new(python);
    command.arg(script).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("CPython 3.12 runs");
    child.stdin.take().expect("a pipe").write_all(texts.as_bytes()).expect("CPython 3.12 reads");
    let output = child.wait_with_output().expect("CPython 3.12 ends");
    let said = String::from_utf8(output.stdout).expect("verdicts in UTF-8");
    assert!(output.status.success(), "{said}");
    Some(said)
}

/// Compares with CPython's verdicts, and returns the number of texts of each verdict.
fn compare<'a>(verdicts: impl Iterator<Item = (&'a str, String)>) -> [usize; 3] {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let mut counts = [0; 3];
    let mut faults = Vec::new();
    for (verdict, text) in verdicts {
        let at =
            ["yes", "no", "wide"].iter().position(|&known| known == verdict).expect("a verdict");
        counts[at] += 1;
        if accepts(&constraint, text.as_bytes()) != (verdict != "no") {
            faults.push(format!("{verdict}: {text:?}"));
        }
    }
    assert!(faults.is_empty(), "CPython says\n{}", faults.join("\n"));
    counts
}

#[test]
fn small_texts() {
    let [yes, no, wide] = compare(verdicts(SNIPPETS));
    assert!(yes > 1_000 && no > 700 && wide < 5);
}

/// Valid only since CPython 3.13: defaults of type parameters.
const NEWER: [&str; 3] =
    ["type_param_param_spec.py", "type_param_type_var.py", "type_param_type_var_tuple.py"];

/// Snippets from the parser tests of other projects, which are placed next to the project, with
/// the verdicts of CPython 3.13's parser.
#[test]
#[ignore = "reads samples"]
fn snippets_of_other_projects() {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let mut faults = Vec::new();
    let mut counts = [0; 2];
    for (name, valid) in [("snippets_valid", true), ("snippets_invalid", false)] {
        let file = corpus::needed(corpus::file(&format!("python/{name}.jsonl.gz")));
        let lines = String::from_utf8(file).expect("JSON is UTF-8");
        for line in lines.lines() {
            let snippet: Snippet = serde_json::from_str(line).expect("a snippet");
            let newer = NEWER.iter().any(|name| snippet.id.ends_with(name));
            if newer || snippet.parser_ok_313 != valid {
                continue;
            }
            counts[usize::from(valid)] += 1;
            let accepted = accepts(&constraint, snippet.code.as_bytes());
            // Character names are not looked up (grammars/python/README.md).
            let unnamed = accepted && snippet.code.contains("\\N{INVALID}");
            if accepted != valid && !unnamed {
                faults.push(snippet.id);
            }
        }
    }
    println!("snippets: {} valid, {} invalid", counts[1], counts[0]);
    assert!(faults.is_empty(), "not as CPython says: {}", faults.join("\n"));
}

#[test]
fn one_token_mutations() {
    let Some(lines) = ask(&["mutations", "50000"]) else { return };
    println!("mutations: {:?} (yes, no, wide)", compare(verdicts(&lines)));
}

#[test]
fn a_text_may_end_where_cpython_says() {
    let Some(lines) = ask(&["prefixes", "10000"]) else { return };
    println!("beginnings of files: {:?} (yes, no, wide)", compare(verdicts(&lines)));
}

#[test]
fn the_standard_library() {
    let Some(lines) = ask(&["library"]) else { return };
    let read = |(verdict, path): (_, String)| {
        let text = std::fs::read(&path).expect("a file of the library");
        String::from_utf8(text).ok().map(|text| (verdict, text))
    };
    let [yes, no, wide] = compare(verdicts(&lines).filter_map(read));
    println!("the library: {yes} files accepted, {no} refused, {wide} of the kinds that are told");
    assert!(yes > 1_000);
}

#[test]
fn one_statement_and_one_expression() {
    let start = |rule| {
        let grammar = grammar().with_start(rule).expect("an entry point");
        CompiledGrammar::new(&grammar)
            .expect("the engine can do it exactly")
            .constraint(&bytes_only())
            .expect("its tokens are known")
    };
    let statement = start("statement");
    for text in [
        "x = 1",
        "x = 1; y\n",
        "if a:\n  b\n",
        "# c\n\nif a: b\nelse:\n  c\n",
        "match x:\n  case _: pass",
    ] {
        assert!(accepts(&statement, text.as_bytes()), "{text:?}");
    }
    for text in ["", "x\ny\n", "if a:\n  b\nc", "x =", " x", "if a:"] {
        assert!(!accepts(&statement, text.as_bytes()), "{text:?}");
    }
    let expression = start("expression");
    for text in ["1", "a, b,", "lambda: x\n", "(yield)", "f'{x!r:>{w}}' # c\n", "[\n1]"] {
        assert!(accepts(&expression, text.as_bytes()), "{text:?}");
    }
    for text in ["", "x = 1", "*a", "x := 1", "yield", "pass", "1; 2", "1\n2"] {
        assert!(!accepts(&expression, text.as_bytes()), "{text:?}");
    }
}

/// Replays `tokens`, which spell `text`: every token must be allowed. Returns the number of steps.
fn replay(constraint: &Constraint, name: &str, text: &[u8], tokens: &[TokenId]) -> usize {
    let vocabulary = constraint.vocabulary();
    let stop = vocabulary.stop_tokens()[0];
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut offset = 0;
    for &token in tokens {
        matcher.fill_mask(&mut mask);
        assert!(mask.contains(token), "{name}: token {token} at byte {offset} must be allowed");
        matcher.advance(token).expect("a bit that is set");
        offset += vocabulary.bytes(token).map_or(0, <[u8]>::len);
    }
    assert_eq!(offset, text.len(), "{name}: the tokens spell the text");
    matcher.fill_mask(&mut mask);
    assert!(mask.contains(stop), "{name}: EOS at the end");
    tokens.len()
}

/// Returns texts that CPython 3.12 parses: in a long run its whole library, the samples next to the
/// project, and the texts of this repository.
fn modules() -> Vec<(String, Vec<u8>)> {
    let mut modules = vec![("verdicts.py".to_owned(), MODULE.as_bytes().to_vec())];
    for archive in ["valid", "valid_312plus"] {
        let files = corpus::archive(&format!("python/{archive}.tar.gz")).unwrap_or_default();
        modules.extend(files.into_iter().filter(|(path, _)| path.ends_with(".py")));
    }
    let library = ask(&["library"]).unwrap_or_default();
    modules.extend(verdicts(&library).filter(|(verdict, _)| *verdict == "yes").map(|(_, path)| {
        let text = std::fs::read(&path).expect("a file of the library");
        (path, text)
    }));
    modules
}

/// Number of modules that are also split into tokens at random.
const CUT_AT_RANDOM: usize = 300;

#[test]
fn no_true_token_is_refused() {
    let compiled = compiled();
    let bytes = compiled.constraint(&bytes_only()).expect("its tokens are known");
    let modules: Vec<_> = modules().into_iter().filter(|(_, text)| accepts(&bytes, text)).collect();
    let part = if long_run() { 1 } else { 16 };
    for (name, vocabulary, tokenizer) in
        corpus::vocabularies(&["o200k"], &["llama3/tokenizer.json.gz"])
    {
        let constraint = compiled.constraint(&vocabulary).expect("its tokens are known");
        let mut steps = 0;
        for (at, (path, text)) in modules.iter().enumerate().filter(|(at, _)| at % part == 0) {
            if at < CUT_AT_RANDOM {
                let random =
                    corpus::cut_random(&vocabulary, text, at as u64).expect("bytes can be spelled");
                steps += replay(&constraint, path, text, &random);
            }
            if let Some(tokens) =
                std::str::from_utf8(text).ok().and_then(|text| tokenizer.encode(&vocabulary, text))
            {
                steps += replay(&constraint, path, text, &tokens);
            }
        }
        println!(
            "{name}: {} modules, {steps} steps, {:?}",
            modules.len().div_ceil(part),
            constraint.index_size()
        );
    }
}

/// Returns modules of about `length` tokens with many blocks, drawn from the masks.
fn drawn_modules(count: u64, length: usize) -> Vec<String> {
    let heads = [
        "if x:",
        "else:",
        "elif x:",
        "while x:",
        "for x in y:",
        "try:",
        "except x:",
        "finally:",
        "with x:",
        "def x():",
        "class x:",
        "match x:",
        "case x:",
        "async def x(y):",
    ];
    let rest = ["x", " = ", "f'{x:{y}}'", "pass", ";", "return", " # x", "(", ")", "\\\n"];
    let lines = (0..9).map(|level| format!("\n{}", "  ".repeat(level)));
    let mut tokens: Vec<String> = lines.collect();
    for head in heads {
        tokens.extend((0..9).map(|level| format!("{head}\n{}", " ".repeat(level))));
    }
    tokens.extend(rest.map(str::to_owned));
    let vocabulary = Vocabulary::from_tokens(tokens.into_iter().map(String::into_bytes))
        .expect("a sound vocabulary");
    let constraint = compiled().constraint(&vocabulary).expect("its tokens are known");
    let mut mask = constraint.new_mask();
    let mut draw = |seed: u64| {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = Vec::new();
        let mut matcher = constraint.matcher();
        for _ in 0..length {
            matcher.fill_mask(&mut mask);
            let allowed: Vec<TokenId> = mask.tokens().collect();
            let token = allowed[random.usize(..allowed.len())];
            matcher.advance(token).expect("a bit that is set");
            text.extend_from_slice(vocabulary.bytes(token).expect("a token of the vocabulary"));
        }
        text.extend(matcher.shortest_completion().expect("every beginning can be completed"));
        String::from_utf8(text).expect("Python is UTF-8")
    };
    (0..count).map(&mut draw).collect()
}

#[test]
fn drawn_modules_are_modules() {
    let count = if long_run() { 3_000 } else { 20 };
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    let modules = drawn_modules(count, 60);
    for module in &modules {
        assert!(accepts(&constraint, module.as_bytes()), "{module:?}");
    }
    let lines: Vec<String> =
        modules.iter().map(|text| serde_json::json!({ "text": text }).to_string()).collect();
    if let Some(said) = ask_about(&["generated"], &lines.join("\n")) {
        println!("drawn modules: {said}");
    }
}

#[test]
fn every_beginning_can_be_completed() {
    let constraint = compiled().constraint(&bytes_only()).expect("its tokens are known");
    for (_, text) in verdicts(SNIPPETS).filter(|(verdict, _)| *verdict == "yes") {
        let middle = text.len() / 2;
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(&text.as_bytes()[..middle]).expect("the beginning of a text");
        let rest = matcher
            .shortest_completion()
            .unwrap_or_else(|| panic!("no completion: {text:?}, {middle}"));
        matcher.advance_bytes(&rest).expect("the completion follows");
        assert!(matcher.is_accepting(), "{text:?}, {middle}");
    }
}
