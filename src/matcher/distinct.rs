//! Lists of distinct items ([`ir::Distinct`](crate::grammar::ir::Distinct)).
//!
//! Configurations do not record the items of a list, because there are infinitely many possible
//! sets of items. Instead, each reading stores the items next to its configuration, and the tokens
//! that would repeat an item are removed from the mask that the index provides. Few tokens can
//! repeat one, and each of these is checked by taking it:
//!
//! * A token that completes a repeated item in progress begins with the rest of that item. These
//!   rests are walked through the trie of the vocabulary.
//! * Other tokens begin a new item. They contain bytes after which an item begins, and a prefix of
//!   an item that is shared by no more items than the list has. They are precomputed for the whole
//!   grammar ([`TokensOfItems`](crate::index::TokensOfItems)).
//! * If at most one item is left, nothing may require another item after it. Then all tokens of the
//!   mask are checked.
//! * A token that ends an array or an object contains a bracket. If one more value cannot turn the
//!   item in progress into an earlier one, few of these tokens are checked.

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

/// The lists around the end of the text, and the progress of the current item.
#[derive(Clone, Default)]
pub(super) struct ListState {
    /// The open lists, innermost last.
    lists: History<List>,
    /// The open arrays and objects, starting with the outermost item of a list.
    values: Values,
    /// The items of the innermost list that have the lexeme in progress as a prefix, if that lexeme
    /// may be an item.
    alike: Option<Arc<Seen>>,
    /// The bytes of that lexeme.
    lexeme: TextSoFar,
}

/// An open list.
#[derive(Clone, Default)]
struct List {
    /// The items that are single lexemes, their terminal once one has been read, and their number.
    seen: Arc<Seen>,
    terminal: Option<TerminalId>,
    count: u64,
    /// Number of open arrays and objects around each item that is an array or object itself.
    depth: usize,
    /// The items that are arrays and objects, and the identities of each of them without one
    /// member.
    composites: ValueIds,
    rests: ValueIds,
}

impl ListState {
    /// Returns the lists after a byte. `at` is the configuration after it, and `ended` the lexeme
    /// that ended before it. `None` if the completed item is already in the list, or if the item in
    /// progress can only become such an item.
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

    /// Reads one more byte of arrays and objects. `None` if it completes an item that is already in
    /// the list.
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

    /// Ends the lexeme in progress.
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

    /// Returns the innermost list.
    fn list(&self) -> Option<&List> {
        self.lists.iter().next()
    }

    /// Whether a list is open.
    pub(super) fn is_in_list(&self) -> bool {
        self.list().is_some()
    }

    /// Whether the lexeme in progress equals an item of the list so far.
    pub(super) fn repeats_one(&self) -> bool {
        self.alike.as_ref().is_some_and(|alike| alike.is_item)
    }

    /// Returns the greatest number of items of one lexeme in any open list.
    fn most(&self) -> u64 {
        self.lists.iter().map(|list| list.count).max().unwrap_or(0)
    }

    /// Whether both are certainly equal. May be false for equal ones.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.lists.same(&other.lists)
            && self.lexeme.same(&other.lexeme)
            && self.values.same(&other.values)
    }

    /// Whether a text may begin with an item of a list, or with a prefix that no further item may
    /// have.
    fn may_hold(&self, text: &[u8]) -> bool {
        self.lists.iter().any(|list| list.seen.refuses(text))
    }

    /// Adds to `suspects` the nodes of the vocabulary's trie whose tokens may complete a repeated
    /// item, from the lexeme in progress or from its first byte. Returns whether at most one item
    /// is left.
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

    /// Returns the bracket positions at which a token may end an array or object that repeats an
    /// item.
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

/// Adds to `suspects` the nodes whose tokens all complete a repeated item from the current text:
/// the items of `alike` have this text as a prefix, and `item` is the state of the lexeme after it.
fn rests(trie: &Trie, alike: &Seen, item: Lexeme<'_>, suspects: &mut Vec<u32>) {
    let mut pending = vec![(Trie::ROOT, alike, Some(item))];
    while let Some((node, seen, item)) = pending.pop() {
        let next = |child| item.and_then(|item| item.next(trie.byte(child)));
        // If no item ends here, only the bytes that continue some item matter. They are few,
        // whereas a node of the vocabulary has many children.
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

/// Whether the lexeme in progress may end here with a label whose role in a list satisfies
/// `is_asked`.
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

/// Whether every possible label of the lexeme in progress has a role in a list that satisfies
/// `is_asked`.
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
    /// Removes from a mask the tokens that would repeat an item of a list.
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
            // If their shared prefix is refused, all of them are.
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
        // The item in progress is counted as well.
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

    /// Whether a token may end an array or object, with the lexeme in progress or after it.
    fn may_end_composite(&self, at: &Configuration, bytes: &[u8]) -> bool {
        let end = self.end_of_lexeme(at, bytes);
        // Includes the last byte of the lexeme, which may be a bracket.
        let behind = end.map_or(&[][..], |end| &bytes[end.saturating_sub(1)..]);
        behind.iter().any(|byte| matches!(byte, b'}' | b']'))
    }

    /// Returns the earliest offset in a token at which the lexeme in progress may have ended.
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

    /// Whether a token may repeat an item after the lexeme in progress, or begin an item with a
    /// prefix that at most `count` items share.
    fn may_repeat(
        &self,
        items: Option<&ListState>,
        at: &Configuration,
        bytes: &[u8],
        count: u64,
    ) -> bool {
        let (scanner, tokens) = (self.index.scanner(), self.index.tokens_of_items());
        let end = self.end_of_lexeme(at, bytes);
        // Includes the last byte of the lexeme that ends there: an item may begin right after it.
        let behind = end.map_or(&[][..], |end| &bytes[end.saturating_sub(1)..]);
        let mut begins = tokens.begins_behind(behind);
        // A single item in the token can only repeat an item of the list. It cannot use up the last
        // remaining item either, since the grammar has no list with a single possible item.
        let is_alone = !tokens.has_single()
            && !is_item_in_progress(scanner, at)
            && bytes.first().is_some_and(|&byte| !tokens.may_begin_with(byte));
        match (begins.next(), begins.next(), items) {
            (None, ..) => false,
            (Some(begin), None, Some(items)) if is_alone => items.may_hold(&behind[begin..]),
            _ => tokens.fewest_behind(scanner, behind).is_some_and(|fewest| fewest <= count),
        }
    }

    /// Clears the bit of a token that the mask allows but that cannot be taken.
    fn test(&self, now: &Moment, token: u32, row: &mut [u32]) {
        let (word, bit) = (token as usize / 32, 1 << (token % 32));
        if row[word] & bit != 0 && self.after_token(now, TokenId(token)).is_err() {
            row[word] &= !bit;
        }
    }
}
