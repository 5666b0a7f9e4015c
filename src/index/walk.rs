//! Token classes: what the tokens below some nodes of the vocabulary's trie do to a scan state.
//!
//! A walk runs the trie through one scan state and sorts what it meets. A token that ends within the lexeme
//! falls into a class by what the lexeme can still become. Where the lexeme may end before the token does, the
//! walk stops: what comes next depends on the parse stack, so the rest of the trie there is handed on as a
//! [`Boundary`]. So a walk depends on no stack, is done once, and serves every stack; a mask is a union over a
//! few dozen classes, never over tokens.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::token_set::TokenSet;
use crate::scanner::points::Point;
use crate::scanner::{ObligationsId, Scanner, is_blank};
use crate::util::id::{ScanStateId, TerminalId};
use crate::vocab::trie::{Node, Trie};

/// The classes of the tokens below a [`NodeSet`], from one scan state.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) ends: Box<[End]>,
    pub(crate) boundaries: Box<[Boundary]>,
}

/// Tokens that end within the lexeme. Without obligations, those that can become the same labels are one
/// class, whatever their scan states.
#[derive(Debug)]
pub(crate) struct End {
    /// Where they end, or a state with the same reach.
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// As in [`Boundary`]; left empty where it does not matter, because there are no obligations: a lexeme that begins
    /// with a blank is ignored there, and any other begins where the blanks end.
    pub(crate) leading: LeadingBytes,
    pub(crate) tokens: TokenSet,
}

/// Tokens that go on after the lexeme has ended.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// What the lexeme was.
    pub(crate) label: TerminalId,
    /// With those that the lexeme's end adds, after the first byte of the next lexeme.
    pub(crate) obligations: ObligationsId,
    /// What the walk has read of the blanks at the beginning of a line.
    pub(crate) leading: LeadingBytes,
    /// The nodes whose bytes begin the next lexeme.
    pub(crate) nodes: Arc<NodeSet>,
}

/// Where a walk begins in the blanks before a line's first lexeme: the blanks that it reads, and the first other byte
/// (as 0), if it reads that far. Empty elsewhere.
pub(crate) type LeadingBytes = Box<[u8]>;

/// What a walk depends on, beside its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// Whether the blanks at the beginning of a line are being counted.
    pub(crate) counting: bool,
}

/// Nodes of the trie and the walks done from them. The root stands for itself: a walk of it goes on with the
/// lexeme in progress, which may end before its first byte. Any other node is entered: its own byte is the
/// first of a lexeme.
#[derive(Debug)]
pub(crate) struct NodeSet {
    nodes: Box<[u32]>,
    walks: RwLock<HashMap<Origin, Arc<Walk>, FxBuildHasher>>,
}

impl PartialEq for NodeSet {
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
    }
}

impl Eq for NodeSet {}

impl Hash for NodeSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nodes.hash(state);
    }
}

impl NodeSet {
    /// A set of nodes, ascending.
    pub(crate) fn new(nodes: Vec<u32>) -> Self {
        Self { nodes: nodes.into(), walks: RwLock::default() }
    }

    /// The walk from `state`, done now or before. `share` gives equal node sets one address, and is told of
    /// the bytes that a new walk takes.
    pub(crate) fn walk(
        &self,
        from: Origin,
        scanner: &Scanner,
        trie: &Trie,
        words: usize,
        share: &mut dyn FnMut(NodeSet) -> Arc<NodeSet>,
        used: &mut usize,
    ) -> Arc<Walk> {
        let known = self.walks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(walk) = known.get(&from) {
            return walk.clone();
        }
        drop(known);
        let walk = Arc::new(self.new_walk(from, scanner, trie).finish(words, share));
        *used += walk.bytes();
        let mut known = self.walks.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(from).or_insert(walk).clone()
    }

    fn new_walk<'a>(&self, from: Origin, scanner: &'a Scanner, trie: &'a Trie) -> Classes<'a> {
        let Origin { state, obligations, counting } = from;
        let mut classes = Classes::new(scanner, trie, counting);
        // Where the bytes of entered nodes lead: the obligations already know these bytes.
        let mut entered: [Option<Option<&Point>>; 256] = [None; 256];
        for &node in &self.nodes {
            if node == Trie::ROOT {
                classes.below(node, scanner.at_point(scanner.point(state, obligations)));
                continue;
            }
            let byte = trie.byte(node);
            let point = *entered[usize::from(byte)].get_or_insert_with(|| {
                let state = scanner.states().next(state, byte)?;
                Some(scanner.at_point(scanner.point(state, obligations)))
            });
            if let Some(point) = point {
                classes.enter(node, point);
            }
        }
        classes
    }

    /// The nodes, ascending.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// The walks done so far.
    pub(crate) fn all_walks(&self) -> Vec<(Origin, Arc<Walk>)> {
        let known = self.walks.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().map(|(from, walk)| (*from, walk.clone())).collect()
    }

    /// Adds a walk that was done before.
    pub(crate) fn add_walk(&self, from: Origin, walk: Walk) {
        let mut known = self.walks.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(from, Arc::new(walk));
    }

    /// Heap bytes, but for the walks.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.nodes.len() * 4
    }
}

impl Walk {
    /// Heap bytes, but for the node sets of boundaries, which are shared.
    pub(crate) fn bytes(&self) -> usize {
        let tokens: usize = self.ends.iter().map(|end| end.tokens.bytes() + end.leading.len()).sum();
        let leading: usize = self.boundaries.iter().map(|boundary| boundary.leading.len()).sum();
        size_of::<Self>()
            + tokens
            + leading
            + self.ends.len() * size_of::<End>()
            + self.boundaries.len() * size_of::<Boundary>()
    }
}

/// A class in the making.
#[derive(Clone, Copy)]
struct Class<'a> {
    /// The first one met.
    point: &'a Point,
    /// The number of the blanks read at the beginning of a line.
    leading: u32,
}

/// A run of tokens of one class, as indices among the trie's ids.
#[derive(Clone, Copy)]
struct Run {
    class: u32,
    first: u32,
    end: u32,
}

/// The nodes behind one label and obligations.
struct Behind {
    ended: u32,
    leading: u32,
    nodes: Vec<u32>,
}

/// What a walk has met so far.
struct Classes<'a> {
    scanner: &'a Scanner,
    trie: &'a Trie,
    classes: Vec<Class<'a>>,
    class_numbers: Numbers,
    /// In the order of the walk; neighbours of one class are one.
    runs: Vec<Run>,
    boundaries: Vec<Behind>,
    boundary_numbers: Numbers,
    /// Nodes where the lexeme has ended only if no longer match comes.
    open: Vec<Open>,
    /// By depth below the entered node: the point, and among `open` the last one above without an accept between.
    path: Vec<(&'a Point, u32)>,
    /// Where the blanks at the beginning of a line are being counted.
    leading: Option<Blanks>,
}

/// A node that is one of a boundary if a token below it ends before a longer match comes.
struct Open {
    ended: u32,
    leading: u32,
    node: u32,
}

/// No node above is open.
const CLOSED: u32 = u32::MAX;

/// Numbers in the order of their first use, for keys that are small numbers themselves, and blanks beside them.
#[derive(Default)]
struct Numbers {
    /// By key: 1 and the number, or 0. Without blanks, which is nearly always.
    plain: Vec<u32>,
    among_blanks: HashMap<(u32, u32), u32, FxBuildHasher>,
}

impl Numbers {
    /// The number of `key`; `next` where it has none yet.
    #[inline]
    fn get(&mut self, key: u32, leading: u32, next: usize) -> usize {
        if leading != 0 {
            return *self.among_blanks.entry((key, leading)).or_insert(next as u32) as usize;
        }
        let key = key as usize;
        if key >= self.plain.len() {
            self.plain.resize(key + 1, 0);
        }
        if self.plain[key] == 0 {
            self.plain[key] = next as u32 + 1;
        }
        self.plain[key] as usize - 1
    }
}

/// The blanks on the way to a node.
#[derive(Default)]
struct Blanks {
    /// Of each byte on the way down to the current node: how many of `bytes` there were then.
    lengths: Vec<usize>,
    bytes: Vec<u8>,
    numbers: HashMap<LeadingBytes, u32, FxBuildHasher>,
}

impl Blanks {
    /// Goes on with `byte`, the one of number `depth` on the way.
    fn read(&mut self, depth: usize, byte: u8) {
        self.lengths.truncate(depth);
        self.bytes.truncate(self.lengths.last().copied().unwrap_or(0));
        if self.bytes.last() != Some(&0) {
            self.bytes.push(if is_blank(byte) { byte } else { 0 });
        }
        self.lengths.push(self.bytes.len());
    }

    /// The number of what was read before byte `depth`; 0 for nothing.
    fn number(&mut self, depth: usize) -> u32 {
        let length = depth.checked_sub(1).and_then(|last| self.lengths.get(last)).copied().unwrap_or(0);
        let next = self.numbers.len() as u32 + 1;
        match self.bytes.get(..length) {
            None | Some([]) => 0,
            Some(bytes) => match self.numbers.get(bytes) {
                Some(&number) => number,
                None => *self.numbers.entry(bytes.into()).or_insert(next),
            },
        }
    }
}

impl<'a> Classes<'a> {
    fn new(scanner: &'a Scanner, trie: &'a Trie, counting: bool) -> Self {
        Self {
            scanner,
            trie,
            classes: Vec::new(),
            class_numbers: Numbers::default(),
            runs: Vec::new(),
            boundaries: Vec::new(),
            boundary_numbers: Numbers::default(),
            open: Vec::new(),
            path: Vec::new(),
            leading: counting.then(Blanks::default),
        }
    }

    /// Walks the subtree of `entry`, whose own byte has led to `point`.
    fn enter(&mut self, entry: u32, point: &'a Point) {
        self.read(0, self.trie.byte(entry));
        self.end(entry, entry + 1, point, 1);
        self.below(entry, point);
    }

    /// Walks what lies below `entry`, which has been read up to `point`.
    fn below(&mut self, entry: u32, point: &'a Point) {
        let (scanner, trie) = (self.scanner, self.trie);
        let base = trie.depth(entry) as usize;
        // Bytes that the walk has read before those below `entry`.
        let before = usize::from(entry != Trie::ROOT);
        let last = trie.end(entry);
        self.path.clear();
        self.path.push((point, CLOSED));
        let mut index = entry + 1;
        while index < last {
            let node = *trie.node(index);
            let depth = usize::from(node.depth) - base;
            let (from, mut open) = self.path[depth - 1];
            let step = scanner.step_point(from, node.byte);
            let Some(next) = step.next() else {
                self.survives(open);
                if let Some(ended) = step.ended() {
                    let leading = self.number(before + depth - 1);
                    self.bound(Open { ended, leading, node: index });
                }
                index = node.end;
                continue;
            };
            let point = scanner.at_point(next);
            if let Some(ended) = step.ended() {
                let leading = self.number(before + depth - 1);
                open = self.open.len() as u32;
                self.open.push(Open { ended, leading, node: index });
            }
            if self.stays(index, &node, point) {
                self.end(index, node.end, point, 0);
                if !point.accepts {
                    self.survives(open);
                }
                index = node.end;
                continue;
            }
            self.read(before + depth - 1, node.byte);
            let ends = self.end(index, index + 1, point, before + depth);
            if point.accepts {
                open = CLOSED;
            } else if ends {
                self.survives(open);
            }
            match self.path.get_mut(depth) {
                Some(place) => *place = (point, open),
                None => self.path.push((point, open)),
            }
            index += 1;
        }
    }

    /// Whether everything below a node that was read up to `point` is a token of one class with it.
    #[inline]
    fn stays(&self, index: u32, node: &Node, point: &Point) -> bool {
        if node.end == index + 1 || (self.leading.is_some() && point.obligations != ObligationsId::NONE) {
            return false;
        }
        // To begin with, the first byte below must not leave: most points stay nowhere.
        let first = self.trie.byte(index + 1);
        (first >= 0x80 || self.scanner.step_point(point, first) == point.back())
            && self.scanner.stays(point, node.below)
    }

    /// Notes the tokens of the nodes from `first` to before `end`, which end at `point` where `read` bytes have been
    /// read; whether there are any.
    #[inline]
    fn end(&mut self, first: u32, end: u32, point: &'a Point, read: usize) -> bool {
        let (first, end) = (self.trie.node(first).first, self.trie.node(end).first);
        if first == end {
            return false;
        }
        let leading = if point.obligations == ObligationsId::NONE { 0 } else { self.number(read) };
        let next = self.classes.len();
        let class = self.class_numbers.get(self.scanner.class_of(point), leading, next);
        if class == next {
            self.classes.push(Class { point, leading });
        }
        let class = class as u32;
        match self.runs.last_mut() {
            Some(run) if run.class == class && run.end == first => run.end = end,
            _ => self.runs.push(Run { class, first, end }),
        }
        true
    }

    /// Notes a node before whose byte the lexeme has ended.
    fn bound(&mut self, Open { ended, leading, node }: Open) {
        let next = self.boundaries.len();
        let boundary = self.boundary_numbers.get(ended, leading, next);
        if boundary == next {
            self.boundaries.push(Behind { ended, leading, nodes: Vec::new() });
        }
        self.boundaries[boundary].nodes.push(node);
    }

    /// A token below the open node ends before a longer match came.
    #[inline]
    fn survives(&mut self, open: u32) {
        if open != CLOSED {
            let open = &mut self.open[open as usize];
            // Once is enough.
            let node = std::mem::replace(&mut open.node, Trie::ROOT);
            if node != Trie::ROOT {
                let open = Open { node, ..*open };
                self.bound(open);
            }
        }
    }

    #[inline]
    fn read(&mut self, depth: usize, byte: u8) {
        if let Some(leading) = &mut self.leading {
            leading.read(depth, byte);
        }
    }

    #[inline]
    fn number(&mut self, depth: usize) -> u32 {
        self.leading.as_mut().map_or(0, |leading| leading.number(depth))
    }

    fn finish(mut self, words: usize, share: &mut dyn FnMut(NodeSet) -> Arc<NodeSet>) -> Walk {
        let mut blanks: Vec<LeadingBytes> = vec![LeadingBytes::default()];
        if let Some(leading) = self.leading {
            let mut numbered: Vec<_> = leading.numbers.into_iter().collect();
            numbered.sort_unstable_by_key(|(_, number)| *number);
            blanks.extend(numbered.into_iter().map(|(bytes, _)| bytes));
        }
        let mut boundaries = Vec::with_capacity(self.boundaries.len());
        for Behind { ended, leading, mut nodes } in self.boundaries {
            // Open nodes were noted late.
            nodes.sort_unstable();
            let (label, obligations) = self.scanner.ended(ended);
            let leading = blanks[leading as usize].clone();
            boundaries.push(Boundary { label, obligations, leading, nodes: share(NodeSet::new(nodes)) });
        }
        // By class, and within one in the order of the walk.
        self.runs.sort_by_key(|run| run.class);
        let ends = (self.runs.chunk_by(|a, b| a.class == b.class)).map(|runs| {
            let Class { point, leading } = self.classes[runs[0].class as usize];
            End {
                state: point.state,
                obligations: point.obligations,
                leading: blanks[leading as usize].clone(),
                tokens: tokens(self.trie, runs, words),
            }
        });
        Walk { ends: ends.collect(), boundaries: boundaries.into() }
    }
}

/// The tokens of these runs.
fn tokens(trie: &Trie, runs: &[Run], words: usize) -> TokenSet {
    let ids = trie.ids();
    let count: u32 = runs.iter().map(|run| run.end - run.first).sum();
    // Nodes may lie below one another, so that runs overlap.
    if count as usize > ids.len() / 2 && runs.is_sorted_by(|a, b| a.end <= b.first) {
        let starts = runs.iter().map(|run| run.first).chain(std::iter::once(ids.len() as u32));
        let ends = std::iter::once(0).chain(runs.iter().map(|run| run.end));
        return TokenSet::from_all_but(
            trie.row(),
            ids,
            ends.zip(starts).map(|(end, start)| end..start),
            words,
        );
    }
    TokenSet::from_runs(ids, runs.iter().map(|run| run.first..run.end), words)
}
