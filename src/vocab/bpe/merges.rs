//! The merges of a byte-pair encoding as a table of pairs, and how each token is made.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::utf8::character_length;
use super::{Bpe, Letters, Ranks};
use crate::vocab::Vocabulary;

/// No token.
pub(super) const NONE: u32 = u32::MAX;

/// All pairs that are merged.
#[derive(Debug)]
pub(super) struct Merges {
    /// By token, where its pairs as the left one begin.
    starts: Box<[u32]>,
    /// The pairs, by the left token and then by the right one.
    pairs: Box<[Pair]>,
    /// By token, how it is made.
    made: Box<[Made]>,
    /// The tokens of single bytes that are not merged, for characters without a token.
    bytes: Box<[u32; 256]>,
    /// The tokens of letters, by their bytes.
    letters: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    by_character: bool,
}

/// A pair that is merged, without its left token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) right: u32,
    /// One more than the rank.
    pub(super) rank: u32,
    pub(super) merged: u32,
}

/// How a token is made of its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    /// Its parts before the last merge; [`NONE`] for letters, and for tokens that are never made.
    pub(super) left: u32,
    pub(super) right: u32,
    /// One more than the rank of the last merge; 0 for letters.
    pub(super) rank: u32,
    /// The greatest of these for all its merges; [`NONE`] for tokens that are never made.
    pub(super) key: u32,
}

impl Made {
    const NEVER: Self = Self { left: NONE, right: NONE, rank: NONE, key: NONE };
    const LETTER: Self = Self { left: NONE, right: NONE, rank: 0, key: 0 };
}

impl Merges {
    pub(super) fn new(vocabulary: &Vocabulary, bpe: &Bpe) -> Self {
        let width = vocabulary.width();
        let by_character = matches!(bpe.letters, Letters::Characters(_));
        let mut is_fallback = vec![false; width];
        if let Letters::Characters(fallback) = &bpe.letters {
            let within = fallback.iter().filter(|&&id| (id as usize) < width);
            within.for_each(|&id| is_fallback[id as usize] = true);
        }
        let bytes_of = |token: u32| vocabulary.bytes(token).unwrap_or_default();
        let mut is_piece = vec![true; width];
        let added = bpe.added.iter().filter(|&&id| (id as usize) < width);
        added.for_each(|&id| is_piece[id as usize] = false);
        let mut by_bytes: HashMap<&[u8], u32, FxBuildHasher> = HashMap::default();
        let mut bytes = Box::new([NONE; 256]);
        for token in 0..width as u32 {
            let own = bytes_of(token);
            let is_merged = match &bpe.ranks {
                Ranks::Tokens(ranks) => ranks.get(token as usize).is_some_and(|&rank| rank != NONE),
                _ => true,
            };
            if own.is_empty() || !is_piece[token as usize] {
                continue;
            }
            if is_fallback[token as usize] {
                bytes[usize::from(own[0])] = token;
            } else if is_merged {
                by_bytes.entry(own).or_insert(token);
            }
        }
        // The pairs, each with its left token.
        let mut pairs: Vec<(u32, Pair)> = Vec::new();
        let mut add = |token: u32, split: usize, rank: u32| {
            let (left, right) = bytes_of(token).split_at(split);
            if let (Some(&left), Some(&right)) = (by_bytes.get(left), by_bytes.get(right)) {
                pairs.push((left, Pair { right, rank: rank.saturating_add(1), merged: token }));
            }
        };
        match &bpe.ranks {
            Ranks::Merges(merges) => {
                for (rank, merge) in (0..).zip(merges.iter()) {
                    let length = bytes_of(merge.token).len();
                    if (1..length).contains(&(merge.left as usize)) {
                        add(merge.token, merge.left as usize, rank);
                    }
                }
            }
            ranks => {
                for (&own, &token) in &by_bytes {
                    let rank = match ranks {
                        Ranks::Tokens(ranks) => ranks[token as usize],
                        _ => token,
                    };
                    let is_inside = |&at: &usize| !by_character || !matches!(own[at], 0x80..0xc0);
                    (1..own.len()).filter(is_inside).for_each(|at| add(token, at, rank));
                }
            }
        }
        let (starts, pairs) = by_left(width, pairs);
        let letters = by_bytes.iter().filter(|(bytes, _)| match by_character {
            true => std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1),
            false => bytes.len() == 1,
        });
        let letters = letters.map(|(&bytes, &token)| (bytes.into(), token)).collect();
        let made = vec![Made::NEVER; width].into();
        let mut merges = Self { starts, pairs, made, bytes, letters, by_character };
        let fallbacks = merges.bytes.iter().filter(|&&token| token != NONE);
        for &token in merges.letters.values().chain(fallbacks) {
            merges.made[token as usize] = Made::LETTER;
        }
        let mut tokens: Vec<u32> = by_bytes.into_values().collect();
        tokens.sort_unstable_by_key(|&token| (bytes_of(token).len(), token));
        let mut piece = Piece::default();
        for token in tokens {
            if merges.made[token as usize].key == NONE {
                merges.made[token as usize] = merges.make(bytes_of(token), token, &mut piece);
            }
        }
        merges
    }

    /// Returns how `token` is made of its bytes.
    fn make(&self, bytes: &[u8], token: u32, piece: &mut Piece) -> Made {
        piece.fill(self, bytes);
        let last = piece.merge(self);
        match (&piece.symbols[..], last) {
            (&[only], Some((left, right, rank))) if only == token => {
                let keys = [left, right].map(|part| self.made[part as usize].key);
                Made { left, right, rank, key: rank.max(keys[0]).max(keys[1]) }
            }
            _ => Made::NEVER,
        }
    }

    /// Returns how a token is made.
    #[inline]
    pub(super) fn made(&self, token: u32) -> Made {
        self.made.get(token as usize).copied().unwrap_or(Made::NEVER)
    }

    /// Returns whether the token is what its bytes become.
    pub(super) fn is_made(&self, token: u32) -> bool {
        self.made(token).key != NONE
    }

    /// Returns the pairs with this token on the left, by the right one.
    #[inline]
    pub(super) fn pairs_of(&self, left: u32) -> &[Pair] {
        let left = left as usize;
        &self.pairs[self.starts[left] as usize..self.starts[left + 1] as usize]
    }

    /// Returns the merge of two neighbours.
    #[inline]
    pub(super) fn pair(&self, left: u32, right: u32) -> Option<Pair> {
        let pairs = self.pairs_of(left);
        pairs.binary_search_by_key(&right, |pair| pair.right).ok().map(|at| pairs[at])
    }

    /// Returns whether a character has a token of its own.
    pub(super) fn has_letter(&self, character: &[u8]) -> bool {
        self.letters.contains_key(character)
    }

    /// Returns whether each byte has a token.
    pub(super) fn can_spell_all(&self) -> bool {
        match self.by_character {
            true => !self.bytes.contains(&NONE),
            false => (0..=u8::MAX).all(|byte| self.has_letter(&[byte])),
        }
    }

    /// Returns whether letters are characters.
    pub(super) fn is_by_character(&self) -> bool {
        self.by_character
    }
}

/// Sorts pairs by the left token, and then by the right one; of equal ones the lowest rank stays.
fn by_left(width: usize, mut pairs: Vec<(u32, Pair)>) -> (Box<[u32]>, Box<[Pair]>) {
    pairs.sort_unstable_by_key(|&(left, pair)| {
        (u64::from(left) << 32 | u64::from(pair.right), pair.rank)
    });
    pairs.dedup_by_key(|&mut (left, pair)| (left, pair.right));
    let mut starts = vec![0u32; width + 1];
    pairs.iter().for_each(|&(left, _)| starts[left as usize + 1] += 1);
    for token in 0..width {
        starts[token + 1] += starts[token];
    }
    (starts.into(), pairs.into_iter().map(|(_, pair)| pair).collect())
}

/// A piece of text while it is merged.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) symbols: Vec<u32>,
    /// By symbol, its merge with the next one.
    next: Vec<Option<Pair>>,
}

impl Piece {
    /// Splits a piece into letters. Returns false if some have no token.
    pub(super) fn fill(&mut self, merges: &Merges, bytes: &[u8]) -> bool {
        self.symbols.clear();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = match merges.by_character {
                true => character_length(rest),
                false => 1,
            };
            let (letter, after) = rest.split_at(length);
            match merges.letters.get(letter) {
                Some(&token) => self.symbols.push(token),
                None => {
                    self.symbols.extend(letter.iter().map(|&byte| merges.bytes[usize::from(byte)]));
                }
            }
            rest = after;
        }
        !self.symbols.contains(&NONE)
    }

    /// Merges until no pair is left. Returns the last merge, with one more than its rank.
    pub(super) fn merge(&mut self, merges: &Merges) -> Option<(u32, u32, u32)> {
        let pair = |left: u32, right: u32| match left == NONE || right == NONE {
            true => None,
            false => merges.pair(left, right),
        };
        self.next.clear();
        self.next.extend(self.symbols.windows(2).map(|two| pair(two[0], two[1])));
        let mut last = None;
        loop {
            let ranked = self
                .next
                .iter()
                .enumerate()
                .filter_map(|(at, pair)| Some((pair.as_ref()?.rank, at)));
            let Some((rank, at)) = ranked.min() else { return last };
            let Some(Pair { merged, right, .. }) = self.next[at] else { return last };
            last = Some((self.symbols[at], right, rank));
            self.symbols[at] = merged;
            self.symbols.remove(at + 1);
            self.next.remove(at);
            if at > 0 {
                self.next[at - 1] = pair(self.symbols[at - 1], merged);
            }
            if at < self.next.len() {
                self.next[at] = pair(merged, self.symbols[at + 1]);
            }
        }
    }
}
