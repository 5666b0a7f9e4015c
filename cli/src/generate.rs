//! `lrmask generate`: random texts drawn from the masks.
//!
//! A text grows at random towards a random length, within a budget of tokens
//! ([`Matcher::set_budget`]); at that length the budget becomes the least with which the text can
//! be ended. If the matcher keeps no budget for the grammar, a completion is computed after each
//! token instead.

use std::collections::HashMap;
use std::io::IsTerminal as _;

use fastrand::Rng;
use lrmask::{BudgetError, Constraint, Matcher, TokenId, TokenMask};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::grammars::{self, CanonicalArgument, GrammarArgument};
use crate::input::Inputs;
use crate::output::{self, Output};
use crate::random;
use crate::sampler::Sampler;
use crate::tokens;
use crate::vocabularies::{self, VocabularyArgument};

/// Tokens between two searches for a completion, if none was found at the beginning.
const STRIDE: usize = 16;

/// How often a text ends where it may, in percent, before it has reached its length.
const END_EARLY: usize = 30;

/// The same if only white space can follow.
const END_BEFORE_SPACE: usize = 92;

/// How often a token after which the text can only end is drawn again while the text is short, in
/// percent.
const SHUN_END: usize = 75;

/// How often a structural sign is taken inside of strings and comments, in percent.
const STRUCTURAL: usize = 25;

/// If no completion is ever found, a text may grow to this many times the tokens asked for.
const PATIENCE: usize = 50;

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    #[command(flatten)]
    canonical: CanonicalArgument,
    /// The seed of the random numbers; equal seeds give equal texts.
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// The number of texts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    count: u64,
    /// End each text within M tokens (not counting the stop token) if the grammar allows it.
    #[arg(long, value_name = "M", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: u32,
    /// Tell the tokens of each text as well: in JSON as `ids`, else one a line, as `mask` lists
    /// them.
    #[arg(long)]
    ids: bool,
}

#[derive(Debug, Serialize)]
struct Generated<'a> {
    text: &'a str,
    tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<u32>>,
}

/// Answers yes if all texts are sentences.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let vocabulary = vocabularies::load(&arguments.vocabulary.vocab, inputs)?;
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let constraint = arguments.canonical.narrow(constraint)?;
    let mut writer = Writer::new(&constraint, arguments.max_tokens as usize);
    // If the texts appear on a terminal, there is no room for a progress bar.
    let bar = if std::io::stdout().is_terminal() {
        indicatif::ProgressBar::hidden()
    } else {
        output::progress(arguments.count)
    };
    let mut longer = 0u64;
    let mut answer = Answer::Yes;
    for index in 0..arguments.count {
        let tokens = match writer.write(random::nth(arguments.seed, index)) {
            Ok(tokens) => tokens,
            Err(stuck) => {
                let text = String::from_utf8_lossy(&writer.bytes);
                output::note(&format!("error: text {index}: {stuck}, after {text:?}"));
                answer = Answer::No;
                continue;
            }
        };
        longer += u64::from(tokens > arguments.max_tokens as usize);
        let text = String::from_utf8_lossy(&writer.bytes);
        if out.is_json() {
            let ids = || writer.drawn.iter().map(|token| token.get()).collect();
            out.json(&Generated { text: &text, tokens, ids: arguments.ids.then(ids) })?;
        } else {
            out.text(format_args!("{text}\n"))?;
            for &token in writer.drawn.iter().filter(|_| arguments.ids) {
                let shown = tokens::shown(&vocabulary, token);
                out.text(format_args!("{:>8}  {shown}\n", token.get()))?;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    grammars::tell_undecided(constraint.undecided());
    if longer > 0 {
        output::note(&format!(
            "warning: {longer} of {} texts are longer than {} tokens: no completion within the \
             limit was found",
            arguments.count, arguments.max_tokens
        ));
    }
    Ok(answer)
}

/// The reason why a text was abandoned.
#[derive(Clone, Copy, Debug)]
enum Stuck {
    /// No completion was found, and none was reached by chance either.
    Endless,
    /// The vocabulary has no token that continues the text.
    NoToken,
    /// The engine contradicted itself.
    Contradiction,
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Endless => "no completion was found",
            Self::NoToken => "the vocabulary has no token that is allowed next",
            Self::Contradiction => "the completion was rejected (an error in lrmask itself)",
        })
    }
}

/// Writes texts, one after another.
struct Writer<'c> {
    constraint: &'c Constraint,
    sampler: Sampler,
    matcher: Matcher,
    mask: TokenMask,
    max_tokens: usize,
    /// By the number of tokens in a wide mask: the signs after which far fewer are allowed. In a
    /// JSON string those are the quotation mark and the reverse solidus. Used only as a heuristic.
    structural: HashMap<usize, Vec<TokenId>>,
    /// The text so far.
    bytes: Vec<u8>,
    /// Its tokens.
    drawn: Vec<TokenId>,
    /// Where each of its tokens ends.
    ends: Vec<usize>,
}

impl<'c> Writer<'c> {
    fn new(constraint: &'c Constraint, max_tokens: usize) -> Self {
        Self {
            constraint,
            sampler: Sampler::new(constraint.vocabulary()),
            matcher: constraint.matcher(),
            mask: constraint.new_mask(),
            max_tokens,
            structural: HashMap::new(),
            bytes: Vec::new(),
            drawn: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Writes a text to `bytes`, and returns its number of tokens.
    fn write(&mut self, mut random: Rng) -> Result<usize, Stuck> {
        self.matcher.reset();
        self.bytes.clear();
        self.drawn.clear();
        self.ends.clear();
        let length = 1 + random.usize(..(self.max_tokens * 3 / 5).max(1));
        match self.matcher.set_budget(self.max_tokens) {
            Ok(()) => {}
            Err(BudgetError::TooSmall { .. }) => self.end_soon()?,
            Err(BudgetError::DistinctItems) => {
                return self.write_by_completions(length, &mut random);
            }
            Err(_) => return self.write_unsure(&mut random),
        }
        let mut ends = self.matcher.budget() != Some(self.max_tokens);
        loop {
            let count = self.ends.len();
            if !ends && count >= length {
                ends = true;
                self.end_soon()?;
            }
            if ends && self.matcher.is_accepting() {
                return Ok(count);
            }
            match self.draw_while_short(count < length / 2, &mut random) {
                Next::Token(token) => self.take(token)?,
                Next::End => return Ok(count),
                Next::Nothing => return Err(Stuck::Contradiction),
            }
        }
    }

    /// Draws a token, and seldom one after which the text can only end if it is still short.
    fn draw_while_short(&mut self, is_short: bool, random: &mut Rng) -> Next {
        let next = self.draw(random);
        match is_short && self.is_last(&next) && random.usize(..100) < SHUN_END {
            true => self.draw(random),
            false => next,
        }
    }

    /// Sets the smallest budget with which the text can be ended.
    fn end_soon(&mut self) -> Result<(), Stuck> {
        match self.matcher.set_budget(0) {
            Err(BudgetError::TooSmall { least }) => {
                self.matcher.set_budget(least).map_err(|_| Stuck::Contradiction)
            }
            Ok(()) => Ok(()),
            Err(_) => Err(Stuck::Endless),
        }
    }

    /// Writes a text of at most `length` tokens. After each token there is a completion that fits
    /// into the rest.
    fn write_by_completions(&mut self, length: usize, random: &mut Rng) -> Result<usize, Stuck> {
        let Some(mut way) = self.way() else { return self.write_unsure(random) };
        while self.ends.len() < length {
            let count = self.ends.len();
            match self.draw_while_short(count < length / 2, random) {
                Next::Token(token) => self.take(token)?,
                Next::End => return Ok(count),
                Next::Nothing => break,
            }
            match self.way().filter(|way| count + 1 + way.len() <= self.max_tokens) {
                Some(shorter) => way = shorter,
                None => return self.end(count, &way),
            }
        }
        self.end(self.ends.len(), &way)
    }

    /// Writes a text without knowing whether it can be ended.
    fn write_unsure(&mut self, random: &mut Rng) -> Result<usize, Stuck> {
        for _ in 0..self.max_tokens.saturating_mul(PATIENCE) {
            match self.draw(random) {
                Next::Token(token) => self.take(token)?,
                Next::End => return Ok(self.ends.len()),
                Next::Nothing => return Err(Stuck::NoToken),
            }
            if self.ends.len().is_multiple_of(STRIDE)
                && let Some(way) = self.way()
            {
                return self.end(self.ends.len(), &way);
            }
        }
        Err(Stuck::Endless)
    }

    /// Returns a short completion of the text.
    fn way(&self) -> Option<Vec<TokenId>> {
        self.constraint.vocabulary().cut_fewest(&self.matcher.shortest_completion()?)
    }

    /// Returns to the first `count` tokens and completes the text with `way` from there.
    fn end(&mut self, count: usize, way: &[TokenId]) -> Result<usize, Stuck> {
        self.matcher.rollback(self.ends.len() - count);
        self.drawn.truncate(count);
        self.ends.truncate(count);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
        way.iter().try_for_each(|&token| self.take(token))?;
        if self.matcher.is_accepting() { Ok(self.ends.len()) } else { Err(Stuck::Contradiction) }
    }

    fn take(&mut self, token: TokenId) -> Result<(), Stuck> {
        self.matcher.advance(token).map_err(|_| Stuck::Contradiction)?;
        self.bytes.extend_from_slice(self.constraint.vocabulary().bytes(token).unwrap_or_default());
        self.drawn.push(token);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn draw(&mut self, random: &mut Rng) -> Next {
        self.matcher.fill_mask(&mut self.mask);
        if self.matcher.is_accepting() {
            let more = self.sampler.has_more_than_space(&self.mask);
            let percent = if more { END_EARLY } else { END_BEFORE_SPACE };
            if random.usize(..100) < percent {
                return Next::End;
            }
        }
        if random.usize(..100) < STRUCTURAL
            && let Some(sign) = self.structural(random)
        {
            return Next::Token(sign);
        }
        match self.sampler.draw(&self.mask, self.ends.len(), random) {
            Some(token) => Next::Token(token),
            None if self.matcher.is_accepting() => Next::End,
            // The grammar may ask for a stop token within the text.
            None => self.mask.tokens().next().map_or(Next::Nothing, Next::Token),
        }
    }

    /// Returns whether this is a token that only white space can follow.
    fn is_last(&mut self, next: &Next) -> bool {
        let Next::Token(token) = *next else { return false };
        if self.matcher.advance(token).is_err() {
            return false;
        }
        let mut last = self.matcher.is_accepting();
        if last {
            self.matcher.fill_mask(&mut self.mask);
            last = !self.sampler.has_more_than_space(&self.mask);
        }
        self.matcher.rollback(1);
        last
    }

    /// Returns a structural sign, if nearly everything may come next.
    fn structural(&mut self, random: &mut Rng) -> Option<TokenId> {
        let count = self.mask.count();
        if count < self.mask.width() / 3 {
            return None;
        }
        if !self.structural.contains_key(&count) {
            let mut signs = Vec::new();
            let mut after = self.constraint.new_mask();
            for sign in self.sampler.signs(&self.mask) {
                if self.matcher.advance(sign).is_ok() {
                    self.matcher.fill_mask(&mut after);
                    self.matcher.rollback(1);
                    if after.count() < count / 2 {
                        signs.push(sign);
                    }
                }
            }
            self.structural.insert(count, signs);
        }
        let signs = self.structural.get(&count)?;
        signs
            .get(random.usize(..signs.len().max(1)))
            .copied()
            .filter(|&sign| self.mask.contains(sign))
    }
}

/// The next step of a text.
enum Next {
    Token(TokenId),
    End,
    Nothing,
}
