//! Planned completions of texts with significant indentation (`%indent`).
//!
//! INDENT and DEDENT in a plan have no lexemes: they determine the width of the next line. If the
//! blanks of a line have begun, that line is left blank, and the next one is written with the
//! required blanks. The end of the text ends the last line and all blocks.

use super::Matcher;
use crate::lr::stack::{Stack, Unread};
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::Between;
use crate::scanner::{Indentation, Layout, Reads, Width};
use crate::util::id::TerminalId;

impl Matcher {
    /// Completes the text as [`Matcher::complete`] does, for grammars with `%indent`. `fresh`: no
    /// lexeme is in progress.
    pub(super) fn complete_in_lines(
        &self,
        from: &Configuration,
        fresh: bool,
        indentation: &Indentation,
        steps: &mut usize,
    ) -> Option<Vec<u8>> {
        let scanner = self.index.scanner();
        let (mut text, mut at) =
            if fresh { (Vec::new(), from.clone()) } else { self.finish_lexeme(from, steps)? };
        let (mut stack, mut layout) = match fresh {
            true => (at.stack.clone(), at.layout.clone()),
            false => {
                let after =
                    self.after(&at, scanner.states().label(at.state)?).into_iter().next()?;
                (after.stack, after.layout)
            }
        };
        let plan = scanner.completion_plan(&stack, steps)?;
        let mut laid = stack.clone();
        let (mut deeper, mut ended) = (false, 0);
        for (count, terminal) in plan.into_iter().enumerate() {
            if !(fresh && count == 0) && scanner.is_complete(&at, &mut Reads::none()) {
                return Some(text);
            }
            laid =
                self.nearest_to_the_end(laid.feed(scanner.table(), terminal, &mut Unread), steps)?;
            deeper |= terminal == indentation.indent;
            ended += u32::from(terminal == indentation.dedent);
            if terminal == indentation.indent || terminal == indentation.dedent {
                continue;
            }
            let bytes = match layout.begins_line() {
                true => self.line(&layout, indentation, (deeper, ended), terminal)?,
                false => scanner.states().dfa(terminal)?.shortest(),
            };
            let (written, reached) = match self.take_as(&at, &bytes, &stack, terminal) {
                Some(reached) => (bytes, reached),
                None if !layout.begins_line() => self.spell(&at, Some(&stack), terminal, steps)?,
                None => return None,
            };
            text.extend(written);
            at = reached;
            let label = scanner.states().label(at.state)?;
            let mut after = self.after(&at, label).into_iter();
            let found = after.find(|after: &Between| after.stack.same_stacks(&laid))?;
            (stack, layout) = (found.stack, found.layout);
            (deeper, ended) = (false, 0);
        }
        scanner.is_complete(&at, &mut Reads::none()).then_some(text)
    }

    /// Returns the bytes of a line up to and including its first lexeme, the shortest of
    /// `terminal`. The line is either deeper than the current block, or ends this many blocks.
    /// `None` if no line can begin.
    fn line(
        &self,
        layout: &Layout,
        indentation: &Indentation,
        (deeper, ended): (bool, u32),
        terminal: TerminalId,
    ) -> Option<Vec<u8>> {
        let states = self.index.scanner().states();
        let lines = layout.lines()?;
        let mut bytes = match layout.is_fresh_line() {
            true => Vec::new(),
            false => states.dfa(indentation.newline)?.shortest(),
        };
        let mut blocks = &lines.blocks;
        for _ in 0..ended {
            blocks = blocks.below()?;
        }
        let width = blocks.width();
        if deeper {
            let spaces = width.column.max(width.alternative) as usize + 1;
            bytes.extend(std::iter::repeat_n(b' ', spaces));
        } else {
            bytes.extend(width.blanks(indentation.tab)?);
        }
        bytes.extend(states.dfa(terminal)?.shortest());
        Some(bytes)
    }

    /// Returns the configuration after `bytes` in which the lexeme in progress started on `stack`
    /// and may end as `terminal`.
    fn take_as(
        &self,
        from: &Configuration,
        bytes: &[u8],
        stack: &Stack,
        terminal: TerminalId,
    ) -> Option<Configuration> {
        let scanner = self.index.scanner();
        let mut now = vec![from.clone()];
        for &byte in bytes {
            let mut next: Vec<Configuration> = Vec::new();
            for at in &now {
                scanner.step(at, byte, &mut Reads::none(), |after| {
                    if scanner.is_viable(&after, &mut Reads::none())
                        && !next.iter().any(|known| known.same(&after))
                    {
                        next.push(after);
                    }
                });
            }
            now = next;
        }
        now.into_iter().find(|at| self.ends_as(at, stack, terminal))
    }
}

impl Width {
    /// Returns blanks of this width, for tabs of `tab` columns; `None` if there are none.
    fn blanks(self, tab: u32) -> Option<Vec<u8>> {
        let Width { column, alternative } = self;
        // Each tab advances to the next multiple, after up to `tab - 1` spaces since the last one.
        // The remaining spaces follow.
        (0..=column / tab).find_map(|tabs| {
            let spaces = column - tabs * tab;
            let mut before = alternative.checked_sub(tabs)?.checked_sub(spaces)?;
            let mut blanks = Vec::new();
            for _ in 0..tabs {
                let here = before.min(tab - 1);
                before -= here;
                blanks.extend(std::iter::repeat_n(b' ', here as usize));
                blanks.push(b'\t');
            }
            blanks.extend(std::iter::repeat_n(b' ', spaces as usize));
            (before == 0).then_some(blanks)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_have_the_width_they_are_made_for() {
        for (column, alternative, blanks) in [
            (0, 0, Some("")),
            (3, 3, Some("   ")),
            (8, 1, Some("\t")),
            (9, 5, Some("   \t ")),
            (8, 9, None),
        ] {
            let made = Width { column, alternative }.blanks(8);
            assert_eq!(made.as_deref(), blanks.map(str::as_bytes), "{column} {alternative}");
        }
    }
}
