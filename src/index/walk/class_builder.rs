//! The results of a walk so far: classes of tokens that end in it, and nodes before which the
//! lexeme has ended.

use smallvec::SmallVec;

use super::classes::{Boundary, End};
use super::context::Walker;
use super::line_blanks::LeadingBytes;
use super::open_ends::EndedAt;
use crate::index::tokens::{StoredTokensId, TokenSet, TokensId};
use crate::scanner::Scanner;
use crate::scanner::product_state::{Point, PointId};
use crate::util::distinct::Distinct;

/// The results of a walk so far.
#[derive(Default)]
pub(super) struct Tally<'g> {
    classes: SmallVec<[Class<'g>; 2]>,
    /// The scanner's class and the blanks of each class.
    class_keys: Distinct<(u32, u32)>,
    /// The last class that was looked up.
    last: Option<Last<'g>>,
    /// In the order of the walk; adjacent runs of one class are merged.
    runs: SmallVec<[Run; 8]>,
    boundaries: SmallVec<[Behind; 2]>,
    /// The lexemes that have ended, whether at once, and the blanks of each boundary.
    boundary_keys: Distinct<(u32, bool, u32)>,
}

/// The class of a point.
#[derive(Clone, Copy)]
struct Last<'g> {
    point: &'g Point,
    leading: u32,
    /// The number that the scanner gives to the class.
    of_scanner: u32,
    class: u32,
}

/// A class under construction.
struct Class<'g> {
    /// The first point of the class.
    point: &'g Point,
    leading: u32,
    /// The tokens found by branches.
    found: SmallVec<[TokensId; 4]>,
}

/// Tokens that end in one class, as indices into the trie's ids.
struct Run {
    class: u32,
    first: u32,
    end: u32,
}

/// The nodes after one label with its obligations.
struct Behind {
    ended: u32,
    leading: u32,
    nodes: Vec<u32>,
}

impl<'g> Tally<'g> {
    /// Records that the tokens from `first` to before `end`, among the trie's ids, end at `point`.
    #[inline]
    pub(super) fn add_tokens(
        &mut self,
        scanner: &Scanner,
        point: &'g Point,
        leading: u32,
        (first, end): (u32, u32),
    ) {
        let class = self.class(scanner, point, leading);
        match self.runs.last_mut() {
            Some(run) if run.class == class && run.end == first => run.end = end,
            _ => self.runs.push(Run { class, first, end }),
        }
    }

    /// Records that these tokens, found by a branch, end at `point`.
    pub(super) fn add_found(&mut self, scanner: &Scanner, point: &'g Point, tokens: TokensId) {
        let class = self.class(scanner, point, 0);
        self.classes[class as usize].found.push(tokens);
    }

    /// Returns the number of the class of tokens that end at `point`.
    #[inline]
    fn class(&mut self, scanner: &Scanner, point: &'g Point, leading: u32) -> u32 {
        let last = self.last.filter(|last| last.leading == leading);
        if let Some(last) = last.filter(|last| std::ptr::eq(last.point, point)) {
            return last.class;
        }
        let of_scanner = scanner.class_of(point);
        let known = last.filter(|last| last.of_scanner == of_scanner).map(|last| last.class);
        let class = known.unwrap_or_else(|| {
            let next = self.classes.len();
            let class = self.class_keys.insert((of_scanner, leading)).unwrap_or(next);
            if class == next {
                self.classes.push(Class { point, leading, found: SmallVec::new() });
            }
            class as u32
        });
        self.last = Some(Last { point, leading, of_scanner, class });
        class
    }

    /// Records a node before whose byte the lexeme has ended. Nodes whose byte was the first one
    /// read (`at_once`) form a separate boundary: they are the same for many scan states.
    pub(super) fn add_node(&mut self, EndedAt { ended, leading, node }: EndedAt, at_once: bool) {
        self.behind(ended, leading, at_once).push(node);
    }

    /// Returns the nodes before whose bytes this set of labels has ended.
    pub(super) fn behind(&mut self, ended: u32, leading: u32, at_once: bool) -> &mut Vec<u32> {
        let next = self.boundaries.len();
        let boundary = self.boundary_keys.insert((ended, at_once, leading)).unwrap_or(next);
        if boundary == next {
            self.boundaries.push(Behind { ended, leading, nodes: Vec::new() });
        }
        &mut self.boundaries[boundary].nodes
    }

    /// Returns the boundaries and the ends of a walk; `blanks` are the numbered blanks.
    pub(super) fn finish(
        mut self,
        walker: Walker<'_>,
        blanks: &[LeadingBytes],
    ) -> (Box<[Boundary]>, Box<[End]>) {
        let mut boundaries = Vec::with_capacity(self.boundaries.len());
        for Behind { ended, leading, mut nodes } in std::mem::take(&mut self.boundaries) {
            // Nodes of open ends were recorded late, and nodes may be recorded once for each node
            // above them that leads here.
            nodes.sort_unstable();
            nodes.dedup();
            let leading = blanks[leading as usize].clone();
            let tokens = nodes.iter().map(|&node| walker.trie.count(node)).sum();
            let nodes = walker.tables.nodes_id(&nodes);
            for &(label, obligations) in walker.scanner.ended(ended) {
                boundaries.push(Boundary {
                    label,
                    obligations,
                    leading: leading.clone(),
                    nodes,
                    tokens,
                });
            }
        }
        let found = self.collect(walker);
        let ends =
            self.classes.iter().zip(found).map(|(&Class { point, leading, .. }, tokens)| End {
                state: point.state,
                obligations: point.obligations,
                leading: blanks[leading as usize].clone(),
                tokens,
            });
        (boundaries.into(), ends.collect())
    }

    /// Removes and returns the ends of a branch.
    pub(super) fn take_ends(&mut self, walker: Walker<'_>) -> Box<[(PointId, TokensId)]> {
        let found = self.collect(walker);
        self.runs.clear();
        self.class_keys.clear();
        self.last = None;
        self.classes.drain(..).zip(found).map(|(class, tokens)| (class.point.id, tokens)).collect()
    }

    /// Removes and returns the boundaries of a branch.
    pub(super) fn take_boundaries(&mut self) -> Box<[(u32, Box<[u32]>)]> {
        self.boundary_keys.clear();
        self.boundaries.drain(..).map(|behind| (behind.ended, behind.nodes.into())).collect()
    }

    /// Returns the tokens of each class: those found by branches, and the runs.
    fn collect(&mut self, walker: Walker<'_>) -> Vec<TokensId> {
        // Sorted by class, and within a class in the order of the walk.
        self.runs.sort_by_key(|run| run.class);
        let mut runs = self.runs.chunk_by(|a, b| a.class == b.class).peekable();
        let union = |(number, class): (usize, &mut Class<'_>)| {
            let own = runs.next_if(|runs| runs[0].class as usize == number);
            class.found.extend(own.map(|runs| add_runs(walker, runs).into()));
            walker.tokens.union(&mut class.found)
        };
        self.classes.iter_mut().enumerate().map(union).collect()
    }
}

/// Adds the tokens of these runs.
fn add_runs(walker: Walker<'_>, runs: &[Run]) -> StoredTokensId {
    let Walker { trie, tokens, words, .. } = walker;
    let ids = trie.ids();
    let count: u32 = runs.iter().map(|run| run.end - run.first).sum();
    // Some nodes may be below others, in which case runs overlap.
    if count as usize > ids.len() / 2 && runs.is_sorted_by(|a, b| a.end <= b.first) {
        let starts = runs.iter().map(|run| run.first).chain(std::iter::once(ids.len() as u32));
        let ends = std::iter::once(0).chain(runs.iter().map(|run| run.end));
        let between = ends.zip(starts).map(|(end, start)| end..start);
        return tokens.add_set(TokenSet::from_all_but(trie.row(), ids, between, words));
    }
    tokens.add_runs(ids, runs.iter().map(|run| run.first..run.end), words)
}
