//! Listeners: parse trees against parsers written by hand, and the events on the way to them.

use std::ops::Range;

use lrmask::{
    CompiledGrammar, Grammar, GrammarReader, Listener, ParseEvent, ParseTree, Vocabulary,
};

const JSON: &str = include_str!("../grammars/json/json.lark");
const SQLITE: &str = include_str!("../grammars/sqlite/sqlite.lark");
const PYTHON: &str = include_str!("../grammars/python/python.lark");
const IDENTIFIERS: &str = include_str!("../grammars/python/identifiers.lark");

fn compiled(lark: &str) -> CompiledGrammar {
    let imports = |_: &str| Ok(IDENTIFIERS.to_owned());
    let grammar = GrammarReader::new().imports(&imports).lark(lark).unwrap();
    CompiledGrammar::new(&grammar).unwrap()
}

fn tree(grammar: &CompiledGrammar, text: &str) -> Option<ParseTree> {
    let mut listener = grammar.listener();
    listener.read_bytes(text.as_bytes());
    listener.finish().1
}

type Node = (String, usize, Range<usize>);

fn nodes(tree: &ParseTree) -> Vec<Node> {
    let nodes = tree.nodes().iter();
    nodes.map(|node| (node.name.clone(), node.depth, node.span.clone())).collect()
}

/// The terminals of a tree: what of the text is not ignored, from left to right.
fn leaves(tree: &ParseTree, text: &str) -> String {
    let mut end = 0;
    let mut leaves = String::new();
    for leaf in tree.nodes().iter().filter(|node| node.is_terminal) {
        assert!(leaf.span.start >= end, "{leaf:?}");
        end = leaf.span.end;
        leaves.push_str(&text[leaf.span.clone()]);
    }
    leaves
}

/// A parser of sums by precedence climbing, which writes the nodes that the tree must have.
struct Climber<'t> {
    text: &'t [u8],
    at: usize,
}

enum Sum {
    Leaf(usize),
    Parens(usize, Box<Sum>, usize),
    Binary(Box<Sum>, usize, Box<Sum>),
}

impl Climber<'_> {
    fn atom(&mut self) -> Sum {
        let start = self.at;
        self.at += 1;
        if self.text[start] == b'1' {
            return Sum::Leaf(start);
        }
        let inner = self.sum(0);
        self.at += 1;
        Sum::Parens(start, Box::new(inner), self.at - 1)
    }

    fn sum(&mut self, least: u8) -> Sum {
        let mut left = self.atom();
        while let Some(&sign) = self.text.get(self.at) {
            let (level, next) = match sign {
                b'+' | b'-' => (1, 2),
                b'*' => (3, 4),
                b'^' => (5, 5),
                _ => break,
            };
            if level < least {
                break;
            }
            let place = self.at;
            self.at += 1;
            let right = self.sum(next);
            left = Sum::Binary(Box::new(left), place, Box::new(right));
        }
        left
    }
}

impl Sum {
    fn span(&self) -> Range<usize> {
        match self {
            Self::Leaf(at) => *at..at + 1,
            Self::Parens(start, _, end) => *start..end + 1,
            Self::Binary(left, _, right) => left.span().start..right.span().end,
        }
    }

    fn write(&self, text: &str, depth: usize, to: &mut Vec<Node>) {
        let sign = |at: usize| (format!("{:?}", &text[at..=at]), depth + 1, at..at + 1);
        to.push(("e".to_owned(), depth, self.span()));
        match self {
            Self::Leaf(at) => to.push(sign(*at)),
            Self::Parens(start, inner, end) => {
                to.push(sign(*start));
                inner.write(text, depth + 1, to);
                to.push(sign(*end));
            }
            Self::Binary(left, at, right) => {
                left.write(text, depth + 1, to);
                to.push(sign(*at));
                right.write(text, depth + 1, to);
            }
        }
    }
}

fn random_sum(random: &mut fastrand::Rng, depth: usize, to: &mut String) {
    match random.usize(..if depth > 4 { 1 } else { 6 }) {
        0 | 1 => to.push('1'),
        2 => {
            to.push('(');
            random_sum(random, depth + 1, to);
            to.push(')');
        }
        _ => {
            random_sum(random, depth + 1, to);
            to.push(char::from(b"+-*^"[random.usize(..4)]));
            random_sum(random, depth + 1, to);
        }
    }
}

fn cases() -> u64 {
    std::env::var("LRMASK_RANDOM").map_or(1_000, |cases| cases.parse().unwrap())
}

#[test]
fn precedence_settles_the_trees_of_sums() {
    let grammar = compiled(
        "%left \"+\" \"-\"\n%left \"*\"\n%right \"^\"\n\
         start: e\ne: e \"+\" e | e \"-\" e | e \"*\" e | e \"^\" e | \"1\" | \"(\" e \")\"",
    );
    for seed in 0..cases() {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut text = String::new();
        random_sum(&mut random, 0, &mut text);
        let mut expected = vec![("start".to_owned(), 0, 0..text.len())];
        let mut climber = Climber { text: text.as_bytes(), at: 0 };
        climber.sum(0).write(&text, 1, &mut expected);
        let found = tree(&grammar, &text).map(|tree| nodes(&tree));
        assert_eq!(found, Some(expected), "{text}");
    }
}

#[test]
fn what_the_grammar_leaves_open_shifts() {
    let text = "start: \"if\" start | \"if\" start \"else\" start | \"x\"\n%ignore \" \"\n";
    let grammar = compiled(text);
    let found = tree(&grammar, "if if x else x").unwrap();
    let shown: Vec<(&str, usize)> =
        found.nodes().iter().map(|node| (&node.name[..], node.depth)).collect();
    let expected = [
        ("start", 0),
        ("\"if\"", 1),
        ("start", 1),
        ("\"if\"", 2),
        ("start", 2),
        ("\"x\"", 3),
        ("\"else\"", 2),
        ("start", 2),
        ("\"x\"", 3),
    ];
    assert_eq!(shown, expected);
    // The same as where the table decides.
    let settled = compiled(&format!("%conflicts shift\n{text}"));
    for text in ["x", "if x", "if if if x else x else if x else x", "if if x else if x else x"] {
        assert_eq!(tree(&grammar, text), tree(&settled, text), "{text}");
        assert!(tree(&grammar, text).is_some());
    }
}

/// Whether these are the symbols of a right side, perhaps without some that derive nothing.
fn fits(side: &str, children: &str, nullable: &str) -> bool {
    let Some(first) = side.chars().next() else { return children.is_empty() };
    let length = if first == '"' { 2 } else { 1 };
    let (symbol, rest) = side.split_at(length);
    children.strip_prefix(symbol).is_some_and(|children| fits(rest, children, nullable))
        || nullable.contains(symbol) && fits(rest, children, nullable)
}

/// Every text up to a length: a tree exactly for the sentences, and its nodes follow the rules.
/// Where hidden left recursion is removed from the rules, symbols that derive nothing are left out.
#[test]
fn trees_of_ambiguous_grammars_are_derivations() {
    // The grammar, what derives nothing, and the right sides by the first letters of symbols.
    type Rules = &'static [(&'static str, &'static [&'static str])];
    let grammars: &[(&str, &str, Rules)] = &[
        (
            "start: e\ne: e e | \"a\" | \"b\"",
            "",
            &[("start", &["e"]), ("e", &["ee", "\"a", "\"b"])],
        ),
        (
            "start: e\ne: e e | \"a\" e \"b\" |",
            "e",
            &[("start", &["e"]), ("e", &["ee", "\"ae\"b", ""])],
        ),
        (
            "start: p q\np: \"a\" p | \"a\" |\nq: \"a\" q \"b\" | \"b\" |",
            "pq",
            &[("start", &["pq"]), ("p", &["\"ap", "\"a", ""]), ("q", &["\"aq\"b", "\"b", ""])],
        ),
        (
            "start: s\ns: n s \"a\" | \"b\"\nn: \"a\" |",
            "n",
            &[("start", &["s"]), ("s", &["ns\"a", "\"b"]), ("n", &["\"a", ""])],
        ),
    ];
    let mut sentences = 0;
    for (lark, nullable, rules) in grammars {
        let grammar = compiled(lark);
        for number in 0..(1 << 9) - 1 {
            // All texts over `a` and `b` up to length 8.
            let length = (number + 1u32).ilog2();
            let text: String =
                (0..length).map(|at| if (number + 1) >> at & 1 == 0 { 'a' } else { 'b' }).collect();
            let mut matcher = grammar.matcher();
            let is_sentence =
                matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
            let Some(tree) = tree(&grammar, &text) else {
                assert!(!is_sentence, "{lark}: {text:?} has no tree");
                continue;
            };
            assert!(is_sentence, "{lark}: {text:?} has a tree");
            sentences += 1;
            assert_eq!(leaves(&tree, &text), text, "{lark}");
            let all = tree.nodes();
            for (place, node) in all.iter().enumerate().filter(|(_, node)| !node.is_terminal) {
                let inner = all[place + 1..].iter().take_while(|inner| inner.depth > node.depth);
                let children: String = inner
                    .filter(|inner| inner.depth == node.depth + 1)
                    .map(|inner| inner.name.trim_end_matches('"').to_owned())
                    .collect();
                let (_, sides) = rules.iter().find(|(rule, _)| *rule == node.name).unwrap();
                let is_right = sides.iter().any(|side| fits(side, &children, nullable));
                assert!(is_right, "{lark}: {text:?}: {children}\n{tree}");
            }
        }
    }
    assert!(sentences > 500, "{sentences}");
}

/// Reads a text in random pieces. Returns the events, each with the length of the text after which
/// it came, and the tree.
fn listen(
    mut listener: Listener,
    text: &str,
    random: &mut fastrand::Rng,
) -> (Vec<(usize, ParseEvent)>, ParseTree) {
    let (mut events, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let end = (at + 1 + random.usize(..7)).min(text.len());
        let more = listener.read_bytes(&text.as_bytes()[at..end]);
        events.extend(more.into_iter().map(|event| (end, event)));
        at = end;
    }
    let (more, tree) = listener.finish();
    events.extend(more.into_iter().map(|event| (text.len() + 1, event)));
    (events, tree.expect("the text is a sentence"))
}

/// Every node of the tree is reported once, inner ones first, after it has been read, and after its
/// beginning.
fn check_events(events: &[(usize, ParseEvent)], tree: &ParseTree) {
    let mut expected: Vec<(String, bool, Range<usize>)> = tree
        .nodes()
        .iter()
        .map(|node| (node.name.clone(), node.is_terminal, node.span.clone()))
        .collect();
    let mut begun: Vec<(String, usize)> = Vec::new();
    let mut ended = Vec::new();
    for (length, event) in events {
        match event {
            ParseEvent::Began { rule, start } => {
                assert!(start <= length);
                begun.push((rule.clone(), *start));
            }
            ParseEvent::Ended { name, is_terminal, span } => {
                assert!(span.end <= *length, "{event:?} after {length}");
                if !is_terminal {
                    let known = begun.iter().position(|one| *one == (name.clone(), span.start));
                    begun.swap_remove(known.unwrap_or_else(|| panic!("{event:?} has not begun")));
                }
                ended.push((name.clone(), *is_terminal, span.clone()));
            }
            _ => panic!("{event:?}"),
        }
    }
    assert_eq!(begun, [], "these began and never ended");
    let key = |node: &(String, bool, Range<usize>)| (node.2.start, node.2.end, node.0.clone());
    expected.sort_by_key(key);
    ended.sort_by_key(key);
    assert_eq!(ended, expected);
}

#[test]
fn events_tell_the_tree_as_the_text_grows() {
    let json = compiled(JSON);
    let text = r#"{"a": [1, {"b": null}, [[]], "x\"y"], "c": -1.5e3, "d": {}}"#;
    for seed in 0..50 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (events, tree) = listen(json.listener(), text, &mut random);
        check_events(&events, &tree);
        let blanks = text.replace(", ", ",").replace(": ", ":");
        assert_eq!(leaves(&tree, text), blanks);
        // Most is known long before the end.
        let early = events.iter().filter(|(length, _)| *length < text.len()).count();
        assert!(early * 10 > events.len() * 7, "{early} of {}", events.len());
    }
    let mut listener = json.listener();
    let events = listener.read_bytes(b"{\"a\": [1, 2");
    for start in [0, 6] {
        let began = |event: &&ParseEvent| matches!(event, ParseEvent::Began { start: own, .. } if *own == start);
        assert!(events.iter().any(|event| began(&event)), "{start}: {events:?}");
    }
    assert!(listener.finish().1.is_none());
}

#[test]
fn tokens_and_bytes_have_the_same_tree() {
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let grammar = Grammar::from_lark(JSON).unwrap();
    let constraint = lrmask::Constraint::new(&grammar, &vocabulary).unwrap();
    let text = r#"{"name": ["x", 1, true], "b": {"c": []}}"#;
    let mut listener = constraint.listener();
    for token in vocabulary.cut_longest(text.as_bytes()).unwrap() {
        listener.read(token);
    }
    listener.read(vocabulary.stop_tokens()[0]);
    assert_eq!(listener.finish().1, tree(&compiled(JSON), text));
    let mut lost = constraint.listener();
    lost.read_bytes(b"[1}");
    assert_eq!(lost.read_bytes(b"]"), []);
    assert!(lost.finish().1.is_none());
}

#[test]
fn blocks_soft_keywords_and_words_between_lexemes_are_in_the_tree() {
    let python = compiled(PYTHON);
    let text = "match = 1\nif match:\n    match match:\n        case 1: pass\n        case _:\n            x = 2\nelse: pass\n";
    let found = tree(&python, text).unwrap();
    let (events, again) = listen(python.listener(), text, &mut fastrand::Rng::with_seed(3));
    assert_eq!(again, found);
    check_events(&events, &found);
    let rules = |name: &str| found.nodes().iter().filter(|node| node.name == name).count();
    let shown = found.to_string();
    assert!(rules("match_statement") == 1, "{shown}");
    for text in ["x = 1", "x", "", "# only a comment", "if x:\n  y"] {
        assert!(tree(&python, text).is_some(), "{text:?}");
    }
    let module = include_str!("data/python/verdicts.py");
    assert!(tree(&python, module).unwrap().nodes().len() > 1000);

    let sqlite = compiled(SQLITE);
    for text in [
        "SELECT a, count(*) FILTER (WHERE b) OVER w FROM t WINDOW w AS (ORDER BY c);",
        "SELECT over, filter FROM window;",
        "SELECT a + b * c || d FROM t LEFT JOIN u USING (x) WHERE NOT a IS NULL;",
    ] {
        let found = tree(&sqlite, text).unwrap_or_else(|| panic!("{text} has no tree"));
        assert_eq!(leaves(&found, text).len(), text.replace(' ', "").len());
    }
}

#[test]
fn deep_texts_have_deep_trees() {
    let json = compiled(JSON);
    let deep = 20_000;
    let text = format!("{}{}", "[".repeat(deep), "]".repeat(deep));
    let mut listener = json.listener();
    let mut events = Vec::new();
    for piece in text.as_bytes().chunks(100) {
        events.extend(listener.read_bytes(piece));
    }
    assert!(events.len() > deep);
    let (_, tree) = listener.finish();
    assert!(tree.unwrap().nodes().len() > 2 * deep);
}
