//! LALR(1) look-ahead sets by DeRemer and Pennello (1982), section 4: DR, reads, includes,
//! lookback, and their "digraph" algorithm (Tarjan's components, with a set per component).
//!
//! Invariant: the set of a reduction is the union of Follow over the nonterminal edges it looks
//! back to, and Follow is exact for the LR(0) automaton: each terminal of a set really follows on
//! some viable prefix.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lr0::Automaton;
use super::rules::{Code, Rules};
use super::terminal_sets::{Gathered, TerminalSets, Terminals, Word, without};
use crate::util::lists::Lists;
use crate::util::meter::{Holding, LimitReached, Meter};

/// For each reduction, numbered as in [`Automaton::complete`], its look-ahead terminals (and `$`).
#[derive(Clone, Debug)]
pub(super) struct LookAheads {
    sets: TerminalSets,
    of: Vec<u32>,
    /// The remaining sets of the reductions from which terminals were removed.
    changed: HashMap<u32, Vec<Word>, FxBuildHasher>,
}

impl LookAheads {
    /// Computes all sets. Nearly linear in the relations and in the sizes of the united sets.
    pub(super) fn compute(
        rules: &Rules,
        automaton: &Automaton,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let gotos = Gotos::new(automaton);
        let mut held = meter.holding();
        let mut sets = Sets::new(rules.terminal_count() + 1, meter);

        // Read, sections 4.1 and 4.2: the terminals read right after the edge, or after nullable
        // nonterminals.
        let mut follow = Vec::with_capacity(gotos.targets.len());
        let (mut reads, mut counted) = (Lists::new(), 0);
        let has_nullable = rules.has_nullable();
        for &target in &gotos.targets {
            follow.push(sets.shifts(automaton, target as usize)?);
            if !has_nullable {
                continue;
            }
            let onward = automaton.by_nonterminals(target as usize);
            for (at, next) in onward.iter().enumerate() {
                if rules.is_nullable(next.symbol) {
                    reads.push(gotos.starts[target as usize] + at as u32);
                }
            }
            reads.close();
            if reads.entries().len() * BYTES_OF_A_READ > counted + BYTES_AT_ONCE {
                counted = reads.entries().len() * BYTES_OF_A_READ;
                held.set(counted)?;
            }
        }
        if let Some(edge) = gotos.find(automaton, 0, rules.rhs(rules.accept())[0]) {
            follow[edge] = sets.with(follow[edge], rules.end())?;
        }
        sets.digraph(&reads, &mut follow)?;
        drop(reads);

        // Follow, section 4.3: a terminal that follows the left side follows the end of the right
        // side.
        let relations = Relations::draw(rules, automaton, &gotos, meter)?;
        held.set(size_of_val(&*follow) + relations.bytes())?;
        sets.digraph(&relations.includes, &mut follow)?;

        let mut of = relations.look_back(&follow, &mut sets)?;
        // `$accept -> start .` looks back to no edge.
        for state in 0..automaton.state_count() {
            for (at, &production) in
                automaton.complete.range(state).zip(automaton.complete.get(state))
            {
                if production == rules.accept() {
                    of[at] = sets.with(of[at], rules.end())?;
                }
            }
        }
        Ok(Self { sets: sets.distinct, of, changed: HashMap::default() })
    }

    /// Returns the set of one reduction.
    pub(super) fn get(&self, reduction: usize) -> &Terminals {
        match self.changed.is_empty() {
            true => None,
            false => self.changed.get(&(reduction as u32)),
        }
        .map_or_else(|| self.sets.get(self.of[reduction]), Vec::as_slice)
    }

    /// Returns the number of the set of one reduction, if nothing was removed from it.
    pub(super) fn number(&self, reduction: usize) -> Option<u32> {
        (!self.changed.contains_key(&(reduction as u32))).then(|| self.of[reduction])
    }

    /// Returns the number of numbered sets.
    pub(super) fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// Returns the heap size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.sets.bytes() + size_of_val(&*self.of)
    }

    /// Removes a terminal: precedence decided against the reduction.
    pub(super) fn remove(&mut self, reduction: usize, terminal: usize) {
        let rest = without(self.get(reduction), terminal as u32);
        self.changed.insert(reduction as u32, rest);
    }

    /// Removes all terminals: the reduction is redundant.
    pub(super) fn clear(&mut self, reduction: usize) {
        self.changed.insert(reduction as u32, Vec::new());
    }
}

/// The edges labelled with nonterminals, numbered by state and then by symbol.
struct Gotos {
    /// By state: the number of its first edge.
    starts: Vec<u32>,
    /// By edge: its target.
    targets: Vec<u32>,
}

impl Gotos {
    fn new(automaton: &Automaton) -> Self {
        let (mut starts, mut targets) = (Vec::with_capacity(automaton.state_count()), Vec::new());
        for state in 0..automaton.state_count() {
            starts.push(targets.len() as u32);
            targets.extend(automaton.by_nonterminals(state).iter().map(|edge| edge.target));
        }
        Self { starts, targets }
    }

    fn find(&self, automaton: &Automaton, state: usize, symbol: u32) -> Option<usize> {
        let at = automaton
            .by_nonterminals(state)
            .binary_search_by_key(&symbol, |edge| edge.symbol)
            .ok()?;
        Some(self.starts[state] as usize + at)
    }
}

/// The relations of sections 4.3 and 4.4.
struct Relations {
    /// By edge: the edges whose Follow it includes.
    includes: Lists<u32>,
    /// By reduction: the edges whose Follow it takes.
    lookback: Lists<u32>,
}

impl Relations {
    /// Follows every production from every state where it begins.
    fn draw(
        rules: &Rules,
        automaton: &Automaton,
        gotos: &Gotos,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let (mut includes, mut lookback) = (Vec::new(), Vec::new());
        // The states along a production, each with the index of the edge that led to it among the
        // edges of the state before. The next production of the nonterminal often begins with the
        // same symbols.
        let (mut way, mut taken): (Vec<(usize, usize)>, &[Code]) = (Vec::new(), &[]);
        let (mut steps, mut counted) = (0, 0);
        let mut held = meter.holding();
        for origin in 0..automaton.state_count() {
            meter.step(STEPS_OF_A_PLACE * std::mem::take(&mut steps))?;
            way.clear();
            way.push((origin, 0));
            for (edge, left) in (gotos.starts[origin]..).zip(automaton.by_nonterminals(origin)) {
                let Some(lhs) = rules.nonterminal(left.symbol) else { continue };
                for &production in rules.productions_of(lhs) {
                    let symbols = rules.rhs(production);
                    steps += 1 + symbols.len();
                    if let [only] = symbols {
                        // There are no states on the way.
                        let edges = automaton.edges.get(origin);
                        let at = edges.binary_search_by_key(only, |edge| edge.symbol);
                        let at = at.expect("a closed state has an edge for each next symbol");
                        if rules.nonterminal(*only).is_some() {
                            let inner = gotos.starts[origin]
                                + (at as u32 - automaton.terminal_edges[origin]);
                            if inner != edge {
                                includes.push((inner, edge));
                            }
                        }
                        let state = edges[at].target as usize;
                        lookback.push((automaton.reduction(state, production), edge));
                        continue;
                    }
                    let bytes = 2 * 8 * (includes.len() + lookback.len());
                    if bytes > counted + BYTES_AT_ONCE {
                        counted = bytes;
                        held.set(counted)?;
                    }
                    let known = symbols
                        .iter()
                        .zip(&taken[..way.len() - 1])
                        .take_while(|(a, b)| a == b)
                        .count();
                    way.truncate(known + 1);
                    taken = symbols;
                    for &symbol in &symbols[known..] {
                        let edges = automaton.edges.get(way[way.len() - 1].0);
                        let at = edges.binary_search_by_key(&symbol, |edge| edge.symbol);
                        let at = at.expect("a closed state has an edge for each next symbol");
                        way.push((edges[at].target as usize, at));
                    }
                    // The suffix after each of these symbols must be nullable.
                    for (&symbol, step) in symbols.iter().zip(way.windows(2)).rev() {
                        if rules.nonterminal(symbol).is_some() {
                            let [(here, _), (_, at)] = *step else { continue };
                            let inner =
                                gotos.starts[here] + (at as u32 - automaton.terminal_edges[here]);
                            if inner != edge {
                                includes.push((inner, edge));
                            }
                        }
                        if !rules.is_nullable(symbol) {
                            break;
                        }
                    }
                    let state = way[symbols.len()].0;
                    lookback.push((automaton.reduction(state, production), edge));
                }
            }
        }
        let reductions = automaton.complete.entries().len();
        Ok(Self {
            includes: Lists::from_pairs(gotos.targets.len(), &includes),
            lookback: Lists::from_pairs(reductions, &lookback),
        })
    }

    /// Computes the sets of the reductions from Follow of the edges. All productions of a
    /// nonterminal that begin at the same states look back to the same edges; these are united
    /// once.
    fn look_back(&self, follow: &[u32], sets: &mut Sets<'_>) -> Result<Vec<u32>, LimitReached> {
        let mut of = Vec::with_capacity(self.lookback.len());
        let mut known: HashMap<&[u32], u32, FxBuildHasher> = HashMap::default();
        for reduction in 0..self.lookback.len() {
            let edges = self.lookback.get(reduction);
            let mut union = || sets.union(edges.iter().map(|&edge| follow[edge as usize]));
            if edges.len() < 2 {
                of.push(union()?);
                continue;
            }
            of.push(match known.get(edges) {
                Some(&same) => same,
                None => {
                    let set = union()?;
                    known.insert(edges, set);
                    set
                }
            });
        }
        Ok(of)
    }

    /// Returns the approximate heap size in bytes.
    fn bytes(&self) -> usize {
        4 * (self.includes.entries().len() + self.lookback.entries().len())
    }
}

/// An entry of `reads`, in a list with capacity for up to twice its length.
const BYTES_OF_A_READ: usize = 2 * size_of::<u32>();

/// One state may have millions of pairs, so memory is counted as they are added.
const BYTES_AT_ONCE: usize = 1 << 20;

/// The edge for a symbol is searched for.
const STEPS_OF_A_PLACE: usize = 4;

/// A set is visited, and a word of it added.
const STEPS_OF_A_SET: usize = 2;

/// The distinct sets, and the buffers for uniting them.
struct Sets<'m> {
    distinct: TerminalSets,
    gathered: Gathered,
    /// By set: the last union that visited it.
    seen: Vec<u32>,
    unions: u32,
    /// By state: the set it shifts; [`UNKNOWN`] if not computed yet.
    shifts: Vec<u32>,
    meter: &'m Meter,
    held: Holding,
}

/// No set.
const UNKNOWN: u32 = u32::MAX;

impl<'m> Sets<'m> {
    fn new(terminals: usize, meter: &'m Meter) -> Self {
        Self {
            distinct: TerminalSets::new(),
            gathered: Gathered::new(terminals),
            seen: Vec::new(),
            unions: 0,
            shifts: Vec::new(),
            meter,
            held: meter.holding(),
        }
    }

    /// Returns the terminals that a state shifts.
    fn shifts(&mut self, automaton: &Automaton, state: usize) -> Result<u32, LimitReached> {
        if self.shifts.is_empty() {
            self.shifts.resize(automaton.state_count(), UNKNOWN);
        }
        if self.shifts[state] == UNKNOWN {
            let shifts = automaton.by_terminals(state);
            self.meter.step(STEPS_OF_A_SET + shifts.len())?;
            shifts.iter().for_each(|shift| self.gathered.insert(shift.symbol));
            self.shifts[state] = self.gathered()?;
        }
        Ok(self.shifts[state])
    }

    /// Returns the set with one more terminal.
    fn with(&mut self, set: u32, terminal: u32) -> Result<u32, LimitReached> {
        self.gathered.add(self.distinct.get(set));
        self.gathered.insert(terminal);
        self.gathered()
    }

    /// Returns the union of `sets`.
    fn union(&mut self, sets: impl Iterator<Item = u32>) -> Result<u32, LimitReached> {
        self.unions += 1;
        self.seen.resize(self.distinct.len(), 0);
        let (mut only, mut met, mut words) = (TerminalSets::EMPTY, 0, 0);
        for set in sets {
            words += 1;
            if set == TerminalSets::EMPTY
                || std::mem::replace(&mut self.seen[set as usize], self.unions) == self.unions
            {
                continue;
            }
            if met == 1 {
                self.gathered.add(self.distinct.get(only));
            }
            if met > 0 {
                self.gathered.add(self.distinct.get(set));
                words += self.distinct.get(set).len();
            }
            (only, met) = (set, met + 1);
        }
        self.meter.step(STEPS_OF_A_SET * words)?;
        if met < 2 { Ok(only) } else { self.gathered() }
    }

    fn gathered(&mut self) -> Result<u32, LimitReached> {
        let id = self.distinct.id(self.gathered.take());
        self.held.set(self.distinct.bytes())?;
        Ok(id)
    }

    /// Computes the smallest sets that contain the given ones and satisfy `set(x) ⊇ set(y)` for
    /// each edge `x -> y`; section 4.5, with an explicit stack instead of recursion. The sets of a
    /// component are united once it is complete, so no intermediate sets are created.
    fn digraph(&mut self, edges: &Lists<u32>, of: &mut [u32]) -> Result<(), LimitReached> {
        self.meter.step(2 * edges.entries().len())?;
        if edges.entries().is_empty() {
            return Ok(());
        }
        const DONE: u32 = u32::MAX;
        // 0: not visited; otherwise the least stack depth known to be reachable.
        let mut depth = vec![0u32; edges.len()];
        let mut stack: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, u32, u32)> = Vec::new();
        for root in 0..edges.len() {
            // The set of a node without edges is already final.
            if depth[root] != 0 || edges.get(root).is_empty() {
                continue;
            }
            stack.push(root as u32);
            depth[root] = stack.len() as u32;
            calls.push((root as u32, 0, depth[root]));
            while let Some(call) = calls.last_mut() {
                let (node, own) = (call.0 as usize, call.2);
                if let Some(&next) = edges.get(node).get(call.1 as usize) {
                    let next = next as usize;
                    if depth[next] == 0 && !edges.get(next).is_empty() {
                        stack.push(next as u32);
                        depth[next] = stack.len() as u32;
                        calls.push((next as u32, 0, depth[next]));
                        continue;
                    }
                    call.1 += 1;
                    if depth[next] != 0 {
                        depth[node] = depth[node].min(depth[next]);
                    }
                    continue;
                }
                calls.pop();
                if depth[node] == own {
                    let members = &stack[own as usize - 1..];
                    // Successors within the component contribute only sets that are united anyway.
                    let sets = members.iter().flat_map(|member| {
                        let next = edges.get(*member as usize).iter().chain([member]);
                        next.map(|&one| of[one as usize])
                    });
                    let set = self.union(sets)?;
                    for member in stack.drain(own as usize - 1..) {
                        depth[member as usize] = DONE;
                        of[member as usize] = set;
                    }
                }
            }
        }
        Ok(())
    }
}
