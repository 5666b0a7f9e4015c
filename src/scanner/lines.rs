//! The position of a text in its lines: open blocks, open brackets, and the blanks before the first
//! lexeme of a line. This file has only the data; its use by the directive is in
//! [`indentation`](super::indentation).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::util::byte_classes::ByteClasses;
use crate::util::id::ParseStateId;

/// The bytes whose width is counted at the beginning of a line.
pub(crate) const BLANKS: [u8; 3] = *b" \t\x0c";

/// Returns classes that distinguish the blanks, whether or not the terminals do.
pub(crate) fn blank_classes() -> ByteClasses {
    ByteClasses::by_key(|byte| if is_blank(byte) { usize::from(byte) } else { 0 })
}

/// Returns whether `byte` is one of [`BLANKS`].
pub(crate) fn is_blank(byte: u8) -> bool {
    BLANKS.contains(&byte)
}

/// The indentation of a line's first lexeme, counted twice as in CPython: two lines have the same
/// width, or one is wider, only if both counts agree. So the width of a tab never matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Width {
    /// With tabs advancing to the next multiple of their width.
    pub(crate) column: u32,
    /// With tabs of one column.
    pub(crate) alternative: u32,
}

/// The blanks read since the line began, if its first lexeme has not begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leading {
    pub(crate) width: Width,
    /// Only blanks so far; the width is final at the first other byte.
    pub(crate) counting: bool,
}

impl Leading {
    /// The state before the first byte of a line.
    pub(super) const NONE: Self =
        Self { width: Width { column: 0, alternative: 0 }, counting: true };

    /// Returns the state after one more byte of the line; tabs advance to multiples of `tab`.
    pub(super) fn read(mut self, byte: u8, tab: u32) -> Self {
        let Width { column, alternative } = &mut self.width;
        match byte {
            _ if !self.counting => {}
            b' ' => {
                *column = column.saturating_add(1);
                *alternative = alternative.saturating_add(1);
            }
            b'\t' => {
                *column = (*column / tab + 1).saturating_mul(tab);
                *alternative = alternative.saturating_add(1);
            }
            b'\x0c' => self.width = Width::default(),
            _ => self.counting = false,
        }
        self
    }
}

/// The widths of the open blocks, the innermost on top, without the outermost, which has width 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks(Option<Arc<Block>>);

#[derive(Debug)]
struct Block {
    width: Width,
    /// Number of open blocks, including this one.
    level: u32,
    /// Hash of all widths from here down.
    hash: u64,
    below: Blocks,
}

impl Blocks {
    /// Returns the width of the innermost block.
    pub(crate) fn width(&self) -> Width {
        self.0.as_ref().map_or(Width::default(), |block| block.width)
    }

    /// Returns the number of open blocks.
    pub(crate) fn level(&self) -> u32 {
        self.0.as_ref().map_or(0, |block| block.level)
    }

    /// Returns the blocks with one more inside.
    pub(crate) fn push(&self, width: Width) -> Self {
        let below = self.hash_of_all().rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = below ^ (u64::from(width.column) << 32 | u64::from(width.alternative));
        Self(Some(Arc::new(Block { width, level: self.level() + 1, hash, below: self.clone() })))
    }

    /// Returns the blocks around the innermost one.
    pub(crate) fn below(&self) -> Option<&Blocks> {
        self.0.as_ref().map(|block| &block.below)
    }

    fn hash_of_all(&self) -> u64 {
        self.0.as_ref().map_or(0, |block| block.hash)
    }
}

impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        let (mut a, mut b) = (self, other);
        loop {
            match (&a.0, &b.0) {
                (Some(one), Some(another)) if Arc::ptr_eq(one, another) => return true,
                (Some(one), Some(another))
                    if one.hash == another.hash && one.width == another.width =>
                {
                    (a, b) = (&one.below, &another.below);
                }
                (None, None) => return true,
                _ => return false,
            }
        }
    }
}

impl Eq for Blocks {}

impl Hash for Blocks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_of_all().hash(state);
    }
}

impl Drop for Block {
    /// Iterative, as for parse stacks: blocks may be deeply nested.
    fn drop(&mut self) {
        let mut below = self.below.0.take();
        while let Some(block) = below {
            below = Arc::into_inner(block).and_then(|mut block| block.below.0.take());
        }
    }
}

/// The layout of a text whose lines count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Lines {
    pub(crate) blocks: Blocks,
    /// Number of open brackets.
    pub(crate) depth: u32,
    /// `None` after the first lexeme of a line. If present, no bracket is open.
    pub(crate) leading: Option<Leading>,
    /// The top of the stack on which the first lexeme of a line began, if there are several such
    /// stacks, each of which lexes for itself.
    pub(crate) chosen: Option<ParseStateId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_blocks_are_freed_without_recursion() {
        let mut blocks = Blocks::default();
        for column in 1..100_000 {
            blocks = blocks.push(Width { column, alternative: column });
        }
        assert_eq!(blocks.level(), 99_999);
    }
}
