//! Look-arounds: look-ahead and look-behind, `\b`, `^`, `$`.

use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind};

use crate::lexer::determinize_lookaround::{LookAround, Side};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::error::PatternErrorKind::{Syntax, Unsupported};
use crate::lexer::lower::MAX_DEPTH;
use crate::lexer::python::cursor::end_of_alternative;
use crate::lexer::python::parser::Parser;
use crate::lexer::python::unicode::Category;

/// Bytes of the regex copied in a step: each look-around keeps the regex that contains it, for
/// errors.
pub(super) const BYTES_A_STEP: usize = 8;

impl Parser<'_, '_> {
    /// Reads a look-around, from the start of its pattern.
    pub(super) fn look(
        &mut self,
        start: usize,
        (ahead, negated): (bool, bool),
        depth: usize,
    ) -> Result<Hir, PatternError> {
        // A `\b` at the beginning of every alternative of a look-ahead looks at the text before it,
        // so it can be moved before the look-ahead. `(?!\bA)` is `\B|(?!A)`.
        let boundaries = match ahead && !self.flags.verbose {
            true => leading_boundaries(self.cursor.text.as_bytes(), self.cursor.pos),
            false => None,
        };
        let Some(boundaries) = boundaries else {
            return match ahead && negated && !self.flags.verbose && depth < MAX_DEPTH {
                true if self.has_leading_boundary() => self.each_look(start, depth),
                _ => self.plain_look(start, (ahead, negated), depth),
            };
        };
        self.passed_over.extend(boundaries);
        let look = self.plain_look(start, (ahead, negated), depth)?;
        let boundary = self.boundary(start, negated)?;
        Ok(match negated {
            true => Hir::alternation(vec![boundary, look]),
            false => Hir::concat(vec![boundary, look]),
        })
    }

    /// Returns whether one of the alternatives that begin here begins with `\b`.
    fn has_leading_boundary(&self) -> bool {
        let text = self.cursor.text.as_bytes();
        let mut at = self.cursor.pos;
        loop {
            if begins_with_boundary(&text[at..]) {
                return true;
            }
            match end_of_alternative(text, at) {
                Some(end) if text[end] == b'|' => at = end + 1,
                _ => return false,
            }
        }
    }

    /// Reads a negated look-ahead alternative by alternative: `(?!A|\bB)` is `(?!A)(?!\bB)`, which
    /// is `(?!A)(\B|(?!B))`.
    fn each_look(&mut self, start: usize, depth: usize) -> Result<Hir, PatternError> {
        let mut all = Vec::new();
        self.at_start = false;
        loop {
            let has_boundary =
                begins_with_boundary(&self.cursor.text.as_bytes()[self.cursor.pos..]);
            self.cursor.pos += if has_boundary { 2 } else { 0 };
            let look = self.look_for(start, (true, true), |parser| parser.sequence(depth + 1))?;
            all.push(match has_boundary {
                true => Hir::alternation(vec![self.boundary(start, true)?, look]),
                false => look,
            });
            if !self.cursor.eat("|") {
                break;
            }
        }
        if !self.cursor.eat(")") {
            let message = "this parenthesis is not closed";
            return Err(self.cursor.error(Syntax, start..start + 1, message));
        }
        Ok(Hir::concat(all))
    }

    fn plain_look(
        &mut self,
        start: usize,
        (ahead, negated): (bool, bool),
        depth: usize,
    ) -> Result<Hir, PatternError> {
        let flags = self.flags;
        self.look_for(start, (ahead, negated), |parser| parser.inside(start, flags, depth))
    }

    /// Returns a look-around for the pattern that `read` reads.
    fn look_for(
        &mut self,
        start: usize,
        (ahead, negated): (bool, bool),
        read: impl FnOnce(&mut Self) -> Result<Hir, PatternError>,
    ) -> Result<Hir, PatternError> {
        let (before, was_lazy) = (self.builder.looks.len(), self.builder.is_lazy);
        let around = std::mem::replace(&mut self.builder.first_look, before);
        self.builder.negations += usize::from(negated);
        let wanted = read(self);
        self.builder.negations -= usize::from(negated);
        self.builder.first_look = around;
        let wanted = wanted?;
        // Whether anything matches does not depend on the order of attempts.
        self.builder.is_lazy = was_lazy;
        let span = start..self.cursor.pos;
        let undecided = self.undecided(start)?;
        let side = if ahead {
            Side::Ahead
        } else {
            if self.builder.looks.len() > before {
                let message = "a look-around inside a look-behind is not supported";
                return Err(self
                    .cursor
                    .error(Unsupported, span, message)
                    .help("write the cases as alternatives"));
            }
            let Some(width) = width(&wanted) else {
                let message = "the pattern of a look-behind has more than one length";
                return Err(self
                    .cursor
                    .error(Syntax, span, message)
                    .help("write a look-behind for each length"));
            };
            Side::Behind(width)
        };
        let language = match side {
            Side::Ahead => wanted,
            Side::Behind(_) => self.any_before(wanted)?,
        };
        let dfa = self.builder.automaton(&language, before)?;
        self.builder.look(LookAround { side, negated, dfa, undecided })
    }

    /// `$`: the end of the text, also before a newline that ends the text, or with the flag `m`
    /// before any newline.
    pub(super) fn dollar(&mut self, start: usize) -> Result<Hir, PatternError> {
        let newline: &[u8] = if self.flags.multi_line { b"\n" } else { &[b'\n', Dfa::END] };
        self.before(start, vec![Hir::literal(newline), Hir::literal([Dfa::END])])
    }

    /// `\Z`: the end of the text.
    pub(super) fn end_of_text(&mut self, start: usize) -> Result<Hir, PatternError> {
        self.before(start, vec![Hir::literal([Dfa::END])])
    }

    /// Returns a position followed by one of these.
    fn before(&mut self, start: usize, wanted: Vec<Hir>) -> Result<Hir, PatternError> {
        let first = self.builder.looks.len();
        let dfa = self.builder.automaton(&Hir::alternation(wanted), first)?;
        let undecided = self.undecided(start)?;
        self.builder.look(LookAround { side: Side::Ahead, negated: false, dfa, undecided })
    }

    /// `^`: the beginning of the text, or with the flag `m` also after any newline.
    pub(super) fn caret(&mut self, start: usize) -> Result<Hir, PatternError> {
        if !self.flags.multi_line {
            return self.start_of_text(start);
        }
        let newline = self.any_before(Hir::literal(*b"\n"))?;
        self.behind(start, &Hir::alternation(vec![Hir::empty(), newline]))
    }

    /// `\A`: the beginning of the text.
    pub(super) fn start_of_text(&mut self, start: usize) -> Result<Hir, PatternError> {
        self.behind(start, &Hir::empty())
    }

    /// Returns a position preceded by exactly one of these texts, from the beginning on. Any
    /// character of the lexeme decides it.
    fn behind(&mut self, start: usize, wanted: &Hir) -> Result<Hir, PatternError> {
        let first = self.builder.looks.len();
        let dfa = self.builder.automaton(wanted, first)?;
        let undecided = self.undecided(start)?;
        self.builder.look(LookAround { side: Side::Behind(1), negated: false, dfa, undecided })
    }

    /// `\b`, the beginning or the end of a word, or `\B`, which is neither.
    pub(super) fn boundary(&mut self, start: usize, negated: bool) -> Result<Hir, PatternError> {
        let word = self.category(Category::Word, false)?;
        let word = self.builder.class(word)?;
        let first = self.builder.looks.len();
        let ahead = self.builder.automaton(&word, first)?;
        let behind = self.any_before(word)?;
        let behind = self.builder.automaton(&behind, first)?;
        let mut ways = Vec::new();
        for word_before in [true, false] {
            let mut parts = Vec::new();
            for (side, dfa, is_word) in [
                (Side::Behind(1), &behind, word_before),
                (Side::Ahead, &ahead, word_before == negated),
            ] {
                let (dfa, undecided) = (dfa.clone(), self.undecided(start)?);
                parts.push(self.builder.look(LookAround {
                    side,
                    negated: !is_word,
                    dfa,
                    undecided,
                })?);
            }
            ways.push(Hir::concat(parts));
        }
        Ok(Hir::alternation(ways))
    }

    /// Returns the error for a look-around from `start` to here that may reach before the
    /// look-ahead that contains it.
    fn undecided(&self, start: usize) -> Result<PatternError, PatternError> {
        self.builder.meter.step(self.cursor.text.len() / BYTES_A_STEP)?;
        let what = &self.cursor.text[start..self.cursor.pos];
        let message =
            format!("`{what}` may depend on the text before the look-ahead that contains it");
        let help = "move it before the look-ahead, where it means the same";
        Ok(self.cursor.unsupported(start, message).help(help))
    }

    /// Returns a pattern for any bytes followed by `wanted`: a special token may precede a lexeme.
    fn any_before(&mut self, wanted: Hir) -> Result<Hir, PatternError> {
        let any = Hir::class(Class::Bytes(ClassBytes::new([ClassBytesRange::new(0, u8::MAX)])));
        let any = self.builder.repeat(any, 0, None, true);
        Ok(Hir::concat(vec![any, wanted]))
    }
}

/// Returns whether these alternatives begin with `\b`.
fn begins_with_boundary(text: &[u8]) -> bool {
    text.starts_with(br"\b") && !matches!(text.get(2), Some(b'*' | b'+' | b'?' | b'{'))
}

/// Returns the positions of the `\b` with which all alternatives from `at` up to a closing
/// parenthesis begin, possibly within groups of their own. Returns `None` if one of them begins
/// otherwise.
fn leading_boundaries(text: &[u8], at: usize) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    led_alternatives(text, at, MAX_LEADING, &mut found)?;
    Some(found)
}

/// Maximum depth of groups that may contain a leading `\b`.
const MAX_LEADING: usize = 8;

/// Skips alternatives that begin with `\b` and returns where they end.
fn led_alternatives(
    text: &[u8],
    mut at: usize,
    depth: usize,
    found: &mut Vec<usize>,
) -> Option<usize> {
    loop {
        let is_repeated = |end: usize| matches!(text.get(end), Some(b'*' | b'+' | b'?' | b'{'));
        at = match &text[at..] {
            [b'\\', b'b', ..] => {
                found.push(at);
                at + 2
            }
            [b'(', b'?', b':', ..] if depth > 0 => {
                led_alternatives(text, at + 3, depth - 1, found)? + 1
            }
            [b'(', next, ..] if *next != b'?' && depth > 0 => {
                led_alternatives(text, at + 1, depth - 1, found)? + 1
            }
            _ => return None,
        };
        if is_repeated(at) {
            return None;
        }
        at = end_of_alternative(text, at)?;
        if text[at] == b')' {
            return Some(at);
        }
        at += 1;
    }
}

/// Returns the number of characters of each text, or `None` if texts differ in it.
fn width(hir: &Hir) -> Option<usize> {
    match hir.kind() {
        HirKind::Empty => Some(0),
        HirKind::Literal(literal) => {
            Some(literal.0.iter().filter(|&byte| byte & 0xc0 != 0x80).count())
        }
        HirKind::Class(_) => Some(1),
        HirKind::Repetition(repetition) if repetition.max == Some(repetition.min) => {
            Some(width(&repetition.sub)?.saturating_mul(repetition.min as usize))
        }
        HirKind::Concat(parts) => {
            parts.iter().try_fold(0usize, |sum, part| Some(sum.saturating_add(width(part)?)))
        }
        HirKind::Alternation(parts) => {
            let first = width(parts.first()?)?;
            parts.iter().all(|part| width(part) == Some(first)).then_some(first)
        }
        HirKind::Repetition(_) | HirKind::Look(_) | HirKind::Capture(_) => None,
    }
}
