//! The terminals that the parser is given for a lexeme, for callers that parse them with a parser
//! of their own. [`in_lines`](super::in_lines) does the same to stacks.

use smallvec::SmallVec;

use super::configuration::Configuration;
use super::layout::Layout;
use super::lookahead::Between;
use super::{Reads, Scanner};
use crate::util::id::TerminalId;

impl Scanner {
    /// Returns the terminals without text that the parser is given before a lexeme with this label
    /// (INDENT and DEDENT); `None` if the parser is not given the lexeme either. `layout` is the
    /// one before the lexeme's end.
    pub(crate) fn given_before(
        &self,
        layout: &Layout,
        label: TerminalId,
    ) -> Option<SmallVec<[TerminalId; 1]>> {
        let is_ignored = self.lexis.ignored.contains(label.index());
        let (Some(indentation), Some(lines)) = (self.indentation(), layout.lines()) else {
            return (!is_ignored).then(SmallVec::new);
        };
        let begins = lines.leading.is_some();
        let is_blank_line =
            label == indentation.newline && (begins || Reads::none().brackets(lines));
        if is_ignored || is_blank_line {
            return None;
        }
        let mut given = SmallVec::new();
        if let Some(leading) = lines.leading
            && let Some((blocks, ended)) = indentation.compare(&lines.blocks, leading.width)
        {
            if blocks.level() > lines.blocks.level() {
                given.push(indentation.indent);
            }
            given.extend((0..ended).map(|_| indentation.dedent));
        }
        Some(given)
    }

    /// Returns the terminals that the parser is given at the end of the text: the NEWLINE of a line
    /// without an end, and a DEDENT for each open block.
    pub(crate) fn given_at_end(&self, layout: &Layout) -> SmallVec<[TerminalId; 1]> {
        let (Some(indentation), Some(lines)) = (self.indentation(), layout.lines()) else {
            return SmallVec::new();
        };
        if Reads::none().brackets(lines) {
            return SmallVec::new();
        }
        let newline = lines.leading.is_none().then_some(indentation.newline);
        let dedents = (0..lines.blocks.level()).map(|_| indentation.dedent);
        newline.into_iter().chain(dedents).collect()
    }

    /// Returns the first label with which the lexeme in progress may end the text, and the state
    /// after it; `None` if the text may not end.
    pub(crate) fn last_label(&self, at: &Configuration) -> Option<(TerminalId, Between)> {
        let join = self.indentation().and_then(|indentation| indentation.join);
        let labels = self.last_labels(at).into_iter().filter(|&label| join != Some(label));
        let mut last = None;
        for label in labels {
            let Configuration { stack, layout, expectations, .. } = at;
            let reads = &mut Reads::none();
            self.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, reads| {
                if last.is_none()
                    && self.lexis.lookaheads.facts(after.expectations).may_end
                    && self.ends_between(&after.stack, &after.layout, reads)
                {
                    last = Some((label, after));
                }
            });
        }
        last
    }
}
