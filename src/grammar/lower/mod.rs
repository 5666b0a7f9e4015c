//! From the syntax tree to the IR: the passes, in order, each with what holds after it.

mod assemble;
mod attributes;
mod counted;
mod dialect;
mod directives;
pub(in crate::grammar) mod expand;
mod indenter;
mod lexeme;
mod load;
mod resolve;
mod similar;
mod skips;
pub(in crate::grammar) mod source;
mod stops;
mod substring;
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

pub(crate) use self::similar::did_you_mean;

use self::load::{Library, Reader};
use self::source::Sources;
use self::table::TerminalTable;

/// Findings beyond this many are not kept; their number is.
const MAX_FINDINGS: usize = 100;

/// Lowers the grammar file `text`, which its caller calls `name`; `reader` gives the files it
/// imports. `start` is the rule that a text is, if it is not for the file to say.
pub(crate) fn lower(
    text: &str,
    name: &str,
    reader: &Reader<'_>,
    start: Option<&str>,
) -> Result<Grammar, GrammarError> {
    let mut context = Context::named(name);
    let library = load::load(&mut context, text, name, reader)?;
    lower_library(context, library, start)
}

/// Lowers a `.y` file and the file of its terminals.
pub(crate) fn lower_yacc(grammar: &str, terminals: &str) -> Result<Grammar, GrammarError> {
    let mut context = Context::named("<grammar>");
    let library = load::load_yacc(&mut context, grammar, terminals)?;
    lower_library(context, library, None)
}

/// Lowers the rules of a `.y` file alone.
pub(crate) fn lower_yacc_rules(grammar: &str) -> Result<Grammar, GrammarError> {
    let mut context = Context::named("<grammar>");
    let library = load::load_yacc_rules(&mut context, grammar)?;
    lower_library(context, library, None)
}

fn lower_library(
    mut context: Context,
    library: Library,
    start: Option<&str>,
) -> Result<Grammar, GrammarError> {
    context.check()?;
    // HERE: every file is read, and every name it defines or imports is in its scope, once.

    let mut resolved = resolve::resolve(&mut context, library);
    context.check()?;
    // AFTER THIS: no names in bodies, only numbers; nothing that the file itself does not lead to.

    stops::join(&mut context, &mut resolved);
    // AFTER THIS: what ends a rule is no part of it, or of the string behind it.

    let names: Vec<String> = resolved.terminals.iter().map(|terminal| terminal.name.clone()).collect();
    let mut rules = templates::instantiate(&mut context, resolved.rules, &names);
    context.check()?;
    // AFTER THIS: no templates.

    let patterns = terminals::check(&mut context, &resolved.terminals);
    let patterns = context.checked(patterns)?;
    // AFTER THIS: every terminal can be written out as one pattern.

    let mut table = TerminalTable::new(&resolved.terminals, patterns);
    table.replace_leaves(&mut context, &mut rules);
    // AFTER THIS: no strings and no regexes in rules, only symbols, groups and repetitions.

    let ignored = skips::place(&mut context, &mut table, &mut rules, &resolved.ignores, resolved.skip_once);
    let ignored = context.checked(ignored)?;
    // AFTER THIS: what is ignored is so everywhere, or stands in the rules.

    let productions = expand::expand(&mut context, &rules);
    context.check()?;
    // AFTER THIS: plain productions.

    let directions =
        directives::direct(&mut context, &resolved.directives, &resolved.terminal_names, &mut table);
    context.check()?;
    // AFTER THIS: every word that a directive names is a terminal.

    let starts = match start {
        Some(start) => assemble::start(&mut context, start, true, None, &resolved.rule_names, &rules)
            .map(|rule| vec![rule]),
        None => assemble::starts(&mut context, &directions, &resolved.rule_names, &rules),
    };
    let starts = context.checked(starts)?;
    let parts = assemble::Parts {
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
    analysis::trim(&Arc::new(untrimmed), start, report)
    // AFTER THIS: only what the start symbol reaches, and all of that derives some text.
}

/// What every pass needs: the texts, for places, and somewhere to put what it finds.
#[derive(Debug, Default)]
pub(crate) struct Context {
    main: Arc<str>,
    pub(in crate::grammar) sources: Sources,
    findings: Vec<Diagnostic>,
    /// Findings past the limit.
    more: usize,
    errors: bool,
}

impl Context {
    /// For the file that its caller calls `name`.
    pub(in crate::grammar) fn named(name: &str) -> Self {
        Self { main: name.into(), ..Self::default() }
    }

    /// Notes a finding. An error stops the lowering after the pass.
    pub(in crate::grammar) fn report(&mut self, finding: Diagnostic) {
        let error = finding.severity == Severity::Error;
        if self.findings.len() < MAX_FINDINGS || error && !self.errors {
            self.findings.push(finding);
        } else {
            self.more += 1;
        }
        self.errors |= error;
    }

    /// Stops when there were errors.
    pub(in crate::grammar) fn check(&mut self) -> Result<(), GrammarError> {
        if self.errors { Err(GrammarError::new(self.sorted())) } else { Ok(()) }
    }

    /// What a pass that may stop half-way gave; it reported an error where it gave nothing.
    pub(in crate::grammar) fn checked<T>(&mut self, given: Option<T>) -> Result<T, GrammarError> {
        match given {
            Some(value) if !self.errors => Ok(value),
            _ => Err(GrammarError::new(self.sorted())),
        }
    }

    /// The findings, in the order of the file itself, those in imported files last.
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
