//! The trie over stacks: from what a mask's computation read of a configuration to the mask.
//!
//! It is keyed by scan state, obligations and top parse state, and goes on over the next parse
//! state down the stack wherever the computation read deeper (Willard and Louf 2023, section 4.1),
//! and over the answer wherever it asked something of the layout. Another configuration that reads
//! the same finds the mask. Paths never contradict each other: a computation that got the same
//! answers so far reads the same next.
//!
//! Of the places on paths more than nine in ten have one way on. So a path is stored as a whole,
//! from where it forks off another to its leaf: a run of reads, which are compared one by one, and
//! found by a look-up only where they differ. Equal runs are stored once. (The road not taken: an
//! entry for each read. It took nearly five times the memory, and a look-up for each.)

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use smallvec::SmallVec;

use crate::lr::stack::Stack;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Layout, Lexis, Lines, ObligationsId, Question, Read};
use crate::util::append::Interner;
use crate::util::append_map::AppendMap;
use crate::util::id::{CoreId, ScanStateId};

/// From what was read to what came of it: `K` is what is always read, `L` what came. Read without
/// locks.
#[derive(Debug)]
pub(crate) struct StackTrie<K, L> {
    pub(crate) roots: AppendMap<K, Path<L>>,
    pub(crate) forks: AppendMap<Fork, Path<L>>,
    /// How many paths have a number.
    pub(crate) count: AtomicU32,
    /// What paths read: the core of the next state down the stack, or [`STATE`] or [`ASKS`] and the
    /// number of a question, and then the answer.
    pub(crate) runs: Interner<Box<[u32]>>,
    /// Bytes that these hold.
    pub(crate) run_bytes: AtomicUsize,
    pub(crate) questions: Interner<Question>,
    /// Those that were asked for as a whole.
    pub(crate) layouts: AppendMap<Lines, u32>,
}

impl<K, L> Default for StackTrie<K, L> {
    fn default() -> Self {
        Self {
            roots: AppendMap::default(),
            forks: AppendMap::default(),
            count: AtomicU32::new(0),
            runs: Interner::default(),
            run_bytes: AtomicUsize::new(0),
            questions: Interner::default(),
            layouts: AppendMap::default(),
        }
    }
}

/// What was read, as the words of a run.
pub(super) type Words = SmallVec<[u32; 16]>;

/// In a run: the layout is asked something. Parse states and the numbers of questions are less.
pub(crate) const ASKS: u32 = 1 << 31;

/// In a run: the state in its context is asked for, not its core alone.
pub(crate) const STATE: u32 = u32::MAX;

/// What was read from a fork on, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Path<L> {
    pub(crate) number: u32,
    pub(crate) run: u32,
    pub(crate) leaf: L,
}

/// Where a path forks off another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fork {
    /// The number of the other.
    pub(crate) path: u32,
    /// Where in its run the read stands that differs.
    pub(crate) at: u32,
    /// What was read instead.
    pub(crate) read: u32,
}

/// What every mask depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    pub(crate) expectations: ExpectationsId,
    pub(crate) top: CoreId,
    /// No byte has been read.
    pub(crate) fresh: bool,
    pub(crate) line: LineKind,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LineKind {
    /// Behind its first lexeme, or lines do not count.
    Inside,
    /// In the blanks before it.
    Counting,
    /// Before it, but behind the blanks that count.
    Counted,
}

/// Something read on a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'t> {
    /// The stack, down to this depth.
    Stack(u32),
    /// The context of the state at this depth.
    State(u32),
    Layout(&'t Question),
}

/// A finished mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its id in [`Masks`](super::storage::Masks).
    pub(crate) mask: u32,
    /// Whether the text may end here is not in the mask: it depends on all open blocks.
    pub(crate) asks_end: bool,
}

/// What looking for a path came to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<L> {
    Leaf(L),
    /// No path reads what is here.
    Nothing,
    /// The path goes on below a fork of the stack: each way is to be looked for by itself.
    PastFork,
}

/// How far a configuration has been compared with a path.
struct Place<'t, 'c, L> {
    path: &'t Path<L>,
    /// What of its run comes next.
    at: usize,
    /// The lowest state read so far is on top.
    stack: &'c Stack,
}

impl<L> Clone for Place<'_, '_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Place<'_, '_, L> {}

impl<K: Hash + Eq + Copy, L: Copy> StackTrie<K, L> {
    /// What came of `key` on this stack and in these lines. Costs a comparison for each thing read,
    /// which `see` is told of, and a look-up for each fork.
    #[inline]
    pub(crate) fn find(
        &self,
        key: &K,
        stack: &Stack,
        layout: &Layout,
        lexis: &Lexis,
        mut see: impl FnMut(Seen<'_>),
    ) -> Found<L> {
        let Some(path) = self.roots.get(key) else { return Found::Nothing };
        self.follow(&mut Place { path, at: 0, stack }, layout.lines(), lexis, &mut see)
    }

    /// The same for all ways of a stack that forks, where all of them are known, and no more than
    /// `most`.
    #[cold]
    #[inline(never)]
    fn find_ways(
        &self,
        key: &K,
        stack: &Stack,
        layout: &Layout,
        lexis: &Lexis,
        most: usize,
    ) -> Option<SmallVec<[L; 8]>> {
        let mut leaves = SmallVec::new();
        let mut places: SmallVec<[Place<'_, '_, L>; 8]> = SmallVec::new();
        places.push(Place { path: self.roots.get(key)?, at: 0, stack });
        while let Some(mut place) = places.pop() {
            // A state over a fork is that of all ways: asked for below, it is to be found by each.
            let mut asks = false;
            let see = &mut |seen: Seen<'_>| asks |= matches!(seen, Seen::State(_));
            let found = self.follow(&mut place, layout.lines(), lexis, see);
            match found {
                Found::Leaf(leaf) if !asks => leaves.push(leaf),
                Found::PastFork if !asks => {
                    let below = place.stack.below();
                    if leaves.len() + places.len() + below.len() > most {
                        return None;
                    }
                    for stack in below {
                        places.push(self.step(place, stack)?);
                    }
                }
                _ => return None,
            }
        }
        Some(leaves)
    }

    /// Goes down a stack as long as there is one way to go.
    #[inline]
    fn follow<'t>(
        &'t self,
        place: &mut Place<'t, '_, L>,
        lines: Option<&Lines>,
        lexis: &Lexis,
        see: &mut impl FnMut(Seen<'_>),
    ) -> Found<L> {
        'paths: loop {
            let run = self.runs.get(place.path.run);
            while let Some(&expected) = run.get(place.at) {
                let (read, expected, next) = match expected & ASKS {
                    0 => {
                        match place.stack.below() {
                            [below] => place.stack = below,
                            [] => return Found::Nothing,
                            _ => return Found::PastFork,
                        }
                        see(Seen::Stack(place.stack.depth()));
                        (place.stack.core().0, expected, place.at + 1)
                    }
                    _ => match (
                        self.answer(place.stack, lines, lexis, expected, see),
                        run.get(place.at + 1),
                    ) {
                        (Some(answer), Some(&expected)) => (answer, expected, place.at + 2),
                        _ => return Found::Nothing,
                    },
                };
                if read != expected {
                    match self.fork(place, read) {
                        Some(fork) => (place.path, place.at) = (fork, 0),
                        None => return Found::Nothing,
                    }
                    continue 'paths;
                }
                place.at = next;
            }
            return Found::Leaf(place.path.leaf);
        }
    }

    /// Reads the next state of one of several ways.
    fn step<'t, 'c>(
        &'t self,
        place: Place<'t, 'c, L>,
        stack: &'c Stack,
    ) -> Option<Place<'t, 'c, L>> {
        let read = stack.core().0;
        if self.runs.get(place.path.run).get(place.at) == Some(&read) {
            return Some(Place { stack, at: place.at + 1, ..place });
        }
        Some(Place { path: self.fork(&place, read)?, at: 0, stack })
    }

    /// The path that forks off here for what was read instead.
    #[inline]
    fn fork(&self, place: &Place<'_, '_, L>, read: u32) -> Option<&Path<L>> {
        self.forks.get(&Fork { path: place.path.number, at: place.at as u32, read })
    }

    #[cold]
    fn answer(
        &self,
        stack: &Stack,
        lines: Option<&Lines>,
        lexis: &Lexis,
        asked: u32,
        see: &mut impl FnMut(Seen<'_>),
    ) -> Option<u32> {
        if asked == STATE {
            see(Seen::State(stack.depth()));
            return Some(stack.state(lexis.table()).0);
        }
        let question = self.questions.get(asked & !ASKS);
        see(Seen::Layout(question));
        match lexis.indentation()?.answer(lines?, question) {
            Some(answer) => Some(answer),
            None => self.layouts.get(lines?).copied(),
        }
    }

    /// Enters what came of `key` where this was read of the stack and the layout; or what did
    /// before.
    pub(crate) fn insert(
        &self,
        key: K,
        stack: &Stack,
        layout: &Layout,
        lexis: &Lexis,
        reads: &[Read],
        leaf: L,
    ) -> L {
        let words = self.words(stack, layout, lexis, reads);
        self.enter(key, &words, leaf)
    }

    /// The same where the reads are the words of runs.
    fn enter(&self, key: K, words: &[u32], leaf: L) -> L {
        let mut rest = words;
        let mut path = self.roots.get_or_insert_with(key, || self.new_path(rest, leaf));
        loop {
            let run = self.runs.get(path.run);
            let Some((at, differs)) = difference(run, rest) else {
                if run.len() != rest.len() {
                    self.contradicted();
                    return leaf;
                }
                return path.leaf;
            };
            if at == differs && (run[at] | rest[at]) & ASKS != 0 {
                self.contradicted();
                return leaf;
            }
            let fork = Fork { path: path.number, at: at as u32, read: rest[differs] };
            rest = &rest[differs + 1..];
            path = self.forks.get_or_insert_with(fork, || self.new_path(rest, leaf));
        }
    }

    /// Reads as the words of a run.
    fn words(&self, stack: &Stack, layout: &Layout, lexis: &Lexis, reads: &[Read]) -> Words {
        let mut words = Words::new();
        let mut stack = stack;
        for read in reads {
            match read {
                Read::Stack(lowest) => {
                    // A computation that was not stopped at a fork has read above it.
                    while let [below] = stack.below()
                        && stack.depth() > *lowest
                    {
                        stack = below;
                        words.push(stack.core().0);
                    }
                }
                Read::State => words.extend([STATE, stack.state(lexis.table()).0]),
                Read::Layout(question, answer) => {
                    let answer = match (question, layout.lines()) {
                        (Question::Layout, Some(lines)) => self.number(lines),
                        _ => *answer,
                    };
                    words.extend([ASKS | self.questions.intern(question.clone()), answer]);
                }
            }
        }
        words
    }

    fn new_path(&self, run: &[u32], leaf: L) -> Path<L> {
        let before = self.runs.len();
        let number = self.runs.intern_ref(run);
        if number as usize >= before {
            self.run_bytes.fetch_add(RUN_BYTES + size_of_val(run), Ordering::Relaxed);
        }
        Path { number: self.count.fetch_add(1, Ordering::Relaxed), run: number, leaf }
    }

    /// Paths do not contradict each other. Should they, masks stay exact: what cannot be entered is
    /// computed again.
    #[cold]
    fn contradicted(&self) {
        debug_assert!(false, "what is read next follows from what was read");
    }

    pub(super) fn number(&self, lines: &Lines) -> u32 {
        // Counted while nothing else can be entered.
        *self.layouts.get_or_insert_with(lines.clone(), || self.layouts.len() as u32)
    }

    /// How many paths there are.
    pub(crate) fn len(&self) -> usize {
        self.roots.len() + self.forks.len()
    }

    /// Heap bytes, as counted against the budget: entries, and their places in tables that are half
    /// empty.
    pub(crate) fn bytes(&self) -> usize {
        self.roots.len() * (size_of::<(K, Path<L>)>() + ENTRY_BYTES)
            + self.forks.len() * (size_of::<(Fork, Path<L>)>() + ENTRY_BYTES)
            + self.run_bytes.load(Ordering::Relaxed)
            + self.layouts.len() * (size_of::<(Lines, u32)>() + ENTRY_BYTES + LAYOUT_BYTES)
            + self.questions.len() * QUESTION_BYTES
    }
}

/// Where two runs differ first, as far as both go: the place of the read, and that of the word,
/// which is the next where it is an answer.
fn difference(run: &[u32], other: &[u32]) -> Option<(usize, usize)> {
    let differs = run.iter().zip(other).position(|(a, b)| a != b)?;
    let mut at = 0;
    loop {
        let next = at + if run[at] & ASKS == 0 { 1 } else { 2 };
        if next > differs {
            return Some((at, differs));
        }
        at = next;
    }
}

/// What an entry costs beside itself: whether it is there, and its places.
const ENTRY_BYTES: usize = 24;

/// What a run costs beside its words: its entry and its places.
pub(crate) const RUN_BYTES: usize = 40;

/// A layout holds on to some blocks.
const LAYOUT_BYTES: usize = 256;

/// A question holds some blanks.
const QUESTION_BYTES: usize = 80;

impl<L: Copy> StackTrie<Root, L> {
    /// What came of a configuration.
    #[inline]
    pub(crate) fn find_root(&self, at: &Configuration, fresh: bool, lexis: &Lexis) -> Found<L> {
        self.find(&Root::new(at, fresh), &at.stack, &at.layout, lexis, |_| ())
    }

    /// What came of all ways of one whose stack forks.
    pub(super) fn find_ways_of(
        &self,
        at: &Configuration,
        fresh: bool,
        lexis: &Lexis,
        most: usize,
    ) -> Option<SmallVec<[L; 8]>> {
        self.find_ways(&Root::new(at, fresh), &at.stack, &at.layout, lexis, most)
    }
}

impl LineKind {
    #[inline]
    pub(crate) fn new(layout: &Layout) -> Self {
        match layout.lines().and_then(|lines| lines.leading) {
            None => Self::Inside,
            Some(leading) if leading.counting => Self::Counting,
            Some(_) => Self::Counted,
        }
    }
}

impl PartialEq for Root {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Root {}

impl Hash for Root {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().into_iter().for_each(|word| hasher.write_u64(word));
    }
}

impl Root {
    /// Two fields at a time: each step of a hash waits for the one before. The second of two that
    /// lie side by side goes into the lower half. The other way round they would be read at once
    /// from where they were just written one by one, which processors wait for.
    #[inline]
    fn words(&self) -> [u64; 3] {
        let two = |one: u32, other: u32| u64::from(one) << 32 | u64::from(other);
        [
            two(self.state.0, self.obligations.0),
            two(self.expectations.0, self.top.0),
            two(self.fresh.into(), self.line as u32),
        ]
    }

    #[inline]
    pub(crate) fn new(at: &Configuration, fresh: bool) -> Self {
        Self {
            state: at.state,
            obligations: at.obligations,
            expectations: at.expectations,
            top: at.stack.core(),
            fresh,
            line: LineKind::new(&at.layout),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn layouts_met_at_the_same_time_have_different_numbers() {
        let trie = StackTrie::<u32, u32>::default();
        let number = |thread: u32| {
            let lines = |at: u32| Lines { depth: at * 4 + thread, ..Lines::default() };
            (0..5_000).map(|at| trie.number(&lines(at))).collect::<Vec<u32>>()
        };
        let numbers: Vec<u32> = std::thread::scope(|scope| {
            let number = &number;
            let threads: Vec<_> =
                (0..4).map(|thread| scope.spawn(move || number(thread))).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().expect("no thread panics"))
                .collect()
        });
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 20_000);
    }
}
