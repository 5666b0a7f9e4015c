//! Checks that the texts in the examples of conflicts are sentences, by a recogniser independent of
//! LR (Earley's, CACM 13:2, 1970).

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::oracle::{cases, realise, sketches};
use super::table_of;
use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;

/// Whether the terminals, given by name, are a sentence.
fn is_sentence(grammar: &Grammar, text: &[&str]) -> bool {
    // By position: production, dot, origin.
    let mut sets: Vec<BTreeSet<(usize, usize, usize)>> = vec![BTreeSet::new(); text.len() + 1];
    let predict = |nonterminal: usize, at: usize| {
        grammar.nonterminals[nonterminal].productions.iter().map(move |p| (p.index(), 0, at))
    };
    sets[0].extend(predict(grammar.start.index(), 0));
    for at in 0..=text.len() {
        loop {
            let mut found: Vec<(usize, usize, usize)> = Vec::new();
            for &(p, dot, began) in &sets[at] {
                let production = &grammar.productions[p];
                match production.rhs.get(dot) {
                    Some(Symbol::Nonterminal(n)) => found.extend(predict(n.index(), at)),
                    Some(Symbol::Terminal(_)) => {}
                    None => {
                        let waits = |&&(q, dot, _): &&(usize, usize, usize)| {
                            grammar.productions[q].rhs.get(dot)
                                == Some(&Symbol::Nonterminal(production.lhs))
                        };
                        let met = sets[began].iter().filter(waits);
                        found.extend(met.map(|&(q, dot, began)| (q, dot + 1, began)));
                    }
                }
            }
            let before = sets[at].len();
            sets[at].extend(found);
            if sets[at].len() == before {
                break;
            }
        }
        let Some(&word) = text.get(at) else { continue };
        let read: Vec<_> = sets[at]
            .iter()
            .filter(|&&(p, dot, _)| match grammar.productions[p].rhs.get(dot) {
                Some(Symbol::Terminal(t)) => grammar.terminals[t.index()].name == word,
                _ => false,
            })
            .map(|&(p, dot, began)| (p, dot + 1, began))
            .collect();
        sets[at + 1].extend(read);
    }
    sets[text.len()].iter().any(|&(p, dot, began)| {
        let production = &grammar.productions[p];
        began == 0 && dot == production.rhs.len() && production.lhs == grammar.start
    })
}

/// The terminals of a parse in an example: without brackets, dot and end.
fn terminals(parse: &str) -> Vec<&str> {
    parse
        .split_whitespace()
        .filter(|word| !word.starts_with('⟨'))
        .map(|word| word.trim_end_matches('⟩'))
        .filter(|word| !["", "•", "$end"].contains(word))
        .collect()
}

/// Checks the examples of a grammar; returns the number of parses checked.
fn check(grammar: &Grammar) -> usize {
    let Err(error) = table_of(grammar) else { return 0 };
    let mut checked = 0;
    for diagnostic in error.diagnostics() {
        let Some(example) = &diagnostic.example else { continue };
        let (mut parses, mut prefix, mut clipped) = (Vec::new(), "", false);
        for line in example.lines() {
            if line.contains(" • ") && !line.starts_with(' ') && !line.starts_with("if ")
                || line.starts_with('•')
            {
                prefix = line;
            }
            let parse = ["if reduced  ", "if shifted  ", "  parsed as  "]
                .iter()
                .find_map(|s| line.strip_prefix(s));
            let Some(parse) = parse else { continue };
            if parse.contains('…') {
                clipped = true;
                continue;
            }
            let text = terminals(parse);
            assert!(is_sentence(grammar, &text), "{text:?} is no sentence\n{error}");
            let depth = |open: char| parse.matches(open).count();
            assert_eq!(depth('⟨'), depth('⟩'), "{parse}");
            assert!(
                text.starts_with(&terminals(prefix)),
                "{text:?} does not begin with {prefix:?}"
            );
            parses.push(parse);
            checked += 1;
        }
        if clipped {
            continue;
        }
        assert_eq!(parses.len(), 2, "both parses are shown\n{error}");
        assert_ne!(parses[0], parses[1], "{error}");
    }
    checked
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn both_parses_of_an_example_are_of_sentences(sketch in sketches()) {
        if let Some(grammar) = realise(&sketch) {
            check(&grammar);
        }
    }
}

#[test]
fn the_check_checks() {
    let dangling = super::text::grammar("S -> if x then S | if x then S else S | s");
    assert_eq!(check(&dangling), 2);
    assert!(is_sentence(&dangling, &["if", "x", "then", "s"]));
    assert!(!is_sentence(&dangling, &["if", "x", "then"]));
}
