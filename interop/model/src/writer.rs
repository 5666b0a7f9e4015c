//! The loop: a model writes, freely or under a mask.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lrmask::{Constraint, Matcher, TokenId};

use crate::llama::{Cache, Input, Model};
use crate::tokenizer::Tokenizer;

/// A model with its tokenizer.
pub struct Writer {
    /// The model.
    pub model: Model,
    /// Its tokenizer.
    pub tokenizer: Tokenizer,
}

/// A position of the model: its memory, and its scores for the next token.
#[derive(Clone)]
pub struct Place {
    /// The memory of the positions so far.
    pub cache: Cache,
    /// A score for each token of the vocabulary.
    pub scores: Vec<f32>,
}

/// How a text is written.
#[derive(Clone, Copy, Default)]
pub struct Mode<'a> {
    /// The constraint, if there is one.
    pub constraint: Option<&'a Constraint>,
    /// Tokens that end the text besides those of the vocabulary.
    pub stops: &'a [TokenId],
    /// Whether the text ends as soon as only ignored text can follow.
    pub ends_early: bool,
    /// Number of tokens within which the masks keep the text, if there is a constraint.
    pub budget: Option<usize>,
}

/// One token of a text.
#[derive(Clone, Copy)]
pub struct Step {
    /// The token that was written.
    pub token: u32,
    /// The model's first choice of all tokens.
    pub free: u32,
    /// `-log p` of the token, under the model without a mask.
    pub surprise: f64,
    /// The probability of all tokens that the mask forbids.
    pub removed: f64,
    /// Time of the mask.
    pub mask: Duration,
    /// Time of the advance.
    pub advance: Duration,
}

/// A text and how it was written.
#[derive(Default)]
pub struct Written {
    /// The steps, with the one that ended the text.
    pub steps: Vec<Step>,
    /// Whether the last step is a stop token.
    pub is_stopped: bool,
    /// Whether the text has an end: a stop token, or the sign that only ignored text can follow.
    pub is_ended: bool,
}

impl Written {
    /// Returns the tokens of the text, without a stop token.
    pub fn tokens(&self) -> Vec<u32> {
        let count = self.steps.len() - usize::from(self.is_stopped);
        self.steps[..count].iter().map(|step| step.token).collect()
    }
}

impl Writer {
    /// Reads a prompt.
    pub fn read(&self, prompt: &[u32]) -> Place {
        let mut place = Place { cache: self.model.cache(), scores: Vec::new() };
        self.append(&mut place, prompt);
        place
    }

    /// Appends tokens to the text.
    pub fn append(&self, place: &mut Place, tokens: &[u32]) {
        let cache = &mut place.cache;
        let scores = self.model.forward(&mut [Input { cache, tokens, rows: 1 }]);
        place.scores = scores.into_iter().flatten().collect();
    }

    /// Returns the tokens that end a text in this mode.
    pub fn stops(&self, mode: &Mode<'_>) -> Vec<TokenId> {
        [self.tokenizer.vocabulary.stop_tokens(), mode.stops].concat()
    }

    /// Returns a matcher for this mode, if it has a constraint.
    pub fn matcher(&self, mode: &Mode<'_>) -> Result<Option<Matcher>> {
        let Some(constraint) = mode.constraint else { return Ok(None) };
        let mut matcher = constraint.matcher_with_stops(self.stops(mode))?;
        if let Some(budget) = mode.budget {
            matcher.set_budget(budget)?;
        }
        Ok(Some(matcher))
    }

    /// Writes at most `limit` tokens from each place on, always the best one. All texts grow by one
    /// token with each call of the model. The prompts end in the bytes `begun` of the constraint's
    /// text.
    pub fn write(
        &self,
        places: Vec<Place>,
        begun: &[u8],
        mode: &Mode<'_>,
        limit: usize,
    ) -> Result<Vec<Written>> {
        let mut texts = Vec::new();
        for place in places {
            let mut matcher = self.matcher(mode)?;
            if let Some(matcher) = &mut matcher {
                matcher.advance_bytes(begun)?;
            }
            texts.push(Text { place, matcher, written: Written::default(), last: 0 });
        }
        let stops = self.stops(mode);
        loop {
            let mut growing = Vec::new();
            for text in &mut texts {
                if text.written.steps.len() < limit
                    && !text.written.is_ended
                    && text.step(mode, &stops)?
                {
                    growing.push(text);
                }
            }
            let mut inputs: Vec<Input<'_>> = Vec::new();
            let mut scores = Vec::new();
            for text in growing.into_iter().filter(|text| text.written.steps.len() < limit) {
                let tokens = std::slice::from_ref(&text.last);
                inputs.push(Input { cache: &mut text.place.cache, tokens, rows: 1 });
                scores.push(&mut text.place.scores);
            }
            if inputs.is_empty() {
                return Ok(texts.into_iter().map(|text| text.written).collect());
            }
            for (place, new) in scores.into_iter().zip(self.model.forward(&mut inputs)) {
                *place = new;
            }
        }
    }
}

/// A text that is being written.
struct Text {
    place: Place,
    matcher: Option<Matcher>,
    written: Written,
    last: u32,
}

impl Text {
    /// Chooses a token. Returns whether the text goes on.
    fn step(&mut self, mode: &Mode<'_>, stops: &[TokenId]) -> Result<bool> {
        let scores = &self.place.scores;
        let mut row = vec![u32::MAX; scores.len().div_ceil(32)];
        let started = Instant::now();
        if let Some(matcher) = &self.matcher {
            matcher.fill_mask_into(&mut row)?;
        }
        let mask = started.elapsed();
        // A mask with a bounded lookahead may be empty.
        let Some(token) = best(scores, &row) else { return Ok(false) };
        let (surprise, removed) = judge(scores, &row, token);
        let started = Instant::now();
        if let Some(matcher) = &mut self.matcher {
            matcher.advance(token)?;
        }
        let advance = started.elapsed();
        let free = best(scores, &[]).context("the model has no tokens")?;
        self.last = token;
        let written = &mut self.written;
        written.steps.push(Step { token, free, surprise, removed, mask, advance });
        let matcher = self.matcher.as_ref();
        written.is_stopped =
            stops.contains(&token.into()) && matcher.is_none_or(Matcher::is_finished);
        written.is_ended =
            written.is_stopped || mode.ends_early && matcher.is_some_and(Matcher::only_end_follows);
        Ok(!written.is_ended)
    }
}

/// Returns the token with the greatest score of those whose bit is set in `row`, or of all if it is
/// empty; the first of equals.
pub fn best(scores: &[f32], row: &[u32]) -> Option<u32> {
    let mut best: Option<(u32, f32)> = None;
    for (word, scores) in scores.chunks(32).enumerate() {
        let bits = if row.is_empty() { u32::MAX } else { row[word] };
        if bits == 0 {
            continue;
        }
        for (bit, &score) in scores.iter().enumerate() {
            if bits >> bit & 1 == 1 && best.is_none_or(|(_, best)| score > best) {
                best = Some(((word * 32 + bit) as u32, score));
            }
        }
    }
    best.map(|(token, _)| token)
}

/// Returns `-log p` of a token, by the scores.
pub fn surprise(scores: &[f32], token: u32) -> f64 {
    judge(scores, &[], token).0
}

/// Returns `-log p` of a token, by the scores, and the probability of all tokens whose bit is not
/// set in `row`; none if it is empty.
fn judge(scores: &[f32], row: &[u32], token: u32) -> (f64, f64) {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut removed) = (0.0, 0.0);
    for (word, scores) in scores.chunks(32).enumerate() {
        let bits = row.get(word).copied().unwrap_or(u32::MAX);
        for (bit, &score) in scores.iter().enumerate() {
            let weight = f64::from((score - greatest).exp());
            sum += weight;
            removed += if bits >> bit & 1 == 0 { weight } else { 0.0 };
        }
    }
    (sum.ln() - f64::from(scores[token as usize] - greatest), removed / sum)
}
