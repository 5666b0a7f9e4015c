//! A generalized LR parser (Tomita 1985) that builds one tree as the terminals come.
//!
//! The engine's own stacks keep no trees. Where one is asked for, the terminals of a text are
//! parsed once more on the same table, so precedence and `%conflicts` settle what they settle. A
//! conflict that the table still has is followed in parallel; of two trees for the same terminals
//! between the same states, the first one found is kept, and shifts are tried before reductions, as
//! in Yacc: an `else` belongs to the inner `if`.
//!
//! A node is a state after a number of terminals. Its edges lead to the nodes below it, each with
//! the tree of the symbol between them. An edge that lies on all paths from the top to the bottom
//! is *certain*: every parse of every text that begins like this one has its tree.

use std::ops::Range;

use smallvec::SmallVec;

use super::table::{Action, ParseTable};
pub(crate) use crate::grammar::ir::Symbol;
use crate::util::id::{CoreId, NonterminalId, ProductionId, TerminalId};

/// Upper bound on the nodes, edges and trees together; larger parses are given up.
const MOST: usize = 1 << 23;

/// A parser in the middle of a text. Its memory grows with the text.
#[derive(Clone, Debug)]
pub(crate) struct TreeParser {
    nodes: Vec<Node>,
    trees: Vec<Tree>,
    /// The nodes after the last terminal, in the order of preference.
    tops: Vec<u32>,
    /// End of the last terminal that is not empty.
    end: usize,
    work: usize,
}

#[derive(Clone, Debug)]
struct Node {
    state: CoreId,
    /// The nodes below, each with the tree between.
    edges: SmallVec<[(u32, u32); 1]>,
    is_certain: bool,
}

/// A terminal or a nonterminal, and the bytes that it derives.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) symbol: Symbol,
    pub(crate) span: Range<usize>,
    pub(crate) children: Box<[u32]>,
}

/// The nodes that are on top before a terminal is shifted.
struct Level {
    terminal: TerminalId,
    /// In the order in which they were reached.
    active: Vec<u32>,
    /// What is still to be done, the next task last: so what follows from a choice is found before
    /// the next choice is tried.
    pending: Vec<Task>,
    /// Whether a node that had been reduced got a further edge.
    is_stale: bool,
}

enum Task {
    /// The reductions of a node over its edges from this one on.
    Reduce(u32, usize),
    /// Put a nonterminal on a node: the production, and the trees of its symbols.
    GoTo(u32, ProductionId, SmallVec<[u32; 4]>),
}

impl TreeParser {
    /// Creates a parser before the first terminal.
    pub(crate) fn new(table: &ParseTable) -> Self {
        let root = Node { state: table.start(), edges: SmallVec::new(), is_certain: true };
        Self { nodes: vec![root], trees: Vec::new(), tops: vec![0], end: 0, work: 0 }
    }

    /// Returns a tree by its number.
    pub(crate) fn tree(&self, number: u32) -> &Tree {
        &self.trees[number as usize]
    }

    /// Takes a terminal with the bytes of this span. Returns the number of its tree; `None` if no
    /// parse goes on, or if there are too many.
    pub(crate) fn shift(
        &mut self,
        table: &ParseTable,
        terminal: TerminalId,
        span: Range<usize>,
    ) -> Option<u32> {
        let level = self.reduce_all(table, terminal)?;
        let leaf = self.add_tree(Symbol::Terminal(terminal), span.clone(), Box::default());
        let mut tops: Vec<u32> = Vec::new();
        for &node in &level {
            let state = self.nodes[node as usize].state;
            let shifted = table.actions(state, terminal).iter().find_map(|action| match action {
                Action::Shift(target) => Some(*target),
                Action::Reduce(_) | Action::Accept => None,
            });
            let Some(target) = shifted else { continue };
            let known = tops.iter().find(|&&top| self.nodes[top as usize].state == target);
            match known {
                Some(&top) => self.nodes[top as usize].edges.push((node, leaf)),
                None => tops.push(self.add_node(target, (node, leaf))),
            }
        }
        self.tops = tops;
        self.end = self.end.max(span.end);
        (!self.tops.is_empty() && self.work < MOST).then_some(leaf)
    }

    /// Ends the text. Returns the number of the tree of the start symbol; `None` if the text is not
    /// a sentence.
    pub(crate) fn finish(&mut self, table: &ParseTable) -> Option<u32> {
        let level = self.reduce_all(table, table.end())?;
        let accepts = |&&node: &&u32| {
            let state = self.nodes[node as usize].state;
            table.actions(state, table.end()).contains(&Action::Accept)
        };
        let top = *level.iter().find(accepts)?;
        self.nodes[top as usize].edges.first().map(|&(_, tree)| tree)
    }

    /// Returns the trees that have become certain since the last call, from left to right.
    pub(crate) fn take_certain(&mut self) -> Vec<u32> {
        let mut certain = Vec::new();
        let mut open: SmallVec<[u32; 4]> = self.tops.iter().copied().collect();
        loop {
            open.sort_unstable();
            open.dedup();
            // Nodes are numbered in the order in which they are made, after those below them.
            let Some(top) = open.pop() else { break };
            let node = &self.nodes[top as usize];
            if node.edges.iter().any(|&(below, _)| below >= top) {
                break;
            }
            if open.is_empty() {
                if node.is_certain {
                    break;
                }
                if let [(_, tree)] = node.edges[..] {
                    certain.push((top, tree));
                }
            }
            open.extend(node.edges.iter().map(|&(below, _)| below));
        }
        // A node is certain with the tree below it; a node with several trees below is not.
        for &(node, _) in &certain {
            self.nodes[node as usize].is_certain = true;
        }
        certain.iter().rev().map(|&(_, tree)| tree).collect()
    }

    /// Returns the nonterminal that is certainly not complete at the end of the text, and where it
    /// begins, if the state on top says so: every item of its kernel belongs to that nonterminal
    /// and begins at the same place.
    pub(crate) fn begun(&self, table: &ParseTable) -> Option<(NonterminalId, usize)> {
        let [top] = self.tops[..] else { return None };
        let (nonterminal, length) = table.only_item(self.nodes[top as usize].state)?;
        let (mut at, mut start) = (top, self.end);
        for _ in 0..length {
            let [(below, tree)] = self.nodes[at as usize].edges[..] else { return None };
            start = self.tree(tree).span.start;
            at = below;
        }
        Some((nonterminal, start))
    }

    /// Does all reductions before `terminal`, and returns the nodes that are then on top.
    fn reduce_all(&mut self, table: &ParseTable, terminal: TerminalId) -> Option<Vec<u32>> {
        let active = self.tops.clone();
        let all = |nodes: &[u32]| nodes.iter().rev().map(|&node| Task::Reduce(node, 0)).collect();
        let pending = all(&active);
        let mut level = Level { terminal, active, pending, is_stale: false };
        loop {
            while let Some(task) = level.pending.pop() {
                match task {
                    Task::Reduce(node, first) => self.reduce(table, node, first, &mut level),
                    Task::GoTo(below, production, children) => {
                        self.go_to(table, below, production, children, &mut level);
                    }
                }
                if self.work >= MOST {
                    return None;
                }
            }
            if !std::mem::take(&mut level.is_stale) {
                return Some(level.active);
            }
            // Nodes above one with a further edge may have paths through it, after productions that
            // are empty. They are found by looking at all again; known edges are kept.
            level.pending = all(&level.active);
        }
    }

    /// Finds the reductions of a node, over all paths below it that begin with its edge `first` or
    /// a later one.
    fn reduce(&mut self, table: &ParseTable, node: u32, first: usize, level: &mut Level) {
        let state = self.nodes[node as usize].state;
        let mut tasks = Vec::new();
        for action in table.actions(state, level.terminal) {
            let Action::Reduce(production) = *action else { continue };
            let length = table.production(production).1;
            let paths = self.paths(node, first, length).into_iter();
            tasks.extend(paths.map(|(below, trees)| Task::GoTo(below, production, trees)));
        }
        level.pending.extend(tasks.into_iter().rev());
    }

    /// Returns the ends of these paths, if they have this length, each with the trees on it from
    /// left to right.
    fn paths(&mut self, node: u32, first: usize, length: usize) -> Vec<(u32, SmallVec<[u32; 4]>)> {
        let mut paths: Vec<(u32, SmallVec<[u32; 4]>)> = vec![(node, SmallVec::new())];
        let mut first = first;
        for _ in 0..length {
            let mut longer = Vec::with_capacity(paths.len());
            for (at, trees) in paths {
                for &(below, tree) in &self.nodes[at as usize].edges[first..] {
                    let mut trees = trees.clone();
                    trees.push(tree);
                    longer.push((below, trees));
                }
            }
            first = 0;
            self.work += longer.len();
            paths = longer;
            if self.work >= MOST {
                return Vec::new();
            }
        }
        paths.iter_mut().for_each(|(_, trees)| trees.reverse());
        paths
    }

    /// Puts a reduced nonterminal on a node.
    fn go_to(
        &mut self,
        table: &ParseTable,
        below: u32,
        production: ProductionId,
        children: SmallVec<[u32; 4]>,
        level: &mut Level,
    ) {
        let (nonterminal, _) = table.production(production);
        let Some(target) = table.goto(self.nodes[below as usize].state, nonterminal) else {
            return;
        };
        let is_target = |&&top: &&u32| self.nodes[top as usize].state == target;
        let known = level.active.iter().find(is_target).copied();
        if let Some(top) = known
            && self.nodes[top as usize].edges.iter().any(|&(other, _)| other == below)
        {
            return;
        }
        let span = self.span(&children);
        let children = children.into_vec().into_boxed_slice();
        let tree = self.add_tree(Symbol::Nonterminal(nonterminal), span, children);
        match known {
            Some(top) => {
                let edges = &mut self.nodes[top as usize].edges;
                edges.push((below, tree));
                level.pending.push(Task::Reduce(top, edges.len() - 1));
                level.is_stale = true;
            }
            None => {
                let top = self.add_node(target, (below, tree));
                level.active.push(top);
                level.pending.push(Task::Reduce(top, 0));
            }
        }
    }

    /// Returns the bytes of these trees; those without bytes do not count.
    fn span(&self, children: &[u32]) -> Range<usize> {
        let spans = || children.iter().map(|&child| self.tree(child).span.clone());
        let mut filled = spans().filter(|span| !span.is_empty());
        match (filled.next(), filled.next_back()) {
            (Some(only), None) => only,
            (Some(first), Some(last)) => first.start..last.end,
            _ => spans().next().unwrap_or(self.end..self.end),
        }
    }

    fn add_tree(&mut self, symbol: Symbol, span: Range<usize>, children: Box<[u32]>) -> u32 {
        self.work += 1 + children.len();
        self.trees.push(Tree { symbol, span, children });
        self.trees.len() as u32 - 1
    }

    fn add_node(&mut self, state: CoreId, edge: (u32, u32)) -> u32 {
        self.work += 1;
        let edges = SmallVec::from_iter([edge]);
        self.nodes.push(Node { state, edges, is_certain: false });
        self.nodes.len() as u32 - 1
    }
}

impl ParseTable {
    /// Returns the nonterminal of the kernel items of a state, and how many symbols are before
    /// their dots, if these are the same for all.
    fn only_item(&self, state: CoreId) -> Option<(NonterminalId, usize)> {
        let mut items = self.automaton.kernels.get(state.index()).iter().map(|&item| {
            let production = self.rules.production(item);
            (self.rules.lhs(production), (item - self.rules.first(production)) as usize)
        });
        let first = items.next()?;
        let is_whole = first.0 < self.rules.nonterminal_count();
        (is_whole && items.all(|other| other == first))
            .then(|| (NonterminalId::new(first.0), first.1))
    }

    /// Returns the name of a nonterminal, as in the grammar; `None` if it was made for a repetition
    /// or a group.
    pub(crate) fn rule_name(&self, nonterminal: NonterminalId) -> Option<&str> {
        let name = self.names.symbol(self.rules.nonterminal_code(nonterminal.index()));
        // A nonterminal that derives the non-empty texts of another one is the same rule.
        let name = name.strip_suffix('⁺').unwrap_or(name);
        (!name.starts_with("(…)") && !name.starts_with("__")).then_some(name)
    }
}
