//! The tokens that a model prefers for a given text (DOMINO, appendix B, algorithm 3).

use super::Matcher;
use crate::util::id::TokenId;

impl Matcher {
    /// Splits `text`, which follows the text so far, into the tokens that the model prefers: at
    /// each step the token with the greatest score, among those that match the text, that the mask
    /// allows, and after which the vocabulary can spell the rest. Of equal scores the longest token
    /// is taken. The matcher does not change.
    ///
    /// `scores` is called before each token, with the tokens chosen so far, and returns the model's
    /// scores (logits) by token. Tokens without a score, and those whose score is not a number,
    /// are taken last.
    ///
    /// `None` if the text may not follow, or if the vocabulary cannot spell it. For a grammar with
    /// `max_tokens`, also if the preferred tokens use up a budget before the text is spelled.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["a", "b", "ab", "bc", "c"])?;
    /// let matcher = Constraint::new(&Grammar::from_lark("start: /[abc]+/")?, &vocabulary)?.matcher();
    /// let scores = [0.3, 0.1, 0.2, 0.9, 0.0];
    /// let tokens = matcher.retokenize(b"abc", |_| scores).expect("it can be spelled");
    /// assert_eq!(tokens.iter().map(|token| token.get()).collect::<Vec<_>>(), [0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Costs one call of `scores` and a few advances for each token.
    pub fn retokenize<S: AsRef<[f32]>>(
        &self,
        text: &[u8],
        mut scores: impl FnMut(&[TokenId]) -> S,
    ) -> Option<Vec<TokenId>> {
        self.checked_text(text).ok()?;
        let (mut at, mut path) = (self.clone(), Vec::new());
        let length = |token: TokenId| self.vocabulary().bytes(token).map_or(0, <[u8]>::len);
        let tokens = self.vocabulary().cut(text, |choices| {
            let scores = scores(&path);
            let score = |token: TokenId| {
                let score = scores.as_ref().get(token.index()).copied();
                score.filter(|score| !score.is_nan()).unwrap_or(f32::NEG_INFINITY)
            };
            let allowed = (0..choices.len()).filter(|&choice| at.allows(choices[choice]));
            let best = allowed.max_by(|&one, &other| {
                let (one, other) = (choices[one], choices[other]);
                // Of tokens with the same bytes the least id is taken, as elsewhere.
                (score(one).total_cmp(&score(other)))
                    .then(length(one).cmp(&length(other)))
                    .then(other.cmp(&one))
            });
            let taken = best.unwrap_or(0);
            if best.is_some() && at.advance(choices[taken]).is_ok() {
                path.push(choices[taken]);
            }
            taken
        })?;
        (path == tokens).then_some(path)
    }
}
