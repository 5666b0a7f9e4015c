//! The stack-aware index: masks by configuration, built as configurations are met, shared by all
//! sequences.
//!
//! A mask depends on the scan state, the obligations, and on as much of the parse stack and the
//! layout as its computation reads. So masks are found through a trie over what was read
//! ([`stack_trie`]). Steps that were ever seen before cost one look-up for each thing read, and one
//! copy ([`masks`]).
//!
//! What is new is put together from parts ([`parts`]), and these from token classes ([`walk`]): the
//! trie of the vocabulary is walked once for each scan state, whatever the stack.
//!
//! All of it lives in one [`Generation`]; when that outgrows its budget it is dropped and begun
//! again, which costs time and never exactness. What is there is read without a lock.

mod branch;
mod generation;
mod hub;
mod masks;
mod numbers;
mod parts;
mod stack_trie;
mod store;
mod token_set;
mod unions;
mod walk;
mod ways;

use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::scanner::configuration::Configuration;
use crate::scanner::{Line, Marks, Reads, Scanner};
use crate::vocab::{Spelled, Vocabulary};
use generation::Generation;
use parts::Unfound;
use stack_trie::{Found, Leaf, Root};
pub(crate) use store::KeptWriter;
use unions::TokensId;
use walk::{NodesId, Origin, Walk};

/// The index of a grammar and a vocabulary.
#[derive(Debug)]
pub(crate) struct Index {
    scanner: Arc<Scanner>,
    vocabulary: Spelled,
    /// Words in a mask, with the second ids of tokens that have one.
    words: usize,
    /// Bytes that a generation may take.
    budget: usize,
    /// What the grammar wants to know of its rules' texts.
    marks: Option<Arc<Marks>>,
    generation: ArcSwap<Generation>,
}

/// How large an index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSize {
    /// Bytes held by token classes, masks, their parts and the tries over stacks, as accounted
    /// against the budget.
    pub bytes: usize,
    /// Different masks.
    pub masks: usize,
    /// Branches of the trie over stacks, each of which ends in a mask.
    pub branches: usize,
    /// Sets of trie nodes with their token classes.
    pub node_sets: usize,
    /// Scan states met.
    pub scan_states: usize,
}

impl Index {
    /// An index with nothing in it.
    pub(crate) fn new(
        scanner: Arc<Scanner>,
        vocabulary: Spelled,
        budget: usize,
        marks: Option<Arc<Marks>>,
    ) -> Self {
        let words = vocabulary.spelled.width().div_ceil(32);
        let generation = ArcSwap::from_pointee(Generation::new());
        Self { scanner, vocabulary, words, budget, marks, generation }
    }

    /// The scanner below.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// The vocabulary beside it.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary.plain
    }

    /// The same with the spellings by which the grammar names tokens.
    pub(crate) fn spelled(&self) -> &Spelled {
        &self.vocabulary
    }

    /// What the grammar wants to know of its rules' texts.
    pub(crate) fn marks(&self) -> Option<&Marks> {
        self.marks.as_deref()
    }

    /// Words in a mask.
    pub(crate) fn words(&self) -> usize {
        self.vocabulary.plain.width().div_ceil(32)
    }

    /// How large it has become.
    pub(crate) fn size(&self) -> IndexSize {
        let generation = self.generation.load();
        IndexSize {
            bytes: generation.bytes(),
            masks: generation.masks.len(),
            branches: generation.stacks.len(),
            node_sets: generation.node_sets(),
            scan_states: self.scanner.states().len(),
        }
    }

    /// Makes `row` hold the tokens, stop tokens among them, that may follow in one of these
    /// configurations. `fresh` says that no byte of the text has been read yet.
    pub(crate) fn write_mask(&self, readings: &[Configuration], fresh: bool, row: &mut [u32]) {
        if !self.vocabulary.has_further() {
            return self.write_row(readings, fresh, row);
        }
        let mut wide = vec![0; self.words];
        self.write_row(readings, fresh, &mut wide);
        self.vocabulary.fold(&wide, row);
    }

    /// The same where a token has a bit for each of its ids.
    fn write_row(&self, readings: &[Configuration], fresh: bool, row: &mut [u32]) {
        let generation = self.generation.load();
        if let [at] = readings
            && let Found::Leaf(leaf) = self.find(&generation, at, fresh)
        {
            generation.masks.write_to(leaf.mask, row);
            if leaf.asks_end && self.scanner.is_complete(at, &mut Reads::none()) {
                self.allow_end(row);
            }
            return;
        }
        self.write_masks(&generation, readings, fresh, row);
    }

    /// The mask that is known for a configuration.
    #[inline]
    fn find(&self, generation: &Generation, at: &Configuration, fresh: bool) -> Found<Leaf> {
        generation.stacks.find(&Root::new(at, fresh), &at.stack, &at.layout, self.scanner.lexis(), |_| ())
    }

    /// Sets the bits of the stop tokens.
    pub(crate) fn allow_end(&self, row: &mut [u32]) {
        for &token in self.vocabulary.plain.stop_tokens() {
            row[token.index() / 32] |= 1 << (token.0 % 32);
        }
    }

    /// Makes the mask of a configuration on one way through its stack from token classes, enters
    /// it, and writes it to `row`.
    fn compute(
        &self,
        generation: &Generation,
        at: &Configuration,
        fresh: bool,
        row: &mut [u32],
    ) -> Result<Leaf, Unfound> {
        let (tokens, mut reads) = self.unite(generation, at)?;
        reads.set_line(Line::OWN);
        let complete = self.ends(at, fresh, &mut reads);
        if reads.is_past_fork() {
            return Err(Unfound::PastFork);
        }
        let mask = self.mask_of(generation, tokens, complete == Some(true), row);
        let leaf = Leaf { mask, asks_end: complete.is_none() };
        let (root, lexis) = (Root::new(at, fresh), self.scanner.lexis());
        generation.stacks.insert(root, &at.stack, &at.layout, lexis, &reads.into_events(), leaf);
        Ok(leaf)
    }

    /// Whether the text may end; `None` where that depends on all open blocks.
    fn ends(&self, at: &Configuration, fresh: bool, reads: &mut Reads) -> Option<bool> {
        match fresh {
            true => Some(self.scanner.is_complete_between(at, reads)),
            false => self.scanner.is_complete_whatever_blocks(at, reads),
        }
    }

    /// The mask of these tokens, and the stop tokens where the text may end; it is written to
    /// `row`.
    fn mask_of(&self, generation: &Generation, tokens: TokensId, complete: bool, row: &mut [u32]) -> u32 {
        let key = (tokens, complete);
        if let Some(&mask) = generation.masks_of.get(&key) {
            generation.masks.write_to(mask, row);
            return mask;
        }
        generation.unions.write_to(tokens, row);
        if complete {
            self.allow_end(row);
        }
        let (mask, bytes) = generation.masks.intern(row);
        generation.add_bytes(bytes);
        generation.masks_of.get_or_insert_with(key, || mask)
    }

    fn walk<'g>(
        &self,
        generation: &'g Generation,
        nodes: NodesId,
        from: &Configuration,
        is_hub: bool,
    ) -> &'g Walk {
        generation.walk(
            nodes,
            Origin::new(from, is_hub),
            &self.scanner,
            self.vocabulary.spelled.trie(),
            self.words,
        )
    }
}
