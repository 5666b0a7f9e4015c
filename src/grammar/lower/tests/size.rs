//! Limits and growth of grammar sizes.

use proptest::prelude::*;

use super::{grammar, places};
use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;

/// Returns the number of symbols in all productions.
fn symbols(grammar: &Grammar) -> usize {
    grammar.productions.iter().map(|production| production.rhs.len() + 1).sum()
}

/// Returns the lengths up to `bound` of the sentences of `grammar`, which has one terminal.
fn lengths(grammar: &Grammar, bound: usize) -> Vec<usize> {
    let mut sets = vec![vec![false; bound + 1]; grammar.nonterminals.len()];
    loop {
        let mut changed = false;
        for production in &grammar.productions {
            let mut sums = vec![false; bound + 1];
            sums[0] = true;
            for symbol in &production.rhs {
                let mut next = vec![false; bound + 1];
                for (sum, _) in sums.iter().enumerate().filter(|(_, possible)| **possible) {
                    match symbol {
                        Symbol::Terminal(_) if sum < bound => next[sum + 1] = true,
                        Symbol::Terminal(_) => {}
                        Symbol::Nonterminal(inner) => {
                            for add in (0..=bound - sum).filter(|&add| sets[inner.index()][add]) {
                                next[sum + add] = true;
                            }
                        }
                    }
                }
                sums = next;
            }
            for (length, _) in sums.iter().enumerate().filter(|(_, possible)| **possible) {
                changed |= !std::mem::replace(&mut sets[production.lhs.index()][length], true);
            }
        }
        if !changed {
            let start = &sets[grammar.start.index()];
            return (0..=bound).filter(|&length| start[length]).collect();
        }
    }
}

/// Returns the number of terminals in the shortest sentence of `grammar`.
fn shortest(grammar: &Grammar) -> u64 {
    let mut shortest = vec![u64::MAX; grammar.nonterminals.len()];
    loop {
        let mut changed = false;
        for production in &grammar.productions {
            let length = production.rhs.iter().fold(0u64, |sum, symbol| match symbol {
                Symbol::Terminal(_) => sum.saturating_add(1),
                Symbol::Nonterminal(inner) => sum.saturating_add(shortest[inner.index()]),
            });
            let known = &mut shortest[production.lhs.index()];
            changed |= length < *known;
            *known = length.min(*known);
        }
        if !changed {
            return shortest[grammar.start.index()];
        }
    }
}

/// An expression, and the lengths up to [`BOUND`] of its texts.
#[derive(Clone, Debug)]
struct Sized {
    text: String,
    lengths: Vec<bool>,
}

const BOUND: usize = 40;

/// Returns the sums of one length from each.
fn sums(a: &[bool], b: &[bool]) -> Vec<bool> {
    let mut sums = vec![false; BOUND + 1];
    for i in (0..=BOUND).filter(|&i| a[i]) {
        for j in (0..=BOUND - i).filter(|&j| b[j]) {
            sums[i + j] = true;
        }
    }
    sums
}

/// Generates random expressions over one terminal.
fn expressions() -> impl Strategy<Value = Sized> {
    let single = |length: usize| (0..=BOUND).map(|i| i == length).collect::<Vec<_>>();
    let leaf = Just(Sized { text: "A".into(), lengths: single(1) });
    leaf.prop_recursive(4, 24, 8, move |inner| {
        let sequence = prop::collection::vec(inner.clone(), 1..8).prop_map(move |parts| Sized {
            text: parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(" "),
            lengths: parts.iter().fold(single(0), |all, part| sums(&all, &part.lengths)),
        });
        let group = prop::collection::vec(sequence.clone(), 1..4).prop_map(|all| Sized {
            text: format!(
                "({})",
                all.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" | ")
            ),
            lengths: (0..=BOUND).map(|i| all.iter().any(|one| one.lengths[i])).collect(),
        });
        let repeated = (sequence, 0u32..20, 0u32..20, any::<bool>()).prop_map(
            move |(base, min, more, open)| {
                let (min, suffix, max) = match open {
                    true => {
                        (min % 2, if min % 2 == 0 { "*".into() } else { "+".into() }, BOUND as u32)
                    }
                    false => (min, format!("~{min}..{}", min + more), min + more),
                };
                let mut lengths = vec![false; BOUND + 1];
                let mut power = single(0);
                for count in 0..=max {
                    if count >= min {
                        lengths.iter_mut().zip(&power).for_each(|(all, one)| *all |= one);
                    }
                    power = sums(&power, &base.lengths);
                }
                Sized { text: format!("({}){suffix}", base.text), lengths }
            },
        );
        prop_oneof![group, repeated]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn productions_stand_for_what_the_expression_stands_for(expression in expressions()) {
        let text = format!("start: {} | A A\nA: \"a\"\n", expression.text);
        let grammar = Grammar::from_lark(&text);
        let grammar = grammar.map_err(|error| TestCaseError::fail(format!("{text}{error}")))?;
        let expected: Vec<usize> = (0..=BOUND).filter(|&i| i == 2 || expression.lengths[i]).collect();
        prop_assert_eq!(lengths(&grammar, BOUND), expected, "{}", text);
    }

    #[test]
    fn no_text_makes_the_lowering_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        let _ = Grammar::from_lark(&pieces.join(" ")).map(|grammar| grammar.to_string());
    }
}

/// Fragments of hostile grammars.
const PIECES: &[&str] = &[
    "\nstart:",
    "\na:",
    "\nb{x, y}:",
    "\nT:",
    "\nU.3:",
    "a",
    "T",
    "U",
    "b{a, T}",
    "b{b, x}",
    "x",
    "y",
    "x{T}",
    "|",
    "(",
    ")",
    "[",
    "]",
    "*",
    "+",
    "?",
    "~3",
    "~2..40",
    "~0",
    "\"s\"",
    "\"t\"i",
    "/r/s",
    "\"a\"..\"c\"",
    "%prec \"s\"",
    "\n%left \"s\" T",
    "\n%ignore T",
    "\n%ignore \" \"",
    "\n%declare D",
    "D",
    "\n%start a",
    "\n%reserved T \"s\"",
    "\n%reserved T",
    "\n%soft T \"s\"",
    "\n%fallback U \"t\"i T",
    "\n%exclusive T \"t\"i",
    "\n%import common.INT",
    "INT",
    "\n%override",
    "\n%extend",
    "-> n",
    "\n",
];

#[test]
fn counted_repetition_counts_right_in_logarithmic_size() {
    for (min, max) in [
        (0, 3),
        (2, 16),
        (0, 17),
        (1, 17),
        (17, 17),
        (5, 31),
        (0, 32),
        (32, 33),
        (20, 63),
        (0, 100),
        (63, 127),
    ] {
        let grammar = grammar(&format!("start: \"a\"~{min}..{max} | \"a\"~200\n"));
        let expected: Vec<usize> = (min..=max).chain([200]).collect();
        assert_eq!(lengths(&grammar, 210), expected, "{min}..{max}");
        assert!(symbols(&grammar) < 250, "{grammar}");
    }
    let huge = grammar("start: (\"a\" | \"b\" \"c\")~1000000..4000000000 \"x\"\n");
    assert!(symbols(&huge) < 1_000, "{huge}");
    assert_eq!(shortest(&huge), 1_000_001);
}

#[test]
fn counted_repetition_is_conflict_free() {
    use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
    for text in [
        "start: \"a\"~0..1000 \"x\"",
        "start: \"a\"~77..1000 \"x\"",
        "start: (\"a\"~50 \"x\")~20..33",
        "start: (\"a\"~20..33 \"x\")~20..33",
        "start: \"a\"~19..23 | \"b\"~40..64 \"a\"~20",
    ] {
        let grammar = grammar(text);
        let mut yacc = String::from("%start start\n%%\n");
        for production in &grammar.productions {
            yacc += &format!("{}:", grammar.nonterminals[production.lhs.index()].name);
            for &symbol in &production.rhs {
                match symbol {
                    Symbol::Terminal(_) => yacc += &format!(" '{}'", grammar.symbol_name(symbol)),
                    Symbol::Nonterminal(_) => yacc += &format!(" {}", grammar.symbol_name(symbol)),
                }
            }
            yacc += ";\n";
        }
        let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
        let yacc = YaccGrammar::new(kind, &yacc).unwrap();
        let (_, table) = lrtable::from_yacc(&yacc, lrtable::Minimiser::Pager).unwrap();
        assert!(table.conflicts().is_none(), "{text}\n{grammar}");
    }
}

#[test]
fn many_options_in_one_sequence_take_linear_size() {
    let few: String = (0..6).map(|i| format!("[\"o{i}\"] ")).collect();
    assert_eq!(grammar(&format!("start: {few}\n")).nonterminals.len(), 1);
    let many: String = (0..1_000).map(|i| format!("[\"o{i}\"] ")).collect();
    let many = grammar(&format!("start: {many}\n"));
    assert!(symbols(&many) < 100_000, "{}", symbols(&many));
    // The empty text is in the language, although no helper derives it.
    assert_eq!(shortest(&many), 0);
    assert_eq!(many.productions.iter().filter(|production| production.rhs.is_empty()).count(), 1);
}

#[test]
fn cut_sequences_keep_their_language() {
    // Ten options of one terminal: any number of them from 0 to 10, with 3 fixed ones.
    let grammar = grammar("start: A? A A? A? A? A A? A? A? A? A? A? A\nA: \"a\"\n");
    assert_eq!(lengths(&grammar, 20), (3..=13).collect::<Vec<_>>());
}

#[test]
fn large_groups_become_nonterminals() {
    let group =
        |name: &str| (0..30).map(|i| format!("\"{name}{i}\"")).collect::<Vec<_>>().join(" | ");
    let grammar = grammar(&format!("start: ({}) (\"x\" | \"y\") ({})\n", group("a"), group("b")));
    assert_eq!(grammar.nonterminals.len(), 3);
    assert!(symbols(&grammar) < 140, "{grammar}");
}

#[test]
fn a_hundred_thousand_alternatives_are_read() {
    let words: String = (0..100_000).map(|i| format!(" | \"w{i}\"")).collect();
    let grammar = grammar(&format!("start: \"x\"{words}\n"));
    assert_eq!(grammar.productions.len(), 100_001);
}

#[test]
fn fifty_thousand_rules_and_terminals_are_read() {
    let mut text = String::from("start: r0\n");
    for i in 0..50_000 {
        text += &format!("r{i}: T{i} r{} | T{i}\nT{i}: \"t{i}\"\n", (i + 1) % 50_000);
    }
    let grammar = grammar(&text);
    assert_eq!(grammar.nonterminals.len(), 50_001);
}

#[test]
fn a_chain_of_a_thousand_templates_is_read() {
    let mut text = String::from("start: t0{\"a\", \"b\"}\n");
    for i in 0..1_000 {
        text += &format!("t{i}{{x, y}}: x t{}{{y, x}} y | t{}{{x, y}}\n", i + 1, i + 1);
    }
    text += "t1000{x, y}: x y\n";
    assert_eq!(grammar(&text).nonterminals.len(), 2_002);
}

#[test]
fn growth_that_doubles_meets_a_limit() {
    let mut terminals = String::from("start: T0\n");
    let mut templates = String::from("start: t0{A}\nA: \"a\"\n");
    for i in 0..40 {
        terminals += &format!("T{i}: T{0} T{0}\n", i + 1);
        templates += &format!("t{i}{{x}}: t{0}{{u{{x}}}} t{0}{{v{{x}}}}\n", i + 1);
    }
    terminals += "T40: \"a\"\n";
    templates += "t40{x}: x\nu{x}: x\nv{x}: x A\n";
    let chain: String = (0..300).map(|i| format!("T{i}: T{}?\n", i + 1)).collect();
    let product = "[A] [A] [A] [A] [A] [A] ".to_owned() + &"A ".repeat(50);
    let products: String = (0..3_000).map(|i| format!("r{i}: {product} \"{i}\"\n")).collect();
    for (text, code) in [
        (terminals, "pattern-too-large"),
        (templates, "template-limit"),
        (format!("start: T0\n{chain}T300: \"a\"\n"), "nesting-too-deep"),
        (format!("start: \"a\"\n{products}A: \"a\"\n"), "grammar-too-large"),
    ] {
        let result = Grammar::from_lark(&text);
        assert_eq!(places(&result)[0].0, code);
    }
}
