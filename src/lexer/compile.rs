//! The driver of the passes.

use regex_automata::nfa::thompson;
use regex_syntax::hir::Hir;

use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::grammar::regex::Regex;
use crate::lexer::algebra;
use crate::lexer::approximation::Narrowed;
use crate::lexer::chain::{chain, steps};
use crate::lexer::determinize::{self, Texts};
use crate::lexer::determinize_lookaround;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::from_automaton;
use crate::lexer::lower::{Folding, Lowered, MAX_DEPTH, Narrowing, lower, lower_whole};
use crate::lexer::lower_regex::lower_regex;
use crate::lexer::splice::{self, Splice};
use crate::util::meter::Meter;

/// A function that lowers a pattern to a Hir.
type Lower = fn(&Pattern, &Meter, &mut Folding, Narrowing) -> Result<Lowered, PatternError>;

/// Compiles patterns to automata, one after the other. Data that depends only on Unicode's tables
/// is computed once for all of them.
pub(crate) struct Compiler<'a> {
    meter: &'a Meter,
    folding: Folding,
    thompson: thompson::Compiler,
    /// Whether languages may be narrowed.
    may_narrow: bool,
    /// What was narrowed in the patterns since these were asked for last.
    narrowed: Vec<Narrowed>,
}

impl<'a> Compiler<'a> {
    /// Creates a compiler for patterns, each of which must be within the limits of the meter by
    /// itself.
    pub(crate) fn new(meter: &'a Meter) -> Self {
        let thompson = determinize::thompson(meter);
        Self {
            meter,
            folding: Folding::default(),
            thompson,
            may_narrow: false,
            narrowed: Vec::new(),
        }
    }

    /// The same, but the language of a pattern may be narrowed rather than refused:
    /// [`Compiler::take_narrowed`] reports it.
    pub(crate) fn narrowing(meter: &'a Meter) -> Self {
        Self { may_narrow: true, ..Self::new(meter) }
    }

    /// The groups that were narrowed since this was asked last.
    pub(crate) fn take_narrowed(&mut self) -> Vec<Narrowed> {
        std::mem::take(&mut self.narrowed)
    }

    /// Returns the minimal automaton of `pattern`.
    ///
    /// # Errors
    ///
    /// If a regex in it is invalid or needs more than a regular language over the lexeme alone, and
    /// if the automaton exceeds a limit.
    pub(crate) fn compile(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        if !pattern.has_algebra() {
            return self.regular(pattern);
        }
        // The complement of a smaller language is larger.
        let may_narrow = std::mem::replace(&mut self.may_narrow, false);
        let combined = self.combination(pattern, 0);
        self.may_narrow = may_narrow;
        combined
    }

    /// Returns the minimal automaton of the texts that `pattern`, a regex, matches as a whole, for
    /// which lazy repetition has no effect.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub(crate) fn whole(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        self.narrowed_at_most(pattern, lower_whole)
    }

    /// Returns the minimal automaton of the texts that `regex` matches as a whole; if it
    /// `is_prefix` and has no look-arounds, of those with no other of them as a proper prefix.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub(crate) fn regex(&mut self, regex: &Regex, is_prefix: bool) -> Result<Dfa, PatternError> {
        let lowered = lower_regex(regex, self.meter, &mut self.folding)?;
        if lowered.looks.is_empty() {
            return match is_prefix {
                true => self.determinized(&lowered.hir, Texts::Shortest),
                false => self.automaton(lowered),
            };
        }
        let compiler = determinize::thompson_with_looks(self.meter);
        let nfa = determinize::nondeterministic(&compiler, &lowered.hir, self.meter)?;
        determinize_lookaround::determinize_whole(&nfa, &lowered.looks, self.meter)
    }

    /// Returns the automaton that `lower` makes of `pattern`. If the opposite of narrowing results
    /// in the same automaton, nothing was narrowed.
    fn narrowed_at_most(&mut self, pattern: &Pattern, lower: Lower) -> Result<Dfa, PatternError> {
        let narrowing = self.how_narrow();
        let lowered = lower(pattern, self.meter, &mut self.folding, narrowing)?;
        if lowered.narrowed.is_empty() || !lowered.has_opposite {
            return self.automaton(lowered);
        }
        let known = self.narrowed.len();
        let narrow = self.automaton(lowered)?;
        let most = self.narrowed.len();
        let wide = lower(pattern, self.meter, &mut self.folding, Narrowing::Opposite)
            .and_then(|lowered| self.automaton(lowered));
        let is_same = wide.is_ok_and(|wide| wide == narrow);
        self.narrowed.truncate(if is_same { known } else { most });
        Ok(narrow)
    }

    fn how_narrow(&self) -> Narrowing {
        if self.may_narrow { Narrowing::Allowed } else { Narrowing::Refused }
    }

    /// [`Compiler::compile`] for a pattern whose parts are all regexes.
    fn regular(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        let meter = self.meter;
        if let Pattern::Literal { text, ignore_case: false } = pattern {
            let steps: Vec<[u8; 1]> = text.bytes().map(|byte| [byte]).collect();
            return chain(&steps, meter);
        }
        self.narrowed_at_most(pattern, lower)
    }

    fn automaton(&mut self, lowered: Lowered) -> Result<Dfa, PatternError> {
        let meter = self.meter;
        self.narrowed.extend(lowered.narrowed);
        if let Some(steps) = steps(&lowered.hir) {
            return chain(&steps, meter);
        }
        if !lowered.looks.is_empty() {
            let nfa = determinize::nondeterministic(
                &determinize::thompson_with_looks(meter),
                &lowered.hir,
                meter,
            )?;
            return determinize_lookaround::determinize(
                &nfa,
                &lowered.looks,
                lowered.is_lazy,
                meter,
            );
        }
        self.determinized(&lowered.hir, if lowered.is_lazy { Texts::First } else { Texts::All })
    }

    fn determinized(&self, hir: &Hir, texts: Texts) -> Result<Dfa, PatternError> {
        let nfa = determinize::nondeterministic(&self.thompson, hir, self.meter)?;
        Ok(determinize::determinize(&nfa, texts, self.meter)?.minimize(self.meter)?)
    }

    /// Returns the texts of a pattern with no other of them as a proper prefix. Returns `None` if
    /// the pattern is no plain regex and all its texts are needed first.
    fn shortest(&mut self, pattern: &Pattern) -> Result<Option<Dfa>, PatternError> {
        if pattern.has_algebra() {
            return Ok(None);
        }
        let narrowing = self.how_narrow();
        let lowered = lower(pattern, self.meter, &mut self.folding, narrowing)?;
        if lowered.is_lazy || !lowered.looks.is_empty() {
            return Ok(None);
        }
        self.narrowed.extend(lowered.narrowed);
        self.determinized(&lowered.hir, Texts::Shortest).map(Some)
    }

    /// [`Compiler::compile`] for a pattern that needs the algebra: each operand is an automaton of
    /// its own.
    fn combination(&mut self, pattern: &Pattern, depth: usize) -> Result<Dfa, PatternError> {
        let meter = self.meter;
        if depth > MAX_DEPTH {
            return Err(PatternError::too_deep(MAX_DEPTH));
        }
        if !pattern.has_algebra() {
            let part = self.regular(pattern)?;
            // The condition of an operand on the text around it says nothing about the whole.
            let asks = part.looks_behind() || !part.conditions().is_empty();
            return if asks { Err(PatternError::asks_within_algebra()) } else { Ok(part) };
        }
        match pattern {
            Pattern::Intersection(parts) => match parts.split_first() {
                None => self.any_text(),
                // Two at a time, so that each product is minimised.
                Some((first, others)) => {
                    let first = self.combination(first, depth + 1)?;
                    others.iter().try_fold(first, |all, part| {
                        let both = [all, self.combination(part, depth + 1)?];
                        algebra::product(&both, |both| both == [true, true], meter)
                    })
                }
            },
            Pattern::Complement(pattern) => {
                let parts = [self.any_text()?, self.combination(pattern, depth + 1)?];
                algebra::product(&parts, |both| both == [true, false], meter)
            }
            Pattern::Automaton(automaton) => from_automaton::minimal(automaton, meter),
            Pattern::Counted(counted) => Dfa::of_counted(counted, depth > 0, meter),
            Pattern::Schema(_) => Err(PatternError::schema()),
            Pattern::Tokens(tokens) => from_automaton::minimal(&tokens.spellings(), meter),
            Pattern::Shortest(pattern) => match self.shortest(pattern)? {
                Some(shortest) => Ok(shortest),
                None => algebra::first_matches(&self.combination(pattern, depth + 1)?, meter),
            },
            _ => {
                let splice = self.splice(pattern, depth)?;
                let nfa = splice::nondeterministic(&splice, meter)?;
                Ok(determinize::determinize(&nfa, Texts::All, meter)?.minimize(meter)?)
            }
        }
    }

    /// Returns how the automata of the parts are combined.
    fn splice(&mut self, pattern: &Pattern, depth: usize) -> Result<Splice, PatternError> {
        if depth > MAX_DEPTH {
            return Err(PatternError::too_deep(MAX_DEPTH));
        }
        let mut many = |parts: &[Pattern]| -> Result<Vec<Splice>, PatternError> {
            parts.iter().map(|part| self.splice(part, depth + 1)).collect()
        };
        Ok(match pattern {
            Pattern::Concat(parts) if pattern.has_algebra() => Splice::Concat(many(parts)?),
            Pattern::Alternation(parts) if pattern.has_algebra() => {
                Splice::Alternation(many(parts)?)
            }
            Pattern::Repeat { min, max: Some(max), .. } if min > max => {
                return Err(PatternError::counts_swapped(*min, *max));
            }
            Pattern::Repeat { pattern, min, max } if pattern.has_algebra() => {
                Splice::Repeat(Box::new(self.splice(pattern, depth + 1)?), *min, *max)
            }
            _ => Splice::Leaf(Box::new(self.combination(pattern, depth + 1)?)),
        })
    }

    /// Returns the automaton of all texts.
    fn any_text(&mut self) -> Result<Dfa, PatternError> {
        let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
        self.regular(&Pattern::Regex { pattern: ".*".to_owned(), flags, place: None })
    }
}
