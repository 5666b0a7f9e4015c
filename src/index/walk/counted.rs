//! What a walk takes from a table where a scan state counts characters.
//!
//! The walk's side of the contract of [`self_loops`](crate::util::self_loops) where a stretch is
//! not spread: what a text of its groups leads to depends on the number of its pieces alone. Tokens
//! that are such texts are told by that number, without a look at their nodes. What is left are
//! nodes behind some pieces of the groups: those with whose bytes a piece of another group begins,
//! and those behind the last piece that the state has room for.
//!
//! These last are many where a lexeme ends after so many characters, whatever comes (strings of
//! great length are cut into such runs). The walk of the next lexeme then begins with all nodes
//! behind as many pieces, which the table has as well.

use std::ops::Range;

use super::classes::Origin;
use super::context::Walker;
use super::descent::{Descent, Way};
use super::nodes::NodesId;
use crate::index::tokens::TokenSet;
use crate::scanner::points::Point;
use crate::scanner::self_loops::Count;
use crate::util::self_loops::{CHARACTERS, Groups, group};
use crate::vocab::piece_counts::{MANY, PieceCounts};
use crate::vocab::trie::Trie;

/// With fewer tokens a walk takes no longer than the table does. Unit tests have few, and are to
/// meet it all the same.
const FEW_TOKENS: u32 = if cfg!(test) { 1 } else { 4096 };

/// Where there is room for fewer characters than these, a walk takes no longer than the table does,
/// which may serve others.
const FEW: usize = 4;

/// A walk by a table.
pub(super) struct Counted<'g> {
    count: Count<'g>,
    texts: &'g PieceCounts,
    /// Behind so many pieces the walk begins.
    begun: usize,
}

impl<'g> Walker<'g> {
    /// How a walk of these nodes is done by a table, if it can be.
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
    /// How a base walk is done by the table, if texts of all kinds lead back to its point: they
    /// have any number of pieces, and it may take place where they begin.
    fn looped(self, id: NodesId, at: &Point) -> Option<Counted<'g>> {
        let Self { scanner, trie, .. } = self;
        let groups = scanner.loops(at);
        let is_small = trie.count(Trie::ROOT) < FEW_TOKENS;
        if groups & CHARACTERS != CHARACTERS || is_small || scanner.wanders(at) {
            return None;
        }
        // The table is one of all texts: no other may begin than those of the nodes.
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
    /// Walks all nodes behind the pieces where the walk begins: of the whole trie, or of the nodes
    /// of a set.
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

    /// Walks the nodes behind so many pieces with whose bytes one of another group begins.
    fn walk_outside(&mut self, id: NodesId, counted: &Counted<'g>, before: Range<usize>) {
        let &Counted { ref count, texts, begun } = counted;
        for outside in texts.outside(before) {
            let pieces = usize::from(outside.before) - begun;
            let point = count.points[pieces.min(count.points.len() - 1)];
            if pieces == 0 && id != NodesId::ROOT {
                let next = self.walker.scanner.begin_at_point(point, outside.byte);
                next.into_iter().for_each(|next| self.enter(outside.node, next));
            } else if !self.walker.scanner.step_point(point, outside.byte).is_dead() {
                // Most bytes lead nowhere, and their nodes lie far apart.
                self.walk_behind(outside.node, point);
            }
        }
    }

    /// Notes the tokens that are texts of the groups and no longer than the count goes.
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

    /// Whether the lexeme neither goes on behind `point` with a piece of these groups, nor has
    /// ended before it.
    fn falls(&self, point: &Point, groups: Groups) -> bool {
        let step = |byte| self.walker.scanner.step_point(point, byte);
        let mut bytes = (0..=u8::MAX).filter(|&byte| groups & group(byte) != 0);
        bytes.all(|byte| step(byte).is_dead())
    }

    /// Walks the subtree of `node`, before whose byte the walk has come to `point`.
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
