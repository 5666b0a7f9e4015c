//! A grammar without sugar, and the reader of `oracle.txt`, which is one written out by hand.
//!
//! Lines: `lexer basic|contextual`; `start NAME`; `terminal NAME /regex/ MODIFIERS` in order of
//! rank, best first, with the modifiers `followed /regex/` or `unfollowed /regex/`, then `preceded
//! /regex/` or `unpreceded /regex/` (all these first), `ignored`, `reserved NAME`, `fallback NAME`,
//! `soft NAME`, and, last, `lookahead NAME after A,B before C,D then E` (`after` and `then` may be
//! left out, `then` may come again); `declared NAME`; `exclusive NAME ...`; `indent NEWLINE INDENT
//! DEDENT` and, each if wanted, `open NAME ...`, `close NAME ...`, `join NAME`, `tab N`, `levels
//! N`; `left NAME ...`, `right NAME ...`, `nonassoc NAME ...`, each of which binds tighter than
//! those before it; `conflicts shift`; `priority NAME N` of a nonterminal's productions; `rule NAME
//! -> SYMBOL ... %prec NAME`, one production a line, the last two words if wanted. A name that no
//! `terminal` or `declared` line defines is a nonterminal, or no symbol at all where it has a
//! level. A line that begins with `#` is a comment.

use super::pattern::Pattern;
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
    pub precedence: Option<Precedence>,
    /// What the text behind a lexeme must begin with (`true`), or must not.
    pub trailing: Option<(Pattern, bool)>,
    /// What the text before a lexeme must end with (`true`), or must not: texts of
    /// [`LOOKED_BEHIND`] bytes at most.
    pub leading: Option<(Pattern, bool)>,
}

/// How many bytes before a lexeme a terminal may look at.
pub const LOOKED_BEHIND: usize = 3;

impl Terminal {
    /// Whether a lexeme may stand before `rest`.
    pub fn fits(&self, rest: &[u8]) -> bool {
        self.trailing.as_ref().is_none_or(|(behind, must)| {
            (0..=rest.len()).any(|length| behind.matches(&rest[..length])) == *must
        })
    }

    /// Whether a lexeme may stand behind `before`, of which only the end matters.
    pub fn may_begin(&self, before: &[u8]) -> bool {
        self.leading.as_ref().is_none_or(|(ahead, must)| {
            let nearest = before.len().saturating_sub(LOOKED_BEHIND);
            (nearest..=before.len()).any(|from| ahead.matches(&before[from..])) == *must
        })
    }

    fn new(name: &str, pattern: Option<Pattern>) -> Self {
        Self {
            name: name.to_owned(),
            pattern,
            ignored: false,
            reserved_against: Vec::new(),
            fallback: None,
            exclusive: false,
            lookahead: None,
            precedence: None,
            trailing: None,
            leading: None,
        }
    }
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

/// How tightly a terminal or a production binds, and what equals do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Precedence {
    pub level: usize,
    pub associativity: Associativity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Associativity {
    Left,
    Right,
    Nonassoc,
}

/// What a conflict means that precedence leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// The parser does all of it, side by side.
    Follow,
    /// As Yacc: it shifts; of reductions it does that of the highest priority, and of those the
    /// first.
    Shift,
}

/// `lhs -> rhs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    pub lhs: usize,
    pub rhs: Vec<Symbol>,
    /// As `%prec` says, else that of the last terminal on the right, if that has one.
    pub precedence: Option<Precedence>,
    /// Of all productions of `lhs`; the higher goes before.
    pub priority: i32,
}

/// A grammar without sugar.
#[derive(Clone, Debug)]
pub struct Spec {
    pub lexer: LexerKind,
    /// Best rank first; at most 32.
    pub terminals: Vec<Terminal>,
    pub nonterminals: Vec<String>,
    pub start: usize,
    pub productions: Vec<Production>,
    pub conflicts: Conflicts,
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

impl Spec {
    /// Reads `oracle.txt`.
    ///
    /// # Panics
    /// On any fault: the files are part of the tests.
    pub fn read(text: &str) -> Self {
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
        let mut reader = Reader::new(&lines);
        for line in &lines {
            let (keyword, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            reader.read(keyword, rest.trim());
        }
        reader.finish()
    }

    /// The productions of which a sentence can be made: their symbols all derive something that a
    /// text can give the parser. The others take no part in anything.
    pub fn productive(&self) -> Vec<Production> {
        let mut live: HashSet<Symbol> = self.live_terminals().map(Symbol::Terminal).collect();
        loop {
            let is_live = |p: &&Production| p.rhs.iter().all(|symbol| live.contains(symbol));
            let kept: Vec<Production> = self.productions.iter().filter(is_live).cloned().collect();
            let before = live.len();
            live.extend(kept.iter().map(|production| Symbol::Nonterminal(production.lhs)));
            if live.len() == before {
                return kept;
            }
        }
    }

    /// The terminals that some lexeme can be read as, or the beginning of some line.
    fn live_terminals(&self) -> impl Iterator<Item = usize> {
        let is_word = |t: &Terminal| t.pattern.is_some() && !t.ignored;
        let others = self
            .terminals
            .iter()
            .filter(|t| is_word(t))
            .filter_map(|t| Some(t.lookahead.as_ref()?.other));
        let of_lines = self.indentation.iter().flat_map(|rules| [rules.indent, rules.dedent]);
        let without_text: Vec<usize> =
            others.filter(|&other| !self.terminals[other].ignored).chain(of_lines).collect();
        let live = move |&(number, terminal): &(usize, &Terminal)| {
            is_word(terminal) || without_text.contains(&number)
        };
        self.terminals.iter().enumerate().filter(live).map(|(number, _)| number)
    }
}

/// What has been read of an `oracle.txt`.
#[derive(Debug)]
struct Reader<'t> {
    /// Of each terminal its number, from a first reading.
    numbers: HashMap<&'t str, usize>,
    lexer: LexerKind,
    terminals: Vec<Terminal>,
    nonterminals: Vec<String>,
    start: Option<usize>,
    /// With the name behind `%prec`.
    productions: Vec<(Production, Option<&'t str>)>,
    priorities: Vec<(usize, i32)>,
    /// Of each name with a level.
    levels: HashMap<&'t str, Precedence>,
    level: usize,
    exclusive: Vec<usize>,
    conflicts: Conflicts,
    indentation: Option<Indentation>,
}

impl<'t> Reader<'t> {
    fn new(lines: &[&'t str]) -> Self {
        let mut numbers = HashMap::new();
        for line in lines {
            let mut words = line.split_whitespace();
            if matches!(words.next(), Some("terminal" | "declared")) {
                let name = words.next().unwrap();
                assert!(numbers.insert(name, numbers.len()).is_none(), "{name} defined twice");
            }
        }
        assert!(numbers.len() <= 32);
        Self {
            numbers,
            lexer: LexerKind::Contextual,
            terminals: Vec::new(),
            nonterminals: Vec::new(),
            start: None,
            productions: Vec::new(),
            priorities: Vec::new(),
            levels: HashMap::new(),
            level: 0,
            exclusive: Vec::new(),
            conflicts: Conflicts::Follow,
            indentation: None,
        }
    }

    fn read(&mut self, keyword: &str, rest: &'t str) {
        match keyword {
            "lexer" if rest == "basic" => self.lexer = LexerKind::Basic,
            "lexer" if rest == "contextual" => self.lexer = LexerKind::Contextual,
            "start" => self.start = Some(self.nonterminal(rest)),
            "declared" => self.terminals.push(Terminal::new(rest, None)),
            "indent" => self.indentation = Some(self.indentation(rest)),
            "terminal" => self.terminals.push(self.terminal(rest)),
            "rule" => self.rule(rest),
            "exclusive" => {
                self.exclusive.extend(rest.split_whitespace().map(|name| self.numbers[name]));
            }
            "conflicts" if rest == "shift" => self.conflicts = Conflicts::Shift,
            "left" => self.level(Associativity::Left, rest),
            "right" => self.level(Associativity::Right, rest),
            "nonassoc" => self.level(Associativity::Nonassoc, rest),
            "priority" => {
                let (name, priority) = rest.split_once(' ').unwrap_or_else(|| panic!("{rest}"));
                let nonterminal = self.nonterminal(name);
                self.priorities.push((nonterminal, priority.trim().parse().unwrap()));
            }
            _ => panic!("{keyword} {rest}"),
        }
    }

    fn nonterminal(&mut self, name: &str) -> usize {
        self.nonterminals.iter().position(|n| n == name).unwrap_or_else(|| {
            self.nonterminals.push(name.to_owned());
            self.nonterminals.len() - 1
        })
    }

    fn level(&mut self, associativity: Associativity, names: &'t str) {
        self.level += 1;
        let precedence = Precedence { level: self.level, associativity };
        for name in names.split_whitespace() {
            assert!(self.levels.insert(name, precedence).is_none(), "{name} has two levels");
        }
    }

    fn rule(&mut self, line: &'t str) {
        let (lhs, rhs) = line.split_once("->").unwrap_or_else(|| panic!("{line}"));
        let (rhs, level) = match rhs.split_once("%prec") {
            Some((rhs, name)) => (rhs, Some(name.trim())),
            None => (rhs, None),
        };
        let lhs = self.nonterminal(lhs.trim());
        let symbol = |name| match self.numbers.get(name) {
            Some(&terminal) => Symbol::Terminal(terminal),
            None => Symbol::Nonterminal(self.nonterminal(name)),
        };
        let rhs = rhs.split_whitespace().map(symbol).collect();
        let rule = (Production { lhs, rhs, precedence: None, priority: 0 }, level);
        // An alternative that stands twice is one, and in no conflict with itself.
        if !self.productions.contains(&rule) {
            self.productions.push(rule);
        }
    }

    fn indentation(&self, line: &str) -> Indentation {
        let mut words = line.split_whitespace();
        let mut name = || self.numbers[words.next().unwrap_or_else(|| panic!("{line}"))];
        let (newline, indent, dedent) = (name(), name(), name());
        let mut read = Indentation { newline, indent, dedent, tab: 8, ..Indentation::default() };
        let mut clause = "";
        for word in words {
            match clause {
                _ if matches!(word, "open" | "close" | "join" | "tab" | "levels") => clause = word,
                "open" => read.open.push(self.numbers[word]),
                "close" => read.close.push(self.numbers[word]),
                "join" => read.join = Some(self.numbers[word]),
                "tab" => read.tab = word.parse().unwrap(),
                "levels" => read.levels = Some(word.parse().unwrap()),
                _ => panic!("{line}"),
            }
        }
        read
    }

    fn terminal(&self, line: &str) -> Terminal {
        let (name, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let rest = rest.trim();
        let (mut rest, modifiers) = rest.split_at(rest.rfind('/').unwrap() + 1);
        let mut around = |words: [&str; 2]| {
            let (at, word) = words.into_iter().find_map(|word| Some((rest.find(word)?, word)))?;
            let looked_for = rest[at + word.len()..].strip_suffix('/').unwrap();
            rest = &rest[..at + 1];
            Some((Pattern::new(looked_for), word == words[0]))
        };
        let leading = around(["/ preceded /", "/ unpreceded /"]);
        let trailing = around(["/ followed /", "/ unfollowed /"]);
        let regex = rest.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let pattern = Pattern::new(regex.unwrap_or_else(|| panic!("{line}")));
        let reaches = leading.as_ref().is_none_or(|(ahead, _)| ahead.is_at_most(LOOKED_BEHIND));
        assert!(reaches, "{line}");
        let mut terminal = Terminal { leading, trailing, ..Terminal::new(name, Some(pattern)) };
        let list =
            |names: &str| names.split(',').map(|name| self.numbers[name]).collect::<Vec<_>>();
        let mut words = modifiers.split_whitespace();
        while let Some(word) = words.next() {
            if word == "ignored" {
                terminal.ignored = true;
                continue;
            }
            let operand = words.next().unwrap_or_else(|| panic!("{line}"));
            match (word, &mut terminal.lookahead) {
                ("after", Some(lookahead)) => lookahead.after = Some(list(operand)),
                ("before" | "then", Some(lookahead)) => lookahead.ahead.push(list(operand)),
                ("lookahead", none) => {
                    *none = Some(Lookahead {
                        other: self.numbers[operand],
                        after: None,
                        ahead: Vec::new(),
                    });
                }
                ("reserved", _) => terminal.reserved_against.push(self.numbers[operand]),
                ("fallback" | "soft", _) => {
                    let other = self.numbers[operand];
                    terminal.fallback = Some(Fallback { terminal: other, soft: word == "soft" });
                }
                _ => panic!("{line}"),
            }
        }
        terminal
    }

    fn finish(mut self) -> Spec {
        for &terminal in &self.exclusive {
            self.terminals[terminal].exclusive = true;
        }
        for terminal in &mut self.terminals {
            terminal.precedence = self.levels.get(terminal.name.as_str()).copied();
        }
        for (production, level) in &mut self.productions {
            let last = production.rhs.iter().rev().find_map(|symbol| match symbol {
                Symbol::Terminal(terminal) => Some(*terminal),
                Symbol::Nonterminal(_) => None,
            });
            let own = last.and_then(|terminal| self.terminals[terminal].precedence);
            production.precedence = level.map_or(own, |name| Some(self.levels[name]));
            let priorities =
                self.priorities.iter().filter(|(nonterminal, _)| *nonterminal == production.lhs);
            production.priority = priorities.map(|(_, priority)| *priority).sum();
        }
        Spec {
            lexer: self.lexer,
            terminals: self.terminals,
            nonterminals: self.nonterminals,
            start: self.start.expect("a start line"),
            productions: self.productions.into_iter().map(|(production, _)| production).collect(),
            conflicts: self.conflicts,
            indentation: self.indentation,
        }
    }
}
