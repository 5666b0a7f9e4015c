//! The directive `%indent`: its terminals, its brackets, and how the width of a line stands to the
//! open blocks. How that reaches the parser is in [`in_lines`](super::in_lines).

use std::sync::OnceLock;

use super::lines::{Blocks, Width};
use crate::grammar::ir::{self, Symbol};
use crate::lr::nesting::Nesting;
use crate::lr::table::ParseTable;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The directive, as the scanner reads it.
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
    /// The terminals that may stand first in a line, whatever the stack.
    pub(super) openers: BitSet,
    /// The labels that may, and where their lexemes start if the stack has no say in that.
    pub(super) line: OnceLock<LineStart>,
}

/// What the first lexeme of a line is, as far as neither stack nor layout matter.
#[derive(Debug)]
pub(super) struct LineStart {
    pub(super) labels: BitSet,
    pub(super) state: Option<ScanStateId>,
}

/// How many blocks may be open.
#[derive(Debug)]
pub(super) struct Limit {
    levels: u32,
    pub(super) nesting: Nesting,
}

impl Indentation {
    /// The directive of a grammar with these tables.
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

    /// Whether the terminal opens a bracket.
    pub(super) fn is_open(&self, terminal: TerminalId) -> bool {
        self.open.contains(terminal.index())
    }

    /// Whether the terminal closes a bracket.
    pub(super) fn is_close(&self, terminal: TerminalId) -> bool {
        self.close.contains(terminal.index())
    }

    /// Whether no more than so many blocks may be open.
    pub(super) fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// How many more blocks may be opened where so many are open.
    fn room(&self, level: u32) -> u32 {
        self.limit.as_ref().map_or(u32::MAX, |limit| limit.levels.saturating_sub(level))
    }

    /// The same, but no more than the first lexeme of a line and any stack behind it may want.
    pub(super) fn room_that_matters(&self, level: u32) -> u32 {
        let most =
            self.limit.as_ref().map_or(u32::MAX, |limit| limit.nesting.most().saturating_add(1));
        self.room(level).min(most)
    }

    /// How the first lexeme of a line stands to the open blocks: the blocks then open and how many
    /// have ended, or `None` where its width fits none of them.
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

/// The terminals for which there is an action where a line begins: at the start, and behind
/// NEWLINE, INDENT and DEDENT.
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
