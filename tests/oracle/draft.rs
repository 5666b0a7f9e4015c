//! Random small grammars: a draft is a list of numbers, made valid and printed in both notations.

use super::sketch::{Alternative, Relation, Rule, Sketch, Terminal};
use proptest::prelude::*;

/// The source of a random grammar; every value of it gives a valid grammar.
#[derive(Clone, Debug)]
pub struct Draft {
    pub basic: bool,
    pub shift: bool,
    /// The argument of `%match`.
    pub matching: Option<&'static str>,
    /// For each ignored terminal: whether its priority is raised.
    pub raised: Vec<bool>,
    /// For each terminal: its index in [`PATTERNS`], and whether its priority is raised.
    pub terminals: Vec<(usize, bool)>,
    /// The patterns of ignored terminals.
    pub ignored: Vec<&'static str>,
    pub rules: Vec<RuleDraft>,
    /// Whether there are two entry points.
    pub two_starts: bool,
    pub relations: Vec<RelationDraft>,
    /// For each terminal: whether it is exclusive.
    pub exclusive: Vec<bool>,
    /// For each level: its index in [`ASSOCIATIVITIES`], and its members: terminals, and names for
    /// `%prec`.
    pub levels: Vec<(usize, Vec<usize>)>,
    /// Longer tokens.
    pub tokens: Vec<Vec<u8>>,
    /// Tokens that repeat one letter, for patterns that count, each with an optional last byte.
    pub runs: Vec<(u8, usize, Option<u8>)>,
}

/// The source of a rule.
#[derive(Clone, Debug)]
pub struct RuleDraft {
    /// Whether its first alternative is unrestricted: then the rule may derive nothing.
    pub free: bool,
    pub priority: i32,
    /// For each alternative: its symbols, and the argument of `%prec`.
    pub alternatives: Vec<(Vec<usize>, Option<usize>)>,
}

/// A directive about two terminals.
#[derive(Clone, Debug)]
pub struct RelationDraft {
    pub kind: usize,
    pub word: usize,
    pub other: usize,
    /// The context of the word, if the kind has one.
    pub after: Option<Vec<usize>>,
    pub ahead: Vec<Vec<usize>>,
}

/// Patterns with the same form in both notations. The last ones count, or leave a match pending for
/// long.
const PATTERNS: [&str; 43] = [
    "\"a\"",
    "\"b\"",
    "\"c\"",
    "\"ab\"",
    "\"aa\"",
    "\"bc\"",
    "\"abc\"",
    "\"ba\"",
    "\"cc\"",
    "\"b\"",
    "\"c\"",
    "/a+/",
    "/[ab]+/",
    "/ab*/",
    "/a*b/",
    "/a(ba)?/",
    "/[bc]+/",
    "/c[ab]*/",
    "/(ab)+/",
    "/a|abc/",
    "/[abc]/",
    "/b+c?/",
    "/a[^b]*b/",
    "/b[^a ]*a/",
    "/c[^c]*c/",
    "/[ab]{2}/",
    "/a{2,5}/",
    "/(ab){2,3}c?/",
    "/a{3}b/",
    "/a{80}b/",
    "/a{20,40}/",
    "/[ab]{60}/",
    "/a(?=b)/",
    "/[ab]+(?=c)/",
    "/ab(?!b)/",
    "/a+(?!bb)/",
    "/bc?(?=[ac]b)/",
    "/(?<=a)b+/",
    "/(?<![ab])[ab]+/",
    "/(?<!bc)a/",
    "/(?<![abc ])[bc]/",
    "/(?<=[b ])a*c(?=b)/",
    "/(?<=b)[abc]/",
];
/// Number of leading patterns without look-around.
const LOOKING: usize = 32;
/// Number of leading patterns that are short.
const PLAIN: usize = 22;
const IGNORED: [&str; 8] =
    ["/ +(?!c)/", "/(?<!c) /", "\" \"", "\" \"", "/ +/", "\"c\"", "/ a?/", "/ [^ ]* /"];
/// Patterns of ignored terminals whose longer matches are pending while other lexemes are read.
const PENDING: [&str; 12] = [
    "/b(ac)*/",
    "/b[ab]* /",
    "/( |bb[^a]*a)+/",
    "/ +(a[bc]*a)?/",
    "/( |c[^ ]*c)+/",
    "/c(ab|b c)*/",
    "/ (a b)*/",
    "/(a |b )+/",
    "/ (ab?c| )*/",
    "/a(b[^ ]* )?/",
    "/[ c]+(b a)?/",
    "/( |abc*b)+c?/",
];
const RELATIONS: [&str; 4] = ["reserved", "fallback", "soft", "lookahead"];
pub const ASSOCIATIVITIES: [&str; 3] = ["left", "right", "nonassoc"];
/// Names for `%prec` that are not terminals.
const NAMES: [&str; 2] = ["P0", "P1"];

/// The letters of all patterns.
pub const ALPHABET: &[u8] = b"abc ";

/// Returns a strategy for random drafts.
pub fn drafts() -> impl Strategy<Value = Draft> {
    let some = |weight| prop::bool::weighted(weight);
    let level = prop::option::weighted(0.15, 0..8usize);
    let alternative = (prop::collection::vec(0..20usize, 0..=3), level);
    let rule = (some(0.1), -1..=1i32, prop::collection::vec(alternative, 1..=3))
        .prop_map(|(free, priority, alternatives)| RuleDraft { free, priority, alternatives });
    let list = || prop::collection::vec(0..4usize, 1..=3);
    let ahead = prop::collection::vec(list(), 1..=2);
    let relation =
        (0..RELATIONS.len(), 0..5usize, 0..5usize, prop::option::of(list()), ahead).prop_map(
            |(kind, word, other, after, ahead)| RelationDraft { kind, word, other, after, ahead },
        );
    let levels = prop::collection::vec(
        (0..ASSOCIATIVITIES.len(), prop::collection::vec(0..7usize, 1..=3)),
        1..=3,
    );
    let letter = || prop::sample::select(ALPHABET);
    let length = prop_oneof![2..=6usize, 18..=21usize, 38..=41usize, 58..=61usize, 78..=81usize];
    let rules = (prop::collection::vec(rule, 1..=4), some(0.15), some(0.15));
    let words = (
        prop_oneof![1 => Just(Vec::new()), 1 => prop::collection::vec(relation, 1..=3)],
        prop_oneof![4 => Just(vec![false; 5]), 1 => prop::collection::vec(any::<bool>(), 5)],
        prop_oneof![3 => Just(Vec::new()), 1 => levels],
    );
    let tokens = (
        prop::collection::vec(prop::collection::vec(letter(), 2..=5), 1..=12),
        prop::collection::vec((letter(), length, prop::option::of(letter())), 1..=4),
    );
    (
        any::<bool>(),
        prop::collection::vec((0..PATTERNS.len(), some(0.1)), 2..=5),
        prop::collection::vec(prop::sample::select(&IGNORED), 0..=3),
        rules,
        words,
        tokens,
    )
        .prop_map(|(basic, terminals, ignored, rules, words, tokens)| {
            let (rules, two_starts, shift) = rules;
            let (relations, exclusive, levels) = words;
            let (tokens, runs) = tokens;
            Draft {
                basic,
                shift,
                matching: None,
                raised: Vec::new(),
                terminals,
                ignored,
                rules,
                two_starts,
                relations,
                exclusive,
                levels,
                tokens,
                runs,
            }
        })
}

/// Returns a strategy for drafts in which matches of ignored terminals stay pending, with few other
/// features.
pub fn with_pending() -> impl Strategy<Value = Draft> {
    let pending = prop::collection::vec(prop::sample::select(&PENDING), 1..=2);
    let terminals = prop::collection::vec((0..PLAIN, prop::bool::weighted(0.1)), 2..=4);
    (drafts(), pending, terminals).prop_map(|(draft, mut pending, terminals)| {
        pending.extend(draft.ignored.first());
        let (relations, exclusive) = (Vec::new(), vec![false; 5]);
        Draft { ignored: pending, terminals, relations, exclusive, levels: Vec::new(), ..draft }
    })
}

/// Returns a strategy for drafts with a `%match` directive: by priority, or all.
pub fn with_match() -> impl Strategy<Value = Draft> {
    let priority = prop::collection::vec((0..LOOKING, any::<bool>()), 2..=5);
    let ignored = prop::collection::vec(prop::sample::select(&IGNORED[2..]), 0..=2);
    let raised = prop::collection::vec(any::<bool>(), 2);
    (drafts(), any::<bool>(), priority, ignored, raised).prop_map(
        |(draft, all, terminals, ignored, raised)| match all {
            true => {
                let (shift, levels) = (false, Vec::new());
                Draft { matching: Some("all"), shift, levels, raised, ..draft }
            }
            false => Draft { matching: Some("priority"), terminals, ignored, raised, ..draft },
        },
    )
}

/// A symbol of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Symbol {
    Terminal(usize),
    Rule(usize),
}

impl Draft {
    /// Returns the grammar, without the rules and terminals that no start symbol reaches.
    pub fn sketch(&self) -> Sketch {
        let rules = self.symbols();
        let starts: Vec<usize> =
            (0..rules.len().min(if self.two_starts { 2 } else { 1 })).collect();
        let reached = reach(&rules, &starts);
        let is_used = |terminal: usize| {
            reached
                .iter()
                .any(|&rule| rules[rule].iter().flatten().any(|&s| s == Symbol::Terminal(terminal)))
        };
        let used: Vec<usize> =
            (0..self.terminals.len()).filter(|&terminal| is_used(terminal)).collect();
        let levels = self.levels(&used);
        let show = |symbol: &Symbol| match symbol {
            Symbol::Terminal(terminal) => name(*terminal),
            Symbol::Rule(rule) => format!("r{rule}"),
        };
        let alternative = |(symbols, draft): (&Vec<Symbol>, &(Vec<usize>, Option<usize>))| {
            let named = draft.1.map(|level| self.leveled(level));
            let level = named.filter(|named| levels.iter().any(|(_, names)| names.contains(named)));
            Alternative { symbols: symbols.iter().map(show).collect(), level }
        };
        let rule = |&rule: &usize| Rule {
            name: format!("r{rule}"),
            priority: self.rules[rule].priority,
            alternatives: rules[rule]
                .iter()
                .zip(&self.rules[rule].alternatives)
                .map(alternative)
                .collect(),
        };
        let terminal = |name, pattern: &str, raised, ignored| Terminal {
            name,
            pattern: pattern.to_owned(),
            raised,
            ignored,
        };
        let of_rules = used.iter().map(|&t| {
            let (pattern, raised) = self.terminals[t];
            terminal(name(t), PATTERNS[pattern], raised, false)
        });
        let is_raised = |i: usize| self.raised.get(i).is_some_and(|&raised| raised);
        let ignored = self.ignored.iter().enumerate();
        let ignored =
            ignored.map(|(i, pattern)| terminal(format!("I{i}"), pattern, is_raised(i), true));
        let relations = self.relations(&used);
        let is_decided =
            |name: &String| relations.iter().any(|r| r.word == *name && r.kind == "lookahead");
        let exclusive = used.iter().filter(|&&t| self.exclusive[t]).map(|&t| name(t));
        Sketch {
            basic: self.basic,
            shift: self.shift,
            matching: self.matching,
            starts: starts.iter().map(|start| format!("r{start}")).collect(),
            terminals: of_rules.chain(ignored).collect(),
            rules: reached.iter().map(rule).collect(),
            exclusive: exclusive.filter(|name| !is_decided(name)).collect(),
            relations,
            levels,
            ..Sketch::default()
        }
    }

    /// Returns tokens that span or split lexemes.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        let counts = self.sketch().terminals.iter().any(|terminal| terminal.pattern.contains('{'));
        let run = |&(letter, length, last): &(u8, usize, Option<u8>)| {
            let run = std::iter::repeat_n(letter, length);
            run.chain(last).collect::<Vec<u8>>()
        };
        let runs = self.runs.iter().filter(|_| counts).map(run);
        self.tokens.iter().cloned().chain(runs).collect()
    }

    /// Returns the name for a number in a level: that of a terminal, or a name that is not a
    /// terminal.
    fn leveled(&self, number: usize) -> String {
        let number = number % (self.terminals.len() + NAMES.len());
        number
            .checked_sub(self.terminals.len())
            .map_or_else(|| name(number), |other| NAMES[other].to_owned())
    }

    /// Returns the levels, with each name once.
    fn levels(&self, used: &[usize]) -> Vec<(&'static str, Vec<String>)> {
        let mut known: Vec<String> = Vec::new();
        let mut levels = Vec::new();
        for (associativity, numbers) in &self.levels {
            let mut names = Vec::new();
            for named in numbers.iter().map(|&number| self.leveled(number)) {
                let exists =
                    NAMES.contains(&named.as_str()) || used.iter().any(|&t| name(t) == named);
                if exists && !known.contains(&named) {
                    known.push(named.clone());
                    names.push(named);
                }
            }
            if !names.is_empty() {
                levels.push((ASSOCIATIVITIES[*associativity], names));
            }
        }
        levels
    }

    /// Returns the relations without those that contradict earlier ones.
    fn relations(&self, used: &[usize]) -> Vec<Relation> {
        let mut relations: Vec<Relation> = Vec::new();
        for RelationDraft { kind, word, other, after, ahead } in &self.relations {
            let is_second = |known: &Relation| {
                let same = known.other == name(*other);
                let both_decide = known.kind != "reserved" && RELATIONS[*kind] != "reserved";
                known.word == name(*word) && (same || both_decide)
            };
            if word == other
                || !used.contains(word)
                || !used.contains(other)
                || relations.iter().any(is_second)
            {
                continue;
            }
            let list = |terminals: &Vec<usize>| {
                let mut names: Vec<String> =
                    terminals.iter().filter(|t| used.contains(t)).map(|&t| name(t)).collect();
                names.dedup();
                if names.is_empty() { vec![name(*other)] } else { names }
            };
            let decided = RELATIONS[*kind] == "lookahead";
            relations.push(Relation {
                kind: RELATIONS[*kind],
                word: name(*word),
                other: name(*other),
                after: after.as_ref().filter(|_| decided).map(list),
                ahead: ahead.iter().filter(|_| decided).map(list).collect(),
            });
        }
        relations
    }

    /// Returns the rules with symbols in place of numbers. The first alternative of each rule
    /// refers to later rules only, so that each derives some text, unless the rule is free.
    fn symbols(&self) -> Vec<Vec<Vec<Symbol>>> {
        let count = self.rules.len();
        let symbol = |number: usize, rule: usize, first: bool| {
            let terminal = Symbol::Terminal(number % self.terminals.len());
            match (number < 12, first) {
                (true, _) => terminal,
                (false, false) => Symbol::Rule(number % count),
                (false, true) if rule + 1 < count => {
                    Symbol::Rule(rule + 1 + number % (count - rule - 1))
                }
                (false, true) => terminal,
            }
        };
        let alternatives = |(rule, draft): (usize, &RuleDraft)| {
            let alternatives = draft.alternatives.iter().enumerate();
            let symbols = alternatives.map(|(number, (symbols, _))| {
                symbols.iter().map(|&s| symbol(s, rule, number == 0 && !draft.free)).collect()
            });
            symbols.collect()
        };
        self.rules.iter().enumerate().map(alternatives).collect()
    }
}

fn name(terminal: usize) -> String {
    format!("T{terminal}")
}

/// Returns the rules that can be reached from these.
fn reach(rules: &[Vec<Vec<Symbol>>], starts: &[usize]) -> Vec<usize> {
    let mut reached = starts.to_vec();
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
