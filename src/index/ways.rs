//! The masks of texts that have several readings, and of stacks that fork.
//!
//! A mask is found by the states that are read down the stack. Where the stack forks, each of its
//! ways is a path of its own in the trie over stacks, and the mask is the union of theirs. Masks
//! read shallow, so the ways that are read are few, however many there are further down. The union
//! over ways and readings is known by the masks that it is made of.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use smallvec::SmallVec;

use super::Index;
use super::generation::Generation;
use super::parts::Unfound;
use super::stack_trie::{Found, Leaf};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::util::append::Slots;
use crate::util::append_map::AppendMap;

/// Where one stack is read in more ways than this, its mask is found on the graph as a whole, and
/// not kept.
const MAX_WAYS: usize = 256;

/// The same of ways that were never met. Each costs what the graph costs as a whole, or nearly.
const MAX_NEW_WAYS: usize = 16;

/// The masks that make up one.
#[derive(Default)]
struct Masks {
    /// Their numbers.
    kept: SmallVec<[u32; 8]>,
    /// The union of those that have none.
    others: Option<Vec<u32>>,
    /// The kept mask that the row holds at the time.
    written: Option<u32>,
}

impl Masks {
    fn keep(&mut self, mask: u32) {
        if !self.kept.contains(&mask) {
            self.kept.push(mask);
        }
    }
}

impl Index {
    /// [`Index::write_mask`](super::Index::write_mask) where not all is known, or there are several
    /// readings.
    #[cold]
    pub(super) fn write_masks(
        &self,
        generation: &Arc<Generation>,
        readings: &[Configuration],
        fresh: bool,
        row: &mut [u32],
    ) {
        let mut masks = Masks::default();
        let mut may_end = false;
        for at in readings {
            let asks_end = self.add_ways(generation, at, fresh, &mut masks, row);
            may_end = may_end || asks_end && self.scanner.is_complete(at, &mut Reads::none());
        }
        self.write_union(generation, masks, row);
        if may_end {
            self.allow_end(row);
        }
        if generation.bytes() > self.budget {
            self.generation.compare_and_swap(generation, Arc::new(Generation::new()));
        }
    }

    /// Adds the masks of all ways of a reading. Whether its end is to be asked for.
    fn add_ways(
        &self,
        generation: &Generation,
        at: &Configuration,
        fresh: bool,
        masks: &mut Masks,
        row: &mut [u32],
    ) -> bool {
        // Nearly always it has one way, or all of them look alike as far down as is read.
        if !at.layout.is_chosen()
            && let Found::Leaf(Leaf { mask, asks_end }) = self.find(generation, at, fresh)
        {
            masks.keep(mask);
            return asks_end;
        }
        let mut asks_end = false;
        let mut ways: SmallVec<[Configuration; 4]> = SmallVec::from_iter([at.clone()]);
        let (mut met, mut new) = (0, 0);
        while let Some(way) = ways.pop() {
            met += 1;
            if met > MAX_WAYS || new > MAX_NEW_WAYS || way.layout.is_chosen() {
                self.add_all_ways(generation, at, fresh, masks, row);
                break;
            }
            let found = match self.find(generation, &way, fresh) {
                Found::Leaf(leaf) => Ok(leaf),
                Found::PastFork => Err(Unfound::PastFork),
                Found::Nothing => {
                    new += 1;
                    let computed = self.compute(generation, &way, fresh, row);
                    masks.written = computed.ok().map(|leaf| leaf.mask);
                    computed
                }
            };
            match found {
                Ok(Leaf { mask, asks_end: asks }) => {
                    asks_end |= asks;
                    masks.keep(mask);
                }
                Err(Unfound::PastFork) => {
                    let ways_on = way.stack.split(self.scanner.table());
                    ways.extend(ways_on.into_iter().map(|stack| way.on(stack)));
                }
                Err(Unfound::TooMuch) => {
                    self.add_all_ways(generation, at, fresh, masks, row);
                    break;
                }
            }
        }
        asks_end
    }

    /// Adds the mask of all ways of a reading together.
    fn add_all_ways(
        &self,
        generation: &Generation,
        at: &Configuration,
        fresh: bool,
        masks: &mut Masks,
        row: &mut [u32],
    ) {
        let tokens = self.unite_ways(generation, at);
        generation.unions.write_to(tokens, row);
        masks.written = None;
        if self
            .ends(at, fresh, &mut Reads::none())
            .unwrap_or_else(|| self.scanner.is_complete(at, &mut Reads::none()))
        {
            self.allow_end(row);
        }
        match &mut masks.others {
            Some(others) => others.iter_mut().zip(row).for_each(|(all, more)| *all |= *more),
            None => masks.others = Some(row.to_vec()),
        }
    }

    /// Makes `row` hold what any of these masks has.
    fn write_union(&self, generation: &Generation, mut masks: Masks, row: &mut [u32]) {
        match &masks.kept[..] {
            [] => row.fill(0),
            [mask] if masks.written == Some(*mask) => {}
            [mask] => generation.masks.write_to(*mask, row),
            _ => {
                masks.kept.sort_unstable();
                generation.write_mask_union(&masks.kept, row);
            }
        }
        if let Some(others) = masks.others {
            row.iter_mut().zip(others).for_each(|(word, more)| *word |= more);
        }
    }
}

/// Unions of masks, by the numbers of these.
#[derive(Debug, Default)]
pub(super) struct MaskUnions {
    numbers: AppendMap<Box<[u32]>, u32>,
    /// By number: the union's own, once it was met again.
    masks: Slots<u32>,
    bytes: AtomicUsize,
}

impl MaskUnions {
    /// The number of a union of masks, and whether it was never met before.
    fn number(&self, masks: &[u32]) -> (u32, bool) {
        let mut is_new = false;
        let number = self.numbers.get_or_insert_with(masks.into(), || {
            is_new = true;
            self.bytes.fetch_add(UNION_BYTES + size_of_val(masks), Ordering::Relaxed);
            // Counted while nothing else can be entered.
            self.numbers.len() as u32
        });
        (number, is_new)
    }

    /// The unions met so far in this order: what they are of, and their own mask.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u32], Option<u32>)> {
        self.numbers.iter().map(|(of, number)| (&**of, self.masks.get(*number).copied()))
    }

    /// Enters a union that was met before.
    pub(super) fn add(&self, of: &[u32], mask: Option<u32>) {
        let (number, _) = self.number(of);
        if let Some(mask) = mask {
            self.masks.get_or_init(number, || mask);
        }
    }

    /// Heap bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// What a union costs beside the numbers of its masks: its entry and its places.
const UNION_BYTES: usize = 56;

impl Generation {
    /// Makes `row` hold the union of several masks, by ascending numbers. It is kept once it has
    /// been met twice.
    fn write_mask_union(&self, masks: &[u32], row: &mut [u32]) {
        let (union, is_new) = self.mask_unions.number(masks);
        if let Some(&mask) = self.mask_unions.masks.get(union) {
            return self.masks.write_to(mask, row);
        }
        let mut other = vec![0; row.len()];
        row.fill(0);
        for &mask in masks {
            self.masks.write_to(mask, &mut other);
            row.iter_mut().zip(&other).for_each(|(word, other)| *word |= other);
        }
        if !is_new {
            let (mask, bytes) = self.masks.intern(row);
            self.add_bytes(bytes);
            self.mask_unions.masks.get_or_init(union, || mask);
        }
    }
}
