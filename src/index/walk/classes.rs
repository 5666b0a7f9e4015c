//! The result of a walk: classes of tokens.

use super::line_blanks::LeadingBytes;
use super::nodes::NodesId;
use crate::index::tokens::{StoredTokensId, TokensId};
use crate::scanner::ObligationsId;
use crate::scanner::configuration::Configuration;
use crate::util::id::{ScanStateId, TerminalId};

/// The classes of the tokens below some nodes, from one scan state.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Number of the walk in the tables.
    pub(crate) number: u32,
    /// Whether no end has obligations.
    pub(crate) is_unobliged: bool,
    pub(crate) ends: Box<[End]>,
    pub(crate) boundaries: Box<[Boundary]>,
    pub(crate) bases: Box<[Base]>,
}

/// Tokens that end within the lexeme. Without obligations, tokens that can become the same labels
/// are one class, even if their scan states differ.
#[derive(Debug)]
pub(crate) struct End {
    /// The state at their end, or one that can become the same labels.
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// As in [`Boundary`]; empty where it does not matter, because there are no obligations: a
    /// lexeme that begins with a blank is ignored there, and any other begins where the blanks end.
    pub(crate) leading: LeadingBytes,
    pub(crate) tokens: TokensId,
}

/// Tokens that go on after the lexeme has ended.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// The label of the ended lexeme.
    pub(crate) label: TerminalId,
    /// Includes the obligations added by the lexeme's end, after the first byte of the next lexeme.
    pub(crate) obligations: ObligationsId,
    /// The blanks at the beginning of a line that the walk has read.
    pub(crate) leading: LeadingBytes,
    /// The nodes whose bytes begin the next lexeme.
    pub(crate) nodes: NodesId,
    /// Number of tokens at and below these nodes.
    pub(crate) tokens: u32,
}

/// The part of a walk that is left to a base walk.
#[derive(Debug)]
pub(crate) struct Base {
    /// The base walk's nodes and scan state; it has no obligations and counts no blanks.
    pub(crate) nodes: NodesId,
    pub(crate) state: ScanStateId,
    /// If blanks are being counted: a mark that the count is over, because a base walk begins with
    /// another byte. Otherwise empty.
    pub(crate) leading: LeadingBytes,
    /// The tokens below these nodes that are not left to the base walk.
    pub(crate) except: Option<StoredTokensId>,
}

/// The inputs of a walk besides its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// Whether the blanks at the beginning of a line are being counted.
    pub(crate) counting: bool,
    /// Whether it is a base walk, which uses no other base walks.
    pub(crate) is_base: bool,
}

impl Origin {
    /// Returns the origin of a walk that is not a base walk.
    pub(crate) fn new(from: &Configuration) -> Self {
        let (state, obligations) = (from.state, from.obligations);
        Self { state, obligations, counting: from.layout.is_counting(), is_base: false }
    }

    /// Returns the origin of a base walk.
    pub(crate) fn base(state: ScanStateId) -> Self {
        Self { state, obligations: ObligationsId::NONE, counting: false, is_base: true }
    }
}

impl Walk {
    /// Creates a walk with these results.
    pub(crate) fn new(
        number: u32,
        ends: Box<[End]>,
        boundaries: Box<[Boundary]>,
        bases: Box<[Base]>,
    ) -> Self {
        let is_unobliged = ends.iter().all(|end| end.obligations == ObligationsId::NONE);
        Self { number, is_unobliged, ends, boundaries, bases }
    }

    /// Returns the heap bytes without the sets of tokens and nodes.
    pub(super) fn bytes(&self) -> usize {
        let leading = |leading: &LeadingBytes| leading.len();
        size_of::<Self>()
            + self.ends.iter().map(|end| size_of::<End>() + leading(&end.leading)).sum::<usize>()
            + (self.boundaries.iter())
                .map(|boundary| size_of::<Boundary>() + leading(&boundary.leading))
                .sum::<usize>()
            + self.bases.len() * size_of::<Base>()
    }
}
