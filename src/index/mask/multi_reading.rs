//! The masks of texts with several readings, and of stacks that fork.
//!
//! A mask is found by the states read down the stack. If the stack forks, each of its ways is a
//! separate path in the trie over stacks, and the mask is the union of their masks. Computations
//! read only near the top, so few ways are read, however many there are further down. The union
//! over ways and readings is keyed by its members.

use smallvec::SmallVec;

use super::context::{Composer, allow};
use super::frame::Unfound;
use super::stack_trie::{Leaf, Lookup};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;

/// Upper bound on the ways in which one stack is read. Beyond it the mask is computed on the graph
/// as a whole, and not cached.
const MAX_WAYS: usize = 256;

/// The same bound for ways that are new. Each costs nearly as much as the whole graph.
const MAX_NEW_WAYS: usize = 16;

/// Number of nodes above a fork that count as one more way: they are all created anew for each way.
const NODES_OF_A_WAY: u32 = 8;

/// The masks whose union is computed.
#[derive(Default)]
struct Members {
    /// Numbers of stored masks, some more than once.
    known: SmallVec<[u32; 8]>,
    /// Union of the masks that are not stored.
    others: Option<Vec<u32>>,
    /// The stored mask that the row currently holds.
    written: Option<u32>,
    /// Steps taken for all of them.
    steps: usize,
}

impl Members {
    #[inline]
    fn add(&mut self, mask: u32) {
        // Equal masks of readings are usually adjacent.
        if self.known.last() != Some(&mask) {
            self.known.push(mask);
        }
    }
}

impl Composer<'_> {
    /// Writes to `row` the tokens that may follow in any of these configurations. For
    /// configurations whose masks are not all known, or for several readings.
    #[cold]
    pub(crate) fn write_mask(&self, readings: &[Configuration], fresh: bool, row: &mut [u32]) {
        let mut masks = Members::default();
        let mut may_end = false;
        for at in readings {
            let asks_end = self.add_ways(at, fresh, &mut masks, row);
            may_end =
                may_end || asks_end && self.walker.scanner.is_complete(at, &mut Reads::none());
        }
        self.write_union(masks, row);
        if may_end {
            allow(self.stop_tokens, row);
        }
    }

    /// Adds the masks of all ways of a reading. Returns whether its end must be tested separately.
    fn add_ways(
        &self,
        at: &Configuration,
        fresh: bool,
        masks: &mut Members,
        row: &mut [u32],
    ) -> bool {
        let mut asks_end = false;
        let mut ways: SmallVec<[Configuration; 4]> = SmallVec::from_iter([at.clone()]);
        let (mut met, mut new) = (0, 0);
        while let Some(way) = ways.pop() {
            met += 1;
            if met > MAX_WAYS || new > MAX_NEW_WAYS || way.layout.is_chosen() {
                self.add_all_ways(at, fresh, masks, row);
                break;
            }
            let found = match self.find(&way, fresh) {
                Lookup::Leaf(leaf) => Ok(leaf),
                Lookup::PastFork => Err(Unfound::PastFork),
                Lookup::Nothing => {
                    new += 1;
                    let computed = self.compute(&way, fresh, row, &mut masks.steps);
                    masks.written = computed.ok().map(|leaf| leaf.mask);
                    computed
                }
            };
            match found {
                Ok(Leaf { mask, asks_end: asks }) => {
                    asks_end |= asks;
                    masks.add(mask);
                }
                Err(Unfound::PastFork) => {
                    let over = way.stack.first_fork().map_or(0, |fork| way.stack.depth() - fork);
                    met += (over / NODES_OF_A_WAY) as usize;
                    let ways_on = way.stack.split(self.walker.scanner.table());
                    ways.extend(ways_on.into_iter().map(|stack| way.on(stack)));
                }
                Err(Unfound::TooMuch) => {
                    self.add_all_ways(at, fresh, masks, row);
                    break;
                }
            }
        }
        asks_end
    }

    /// Adds the mask of all ways of a reading together.
    fn add_all_ways(&self, at: &Configuration, fresh: bool, masks: &mut Members, row: &mut [u32]) {
        let tokens = self.unite_ways(at, &mut masks.steps);
        self.walker.tokens.write_to(tokens, row);
        masks.written = None;
        if self
            .ends(at, fresh, &mut Reads::none())
            .unwrap_or_else(|| self.walker.scanner.is_complete(at, &mut Reads::none()))
        {
            allow(self.stop_tokens, row);
        }
        match &mut masks.others {
            Some(others) => others.iter_mut().zip(row).for_each(|(all, more)| *all |= *more),
            None => masks.others = Some(row.to_vec()),
        }
    }

    /// Writes the union of these masks to `row`.
    fn write_union(&self, mut masks: Members, row: &mut [u32]) {
        masks.known.sort_unstable();
        masks.known.dedup();
        match &masks.known[..] {
            [] => row.fill(0),
            [mask] if masks.written == Some(*mask) => {}
            [mask] => {
                self.tables.masks.write_to(*mask, row);
            }
            _ => self.tables.unions.write_to(&masks.known, &self.tables.masks, row),
        }
        if let Some(others) = masks.others {
            row.iter_mut().zip(others).for_each(|(word, more)| *word |= more);
        }
    }
}
