//! The stack-aware index: masks by configuration, built as configurations are met, shared by all sequences.
//!
//! A mask depends on the scan state, the obligations, and on as much of the parse stack as its computation
//! reads. So masks are found through a trie over stacks (Willard and Louf 2023, section 4.1): keyed by scan
//! state and top parse state, branching on the next state down the stack wherever the reductions that some
//! token causes look deeper. A path ends where nothing more was read, in a finished mask. Steps that were ever
//! seen before cost one look-up for each state read, and one copy.
//!
//! What is new is computed from token classes ([`walk`]): the trie of the vocabulary is walked once for each
//! scan state, whatever the stack.
//!
//! All of it lives in one [`Generation`]; when that outgrows its budget it is dropped and begun again, which
//! costs time and never exactness.

mod token_set;
mod walk;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::{Between, ExpectationsId};
use crate::scanner::{Lines, ObligationsId, Scanner};
use crate::util::id::{ParseStateId, ScanStateId};
use crate::vocab::Vocabulary;
use crate::vocab::trie::Trie;
use token_set::TokenSet;
use walk::{NodeSet, Origin, Walk};

/// The index of a grammar and a vocabulary.
#[derive(Debug)]
pub(crate) struct Index {
    scanner: Arc<Scanner>,
    vocabulary: Vocabulary,
    /// Words in a mask.
    words: usize,
    /// Bytes that a generation may take.
    budget: usize,
    generation: RwLock<Arc<Generation>>,
}

/// What has been computed since the budget was last exhausted.
#[derive(Debug)]
struct Generation {
    /// All of the vocabulary.
    root: Arc<NodeSet>,
    node_sets: Mutex<HashSet<Arc<NodeSet>, FxBuildHasher>>,
    stacks: RwLock<StackTrie>,
    bytes: AtomicUsize,
}

/// Scan state, obligations, expectations, and whether no byte has been read.
type RootKey = (ScanStateId, ObligationsId, ExpectationsId, bool);

/// From scan state and parse stack to mask.
#[derive(Debug, Default)]
struct StackTrie {
    roots: HashMap<RootKey, u32, FxBuildHasher>,
    /// The same where the text stands among lines and blocks.
    roots_in_lines: HashMap<(RootKey, Lines), u32, FxBuildHasher>,
    /// From a node, over the next parse state down the stack.
    edges: HashMap<(u32, ParseStateId), Branch, FxBuildHasher>,
    nodes: u32,
    /// Every mask once.
    masks: HashSet<Arc<TokenSet>, FxBuildHasher>,
}

#[derive(Clone, Debug)]
enum Branch {
    /// The mask depends on what lies deeper.
    Node(u32),
    Mask(Arc<TokenSet>),
}

/// How large an index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexSize {
    /// Bytes held by token classes, masks and the trie over stacks, as accounted against the budget.
    pub bytes: usize,
    /// Different masks.
    pub masks: usize,
    /// Branches of the trie over stacks.
    pub branches: usize,
    /// Sets of trie nodes with their token classes.
    pub node_sets: usize,
    /// Scan states met.
    pub scan_states: usize,
}

impl Index {
    /// An index with nothing in it.
    pub(crate) fn new(scanner: Arc<Scanner>, vocabulary: Vocabulary, budget: usize) -> Self {
        let words = vocabulary.width().div_ceil(32);
        let generation = RwLock::new(Arc::new(Generation::new()));
        Self { scanner, vocabulary, words, budget, generation }
    }

    /// The scanner below.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// The vocabulary beside it.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Words in a mask.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// How large it has become.
    pub(crate) fn size(&self) -> IndexSize {
        let generation = self.generation();
        let stacks = generation.stacks.read().unwrap_or_else(PoisonError::into_inner);
        IndexSize {
            bytes: generation.bytes.load(Ordering::Relaxed),
            masks: stacks.masks.len(),
            branches: stacks.edges.len(),
            node_sets: generation.node_sets.lock().unwrap_or_else(PoisonError::into_inner).len() + 1,
            scan_states: self.scanner.states().len(),
        }
    }

    /// The tokens, stop tokens among them, that may follow in configuration `at`. `fresh` says that no byte
    /// of the text has been read yet.
    pub(crate) fn mask(&self, at: &Configuration, fresh: bool) -> Arc<TokenSet> {
        let generation = self.generation();
        if let Some(mask) = generation.find(at, fresh) {
            return mask;
        }
        let (mask, lowest) = self.compute(&generation, at, fresh);
        let mask = generation.insert(at, fresh, lowest, mask);
        if generation.bytes.load(Ordering::Relaxed) > self.budget {
            let mut current = self.generation.write().unwrap_or_else(PoisonError::into_inner);
            if Arc::ptr_eq(&current, &generation) {
                *current = Arc::new(Generation::new());
            }
        }
        mask
    }

    fn generation(&self) -> Arc<Generation> {
        self.generation.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A mask from token classes, and the depth of the lowest state of the stack that was read.
    fn compute(&self, generation: &Generation, at: &Configuration, fresh: bool) -> (TokenSet, u32) {
        let scanner = &self.scanner;
        let mut row = vec![0; self.words];
        let mut lowest = at.stack.depth();
        let complete = match fresh {
            true => scanner.is_sentence(&at.stack, &mut lowest),
            false => scanner.is_complete(at, &mut lowest),
        };
        if complete {
            for &token in self.vocabulary.stop_tokens() {
                row[token.index() / 32] |= 1 << (token.0 % 32);
            }
        }
        let mut pending = vec![(generation.root.clone(), at.clone())];
        while let Some((nodes, from)) = pending.pop() {
            let walk = self.walk(generation, &nodes, &from);
            let mut end = from.clone();
            for class in &walk.ends {
                end.state = class.state;
                end.obligations = class.obligations;
                end.layout = scanner.read_all(&from.layout, &class.leading);
                if scanner.is_viable(&end, &mut lowest) {
                    class.tokens.add_to(&mut row);
                }
            }
            for boundary in &walk.boundaries {
                let layout = scanner.read_all(&from.layout, &boundary.leading);
                let after = scanner.after_lexeme(
                    &from.stack,
                    &layout,
                    from.expectations,
                    boundary.label,
                    &mut lowest,
                );
                for Between { stack, layout, expectations } in after {
                    let state = scanner.context_at(&stack, &layout, &mut lowest).start;
                    let obligations = boundary.obligations;
                    let next = Configuration { stack, layout, state, obligations, expectations };
                    pending.push((boundary.nodes.clone(), next));
                }
            }
        }
        (TokenSet::from_words(&row), lowest)
    }

    fn walk(&self, generation: &Generation, nodes: &NodeSet, from: &Configuration) -> Arc<Walk> {
        let mut used = 0;
        let mut share = |nodes| generation.share(nodes);
        let counting = from.layout.is_counting();
        let key = Origin { state: from.state, obligations: from.obligations, counting };
        let trie = self.vocabulary.trie();
        let walk = nodes.walk(key, &self.scanner, trie, self.words, &mut share, &mut used);
        generation.bytes.fetch_add(used, Ordering::Relaxed);
        walk
    }
}

impl Generation {
    fn new() -> Self {
        let root = Arc::new(NodeSet::new(vec![Trie::ROOT]));
        Self {
            bytes: AtomicUsize::new(root.bytes()),
            root,
            node_sets: Mutex::default(),
            stacks: RwLock::default(),
        }
    }

    /// Gives equal node sets one address, so that they share their walks.
    fn share(&self, nodes: NodeSet) -> Arc<NodeSet> {
        let mut known = self.node_sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(nodes) = known.get(&nodes) {
            return nodes.clone();
        }
        self.bytes.fetch_add(nodes.bytes(), Ordering::Relaxed);
        let nodes = Arc::new(nodes);
        known.insert(nodes.clone());
        nodes
    }

    fn find(&self, at: &Configuration, fresh: bool) -> Option<Arc<TokenSet>> {
        let stacks = self.stacks.read().unwrap_or_else(PoisonError::into_inner);
        let mut node = *match at.layout.lines() {
            None => stacks.roots.get(&root_key(at, fresh)),
            Some(lines) => stacks.roots_in_lines.get(&(root_key(at, fresh), lines.clone())),
        }?;
        let mut stack = &at.stack;
        loop {
            match stacks.edges.get(&(node, stack.top()))? {
                Branch::Mask(mask) => return Some(mask.clone()),
                Branch::Node(next) => node = *next,
            }
            stack = stack.below()?;
        }
    }

    /// Enters a mask that was computed by reading the stack down to depth `lowest`.
    fn insert(&self, at: &Configuration, fresh: bool, lowest: u32, mask: TokenSet) -> Arc<TokenSet> {
        let mut stacks = self.stacks.write().unwrap_or_else(PoisonError::into_inner);
        let stacks = &mut *stacks;
        let mask = match stacks.masks.get(&mask) {
            Some(mask) => mask.clone(),
            None => {
                self.bytes.fetch_add(mask.bytes() + size_of::<TokenSet>() + 16, Ordering::Relaxed);
                let mask = Arc::new(mask);
                stacks.masks.insert(mask.clone());
                mask
            }
        };
        let mut nodes = stacks.nodes;
        let mut fresh_node = || {
            nodes += 1;
            nodes
        };
        let mut node = *match at.layout.lines() {
            None => stacks.roots.entry(root_key(at, fresh)).or_insert_with(&mut fresh_node),
            Some(lines) => {
                let key = (root_key(at, fresh), lines.clone());
                stacks.roots_in_lines.entry(key).or_insert_with(|| {
                    let bytes = BRANCH_BYTES + BLOCK_BYTES * lines.blocks.level() as usize;
                    self.bytes.fetch_add(bytes, Ordering::Relaxed);
                    fresh_node()
                })
            }
        };
        let mut stack = &at.stack;
        while stack.depth() > lowest {
            let branch = stacks.edges.entry((node, stack.top())).or_insert_with(|| {
                self.bytes.fetch_add(BRANCH_BYTES, Ordering::Relaxed);
                Branch::Node(fresh_node())
            });
            let (Branch::Node(next), Some(below)) = (&*branch, stack.below()) else { break };
            node = *next;
            stack = below;
        }
        stacks.edges.entry((node, stack.top())).or_insert_with(|| {
            self.bytes.fetch_add(BRANCH_BYTES, Ordering::Relaxed);
            Branch::Mask(mask.clone())
        });
        stacks.nodes = nodes;
        mask
    }
}

fn root_key(at: &Configuration, fresh: bool) -> RootKey {
    (at.state, at.obligations, at.expectations, fresh)
}

/// A branch of the trie over stacks, with the spare room of its hash table.
const BRANCH_BYTES: usize = 2 * size_of::<((u32, ParseStateId), Branch)>();

/// An open block that a root holds on to.
const BLOCK_BYTES: usize = 56;
