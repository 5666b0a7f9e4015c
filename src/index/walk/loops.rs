//! Skips nodes where a scan state leads back to itself or counts characters: the inside of names,
//! strings and comments.
//!
//! The walk's side of the contract of [`self_loops`](crate::util::self_loops), in two forms. A
//! subtree whose texts all lead back is in one class, and none of its nodes is visited
//! ([`SelfLoops::stays`]). If most of its texts do, the walk jumps from one node that leads
//! elsewhere to the next ([`SelfLoops::skip`]).

use crate::scanner::Scanner;
use crate::scanner::product_state::Point;
use crate::util::self_loops::{Groups, LETTER, NOT_ASCII, Stretch};
use crate::vocab::nodes::Node;
use crate::vocab::trie::Trie;

/// The loops and stretches around the current node, each a subtree of the one before.
pub(super) struct SelfLoops<'g> {
    around: Vec<SelfLoop<'g>>,
    /// The paths to the last visited nodes in those of them that are stretches, concatenated: nodes
    /// with the points that they lead to.
    ways: Vec<(u32, &'g Point)>,
    /// Whether loops are looked for.
    enabled: bool,
}

/// A subtree in which most texts lead back to the point above it, or on along its stretch.
#[derive(Clone, Copy)]
struct SelfLoop<'g> {
    point: &'g Point,
    /// The groups of pieces that lead back, or on.
    groups: Groups,
    /// In a stretch: index of the start of its path.
    way: Option<usize>,
    /// The first node after the subtree.
    end: u32,
    /// The first node after the subtree that is being walked because its byte leads elsewhere.
    back: u32,
}

/// A run of nodes of a loop that is skipped.
pub(super) struct Skipped<'g> {
    /// The point at which the tokens of all of them end, or one of the same class; also the point
    /// of the walk before `next`.
    pub(super) point: &'g Point,
    /// The next node to visit.
    pub(super) next: u32,
    /// Whether `next` is in the loop, so that its byte leads elsewhere.
    pub(super) is_within: bool,
}

impl<'g> SelfLoops<'g> {
    /// Creates an empty list.
    pub(super) fn new(enabled: bool) -> Self {
        Self { around: Vec::new(), ways: Vec::new(), enabled }
    }

    /// Whether the walk is in no loop.
    pub(super) fn is_empty(&self) -> bool {
        self.around.is_empty()
    }

    /// Removes all loops.
    pub(super) fn clear(&mut self) {
        self.around.clear();
        self.ways.clear();
    }

    /// Adds the subtree below `node`, which has led to `point`, as a loop if its bytes usually lead
    /// back there.
    #[inline]
    pub(super) fn begin(&mut self, scanner: &Scanner, trie: &Trie, node: u32, point: &'g Point) {
        let back = |&byte: &u8| scanner.step_point(point, byte) == point.back();
        let Node { end, height, .. } = *trie.node(node);
        if end - node <= TINY || !self.enabled || !trie.ends_character(node) {
            return;
        }
        let is_back = [LETTER, trie.byte(node)].iter().any(back);
        if is_back && !stretch(scanner, node, trie.node(node), point).is_spread {
            let groups = scanner.loops(point);
            self.around.push(SelfLoop { point, groups, way: None, end, back: node + 1 });
            return;
        }
        let stretch = stretch(scanner, node, trie.node(node), point);
        if height <= stretch.length && height < u8::MAX {
            let (groups, way) = (stretch.groups, Some(self.ways.len()));
            self.ways.push((node, point));
            self.around.push(SelfLoop { point, groups, way, end, back: node + 1 });
        }
    }

    /// Adds the subtree of `entry` as a loop of `point`, including the byte of `entry` itself.
    pub(super) fn begin_at(
        &mut self,
        scanner: &Scanner,
        trie: &Trie,
        entry: u32,
        point: &'g Point,
    ) {
        let (groups, end) = (scanner.loops(point), trie.end(entry));
        self.around.push(SelfLoop { point, groups, way: None, end, back: entry });
    }

    /// Returns the nodes that the walk may skip from `index` on, if that is in a loop.
    #[inline]
    pub(super) fn skip(
        &mut self,
        scanner: &'g Scanner,
        trie: &Trie,
        index: u32,
    ) -> Option<Skipped<'g>> {
        let around = self.around.last_mut().filter(|around| index >= around.back)?;
        let SelfLoop { mut point, groups, way, end, .. } = *around;
        let next = trie.next_outside(groups, index, end);
        let is_within = next < end;
        if is_within {
            around.back = trie.end(next);
            if let Some(begin) = way {
                point = self.go_to(scanner, trie, begin, next).unwrap_or(point);
            }
        } else {
            self.ways.truncate(way.unwrap_or(self.ways.len()));
            self.around.pop();
        }
        Some(Skipped { point, next, is_within })
    }

    /// Returns the point before the byte of `next` in the stretch whose path begins at `begin`.
    /// Nodes come in the order of the trie, so the common prefix of their paths is followed once.
    fn go_to(
        &mut self,
        scanner: &'g Scanner,
        trie: &Trie,
        begin: usize,
        next: u32,
    ) -> Option<&'g Point> {
        let mut child = None;
        while let &[.., (node, _)] = &self.ways[begin + 1..]
            && trie.end(node) <= next
        {
            child = Some(trie.end(node));
            self.ways.pop();
        }
        loop {
            let &(above, point) = self.ways.last()?;
            let mut node = child.take().unwrap_or(above + 1);
            while trie.end(node) <= next {
                node = trie.end(node);
            }
            if node == next {
                self.ways.push((node, point));
                return Some(point);
            }
            let on = scanner.step_point(point, trie.byte(node)).next()?;
            self.ways.push((node, scanner.at_point(on)));
        }
    }

    /// Whether everything below a node that was read up to `point` is in one class with it.
    #[inline]
    pub(super) fn stays(
        &self,
        scanner: &Scanner,
        trie: &Trie,
        index: u32,
        node: &Node,
        point: &Point,
    ) -> bool {
        if node.end == index + 1 || !self.enabled {
            return false;
        }
        // The first byte below is tested first, because most points have no loop.
        scanner.may_stay(point, trie.byte(index + 1)) && scanner.stays(point, node.below)
            || stretch(scanner, index, node, point).holds(node.below, node.height)
    }
}

/// Testing whether this many nodes are a loop takes longer than walking them. Unit tests have
/// smaller tries, and must cover loops as well.
const TINY: u32 = if cfg!(test) { 1 } else { 16 };

/// Looking for a stretch takes longer than walking this many nodes. Unit tests have smaller tries,
/// and must cover stretches as well.
const FEW_NODES: u32 = if cfg!(test) { 0 } else { 2048 };

/// Returns the stretch of the point that `node` has led to, if it is known or worth computing.
fn stretch(scanner: &Scanner, index: u32, node: &Node, point: &Point) -> Stretch {
    let past_ascii = node.below & NOT_ASCII != 0;
    match node.end - index > FEW_NODES {
        true => scanner.stretch(point, past_ascii, node.height),
        false => point.known_stretch(past_ascii),
    }
}
