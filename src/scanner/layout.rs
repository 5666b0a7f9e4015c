//! The layout of a text: its [`Lines`], shared, and the effect of their width on the stack.
//!
//! A layout is the part of a configuration that `%indent` adds. It is immutable and shared like the
//! parse stack, and empty for grammars without the directive.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::lines::{Blocks, Leading, Lines, Width, is_blank};
use super::reads::Reads;
use crate::lr::stack::{Stack, Stacks};
use crate::lr::table::ParseTable;
use crate::util::id::ParseStateId;

/// The position of a configuration in lines and blocks; empty in grammars without `%indent`. Clones
/// share memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    lines: Lines,
    /// The result for the first stack that it was asked for, with the depth of the lowest state
    /// read. At the beginning of a line there is hardly ever another stack.
    laid: OnceLock<(Stack, Laid, u32)>,
}

/// The effect of the width of a line on the stack before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Laid {
    /// The stacks after the blocks that begin or end here; empty if the width does not fit or the
    /// stack does not take it.
    pub(crate) stacks: Stacks,
    /// The blocks then open.
    pub(crate) blocks: Blocks,
}

impl Layout {
    /// The layout of grammars without `%indent`.
    pub(crate) const NONE: Self = Self(None);

    /// Returns the layout before the first byte of a text.
    pub(crate) fn begin() -> Self {
        Self::new(Lines { leading: Some(Leading::NONE), ..Lines::default() })
    }

    pub(crate) fn new(lines: Lines) -> Self {
        Self(Some(Arc::new(Shared { lines, laid: OnceLock::new() })))
    }

    /// Returns the lines; `None` in grammars without `%indent`.
    #[inline]
    pub(crate) fn lines(&self) -> Option<&Lines> {
        self.0.as_ref().map(|shared| &shared.lines)
    }

    /// Returns whether only blanks have been read of a line.
    pub(crate) fn is_counting(&self) -> bool {
        self.lines().and_then(|lines| lines.leading).is_some_and(|leading| leading.counting)
    }

    /// Returns whether the first lexeme of a line has not begun.
    pub(crate) fn begins_line(&self) -> bool {
        self.lines().is_some_and(|lines| lines.leading.is_some())
    }

    /// Returns whether no byte of a line counts so far.
    pub(crate) fn is_fresh_line(&self) -> bool {
        self.lines().is_some_and(|lines| lines.leading == Some(Leading::NONE))
    }

    /// Returns the result of `lay` for the line that begins here on `stack`.
    pub(crate) fn laid(
        &self,
        stack: &Stack,
        table: &ParseTable,
        reads: &mut Reads,
        lay: impl FnOnce(&Lines, &mut Reads) -> Laid,
    ) -> Option<Cow<'_, Laid>> {
        let shared = self.0.as_ref()?;
        if let Some((_, laid, lowest)) = shared.laid.get().filter(|(known, ..)| known.is(stack)) {
            reads.stack(*lowest);
            return Some(Cow::Borrowed(laid));
        }
        let mut own = reads.alone(stack);
        let mut laid = lay(&shared.lines, &mut own);
        if let Some(chosen) = shared.lines.chosen {
            laid.stacks.retain(|stack| stack.state(table) == chosen);
        }
        reads.include(&own);
        if !own.is_past_fork() {
            let _ = shared.laid.set((stack.clone(), laid.clone(), own.lowest()));
        }
        Some(Cow::Owned(laid))
    }

    /// Returns the layout in which the first lexeme of a line begins on a stack with this top.
    pub(crate) fn chosen(&self, top: ParseStateId) -> Self {
        self.lines()
            .map_or(Self::NONE, |lines| Self::new(Lines { chosen: Some(top), ..lines.clone() }))
    }

    /// Returns whether the stack before the first lexeme of a line is one of several.
    pub(crate) fn is_chosen(&self) -> bool {
        self.lines().is_some_and(|lines| lines.chosen.is_some())
    }

    /// Returns the layout after an ignored lexeme: the stack on which the next one begins is open
    /// again.
    pub(crate) fn open(&self) -> Self {
        match self.lines() {
            Some(lines) if lines.chosen.is_some() => {
                Self::new(Lines { chosen: None, ..lines.clone() })
            }
            _ => self.clone(),
        }
    }

    /// Returns the layout after one more byte of the text; tabs advance to multiples of `tab`.
    #[inline]
    pub(crate) fn read(&self, byte: u8, tab: u32) -> Self {
        match self.lines() {
            Some(&Lines { ref blocks, depth, leading: Some(leading), chosen })
                if leading.counting =>
            {
                let (blocks, leading) = (blocks.clone(), Some(leading.read(byte, tab)));
                // A lexeme that begins with a blank is ignored on every stack.
                let chosen = chosen.filter(|_| !is_blank(byte));
                Self::new(Lines { blocks, depth, leading, chosen })
            }
            _ => self.clone(),
        }
    }

    /// Returns the layout at the beginning of the next line.
    pub(crate) fn next_line(&self) -> Self {
        self.lines().map_or(Self::NONE, |lines| {
            Self::new(Lines { leading: Some(Leading::NONE), chosen: None, ..lines.clone() })
        })
    }

    /// Returns the layout after an ignored lexeme that joins the next line to this one. As in
    /// CPython, the first such lexeme with blanks before it determines both widths of the line; one
    /// without blanks does not.
    pub(crate) fn join(&self) -> Self {
        let Some((lines, leading)) = self.lines().and_then(|lines| Some((lines, lines.leading?)))
        else {
            return self.clone();
        };
        let column = leading.width.column;
        let width = Width { column, alternative: column };
        let leading = if column == 0 { Leading::NONE } else { Leading { width, counting: false } };
        Self::new(Lines { leading: Some(leading), chosen: None, ..lines.clone() })
    }
}

impl Layout {
    /// Returns whether both are the same object in memory.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.lines == b.lines,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn width(blanks: &str) -> (u32, u32) {
        let layout = blanks.bytes().fold(Layout::begin(), |layout, byte| layout.read(byte, 8));
        let Width { column, alternative } = layout.lines().unwrap().leading.unwrap().width;
        (column, alternative)
    }

    #[test]
    fn widths_are_those_of_cpython() {
        assert_eq!(width("   "), (3, 3));
        assert_eq!(width("\t"), (8, 1));
        assert_eq!(width("   \t "), (9, 5));
        assert_eq!(width("        \t"), (16, 9));
        assert_eq!(width("  \x0c "), (1, 1));
        assert_eq!(width("  x  "), (2, 2));
    }

    #[test]
    fn the_first_join_behind_blanks_settles_the_width() {
        let read = |blanks: &str| {
            let mut layout = Layout::begin();
            for byte in blanks.bytes() {
                layout =
                    if byte == b'\\' { layout.read(byte, 8).join() } else { layout.read(byte, 8) };
            }
            layout.lines().unwrap().leading.unwrap().width.column
        };
        assert_eq!(read("\\  "), 2);
        assert_eq!(read("  \\  "), 2);
        assert_eq!(read("\\ \\  "), 1);
    }
}
