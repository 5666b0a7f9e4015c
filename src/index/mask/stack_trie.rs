//! The trie over stacks: maps the reads of a mask's computation to the mask.
//!
//! Its key is the scan state, the obligations and the top parse state. It continues with the next
//! parse state down the stack wherever the computation read deeper (Willard and Louf 2023, section
//! 4.1), and with the answer wherever it asked a question about the layout. Another configuration
//! with the same reads finds the mask. Paths never contradict each other: a computation with the
//! same answers so far has the same next read.
//!
//! More than nine in ten positions on paths have one successor. So a path is stored as a whole,
//! from where it forks off another to its leaf: a run of reads, which are compared one by one, and
//! looked up only where they differ. Equal runs are stored once. (The alternative, an entry for
//! each read, took nearly five times the memory, and a look-up for each.)

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

/// Maps reads to results: `K` is the part that is always read, `L` the result. Reading is
/// lock-free.
#[derive(Debug)]
pub(crate) struct StackTrie<K, L> {
    pub(crate) roots: AppendMap<K, Path<L>>,
    pub(crate) forks: AppendMap<Fork, Path<L>>,
    /// Number of paths that have a number.
    pub(crate) count: AtomicU32,
    /// The reads of paths: the core of the next state down the stack, or [`STATE`] or [`ASKS`] with
    /// the number of a question, followed by the answer.
    pub(crate) runs: Interner<Box<[u32]>>,
    /// Bytes of the runs.
    pub(crate) run_bytes: AtomicUsize,
    pub(crate) questions: Interner<Question>,
    /// Layouts that were read as a whole.
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

/// Reads as the words of a run.
pub(super) type Words = SmallVec<[u32; 16]>;

/// In a run: a question about the layout. Parse states and numbers of questions are smaller.
pub(crate) const ASKS: u32 = 1 << 31;

/// In a run: a read of the state in its context, not of its core alone.
pub(crate) const STATE: u32 = u32::MAX;

/// The reads from a fork on, and the result.
#[derive(Clone, Debug)]
pub(crate) struct Path<L> {
    pub(crate) number: u32,
    pub(crate) run: u32,
    pub(crate) leaf: L,
}

/// The position where a path forks off another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fork {
    /// Number of the other path.
    pub(crate) path: u32,
    /// Index of the differing read in the other path's run.
    pub(crate) at: u32,
    /// The value read instead.
    pub(crate) read: u32,
}

/// Inputs that every mask depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    pub(crate) expectations: ExpectationsId,
    pub(crate) top: CoreId,
    /// Whether no byte has been read.
    pub(crate) fresh: bool,
    pub(crate) line: LineKind,
}

/// Position within a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LineKind {
    /// After its first lexeme, or lines do not count.
    Inside,
    /// In the blanks before its first lexeme.
    Counting,
    /// Before its first lexeme, but after the blanks that count.
    Counted,
}

/// A read on a path.
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
    /// Whether the mask leaves open if the text may end here, because that depends on all open
    /// blocks.
    pub(crate) asks_end: bool,
}

/// Result of a look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lookup<L> {
    Leaf(L),
    /// No path has these reads.
    Nothing,
    /// The path continues below a fork of the stack: each way must be looked up separately.
    PastFork,
}

impl<K: Hash + Eq + Copy, L: Copy> StackTrie<K, L> {
    /// Returns the result for `key` on this stack and in these lines. Costs one comparison for each
    /// read, which is reported to `see`, and one look-up for each fork.
    #[inline]
    pub(crate) fn find(
        &self,
        key: &K,
        stack: &Stack,
        layout: &Layout,
        lexis: &Lexis,
        mut see: impl FnMut(Seen<'_>),
    ) -> Lookup<L> {
        let Some(mut path) = self.roots.get(key) else { return Lookup::Nothing };
        // The stack whose top is the lowest state read so far, and the next read in the run.
        let (mut stack, mut run, mut at) = (stack, self.runs.get(path.run), 0);
        while let Some(&expected) = run.get(at) {
            let (read, expected, next) = match expected & ASKS {
                0 => {
                    match stack.below() {
                        [below] => stack = below,
                        [] => return Lookup::Nothing,
                        _ => return Lookup::PastFork,
                    }
                    see(Seen::Stack(stack.depth()));
                    (stack.core().0, expected, at + 1)
                }
                _ => match (
                    self.answer(stack, layout.lines(), lexis, expected, &mut see),
                    run.get(at + 1),
                ) {
                    (Some(answer), Some(&expected)) => (answer, expected, at + 2),
                    _ => return Lookup::Nothing,
                },
            };
            if read == expected {
                at = next;
                continue;
            }
            let fork = Fork { path: path.number, at: at as u32, read };
            let Some(other) = self.forks.get(&fork) else { return Lookup::Nothing };
            (path, run, at) = (other, self.runs.get(other.run), 0);
        }
        Lookup::Leaf(path.leaf)
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

    /// Enters the result for `key` with these reads of the stack and the layout. Returns the
    /// earlier result if there is one.
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

    /// Enters a result whose reads are given as words of runs.
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

    /// Converts reads to the words of a run.
    fn words(&self, stack: &Stack, layout: &Layout, lexis: &Lexis, reads: &[Read]) -> Words {
        let mut words = Words::new();
        let mut stack = stack;
        for read in reads {
            match read {
                Read::Stack(lowest) => {
                    // A computation that did not stop at a fork has read only above it.
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

    /// Paths do not contradict each other. If they did, masks would stay exact: a result that
    /// cannot be entered is computed again.
    #[cold]
    fn contradicted(&self) {
        debug_assert!(false, "what is read next follows from what was read");
    }

    pub(super) fn number(&self, lines: &Lines) -> u32 {
        // Computed under the lock, while nothing else can be entered.
        *self.layouts.get_or_insert_with(lines.clone(), || self.layouts.len() as u32)
    }

    /// Returns the number of paths.
    pub(crate) fn len(&self) -> usize {
        self.roots.len() + self.forks.len()
    }

    /// Returns the heap bytes, as counted against the budget: entries, and their slots in
    /// half-empty tables.
    pub(crate) fn bytes(&self) -> usize {
        self.roots.len() * (size_of::<(K, Path<L>)>() + ENTRY_BYTES)
            + self.forks.len() * (size_of::<(Fork, Path<L>)>() + ENTRY_BYTES)
            + self.run_bytes.load(Ordering::Relaxed)
            + self.layouts.len() * (size_of::<(Lines, u32)>() + ENTRY_BYTES + LAYOUT_BYTES)
            + self.questions.len() * QUESTION_BYTES
    }
}

/// Returns the first difference of two runs within their common length: the index of the read, and
/// that of the word, which is the next one if the answers differ.
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

/// Overhead of an entry: a presence flag and its slots.
const ENTRY_BYTES: usize = 24;

/// Overhead of a run besides its words: its entry and its slots.
pub(crate) const RUN_BYTES: usize = 40;

/// Estimated bytes of the blocks that a layout holds.
const LAYOUT_BYTES: usize = 256;

/// Estimated bytes of the blanks that a question holds.
const QUESTION_BYTES: usize = 80;

impl<L: Copy> StackTrie<Root, L> {
    /// Returns the result for a configuration.
    #[inline]
    pub(crate) fn find_root(&self, at: &Configuration, fresh: bool, lexis: &Lexis) -> Lookup<L> {
        self.find(&Root::new(at, fresh), &at.stack, &at.layout, lexis, |_| ())
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
    /// Two fields at a time, since each step of a hash waits for the previous one. Of two adjacent
    /// fields the second goes into the lower half. In the other order they would be loaded together
    /// from where they were just stored separately, which stalls processors.
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
