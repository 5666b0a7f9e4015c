//! The terminals of a grammar as automata, and the grammar adjusted to them.

use crate::grammar::Grammar;
use crate::grammar::ir::Terminal;
use crate::grammar::optional::{self, Texts};
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::lexer::{Compiler, Dfa, PatternError, line_ends};
use crate::util::diagnostic::Diagnostic;
use crate::util::meter::{LimitReached, Meter};

/// A DFA for each terminal that has a pattern.
#[derive(Debug)]
pub(super) struct Lexemes {
    pub(super) dfas: Vec<Option<Dfa>>,
    /// Errors of patterns; the terminals concerned have no DFA here.
    pub(super) errors: Vec<Diagnostic>,
    /// Warnings of patterns that were approximated by a smaller language.
    pub(super) warnings: Vec<Diagnostic>,
    /// Whether a limit was reached, so that the tables cannot be built either.
    pub(super) is_given_up: bool,
}

impl Lexemes {
    /// Compiles the patterns of `grammar`.
    pub(super) fn compile(grammar: &Grammar, meter: &Meter) -> Self {
        let mut compiler = Compiler::narrowing(meter);
        let mut lexemes = Self {
            dfas: Vec::with_capacity(grammar.terminals.len()),
            errors: Vec::new(),
            warnings: Vec::new(),
            is_given_up: false,
        };
        for terminal in &grammar.terminals {
            let begun = meter.cost().steps;
            let compiled = terminal.pattern.as_ref().map(|pattern| {
                let dfa = compiler.compile(pattern)?;
                meter.keep(dfa.bytes())?;
                Ok(dfa)
            });
            meter.took(&terminal.name, meter.cost().steps - begun);
            for narrowed in compiler.take_narrowed() {
                let place = terminal.place.as_ref();
                lexemes.warnings.push(narrowed.into_diagnostic(&terminal.shown(), place));
            }
            let dfa = match compiled {
                Some(Ok(dfa)) if dfa.asks_around_empty() => {
                    lexemes.errors.push(asks_around_empty(terminal));
                    None
                }
                Some(Ok(dfa)) => Some(dfa),
                Some(Err::<_, PatternError>(error)) => {
                    lexemes.is_given_up = error.limit().is_some_and(LimitReached::ends_building);
                    let place = terminal.place.as_ref();
                    lexemes.errors.push(error.into_diagnostic(&terminal.shown(), place));
                    None
                }
                None => None,
            };
            lexemes.dfas.push(dfa);
            if lexemes.is_given_up {
                break;
            }
        }
        lexemes
    }

    /// Adjusts the grammar and the DFAs to the patterns: afterwards each terminal has lexemes, none
    /// of them is empty, and the terminal that ends lines matches nothing else. `None` if that
    /// holds already.
    ///
    /// # Errors
    ///
    /// Findings, if nothing is left of the grammar.
    pub(super) fn settle(
        &mut self,
        grammar: &Grammar,
        meter: &Meter,
    ) -> Result<Option<Grammar>, Vec<Diagnostic>> {
        let narrowed = self.narrow_newline(grammar, meter);
        let grammar = narrowed.as_ref().unwrap_or(grammar);
        let texts: Vec<Texts> =
            self.dfas.iter().map(|dfa| dfa.as_ref().map_or(Texts::Lexemes, texts)).collect();
        if texts.iter().all(|&texts| texts == Texts::Lexemes) {
            return Ok(narrowed);
        }
        let settled = optional::without_empty(grammar, &texts)?;
        // The remaining terminals keep their order.
        let mut all = grammar.terminals.iter().zip(std::mem::take(&mut self.dfas));
        let dfa = |terminal: &Terminal| {
            let (_, dfa) = all.find(|(old, _)| old.name == terminal.name)?;
            dfa.filter(|_| terminal.pattern.is_some()).map(|dfa| dfa.without_empty())
        };
        self.dfas = settled.terminals.iter().map(dfa).collect();
        Ok(Some(settled))
    }

    /// Narrows a line-end terminal that also matches blank lines, comments or the next line's
    /// blanks to the line end alone: the rest is ignored there anyway, with the same effect.
    fn narrow_newline(&mut self, grammar: &Grammar, meter: &Meter) -> Option<Grammar> {
        let index = grammar.indentation.as_ref()?.newline.index();
        let newline = self.dfas[index].as_ref()?;
        if newline.looks_behind()
            || !newline.conditions().is_empty()
            || !BLANKS.iter().any(|&blank| newline.uses(blank))
        {
            return None;
        }
        let mut compiler = Compiler::new(meter);
        let mut of = |regex: &str| {
            let (pattern, flags) = (regex.to_owned(), RegexFlags::default());
            let pattern = Pattern::Regex { pattern, flags, place: None };
            compiler.compile(&pattern).ok().map(|dfa| (pattern, dfa))
        };
        let blanks = of(r"[ \t\f]")?.1;
        let ignored =
            grammar.terminals.iter().zip(&self.dfas).filter(|(terminal, _)| terminal.ignored);
        let certain = ignored.filter_map(|(_, dfa)| {
            dfa.as_ref().filter(|dfa| !dfa.looks_behind() && dfa.conditions().is_empty())
        });
        let ignored: Vec<Dfa> = certain.map(Dfa::without_empty).collect();
        let beside: Vec<&Dfa> =
            std::iter::once(&blanks).chain(ignored.iter().filter(|dfa| !dfa.is_empty())).collect();
        let ends = line_ends(newline, &beside)?;
        let regex =
            ends.iter().map(|end| end.escape_default().to_string()).collect::<Vec<_>>().join("|");
        let (pattern, dfa) = of(&regex)?;
        self.dfas[index] = Some(dfa);
        let mut narrowed = grammar.clone();
        let terminal = &mut narrowed.terminals[index];
        terminal.pattern = Some(pattern);
        let name = &terminal.name;
        let message = format!(
            "{name} also matches blanks or comments next to the line end; it is read as the line \
             end alone"
        );
        let finding = Diagnostic::warning("newline-with-blanks", message)
            .at(terminal.place.clone())
            .help(format!(
                "write `{name}: /{regex}/`: blank lines and comments are skipped in any case, and \
                 the blanks at the start of a line are its indentation"
            ));
        narrowed.warnings.push(finding);
        Some(narrowed)
    }
}

/// Returns the error for a terminal whose empty match depends on a look-around: without a lexeme
/// there is nothing to check the condition.
fn asks_around_empty(terminal: &Terminal) -> Diagnostic {
    let message = format!(
        "terminal {} matches the empty text where a look-around allows it",
        terminal.shown()
    );
    Diagnostic::error("empty-terminal", message)
        .at(terminal.place.clone())
        .help("make it match at least one character, and write `?` where the terminal is used")
}

/// The bytes that count towards the width of indentation.
const BLANKS: [u8; 3] = *b" \t\x0c";

/// Classifies the texts that the terminal of this DFA matches.
fn texts(dfa: &Dfa) -> Texts {
    if dfa.is_empty() {
        Texts::Nothing
    } else if !dfa.accepts_empty() {
        Texts::Lexemes
    } else if dfa.without_empty().is_empty() {
        Texts::Empty
    } else {
        Texts::LexemesAndEmpty
    }
}
