//! Sets of tokens put together from others, each combination once.
//!
//! A mask is a union of token classes, and so are the tokens behind a boundary. Their parts are
//! named by id, so that what was put together before is known by its parts, without going through
//! its tokens. Few tokens are known by themselves: most of what lies behind an operator is a
//! handful, and hundreds of such handfuls would take longer to go through than to put in one.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::SmallVec;

use super::token_set::TokenSet;
use crate::util::append::{AppendVec, Interner};

/// The number of a set of tokens, be it stored or put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TokensId(u32);

/// What a number names.
#[derive(Clone, Copy)]
enum Kind {
    Set(u32),
    Union(u32),
    Difference(u32),
    Few(u32),
}

impl TokensId {
    /// No tokens: the union of nothing.
    pub(crate) const NONE: Self = Self(1);

    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Set(number) => Self(number * 4),
            Kind::Union(number) => Self(number * 4 + 1),
            Kind::Difference(number) => Self(number * 4 + 2),
            Kind::Few(number) => Self(number * 4 + 3),
        }
    }

    fn is_difference(self) -> bool {
        matches!(self.kind(), Kind::Difference(_))
    }

    fn kind(self) -> Kind {
        match self.0 % 4 {
            0 => Kind::Set(self.0 / 4),
            1 => Kind::Union(self.0 / 4),
            2 => Kind::Difference(self.0 / 4),
            _ => Kind::Few(self.0 / 4),
        }
    }
}

/// The sets of a generation.
#[derive(Debug)]
pub(crate) struct Unions {
    sets: AppendVec<TokenSet>,
    unions: Interner<Box<[TokensId]>>,
    /// The first without the second.
    differences: Interner<(TokensId, TokensId)>,
    /// Sets of no more than [`FEW`] ids, ascending.
    few: Interner<Box<[u32]>>,
    /// Bytes that sets hold.
    held: AtomicUsize,
}

/// What is to be one.
type Parts = SmallVec<[TokensId; 32]>;

/// So many tokens are few.
const FEW: usize = 64;

impl Default for Unions {
    fn default() -> Self {
        let unions = Interner::default();
        unions.intern(Box::default());
        let (sets, differences, few) = (AppendVec::default(), Interner::default(), Interner::default());
        Self { sets, unions, differences, few, held: AtomicUsize::new(0) }
    }
}

impl Unions {
    /// Adds a set.
    pub(crate) fn add_set(&self, set: TokenSet) -> TokensId {
        match &set {
            // Those of kept bytes stay there.
            TokenSet::List(ids) if let Some(ids) = ids.own().filter(|ids| ids.len() <= FEW) => {
                self.add_few(ids)
            }
            _ => {
                self.held.fetch_add(set.bytes() + size_of::<TokenSet>(), Ordering::Relaxed);
                TokensId::new(Kind::Set(self.sets.push(set)))
            }
        }
    }

    fn add_few(&self, ids: &[u32]) -> TokensId {
        let before = self.few.len();
        let number = self.few.intern_ref(ids);
        if number as usize >= before {
            self.held.fetch_add(FEW_BYTES + size_of_val(ids), Ordering::Relaxed);
        }
        TokensId::new(Kind::Few(number))
    }

    /// The tokens of this number as one set, for masks of `words` words.
    pub(super) fn collect(&self, tokens: TokensId, words: usize) -> TokenSet {
        let mut row = vec![0; words];
        self.write_to(tokens, &mut row);
        TokenSet::list(&row, words).unwrap_or_else(|| TokenSet::Words(row.into()))
    }

    /// The set of this number, if it is one that was added.
    pub(super) fn set(&self, id: TokensId) -> Option<Cow<'_, TokenSet>> {
        match id.kind() {
            Kind::Set(number) => self.sets.get(number).map(Cow::Borrowed),
            Kind::Few(number) => Some(Cow::Owned(TokenSet::List(self.few.get(number).to_vec().into()))),
            _ => None,
        }
    }

    /// The union of `parts`, whose order does not matter.
    pub(super) fn union(&self, parts: impl IntoIterator<Item = TokensId>) -> TokensId {
        let mut parts: Parts = parts.into_iter().filter(|&part| part != TokensId::NONE).collect();
        self.join_few(&mut parts);
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [part] => part,
            _ => TokensId::new(Kind::Union(self.unions.intern_ref(parts.as_slice()))),
        }
    }

    /// Makes one of those among `parts` that are few, if all together they still are.
    fn join_few(&self, parts: &mut Parts) {
        let few = |part: &TokensId| match part.kind() {
            Kind::Few(number) => Some(self.few.get(number)),
            _ => None,
        };
        let (mut count, mut sets) = (0, 0);
        for ids in parts.iter().filter_map(few) {
            count += ids.len();
            sets += 1;
        }
        if sets > 1 && count <= FEW {
            let mut all: SmallVec<[u32; FEW]> = parts.iter().filter_map(few).flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            parts.retain(|part| few(part).is_none());
            parts.push(self.add_few(&all));
        }
    }

    /// `tokens` but for those of `others`.
    pub(super) fn difference(&self, tokens: TokensId, others: TokensId) -> TokensId {
        if tokens == TokensId::NONE || others == TokensId::NONE {
            return tokens;
        }
        TokensId::new(Kind::Difference(self.differences.intern((tokens, others))))
    }

    /// Makes `row` hold all these tokens and no others.
    pub(super) fn write_to(&self, tokens: TokensId, row: &mut [u32]) {
        enum Step<'u> {
            Add(TokensId),
            /// These are to be taken out again.
            Remove(Cow<'u, TokenSet>),
        }
        row.fill(0);
        let mut is_empty = true;
        let mut steps = vec![Step::Add(tokens)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Add(tokens) => match tokens.kind() {
                    Kind::Set(number) => {
                        if let Some(set) = self.sets.get(number) {
                            set.add_to(row);
                            is_empty = false;
                        }
                    }
                    Kind::Few(number) => {
                        for &id in self.few.get(number) {
                            row[id as usize / 32] |= 1 << (id % 32);
                        }
                        is_empty = false;
                    }
                    Kind::Union(number) => {
                        // Differences are taken last on, so that they come first: in an empty row
                        // what is to be taken out is all that they say.
                        let parts = self.unions.get(number);
                        for differences in [false, true] {
                            let parts = parts.iter().filter(|part| part.is_difference() == differences);
                            steps.extend(parts.copied().map(Step::Add));
                        }
                    }
                    Kind::Difference(number) => {
                        let &(tokens, others) = self.differences.get(number);
                        steps.extend(self.set(others).map(|others| match is_empty {
                            true => Step::Remove(others),
                            // What the row has stays.
                            false => Step::Remove(Cow::Owned(others.without(row))),
                        }));
                        steps.push(Step::Add(tokens));
                    }
                },
                Step::Remove(set) => set.remove_from(row),
            }
        }
    }

    /// Heap bytes, as counted against the budget.
    pub(super) fn bytes(&self) -> usize {
        let held = self.held.load(Ordering::Relaxed);
        self.unions.len() * UNION_BYTES + self.differences.len() * DIFFERENCE_BYTES + held
    }
}

/// What a union costs: its entry, its places and some ten parts.
const UNION_BYTES: usize = 80;

/// What a set of few tokens costs beside these: its entry and its places.
const FEW_BYTES: usize = 40;

/// What a difference costs.
const DIFFERENCE_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_leave_out_no_more_than_they_say() {
        let unions = Unions::default();
        let set =
            |ids: &[u32]| unions.add_set(TokenSet::from_runs(ids, std::iter::once(0..ids.len() as u32), 100));
        let (some, few, others) = (set(&[1, 2, 3]), set(&[2]), set(&[2, 64]));
        let union = unions.union(vec![some, TokensId::NONE, others, some]);
        assert_eq!(union, unions.union(vec![others, some]));
        assert_eq!(unions.union(vec![TokensId::NONE]), TokensId::NONE);
        let inner = unions.difference(union, few);
        let all = unions.union(vec![unions.difference(inner, set(&[64])), others]);
        let mut row = [0; 4];
        unions.write_to(all, &mut row);
        assert_eq!(row, [0b1110, 0, 1, 0]);
        unions.collect(all, 4).write_to(&mut row);
        assert_eq!(row, [0b1110, 0, 1, 0]);
        let mut row = [0; 4];
        unions.write_to(inner, &mut row);
        assert_eq!(row, [0b1010, 0, 1, 0]);
        // What one difference takes out the other one has, whichever comes first.
        let both = set(&[1, 2]);
        let apart = [unions.difference(both, set(&[1])), unions.difference(both, set(&[2]))];
        let mut row = [u32::MAX; 4];
        unions.write_to(unions.union(apart), &mut row);
        assert_eq!(row, [0b110, 0, 0, 0]);
    }
}
