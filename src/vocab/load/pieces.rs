//! The `vocab` of a tokenizer file, `{"piece": id, ..}` or `[["piece", score], ..]`, read in one
//! pass.
//!
//! All pieces are appended to one string as they are parsed: a hundred thousand little strings
//! would cost more than the rest of loading.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Pieces with their ids, in the order of the file.
#[derive(Default)]
pub(in crate::vocab) struct Pieces {
    text: String,
    entries: Vec<(Range<usize>, u64)>,
}

impl Pieces {
    /// Returns the piece at a place of the file, and its id.
    pub(in crate::vocab) fn get(&self, place: usize) -> Option<(&str, u64)> {
        self.entries.get(place).map(|(range, id)| (&self.text[range.clone()], *id))
    }

    /// Iterates over the pieces and their ids.
    pub(in crate::vocab) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.entries.iter().map(|(range, id)| (&self.text[range.clone()], *id))
    }
}

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PiecesVisitor)
    }
}

struct PiecesVisitor;

impl<'de> Visitor<'de> for PiecesVisitor {
    type Value = Pieces;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from pieces to ids, or a list of pieces with their scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pieces, A::Error> {
        let mut pieces = Pieces::default();
        while let Some(range) = map.next_key_seed(Append(&mut pieces.text))? {
            let id = map.next_value()?;
            pieces.entries.push((range, id));
        }
        Ok(pieces)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pieces, A::Error> {
        let mut pieces = Pieces::default();
        while let Some(range) = list.next_element_seed(PieceWithScore(&mut pieces.text))? {
            let id = pieces.entries.len() as u64;
            pieces.entries.push((range, id));
        }
        Ok(pieces)
    }
}

/// Appends a string, and returns its range.
struct Append<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Range<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece of text")
    }

    fn visit_str<E>(self, piece: &str) -> Result<Range<usize>, E> {
        let start = self.0.len();
        self.0.push_str(piece);
        Ok(start..self.0.len())
    }
}

/// Appends the first element of `["piece", score]`.
struct PieceWithScore<'t>(&'t mut String);

impl<'de> DeserializeSeed<'de> for PieceWithScore<'_> {
    type Value = Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Range<usize>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for PieceWithScore<'_> {
    type Value = Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece with its score")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<Range<usize>, A::Error> {
        let range = pair
            .next_element_seed(Append(self.0))?
            .ok_or_else(|| A::Error::custom("a piece is missing"))?;
        while pair.next_element::<IgnoredAny>()?.is_some() {}
        Ok(range)
    }
}

/// A string that borrows from the file if it has no escapes.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(in crate::vocab) struct Text<'a>(#[serde(borrow)] pub(in crate::vocab) Cow<'a, str>);
