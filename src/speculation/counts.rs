//! Counts of the tokens in each context, in bounded memory.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::util::id::TokenId;

/// Upper bound on the tokens counted in one context.
pub(super) const FOLLOWERS: usize = 16;

/// The counts of a context are halved when it has been met this many times.
const MOST: u32 = 1 << 30;

/// Counts by context.
#[derive(Debug)]
pub(super) struct Counts {
    contexts: HashMap<u64, Followers, FxBuildHasher>,
    capacity: usize,
}

/// The tokens that followed in one context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Followers {
    /// How often the context was met; at least the sum of the counts.
    pub(super) met: u32,
    /// Tokens with their counts, which are lower bounds: a rare token gives way to a new one.
    pub(super) tokens: SmallVec<[(TokenId, u32); 2]>,
}

impl Counts {
    /// Creates counts for at most this many contexts.
    pub(super) fn new(capacity: usize) -> Self {
        Self { contexts: HashMap::default(), capacity }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
        self.make_room(0);
    }

    pub(super) fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// Returns all counts, by ascending context and token.
    pub(super) fn sorted(&self) -> Vec<(u64, Followers)> {
        let mut all: Vec<_> =
            self.contexts.iter().map(|(&context, of)| (context, of.clone())).collect();
        all.iter_mut().for_each(|(_, of)| of.tokens.sort_unstable());
        all.sort_unstable_by_key(|&(context, _)| context);
        all
    }

    /// Sets the counts of a context.
    pub(super) fn set(&mut self, context: u64, followers: Followers) {
        self.contexts.insert(context, followers);
    }

    /// Counts `token` in this context.
    pub(super) fn add(&mut self, context: u64, token: TokenId) {
        if self.capacity == 0 {
            return;
        }
        if !self.contexts.contains_key(&context) {
            self.make_room(1);
        }
        let followers = self.contexts.entry(context).or_default();
        followers.add(token);
        if followers.met >= MOST {
            followers.halve();
        }
    }

    /// Halves all counts until there is room for `more` contexts. Each pass is paid for by the
    /// counts that it removes.
    fn make_room(&mut self, more: usize) {
        while !self.contexts.is_empty() && self.contexts.len() + more > self.capacity {
            self.contexts.retain(|_, followers| {
                followers.halve();
                !followers.tokens.is_empty()
            });
        }
    }

    /// Returns the tokens with at least this share of a context's counts, the most frequent first,
    /// and of equally frequent ones that with the least id.
    pub(super) fn likely(&self, context: u64, share: f64) -> SmallVec<[TokenId; 4]> {
        let Some(followers) = self.contexts.get(&context) else { return SmallVec::new() };
        let least = share * f64::from(followers.met);
        let mut likely: SmallVec<[(TokenId, u32); FOLLOWERS]> = followers
            .tokens
            .iter()
            .copied()
            .filter(|&(_, count)| f64::from(count) >= least)
            .collect();
        likely.sort_unstable_by_key(|&(token, count)| (u32::MAX - count, token));
        likely.into_iter().map(|(token, _)| token).collect()
    }
}

impl Followers {
    fn add(&mut self, token: TokenId) {
        self.met += 1;
        if let Some((_, count)) = self.tokens.iter_mut().find(|(known, _)| *known == token) {
            *count += 1;
        } else if self.tokens.len() < FOLLOWERS {
            self.tokens.push((token, 1));
        } else if let Some(rarest) = self.tokens.iter_mut().min_by_key(|(_, count)| *count) {
            match rarest.1 {
                0 | 1 => *rarest = (token, 1),
                _ => rarest.1 -= 1,
            }
        }
    }

    fn halve(&mut self) {
        self.met /= 2;
        self.tokens.iter_mut().for_each(|(_, count)| *count /= 2);
        self.tokens.retain(|(_, count)| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_and_counts_are_lower_bounds() {
        let mut counts = Counts::new(10);
        for number in 0..100_000u32 {
            // One context is met often, and one token follows it in three of four cases.
            let follower = if number % 8 < 6 { 7 } else { number };
            counts.add(0, TokenId(follower));
            counts.add(u64::from(number), TokenId(1));
            assert!(counts.contexts() <= 10);
        }
        assert_eq!(counts.likely(0, 0.5)[..], [TokenId(7)]);
        assert!(counts.likely(0, 0.76).is_empty());
        let of = &counts.sorted()[0].1;
        assert!(of.tokens.len() <= FOLLOWERS);
        assert!(of.tokens.iter().map(|(_, count)| count).sum::<u32>() <= of.met);
        counts.set_capacity(0);
        counts.add(3, TokenId(1));
        assert_eq!(counts.contexts(), 0);
    }
}
