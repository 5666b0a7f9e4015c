//! The trie over stacks, column by column.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use super::Bounds;
use crate::index::mask::{ASKS, Fork, Leaf, LineKind, Path, RUN_BYTES, Root, STATE, StackTrie};
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Lines, ObligationsId, Question};
use crate::util::append::Interner;
use crate::util::append_map::AppendMap;
use crate::util::id::{CoreId, ScanStateId};
use crate::util::saving::{Malformed, Reader, Writer, ensure, ensure_below};
use crate::util::uses::Uses;

impl StackTrie<Root, Leaf> {
    /// Writes the paths.
    pub(super) fn save(&self, writer: &mut Writer) {
        let roots: Vec<_> = self.roots.iter().collect();
        let column = |of: &dyn Fn(&Root) -> u32| {
            roots.iter().map(|(root, _)| of(root)).collect::<Vec<u32>>()
        };
        writer.numbers(&column(&|root| root.state.0));
        writer.numbers(&column(&|root| root.obligations.0));
        writer.numbers(&column(&|root| root.expectations.0));
        writer.numbers(&column(&|root| root.top.0));
        writer.numbers(&column(&|root| u32::from(root.fresh) + 2 * root.line.number()));
        save_paths(roots.iter().map(|(_, path)| path), writer);
        let forks: Vec<_> = self.forks.iter().collect();
        let column = |of: &dyn Fn(&Fork) -> u32| {
            forks.iter().map(|(fork, _)| of(fork)).collect::<Vec<u32>>()
        };
        writer.numbers(&column(&|fork| fork.path));
        writer.numbers(&column(&|fork| fork.at));
        writer.numbers(&column(&|fork| fork.read));
        save_paths(forks.iter().map(|(_, path)| path), writer);
        // Behind the paths that have these numbers, and the answers that are numbers of layouts.
        writer.u32(self.count.load(Ordering::Acquire));
        let runs: Vec<_> = self.runs.iter().collect();
        writer.numbers(&runs.iter().map(|run| run.len() as u32).collect::<Vec<u32>>());
        writer.numbers(&runs.iter().flat_map(|run| run.iter().copied()).collect::<Vec<u32>>());
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
        reader: &mut Reader<'_>,
        masks: usize,
        bounds: &Bounds<'_>,
    ) -> Result<Self, Malformed> {
        let (states, obligations) = (reader.numbers()?, reader.numbers()?);
        let (expectations, tops, kinds) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
        bounds.ensure_states(&states, "the scan states of paths")?;
        ensure_below(&obligations, bounds.obligations, "the obligations of paths")?;
        ensure_below(&expectations, bounds.expectations, "the expectations of paths")?;
        ensure_below(&tops, bounds.parse_states, "the parse states of paths")?;
        let paths = load_paths(reader, masks)?;
        let count = paths.len();
        let columns = [&obligations, &expectations, &tops, &kinds];
        ensure(
            states.len() == count && columns.iter().all(|column| column.len() == count),
            "paths",
        )?;
        let roots = paths.into_iter().enumerate().map(|(at, path)| {
            let root = Root {
                state: ScanStateId(states[at]),
                obligations: ObligationsId(obligations[at]),
                expectations: ExpectationsId(expectations[at]),
                top: CoreId(tops[at]),
                fresh: kinds[at] % 2 == 1,
                line: LineKind::of(kinds[at] / 2).ok_or(Malformed { what: "paths" })?,
            };
            Ok((root, path))
        });
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        let (from, at, read) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
        let paths = load_paths(reader, masks)?;
        ensure([&from, &at, &read].iter().all(|column| column.len() == paths.len()), "paths")?;
        let forks =
            (from.into_iter().zip(at).zip(read)).map(|((path, at), read)| Fork { path, at, read });
        let forks: Vec<_> = forks.zip(paths).collect();
        let count = reader.u32()?;
        let runs = load_runs(reader)?;
        let questions = reader.list(1, Question::load)?;
        ensure(runs.iter().all(|run| is_sound(run, questions.len())), "what paths read")?;
        let all = roots.iter().map(|(_, path)| path).chain(forks.iter().map(|(_, path)| path));
        let sound = |path: &Path<Leaf>| path.number < count && (path.run as usize) < runs.len();
        ensure(all.clone().all(sound), "paths")?;
        // Numbers are given in order, so following forks comes to an end.
        ensure(forks.iter().all(|(fork, path)| fork.path < path.number), "the order of paths")?;
        let run_bytes = runs.iter().map(|run| RUN_BYTES + size_of_val(&run[..])).sum();
        let runs =
            Interner::restore(runs.into_iter()).ok_or(Malformed { what: "what paths read" })?;
        let questions = Interner::restore(questions.into_iter())
            .ok_or(Malformed { what: "the questions of paths" })?;
        let layouts = reader.list(13, |r| Ok((Lines::load(r)?, r.u32()?)))?;
        Ok(Self {
            roots: AppendMap::restore(roots.into_iter()),
            forks: AppendMap::restore(forks.into_iter()),
            count: AtomicU32::new(count),
            runs,
            run_bytes: AtomicUsize::new(run_bytes),
            questions,
            layouts: AppendMap::restore(layouts.into_iter()),
        })
    }
}

fn save_paths<'p>(paths: impl Iterator<Item = &'p Path<Leaf>> + Clone, writer: &mut Writer) {
    writer.numbers(&paths.clone().map(|path| path.number).collect::<Vec<u32>>());
    writer.numbers(&paths.clone().map(|path| path.run).collect::<Vec<u32>>());
    let leaf = |leaf: Leaf| leaf.mask * 2 + u32::from(leaf.asks_end);
    writer.numbers(&paths.map(|path| leaf(path.leaf)).collect::<Vec<u32>>());
}

/// Paths that end in one of `masks` masks.
fn load_paths(reader: &mut Reader<'_>, masks: usize) -> Result<Vec<Path<Leaf>>, Malformed> {
    let (numbers, runs, leaves) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
    ensure(numbers.len() == runs.len() && runs.len() == leaves.len(), "paths")?;
    ensure_below(&leaves, 2 * masks, "the masks of paths")?;
    let path = |((number, run), leaf)| {
        let leaf = Leaf { mask: leaf / 2, asks_end: leaf % 2 == 1 };
        Path { number, run, leaf, uses: Uses::default() }
    };
    Ok(numbers.into_iter().zip(runs).zip(leaves).map(path).collect())
}

fn load_runs(reader: &mut Reader<'_>) -> Result<Vec<Box<[u32]>>, Malformed> {
    let (lengths, words) = (reader.numbers()?, reader.numbers()?);
    let mut rest = &words[..];
    let run = |length| {
        let (run, behind) = rest.split_at_checked(length as usize)?;
        rest = behind;
        Some(run.into())
    };
    let runs: Option<Vec<_>> = lengths.into_iter().map(run).collect();
    runs.filter(|_| rest.is_empty()).ok_or(Malformed { what: "what paths read" })
}

/// Whether each question of a run is one of so many, and answered.
fn is_sound(run: &[u32], questions: usize) -> bool {
    let mut words = run.iter();
    while let Some(&word) = words.next() {
        let exists = word == STATE || ((word & !ASKS) as usize) < questions;
        if word & ASKS != 0 && (!exists || words.next().is_none()) {
            return false;
        }
    }
    true
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scanner::{Endings, ScanStates};
    use crate::util::bitset::BitSet;

    /// A trie of one root, whose path reads state 1, and of a fork off it with that number.
    fn trie(number: u32) -> StackTrie<Root, Leaf> {
        let root = Root {
            state: ScanStateId(0),
            obligations: ObligationsId::NONE,
            expectations: ExpectationsId::NONE,
            top: CoreId(0),
            fresh: false,
            line: LineKind::Inside,
        };
        let leaf = Leaf { mask: 0, asks_end: false };
        let path = |number| Path { number, run: 0, leaf, uses: Uses::default() };
        let trie = StackTrie {
            roots: AppendMap::restore([(root, path(0))].into_iter()),
            forks: AppendMap::restore(
                [(Fork { path: 0, at: 0, read: 2 }, path(number))].into_iter(),
            ),
            count: AtomicU32::new(2),
            ..StackTrie::default()
        };
        trie.runs.intern(Box::from([1]));
        trie
    }

    #[test]
    fn forks_that_go_round_are_refused() {
        let load = |number| {
            let mut writer = Writer::default();
            trie(number).save(&mut writer);
            let bytes = writer.into_bytes();
            let states = &ScanStates::new(Vec::new(), Vec::new(), Endings::default(), None);
            states.start(&BitSet::new(0));
            let (nodes, words) = (1, 1);
            let (obligations, expectations, parse_states, terminals) = (1, 1, 3, 1);
            let bounds =
                Bounds { words, nodes, states, obligations, expectations, parse_states, terminals };
            StackTrie::load(&mut Reader::new(&bytes), 1, &bounds).map(|_| ())
        };
        assert!(load(1).is_ok());
        assert!(load(0).is_err());
    }
}
