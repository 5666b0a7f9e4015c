//! Ids are `u32` newtypes: an index into one table, never into another. [`TokenId`] is part of the
//! API; the others are internal.

use serde::{Deserialize, Serialize};

/// Defines an id: a `u32` that indexes the table named in its documentation.
macro_rules! id {
    ($(#[$doc:meta])* $vis:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        $vis struct $name(pub u32);

        impl $name {
            /// Returns the id of the entry at `index`. Tables are bounded far below 2^32 entries.
            #[inline]
            $vis fn new(index: usize) -> Self {
                debug_assert!(u32::try_from(index).is_ok());
                Self(index as u32)
            }

            /// Returns the position in the table.
            #[inline]
            $vis fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(value: u32) -> Self {
                Self(value)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

/// An entry of the model's vocabulary: the id that the model itself uses.
///
/// Functions that take an id also accept a `u32`, and those that take several accept an iterator of
/// either. [`TokenId::try_from`] converts a position to an id and fails if it does not fit into a
/// `u32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub(crate) u32);

impl TokenId {
    /// Returns the id as the model uses it.
    #[inline]
    pub fn get(self) -> u32 {
        self.0
    }

    /// Returns the position of the id's bit in a mask, and of its score in the logits.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for TokenId {
    fn from(id: u32) -> Self {
        Self(id)
    }
}

impl From<&u32> for TokenId {
    fn from(&id: &u32) -> Self {
        Self(id)
    }
}

impl From<&TokenId> for TokenId {
    fn from(&id: &TokenId) -> Self {
        id
    }
}

impl From<TokenId> for u32 {
    fn from(id: TokenId) -> Self {
        id.0
    }
}

impl TryFrom<usize> for TokenId {
    type Error = std::num::TryFromIntError;

    fn try_from(position: usize) -> Result<Self, Self::Error> {
        position.try_into().map(Self)
    }
}

impl std::fmt::Display for TokenId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

id! {
    /// A terminal of the grammar: index into [`crate::grammar::Grammar::terminals`].
    pub(crate) TerminalId
}
id! {
    /// A nonterminal of the grammar: index into [`crate::grammar::Grammar::nonterminals`].
    pub(crate) NonterminalId
}
id! {
    /// A production of the grammar: index into [`crate::grammar::Grammar::productions`].
    pub(crate) ProductionId
}
id! {
    /// A state of the LALR(1) automaton: the common part of parse states that differ only in the
    /// allowed look-aheads.
    pub(crate) CoreId
}
/// A parse state: a core in its context, as stored on a stack ([`crate::lr::states`]). States are
/// numbered in the order of discovery; no table is indexed by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ParseStateId(pub(crate) u32);

id! {
    /// A state of the scanner (a union-of-terminals DFA).
    pub(crate) ScanStateId
}
