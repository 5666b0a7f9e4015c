//! Writing with drafts: the model checks several tokens in one call.

use anyhow::{Context, Result};
use lrmask::{Draft, Matcher, Speculator, TokenId};

use crate::llama::Input;
use crate::tokenizer::Tokenizer;
use crate::writer::{Mode, Place, Writer, best};

/// How drafts are made.
#[derive(Clone, Copy)]
pub enum Way {
    /// By counts alone.
    Counts,
    /// By forced tokens alone.
    Forced,
    /// Forced tokens first, counts after them.
    Both,
    /// The same, but forced tokens are written without asking the model.
    Unasked,
}

/// Least probability of a proposed token.
const PROBABILITY: f64 = 0.4;

impl Way {
    /// Returns at most `most` tokens that probably follow.
    pub fn draft(
        self,
        tokenizer: &Tokenizer,
        speculator: &Speculator,
        matcher: &Matcher,
        last: Option<u32>,
        most: usize,
    ) -> Vec<u32> {
        let last = last.map(TokenId::from);
        let cut = |text: &[u8]| tokenizer.encode_bytes(text);
        let mut tokens = match self {
            Self::Counts => speculator.propose(matcher, last, most, PROBABILITY),
            Self::Forced => matcher.forced_tokens(cut),
            Self::Both | Self::Unasked => {
                speculator.draft(matcher, last, most, PROBABILITY, cut).tokens
            }
        };
        tokens.truncate(most);
        tokens.into_iter().map(TokenId::get).collect()
    }
}

/// What drafts did for texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Number of tokens that calls of the model gave, the stop token included.
    pub tokens: usize,
    /// Number of calls of the model after the one that reads the prompt.
    pub calls: usize,
    /// Number of tokens proposed.
    pub proposed: usize,
    /// Number of proposed tokens that were accepted.
    pub accepted: usize,
}

impl Tally {
    /// Adds another tally.
    pub fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.calls += other.calls;
        self.proposed += other.proposed;
        self.accepted += other.accepted;
    }

    /// Returns the number of tokens for each call of the model.
    pub fn tokens_a_call(self) -> f64 {
        self.tokens as f64 / self.calls.max(1) as f64
    }
}

/// Returns what drafts would do for a text that the model writes as `tokens`, the stop token
/// included: a draft is accepted as far as it agrees with them.
pub fn tally(
    writer: &Writer,
    mode: &Mode<'_>,
    speculator: &Speculator,
    tokens: &[u32],
    way: Way,
    most: usize,
) -> Result<Tally> {
    let mut matcher = writer.matcher(mode)?.context("drafts need a constraint")?;
    let mut tally = Tally::default();
    // The call that reads the prompt gives the first token.
    let mut at = 1;
    tokens.first().map_or(Ok(()), |&token| matcher.advance(token))?;
    while at < tokens.len() {
        let last = Some(tokens[at - 1]);
        let draft = way.draft(&writer.tokenizer, speculator, &matcher, last, most);
        let agree = draft.iter().zip(&tokens[at..]).take_while(|(a, b)| a == b).count();
        // The call also gives the token after the accepted ones.
        let given = (agree + 1).min(tokens.len() - at);
        tally.add(Tally { tokens: given, calls: 1, proposed: draft.len(), accepted: agree });
        for &token in &tokens[at..at + given] {
            matcher.advance(token)?;
        }
        at += given;
    }
    Ok(tally)
}

/// Writes at most `limit` tokens from a place on, always the best one, with drafts of at most
/// `most` tokens. Returns the tokens, the stop token included.
pub fn write(
    writer: &Writer,
    mut place: Place,
    mode: &Mode<'_>,
    speculator: &Speculator,
    (way, most): (Way, usize),
    limit: usize,
) -> Result<(Vec<u32>, Tally)> {
    let mut matcher = writer.matcher(mode)?.context("drafts need a constraint")?;
    let width = matcher.vocabulary().width().div_ceil(32);
    let (mut tokens, mut tally) = (Vec::new(), Tally::default());
    let mut row = vec![0; width];
    matcher.fill_mask_into(&mut row)?;
    let first = best(&place.scores, &row).context("an empty mask")?;
    matcher.advance(first)?;
    tokens.push(first);
    while let Some(&last) = tokens.last()
        && !matcher.is_finished()
        && tokens.len() < limit
    {
        let mut new = vec![last];
        if matches!(way, Way::Unasked) {
            let forced = Way::Forced.draft(&writer.tokenizer, speculator, &matcher, None, limit);
            for &token in forced.iter().take(limit - tokens.len()) {
                matcher.advance(token)?;
                new.push(token);
            }
            tokens.extend(&new[1..]);
            tally.tokens += new.len() - 1;
            if matcher.is_finished() || tokens.len() == limit {
                break;
            }
        }
        let draft = way.draft(&writer.tokenizer, speculator, &matcher, new.last().copied(), most);
        let mut rows = vec![0; (draft.len() + 1) * width];
        let drafts = Draft::chain(draft.iter().copied());
        matcher.fill_draft_masks(&drafts, &mut rows, width)?;
        let written = place.cache.len() + new.len();
        new.extend(&draft);
        let input = Input { cache: &mut place.cache, tokens: &new, rows: draft.len() + 1 };
        let scores: Vec<f32> = writer.model.forward(&mut [input]).concat();
        let mut accepted = 0;
        tally.calls += 1;
        tally.proposed += draft.len();
        for (row, scores) in rows.chunks(width).zip(scores.chunks(writer.model.width())) {
            let token = best(scores, row).context("an empty mask")?;
            matcher.advance(token)?;
            tokens.push(token);
            tally.tokens += 1;
            if matcher.is_finished() || tokens.len() == limit || draft.get(accepted) != Some(&token)
            {
                break;
            }
            accepted += 1;
        }
        tally.accepted += accepted;
        // The last token is new to the model: the next call reads it.
        place.cache.truncate(written + accepted);
    }
    Ok((tokens, tally))
}
