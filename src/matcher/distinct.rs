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

use std::sync::Arc;

use smallvec::SmallVec;

use super::Matcher;
use super::history::History;
use crate::index::Index;
use crate::scanner::configuration::Configuration;
use crate::scanner::{Distinct, Head, Lexeme, Part, Reads, Scanner, Seen};
use crate::util::id::{TerminalId, TokenId};
use crate::vocab::trie::Trie;

/// The lists that a text stands in, and how far it is in the next item.
#[derive(Clone, Default)]
pub(super) struct Items {
    /// The lists that have not ended, the innermost last.
    lists: History<List>,
    /// The items of the innermost that begin as the lexeme in progress, if that may be one.
    alike: Option<Arc<Seen>>,
    /// The bytes of that lexeme, the last one first.
    lexeme: History<u8>,
}

/// A list that has not ended.
#[derive(Clone, Default)]
struct List {
    /// By part: the items, that part behind the others of its item.
    seen: SmallVec<[Arc<Seen>; 1]>,
    /// By part: the terminal of it, as far as one has ended.
    terminals: SmallVec<[Option<TerminalId>; 1]>,
    /// By part: what the item in progress has.
    parts: SmallVec<[Option<Arc<[u8]>>; 1]>,
    /// How many items there are.
    count: u64,
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
        let Some(list) = next.lists.iter().next() else { return Some(next) };
        if list.is_whole() && becomes(scanner, at, |role| role == Distinct::Next) {
            return None;
        }
        let Some(part) = part_in_progress(scanner, at) else {
            next.alike = None;
            return Some(next);
        };
        let before =
            if next.lexeme.len() == 0 { list.alike(scanner, part) } else { next.alike.take() };
        next.alike = before.and_then(|alike| alike.child(byte).cloned());
        next.lexeme.push(byte);
        let is_spent = next.alike.as_ref().is_some_and(|alike| alike.is_closed);
        let is_part = |role| matches!(role, Distinct::Part(_));
        (!is_spent || !becomes(scanner, at, is_part)).then_some(next)
    }

    /// The lexeme in progress has ended.
    fn end(&mut self, scanner: &Scanner, label: TerminalId) -> Option<()> {
        match scanner.lexis().distinct(label) {
            Some(Distinct::Open) => self.lists.push(List::default()),
            Some(Distinct::Part(part)) => {
                if self.alike.as_ref().is_some_and(|alike| alike.has_ended()) {
                    return None;
                }
                let mut text: Vec<u8> = self.lexeme.iter().copied().collect();
                text.reverse();
                let mut list = self.lists.pop()?;
                list.add(scanner, part, label, text);
                self.lists.push(list);
            }
            Some(Distinct::Next) => {
                let mut list = self.lists.pop()?;
                list.parts.fill(None);
                self.lists.push(list);
            }
            Some(Distinct::Close) => {
                self.lists.pop();
            }
            Some(Distinct::Lead) | None => {}
        }
        self.lexeme = History::default();
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

    /// How many items stand in the list that has most.
    fn most(&self) -> u64 {
        self.lists.iter().map(|list| list.count).max().unwrap_or(0)
    }

    /// Whether both are certainly the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.lists.same(&other.lists) && self.lexeme.same(&other.lexeme)
    }

    /// Whether a text may begin with an item of a list, or as no item may that is still to come.
    fn may_hold(&self, text: &[u8]) -> bool {
        self.lists.iter().any(|list| match &list.seen[..] {
            [] => false,
            [seen] => seen.refuses(text),
            _ => true,
        })
    }

    /// Adds nodes of the vocabulary's trie to `suspects`, whose tokens may end an item which stands
    /// in the list already, and that is in progress or begins with them. Whether one item is left
    /// at most.
    fn suspects(&self, index: &Index, at: &Configuration, suspects: &mut Vec<u32>) -> bool {
        let scanner = index.scanner();
        let tokens = index.tokens_of_items();
        let count = self.list().map(|list| list.count);
        let Some(list) = self.list().filter(|list| list.count > 0) else {
            let is_open = count.is_some() || follows(scanner, at, |role| role == Distinct::Open);
            return is_open && tokens.has_single();
        };
        let texts = list.terminals.iter().flatten().map(|&terminal| tokens.texts(terminal));
        if list.count + 1 >= texts.fold(1, u64::saturating_mul) {
            return true;
        }
        let lexeme: Vec<u8> = self.lexeme.iter().copied().collect();
        let begins = follows(scanner, at, |role| {
            matches!(role, Distinct::Open | Distinct::Lead | Distinct::Next)
        });
        for (number, terminal) in list.terminals.iter().enumerate() {
            let part = Part { number: number as u8, of: list.terminals.len() as u8 };
            let Some(item) = terminal.and_then(|terminal| scanner.lexeme_of(terminal)) else {
                continue;
            };
            if let Some(alike) = &self.alike
                && part_in_progress(scanner, at) == Some(part)
                && let Some(item) = item.after(lexeme.iter().rev().copied())
            {
                rests(index.vocabulary().trie(), alike, item, suspects);
            }
            if begins && let Some(alike) = list.alike(scanner, part) {
                rests(index.vocabulary().trie(), &alike, item, suspects);
            }
        }
        false
    }
}

impl List {
    /// Whether no item is left.
    fn is_whole(&self) -> bool {
        self.seen.first().is_some_and(|seen| seen.is_closed)
    }

    /// The items that are like the one in progress in what has come of it, by one part; `None`
    /// where there are none, and where there is no end to what is still to come.
    fn alike(&self, scanner: &Scanner, part: Part) -> Option<Arc<Seen>> {
        let number = usize::from(part.number);
        match self.head(scanner, part) {
            Some(head) => self.seen.get(number)?.behind(head.text()),
            // Of two parts the first stands before the second.
            None if part.of == 2 => self.seen.get(1 - number).cloned(),
            None => None,
        }
    }

    /// The other parts of the item in progress, if they have come.
    fn head<'s>(&self, scanner: &'s Scanner, part: Part) -> Option<Head<'s>> {
        let mut head = Head::default();
        for number in (0..part.of).filter(|&number| number != part.number) {
            let number = usize::from(number);
            let terminal = *self.terminals.get(number)?;
            let part = terminal.and_then(|terminal| scanner.lexeme_of(terminal));
            head.push(self.parts.get(number)?.as_ref()?, part);
        }
        Some(head)
    }

    /// Adds a part of the item in progress, and with the last one the item.
    fn add(&mut self, scanner: &Scanner, part: Part, label: TerminalId, text: Vec<u8>) {
        let of = usize::from(part.of);
        self.seen.resize_with(of, Arc::default);
        self.terminals.resize(of, None);
        self.parts.resize(of, None);
        self.terminals[usize::from(part.number)] = Some(label);
        self.parts[usize::from(part.number)] = Some(text.into());
        if self.parts.contains(&None) {
            return;
        }
        self.count += 1;
        for number in 0..part.of {
            let own = usize::from(number);
            if let Some(head) = self.head(scanner, Part { number, of: part.of })
                && let Some(text) = &self.parts[own]
                && let Some(last) = self.terminals[own].and_then(|own| scanner.lexeme_of(own))
            {
                self.seen[own] = self.seen[own].with(&head, (text, last));
            }
        }
    }
}

/// Adds the nodes to `suspects` of which all tokens end what goes on from a text as an item does:
/// the items begin with the text of `alike`, and one of them has come as far as `item`.
fn rests(trie: &Trie, alike: &Seen, item: Lexeme<'_>, suspects: &mut Vec<u32>) {
    let mut pending = vec![(Trie::ROOT, alike, Some(item))];
    while let Some((node, seen, item)) = pending.pop() {
        for child in trie.children(node) {
            let next = item.and_then(|item| item.next(trie.byte(child)));
            match seen.child(trie.byte(child)) {
                Some(seen) if !seen.is_closed => pending.push((child, seen, next)),
                None if next.is_some() || !seen.has_ended() => {}
                _ => suspects.push(child),
            }
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

/// The part of an item that the lexeme in progress may be.
fn part_in_progress(scanner: &Scanner, at: &Configuration) -> Option<Part> {
    let mut components = scanner.states().components(at.state).iter();
    components.find_map(|of| match scanner.lexis().distinct(of.terminal) {
        Some(Distinct::Part(part)) => Some(part),
        _ => None,
    })
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
    pub(super) fn take_out_repeated(&self, row: &mut [u32]) {
        let (tokens, vocabulary) = (self.index.tokens_of_items(), self.index.vocabulary());
        let (mut suspects, mut are_all, mut most) = (Vec::new(), false, 0);
        for (place, at) in self.now.readings.iter().enumerate() {
            if let Some(note) = self.now.notes.get(place) {
                let items = &note.items;
                are_all |= items.suspects(&self.index, at, &mut suspects);
                most = most.max(items.most());
            }
        }
        if are_all {
            return vocabulary.trie().ids().iter().for_each(|&token| self.test(token, row));
        }
        for node in suspects {
            // What is refused within the beginning that they share refuses them all.
            let tokens = vocabulary.trie().subtree_tokens(node);
            let depth = vocabulary.trie().depth(node) as usize;
            let beginning = tokens.first().and_then(|&token| vocabulary.bytes(token));
            let beginning = beginning.and_then(|bytes| bytes.get(..depth)).unwrap_or_default();
            let is_shared = !self.index.spelled().has_further()
                && self.within_token(&self.now, beginning).is_err();
            for &token in tokens {
                match is_shared {
                    true => row[token as usize / 32] &= !(1 << (token % 32)),
                    false => self.test(token, row),
                }
            }
        }
        // With the item in progress.
        for token in tokens.of(most + 1) {
            let is_allowed = row[token as usize / 32] >> (token % 32) & 1 == 1;
            let bytes = vocabulary.bytes(token).unwrap_or_default();
            let mut readings = self.now.readings.iter().enumerate();
            if is_allowed && readings.any(|(place, at)| self.may_repeat(place, at, bytes, most + 1))
            {
                self.test(token, row);
            }
        }
    }

    /// Whether a token may repeat, behind the lexeme in progress, an item, or begin one of which
    /// `count` at most begin so.
    fn may_repeat(&self, place: usize, at: &Configuration, bytes: &[u8], count: u64) -> bool {
        let (scanner, tokens) = (self.index.scanner(), self.index.tokens_of_items());
        let (states, mut state) = (scanner.states(), Some(at.state));
        let end = bytes.iter().position(|&byte| {
            let may_end = state.is_some_and(|at| !states.labels(at).is_empty());
            state = state.and_then(|at| states.next(at, byte));
            may_end
        });
        // With the last byte of the lexeme that ends there: an item may begin right behind it.
        let behind = end.map_or(&[][..], |end| &bytes[end.saturating_sub(1)..]);
        let mut begins = tokens.begins_behind(behind);
        // One item alone repeats none but those that stand there. Nor does it leave none, as the
        // only one would that there is.
        let is_alone = !tokens.has_single()
            && part_in_progress(scanner, at).is_none()
            && bytes.first().is_some_and(|&byte| !tokens.may_begin_with(byte));
        match (begins.next(), begins.next(), self.now.notes.get(place)) {
            (None, ..) => false,
            (Some(begin), None, Some(note)) if is_alone => note.items.may_hold(&behind[begin..]),
            _ => tokens.fewest_behind(scanner, behind).is_some_and(|fewest| fewest <= count),
        }
    }

    /// Takes a token out of a mask that allows it if it cannot be taken.
    fn test(&self, token: u32, row: &mut [u32]) {
        let (word, bit) = (token as usize / 32, 1 << (token % 32));
        if row[word] & bit != 0 && self.after_token(&self.now, TokenId(token)).is_err() {
            row[word] &= !bit;
        }
    }
}
