//! Keeps a language model's output inside a grammar.
//!
//! A model emits one token after another. Before each, this crate computes the tokens that may come
//! next: those after which the text can still become a sentence of the grammar, and no others. The
//! caller samples among them.
//!
//! * [The promise](#the-promise)
//! * [Terms](#terms)
//! * [The pipeline](#the-pipeline)
//! * [Example](#example)
//! * [Limits](#limits)
//! * [Features](#features)
//!
//! # The promise
//!
//! Given a grammar and a vocabulary, for any text generated so far:
//!
//! 1. *Exact masks.* Bit `t` is set exactly when the text and the bytes of `t` begin a sentence,
//!    for every id: ordinary, special, holes and padding. A stop token's bit is set exactly when
//!    the text is a sentence. [`Matcher::advance`] succeeds exactly when the bit is set.
//! 2. *Time that does not grow.* The cost of a step depends on the token and on the part of the
//!    parse stack that it reads, not on the length of the text, nor on the size of the vocabulary
//!    beyond writing the mask.
//! 3. *Cheap to begin.* Masks are computed as they are needed and shared by all sequences.
//! 4. *Nothing fails late.* All errors come from building. [`Matcher::fill_mask`] cannot fail, a
//!    refused [`Matcher::advance`] changes nothing, no input makes the crate panic, and everything
//!    that can grow has a limit ([`Limits`]).
//! 5. *Clear errors.* A grammar that cannot be supported exactly is refused, with the place, the
//!    reason, an example and a correction ([`Diagnostic`]).
//!
//! The language is that of the grammar under longest match: the text is cut from left to right into
//! the longest lexemes of the terminals that compete there, as lexer generators do. The notation
//! and its meaning are described in [`docs::grammar`], the algorithm in [`docs::architecture`].
//!
//! # Terms
//!
//! | term | meaning |
//! |---|---|
//! | *token* | an entry of the model's vocabulary: an id and its bytes |
//! | *terminal*, *nonterminal*, *production* | of the grammar |
//! | *lexeme* | the bytes of one terminal in the text |
//! | *parse state*, *parse stack* | of the LR automaton |
//! | *scan state* | a state of the automaton that runs all competing terminals side by side |
//! | *configuration* | parse stack, scan state, and what else the future of a text depends on |
//! | *viable* | of a text: it begins some sentence |
//! | *mask* | one bit a token, in `u32` words: bit `t % 32` of word `t / 32` |
//!
//! Within the crate, for readers of its source:
//!
//! | term | meaning |
//! |---|---|
//! | *obligation* | a condition of longest match on the rest of the text: a pending longer match must not accept |
//! | *expectation* | a condition of `%lookahead` on the labels of the next lexemes |
//! | *candidate set* | the terminals that compete for a lexeme |
//! | *point* | a state of the product of the scan automaton and the obligations |
//! | *walk* | one traversal of the vocabulary's trie from a point |
//! | *boundary* | the end of a lexeme within a token |
//! | *base walk*, *delta* | a walk that others share; the differences of another walk from it |
//! | *submask* | a part of a mask that is cached by itself, for example the tokens after a boundary |
//! | *epoch* | a generation of the index's cache |
//! | *minimal completion* | the terminals that complete a text at the least cost |
//! | *tail call* | a parse state that only waits to complete the state below it (Leo 1991) |
//!
//! # The pipeline
//!
//! ```text
//! grammar file ──> Grammar ──┬─> LALR(1) tables ──┐
//!                            └─> terminal DFAs ───┴─> scanner ──┐
//!                                                               ├─> index (lazy, shared) ──> Matcher: mask, advance,
//! tokenizer file ──> Vocabulary ──> byte trie ──────────────────┘                            rollback, fork
//! ```
//!
//! [`Grammar`] and [`Vocabulary`] are read from files that the caller has loaded; [`GrammarReader`]
//! reads grammars with imports, another start symbol, and limits.
//! [`CompiledGrammar`] is a grammar with its tables and the proof that what is viable can be
//! completed; [`Constraint`] joins it with a vocabulary, and is shared between threads. A
//! [`Matcher`] follows one sequence.
//!
//! # Example
//!
//! ```
//! use lrmask::{Constraint, Grammar, Vocabulary};
//!
//! let grammar = Grammar::from_lark(
//!     r#"
//!     start: "[" [NUMBER ("," NUMBER)*] "]"
//!     NUMBER: /[0-9]+/
//!     "#,
//! )?;
//! let tokens = ["[", "]", ",", "12", "3", "],", "[1", ""];
//! let vocabulary = Vocabulary::from_tokens(tokens)?.with_stop_tokens([7])?;
//!
//! let constraint = Constraint::new(&grammar, &vocabulary)?;
//! let mut matcher = constraint.matcher();
//! let mut mask = constraint.new_mask();
//! let mut allowed = |matcher: &lrmask::Matcher| {
//!     matcher.fill_mask(&mut mask);
//!     mask.tokens().map(|token| token.index()).collect::<Vec<_>>()
//! };
//!
//! assert_eq!(allowed(&matcher), [0, 6]); // "[" or "[1"
//! matcher.advance(6)?;
//! assert_eq!(allowed(&matcher), [1, 2, 3, 4]); // "]", ",", or more digits
//! assert!(matcher.advance(5).is_err()); // nothing may follow "]", so "]," is not allowed
//! matcher.advance(1)?;
//! assert_eq!(allowed(&matcher), [7]); // the end
//!
//! matcher.rollback(1);
//! assert_eq!(allowed(&matcher), [1, 2, 3, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! Any context-free grammar is taken; where its LALR(1) tables have conflicts, readings are
//! followed side by side, which takes time. Lexemes are cut by longest match. Of JSON Schema nearly
//! all is exact; what is narrower, and what is refused, is listed in [`docs::json_schema`].
//!
//! If it was not proved beforehand that a text can be completed, that is decided step by step. A
//! decision that takes more than [`Limits::decision_steps`] is stopped and counts as no, and so is
//! the rest of a mask that takes [`Limits::mask_steps`]: a mask can then be too narrow, but never
//! too wide, and [`Constraint::undecided`] counts such decisions. In the same way
//! [`Matcher::dropped_readings`] counts the readings dropped under [`Limits::readings`] and
//! [`Limits::reading_steps`], and those of tokens that take as long as a mask may. If a text takes
//! more steps after that, no token may follow.
//!
//! # Untrusted input
//!
//! Grammars, schemas and regexes may be untrusted under [`Limits::strict`]: building ends
//! within about a second and 256 MB with a constraint or a typed error ([`GrammarError::limit`]),
//! and [`Cancel`] ends it sooner. [`ConstraintCache`] keeps what was built within a number of
//! bytes. Tokens and texts may be anything under any limits. Untrusted tokenizer files are read by
//! [`VocabularyReader`]. A saved constraint is read like a grammar: loading compiles it within
//! the limits. The scan states that texts reach are kept as long as the constraint:
//! [`Constraint::is_outgrown`] tells when to use a new one, as [`ConstraintCache`] does.
//! `SECURITY.md` and `docs/security.md` have the details, and the attacks that were tried.
//!
//! # Features
//!
//! * `tiktoken`: the vocabularies `gpt2`, `cl100k`, `o200k` of [`Vocabulary::builtin`].
//!
//! Features do not change masks. The command line is a separate package, `lrmask-cli`.

/// The pages of the documentation, from the directory `docs` of the sources.
pub mod docs {
    #[doc = include_str!("../docs/grammar.md")]
    pub mod grammar {}

    #[doc = include_str!("../docs/json-schema.md")]
    pub mod json_schema {}

    #[doc = include_str!("../docs/llguidance.md")]
    pub mod llguidance {}

    #[doc = include_str!("../docs/generation.md")]
    pub mod generation {}

    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}

    #[doc = include_str!("../docs/rejected.md")]
    pub mod rejected {}

    #[doc = include_str!("../docs/saved.md")]
    pub mod saved {}

    #[doc = include_str!("../docs/measured.md")]
    pub mod measured {}
}

pub(crate) mod constraint;
pub(crate) mod grammar;
pub(crate) mod index;
pub(crate) mod lexer;
pub(crate) mod lr;
pub(crate) mod matcher;
pub(crate) mod scanner;
pub(crate) mod schema;
pub(crate) mod speculation;
pub(crate) mod syntax;
pub(crate) mod util;
pub(crate) mod vocab;

pub use constraint::{
    BuildError, CompiledGrammar, Constraint, ConstraintBuilder, ConstraintCache, GrammarSize,
    Ignored, IndexSize, LoadError, Source, Stage, Trace, TracedToken, Warmup, is_saved,
};
pub use grammar::{Grammar, GrammarError, GrammarErrorKind, GrammarReader};
pub use matcher::{
    AdvanceError, AdvanceErrorKind, BegunLexeme, BudgetError, Capture, Choices, Draft, Expected,
    Explanation, FreeText, Listener, MaskInfo, Matcher, ParseEvent, ParseTree, RowError, TokenMask,
    TreeNode, fill_masks, fill_rows,
};
pub use schema::{
    Calls, Formats, JsonSchema, KeyOrder, Numerals, SchemaError, SchemaErrorKind, SchemaOptions,
    Separator, StringEscapes, StructuralTags, ToolCalls, ToolForm, Unsatisfiable, Whitespace,
};
pub use speculation::{CountsError, Proposal, Speculator};
pub use util::diagnostic::{Diagnostic, Place, Severity};
pub use util::id::TokenId;
pub use util::limits::{Cancel, Limits};
pub use util::meter::{Cost, LimitKind, LimitReached, Phase};
pub use vocab::{
    CanonicalError, TakeBack, TakenBack, Vocabulary, VocabularyError, VocabularyErrorKind,
    VocabularyReader,
};

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadmeDoctests;
