//! The driver: its body is the list of the passes.

use regex_automata::nfa::thompson;
use regex_syntax::hir::Hir;

use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::lexer::algebra;
use crate::lexer::chain::{chain, steps};
use crate::lexer::determinize::{self, Texts};
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::looking;
use crate::lexer::lower::{Folding, Lowered, MAX_DEPTH, Narrowing, lower, lower_whole};
use crate::lexer::made;
use crate::lexer::narrowed::Narrowed;
use crate::lexer::splice::{self, Splice};
use crate::util::meter::Meter;

/// How a pattern becomes Hir.
type Lower = fn(&Pattern, &Meter, &mut Folding, Narrowing) -> Result<Lowered, PatternError>;

/// Makes automata of patterns, one after the other. What depends on Unicode's tables only is made
/// once for all of them.
pub(crate) struct Compiler<'a> {
    meter: &'a Meter,
    folding: Folding,
    thompson: thompson::Compiler,
    /// Whether languages may become smaller.
    may_narrow: bool,
    /// What was narrowed in the patterns since these were asked for last.
    narrowed: Vec<Narrowed>,
}

impl<'a> Compiler<'a> {
    /// For patterns that are within the meter, each by itself.
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

    /// The same where the language of a pattern may be narrowed rather than refused:
    /// [`Compiler::take_narrowed`] tells.
    pub(crate) fn narrowing(meter: &'a Meter) -> Self {
        Self { may_narrow: true, ..Self::new(meter) }
    }

    /// The groups that were narrowed since this was asked last.
    pub(crate) fn take_narrowed(&mut self) -> Vec<Narrowed> {
        std::mem::take(&mut self.narrowed)
    }

    /// The minimal automaton of `pattern`.
    ///
    /// # Errors
    ///
    /// When a regex in it is not one or asks for more than a regular language over the lexeme
    /// alone, and when the automaton exceeds a limit.
    pub(crate) fn compile(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        if !pattern.has_algebra() {
            return self.regular(pattern);
        }
        // What is not in a smaller language is more.
        let may_narrow = std::mem::replace(&mut self.may_narrow, false);
        let combined = self.combination(pattern, 0);
        self.may_narrow = may_narrow;
        combined
    }

    /// The minimal automaton of the texts that `pattern`, a regex, matches as a whole: lazy
    /// repetition says nothing of these.
    ///
    /// # Errors
    ///
    /// As [`Compiler::compile`].
    pub(crate) fn whole(&mut self, pattern: &Pattern) -> Result<Dfa, PatternError> {
        self.narrowed_at_most(pattern, lower_whole)
    }

    /// The automaton of what `lower` makes of `pattern`. Where the opposite of narrowing it comes
    /// to the same, nothing was narrowed.
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

    /// [`Compiler::compile`] where the pattern is a regex by its parts.
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
            return looking::determinize(&nfa, &lowered.looks, lowered.is_lazy, meter);
        }
        self.determinized(&lowered.hir, if lowered.is_lazy { Texts::First } else { Texts::All })
    }

    fn determinized(&self, hir: &Hir, texts: Texts) -> Result<Dfa, PatternError> {
        let nfa = determinize::nondeterministic(&self.thompson, hir, self.meter)?;
        Ok(determinize::determinize(&nfa, texts, self.meter)?.minimize(self.meter)?)
    }

    /// The texts of a pattern that begin with no other of them; `None` where all its texts are
    /// wanted first: it is no plain regex.
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

    /// [`Compiler::compile`] where it takes an algebra: each operand is an automaton of its own.
    fn combination(&mut self, pattern: &Pattern, depth: usize) -> Result<Dfa, PatternError> {
        let meter = self.meter;
        if depth > MAX_DEPTH {
            return Err(PatternError::too_deep(MAX_DEPTH));
        }
        if !pattern.has_algebra() {
            let part = self.regular(pattern)?;
            // Of what an operand asks of the text around it, nothing is known of the whole.
            let asks = part.looks_behind() || !part.conditions().is_empty();
            return if asks { Err(PatternError::asks_within_algebra()) } else { Ok(part) };
        }
        match pattern {
            Pattern::Intersection(parts) => match parts.split_first() {
                None => self.any_text(),
                // Two at a time, so that the product is minimised between.
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
            Pattern::Automaton(automaton) => made::minimal(automaton, meter),
            Pattern::Counted(counted) => Dfa::of_counted(counted, depth > 0, meter),
            Pattern::Schema(_) => Err(PatternError::schema()),
            Pattern::Tokens(tokens) => made::minimal(&tokens.spellings(), meter),
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

    /// How the automata of the parts are put together.
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

    /// The automaton of all texts.
    fn any_text(&mut self) -> Result<Dfa, PatternError> {
        let flags = RegexFlags { dot_all: true, ..RegexFlags::default() };
        self.regular(&Pattern::Regex { pattern: ".*".to_owned(), flags, place: None })
    }
}
