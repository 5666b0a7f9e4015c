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
use crate::scanner::{ObligationsId, Scanner};
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
    pub(crate) tokens: TokenSet,
}

/// Tokens that go on after the lexeme has ended.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// What the lexeme was.
    pub(crate) label: TerminalId,
    /// With those that the lexeme's end adds, after the first byte of the next lexeme.
    pub(crate) obligations: ObligationsId,
    /// The nodes whose bytes begin the next lexeme.
    pub(crate) nodes: Arc<NodeSet>,
}

/// Nodes of the trie and the walks done from them. The root stands for itself: a walk of it goes on with the
/// lexeme in progress, which may end before its first byte. Any other node is entered: its own byte is the
/// first of a lexeme.
#[derive(Debug)]
pub(crate) struct NodeSet {
    nodes: Box<[u32]>,
    walks: RwLock<HashMap<(ScanStateId, ObligationsId), Arc<Walk>, FxBuildHasher>>,
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
        (state, obligations): (ScanStateId, ObligationsId),
        scanner: &Scanner,
        trie: &Trie,
        words: usize,
        share: &mut dyn FnMut(NodeSet) -> Arc<NodeSet>,
        used: &mut usize,
    ) -> Arc<Walk> {
        let known = self.walks.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(walk) = known.get(&(state, obligations)) {
            return walk.clone();
        }
        drop(known);
        let mut classes = Classes { scanner, ends: HashMap::default(), boundaries: HashMap::default() };
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
        known.entry((state, obligations)).or_insert(walk).clone()
    }

    /// Heap bytes, but for the walks.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.nodes.len() * 4
    }
}

impl Walk {
    /// Heap bytes, but for the node sets of boundaries, which are shared.
    fn bytes(&self) -> usize {
        let tokens: usize = self.ends.iter().map(|end| end.tokens.bytes()).sum();
        size_of::<Self>()
            + tokens
            + self.ends.len() * size_of::<End>()
            + self.boundaries.len() * size_of::<Boundary>()
    }
}

/// What a walk has met so far.
struct Classes<'a> {
    scanner: &'a Scanner,
    /// By reach, or by state where there are obligations.
    ends: HashMap<(u32, ObligationsId), (ScanStateId, Vec<u32>), FxBuildHasher>,
    boundaries: HashMap<(TerminalId, ObligationsId), Vec<u32>, FxBuildHasher>,
}

impl Classes<'_> {
    /// Walks the subtree of `entry`, whose own byte is the first one read from `state`. `obligations` already
    /// know that byte.
    fn enter(&mut self, trie: &Trie, entry: u32, state: ScanStateId, obligations: ObligationsId) {
        let states = self.scanner.states();
        let Some(state) = states.next(state, trie.byte(entry)) else { return };
        self.end(trie.tokens(entry), state, obligations);
        self.below(trie, entry, state, obligations);
    }

    /// Walks what lies below `entry`, which has been read up to `state`.
    fn below(&mut self, trie: &Trie, entry: u32, state: ScanStateId, obligations: ObligationsId) {
        let states = self.scanner.states();
        // The states on the way from `entry` down to the parent of the current node.
        let mut path = vec![(state, obligations)];
        let base = trie.depth(entry) as usize;
        let mut node = entry + 1;
        let last = trie.end(entry);
        while node < last {
            path.truncate(trie.depth(node) as usize - base);
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
                    self.boundaries.entry((label, obligations)).or_default().push(node);
                }
            }
            match next {
                None => node = trie.end(node),
                Some(state) => {
                    self.end(trie.tokens(node), state, obligations);
                    path.push((state, obligations));
                    node += 1;
                }
            }
        }
    }

    fn end(&mut self, tokens: &[u32], state: ScanStateId, obligations: ObligationsId) {
        if tokens.is_empty() {
            return;
        }
        let class = match obligations {
            ObligationsId::NONE => self.scanner.states().reach(state),
            _ => state.0,
        };
        let (_, ids) = self.ends.entry((class, obligations)).or_insert_with(|| (state, Vec::new()));
        ids.extend_from_slice(tokens);
    }

    fn finish(self, words: usize, share: &mut dyn FnMut(NodeSet) -> Arc<NodeSet>) -> Walk {
        let mut ends: Vec<_> = self.ends.into_iter().collect();
        ends.sort_unstable_by_key(|(class, _)| *class);
        let mut boundaries: Vec<_> = self.boundaries.into_iter().collect();
        boundaries.sort_unstable_by_key(|(class, _)| *class);
        Walk {
            ends: (ends.into_iter())
                .map(|((_, obligations), (state, ids))| End {
                    state,
                    obligations,
                    tokens: TokenSet::from_ids(ids, words),
                })
                .collect(),
            boundaries: (boundaries.into_iter())
                .map(|((label, obligations), nodes)| Boundary {
                    label,
                    obligations,
                    nodes: share(NodeSet::new(nodes)),
                })
                .collect(),
        }
    }
}
