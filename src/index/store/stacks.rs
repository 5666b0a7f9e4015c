//! The trie over stacks, column by column.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Bounds;
use crate::index::stack_trie::{Branch, Leaf, LineKind, Root, StackTrie};
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Lines, ObligationsId, Question};
use crate::util::append::Interner;
use crate::util::append_map::AppendMap;
use crate::util::id::{ParseStateId, ScanStateId};
use crate::util::store::{Malformed, Reader, Writer, ensure, ensure_below};

impl StackTrie<Root, Leaf> {
    /// Writes the paths.
    pub(super) fn save(&self, writer: &mut Writer) {
        let roots: Vec<_> = self.roots.iter().collect();
        let column = |of: &dyn Fn(&Root) -> u32| roots.iter().map(|(root, _)| of(root)).collect::<Vec<u32>>();
        writer.numbers(&column(&|root| root.state.0));
        writer.numbers(&column(&|root| root.obligations.0));
        writer.numbers(&column(&|root| root.expectations.0));
        writer.numbers(&column(&|root| root.top.0));
        writer.numbers(&column(&|root| u32::from(root.fresh) + 2 * root.line.number()));
        save_branches(roots.iter().map(|(_, branch)| *branch), writer);
        let edges: Vec<_> = self.edges.iter().collect();
        writer.numbers(&edges.iter().map(|((node, _), _)| *node).collect::<Vec<u32>>());
        writer.numbers(&edges.iter().map(|((_, label), _)| *label).collect::<Vec<u32>>());
        save_branches(edges.iter().map(|(_, branch)| *branch), writer);
        // Behind the branches that ask them and the answers that number them.
        writer.u32(self.nodes.load(Ordering::Acquire));
        let questions: Vec<&Question> = self.questions.iter().collect();
        writer.list(&questions, |w, question| question.save(w));
        let layouts: Vec<_> = self.layouts.iter().collect();
        writer.list(&layouts, |w, (lines, number)| {
            lines.save(w);
            w.u32(*number);
        });
    }

    /// Takes paths that end in one of `masks` masks.
    pub(super) fn load(
        &mut self,
        reader: &mut Reader<'_>,
        masks: usize,
        bounds: &Bounds,
    ) -> Result<(), Malformed> {
        let (states, obligations) = (reader.numbers()?, reader.numbers()?);
        let (expectations, tops, kinds) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
        ensure_below(&states, bounds.scan_states, "the scan states of paths")?;
        ensure_below(&obligations, bounds.obligations, "the obligations of paths")?;
        ensure_below(&expectations, bounds.expectations, "the expectations of paths")?;
        ensure_below(&tops, bounds.parse_states, "the parse states of paths")?;
        let branches = load_branches(reader)?;
        let count = branches.len();
        let columns = [&obligations, &expectations, &tops, &kinds];
        ensure(states.len() == count && columns.iter().all(|column| column.len() == count), "paths")?;
        let roots = branches.into_iter().enumerate().map(|(at, branch)| {
            let root = Root {
                state: ScanStateId(states[at]),
                obligations: ObligationsId(obligations[at]),
                expectations: ExpectationsId(expectations[at]),
                top: ParseStateId(tops[at]),
                fresh: kinds[at] % 2 == 1,
                line: LineKind::of(kinds[at] / 2).ok_or(Malformed { what: "paths" })?,
            };
            Ok((root, branch))
        });
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        let (nodes, labels) = (reader.numbers()?, reader.numbers()?);
        let branches = load_branches(reader)?;
        ensure(nodes.len() == branches.len() && labels.len() == branches.len(), "paths")?;
        let count = reader.u32()?;
        ensure_below(&nodes, count as usize, "the nodes of paths")?;
        let questions = reader.list(1, Question::load)?;
        let asked = questions.len();
        let sound = |branch: &Branch<Leaf>| match *branch {
            Branch::Stack(node) => node < count,
            Branch::Layout { node, question } => node < count && (question as usize) < asked,
            Branch::Leaf(leaf) => (leaf.mask as usize) < masks,
        };
        let mut all = roots.iter().map(|(_, branch)| branch).chain(&branches);
        ensure(all.all(sound), "paths")?;
        self.roots = AppendMap::restore(roots.into_iter());
        self.edges = AppendMap::restore(nodes.into_iter().zip(labels).zip(branches));
        self.nodes = AtomicU32::new(count);
        self.questions =
            Interner::restore(questions.into_iter()).ok_or(Malformed { what: "the questions of paths" })?;
        let layouts = reader.list(13, |r| Ok((Lines::load(r)?, r.u32()?)))?;
        self.layouts = AppendMap::restore(layouts.into_iter());
        Ok(())
    }
}

fn save_branches(branches: impl Iterator<Item = Branch<Leaf>> + Clone, writer: &mut Writer) {
    let kind = |branch: Branch<Leaf>| match branch {
        Branch::Stack(_) => 0,
        Branch::Layout { .. } => 1,
        Branch::Leaf(Leaf { asks_end, .. }) => 2 + u32::from(asks_end),
    };
    let target = |branch: Branch<Leaf>| match branch {
        Branch::Stack(node) | Branch::Layout { node, .. } => node,
        Branch::Leaf(leaf) => leaf.mask,
    };
    let question = |branch: Branch<Leaf>| match branch {
        Branch::Layout { question, .. } => Some(question),
        _ => None,
    };
    writer.numbers(&branches.clone().map(kind).collect::<Vec<u32>>());
    writer.numbers(&branches.clone().map(target).collect::<Vec<u32>>());
    writer.numbers(&branches.filter_map(question).collect::<Vec<u32>>());
}

fn load_branches(reader: &mut Reader<'_>) -> Result<Vec<Branch<Leaf>>, Malformed> {
    let (kinds, targets) = (reader.numbers()?, reader.numbers()?);
    let mut questions = reader.numbers()?.into_iter();
    ensure(kinds.len() == targets.len(), "paths")?;
    let branch = |(kind, target)| match kind {
        0 => Ok(Branch::Stack(target)),
        1 => {
            let question = questions.next().ok_or(Malformed { what: "a question of a path" })?;
            Ok(Branch::Layout { node: target, question })
        }
        2 | 3 => Ok(Branch::Leaf(Leaf { mask: target, asks_end: kind == 3 })),
        _ => Err(Malformed { what: "a path" }),
    };
    kinds.into_iter().zip(targets).map(branch).collect()
}

impl LineKind {
    fn number(self) -> u32 {
        match self {
            Self::Inside => 0,
            Self::Counting => 1,
            Self::Counted => 2,
        }
    }

    fn of(number: u32) -> Option<Self> {
        [Self::Inside, Self::Counting, Self::Counted].get(number as usize).copied()
    }
}
