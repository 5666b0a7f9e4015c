//! The graph of token sets: sets composed from others, each combination once.
//!
//! A mask is a union of token classes, and so is the set of tokens after a boundary. A union is
//! keyed by the numbers of its members, so that a known union is found without reading its tokens.
//! Small sets are keyed by their tokens: most sets after an operator are a handful of tokens, and
//! visiting hundreds of them would take longer than merging them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::{Array, SmallVec};

use super::set::TokenSet;
use crate::util::append::{AppendVec, Interner};

/// The number of a set of tokens, either stored or composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TokensId(u32);

/// The number of a stored set, one that lists its tokens. It can be subtracted from another set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoredTokensId(Stored);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stored {
    Set(u32),
    Few(u32),
}

/// The kind of set that a number refers to.
#[derive(Clone, Copy)]
enum Kind {
    Stored(Stored),
    Union(u32),
    Difference(u32),
}

/// Upper bound on the number of kinds: a power of two, so that the kind is in the lowest bits.
const KINDS: u32 = 4;

impl TokensId {
    /// The empty set: the union of nothing.
    pub(crate) const NONE: Self = Self(1);

    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Stored(Stored::Set(number)) => Self(number * KINDS),
            Kind::Union(number) => Self(number * KINDS + 1),
            Kind::Difference(number) => Self(number * KINDS + 2),
            Kind::Stored(Stored::Few(number)) => Self(number * KINDS + 3),
        }
    }

    fn is_difference(self) -> bool {
        matches!(self.kind(), Kind::Difference(_))
    }

    fn is_few(self) -> bool {
        matches!(self.kind(), Kind::Stored(Stored::Few(_)))
    }

    fn kind(self) -> Kind {
        let number = self.0 / KINDS;
        match self.0 % KINDS {
            0 => Kind::Stored(Stored::Set(number)),
            1 => Kind::Union(number),
            2 => Kind::Difference(number),
            _ => Kind::Stored(Stored::Few(number)),
        }
    }
}

impl From<StoredTokensId> for TokensId {
    fn from(stored: StoredTokensId) -> Self {
        Self::new(Kind::Stored(stored.0))
    }
}

/// Sets of tokens by number.
#[derive(Debug)]
pub(crate) struct TokenSetGraph {
    sets: AppendVec<TokenSet>,
    unions: Interner<Box<[TokensId]>>,
    /// Pairs: the first set minus the second.
    differences: Interner<(TokensId, StoredTokensId)>,
    /// Sets of no more than [`FEW`] ids, ascending.
    few: Interner<Box<[u32]>>,
    /// Bytes of sets.
    held: AtomicUsize,
}

/// Upper bound on the size of small sets.
const FEW: usize = 64;

/// A small set.
type Few = SmallVec<[u32; FEW]>;

/// Upper bound on the steps of a plain traversal. Masks of real texts are composed in some hundreds
/// of steps; beyond this bound, paths through the graph are assumed to meet again and again.
const MANY: usize = 1 << 12;

impl Default for TokenSetGraph {
    fn default() -> Self {
        let unions = Interner::default();
        unions.intern(Box::default());
        let (sets, differences, few) =
            (AppendVec::default(), Interner::default(), Interner::default());
        Self { sets, unions, differences, few, held: AtomicUsize::new(0) }
    }
}

impl TokenSetGraph {
    /// Adds a set.
    pub(crate) fn add_set(&self, set: TokenSet) -> StoredTokensId {
        if let TokenSet::List(ids) = &set
            && ids.len() <= FEW
        {
            return self.add_few(&mut SmallVec::from_slice(ids));
        }
        self.held.fetch_add(set.bytes() + SET_BYTES, Ordering::Relaxed);
        StoredTokensId(Stored::Set(self.sets.push(set)))
    }

    /// Adds the set of the ids in these runs of `ids`, for masks of `words` words.
    pub(crate) fn add_runs(
        &self,
        ids: &[u32],
        runs: impl Iterator<Item = Range<u32>> + Clone,
        words: usize,
    ) -> StoredTokensId {
        if runs.clone().map(|run| run.len()).sum::<usize>() > FEW {
            return self.add_set(TokenSet::from_runs(ids, runs, words));
        }
        let mut few = Few::new();
        runs.for_each(|run| few.extend_from_slice(&ids[run.start as usize..run.end as usize]));
        self.add_few(&mut few)
    }

    /// Returns the number of this small set, after sorting it.
    fn add_few(&self, ids: &mut Few) -> StoredTokensId {
        ids.sort_unstable();
        ids.dedup();
        let before = self.few.len();
        let number = self.few.intern_ref(&ids[..]);
        if number as usize >= before {
            self.held.fetch_add(FEW_BYTES + size_of_val(&ids[..]), Ordering::Relaxed);
        }
        StoredTokensId(Stored::Few(number))
    }

    /// Returns the stored set with this number.
    fn stored(&self, stored: Stored) -> Cow<'_, TokenSet> {
        let list = |ids: &[u32]| Cow::Owned(TokenSet::List(ids.to_vec().into()));
        match stored {
            Stored::Set(number) => self.sets.get(number).map_or_else(|| list(&[]), Cow::Borrowed),
            Stored::Few(number) => list(self.few.get(number)),
        }
    }

    /// Returns the union of `members`, in any order, and leaves `members` empty.
    pub(crate) fn union<A: Array<Item = TokensId>>(&self, members: &mut SmallVec<A>) -> TokensId {
        members.retain(|member| *member != TokensId::NONE);
        if members.len() > 1 {
            self.join_few(members);
            members.sort_unstable();
            members.dedup();
        }
        let union = match members[..] {
            [] => TokensId::NONE,
            [member] => member,
            _ => TokensId::new(Kind::Union(self.unions.intern_ref(&members[..]))),
        };
        members.clear();
        union
    }

    /// Merges the small sets among `members` into one, if the result is still small.
    fn join_few<A: Array<Item = TokensId>>(&self, members: &mut SmallVec<A>) {
        let (mut all, mut joined) = (Few::new(), 0);
        for member in members.iter() {
            let Kind::Stored(Stored::Few(number)) = member.kind() else { continue };
            let ids = self.few.get(number);
            if all.len() + ids.len() > FEW {
                return;
            }
            all.extend_from_slice(ids);
            joined += 1;
        }
        if joined > 1 && all.len() <= FEW {
            members.retain(|member| !member.is_few());
            members.push(self.add_few(&mut all).into());
        }
    }

    /// Returns `tokens` minus `others`.
    pub(crate) fn difference(&self, tokens: TokensId, others: Option<StoredTokensId>) -> TokensId {
        match others {
            Some(others) if tokens != TokensId::NONE => {
                TokensId::new(Kind::Difference(self.differences.intern((tokens, others))))
            }
            _ => tokens,
        }
    }

    /// Returns the ids of these tokens, ascending, if the set is composed from lists with at most
    /// `limit` ids in total.
    pub(crate) fn few(&self, tokens: TokensId, limit: usize) -> Option<Vec<u32>> {
        // Most sets are too large, which the lengths of the lists show.
        let (mut lists, mut count): (SmallVec<[Stored; 32]>, _) = (SmallVec::new(), 0);
        let mut rest: SmallVec<[TokensId; 32]> = SmallVec::from_slice(&[tokens]);
        while let Some(tokens) = rest.pop() {
            match tokens.kind() {
                Kind::Stored(stored) => {
                    count += match stored {
                        Stored::Few(number) => self.few.get(number).len(),
                        Stored::Set(number) => self.sets.get(number)?.listed()?,
                    };
                    lists.push(stored);
                }
                Kind::Union(number) => rest.extend_from_slice(self.unions.get(number)),
                Kind::Difference(_) => return None,
            }
            if count > limit {
                return None;
            }
        }
        let mut ids = Vec::with_capacity(count);
        for stored in lists {
            match stored {
                Stored::Few(number) => ids.extend_from_slice(self.few.get(number)),
                Stored::Set(number) => {
                    if let Some(set) = self.sets.get(number) {
                        set.each_listed(|id| ids.push(id));
                    }
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }

    /// Writes exactly these tokens to `row`.
    pub(crate) fn write_to(&self, tokens: TokensId, row: &mut [u32]) {
        enum Step<'u> {
            Add(TokensId),
            /// Tokens to remove again.
            Remove(Cow<'u, TokenSet>),
        }
        row.fill(0);
        let (mut is_empty, mut taken) = (true, 0);
        let mut steps: SmallVec<[Step<'_>; 16]> = SmallVec::from_iter([Step::Add(tokens)]);
        while let Some(step) = steps.pop() {
            taken += 1;
            if taken > MANY {
                return self.write_each_once(tokens, row);
            }
            match step {
                Step::Add(tokens) => match tokens.kind() {
                    Kind::Stored(Stored::Set(number)) => {
                        if let Some(set) = self.sets.get(number) {
                            set.add_to(row);
                            is_empty = false;
                        }
                    }
                    Kind::Stored(Stored::Few(number)) => {
                        for &id in self.few.get(number) {
                            row[id as usize / 32] |= 1 << (id % 32);
                        }
                        is_empty = false;
                    }
                    Kind::Union(number) => {
                        // Differences are pushed last, so that they are processed first: while the
                        // row is empty, they can remove their second set as it is.
                        let members = self.unions.get(number);
                        for differences in [false, true] {
                            let members =
                                members.iter().filter(|id| id.is_difference() == differences);
                            steps.extend(members.copied().map(Step::Add));
                        }
                    }
                    Kind::Difference(number) => {
                        let &(tokens, others) = self.differences.get(number);
                        let others = self.stored(others.0);
                        steps.push(Step::Remove(match is_empty {
                            true => others,
                            // Tokens that the row already has are kept.
                            false => Cow::Owned(others.without(row)),
                        }));
                        steps.push(Step::Add(tokens));
                    }
                },
                Step::Remove(set) => set.remove_from(row),
            }
        }
    }

    /// Writes a set whose graph may have exponentially many paths: each set is added once, and each
    /// difference is computed once, inner ones first.
    #[cold]
    fn write_each_once(&self, tokens: TokensId, row: &mut [u32]) {
        let mut differences = self.differences_in(tokens);
        differences.sort_unstable();
        let mut rows: HashMap<u32, Box<[u32]>, FxBuildHasher> = HashMap::default();
        for number in differences {
            let &(tokens, others) = self.differences.get(number);
            let mut own = vec![0; row.len()];
            self.add_parts(tokens, &rows, &mut own);
            self.stored(others.0).remove_from(&mut own);
            rows.insert(number, own.into());
        }
        row.fill(0);
        self.add_parts(tokens, &rows, row);
    }

    /// Returns the differences that a set is composed from, at any depth. An inner one has a
    /// smaller number than those that contain it, because it was created earlier.
    fn differences_in(&self, tokens: TokensId) -> Vec<u32> {
        let mut differences = Vec::new();
        let mut seen: HashSet<TokensId, FxBuildHasher> = HashSet::from_iter([tokens]);
        let mut pending = vec![tokens];
        while let Some(tokens) = pending.pop() {
            let parts = match tokens.kind() {
                Kind::Stored(_) => &[][..],
                Kind::Union(number) => self.unions.get(number),
                Kind::Difference(number) => {
                    differences.push(number);
                    std::slice::from_ref(&self.differences.get(number).0)
                }
            };
            pending.extend(parts.iter().filter(|&&part| seen.insert(part)));
        }
        differences
    }

    /// Adds all parts of a set to `row`, given the rows of differences.
    fn add_parts(
        &self,
        tokens: TokensId,
        differences: &HashMap<u32, Box<[u32]>, FxBuildHasher>,
        row: &mut [u32],
    ) {
        let mut seen: HashSet<TokensId, FxBuildHasher> = HashSet::from_iter([tokens]);
        let mut pending = vec![tokens];
        while let Some(tokens) = pending.pop() {
            match tokens.kind() {
                Kind::Stored(stored) => self.stored(stored).add_to(row),
                Kind::Union(number) => {
                    let members = self.unions.get(number).iter();
                    pending.extend(members.filter(|&&member| seen.insert(member)));
                }
                Kind::Difference(number) => {
                    // A set never contains itself, but the look-up is checked anyway.
                    let known = differences.get(&number).map_or(&[][..], |known| known);
                    row.iter_mut().zip(known).for_each(|(word, known)| *word |= known);
                }
            }
        }
    }

    /// Returns the heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        let (unions, differences) = (self.unions.len(), self.differences.len());
        unions * UNION_BYTES + differences * DIFFERENCE_BYTES + held
    }
}

/// Size of a union: its entry, its slots and some ten members.
const UNION_BYTES: usize = 80;

/// Overhead of a small set besides its tokens: its entry and its slots.
const FEW_BYTES: usize = 40;

/// Overhead of a set besides its tokens: its entry.
const SET_BYTES: usize = size_of::<TokenSet>();

/// Size of a difference.
const DIFFERENCE_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Two branches from each of forty sets, which meet again in the next: a million million paths.
    #[test]
    fn sets_that_meet_again_and_again_are_added_once() {
        let graph = TokenSetGraph::default();
        let set = |id: u32| graph.add_set(TokenSet::from_runs(&[id], std::iter::once(0..1), 100));
        let union = |of: [TokensId; 3]| graph.union(&mut SmallVec::from(of));
        let mut all = union([1, 2, 3].map(|id| set(id).into()));
        for id in 4..44 {
            let less = graph.difference(all, Some(set(1 + id % 3)));
            all = union([less, graph.difference(all, Some(set(id))), set(id).into()]);
        }
        let mut row = [0; 4];
        graph.write_to(all, &mut row);
        assert_eq!(row, [u32::MAX - 1, (1 << 12) - 1, 0, 0]);
    }

    #[test]
    fn differences_leave_out_no_more_than_they_say() {
        let graph = TokenSetGraph::default();
        let set = |ids: &[u32]| {
            graph.add_set(TokenSet::from_runs(ids, std::iter::once(0..ids.len() as u32), 100))
        };
        let few = set(&[2]);
        let [some, others] = [&[1, 2, 3][..], &[2, 64]].map(|ids| TokensId::from(set(ids)));
        let union_of = |of: &[TokensId]| graph.union(&mut SmallVec::<[_; 4]>::from_slice(of));
        let union = union_of(&[some, TokensId::NONE, others, some]);
        assert_eq!(union, union_of(&[others, some]));
        assert_eq!(union_of(&[TokensId::NONE]), TokensId::NONE);
        let inner = graph.difference(union, Some(few));
        let all = union_of(&[graph.difference(inner, Some(set(&[64]))), others]);
        let mut row = [0; 4];
        graph.write_to(all, &mut row);
        assert_eq!(row, [0b1110, 0, 1, 0]);
        let mut row = [0; 4];
        graph.write_to(inner, &mut row);
        assert_eq!(row, [0b1010, 0, 1, 0]);
        // The tokens that one difference removes are in the other one, in either order.
        let both = set(&[1, 2]).into();
        let apart =
            [graph.difference(both, Some(set(&[1]))), graph.difference(both, Some(set(&[2])))];
        let mut row = [u32::MAX; 4];
        graph.write_to(union_of(&apart), &mut row);
        assert_eq!(row, [0b110, 0, 0, 0]);
    }
}
