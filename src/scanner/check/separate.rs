//! Grammars whose lexemes are separate at first sight.
//!
//! The [scan graph](super::scan_graph) combines all terminals, because an author's terminals may
//! compete wherever the parser lets them. A grammar that a program made from a JSON Schema has
//! hundreds of terminals, nearly all of them quoted, and its rows say exactly which can really
//! compete. So rows are checked one by one, in pairs of terminals, or all at once if they are many.
//! The closing quote ends any quoted terminal, and nothing can continue after it.
//!
//! The condition is sufficient, not necessary: no two terminals of a row, the ignored ones
//! included, have a text in common; and the lexemes that *may follow* a lexeme can begin with a
//! byte over which no terminal of the lexeme's own row goes on. So each lexeme ends where the
//! parser wants it to, and leaves no obligation beyond the next byte. If that holds for everything
//! that the tables let follow, every cell of the tables is possible. Where the stack can shift less
//! than its row promises, fewer terminals compete, which breaks none of this. Conflicts that are
//! followed do not break it either: each of the stacks has the rows of its own states.
//!
//! Where something cannot follow in this way, the scan graph knows more about it. But it would
//! write out each count of a terminal that counts its lexemes, and the product of the counts of two
//! such terminals. So for grammars with such terminals only the rows are used, whether or not their
//! schemas are part of an author's rules.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::adjacency::Adjacency;
use super::quoted::{self, QUOTE};
use crate::grammar::ir::{Grammar, LexerKind, Terminal};
use crate::grammar::pattern::Pattern;
use crate::lexer::Dfa;
use crate::scanner::Lexis;
use crate::util::bitset::BitSet;
use crate::util::byte_classes::{ByteClasses, ClassSet};
use crate::util::id::{CoreId, TerminalId};
use crate::util::meter::{LimitReached, Meter};

/// Limit on the classes of pairs of states looked at. If it is not enough, the scan graph decides.
const MAX_STEPS: usize = 1 << 26;
/// Number of these classes per step of the meter.
const CLASSES_A_STEP: usize = 5;

/// Limit on the terminals of one row that are no plain strings and are checked in pairs. More are
/// checked together, unless they are quoted and count.
const MAX_PATTERNS: usize = 64;

/// Limit on pairs of states stored as bits: 64 KB of them.
const MAX_BITS: usize = 1 << 19;

/// Bytes, one bit each.
type Bytes = [u64; 4];

/// The lexemes of a grammar that are separate at first sight.
pub(super) struct Separate {
    pub(super) adjacency: Adjacency,
    /// Whether any lexeme may directly follow any other where the tables let its terminal follow.
    pub(super) at_once: bool,
}

/// Returns the terminals that may follow each terminal of `grammar` if its lexemes are separate at
/// first sight: `None` if they are not, or if the scan graph would know more.
pub(super) fn find(
    grammar: &Grammar,
    lexis: &Lexis,
    meter: &Meter,
) -> Result<Option<Separate>, LimitReached> {
    let states = lexis.states();
    let is_plain = grammar.lexer == LexerKind::Contextual
        && lexis.indentation().is_none()
        && lexis.lookaheads.is_empty()
        && lexis.exclusive.is_empty()
        && grammar.reserve_covered.is_empty()
        && !(states.has_cuts() || states.has_every_match())
        && !(states.has_conditions() || states.has_past());
    let is_plain_terminal = |terminal: &Terminal| {
        terminal.reserved_against.is_empty()
            && terminal.fallback.is_none()
            && terminal.budget.is_none()
            && terminal.meant.is_empty()
    };
    if !is_plain || !grammar.terminals.iter().all(is_plain_terminal) {
        return Ok(None);
    }
    let mut search = Search::new(grammar, lexis);
    let adjacency = search.run().then(|| search.adjacency());
    let at_once = adjacency.is_some() && search.follow_at_once();
    meter.step(search.steps / CLASSES_A_STEP)?;
    let counts = || states.dfas().iter().flatten().any(Dfa::counts);
    let adjacency = adjacency.filter(|adjacency| adjacency.is_total(lexis.table()) || counts());
    Ok(adjacency.map(|adjacency| Separate { adjacency, at_once }))
}

struct Search<'a> {
    grammar: &'a Grammar,
    lexis: &'a Lexis,
    dfas: Vec<Option<&'a Dfa>>,
    kinds: Vec<Kind>,
    /// The plain strings that are quoted.
    strings: BitSet,
    /// The plain strings with the same text as another one: each with the first of these.
    repeated: HashMap<usize, usize, FxBuildHasher>,
    /// By quoted terminal that is not a plain string: the strings that shared a row with it and
    /// that it does not match.
    asked: HashMap<usize, BitSet, FxBuildHasher>,
    /// By unquoted terminal: the first bytes of its lexemes.
    begins: Vec<Bytes>,
    pairs: HashMap<(usize, usize), Option<Pair>, FxBuildHasher>,
    /// By terminal: the bytes over which a terminal of its row may go on after a lexeme of it.
    runs_on: Vec<Bytes>,
    steps: usize,
}

/// The form of the lexemes of a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One quoted text: it ends with the first quote that is not escaped.
    String,
    /// Several such texts.
    Quoted,
    /// Other texts.
    Unquoted,
}

/// The terminals of a row.
struct Row {
    has_strings: bool,
    /// Whether two strings are the same.
    repeats: bool,
    /// Quoted terminals that are not plain strings.
    quoted: Vec<usize>,
    unquoted: Vec<usize>,
}

/// Two terminals of one row without a common text: the bytes over which the second goes on after a
/// lexeme of the first, and the other way round.
#[derive(Clone, Copy, Default)]
struct Pair {
    behind: [Bytes; 2],
}

impl<'a> Search<'a> {
    /// Classifies the terminals.
    fn new(grammar: &'a Grammar, lexis: &'a Lexis) -> Self {
        let count = grammar.terminals.len();
        let dfas: Vec<Option<&Dfa>> =
            (0..count).map(|index| lexis.states().dfa(TerminalId::new(index))).collect();
        let mut strings = BitSet::new(count + 1);
        let mut texts: HashMap<&str, usize, FxBuildHasher> = HashMap::default();
        let mut repeated = HashMap::default();
        let mut kinds = vec![Kind::Unquoted; count];
        for (index, terminal) in grammar.terminals.iter().enumerate() {
            if !dfas[index].is_some_and(|dfa| quoted::are_quoted(text(terminal), dfa)) {
                continue;
            }
            kinds[index] = match text(terminal) {
                Some(text) => {
                    let first = *texts.entry(text).or_insert(index);
                    if first != index {
                        repeated.extend([(first, first), (index, first)]);
                    }
                    strings.insert(index);
                    Kind::String
                }
                None => Kind::Quoted,
            };
        }
        let begins = |(dfa, kind): (&Option<&Dfa>, &Kind)| match dfa {
            Some(dfa) if *kind == Kind::Unquoted => first_bytes(dfa),
            _ => Bytes::default(),
        };
        let begins = dfas.iter().zip(&kinds).map(begins).collect();
        Self {
            grammar,
            lexis,
            dfas,
            kinds,
            strings,
            repeated,
            asked: HashMap::default(),
            begins,
            pairs: HashMap::default(),
            runs_on: vec![Bytes::default(); count],
            steps: 0,
        }
    }

    /// Returns whether the terminals of each row have no texts in common.
    fn run(&mut self) -> bool {
        let table = self.lexis.table();
        let mut seen = BitSet::new(table.set_count());
        let cores = (0..table.state_count()).map(CoreId::new);
        let mut rows = cores.filter(|&core| seen.insert(table.row_number(core)));
        rows.all(|core| self.is_apart(core))
    }

    /// Returns the relation, once the rows are known to be separate.
    fn adjacency(&mut self) -> Adjacency {
        let count = self.kinds.len();
        let possible = self.possible();
        let is_unquoted = |&index: &usize| self.kinds[index] == Kind::Unquoted;
        let unquoted: Vec<usize> = possible.iter().filter(is_unquoted).collect();
        let mut quoted = possible.clone();
        unquoted.iter().for_each(|&index| quoted.remove(index));
        // Nothing continues after the closing quote.
        let mut follows = vec![possible.clone(); count + 1];
        let mut quote = Bytes::default();
        add(&mut quote, QUOTE);
        self.steps += unquoted.len() * (1 + unquoted.len());
        for &last in &unquoted {
            let may_begin = |begins: &Bytes| {
                let runs_on = self.runs_on[last].iter();
                begins.iter().zip(runs_on).any(|(begins, runs_on)| begins & !runs_on != 0)
            };
            let mut row = BitSet::new(count + 1);
            if may_begin(&quote) {
                row.union_with(&quoted);
            }
            let next = unquoted.iter().filter(|&&next| may_begin(&self.begins[next]));
            next.for_each(|&next| {
                row.insert(next);
            });
            follows[last] = row;
        }
        let end = self.lexis.table().end();
        Adjacency::of_rows(&self.lexis.ignored, follows, possible, end)
    }

    /// Returns whether no lexeme begins with a byte over which a lexeme goes on that the tables let
    /// it follow.
    fn follow_at_once(&mut self) -> bool {
        let (possible, rows) = (self.possible(), super::rows(self.lexis.table()));
        let mut quote = Bytes::default();
        add(&mut quote, QUOTE);
        let kinds = &self.kinds;
        let mut lasts = possible.iter().filter(|&last| kinds[last] == Kind::Unquoted);
        let mut steps = 0;
        let at_once = lasts.all(|last| {
            let row = if self.lexis.ignored.contains(last) { &possible } else { &rows[last] };
            steps += self.kinds.len();
            row.iter().filter(|&next| next < self.kinds.len()).all(|next| {
                let begins = match self.kinds[next] {
                    Kind::Unquoted => &self.begins[next],
                    Kind::String | Kind::Quoted => &quote,
                };
                let is_itself = next == last && self.lexis.ignored.contains(last);
                is_itself || begins.iter().zip(&self.runs_on[last]).all(|(one, on)| one & on == 0)
            })
        });
        self.steps += steps;
        at_once
    }

    /// Returns the terminals that appear in some row.
    fn possible(&self) -> BitSet {
        let table = self.lexis.table();
        let mut possible = BitSet::new(self.kinds.len() + 1);
        let mut seen = BitSet::new(table.set_count());
        for core in (0..table.state_count()).map(CoreId::new) {
            if seen.insert(table.row_number(core)) {
                possible.union_with(table.row(core));
            }
        }
        possible.union_with(&self.lexis.ignored);
        possible.remove(table.end().index());
        possible
    }

    /// Returns the terminals that compete in the row of `core`, including the end of the text.
    fn terminals(&self, core: CoreId) -> impl Iterator<Item = usize> + '_ {
        self.lexis.table().terminals_of_row(core).chain(self.lexis.ignored.iter())
    }

    /// Returns whether the terminals of the row of `core` have no texts in common. Notes the bytes
    /// over which one goes on after another.
    fn is_apart(&mut self, core: CoreId) -> bool {
        let Row { has_strings, repeats, quoted, unquoted } = self.sorted(core);
        if repeats {
            return false;
        }
        let counts = |&index: &usize| self.dfas[index].is_none_or(Dfa::counts);
        let are_together = quoted.len() > MAX_PATTERNS && !quoted.iter().any(counts);
        if are_together && !self.are_apart_together(&quoted) {
            return false;
        }
        for (at, &one) in quoted.iter().enumerate() {
            if has_strings && self.matches_string(one, core) {
                return false;
            }
            if !are_together
                && !quoted[at + 1..].iter().all(|&other| self.pair(one, other).is_some())
            {
                return false;
            }
        }
        let has_quoted = has_strings || !quoted.is_empty();
        let begins_quoted =
            |&index: &usize| self.dfas[index].is_none_or(|dfa| dfa.next(0, QUOTE) != Dfa::DEAD);
        if has_quoted && unquoted.iter().any(begins_quoted) {
            return false;
        }
        let grammar = self.grammar;
        let word = |index: usize| Some((text(&grammar.terminals[index])?, index));
        let mut words: Vec<(&str, usize)> =
            unquoted.iter().filter_map(|&index| word(index)).collect();
        let patterns = unquoted.iter().copied().filter(|&index| word(index).is_none());
        let patterns: Vec<usize> = patterns.collect();
        if patterns.len() > MAX_PATTERNS {
            return self.are_apart_together(&unquoted);
        }
        if !self.are_words_apart(&mut words) {
            return false;
        }
        for (at, &one) in patterns.iter().enumerate() {
            let words = words.iter().map(|&(_, word)| word);
            for other in patterns[at..].iter().copied().chain(words) {
                let Some(pair) = self.pair(one, other) else { return false };
                unite(&mut self.runs_on[one], &pair.behind[0]);
                unite(&mut self.runs_on[other], &pair.behind[1]);
            }
        }
        true
    }

    /// Returns whether no two of these texts are the same. Notes the bytes over which one goes on
    /// after another: when sorted, the prefixes of a text precede it.
    fn are_words_apart(&mut self, words: &mut [(&str, usize)]) -> bool {
        words.sort_unstable();
        let mut begun: Vec<(&str, usize)> = Vec::new();
        for &(text, word) in &*words {
            while begun.pop_if(|(before, _)| !text.starts_with(*before)).is_some() {}
            self.steps += 1 + begun.len();
            if begun.last().is_some_and(|&(before, _)| before == text) {
                return false;
            }
            for &(before, word) in &begun {
                add(&mut self.runs_on[word], text.as_bytes()[before.len()]);
            }
            begun.push((text, word));
        }
        true
    }

    /// Returns whether no two of these terminals have a text in common, if they are many: usually
    /// few of them go on after the first bytes. Notes the bytes over which one goes on after
    /// another.
    fn are_apart_together(&mut self, terminals: &[usize]) -> bool {
        let mut parts = Vec::with_capacity(terminals.len());
        for &terminal in terminals {
            let Some(dfa) = self.dfas[terminal] else { return false };
            unite(&mut self.runs_on[terminal], &runs_on(dfa));
            self.steps += dfa.state_count();
            parts.push((dfa, dfa.classes().runs()));
        }
        let start = parts.iter().map(|(dfa, _)| dfa.start()).enumerate().collect();
        let mut seen: HashSet<Vec<(usize, u32)>, FxBuildHasher> = HashSet::default();
        let mut pending: Vec<Vec<(usize, u32)>> = vec![start];
        while let Some(states) = pending.pop() {
            let mut next: Vec<Vec<(usize, u32)>> = vec![Vec::new(); 256];
            let mut accepting = None;
            for &(part, state) in &states {
                let (dfa, runs) = &parts[part];
                if dfa.is_accept(state) && accepting.replace(part).is_some() {
                    return false;
                }
                let row = dfa.row(state);
                for &(first, last, class) in runs {
                    let to = row[usize::from(class)];
                    if to != Dfa::DEAD {
                        (first..=last).for_each(|byte| next[usize::from(byte)].push((part, to)));
                    }
                }
                self.steps += runs.len();
            }
            self.steps += next.len();
            if self.steps > MAX_STEPS {
                return false;
            }
            for (byte, states) in (0..=u8::MAX).zip(next) {
                if let Some(own) = accepting
                    && states.iter().any(|&(other, _)| other != own)
                {
                    add(&mut self.runs_on[terminals[own]], byte);
                }
                // A terminal that goes on alone is separate from the rest.
                if states.len() > 1 && seen.insert(states.clone()) {
                    pending.push(states);
                }
            }
        }
        true
    }

    /// Returns whether a quoted terminal that is not a plain string matches a string of the row of
    /// `core`.
    fn matches_string(&mut self, general: usize, core: CoreId) -> bool {
        let Some(dfa) = self.dfas[general] else { return false };
        let none = || BitSet::new(self.kinds.len() + 1);
        let asked = self.asked.entry(general).or_insert_with(none);
        let mut strings = self.lexis.table().row(core).clone();
        strings.intersect_with(&self.strings);
        strings.subtract(asked);
        asked.union_with(&strings);
        let terminals = &self.grammar.terminals;
        let mut texts = strings.iter().filter_map(|string| text(&terminals[string]));
        texts.any(|text| dfa.matches(text.as_bytes()))
    }

    /// Returns the same terminals by kind, without the end of the text.
    fn sorted(&self, core: CoreId) -> Row {
        let (quoted, unquoted) = (Vec::new(), Vec::new());
        let mut sorted = Row { has_strings: false, repeats: false, quoted, unquoted };
        let mut repeated: SmallVec<[usize; 4]> = SmallVec::new();
        for index in self.terminals(core) {
            match self.kinds.get(index) {
                Some(Kind::String) => {
                    sorted.has_strings = true;
                    if let Some(&first) = self.repeated.get(&index) {
                        sorted.repeats |= repeated.contains(&first);
                        repeated.push(first);
                    }
                }
                Some(Kind::Quoted) => sorted.quoted.push(index),
                Some(Kind::Unquoted) => sorted.unquoted.push(index),
                None => {}
            }
        }
        sorted
    }

    /// Compares two terminals; `None` if they have a text in common or take too many steps. A
    /// terminal has all texts in common with itself, which is allowed.
    fn pair(&mut self, one: usize, other: usize) -> Option<Pair> {
        if let Some(&known) = self.pairs.get(&(one, other)) {
            return known;
        }
        let found = self.find_pair(one, other);
        self.pairs.insert((one, other), found);
        found
    }

    fn find_pair(&mut self, one: usize, other: usize) -> Option<Pair> {
        let dfas = [self.dfas[one]?, self.dfas[other]?];
        if [self.kinds[one], self.kinds[other]] == [Kind::Unquoted; 2]
            && !intersect(&self.begins[one], &self.begins[other])
            && !dfas.iter().any(|dfa| dfa.accepts_empty())
        {
            return Some(Pair::default());
        }
        if one == other {
            let behind = runs_on(dfas[0]);
            self.steps += dfas[0].state_count();
            return Some(Pair { behind: [behind; 2] });
        }
        // Nothing continues after a closing quote, and terminals without a common text when
        // uncounted have none at all.
        if ![self.kinds[one], self.kinds[other]].contains(&Kind::Unquoted)
            && dfas.iter().any(|dfa| dfa.counts())
            && let all = dfas.map(Dfa::uncounted)
            && let Some(pair) = self.side_by_side([&all[0], &all[1]])
        {
            return Some(pair);
        }
        if ![self.kinds[one], self.kinds[other]].contains(&Kind::Unquoted)
            && dfas[0].counts_apart(dfas[1])
        {
            return Some(Pair::default());
        }
        self.side_by_side(dfas)
    }

    /// Runs two automata in parallel.
    fn side_by_side(&mut self, dfas: [&Dfa; 2]) -> Option<Pair> {
        let classes = dfas[0].classes().merge(dfas[1].classes());
        let of = |&byte: &u8| dfas.map(|dfa| dfa.classes().get(byte));
        let of: Vec<[u8; 2]> = classes.representatives().iter().map(of).collect();
        let mut behind = [ClassSet::default(); 2];
        let start = (dfas[0].start(), dfas[1].start());
        let mut seen = Pairs::new(dfas.map(Dfa::state_count));
        seen.insert(start);
        let mut pending = vec![start];
        while let Some(states) = pending.pop() {
            self.steps += classes.count();
            let accepts = [dfas[0].is_accept(states.0), dfas[1].is_accept(states.1)];
            if self.steps > MAX_STEPS || accepts == [true, true] {
                return None;
            }
            let rows = (dfas[0].row(states.0), dfas[1].row(states.1));
            let rows = (&*rows.0, &*rows.1);
            let mut before = (Dfa::DEAD, Dfa::DEAD);
            for (class, &[one, other]) in (0..=u8::MAX).zip(&of) {
                let next = (rows.0[usize::from(one)], rows.1[usize::from(other)]);
                // The second goes on after a lexeme of the first.
                for (at, other) in [(0, next.1), (1, next.0)] {
                    if accepts[at] && other != Dfa::DEAD {
                        behind[at].insert(class);
                    }
                }
                // Neighbouring classes mostly lead to the same pair.
                let is_new = next != before && next.0 != Dfa::DEAD && next.1 != Dfa::DEAD;
                before = next;
                if is_new && seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        Some(Pair { behind: behind.map(|behind| bytes_of(&classes, behind)) })
    }
}

/// Pairs of states that were met.
enum Pairs {
    /// One bit for each pair, if they are not too many.
    Bits {
        others: usize,
        bits: BitSet,
    },
    Hashed(HashSet<(u32, u32), FxBuildHasher>),
}

impl Pairs {
    /// Creates an empty set for automata with these numbers of states.
    fn new([ones, others]: [usize; 2]) -> Self {
        match ones.saturating_mul(others) {
            count @ ..=MAX_BITS => Self::Bits { others, bits: BitSet::new(count) },
            _ => Self::Hashed(HashSet::default()),
        }
    }

    /// Adds a pair. Returns whether it is new.
    fn insert(&mut self, pair: (u32, u32)) -> bool {
        match self {
            Self::Bits { others, bits } => bits.insert(pair.0 as usize * *others + pair.1 as usize),
            Self::Hashed(pairs) => pairs.insert(pair),
        }
    }
}

/// Returns the bytes over which some lexeme goes on after a shorter one.
fn runs_on(dfa: &Dfa) -> Bytes {
    let mut classes = ClassSet::default();
    // Not all states are reachable if lexemes are counted.
    let mut seen = BitSet::new(dfa.state_count());
    let mut pending = vec![dfa.start()];
    while let Some(state) = pending.pop() {
        if state == Dfa::DEAD || !seen.insert(state as usize) {
            continue;
        }
        let row = dfa.row(state);
        if dfa.is_accept(state) {
            let live = (0..=u8::MAX).zip(&*row).filter(|&(_, &next)| next != Dfa::DEAD);
            live.for_each(|(class, _)| classes.insert(class));
        }
        let mut before = Dfa::DEAD;
        for &next in &*row {
            // Neighbouring classes mostly lead to the same state.
            if next != std::mem::replace(&mut before, next) {
                pending.push(next);
            }
        }
    }
    bytes_of(dfa.classes(), classes)
}

/// Returns the bytes of some classes.
fn bytes_of(classes: &ByteClasses, some: ClassSet) -> Bytes {
    if some.is_empty() {
        return Bytes::default();
    }
    let mut is_one = [false; 256];
    some.iter().for_each(|class| is_one[usize::from(class)] = true);
    let bit = |byte: u8| u64::from(is_one[usize::from(classes.get(byte))]);
    let word = |at: u8| (0..64).fold(0, |word, byte| word | bit(64 * at + byte) << byte);
    [0, 1, 2, 3].map(word)
}

/// Returns the text of a terminal that is a plain string.
fn text(terminal: &Terminal) -> Option<&str> {
    match &terminal.pattern {
        Some(Pattern::Literal { text, ignore_case: false }) => Some(text),
        _ => None,
    }
}

/// Returns the first bytes of lexemes.
fn first_bytes(dfa: &Dfa) -> Bytes {
    let mut begins = ClassSet::default();
    if !dfa.is_empty() {
        let row = dfa.row(dfa.start());
        let live = (0..=u8::MAX).zip(&*row).filter(|&(_, &next)| next != Dfa::DEAD);
        live.for_each(|(class, _)| begins.insert(class));
    }
    bytes_of(dfa.classes(), begins)
}

fn add(bytes: &mut Bytes, byte: u8) {
    bytes[usize::from(byte) / 64] |= 1 << (byte % 64);
}

fn intersect(one: &Bytes, other: &Bytes) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

fn unite(all: &mut Bytes, more: &Bytes) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::ir::{Conflicts, Nonterminal, Production, Symbol};
    use crate::grammar::pattern::RegexFlags;
    use crate::lexer::Compiler;
    use crate::lr::table::ParseTable;
    use crate::util::id::{NonterminalId, ProductionId};
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    /// Returns whether a grammar is separate whose only rule has these alternatives of terminals,
    /// each a regex.
    fn are_separate_in(alternatives: &[&[&str]]) -> bool {
        let mut patterns: Vec<&str> = alternatives.concat();
        patterns.sort_unstable();
        patterns.dedup();
        let meter = Meter::new(&Limits::default());
        let mut compiler = Compiler::new(&meter);
        let (mut terminals, mut dfas) = (Vec::new(), Vec::new());
        for (rank, pattern) in (0..).zip(&patterns) {
            let (text, flags) = ((*pattern).to_owned(), RegexFlags::default());
            let pattern = Pattern::Regex { pattern: text, flags, place: None };
            dfas.push(Some(compiler.compile(&pattern).expect("a regex")));
            terminals.push(Terminal::plain(format!("T{rank}"), Some(pattern), rank));
        }
        let symbol = |pattern: &&str| {
            Symbol::Terminal(TerminalId::new(patterns.binary_search(pattern).expect("one of them")))
        };
        let lhs = NonterminalId::new(0);
        let production = |rhs: &&[&str]| {
            let rhs = rhs.iter().map(symbol).collect();
            Production { lhs, rhs, precedence: None, priority: 0, place: None }
        };
        let productions: Vec<Production> = alternatives.iter().map(production).collect();
        let numbers = (0..productions.len()).map(ProductionId::new).collect();
        let start =
            Nonterminal { name: "s".into(), productions: numbers, marks: None, place: None };
        let grammar = Grammar::plain(terminals, vec![start], productions, Conflicts::Refuse);
        let table = ParseTable::build(&grammar, &meter).expect("no conflict");
        let lexis = Lexis::new(&grammar, table, dfas);
        let separate = find(&grammar, &lexis, &meter).expect("a small grammar");
        separate.is_some_and(|separate| separate.adjacency.is_total(lexis.table()))
    }

    const STRING: &str = r#""(?:[^"\\]|\\.)*""#;

    #[test]
    fn what_cannot_run_into_one_another_is_separate() {
        assert!(are_separate_in(&[&["[0-9]+", " *,", "[0-9]+"], &[STRING, "[0-9]+"]]));
        assert!(are_separate_in(&[&[STRING, STRING], &["true", STRING]]));
        // The comma ends any blanks that the bracket has taken.
        assert!(are_separate_in(&[&["\\[ *", " *,"]]));
    }

    #[test]
    fn what_runs_into_one_another_is_not() {
        assert!(!are_separate_in(&[&["[0-9]+", "[0-9]+"]]));
        assert!(!are_separate_in(&[&["\\[ *", " +,"]]));
        // A longer match of another terminal may be pending.
        assert!(!are_separate_in(&[&["a", "b"], &["abc"]]));
    }

    #[test]
    fn texts_in_common_are_not_separate() {
        assert!(!are_separate_in(&[&["[0-9]"], &["[5-9a]"]]));
        assert!(!are_separate_in(&[&[STRING], &["\"a\""]]));
        assert!(!are_separate_in(&[&["\"a+\""], &["\"[ab]\""]]));
        assert!(!are_separate_in(&[&["\"a"], &["\"b\""]]));
    }
}
