//! Productions and terminals of a schema, which become a grammar or a part of one.

use std::borrow::Cow;
use std::fmt;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::derivable::{self, Ends};
use crate::grammar::ir::{Conflicts, Distinct, Nonterminal, Production, Symbol, Symbols, Terminal};
use crate::grammar::pattern::Pattern;
use crate::grammar::requirement::Requirement;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::lists::Lists;

/// Context-free grammar whose terminals have patterns, with ids of its own, from 0.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    terminals: Vec<Lexemes>,
    /// Ids of terminals, each with the hash of its pattern.
    terminal_ids: HashTable<(u64, TerminalId)>,
    pub(super) nonterminals: Vec<&'static str>,
    pub(super) productions: Vec<(NonterminalId, Symbols)>,
    pub(super) requirements: Vec<Requirement>,
    /// Whether some values have several parallel readings until the text decides.
    pub(super) has_conflicts: bool,
    pub(super) start: NonterminalId,
}

/// Definition of a terminal.
#[derive(Clone, Debug)]
struct Lexemes {
    /// A descriptive word, or the terminal's text as an author would write it.
    name: Cow<'static, str>,
    pattern: Pattern,
    distinct: Option<Distinct>,
    described: Option<Described>,
}

/// Description of a terminal in messages, with its location in the schema if there is only one.
#[derive(Clone, Debug)]
struct Described {
    what: String,
    at: Option<String>,
}

impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.at.iter().try_for_each(|at| write!(f, " (at #{at})"))
    }
}

impl Fragment {
    /// Returns the terminal with this pattern; `name` is a descriptive word, or the terminal's text
    /// as an author would write it.
    pub(super) fn terminal(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        pattern: Pattern,
    ) -> Symbol {
        self.terminal_as(None, name, pattern)
    }

    /// Same as `terminal`, for the lexemes of a list whose items must differ.
    pub(super) fn terminal_as(
        &mut self,
        distinct: Option<Distinct>,
        name: impl Into<Cow<'static, str>>,
        pattern: Pattern,
    ) -> Symbol {
        let hash = FxBuildHasher.hash_one(&pattern);
        let is_same = |&(own, id): &(u64, TerminalId)| {
            let known = &self.terminals[id.index()];
            own == hash && known.pattern == pattern && known.distinct == distinct
        };
        if let Some(&(_, known)) = self.terminal_ids.find(hash, is_same) {
            return Symbol::Terminal(known);
        }
        let id = TerminalId::new(self.terminals.len());
        self.terminals.push(Lexemes { name: name.into(), pattern, distinct, described: None });
        self.terminal_ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        Symbol::Terminal(id)
    }

    /// Returns a terminal that equals another except for its role `distinct` in a list.
    pub(super) fn role(&mut self, like: Symbol, distinct: Distinct) -> Symbol {
        let Symbol::Terminal(id) = like else { return like };
        let Lexemes { name, pattern, .. } = self.terminals[id.index()].clone();
        self.terminal_as(Some(distinct), name, pattern)
    }

    /// Sets the description of a terminal: its meaning `what`, and the pointer to the schema that
    /// asks for it. A terminal with several locations gets none.
    pub(super) fn describe(&mut self, symbol: Symbol, what: String, at: Option<String>) {
        let Symbol::Terminal(id) = symbol else { return };
        match &mut self.terminals[id.index()].described {
            Some(known) if known.at != at => known.at = None,
            Some(_) => {}
            unknown => *unknown = Some(Described { what, at }),
        }
    }

    /// Adds `count` nonterminals and returns the first.
    pub(super) fn nonterminals(&mut self, name: &'static str, count: usize) -> NonterminalId {
        let first = NonterminalId::new(self.nonterminals.len());
        self.nonterminals.resize(first.index() + count, name);
        first
    }

    pub(super) fn production(&mut self, lhs: NonterminalId, rhs: impl IntoIterator<Item = Symbol>) {
        self.productions.push((lhs, rhs.into_iter().collect()));
    }

    /// Removes unproductive and unreachable productions, inlines nonterminals for a single symbol,
    /// and shares ends of productions. Returns whether the start derives something.
    pub(super) fn trim(&mut self) -> bool {
        self.drop_unproductive();
        self.inline();
        self.drop_unreachable();
        self.share_ends();
        self.renumber();
        self.productions.iter().any(|(lhs, _)| *lhs == self.start)
    }

    fn drop_unproductive(&mut self) {
        let productions = self.productions.iter().map(|(lhs, rhs)| (*lhs, &rhs[..]));
        let (count, ends) = (self.nonterminals.len(), Ends::new(&self.requirements));
        let derived = derivable::derivable(count, productions, &self.requirements, |_| true);
        self.productions.retain(|(lhs, rhs)| ends.is_alive((*lhs, rhs), &derived, |_| true));
    }

    /// Replaces a nonterminal by the only symbol of its only production.
    fn inline(&mut self) {
        let mut only: Vec<Option<Symbol>> = vec![None; self.nonterminals.len()];
        let mut counts = vec![0u32; self.nonterminals.len()];
        for (lhs, rhs) in &self.productions {
            counts[lhs.index()] += 1;
            if let [symbol] = rhs[..] {
                only[lhs.index()] = Some(symbol);
            }
        }
        let start = self.start;
        let stands_for = |mut symbol: Symbol| {
            while let Symbol::Nonterminal(part) = symbol {
                match only[part.index()] {
                    Some(next) if counts[part.index()] == 1 && part != start => symbol = next,
                    _ => break,
                }
            }
            symbol
        };
        for (_, rhs) in &mut self.productions {
            rhs.iter_mut().for_each(|symbol| *symbol = stands_for(*symbol));
        }
        self.productions
            .retain(|(lhs, rhs)| *lhs == start || counts[lhs.index()] != 1 || rhs.len() != 1);
    }

    fn drop_unreachable(&mut self) {
        let of: Vec<(u32, u32)> =
            self.productions.iter().zip(0..).map(|((lhs, _), number)| (lhs.0, number)).collect();
        let of = Lists::from_pairs(self.nonterminals.len(), &of);
        let mut reached = vec![false; self.nonterminals.len()];
        reached[self.start.index()] = true;
        let mut pending = vec![self.start];
        while let Some(lhs) = pending.pop() {
            for &number in of.get(lhs.index()) {
                for symbol in &self.productions[number as usize].1 {
                    if let Symbol::Nonterminal(part) = symbol
                        && !std::mem::replace(&mut reached[part.index()], true)
                    {
                        pending.push(*part);
                    }
                }
            }
        }
        self.productions.retain(|(lhs, _)| reached[lhs.index()]);
    }

    /// Replaces the last two symbols of productions, when several end in the same, by a
    /// nonterminal: for example a colon and a value. All members with such a value then continue in
    /// one parse state, and the closure of the value is computed once.
    fn share_ends(&mut self) {
        let end = |rhs: &Symbols| match rhs[..] {
            [_, .., first @ Symbol::Terminal(_), last] => Some([first, last]),
            _ => None,
        };
        let mut counts: FxHashMap<[Symbol; 2], u32> = FxHashMap::default();
        for end in self.productions.iter().filter_map(|(_, rhs)| end(rhs)) {
            *counts.entry(end).or_default() += 1;
        }
        let mut shared: FxHashMap<[Symbol; 2], NonterminalId> = FxHashMap::default();
        for number in 0..self.productions.len() {
            let Some(end) = end(&self.productions[number].1) else { continue };
            if counts.get(&end).is_none_or(|&count| count < 2) {
                continue;
            }
            let name = match shared.get(&end) {
                Some(&known) => known,
                None => {
                    let name = self.nonterminals("end", 1);
                    self.production(name, end);
                    shared.insert(end, name);
                    name
                }
            };
            let rhs = &mut self.productions[number].1;
            rhs.truncate(rhs.len() - end.len());
            rhs.push(Symbol::Nonterminal(name));
        }
    }

    /// Drops terminals and nonterminals that no production uses.
    fn renumber(&mut self) {
        let mut terminals = vec![None; self.terminals.len()];
        let mut nonterminals = vec![None; self.nonterminals.len()];
        let (mut terminal_count, mut nonterminal_count) = (0, 0);
        let mut nonterminal = |id: NonterminalId| {
            *nonterminals[id.index()].get_or_insert_with(|| {
                nonterminal_count += 1;
                NonterminalId::new(nonterminal_count - 1)
            })
        };
        let mut names = Vec::new();
        self.start = nonterminal(self.start);
        for (lhs, rhs) in &mut self.productions {
            *lhs = nonterminal(*lhs);
            for symbol in rhs {
                *symbol = match *symbol {
                    Symbol::Nonterminal(id) => Symbol::Nonterminal(nonterminal(id)),
                    Symbol::Terminal(id) => {
                        Symbol::Terminal(*terminals[id.index()].get_or_insert_with(|| {
                            terminal_count += 1;
                            TerminalId::new(terminal_count - 1)
                        }))
                    }
                };
            }
        }
        for requirement in &mut self.requirements {
            requirement.map(|id| nonterminals[id.index()]);
            let terminal = |id: &mut TerminalId| *id = terminals[id.index()].unwrap_or(*id);
            requirement.separator.iter_mut().for_each(terminal);
            terminal(&mut requirement.open);
        }
        self.requirements.retain(|requirement| !requirement.ends.is_empty());
        names.resize(nonterminal_count, "");
        for (old, new) in nonterminals.iter().enumerate() {
            if let Some(new) = new {
                names[new.index()] = self.nonterminals[old];
            }
        }
        self.nonterminals = names;
        let mut kept: Vec<Option<Lexemes>> = vec![None; terminal_count];
        for (old, terminal) in std::mem::take(&mut self.terminals).into_iter().enumerate() {
            if let Some(new) = terminals[old] {
                kept[new.index()] = Some(terminal);
            }
        }
        self.terminals = kept.into_iter().flatten().collect();
        self.terminal_ids.clear();
    }

    /// Adds the fragment to a grammar and returns the nonterminal that derives the values of the
    /// schema. Terminals equal to one in `made` are shared.
    pub(super) fn embed(&self, grammar: &mut Grammar, made: &mut MadeTerminals) -> NonterminalId {
        let ids: Vec<TerminalId> =
            self.terminals.iter().map(|lexemes| made.terminal(grammar, lexemes)).collect();
        let nonterminals = &mut *grammar.nonterminals;
        let productions = &mut *grammar.productions;
        let first_nonterminal = nonterminals.len();
        // The conflicts are intended, so they are not reported. Schemas inside other grammars keep
        // the declared order and have none.
        if self.has_conflicts {
            grammar.conflicts = Conflicts::Silent;
        }
        let mut named = String::new();
        nonterminals.reserve(self.nonterminals.len());
        for (number, name) in self.nonterminals.iter().enumerate() {
            write_name(&mut named, name, number);
            nonterminals.push(Nonterminal {
                name: named.as_str().into(),
                productions: SmallVec::new(),
                marks: None,
                place: None,
            });
        }
        let nonterminal = |id: NonterminalId| NonterminalId::new(first_nonterminal + id.index());
        productions.reserve(self.productions.len());
        for (lhs, rhs) in &self.productions {
            let lhs = nonterminal(*lhs);
            let symbol = |symbol: &Symbol| match symbol {
                Symbol::Terminal(id) => Symbol::Terminal(ids[id.index()]),
                Symbol::Nonterminal(id) => Symbol::Nonterminal(nonterminal(*id)),
            };
            let production = ProductionId::new(productions.len());
            nonterminals[lhs.index()].productions.push(production);
            let rhs = rhs.iter().map(symbol).collect();
            productions.push(Production { lhs, rhs, precedence: None, priority: 0, place: None });
        }
        let terminal = |id: TerminalId| ids[id.index()];
        grammar.requirements.extend(self.requirements.iter().cloned().map(|mut requirement| {
            requirement.map(|id| Some(nonterminal(id)));
            requirement.separator = requirement.separator.map(terminal);
            requirement.open = terminal(requirement.open);
            requirement
        }));
        nonterminal(self.start)
    }
}

/// Terminals that schemas have added to one grammar. Equal terminals of several schemas are shared:
/// otherwise each schema would have scan states of its own for the same texts.
#[derive(Debug, Default)]
pub(crate) struct MadeTerminals {
    /// Ids of terminals, each with the hash of its pattern.
    ids: HashTable<(u64, TerminalId)>,
    named: String,
}

impl MadeTerminals {
    /// Returns the terminal of a pattern, with a name and a description for messages.
    pub(super) fn plain(
        &mut self,
        grammar: &mut Grammar,
        [name, shown]: [&str; 2],
        pattern: Pattern,
    ) -> Symbol {
        let known = grammar.terminals.len();
        let lexemes =
            Lexemes { name: name.to_owned().into(), pattern, distinct: None, described: None };
        let id = self.terminal(grammar, &lexemes);
        if id.index() == known {
            let terminal = grammar.terminals[known].clone();
            grammar.terminals[known] = terminal.described(shown);
        }
        Symbol::Terminal(id)
    }

    fn terminal(&mut self, grammar: &mut Grammar, lexemes: &Lexemes) -> TerminalId {
        let Lexemes { name, pattern, distinct, described } = lexemes;
        let hash = FxBuildHasher.hash_one(pattern);
        let is_same = |&(own, id): &(u64, TerminalId)| {
            let known = &grammar.terminals[id.index()];
            own == hash && known.pattern.as_ref() == Some(pattern) && known.distinct == *distinct
        };
        let shown = described.as_ref().map(ToString::to_string);
        if let Some(&(_, known)) = self.ids.find(hash, is_same) {
            // Several schemas share the terminal: the location in one of them is dropped.
            let terminal = &mut grammar.terminals[known.index()];
            if let Some(Described { what, .. }) = described
                && terminal.description.as_deref() != shown.as_deref()
            {
                terminal.description = Some(what.as_str().into());
            }
            return known;
        }
        let number = grammar.terminals.len();
        write_name(&mut self.named, name, number);
        let plain = Terminal::plain(self.named.clone(), Some(pattern.clone()), number as u32);
        let plain = match &shown {
            Some(shown) => plain.described(shown),
            None => plain,
        };
        grammar.terminals.push(Terminal { distinct: *distinct, ..plain });
        let id = TerminalId::new(number);
        self.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }
}

/// Writes a name and its number to `named`; a name in quotes or parentheses gets no number.
fn write_name(named: &mut String, name: &str, mut number: usize) {
    named.clear();
    named.push_str(name);
    if name.starts_with(['"', '(']) {
        return;
    }
    let (mut digits, mut start) = ([b'0'; 20], 20);
    while start == digits.len() || number > 0 {
        start -= 1;
        digits[start] += (number % 10) as u8;
        number /= 10;
    }
    named.push('_');
    named.push_str(std::str::from_utf8(&digits[start..]).unwrap_or_default());
}
