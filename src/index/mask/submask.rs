//! Submasks: the parts of a mask that are looked for by themselves, and kept.
//!
//! What lies behind a boundary does not depend on how the lexeme before it began, and mostly reads
//! less of the stack than the mask as a whole. So it is found out once for each boundary and what
//! was read; most of a mask that was never met before has been met in others.

use smallvec::SmallVec;

use super::part::{Part, SomeBoundaries};
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
    /// Those behind some boundaries of a walk, by its number, on a stack that shifts their labels
    /// as it is.
    Shifted { walk: u32, boundaries: SomeBoundaries },
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
pub(super) type Sites<'g> = SmallVec<[Site<'g>; 2]>;

/// Where a submask is looked for.
pub(super) struct Site<'g> {
    pub(super) submask: Submask,
    pub(super) stack: Stack,
    pub(super) layout: Layout,
    /// The line that it stands in, for the task around it.
    pub(super) line: Line,
    /// What is to be left out of a base walk's tokens.
    pub(super) except: Option<StoredTokensId>,
    /// The walk whose boundaries they are, where several are wanted.
    pub(super) walk: Option<&'g Walk>,
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
    /// The pieces of a part of a walk: its boundaries, then its base walks.
    pub(super) fn all(part: Part, walk: &'w Walk) -> impl Iterator<Item = Self> {
        let boundaries = part.boundaries(walk).map(|boundary| {
            let Boundary { label, obligations, nodes, tokens, ref leading } = *boundary;
            let wanted = Wanted::Behind { label, obligations, nodes };
            Self { wanted, leading, tokens: Some(tokens), except: None }
        });
        let bases = match part {
            Part::AllBut(_) => &walk.bases[..],
            Part::Shifted(_) => &[],
        };
        let bases = bases.iter().map(|base| {
            let Base { state, nodes, except, ref leading } = *base;
            let wanted = Wanted::Walk { from: Origin::base(state), nodes };
            Self { wanted, leading, tokens: None, except }
        });
        boundaries.chain(bases)
    }
}

impl<'g> Site<'g> {
    /// Where a submask is looked for from this configuration on.
    pub(super) fn new(wanted: Wanted, at: &Configuration, layout: Layout, line: Line) -> Self {
        let (expectations, top) = (at.expectations, at.stack.core());
        let submask = Submask { wanted, expectations, top, line: LineKind::new(&layout) };
        Self { submask, stack: at.stack.clone(), layout, line, except: None, walk: None }
    }

    /// Where what lies behind these boundaries of a walk is looked for, on a stack that shifts
    /// their labels, in the place of that of `at`.
    pub(super) fn shifted(
        walk: &'g Walk,
        boundaries: SomeBoundaries,
        at: &Configuration,
        stack: Stack,
        line: Line,
    ) -> Self {
        let wanted = Wanted::Shifted { walk: walk.number, boundaries };
        let site = Self::new(wanted, &at.on(stack), at.layout.clone(), line);
        Self { walk: Some(walk), ..site }
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
    /// Its nodes; those of several boundaries are theirs.
    pub(super) fn nodes(self) -> NodesId {
        match self {
            Self::Behind { nodes, .. } | Self::Walk { nodes, .. } => nodes,
            Self::Shifted { .. } => NodesId::ROOT,
        }
    }

    /// The scan state and the obligations where it begins. Behind a boundary nothing looks at the
    /// scan state, and each of several has obligations of its own.
    fn point(self) -> (ScanStateId, ObligationsId) {
        match self {
            Self::Behind { obligations, .. } => (ScanStateId(0), obligations),
            Self::Walk { from, .. } => (from.state, from.obligations),
            Self::Shifted { .. } => (ScanStateId(0), ObligationsId::NONE),
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
