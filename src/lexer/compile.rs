//! The driver: its body is the list of the passes.

use crate::grammar::pattern::Pattern;
use crate::lexer::chain::{chain, steps};
use crate::lexer::determinize::determinize;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::limits::LexerLimits;
use crate::lexer::lower::lower;
use crate::util::diagnostic::Diagnostic;

/// What became of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) dfa: Dfa,
    /// What the pattern says to no effect.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Dfa {
    /// The minimal automaton of `pattern`.
    ///
    /// # Errors
    ///
    /// When a regex in it is not one or asks for more than a regular language over the lexeme alone, and when
    /// the automaton exceeds a limit.
    pub(crate) fn compile(pattern: &Pattern, limits: &LexerLimits) -> Result<Compiled, PatternError> {
        if let Pattern::Literal { text, ignore_case: false } = pattern {
            let steps: Vec<[u8; 1]> = text.bytes().map(|byte| [byte]).collect();
            return Ok(Compiled { dfa: chain(&steps, limits)?, warnings: Vec::new() });
        }
        let lowered = lower(pattern, limits)?;
        if let Some(steps) = steps(&lowered.hir) {
            return Ok(Compiled { dfa: chain(&steps, limits)?, warnings: lowered.warnings });
        }
        let raw = determinize(&lowered.hir, limits)?;
        Ok(Compiled { dfa: raw.minimize(), warnings: lowered.warnings })
    }
}
