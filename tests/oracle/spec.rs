//! A grammar without sugar, and the reader of `oracle.txt`, its hand-written form.
//!
//! Lines: `lexer basic|contextual`; `start NAME`; `terminal NAME /regex/ MODIFIERS` in order of
//! rank, best first, with the modifiers `followed /regex/` or `unfollowed /regex/`, then
//! `preceded /regex/` or `unpreceded /regex/` (all these first), `ignored`, `reserved NAME`,
//! `fallback NAME`, `soft NAME`, `priority N`, and, last,
//! `lookahead NAME after A,B before C,D then E` (`after` and `then` are optional, `then` may be
//! repeated); `declared NAME`; `exclusive NAME ...`; `indent NEWLINE INDENT DEDENT` and,
//! optionally, `open NAME ...`, `close NAME ...`, `join NAME`, `tab N`, `levels N`;
//! `left NAME ...`, `right NAME ...`, `nonassoc NAME ...`, each of which binds tighter than those
//! before it; `match priority` or `match all`; `also NAME ...`, further start symbols, whose words
//! compete as well; `conflicts shift`; `priority NAME N` of a nonterminal's productions;
//! `rule NAME -> SYMBOL ... %prec NAME`, one production per line, with the last two words optional.
//! A name that no `terminal` or `declared` line defines is a nonterminal, or is not a symbol if it
//! has a level. A line that begins with `#` is a comment.

use super::pattern::Pattern;
use std::collections::{HashMap, HashSet};

/// The set of terminals that compete where a lexeme starts.
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

/// The rule that selects the lexeme among the matches of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The longest match; the terminal of best rank.
    Longest,
    /// The longest match of the highest priority.
    Priority,
    /// The longest match; all terminals that match it.
    All,
}

/// A terminal; its rank is its position in [`Spec::terminals`].
#[derive(Clone, Debug)]
pub struct Terminal {
    pub name: String,
    /// `None` for a declared terminal, which no text matches.
    pub pattern: Option<Pattern>,
    pub ignored: bool,
    pub reserved_against: Vec<usize>,
    pub fallback: Option<Fallback>,
    pub exclusive: bool,
    pub lookahead: Option<Lookahead>,
    pub precedence: Option<Precedence>,
    pub priority: i32,
    /// A pattern that the text after a lexeme must (`true`) or must not begin with.
    pub trailing: Option<(Pattern, bool)>,
    /// A pattern that the text before a lexeme must (`true`) or must not end with; it matches at
    /// most [`LOOKED_BEHIND`] bytes.
    pub leading: Option<(Pattern, bool)>,
}

/// Number of bytes before a lexeme that a terminal may look at.
pub const LOOKED_BEHIND: usize = 3;

impl Terminal {
    /// Whether a lexeme may be followed by `rest`.
    pub fn fits(&self, rest: &[u8]) -> bool {
        self.trailing.as_ref().is_none_or(|(behind, must)| {
            (0..=rest.len()).any(|length| behind.matches(&rest[..length])) == *must
        })
    }

    /// Whether a lexeme may come after `before`, of which only the end matters.
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
            priority: 0,
            trailing: None,
            leading: None,
        }
    }
}

/// A second reading: instead of the word where the word is not accepted, or in addition to it if
/// `soft`.
#[derive(Clone, Copy, Debug)]
pub struct Fallback {
    pub terminal: usize,
    pub soft: bool,
}

/// The context in which a word is itself; elsewhere it is another terminal.
#[derive(Clone, Debug)]
pub struct Lookahead {
    pub other: usize,
    /// The possible terminals of the lexeme before it.
    pub after: Option<Vec<usize>>,
    /// The possible terminals of the lexemes after it, one list each.
    pub ahead: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    Terminal(usize),
    Nonterminal(usize),
}

/// The binding strength of a terminal or a production, and the rule for equals.
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

/// The treatment of conflicts that precedence leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflicts {
    /// The parser performs all actions, in parallel.
    Follow,
    /// As in Yacc: the parser shifts; among reductions it performs that of the highest priority,
    /// and among those the first.
    Shift,
}

/// `lhs -> rhs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Production {
    pub lhs: usize,
    pub rhs: Vec<Symbol>,
    /// Set by `%prec`, otherwise that of the last terminal on the right-hand side, if that has one.
    pub precedence: Option<Precedence>,
    /// Applies to all productions of `lhs`; the higher one takes precedence.
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
    pub matching: Matching,
    /// Other start symbols, which a text may use elsewhere.
    pub also: Vec<usize>,
    pub conflicts: Conflicts,
    pub indentation: Option<Indentation>,
}

/// The terminals and rules of indentation.
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

    /// Returns the productive productions: all their symbols derive a text that the parser can get.
    /// The others have no effect.
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

    /// Returns the terminals that compete everywhere under the basic lexer: all except those that
    /// occur only in unused productions, which no start symbol reaches or which derive nothing.
    pub fn competing(&self) -> u32 {
        let productive = self.productive();
        let mut reached: HashSet<usize> = self.also.iter().copied().chain([self.start]).collect();
        let mut size = 0;
        while size < reached.len() {
            size = reached.len();
            for production in &productive {
                if reached.contains(&production.lhs) {
                    reached.extend(production.rhs.iter().filter_map(|symbol| match symbol {
                        Symbol::Nonterminal(nonterminal) => Some(*nonterminal),
                        Symbol::Terminal(_) => None,
                    }));
                }
            }
        }
        let stands_in = |terminal: usize, productions: &[Production], all: bool| {
            let live = productions.iter().filter(|p| all || reached.contains(&p.lhs));
            live.flat_map(|p| &p.rhs).any(|&symbol| symbol == Symbol::Terminal(terminal))
        };
        let of_lines = self.indentation.iter().flat_map(|rules| {
            [rules.newline, rules.indent, rules.dedent].into_iter().chain(rules.join)
        });
        let of_lines: Vec<usize> = of_lines.collect();
        let is_in = |&(t, terminal): &(usize, &Terminal)| {
            terminal.ignored
                || of_lines.contains(&t)
                || stands_in(t, &productive, false)
                || !stands_in(t, &self.productions, true)
        };
        let set = |terminals: Vec<usize>| terminals.into_iter().fold(0u32, |set, t| set | 1 << t);
        let all = || self.terminals.iter().enumerate();
        let own = set(all().filter(is_in).map(|(t, _)| t).collect());
        let is_drawn_in = |&(t, terminal): &(usize, &Terminal)| {
            let decided = terminal.lookahead.as_ref().map(|lookahead| lookahead.other);
            let mut others = terminal.reserved_against.iter().copied().chain(decided);
            let is_other = |(word, other): (usize, &Terminal)| {
                own & 1 << word != 0 && other.lookahead.as_ref().is_some_and(|l| l.other == t)
            };
            others.any(|other| own & 1 << other != 0) || all().any(is_other)
        };
        own | set(all().filter(is_drawn_in).map(|(t, _)| t).collect())
    }

    /// Returns the terminals whose lexemes are also every other such terminal that matches them,
    /// under `match all`: those that are not ignored, have no look-around, and occur in no
    /// directive.
    pub fn are_all_meant(&self) -> u32 {
        let mut told = 0u32;
        for (t, terminal) in self.terminals.iter().enumerate() {
            let looked = terminal.lookahead.iter().flat_map(|lookahead| {
                let lists = lookahead.after.iter().chain(&lookahead.ahead).flatten().copied();
                lists.chain([lookahead.other])
            });
            let fallback = terminal.fallback.map(|fallback| fallback.terminal);
            let others = looked.chain(fallback).chain(terminal.reserved_against.iter().copied());
            told = others.fold(told, |told, other| told | 1 << t | 1 << other);
            let looks_around = terminal.trailing.is_some() || terminal.leading.is_some();
            let is_apart = terminal.exclusive || terminal.ignored || looks_around;
            told |= u32::from(is_apart || self.matching != Matching::All) << t;
        }
        !told
    }

    /// Returns the terminals that some lexeme can be read as, or that the beginning of a line can
    /// be.
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

/// The contents of an `oracle.txt` read so far.
#[derive(Debug)]
struct Reader<'t> {
    /// The number of each terminal, from a first pass.
    numbers: HashMap<&'t str, usize>,
    lexer: LexerKind,
    terminals: Vec<Terminal>,
    nonterminals: Vec<String>,
    start: Option<usize>,
    /// With the argument of `%prec`.
    productions: Vec<(Production, Option<&'t str>)>,
    priorities: Vec<(usize, i32)>,
    /// The level of each name that has one.
    levels: HashMap<&'t str, Precedence>,
    level: usize,
    exclusive: Vec<usize>,
    matching: Matching,
    also: Vec<usize>,
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
            matching: Matching::Longest,
            also: Vec::new(),
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
            "match" if rest == "priority" => self.matching = Matching::Priority,
            "match" if rest == "all" => self.matching = Matching::All,
            "also" => {
                let also: Vec<usize> =
                    rest.split_whitespace().map(|name| self.nonterminal(name)).collect();
                self.also = also;
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
        // A repeated alternative counts once, and does not conflict with itself.
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
                ("priority", _) => terminal.priority = operand.parse().unwrap(),
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
            matching: self.matching,
            also: self.also,
            conflicts: self.conflicts,
            indentation: self.indentation,
        }
    }
}
