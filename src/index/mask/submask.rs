//! Submasks: the parts of a mask that are looked for by themselves, and kept.
//!
//! What lies behind a boundary does not depend on how the lexeme before it began, and mostly reads
//! less of the stack than the mask as a whole. So it is found out once for each boundary and what
//! was read; most of a mask that was never met before has been met in others.

use smallvec::SmallVec;

use super::stack_trie::LineKind;
use crate::index::tokens::StoredTokensId;
use crate::index::walk::{Base, Boundary, NodesId, Origin, Walk};
use crate::lr::stack::Stack;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Layout, Line, ObligationsId, Read};
use crate::util::id::{CoreId, ScanStateId, TerminalId};

/// What tokens are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wanted {
    /// Those behind a boundary.
    Behind { label: TerminalId, obligations: ObligationsId, nodes: NodesId },
    /// Those of a walk: a base walk, or one that begins a lexeme.
    Walk { from: Origin, nodes: NodesId },
}

/// What is always read to find a submask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Submask {
    pub(super) wanted: Wanted,
    expectations: ExpectationsId,
    top: CoreId,
    line: LineKind,
}

/// Where submasks are looked for: few from one walk.
pub(super) type Sites = SmallVec<[Site; 2]>;

/// Where a submask is looked for.
pub(super) struct Site {
    pub(super) submask: Submask,
    pub(super) stack: Stack,
    pub(super) layout: Layout,
    /// The line that it stands in, for the task around it.
    pub(super) line: Line,
    /// What is to be left out of a base walk's tokens.
    pub(super) except: Option<StoredTokensId>,
}

/// Some of a walk's tokens that are not the walk's own.
pub(super) struct Piece<'w> {
    pub(super) wanted: Wanted,
    pub(super) leading: &'w [u8],
    /// How many there are at most; `None` where that is not known.
    pub(super) tokens: Option<u32>,
    /// What is to be left out of a base walk's tokens.
    pub(super) except: Option<StoredTokensId>,
}

/// One that read more than this is not kept: what reads deep is seldom met again, and takes the
/// most memory.
const MAX_READS: usize = 10;

impl<'w> Piece<'w> {
    /// The pieces of a walk: its boundaries, then its base walks.
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

impl Site {
    /// Where a submask is looked for from this configuration on.
    pub(super) fn new(wanted: Wanted, at: &Configuration, layout: Layout, line: Line) -> Self {
        let (expectations, top) = (at.expectations, at.stack.core());
        let submask = Submask { wanted, expectations, top, line: LineKind::new(&layout) };
        Self { submask, stack: at.stack.clone(), layout, line, except: None }
    }

    /// The reading that is looked at there.
    pub(super) fn reading(&self) -> Configuration {
        let Submask { wanted, expectations, .. } = self.submask;
        let (state, obligations) = wanted.point();
        let (stack, layout) = (self.stack.clone(), self.layout.clone());
        Configuration { stack, layout, state, obligations, expectations }
    }

    /// Whether what was found with these reads is worth keeping.
    pub(super) fn is_worth_keeping(&self, reads: &[Read]) -> bool {
        count_reads(reads, self.stack.depth()) <= MAX_READS
    }
}

/// How many branches of a trie these reads take that began on a stack of this depth.
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
    /// Its nodes.
    pub(super) fn nodes(self) -> NodesId {
        match self {
            Self::Behind { nodes, .. } | Self::Walk { nodes, .. } => nodes,
        }
    }

    /// The scan state and the obligations where it begins. After a boundary nothing looks at the
    /// scan state.
    fn point(self) -> (ScanStateId, ObligationsId) {
        match self {
            Self::Behind { obligations, .. } => (ScanStateId(0), obligations),
            Self::Walk { from, .. } => (from.state, from.obligations),
        }
    }

    /// A reading where it begins.
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
