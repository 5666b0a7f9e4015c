//! `lrtable` as an oracle: compares tables of random grammars cell by cell, and checks that refused
//! grammars are refused correctly.
//!
//! `lrtable` builds LR(1) tables with Pager's merging: where it separates states that LALR(1)
//! merges, our cell must be the union of its cells.

use std::collections::{BTreeMap, BTreeSet};

use cfgrammar::yacc::{YaccGrammar, YaccKind, YaccOriginalActionKind};
use lrtable::{Action as TheirAction, Minimiser, StIdx, StateGraph, StateTable};
use proptest::prelude::*;

use super::super::rules::code;
use super::super::table::Action;
use super::table_of;
use super::text::grammar;
use crate::grammar::Grammar;
use crate::grammar::ir::{Associativity, Symbol};
use crate::util::id::{CoreId, TerminalId};

/// The result of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Both have tables without conflicts, equal in every cell.
    Equal,
    /// The same, and precedence resolved a conflict.
    EqualByPrecedence,
    /// Equal, with states that LALR(1) merges and Pager does not.
    EqualAfterMerging,
    /// Precedence and merged states: cells compared only where this is possible.
    Partly,
    /// Both refuse.
    BothRefuse,
    /// Ours refuses because of LALR(1)'s merging alone, and says so.
    Artefact,
    /// Precedence resolves a conflict for one but not for the other: three actions in a cell, or a
    /// conflict that exists only in the merged state.
    PrecedenceDiffers,
}

fn yacc(grammar: &Grammar) -> String {
    let mut text = String::from("%start n0\n");
    let mut levels: BTreeMap<u32, (Associativity, Vec<String>)> = BTreeMap::new();
    for (t, terminal) in grammar.terminals.iter().enumerate() {
        text.push_str(&format!("%token 't{t}'\n"));
        if let Some(precedence) = terminal.precedence {
            let level =
                levels.entry(precedence.level).or_insert((precedence.associativity, vec![]));
            level.1.push(format!("'t{t}'"));
        }
    }
    for (associativity, terminals) in levels.values() {
        let directive = match associativity {
            Associativity::Left => "left",
            Associativity::Right => "right",
            Associativity::Nonassoc => "nonassoc",
        };
        text.push_str(&format!("%{directive} {}\n", terminals.join(" ")));
    }
    text.push_str("%%\n");
    for (n, nonterminal) in grammar.nonterminals.iter().enumerate() {
        let alternatives: Vec<String> = nonterminal
            .productions
            .iter()
            .map(|production| {
                let production = &grammar.productions[production.index()];
                let mut words: Vec<String> =
                    production.rhs.iter().map(|&symbol| name(symbol)).collect();
                let by_level =
                    |level| grammar.terminals.iter().position(|t| t.precedence == Some(level));
                if let Some(t) = production.precedence.and_then(by_level) {
                    words.push(format!("%prec 't{t}'"));
                }
                words.join(" ")
            })
            .collect();
        text.push_str(&format!("n{n}: {};\n", alternatives.join(" | ")));
    }
    text
}

fn name(symbol: Symbol) -> String {
    match symbol {
        Symbol::Terminal(terminal) => format!("'t{terminal}'"),
        Symbol::Nonterminal(nonterminal) => format!("n{nonterminal}"),
    }
}

struct Theirs {
    grammar: YaccGrammar<u32>,
    graph: StateGraph<u32>,
    table: StateTable<u32>,
}

/// `None` if it refuses outright (accept against reduce).
fn theirs(text: &str) -> Option<Theirs> {
    let kind = YaccKind::Original(YaccOriginalActionKind::NoAction);
    let grammar =
        YaccGrammar::<u32>::new(kind, text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let (graph, table) = lrtable::from_yacc(&grammar, Minimiser::Pager).ok()?;
    Some(Theirs { grammar, graph, table })
}

impl Theirs {
    fn conflicts(&self) -> (usize, usize) {
        self.table.conflicts().map_or((0, 0), |conflicts| (conflicts.rr_len(), conflicts.sr_len()))
    }

    fn symbol(&self, symbol: Symbol) -> cfgrammar::Symbol<u32> {
        match symbol {
            Symbol::Terminal(t) => {
                cfgrammar::Symbol::Token(self.grammar.token_idx(&format!("t{t}")).expect("printed"))
            }
            Symbol::Nonterminal(n) => {
                cfgrammar::Symbol::Rule(self.grammar.rule_idx(&format!("n{n}")).expect("printed"))
            }
        }
    }

    /// The action in our terms; shifts lose their target, which is compared separately.
    fn action(&self, state: StIdx<u32>, ours: &Grammar, terminal: usize) -> Option<Cell> {
        let token = if terminal == ours.terminals.len() {
            self.grammar.eof_token_idx()
        } else {
            self.grammar.token_idx(&format!("t{terminal}")).expect("printed")
        };
        match self.table.action(state, token) {
            TheirAction::Error => None,
            TheirAction::Accept => Some(Cell::Accept),
            TheirAction::Shift(_) => Some(Cell::Shift),
            TheirAction::Reduce(production) => {
                let rule = self.grammar.rule_name_str(self.grammar.prod_to_rule(production));
                let symbols = self.grammar.prod(production).iter().map(|&symbol| match symbol {
                    cfgrammar::Symbol::Rule(rule) => self.grammar.rule_name_str(rule).to_owned(),
                    cfgrammar::Symbol::Token(token) => {
                        format!(
                            "'{}'",
                            self.grammar.token_name(token).expect("no $ in productions")
                        )
                    }
                });
                Some(Cell::Reduce(rule.to_owned(), symbols.collect()))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Shift,
    Accept,
    Reduce(String, Vec<String>),
}

fn our_cell(grammar: &Grammar, action: Action) -> Cell {
    match action {
        Action::Shift(_) => Cell::Shift,
        Action::Accept => Cell::Accept,
        Action::Reduce(production) => {
            let production = &grammar.productions[production.index()];
            let symbols = production.rhs.iter().map(|&symbol| name(symbol)).collect();
            Cell::Reduce(format!("n{}", production.lhs), symbols)
        }
    }
}

/// Compares the tables, and panics if they disagree.
fn compare(grammar: &Grammar) -> Outcome {
    let has_precedence = grammar.terminals.iter().any(|terminal| terminal.precedence.is_some());
    let text = yacc(grammar);
    let theirs = theirs(&text);
    let ours = table_of(grammar);
    let conflicts = theirs.as_ref().map(Theirs::conflicts);
    let table = match ours {
        Ok(table) => table,
        Err(error) => {
            let example =
                |d: &crate::util::diagnostic::Diagnostic| d.example.clone().unwrap_or_default();
            let artefacts =
                error.diagnostics().iter().all(|d| example(d).contains("LALR(1) merging"));
            if conflicts != Some((0, 0)) {
                // There is a real conflict, so not all reported conflicts may be artefacts.
                assert!(!artefacts || has_precedence, "{text}\n{error}");
                return Outcome::BothRefuse;
            }
            if has_precedence && !artefacts {
                return Outcome::PrecedenceDiffers;
            }
            assert!(artefacts, "lrtable finds no conflict\n{text}\n{error}");
            return Outcome::Artefact;
        }
    };
    let Some(theirs) = theirs else { panic!("lrtable refuses\n{text}") };
    if conflicts != Some((0, 0)) {
        assert!(
            has_precedence && conflicts.is_some_and(|(rr, _)| rr > 0),
            "lrtable finds conflicts\n{text}"
        );
        return Outcome::PrecedenceDiffers;
    }

    let mut same: BTreeMap<u32, BTreeSet<StIdx<u32>>> = BTreeMap::new();
    let mut work = vec![(0u32, theirs.graph.start_state())];
    let terminals = (0..grammar.terminals.len()).map(|t| Symbol::Terminal(TerminalId::new(t)));
    let nonterminals =
        (0..grammar.nonterminals.len()).map(|n| Symbol::Nonterminal((n as u32).into()));
    let symbols: Vec<Symbol> = terminals.chain(nonterminals).collect();
    while let Some((state, their_state)) = work.pop() {
        if !same.entry(state).or_default().insert(their_state) {
            continue;
        }
        for &symbol in &symbols {
            let ours =
                table.automaton.step(state as usize, code(table.rules.terminal_count(), symbol));
            match (ours, theirs.graph.edge(their_state, theirs.symbol(symbol))) {
                (Some(a), Some(b)) => work.push((a, b)),
                (a, b) => assert!(a.is_none() && b.is_none(), "state {state}, {symbol:?}\n{text}"),
            }
        }
    }
    assert_eq!(same.len(), table.state_count(), "all of our states are reached\n{text}");
    let mut split = false;
    for (&state, their_states) in &same {
        split |= their_states.len() > 1;
        if their_states.len() > 1 && table.has_settled_conflicts() {
            continue;
        }
        for terminal in 0..=grammar.terminals.len() {
            let ours = table.actions(CoreId(state), TerminalId::new(terminal));
            let ours: BTreeSet<Cell> =
                ours.iter().map(|&action| our_cell(grammar, action)).collect();
            let union: BTreeSet<Cell> = their_states
                .iter()
                .filter_map(|&state| theirs.action(state, grammar, terminal))
                .collect();
            assert_eq!(ours, union, "state {state}, terminal {terminal}\n{text}\n{table}");
        }
    }
    match (table.has_settled_conflicts(), split) {
        (false, false) => Outcome::Equal,
        (true, false) => Outcome::EqualByPrecedence,
        (false, true) => Outcome::EqualAfterMerging,
        (true, true) => Outcome::Partly,
    }
}

/// Alternatives of nonterminals, where symbols below `NONTERMINALS` are nonterminals; and a
/// precedence for each terminal.
pub(super) type Sketch = (Vec<Vec<Vec<usize>>>, Vec<(u32, u8)>);

const NONTERMINALS: usize = 6;
const TERMINALS: usize = 5;

/// Grammars close to the limits of LALR(1), as starting points for edits. Rules are separated by
/// `;`, capitals are nonterminals, `A` is the first.
const SEEDS: [&str; 14] = [
    "BaC|C;bC|c;B",
    "Ba|bBc|Cc|bCa;d;d",
    "aBd|aCe|bBe|bCd;c;c",
    "aBd|aCe|bBd|bCe;cD;cD;|a",
    "AaB|B;BbC|C;cAd|e",
    "AaA|AbA|cAd|aA|e",
    "aAb|aAbcA|d",
    "BCDa;b|;cC|;d|",
    "|AB;aAb|cCd;|C;eC|e",
    "B|aDb|e;aCb;|D;A|DcA",
    "aBCa|bBCb|B;Cc|d;|eC",
    "BaB|aCb;C|Cc;D|DdE;eAe|a;b|",
    "aBb|bBc|aDc|bDb;Ec|E;cc|c;E|Ed;d|dE",
    "BA|;CaDb|Dc;d|dC;e|eD|bAb",
];

/// A symbol to insert, remove or replace at any position.
type Edit = (usize, usize, usize, u8, usize);

fn edited(seed: &str, edits: &[Edit]) -> Vec<Vec<Vec<usize>>> {
    let symbol = |c: char| match c {
        'A'..='Z' => c as usize - 'A' as usize,
        _ => NONTERMINALS + c as usize - 'a' as usize,
    };
    let alternatives =
        |rule: &str| rule.split('|').map(|text| text.chars().map(symbol).collect()).collect();
    let mut rules: Vec<Vec<Vec<usize>>> = seed.split(';').map(alternatives).collect();
    for &(rule, alternative, at, kind, symbol) in edits {
        let defined = rules.len();
        let rule = &mut rules[rule % defined];
        let count = rule.len();
        let alternative = &mut rule[alternative % count];
        let at = at % (alternative.len() + 1);
        match kind {
            0 => alternative.insert(at, symbol),
            1 if at < alternative.len() => alternative[at] = symbol,
            2 if at < alternative.len() => drop(alternative.remove(at)),
            3 => {
                let mut copy = alternative.clone();
                copy.insert(at, symbol);
                rule.push(copy);
            }
            _ => {}
        }
    }
    rules
}

/// Generates random grammars, and random edits of those in [`SEEDS`]; a sketch may be unproductive.
pub(super) fn sketches() -> impl Strategy<Value = Sketch> {
    let symbol = || prop_oneof![2 => 0..NONTERMINALS, 3 => NONTERMINALS..NONTERMINALS + TERMINALS];
    let alternative = prop::collection::vec(symbol(), 0..5);
    let random = prop::collection::vec(prop::collection::vec(alternative, 1..4), 2..=NONTERMINALS);
    let edit = (0..NONTERMINALS, 0..6usize, 0..6usize, 0u8..4, symbol());
    let seeded = (prop::sample::select(&SEEDS[..]), prop::collection::vec(edit, 0..6))
        .prop_map(|(seed, edits)| edited(seed, &edits));
    let precedence = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec((0u32..4, 0u8..3), TERMINALS),
    ];
    (prop_oneof![1 => random, 3 => seeded], precedence)
}

/// The grammar of the productive and reachable part of a sketch; `None` if that is empty.
pub(super) fn realise((rules, precedence): &Sketch) -> Option<Grammar> {
    let mut rules = rules.clone();
    let defined = rules.len();
    for symbol in rules.iter_mut().flatten().flatten().filter(|symbol| **symbol < NONTERMINALS) {
        *symbol %= defined;
    }
    let mut productive = BTreeSet::new();
    let derives = |productive: &BTreeSet<usize>, alternative: &[usize]| {
        alternative.iter().all(|&s| s >= NONTERMINALS || productive.contains(&s))
    };
    loop {
        let before = productive.len();
        for (n, alternatives) in rules.iter().enumerate() {
            if alternatives.iter().any(|alternative| derives(&productive, alternative)) {
                productive.insert(n);
            }
        }
        if productive.len() == before {
            break;
        }
    }
    let mut reached = vec![0];
    let mut text = String::new();
    // Level 0 means none; each level has one associativity, that of its first terminal.
    for level in 1..4 {
        let of_level: Vec<String> = precedence
            .iter()
            .enumerate()
            .filter(|(_, of)| of.0 == level)
            .map(|(t, _)| format!("t{t}"))
            .collect();
        let first = precedence.iter().find(|of| of.0 == level);
        let associativity =
            ["%left", "%right", "%nonassoc"][first.map_or(0, |of| usize::from(of.1))];
        text.push_str(&format!("{associativity} {}\n", of_level.join(" ")));
    }
    let mut at = 0;
    while let Some(&n) = reached.get(at) {
        at += 1;
        let mut alternatives: Vec<String> = Vec::new();
        let whole: BTreeSet<&Vec<usize>> = rules.get(n)?.iter().collect();
        for alternative in whole.into_iter().filter(|alternative| derives(&productive, alternative))
        {
            let mut words = Vec::new();
            for &symbol in alternative {
                if symbol >= NONTERMINALS {
                    words.push(format!("t{}", symbol - NONTERMINALS));
                } else {
                    words.push(format!("N{symbol}"));
                    if !reached.contains(&symbol) {
                        reached.push(symbol);
                    }
                }
            }
            alternatives.push(words.join(" "));
        }
        if alternatives.is_empty() {
            return None;
        }
        text.push_str(&format!("N{n} -> {}\n", alternatives.join(" | ")));
    }
    Some(grammar(&text))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_grammars_have_the_tables_that_lrtable_builds(sketch in sketches()) {
        if let Some(grammar) = realise(&sketch) {
            compare(&grammar);
        }
    }
}

/// The number of cases: small by default, set by `PROPTEST_CASES`.
pub(super) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000)
}

#[test]
fn random_grammars_reach_every_outcome() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    for _ in 0..2 * cases() {
        let sketch = sketches().new_tree(&mut runner).expect("no filter rejects").current();
        if let Some(grammar) = realise(&sketch) {
            *outcomes.entry(compare(&grammar)).or_default() += 1;
        }
    }
    let wanted = [
        Outcome::Equal,
        Outcome::EqualByPrecedence,
        Outcome::EqualAfterMerging,
        Outcome::BothRefuse,
        Outcome::Artefact,
    ];
    assert!(wanted.iter().all(|outcome| outcomes.contains_key(outcome)), "{outcomes:?}");
}

#[test]
fn classics_have_the_tables_that_lrtable_builds() {
    let outcome = |text: &str| compare(&grammar(text));
    assert_eq!(outcome("S -> L = R | R\nL -> * R | x\nR -> L"), Outcome::Equal);
    assert_eq!(
        outcome("%left +\n%left *\nE -> E + E | E * E | ( E ) | n"),
        Outcome::EqualByPrecedence
    );
    assert_eq!(outcome("S -> A a | b A c | D c | b D a\nA -> d\nD -> d"), Outcome::Artefact);
}

#[test]
fn json_has_the_table_that_lrtable_builds() {
    let json = Grammar::from_lark(include_str!("../../../grammars/json/json.lark"));
    let json = json.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(compare(&json), Outcome::Equal);
}
