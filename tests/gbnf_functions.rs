//! XGrammar's functions in GBNF, and lazy rules: random ones against their definitions, over all
//! short texts.
//!
//! `LRMASK_RANDOM=N` tries N grammars of each kind (default 60), `LRMASK_SEED=N` others.

// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use fastrand::Rng;
use lrmask::{CompiledGrammar, Grammar};
use regex::Regex;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// All texts over `letters` up to a length.
fn texts(letters: &str, most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut from = 0;
    for _ in 0..most {
        let to = all.len();
        for at in from..to {
            let longer = letters.chars().map(|letter| format!("{}{letter}", all[at]));
            let longer: Vec<String> = longer.collect();
            all.extend(longer);
        }
        from = to;
    }
    all
}

/// Compares the grammar with `holds` on all short texts.
fn compare(gbnf: &str, letters: &str, most: usize, holds: impl Fn(&str) -> bool) {
    let texts = texts(letters, most);
    let wanted: Vec<&String> = texts.iter().filter(|text| holds(text)).collect();
    let compiled = Grammar::from_gbnf(gbnf).and_then(|grammar| CompiledGrammar::new(&grammar));
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) if wanted.is_empty() => {
            assert!(error.to_string().contains("no text"), "{gbnf}\n{error}");
            return;
        }
        Err(error) => panic!("{gbnf}\n{error}"),
    };
    let is_member = |text: &&String| {
        let mut matcher = compiled.matcher();
        matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
    };
    let found: Vec<&String> = texts.iter().filter(is_member).collect();
    assert_eq!(found, wanted, "{gbnf}");
}

fn each(test: impl Fn(&mut Rng)) {
    let seed = number("LRMASK_SEED", 1);
    for case in 0..number("LRMASK_RANDOM", 60) {
        test(&mut Rng::with_seed(seed << 32 | case));
    }
}

fn word(random: &mut Rng, least: usize, most: usize) -> String {
    (0..random.usize(least..=most)).map(|_| if random.bool() { 'a' } else { 'b' }).collect()
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn substrings_are_runs_of_chunks() {
    each(|random| {
        let chunks: Vec<String> = (0..random.usize(0..6)).map(|_| word(random, 0, 2)).collect();
        let gbnf = format!("root ::= \"x\" Substring({}) \"a\"?", quoted(&chunks));
        let runs: Vec<String> = (0..=chunks.len())
            .flat_map(|from| (from..=chunks.len()).map(move |to| (from, to)))
            .map(|(from, to)| chunks[from..to].concat())
            .collect();
        compare(&gbnf, "abx", 6, |text| {
            let Some(run) = text.strip_prefix('x') else { return false };
            let has = |run: &str| runs.iter().any(|known| known == run);
            has(run) || run.strip_suffix('a').is_some_and(has)
        });
    });
}

/// Text, tags and what stands behind them, by definition.
struct Dispatch {
    tags: Vec<(String, char)>,
    excludes: Vec<String>,
    loops: bool,
}

impl Dispatch {
    fn holds(&self, text: &str) -> bool {
        for end in 1..=text.len() {
            let (before, rest) = text.split_at(end);
            if self.excludes.iter().any(|exclude| before.ends_with(exclude)) {
                return false;
            }
            let found = self.tags.iter().filter(|(tag, _)| before.ends_with(tag));
            let found: Vec<char> = found.map(|&(_, behind)| behind).collect();
            if !found.is_empty() {
                return found.iter().any(|&behind| {
                    rest.strip_prefix(behind).is_some_and(|rest| match self.loops {
                        true => self.holds(rest),
                        false => rest.is_empty(),
                    })
                });
            }
        }
        true
    }
}

#[test]
fn dispatches_go_by_the_tag_that_ends_first() {
    each(|random| {
        let tags = (0..random.usize(1..4)).map(|_| {
            let tag = word(random, 1, 3);
            (tag, if random.bool() { 'x' } else { 'y' })
        });
        let tags: Vec<(String, char)> = tags.collect();
        let mut excludes: Vec<String> =
            (0..random.usize(0..3)).map(|_| word(random, 1, 3)).collect();
        excludes.retain(|exclude| !tags.iter().any(|(tag, _)| tag.starts_with(exclude)));
        let loops = random.bool();
        let mut gbnf = "root ::= TagDispatch(".to_owned();
        for (tag, behind) in &tags {
            write!(gbnf, "(\"{tag}\", {behind}), ").unwrap();
        }
        write!(gbnf, "loop_after_dispatch={loops}, excludes=({}))", quoted(&excludes)).unwrap();
        gbnf += "\nx ::= \"x\"\ny ::= \"y\"";
        let dispatch = Dispatch { tags, excludes, loops };
        compare(&gbnf, "abxy", 5, |text| dispatch.holds(text));
    });
}

/// A random regex, in what all syntaxes have in common.
fn pattern(random: &mut Rng, depth: usize) -> String {
    const LEAVES: [&str; 8] = ["a", "b", "ab", ".", "[^a]", "[a-b]", "\\\\w", "[x\\\\d]"];
    const COUNTS: [&str; 6] = ["*", "+", "?", "{2}", "{1,2}", "{2,}?"];
    if depth == 0 {
        return LEAVES[random.usize(..LEAVES.len())].to_owned();
    }
    let mut part = || pattern(random, depth - 1);
    let (one, other) = (part(), part());
    match random.usize(..4) {
        0 => format!("{one}{other}"),
        1 => format!("(?:{one}|{other})"),
        2 => format!("({one}){}", COUNTS[random.usize(..COUNTS.len())]),
        _ => format!("({one}{other}|)"),
    }
}

/// What the regex is to the crate `regex`, as a whole text and without Unicode.
fn definition(pattern: &str, flags: &str) -> Regex {
    let pattern =
        pattern.replace("\\\\", "\\").replace("\\w", "[0-9A-Za-z_]").replace("\\d", "0-9");
    Regex::new(&format!("(?{flags})^(?:{pattern})$")).expect("a regex")
}

#[test]
fn regexes_match_whole_texts() {
    each(|random| {
        let pattern = pattern(random, 2);
        let (written, flags) =
            [("", "s"), (", flags=\"i\"", "i"), (", flags=\"is\"", "is"), (", flags=\"\"", "-s")]
                [random.usize(..4)];
        let gbnf = format!("root ::= Regex(\"{pattern}\"{written})");
        let regex = definition(&pattern, flags);
        compare(&gbnf, "aBb\n_", 4, |text| regex.is_match(text));
    });
}

#[test]
fn regexes_have_the_sets_and_escapes_of_ecmascript() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        ("[a[\\]]+", &["[a]", "[["], &["b"]),
        ("[a&&b~~c]+", &["a&b~c"], &["d"]),
        // From `+` to `-`, and from `b` to `d`.
        ("[+--b-d]", &["+", ",", "-", "b", "c", "d"], &["a", "."]),
        ("[\\w-]+", &["a-_"], &["."]),
        ("[\\d-z]", &["7", "-", "z"], &["a"]),
        ("[^-a]", &["b"], &["-", "a"]),
        ("\\0\\cJ\\u{20BB7}", &["\0\n\u{20BB7}"], &["0J"]),
        (
            "\\s+",
            &["\t\u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{3000}\u{feff}"],
            &["\u{85}", "\u{180e}"],
        ),
        ("[\\S]", &["\u{85}", "a"], &["\u{2003}", "\u{feff}"]),
    ];
    for (pattern, accepted, refused) in cases {
        let gbnf = format!("root ::= Regex({})", serde_json::to_string(pattern).unwrap());
        let compiled = Grammar::from_gbnf(&gbnf).and_then(|grammar| CompiledGrammar::new(&grammar));
        let compiled = compiled.unwrap_or_else(|error| panic!("{gbnf}\n{error}"));
        let texts = accepted.iter().map(|text| (text, true));
        for (text, is_member) in texts.chain(refused.iter().map(|text| (text, false))) {
            let mut matcher = compiled.matcher();
            let taken = matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
            assert_eq!(taken, is_member, "{pattern}: {text:?}");
        }
    }
}

#[test]
fn lazy_rules_end_as_soon_as_they_can() {
    each(|random| {
        let pattern = pattern(random, 2);
        let gbnf = format!("root ::= first \"a\"*\nfirst[lazy] ::= Regex(\"{pattern}\")");
        let regex = definition(&pattern, "s");
        compare(&gbnf, "abx", 5, |text| {
            let first = (0..=text.len()).find(|&end| regex.is_match(&text[..end]));
            first.is_some_and(|end| text[end..].bytes().all(|byte| byte == b'a'))
        });
    });
}

#[test]
fn what_is_no_call_is_refused() {
    for (gbnf, code) in [
        ("root ::= Regex(1)", "bad-arguments"),
        ("root ::= Regex(\"a\", json_string=true)", "bad-arguments"),
        ("root ::= Regex(\"a\", flags=\"m\")", "bad-arguments"),
        ("root ::= Regex(\"(\")", "regex-unsupported"),
        ("root ::= Regex(\"(?=a)b\")", "regex-unsupported"),
        ("root ::= Regex(\"a\\\\bb\")", "regex-unsupported"),
        ("root ::= Substring(a)", "bad-arguments"),
        ("root ::= Token()", "bad-arguments"),
        ("root ::= Token(\"a\")", "bad-arguments"),
        ("root ::= TagDispatch((\"\", root))", "bad-arguments"),
        ("root ::= TagDispatch((\"ab\", root), excludes=(\"a\"))", "bad-arguments"),
        ("root ::= TagDispatch((\"a\", none))", "undefined-symbol"),
        ("root ::= TokenTagDispatch((1, root), excludes=(1))", "bad-arguments"),
        ("root ::= Token(1", "unexpected-token"),
        ("root ::= Token(99999999999)", "bad-number"),
        ("root[max_tokens=2] ::= \"a\"", "unknown-attribute"),
        ("root ::= r\nr[lazy] ::= \"a\" r | \"b\"", "lazy-rule"),
        ("root ::= r\nr[lazy] ::= \"(\" root \")\" | \"b\"", "lazy-rule"),
    ] {
        let error = Grammar::from_gbnf(gbnf).expect_err(gbnf);
        let codes: Vec<&str> = error.diagnostics().iter().map(|found| found.code).collect();
        assert!(codes.contains(&code), "{gbnf}: {codes:?}");
    }
}
