//! Merges the orders in which several schemas list an object's names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// Lists up to this length are compared name by name.
const FEW: usize = 16;

/// Merges the lists into one order that respects the order of each list, if there is one. Names
/// come as early as they were first met; where the lists contradict each other, the name met first
/// comes first.
pub(super) fn merge(lists: &[Vec<u32>]) -> Vec<u32> {
    if let [first, others @ ..] = lists
        && first.len() <= FEW
        && others.iter().all(|list| matches!(list[..], [name] if first.contains(&name)))
        && (1..first.len()).all(|at| !first[..at].contains(&first[at]))
    {
        return first.clone();
    }
    let mut rank: FxHashMap<u32, usize> = FxHashMap::default();
    let mut names: Vec<u32> = Vec::new();
    for &name in lists.iter().flatten() {
        rank.entry(name).or_insert_with(|| {
            names.push(name);
            names.len() - 1
        });
    }
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    let mut before = vec![0usize; names.len()];
    for pair in lists.iter().flat_map(|list| list.windows(2)) {
        behind[rank[&pair[0]]].push(rank[&pair[1]]);
        before[rank[&pair[1]]] += 1;
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        (0..names.len()).filter(|&at| before[at] == 0).map(Reverse).collect();
    let mut done = vec![false; names.len()];
    let mut order = Vec::with_capacity(names.len());
    let mut first_left = 0;
    while order.len() < names.len() {
        // In a cycle, the name that was met first comes next.
        let at = ready.pop().map_or_else(
            || {
                while done[first_left] {
                    first_left += 1;
                }
                first_left
            },
            |Reverse(at)| at,
        );
        if std::mem::replace(&mut done[at], true) {
            continue;
        }
        order.push(names[at]);
        for &next in &behind[at] {
            before[next] -= 1;
            if before[next] == 0 && !done[next] {
                ready.push(Reverse(next));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        assert_eq!(merge(&[vec![1, 2, 3], vec![2, 4, 3, 5]]), [1, 2, 4, 3, 5]);
        assert_eq!(merge(&[vec![1, 2], vec![2, 1]]), [1, 2]);
        assert_eq!(merge(&[vec![1], vec![3, 2], vec![2, 1]]), [3, 2, 1]);
        assert_eq!(merge(&[vec![3, 1, 2], vec![2], vec![3]]), [3, 1, 2]);
        assert_eq!(merge(&[vec![3, 1, 3], vec![3]]), [3, 1]);
        assert!(merge(&[]).is_empty());
    }
}
