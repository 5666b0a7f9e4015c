//! Random small grammars: a draft is a handful of numbers, made sound and printed in both notations.

use proptest::prelude::*;
use std::fmt::Write as _;

/// What a random grammar is made from; every value of it means some grammar.
#[derive(Clone, Debug)]
pub struct Draft {
    pub basic: bool,
    /// Of each terminal: which of [`PATTERNS`], and whether its priority is raised.
    pub terminals: Vec<(usize, bool)>,
    /// Which of [`IGNORED`].
    pub ignored: usize,
    /// Alternatives of each nonterminal.
    pub rules: Vec<Vec<Vec<usize>>>,
    pub relation: Relation,
    /// Of each terminal: whether it is exclusive.
    pub exclusive: Vec<bool>,
    /// Longer tokens.
    pub tokens: Vec<Vec<u8>>,
}

/// What a directive says of two terminals.
#[derive(Clone, Debug)]
pub struct Relation {
    pub kind: usize,
    pub word: usize,
    pub other: usize,
    /// What decides about the word, if that is the kind.
    pub after: Option<Vec<usize>>,
    pub ahead: Vec<Vec<usize>>,
}

/// Both notations write these alike.
const PATTERNS: [&str; 22] = [
    "\"a\"", "\"b\"", "\"c\"", "\"ab\"", "\"aa\"", "\"bc\"", "\"abc\"", "\"ba\"", "\"cc\"", "\"b\"", "\"c\"",
    "/a+/", "/[ab]+/", "/ab*/", "/a*b/", "/a(ba)?/", "/[bc]+/", "/c[ab]*/", "/(ab)+/", "/a|abc/", "/[abc]/",
    "/b+c?/",
];
const IGNORED: [&str; 7] = ["", "\" \"", "\" \"", "\" \"", "/ +/", "\"c\"", "/ a?/"];
const RELATIONS: [&str; 5] = ["", "reserved", "fallback", "soft", "lookahead"];

/// The letters of all patterns.
pub const ALPHABET: &[u8] = b"abc ";

/// Random drafts.
pub fn drafts() -> impl Strategy<Value = Draft> {
    let alternative = || prop::collection::vec(0..20usize, 0..=3);
    let alternatives = prop::collection::vec(alternative(), 1..=3);
    let list = || prop::collection::vec(0..4usize, 1..=3);
    let ahead = prop::collection::vec(list(), 1..=2);
    let relation = (0..11usize, 0..4usize, 0..4usize, prop::option::of(list()), ahead).prop_map(
        |(kind, word, other, after, ahead)| {
            let kind = kind.saturating_sub(4).min(RELATIONS.len() - 1);
            Relation { kind, word, other, after, ahead }
        },
    );
    let token = prop::collection::vec(prop::sample::select(ALPHABET), 2..=5);
    (
        any::<bool>(),
        prop::collection::vec((0..PATTERNS.len(), prop::bool::weighted(0.1)), 2..=4),
        0..IGNORED.len(),
        prop::collection::vec(alternatives, 1..=4),
        relation,
        prop_oneof![3 => Just(vec![false; 4]), 1 => prop::collection::vec(any::<bool>(), 4)],
        prop::collection::vec(token, 1..=12),
    )
        .prop_map(|(basic, terminals, ignored, rules, relation, exclusive, tokens)| Draft {
            basic,
            terminals,
            ignored,
            rules,
            relation,
            exclusive,
            tokens,
        })
}

/// A grammar in both notations.
#[derive(Clone, Debug)]
pub struct Printed {
    pub lark: String,
    pub spec: String,
}

/// A symbol of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Terminal(usize),
    Rule(usize),
}

impl Draft {
    /// The grammar, without the rules and terminals that the start symbol does not reach.
    pub fn print(&self) -> Printed {
        let rules = self.symbols();
        let reached = reach(&rules);
        let used: Vec<usize> = (0..self.terminals.len())
            .filter(|&t| {
                reached.iter().any(|&r| rules[r].iter().flatten().any(|&s| s == Symbol::Terminal(t)))
            })
            .collect();
        let relation = Some(&self.relation).filter(|relation| {
            let is_literal = |t: usize| PATTERNS[self.terminals[t].0].starts_with('"');
            relation.kind > 0
                && relation.word != relation.other
                && used.contains(&relation.word)
                && used.contains(&relation.other)
                && is_literal(relation.word)
                && !is_literal(relation.other)
        });
        let mut lark = format!("%lexer {}\n", if self.basic { "basic" } else { "contextual" });
        let mut spec = format!("lexer {}\nstart r0\n", if self.basic { "basic" } else { "contextual" });
        lark.push_str("%start r0\n");
        let show = |symbol: &Symbol| match symbol {
            Symbol::Terminal(t) => format!("T{t}"),
            Symbol::Rule(r) => format!("r{r}"),
        };
        let mut spec_rules = String::new();
        for &rule in &reached {
            let alternatives: Vec<String> =
                rules[rule].iter().map(|rhs| rhs.iter().map(show).collect::<Vec<_>>().join(" ")).collect();
            writeln!(lark, "r{rule}: {}", alternatives.join(" | ")).unwrap();
            for alternative in alternatives {
                writeln!(spec_rules, "rule r{rule} -> {alternative}").unwrap();
            }
        }
        let mut ranked = Vec::new();
        for &t in &used {
            let (pattern, raised) = self.terminals[t];
            let pattern = PATTERNS[pattern];
            writeln!(lark, "T{t}{}: {pattern}", if raised { ".1" } else { "" }).unwrap();
            let mut line = format!("terminal T{t} {}", slashed(pattern));
            if let Some(relation) = relation.filter(|relation| relation.word == t) {
                let name = RELATIONS[relation.kind];
                let other = relation.other;
                write!(line, " {name} T{other}{}", relation.around(&used, ",")).unwrap();
            }
            ranked.push(((!raised, !pattern.starts_with('"')), line));
        }
        let ignored = IGNORED[self.ignored];
        if !ignored.is_empty() {
            writeln!(lark, "IGNORED: {ignored}\n%ignore IGNORED").unwrap();
            let line = format!("terminal IGNORED {} ignored", slashed(ignored));
            ranked.push(((true, !ignored.starts_with('"')), line));
        }
        if let Some(relation) = relation {
            let Relation { kind, word, other, .. } = relation;
            let around = relation.around(&used, " ");
            writeln!(lark, "%{} T{other} T{word}{around}", RELATIONS[*kind]).unwrap();
        }
        for &t in used.iter().filter(|&&t| self.exclusive[t]) {
            writeln!(lark, "%exclusive T{t}").unwrap();
            writeln!(spec_rules, "exclusive T{t}").unwrap();
        }
        // Stable: the order in the file is the last criterion.
        ranked.sort_by_key(|(rank, _)| *rank);
        for (_, line) in ranked {
            writeln!(spec, "{line}").unwrap();
        }
        Printed { lark, spec: spec + &spec_rules }
    }

    /// The rules with numbers turned into symbols. The first alternative of each refers to later rules only,
    /// so that each derives some text, and never is the same alternative there twice.
    fn symbols(&self) -> Vec<Vec<Vec<Symbol>>> {
        let count = self.rules.len();
        let symbol = |number: usize, rule: usize, first: bool| {
            let terminal = Symbol::Terminal(number % self.terminals.len());
            match (number < 12, first) {
                (true, _) => terminal,
                (false, false) => Symbol::Rule(number % count),
                (false, true) if rule + 1 < count => Symbol::Rule(rule + 1 + number % (count - rule - 1)),
                (false, true) => terminal,
            }
        };
        let mut rules = Vec::new();
        for (rule, alternatives) in self.rules.iter().enumerate() {
            let mut made: Vec<Vec<Symbol>> = Vec::new();
            for (number, alternative) in alternatives.iter().enumerate() {
                let rhs: Vec<Symbol> = alternative.iter().map(|&s| symbol(s, rule, number == 0)).collect();
                if rhs != [Symbol::Rule(rule)] && !made.contains(&rhs) {
                    made.push(rhs);
                }
            }
            rules.push(made);
        }
        rules
    }
}

impl Relation {
    /// What must stand around the word, in either notation; nothing for the other kinds.
    fn around(&self, used: &[usize], separator: &str) -> String {
        if RELATIONS[self.kind] != "lookahead" {
            return String::new();
        }
        let list = |terminals: &Vec<usize>| {
            let mut names: Vec<String> =
                terminals.iter().filter(|t| used.contains(t)).map(|t| format!("T{t}")).collect();
            if names.is_empty() {
                names.push(format!("T{}", self.other));
            }
            names.join(separator)
        };
        let mut around =
            self.after.as_ref().map_or_else(String::new, |after| format!(" after {}", list(after)));
        for (name, terminals) in std::iter::once("before").chain(std::iter::repeat("then")).zip(&self.ahead) {
            write!(around, " {name} {}", list(terminals)).unwrap();
        }
        around
    }
}

fn reach(rules: &[Vec<Vec<Symbol>>]) -> Vec<usize> {
    let mut reached = vec![0];
    let mut at = 0;
    while at < reached.len() {
        for symbol in rules[reached[at]].iter().flatten() {
            if let Symbol::Rule(rule) = *symbol
                && !reached.contains(&rule)
            {
                reached.push(rule);
            }
        }
        at += 1;
    }
    reached
}

fn slashed(pattern: &str) -> String {
    match pattern.strip_prefix('"') {
        Some(text) => format!("/{}/", text.trim_end_matches('"')),
        None => pattern.to_owned(),
    }
}
