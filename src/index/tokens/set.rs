//! Sets of tokens, in the smaller of two forms: a list of ids or a row of mask words.

use std::ops::Range;

use crate::util::aligned::AlignedRow;

/// A set of tokens of one vocabulary.
#[derive(Clone, Debug)]
pub(crate) enum TokenSet {
    /// Ids, in any order, possibly with duplicates.
    List(Box<[u32]>),
    /// One bit per token: bit `t % 32` of word `t / 32`.
    Words(AlignedRow),
}

impl TokenSet {
    /// Creates a set as a row, which is fast to copy.
    pub(crate) fn row(row: &[u32]) -> Self {
        Self::Words(row.into())
    }

    /// Creates the set of the ids in these runs of `ids`, for masks of `words` words.
    pub(crate) fn from_runs(
        ids: &[u32],
        runs: impl Iterator<Item = Range<u32>> + Clone,
        words: usize,
    ) -> Self {
        let slice = |run: Range<u32>| &ids[run.start as usize..run.end as usize];
        let count: usize = runs.clone().map(|run| run.len()).sum();
        // Not larger than a row, and copied run by run.
        if count < words {
            let mut list = Vec::with_capacity(count);
            runs.for_each(|run| list.extend_from_slice(slice(run)));
            return Self::List(list.into());
        }
        let mut row = vec![0; words];
        for run in runs {
            for &id in slice(run) {
                row[id as usize / 32] |= 1 << (id % 32);
            }
        }
        Self::Words(row.into())
    }

    /// Creates the set of all ids in `all` except those in these runs of `ids`. `all` is a row that
    /// may be shorter than masks of `words` words.
    pub(crate) fn from_all_but(
        all: &[u32],
        ids: &[u32],
        runs: impl Iterator<Item = Range<u32>>,
        words: usize,
    ) -> Self {
        let mut row = all.to_vec();
        row.resize(words, 0);
        for run in runs {
            for &id in &ids[run.start as usize..run.end as usize] {
                row[id as usize / 32] &= !(1 << (id % 32));
            }
        }
        Self::Words(row.into())
    }

    /// Returns the number of listed ids; `None` for a row.
    pub(super) fn listed(&self) -> Option<usize> {
        match self {
            Self::List(ids) => Some(ids.len()),
            Self::Words(_) => None,
        }
    }

    /// Calls `take` with each listed id.
    #[inline]
    pub(super) fn each_listed(&self, take: impl FnMut(u32)) {
        match self {
            Self::List(ids) => ids.iter().copied().for_each(take),
            Self::Words(_) => {}
        }
    }

    /// Sets the bits of these tokens in `row`.
    pub(crate) fn add_to(&self, row: &mut [u32]) {
        match self {
            Self::List(_) => self.each_listed(|id| {
                if let Some(word) = row.get_mut(id as usize / 32) {
                    *word |= 1 << (id % 32);
                }
            }),
            Self::Words(words) => merge(words, row, |word, bits| *word |= bits),
        }
    }

    /// Clears the bits of these tokens in `row`.
    pub(crate) fn remove_from(&self, row: &mut [u32]) {
        match self {
            Self::List(_) => self.each_listed(|id| {
                if let Some(word) = row.get_mut(id as usize / 32) {
                    *word &= !(1 << (id % 32));
                }
            }),
            Self::Words(words) => merge(words, row, |word, bits| *word &= !bits),
        }
    }

    /// Returns these tokens without those in `row`.
    pub(crate) fn without(&self, row: &[u32]) -> Self {
        match self {
            Self::List(_) => {
                let mut rest = Vec::new();
                self.each_listed(|id| {
                    if row.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 == 0) {
                        rest.push(id);
                    }
                });
                Self::List(rest.into())
            }
            Self::Words(words) => {
                let mut rest = row.to_vec();
                merge(words, &mut rest, |word, bits| *word = bits & !*word);
                Self::Words(rest.into())
            }
        }
    }

    /// Writes exactly these tokens to `row`: a copy for large sets, a fill and a few bits for small
    /// ones.
    pub(crate) fn write_to(&self, row: &mut [u32]) {
        match self {
            Self::Words(words) if words.len() == row.len() => row.copy_from_slice(words),
            Self::Words(words) => merge(words, row, |word, bits| *word = bits),
            Self::List(_) => {
                row.fill(0);
                self.add_to(row);
            }
        }
    }

    /// Returns the heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::List(ids) => size_of_val(&**ids),
            Self::Words(row) => AlignedRow::bytes(row.len()),
        }
    }
}

/// Combines words with those of `row`, up to the shorter length.
fn merge(words: &[u32], row: &mut [u32], merge: impl Fn(&mut u32, u32)) {
    row.iter_mut().zip(words).for_each(|(word, &bits)| merge(word, bits));
}

/// Returns the ids of the bits in `row`, if there are at most `limit`.
pub(crate) fn tokens_of(row: &[u32], limit: usize) -> Option<Vec<u32>> {
    const STRETCH: usize = 32;
    const BLOCK: usize = 16 * STRETCH;
    // Most rows have too many ids, which the number of non-zero words soon shows.
    let mut in_use = 0;
    for words in row.chunks(BLOCK) {
        in_use += words.iter().map(|&word| u32::from(word != 0)).sum::<u32>() as usize;
        if in_use > limit {
            return None;
        }
    }
    let mut ids = Vec::with_capacity(in_use);
    for (first, words) in (0..).step_by(STRETCH).zip(row.chunks(STRETCH)) {
        // One test for all of them takes a fraction of the time of testing each.
        if words.iter().fold(0, |all, word| all | word) == 0 {
            continue;
        }
        if ids.len() > limit {
            return None;
        }
        for (index, &word) in (first..).zip(words) {
            let mut rest = word;
            while rest != 0 {
                ids.push(index * 32 + rest.trailing_zeros());
                rest &= rest - 1;
            }
        }
    }
    (ids.len() <= limit).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_row() {
        for count in [0, 1, 3, 4, 40] {
            let ids: Vec<u32> = (0..count).map(|i| i * 3).collect();
            let half = count / 2;
            let set = TokenSet::from_runs(&ids, [half..count, 0..half].into_iter(), 4);
            let mut row = vec![u32::MAX; 4];
            set.write_to(&mut row);
            let expected: Vec<u32> = (0..128)
                .filter(|id| row[id / 32] >> (id % 32) & 1 == 1)
                .map(|id| id as u32)
                .collect();
            assert_eq!(expected, ids);
            let mut other = vec![u32::MAX; 4];
            TokenSet::List(ids.clone().into()).write_to(&mut other);
            assert_eq!(other, row);
            assert_eq!(tokens_of(&row, ids.len()), Some(ids.clone()));
            assert!(ids.is_empty() || tokens_of(&row, ids.len() - 1).is_none());
            let rest = TokenSet::from_all_but(&row, &ids, std::iter::once(0..half), 5);
            let others = TokenSet::from_runs(&ids, std::iter::once(half..count), 5);
            let [mut row, mut expected] = [[u32::MAX; 5]; 2];
            rest.write_to(&mut row);
            others.write_to(&mut expected);
            assert_eq!(row, expected);
        }
    }
}
