//! Byte-pair encoding (Sennrich, Haddow and Birch 2016), as far as it decides which sequences of
//! tokens a model's own tokenizer makes: the *canonical* ones (Koo, Liu and He 2024, section 4.3;
//! Berglund et al. 2024).
//!
//! A tokenizer splits a text into pieces (`splitter`, for the `pattern` of the tokenizer), and in
//! each piece merges neighbours, the pair of the lowest rank first (`merges`). So a sequence is
//! canonical if the cuts between pieces lie between tokens, and within each piece every two
//! neighbours are what the tokenizer makes of their bytes (`pairs`). `canonical` follows a sequence
//! on both.

mod canonical;
mod encode;
mod error;
mod merges;
mod of_vocabulary;
mod pairs;
mod pattern;
pub(in crate::vocab) mod patterns;
mod splitter;
mod utf8;

use std::sync::{Arc, OnceLock};

pub(crate) use canonical::{Begin, Canonical, CanonicalTokens, States};
pub use error::CanonicalError;

/// What a tokenizer's file says about how texts are cut into tokens.
#[derive(Clone, Debug)]
pub(crate) enum Tokenizer {
    Bpe(Arc<Bpe>),
    /// No byte-pair encoding that can be followed, for this reason.
    Unknown(CanonicalError),
}

/// The tables of a vocabulary, shared by its clones.
pub(in crate::vocab) type Tables = Arc<OnceLock<Result<Arc<CanonicalTokens>, CanonicalError>>>;

/// The rules of a byte-pair encoding.
#[derive(Clone, Debug)]
pub(crate) struct Bpe {
    pub(in crate::vocab) ranks: Ranks,
    pub(in crate::vocab) letters: Letters,
    /// The pattern that splits the text first; `None` if it is not known.
    pub(in crate::vocab) pattern: Option<Arc<str>>,
    /// Whether a piece that is a token is not merged.
    pub(in crate::vocab) whole_first: bool,
    /// Tokens that are split off before all else, by their bytes.
    pub(in crate::vocab) added: Arc<[u32]>,
}

/// The pattern of a tokenizer that does not split.
pub(in crate::vocab) const ONE_PIECE: &str = "(?s:.)+";

/// Which pairs are merged, and in which order.
#[derive(Clone, Debug)]
pub(crate) enum Ranks {
    /// Any two neighbours whose bytes are a token, that with the lowest id first.
    Ids,
    /// The same, by the rank of the token; `u32::MAX` for tokens that are not merged.
    Tokens(Arc<[u32]>),
    /// These, in order.
    Merges(Arc<[Merge]>),
}

/// A merge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merge {
    /// The token that it makes.
    pub(in crate::vocab) token: u32,
    /// Number of bytes of the left part.
    pub(in crate::vocab) left: u32,
}

/// What a text consists of before the first merge.
#[derive(Clone, Debug)]
pub(crate) enum Letters {
    /// Bytes.
    Bytes,
    /// Characters. Those without a token are bytes, which have these tokens and are not merged.
    Characters(Arc<[u32]>),
}

impl Bpe {
    /// Creates the rules of an encoding of which the pattern is not known.
    pub(in crate::vocab) fn new(ranks: Ranks, letters: Letters) -> Self {
        Self { ranks, letters, pattern: None, whole_first: false, added: Arc::default() }
    }

    /// Creates the rules of tiktoken: any two neighbours whose bytes are a token are merged, that
    /// with the lowest id first.
    pub(in crate::vocab) fn by_ids() -> Self {
        Self { whole_first: true, ..Self::new(Ranks::Ids, Letters::Bytes) }
    }

    /// Creates the rules of SentencePiece: any two neighbours whose characters are a piece are
    /// merged, that with the highest score first. Pieces without a score are not merged; those of
    /// single bytes are `bytes`.
    pub(in crate::vocab) fn by_scores(
        scores: impl Iterator<Item = Option<f32>>,
        bytes: Arc<[u32]>,
    ) -> Self {
        let scores: Vec<Option<f32>> = scores.collect();
        let mut order: Vec<f32> = scores.iter().copied().flatten().collect();
        order.sort_unstable_by(|one, other| other.total_cmp(one));
        order.dedup_by(|one, other| one == other);
        let rank =
            |score: f32| order.partition_point(|other| other.total_cmp(&score).is_gt()) as u32;
        let ranks = scores.into_iter().map(|score| score.map_or(u32::MAX, rank)).collect();
        Self::new(Ranks::Tokens(ranks), Letters::Characters(bytes)).with_pattern(ONE_PIECE)
    }

    /// Sets the pattern that splits the text first.
    pub(in crate::vocab) fn with_pattern(self, pattern: &str) -> Self {
        Self { pattern: Some(pattern.into()), ..self }
    }
}

impl From<Bpe> for Tokenizer {
    fn from(bpe: Bpe) -> Self {
        Self::Bpe(Arc::new(bpe))
    }
}
