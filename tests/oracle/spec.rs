//! A grammar without sugar, and the reader of `oracle.txt`, which is one written out by hand.
//!
//! Lines: `lexer basic|contextual`; `start NAME`; `terminal NAME /regex/ MODIFIERS` in order of rank, best
//! first, with the modifiers `ignored`, `reserved NAME`, `fallback NAME`, `soft NAME`, and, last,
//! `lookahead NAME after A,B before C,D then E` (`after` and `then` may be left out, `then` may come again);
//! `declared NAME`; `exclusive NAME ...`;
//! `indent NEWLINE INDENT DEDENT` and, each if wanted, `open NAME ...`, `close NAME ...`, `join NAME`, `tab N`,
//! `levels N`; `rule NAME -> SYMBOL ...`, one production a line. A name that no `terminal` or `declared` line defines is
//! a nonterminal. A line that begins with `#` is a comment.

use regex::bytes::Regex;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::{Anchored, MatchKind, util::primitives::StateID, util::start};
use std::collections::{HashMap, HashSet};

/// Which terminals compete where a lexeme starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexerKind {
    Basic,
    Contextual,
}

impl LexerKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Contextual => "contextual",
        }
    }
}

/// A terminal; its rank is its position in [`Spec::terminals`].
#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: String,
    /// `None` for a declared one, which no text matches.
    pub pattern: Option<Pattern>,
    pub ignored: bool,
    pub reserved_against: Vec<usize>,
    pub fallback: Option<Fallback>,
    pub exclusive: bool,
    pub lookahead: Option<Lookahead>,
}

/// A second reading: instead of the word where it cannot stand, or beside it when `soft`.
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    pub terminal: usize,
    pub soft: bool,
}

/// What must stand around a word that it is itself; elsewhere it is another terminal.
#[derive(Clone, Debug)]
pub struct Lookahead {
    pub other: usize,
    /// What the lexeme before must have been read as.
    pub after: Option<Vec<usize>>,
    /// What the lexemes behind it must be, one list each.
    pub ahead: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    Terminal(usize),
    Nonterminal(usize),
}

/// A grammar without sugar.
#[derive(Clone, Debug)]
pub struct Spec {
    pub lexer: LexerKind,
    /// Best rank first; at most 32.
    pub terminals: Vec<Terminal>,
    pub nonterminals: Vec<String>,
    pub start: usize,
    pub productions: Vec<(usize, Vec<Symbol>)>,
    pub indentation: Option<Indentation>,
}

/// What the beginnings and ends of lines mean.
#[derive(Clone, Debug, Default)]
pub struct Indentation {
    pub newline: usize,
    pub indent: usize,
    pub dedent: usize,
    pub open: Vec<usize>,
    pub close: Vec<usize>,
    pub join: Option<usize>,
    pub tab: usize,
    pub levels: Option<usize>,
}

/// A terminal's regular expression, to be asked two things: is this a lexeme, could this become one.
#[derive(Clone, Debug)]
pub struct Pattern {
    full: Regex,
    dfa: dense::DFA<Vec<u32>>,
    /// The states from which one byte or more lead to a match.
    extensible: HashSet<StateID>,
}

impl Pattern {
    pub fn new(regex: &str) -> Self {
        let full = Regex::new(&format!("^(?:{regex})$")).unwrap_or_else(|e| panic!("{regex}: {e}"));
        let config = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(regex_automata::dfa::StartKind::Anchored);
        let dfa = dense::Builder::new().configure(config).build(&format!("(?:{regex})")).unwrap();
        let extensible = extensible_states(&dfa);
        Self { full, dfa, extensible }
    }

    pub fn matches(&self, lexeme: &[u8]) -> bool {
        self.full.is_match(lexeme)
    }

    /// Whether `lexeme` with at least one more byte may match. Only used to cut searches short.
    pub fn may_extend(&self, lexeme: &[u8]) -> bool {
        let mut state = initial(&self.dfa);
        for &byte in lexeme {
            state = self.dfa.next_state(state, byte);
        }
        self.extensible.contains(&state)
    }
}

fn initial(dfa: &dense::DFA<Vec<u32>>) -> StateID {
    dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).unwrap()
}

fn extensible_states(dfa: &dense::DFA<Vec<u32>>) -> HashSet<StateID> {
    let mut states = vec![initial(dfa)];
    let mut seen: HashSet<StateID> = states.iter().copied().collect();
    let mut at = 0;
    while at < states.len() {
        for byte in 0..=255 {
            let next = dfa.next_state(states[at], byte);
            if seen.insert(next) {
                states.push(next);
            }
        }
        at += 1;
    }
    let mut live: HashSet<StateID> =
        states.iter().copied().filter(|&s| dfa.is_match_state(dfa.next_eoi_state(s))).collect();
    loop {
        let into_live = |s: &StateID| (0..=255).any(|byte| live.contains(&dfa.next_state(*s, byte)));
        let extensible: HashSet<StateID> = states.iter().copied().filter(into_live).collect();
        let before = live.len();
        live.extend(&extensible);
        if live.len() == before {
            return extensible;
        }
    }
}

impl Spec {
    /// Reads `oracle.txt`.
    ///
    /// # Panics
    /// On any fault: the files are part of the tests.
    pub fn read(text: &str) -> Self {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
        let mut terminals = Vec::new();
        let mut names = HashMap::new();
        for line in &lines {
            let mut words = line.split_whitespace();
            if matches!(words.next(), Some("terminal" | "declared")) {
                let name = words.next().unwrap();
                assert!(names.insert(name, names.len()).is_none(), "{name} defined twice");
            }
        }
        assert!(names.len() <= 32);
        let mut lexer = LexerKind::Contextual;
        let mut start = None;
        let mut nonterminals: Vec<String> = Vec::new();
        let mut nonterminal = |name: &str| {
            nonterminals.iter().position(|n| n == name).unwrap_or_else(|| {
                nonterminals.push(name.to_owned());
                nonterminals.len() - 1
            })
        };
        let mut productions = Vec::new();
        let mut exclusive = Vec::new();
        let mut indentation = None;
        for line in &lines {
            let (keyword, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            let rest = rest.trim();
            match keyword {
                "lexer" if rest == "basic" => lexer = LexerKind::Basic,
                "lexer" if rest == "contextual" => lexer = LexerKind::Contextual,
                "start" => start = Some(nonterminal(rest)),
                "declared" => terminals.push(Terminal {
                    name: rest.to_owned(),
                    pattern: None,
                    ignored: false,
                    reserved_against: Vec::new(),
                    fallback: None,
                    exclusive: false,
                    lookahead: None,
                }),
                "indent" => indentation = Some(read_indentation(rest, &names)),
                "terminal" => terminals.push(read_terminal(rest, &names)),
                "rule" => {
                    let (lhs, rhs) = rest.split_once("->").unwrap_or_else(|| panic!("{line}"));
                    let lhs = nonterminal(lhs.trim());
                    let rhs = rhs
                        .split_whitespace()
                        .map(|name| match names.get(name) {
                            Some(&terminal) => Symbol::Terminal(terminal),
                            None => Symbol::Nonterminal(nonterminal(name)),
                        })
                        .collect();
                    productions.push((lhs, rhs));
                }
                "exclusive" => exclusive.extend(rest.split_whitespace().map(|name| names[name])),
                _ => panic!("{line}"),
            }
        }
        for terminal in exclusive {
            terminals[terminal].exclusive = true;
        }
        let start = start.expect("a start line");
        Self { lexer, terminals, nonterminals, start, productions, indentation }
    }
}

fn read_indentation(line: &str, names: &HashMap<&str, usize>) -> Indentation {
    let mut words = line.split_whitespace();
    let mut name = || names[words.next().unwrap_or_else(|| panic!("{line}"))];
    let (newline, indent, dedent) = (name(), name(), name());
    let mut read = Indentation { newline, indent, dedent, tab: 8, ..Indentation::default() };
    let mut clause = "";
    for word in words {
        match clause {
            _ if matches!(word, "open" | "close" | "join" | "tab" | "levels") => clause = word,
            "open" => read.open.push(names[word]),
            "close" => read.close.push(names[word]),
            "join" => read.join = Some(names[word]),
            "tab" => read.tab = word.parse().unwrap(),
            "levels" => read.levels = Some(word.parse().unwrap()),
            _ => panic!("{line}"),
        }
    }
    read
}

fn read_terminal(line: &str, names: &HashMap<&str, usize>) -> Terminal {
    let (name, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
    let rest = rest.trim();
    let end = rest.rfind('/').unwrap();
    let regex = rest[..end].strip_prefix('/').unwrap_or_else(|| panic!("{line}"));
    let mut terminal = Terminal {
        name: name.to_owned(),
        pattern: Some(Pattern::new(regex)),
        ignored: false,
        reserved_against: Vec::new(),
        fallback: None,
        exclusive: false,
        lookahead: None,
    };
    let list = |names_of_list: &str| names_of_list.split(',').map(|name| names[name]).collect::<Vec<_>>();
    let mut words = rest[end + 1..].split_whitespace();
    while let Some(word) = words.next() {
        if word == "ignored" {
            terminal.ignored = true;
            continue;
        }
        let operand = words.next().unwrap_or_else(|| panic!("{line}"));
        if let ("after" | "before" | "then", Some(lookahead)) = (word, &mut terminal.lookahead) {
            match word {
                "after" => lookahead.after = Some(list(operand)),
                _ => lookahead.ahead.push(list(operand)),
            }
            continue;
        }
        let other = names[operand];
        match word {
            "lookahead" => {
                terminal.lookahead = Some(Lookahead { other, after: None, ahead: Vec::new() });
            }
            "reserved" => terminal.reserved_against.push(other),
            "fallback" => terminal.fallback = Some(Fallback { terminal: other, soft: false }),
            "soft" => terminal.fallback = Some(Fallback { terminal: other, soft: true }),
            _ => panic!("{line}"),
        }
    }
    terminal
}
