//! The trie over stacks: from what a mask's computation read of a configuration to the mask.
//!
//! It is keyed by scan state, obligations and top parse state, and branches on the next parse state down the stack wherever
//! the computation read deeper (Willard and Louf 2023, section 4.1), and on the answer wherever it asked something of the
//! layout. Another configuration that reads the same finds the mask. Paths never contradict each other: a computation
//! that got the same answers so far reads the same next.

use std::hash::Hash;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::lr::stack::Stack;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Indentation, Layout, Lines, ObligationsId, Question, Read};
use crate::util::append::Interner;
use crate::util::append_map::AppendMap;
use crate::util::id::{ParseStateId, ScanStateId};

/// From what was read to what came of it: `K` is what is always read, `L` what came. Read without locks.
#[derive(Debug)]
pub(super) struct StackTrie<K, L> {
    pub(super) roots: AppendMap<K, Branch<L>>,
    /// From a node, over the next parse state down the stack or an answer.
    pub(super) edges: AppendMap<(u32, u32), Branch<L>>,
    pub(super) nodes: AtomicU32,
    pub(super) questions: Interner<Question>,
    /// Those that were asked for as a whole.
    pub(super) layouts: AppendMap<Lines, u32>,
}

impl<K, L> Default for StackTrie<K, L> {
    fn default() -> Self {
        Self {
            roots: AppendMap::default(),
            edges: AppendMap::default(),
            nodes: AtomicU32::new(0),
            questions: Interner::default(),
            layouts: AppendMap::default(),
        }
    }
}

/// What every mask depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Root {
    pub(super) state: ScanStateId,
    pub(super) obligations: ObligationsId,
    pub(super) expectations: ExpectationsId,
    pub(super) top: ParseStateId,
    /// No byte has been read.
    pub(super) fresh: bool,
    pub(super) line: LineKind,
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LineKind {
    /// Behind its first lexeme, or lines do not count.
    Inside,
    /// In the blanks before it.
    Counting,
    /// Before it, but behind the blanks that count.
    Counted,
}

/// A place where a path goes on or ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Branch<L> {
    /// The state below was read.
    Stack(u32),
    /// The layout was asked this.
    Layout {
        node: u32,
        question: u32,
    },
    Leaf(L),
}

/// Something read on a path.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen<'t> {
    /// The stack, down to this depth.
    Stack(u32),
    Layout(&'t Question),
}

/// A finished mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Its id in [`super::masks::Masks`].
    pub(super) mask: u32,
    /// Whether the text may end here is not in the mask: it depends on all open blocks.
    pub(super) asks_end: bool,
}

impl<K: Hash + Eq, L: Copy> StackTrie<K, L> {
    /// What came of `key` on this stack and in these lines. Costs a look-up for each thing read, which `see` is told of.
    #[inline]
    pub(super) fn find(
        &self,
        key: &K,
        stack: &Stack,
        layout: &Layout,
        indentation: Option<&Indentation>,
        mut see: impl FnMut(Seen<'_>),
    ) -> Option<L> {
        let mut branch = self.roots.get(key)?;
        let mut stack = stack;
        loop {
            branch = match branch {
                Branch::Leaf(leaf) => return Some(*leaf),
                Branch::Stack(node) => {
                    stack = stack.below()?;
                    see(Seen::Stack(stack.depth()));
                    self.edges.get(&(*node, stack.top().0))?
                }
                Branch::Layout { node, question } => {
                    let lines = layout.lines()?;
                    let question = self.questions.get(*question);
                    see(Seen::Layout(question));
                    let answer = match indentation?.answer(lines, question) {
                        Some(answer) => answer,
                        None => *self.layouts.get(lines)?,
                    };
                    self.edges.get(&(*node, answer))?
                }
            };
        }
    }

    /// Enters what came of `key` where this was read of the stack and the layout.
    pub(super) fn insert(&self, key: K, stack: &Stack, layout: &Layout, reads: &[Read], leaf: L) {
        let mut place = Place::Root(key);
        let mut stack = stack;
        for read in reads {
            match read {
                Read::Stack(lowest) => {
                    while let Some(below) = stack.below().filter(|_| stack.depth() > *lowest) {
                        let branch = self.branch(place, || Branch::Stack(self.new_node()));
                        let Branch::Stack(node) = branch else { return self.contradicted() };
                        stack = below;
                        place = Place::Edge(node, stack.top().0);
                    }
                }
                Read::Layout(question, answer) => {
                    let answer = match (question, layout.lines()) {
                        (Question::Layout, Some(lines)) => self.number(lines),
                        _ => *answer,
                    };
                    let question = self.questions.intern(question.clone());
                    let branch = self.branch(place, || Branch::Layout { node: self.new_node(), question });
                    match branch {
                        Branch::Layout { node, question: asked } if asked == question => {
                            place = Place::Edge(node, answer);
                        }
                        _ => return self.contradicted(),
                    }
                }
            }
        }
        self.branch(place, || Branch::Leaf(leaf));
    }

    /// Paths do not contradict each other. Should they, masks stay exact: what cannot be entered is computed again.
    #[cold]
    fn contradicted(&self) {
        debug_assert!(false, "what is read next follows from what was read");
    }

    fn branch(&self, place: Place<K>, make: impl FnOnce() -> Branch<L>) -> Branch<L> {
        match place {
            Place::Root(root) => self.roots.get_or_insert_with(root, make),
            Place::Edge(node, label) => self.edges.get_or_insert_with((node, label), make),
        }
    }

    fn new_node(&self) -> u32 {
        self.nodes.fetch_add(1, Ordering::Relaxed)
    }

    fn number(&self, lines: &Lines) -> u32 {
        // Counted while nothing else can be entered.
        self.layouts.get_or_insert_with(lines.clone(), || self.layouts.len() as u32)
    }

    /// How many branches there are.
    pub(super) fn len(&self) -> usize {
        self.roots.len() + self.edges.len()
    }

    /// Heap bytes, as counted against the budget: entries, and their places in tables that are half empty.
    pub(super) fn bytes(&self) -> usize {
        self.roots.len() * (size_of::<(K, Branch<L>)>() + ENTRY_BYTES)
            + self.edges.len() * (size_of::<((u32, u32), Branch<L>)>() + ENTRY_BYTES)
            + self.layouts.len() * (size_of::<(Lines, u32)>() + ENTRY_BYTES + LAYOUT_BYTES)
            + self.questions.len() * QUESTION_BYTES
    }
}

/// What an entry costs beside itself: whether it is there, and its places.
const ENTRY_BYTES: usize = 24;

/// A layout holds on to some blocks.
const LAYOUT_BYTES: usize = 256;

/// A question holds some blanks.
const QUESTION_BYTES: usize = 80;

/// Where a branch is.
enum Place<K> {
    Root(K),
    Edge(u32, u32),
}

impl LineKind {
    #[inline]
    pub(super) fn new(layout: &Layout) -> Self {
        match layout.lines().and_then(|lines| lines.leading) {
            None => Self::Inside,
            Some(leading) if leading.counting => Self::Counting,
            Some(_) => Self::Counted,
        }
    }
}

impl Root {
    #[inline]
    pub(super) fn new(at: &Configuration, fresh: bool) -> Self {
        Self {
            state: at.state,
            obligations: at.obligations,
            expectations: at.expectations,
            top: at.stack.top(),
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
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || number(thread))).collect();
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
        });
        assert_eq!(numbers.iter().collect::<HashSet<_>>().len(), 20_000);
    }
}
