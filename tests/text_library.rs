//! The library `text`: its cases, each use with a whole mask at each byte, and its tokens.

use lrmask::{Constraint, Grammar, TokenMask, Vocabulary};

const CASES: &str = include_str!("data/text-library.tsv");
const LIBRARY: &str = include_str!("../grammars/library/text.lark");
const PAGE: &str = include_str!("../docs/generation.md");

/// Names that the library defines, but for those of its own.
fn names() -> Vec<&'static str> {
    let definitions =
        LIBRARY.lines().filter_map(|line| line.split_once(": ").map(|(name, _)| name));
    let own = |name: &&str| !name.starts_with(['/', '_', ' ']);
    definitions.filter(own).map(|name| name.split(['{', '[']).next().unwrap()).collect()
}

fn grammar(rule: &str) -> Grammar {
    let used = names().into_iter().filter(|name| rule.contains(name));
    let imports: Vec<String> = used.map(|name| format!("%import text.{name}\n")).collect();
    let text = format!("start: {rule}\n{}", imports.concat());
    Grammar::from_lark(&text).unwrap_or_else(|error| panic!("{rule}: {error}"))
}

#[test]
fn the_cases_of_the_library() {
    let mut known = "";
    let mut constraint = None;
    let mut count = 0;
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let [rule, verdict, text] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line} has no three parts")
        };
        if constraint.is_none() || rule != known {
            let built = Constraint::new(&grammar(rule), &Vocabulary::single_bytes());
            constraint = Some(built.unwrap_or_else(|error| panic!("{rule}: {error}")));
            known = rule;
        }
        let text = text.replace("\\\\", "\u{0}").replace("\\n", "\n").replace('\u{0}', "\\");
        let mut matcher = constraint.as_ref().unwrap().matcher();
        let mut mask = TokenMask::default();
        let is_taken = text.bytes().all(|byte| {
            matcher.fill_mask(&mut mask);
            let taken = matcher.advance(u32::from(byte)).is_ok();
            assert_eq!(mask.contains(u32::from(byte)), taken, "{line}");
            taken
        });
        assert_eq!(is_taken && matcher.is_accepting(), verdict == "yes", "{line}");
        count += 1;
    }
    assert!(count > 70);
    for name in names() {
        let has_case = CASES.contains(name) || ["paragraph_token", "TIME_ZONE"].contains(&name);
        assert!(has_case, "{name} has no case");
        assert!(
            PAGE.contains(name) || name.starts_with("delimited_subsequence_of_"),
            "{name} is on no page"
        );
    }
}

#[test]
fn a_token_is_one_token() {
    let vocabulary = Vocabulary::from_tokens(["a", "b\n", "ab", "\n", ";"]).unwrap();
    for (rule, allowed) in [
        ("paragraph_token \"\\n\"", [&[0, 1, 2, 4][..], &[3]]),
        ("<[*]> \";\"", [&[0, 1, 2, 3, 4], &[4]]),
    ] {
        let constraint = Constraint::new(&grammar(rule), &vocabulary).unwrap();
        let mut matcher = constraint.matcher();
        let mut mask = constraint.new_mask();
        for expected in allowed {
            matcher.fill_mask(&mut mask);
            let allowed: Vec<u32> = mask.tokens().map(lrmask::TokenId::get).collect();
            assert_eq!(allowed, expected, "{rule}");
            let next = if expected.len() > 1 { 2 } else { expected[0] };
            matcher.advance(next).unwrap();
        }
        assert!(matcher.is_accepting());
    }
}
