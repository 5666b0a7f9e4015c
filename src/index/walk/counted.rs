//! Table-driven walks, for scan states that count characters.
//!
//! The walk's side of the contract of [`self_loops`](crate::util::self_loops) for a stretch that is
//! not spread: the point after a text of its groups depends only on the number of pieces. Tokens
//! that are such texts are classified by that number, without visiting their nodes. The remaining
//! nodes come after some pieces of the groups: those whose bytes begin a piece of another group,
//! and those after the last piece that the state has room for.
//!
//! There are many of the latter if a lexeme ends after a fixed number of characters, whatever comes
//! (very long strings are split into such runs). The walk of the next lexeme then begins with all
//! nodes after that many pieces, and the table has these as well.

use std::ops::Range;

use super::classes::Origin;
use super::context::Walker;
use super::descent::{Descent, Way};
use super::nodes::NodesId;
use crate::index::tokens::TokenSet;
use crate::scanner::product_state::Point;
use crate::scanner::self_loops::Count;
use crate::util::self_loops::{CHARACTERS, Groups, group};
use crate::vocab::piece_counts::{MANY, PieceCounts};
use crate::vocab::trie::Trie;

/// With fewer tokens a walk takes no longer than the table does. Unit tests have few tokens, and
/// must cover the table as well.
const FEW_TOKENS: u32 = if cfg!(test) { 1 } else { 4096 };

/// With room for fewer characters than this, a walk takes no longer than the table does, though the
/// table may serve others.
const FEW: usize = 4;

/// A table-driven walk.
pub(super) struct Counted<'g> {
    count: Count<'g>,
    texts: &'g PieceCounts,
    /// Number of pieces before the start of the walk.
    begun: usize,
}

impl<'g> Walker<'g> {
    /// Returns the table-driven form of a walk of these nodes, if it has one.
    pub(super) fn counted(self, id: NodesId, at: &Point, from: Origin) -> Option<Counted<'g>> {
        if !self.shortcuts.counts || from.counting {
            return None;
        }
        if from.is_base {
            return self.looped(id, at);
        }
        let pieces = self.trie.node(Trie::ROOT).height;
        if id == NodesId::ROOT {
            let count = self.scanner.count(at, pieces)?;
            let texts = match !count.is_endless && count.points.len() <= FEW {
                true => self.trie.piece_counts_asked_again(count.groups)?,
                false => self.trie.piece_counts(count.groups)?,
            };
            return Some(Counted { count, texts, begun: 0 });
        }
        let nodes = self.tables.nodes(id);
        let begun = |texts: &'g PieceCounts| Some((texts, texts.behind_which(nodes)?));
        let mut known = self.trie.known_piece_counts().filter_map(begun).peekable();
        known.peek()?;
        let count = self.scanner.count(at, pieces)?;
        let (texts, begun) = known.find(|(texts, _)| texts.groups() == count.groups)?;
        Some(Counted { count, texts, begun })
    }
}

impl<'g> Walker<'g> {
    /// Returns the table-driven form of a base walk, if texts of all kinds lead back to its point:
    /// any number of pieces may follow, and the walk must start where these texts begin.
    fn looped(self, id: NodesId, at: &Point) -> Option<Counted<'g>> {
        let Self { scanner, trie, .. } = self;
        let groups = scanner.loops(at);
        let is_small = trie.count(Trie::ROOT) < FEW_TOKENS;
        if groups & CHARACTERS != CHARACTERS || is_small || scanner.wanders(at) {
            return None;
        }
        // The table contains all texts, so no text outside these nodes may begin a lexeme.
        let mut nodes = self.tables.nodes(id).iter().peekable();
        for child in trie.children(Trie::ROOT) {
            let is_among = nodes.next_if_eq(&&child).is_some();
            if !is_among && scanner.begin_at_point(at, trie.byte(child)).is_some() {
                return None;
            }
        }
        if nodes.next().is_some() {
            return None;
        }
        let texts = trie.piece_counts_asked_again(groups)?;
        let at = scanner.at_point(at.id);
        Some(Counted {
            count: Count { groups, points: vec![at; 2], is_endless: true },
            texts,
            begun: 0,
        })
    }
}

impl<'g> Descent<'g> {
    /// Walks all nodes after the first pieces of the walk, in the whole trie or below the nodes of
    /// a set.
    pub(super) fn walk_counted(&mut self, id: NodesId, counted: &Counted<'g>) {
        let &Counted { ref count, texts, begun } = counted;
        self.end_counted(counted);
        if count.is_endless {
            return self.walk_outside(id, counted, begun..usize::from(MANY));
        }
        let last = begun + count.points.len() - 1;
        let end = count.points[last - begun];
        self.walk_outside(id, counted, begun..last);
        if self.falls(end, count.groups) {
            self.walk_outside(id, counted, last..last + 1);
        } else {
            texts.nodes_behind(last).iter().for_each(|&node| self.walk_behind(node, end));
        }
    }

    /// Walks the nodes after this many pieces whose bytes begin a piece of another group.
    fn walk_outside(&mut self, id: NodesId, counted: &Counted<'g>, before: Range<usize>) {
        let &Counted { ref count, texts, begun } = counted;
        for outside in texts.outside(before) {
            let pieces = usize::from(outside.before) - begun;
            let point = count.points[pieces.min(count.points.len() - 1)];
            if pieces == 0 && id != NodesId::ROOT {
                let next = self.walker.scanner.begin_at_point(point, outside.byte);
                next.into_iter().for_each(|next| self.enter(outside.node, next));
            } else if !self.walker.scanner.step_point(point, outside.byte).is_dead() {
                // Most bytes lead nowhere, and their nodes are far apart.
                self.walk_behind(outside.node, point);
            }
        }
    }

    /// Records the tokens that consist of pieces of the groups, up to the greatest count.
    fn end_counted(&mut self, &Counted { ref count, texts, begun }: &Counted<'g>) {
        let Walker { scanner, trie, words, tokens, .. } = self.walker;
        let ids = texts.ids();
        let mut before = begun;
        for alike in count.points[1..].chunk_by(|a, b| scanner.class_of(a) == scanner.class_of(b)) {
            let first = before + 1;
            before += alike.len();
            let is_last = before == begun + count.points.len() - 1;
            let last = if is_last && count.is_endless { usize::from(MANY) } else { before };
            let run = texts.tokens(first..=last);
            if run.is_empty() {
                continue;
            }
            let found = if run == texts.tokens(1..=MANY.into()) {
                TokenSet::from_all_but(texts.row(), ids, std::iter::empty(), words)
            } else if run.len() > ids.len() / 2 {
                let others = [0..run.start, run.end..ids.len() as u32];
                TokenSet::from_all_but(trie.row(), ids, others.into_iter(), words)
            } else {
                TokenSet::from_runs(ids, std::iter::once(run), words)
            };
            self.tally.add_found(scanner, alike[0], tokens.add_set(found).into());
        }
    }

    /// Whether the lexeme neither continues after `point` with a piece of these groups, nor has
    /// ended before it.
    fn falls(&self, point: &Point, groups: Groups) -> bool {
        let step = |byte| self.walker.scanner.step_point(point, byte);
        let mut bytes = (0..=u8::MAX).filter(|&byte| groups & group(byte) != 0);
        bytes.all(|byte| step(byte).is_dead())
    }

    /// Walks the subtree of `node`; `point` is the point before its byte.
    fn walk_behind(&mut self, node: u32, point: &'g Point) {
        let Walker { scanner, trie, .. } = self.walker;
        let (depth, step) = (trie.depth(node) as usize, scanner.step_point(point, trie.byte(node)));
        if step.next().is_none() {
            return self.fall(node, depth, step, None);
        }
        self.put(depth - 1, Way::to(point));
        self.walk(node, trie.end(node), 0);
    }
}
