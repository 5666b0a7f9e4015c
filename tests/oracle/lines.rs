//! Random small grammars with significant lines.
//!
//! Rules are of two kinds, so that blocks and brackets nest: those for parts of one line, and those
//! for lines.

use super::draft::ASSOCIATIVITIES;
use super::sketch::{Alternative, Relation, Rule, Sketch, Terminal};
use proptest::prelude::*;

/// The source of a random grammar with lines; every value of it gives a valid grammar.
#[derive(Clone, Debug)]
pub struct LinesDraft {
    pub basic: bool,
    pub shift: bool,
    /// For each word: its index in [`WORDS`].
    pub words: Vec<usize>,
    pub newline: usize,
    pub blanks: usize,
    /// Indices in [`IGNORED`].
    pub ignored: Vec<usize>,
    pub brackets: bool,
    pub join: bool,
    pub tab: Option<usize>,
    pub levels: Option<usize>,
    /// The alternatives of each rule for lines.
    pub lines: Vec<Vec<Vec<usize>>>,
    /// The alternatives of each rule for parts of one line.
    pub inline: Vec<Vec<Vec<usize>>>,
    /// The index in [`RELATIONS`], and the two words.
    pub relations: Vec<(usize, usize, usize)>,
    pub precedence: Option<(usize, usize)>,
    /// Longer tokens.
    pub tokens: Vec<Vec<u8>>,
}

const WORDS: [&str; 12] = [
    "/ab?(?=[(\\n])/",
    "/a+(?!b)/",
    "\"a\"",
    "\"b\"",
    "\"ab\"",
    "\"aa\"",
    "\"b\"",
    "/a+/",
    "/[ab]+/",
    "/ab*/",
    "/a(ba)?/",
    "/a[^b\\n]*b/",
];
const NEWLINES: [&str; 3] = ["/\\n/", "/\\n/", "/\\n+/"];
const BLANKS: [&str; 3] = ["/ +/", "\" \"", "/[ \\t]+/"];
const IGNORED: [&str; 4] = ["/#[^\\n]*/", "/#/", "/#a?b/", "/#[^#]*#/"];
const JOIN: &str = "/#\\n/";
const RELATIONS: [&str; 3] = ["reserved", "fallback", "soft"];

/// The letters of all patterns.
pub const ALPHABET: &[u8] = b"ab\n (#)";

/// Returns a strategy for random drafts.
pub fn drafts() -> impl Strategy<Value = LinesDraft> {
    let some = |weight| prop::bool::weighted(weight);
    let rules = || {
        let alternative = prop::collection::vec(0..24usize, 1..=3);
        prop::collection::vec(prop::collection::vec(alternative, 1..=3), 1..=3)
    };
    let lexer = (any::<bool>(), some(0.15), prop::collection::vec(0..WORDS.len(), 2..=4));
    let ignored =
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(0..IGNORED.len(), 1..=2)];
    let layout = (0..NEWLINES.len(), 0..BLANKS.len(), ignored, any::<bool>(), some(0.2));
    let clauses =
        (prop::option::weighted(0.3, 1..=4usize), prop::option::weighted(0.08, 1..=2usize));
    let relation = (0..RELATIONS.len(), 0..4usize, 0..4usize);
    let words = (
        prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(relation, 1..=2)],
        prop::option::weighted(0.2, (0..ASSOCIATIVITIES.len(), 0..4usize)),
    );
    let letter = prop::sample::select(&ALPHABET[..5]);
    let tokens = prop::collection::vec(prop::collection::vec(letter, 2..=6), 1..=12);
    (lexer, layout, clauses, rules(), rules(), words, tokens).prop_map(
        |(lexer, layout, clauses, lines, inline, words, tokens)| {
            let (basic, shift, of_words) = lexer;
            let (newline, blanks, ignored, brackets, join) = layout;
            let ((tab, levels), (relations, precedence)) = (clauses, words);
            LinesDraft {
                basic,
                shift,
                words: of_words,
                newline,
                blanks,
                ignored,
                brackets,
                join,
                tab,
                levels,
                lines,
                inline,
                relations,
                precedence,
                tokens,
            }
        },
    )
}

impl LinesDraft {
    pub fn sketch(&self) -> Sketch {
        let rule = |name: String, alternatives: Vec<Vec<String>>| {
            let alternatives =
                alternatives.into_iter().map(|symbols| Alternative { symbols, level: None });
            Rule { name, priority: 0, alternatives: alternatives.collect() }
        };
        let of = |kind: &str, number: usize, lines: bool, draft: &Vec<Vec<usize>>| {
            let symbols = |(place, numbers): (usize, &Vec<usize>)| {
                numbers.iter().flat_map(|&n| self.piece(n, (number, place == 0), lines)).collect()
            };
            rule(format!("{kind}{number}"), draft.iter().enumerate().map(symbols).collect())
        };
        let lines =
            self.lines.iter().enumerate().map(|(number, draft)| of("l", number, true, draft));
        let inline =
            self.inline.iter().enumerate().map(|(number, draft)| of("v", number, false, draft));
        let rules = reachable(lines.chain(inline).collect());
        let all: Vec<Terminal> = self.terminals();
        let stands = |name: &str| rules.iter().any(|rule| mentions(rule, name));
        let is_used = |terminal: &Terminal| !is_word(&terminal.name) || stands(&terminal.name);
        let terminals: Vec<Terminal> = all.into_iter().filter(is_used).collect();
        let levels = self.precedence.map(|(associativity, word)| (associativity, self.word(word)));
        let levels = levels.filter(|(_, word)| stands(word));
        Sketch {
            basic: self.basic,
            shift: self.shift,
            starts: vec!["l0".to_owned()],
            declared: vec!["INDENT".to_owned(), "DEDENT".to_owned()],
            relations: self.relations(&terminals),
            levels: levels
                .map(|(associativity, word)| (ASSOCIATIVITIES[associativity], vec![word]))
                .into_iter()
                .collect(),
            indent: Some(self.directive(stands("OPEN"))),
            terminals,
            rules,
            ..Sketch::default()
        }
    }

    /// Returns tokens that span or split lexemes and lines.
    pub fn tokens(&self) -> Vec<Vec<u8>> {
        self.tokens.clone()
    }

    /// Returns the symbols for a number in a rule. The first alternative of each refers to later
    /// rules only, so that each derives some text. Nearly all elements of a rule for lines are
    /// whole lines and blocks; others leave hardly any text.
    fn piece(&self, number: usize, (rule, first): (usize, bool), lines: bool) -> Vec<String> {
        let later = |kind: &str, count: usize| match first {
            false => Some(format!("{kind}{}", number % count)),
            true => (rule + 1 < count)
                .then(|| format!("{kind}{}", rule + 1 + number % (count - rule - 1))),
        };
        let (word, newline) = (self.word(number), "NEWLINE".to_owned());
        let bracketed = |name: String| match self.brackets {
            true => vec!["OPEN".to_owned(), name, "CLOSE".to_owned()],
            false => vec![name],
        };
        if !lines {
            return match (number, later("v", self.inline.len())) {
                (0..=11, _) | (_, None) => vec![word],
                (12..=17, Some(name)) => vec![name],
                (18..=22, Some(name)) => bracketed(name),
                _ => Vec::new(),
            };
        }
        let inline = format!("v{}", number % self.inline.len());
        let block = match later("l", self.lines.len()) {
            Some(name) => ["NEWLINE", "INDENT", &name, "DEDENT"].map(str::to_owned).to_vec(),
            None => vec![newline.clone()],
        };
        match number {
            0..=4 => vec![word, newline],
            5..=7 => vec![inline, newline],
            8..=9 => [bracketed(inline), vec![newline]].concat(),
            10..=15 => [vec![word], block].concat(),
            16..=21 => later("l", self.lines.len()).into_iter().collect(),
            22 => vec![word],
            _ => block,
        }
    }

    fn word(&self, number: usize) -> String {
        format!("T{}", number % self.words.len())
    }

    fn terminals(&self) -> Vec<Terminal> {
        let terminal = |name: String, pattern: &str, ignored| Terminal {
            name,
            pattern: pattern.to_owned(),
            raised: false,
            ignored,
        };
        let words = self.words.iter().enumerate();
        let words = words.map(|(number, &word)| terminal(format!("T{number}"), WORDS[word], false));
        let brackets = [("OPEN", "\"(\""), ("CLOSE", "\")\"")].map(|(name, pattern)| {
            let used = self.brackets;
            used.then(|| terminal(name.to_owned(), pattern, false))
        });
        let newline = terminal("NEWLINE".to_owned(), NEWLINES[self.newline], false);
        let join = self.join.then(|| terminal("JOIN".to_owned(), JOIN, true));
        let blanks = terminal("BLANKS".to_owned(), BLANKS[self.blanks], true);
        let ignored = self.ignored.iter().enumerate();
        let ignored = ignored.map(|(number, &i)| terminal(format!("I{number}"), IGNORED[i], true));
        let fixed = brackets.into_iter().flatten().chain([newline]).chain(join).chain([blanks]);
        words.chain(fixed).chain(ignored).collect()
    }

    fn directive(&self, brackets: bool) -> String {
        let mut directive = "NEWLINE INDENT DEDENT".to_owned();
        let clauses = [
            brackets.then(|| "open OPEN close CLOSE".to_owned()),
            self.join.then(|| "join JOIN".to_owned()),
            self.tab.map(|tab| format!("tab {tab}")),
            self.levels.map(|levels| format!("levels {levels}")),
        ];
        clauses.into_iter().flatten().for_each(|clause| directive.push_str(&format!(" {clause}")));
        directive
    }

    /// Returns the relations between existing words, one for each word.
    fn relations(&self, terminals: &[Terminal]) -> Vec<Relation> {
        let mut relations: Vec<Relation> = Vec::new();
        for &(kind, word, other) in &self.relations {
            let (word, other) = (self.word(word), self.word(other));
            let exists = |name: &String| terminals.iter().any(|terminal| terminal.name == *name);
            let known = relations.iter().any(|relation| relation.word == word);
            if word != other && exists(&word) && exists(&other) && !known {
                relations.push(Relation {
                    kind: RELATIONS[kind],
                    word,
                    other,
                    after: None,
                    ahead: Vec::new(),
                });
            }
        }
        relations
    }
}

/// Whether the name is one of the words, or a bracket: they are left out if no rule uses them.
fn is_word(name: &str) -> bool {
    name.starts_with('T') || matches!(name, "OPEN" | "CLOSE")
}

fn mentions(rule: &Rule, name: &str) -> bool {
    rule.alternatives
        .iter()
        .any(|alternative| alternative.symbols.iter().any(|symbol| symbol == name))
}

/// Returns the rules that the first one reaches.
fn reachable(rules: Vec<Rule>) -> Vec<Rule> {
    let mut reached = vec!["l0".to_owned()];
    let mut at = 0;
    while let Some(name) = reached.get(at).cloned() {
        let of_rule = rules.iter().filter(|rule| rule.name == name);
        for symbol in
            of_rule.flat_map(|rule| &rule.alternatives).flat_map(|alternative| &alternative.symbols)
        {
            if rules.iter().any(|rule| rule.name == *symbol) && !reached.contains(symbol) {
                reached.push(symbol.clone());
            }
        }
        at += 1;
    }
    rules.into_iter().filter(|rule| reached.contains(&rule.name)).collect()
}
