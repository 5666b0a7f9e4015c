//! The context of mask composition, and the computation of one configuration's mask.

use super::frame::Unfound;
use super::stack_trie::{Leaf, Lookup, Root, Seen};
use super::storage;
use super::tables::{MaskTables, PartTables};
use crate::index::tokens::TokensId;
use crate::index::walk::Walker;
use crate::scanner::configuration::Configuration;
use crate::scanner::{Line, Reads};
use crate::util::id::TokenId;

/// The inputs and the tables of mask composition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Composer<'g> {
    pub(crate) walker: Walker<'g>,
    pub(crate) tables: &'g MaskTables,
    /// Masks of the previous epoch.
    pub(crate) before: Option<&'g MaskTables>,
    pub(crate) parts: &'g PartTables,
    /// Tokens that are allowed where the text may end.
    pub(crate) stop_tokens: &'g [TokenId],
    /// Upper bound on the bytes of submasks.
    pub(crate) room: usize,
}

impl Composer<'_> {
    /// Returns the known mask of a configuration, including those of the previous epoch. `fresh`:
    /// no byte of the text has been read yet.
    pub(super) fn find(&self, at: &Configuration, fresh: bool) -> Lookup<Leaf> {
        match self.tables.stacks.find_root(at, fresh, self.walker.scanner.lexis()) {
            Lookup::Nothing => self.carry_over(at, fresh),
            found => found,
        }
    }

    /// Copies a mask of the previous epoch to this one, with everything that was read of the
    /// configuration for it.
    #[cold]
    fn carry_over(&self, at: &Configuration, fresh: bool) -> Lookup<Leaf> {
        let Some(before) = self.before else { return Lookup::Nothing };
        let (root, lexis) = (Root::new(at, fresh), self.walker.scanner.lexis());
        let mut reads = Reads::new(&at.stack, at.layout.lines(), 0);
        let see = |seen: Seen<'_>| self.see(seen, &at.layout, &Line::OWN, &mut reads);
        let leaf = match before.stacks.find(&root, &at.stack, &at.layout, lexis, see) {
            Lookup::Leaf(leaf) => leaf,
            found => return found,
        };
        let mut row = vec![0; self.walker.words];
        before.masks.write_to(leaf.mask, &mut row);
        let (mask, bytes) = self.tables.masks.intern(&row);
        self.tables.add_bytes(bytes);
        let (leaf, reads) = (Leaf { mask, ..leaf }, reads.into_events());
        Lookup::Leaf(self.tables.stacks.insert(root, &at.stack, &at.layout, lexis, &reads, leaf))
    }

    /// Computes the mask of a configuration from token classes, along one path through its stack,
    /// enters it in the tables, and writes it to `row`. The steps that this takes are added to
    /// `steps`.
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

    /// Whether the text may end; `None` if that depends on all open blocks.
    pub(super) fn ends(&self, at: &Configuration, fresh: bool, reads: &mut Reads) -> Option<bool> {
        match fresh {
            true => Some(self.walker.scanner.is_complete_between(at, reads)),
            false => self.walker.scanner.is_complete_whatever_blocks(at, reads),
        }
    }

    /// Returns the mask of these tokens, and of the stop tokens if `complete` is set, and writes it
    /// to `row`.
    fn mask_of(&self, tokens: TokensId, complete: bool, row: &mut [u32]) -> u32 {
        let key = (tokens, complete);
        if let Some(&mask) = self.parts.masks.get(&key) {
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
        *self.parts.masks.get_or_insert_with(key, || mask)
    }

    /// Returns these tokens and the stop tokens, ascending, if their number is easily seen to be
    /// small.
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
