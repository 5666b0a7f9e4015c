//! Tokens that hold items of lists in which no two may be the same.
//!
//! Which items stand in a list is known beside the configuration, so no mask of the index can leave
//! out what repeats one. These are the tokens that might, wherever the text stands, beside those
//! that begin with what is left of an item.

use std::borrow::Cow;

use crate::scanner::{Distinct, LexemeCounts, Scanner};
use crate::util::id::{TerminalId, TokenId};
use crate::vocab::Vocabulary;

/// Which tokens hold something behind which an item begins, and the beginning of an item.
#[derive(Debug)]
pub(crate) struct TokensOfItems {
    /// Bytes behind which an item may begin, and with which one may.
    ends: [bool; 256],
    begins: [bool; 256],
    /// What the items are.
    items: Vec<LexemeCounts>,
    /// Tokens, each with the fewest items that begin as one in it. Ascending.
    fewest: Vec<(u64, u32)>,
    /// Tokens that hold the end of an array or object, each with where it may repeat an item.
    composites: Vec<(u32, Brackets)>,
}

/// Where a token may end an array or object that stands in a list already: a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Brackets(u8);

impl Brackets {
    /// Wherever a list may be: it holds two of them whole.
    pub(crate) const TWO: Self = Self(1);
    /// Between two items: it holds one whole.
    pub(crate) const ONE: Self = Self(2);
    /// Within an item: it ends one, behind some more of it or before another.
    pub(crate) const MORE: Self = Self(4);
    /// Within an item that it may end as it stands.
    pub(crate) const ANY: Self = Self(8);

    /// Both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those of a token.
    fn of(token: &[u8]) -> Self {
        let is_open = |byte: &u8| matches!(byte, b'[' | b'{');
        let is_close = |byte: &u8| matches!(byte, b']' | b'}');
        if !token.iter().any(is_close) {
            return Self(0);
        }
        let mut rest = token.iter();
        let mut pair = || rest.any(is_open) && rest.any(is_close);
        let (one, two) = (pair(), pair());
        // Brackets of strings belong to no others.
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
    /// Those of a vocabulary. Costs its bytes and the moves of the terminals' automata.
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
        // Strings begin with a mark.
        let are_marked = (0..=u8::MAX).all(|byte| byte == b'"' || !own.may_begin_with(byte));
        let candidates: Cow<'_, [u32]> = match are_marked {
            true => vocabulary.marked().into(),
            false => (0..vocabulary.width() as u32).collect::<Vec<u32>>().into(),
        };
        let fewest = candidates.iter().filter_map(|&id| {
            let bytes = bytes(id);
            // Most hold nothing of the kind.
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

    /// The fewest items that begin as one does that stands in a text, behind something else: 1
    /// where there is a whole one. `None` where no item begins.
    pub(crate) fn fewest_behind(&self, scanner: &Scanner, text: &[u8]) -> Option<u64> {
        self.begins_behind(text)
            .flat_map(|at| self.items.iter().map(move |item| item.fewest(scanner, &text[at..])))
            .min()
    }

    /// Whether an item may begin with a byte.
    pub(crate) fn may_begin_with(&self, byte: u8) -> bool {
        self.begins[usize::from(byte)]
    }

    /// Where in a text, behind something else, an item may begin.
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

    /// The tokens that hold the beginning of an item of which `count` at most begin so.
    pub(crate) fn of(&self, count: u64) -> impl Iterator<Item = u32> + '_ {
        self.fewest.iter().take_while(move |&&(own, _)| own <= count).map(|&(_, id)| id)
    }

    /// The tokens that may end an array or object which is an item already, at one of these
    /// places.
    pub(crate) fn of_composites(&self, places: Brackets) -> impl Iterator<Item = u32> + '_ {
        let may = move |&&(_, own): &&(u32, Brackets)| own.0 & places.0 != 0;
        self.composites.iter().filter(may).map(|&(id, _)| id)
    }

    /// Whether there are items of which there is just one.
    pub(crate) fn has_single(&self) -> bool {
        self.items.iter().any(|item| item.all() <= 1)
    }

    /// How many lexemes the terminal of an item has; `u64::MAX` where there is no end to them.
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
