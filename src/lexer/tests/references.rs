//! Back references, compared with a matcher that backtracks.

use proptest::prelude::*;

use super::python::{longest, matches_wholly};
use super::*;
use crate::lexer::approximation::Narrowed;

/// Returns the automaton of `pattern`, and the groups that were narrowed.
fn narrowed(pattern: &str) -> Result<(Dfa, Vec<Narrowed>), PatternError> {
    let meter = Meter::new(&Limits::default());
    let mut compiler = Compiler::narrowing(&meter);
    let dfa = compiler.compile(&regex(pattern))?;
    Ok((dfa, compiler.take_narrowed()))
}

/// Texts left out of a negated part would be accepted by the whole: there nothing is left out.
#[test]
fn below_a_negation_nothing_is_narrowed() {
    for (pattern, narrows, yes, no) in [
        (r"^(?!.*(.)\1)[a-z]{1,6}$", 0, &["z", "zy", "abcdef", "abcabc"][..], &["zz", "abzz"][..]),
        (r"(?!(\w)\1)\w\w", 1, &["ab", "zy", "éa", "aé"], &["zz", "99", "__", "éé"]),
        (r"(?!([a-z])\1)\w\w", 0, &["ab", "éé", "zy"], &["zz", "qq"]),
        (r"(?!.*([a-c]{2})\1)[a-z]{1,6}", 0, &["xyxy", "abcb"], &["baba", "xcccc", "acac"]),
        (r"(?!(?!(\w)\1)..)..", 1, &["zz"], &["zy", "éa"]),
        (r"(?!(.)(?!\1))..", 1, &["zz"], &["zy", "éa", "éè"]),
        (r"([a-z])x\1", 0, &["zxz", "qxq"], &["qxz"]),
        (r"(\w)x\1", 1, &["zxz", "9x9"], &["qxz", "éxè"]),
    ] {
        let (dfa, groups) = narrowed(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        assert_eq!(groups.len(), narrows, "{pattern}");
        for text in yes {
            assert!(matches_wholly(&dfa, text), "{pattern} {text}");
        }
        for text in no {
            assert!(!matches_wholly(&dfa, text), "{pattern} {text}");
        }
    }
    for pattern in [r"(?!(\w+) \1)[a-z ]+", r"(?<!(\w+)\1)a", r"(?:(\w+)=\1|\w+=.*?;)"] {
        let kind = narrowed(pattern).map_err(|error| error.kind()).map(drop);
        assert_eq!(kind, Err(PatternErrorKind::Unsupported), "{pattern}");
    }
}

/// Every text of the group may go on with what follows the group, so that none can be taken alone.
#[test]
fn a_group_that_runs_into_what_follows_it_is_refused() {
    for pattern in [r"(.*)x\1", r"(\w+)a\1", r"([a-z]+)z\1|q", r"(?s)(.*)\n\1", r"(.+)\.\1"] {
        let error = narrowed(pattern).expect_err(pattern);
        assert_eq!(error.kind(), PatternErrorKind::Unsupported, "{pattern}");
    }
    for (pattern, text) in
        [(r"(.*)\n\1", "EOF\nEOF"), (r"([^x]*)x\1", "axa"), (r"(?i)(\w+)=\1", "a=a")]
    {
        let (dfa, _) = narrowed(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        assert!(matches_wholly(&dfa, text), "{pattern}");
    }
    // White space in the pattern is not what follows.
    let (dfa, _) = narrowed(r"(?x)([ab]+) a\1").expect("a few texts");
    assert!(!matches_wholly(&dfa, "aaa"));
}

/// A regex.
#[derive(Clone, Debug)]
enum Node {
    Class(&'static str),
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat(Box<Node>, usize, usize, bool),
    Group(Box<Node>),
    /// A reference to one of the groups that have ended, counted from the last.
    Reference(usize),
    Ahead(Box<Node>, bool),
}

/// A regex with numbered groups.
#[derive(Debug)]
enum Numbered {
    Class(&'static str),
    All(Vec<Numbered>),
    Any(Vec<Numbered>),
    Repeat(Box<Numbered>, usize, usize, bool),
    Group(usize, Box<Numbered>),
    Reference(usize),
    Ahead(Box<Numbered>, bool),
}

const CLASSES: [&str; 7] = ["a", "b", "é", ".", r"\w", "[ab]", "[^a]"];

fn is_in(class: &str, c: char) -> bool {
    match class {
        "." => true,
        r"\w" => c != '-',
        "[ab]" => c == 'a' || c == 'b',
        "[^a]" => c != 'a',
        one => one.starts_with(c),
    }
}

fn nodes() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        5 => prop::sample::select(&CLASSES[..]).prop_map(Node::Class),
        3 => (0..3usize).prop_map(Node::Reference),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 2..5).prop_map(Node::All),
            1 => prop::collection::vec(inner.clone(), 2..3).prop_map(Node::Any),
            1 => (boxed(), 0..2usize, 0..3usize, prop::bool::weighted(0.1))
                .prop_map(|(node, min, more, lazy)| Node::Repeat(node, min, min + more, lazy)),
            4 => boxed().prop_map(Node::Group),
            2 => (boxed(), prop::bool::weighted(0.7))
                .prop_map(|(node, negated)| Node::Ahead(node, negated)),
        ]
    })
}

/// Numbers the groups, and writes the regex.
fn number(node: &Node, begun: &mut usize, ended: &mut Vec<usize>, text: &mut String) -> Numbered {
    let mut all = |nodes: &[Node], between: &str, text: &mut String| -> Vec<Numbered> {
        text.push_str("(?:");
        let numbered = nodes.iter().enumerate().map(|(index, node)| {
            text.push_str(if index > 0 { between } else { "" });
            number(node, begun, ended, text)
        });
        let numbered = numbered.collect();
        text.push(')');
        numbered
    };
    match node {
        Node::Class(class) => {
            text.push_str(class);
            Numbered::Class(class)
        }
        Node::All(nodes) => Numbered::All(all(nodes, "", text)),
        Node::Any(nodes) => Numbered::Any(all(nodes, "|", text)),
        Node::Repeat(node, min, max, lazy) => {
            let one = all(std::slice::from_ref(node), "", text).remove(0);
            text.push_str(&format!("{{{min},{max}}}{}", if *lazy { "?" } else { "" }));
            Numbered::Repeat(Box::new(one), *min, *max, *lazy)
        }
        Node::Group(node) => {
            *begun += 1;
            let own = *begun;
            text.push('(');
            let inner = number(node, begun, ended, text);
            text.push(')');
            ended.push(own);
            Numbered::Group(own, Box::new(inner))
        }
        Node::Reference(back) => match ended.iter().rev().nth(*back) {
            // Digits after it would belong to its number.
            Some(&group) if group < 10 => {
                text.push_str(&format!("(?:\\{group})"));
                Numbered::Reference(group)
            }
            _ => {
                text.push('b');
                Numbered::Class("b")
            }
        },
        Node::Ahead(node, negated) => {
            text.push_str(if *negated { "(?!" } else { "(?=" });
            let inner = number(node, begun, ended, text);
            text.push(')');
            Numbered::Ahead(Box::new(inner), *negated)
        }
    }
}

type Groups = Vec<Option<(usize, usize)>>;

/// Returns whether `node` matches from `at` on so that the continuation does, tried as `re` does.
fn matches(
    node: &Numbered,
    text: &[char],
    at: usize,
    groups: &Groups,
    then: &mut dyn FnMut(usize, &Groups) -> bool,
) -> bool {
    match node {
        Numbered::Class(class) => {
            text.get(at).is_some_and(|&c| is_in(class, c)) && then(at + 1, groups)
        }
        Numbered::All(nodes) => match nodes.split_first() {
            None => then(at, groups),
            Some((first, rest)) => matches(first, text, at, groups, &mut |at, groups| {
                matches_all(rest, text, at, groups, then)
            }),
        },
        Numbered::Any(nodes) => nodes.iter().any(|node| matches(node, text, at, groups, then)),
        Numbered::Repeat(node, min, max, lazy) => {
            repeats(node, (*min, *max, *lazy), text, at, groups, then)
        }
        Numbered::Group(number, node) => matches(node, text, at, groups, &mut |end, groups| {
            let mut groups = groups.clone();
            groups[*number] = Some((at, end));
            then(end, &groups)
        }),
        Numbered::Reference(number) => groups[*number].is_some_and(|(from, to)| {
            let end = at + to - from;
            text.get(at..end) == Some(&text[from..to]) && then(end, groups)
        }),
        Numbered::Ahead(node, negated) => {
            let found = matches(node, text, at, groups, &mut |_, _| true);
            found != *negated && then(at, groups)
        }
    }
}

fn matches_all(
    nodes: &[Numbered],
    text: &[char],
    at: usize,
    groups: &Groups,
    then: &mut dyn FnMut(usize, &Groups) -> bool,
) -> bool {
    match nodes.split_first() {
        None => then(at, groups),
        Some((first, rest)) => matches(first, text, at, groups, &mut |at, groups| {
            matches_all(rest, text, at, groups, then)
        }),
    }
}

fn repeats(
    node: &Numbered,
    (min, max, lazy): (usize, usize, bool),
    text: &[char],
    at: usize,
    groups: &Groups,
    then: &mut dyn FnMut(usize, &Groups) -> bool,
) -> bool {
    if lazy && min == 0 && then(at, groups) {
        return true;
    }
    let once_more = max > 0
        && matches(node, text, at, groups, &mut |at, groups| {
            repeats(node, (min.saturating_sub(1), max - 1, lazy), text, at, groups, then)
        });
    once_more || !lazy && min == 0 && then(at, groups)
}

/// Returns all texts of this many letters.
fn texts(length: usize) -> Vec<String> {
    (0..length).fold(vec![String::new()], |texts, _| {
        texts
            .iter()
            .flat_map(|text| ["a", "b", "é", "è", "-"].map(|c| format!("{text}{c}")))
            .collect()
    })
}

proptest! {
    /// No text matches that `re` does not match; if no narrowing is reported, all texts match that
    /// `re` matches. The match of a lazy regex is the one that `re` finds.
    #[test]
    fn back_references_are_read_as_re_reads_them_or_as_less(node in nodes()) {
        let (mut begun, mut pattern) = (0, String::new());
        let node = number(&node, &mut begun, &mut Vec::new(), &mut pattern);
        let Ok((dfa, narrowed)) = narrowed(&pattern) else { return Ok(()) };
        let is_lazy = pattern.contains("}?");
        let groups = vec![None; begun + 1];
        for text in (0..5).flat_map(texts) {
            let chars: Vec<char> = text.chars().collect();
            let (expected, got) = if is_lazy {
                let mut found = None;
                matches(&node, &chars, 0, &groups, &mut |end, _| {
                    found = Some(chars[..end].iter().map(|c| c.len_utf8()).sum());
                    true
                });
                (found, longest(&dfa, &text))
            } else {
                let is_end = &mut |end, _: &Groups| end == chars.len();
                let is_match = matches(&node, &chars, 0, &groups, is_end);
                (is_match.then_some(0), matches_wholly(&dfa, &text).then_some(0))
            };
            let is_less = !narrowed.is_empty() && got.is_none();
            prop_assert!(got == expected || is_less, "{pattern} on {text}: {expected:?}, here {got:?}");
        }
    }
}

/// A conditional is read if it is known whether its group has matched.
#[test]
fn conditionals_are_read_where_the_group_is_known() {
    for (pattern, yes, no) in [
        (r"(<)?a(?(1)>|)", &["<a>", "a"][..], &["<a", "a>"][..]),
        (r"(<)?a(?(1)>)", &["<a>", "a"], &["<a", "a>"]),
        (r"(?P<q>[ab])?x(?(q)(?P=q)|y)", &["axa", "bxb", "xy"], &["axb", "axy", "xa"]),
        (r"(?:(<)?a(?(1)>|;))+", &["<a>a;", "a;<a>"], &["<a;", "a>"]),
        (r"(<)a(?(1)>|;)", &["<a>"], &["<a;", "a;"]),
        (r"(<)??a(b)?(?(2)c|d)(?(1)>|)", &["<abc>", "ad"], &["<abc", "abd"]),
    ] {
        let dfa = dfa(pattern);
        yes.iter().for_each(|text| assert!(matches_wholly(&dfa, text), "{pattern} {text}"));
        no.iter().for_each(|text| assert!(!matches_wholly(&dfa, text), "{pattern} {text}"));
    }
    for pattern in [r"(a)*(?(1)b|c)", r"(?:(a)|b)(?(1)c|d)", r"(?(1)a|b)"] {
        let kind = compile(&regex(pattern)).map_err(|error| error.kind());
        assert_eq!(kind, Err(PatternErrorKind::Unsupported), "{pattern}");
    }
}

/// `(?!A|\bB)` is `(?!A)(?!\bB)`: the meaning of each does not depend on the others.
#[test]
fn one_of_several_that_are_forbidden_may_begin_at_a_boundary() {
    let parted = dfa(r"((?!__)(?:\B|(?!AND\b))[^<>])+");
    assert_eq!(dfa(r"((?!__|\bAND\b)[^<>])+"), parted);
    assert_eq!(dfa(r"((?!\bAND\b|__)[^<>])+"), parted);
}
