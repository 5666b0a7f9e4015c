//! The driver of a walk: selects the starting nodes and the shortcuts.

use super::base::Bases;
use super::branch::Entry;
use super::classes::{Origin, Walk};
use super::context::Walker;
use super::descent::{Descent, Way};
use super::nodes::NodesId;
use super::open_ends::EndedAt;
use crate::scanner::product_state::Point;
use crate::util::self_loops::LETTER;
use crate::vocab::trie::Trie;

/// A walk of fewer nodes does not use branches.
const NODES_FOR_BRANCHES: usize = 4;

/// From this many nodes on, it pays to find out first with which bytes a lexeme can begin.
const MANY_NODES: usize = 16;

/// Steps charged for one walk to the mask that needs it.
const STEPS_OF_A_WALK: usize = 8;

/// Number of visited nodes that are charged as one more step.
const NODES_OF_A_STEP: usize = 8;

impl<'g> Walker<'g> {
    /// Returns the walk of these nodes from a scan state, cached or new. The steps of a new one are
    /// added to `steps`.
    pub(crate) fn walk(self, nodes: NodesId, from: Origin, steps: &mut usize) -> &'g Walk {
        self.tables.walk(nodes, from, || {
            let mut looked = 0;
            let walk = self.do_walk(nodes, from, &mut looked);
            *steps += STEPS_OF_A_WALK + looked / NODES_OF_A_STEP;
            walk
        })
    }

    /// Does a walk and adds the number of visited nodes to `looked`.
    fn do_walk(self, id: NodesId, from: Origin, looked: &mut usize) -> Walk {
        let Origin { state, obligations, counting, is_base } = from;
        let at = self.scanner.at_point(self.scanner.point(state, obligations));
        let bases = match is_base || !self.shortcuts.base_walks {
            true => Bases::default(),
            false => Bases::find(self, id, at, counting),
        };
        // A set that is walked only once gains nothing from branches, and a walk from a state that
        // counts characters shares nothing with walks from other counts.
        let at_once = is_base
            || counting
            || self.tables.nodes.begin_walk(id)
            || !self.shortcuts.branches
            || self.scanner.counts(at);
        let mut descent = Descent::new(self, bases, counting);
        if id == NodesId::ROOT {
            self.walk_root(&mut descent, at, at_once);
        } else if at_once || self.tables.nodes(id).len() < NODES_FOR_BRANCHES {
            self.walk_nodes(&mut descent, id, at, is_base);
        } else {
            self.walk_by_byte(&mut descent, id, at);
        }
        *looked += descent.looked;
        descent.finish()
    }

    /// Continues the lexeme in progress through the whole trie; with `at_once`, without branches.
    fn walk_root(self, descent: &mut Descent<'g>, at: &'g Point, at_once: bool) {
        let way = Way::to(at);
        descent.put(0, way);
        // Nodes that a base walk covers are skipped.
        let classes = self.scanner.states().classes();
        // If no letter continues the lexeme, little of the trie is a loop.
        let has_letters = self.scanner.live(at).contains(classes.get(LETTER));
        if descent.bases.is_empty() && has_letters {
            descent.set_out(Trie::ROOT, 0, way);
        }
        if !descent.loops.is_empty() {
            return descent.walk(Trie::ROOT + 1, self.trie.end(Trie::ROOT), 0);
        }
        let wanted = self.scanner.find_steps(at);
        let mut below = Descent::new(self, Bases::default(), false);
        let children = self.tables.nodes.by_byte(NodesId::ROOT, self.trie);
        for nodes in children.of(|byte| wanted.contains(classes.get(byte))) {
            let child = nodes.nodes[0];
            if at_once {
                descent.walk(child, self.trie.end(child), 0);
                continue;
            }
            let step = self.scanner.step_point(at, nodes.byte);
            let mut ended = step.ended().map(|ended| EndedAt { ended, leading: 0, node: child });
            if at.every_match || step.next().is_none() {
                ended.take().into_iter().for_each(|ended| descent.tally.add_node(ended, true));
            }
            let Some(next) = step.next() else { continue };
            let entry =
                Entry { nodes, point: self.scanner.at_point(next), is_open: ended.is_some() };
            let survives = descent.take_branch(NodesId::ROOT, entry, &mut below);
            let ended = ended.filter(|_| survives);
            ended.into_iter().for_each(|ended| descent.tally.add_node(ended, false));
        }
        descent.looked += below.looked;
    }

    /// Begins a lexeme with the byte of each node.
    fn walk_nodes(self, descent: &mut Descent<'g>, id: NodesId, at: &'g Point, is_base: bool) {
        let (scanner, trie) = (self.scanner, self.trie);
        let loops = is_base && self.shortcuts.self_loops && !self.scanner.wanders(at);
        let nodes = self.tables.nodes(id);
        descent.looked += nodes.len();
        let are_many = nodes.len() >= MANY_NODES;
        let classes = scanner.states().classes();
        for &node in nodes {
            if are_many && !scanner.find_steps(at).contains(classes.get(trie.byte(node))) {
                continue;
            }
            if loops && scanner.stays(at, trie.group(node)) {
                descent.enter_loop(node, at);
            } else if let Some(point) = scanner.begin_at_point(at, trie.byte(node)) {
                descent.enter(node, point);
            }
        }
    }

    /// Begins a lexeme with the byte of each node, with one branch for each byte.
    fn walk_by_byte(self, descent: &mut Descent<'g>, id: NodesId, at: &'g Point) {
        let mut below = Descent::new(self, Bases::default(), false);
        let (live, classes) = (self.scanner.find_steps(at), self.scanner.states().classes());
        let by_byte = self.tables.nodes.by_byte(id, self.trie);
        for nodes in by_byte.of(|byte| live.contains(classes.get(byte))) {
            if let Some(point) = self.scanner.begin_at_point(at, nodes.byte) {
                descent.take_branch(id, Entry { nodes, point, is_open: false }, &mut below);
            }
        }
        descent.looked += below.looked;
    }
}
