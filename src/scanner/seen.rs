//! The items that stand in a list so far, as a trie over their bytes.
//!
//! A trie is never changed: with another item it is a new one, which shares all but the path to
//! that item. So every step of a sequence keeps its own, and so does every clone.
//!
//! A node is *closed* when each item that goes on from its text stands in the list already. Then no
//! item may begin with that text; a node that is not closed has an item left. Worked out when an
//! item is added, from its end back: a node of which one byte leads to something else stays open,
//! and so do those above it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Lexeme;

/// A node of the trie: what some items begin with.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By byte, ascending.
    children: SmallVec<[(u8, Arc<Seen>); 1]>,
    /// Whether the text of the node is an item.
    pub(crate) is_item: bool,
    /// Whether every item with this beginning stands in the list.
    pub(crate) is_closed: bool,
}

impl Seen {
    /// The node one byte on, if some item goes on so.
    pub(crate) fn child(&self, byte: u8) -> Option<&Arc<Self>> {
        let place = self.children.binary_search_by_key(&byte, |&(byte, _)| byte).ok()?;
        Some(&self.children[place].1)
    }

    /// Whether a text goes so far as to repeat an item, or as none may that is still to come.
    pub(crate) fn refuses(&self, text: &[u8]) -> bool {
        let mut node = self;
        for &byte in text {
            match node.child(byte) {
                Some(next) if next.is_closed => return true,
                Some(next) => node = next,
                None => return node.has_ended(),
            }
        }
        false
    }

    /// The node that stands for `text`, if some item begins so.
    pub(crate) fn behind(self: &Arc<Self>, text: &[u8]) -> Option<Arc<Self>> {
        let mut node = self;
        for &byte in text {
            node = node.child(byte)?;
        }
        Some(node.clone())
    }

    /// Whether no lexeme may end with the text of the node any more: it is an item, or nothing is
    /// left of the part that would follow.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_item || self.child(END_OF_PART).is_some_and(|next| next.is_closed)
    }

    /// The trie with one more item: the text of `part`, a lexeme, behind `head`. Costs the bytes of
    /// both, and where few items are left the bytes of a class for each.
    pub(crate) fn with(self: &Arc<Self>, head: &Head<'_>, part: (&[u8], Lexeme<'_>)) -> Arc<Self> {
        let text = [&head.text, part.0].concat();
        let mut path = vec![self.clone()];
        for &byte in &text {
            let Some(child) = path.last().and_then(|node| node.child(byte)).cloned() else { break };
            path.push(child);
        }
        let lexemes = head.lexemes(&text, part.1);
        let mut below: Option<Arc<Self>> = None;
        for place in (0..=text.len()).rev() {
            let old = path.get(place);
            let mut children = old.map_or_else(SmallVec::new, |old| old.children.clone());
            let leads_on = below.as_ref().is_some_and(|child| !child.is_closed);
            if let Some(child) = below {
                match children.binary_search_by_key(&text[place], |&(byte, _)| byte) {
                    Ok(at) => children[at].1 = child,
                    Err(at) => children.insert(at, (text[place], child)),
                }
            }
            let is_item = place == text.len() || old.is_some_and(|old| old.is_item);
            let mut node = Self { children, is_item, is_closed: false };
            node.is_closed = !leads_on && lexemes[place].is_some_and(|at| node.has_all(at));
            below = Some(Arc::new(node));
        }
        below.unwrap_or_else(|| self.clone())
    }

    /// Whether all lexemes that go on from this one are here.
    fn has_all(&self, lexeme: Lexeme<'_>) -> bool {
        let is_closed = |byte: u8| self.child(byte).is_some_and(|child| child.is_closed);
        (self.has_ended() || !lexeme.is_whole())
            && (0..=u8::MAX).filter(|&byte| lexeme.next(byte).is_some()).all(is_closed)
    }
}

/// Stands behind each part but the last: no text has it.
const END_OF_PART: u8 = 0xff;

/// The parts of an item before the one that a trie has last.
#[derive(Default)]
pub(crate) struct Head<'s> {
    text: Vec<u8>,
    /// The part before its first byte, where there is just one. Where there are several, there is
    /// no end to the lexemes of any.
    only: Option<Lexeme<'s>>,
    count: usize,
}

impl<'s> Head<'s> {
    /// Adds a part, and what is a lexeme of it.
    pub(crate) fn push(&mut self, text: &[u8], part: Option<Lexeme<'s>>) {
        self.text.extend_from_slice(text);
        self.text.push(END_OF_PART);
        self.count += 1;
        self.only = part.filter(|_| self.count == 1);
    }

    /// Its bytes.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// By place in `text`, which begins with the head: how far the part there has come; `None`
    /// where something is always left. The part behind the head is such as `last`.
    fn lexemes<'d>(&self, text: &[u8], last: Lexeme<'d>) -> Vec<Option<Lexeme<'d>>>
    where
        's: 'd,
    {
        let mut lexemes = Vec::with_capacity(text.len() + 1);
        let mut at = if self.count == 0 { Some(last) } else { self.only };
        lexemes.push(at);
        for (&byte, place) in text.iter().zip(1..) {
            at = match place == self.text.len() {
                true => Some(last),
                false => at.and_then(|lexeme: Lexeme<'d>| lexeme.next(byte)),
            };
            lexemes.push(at);
        }
        lexemes
    }
}

impl Drop for Seen {
    /// In a loop: the derived drop would recurse once a byte.
    fn drop(&mut self) {
        let mut left = std::mem::take(&mut self.children);
        while let Some((_, node)) = left.pop() {
            if let Some(mut node) = Arc::into_inner(node) {
                left.append(&mut node.children);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::{Compiler, Dfa};
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    fn dfa(pattern: &str) -> Dfa {
        let (pattern, flags) = (pattern.to_owned(), RegexFlags::default());
        let pattern = Pattern::Regex { pattern, flags, place: None };
        Compiler::new(&Meter::new(&Limits::default())).compile(&pattern).expect("a regex")
    }

    #[test]
    fn a_beginning_is_closed_when_all_items_that_begin_so_have_come() {
        let items = dfa("ab|ac|a|b+");
        let mut seen = Arc::new(Seen::default());
        let is_closed = |seen: &Arc<Seen>, text: &str| {
            seen.behind(text.as_bytes()).is_some_and(|node| node.is_closed)
        };
        for (item, closed) in [("ab", "ab"), ("a", "ab"), ("b", "ab"), ("ac", "ab ac a")] {
            seen = seen.with(&Head::default(), (item.as_bytes(), Lexeme::new(&items)));
            for text in ["", "a", "ab", "ac", "b", "bb"] {
                let expected = closed.split(' ').any(|own| own == text);
                assert_eq!(is_closed(&seen, text), expected, "{item}: {text:?}");
            }
        }
    }

    #[test]
    fn a_part_is_closed_when_it_has_come_with_all_that_may_follow() {
        let (first, second) = (dfa("a+|b"), dfa("x|y"));
        let mut seen = Arc::new(Seen::default());
        let mut add = |one: &str, other: &str| {
            let mut head = Head::default();
            head.push(one.as_bytes(), Some(Lexeme::new(&first)));
            seen = seen.with(&head, (other.as_bytes(), Lexeme::new(&second)));
            let ended = |text: &str| {
                let node = seen.behind(text.as_bytes())?;
                Some((node.has_ended(), node.is_closed))
            };
            [ended("a"), ended("b"), ended("")]
        };
        let (open, ended, closed) = (Some((false, false)), Some((true, false)), Some((true, true)));
        assert_eq!(add("a", "x"), [open, None, open]);
        assert_eq!(add("b", "y"), [open, open, open]);
        // More letters may still follow the first.
        assert_eq!(add("a", "y"), [ended, open, open]);
        assert_eq!(add("b", "x"), [ended, closed, open]);
    }
}
