//! The driver: its body is the list of the passes.

use crate::grammar::pattern::Pattern;
use crate::lexer::determinize::determinize;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::limits::LexerLimits;
use crate::lexer::lower::lower;
use crate::util::byte_classes::ByteClasses;
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
            return Ok(Compiled { dfa: literal(text.as_bytes(), limits)?, warnings: Vec::new() });
        }
        let lowered = lower(pattern, limits)?;
        let raw = determinize(&lowered.hir, limits)?;
        Ok(Compiled { dfa: raw.minimize(), warnings: lowered.warnings })
    }
}

/// The chain that reads `text`; it is minimal as it stands.
fn literal(text: &[u8], limits: &LexerLimits) -> Result<Dfa, PatternError> {
    let states = text.len() + 1;
    if states > limits.states {
        return Err(PatternError::string_too_long(
            text.len(),
            format_args!("more than {} states", limits.states),
        ));
    }
    let mut occurs = [false; 256];
    for &byte in text {
        occurs[usize::from(byte)] = true;
    }
    let classes = ByteClasses::by_key(|byte| occurs[usize::from(byte)].then_some(byte));
    let width = classes.count();
    if states * width * size_of::<u32>() > limits.memory {
        return Err(PatternError::string_too_long(
            text.len(),
            format_args!("a table of more than {} MiB", limits.memory >> 20),
        ));
    }
    let mut table = vec![Dfa::DEAD; states * width];
    for (at, &byte) in text.iter().enumerate() {
        table[at * width + usize::from(classes.get(byte))] = at as u32 + 1;
    }
    let mut accept = vec![false; states];
    accept[text.len()] = true;
    Ok(Dfa::from_minimal(classes, table, &accept))
}
