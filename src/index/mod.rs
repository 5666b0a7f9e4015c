//! The stack-aware index: masks by configuration, computed as configurations are met, shared by all
//! sequences.
//!
//! A mask depends on the scan state, on the obligations, and on the part of the parse stack and the
//! layout that its computation reads. So masks are found through a trie over these reads. A step
//! that was seen before costs one look-up for each read, and one copy.
//!
//! The modules, each of which uses only those above it:
//!
//! * [`tokens`]: sets of tokens, and the graph of sets composed from others.
//! * [`walk`]: walks the trie of the vocabulary once for each scan state, independently of the
//!   stack; the result is a set of token classes.
//! * [`mask`]: composes new masks from classes, by way of submasks; stores masks, and finds them
//!   again by their reads.
//! * [`cache`]: all tables, and their budget.
//! * [`margins`]: how many tokens must be left for a budget to forbid nothing.
//! * [`point_walks`]: walks within one lexeme that tell all points apart, for budgets.
//! * [`token_costs`]: the fewest tokens that finish lexemes and stacks, for budgets.
//! * [`rests`]: the indexes of what tokens write after a prefix, for token healing.
//! * [`items`]: the tokens that contain items which may repeat others in a list; masks do not
//!   depend on these.

mod cache;
mod items;
mod margins;
mod mask;
mod point_walks;
mod rests;
mod token_costs;
mod tokens;
mod walk;

use std::sync::{Arc, OnceLock};

use crate::scanner::configuration::Configuration;
use crate::scanner::{Marks, Reads, Scanner};
use crate::vocab::{Spelled, Vocabulary};
use cache::{Cache, Epoch};
pub(crate) use items::{Brackets, TokensOfItems};
pub(crate) use margins::MarginKey;
use margins::Margins;
pub(crate) use mask::allow;
use mask::{Composer, Lookup};
use point_walks::PointWalks;
pub(crate) use point_walks::{Nodes, PointWalk, Ranges};
use rests::IndexesAfterPrefixes;
pub(crate) use token_costs::NEVER;
use token_costs::TokenCosts;
pub(crate) use walk::Shortcuts;
use walk::Walker;

/// The index of a grammar and a vocabulary.
#[derive(Debug)]
pub(crate) struct Index {
    scanner: Arc<Scanner>,
    vocabulary: Spelled,
    /// Number of words of a mask that includes the second ids of tokens that have one.
    words: usize,
    /// The rules that the grammar marks.
    marks: Option<Arc<Marks>>,
    cache: Cache,
    shortcuts: Shortcuts,
    /// Tokens for lists of distinct items, computed on first use.
    tokens_of_items: OnceLock<TokensOfItems>,
    /// Used where a text has a budget of tokens.
    token_costs: TokenCosts,
    point_walks: PointWalks,
    margins: Margins,
    /// Indexes of what tokens write after a prefix.
    rests: IndexesAfterPrefixes,
}

/// Size of an index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSize {
    /// Bytes of token classes, masks, their parts and the tries over stacks, as counted against the
    /// budget.
    pub bytes: usize,
    /// Number of different masks.
    pub masks: usize,
    /// Number of branches of the trie over stacks, each of which ends in a mask.
    pub branches: usize,
    /// Number of sets of trie nodes with their token classes.
    pub node_sets: usize,
    /// Number of scan states created so far.
    pub scan_states: usize,
    /// Bytes of the scanner's growing tables: scan states, obligations of longest match, parse
    /// states in their contexts, unions of stacks. They are not included in `bytes`, and stay until
    /// the constraint is dropped: see [`Constraint::is_outgrown`](crate::Constraint::is_outgrown).
    pub scanner_bytes: usize,
}

impl Index {
    /// Creates an empty index.
    pub(crate) fn new(
        scanner: Arc<Scanner>,
        vocabulary: Spelled,
        budget: usize,
        marks: Option<Arc<Marks>>,
    ) -> Self {
        let words = vocabulary.spelled.width().div_ceil(32);
        let cache = Cache::new(budget);
        Self {
            scanner,
            vocabulary,
            words,
            marks,
            cache,
            shortcuts: Shortcuts::ALL,
            tokens_of_items: OnceLock::new(),
            token_costs: TokenCosts::default(),
            point_walks: PointWalks::default(),
            margins: Margins::default(),
            rests: IndexesAfterPrefixes::default(),
        }
    }

    /// Returns the index with other shortcuts.
    #[cfg(test)]
    pub(crate) fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Self { shortcuts, ..self }
    }

    /// Returns the scanner.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Returns the vocabulary.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary.plain
    }

    /// Returns the vocabulary with the spellings of tokens that the grammar names.
    pub(crate) fn spelled(&self) -> &Spelled {
        &self.vocabulary
    }

    /// Returns the rules that the grammar marks.
    pub(crate) fn marks(&self) -> Option<&Marks> {
        self.marks.as_deref()
    }

    /// Returns the tokens that contain items which may repeat others.
    pub(crate) fn tokens_of_items(&self) -> &TokensOfItems {
        let vocabulary = &self.vocabulary.plain;
        self.tokens_of_items.get_or_init(|| TokensOfItems::new(&self.scanner, vocabulary))
    }

    /// Returns the number of words of a mask.
    pub(crate) fn words(&self) -> usize {
        self.vocabulary.plain.width().div_ceil(32)
    }

    /// Returns the current size.
    pub(crate) fn size(&self) -> IndexSize {
        let epoch = self.cache.epoch();
        IndexSize {
            bytes: epoch.bytes() + self.rests.bytes(),
            masks: epoch.masks.masks.len(),
            branches: epoch.masks.stacks.len(),
            node_sets: epoch.walks.node_sets(),
            scan_states: self.scanner.states().len(),
            scanner_bytes: self.scanner.met_bytes(),
        }
    }

    /// Writes to `row` the tokens, including stop tokens, that may follow in any of these
    /// configurations. `fresh`: no byte of the text has been read yet.
    pub(crate) fn write_mask(&self, readings: &[Configuration], fresh: bool, row: &mut [u32]) {
        if !self.vocabulary.has_further() {
            return self.write_row(readings, fresh, row);
        }
        let mut wide = vec![0; self.words];
        self.write_row(readings, fresh, &mut wide);
        self.vocabulary.fold(&wide, row);
    }

    /// Writes a mask in which a token has one bit for each of its ids.
    fn write_row(&self, readings: &[Configuration], fresh: bool, row: &mut [u32]) {
        let epoch = self.cache.epoch();
        if let [at] = readings
            && let Lookup::Leaf(leaf) =
                epoch.masks.stacks.find_root(at, fresh, self.scanner.lexis())
        {
            epoch.masks.masks.write_to(leaf.mask, row);
            if leaf.asks_end && self.scanner.is_complete(at, &mut Reads::none()) {
                self.allow_end(row);
            }
            return;
        }
        self.compose_row(&epoch, readings, fresh, row);
    }

    /// Composes a mask that is not known yet. A separate function, so that a mask which is only
    /// copied does not pay for its stack frame.
    #[cold]
    #[inline(never)]
    fn compose_row(
        &self,
        epoch: &Arc<Epoch>,
        readings: &[Configuration],
        fresh: bool,
        row: &mut [u32],
    ) {
        self.composer(epoch).write_mask(readings, fresh, row);
        self.cache.renew(epoch);
    }

    /// Sets the bits of the stop tokens.
    pub(crate) fn allow_end(&self, row: &mut [u32]) {
        allow(self.vocabulary.plain.stop_tokens(), row);
    }

    /// Returns the composer for the masks of an epoch.
    fn composer<'g>(&'g self, epoch: &'g Epoch) -> Composer<'g> {
        let walker = Walker {
            scanner: &self.scanner,
            trie: self.vocabulary.spelled.trie(),
            words: self.words,
            tables: &epoch.walks,
            tokens: &epoch.tokens,
            shortcuts: self.shortcuts,
        };
        Composer {
            walker,
            tables: &epoch.masks,
            before: epoch.before.as_deref(),
            parts: &epoch.parts,
            stop_tokens: self.vocabulary.plain.stop_tokens(),
            room: self.cache.room_for_submasks(),
        }
    }
}
