//! Walks composed from [branches](super::branch), one for each first byte.

use super::base::BasePosition;
use super::branch::{Branch, BranchKey, Entry};
use super::descent::Descent;
use super::nodes::NodesId;

impl<'g> Descent<'g> {
    /// Adds the results for those nodes of `set` that begin with one byte. `below` is empty before
    /// and after. Returns whether an end of a lexeme before the byte survives, if there may be one.
    pub(super) fn take_branch(
        &mut self,
        set: NodesId,
        entry: Entry<'_, 'g>,
        below: &mut Self,
    ) -> bool {
        let (scanner, trie) = (self.walker.scanner, self.walker.trie);
        let Entry { nodes, point, is_open } = entry;
        let base = self.bases.begin(scanner, point, nodes.byte);
        if let &[node] = nodes.nodes
            && (trie.end(node) == node + 1
                || base.is_some_and(|base| base.is_at(point) && !is_open))
        {
            self.enter_beside(node, point, base, is_open);
            return self.pending.take_entry();
        }
        let branch = self.walker.tables.branch(
            BranchKey::new(set, entry, base.map(BasePosition::point)),
            || {
                let base = base.map(BasePosition::alone);
                nodes.nodes.iter().for_each(|&node| below.enter_beside(node, point, base, is_open));
                below.take()
            },
        );
        for &(point, tokens) in &branch.ends {
            self.tally.add_found(scanner, scanner.at_point(point), tokens);
        }
        for (ended, nodes) in &branch.boundaries {
            self.looked += nodes.len();
            self.tally.behind(*ended, 0, false).extend_from_slice(nodes);
        }
        if let Some(base) = base {
            self.bases.covered_by(base.number).extend_from_slice(&branch.covered);
        }
        branch.entry_survives
    }

    /// Removes and returns the results of the walk of a branch.
    fn take(&mut self) -> Branch {
        let ends = self.tally.take_ends(self.walker);
        let boundaries = self.tally.take_boundaries();
        self.pending.clear();
        Branch {
            ends,
            boundaries,
            covered: self.bases.take_covered(),
            entry_survives: self.pending.take_entry(),
        }
    }
}
