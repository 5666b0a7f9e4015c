//! `lrmask speculate`: counts learnt from texts, and how well they predict others.

use lrmask::{Speculator, TokenId};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::files;
use crate::grammars::{self, GrammarArgument};
use crate::input::{self, Inputs};
use crate::output::{self, Output};
use crate::vocabularies::{self, Cutter, VocabularyArgument};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    /// The texts; `-` is standard input. The first ones are learnt, the others are predicted.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// How many of the texts are learnt; half of them if this is not given.
    #[arg(long, value_name = "N")]
    learn: Option<usize>,
    /// Tokens that one proposal may have.
    #[arg(long, value_name = "S", default_value_t = 8)]
    tokens: usize,
    /// Share of the counts that a token must have to be proposed.
    #[arg(long, value_name = "P", default_value_t = 0.5)]
    probability: f64,
    /// Propose from the counts alone, not the tokens that the grammar forces.
    #[arg(long)]
    counts_only: bool,
    /// Counts that were saved for this grammar and vocabulary, to begin with.
    #[arg(long, value_name = "FILE")]
    counts: Option<String>,
    /// The file to which the counts are saved.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

/// How the proposals for a text turned out.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Predicted {
    tokens: usize,
    /// Calls of a model: each checks a proposal and adds one token.
    calls: usize,
    proposed: usize,
    accepted: usize,
}

#[derive(Debug, Serialize)]
struct Summary {
    learnt: usize,
    predicted: usize,
    contexts: usize,
    #[serde(flatten)]
    all: Predicted,
    tokens_per_call: f64,
    /// Share of the proposed tokens that came.
    accepted_share: f64,
}

/// Answers yes if all texts are in the language, or prefixes of its texts.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let name = &arguments.vocabulary.vocab;
    let (vocabulary, cutter) = vocabularies::load_with_cutter(name, None, inputs)?;
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let speculator = match &arguments.counts {
        None => Speculator::new(&constraint),
        Some(file) => Speculator::load(inputs.bytes(file)?, &constraint)
            .map_err(|error| Failure::unusable(format_args!("{file}: {error}")))?,
    };
    let learnt = arguments.learn.unwrap_or(arguments.files.len() / 2);
    let (mut all, mut is_good) = (Predicted::default(), true);
    for (index, file) in arguments.files.iter().enumerate() {
        let cut = cutter.cut(&vocabulary, &inputs.bytes(file)?, index);
        let valid = cut.as_ref().map_or(0, |tokens| constraint.matcher().validate(tokens));
        let mut tokens = cut.unwrap_or_default();
        if tokens.is_empty() || valid < tokens.len() {
            output::note(&format!("{}: not a text of the language", input::name(file)));
            is_good = false;
            continue;
        }
        tokens.extend(vocabulary.stop_tokens().first());
        if index < learnt {
            speculator.observe(tokens);
            continue;
        }
        let predicted = predict(arguments, &speculator, &constraint, &cutter, &tokens);
        all.tokens += predicted.tokens;
        all.calls += predicted.calls;
        all.proposed += predicted.proposed;
        all.accepted += predicted.accepted;
    }
    if let Some(file) = &arguments.output {
        files::write_whole(file, &speculator.save())?;
    }
    let share = |of: usize, among: usize| of as f64 / among.max(1) as f64;
    let summary = Summary {
        learnt: learnt.min(arguments.files.len()),
        predicted: arguments.files.len().saturating_sub(learnt),
        contexts: speculator.contexts(),
        all,
        tokens_per_call: share(all.tokens, all.calls),
        accepted_share: share(all.accepted, all.proposed),
    };
    print(&summary, out)?;
    Ok(is_good.into())
}

/// Follows a text as a model would that writes it.
fn predict(
    arguments: &Arguments,
    speculator: &Speculator,
    constraint: &lrmask::Constraint,
    cutter: &Cutter,
    tokens: &[TokenId],
) -> Predicted {
    let vocabulary = constraint.vocabulary();
    let mut matcher = constraint.matcher();
    let mut predicted = Predicted::default();
    let mut at = 0;
    while at < tokens.len() {
        let last = at.checked_sub(1).map(|before| tokens[before]);
        let (most, probability) = (arguments.tokens, arguments.probability);
        let proposed = if arguments.counts_only {
            speculator.propose(&matcher, last, most, probability)
        } else {
            let cut = |text: &[u8]| cutter.cut(vocabulary, text, 0).unwrap_or_default();
            speculator.draft(&matcher, last, most, probability, cut).tokens
        };
        let same = proposed.iter().zip(&tokens[at..]).take_while(|(one, other)| one == other);
        let accepted = same.count();
        predicted.proposed += proposed.len();
        predicted.accepted += accepted;
        predicted.calls += 1;
        // The model's own choice comes after the accepted tokens.
        for &token in tokens[at..].iter().take(accepted + 1) {
            // A text that may not end yet has no stop token.
            if matcher.advance(token).is_ok() {
                predicted.tokens += 1;
            }
            at += 1;
        }
    }
    predicted
}

fn print(summary: &Summary, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(summary);
    }
    let Summary { learnt, predicted, contexts, all, tokens_per_call, accepted_share } = summary;
    let Predicted { tokens, calls, proposed, accepted } = all;
    out.text(format_args!(
        "{learnt} texts learnt, {contexts} contexts; {predicted} predicted\n\
         {tokens} tokens in {calls} calls: {tokens_per_call:.2} tokens a call\n\
         {accepted} of {proposed} proposed tokens came: {:.0} %\n",
        accepted_share * 100.0
    ))
}
