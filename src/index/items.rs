//! Tokens that contain items of lists of distinct items.
//!
//! The items of a list are stored next to the configuration, so no mask of the index can exclude
//! repeated ones. These are the tokens that might repeat an item in any configuration, apart from
//! those that begin with the remainder of an item.

use std::borrow::Cow;

use crate::scanner::{Distinct, LexemeCounts, Scanner};
use crate::util::id::{TerminalId, TokenId};
use crate::vocab::Vocabulary;

/// The tokens that contain bytes after which an item begins, followed by a prefix of an item.
#[derive(Debug)]
pub(crate) struct TokensOfItems {
    /// Bytes after which an item may begin, and bytes with which one may begin.
    ends: [bool; 256],
    begins: [bool; 256],
    /// The number of texts of each item.
    items: Vec<LexemeCounts>,
    /// Tokens, each with the smallest number of items that share a prefix found in it. Ascending.
    fewest: Vec<(u64, u32)>,
    /// Tokens that contain the end of an array or object, each with the positions where it may
    /// repeat an item.
    composites: Vec<(u32, Brackets)>,
}

/// Positions at which a token may end an array or object that repeats an item of its list, one bit
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brackets(u8);

impl Brackets {
    /// Anywhere, if the list begins in the token: the token contains two whole items.
    pub(crate) const TWO: Self = Self(1);
    /// Between two items: the token contains one whole item.
    pub(crate) const ONE: Self = Self(2);
    /// Within an item that is not yet equal to an earlier one: the token completes it with more
    /// members, or completes a later item.
    pub(crate) const MORE: Self = Self(4);
    /// Within an item that the token may end without adding to it.
    pub(crate) const ANY: Self = Self(8);

    /// Returns the union of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the positions for a token.
    fn of(token: &[u8]) -> Self {
        let is_open = |byte: &u8| matches!(byte, b'[' | b'{');
        let is_close = |byte: &u8| matches!(byte, b']' | b'}');
        if !token.iter().any(is_close) {
            return Self(0);
        }
        let mut rest = token.iter();
        let mut pair = || rest.any(is_open) && rest.any(is_close);
        let (one, two) = (pair(), pair());
        // Brackets in strings do not match any others.
        let mut depth = 0;
        let any = token.contains(&b'"')
            || token.iter().any(|byte| {
                depth += i32::from(is_open(byte)) - i32::from(is_close(byte));
                depth < 0
            });
        let mut rest = token.iter();
        let more = any && rest.any(|byte| matches!(byte, b':' | b',')) && rest.any(is_close);
        let bit = |own: Self, holds| if holds { own.0 } else { 0 };
        let bits = [(Self::TWO, two), (Self::ONE, one), (Self::MORE, more), (Self::ANY, any)];
        Self(bits.into_iter().map(|(own, holds)| bit(own, holds)).sum())
    }
}

impl TokensOfItems {
    /// Computes the tokens of a vocabulary. Costs its bytes and the transitions of the terminals'
    /// automata.
    pub(super) fn new(scanner: &Scanner, vocabulary: &Vocabulary) -> Self {
        let (ends, begins) = ([false; 256], [false; 256]);
        let (items, fewest, composites) = (Vec::new(), Vec::new(), Vec::new());
        let mut own = Self { ends, begins, items, fewest, composites };
        for (terminal, role) in scanner.terminals_of_lists() {
            match role {
                Distinct::Open | Distinct::Next => {
                    scanner.last_bytes(terminal, &mut own.ends);
                }
                Distinct::Item => {
                    own.items.extend(scanner.lexeme_counts(terminal));
                    for byte in 0..=u8::MAX {
                        let item = scanner.lexeme_of(terminal);
                        own.begins[usize::from(byte)] |=
                            item.and_then(|at| at.next(byte)).is_some();
                    }
                }
                Distinct::Close => {}
            }
        }
        let bytes = |id: u32| vocabulary.bytes(TokenId(id)).unwrap_or_default();
        // Strings begin with a quote.
        let are_marked = (0..=u8::MAX).all(|byte| byte == b'"' || !own.may_begin_with(byte));
        let candidates: Cow<'_, [u32]> = match are_marked {
            true => vocabulary.marked().into(),
            false => (0..vocabulary.width() as u32).collect::<Vec<u32>>().into(),
        };
        let fewest = candidates.iter().filter_map(|&id| {
            let bytes = bytes(id);
            // Most tokens contain nothing of the kind.
            let holds = bytes.windows(2).any(|pair| own.is_between(pair[0], pair[1]));
            let fewest = holds.then(|| own.fewest_behind(scanner, bytes)).flatten();
            fewest.map(|count| (count, id))
        });
        own.fewest = fewest.collect();
        own.fewest.sort_unstable();
        for &id in vocabulary.marked() {
            let brackets = Brackets::of(bytes(id));
            own.composites.extend((brackets.0 != 0).then_some((id, brackets)));
        }
        own
    }

    /// Returns the smallest number of items that share a prefix which appears in `text` after its
    /// first byte; 1 for a whole item. `None` if no item begins there.
    pub(crate) fn fewest_behind(&self, scanner: &Scanner, text: &[u8]) -> Option<u64> {
        self.begins_behind(text)
            .flat_map(|at| self.items.iter().map(move |item| item.fewest(scanner, &text[at..])))
            .min()
    }

    /// Whether an item may begin with a byte.
    pub(crate) fn may_begin_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// Returns the offsets in `text`, after its first byte, at which an item may begin.
    pub(crate) fn begins_behind<'t>(
        &self,
        text: &'t [u8],
    ) -> impl Iterator<Item = usize> + use<'t, '_> {
        (1..text.len()).filter(|&at| self.is_between(text[at - 1], text[at]))
    }

    /// Whether an item may begin between two bytes.
    fn is_between(&self, before: u8, behind: u8) -> bool {
        self.ends[usize::from(before)] & self.begins[usize::from(behind)]
    }

    /// Returns the tokens that contain a prefix shared by at most `count` items.
    pub(crate) fn of(&self, count: u64) -> impl Iterator<Item = u32> + '_ {
        self.fewest.iter().take_while(move |&&(own, _)| own <= count).map(|&(_, id)| id)
    }

    /// Returns the tokens that may end an array or object that repeats an item, at one of these
    /// positions.
    pub(crate) fn of_composites(&self, places: Brackets) -> impl Iterator<Item = u32> + '_ {
        let may = move |&&(_, own): &&(u32, Brackets)| own.0 & places.0 != 0;
        self.composites.iter().filter(may).map(|&(id, _)| id)
    }

    /// Whether some terminal of items has a single text.
    pub(crate) fn has_single(&self) -> bool {
        self.items.iter().any(|item| item.all() <= 1)
    }

    /// Returns the number of lexemes of an item's terminal; `u64::MAX` if there are infinitely
    /// many.
    pub(crate) fn texts(&self, terminal: TerminalId) -> u64 {
        let known = self.items.iter().find(|item| item.terminal == terminal);
        known.map_or(u64::MAX, LexemeCounts::all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_of_tokens() {
        let (one, two) = (Brackets::ONE, Brackets::ONE.and(Brackets::TWO));
        let (any, more) = (Brackets::ANY, Brackets::ANY.and(Brackets::MORE));
        for (token, expected) in [
            ("a", Brackets(0)),
            ("{[", Brackets(0)),
            ("}", any),
            ("]}", any),
            ("{}", one),
            ("[{}", one),
            ("{},{}", two),
            ("[]}", one.and(any)),
            ("},{}", one.and(more)),
            ("1,2]", more),
            (":1}", more),
            ("},{", any),
            ("}\"", any),
            ("\"[\"}", one.and(any)),
        ] {
            assert_eq!(Brackets::of(token.as_bytes()), expected, "{token}");
        }
    }
}
