//! From any DFA to the minimal one: trim, refine, number.
//!
//! The refinement is Hopcroft's in the form of A. Valmari, "Fast brief practical DFA minimization" (Information
//! Processing Letters 112, 2012): transition functions may be partial, and the cost is O(m log m) for m
//! transitions to live states, whatever the size of the alphabet.

use crate::lexer::dfa::Dfa;
use crate::util::byte_classes::ByteClasses;

/// A complete description of a DFA that need be neither trimmed nor minimal. State 0 is the start.
#[derive(Debug)]
pub(super) struct RawDfa {
    pub(super) classes: ByteClasses,
    /// `state * classes + class`; [`Dfa::DEAD`] for none.
    pub(super) table: Vec<u32>,
    pub(super) accept: Vec<bool>,
}

impl RawDfa {
    /// The minimal DFA of the same language.
    pub(super) fn minimize(self) -> Dfa {
        let live = self.live();
        let blocks = self.refine(&live);
        self.quotient(&blocks)
    }

    fn width(&self) -> usize {
        self.classes.count()
    }

    /// Which states are reachable and reach an accepting state.
    fn live(&self) -> Vec<bool> {
        let count = self.accept.len();
        let mut reachable = vec![false; count];
        let mut stack = Vec::new();
        if count > 0 {
            reachable[0] = true;
            stack.push(0);
        }
        while let Some(state) = stack.pop() {
            for &next in &self.table[state * self.width()..][..self.width()] {
                if next != Dfa::DEAD && !std::mem::replace(&mut reachable[next as usize], true) {
                    stack.push(next as usize);
                }
            }
        }
        let reverse = Reverse::new(count, self.width(), &self.table);
        let mut live = vec![false; count];
        let mut stack: Vec<u32> =
            (0..count).filter(|&s| self.accept[s] && reachable[s]).map(|s| s as u32).collect();
        for &state in &stack {
            live[state as usize] = true;
        }
        while let Some(state) = stack.pop() {
            for &before in reverse.sources(state) {
                if reachable[before as usize] && !std::mem::replace(&mut live[before as usize], true) {
                    stack.push(before);
                }
            }
        }
        live
    }

    /// The coarsest partition of the live states whose blocks agree on acceptance and on moves. Dead states get
    /// the block [`Dfa::DEAD`].
    fn refine(&self, live: &[bool]) -> Vec<u32> {
        let width = self.width();
        let states: Vec<u32> = (0..live.len() as u32).filter(|&s| live[s as usize]).collect();
        let mut position = vec![Dfa::DEAD; live.len()];
        for (i, &state) in states.iter().enumerate() {
            position[state as usize] = i as u32;
        }
        // Transitions between live states, by class: the initial cords are runs.
        let (mut tails, mut heads, mut runs) = (Vec::new(), Vec::new(), Vec::new());
        for class in 0..width {
            for (i, &state) in states.iter().enumerate() {
                let next = self.table[state as usize * width + class];
                if next != Dfa::DEAD && live[next as usize] {
                    tails.push(i as u32);
                    heads.push(position[next as usize]);
                }
            }
            if runs.last().copied().unwrap_or(0) < heads.len() {
                runs.push(heads.len());
            }
        }
        let mut incoming_start = vec![0u32; states.len() + 1];
        for &head in &heads {
            incoming_start[head as usize + 1] += 1;
        }
        for i in 0..states.len() {
            incoming_start[i + 1] += incoming_start[i];
        }
        let mut incoming = vec![0u32; heads.len()];
        let mut fill = incoming_start.clone();
        for (transition, &head) in heads.iter().enumerate() {
            incoming[fill[head as usize] as usize] = transition as u32;
            fill[head as usize] += 1;
        }

        let mut blocks = Partition::new(states.len(), &[states.len()]);
        for (i, &state) in states.iter().enumerate() {
            if self.accept[state as usize] {
                blocks.mark(i as u32);
            }
        }
        blocks.split();
        let mut cords = Partition::new(heads.len(), &runs);
        let (mut block, mut cord) = (1, 0);
        while cord < cords.count() {
            for i in cords.range(cord) {
                blocks.mark(tails[cords.elements[i] as usize]);
            }
            blocks.split();
            cord += 1;
            while block < blocks.count() {
                for i in blocks.range(block) {
                    let state = blocks.elements[i] as usize;
                    for &transition in
                        &incoming[incoming_start[state] as usize..incoming_start[state + 1] as usize]
                    {
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

    /// One state for each block, numbered breadth first, and one class for each distinct column.
    fn quotient(&self, blocks: &[u32]) -> Dfa {
        if blocks.first().is_none_or(|&block| block == Dfa::DEAD) {
            return Dfa::from_minimal(ByteClasses::one(), Vec::new(), &[]);
        }
        let width = self.width();
        // Classes are in the order of their smallest bytes, so states are met in the order of the smallest bytes
        // that lead to them, however fine the classes are: the numbering depends on the language alone.
        let mut number = vec![Dfa::DEAD; blocks.len()];
        let mut order: Vec<u32> = vec![0];
        let mut rows: Vec<u32> = Vec::new();
        number[blocks[0] as usize] = 0;
        let mut at = 0;
        while let Some(&state) = order.get(at) {
            at += 1;
            for class in 0..width {
                let next = self.table[state as usize * width + class];
                let block = if next == Dfa::DEAD { Dfa::DEAD } else { blocks[next as usize] };
                if block == Dfa::DEAD {
                    rows.push(Dfa::DEAD);
                    continue;
                }
                if number[block as usize] == Dfa::DEAD {
                    number[block as usize] = order.len() as u32;
                    order.push(next);
                }
                rows.push(number[block as usize]);
            }
        }
        let accept: Vec<bool> = order.iter().map(|&state| self.accept[state as usize]).collect();
        let (classes, table) = merge_equal_columns(&self.classes, &rows, order.len());
        Dfa::from_minimal(classes, table, &accept)
    }
}

/// Makes one class of all classes that no row tells apart.
fn merge_equal_columns(classes: &ByteClasses, rows: &[u32], states: usize) -> (ByteClasses, Vec<u32>) {
    let width = classes.count();
    // Partition refinement row by row; most rows change nothing, and that is found without hashing.
    let mut group = vec![0u32; width];
    let mut leader = vec![0usize];
    for row in rows.chunks_exact(width) {
        if leader.len() == width {
            break;
        }
        if (0..width).all(|class| row[class] == row[leader[group[class] as usize]]) {
            continue;
        }
        let mut known = rustc_hash::FxHashMap::default();
        leader.clear();
        for (class, &next) in row.iter().enumerate() {
            group[class] = *known.entry((group[class], next)).or_insert_with(|| {
                leader.push(class);
                (leader.len() - 1) as u32
            });
        }
    }
    let merged = ByteClasses::by_key(|byte| group[usize::from(classes.get(byte))]);
    let mut table = Vec::with_capacity(states * merged.count());
    for row in rows.chunks_exact(width) {
        table.extend(merged.representatives().iter().map(|&byte| row[usize::from(classes.get(byte))]));
    }
    (merged, table)
}

/// Who has a move to a state, for all states.
pub(super) struct Reverse {
    start: Vec<u32>,
    sources: Vec<u32>,
}

impl Reverse {
    pub(super) fn new(states: usize, width: usize, table: &[u32]) -> Self {
        // A row often has many classes to one and the same state: neighbours are counted once.
        let moves = || {
            table.chunks_exact(width).enumerate().flat_map(|(state, row)| {
                let fresh = move |&class: &usize| {
                    row[class] != Dfa::DEAD && (class == 0 || row[class - 1] != row[class])
                };
                (0..width).filter(fresh).map(move |class| (state as u32, row[class]))
            })
        };
        let mut start = vec![0u32; states + 1];
        for (_, to) in moves() {
            start[to as usize + 1] += 1;
        }
        for i in 0..states {
            start[i + 1] += start[i];
        }
        let mut fill = start.clone();
        let mut sources = vec![0u32; start[states] as usize];
        for (from, to) in moves() {
            sources[fill[to as usize] as usize] = from;
            fill[to as usize] += 1;
        }
        Self { start, sources }
    }

    /// The states with a move to `state`; some may come twice.
    pub(super) fn sources(&self, state: u32) -> &[u32] {
        &self.sources[self.start[state as usize] as usize..self.start[state as usize + 1] as usize]
    }
}

/// Valmari's refinable partition: sets are ranges of `elements`; marked elements stand at the front of theirs.
struct Partition {
    elements: Vec<u32>,
    location: Vec<u32>,
    set_of: Vec<u32>,
    first: Vec<u32>,
    past: Vec<u32>,
    marked: Vec<u32>,
    touched: Vec<u32>,
}

impl Partition {
    /// Elements `0..count`, in sets that end at `ends`.
    fn new(count: usize, ends: &[usize]) -> Self {
        let mut partition = Self {
            elements: (0..count as u32).collect(),
            location: (0..count as u32).collect(),
            set_of: vec![0; count],
            first: Vec::new(),
            past: Vec::new(),
            marked: Vec::new(),
            touched: Vec::new(),
        };
        let mut start = 0;
        for &end in ends.iter().filter(|&&end| end > 0) {
            partition.set_of[start..end].fill(partition.first.len() as u32);
            partition.first.push(start as u32);
            partition.past.push(end as u32);
            partition.marked.push(0);
            start = end;
        }
        partition
    }

    fn count(&self) -> usize {
        self.first.len()
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set] as usize..self.past[set] as usize
    }

    /// Marks an element that is not marked yet, or does nothing.
    fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let at = self.location[element as usize];
        let to = self.first[set] + self.marked[set];
        if at < to {
            return;
        }
        let other = self.elements[to as usize];
        self.elements[at as usize] = other;
        self.location[other as usize] = at;
        self.elements[to as usize] = element;
        self.location[element as usize] = to;
        if self.marked[set] == 0 {
            self.touched.push(set as u32);
        }
        self.marked[set] += 1;
    }

    /// Splits every set with marked and unmarked elements; the smaller part becomes a new set.
    fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let middle = self.first[set] + self.marked[set];
            if middle == self.past[set] {
                self.marked[set] = 0;
                continue;
            }
            let fresh = self.first.len() as u32;
            if self.marked[set] <= self.past[set] - middle {
                self.first.push(self.first[set]);
                self.past.push(middle);
                self.first[set] = middle;
            } else {
                self.first.push(middle);
                self.past.push(self.past[set]);
                self.past[set] = middle;
            }
            for i in self.range(fresh as usize) {
                self.set_of[self.elements[i] as usize] = fresh;
            }
            self.marked[set] = 0;
            self.marked.push(0);
        }
    }
}
