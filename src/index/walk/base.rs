//! The parts that walks share with a base walk.
//!
//! Most of a vocabulary consists of tokens that begin like a name. A walk from a state where a name
//! or any of fifty keywords may begin, and one from the middle of a word that may still become a
//! keyword, treat nearly all of it alike: as soon as no keyword is left, both are in the scan state
//! of a plain name. The walk from that state is a *base walk*; another one often starts within
//! blanks. It is done once, and any other walk leaves out the part that would be the same: it
//! tracks the point of the base walk in parallel with its own, and where the two become equal, the
//! subtree is *covered*. The uncovered rest is the walk's *delta*: its own classes, and the tokens
//! to remove from those that the base walk allows.

use std::ops::Range;

use smallvec::SmallVec;

use super::classes::Base;
use super::context::Walker;
use super::line_blanks::LeadingBytes;
use super::nodes::NodesId;
use crate::scanner::product_state::{Point, PointId};
use crate::scanner::{ObligationsId, Scanner, is_blank};
use crate::vocab::trie::Trie;

/// The base walks of a walk, in descending order of their share, and the tokens that each covers.
#[derive(Default)]
pub(super) struct Bases<'g> {
    candidates: SmallVec<[Candidate<'g>; 4]>,
    /// For each candidate: the covered tokens, as runs of indices into the trie's ids.
    covered: SmallVec<[Vec<Range<u32>>; 1]>,
}

/// A point from which a base walk may be done.
struct Candidate<'g> {
    point: &'g Point,
    nodes: NodesId,
    counting: bool,
}

/// The position of a base walk after the same bytes.
#[derive(Clone, Copy)]
pub(super) struct BasePosition<'g> {
    /// Index of the candidate.
    pub(super) number: u8,
    point: &'g Point,
    /// Whether a lexeme may have ended on the way, without a longer match since.
    open: bool,
}

/// A base walk is used only if it covers at least one token in this many: below that, a walk is
/// fast anyway.
const TOKENS_FOR_A_BASE: usize = 256;

/// Upper bound on the base walks of a walk: names, numbers, blanks; any others are walked in full.
const MAX_BASES: usize = 4;

/// Whether this many tokens are worth a base walk.
fn is_enough(count: u32, trie: &Trie) -> bool {
    count as usize * TOKENS_FOR_A_BASE >= trie.ids().len()
}

impl<'g> Bases<'g> {
    /// Finds the base walks for a walk of these nodes from `at`: from the scan states that most of
    /// the tokens lead to immediately and that lead back to themselves.
    pub(super) fn find(walker: Walker<'g>, id: NodesId, at: &Point, counting: bool) -> Self {
        let Walker { scanner, trie, tables, .. } = walker;
        let mut count = 0;
        let enough = tables.nodes(id).iter().any(|&node| {
            count += trie.count(node);
            is_enough(count, trie)
        });
        if !enough {
            return Self::default();
        }
        let by_byte = tables.nodes.by_byte(id, trie);
        let mut tally: SmallVec<[(&Point, u32); 16]> = SmallVec::new();
        let (live, classes) = (scanner.find_steps(at), scanner.states().classes());
        // Bytes with which few tokens begin take as long to examine as the others.
        let are_live = |&&(byte, _): &&(u8, u32)| live.contains(classes.get(byte));
        for &(byte, tokens) in by_byte.many.iter().filter(are_live) {
            let next = match id {
                NodesId::ROOT => Some(scanner.step_point(at, byte))
                    .filter(|step| step.ended().is_none())
                    .and_then(|step| Some(scanner.at_point(step.next()?))),
                _ => scanner.begin_at_point(at, byte),
            };
            let Some(point) = next.filter(|point| point.obligations == ObligationsId::NONE) else {
                continue;
            };
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
        let candidates = tally.into_iter().take(MAX_BASES);
        let candidates = candidates
            .filter_map(|(point, _)| Candidate::new(walker, point, id, counting))
            .collect();
        Self { candidates, covered: SmallVec::new() }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns the base walk to track after the first byte of a walk, which has led it to `point`:
    /// one that is at this point now, or else the one that covers most of the tokens.
    #[inline]
    pub(super) fn begin(
        &self,
        scanner: &'g Scanner,
        point: &Point,
        byte: u8,
    ) -> Option<BasePosition<'g>> {
        let mut best = None;
        for (number, Candidate { point: from, counting, .. }) in (0..).zip(&self.candidates) {
            if *counting && is_blank(byte) {
                return None;
            }
            // The base walk begins with the byte, so no lexeme has ended before it.
            let position = BasePosition { number, point: from, open: false }.step_on(scanner, byte);
            let position = position.map(|position| BasePosition { open: false, ..position });
            match position {
                Some(position) if position.is_at(point) => return Some(position),
                _ => best = best.or(position),
            }
        }
        best
    }

    /// Marks the nodes from `first` to before `end` as covered by a base walk.
    pub(super) fn cover(&mut self, number: u8, trie: &Trie, (first, end): (u32, u32)) {
        if first == end {
            return;
        }
        let tokens = trie.node(first).first..trie.node(end).first;
        let covered = self.covered_by(number);
        match covered.last_mut() {
            Some(last) if last.end == tokens.start => last.end = tokens.end,
            _ => covered.push(tokens),
        }
    }

    /// Returns the runs that a base walk covers so far.
    pub(super) fn covered_by(&mut self, number: u8) -> &mut Vec<Range<u32>> {
        let number = usize::from(number);
        if self.covered.len() <= number {
            self.covered.resize_with(number + 1, Vec::new);
        }
        &mut self.covered[number]
    }

    /// Removes and returns the covered runs of a branch, which has one base walk.
    pub(super) fn take_covered(&mut self) -> Box<[Range<u32>]> {
        self.covered.pop().unwrap_or_default().into()
    }

    /// Returns the base walks that cover any tokens.
    pub(super) fn finish(self, walker: Walker<'_>) -> Box<[Base]> {
        let bases = self.candidates.into_iter().zip(self.covered);
        let bases = bases.filter(|(_, covered)| !covered.is_empty());
        let finish = |(candidate, mut covered): (Candidate<'_>, Vec<Range<u32>>)| {
            // Branches are ordered by their bytes, but their covered runs need not be.
            covered.sort_unstable_by_key(|run| run.start);
            candidate.finish(walker, &covered)
        };
        bases.map(finish).collect()
    }
}

impl<'g> BasePosition<'g> {
    /// Returns the position for a branch, which has one base walk.
    pub(super) fn alone(self) -> Self {
        Self { number: 0, ..self }
    }

    /// Returns the current point.
    pub(super) fn point(self) -> PointId {
        self.point.id
    }

    /// Returns the position after one more byte; `None` also if a lexeme may end before it whatever
    /// comes after, because only the base walk visits the nodes after that end.
    #[inline]
    pub(super) fn step(self, scanner: &'g Scanner, byte: u8) -> Option<Self> {
        let ends = self.point.every_match && scanner.step_point(self.point, byte).ended().is_some();
        if ends { None } else { self.step_on(scanner, byte) }
    }

    /// Returns the position after one more byte, if no lexeme has ended.
    #[inline]
    fn step_on(self, scanner: &'g Scanner, byte: u8) -> Option<Self> {
        let step = scanner.step_point(self.point, byte);
        let point = scanner.at_point(step.next()?);
        // If the text continues past an end before a longer match, obligations exclude that match.
        let open = (self.open || step.ended().is_some()) && !point.accepts;
        Some(Self { point, open, ..self })
    }

    /// Whether the walk from `point` would be the same.
    #[inline]
    pub(super) fn is_at(&self, point: &Point) -> bool {
        std::ptr::eq(self.point, point) && !self.open
    }
}

impl<'g> Candidate<'g> {
    /// Creates the base walk from `point`, over those of these nodes that lead anywhere from there.
    fn new(walker: Walker<'g>, point: &'g Point, id: NodesId, counting: bool) -> Option<Self> {
        let Walker { scanner, trie, tables, .. } = walker;
        let nodes = tables.base_nodes((id, point.id, counting), || {
            let taken = tables.nodes.by_byte(id, trie).of(|byte| {
                scanner.step_point(point, byte).next().is_some() && !(counting && is_blank(byte))
            });
            let mut nodes: Vec<u32> = taken.flat_map(|alike| alike.nodes).copied().collect();
            nodes.sort_unstable();
            // Tokens below two of the nodes might be covered on one path and not on the other.
            let apart = nodes.is_sorted_by(|&a, &b| trie.end(a) <= b);
            apart.then(|| tables.nodes_id(&nodes))
        })?;
        Some(Self { point, nodes, counting })
    }

    /// Returns the base walk, given the covered runs of the trie's ids.
    fn finish(self, walker: Walker<'_>, covered: &[Range<u32>]) -> Base {
        let Walker { trie, words, .. } = walker;
        let mut covered = covered.iter().peekable();
        let mut rest: Vec<Range<u32>> = Vec::new();
        let mut at = 0;
        for &node in walker.tables.nodes(self.nodes) {
            let first = trie.node(node).first;
            let end = first + trie.count(node);
            // A run may extend over several nodes.
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
        let except = (!rest.is_empty())
            .then(|| walker.tokens.add_runs(trie.ids(), rest.iter().cloned(), words));
        let leading = if self.counting { Box::from([0]) } else { LeadingBytes::default() };
        Base { nodes: self.nodes, state: self.point.state, leading, except }
    }
}
