//! The parts of a walk that walks from other scan states share.
//!
//! Most of a vocabulary begins like a name. A walk from a place where a name or any of fifty key
//! words may begin, and one from amid a word that may still become one of them, meet nearly all of
//! it alike: as soon as no key word is left, both are in the scan state of a plain name. That state
//! is a *hub*; the one within blanks is often another. The walk from a hub is done once, and any
//! other walk leaves out what it would meet just so: it goes along both ways at once, and where
//! they have come together all below is covered. What is not is left to the walk itself, and taken
//! out of what the hub allows.

use std::ops::Range;

use smallvec::SmallVec;

use super::branch::Group;
use super::generation::Generation;
use super::token_set::TokenSet;
use super::unions::TokensId;
use super::walk::{LeadingBytes, NodesId};
use crate::scanner::points::{Point, PointId};
use crate::scanner::{ObligationsId, Scanner, is_blank};
use crate::util::id::ScanStateId;
use crate::vocab::trie::Trie;

/// What a walk leaves to another one.
#[derive(Debug)]
pub(crate) struct Hub {
    /// The other walk's nodes and scan state; it has no obligations and counts no blanks.
    pub(crate) nodes: NodesId,
    pub(crate) state: ScanStateId,
    /// Where blanks are being counted: that the count is over, for a hub begins with another byte.
    /// Else nothing.
    pub(crate) leading: LeadingBytes,
    /// The tokens below these nodes that the walk has not left to the other.
    pub(crate) except: TokensId,
}

/// The hubs of a walk that is about to be done, those that cover most first.
pub(super) struct Hubs<'a>(SmallVec<[HubNodes<'a>; 4]>);

struct HubNodes<'a> {
    point: &'a Point,
    nodes: Vec<u32>,
    counting: bool,
}

/// Where the walk from a hub has come to.
#[derive(Clone, Copy)]
pub(super) struct Shadow<'a> {
    /// Which hub.
    pub(super) hub: u8,
    point: &'a Point,
    /// Whether a lexeme may have ended on the way, and no longer match has come.
    open: bool,
}

/// Only what begins one token in so many is left to a hub: with fewer a walk takes no time.
const TOKENS_FOR_A_HUB: usize = 256;

/// There are names, numbers, blanks; where there is more the walk does it itself.
const MAX_HUBS: usize = 4;

/// Whether so many tokens are worth a hub.
fn is_enough(count: u32, trie: &Trie) -> bool {
    count as usize * TOKENS_FOR_A_HUB >= trie.ids().len()
}

impl<'a> Hubs<'a> {
    /// No hubs.
    pub(super) fn none() -> Self {
        Self(SmallVec::new())
    }

    /// The scan states that most of the tokens below these nodes lead to at once from `at` and that
    /// lead back to themselves.
    pub(super) fn find(
        id: NodesId,
        at: &Point,
        counting: bool,
        scanner: &'a Scanner,
        trie: &Trie,
        generation: &Generation,
    ) -> Self {
        let mut count = 0;
        let enough = generation.nodes(id).iter().any(|&node| {
            count += trie.count(node);
            is_enough(count, trie)
        });
        if !enough {
            return Self::none();
        }
        let groups = generation.groups(id, trie);
        let mut tally: SmallVec<[(&Point, u32); 16]> = SmallVec::new();
        for &Group { byte, tokens, .. } in groups {
            let next = match id {
                NodesId::ROOT => Some(scanner.step_point(at, byte))
                    .filter(|step| step.ended().is_none())
                    .and_then(|step| Some(scanner.at_point(step.next()?))),
                _ => scanner.begin_at_point(at, byte),
            };
            let Some(point) = next.filter(|point| point.obligations == ObligationsId::NONE) else { continue };
            if scanner.step_point(point, byte) != point.back() || (counting && is_blank(byte)) {
                continue;
            }
            match tally.iter_mut().find(|(known, _)| std::ptr::eq(*known, point)) {
                Some((_, count)) => *count += tokens,
                None => tally.push((point, tokens)),
            }
        }
        tally.retain(|&mut (_, count)| is_enough(count, trie));
        tally.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let hubs = tally.into_iter().take(MAX_HUBS).filter_map(|(point, _)| {
            let taken = |group: &&Group| {
                scanner.step_point(point, group.byte).next().is_some() && !(counting && is_blank(group.byte))
            };
            let taken = groups.iter().filter(taken);
            let mut nodes: Vec<u32> = taken.flat_map(|group| &group.nodes).copied().collect();
            nodes.sort_unstable();
            // What lies below two of the nodes might be covered on one way and not on the other.
            let apart = nodes.is_sorted_by(|&a, &b| trie.end(a) <= b);
            apart.then_some(HubNodes { point, nodes, counting })
        });
        Self(hubs.collect())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes along with a walk from its first byte on, which has led it to `point`: the way of the
    /// hub that it is in by then, or else of the one that covers most of those that the byte may
    /// lead to.
    #[inline]
    pub(super) fn begin(&self, scanner: &'a Scanner, point: &Point, byte: u8) -> Option<Shadow<'a>> {
        let mut best = None;
        for (hub, HubNodes { point: from, counting, .. }) in (0..).zip(&self.0) {
            if *counting && is_blank(byte) {
                return None;
            }
            // The hub's walk begins with the byte, so no lexeme has ended before it.
            let shadow = Shadow { hub, point: from, open: false }.step(scanner, byte);
            let shadow = shadow.map(|shadow| Shadow { open: false, ..shadow });
            match shadow {
                Some(shadow) if shadow.is_at(point) => return Some(shadow),
                _ => best = best.or(shadow),
            }
        }
        best
    }

    /// The hubs, where these runs among the trie's ids are covered by each.
    pub(super) fn finish(
        self,
        covered: Vec<Vec<Range<u32>>>,
        trie: &Trie,
        words: usize,
        generation: &Generation,
    ) -> Box<[Hub]> {
        let hubs = self.0.into_iter().zip(covered).filter(|(_, covered)| !covered.is_empty());
        let finish = |(hub, mut covered): (HubNodes<'_>, Vec<Range<u32>>)| {
            // Branches come by their bytes, whatever is before these.
            covered.sort_unstable_by_key(|run| run.start);
            hub.finish(&covered, trie, words, generation)
        };
        hubs.map(finish).collect()
    }
}

impl<'a> Shadow<'a> {
    /// The same for a branch, which knows of one hub.
    pub(super) fn alone(self) -> Self {
        Self { hub: 0, ..self }
    }

    /// Where it has come to.
    pub(super) fn point(self) -> PointId {
        self.point.id
    }

    /// After one more byte.
    #[inline]
    pub(super) fn step(self, scanner: &'a Scanner, byte: u8) -> Option<Self> {
        let step = scanner.step_point(self.point, byte);
        let point = scanner.at_point(step.next()?);
        // What goes on after an end before a longer match meets that match in what it is obliged
        // to.
        let open = (self.open || step.ended().is_some()) && !point.accepts;
        Some(Self { point, open, ..self })
    }

    /// Whether all that follows is the same from `point`.
    #[inline]
    pub(super) fn is_at(&self, point: &Point) -> bool {
        std::ptr::eq(self.point, point) && !self.open
    }
}

impl HubNodes<'_> {
    /// The hub, where these runs among the trie's ids are covered.
    fn finish(self, covered: &[Range<u32>], trie: &Trie, words: usize, generation: &Generation) -> Hub {
        let mut covered = covered.iter().peekable();
        let mut rest: Vec<Range<u32>> = Vec::new();
        let mut at = 0;
        for &node in &self.nodes {
            let first = trie.node(node).first;
            let end = first + trie.count(node);
            // A run may go on over several nodes.
            at = at.max(first);
            while let Some(run) = covered.next_if(|run| run.start < end) {
                if at < run.start {
                    rest.push(at..run.start);
                }
                at = run.end;
            }
            if at < end {
                rest.push(at..end);
            }
        }
        let except = match rest.is_empty() {
            true => TokensId::NONE,
            false => generation.add_set(TokenSet::from_runs(trie.ids(), rest.into_iter(), words)),
        };
        let leading = if self.counting { Box::from([0]) } else { LeadingBytes::default() };
        Hub { nodes: generation.nodes_id(self.nodes), state: self.point.state, leading, except }
    }
}
