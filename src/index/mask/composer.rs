//! What masks are composed from, and how the mask of one configuration is made.

use super::stack_trie::{Found, Leaf, Root, Seen};
use super::storage;
use super::tables::{MaskTables, MasksOf, PartTables};
use super::task::Unfound;
use crate::index::tokens::TokensId;
use crate::index::walk::Walker;
use crate::scanner::configuration::Configuration;
use crate::scanner::{Line, Reads};
use crate::util::id::TokenId;

/// What masks are composed from, and where they are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Composer<'g> {
    pub(crate) walker: Walker<'g>,
    pub(crate) tables: &'g MaskTables,
    /// Masks of the epoch before.
    pub(crate) before: Option<&'g MaskTables>,
    pub(crate) parts: &'g PartTables,
    pub(crate) masks_of: &'g MasksOf,
    /// Tokens that are allowed where the text may end.
    pub(crate) stop_tokens: &'g [TokenId],
    /// Bytes that submasks may take.
    pub(crate) room: usize,
}

impl Composer<'_> {
    /// The mask that is known for a configuration, be it from the epoch before. `fresh` says that
    /// no byte of the text has been read yet.
    pub(super) fn find(&self, at: &Configuration, fresh: bool) -> Found<Leaf> {
        match self.tables.stacks.find_root(at, fresh, self.walker.scanner.lexis()) {
            Found::Nothing => self.carry_over(at, fresh),
            found => found,
        }
    }

    /// Enters a mask of the epoch before, with all that was read of the configuration for it.
    #[cold]
    fn carry_over(&self, at: &Configuration, fresh: bool) -> Found<Leaf> {
        let Some(before) = self.before else { return Found::Nothing };
        let (root, lexis) = (Root::new(at, fresh), self.walker.scanner.lexis());
        let mut reads = Reads::new(&at.stack, at.layout.lines(), 0);
        let see = |seen: Seen<'_>| self.see(seen, &at.layout, &Line::OWN, &mut reads);
        let leaf = match before.stacks.find(&root, &at.stack, &at.layout, lexis, see) {
            Found::Leaf(leaf) => leaf,
            found => return found,
        };
        let mut row = vec![0; self.walker.words];
        before.masks.write_to(leaf.mask, &mut row);
        let (mask, bytes) = self.tables.masks.intern(&row);
        self.tables.add_bytes(bytes);
        let (leaf, reads) = (Leaf { mask, ..leaf }, reads.into_events());
        Found::Leaf(self.tables.stacks.insert(root, &at.stack, &at.layout, lexis, &reads, leaf))
    }

    /// Makes the mask of a configuration on one way through its stack from token classes, enters
    /// it, and writes it to `row`. The steps that this takes are added to `steps`.
    pub(super) fn compute(
        &self,
        at: &Configuration,
        fresh: bool,
        row: &mut [u32],
        steps: &mut usize,
    ) -> Result<Leaf, Unfound> {
        let (tokens, mut reads) = self.unite(at, steps)?;
        reads.set_line(Line::OWN);
        let complete = self.ends(at, fresh, &mut reads);
        if reads.is_past_fork() {
            return Err(Unfound::PastFork);
        }
        let mask = self.mask_of(tokens, complete == Some(true), row);
        let leaf = Leaf { mask, asks_end: complete.is_none() };
        let (root, lexis) = (Root::new(at, fresh), self.walker.scanner.lexis());
        let reads = reads.into_events();
        self.tables.stacks.insert(root, &at.stack, &at.layout, lexis, &reads, leaf);
        Ok(leaf)
    }

    /// Whether the text may end; `None` where that depends on all open blocks.
    pub(super) fn ends(&self, at: &Configuration, fresh: bool, reads: &mut Reads) -> Option<bool> {
        match fresh {
            true => Some(self.walker.scanner.is_complete_between(at, reads)),
            false => self.walker.scanner.is_complete_whatever_blocks(at, reads),
        }
    }

    /// The mask of these tokens, and the stop tokens where the text may end; it is written to
    /// `row`.
    fn mask_of(&self, tokens: TokensId, complete: bool, row: &mut [u32]) -> u32 {
        let key = (tokens, complete);
        if let Some(&mask) = self.masks_of.known.get(&key) {
            self.tables.masks.write_to(mask, row);
            return mask;
        }
        let stop_tokens = if complete { self.stop_tokens } else { &[] };
        let (mask, bytes) = match self.few(tokens, stop_tokens, row.len()) {
            Some(few) => {
                let found = self.tables.masks.intern_few(&few);
                self.tables.masks.write_to(found.0, row);
                found
            }
            None => {
                self.walker.tokens.write_to(tokens, row);
                allow(stop_tokens, row);
                self.tables.masks.intern(row)
            }
        };
        self.tables.add_bytes(bytes);
        *self.masks_of.known.get_or_insert_with(key, || mask)
    }

    /// These tokens and the stop tokens, ascending, if they are seen to be few.
    fn few(&self, tokens: TokensId, stop_tokens: &[TokenId], words: usize) -> Option<Vec<u32>> {
        let most = storage::most_in_a_list(words);
        let mut few = self.walker.tokens.few(tokens, most)?;
        for stop in stop_tokens {
            if let Err(place) = few.binary_search(&stop.0) {
                few.insert(place, stop.0);
            }
        }
        (few.len() <= most).then_some(few)
    }
}

/// Sets the bits of these tokens.
pub(crate) fn allow(tokens: &[TokenId], row: &mut [u32]) {
    for &token in tokens {
        row[token.index() / 32] |= 1 << (token.0 % 32);
    }
}
