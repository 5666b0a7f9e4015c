//! Walks of the vocabulary's trie within one lexeme that tell all points apart.
//!
//! A [`Walk`](super::walk::Walk) unites the tokens after which the same labels are possible, which
//! is all that a mask needs. A budget also needs how far each token's end is from the end of the
//! text, so here tokens are one class only if they end in the same point, with the same blanks at
//! the beginning of a line. There are as many classes as points, tens or hundreds, and one pass
//! over the trie finds them; subtrees that lead back to one point are skipped.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::Index;
use crate::scanner::configuration::Configuration;
use crate::scanner::product_state::{Point, PointId};
use crate::scanner::{Layout, Scanner};
use crate::util::self_loops::{CUT_CHARACTERS, STRAY_BYTES};
use crate::vocab::trie::Trie;

/// Tokens, as ranges of [`Trie::ids`].
pub(crate) type Ranges = SmallVec<[(u32, u32); 1]>;

/// Nodes of the trie.
pub(crate) type Nodes = Arc<[u32]>;

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct PointWalk {
    /// The layouts met, numbered from that of the beginning; only one if no blanks are counted.
    pub(crate) layouts: Vec<Layout>,
    /// The points in which tokens end, each with the number of a layout.
    pub(crate) ends: Vec<(PointId, usize, Ranges)>,
    /// The nodes before whose bytes the lexeme has ended, by the number of its ends
    /// ([`Scanner::ended`]) and of a layout.
    pub(crate) ended: Vec<(u32, usize, Nodes)>,
}

/// The walks from points done so far.
#[derive(Debug, Default)]
pub(super) struct PointWalks(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    walks: HashMap<Key, Arc<PointWalk>, FxBuildHasher>,
    bytes: usize,
}

/// The point, whether a lexeme begins there, and the nodes.
type Key = (PointId, bool, Nodes);

/// Upper bound on the bytes of all walks that are kept; past it all are dropped.
const MOST_BYTES: usize = 16 << 20;

impl Index {
    /// Returns the walk of these nodes of the vocabulary from a configuration. `begins`: their
    /// bytes begin the lexeme; else they may also end it.
    pub(crate) fn point_walk(
        &self,
        from: &Configuration,
        begins: bool,
        nodes: &Nodes,
    ) -> Arc<PointWalk> {
        let trie = self.vocabulary.spelled.trie();
        let walk = || Arc::new(PointWalk::new(&self.scanner, trie, from, begins, nodes));
        if from.layout.is_counting() {
            return walk();
        }
        let key = (self.scanner.point(from.state, from.obligations), begins, nodes.clone());
        let known = || self.point_walks.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(walk) = known().walks.get(&key) {
            return walk.clone();
        }
        let walk = walk();
        let (mut known, bytes) = (known(), walk.bytes() + size_of_val(&**nodes));
        if known.bytes + bytes > MOST_BYTES {
            *known = Known::default();
        }
        if known.walks.insert(key, walk.clone()).is_none() {
            known.bytes += bytes;
        }
        walk
    }
}

impl PointWalk {
    /// Walks these nodes of any trie.
    pub(crate) fn new(
        scanner: &Scanner,
        trie: &Trie,
        from: &Configuration,
        begins: bool,
        nodes: &[u32],
    ) -> Self {
        let start = scanner.at_point(scanner.point(from.state, from.obligations));
        let counting = from.layout.is_counting();
        let layouts = vec![from.layout.clone()];
        let mut walk = Descent {
            scanner,
            trie,
            counting,
            layouts,
            ends: HashMap::default(),
            ended: HashMap::default(),
        };
        nodes.iter().for_each(|&node| walk.enter(node, start, begins));
        let Descent { layouts, ends, ended, .. } = walk;
        let mut ends: Vec<_> =
            ends.into_iter().map(|((point, laid), tokens)| (point, laid, tokens)).collect();
        let mut ended: Vec<_> =
            ended.into_iter().map(|((ends, laid), nodes)| (ends, laid, nodes.into())).collect();
        // In the order of the trie, so that results do not depend on hashes.
        ends.sort_by(|one: &(_, _, Ranges), other| one.2.cmp(&other.2));
        ended.sort_by(|one: &(u32, usize, Nodes), other| (&one.2, one.0).cmp(&(&other.2, other.0)));
        Self { layouts, ends, ended }
    }

    /// Returns the heap bytes.
    fn bytes(&self) -> usize {
        let ends = self.ends.iter().map(|(_, _, tokens)| 40 + tokens.len() * 8);
        let ended = self.ended.iter().map(|(_, _, nodes)| 40 + nodes.len() * 4);
        ends.chain(ended).sum()
    }
}

/// A walk in progress.
struct Descent<'g> {
    scanner: &'g Scanner,
    trie: &'g Trie,
    /// Whether the blanks at the beginning of a line are being counted.
    counting: bool,
    layouts: Vec<Layout>,
    ends: HashMap<(PointId, usize), Ranges, FxBuildHasher>,
    ended: HashMap<(u32, usize), Vec<u32>, FxBuildHasher>,
}

impl<'g> Descent<'g> {
    /// Walks the subtree of `entry` from `start`.
    fn enter(&mut self, entry: u32, start: &'g Point, begins: bool) {
        let (scanner, trie) = (self.scanner, self.trie);
        let above = trie.depth(entry) as usize - 1;
        // The points after the bytes of the path, and the numbers of the layouts.
        let mut path: SmallVec<[(&Point, usize); 16]> = SmallVec::from_iter([(start, 0)]);
        let (mut index, last) = (entry, trie.end(entry));
        while index < last {
            let node = *trie.node(index);
            let read = usize::from(node.depth) - above;
            path.truncate(read);
            let (before, laid) = path[read - 1];
            let next = if begins && read == 1 {
                scanner.begin_at_point(before, node.byte)
            } else {
                let step = scanner.step_point(before, node.byte);
                if let Some(ended) = step.ended() {
                    self.ended.entry((ended, laid)).or_default().push(index);
                }
                step.next().map(|next| scanner.at_point(next))
            };
            let Some(point) = next else {
                index = node.end;
                continue;
            };
            let laid = if self.counting { self.lay(laid, node.byte) } else { 0 };
            // A token that ends within a character is further from the end.
            let stays = !self.counting
                && node.below & (CUT_CHARACTERS | STRAY_BYTES) == 0
                && node.end > index + 1
                && scanner.may_stay(point, trie.byte(index + 1))
                && scanner.stays(point, node.below);
            let end = if stays { node.end } else { index + 1 };
            let (first, tokens_end) = (node.first, trie.node(end).first);
            if first < tokens_end {
                let tokens = self.ends.entry((point.id, laid)).or_default();
                match tokens.last_mut() {
                    Some(last) if last.1 == first => last.1 = tokens_end,
                    _ => tokens.push((first, tokens_end)),
                }
            }
            path.push((point, laid));
            index = end;
        }
    }

    /// Returns the number of the layout after a byte.
    fn lay(&mut self, laid: usize, byte: u8) -> usize {
        let layout = self.scanner.read(&self.layouts[laid], byte);
        let known = self.layouts.iter().position(|known| *known == layout);
        known.unwrap_or_else(|| {
            self.layouts.push(layout);
            self.layouts.len() - 1
        })
    }
}
