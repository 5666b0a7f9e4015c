//! Cache of the results of a trie's tokens in automata that many grammars share.
//!
//! The inside of a string is the same automaton in most grammars, and so are white space and names.
//! Computing the results of all tokens there takes as long as some masks, so the vocabulary keeps
//! those of one grammar for the others: a few, the most recently used ones. The results do not
//! depend on the grammar that computed them.

use std::sync::{Arc, Mutex, PoisonError};

use crate::util::aligned::AlignedRow;

/// The results of the tokens below some nodes in an automaton.
#[derive(Debug)]
pub(crate) struct SharedWalk {
    /// The language of the automaton, encoded as numbers.
    pub(crate) rest: Box<[u64]>,
    /// The nodes, ascending.
    pub(crate) nodes: Box<[u32]>,
    /// The tokens that end inside or at the end of an accepted text.
    pub(crate) within: Within,
    /// The nodes, ascending, at which a token continues after an accepted text.
    pub(crate) behind: Box<[u32]>,
}

/// A set of tokens in the smaller of two forms.
#[derive(Debug)]
pub(crate) enum Within {
    /// Their ids.
    Few(Box<[u32]>),
    /// One bit for each token: bit `t % 32` of word `t / 32`.
    Row(AlignedRow),
}

/// The results, the most recently used first.
#[derive(Debug, Default)]
pub(crate) struct SharedWalks(Mutex<Vec<Arc<SharedWalk>>>);

/// Upper bound on the number kept: 40 KB each for large vocabularies, and as much again for large
/// automata.
const MOST: usize = 32;

impl Within {
    /// Returns the heap size in bytes.
    fn bytes(&self) -> usize {
        match self {
            Self::Few(numbers) => size_of_val(&**numbers),
            Self::Row(row) => AlignedRow::bytes(row.len()),
        }
    }
}

impl Clone for SharedWalks {
    /// Returns an empty cache.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl SharedWalks {
    /// Returns the results for this automaton below these nodes, if cached.
    pub(crate) fn find(&self, rest: &[u64], nodes: &[u32]) -> Option<Arc<SharedWalk>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|found| *found.rest == *rest && *found.nodes == *nodes)?;
        all[..=place].rotate_right(1);
        all.first().cloned()
    }

    /// Adds results, replacing the least recently used ones if the cache is full.
    pub(crate) fn keep(&self, found: SharedWalk) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.truncate(MOST - 1);
        all.insert(0, Arc::new(found));
    }

    /// Returns the heap size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |found: &Arc<SharedWalk>| {
            size_of_val(&*found.rest)
                + size_of_val(&*found.nodes)
                + found.within.bytes()
                + size_of_val(&*found.behind)
        };
        all.iter().map(bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_asked_for_last_are_kept() {
        let rests = SharedWalks::default();
        let found = |number: usize| SharedWalk {
            rest: [number as u64].into(),
            nodes: [1].into(),
            within: Within::Few([number as u32].into()),
            behind: [].into(),
        };
        for number in 0..2 * MOST {
            rests.keep(found(number));
            let first = rests.find(&[0], &[1]).expect("asked for again and again");
            assert!(matches!(&first.within, Within::Few(ids) if **ids == [0]));
        }
        let known = (0..2 * MOST).filter(|&number| rests.find(&[number as u64], &[1]).is_some());
        assert_eq!(known.count(), MOST);
        assert!(rests.find(&[0], &[2]).is_none());
        assert_eq!(rests.bytes(), MOST * (8 + 4 + 4));
        assert_eq!(rests.clone().bytes(), 0);
    }
}
