//! A compiled grammar: tables, DFAs and the proof that viable texts can be completed. It is
//! independent of any vocabulary.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::Constraint;
use super::disjoint;
use super::empty;
use super::lexemes::Lexemes;
use crate::grammar::inline_unbalanced;
use crate::grammar::ir::Terminal;
use crate::grammar::pattern::Pattern;
use crate::grammar::specialize_in_brackets;
use crate::grammar::words;
use crate::grammar::{Grammar, GrammarError};
use crate::index::Index;
use crate::lr::table::ParseTable;
use crate::matcher::{Listener, Matcher};
use crate::scanner::{Bounds, Lexis, Marks, Scanner, check};
use crate::schema::{self, SchemaOptions};
use crate::util::diagnostic::{self, Diagnostic};
use crate::util::limits::Limits;
use crate::util::meter::{Cost, Meter, Phase};
use crate::vocab::Vocabulary;

/// A compiled grammar, which can be joined with any number of vocabularies.
#[derive(Clone)]
pub struct CompiledGrammar {
    pub(super) scanner: Arc<Scanner>,
    pub(super) grammar: Arc<Grammar>,
    pub(super) marks: Option<Arc<Marks>>,
    /// The grammar as it was given, for saving.
    pub(super) given: Arc<Grammar>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) limits: Limits,
    pub(super) cost: Cost,
}

/// Size of a compiled grammar, after desugaring: repetitions and groups are nonterminals here.
/// Displayed on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrammarSize {
    /// Number of terminals, including ignored ones.
    pub terminals: usize,
    /// Number of nonterminals.
    pub nonterminals: usize,
    /// Number of productions: alternatives of nonterminals.
    pub productions: usize,
    /// Number of states of the LALR(1) automaton.
    pub parse_states: usize,
    /// Number of scan states created so far.
    pub scan_states: usize,
}

impl fmt::Display for GrammarSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terminals, nonterminals, productions, parse_states, scan_states } = *self;
        let counts = [
            (terminals, "terminal"),
            (nonterminals, "nonterminal"),
            (productions, "production"),
            (parse_states, "parse state"),
            (scan_states, "scan state"),
        ];
        for (place, (count, what)) in counts.into_iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            let s = if count == 1 { "" } else { "s" };
            write!(f, "{comma}{count} {what}{s}")?;
        }
        Ok(())
    }
}

/// A product of compilation that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The lowered grammar: productions and terminals.
    Grammar,
    /// The parse states with their items and actions.
    States,
    /// The terminals' DFAs and the scan states.
    Scanner,
}

impl CompiledGrammar {
    /// Compiles `grammar` with the default [`Limits`].
    ///
    /// # Errors
    ///
    /// If the engine cannot represent the grammar exactly, or a limit is exceeded.
    pub fn new(grammar: &Grammar) -> Result<Self, GrammarError> {
        Constraint::builder().compile(grammar)
    }

    /// Compiles `grammar` within `limits`.
    pub(super) fn compile(grammar: &Grammar, limits: &Limits) -> Result<Self, GrammarError> {
        let meter = Meter::after(grammar.cost, limits);
        Self::compile_lists(grammar, limits, true, &meter)
    }

    /// Compiles `grammar` within `limits`. If `follows` is set, distinct items are enforced in
    /// lists of schemas; if lexemes of these lists could also be other terminals, compilation is
    /// repeated without.
    fn compile_lists(
        grammar: &Grammar,
        limits: &Limits,
        follows: bool,
        meter: &Meter,
    ) -> Result<Self, GrammarError> {
        let lexer = meter.at(Phase::Lexer);
        let given = grammar;
        let written = schema::write_out(grammar, &SchemaOptions::default(), follows, meter)
            .map_err(|errors| GrammarError::beside(errors, grammar.warnings().to_vec()))?;
        let grammar = written.as_ref().unwrap_or(grammar);
        let paired = inline_unbalanced::written_out(grammar);
        let grammar = paired.as_ref().unwrap_or(grammar);
        let bracketed = specialize_in_brackets::without_lines(grammar);
        let grammar = bracketed.as_ref().unwrap_or(grammar);
        let listed = words::written_out(grammar);
        let grammar = listed.as_ref().unwrap_or(grammar);
        let mut lexemes = Lexemes::compile(grammar, &lexer);
        if !lexemes.errors.is_empty() {
            // The tables depend on the rules alone, so their errors are reported together with
            // those of the patterns.
            let table = (!lexemes.is_given_up)
                .then(|| ParseTable::build(grammar, &meter.at(Phase::Tables)));
            let (errors, warnings) = match table.transpose() {
                Ok(None) => (Vec::new(), Vec::new()),
                Ok(Some(table)) => (Vec::new(), table.warnings().to_vec()),
                Err(error) => (error.into_diagnostics(), Vec::new()),
            };
            let errors = [lexemes.errors, errors].concat();
            return Err(GrammarError::beside(errors, [grammar.warnings(), &warnings].concat()));
        }
        let settled = lexemes.settle(grammar, &lexer);
        let settled =
            settled.map_err(|errors| GrammarError::beside(errors, grammar.warnings().to_vec()))?;
        let grammar = settled.unwrap_or_else(|| grammar.clone());
        let tables = meter.at(Phase::Tables);
        let (grammar, dfas, table) = match &written {
            Some(_) => disjoint::take_apart_in_rows(grammar, lexemes.dfas, &lexer, &tables),
            None => {
                let (grammar, dfas) = disjoint::take_apart(grammar, lexemes.dfas, &lexer);
                (grammar, dfas, None)
            }
        };
        let grammar = Arc::new(grammar);
        let mut warnings = [grammar.warnings(), &lexemes.warnings].concat();
        let table = table.map_or_else(|| ParseTable::build(&grammar, &tables), Ok);
        let table = table
            .map_err(|error| GrammarError::beside(error.into_diagnostics(), warnings.clone()))?;
        let is_embedded = written.is_some() && follows;
        if is_embedded && !disjoint::are_apart_in_lists(&grammar, &table, &dfas, &lexer) {
            return Self::compile_lists(given, limits, false, meter);
        }
        if grammar.has_usual_start() {
            // Rules that another start symbol leaves unused are needed by the usual one.
            warnings.extend_from_slice(table.warnings());
        }
        let lexis = Lexis::new(&grammar, table, dfas);
        let (proof, findings) = check::check(&grammar, &lexis, limits, &meter.at(Phase::Check))
            .map_err(|errors| GrammarError::beside(errors, warnings.clone()))?;
        warnings.extend(findings);
        let scanner = Scanner::new(lexis, proof, limits.bounds());
        if !scanner.has_sentences() {
            let error = match scanner.undecided() {
                0 => empty::empty_language(&grammar, &scanner),
                _ => empty::undecided_language(limits),
            };
            return Err(GrammarError::beside(vec![error], warnings));
        }
        let marks = Marks::new(&grammar, &lexer);
        let marks = marks
            .map_err(|error| GrammarError::beside(vec![*error], warnings.clone()))?
            .map(Arc::new);
        let warnings = diagnostic::fold(warnings);
        let cost = meter.cost();
        Ok(Self {
            marks,
            scanner: Arc::new(scanner),
            grammar,
            given: Arc::new(given.clone()),
            warnings,
            limits: limits.clone(),
            cost,
        })
    }

    /// Returns the constraint of this grammar for `vocabulary`. Costs a copy of the vocabulary's
    /// handle; if the grammar names tokens of the vocabulary (`<|name|>`, `<[7]>`), the
    /// vocabulary's trie is rebuilt.
    ///
    /// # Errors
    ///
    /// If the vocabulary lacks a token that the grammar names, since the text for it could never be
    /// written. The error includes the warnings.
    pub fn constraint(&self, vocabulary: &Vocabulary) -> Result<Constraint, GrammarError> {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.unspellable(vocabulary));
        let missing = self.missing(vocabulary);
        if !missing.is_empty() {
            return Err(GrammarError::beside(missing, warnings));
        }
        warnings.extend(self.written_as_text(vocabulary));
        let index = Arc::new(self.index(vocabulary));
        Ok(Constraint { compiled: self.clone(), index, warnings, lookahead: None, canonical: None })
    }

    /// Creates a matcher for texts, without a vocabulary: it takes bytes by
    /// [`Matcher::advance_bytes`], and each byte as the token with that id. Tokens that the grammar
    /// names occur in no text. Costs the trie of 256 tokens; [`Clone`] and [`Matcher::reset`]
    /// create further ones.
    ///
    /// ```
    /// use lrmask::{CompiledGrammar, Grammar};
    ///
    /// let compiled = CompiledGrammar::new(&Grammar::from_lark("start: \"a\" [\"b\" <|end|>]")?)?;
    /// let mut matcher = compiled.matcher();
    /// matcher.advance_bytes(b"a")?;
    /// assert!(matcher.is_accepting());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn matcher(&self) -> Matcher {
        Matcher::new(Arc::new(self.index(&Vocabulary::single_bytes())))
    }

    /// Creates a listener that follows a text without a vocabulary: see
    /// [`Constraint::listener`](super::Constraint::listener).
    pub fn listener(&self) -> Listener {
        Listener::new(Arc::new(self.index(&Vocabulary::single_bytes())))
    }

    fn index(&self, vocabulary: &Vocabulary) -> Index {
        let (scanner, marks) = (self.scanner.clone(), self.marks.clone());
        Index::new(scanner, self.spelled(vocabulary), self.limits.index_bytes, marks)
    }

    /// Returns the [fingerprint](Grammar::fingerprint) of the grammar before compilation. Costs the
    /// grammar's size.
    pub fn fingerprint(&self) -> u64 {
        self.given.fingerprint()
    }

    /// Returns the cost of reading and compiling the grammar.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Returns the number of questions whether a text can be completed that were given up: see
    /// [`Constraint::undecided`]. All constraints and matchers of one compiled grammar count
    /// together.
    pub fn undecided(&self) -> usize {
        self.scanner.undecided()
    }

    /// Returns the heap bytes that remained in use after compilation.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.cost.kept).unwrap_or(usize::MAX)
    }

    /// Returns the warnings for the grammar's author.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Returns counts for people: terminals, nonterminals, productions, parse states, scan states
    /// created so far.
    pub fn size(&self) -> GrammarSize {
        GrammarSize {
            terminals: self.grammar.terminals.len(),
            nonterminals: self.grammar.nonterminals.len(),
            productions: self.grammar.productions.len(),
            parse_states: self.scanner.table().state_count(),
            scan_states: self.scanner.states().len(),
        }
    }

    /// Prints a product of compilation. The format is for people and may change.
    pub fn print(&self, stage: Stage) -> String {
        match stage {
            Stage::Grammar => self.grammar.to_string(),
            Stage::States => self.scanner.table().to_string(),
            Stage::Scanner => {
                let mut text = String::new();
                for (terminal, dfa) in
                    self.grammar.terminals.iter().zip(self.scanner.states().dfas())
                {
                    if let Some(dfa) = dfa {
                        let _ = writeln!(text, "{}\n{dfa}", terminal.name);
                    }
                }
                text
            }
        }
    }

    /// Warns of bytes that the grammar uses and no single-byte token of the vocabulary spells: if
    /// they occur only inside longer tokens, a viable text may have no completion in the
    /// vocabulary.
    fn unspellable(&self, vocabulary: &Vocabulary) -> Option<Diagnostic> {
        let missing = vocabulary.unspellable_bytes();
        let is_text = |terminal: &Terminal| !matches!(terminal.pattern, Some(Pattern::Tokens(_)));
        let is_used = |byte: u8| {
            let mut dfas = self.scanner.states().dfas().iter().zip(&self.grammar.terminals);
            dfas.any(|(dfa, terminal)| {
                is_text(terminal) && dfa.as_ref().is_some_and(|dfa| dfa.uses(byte))
            })
        };
        let bytes: Vec<String> = (0..=255u8)
            .filter(|&byte| missing[usize::from(byte)] && is_used(byte))
            .map(|byte| match byte {
                0x21..=0x7e => format!("`{}`", char::from(byte)),
                _ => format!("0x{byte:02X}"),
            })
            .collect();
        if bytes.is_empty() {
            return None;
        }
        Some(
            Diagnostic::warning(
                "unspellable-bytes",
                format!("the grammar uses {} bytes that no single token spells", bytes.len()),
            )
            .example(bytes.join(" "))
            .help(
                "masks stay exact, but a viable text may have no token that continues it; use a \
                 vocabulary with byte fallback",
            ),
        )
    }
}

impl Limits {
    /// Returns the limits that apply while texts are read.
    fn bounds(&self) -> Bounds {
        let Self { decision_steps, mask_steps, readings, reading_steps, .. } = *self;
        Bounds { decision_steps, mask_steps, readings: readings.max(1), reading_steps }
    }
}

impl fmt::Debug for CompiledGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledGrammar").field("size", &self.size()).finish_non_exhaustive()
    }
}
