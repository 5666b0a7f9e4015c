//! Submasks: parts of a mask that are computed and cached by themselves.
//!
//! The tokens after a boundary do not depend on how the lexeme before it began, and mostly depend
//! on less of the stack than the whole mask. So they are computed once for each boundary and each
//! set of reads; most parts of a new mask are already known from other masks.

use smallvec::SmallVec;

use super::stack_trie::LineKind;
use crate::index::tokens::StoredTokensId;
use crate::index::walk::{Base, Boundary, NodesId, Origin, Walk};
use crate::lr::stack::Stack;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Layout, Line, ObligationsId, Read};
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// The tokens to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// Tokens after a boundary.
    Behind { label: TerminalId, obligations: ObligationsId, nodes: NodesId },
    /// Tokens of a walk: a base walk, or one that begins a lexeme.
    Walk { from: Origin, nodes: NodesId },
}

/// The part of a configuration that every search for a submask reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Submask {
    pub(super) wanted: Wanted,
    expectations: ExpectationsId,
    top: CoreId,
    line: LineKind,
}

/// Requests for submasks: few from one walk.
pub(super) type SubmaskRequests = SmallVec<[SubmaskRequest; 2]>;

/// A configuration where a submask is needed.
pub(super) struct SubmaskRequest {
    pub(super) submask: Submask,
    pub(super) stack: Stack,
    pub(super) layout: Layout,
    /// Its line, from the point of view of the enclosing frame.
    pub(super) line: Line,
    /// Tokens to leave out of a base walk's.
    pub(super) except: Option<StoredTokensId>,
}

/// Some of a walk's tokens that are not the walk's own.
pub(super) struct WalkPart<'w> {
    pub(super) wanted: Wanted,
    pub(super) leading: &'w [u8],
    /// Upper bound on their number; `None` if not known.
    pub(super) tokens: Option<u32>,
    /// Tokens to leave out of a base walk's.
    pub(super) except: Option<StoredTokensId>,
}

/// A submask with more reads than this is not kept: deep reads seldom recur, and take the most
/// memory.
const MAX_READS: usize = 10;

impl<'w> WalkPart<'w> {
    /// Returns the parts of a walk: its boundaries, then its base walks.
    pub(super) fn all(walk: &'w Walk) -> impl Iterator<Item = Self> {
        let boundaries = walk.boundaries.iter().map(|boundary| {
            let Boundary { label, obligations, nodes, tokens, ref leading } = *boundary;
            let wanted = Wanted::Behind { label, obligations, nodes };
            Self { wanted, leading, tokens: Some(tokens), except: None }
        });
        let bases = walk.bases.iter().map(|base| {
            let Base { state, nodes, except, ref leading } = *base;
            let wanted = Wanted::Walk { from: Origin::base(state), nodes };
            Self { wanted, leading, tokens: None, except }
        });
        boundaries.chain(bases)
    }
}

impl SubmaskRequest {
    /// Creates the request for a submask in this configuration.
    pub(super) fn new(wanted: Wanted, at: &Configuration, layout: Layout, line: Line) -> Self {
        let (expectations, top) = (at.expectations, at.stack.core());
        let submask = Submask { wanted, expectations, top, line: LineKind::new(&layout) };
        Self { submask, stack: at.stack.clone(), layout, line, except: None }
    }

    /// Returns the reading of this request.
    pub(super) fn reading(&self) -> Configuration {
        let Submask { wanted, expectations, .. } = self.submask;
        let (state, obligations) = wanted.point();
        let (stack, layout) = (self.stack.clone(), self.layout.clone());
        Configuration { stack, layout, state, obligations, expectations }
    }

    /// Returns whether a result with these reads is worth keeping.
    pub(super) fn is_worth_keeping(&self, reads: &[Read]) -> bool {
        count_reads(reads, self.stack.depth()) <= MAX_READS
    }
}

/// Returns the number of branches of a trie for these reads, which began on a stack of this depth.
fn count_reads(reads: &[Read], depth: u32) -> usize {
    let mut count = 0;
    let mut deepest = depth;
    for read in reads {
        match read {
            Read::Stack(lowest) => deepest = deepest.min(*lowest),
            Read::State | Read::Layout(..) => count += 1,
        }
    }
    count + (depth - deepest) as usize
}

impl Wanted {
    /// Returns its nodes.
    pub(super) fn nodes(self) -> NodesId {
        match self {
            Self::Behind { nodes, .. } | Self::Walk { nodes, .. } => nodes,
        }
    }

    /// Returns the scan state and the obligations where it begins. After a boundary the scan state
    /// is not used.
    fn point(self) -> (ScanStateId, ObligationsId) {
        match self {
            Self::Behind { obligations, .. } => (ScanStateId(0), obligations),
            Self::Walk { from, .. } => (from.state, from.obligations),
        }
    }

    /// Returns a reading where it begins.
    pub(super) fn begin(self, at: &Configuration, layout: Layout) -> Configuration {
        let (state, obligations) = self.point();
        Configuration {
            stack: at.stack.clone(),
            layout,
            state,
            obligations,
            expectations: at.expectations,
        }
    }
}
