//! `lrmask check`: is the grammar sound?

use lrmask::{CompiledGrammar, Constraint, Diagnostic, Severity};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::grammars::{self, GrammarArgument, LoadError, Sources};
use crate::input::{self, Inputs};
use crate::output::Output;
use crate::report;
use crate::vocabularies;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    /// Also check for bytes that this vocabulary cannot spell: gpt2, p50k, cl100k, o200k,
    /// o200k_harmony, or the file of a tokenizer.
    #[arg(long, value_name = "V")]
    vocab: Option<String>,
}

#[derive(Debug, Serialize)]
struct Checked<'a> {
    grammar: &'a str,
    ok: bool,
    summary: Option<String>,
    findings: Vec<report::Finding<'a>>,
}

/// Answers yes if the grammar can be used.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let sources = Sources::default();
    let (summary, findings) = match compile(arguments, inputs, &sources) {
        Ok((compiled, findings)) => (Some(compiled.size().to_string()), findings),
        Err(LoadError::Refused(findings)) => (None, findings),
        Err(LoadError::Failure(failure)) => return Err(failure),
    };
    let grammar = input::name(&arguments.grammar.grammar);
    let ok = summary.is_some();
    if out.is_json() {
        out.json(&Checked {
            grammar,
            ok,
            summary,
            findings: report::findings(&findings, &sources),
        })?;
        return Ok(ok.into());
    }
    out.text(format_args!("{}", report::render(&findings, &sources, out.is_styled())))?;
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let warnings = counted(count(Severity::Warning), "warning");
    match summary {
        Some(summary) => out.text(format_args!("{grammar}: sound: {summary}; {warnings}\n"))?,
        None => {
            let errors = counted(count(Severity::Error), "error");
            out.text(format_args!("{grammar}: refused: {errors}, {warnings}\n"))?;
        }
    }
    Ok(ok.into())
}

fn compile(
    arguments: &Arguments,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<(CompiledGrammar, Vec<Diagnostic>), LoadError> {
    let grammar = grammars::load(&arguments.grammar, inputs, sources)?;
    let compiled = Constraint::builder()
        .limits(&arguments.grammar.limits.limits())
        .compile(&grammar)
        .map_err(|error| LoadError::Refused(error.diagnostics().to_vec()))?;
    let findings = match &arguments.vocab {
        Some(name) => compiled.constraint(&vocabularies::load(name, inputs)?)?.warnings().to_vec(),
        None => compiled.warnings().to_vec(),
    };
    Ok((compiled, findings))
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
