//! The paths of a trie over stacks one by one, from their roots: what it takes to enter some of
//! them in another trie.

use std::cmp::Reverse;
use std::hash::Hash;

use smallvec::SmallVec;

use super::stack_trie::{ASKS, Fork, Path, STATE, StackTrie, Words};
use crate::scanner::{Lines, Question};

/// A path that has read more is not kept: it is seldom met again, and forged ones may be as long as
/// their number squared.
const MOST_WORDS: usize = 4096;

/// Where a path begins.
pub(super) enum Beginning<K> {
    Root(K),
    Fork(Fork),
}

/// One path of a trie.
pub(super) type Placed<'t, K, L> = (Beginning<K>, &'t Path<L>);

/// The paths of a trie.
pub(super) struct Paths<'t, K, L> {
    pub(super) trie: &'t StackTrie<K, L>,
    /// Ascending by their numbers, which nearly are their places.
    pub(super) by_number: Vec<Placed<'t, K, L>>,
    /// By their numbers.
    pub(super) layouts: Vec<&'t Lines>,
}

impl<'t, K: Hash + Eq + Copy, L: Copy> Paths<'t, K, L> {
    pub(super) fn of(trie: &'t StackTrie<K, L>) -> Self {
        // What a path forks off was there before it.
        let forks = trie.forks.iter().map(|(fork, path)| (Beginning::Fork(*fork), path));
        let mut by_number: Vec<_> = forks.collect();
        by_number.extend(trie.roots.iter().map(|(root, path)| (Beginning::Root(*root), path)));
        // Two runs that ascend, which this sort makes one of.
        by_number.sort_by_key(|(_, path)| path.number);
        let layouts = trie.layouts.iter().map(|(lines, _)| lines).collect();
        Self { trie, by_number, layouts }
    }

    /// The path of a number.
    pub(super) fn get(&self, number: u32) -> Option<&Placed<'t, K, L>> {
        let place = self.by_number.binary_search_by_key(&number, |(_, path)| path.number).ok()?;
        self.by_number.get(place)
    }

    /// Those of most uses first, where each counts by what `saves` says that it saves; of those of
    /// as many the younger.
    pub(super) fn by_uses(&self, saves: impl Fn(&L) -> u32) -> Vec<&'t Path<L>> {
        // Read once: others go on counting.
        let uses = |&(_, path): &Placed<'t, K, L>| {
            (u64::from(path.uses.get()) * u64::from(saves(&path.leaf)), path)
        };
        let mut order: Vec<_> = self.by_number.iter().map(uses).collect();
        order.sort_unstable_by_key(|&(uses, path)| Reverse((uses, path.number)));
        order.into_iter().map(|(_, path)| path).collect()
    }

    /// The root of a path, and all that is read from there on, in the numbers of another trie.
    pub(super) fn whole(&self, number: u32, other: &StackTrie<K, L>) -> Option<(K, Words)> {
        let (from, path) = self.get(number)?;
        let run = self.trie.runs.get(path.run);
        // From the last to the first.
        let mut parts: SmallVec<[(&[u32], Option<u32>); 8]> = SmallVec::new();
        parts.push((run, None));
        let (mut from, mut length) = (from, run.len());
        let root = loop {
            match from {
                Beginning::Root(root) => break *root,
                Beginning::Fork(fork) => {
                    let (before, path) = self.get(fork.path)?;
                    parts.push(read_before(self.trie.runs.get(path.run), fork)?);
                    length += fork.at as usize + 2;
                    from = before;
                }
            }
            if length > MOST_WORDS {
                return None;
            }
        };
        let mut words = Words::new();
        for (read, answer) in parts.into_iter().rev() {
            words.extend_from_slice(read);
            words.extend(answer);
        }
        self.renumber(&mut words, other)?;
        Some((root, words))
    }

    /// Gives questions and layouts the numbers that they have in another trie.
    fn renumber(&self, words: &mut [u32], other: &StackTrie<K, L>) -> Option<()> {
        let mut at = 0;
        while let Some(&word) = words.get(at) {
            if word & ASKS == 0 {
                at += 1;
                continue;
            }
            if word != STATE {
                let question = self.trie.questions.get(word & !ASKS);
                if *question == Question::Layout {
                    let answer = words.get_mut(at + 1)?;
                    *answer = other.number(self.layouts.get(*answer as usize)?);
                }
                words[at] = ASKS | other.questions.intern(question.clone());
            }
            at += 2;
        }
        Some(())
    }
}

/// What was read of a run up to a fork off it, and what was read there instead.
fn read_before<'r>(run: &'r [u32], fork: &Fork) -> Option<(&'r [u32], Option<u32>)> {
    let at = fork.at as usize;
    // Where it is an answer that differs, the question is the same.
    let same = if run.get(at)? & ASKS == 0 { at } else { at + 1 };
    Some((run.get(..same)?, Some(fork.read)))
}
