//! Scalars as automata: the strings and numbers that a formula allows, and their JSON spelling.
//!
//! Strings are automata over the UTF-8 bytes of their contents, so that patterns, lengths, formats,
//! names and members of `enum` combine by products; [`spell`] converts contents to lexemes. Listed
//! strings are tested one by one ([`listed`]); lengths along with other conditions are counted by
//! the lexer ([`bounded`]). Numbers are automata over their texts ([`numbers`]).

pub(super) mod automaton;
mod bounded;
mod default_bounds;
pub(super) mod ecma;
pub(super) mod ecma_lengths;
mod ecma_separators;
mod escapes;
mod fingerprints;
pub(super) mod formats;
mod lengths;
mod listed;
mod measure;
mod multiples;
mod numbers;
mod patterns;
mod ready_formats;
mod regex_format;
mod spell;
mod strings;
mod texts;

use crate::lexer::PatternError;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::machine::Machine;

use texts::regex;
pub(super) use texts::{Texts, spelling};

impl Machine<'_> {
    /// Returns the error for an automaton that grew too large.
    pub(super) fn too_large(&self, error: &PatternError) -> SchemaError {
        if let Some(limit) = error.limit().filter(|limit| limit.ends_building()) {
            return limit.clone().into();
        }
        let message =
            format!("the automaton of a text of the schema is too large: {}", error.message());
        let help = "use fewer or shorter patterns for one value, or smaller counts in them";
        let too_large = SchemaError::new(SchemaErrorKind::TooLarge, message).help(help);
        let too_large = match error.limit() {
            Some(limit) => too_large.beyond(limit.clone()),
            None => too_large,
        };
        match self.reader.origins.now() {
            Some(node) => {
                let json = &self.reader.schemas.json;
                too_large.at(json.pointer(node), json.place(node))
            }
            None => too_large,
        }
    }
}
