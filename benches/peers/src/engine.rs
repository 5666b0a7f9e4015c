//! What an engine has to do to be measured.

use crate::case::{GrammarText, Words};

/// An engine of constrained decoding. Each runs in a process of its own, so none profits or suffers
/// from another.
pub trait Engine {
    /// What it makes of a vocabulary, for all grammars.
    type Vocabulary;
    /// What it makes of a vocabulary and a grammar, for all sequences. Borrowed mutably by the one
    /// sequence that is measured: some engines keep what they learn there.
    type Constraint<'v>;
    /// One sequence.
    type Sequence<'c>: Sequence;

    /// Prepares the vocabulary, given as every tokenizer file gives it: the bytes of each id.
    ///
    /// # Errors
    ///
    /// What the engine says against it.
    fn prepare(words: &Words) -> Result<Self::Vocabulary, String>;

    /// Compiles the grammar, given as text.
    ///
    /// # Errors
    ///
    /// What the engine says against it.
    fn compile<'v>(
        vocabulary: &'v Self::Vocabulary,
        grammar: &GrammarText,
    ) -> Result<Self::Constraint<'v>, String>;

    /// Begins a sequence. What earlier ones have learnt may be used.
    ///
    /// # Errors
    ///
    /// What the engine says against it.
    fn start<'c>(constraint: &'c mut Self::Constraint<'_>) -> Result<Self::Sequence<'c>, String>;
}

/// One sequence of an engine.
pub trait Sequence {
    /// Writes the mask into the caller's row: bit `t % 32` of word `t / 32` is token `t`.
    ///
    /// # Errors
    ///
    /// What the engine says when it gives up.
    fn fill_mask(&mut self, row: &mut [u32]) -> Result<(), String>;

    /// Takes a token.
    ///
    /// # Errors
    ///
    /// What the engine says against the token.
    fn advance(&mut self, token: u32) -> Result<(), String>;
}
