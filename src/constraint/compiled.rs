//! A grammar compiled: tables, DFAs and the proof that what is viable can be completed. No vocabulary yet.

use std::fmt::Write as _;
use std::sync::Arc;

use super::empty;
use super::{BuildError, Constraint, Limits};
use crate::grammar::Grammar;
use crate::grammar::ir::Terminal;
use crate::grammar::optional::{self, Texts};
use crate::index::Index;
use crate::lexer::{Compiler, Dfa, LexerLimits, PatternError};
use crate::lr::table::ParseTable;
use crate::scanner::{Lexis, Scanner, check};
use crate::util::diagnostic::Diagnostic;
use crate::vocab::Vocabulary;

/// A grammar compiled, to be joined with any number of vocabularies.
#[derive(Clone, Debug)]
pub struct CompiledGrammar {
    pub(super) scanner: Arc<Scanner>,
    pub(super) grammar: Arc<Grammar>,
    /// Of the grammar as it was given, which may have had terminals that match the empty text.
    pub(super) fingerprint: u64,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) limits: Limits,
}

/// A product of compilation that can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The grammar, lowered: productions and terminals.
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
    /// When the engine cannot do the grammar exactly, or a limit is exceeded.
    pub fn new(grammar: &Grammar) -> Result<Self, BuildError> {
        Self::with_limits(grammar, Limits::default())
    }

    /// Compiles `grammar` within `limits`.
    ///
    /// # Errors
    ///
    /// When the engine cannot do the grammar exactly, or a limit is exceeded.
    pub fn with_limits(grammar: &Grammar, limits: Limits) -> Result<Self, BuildError> {
        let (dfas, errors) = compile_terminals(grammar, &limits);
        if !errors.is_empty() {
            // The tables are made of the rules alone: what they say is not to wait for the patterns.
            let (error, warnings) = match ParseTable::build(grammar) {
                Ok(table) => (Vec::new(), table.warnings().to_vec()),
                Err(error) => (error.into_diagnostics(), Vec::new()),
            };
            return Err(BuildError::beside(
                [errors, error].concat(),
                [grammar.warnings(), &warnings].concat(),
            ));
        }
        let (grammar, dfas, fingerprint) = lexemes(grammar, dfas)?;
        let mut warnings = grammar.warnings().to_vec();
        let table = ParseTable::build(&grammar)
            .map_err(|error| BuildError::beside(error.into_diagnostics(), warnings.clone()))?;
        if grammar.has_usual_start() {
            // What another start leaves unused is of use to the usual one.
            warnings.extend_from_slice(table.warnings());
        }
        let lexis = Lexis::new(&grammar, table, dfas);
        let (proof, findings) = check::check(&grammar, &lexis, limits.scan_states, limits.proof_steps)
            .map_err(|errors| BuildError::beside(errors, warnings.clone()))?;
        warnings.extend(findings);
        let scanner = Scanner::new(lexis, proof, limits.bounds());
        if !scanner.has_sentences() {
            let error = match scanner.undecided() {
                0 => empty::empty_language(&grammar, &scanner),
                _ => empty::undecided_language(&limits),
            };
            return Err(BuildError::beside(vec![error], warnings));
        }
        Ok(Self { scanner: Arc::new(scanner), grammar: Arc::new(grammar), fingerprint, warnings, limits })
    }

    /// The constraint that the grammar puts on `vocabulary`. Costs a copy of the vocabulary's handle.
    pub fn constraint(&self, vocabulary: &Vocabulary) -> Constraint {
        let mut warnings = self.warnings.clone();
        warnings.extend(self.unspellable(vocabulary));
        let index = Index::new(self.scanner.clone(), vocabulary.clone(), self.limits.index_bytes);
        Constraint { compiled: self.clone(), index: Arc::new(index), warnings }
    }

    /// The [fingerprint](Grammar::fingerprint) of the grammar that was compiled.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// What the grammar's author should know.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Counts for people: terminals, nonterminals, productions, parse states, scan states met so far.
    pub fn summary(&self) -> String {
        format!(
            "{} terminals, {} nonterminals, {} productions, {} parse states, {} scan states",
            self.grammar.terminals.len(),
            self.grammar.nonterminals.len(),
            self.grammar.productions.len(),
            self.scanner.table().state_count(),
            self.scanner.states().len(),
        )
    }

    /// Prints a product of compilation. The form is for people and may change.
    pub fn print(&self, stage: Stage) -> String {
        match stage {
            Stage::Grammar => self.grammar.to_string(),
            Stage::States => self.scanner.table().to_string(),
            Stage::Scanner => {
                let mut text = String::new();
                for (terminal, dfa) in self.grammar.terminals.iter().zip(self.scanner.states().dfas()) {
                    if let Some(dfa) = dfa {
                        let _ = writeln!(text, "{}\n{dfa}", terminal.name);
                    }
                }
                text
            }
        }
    }

    /// Bytes that the grammar uses and no single-byte token of the vocabulary spells: where they occur only
    /// inside longer tokens, a text may be viable that the vocabulary cannot complete.
    fn unspellable(&self, vocabulary: &Vocabulary) -> Option<Diagnostic> {
        let missing = vocabulary.unspellable_bytes();
        let mut used = [false; 256];
        for dfa in self.scanner.states().dfas().iter().flatten() {
            (0..=255).for_each(|byte| used[usize::from(byte)] |= dfa.uses(byte));
        }
        let bytes: Vec<String> = (0..=255u8)
            .filter(|&byte| missing[usize::from(byte)] && used[usize::from(byte)])
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
                format!("no single token spells these {} bytes that the grammar uses", bytes.len()),
            )
            .example(bytes.join(" "))
            .help("masks stay exact, but a viable text may have no token that goes on; use a vocabulary with byte fallback"),
        )
    }
}

/// A DFA for each terminal that has a pattern, and what is wrong with patterns.
fn compile_terminals(grammar: &Grammar, limits: &Limits) -> (Vec<Option<Dfa>>, Vec<Diagnostic>) {
    let lexer_limits = LexerLimits { states: limits.terminal_states, ..LexerLimits::default() };
    let mut compiler = Compiler::new(&lexer_limits);
    let mut dfas = Vec::with_capacity(grammar.terminals.len());
    let mut errors = Vec::new();
    for terminal in &grammar.terminals {
        let dfa = terminal.pattern.as_ref().and_then(|pattern| {
            let refused =
                |error: PatternError| error.into_diagnostic(&terminal.name, terminal.place.as_ref());
            compiler.compile(pattern).map_err(|error| errors.push(refused(error))).ok()
        });
        dfas.push(dfa);
    }
    (dfas, errors)
}

/// The grammar whose terminals all have lexemes, none of them empty; their DFAs; and the fingerprint of the grammar as it was
/// given.
fn lexemes(
    grammar: &Grammar,
    dfas: Vec<Option<Dfa>>,
) -> Result<(Grammar, Vec<Option<Dfa>>, u64), BuildError> {
    let texts = |dfa: &Option<Dfa>| match dfa {
        Some(dfa) if dfa.is_empty() => Texts::Nothing,
        Some(dfa) if dfa.accepts_empty() && dfa.without_empty().is_empty() => Texts::Empty,
        Some(dfa) if dfa.accepts_empty() => Texts::LexemesAndEmpty,
        _ => Texts::Lexemes,
    };
    let texts: Vec<Texts> = dfas.iter().map(texts).collect();
    let fingerprint = grammar.fingerprint();
    if texts.iter().all(|&texts| texts == Texts::Lexemes) {
        return Ok((grammar.clone(), dfas, fingerprint));
    }
    let given = grammar;
    let grammar = optional::without_empty(given, &texts)
        .map_err(|findings| BuildError::beside(findings, given.warnings().to_vec()))?;
    // Terminals that are left stand in their order.
    let mut all = given.terminals.iter().zip(dfas);
    let dfa = |terminal: &Terminal| {
        let (_, dfa) = all.find(|(old, _)| old.name == terminal.name)?;
        dfa.filter(|_| terminal.pattern.is_some()).map(|dfa| dfa.without_empty())
    };
    let dfas = grammar.terminals.iter().map(dfa).collect();
    Ok((grammar, dfas, fingerprint))
}
