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
use crate::scanner::{ObligationsId, Scanner, is_blank};
use crate::util::byte_groups::Groups;
use crate::util::id::{ScanStateId, TerminalId};
use crate::vocab::trie::Trie;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
        let Origin { state, obligations, counting } = from;
        let (ends, boundaries) = (HashMap::default(), HashMap::default());
        let leading = counting.then(Blanks::default);
        let mut classes = Classes { scanner, ends, boundaries, leading };
        for &node in &self.nodes {
            if node == Trie::ROOT {
                classes.below(trie, node, state, obligations);
            } else {
                classes.enter(trie, node, state, obligations);
            }
        }
        let walk = Arc::new(classes.finish(words, share));
        *used += walk.bytes();
        let mut known = self.walks.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(from).or_insert(walk).clone()
    }

    /// Heap bytes, but for the walks.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.nodes.len() * 4
    }
}

impl Walk {
    /// Heap bytes, but for the node sets of boundaries, which are shared.
    fn bytes(&self) -> usize {
        let tokens: usize = self.ends.iter().map(|end| end.tokens.bytes() + end.leading.len()).sum();
        let leading: usize = self.boundaries.iter().map(|boundary| boundary.leading.len()).sum();
        size_of::<Self>()
            + tokens
            + leading
            + self.ends.len() * size_of::<End>()
            + self.boundaries.len() * size_of::<Boundary>()
    }
}

/// What tokens of one class have in common: the reach, or the state where there are obligations; these; and then the
/// number of the blanks read at the beginning of a line.
type EndClass = (u32, ObligationsId, u32);

/// What a walk has met so far.
struct Classes<'a> {
    scanner: &'a Scanner,
    ends: HashMap<EndClass, (ScanStateId, Vec<u32>), FxBuildHasher>,
    boundaries: HashMap<(TerminalId, ObligationsId, u32), Vec<u32>, FxBuildHasher>,
    /// Where the blanks at the beginning of a line are being counted.
    leading: Option<Blanks>,
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

impl Classes<'_> {
    /// Walks the subtree of `entry`, whose own byte is the first one read from `state`. `obligations` already
    /// know that byte.
    fn enter(&mut self, trie: &Trie, entry: u32, state: ScanStateId, obligations: ObligationsId) {
        let states = self.scanner.states();
        let Some(state) = states.next(state, trie.byte(entry)) else { return };
        self.read(0, trie.byte(entry));
        self.end(trie.tokens(entry), state, obligations, 1);
        self.below(trie, entry, state, obligations);
    }

    /// Walks what lies below `entry`, which has been read up to `state`.
    fn below(&mut self, trie: &Trie, entry: u32, state: ScanStateId, obligations: ObligationsId) {
        let states = self.scanner.states();
        // The states on the way from `entry` down to the parent of the current node.
        let mut path = vec![(state, obligations)];
        let base = trie.depth(entry) as usize;
        // Bytes that the walk has read before those below `entry`.
        let before = usize::from(entry != Trie::ROOT);
        let mut node = entry + 1;
        let last = trie.end(entry);
        while node < last {
            path.truncate(trie.depth(node) as usize - base);
            let read = before + path.len() - 1;
            let (state, obligations) = path[path.len() - 1];
            let byte = trie.byte(node);
            let Some(obligations) = self.scanner.step_obligations(obligations, byte) else {
                node = trie.end(node);
                continue;
            };
            let next = states.next(state, byte);
            if let Some(label) = states.label(state) {
                // As in `Scanner::step`: the lexeme ends here where the byte does not let it match more.
                let ended = match next {
                    None => Some(obligations),
                    Some(next) if states.label(next).is_none() => {
                        Some(self.scanner.add_obligation(obligations, next))
                    }
                    Some(_) => None,
                };
                if let Some(obligations) = ended {
                    let leading = self.number(read);
                    self.boundaries.entry((label, obligations, leading)).or_default().push(node);
                }
            }
            match next {
                None => node = trie.end(node),
                Some(state) if self.stays(trie.groups_below(node), state, obligations) => {
                    self.end(trie.subtree_tokens(node), state, obligations, 0);
                    node = trie.end(node);
                }
                Some(state) => {
                    self.read(read, byte);
                    self.end(trie.tokens(node), state, obligations, read + 1);
                    path.push((state, obligations));
                    node += 1;
                }
            }
        }
    }

    /// Whether all bytes of these groups leave the lexeme in `state`, and nothing else has to be known of them. Then it
    /// ends nowhere on the way either: the state accepts, and goes on to one that does, or it does not accept.
    #[inline]
    fn stays(&self, groups: Groups, state: ScanStateId, obligations: ObligationsId) -> bool {
        obligations == ObligationsId::NONE
            && self.leading.is_none()
            && groups & !self.scanner.states().loops(state) == 0
    }

    /// Notes tokens that end here, where `read` bytes have been read.
    fn end(&mut self, tokens: &[u32], state: ScanStateId, obligations: ObligationsId, read: usize) {
        if tokens.is_empty() {
            return;
        }
        let (class, leading) = match obligations {
            ObligationsId::NONE => (self.scanner.states().reach(state), 0),
            _ => (state.0, self.number(read)),
        };
        let (_, ids) = self.ends.entry((class, obligations, leading)).or_insert_with(|| (state, Vec::new()));
        ids.extend_from_slice(tokens);
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

    fn finish(self, words: usize, share: &mut dyn FnMut(NodeSet) -> Arc<NodeSet>) -> Walk {
        let mut ends: Vec<_> = self.ends.into_iter().collect();
        ends.sort_unstable_by_key(|(class, _)| *class);
        let mut boundaries: Vec<_> = self.boundaries.into_iter().collect();
        boundaries.sort_unstable_by_key(|(class, _)| *class);
        let mut blanks: Vec<LeadingBytes> = vec![LeadingBytes::default()];
        if let Some(leading) = self.leading {
            let mut numbered: Vec<_> = leading.numbers.into_iter().collect();
            numbered.sort_unstable_by_key(|(_, number)| *number);
            blanks.extend(numbered.into_iter().map(|(bytes, _)| bytes));
        }
        Walk {
            ends: (ends.into_iter())
                .map(|((_, obligations, leading), (state, ids))| End {
                    state,
                    obligations,
                    leading: blanks[leading as usize].clone(),
                    tokens: TokenSet::from_ids(ids, words),
                })
                .collect(),
            boundaries: (boundaries.into_iter())
                .map(|((label, obligations, leading), nodes)| Boundary {
                    label,
                    obligations,
                    leading: blanks[leading as usize].clone(),
                    nodes: share(NodeSet::new(nodes)),
                })
                .collect(),
        }
    }
}
