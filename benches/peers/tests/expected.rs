//! The numbers that masks must have, counted anew where something independent of all engines can:
//! for regular expressions, by running each token through an automaton of `regex-automata`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use lrmask_peers::peers::package;
use lrmask_peers::workloads::{self, Expectation};
use lrmask_peers::{peers, vocabularies};
use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;

#[test]
fn expressions_allow_as_many_tokens_as_an_automaton_counts() {
    let mut counted = 0;
    for workload in workloads::read(&package().join("workloads")).expect("workloads") {
        let pattern = package().join("workloads").join(&workload.name).join("pattern.regex");
        let Ok(pattern) = fs::read_to_string(pattern) else { continue };
        let counter = Counter::new(pattern.trim_end());
        let expected = workload.expected().expect("numbers");
        // The built-in vocabularies; others may not be there.
        for name in ["cl100k", "o200k"] {
            let vocabulary =
                vocabularies::load(name, Path::new("")).expect("built in").expect("built in");
            let words = vocabulary.words().words;
            let documents: Vec<Vec<u32>> = (workload.own_documents().expect("documents").iter())
                .map(|text| vocabulary.cut(text).expect("spelt"))
                .collect();
            assert!(expected[name].len() >= 8, "{} with {name}", workload.name);
            for &place in &expected[name] {
                let Expectation(document, step, _, _) = place;
                let tokens = &documents[document as usize][..step as usize];
                let text: Vec<u8> =
                    tokens.iter().flat_map(|&token| words[token as usize].clone()).collect();
                let state =
                    counter.follow(counter.begin, &text).expect("documents are in the language");
                let allowed = words
                    .iter()
                    .filter(|word| !word.is_empty() && counter.follow(state, word).is_some());
                let ends = counter.ends(state);
                let count = Expectation(document, step, allowed.count() as u32, ends);
                assert_eq!(place, count, "{} with {name}", workload.name);
                counted += 1;
            }
        }
    }
    assert!(counted >= 200, "{counted} places");
}

/// An automaton, and from which of its states the text can be completed.
struct Counter {
    automaton: dense::DFA<Vec<u32>>,
    begin: StateID,
    viable: HashSet<StateID>,
}

impl Counter {
    fn new(pattern: &str) -> Self {
        let automaton = dense::DFA::new(pattern).expect("a sound expression");
        let begin = automaton.universal_start_state(Anchored::Yes).expect("no look-around");
        let mut known = vec![begin];
        let mut at = 0;
        while at < known.len() {
            let state = known[at];
            for next in (0..=255).map(|byte| automaton.next_state(state, byte)) {
                if !known.contains(&next) {
                    known.push(next);
                }
            }
            at += 1;
        }
        let mut counter = Self { automaton, begin, viable: HashSet::new() };
        let mut before = usize::MAX;
        while before != counter.viable.len() {
            before = counter.viable.len();
            for &state in &known {
                let leads =
                    |byte| counter.viable.contains(&counter.automaton.next_state(state, byte));
                if counter.ends(state) || (0..=255).any(leads) {
                    counter.viable.insert(state);
                }
            }
        }
        counter
    }

    fn ends(&self, state: StateID) -> bool {
        self.automaton.is_match_state(self.automaton.next_eoi_state(state))
    }

    /// The state behind the text, unless nothing can follow that the expression matches.
    fn follow(&self, state: StateID, text: &[u8]) -> Option<StateID> {
        let end = text.iter().fold(state, |state, &byte| self.automaton.next_state(state, byte));
        self.viable.contains(&end).then_some(end)
    }
}

#[test]
fn every_workload_says_how_each_engine_is_run_or_why_not() {
    let workloads = workloads::read(&package().join("workloads")).expect("workloads");
    assert!(workloads.len() >= 10);
    for workload in workloads {
        for peer in peers::ALL.map(|peer| peer.name) {
            match workload.grammar(peer) {
                Ok(grammar) => assert!(grammar.path.is_file(), "{}", grammar.path.display()),
                Err(reason) => assert!(reason.contains(' '), "{}, {peer}: {reason}", workload.name),
            }
        }
        assert!(!workload.own_documents().expect("documents").is_empty());
        let page = package().join("workloads").join(&workload.name).join("README.md");
        assert!(
            fs::read_to_string(page).is_ok_and(|text| text.contains("**Bias**")),
            "{}",
            workload.name
        );
    }
}
