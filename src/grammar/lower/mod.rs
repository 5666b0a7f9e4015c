//! From the syntax tree to the IR: the passes, in order, each with its postcondition.

mod assemble;
mod attributes;
mod counted;
mod dialect;
mod directives;
pub(in crate::grammar) mod expand;
mod imports;
mod indenter;
mod lexeme;
mod library;
mod load;
mod regexes;
mod resolve;
mod rust_regex;
mod similar;
mod skips;
pub(in crate::grammar) mod source;
mod stops;
pub(in crate::grammar) mod substring;
mod table;
mod templates;
mod terminals;
#[cfg(test)]
mod tests;
pub(in crate::grammar) mod tree;

use std::sync::Arc;

use crate::grammar::analysis::{self, Report};
use crate::grammar::{Grammar, GrammarError};
use crate::util::diagnostic::{Diagnostic, Severity};
use crate::util::limits::Limits;
use crate::util::meter::{Meter, Phase};

pub(crate) use self::imports::Imports;
pub(crate) use self::similar::did_you_mean;

use self::library::Library;
use self::source::Sources;
use self::table::TerminalTable;

/// Steps for a word of a file, which is lexed, parsed, resolved and lowered.
const STEPS_OF_A_WORD: usize = 60;
/// Bytes for a word, which is in several of these structures at once.
const BYTES_OF_A_WORD: usize = 250;

/// Maximum number of findings that are kept; further ones are only counted.
const MAX_FINDINGS: usize = 100;

/// Lowers the grammar file `text`, called `name` by its caller; `imports` provides imported files.
/// `start` is the start rule, unless the file decides.
pub(crate) fn lower(
    text: &str,
    name: &str,
    imports: &Imports<'_>,
    start: Option<&str>,
    limits: &Limits,
) -> Result<Grammar, GrammarError> {
    let mut context = Context::named(name, limits);
    let library = load::load(&mut context, text, name, imports)?;
    lower_library(context, library, start)
}

/// Lowers a `.y` file and the file of its terminals.
pub(crate) fn lower_yacc(
    grammar: &str,
    terminals: &str,
    limits: &Limits,
) -> Result<Grammar, GrammarError> {
    let mut context = Context::named("<grammar>", limits);
    let library = load::load_yacc(&mut context, grammar, terminals)?;
    lower_library(context, library, None)
}

/// Lowers the rules of a `.y` file without terminals.
pub(crate) fn lower_yacc_rules(grammar: &str, limits: &Limits) -> Result<Grammar, GrammarError> {
    let mut context = Context::named("<grammar>", limits);
    let library = load::load_yacc_rules(&mut context, grammar)?;
    lower_library(context, library, None)
}

fn lower_library(
    mut context: Context,
    library: Library,
    start: Option<&str>,
) -> Result<Grammar, GrammarError> {
    context.check()?;
    // HERE: every file is read, and every name that it defines or imports is in its scope, once.

    let mut resolved = resolve::resolve(&mut context, library);
    context.check()?;
    // AFTER THIS: no names in bodies, only numbers; only rules that the file itself depends on.

    stops::join(&mut context, &mut resolved);
    // AFTER THIS: the end of a rule is part of neither it nor the string after it.

    let names: Vec<String> =
        resolved.terminals.iter().map(|terminal| terminal.name.clone()).collect();
    let mut rules = templates::instantiate(&mut context, resolved.rules, &names);
    context.check()?;
    // AFTER THIS: no templates.

    let patterns = terminals::check(&mut context, &resolved.terminals);
    let patterns = context.checked(patterns)?;
    // AFTER THIS: every terminal can be written out as one pattern.

    let mut table = TerminalTable::new(&resolved.terminals, patterns);
    table.replace_leaves(&mut context, &mut rules);
    // AFTER THIS: no strings and no regexes in rules, only symbols, groups and repetitions.

    let ignored =
        skips::place(&mut context, &mut table, &mut rules, &resolved.ignores, resolved.skip_once);
    let ignored = context.checked(ignored)?;
    // AFTER THIS: ignored terminals are ignored everywhere, or occur in the rules.

    let productions = expand::expand(&mut context, &rules);
    context.check()?;
    // AFTER THIS: plain productions.

    let directions = directives::direct(
        &mut context,
        &resolved.directives,
        &resolved.terminal_names,
        &mut table,
    );
    context.check()?;
    // AFTER THIS: every word that a directive names is a terminal.

    let starts = match start {
        Some(start) => {
            assemble::start(&mut context, start, true, None, &resolved.rule_names, &rules)
                .map(|rule| vec![rule])
        }
        None => assemble::starts(&mut context, &directions, &resolved.rule_names, &rules),
    };
    let starts = context.checked(starts)?;
    let parts = assemble::Lowered {
        rules: &rules,
        productions,
        directions,
        ignores: &resolved.ignores,
        ignored,
        is_dialect: resolved.is_dialect,
        terminal_names: &resolved.terminal_names,
        starts,
    };
    let untrimmed = assemble::assemble(&mut context, table, &parts);
    let mut untrimmed = context.checked(untrimmed)?;
    // AFTER THIS: an IR with every rule of the file, and every terminal that any of them can use.

    let report = if start.is_some() { Report::Reached } else { Report::All };
    let start = untrimmed.start;
    untrimmed.warnings = context.sorted();
    let trimmed = analysis::trim(&Arc::new(untrimmed), start, report);
    trimmed.map(|grammar| Grammar { cost: context.meter.cost(), ..grammar })
    // AFTER THIS: only what the start symbol reaches, and all of that derives some text.
}

/// State shared by all passes: the texts, for places, and the findings.
#[derive(Debug)]
pub(crate) struct Context {
    main: Arc<str>,
    pub(in crate::grammar) sources: Sources,
    findings: Vec<Diagnostic>,
    /// Number of findings beyond the limit.
    more: usize,
    errors: bool,
    pub(in crate::grammar) meter: Meter,
}

impl Context {
    /// Creates the context of the file that its caller calls `name`.
    pub(in crate::grammar) fn named(name: &str, limits: &Limits) -> Self {
        Self {
            main: name.into(),
            sources: Sources::default(),
            findings: Vec::new(),
            more: 0,
            errors: false,
            meter: Meter::new(limits),
        }
    }

    /// Counts a file before it is read: its bytes, and the estimated size of its tree.
    pub(in crate::grammar) fn count_file(&mut self, text: &str) -> Result<(), GrammarError> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let mut last = b' ';
        let mut words = 0;
        for byte in text.bytes() {
            let goes_on = byte == last || is_letter(byte) && is_letter(last);
            words += usize::from(!goes_on && byte != b' ');
            last = byte;
        }
        let meter = &self.meter;
        let counted = meter
            .input(text.len())
            .and_then(|()| meter.step(text.len() + STEPS_OF_A_WORD * words))
            .and_then(|()| meter.keep(2 * text.len() + BYTES_OF_A_WORD * words));
        counted
            .map_err(|limit| GrammarError::from(Diagnostic::of_limit("grammar-too-large", limit)))
    }

    /// Counts the work and memory of a pass; exceeding a limit is an error. Returns whether it may
    /// continue.
    pub(in crate::grammar) fn count(&mut self, steps: usize, bytes: usize) -> bool {
        let meter = self.meter.at(Phase::Lowering);
        let counted = meter.step(steps).and_then(|()| meter.keep(bytes));
        if let Err(limit) = counted {
            self.report(Diagnostic::of_limit("grammar-too-large", limit));
            return false;
        }
        true
    }

    /// Records a finding. An error stops the lowering after the pass.
    pub(in crate::grammar) fn report(&mut self, finding: Diagnostic) {
        let error = finding.severity == Severity::Error;
        if self.findings.len() < MAX_FINDINGS || error && !self.errors {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
        self.errors |= error;
    }

    /// Returns an error if one was reported.
    pub(in crate::grammar) fn check(&mut self) -> Result<(), GrammarError> {
        if self.errors { Err(GrammarError::new(self.sorted())) } else { Ok(()) }
    }

    /// Returns the result of a pass that may stop early; `None` means that it reported an error.
    pub(in crate::grammar) fn checked<T>(&mut self, given: Option<T>) -> Result<T, GrammarError> {
        match given {
            Some(value) if !self.errors => Ok(value),
            _ => Err(GrammarError::new(self.sorted())),
        }
    }

    /// Returns the findings in the order of the file itself, followed by those in imported files.
    pub(in crate::grammar) fn sorted(&mut self) -> Vec<Diagnostic> {
        let mut findings = std::mem::take(&mut self.findings);
        findings.sort_by_cached_key(|finding| {
            finding
                .place
                .as_ref()
                .map(|place| (place.source != self.main, place.source.clone(), place.span.start))
        });
        if self.more > 0 {
            let message = format!("{} more findings are not shown", self.more);
            findings.push(Diagnostic::warning("more-findings", message));
        }
        findings
    }
}
