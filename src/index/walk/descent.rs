//! The depth-first walk of a subtree of the trie.
//!
//! The trie is laid out depth first, so the walk is one loop over node numbers: skipping a subtree
//! is a jump, and the path from the root to the current node is an array by depth.

use super::base::{BasePosition, Bases};
use super::class_builder::Tally;
use super::classes::Walk;
use super::context::Walker;
use super::line_blanks::{Blanks, LeadingBytes};
use super::loops::{SelfLoops, Skipped};
use super::open_ends::{EndedAt, PendingEnds, PendingId};
use crate::scanner::ObligationsId;
use crate::scanner::product_state::{Point, Step};
use crate::vocab::nodes::Node;

/// A walk in progress.
pub(super) struct Descent<'g> {
    pub(super) walker: Walker<'g>,
    pub(super) tally: Tally<'g>,
    /// Indexed by the number of bytes read.
    path: Vec<Way<'g>>,
    pub(super) pending: PendingEnds,
    pub(super) loops: SelfLoops<'g>,
    pub(super) bases: Bases<'g>,
    /// The blanks at the beginning of a line, if they are being counted.
    leading: Option<Blanks>,
    /// Number of nodes visited.
    pub(super) looked: usize,
}

/// Most walks go no deeper.
const USUAL_DEPTH: usize = 8;

/// The state of the walk at a node.
#[derive(Clone, Copy)]
pub(super) struct Way<'g> {
    pub(super) point: &'g Point,
    /// The last open end above, with no accepting state since.
    pub(super) open: Option<PendingId>,
    pub(super) base: Option<BasePosition<'g>>,
}

impl<'g> Way<'g> {
    /// Returns the state at a node with only a point.
    pub(super) fn to(point: &'g Point) -> Self {
        Self { point, open: None, base: None }
    }
}

impl<'g> Descent<'g> {
    pub(super) fn new(walker: Walker<'g>, bases: Bases<'g>, counting: bool) -> Self {
        Self {
            walker,
            tally: Tally::default(),
            path: Vec::new(),
            pending: PendingEnds::default(),
            loops: SelfLoops::new(walker.shortcuts.self_loops),
            bases,
            leading: counting.then(Blanks::default),
            looked: 0,
        }
    }

    /// Walks the subtree of `entry`, whose own byte has led to `point`.
    pub(super) fn enter(&mut self, entry: u32, point: &'g Point) {
        let base = self.bases.begin(self.walker.scanner, point, self.walker.trie.byte(entry));
        self.enter_beside(entry, point, base, false);
    }

    /// Walks the subtree of `entry` while a base walk is at `base`. If the lexeme may have ended
    /// before the byte (`is_open`), records whether that end survives.
    pub(super) fn enter_beside(
        &mut self,
        entry: u32,
        point: &'g Point,
        base: Option<BasePosition<'g>>,
        is_open: bool,
    ) {
        let trie = self.walker.trie;
        if let Some(base) = base.filter(|base| base.is_at(point) && (!is_open || point.accepts)) {
            return self.bases.cover(base.number, trie, (entry, trie.end(entry)));
        }
        let open = if is_open && !point.accepts { self.pending.open_entry() } else { None };
        self.come(entry, 1, Way { point, open, base });
        self.walk(entry + 1, trie.end(entry), trie.depth(entry) as usize - 1);
    }

    /// Walks the subtree of `entry` from `point`, where the byte of `entry` leads back.
    pub(super) fn enter_loop(&mut self, entry: u32, point: &'g Point) {
        let Walker { scanner, trie, .. } = self.walker;
        self.loops.begin_at(scanner, trie, entry, point);
        self.walk(entry, trie.end(entry), trie.depth(entry) as usize - 1);
    }

    /// Walks the nodes from `index` to before `last`, which form a subtree. `above` is the number
    /// of bytes on the path that were not read by this walk.
    pub(super) fn walk(&mut self, mut index: u32, last: u32, above: usize) {
        loop {
            index = self.skip(index, above);
            if index >= last {
                break;
            }
            index = self.visit(index, above);
        }
        self.loops.clear();
    }

    /// Visits the node `index`; returns the next one to visit.
    #[inline]
    fn visit(&mut self, index: u32, above: usize) -> u32 {
        let Walker { scanner, trie, .. } = self.walker;
        self.looked += 1;
        let node = *trie.node(index);
        let read = usize::from(node.depth) - above;
        let Way { point: from, mut open, base } = self.path[read - 1];
        let step = scanner.step_point(from, node.byte);
        let Some(next) = step.next() else {
            self.fall(index, read, step, open);
            return node.end;
        };
        let point = scanner.at_point(next);
        let base = match read {
            1 => self.bases.begin(scanner, point, node.byte),
            _ => base.and_then(|base| base.step(scanner, node.byte)),
        };
        if let Some(base) = base
            && base.is_at(point)
            && (open.is_none() || point.accepts)
            // An end before this byte is refuted: a longer match comes before the end of the
            // character.
            && (step.ended().is_none() || scanner.stays(from, trie.group(index)))
        {
            self.bases.cover(base.number, trie, (index, node.end));
            return node.end;
        }
        if let Some(ended) = step.ended() {
            let leading = self.number(read - 1);
            let ended = EndedAt { ended, leading, node: index };
            if from.every_match {
                self.tally.add_node(ended, read == 1);
            } else {
                open = self.pending.open(ended);
            }
        }
        if self.stays(index, &node, point) {
            self.end(index, node.end, point, 0);
            if !point.accepts {
                self.survives(open);
            }
            return node.end;
        }
        self.come(index, read, Way { point, open, base });
        index + 1
    }

    /// Handles a byte that cannot continue the lexeme: if the lexeme has ended before it, the whole
    /// subtree of `index` comes after that end.
    fn fall(&mut self, index: u32, read: usize, step: Step, open: Option<PendingId>) {
        self.survives(open);
        if let Some(ended) = step.ended() {
            let leading = self.number(read - 1);
            self.tally.add_node(EndedAt { ended, leading, node: index }, read == 1);
        }
    }

    /// Continues below `index`, whose byte is the `read`-th byte of the walk and has led to `way`.
    #[inline]
    fn come(&mut self, index: u32, read: usize, mut way: Way<'g>) {
        if let Some(leading) = &mut self.leading {
            leading.read(read - 1, self.walker.trie.byte(index));
        }
        let ends = self.end(index, index + 1, way.point, read);
        if way.point.accepts {
            way.open = None;
        } else if ends {
            self.survives(way.open);
        }
        self.set_out(index, read, way);
    }

    /// Continues below `node` from `way`, after this many bytes.
    #[inline]
    pub(super) fn set_out(&mut self, node: u32, read: usize, way: Way<'g>) {
        self.put(read, way);
        let Way { point, open, base } = way;
        if open.is_none() && base.is_none() && self.leading.is_none() {
            self.loops.begin(self.walker.scanner, self.walker.trie, node, point);
        }
    }

    #[inline]
    pub(super) fn put(&mut self, read: usize, way: Way<'g>) {
        if read >= self.path.len() {
            self.path.resize((read + 1).max(USUAL_DEPTH), way);
        }
        self.path[read] = way;
    }

    /// Returns the next node to visit, from `index` on. Within a loop, this is a node whose byte
    /// leads elsewhere, and the tokens before it end in the loop.
    #[inline]
    fn skip(&mut self, mut index: u32, above: usize) -> u32 {
        let trie = self.walker.trie;
        while let Some(Skipped { point, next, is_within }) =
            self.loops.skip(self.walker.scanner, trie, index)
        {
            self.end(index, next, point, 0);
            index = next;
            if is_within {
                let read = trie.depth(index) as usize - above;
                self.put(read - 1, Way::to(point));
                break;
            }
        }
        index
    }

    /// Whether everything below a node that was read up to `point` is in one class with it.
    #[inline]
    fn stays(&self, index: u32, node: &Node, point: &Point) -> bool {
        let counts = self.leading.is_some() && point.obligations != ObligationsId::NONE;
        !counts && self.loops.stays(self.walker.scanner, self.walker.trie, index, node, point)
    }

    /// Records that the tokens of the nodes from `first` to before `end` end at `point`, after
    /// `read` bytes. Returns whether there are any.
    #[inline]
    fn end(&mut self, first: u32, end: u32, point: &'g Point, read: usize) -> bool {
        let trie = self.walker.trie;
        let (first, end) = (trie.node(first).first, trie.node(end).first);
        if first == end {
            return false;
        }
        let leading = if point.obligations == ObligationsId::NONE { 0 } else { self.number(read) };
        self.tally.add_tokens(self.walker.scanner, point, leading, (first, end));
        true
    }

    /// Records that a token below the open end ends before a longer match.
    #[inline]
    fn survives(&mut self, open: Option<PendingId>) {
        if let Some(open) = open
            && let Some(at) = self.pending.survive(open)
        {
            self.tally.add_node(at, false);
        }
    }

    #[inline]
    fn number(&mut self, depth: usize) -> u32 {
        self.leading.as_mut().map_or(0, |leading| leading.number(depth))
    }

    /// Returns the result of the walk.
    pub(super) fn finish(self) -> Walk {
        let walker = self.walker;
        let blanks =
            self.leading.map_or_else(|| vec![LeadingBytes::default()], Blanks::into_numbered);
        let (boundaries, ends) = self.tally.finish(walker, &blanks);
        let bases = self.bases.finish(walker);
        Walk::new(walker.tables.next_number(), ends, boundaries, bases)
    }
}
