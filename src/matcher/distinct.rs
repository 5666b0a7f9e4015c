//! Lists in which no two items may be the same ([`ir::Distinct`](crate::grammar::ir::Distinct)).
//!
//! No configuration knows which items stand in a list: there is no end to what that could be. So
//! each reading has them beside it, and tokens that would repeat one are taken out of a mask that
//! the index knows. Few tokens can do that, and each of these is followed as if it were taken:
//!
//! * A token that ends an item which stands in the list already begins with the rest of that item.
//!   The rests are walked through the trie of the vocabulary.
//! * Other tokens begin another item, so they hold something behind which items begin, and so much
//!   of an item that no more begin so than stand in a list. They are known for the whole grammar
//!   ([`TokensOfItems`](crate::index::TokensOfItems)).
//! * Where one item is left at most, none may be asked for behind it. There all tokens of the mask
//!   are followed.
//! * A token that ends an array or an object holds a bracket. Where one more value does not make
//!   that item another, few of these tokens are followed.

use std::sync::Arc;

use super::history::History;
use super::text_so_far::TextSoFar;
use super::value_map::ValueIds;
use super::values::Values;
use super::{Matcher, Moment};
use crate::index::{Brackets, Index};
use crate::scanner::configuration::Configuration;
use crate::scanner::{Distinct, Lexeme, Reads, Scanner, Seen};
use crate::util::id::{TerminalId, TokenId};
use crate::vocab::trie::Trie;

/// The lists that a text stands in, and how far it is in the next item.
#[derive(Clone, Default)]
pub(super) struct Items {
    /// The lists that have not ended, the innermost last.
    lists: History<List>,
    /// The arrays and objects that have not ended, from the outermost item of a list on.
    values: Values,
    /// The items of the innermost list that begin as the lexeme in progress, if that may be one.
    alike: Option<Arc<Seen>>,
    /// The bytes of that lexeme.
    lexeme: TextSoFar,
}

/// A list that has not ended.
#[derive(Clone, Default)]
struct List {
    /// The items that are one lexeme, the terminal of these as far as one has come, and how many
    /// they are.
    seen: Arc<Seen>,
    terminal: Option<TerminalId>,
    count: u64,
    /// In how many arrays and objects each item stands that is one itself.
    depth: usize,
    /// The items that are arrays and objects, and what each is like without a member.
    composites: ValueIds,
    rests: ValueIds,
}

impl Items {
    /// What holds after a byte, behind which a reading is at `at`; `ended` is the lexeme that ended
    /// before it. `None` where the item that ended stands in the list already, and where the one in
    /// progress must become such an item.
    pub(super) fn after(
        &self,
        scanner: &Scanner,
        at: &Configuration,
        byte: u8,
        ended: Option<TerminalId>,
    ) -> Option<Self> {
        let mut next = self.clone();
        if let Some(label) = ended {
            next.end(scanner, label)?;
        }
        let Some(list) = next.list() else { return Some(next) };
        if list.seen.is_closed && becomes(scanner, at, |role| role == Distinct::Next) {
            return None;
        }
        next.within_values(byte)?;
        if !is_item_in_progress(scanner, at) {
            next.alike = None;
            return Some(next);
        }
        let before = match next.lexeme.is_empty() {
            true => next.list().map(|list| list.seen.clone()),
            false => next.alike.take(),
        };
        next.alike = before.and_then(|alike| alike.child(byte).cloned());
        next.lexeme.push(byte);
        let is_spent = next.alike.as_ref().is_some_and(|alike| alike.is_closed);
        (!is_spent || !becomes(scanner, at, |role| role == Distinct::Item)).then_some(next)
    }

    /// One more byte of arrays and objects. `None` where it ends an item which stands in the list
    /// already.
    fn within_values(&mut self, byte: u8) -> Option<()> {
        let Some(ended) = self.values.push(byte) else { return Some(()) };
        let list = self.list().filter(|list| list.depth + 1 == ended.depth);
        let Some(list) = list else { return Some(()) };
        if list.composites.contains(ended.id) {
            return None;
        }
        let mut list = self.lists.pop()?;
        list.composites = list.composites.with_value(ended.id);
        list.rests = ended.rests().fold(list.rests, |all, rest| all.with_value(rest));
        self.lists.push(list);
        Some(())
    }

    /// The lexeme in progress has ended.
    fn end(&mut self, scanner: &Scanner, label: TerminalId) -> Option<()> {
        match scanner.lexis().distinct(label) {
            Some(Distinct::Open) => {
                self.lists.push(List { depth: self.values.depth(), ..List::default() });
            }
            Some(Distinct::Item) => {
                if self.alike.as_ref().is_some_and(|alike| alike.is_item) {
                    return None;
                }
                let text = self.lexeme.bytes();
                let mut list = self.lists.pop()?;
                list.terminal = Some(label);
                list.count += 1;
                if let Some(lexeme) = scanner.lexeme_of(label) {
                    list.seen = list.seen.with(&text, lexeme);
                }
                self.lists.push(list);
            }
            Some(Distinct::Close) => {
                self.lists.pop();
                if !self.is_in_list() {
                    self.values = Values::default();
                }
            }
            Some(Distinct::Next) | None => {}
        }
        self.lexeme = TextSoFar::default();
        self.alike = None;
        Some(())
    }

    /// The innermost list.
    fn list(&self) -> Option<&List> {
        self.lists.iter().next()
    }

    /// Whether a list has not ended.
    pub(super) fn is_in_list(&self) -> bool {
        self.list().is_some()
    }

    /// Whether the lexeme in progress is as far an item of the list already.
    pub(super) fn repeats_one(&self) -> bool {
        self.alike.as_ref().is_some_and(|alike| alike.is_item)
    }

    /// How many lexemes are items of the list that has most.
    fn most(&self) -> u64 {
        self.lists.iter().map(|list| list.count).max().unwrap_or(0)
    }

    /// Whether both are certainly the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.lists.same(&other.lists)
            && self.lexeme.same(&other.lexeme)
            && self.values.same(&other.values)
    }

    /// Whether a text may begin with an item of a list, or as no item may that is still to come.
    fn may_hold(&self, text: &[u8]) -> bool {
        self.lists.iter().any(|list| list.seen.refuses(text))
    }

    /// Adds nodes of the vocabulary's trie to `suspects`, whose tokens may end a lexeme that is an
    /// item already, and that is in progress or begins with them. Whether one item is left at most.
    fn suspects(&self, index: &Index, at: &Configuration, suspects: &mut Vec<u32>) -> bool {
        let scanner = index.scanner();
        let tokens = index.tokens_of_items();
        let Some(list) = self.list() else {
            return tokens.has_single() && follows(scanner, at, |role| role == Distinct::Open);
        };
        let Some(terminal) = list.terminal else { return tokens.has_single() };
        if list.count + 1 >= tokens.texts(terminal) {
            return true;
        }
        let Some(item) = scanner.lexeme_of(terminal) else { return false };
        if let Some(alike) = &self.alike
            && is_item_in_progress(scanner, at)
            && let Some(item) = item.after(self.lexeme.bytes())
        {
            rests(index.vocabulary().trie(), alike, item, suspects);
        }
        if follows(scanner, at, |role| matches!(role, Distinct::Open | Distinct::Next)) {
            rests(index.vocabulary().trie(), &list.seen, item, suspects);
        }
        false
    }

    /// Where the text stands in its lists, for tokens that may end an array or object which is an
    /// item already.
    fn places(&self) -> Brackets {
        let of_list = |list: &List| {
            let depth = list.depth + 1;
            if self.values.depth() < depth {
                return if list.composites.is_empty() { Brackets::TWO } else { Brackets::ONE };
            }
            match self.values.may_be(depth, &list.composites, &list.rests) {
                true => Brackets::ANY,
                false => Brackets::MORE,
            }
        };
        self.lists.iter().map(of_list).fold(Brackets::TWO, Brackets::and)
    }
}

/// Adds the nodes to `suspects` of which all tokens end what goes on from a text as an item does:
/// the items begin with the text of `alike`, and one of them has come as far as `item`.
fn rests(trie: &Trie, alike: &Seen, item: Lexeme<'_>, suspects: &mut Vec<u32>) {
    let mut pending = vec![(Trie::ROOT, alike, Some(item))];
    while let Some((node, seen, item)) = pending.pop() {
        let next = |child| item.and_then(|item| item.next(trie.byte(child)));
        // Where no item ends, nothing matters but the bytes with which some item goes on. They are
        // few, and the children of a node of the vocabulary many.
        for (byte, below) in seen.children() {
            match trie.child(node, byte) {
                Some(child) if below.is_closed => suspects.push(child),
                Some(child) => pending.push((child, below, next(child))),
                None => {}
            }
        }
        if seen.is_item {
            let is_behind =
                |&child: &u32| seen.child(trie.byte(child)).is_none() && next(child).is_none();
            suspects.extend(trie.children(node).filter(is_behind));
        }
    }
}

/// Whether the next byte may stand behind a lexeme that is to a list what `is_asked` says.
fn follows(
    scanner: &Scanner,
    at: &Configuration,
    mut is_asked: impl FnMut(Distinct) -> bool,
) -> bool {
    let mut labels = scanner.states().labels(at.state).into_iter();
    labels.any(|label| scanner.lexis().distinct(label).is_some_and(&mut is_asked))
}

/// Whether the lexeme in progress may be an item.
fn is_item_in_progress(scanner: &Scanner, at: &Configuration) -> bool {
    let mut components = scanner.states().components(at.state).iter();
    components.any(|of| scanner.lexis().distinct(of.terminal) == Some(Distinct::Item))
}

/// Whether the lexeme in progress can only be to a list what `is_asked` says.
fn becomes(
    scanner: &Scanner,
    at: &Configuration,
    mut is_asked: impl FnMut(Distinct) -> bool,
) -> bool {
    let contexts = scanner.contexts_at(&at.stack, &at.layout, &mut Reads::none());
    let reach = scanner.states().label_set(scanner.states().reach(at.state));
    let mut labels = reach
        .iter()
        .filter(|&label| contexts.iter().any(|context| context.takes.contains(label)))
        .map(TerminalId::new);
    labels.all(|label| scanner.lexis().distinct(label).is_some_and(&mut is_asked))
}

impl Matcher {
    /// Takes the tokens out of a mask that would repeat an item of a list.
    pub(super) fn take_out_repeated(&self, now: &Moment, row: &mut [u32]) {
        let (tokens, vocabulary) = (self.index.tokens_of_items(), self.index.vocabulary());
        let (mut suspects, mut are_all, mut most) = (Vec::new(), false, 0);
        let mut places = Brackets::TWO;
        for (place, at) in now.readings.iter().enumerate() {
            if let Some(note) = now.notes.get(place) {
                let items = &note.items;
                are_all |= items.suspects(&self.index, at, &mut suspects);
                most = most.max(items.most());
                places = places.and(items.places());
            }
        }
        if are_all {
            return vocabulary.trie().ids().iter().for_each(|&token| self.test(now, token, row));
        }
        for node in suspects {
            // What is refused within the beginning that they share refuses them all.
            let tokens = vocabulary.trie().subtree_tokens(node);
            let depth = vocabulary.trie().depth(node) as usize;
            let beginning = tokens.first().and_then(|&token| vocabulary.bytes(token));
            let beginning = beginning.and_then(|bytes| bytes.get(..depth)).unwrap_or_default();
            let is_shared =
                !self.index.spelled().has_further() && self.within_token(now, beginning).is_err();
            for &token in tokens {
                match is_shared {
                    true => row[token as usize / 32] &= !(1 << (token % 32)),
                    false => self.test(now, token, row),
                }
            }
        }
        // With the item in progress.
        for token in tokens.of(most + 1) {
            let is_allowed = row[token as usize / 32] >> (token % 32) & 1 == 1;
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            let may_repeat = |(place, at): (usize, &Configuration)| {
                let items = now.notes.get(place).map(|note| &note.items);
                self.may_repeat(items, at, bytes, most + 1)
            };
            if is_allowed && now.readings.iter().enumerate().any(may_repeat) {
                self.test(now, token, row);
            }
        }
        for token in tokens.of_composites(places) {
            let is_allowed = row[token as usize / 32] >> (token % 32) & 1 == 1;
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            if is_allowed && now.readings.iter().any(|at| self.may_end_composite(at, bytes)) {
                self.test(now, token, row);
            }
        }
    }

    /// Whether a token may end an array or object, behind the lexeme in progress or with it.
    fn may_end_composite(&self, at: &Configuration, bytes: &[u8]) -> bool {
        let end = self.end_of_lexeme(at, bytes);
        // With the last byte of the lexeme, which may be a bracket.
        let behind = end.map_or(&[][..], |end| &bytes[end.saturating_sub(1)..]);
        behind.iter().any(|byte| matches!(byte, b'}' | b']'))
    }

    /// Where in a token the lexeme in progress may have ended first.
    fn end_of_lexeme(&self, at: &Configuration, bytes: &[u8]) -> Option<usize> {
        let states = self.index.scanner().states();
        let mut state = at.state;
        for (place, &byte) in bytes.iter().enumerate() {
            if !states.labels(state).is_empty() {
                return Some(place);
            }
            state = states.next(state, byte)?;
        }
        (!states.labels(state).is_empty()).then_some(bytes.len())
    }

    /// Whether a token may repeat, behind the lexeme in progress, an item, or begin one of which
    /// `count` at most begin so.
    fn may_repeat(
        &self,
        items: Option<&Items>,
        at: &Configuration,
        bytes: &[u8],
        count: u64,
    ) -> bool {
        let (scanner, tokens) = (self.index.scanner(), self.index.tokens_of_items());
        let end = self.end_of_lexeme(at, bytes);
        // With the last byte of the lexeme that ends there: an item may begin right behind it.
        let behind = end.map_or(&[][..], |end| &bytes[end.saturating_sub(1)..]);
        let mut begins = tokens.begins_behind(behind);
        // One item alone repeats none but those that stand there. Nor does it leave none, as the
        // only one would that there is.
        let is_alone = !tokens.has_single()
            && !is_item_in_progress(scanner, at)
            && bytes.first().is_some_and(|&byte| !tokens.may_begin_with(byte));
        match (begins.next(), begins.next(), items) {
            (None, ..) => false,
            (Some(begin), None, Some(items)) if is_alone => items.may_hold(&behind[begin..]),
            _ => tokens.fewest_behind(scanner, behind).is_some_and(|fewest| fewest <= count),
        }
    }

    /// Takes a token out of a mask that allows it if it cannot be taken.
    fn test(&self, now: &Moment, token: u32, row: &mut [u32]) {
        let (word, bit) = (token as usize / 32, 1 << (token % 32));
        if row[word] & bit != 0 && self.after_token(now, TokenId(token)).is_err() {
            row[word] &= !bit;
        }
    }
}
