//! The worked examples in the documentation of the algorithms, checked against the engine.

use lrmask::{Constraint, Grammar, Vocabulary};

const SCANNER: &str = include_str!("../src/scanner/README.md");
const VIABILITY: &str = include_str!("../src/scanner/viability/README.md");
const INDEX: &str = include_str!("../src/index/README.md");

/// Returns the grammar of the first fenced block.
fn grammar(page: &str, fence: &str) -> Grammar {
    let (_, rest) = page.split_once(fence).expect("the page shows its grammar");
    let (text, _) = rest.split_once("```").expect("the block ends");
    Grammar::from_lark(text).expect("the example is sound")
}

/// Returns the texts between backquotes.
fn quoted(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// Returns the texts between backquotes in each row of the table under `head`.
fn rows<'p>(page: &'p str, head: &str) -> Vec<Vec<&'p str>> {
    let (_, table) = page.split_once(head).expect("the page has the table");
    table.lines().skip(1).take_while(|line| line.starts_with('|')).map(quoted).collect()
}

#[test]
fn index() {
    let list = INDEX
        .lines()
        .find(|line| line.starts_with("The vocabulary is "))
        .expect("the page lists the tokens");
    let tokens = quoted(list);
    let vocabulary = Vocabulary::from_tokens(tokens.iter().map(|token| token.as_bytes().to_vec()))
        .expect("tokens");
    let constraint =
        Constraint::new(&grammar(INDEX, "```lark\n"), &vocabulary).expect("the example is LALR(1)");
    let mut mask = constraint.new_mask();
    let mut branches = Vec::new();
    let mut table = rows(INDEX, "| after | allowed |\n");
    assert_eq!(table.len(), 2);
    // The last row is true for deeper stacks as well.
    let mut deeper = table[1].clone();
    deeper[0] = "[[[1";
    table.push(deeper);
    for row in table {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(row[0].as_bytes()).expect("the text is viable");
        matcher.fill_mask(&mut mask);
        let allowed: Vec<&str> = mask.tokens().map(|token| tokens[token.index()]).collect();
        assert_eq!(allowed, row[1..], "after {}", row[0]);
        branches.push(constraint.index_size().branches);
    }
    // One branch for each of the two states below `[`; nothing for the third text.
    assert_eq!(branches, [1, 2, 2]);
}

#[test]
fn scanner() {
    let vocabulary = Vocabulary::from_tokens((0..128).map(|byte| vec![byte])).expect("bytes");
    let constraint = Constraint::new(&grammar(SCANNER, "```text\n"), &vocabulary)
        .expect("the example is LALR(1)");
    let allowed = |text: &str| {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).expect("the text is viable");
        let mut mask = constraint.new_mask();
        matcher.fill_mask(&mut mask);
        (
            mask.tokens().map(|token| char::from(token.get() as u8)).collect::<String>(),
            matcher.is_accepting(),
        )
    };
    let digits = "0123456789";
    assert_eq!(allowed("1"), (format!(".{digits}"), true));
    assert_eq!(allowed("1."), (format!(".{digits}"), false));
    assert_eq!(allowed("1.5"), (format!(".{digits}"), true));
    assert_eq!(allowed("1.."), (digits.to_owned(), false));
    assert_eq!(allowed("1..2"), (format!(".{digits}"), true));
}

#[test]
fn viability() {
    let vocabulary = Vocabulary::from_tokens((0..128).map(|byte| vec![byte])).expect("bytes");
    let constraint = Constraint::new(&grammar(VIABILITY, "```lark\n"), &vocabulary)
        .expect("the example has sentences");
    let is_viable = |text: &str| constraint.matcher().advance_bytes(text.as_bytes()).is_ok();
    assert!(is_viable("a") && is_viable("aac"));
    assert!(!is_viable("b") && !is_viable("ab") && !is_viable("acb"));
}
