//! Listens to a text: which rules and terminals begin and end in it, and its parse tree.
//!
//! Masks keep no trees, so a listener reads the text once more, as captures do, and parses the
//! lexemes that all readings agree on ([`crate::lr::parse`]). A matcher without a listener pays
//! nothing.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::lexed::{Lexeme, Reading};
use super::tree::{ParseTree, TreeNode};
use crate::index::Index;
use crate::lr::parse::{Symbol, TreeParser};
use crate::scanner::Reads;
use crate::util::id::TokenId;

/// Something that began or ended in a text. Spans are in bytes of the text, where special tokens
/// have none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseEvent {
    /// A rule has certainly begun.
    Began {
        /// The name of the rule.
        rule: String,
        /// The offset of its first byte.
        start: usize,
    },
    /// A rule or a terminal has certainly ended.
    Ended {
        /// The name in the grammar; a literal in quotes.
        name: String,
        /// Whether it is a terminal.
        is_terminal: bool,
        /// Its bytes.
        span: Range<usize>,
    },
}

/// Follows a text and reports what begins and ends in it. Created by
/// [`Constraint::listener`](crate::Constraint::listener).
///
/// Its memory grows with the text, by some hundred bytes for each node of the tree.
#[derive(Clone)]
pub struct Listener {
    index: Arc<Index>,
    readings: Vec<Reading>,
    parser: TreeParser,
    /// Length of the text.
    length: usize,
    /// Number of lexemes that all readings agree on, and which the parser has read.
    agreed: usize,
    /// By tree of the parser: whether its beginning and its end were reported.
    told: Vec<(bool, bool)>,
    /// The rules that were reported to have begun and not to have ended, by ascending start.
    open: Vec<(String, usize)>,
    /// Whether the text is followed no further: it left the language, or is too long.
    is_lost: bool,
}

impl Listener {
    /// Creates a listener before the first byte.
    pub(crate) fn new(index: Arc<Index>) -> Self {
        Self {
            readings: Reading::initial(&index),
            parser: TreeParser::new(index.scanner().table()),
            index,
            length: 0,
            agreed: 0,
            told: Vec::new(),
            open: Vec::new(),
            is_lost: false,
        }
    }

    /// Reads a token of the text, and returns what has become certain. A stop token, and a token
    /// that the grammar does not allow, are no text: nothing more is reported after the latter.
    pub fn read(&mut self, token: impl Into<TokenId>) -> Vec<ParseEvent> {
        let token = token.into();
        let index = self.index.clone();
        let spellings: SmallVec<[&[u8]; 1]> = index.spelled().spellings(token).collect();
        if spellings.is_empty() {
            return Vec::new();
        }
        let length = index.vocabulary().bytes(token).map_or(0, <[u8]>::len);
        self.read_spellings(&spellings, length)
    }

    /// Reads bytes of the text, and returns what has become certain.
    pub fn read_bytes(&mut self, bytes: &[u8]) -> Vec<ParseEvent> {
        self.read_spellings(&[bytes], bytes.len())
    }

    fn read_spellings(&mut self, spellings: &[&[u8]], length: usize) -> Vec<ParseEvent> {
        if self.is_lost {
            return Vec::new();
        }
        let mut next = Vec::new();
        for spelling in spellings {
            Reading::follow(&self.readings, spelling, self.length, &mut next, &self.index);
        }
        self.length += length;
        if length > 0 && self.index.scanner().has_budgets() {
            next = Reading::end_step(&next, self.length, &self.index);
        }
        next.truncate(self.index.scanner().bounds().readings);
        self.readings = next;
        self.is_lost = self.readings.is_empty();
        let mut events = Vec::new();
        for lexeme in self.take_agreed() {
            self.parse(&lexeme, &mut events);
        }
        events
    }

    /// Ends the text. Returns what has become certain, and the parse tree; `None` for a text that
    /// is not a sentence, and for one that takes more than eight million steps to parse.
    ///
    /// If the text has several parses, precedence and `%conflicts` of the grammar decide. Where
    /// they do not, the tree is the one that shifts where it can: an `else` belongs to the inner
    /// `if`. If it has several readings as lexemes, the first one counts.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, ParseEvent, Vocabulary};
    ///
    /// let grammar = Grammar::from_lark("start: pair (\",\" pair)*\npair: /[a-z]/ \"=\" /[0-9]+/")?;
    /// let mut listener = Constraint::new(&grammar, &Vocabulary::single_bytes())?.listener();
    /// let events = listener.read_bytes(b"a=1");
    /// assert!(events.contains(&ParseEvent::Began { rule: "pair".to_owned(), start: 0 }));
    /// listener.read_bytes(b",b=23");
    /// let (_, tree) = listener.finish();
    /// let tree = tree.expect("it is a sentence");
    /// assert_eq!(
    ///     tree.nodes().iter().map(|node| (&node.name[..], node.depth)).collect::<Vec<_>>(),
    ///     [
    ///         ("start", 0),
    ///         ("pair", 1), ("/[a-z]/", 2), ("\"=\"", 2), ("/[0-9]+/", 2),
    ///         ("\",\"", 1),
    ///         ("pair", 1), ("/[a-z]/", 2), ("\"=\"", 2), ("/[0-9]+/", 2),
    ///     ]
    /// );
    /// assert_eq!(tree.nodes()[6].span, 4..8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(mut self) -> (Vec<ParseEvent>, Option<ParseTree>) {
        let mut events = Vec::new();
        let tree = self.parse_end(&mut events);
        if let Some(tree) = tree {
            self.report(tree, &mut events);
        }
        (events, tree.map(|tree| self.flat(tree)))
    }

    /// Parses the rest of the first reading that is a sentence, and returns its tree.
    fn parse_end(&mut self, events: &mut Vec<ParseEvent>) -> Option<u32> {
        let index = self.index.clone();
        let scanner = index.scanner();
        let (rest, end) = self.readings.iter().find_map(|reading| {
            let mut rest = reading.lexemes_from(self.agreed);
            if reading.between {
                let is_whole = scanner.is_complete_between(&reading.at, &mut Reads::none());
                return is_whole.then(|| (rest, reading.at.layout.clone()));
            }
            let (label, after) = scanner.last_label(&reading.at)?;
            let mut last = reading.last_lexeme(label, self.length);
            if let Some(mut given) = scanner.given_before(&reading.at.layout, label) {
                given.push(after.stack.last_terminal(scanner.table()).unwrap_or(label));
                last.given = given;
            }
            rest.push(last);
            Some((rest, after.layout))
        })?;
        rest.iter().for_each(|lexeme| self.parse(lexeme, events));
        for terminal in scanner.given_at_end(&end) {
            self.parser.shift(scanner.table(), terminal, self.length..self.length)?;
        }
        if self.is_lost { None } else { self.parser.finish(scanner.table()) }
    }

    /// Returns a tree without the nodes that were made for repetitions and groups.
    fn flat(&self, root: u32) -> ParseTree {
        let table = self.index.scanner().table();
        let mut nodes = Vec::new();
        let mut pending = vec![(root, 0)];
        while let Some((number, depth)) = pending.pop() {
            let tree = self.parser.tree(number);
            let (name, is_terminal) = match tree.symbol {
                Symbol::Terminal(terminal) => (Some(table.terminal_name(terminal)), true),
                Symbol::Nonterminal(nonterminal) => (table.rule_name(nonterminal), false),
            };
            let inner = depth + usize::from(name.is_some());
            pending.extend(tree.children.iter().rev().map(|&child| (child, inner)));
            if let Some(name) = name {
                let (name, span) = (name.to_owned(), tree.span.clone());
                nodes.push(TreeNode { name, is_terminal, span, depth });
            }
        }
        ParseTree { nodes }
    }

    /// Returns the lexemes that have ended in all readings alike since the last call.
    fn take_agreed(&mut self) -> Vec<Lexeme> {
        let Some((first, others)) = self.readings.split_first() else { return Vec::new() };
        let least = self.readings.iter().map(Reading::count).min().unwrap_or(0);
        if least <= self.agreed {
            return Vec::new();
        }
        let mut agreed = first.lexemes_from(self.agreed);
        for other in others {
            let own = other.lexemes_from(self.agreed);
            let same = agreed.iter().zip(own).take_while(|(one, other)| *one == other).count();
            agreed.truncate(same);
        }
        self.agreed += agreed.len();
        agreed
    }

    /// Parses a lexeme, and reports what has become certain.
    fn parse(&mut self, lexeme: &Lexeme, events: &mut Vec<ParseEvent>) {
        let index = self.index.clone();
        let table = index.scanner().table();
        let Some((&own, before)) = lexeme.given.split_last() else { return };
        let virtual_ones = before.iter().map(|&terminal| (terminal, lexeme.start..lexeme.start));
        for (terminal, span) in virtual_ones.chain([(own, lexeme.start..lexeme.end)]) {
            if self.parser.shift(table, terminal, span.clone()).is_none() {
                self.is_lost = true;
                return;
            }
            for tree in self.parser.take_certain() {
                self.report(tree, events);
            }
            if let Some((rule, start)) = self.parser.begun(table)
                && let Some(rule) = table.rule_name(rule)
                && self.find_open(rule, start).is_none()
            {
                events.push(ParseEvent::Began { rule: rule.to_owned(), start });
                let place = self.open.partition_point(|&(_, other)| other <= start);
                self.open.insert(place, (rule.to_owned(), start));
            }
        }
    }

    /// Returns the place of an open rule that begins here, the innermost if there are several.
    fn find_open(&self, rule: &str, start: usize) -> Option<usize> {
        let end = self.open.partition_point(|&(_, other)| other <= start);
        let here = |&place: &usize| self.open[place].1 == start;
        (0..end).rev().take_while(here).find(|&place| self.open[place].0 == rule)
    }

    /// Reports the ends of a tree and of those within it that were not reported yet.
    fn report(&mut self, tree: u32, events: &mut Vec<ParseEvent>) {
        let index = self.index.clone();
        let table = index.scanner().table();
        let mut pending = vec![(tree, false)];
        while let Some((number, is_left)) = pending.pop() {
            if self.told.len() <= number as usize {
                self.told.resize(number as usize + 1, (false, false));
            }
            let (_, is_told) = self.told[number as usize];
            if is_told {
                continue;
            }
            let tree = self.parser.tree(number);
            if !is_left {
                pending.push((number, true));
                pending.extend(tree.children.iter().rev().map(|&child| (child, false)));
                continue;
            }
            self.told[number as usize].1 = true;
            let span = tree.span.clone();
            match tree.symbol {
                Symbol::Terminal(terminal) => {
                    let name = table.terminal_name(terminal).to_owned();
                    events.push(ParseEvent::Ended { name, is_terminal: true, span });
                }
                Symbol::Nonterminal(nonterminal) => {
                    let Some(rule) = table.rule_name(nonterminal) else { continue };
                    let known = self.find_open(rule, span.start);
                    match known {
                        Some(place) => drop(self.open.remove(place)),
                        None => events
                            .push(ParseEvent::Began { rule: rule.to_owned(), start: span.start }),
                    }
                    let name = rule.to_owned();
                    events.push(ParseEvent::Ended { name, is_terminal: false, span });
                }
            }
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("length", &self.length)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}
