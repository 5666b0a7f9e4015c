//! The state of lines and brackets between two lexemes, and decisions by these alone.
//!
//! Grammars with indented blocks from other projects often have rules that no text can finish:
//! `compound_stmt _NEWLINE`, for example, though a compound statement ends with its block, and the
//! blank line after a block has no effect. Such a dead end is found only after all ways have been
//! tried, and there are too many of them if everything that matters to lexemes is taken into
//! account. There are few states of lines. Obligations only rule out ways, so a text that cannot be
//! completed with unrestricted lexemes cannot be completed at all.

use smallvec::SmallVec;

use crate::lr::derivations::{After, LexicalStateId, Node, Succession};
use crate::scanner::Scanner;
use crate::util::id::TerminalId;

/// The position of a text in its lines; without widths, because a line can always be restarted with
/// other blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Line {
    /// Lines do not count.
    None,
    /// After the first lexeme of a line.
    Inside,
    /// Between brackets.
    Brackets,
    /// Before the first lexeme of a line. A block may begin with it, or some may have ended.
    Begin { may_indent: bool, may_dedent: bool },
    /// After an INDENT: a lexeme must follow.
    Indented,
    /// After the last line; only open blocks are left to end.
    End,
}

impl Line {
    /// Returns the state after a production that began here, once the brackets that it opened are
    /// closed.
    pub(super) fn behind(self) -> Self {
        match self {
            Self::None | Self::Brackets => self,
            _ => Self::Inside,
        }
    }

    /// Reduces the state of a place inside this many brackets to the part that [`Line::behind`]
    /// needs.
    pub(super) fn outside(self, brackets: u32) -> Self {
        match self {
            Self::None => self,
            _ if brackets > 0 => Self::Brackets,
            _ => Self::Inside,
        }
    }

    /// Returns whether the text may end here, as far as lines matter.
    pub(super) fn may_end(self) -> bool {
        !matches!(self, Self::Inside | Self::Indented)
    }
}

impl Scanner {
    /// Returns the state after a terminal, and whether the terminal is a lexeme, not the beginning
    /// or end of a block; `None` if the terminal is not possible here.
    pub(super) fn line_after(&self, line: Line, next: TerminalId) -> Option<(Line, bool)> {
        let Some(lines) = self.indentation() else { return Some((Line::None, true)) };
        let begin = |may_indent| Line::Begin { may_indent, may_dedent: true };
        Some(match line {
            Line::Begin { may_indent: true, .. } if next == lines.indent => (Line::Indented, false),
            Line::Begin { may_dedent: true, .. } if next == lines.dedent => (begin(false), false),
            Line::End if next == lines.dedent => (Line::End, false),
            Line::End => return None,
            _ if next == lines.indent || next == lines.dedent => return None,
            Line::Inside if next == lines.newline => (begin(true), true),
            _ if next == lines.newline => return None,
            _ if lines.is_open(next) || lines.is_close(next) || line == Line::Brackets => {
                (Line::Brackets, true)
            }
            _ => (Line::Inside, true),
        })
    }

    /// Returns whether the end of the text may replace this terminal: a last line without an end
    /// gets its NEWLINE.
    pub(super) fn ends_last_line(&self, line: Line, next: TerminalId) -> bool {
        line == Line::Inside && self.indentation().is_some_and(|lines| lines.newline == next)
    }

    /// Returns whether the terminal opens a bracket (1), closes one (-1), or neither (0).
    pub(super) fn bracket(&self, terminal: TerminalId) -> i32 {
        let Some(lines) = self.indentation() else { return 0 };
        i32::from(lines.is_open(terminal)) - i32::from(lines.is_close(terminal))
    }
}

/// All places if only lines are looked at.
const LINES: [Line; 9] = [
    Line::None,
    Line::Inside,
    Line::Brackets,
    Line::Begin { may_indent: false, may_dedent: false },
    Line::Begin { may_indent: false, may_dedent: true },
    Line::Begin { may_indent: true, may_dedent: false },
    Line::Begin { may_indent: true, may_dedent: true },
    Line::Indented,
    Line::End,
];

/// Unrestricted lexemes: any may follow any, as far as lines and brackets allow.
pub(super) struct Loosely<'a> {
    pub(super) scanner: &'a Scanner,
}

impl Loosely<'_> {
    pub(super) fn place(line: Line) -> LexicalStateId {
        let place = LINES.iter().position(|&known| known == line);
        place.map_or(0, |place| place as LexicalStateId)
    }
}

impl Succession for Loosely<'_> {
    fn after(&mut self, place: LexicalStateId, next: TerminalId, _: Node) -> SmallVec<[After; 2]> {
        let line = LINES[place as usize];
        let behind = self.scanner.line_after(line, next).map(|(behind, _)| behind);
        let last = self.scanner.ends_last_line(line, next).then_some(Line::End);
        behind.into_iter().chain(last).map(|line| After::State(Self::place(line))).collect()
    }

    fn leave(&mut self, _: LexicalStateId, before: LexicalStateId) -> LexicalStateId {
        Self::place(LINES[before as usize].behind())
    }

    fn outside(&mut self, place: LexicalStateId, brackets: u32) -> LexicalStateId {
        Self::place(LINES[place as usize].outside(brackets))
    }

    fn bracket(&self, terminal: TerminalId) -> i32 {
        self.scanner.bracket(terminal)
    }

    fn may_end(&mut self, place: LexicalStateId) -> bool {
        LINES[place as usize].may_end()
    }

    fn is_best(&self, _: LexicalStateId) -> bool {
        false
    }

    fn covers(&self, place: LexicalStateId, other: LexicalStateId) -> bool {
        place == other
    }
}
