//! Sets of tokens put together from others, each combination once.
//!
//! A mask is a union of token classes, and so are the tokens behind a boundary. Their parts are named by id, so that what
//! was put together before is known by its parts, without going through its tokens.

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
}

impl TokensId {
    /// No tokens: the union of nothing.
    pub(crate) const NONE: Self = Self(1);

    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Set(number) => Self(number * 3),
            Kind::Union(number) => Self(number * 3 + 1),
            Kind::Difference(number) => Self(number * 3 + 2),
        }
    }

    fn kind(self) -> Kind {
        match self.0 % 3 {
            0 => Kind::Set(self.0 / 3),
            1 => Kind::Union(self.0 / 3),
            _ => Kind::Difference(self.0 / 3),
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
}

impl Default for Unions {
    fn default() -> Self {
        let unions = Interner::default();
        unions.intern(Box::default());
        Self { sets: AppendVec::default(), unions, differences: Interner::default() }
    }
}

impl Unions {
    /// Adds a set.
    pub(crate) fn add_set(&self, set: TokenSet) -> TokensId {
        TokensId::new(Kind::Set(self.sets.push(set)))
    }

    /// The set of this number, if it is stored.
    pub(super) fn set(&self, id: TokensId) -> Option<&TokenSet> {
        match id.kind() {
            Kind::Set(number) => self.sets.get(number),
            _ => None,
        }
    }

    /// The union of `parts`, whose order does not matter.
    pub(super) fn union(&self, parts: &mut Vec<TokensId>) -> TokensId {
        parts.retain(|&part| part != TokensId::NONE);
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [part] => part,
            _ => TokensId::new(Kind::Union(self.unions.intern_ref(parts.as_slice()))),
        }
    }

    /// `tokens` but for those of `others`.
    pub(super) fn difference(&self, tokens: TokensId, others: TokensId) -> TokensId {
        if tokens == TokensId::NONE || others == TokensId::NONE {
            return tokens;
        }
        TokensId::new(Kind::Difference(self.differences.intern((tokens, others))))
    }

    /// Sets the bits of all these tokens in `row`.
    pub(super) fn add_to(&self, tokens: TokensId, row: &mut [u32]) {
        enum Step {
            Add(TokensId),
            /// The last row without these is to be added to the one before.
            Close(TokensId),
        }
        let mut rows: Vec<Vec<u32>> = Vec::new();
        let mut steps = vec![Step::Add(tokens)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Add(tokens) => match tokens.kind() {
                    Kind::Set(number) => {
                        if let Some(set) = self.sets.get(number) {
                            set.add_to(rows.last_mut().map_or(&mut *row, Vec::as_mut_slice));
                        }
                    }
                    Kind::Union(number) => {
                        steps.extend(self.unions.get(number).iter().copied().map(Step::Add));
                    }
                    Kind::Difference(number) => {
                        let &(tokens, others) = self.differences.get(number);
                        steps.extend([Step::Close(others), Step::Add(tokens)]);
                        rows.push(vec![0; row.len()]);
                    }
                },
                Step::Close(others) => {
                    let Some(mut inner) = rows.pop() else { continue };
                    if let Some(set) = self.set(others) {
                        set.remove_from(&mut inner);
                    }
                    let outer = rows.last_mut().map_or(&mut *row, Vec::as_mut_slice);
                    outer.iter_mut().zip(&inner).for_each(|(word, bits)| *word |= bits);
                }
            }
        }
    }

    /// Heap bytes but for those of stored sets, as counted against the budget.
    pub(super) fn bytes(&self) -> usize {
        self.unions.len() * UNION_BYTES + self.differences.len() * DIFFERENCE_BYTES
    }
}

/// What a union costs: its entry, its places and some ten parts.
const UNION_BYTES: usize = 80;

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
        let union = unions.union(&mut vec![some, TokensId::NONE, others, some]);
        assert_eq!(union, unions.union(&mut vec![others, some]));
        assert_eq!(unions.union(&mut vec![TokensId::NONE]), TokensId::NONE);
        let inner = unions.difference(union, few);
        let all = unions.union(&mut vec![unions.difference(inner, set(&[64])), others]);
        let mut row = [0; 4];
        unions.add_to(all, &mut row);
        assert_eq!(row, [0b1110, 0, 1, 0]);
        let mut row = [0; 4];
        unions.add_to(inner, &mut row);
        assert_eq!(row, [0b1010, 0, 1, 0]);
    }
}
