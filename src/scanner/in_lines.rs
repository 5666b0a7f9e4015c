//! How line ends, and the blanks at the beginning of lines, reach the parser.
//!
//! Where a line begins (at the beginning of the text, or after a NEWLINE that the parser has
//! taken), ignored lexemes do not change that. A NEWLINE there ends a blank line and has no effect.
//! Any other lexeme is the line's first: the width of the blanks before it is compared with the
//! open blocks, INDENT or the right number of DEDENT are given to the parser, and then the lexeme.
//! Between brackets a NEWLINE is ignored. At the end of the text a line without an end gets its
//! NEWLINE, and each open block its DEDENT.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::configuration::{AcceptedLabels, Configuration};
use super::indentation::{Indentation, Limit, LineStart};
use super::layout::{Laid, Layout};
use super::lines::{Blocks, Lines};
use super::lookahead::{Between, ExpectationsId};
use super::reads::Reads;
use super::{Context, Contexts, Lexis, Scanner};
use crate::grammar::ir::LexerKind;
use crate::lr::forks::join;
use crate::lr::stack::{Depths, Stack, Stacks};
use crate::util::bitset::BitSet;
use crate::util::id::{ScanStateId, TerminalId};

impl Lexis {
    /// Returns whether a stack in these blocks can be finished within the limit on open blocks.
    /// Always true without a limit.
    fn has_room(&self, stack: &Stack, blocks: &Blocks, reads: &mut Reads) -> bool {
        let Some(indentation) = &self.indentation else { return true };
        let Some(Limit { nesting, .. }) = &indentation.limit else { return true };
        let room = reads.room(indentation, blocks.level());
        nesting.fits(&self.table, stack, room, reads)
    }

    /// Returns whether the text can be finished from its beginning.
    pub(super) fn has_room_at_all(&self, reads: &mut Reads) -> bool {
        self.has_room(&Stack::new(&self.table), &Blocks::default(), reads)
    }
}

impl Scanner {
    /// Returns the layout before the first byte of a text.
    pub(crate) fn initial_layout(&self) -> Layout {
        if self.lexis.indentation.is_some() { Layout::begin() } else { Layout::NONE }
    }

    /// Returns the layout after one more byte.
    #[inline]
    pub(crate) fn read(&self, layout: &Layout, byte: u8) -> Layout {
        match &self.lexis.indentation {
            None => Layout::NONE,
            Some(indentation) => layout.read(byte, indentation.tab),
        }
    }

    /// Returns the layout after these bytes of the blanks at the beginning of a line.
    #[inline]
    pub(crate) fn read_all(&self, layout: &Layout, bytes: &[u8]) -> Layout {
        bytes.iter().fold(layout.clone(), |layout, &byte| self.read(&layout, byte))
    }

    /// Returns the stacks before the first lexeme of the line that begins here, and the blocks then
    /// open.
    fn lay<'l>(
        &self,
        stack: &Stack,
        layout: &'l Layout,
        reads: &mut Reads,
    ) -> Option<Cow<'l, Laid>> {
        let indentation = self.lexis.indentation.as_ref()?;
        reads.width(indentation, layout.lines()?);
        layout.laid(stack, self.table(), reads, |lines, reads| {
            let width = lines.leading.map_or(lines.blocks.width(), |leading| leading.width);
            let Some((blocks, ended)) = indentation.compare(&lines.blocks, width) else {
                return Laid::default();
            };
            let begun = u32::from(blocks.level() > lines.blocks.level());
            let fed = [(indentation.indent, begun), (indentation.dedent, ended)];
            let fed =
                fed.into_iter().flat_map(|(terminal, count)| (0..count).map(move |_| terminal));
            Laid { stacks: self.feed_all(stack, fed, reads), blocks }
        })
    }

    /// Returns the stacks after all these terminals.
    fn feed_all(
        &self,
        stack: &Stack,
        terminals: impl Iterator<Item = TerminalId>,
        reads: &mut Reads,
    ) -> Stacks {
        terminals.fold(Stacks::from_buf([stack.clone()]), |stacks, terminal| {
            let (mut fed, mut steps) = (Stacks::new(), 0);
            for stack in stacks {
                for stack in stack.feed(self.table(), terminal, reads) {
                    join(&mut fed, stack, self.table(), &mut steps);
                }
            }
            reads.spend(steps);
            fed
        })
    }

    /// Returns the contexts of a lexeme that starts on `stack`: one, unless a line begins and its
    /// blocks can be read in several ways. Reports to `reads`.
    #[inline]
    pub(crate) fn contexts_at(
        &self,
        stack: &Stack,
        layout: &Layout,
        reads: &mut Reads,
    ) -> Contexts<'_> {
        match layout.lines() {
            None => Contexts::from_buf([self.context(stack, reads)]),
            Some(lines) => self.contexts_in_lines(stack, layout, lines, reads),
        }
    }

    fn line_start<'i>(&self, indentation: &'i Indentation) -> &'i LineStart {
        indentation.line.get_or_init(|| {
            let mut labels = indentation.openers.clone();
            for label in (0..self.lexis.fallbacks.len()).map(TerminalId::new) {
                let mut others = self.lexis.other_readings(label);
                if others.any(|other| indentation.openers.contains(other.index())) {
                    labels.insert(label.index());
                }
            }
            // The check of the grammar ensures that no line begins with an exclusive terminal.
            let state = match self.lexis.lexer {
                LexerKind::Basic => Some(self.states().start(&self.lexis.ordinary())),
                LexerKind::Contextual => None,
            };
            LineStart { labels, state }
        })
    }

    /// Returns the scan states in which a lexeme may start, each with its layout: one, unless a
    /// line begins and its blocks can be read in several ways, each of which lexes for itself.
    /// Reads no more of the layout than necessary.
    #[inline]
    pub(crate) fn starts_at(
        &self,
        stack: &Stack,
        layout: &Layout,
        reads: &mut Reads,
    ) -> SmallVec<[(ScanStateId, Layout); 1]> {
        let Some(indentation) = self.lexis.indentation.as_ref().filter(|_| layout.begins_line())
        else {
            let loose = layout.lines().is_some_and(|lines| reads.brackets(lines));
            let context =
                if loose { self.loose_context(stack, reads) } else { self.context(stack, reads) };
            return SmallVec::from_buf([(context.start, layout.clone())]);
        };
        if let Some(state) = self.line_start(indentation).state {
            return SmallVec::from_buf([(state, layout.clone())]);
        }
        let laid = self.lay(stack, layout, reads).map_or_else(Laid::default, Cow::into_owned);
        match &laid.stacks[..] {
            [] => SmallVec::from_buf([(self.loose_context_of(self.nothing).start, layout.clone())]),
            [stack] => {
                SmallVec::from_buf([(self.loose_context(stack, reads).start, layout.clone())])
            }
            stacks => {
                let start = |stack: &Stack| {
                    (
                        self.loose_context(stack, reads).start,
                        layout.chosen(stack.state(self.table())),
                    )
                };
                stacks.iter().map(start).collect()
            }
        }
    }

    /// Returns whether a lexeme that can become the labels in `reach` may be the first of a line,
    /// if that depends neither on the blocks nor on the stack.
    pub(super) fn opens_line(&self, reach: &BitSet) -> Option<bool> {
        let indentation = self.lexis.indentation.as_ref()?;
        if reach.contains(indentation.newline.index()) || reach.intersects(&self.lexis.ignored) {
            return Some(true);
        }
        (!reach.intersects(&self.line_start(indentation).labels)).then_some(false)
    }

    fn contexts_in_lines(
        &self,
        stack: &Stack,
        layout: &Layout,
        lines: &Lines,
        reads: &mut Reads,
    ) -> Contexts<'_> {
        if lines.leading.is_none() {
            let brackets = reads.brackets(lines);
            let context = if brackets {
                self.loose_context(stack, reads)
            } else {
                self.context(stack, reads)
            };
            return Contexts::from_buf([context]);
        }
        let laid = self.lay(stack, layout, reads);
        let stacks = laid.as_ref().map_or(&[][..], |laid| &laid.stacks);
        match stacks {
            [] => Contexts::from_buf([self.loose_context_of(self.nothing)]),
            stacks => stacks.iter().map(|stack| self.loose_context(stack, reads)).collect(),
        }
    }

    /// Does what [`Scanner::numbered_taking`] does in a line that has begun, if there is room for
    /// all blocks that may follow.
    #[cold]
    pub(super) fn numbered_taking_in_line(
        &self,
        at: &Configuration,
        reads: &mut Reads,
    ) -> Option<AcceptedLabels<'_>> {
        let lines = at.layout.lines().filter(|lines| lines.leading.is_none())?;
        if self.states().has_conditions() || self.is_crowded(&at.layout, reads) {
            return None;
        }
        let brackets = reads.brackets(lines);
        let context = match brackets {
            true => self.loose_context(&at.stack, reads),
            false => self.context(&at.stack, reads),
        };
        let number = at.stack.acceptable(self.table()).set << 1 | u32::from(brackets);
        let facts = self.lexis.lookaheads.facts(at.expectations);
        Some(AcceptedLabels::new(number, context, facts, Some(&self.proof.sure)))
    }

    /// Returns the context of a lexeme that starts on `stack` where NEWLINE has no effect.
    fn loose_context(&self, stack: &Stack, reads: &mut Reads) -> &Context {
        let acceptable = stack.acceptable(self.table());
        reads.stack(acceptable.lowest);
        self.loose_context_of(acceptable.set)
    }

    /// Returns the context of a set of acceptable terminals where NEWLINE has no effect.
    pub(super) fn loose_context_of(&self, set: u32) -> &Context {
        self.loose_contexts.get_or_init(set, || {
            let mut acceptable = self.table().acceptable_sets().get(set).clone();
            let newline =
                self.lexis.indentation.as_ref().map(|indentation| indentation.newline.index());
            if let Some(newline) = newline {
                acceptable.remove(newline);
            }
            self.make_context(acceptable, newline)
        })
    }

    /// Does what [`Scanner::after_lexeme`] does in a text whose lines count.
    pub(super) fn after_lexeme_in_lines(
        &self,
        stack: &Stack,
        layout: &Layout,
        label: TerminalId,
        reads: &mut Reads,
        emit: &mut dyn FnMut(Between, &mut Reads),
    ) {
        let (Some(indentation), Some(lines)) = (&self.lexis.indentation, layout.lines()) else {
            return;
        };
        let begins = lines.leading.is_some();
        if label == indentation.newline && (begins || reads.brackets(lines)) {
            let after = if begins { layout.next_line() } else { layout.clone() };
            return emit(between(stack.clone(), after), reads);
        }
        if self.lexis.ignored.contains(label.index()) {
            let joins = indentation.join == Some(label);
            if joins && begins {
                reads.layout();
            }
            let after = if joins { layout.join() } else { layout.open() };
            return emit(between(stack.clone(), after), reads);
        }
        if !begins {
            return self.after_terminal_in_lines(stack, lines, label, reads, emit);
        }
        if !self.line_start(indentation).labels.contains(label.index()) {
            return;
        }
        let Some(laid) = self.lay(stack, layout, reads) else { return };
        let lines = Lines { blocks: laid.blocks.clone(), ..Lines::default() };
        for stack in &laid.stacks {
            self.after_terminal_in_lines(stack, &lines, label, reads, emit);
        }
    }

    /// Passes the state after a lexeme with this label to `emit`. The lexeme is not ignored, and
    /// the blocks of its line are settled.
    fn after_terminal_in_lines(
        &self,
        stack: &Stack,
        lines: &Lines,
        label: TerminalId,
        reads: &mut Reads,
        emit: &mut dyn FnMut(Between, &mut Reads),
    ) {
        let Some(indentation) = &self.lexis.indentation else { return };
        let context = self.context(stack, reads);
        for (terminal, _) in self.lexis.readings(label, &context.acceptable, None) {
            for stack in stack.feed(self.table(), terminal, reads) {
                if self.lexis.has_room(&stack, &lines.blocks, reads) {
                    let layout = after_terminal(indentation, lines.clone(), terminal, reads);
                    emit(between(stack, layout), reads);
                }
            }
        }
    }

    /// Returns whether enough blocks are open that a lexeme which the stack takes may require too
    /// many.
    #[inline]
    pub(super) fn is_crowded(&self, layout: &Layout, reads: &mut Reads) -> bool {
        let limit = self
            .lexis
            .indentation
            .as_ref()
            .and_then(|indentation| Some((indentation, indentation.limit.as_ref()?)));
        let (Some((indentation, limit)), Some(lines)) = (limit, layout.lines()) else {
            return false;
        };
        // The first lexeme of a line may begin a block.
        let coming = u32::from(lines.leading.is_some());
        reads.room(indentation, lines.blocks.level()).saturating_sub(coming) < limit.nesting.most()
    }

    /// Returns whether the text might end between two lexemes, as far as that does not depend on
    /// the open blocks.
    pub(super) fn may_end_between(
        &self,
        stack: &Stack,
        layout: &Layout,
        reads: &mut Reads,
    ) -> bool {
        let (Some(indentation), Some(lines)) = (&self.lexis.indentation, layout.lines()) else {
            return true;
        };
        if reads.brackets(lines) || lines.leading.is_some() {
            return true;
        }
        self.context(stack, reads).acceptable.contains(indentation.newline.index())
    }

    /// Returns whether the text may end between two lexemes.
    pub(crate) fn ends_between(&self, stack: &Stack, layout: &Layout, reads: &mut Reads) -> bool {
        let (Some(indentation), Some(lines)) = (&self.lexis.indentation, layout.lines()) else {
            return self.is_sentence(stack, reads);
        };
        if reads.brackets(lines) {
            return self.is_sentence(stack, reads);
        }
        reads.layout();
        let newline = lines.leading.is_none().then_some(indentation.newline);
        let dedents = (0..lines.blocks.level()).map(|_| indentation.dedent);
        let stacks = self.feed_all(stack, newline.into_iter().chain(dedents), reads);
        stacks.iter().any(|stack| self.is_sentence(stack, reads))
    }
}

/// Grammars with lines have no `%lookahead` words, so there are no expectations.
fn between(stack: Stack, layout: Layout) -> Between {
    Between { stack, layout, expectations: ExpectationsId::NONE }
}

/// Returns the layout of a line after a terminal that the parser has taken.
fn after_terminal(
    indentation: &Indentation,
    lines: Lines,
    terminal: TerminalId,
    reads: &mut Reads,
) -> Layout {
    let depth = match terminal {
        opens if indentation.is_open(opens) => lines.depth.saturating_add(1),
        closes if indentation.is_close(closes) => lines.depth - u32::from(reads.brackets(&lines)),
        _ => lines.depth,
    };
    let layout = Layout::new(Lines { depth, ..lines });
    if terminal == indentation.newline { layout.next_line() } else { layout }
}
