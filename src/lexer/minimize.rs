//! Minimisation of a DFA: trim, refine, number.
//!
//! The initial partition is by the lengths of the states' shortest suffixes. A few rounds of
//! Moore's algorithm, by hashing whole rows, settle nearly all patterns, above all those with large
//! character classes: such rows have many entries and few runs. The rest (long chains, which take a
//! round for each step) is refined by Hopcroft's algorithm in the form of A. Valmari, "Fast brief
//! practical DFA minimization" (Information Processing Letters 112, 2012): transition functions may
//! be partial, and the cost is O(m log m) for m transitions to live states, whatever the size of
//! the alphabet. Both apply only to states reachable from a cycle. The others, the majority where
//! lengths are counted or words are listed, are numbered in one backward pass (D. Revuz,
//! "Minimisation of acyclic deterministic automata in linear time", Theoretical Computer Science
//! 92, 1992).

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::lexer::columns::{self, Runs};
use crate::lexer::dfa::{Dfa, Trailing};
use crate::lexer::partition::Partition;
use crate::util::byte_classes::ByteClasses;
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// A complete description of a DFA that need not be minimal. State 0 is the start; every state is
/// reachable from it.
#[derive(Debug)]
pub(super) struct RawDfa {
    pub(super) classes: ByteClasses,
    /// `state * classes + class`; [`Dfa::DEAD`] for none.
    pub(super) table: Vec<u32>,
    pub(super) accept: Vec<bool>,
    /// The conditions on the text after a lexeme, by accepting state.
    pub(super) trailing: Option<Trailing>,
}

/// Rounds of Moore's algorithm before Hopcroft's takes over.
const ROUNDS: usize = 6;

impl RawDfa {
    /// Returns the minimal DFA of the same language.
    ///
    /// # Errors
    ///
    /// If a limit of `meter` is reached.
    pub(super) fn minimize(self, meter: &Meter) -> Result<Dfa, LimitReached> {
        // The runs are scanned about ten times, mostly by hashing; a splitter costs more, but few
        // automata need many.
        meter.step(2 * self.table.len() + 20 * self.accept.len())?;
        let mut held = meter.holding();
        held.set(self.table.len() * size_of::<u32>() + self.accept.len() * 32)?;
        let runs = self.runs();
        meter.step(20 * runs.entries().len())?;
        held.set(
            (self.table.len() + 4 * runs.entries().len()) * size_of::<u32>()
                + self.accept.len() * 32,
        )?;
        Ok(self.minimal(&runs))
    }

    /// [`RawDfa::minimize`] for an automaton hardly larger than one whose cost was already counted.
    pub(super) fn minimize_uncounted(self) -> Dfa {
        let runs = self.runs();
        self.minimal(&runs)
    }

    fn minimal(&self, runs: &Runs) -> Dfa {
        let distance = distances(runs, &self.accept);
        let blocks = self.refine(runs, &distance);
        self.quotient(runs, &blocks, &distance)
    }

    /// Removes the states that the start does not reach.
    pub(super) fn drop_unreachable(&mut self) {
        let width = self.width();
        let mut number = vec![Dfa::DEAD; self.accept.len()];
        number[0] = 0;
        let mut order = vec![0usize];
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            at += 1;
            for &next in &self.table[state * width..][..width] {
                if next != Dfa::DEAD && number[next as usize] == Dfa::DEAD {
                    number[next as usize] = order.len() as u32;
                    order.push(next as usize);
                }
            }
        }
        let renumbered = |&next: &u32| number.get(next as usize).copied().unwrap_or(Dfa::DEAD);
        let rows = order.iter().flat_map(|&state| &self.table[state * width..][..width]);
        self.table = rows.map(renumbered).collect();
        self.accept = order.iter().map(|&state| self.accept[state]).collect();
        if let Some(trailing) = &mut self.trailing {
            trailing.of = order.iter().map(|&state| trailing.of[state]).collect();
        }
    }

    fn width(&self) -> usize {
        self.classes.count()
    }

    /// Returns the rows of the table as runs.
    fn runs(&self) -> Runs {
        let mut runs = Runs::with_capacity(self.accept.len(), 4 * self.accept.len());
        for row in self.table.chunks_exact(self.width()) {
            let mut class = 0;
            while let Some(&next) = row.get(class) {
                runs.push((class as u8, next));
                class += row[class..].iter().take_while(|&&other| other == next).count();
            }
            runs.close();
        }
        runs
    }

    /// Returns the coarsest partition of the live states whose blocks agree on acceptance and on
    /// moves; dead states, which reach no accepting one, get the block [`Dfa::DEAD`].
    fn refine(&self, runs: &Runs, distance: &[u32]) -> Vec<u32> {
        // States of one block have shortest suffixes of one length, and the same condition on the
        // text after.
        let mut blocks = distance.to_vec();
        if let Some(trailing) = &self.trailing {
            let longest = distance.iter().filter(|&&length| length != u32::MAX).max();
            let asking = blocks.iter_mut().zip(&trailing.of).filter(|&(_, &asked)| asked > 0);
            asking.for_each(|(block, asked)| *block = longest.unwrap_or(&0) + asked);
        }
        let front = acyclic_front(runs, distance);
        if front.is_empty() {
            return self.refine_cycles(runs, blocks);
        }
        // States reachable from cycles lead only to each other, and are refined by themselves.
        let own = blocks.clone();
        front.iter().for_each(|&state| blocks[state as usize] = Dfa::DEAD);
        let mut blocks = self.refine_cycles(runs, blocks);
        let mut known = Signatures::new(front.len());
        // By block, one of its states.
        let mut of: Vec<u32> = Vec::new();
        for (state, &block) in (0..).zip(&blocks).filter(|(_, block)| **block != Dfa::DEAD) {
            if of.len() <= block as usize {
                of.resize(block as usize + 1, Dfa::DEAD);
            }
            of[block as usize] = state;
        }
        let count = of.len() as u32;
        for (block, &state) in (0..count).zip(&of) {
            if state != Dfa::DEAD {
                known.enter(own[state as usize], runs.get(state as usize), &blocks, block);
            }
        }
        let mut fresh = count;
        for &state in front.iter().rev() {
            let state = state as usize;
            let block = known.enter(own[state], runs.get(state), &blocks, fresh);
            fresh += u32::from(block == fresh);
            blocks[state] = block;
        }
        blocks
    }

    /// [`RawDfa::refine`] for the case that all live states lie on cycles or are reachable from
    /// them.
    fn refine_cycles(&self, runs: &Runs, mut blocks: Vec<u32>) -> Vec<u32> {
        let live = blocks.iter().filter(|&&block| block != Dfa::DEAD).count();
        let mut count = 0;
        for _ in 0..ROUNDS {
            let (finer, met) = round(runs, &blocks);
            blocks = finer;
            if met == count || met == live {
                return blocks;
            }
            count = met;
        }
        self.refine_by_splitters(&blocks, count)
    }

    /// [`RawDfa::refine`] from `count` blocks that are not fine enough.
    fn refine_by_splitters(&self, coarse: &[u32], count: usize) -> Vec<u32> {
        let width = self.width();
        let states: Vec<usize> =
            (0..coarse.len()).filter(|&state| coarse[state] != Dfa::DEAD).collect();
        let mut position = vec![Dfa::DEAD; coarse.len()];
        for (i, &state) in states.iter().enumerate() {
            position[state] = i as u32;
        }
        // Transitions between live states; the initial cords are those over one class.
        let (mut tails, mut labels, mut incoming) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &state) in states.iter().enumerate() {
            for (class, &next) in self.table[state * width..][..width].iter().enumerate() {
                if next != Dfa::DEAD && coarse[next as usize] != Dfa::DEAD {
                    incoming.push((position[next as usize], tails.len() as u32));
                    tails.push(i as u32);
                    labels.push(class as u32);
                }
            }
        }
        let incoming = Lists::from_pairs(states.len(), &incoming);
        let numbers: Vec<u32> = states.iter().map(|&state| coarse[state]).collect();
        let mut blocks = Partition::new(&numbers, count);
        let mut cords = Partition::new(&labels, width);
        let (mut block, mut cord) = (1, 0);
        while cord < cords.count() {
            for i in cords.range(cord) {
                blocks.mark(tails[cords.elements[i] as usize]);
            }
            blocks.split();
            cord += 1;
            while block < blocks.count() {
                for i in blocks.range(block) {
                    for &transition in incoming.get(blocks.elements[i] as usize) {
                        cords.mark(transition);
                    }
                }
                cords.split();
                block += 1;
            }
        }
        position
            .into_iter()
            .map(|i| if i == Dfa::DEAD { Dfa::DEAD } else { blocks.set_of[i as usize] })
            .collect()
    }

    /// Returns the DFA with one state for each block, numbered breadth first, and one class for
    /// each distinct column.
    fn quotient(&self, runs: &Runs, blocks: &[u32], distance: &[u32]) -> Dfa {
        if blocks.first().is_none_or(|&block| block == Dfa::DEAD) {
            return Dfa::new(ByteClasses::one(), Vec::new(), Vec::new());
        }
        // Classes are in the order of their smallest bytes, so states are found in the order of the
        // smallest bytes that lead to them, however fine the classes are: the numbering depends on
        // the language alone.
        let mut number = vec![Dfa::DEAD; blocks.len()];
        let mut order: Vec<u32> = vec![0];
        let mut numbered = Runs::with_capacity(blocks.len(), runs.entries().len());
        number[blocks[0] as usize] = 0;
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            at += 1;
            for &(class, next) in runs.get(state as usize) {
                let block = if next == Dfa::DEAD { Dfa::DEAD } else { blocks[next as usize] };
                let to = match number.get_mut(block as usize) {
                    None => Dfa::DEAD,
                    Some(to) => {
                        if *to == Dfa::DEAD {
                            *to = order.len() as u32;
                            order.push(next);
                        }
                        *to
                    }
                };
                numbered.push((class, to));
            }
            numbered.close();
        }
        let (classes, table) = columns::table(&self.classes, &numbered);
        let distance = order.iter().map(|&state| distance[state as usize]).collect();
        let trailing = self.trailing.as_ref().map(|trailing| trailing.reordered(&order));
        Dfa { trailing: trailing.map(Box::new), ..Dfa::new(classes, table, distance) }
    }
}

impl Trailing {
    /// Returns the same for the states in this order, with conditions numbered in the order of
    /// their first use.
    fn reordered(&self, order: &[u32]) -> Self {
        let mut met: Vec<u32> = Vec::new();
        let of = order.iter().map(|&state| match self.of[state as usize] {
            0 => 0,
            asked => {
                let place = met.iter().position(|&known| known == asked).unwrap_or_else(|| {
                    met.push(asked);
                    met.len() - 1
                });
                place as u32 + 1
            }
        });
        let of = of.collect();
        Self {
            of,
            conditions: met
                .iter()
                .map(|&asked| self.conditions[asked as usize - 1].clone())
                .collect(),
        }
    }
}

/// Returns the DFA with these runs and accepting states. All states must be live, no two may have
/// the same residual language, and they must be numbered in breadth-first order by class.
///
/// # Errors
///
/// If a limit of `meter` is reached.
pub(super) fn numbered(
    classes: &ByteClasses,
    runs: &Runs,
    accept: &[bool],
    meter: &Meter,
) -> Result<Dfa, LimitReached> {
    let cells = runs.len() * classes.count();
    meter.step(cells + 10 * accept.len())?;
    let mut held = meter.holding();
    held.set((cells + 4 * runs.entries().len()) * size_of::<u32>())?;
    let (classes, table) = columns::table(classes, runs);
    Ok(Dfa::new(classes, table, distances(runs, accept)))
}

/// Returns, by state, the length of its shortest suffix; `u32::MAX` if there is none.
fn distances(runs: &Runs, accept: &[bool]) -> Vec<u32> {
    if let Some(distances) = distances_onward(runs, accept) {
        return distances;
    }
    let mut moves: Vec<(u32, u32)> = Vec::with_capacity(runs.entries().len());
    for state in 0..accept.len() {
        let to = runs.get(state).iter().filter(|&&(_, next)| next != Dfa::DEAD);
        moves.extend(to.map(|&(_, next)| (next, state as u32)));
    }
    let sources = Lists::from_pairs(accept.len(), &moves);
    let mut distance = vec![u32::MAX; accept.len()];
    let mut queue: Vec<usize> = (0..accept.len()).filter(|&state| accept[state]).collect();
    queue.iter().for_each(|&state| distance[state] = 0);
    let mut at = 0;
    while let Some(&state) = queue.get(at) {
        at += 1;
        for &before in sources.get(state) {
            if distance[before as usize] == u32::MAX {
                distance[before as usize] = distance[state] + 1;
                queue.push(before as usize);
            }
        }
    }
    distance
}

/// Returns the same if every move leads to a later state or to the state itself, else `None`.
fn distances_onward(runs: &Runs, accept: &[bool]) -> Option<Vec<u32>> {
    let mut distances = vec![u32::MAX; accept.len()];
    for state in (0..accept.len()).rev() {
        let mut least = u32::MAX;
        for &(_, next) in runs.get(state) {
            if next == Dfa::DEAD || next as usize == state {
                continue;
            }
            if (next as usize) < state {
                return None;
            }
            least = least.min(distances[next as usize].saturating_add(1));
        }
        distances[state] = if accept[state] { 0 } else { least };
    }
    Some(distances)
}

/// Returns the live states that no cycle leads to, each before its successors (Kahn 1962).
fn acyclic_front(runs: &Runs, distance: &[u32]) -> Vec<u32> {
    let is_live =
        |state: u32| distance.get(state as usize).is_some_and(|&distance| distance != u32::MAX);
    let targets = |state: u32| {
        runs.get(state as usize).iter().map(|&(_, next)| next).filter(|&next| is_live(next))
    };
    let states = 0..distance.len() as u32;
    let mut entries = vec![0u32; distance.len()];
    for next in states.clone().filter(|&state| is_live(state)).flat_map(targets) {
        entries[next as usize] += 1;
    }
    let mut front: Vec<u32> =
        states.filter(|&state| is_live(state) && entries[state as usize] == 0).collect();
    let mut at = 0;
    while let Some(&state) = front.get(at) {
        at += 1;
        for next in targets(state) {
            entries[next as usize] -= 1;
            if entries[next as usize] == 0 {
                front.push(next);
            }
        }
    }
    front
}

/// Signatures, on which the states of a block agree, with the numbers of the blocks.
struct Signatures {
    /// All signatures, end to end.
    known: Lists<u32>,
    blocks: Vec<u32>,
    ids: HashTable<u32>,
    /// The signature that is being looked up.
    own: Vec<u32>,
}

impl Signatures {
    /// Creates an empty set with room for this many states.
    fn new(states: usize) -> Self {
        Self {
            known: Lists::with_capacity(states, 8 * states),
            blocks: Vec::with_capacity(states),
            ids: HashTable::with_capacity(states),
            own: Vec::new(),
        }
    }

    /// Returns the block of a state of block `coarse` whose moves are `runs` to states of `blocks`,
    /// or `fresh` if its signature is new.
    fn enter(&mut self, coarse: u32, runs: &[(u8, u32)], blocks: &[u32], fresh: u32) -> u32 {
        let Self { known, ids, own, .. } = self;
        own.clear();
        own.push(coarse);
        let mut before = None;
        for &(class, next) in runs {
            let to = if next == Dfa::DEAD { Dfa::DEAD } else { blocks[next as usize] };
            if before != Some(to) {
                before = Some(to);
                own.extend([u32::from(class), to]);
            }
        }
        let hash = FxBuildHasher.hash_one(&*own);
        if let Some(&id) = ids.find(hash, |&id| known.get(id as usize) == *own) {
            return self.blocks[id as usize];
        }
        known.extend(own);
        let id = known.close() as u32;
        ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(known.get(id as usize)));
        self.blocks.push(fresh);
        fresh
    }
}

/// Performs one round of Moore's algorithm: states stay in one block if their moves lead to the
/// same blocks. Also returns the number of blocks.
fn round(runs: &Runs, blocks: &[u32]) -> (Vec<u32>, usize) {
    let live = blocks.iter().filter(|&&block| block != Dfa::DEAD).count();
    let mut signatures = Signatures::new(live);
    let mut finer = Vec::with_capacity(blocks.len());
    let mut count = 0;
    for (state, &block) in blocks.iter().enumerate() {
        if block == Dfa::DEAD {
            finer.push(Dfa::DEAD);
            continue;
        }
        let found = signatures.enter(block, runs.get(state), blocks, count);
        count += u32::from(found == count);
        finer.push(found);
    }
    (finer, count as usize)
}
