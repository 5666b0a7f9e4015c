//! The items of a list that consist of one lexeme, so far, as a trie over their bytes.
//!
//! A trie is immutable: adding an item makes a new one, which shares all but the path to that item.
//! So every step of a sequence keeps its own, and so does every clone.
//!
//! A node is *closed* when each item that begins with its text is already in the list. Then no item
//! may begin with that text; a node that is not closed has an item left. This is computed when an
//! item is added, from its end back: a node stays open if one of its bytes leads to an open or
//! missing node, and so do those above it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Lexeme;

/// A node of the trie: a prefix of some items.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// By byte, ascending.
    children: SmallVec<[(u8, Arc<Seen>); 1]>,
    /// Whether the text of the node is an item.
    pub(crate) is_item: bool,
    /// Whether every item with this prefix is in the list.
    pub(crate) is_closed: bool,
}

impl Seen {
    /// Returns the child nodes, by ascending byte.
    pub(crate) fn children(&self) -> impl Iterator<Item = (u8, &Self)> {
        self.children.iter().map(|(byte, child)| (*byte, &**child))
    }

    /// Returns the child node for a byte, if some item continues with it.
    pub(crate) fn child(&self, byte: u8) -> Option<&Arc<Self>> {
        let place = self.children.binary_search_by_key(&byte, |&(byte, _)| byte).ok()?;
        Some(&self.children[place].1)
    }

    /// Returns whether a text repeats an item, or has a prefix with which no further item may
    /// begin.
    pub(crate) fn refuses(&self, text: &[u8]) -> bool {
        let mut node = self;
        for &byte in text {
            match node.child(byte) {
                Some(next) if next.is_closed => return true,
                Some(next) => node = next,
                None => return node.is_item,
            }
        }
        false
    }

    /// Returns the trie with one more item: the text of a lexeme, with `lexeme` as its empty
    /// prefix. Costs its bytes, and if few items are left, the bytes of a class for each.
    pub(crate) fn with(self: &Arc<Self>, text: &[u8], lexeme: Lexeme<'_>) -> Arc<Self> {
        let mut path = vec![self.clone()];
        for &byte in text {
            let Some(child) = path.last().and_then(|node| node.child(byte)).cloned() else { break };
            path.push(child);
        }
        let mut lexemes = vec![Some(lexeme)];
        for (place, &byte) in text.iter().enumerate() {
            lexemes.push(lexemes[place].and_then(|lexeme| lexeme.next(byte)));
        }
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

    /// Returns whether all lexemes with this prefix are here.
    fn has_all(&self, lexeme: Lexeme<'_>) -> bool {
        let is_closed = |byte: u8| self.child(byte).is_some_and(|child| child.is_closed);
        (self.is_item || !lexeme.is_whole())
            && (0..=u8::MAX).filter(|&byte| lexeme.next(byte).is_some()).all(is_closed)
    }
}

impl Drop for Seen {
    /// Iterative: the derived drop would recurse once for each byte.
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
            let node = text.bytes().try_fold(seen, |node, byte| node.child(byte));
            node.is_some_and(|node| node.is_closed)
        };
        for (item, closed) in [("ab", "ab"), ("a", "ab"), ("b", "ab"), ("ac", "ab ac a")] {
            seen = seen.with(item.as_bytes(), Lexeme::new(&items));
            for text in ["", "a", "ab", "ac", "b", "bb"] {
                let expected = closed.split(' ').any(|own| own == text);
                assert_eq!(is_closed(&seen, text), expected, "{item}: {text:?}");
            }
        }
    }
}
