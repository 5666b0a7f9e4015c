//! The merges of a file, `"left right"` or `["left", "right"]`, in their order.
//!
//! A merge is kept as the id of the token that it makes and the length of its left part. In most
//! files the tokens come in the order of their merges, so the next token is tried first.

use std::fmt;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use super::pieces::Text;
use crate::vocab::bpe::Merge;

/// Merges that were found one by one before an index is built.
const FEW: usize = 16;

/// Collects merges.
pub(super) struct MergeList<'p, P> {
    /// Returns the piece at a place of the file's vocabulary, with its id.
    piece: P,
    /// The place after the last piece that was found.
    next: usize,
    searches: usize,
    by_text: HashMap<&'p [u8], u64, FxBuildHasher>,
    merges: Vec<Merge>,
}

impl<'p, P: Fn(usize) -> Option<(&'p [u8], u64)>> MergeList<'p, P> {
    pub(super) fn new(piece: P) -> Self {
        Self { piece, next: 0, searches: 0, by_text: HashMap::default(), merges: Vec::new() }
    }

    /// Adds a merge. `length` is that of the left part in bytes of text.
    pub(super) fn add(&mut self, left: &str, right: &str, length: usize) {
        let is_joined = |piece: &[u8]| {
            piece.len() == left.len() + right.len()
                && piece.starts_with(left.as_bytes())
                && piece.ends_with(right.as_bytes())
        };
        let found = (self.piece)(self.next).filter(|(piece, _)| is_joined(piece));
        if found.is_some() {
            self.next += 1;
        }
        let id = found.map(|(_, id)| id).or_else(|| {
            self.searches += 1;
            if self.searches <= FEW {
                let all = (0..).map_while(|at| Some((at, (self.piece)(at)?)));
                let (at, (_, id)) = all.into_iter().find(|(_, (piece, _))| is_joined(piece))?;
                self.next = at + 1;
                return Some(id);
            }
            if self.by_text.is_empty() {
                self.by_text = (0..).map_while(&self.piece).collect();
            }
            self.by_text.get([left, right].concat().as_bytes()).copied()
        });
        // A merge of a token that does not exist is never made.
        if let Some(token) = id.and_then(|id| u32::try_from(id).ok()) {
            self.merges.push(Merge { token, left: length as u32 });
        }
    }

    pub(super) fn finish(self) -> Vec<Merge> {
        self.merges
    }
}

/// Calls a function for each merge of a JSON list.
pub(super) struct EachMerge<F>(pub(super) F);

impl<F: FnMut(&str, &str)> EachMerge<F> {
    pub(super) fn read(self, json: &str) -> Result<(), serde_json::Error> {
        serde_json::Deserializer::from_str(json).deserialize_seq(self)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry<'a> {
    Line(#[serde(borrow)] Text<'a>),
    Pair(#[serde(borrow)] Text<'a>, #[serde(borrow)] Text<'a>),
}

impl<'de, F: FnMut(&str, &str)> Visitor<'de> for EachMerge<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of merges")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element::<Entry<'de>>()? {
            match &entry {
                Entry::Pair(left, right) => (self.0)(&left.0, &right.0),
                Entry::Line(line) => {
                    let parts = line.0.split_once(' ').filter(|(_, right)| !right.contains(' '));
                    if let Some((left, right)) = parts {
                        (self.0)(left, right);
                    }
                }
            }
        }
        Ok(())
    }
}
