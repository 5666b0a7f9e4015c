//! Speculation: tokens that will probably come next, for the model to check in one call.
//!
//! DOMINO (section 3.6) counts the tokens that the model chose in each state of scanner and parser.
//! Structured texts repeat so much that these counts predict several tokens at once. Here a context
//! is the key of the state and the token before it: that predicts better than the state alone.

mod counts;
mod saved;

use std::fmt;
use std::sync::{PoisonError, RwLock};

use crate::constraint::Constraint;
use crate::matcher::{Draft, Matcher};
use crate::util::fingerprint::Fingerprint;
use crate::util::id::TokenId;

use counts::Counts;
pub use saved::CountsError;

/// Proposes tokens from counts of the tokens that followed in the same state before.
///
/// A speculator belongs to a constraint and is shared by all its sequences, in any number of
/// threads. It learns from sequences ([`Speculator::observe`]) and proposes tokens that the model
/// then checks in one call: [`Speculator::draft`] with forced tokens, [`Speculator::propose`]
/// without. No proposal changes a text: the caller accepts a token only if the model chooses it.
///
/// A context is [`Matcher::state_key`] and the last token. At most [`Speculator::capacity`]
/// contexts are kept, each with at most 16 tokens, in about 150 bytes; when they are full, all
/// counts are halved, and contexts without counts are dropped.
///
/// ```
/// use lrmask::{Constraint, Grammar, Speculator, Vocabulary};
///
/// let vocabulary = Vocabulary::from_tokens(["{", "\"a\":", "\"b\":", "1", "2", "}"])?;
/// let grammar = Grammar::from_lark(r#"start: "{" ("\"a\":" | "\"b\":") /[12]/ "}""#)?;
/// let constraint = Constraint::new(&grammar, &vocabulary)?;
/// let speculator = Speculator::new(&constraint);
/// for text in [[0u32, 1, 3, 5], [0, 1, 4, 5], [0, 1, 3, 5]] {
///     assert_eq!(speculator.observe(text), 4);
/// }
///
/// let matcher = constraint.matcher();
/// let ids = |tokens: Vec<lrmask::TokenId>| tokens.iter().map(|id| id.get()).collect::<Vec<_>>();
/// assert_eq!(ids(speculator.propose(&matcher, None, 8, 0.5)), [0, 1, 3, 5]);
/// // The digit is not certain enough.
/// assert_eq!(ids(speculator.propose(&matcher, None, 8, 0.9)), [0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Speculator {
    constraint: Constraint,
    counts: RwLock<Counts>,
}

/// Tokens that will probably come next: [`Speculator::draft`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// The tokens, which the mask allows in order.
    pub tokens: Vec<TokenId>,
    /// How many of the first tokens are forced: the grammar leaves no other bytes, and the
    /// tokenizer cuts them this way. They can be accepted without asking the model.
    pub forced: usize,
}

impl Proposal {
    /// Returns the tokens as a chain, for [`Matcher::fill_draft_masks`].
    pub fn drafts(&self) -> Vec<Draft> {
        Draft::chain(self.tokens.iter().copied())
    }
}

/// Number of contexts that are kept by default.
const CAPACITY: usize = 1 << 16;

impl Speculator {
    /// Creates a speculator without counts.
    pub fn new(constraint: &Constraint) -> Self {
        Self { constraint: constraint.clone(), counts: RwLock::new(Counts::new(CAPACITY)) }
    }

    /// Sets the number of contexts that are kept, which bounds the memory; 65,536 by default.
    #[must_use]
    pub fn with_capacity(mut self, contexts: usize) -> Self {
        self.counts.get_mut().unwrap_or_else(PoisonError::into_inner).set_capacity(contexts);
        self
    }

    /// Returns the number of contexts that are kept at most.
    pub fn capacity(&self) -> usize {
        self.read(Counts::capacity)
    }

    /// Returns the number of contexts with counts.
    pub fn contexts(&self) -> usize {
        self.read(Counts::contexts)
    }

    /// Counts the tokens of a sequence from the beginning of a text, up to the first one that the
    /// mask forbids. Returns how many were counted. Costs an advance for each token.
    pub fn observe(&self, tokens: impl IntoIterator<Item: Into<TokenId>>) -> usize {
        self.observe_after(&self.constraint.matcher(), None, tokens)
    }

    /// Counts tokens after the text of `matcher`, which belongs to this speculator's constraint;
    /// `last` is the text's last token. Returns how many were counted. With one token, this is how
    /// a server learns while it generates.
    pub fn observe_after(
        &self,
        matcher: &Matcher,
        last: Option<TokenId>,
        tokens: impl IntoIterator<Item: Into<TokenId>>,
    ) -> usize {
        let (mut at, mut last) = (matcher.clone(), last);
        let mut seen = Vec::new();
        for token in tokens {
            let (token, context) = (token.into(), context(&at, last));
            if at.advance(token).is_err() {
                break;
            }
            seen.push((context, token));
            last = Some(token);
        }
        let mut counts = self.counts.write().unwrap_or_else(PoisonError::into_inner);
        seen.iter().for_each(|&(context, token)| counts.add(context, token));
        seen.len()
    }

    /// Returns up to `most` tokens that will probably follow, each with at least this share of the
    /// counts of its context. `last` is the text's last token. All of them are allowed in order,
    /// and the matcher does not change. Costs an advance for each token.
    pub fn propose(
        &self,
        matcher: &Matcher,
        last: Option<TokenId>,
        most: usize,
        probability: f64,
    ) -> Vec<TokenId> {
        let (mut at, mut last, mut tokens) = (matcher.clone(), last, Vec::new());
        while tokens.len() < most
            && let Some(token) = self.next(&mut at, last, probability)
        {
            tokens.push(token);
            last = Some(token);
        }
        tokens
    }

    /// Returns up to `most` tokens that will probably follow: by the counts, as
    /// [`Speculator::propose`] does, and forced ones ([`Matcher::forced_tokens`], with the model's
    /// tokenizer) where the counts know none.
    ///
    /// The counts come first because a model under a mask does not always write forced text in the
    /// tokens of its tokenizer: after a token that ends early, it goes on from there.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Speculator, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["{", "\"a\":", "1", "2", "}"])?;
    /// let grammar = Grammar::from_lark(r#"start: "{" "\"a\":" /[12]/ "}""#)?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let speculator = Speculator::new(&constraint);
    /// let cut = |text: &[u8]| vocabulary.cut_longest(text).unwrap_or_default();
    /// let draft = || speculator.draft(&constraint.matcher(), None, 8, 0.5, cut);
    /// assert_eq!((draft().tokens.len(), draft().forced), (2, 2));
    ///
    /// speculator.observe([0u32, 1, 3, 4]);
    /// assert_eq!((draft().tokens.len(), draft().forced), (4, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Costs what both methods cost.
    pub fn draft<T: Into<TokenId>>(
        &self,
        matcher: &Matcher,
        last: Option<TokenId>,
        most: usize,
        probability: f64,
        mut tokenize: impl FnMut(&[u8]) -> Vec<T>,
    ) -> Proposal {
        let forced = matcher.forced_tokens(&mut tokenize);
        let (mut at, mut last, mut tokens) = (matcher.clone(), last, Vec::new());
        while tokens.len() < most {
            let known = tokens.len();
            match self.next(&mut at, last, probability) {
                Some(token) => tokens.push(token),
                None => {
                    let forced = at.forced_tokens(&mut tokenize).into_iter().take(most - known);
                    tokens.extend(forced.take_while(|&token| at.advance(token).is_ok()));
                }
            }
            if tokens.len() == known {
                break;
            }
            last = tokens.last().copied();
        }
        let forced = forced.iter().zip(&tokens).take_while(|(forced, token)| forced == token);
        Proposal { forced: forced.count(), tokens }
    }

    /// Takes the most probable allowed token, if one is probable enough.
    fn next(&self, at: &mut Matcher, last: Option<TokenId>, probability: f64) -> Option<TokenId> {
        if at.is_finished() {
            return None;
        }
        let context = context(at, last);
        let likely = self.read(|counts| counts.likely(context, probability));
        likely.into_iter().find(|&token| at.advance(token).is_ok())
    }

    fn read<T>(&self, of: impl FnOnce(&Counts) -> T) -> T {
        of(&self.counts.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns the key under which the tokens after this state are counted.
fn context(at: &Matcher, last: Option<TokenId>) -> u64 {
    let mut key = Fingerprint::from(at.state_key());
    key.number(last.map_or(u64::MAX, |token| u64::from(token.get())));
    key.value()
}

impl fmt::Debug for Speculator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speculator")
            .field("constraint", &self.constraint)
            .field("contexts", &self.contexts())
            .finish_non_exhaustive()
    }
}
