//! The directive `%indent`: its terminals, its brackets, and the relation of a line's width to the
//! open blocks. [`in_lines`](super::in_lines) describes how that reaches the parser.

use std::sync::OnceLock;

use super::lines::{Blocks, Width};
use crate::grammar::ir::{self, Symbol};
use crate::lr::nesting::Nesting;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The directive in the scanner's representation.
#[derive(Debug)]
pub(crate) struct Indentation {
    pub(crate) newline: TerminalId,
    pub(crate) indent: TerminalId,
    pub(crate) dedent: TerminalId,
    open: BitSet,
    close: BitSet,
    pub(crate) join: Option<TerminalId>,
    pub(crate) tab: u32,
    pub(super) limit: Option<Limit>,
    /// The terminals that may be first in a line for some stack.
    pub(super) openers: BitSet,
    /// The labels that may be first, and where their lexemes start if that does not depend on the
    /// stack.
    pub(super) line: OnceLock<LineStart>,
}

/// Facts about the first lexeme of a line that depend neither on the stack nor on the layout.
#[derive(Debug)]
pub(super) struct LineStart {
    pub(super) labels: BitSet,
    pub(super) state: Option<ScanStateId>,
}

/// Limit on open blocks.
#[derive(Debug)]
pub(super) struct Limit {
    levels: u32,
    pub(super) nesting: Nesting,
}

impl Indentation {
    /// Creates the directive of a grammar with these tables.
    pub(super) fn new(directive: &ir::Indentation<TerminalId>, table: &ParseTable) -> Self {
        let set = |terminals: &[TerminalId]| {
            let mut set = BitSet::new(table.end().index() + 1);
            terminals.iter().for_each(|terminal| {
                set.insert(terminal.index());
            });
            set
        };
        Self {
            newline: directive.newline,
            indent: directive.indent,
            dedent: directive.dedent,
            open: set(&directive.open),
            close: set(&directive.close),
            join: directive.join,
            tab: directive.tab,
            openers: openers(table, directive),
            line: OnceLock::new(),
            limit: directive.levels.map(|levels| Limit {
                levels,
                nesting: Nesting::new(table, directive.indent, directive.dedent),
            }),
        }
    }

    /// Returns whether the terminal opens a bracket.
    pub(super) fn is_open(&self, terminal: TerminalId) -> bool {
        self.open.contains(terminal.index())
    }

    /// Returns whether the terminal closes a bracket.
    pub(super) fn is_close(&self, terminal: TerminalId) -> bool {
        self.close.contains(terminal.index())
    }

    /// Returns whether the number of open blocks is limited.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// Returns how many more blocks may be opened if `level` are open.
    fn room(&self, level: u32) -> u32 {
        self.limit.as_ref().map_or(u32::MAX, |limit| limit.levels.saturating_sub(level))
    }

    /// Returns the same, capped at the most that the first lexeme of a line and any stack after it
    /// may need.
    pub(super) fn room_that_matters(&self, level: u32) -> u32 {
        let most =
            self.limit.as_ref().map_or(u32::MAX, |limit| limit.nesting.most().saturating_add(1));
        self.room(level).min(most)
    }

    /// Compares the first lexeme of a line with the open blocks. Returns the blocks then open and
    /// how many have ended, or `None` if its width fits none of them.
    pub(super) fn compare(&self, blocks: &Blocks, width: Width) -> Option<(Blocks, u32)> {
        let Width { column, alternative } = blocks.width();
        if width.column > column {
            let fits = width.alternative > alternative && self.room(blocks.level()) > 0;
            return fits.then(|| (blocks.push(width), 0));
        }
        let mut blocks = blocks;
        let mut ended = 0;
        while width.column < blocks.width().column {
            blocks = blocks.below()?;
            ended += 1;
        }
        (width == blocks.width()).then(|| (blocks.clone(), ended))
    }
}

/// Returns the terminals with an action where a line begins: at the start, and after NEWLINE,
/// INDENT and DEDENT.
fn openers(table: &ParseTable, directive: &ir::Indentation<TerminalId>) -> BitSet {
    let own = [directive.newline, directive.indent, directive.dedent];
    let mut openers = BitSet::new(table.end().index() + 1);
    for state in (0..table.state_count()).map(CoreId::new) {
        let begins = match table.accessing(state) {
            None => true,
            Some(Symbol::Terminal(terminal)) => own.contains(&terminal),
            Some(Symbol::Nonterminal(_)) => false,
        };
        if begins {
            openers.union_with(table.row(state));
        }
    }
    openers
}
