//! The graph of token sets: sets put together from others, each combination once.
//!
//! A mask is a union of token classes, and so are the tokens behind a boundary. The members of a
//! union are named by number, so that a union that was met before is known by its members, without
//! going through its tokens. Few tokens are known by themselves: most of what lies behind an
//! operator is a handful, and hundreds of such handfuls would take longer to go through than to put
//! in one.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::{Array, SmallVec};

use super::set::{TokenSet, tokens_of};
use crate::util::append::{AppendVec, Interner};

/// The number of a set of tokens, be it stored or put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TokensId(u32);

/// The number of a set that is stored by itself, its tokens one by one: what another set can be
/// without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StoredTokensId(Stored);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stored {
    Set(u32),
    Few(u32),
    /// The token itself: most of what lies behind a boundary is one, and takes no memory.
    One(u32),
}

/// What a number names.
#[derive(Clone, Copy)]
enum Kind {
    Stored(Stored),
    Union(u32),
    Difference(u32),
}

/// How many kinds a number has room for: a power of two, so that the kind is its lowest bits.
const KINDS: u32 = 8;

impl TokensId {
    /// No tokens: the union of nothing.
    pub(crate) const NONE: Self = Self(1);

    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Stored(Stored::Set(number)) => Self(number * KINDS),
            Kind::Union(number) => Self(number * KINDS + 1),
            Kind::Difference(number) => Self(number * KINDS + 2),
            Kind::Stored(Stored::Few(number)) => Self(number * KINDS + 3),
            Kind::Stored(Stored::One(token)) => Self(token * KINDS + 4),
        }
    }

    fn is_difference(self) -> bool {
        matches!(self.kind(), Kind::Difference(_))
    }

    fn is_few(self) -> bool {
        matches!(self.kind(), Kind::Stored(Stored::Few(_) | Stored::One(_)))
    }

    fn kind(self) -> Kind {
        let number = self.0 / KINDS;
        match self.0 % KINDS {
            0 => Kind::Stored(Stored::Set(number)),
            1 => Kind::Union(number),
            2 => Kind::Difference(number),
            3 => Kind::Stored(Stored::Few(number)),
            _ => Kind::Stored(Stored::One(number)),
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
    /// The first without the second.
    differences: Interner<(TokensId, StoredTokensId)>,
    /// Sets of no more than [`FEW`] ids, ascending.
    few: Interner<Box<[u32]>>,
    /// Bytes that sets hold.
    held: AtomicUsize,
}

/// So many tokens are few.
const FEW: usize = 64;

/// Few tokens.
type Few = SmallVec<[u32; FEW]>;

/// Masks of real texts are put together in some hundreds of steps. Behind so many, ways down the
/// graph are taken to meet again and again.
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

    /// Adds the set of the ids in some runs of `ids`, for masks of `words` words.
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

    /// The number of these tokens, which are put in order.
    fn add_few(&self, ids: &mut Few) -> StoredTokensId {
        ids.sort_unstable();
        ids.dedup();
        if let [token] = ids[..] {
            return StoredTokensId(Stored::One(token));
        }
        let before = self.few.len();
        let number = self.few.intern_ref(&ids[..]);
        if number as usize >= before {
            self.held.fetch_add(FEW_BYTES + size_of_val(&ids[..]), Ordering::Relaxed);
        }
        StoredTokensId(Stored::Few(number))
    }

    /// The tokens of this number as one set, for masks of `words` words.
    pub(crate) fn collect(&self, tokens: TokensId, words: usize) -> Cow<'_, TokenSet> {
        match tokens.kind() {
            Kind::Stored(stored) => self.stored(stored),
            Kind::Union(_) | Kind::Difference(_) => {
                let mut row = vec![0; words];
                self.write_to(tokens, &mut row);
                let list = tokens_of(&row, words);
                let row = || TokenSet::Words(row.into());
                Cow::Owned(list.map_or_else(row, |list| TokenSet::List(list.into())))
            }
        }
    }

    /// The set of this number.
    fn stored(&self, stored: Stored) -> Cow<'_, TokenSet> {
        let list = |ids: &[u32]| Cow::Owned(TokenSet::List(ids.to_vec().into()));
        match stored {
            Stored::Set(number) => self.sets.get(number).map_or_else(|| list(&[]), Cow::Borrowed),
            Stored::Few(number) => list(self.few.get(number)),
            Stored::One(token) => list(&[token]),
        }
    }

    /// The union of `members`, whose order does not matter. None of them are left.
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

    /// Makes one of those among `members` that are few, if all together they still are.
    fn join_few<A: Array<Item = TokensId>>(&self, members: &mut SmallVec<A>) {
        let (mut all, mut joined) = (Few::new(), 0);
        for member in members.iter() {
            match member.kind() {
                Kind::Stored(Stored::One(token)) => all.push(token),
                Kind::Stored(Stored::Few(number)) => {
                    let ids = self.few.get(number);
                    if all.len() + ids.len() > FEW {
                        return;
                    }
                    all.extend_from_slice(ids);
                }
                _ => continue,
            }
            joined += 1;
        }
        if joined > 1 && all.len() <= FEW {
            members.retain(|member| !member.is_few());
            members.push(self.add_few(&mut all).into());
        }
    }

    /// `tokens` but for those of `others`.
    pub(crate) fn difference(&self, tokens: TokensId, others: Option<StoredTokensId>) -> TokensId {
        match others {
            Some(others) if tokens != TokensId::NONE => {
                TokensId::new(Kind::Difference(self.differences.intern((tokens, others))))
            }
            _ => tokens,
        }
    }

    /// The ids of these tokens, ascending, if these are put together from lists that have no more
    /// than `limit` ids in all.
    pub(crate) fn few(&self, tokens: TokensId, limit: usize) -> Option<Vec<u32>> {
        // Most are too many, which the lengths of the lists tell.
        let (mut lists, mut count): (SmallVec<[Stored; 32]>, _) = (SmallVec::new(), 0);
        let mut rest: SmallVec<[TokensId; 32]> = SmallVec::from_slice(&[tokens]);
        while let Some(tokens) = rest.pop() {
            match tokens.kind() {
                Kind::Stored(stored) => {
                    count += match stored {
                        Stored::Few(number) => self.few.get(number).len(),
                        Stored::One(_) => 1,
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
                Stored::One(token) => ids.push(token),
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

    /// Makes `row` hold all these tokens and no others.
    pub(crate) fn write_to(&self, tokens: TokensId, row: &mut [u32]) {
        enum Step<'u> {
            Add(TokensId),
            /// These are to be taken out again.
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
                    Kind::Stored(Stored::One(id)) => {
                        row[id as usize / 32] |= 1 << (id % 32);
                        is_empty = false;
                    }
                    Kind::Union(number) => {
                        // Differences are taken last on, so that they come first: in an empty row
                        // what is to be taken out is all that they say.
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
                            // What the row has stays.
                            false => Cow::Owned(others.without(row)),
                        }));
                        steps.push(Step::Add(tokens));
                    }
                },
                Step::Remove(set) => set.remove_from(row),
            }
        }
    }

    /// The same where there may be more ways down the graph than anyone can go: each set is added
    /// once, and what a difference comes to is found once, inner ones first.
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

    /// The differences that a set is put together from, at any depth. An inner one has a smaller
    /// number than those around it, because it was made before.
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

    /// Adds all that a set is put together from to `row`, given what differences come to.
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
                    // In a forged file a set may be part of itself.
                    let known = differences.get(&number).map_or(&[][..], |known| known);
                    row.iter_mut().zip(known).for_each(|(word, known)| *word |= known);
                }
            }
        }
    }

    /// Heap bytes, as counted against the budget.
    pub(crate) fn bytes(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        let (unions, differences) = (self.unions.len(), self.differences.len());
        unions * UNION_BYTES + differences * DIFFERENCE_BYTES + held
    }
}

/// What a union costs: its entry, its places and some ten members.
const UNION_BYTES: usize = 80;

/// What a set of few tokens costs beside these: its entry and its places.
const FEW_BYTES: usize = 40;

/// What a set costs beside its tokens: its entry.
const SET_BYTES: usize = size_of::<TokenSet>();

/// What a difference costs.
const DIFFERENCE_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Two ways on from each of forty sets, which meet again in the next: a million million ways.
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
        graph.collect(all, 4).write_to(&mut row);
        assert_eq!(row, [0b1110, 0, 1, 0]);
        let mut row = [0; 4];
        graph.write_to(inner, &mut row);
        assert_eq!(row, [0b1010, 0, 1, 0]);
        // What one difference takes out the other one has, whichever comes first.
        let both = set(&[1, 2]).into();
        let apart =
            [graph.difference(both, Some(set(&[1]))), graph.difference(both, Some(set(&[2])))];
        let mut row = [u32::MAX; 4];
        graph.write_to(union_of(&apart), &mut row);
        assert_eq!(row, [0b110, 0, 0, 0]);
    }
}
