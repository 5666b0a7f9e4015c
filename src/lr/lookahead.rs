//! LALR(1) look-ahead sets by DeRemer and Pennello (1982), section 4: DR, reads, includes,
//! lookback, and their "digraph" algorithm (Tarjan's components, with a set per component).
//!
//! Invariant: the set of a reduction is the union of Follow over the nonterminal edges it looks
//! back to, and Follow is exact for the LR(0) automaton: no terminal of a set is without a viable
//! prefix on which it may really follow.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::lr0::Automaton;
use super::rules::{Code, Rules};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// For each reduction, numbered as in [`Automaton::complete`], the terminals (and `$`) it is right
/// for.
#[derive(Clone, Debug)]
pub(super) struct LookAheads {
    sets: Sets,
}

impl LookAheads {
    /// Computes all sets. Nearly linear in the relations' size times the words of a set.
    pub(super) fn compute(
        rules: &Rules,
        automaton: &Automaton,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let gotos = Gotos::new(automaton);
        let width = (rules.terminal_count() + 1).div_ceil(64);
        let reductions = automaton.complete.entries().len();
        let words = (gotos.targets.len() + reductions).saturating_mul(width);
        meter.step(words)?;
        let mut held = meter.holding();
        held.set(words * size_of::<u64>())?;

        // Read, section 4.1 and 4.2: what can be read right after the edge, also beyond nullable
        // nonterminals.
        let mut follow = Sets::new(gotos.targets.len(), width);
        let (mut reads, mut counted) = (Lists::new(), 0);
        for (edge, &target) in gotos.targets.iter().enumerate() {
            for shift in automaton.by_terminals(target as usize) {
                follow.insert(edge, shift.symbol as usize);
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
                held.set(words * size_of::<u64>() + counted)?;
            }
        }
        if let Some(edge) = gotos.find(automaton, 0, rules.rhs(rules.accept())[0]) {
            follow.insert(edge, rules.end() as usize);
        }
        digraph(&reads, &mut follow, meter)?;
        drop(reads);

        // Follow, section 4.3: what follows the left side follows an end of the right side.
        let relations = Relations::draw(rules, automaton, &gotos, meter)?;
        held.set(words * size_of::<u64>() + relations.bytes())?;
        digraph(&relations.includes, &mut follow, meter)?;

        let mut sets = relations.look_back(&follow, meter)?;
        // `$accept -> start .` has no edge to look back to.
        for state in 0..automaton.state_count() {
            for (at, &production) in
                automaton.complete.range(state).zip(automaton.complete.get(state))
            {
                if production == rules.accept() {
                    sets.insert(at, rules.end() as usize);
                }
            }
        }
        Ok(Self { sets })
    }

    /// The words of the set of one reduction, `$` being the highest bit used.
    pub(super) fn words(&self, reduction: usize) -> &[u64] {
        self.sets.get(reduction)
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.sets.words.len() * size_of::<u64>()
    }

    /// How many words a set has.
    pub(super) fn width(&self) -> usize {
        self.sets.width
    }

    /// Whether the reduction is right for `terminal`.
    pub(super) fn contains(&self, reduction: usize, terminal: usize) -> bool {
        self.words(reduction)[terminal / 64] >> (terminal % 64) & 1 == 1
    }

    /// Takes a terminal out: precedence decided against the reduction.
    pub(super) fn remove(&mut self, reduction: usize, terminal: usize) {
        self.sets.words[reduction * self.sets.width + terminal / 64] &= !(1 << (terminal % 64));
    }

    /// Takes all terminals out: the reduction adds nothing.
    pub(super) fn clear(&mut self, reduction: usize) {
        self.sets.words[reduction * self.sets.width..][..self.sets.width].fill(0);
    }
}

/// The edges by nonterminals, numbered by state and then by symbol.
struct Gotos {
    /// By state: the number of its first edge.
    starts: Vec<u32>,
    /// By edge: the state it leads to.
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

/// Section 4.3 and 4.4.
struct Relations {
    /// By edge: the edges whose Follow it includes.
    includes: Lists<u32>,
    /// By reduction: the edges whose Follow it takes.
    lookback: Lists<u32>,
}

impl Relations {
    /// Runs every production from every state where it begins.
    fn draw(
        rules: &Rules,
        automaton: &Automaton,
        gotos: &Gotos,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let (mut includes, mut lookback) = (Vec::new(), Vec::new());
        // The states on the way of a production, each with the edge that led to it, as it stands
        // among those of the state before. The next production of the nonterminal often begins with
        // the same symbols.
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
                        let at = at.expect("a closed state has an edge by each next symbol");
                        way.push((edges[at].target as usize, at));
                    }
                    // Behind these only the empty text need follow.
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
                    let at = automaton.complete.get(state).binary_search(&production);
                    let at = at.expect("a production that was run through is complete");
                    lookback.push(((automaton.complete.range(state).start + at) as u32, edge));
                }
            }
        }
        let reductions = automaton.complete.entries().len();
        Ok(Self {
            includes: Lists::from_pairs(gotos.targets.len(), &includes),
            lookback: Lists::from_pairs(reductions, &lookback),
        })
    }

    /// The sets of the reductions, from Follow of the edges. All productions of a nonterminal that
    /// begin wherever it stands look back to the same edges; these are united once.
    fn look_back(&self, follow: &Sets, meter: &Meter) -> Result<Sets, LimitReached> {
        let mut sets = Sets::new(self.lookback.len(), follow.width);
        let mut first: HashMap<&[u32], usize, FxBuildHasher> = HashMap::default();
        for reduction in 0..self.lookback.len() {
            let edges = self.lookback.get(reduction);
            let same = *first.entry(edges).or_insert(reduction);
            if same != reduction {
                sets.copy(reduction, same);
                continue;
            }
            meter.step(edges.len() * (1 + follow.width / 4))?;
            edges.iter().for_each(|&edge| sets.add(reduction, follow.get(edge as usize)));
        }
        Ok(sets)
    }

    /// Heap bytes, about.
    fn bytes(&self) -> usize {
        4 * (self.includes.entries().len() + self.lookback.entries().len())
    }
}

/// An edge that is read beyond, in a list that has room for as many again.
const BYTES_OF_A_READ: usize = 2 * size_of::<u32>();

/// One state may have millions of pairs, so these are counted on the way.
const BYTES_AT_ONCE: usize = 1 << 20;

/// The edge of a place is searched for.
const STEPS_OF_A_PLACE: usize = 4;

/// Sets of equal width, end to end.
#[derive(Clone, Debug)]
struct Sets {
    width: usize,
    words: Vec<u64>,
}

impl Sets {
    fn new(count: usize, width: usize) -> Self {
        Self { width, words: vec![0; count * width] }
    }

    fn get(&self, set: usize) -> &[u64] {
        &self.words[set * self.width..][..self.width]
    }

    fn insert(&mut self, set: usize, terminal: usize) {
        self.words[set * self.width + terminal / 64] |= 1 << (terminal % 64);
    }

    fn union(&mut self, to: usize, from: usize) {
        for word in 0..self.width {
            self.words[to * self.width + word] |= self.words[from * self.width + word];
        }
    }

    /// Adds the terminals of a set that is held elsewhere.
    fn add(&mut self, to: usize, words: &[u64]) {
        let own = &mut self.words[to * self.width..][..self.width];
        own.iter_mut().zip(words).for_each(|(own, word)| *own |= word);
    }

    fn copy(&mut self, to: usize, from: usize) {
        self.words.copy_within(from * self.width..(from + 1) * self.width, to * self.width);
    }
}

/// The smallest sets that hold the given ones and satisfy `set(x) ⊇ set(y)` for each edge `x -> y`;
/// section 4.5, with the recursion on a stack of our own.
fn digraph(edges: &Lists<u32>, sets: &mut Sets, meter: &Meter) -> Result<(), LimitReached> {
    meter.step(edges.entries().len() * (2 + sets.width / 4))?;
    const DONE: u32 = u32::MAX;
    // 0: not seen; else the least depth on the stack that is known to be reachable.
    let mut depth = vec![0u32; edges.len()];
    let mut stack: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, u32, u32)> = Vec::new();
    for root in 0..edges.len() {
        if depth[root] != 0 {
            continue;
        }
        stack.push(root as u32);
        depth[root] = stack.len() as u32;
        calls.push((root as u32, 0, depth[root]));
        while let Some(call) = calls.last_mut() {
            let (node, own) = (call.0 as usize, call.2);
            if let Some(&next) = edges.get(node).get(call.1 as usize) {
                let next = next as usize;
                if depth[next] == 0 {
                    stack.push(next as u32);
                    depth[next] = stack.len() as u32;
                    calls.push((next as u32, 0, depth[next]));
                    continue;
                }
                call.1 += 1;
                depth[node] = depth[node].min(depth[next]);
                sets.union(node, next);
                continue;
            }
            calls.pop();
            if depth[node] == own {
                while let Some(member) = stack.pop() {
                    depth[member as usize] = DONE;
                    if member as usize == node {
                        break;
                    }
                    sets.copy(member as usize, node);
                }
            }
        }
    }
    Ok(())
}
