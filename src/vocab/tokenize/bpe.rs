//! Byte pair encoding: of all neighbours that may be merged the best pair is, until there is none.
//!
//! The candidates wait in a heap, so that a piece of `n` symbols takes `n log n`; the usual loop,
//! which looks at all pairs after each merge, takes `n` squared, and some models cut a whole text
//! as one piece.
//!
//! Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units", ACL
//! 2016.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// What may be merged, how soon, and into which token. The least priority is merged first.
pub(super) enum Merges {
    /// Any two neighbours whose bytes together are a token: tiktoken, where the priority is the id,
    /// and SentencePiece, where it comes from the score.
    ByBytes(FxHashMap<Box<[u8]>, (u32, u32)>),
    /// Listed pairs of tokens.
    ByPair(FxHashMap<(u32, u32), (u32, u32)>),
}

/// A symbol that is no token by itself.
pub(super) const NO_TOKEN: u32 = u32::MAX;

/// A part of the text on its way to be a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    /// Where it begins in the text.
    pub(super) start: usize,
    /// One past its end; equal to the start once it was merged into the symbol before it.
    pub(super) end: usize,
    /// The token that it is, or [`NO_TOKEN`].
    pub(super) token: u32,
}

/// The candidate to merge two neighbours; it is stale once one of them has changed.
///
/// Ordered by priority, then from left to right.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    priority: u32,
    left: usize,
    right: usize,
    end: usize,
    token: u32,
}

impl Merges {
    /// Priority and outcome of merging two neighbours.
    fn get(&self, text: &[u8], left: Symbol, right: Symbol) -> Option<(u32, u32)> {
        match self {
            Merges::ByBytes(tokens) => tokens.get(&text[left.start..right.end]).copied(),
            Merges::ByPair(pairs) => pairs.get(&(left.token, right.token)).copied(),
        }
    }

    /// Merges `symbols`, which lie in `text` one behind the other, as far as it goes; those that
    /// were merged into others are removed.
    pub(super) fn merge(&self, text: &[u8], symbols: &mut Vec<Symbol>) {
        const NONE: usize = usize::MAX;
        let count = symbols.len();
        let mut next: Vec<usize> = (1..=count).map(|i| if i == count { NONE } else { i }).collect();
        let mut previous: Vec<usize> = (0..count).map(|i| i.wrapping_sub(1)).collect();
        let candidate = |symbols: &[Symbol], left: usize, right: usize| {
            let (priority, token) = self.get(text, symbols[left], symbols[right])?;
            Some(Reverse(Candidate { priority, left, right, end: symbols[right].end, token }))
        };
        let mut heap: BinaryHeap<_> =
            (1..count).filter_map(|right| candidate(symbols, right - 1, right)).collect();
        while let Some(Reverse(best)) = heap.pop() {
            let (left, right) = (best.left, best.right);
            // Stale: the left one was merged away or has another neighbour, or the right one has
            // grown.
            let is_alive = symbols[left].start < symbols[left].end;
            if !is_alive || next[left] != right || symbols[right].end != best.end {
                continue;
            }
            symbols[left].end = best.end;
            symbols[left].token = best.token;
            symbols[right].end = symbols[right].start;
            next[left] = next[right];
            if next[left] != NONE {
                previous[next[left]] = left;
                heap.extend(candidate(symbols, left, next[left]));
            }
            if previous[left] != NONE {
                heap.extend(candidate(symbols, previous[left], left));
            }
        }
        symbols.retain(|symbol| symbol.start < symbol.end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_bytes(tokens: &[(&str, u32)]) -> Merges {
        Merges::ByBytes(tokens.iter().map(|&(t, rank)| (t.as_bytes().into(), (rank, rank))).collect())
    }

    fn letters(text: &str) -> Vec<Symbol> {
        (0..text.len()).map(|i| Symbol { start: i, end: i + 1, token: NO_TOKEN }).collect()
    }

    fn merged<'t>(merges: &Merges, text: &'t str) -> Vec<&'t str> {
        let mut symbols = letters(text);
        merges.merge(text.as_bytes(), &mut symbols);
        symbols.iter().map(|s| &text[s.start..s.end]).collect()
    }

    #[test]
    fn the_best_pair_goes_first_and_the_leftmost_among_equals() {
        let merges = by_bytes(&[("ab", 1), ("bc", 0), ("abc", 2), ("aa", 3)]);
        assert_eq!(merged(&merges, "abc"), ["abc"]);
        assert_eq!(merged(&merges, "abd"), ["ab", "d"]);
        assert_eq!(merged(&merges, "aaaaa"), ["aa", "aa", "a"]);
        assert_eq!(merged(&merges, ""), [""; 0]);
    }

    proptest! {
        #[test]
        fn the_heap_does_what_the_plain_loop_does(
            tokens in prop::collection::hash_map("[abc]{2,4}", 0u32..6, 0..12),
            text in "[abc]{0,20}",
        ) {
            let merges = Merges::ByBytes(
                tokens.iter().map(|(t, &rank)| (t.as_bytes().into(), (rank, rank))).collect(),
            );
            let mut parts: Vec<String> = text.chars().map(String::from).collect();
            while let Some((_, at)) = (1..parts.len())
                .filter_map(|i| Some((*tokens.get(&format!("{}{}", parts[i - 1], parts[i]))?, i)))
                .min()
            {
                let right = parts.remove(at);
                parts[at - 1].push_str(&right);
            }
            prop_assert_eq!(merged(&merges, &text), parts);
        }
    }
}
