//! `lrmask debug`: prints the results of the stages of compilation.

use clap::ValueEnum;
use lrmask::{Constraint, Diagnostic, Stage};

use crate::Answer;
use crate::failure::Failure;
use crate::fault::{self, Chunk};
use crate::grammars::{self, GrammarArgument, LoadError, Sources};
use crate::input::Inputs;
use crate::output::{self, Output};
use crate::report;
use crate::vocabularies::{self, VocabularyArgument};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The stage to print.
    #[arg(value_enum)]
    stage: DebugStage,
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    /// For `index`: the text so far.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    prefix: String,
}

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DebugStage {
    /// The lowered grammar: productions and terminals.
    Grammar,
    /// The parse states with their items and actions.
    States,
    /// The conflicts that keep the grammar from being LALR(1).
    Conflicts,
    /// The terminals' automata.
    Scanner,
    /// The size of the index after a text, and the parts of the next mask.
    Index,
}

/// Answers yes if there is something to print; for `conflicts`, if there are none.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let text = match arguments.stage {
        DebugStage::Conflicts => return conflicts(arguments, inputs, out),
        DebugStage::Index => return index(arguments, inputs, out),
        DebugStage::Grammar => grammar(arguments, inputs)?,
        DebugStage::States => grammars::compile(&arguments.grammar, inputs)?.print(Stage::States),
        DebugStage::Scanner => grammars::compile(&arguments.grammar, inputs)?.print(Stage::Scanner),
    };
    if out.is_json() {
        out.json(&serde_json::json!({ "text": text }))?;
    } else {
        out.text(format_args!("{}\n", text.trim_end_matches('\n')))?;
    }
    Ok(Answer::Yes)
}

/// Returns the lowered grammar, even if it cannot be compiled.
fn grammar(arguments: &Arguments, inputs: &Inputs) -> Result<String, Failure> {
    let sources = Sources::default();
    match grammars::load(&arguments.grammar, inputs, &sources) {
        Ok(grammar) => Ok(grammar.to_string()),
        Err(LoadError::Refused(diagnostics)) => {
            Err(Failure::Unusable(report::for_stderr(&diagnostics, &sources)))
        }
        Err(LoadError::Failure(failure)) => Err(failure),
    }
}

fn conflicts(arguments: &Arguments, inputs: &Inputs, out: &mut Output) -> Result<Answer, Failure> {
    let sources = Sources::default();
    let refused =
        |diagnostics: &[Diagnostic]| Failure::Unusable(report::for_stderr(diagnostics, &sources));
    let grammar =
        grammars::load(&arguments.grammar, inputs, &sources).map_err(|error| match error {
            LoadError::Failure(failure) => failure,
            LoadError::Refused(diagnostics) => refused(&diagnostics),
        })?;
    let compiled =
        Constraint::builder().limits(&arguments.grammar.limits.limits()).compile(&grammar);
    let findings = match &compiled {
        Ok(compiled) => compiled.warnings(),
        Err(error) => error.diagnostics(),
    };
    let (conflicts, others): (Vec<Diagnostic>, Vec<Diagnostic>) =
        findings.iter().cloned().partition(|finding| finding.code == "conflict");
    if compiled.is_err() && conflicts.is_empty() {
        return Err(refused(&others));
    }
    if out.is_json() {
        out.json(&serde_json::json!({ "conflicts": report::findings(&conflicts, &sources) }))?;
    } else if conflicts.is_empty() {
        out.text(format_args!("no conflicts\n"))?;
    } else {
        out.text(format_args!("{}", report::render(&conflicts, &sources, out.is_styled())))?;
    }
    Ok(conflicts.is_empty().into())
}

fn index(arguments: &Arguments, inputs: &Inputs, out: &mut Output) -> Result<Answer, Failure> {
    let vocabulary = vocabularies::load(&arguments.vocabulary.vocab, inputs)?;
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let mut matcher = constraint.matcher();
    let prefix = arguments.prefix.as_bytes();
    if let Some(fault) = fault::take(&mut matcher, prefix) {
        output::note(&fault::describe("--prefix", &Chunk::whole(prefix), &fault, false));
        return Ok(Answer::No);
    }
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    let size = constraint.index_size();
    let expected = fault::expected(&matcher);
    if out.is_json() {
        out.json(&serde_json::json!({
            "prefix": arguments.prefix,
            "allowed": mask.count(),
            "eos": matcher.is_accepting(),
            "expected": expected,
            "bytes": size.bytes,
            "masks": size.masks,
            "branches": size.branches,
            "node_sets": size.node_sets,
            "scan_states": size.scan_states,
        }))?;
        return Ok(Answer::Yes);
    }
    out.text(format_args!("after {}\n", output::Quoted(prefix)))?;
    out.text(format_args!("  allowed      {} of {} tokens\n", mask.count(), vocabulary.width()))?;
    out.text(format_args!("  expected     {}\n", expected.join(", ")))?;
    let counts = [
        ("bytes", size.bytes),
        ("masks", size.masks),
        ("branches", size.branches),
        ("node sets", size.node_sets),
        ("scan states", size.scan_states),
    ];
    for (what, count) in counts {
        out.text(format_args!("  {what:<12} {count}\n"))?;
    }
    Ok(Answer::Yes)
}
