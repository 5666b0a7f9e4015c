//! `lrmask mask`: which tokens may come next?

use std::io::IsTerminal as _;

use lrmask::{Matcher, TokenId, Vocabulary};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::fault::{self, Chunk};
use crate::grammars::{self, CanonicalArgument, GrammarArgument};
use crate::input::Inputs;
use crate::output::{self, Output};
use crate::tokens;
use crate::vocabularies::{self, VocabularyArgument};

/// Number of tokens shown by default.
const SHOWN: usize = 100;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    #[command(flatten)]
    canonical: CanonicalArgument,
    /// The text so far.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    prefix: String,
    /// Allow only tokens after which the text can be ended within N tokens, these included.
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    /// The end of a prompt that was taken back: TEXT must be written again before the text so far
    /// goes on (token healing).
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    heal: String,
    /// List at most N tokens, or all with 0 [default: 100, with --json all]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// The bits of a mask, for programs.
#[derive(Debug, Serialize)]
struct Mask {
    count: usize,
    width: usize,
    eos: bool,
    ids: Vec<u32>,
    texts: Vec<Text>,
}

/// The text of a token.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Text {
    Text(String),
    /// Part of a character, as bytes.
    Bytes(Vec<u8>),
}

/// Answers yes if the text is viable, and some token may follow or the text may end.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let vocabulary = vocabularies::load(&arguments.vocabulary.vocab, inputs)?;
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let constraint = arguments.canonical.narrow(constraint)?;
    let mut matcher = constraint.matcher();
    let prefix = arguments.prefix.as_bytes();
    if let Some(fault) = fault::take(&mut matcher, prefix) {
        let styled = output::is_styled(std::io::stderr().is_terminal());
        output::note(&fault::describe("--prefix", &Chunk::whole(prefix), &fault, styled));
        grammars::tell_undecided(constraint.undecided());
        return Ok(Answer::No);
    }
    if let Some(Err(error)) = arguments.budget.map(|budget| matcher.set_budget(budget)) {
        output::note(&format!("error: --budget: {error}"));
        return Ok(Answer::No);
    }
    matcher.heal(arguments.heal.as_bytes());
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    let eos = matcher.is_accepting();
    grammars::tell_undecided(constraint.undecided());
    let count = mask.count();
    let answer = Answer::from(count > 0 || eos);
    if answer == Answer::No {
        output::note(&dead_end(&matcher));
    }
    let shown = match arguments.limit {
        None if !out.is_json() => SHOWN,
        None | Some(0) => usize::MAX,
        Some(limit) => limit,
    };
    if out.is_json() {
        let ids: Vec<u32> = mask.tokens().take(shown).map(TokenId::get).collect();
        let texts = ids.iter().map(|&id| text(&vocabulary, TokenId::from(id))).collect();
        out.json(&Mask { count, width: vocabulary.width(), eos, ids, texts })?;
        return Ok(answer);
    }
    let may = if eos { "may" } else { "may not" };
    out.text(format_args!(
        "{count} of {} tokens may come next; the text {may} end here\n",
        vocabulary.width()
    ))?;
    for token in mask.tokens().take(shown) {
        let shown = tokens::shown(&vocabulary, token);
        out.text(format_args!("{:>8}  {shown}\n", token.get()))?;
    }
    if count > shown {
        out.text(format_args!("     ...  and {} more (--limit 0 lists all)\n", count - shown))?;
    }
    Ok(answer)
}

/// Returns the reason why no token may come next.
fn dead_end(matcher: &Matcher) -> String {
    let expected = fault::list(&fault::expected(matcher));
    format!(
        "error: no token may come next: the text must continue with {expected}, but no token of \
         the vocabulary begins that way\nhelp: use another vocabulary, or make the grammar accept \
         text that this one can spell; `lrmask check GRAMMAR --vocab V` lists the bytes that it \
         cannot spell"
    )
}

fn text(vocabulary: &Vocabulary, token: TokenId) -> Text {
    match vocabulary.bytes(token) {
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Text::Text(text.to_owned()),
            Err(_) => Text::Bytes(bytes.to_vec()),
        },
        None => Text::Text(vocabulary.special(token).unwrap_or_default().to_owned()),
    }
}
