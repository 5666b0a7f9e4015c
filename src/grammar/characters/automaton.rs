//! Automata over the letters of the grammar, for the conditions that the proof checks on terminals.
//!
//! Thompson's construction, then the subset construction, both bounded. These automata are dropped
//! once the terminals are final; the lexer builds those that read texts, over bytes.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::grammar::characters::alphabet::Alphabet;
use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::expr::{Expr, ExprId, Exprs};
use crate::grammar::first_found::{Reached, Search};
use crate::util::bitset::BitSet;

/// The state without successors.
pub(super) const DEAD: u32 = u32::MAX;

/// Maximum number of states of an automaton.
const MAX_STATES: usize = 20_000;
/// Maximum number of entries of a table.
const MAX_ENTRIES: usize = 2_000_000;
/// Maximum number of members of all sets of states.
const MAX_MEMBERS: usize = 500_000;

/// A deterministic automaton. From each state some text leads to an accepting state.
#[derive(Debug)]
pub(super) struct Automaton {
    /// By letter: its column, which letters that no state distinguishes share.
    columns: Vec<u32>,
    width: usize,
    table: Vec<u32>,
    accepts: Vec<bool>,
}

/// The start state of every automaton.
pub(super) const START: u32 = 0;

impl Automaton {
    /// Returns the automaton of the texts that match `expr` and none of `without`, or `None` if it
    /// would be too large.
    pub(super) fn new(
        exprs: &Exprs,
        alphabet: &Alphabet,
        expr: ExprId,
        without: &[ExprId],
    ) -> Option<Self> {
        let mut nfa = Nfa::new(exprs);
        let end = nfa.state()?;
        let start = nfa.add(expr, end)?;
        let other_end = nfa.state()?;
        let mut starts = vec![start];
        for &other in without {
            starts.push(nfa.add(other, other_end)?);
        }
        let (columns, columns_of) = nfa.columns(alphabet);
        let width = columns.iter().max().map_or(0, |&most| most as usize + 1);
        let mut subsets = Subsets {
            nfa: &nfa,
            ids: HashMap::new(),
            of_one: vec![DEAD; nfa.edges.len()],
            sets: Vec::new(),
            members: 0,
            met: vec![0; nfa.edges.len()],
            round: 0,
        };
        let mut groups = Groups { columns_of: &columns_of, width, known: HashMap::new() };
        subsets.intern(&starts);
        let mut table = Vec::new();
        let mut at = 0;
        let (mut moves, mut next): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        while at < subsets.sets.len() {
            moves.clear();
            moves.extend(subsets.sets[at].iter().filter_map(|&state| nfa.over(state)));
            let row = table.len();
            table.resize(row + width, DEAD);
            for group in groups.of(&moves) {
                next.clear();
                let reaches = |&&(class, _): &&(u32, u32)| group.classes.binary_search(&class);
                let reached = moves.iter().filter(|way| reaches(way).is_ok());
                next.extend(reached.map(|&(_, to)| to));
                let id = subsets.intern(&next);
                group.columns.iter().for_each(|&column| table[row + column as usize] = id);
            }
            at += 1;
            if subsets.sets.len() > MAX_STATES
                || table.len() > MAX_ENTRIES
                || subsets.members > MAX_MEMBERS
            {
                return None;
            }
        }
        let accepts = subsets
            .sets
            .iter()
            .map(|set| set.contains(&end) && !set.contains(&other_end))
            .collect();
        let mut automaton = Self { columns, width, table, accepts };
        automaton.cut_dead_ends();
        Some(automaton)
    }

    /// Replaces moves to states that cannot reach acceptance with `DEAD`.
    fn cut_dead_ends(&mut self) {
        let count = self.accepts.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (at, &next) in self.table.iter().enumerate().filter(|&(_, &next)| next != DEAD) {
            before[next as usize].push((at / self.width) as u32);
        }
        let mut live = self.accepts.clone();
        let mut pending: Vec<u32> =
            (0..count as u32).filter(|&state| live[state as usize]).collect();
        while let Some(state) = pending.pop() {
            for &state in &before[state as usize] {
                if !std::mem::replace(&mut live[state as usize], true) {
                    pending.push(state);
                }
            }
        }
        for next in &mut self.table {
            if *next != DEAD && !live[*next as usize] {
                *next = DEAD;
            }
        }
    }

    /// Returns the number of moves.
    pub(super) fn size(&self) -> usize {
        self.table.len()
    }

    /// Returns the number of columns.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns the column of a letter.
    pub(super) fn column(&self, letter: usize) -> u32 {
        self.columns[letter]
    }

    /// Returns the successor of `state`.
    pub(super) fn next(&self, state: u32, column: u32) -> u32 {
        self.table[state as usize * self.width + column as usize]
    }

    /// Whether a text may end in `state`.
    pub(super) fn accepts(&self, state: u32) -> bool {
        self.accepts[state as usize]
    }

    /// Returns the letters that its texts begin with.
    pub(super) fn first(&self) -> BitSet {
        let mut first = BitSet::new(self.columns.len());
        for (letter, &column) in self.columns.iter().enumerate() {
            if self.next(START, column) != DEAD {
                first.insert(letter);
            }
        }
        first
    }
}

/// Outgoing edge of a state.
#[derive(Clone, Copy, Debug)]
enum Edge {
    /// A character of a class.
    Class { class: u32, to: u32 },
    /// Empty moves to both.
    Both(u32, u32),
    /// The end of a text.
    End,
    /// No move by any letter.
    Never,
}

/// A nondeterministic automaton, built from the end: each part knows its successor.
struct Nfa<'a> {
    exprs: &'a Exprs,
    edges: Vec<Edge>,
    /// The classes on edges.
    classes: Vec<CharSet>,
    numbers: HashMap<CharSet, u32>,
    /// The states from which expressions lead to others: equal parts with equal successors are one
    /// state, so the subsets of a choice of similar alternatives are few.
    known: HashMap<(ExprId, u32), u32>,
}

impl<'a> Nfa<'a> {
    fn new(exprs: &'a Exprs) -> Self {
        let (numbers, known) = (HashMap::new(), HashMap::new());
        Self { exprs, edges: Vec::new(), classes: Vec::new(), numbers, known }
    }

    fn state(&mut self) -> Option<u32> {
        self.push(Edge::End)
    }

    fn push(&mut self, edge: Edge) -> Option<u32> {
        if self.edges.len() >= 4 * MAX_STATES {
            return None;
        }
        self.edges.push(edge);
        Some(self.edges.len() as u32 - 1)
    }

    /// Returns a state from which a character of `set` leads to `to`.
    fn class(&mut self, set: &CharSet, to: u32) -> Option<u32> {
        let class = match self.numbers.get(set) {
            Some(&class) => class,
            None => {
                let class = self.classes.len() as u32;
                self.numbers.insert(set.clone(), class);
                self.classes.push(set.clone());
                class
            }
        };
        self.push(Edge::Class { class, to })
    }

    /// Returns a state from which free text leads to `to`.
    fn search(&mut self, search: &Search, to: u32) -> Option<u32> {
        let searching: Vec<_> = search.texts.over_characters().states().collect();
        let mut places: HashMap<usize, u32> = HashMap::new();
        for &(state, _) in &searching {
            places.insert(state, self.push(Edge::Never)?);
        }
        let mut start = None;
        for (state, named) in searching {
            let mut classes: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
            let point = |&(character, _): &(char, Reached)| u32::from(character);
            let others: Vec<_> = named.iter().map(point).map(|point| (point, point)).collect();
            for (character, reached) in named {
                let point = u32::from(character);
                let next = match reached {
                    Reached::State(next) => places[&next],
                    Reached::Text(found) if search.found == Some(found) => to,
                    Reached::Text(_) => continue,
                };
                classes.entry(next).or_default().push((point, point));
            }
            let mut moves = self.class(&CharSet::new(&others).complement(), places[&0])?;
            for (next, points) in classes {
                let way = self.class(&CharSet::new(&points), next)?;
                moves = self.push(Edge::Both(way, moves))?;
            }
            let end = if search.found.is_some() { moves } else { to };
            self.edges[places[&state] as usize] = Edge::Both(moves, end);
            start.get_or_insert(moves);
        }
        start
    }

    /// Returns the class and the successor of a state, if it reads a character.
    fn over(&self, state: u32) -> Option<(u32, u32)> {
        match self.edges[state as usize] {
            Edge::Class { class, to } => Some((class, to)),
            Edge::Both(..) | Edge::End | Edge::Never => None,
        }
    }

    /// Returns the state from which `expr` leads to `to`.
    fn add(&mut self, expr: ExprId, to: u32) -> Option<u32> {
        if let Some(&known) = self.known.get(&(expr, to)) {
            return Some(known);
        }
        let state = self.build(expr, to)?;
        self.known.insert((expr, to), state);
        Some(state)
    }

    /// Creates the state from which `expr` leads to `to`. Recurses as deep as `expr` nests.
    fn build(&mut self, expr: ExprId, mut to: u32) -> Option<u32> {
        let exprs = self.exprs;
        match exprs.get(expr) {
            Expr::Class(set) => self.class(set, to),
            Expr::Search(search) => self.search(search, to),
            // No character begins the spelling of a token, so no letter leads on.
            Expr::Token(_) | Expr::Schema(_) => self.push(Edge::Never),
            // Unreachable: automata are only made of regular expressions.
            Expr::Rule(_) => self.state(),
            Expr::Concat(parts) => parts.iter().rev().try_fold(to, |to, &part| self.add(part, to)),
            Expr::Choice(parts) => {
                let mut start = None;
                for &part in parts.iter().rev() {
                    let way = self.add(part, to)?;
                    start = Some(match start {
                        None => way,
                        Some(other) => self.push(Edge::Both(way, other))?,
                    });
                }
                start
            }
            &Expr::Repeat { inner, min, max } => {
                to = match max {
                    None => {
                        let again = self.push(Edge::Both(to, to))?;
                        let way = self.add(inner, again)?;
                        self.edges[again as usize] = Edge::Both(way, to);
                        again
                    }
                    Some(max) => {
                        let end = to;
                        for _ in min..max {
                            let way = self.add(inner, to)?;
                            to = self.push(Edge::Both(way, end))?;
                        }
                        to
                    }
                };
                for _ in 0..min {
                    to = self.add(inner, to)?;
                }
                Some(to)
            }
        }
    }

    /// Groups letters that no class distinguishes: the column of each, and the columns of each
    /// class.
    fn columns(&self, alphabet: &Alphabet) -> (Vec<u32>, Vec<Vec<u32>>) {
        let mut holders: Vec<Vec<u32>> = vec![Vec::new(); alphabet.len()];
        for (number, set) in self.classes.iter().enumerate() {
            alphabet.letters(set).iter().for_each(|letter| holders[letter].push(number as u32));
        }
        let mut ids: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut columns_of: Vec<Vec<u32>> = vec![Vec::new(); self.classes.len()];
        let columns = holders.into_iter().map(|holders| {
            if let Some(&id) = ids.get(&holders) {
                return id;
            }
            let id = ids.len() as u32;
            holders.iter().for_each(|&class| columns_of[class as usize].push(id));
            ids.insert(holders, id);
            id
        });
        let columns = columns.collect();
        (columns, columns_of)
    }
}

/// Columns that the same ones of some classes contain.
struct Group {
    columns: Vec<u32>,
    /// Ascending.
    classes: Vec<u32>,
}

/// For sets of classes, how they divide the columns.
struct Groups<'a> {
    columns_of: &'a [Vec<u32>],
    width: usize,
    known: HashMap<Vec<u32>, Vec<Group>>,
}

impl Groups<'_> {
    /// Returns the groups of the columns that any class of `moves` contains.
    fn of(&mut self, moves: &[(u32, u32)]) -> &[Group] {
        let mut classes: Vec<u32> = moves.iter().map(|&(class, _)| class).collect();
        classes.sort_unstable();
        classes.dedup();
        let (columns_of, width) = (self.columns_of, self.width);
        self.known.entry(classes).or_insert_with_key(|classes| {
            let mut holders: Vec<Vec<u32>> = vec![Vec::new(); width];
            for &class in classes {
                for &column in &columns_of[class as usize] {
                    holders[column as usize].push(class);
                }
            }
            let mut numbers: HashMap<Vec<u32>, usize> = HashMap::new();
            let mut groups: Vec<Group> = Vec::new();
            for (column, holders) in (0..).zip(holders).filter(|(_, holders)| !holders.is_empty()) {
                let number = *numbers.entry(holders).or_insert_with_key(|classes| {
                    groups.push(Group { columns: Vec::new(), classes: classes.clone() });
                    groups.len() - 1
                });
                groups[number].columns.push(column);
            }
            groups
        })
    }
}

/// Sets of states, in order of discovery.
struct Subsets<'a> {
    nfa: &'a Nfa<'a>,
    ids: HashMap<Vec<u32>, u32>,
    /// By state: the number of the set that it reaches alone, if that is known.
    of_one: Vec<u32>,
    sets: Vec<Vec<u32>>,
    members: usize,
    /// By state: the last round in which it was visited.
    met: Vec<u32>,
    round: u32,
}

impl Subsets<'_> {
    /// Returns the number of the set that `from`, which is not empty, reaches by empty moves.
    fn intern(&mut self, from: &[u32]) -> u32 {
        let &[one] = from else { return self.closure(from) };
        if self.of_one[one as usize] == DEAD {
            self.of_one[one as usize] = self.closure(from);
        }
        self.of_one[one as usize]
    }

    fn closure(&mut self, from: &[u32]) -> u32 {
        self.round += 1;
        let mut set = Vec::new();
        let mut pending = from.to_vec();
        while let Some(state) = pending.pop() {
            if std::mem::replace(&mut self.met[state as usize], self.round) == self.round {
                continue;
            }
            match self.nfa.edges[state as usize] {
                Edge::Both(one, other) => pending.extend([one, other]),
                Edge::Class { .. } | Edge::End | Edge::Never => set.push(state),
            }
        }
        set.sort_unstable();
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = self.sets.len() as u32;
        self.members += set.len();
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }
}
