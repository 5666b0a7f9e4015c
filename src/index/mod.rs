//! The stack-aware index: masks by configuration, built as configurations are met, shared by all
//! sequences.
//!
//! A mask depends on the scan state, the obligations, and on as much of the parse stack and the
//! layout as its computation reads. So masks are found through a trie over what was read. Steps
//! that were ever seen before cost one look-up for each thing read, and one copy.
//!
//! The rooms, each of which knows of those above it only:
//!
//! * [`tokens`]: sets of tokens, and the graph of sets that are put together from others.
//! * [`walk`]: the trie of the vocabulary is walked once for each scan state, whatever the stack;
//!   what comes of it is classes of tokens.
//! * [`mask`]: what is new is composed from classes, by way of submasks; masks are stored, and
//!   found again by what was read.
//! * [`cache`]: all tables, and their budget.
//! * [`items`]: which tokens hold items that may repeat others in a list; no mask knows of that.

mod cache;
mod items;
mod mask;
mod tokens;
mod walk;

use std::sync::{Arc, OnceLock};

use crate::scanner::configuration::Configuration;
use crate::scanner::{Marks, Reads, Scanner};
use crate::vocab::{Spelled, Vocabulary};
use cache::{Cache, Epoch};
pub(crate) use items::{Brackets, TokensOfItems};
pub(crate) use mask::allow;
use mask::{Composer, Found};
pub(crate) use walk::Shortcuts;
use walk::Walker;

/// The index of a grammar and a vocabulary.
#[derive(Debug)]
pub(crate) struct Index {
    scanner: Arc<Scanner>,
    vocabulary: Spelled,
    /// Words in a mask, with the second ids of tokens that have one.
    words: usize,
    /// What the grammar wants to know of its rules' texts.
    marks: Option<Arc<Marks>>,
    cache: Cache,
    shortcuts: Shortcuts,
    /// Where items of lists must differ: found when it is first asked for.
    tokens_of_items: OnceLock<TokensOfItems>,
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
    /// Bytes of what the scanner has met: scan states, what longest match still asks of texts,
    /// parse states in their contexts, unions of stacks. They are not among `bytes`, and stay until
    /// the constraint is dropped: see
    /// [`Constraint::is_outgrown`](crate::Constraint::is_outgrown).
    pub scanner_bytes: usize,
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
        let cache = Cache::new(budget);
        let (shortcuts, tokens_of_items) = (Shortcuts::ALL, OnceLock::new());
        Self { scanner, vocabulary, words, marks, cache, shortcuts, tokens_of_items }
    }

    /// The same without some shortcuts.
    #[cfg(test)]
    pub(crate) fn with_shortcuts(self, shortcuts: Shortcuts) -> Self {
        Self { shortcuts, ..self }
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

    /// Tokens that hold items which may repeat others.
    pub(crate) fn tokens_of_items(&self) -> &TokensOfItems {
        let vocabulary = &self.vocabulary.plain;
        self.tokens_of_items.get_or_init(|| TokensOfItems::new(&self.scanner, vocabulary))
    }

    /// Words in a mask.
    pub(crate) fn words(&self) -> usize {
        self.vocabulary.plain.width().div_ceil(32)
    }

    /// How large it has become.
    pub(crate) fn size(&self) -> IndexSize {
        let epoch = self.cache.epoch();
        IndexSize {
            bytes: epoch.bytes(),
            masks: epoch.masks.masks.len(),
            branches: epoch.masks.stacks.len(),
            node_sets: epoch.walked.walks.node_sets(),
            scan_states: self.scanner.states().len(),
            scanner_bytes: self.scanner.met_bytes(),
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
        let epoch = self.cache.epoch();
        if let [at] = readings
            && let Found::Leaf(leaf) = epoch.masks.stacks.find_root(at, fresh, self.scanner.lexis())
        {
            epoch.masks.masks.write_to(leaf.mask, row);
            if leaf.asks_end && self.scanner.is_complete(at, &mut Reads::none()) {
                self.allow_end(row);
            }
            return;
        }
        self.compose_row(&epoch, readings, fresh, row);
    }

    /// The same where the mask has to be composed. Kept apart: what it needs of the call stack is
    /// nothing for a mask that is only copied.
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

    /// What makes the masks of an epoch.
    fn composer<'g>(&'g self, epoch: &'g Epoch) -> Composer<'g> {
        let walker = Walker {
            scanner: &self.scanner,
            trie: self.vocabulary.spelled.trie(),
            words: self.words,
            tables: &epoch.walked.walks,
            tokens: &epoch.walked.tokens,
            shortcuts: self.shortcuts,
        };
        Composer {
            walker,
            tables: &epoch.masks,
            before: epoch.before.as_deref(),
            parts: &epoch.parts,
            masks_of: &epoch.masks_of,
            stop_tokens: self.vocabulary.plain.stop_tokens(),
            room: self.cache.room_for_submasks(),
        }
    }
}
