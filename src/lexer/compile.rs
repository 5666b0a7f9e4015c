//! The driver: its body is the list of the passes.

use regex_automata::nfa::thompson;

use crate::grammar::pattern::Pattern;
use crate::lexer::chain::{chain, steps};
use crate::lexer::determinize;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::limits::LexerLimits;
use crate::lexer::looking;
use crate::lexer::lower::{Folding, lower};

/// Makes automata of patterns, one after the other. What depends on Unicode's tables only is made once for all of them.
pub(crate) struct Compiler<'a> {
    limits: &'a LexerLimits,
    folding: Folding,
    thompson: thompson::Compiler,
}

impl<'a> Compiler<'a> {
    /// For patterns that are within `limits`, each by itself.
    pub(crate) fn new(limits: &'a LexerLimits) -> Self {
        Self { limits, folding: Folding::default(), thompson: determinize::thompson(limits) }
    }

    /// The minimal automaton of `pattern`.
    ///
    /// # Errors
    ///
    /// When a regex in it is not one or asks for more than a regular language over the lexeme alone, and when
    /// the automaton exceeds a limit.
    pub(crate) fn compile(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        let limits = self.limits;
        if let Pattern::Literal { text, ignore_case: false } = pattern {
            let steps: Vec<[u8; 1]> = text.bytes().map(|byte| [byte]).collect();
            return chain(&steps, limits);
        }
        let lowered = lower(pattern, limits, &mut self.folding)?;
        if let Some(steps) = steps(&lowered.hir) {
            return chain(&steps, limits);
        }
        if !lowered.looks.is_empty() {
            let nfa = determinize::nondeterministic(
                &determinize::thompson_with_looks(limits),
                &lowered.hir,
                limits,
            )?;
            return Ok(looking::determinize(&nfa, &lowered.looks, lowered.is_lazy, limits)?.minimize());
        }
        let nfa = determinize::nondeterministic(&self.thompson, &lowered.hir, limits)?;
        Ok(determinize::determinize(&nfa, lowered.is_lazy, limits)?.minimize())
    }
}
