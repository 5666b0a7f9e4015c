//! Classes of bytes that no state tells apart: equal columns of a table under construction.
//!
//! Rows are given as runs of classes that lead to one state, and the table is only made once it is
//! known which columns are equal: with many small classes the full table would be several times
//! larger than the final one.

use std::ops::Range;

use crate::lexer::dfa::Dfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::lists::Lists;

/// By state, the first class of each run of classes with the same successor, and that successor.
/// The first run begins with the first class.
pub(super) type Runs = Lists<(u8, u32)>;

/// Returns the runs of a row, each as its range of classes and its state.
pub(super) fn spans(row: &[(u8, u32)], width: usize) -> impl Iterator<Item = (Range<usize>, u32)> {
    let ends = row[1.min(row.len())..].iter().map(|&(class, _)| usize::from(class));
    let spans = row.iter().zip(ends.chain([width]));
    spans.map(|(&(class, next), end)| (usize::from(class)..end, next))
}

/// Returns a row for each of `runs`, over one class for each distinct column.
pub(super) fn table(classes: &ByteClasses, runs: &Runs) -> (ByteClasses, Vec<u32>) {
    let groups = Groups::by_number(runs, classes.count());
    let (groups, table) = match groups.fill(runs) {
        Some(table) => (groups, table),
        None => {
            let groups = Groups::by_column(runs, classes.count());
            let table = groups.fill(runs).unwrap_or_default();
            (groups, table)
        }
    };
    if groups.leaders.len() == classes.count() {
        return (classes.clone(), table);
    }
    (classes.merged(&groups.of, &groups.leaders), table)
}

/// A partition of the classes.
struct Groups {
    /// By class, its group.
    of: Vec<u8>,
    /// By group, its first class.
    leaders: Vec<usize>,
}

impl Groups {
    fn new(width: usize, are_equal: impl Fn(usize, usize) -> bool) -> Self {
        let mut groups = Self { of: Vec::with_capacity(width), leaders: Vec::new() };
        for class in 0..width {
            let known = groups.leaders.iter().position(|&leader| are_equal(leader, class));
            groups.of.push(known.unwrap_or(groups.leaders.len()) as u8);
            if known.is_none() {
                groups.leaders.push(class);
            }
        }
        groups
    }

    /// Groups classes whose columns have the same hash.
    fn by_number(runs: &Runs, width: usize) -> Self {
        // By class, the hash of its column xor that of the previous one.
        let mut numbers = vec![0; width + 1];
        for state in 0..runs.len() {
            for (classes, next) in spans(runs.get(state), width) {
                if next != Dfa::DEAD {
                    let mixed = mixed(state as u32, next);
                    numbers[classes.start] ^= mixed;
                    numbers[classes.end] ^= mixed;
                }
            }
        }
        for class in 1..width {
            numbers[class] ^= numbers[class - 1];
        }
        Self::new(width, |one, other| numbers[one] == numbers[other])
    }

    /// Groups classes whose columns are equal, for the case that hashes collide.
    fn by_column(runs: &Runs, width: usize) -> Self {
        let next = |state: usize, class: usize| {
            let row = runs.get(state);
            row[row.partition_point(|&(first, _)| usize::from(first) <= class) - 1].1
        };
        Self::new(width, |one, other| {
            (0..runs.len()).all(|state| next(state, one) == next(state, other))
        })
    }

    /// Returns the table, or `None` if the columns of a group differ.
    fn fill(&self, runs: &Runs) -> Option<Vec<u32>> {
        let count = self.leaders.len();
        let mut leads = vec![false; self.of.len()];
        self.leaders.iter().for_each(|&leader| leads[leader] = true);
        let mut table = vec![Dfa::DEAD; runs.len() * count];
        for (state, row) in table.chunks_exact_mut(count).enumerate() {
            for (classes, next) in spans(runs.get(state), self.of.len()) {
                for (&group, &is_first) in self.of[classes.clone()].iter().zip(&leads[classes]) {
                    let cell = &mut row[usize::from(group)];
                    if is_first {
                        *cell = next;
                    } else if *cell != next {
                        return None;
                    }
                }
            }
        }
        Some(table)
    }
}

/// Returns a hash of a move: the finalizer of splitmix64 (Steele, Lea and Flood 2014).
fn mixed(from: u32, to: u32) -> u64 {
    let pair = u64::from(from) << 32 | u64::from(to);
    let mixed = (pair ^ pair >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_told_apart_whatever_their_numbers() {
        let mut runs = Runs::new();
        for row in [&[(0, 1), (2, Dfa::DEAD), (3, 1)][..], &[(0, Dfa::DEAD), (1, 0), (3, 1)]] {
            runs.extend(row);
            runs.close();
        }
        let by_number = Groups::by_number(&runs, 5);
        let by_column = Groups::by_column(&runs, 5);
        for groups in [&by_number, &by_column] {
            assert_eq!(groups.of, [0, 1, 2, 3, 3]);
            let rows = [1, 1, Dfa::DEAD, 1, Dfa::DEAD, 0, 0, 1];
            assert_eq!(groups.fill(&runs).as_deref(), Some(&rows[..]));
        }
        assert_eq!(Groups::new(5, |_, _| true).fill(&runs), None, "two columns differ");
    }
}
