//! Look-arounds: look-ahead and look-behind, `\b`, `^`, `$`.

use regex_syntax::hir::Hir;

use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::{Syntax, Unsupported};
use crate::lexer::lower_lookaround::width;
use crate::lexer::python::parser::Parser;
use crate::lexer::python::unicode::Category;

impl Parser<'_, '_> {
    /// Reads a look-around, from the start of its pattern.
    pub(super) fn look(
        &mut self,
        start: usize,
        (ahead, negated): (bool, bool),
        depth: usize,
    ) -> Result<Hir, PatternError> {
        let (before, was_lazy) = (self.builder.looks.len(), self.builder.is_lazy);
        let around = std::mem::replace(&mut self.builder.first_look, before);
        self.builder.negations += usize::from(negated);
        let wanted = self.inside(start, self.flags, depth);
        self.builder.negations -= usize::from(negated);
        self.builder.first_look = around;
        let wanted = wanted?;
        // Whether anything matches does not depend on the order of attempts.
        self.builder.is_lazy = was_lazy;
        let span = start..self.cursor.pos;
        if !ahead && width(&wanted).is_none() {
            let message = "the pattern of a look-behind has more than one length";
            let error = self.cursor.error(Syntax, span, message);
            return Err(error.help("write a look-behind for each length"));
        }
        let look = match ahead {
            true => self.builder.look_ahead(&wanted, before, negated),
            false => self.builder.look_behind(wanted, before, negated),
        };
        look.map_err(|error| match error.kind() {
            Unsupported => error.within(self.cursor.text, span, self.cursor.place),
            _ => error,
        })
    }

    /// `$`: the end of the text, also before a newline that ends the text, or with the flag `m`
    /// before any newline.
    pub(super) fn dollar(&mut self) -> Result<Hir, PatternError> {
        let newline: &[u8] = if self.flags.multi_line { b"\n" } else { &[b'\n', Dfa::END] };
        let wanted = Hir::alternation(vec![Hir::literal(newline), Hir::literal([Dfa::END])]);
        self.builder.look_ahead(&wanted, self.builder.looks.len(), false)
    }

    /// `^`: the beginning of the text, or with the flag `m` also after any newline.
    pub(super) fn caret(&mut self) -> Result<Hir, PatternError> {
        let mut wanted = Hir::empty();
        if self.flags.multi_line {
            let newline = self.builder.any_before(Hir::literal(*b"\n"));
            wanted = Hir::alternation(vec![wanted, newline]);
        }
        self.builder.after_text(&wanted)
    }

    /// `\b`, the beginning or the end of a word, or `\B`, which is neither.
    pub(super) fn boundary(&mut self, negated: bool) -> Result<Hir, PatternError> {
        let word = self.category(Category::Word, false)?;
        self.builder.boundary(word, negated)
    }
}
