//! The tokens that a grammar names, looked up in a vocabulary.

use super::CompiledGrammar;
use crate::grammar::did_you_mean;
use crate::grammar::ir::Terminal;
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::{MARK, Tokens};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TokenId;
use crate::vocab::{Spelled, Vocabulary};

impl CompiledGrammar {
    /// The vocabulary with the spellings of the tokens that the grammar names, and errors for those
    /// it lacks.
    pub(super) fn spell(&self, vocabulary: &Vocabulary) -> (Spelled, Vec<Diagnostic>) {
        let named: Vec<(&Terminal, &Tokens)> = (self.grammar.terminals.iter())
            .filter_map(|terminal| match &terminal.pattern {
                Some(Pattern::Tokens(tokens)) => Some((terminal, tokens)),
                _ => None,
            })
            .collect();
        if named.is_empty() {
            return (Spelled::plain(vocabulary), Vec::new());
        }
        let missing =
            named.iter().filter_map(|(terminal, tokens)| missing(vocabulary, terminal, tokens)).collect();
        let is_named = |name: &str| {
            named.iter().any(|(_, tokens)| matches!(tokens, Tokens::Name(known) if known == name))
        };
        let by_name = |name: &str| is_named(name).then(|| Tokens::name_spelling(name));
        let by_id = |id: u32| {
            let is_named = named.iter().any(|(_, tokens)| tokens.has_id(id));
            is_named.then(|| Tokens::id_spelling(id))
        };
        (Spelled::new(vocabulary, MARK, by_name, by_id), missing)
    }
}

/// The error that no token is one of these.
fn missing(vocabulary: &Vocabulary, terminal: &Terminal, tokens: &Tokens) -> Option<Diagnostic> {
    let error = |message: String| Diagnostic::error("unknown-token", message).at(terminal.place.clone());
    match tokens {
        Tokens::Name(name) => {
            let mut known = vocabulary.special_tokens().map(|(_, name)| name);
            if known.any(|known| known == name) {
                return None;
            }
            let error = error(format!("the vocabulary has no special token `{name}`"));
            let error = did_you_mean(error, name, vocabulary.special_tokens().map(|(_, name)| name));
            if error.help.is_some() {
                return Some(error);
            }
            let some: Vec<String> =
                vocabulary.special_tokens().take(8).map(|(_, name)| format!("`{name}`")).collect();
            Some(match some.is_empty() {
                true => error.help("it has no special tokens at all; write the text as a string"),
                false => error.help(format!("its special tokens are {}, for instance", some.join(", "))),
            })
        }
        Tokens::Ids(ranges) => {
            let is_token = |id: u32| {
                let id = TokenId(id);
                vocabulary.bytes(id).is_some() || vocabulary.special(id).is_some()
            };
            let width = vocabulary.width() as u32;
            let mut ids = ranges.iter().flat_map(|&(first, last)| first..width.min(last.saturating_add(1)));
            match ids.any(is_token) {
                true => None,
                false => Some(
                    error(format!("the vocabulary has no token `{}`", terminal.name))
                        .help(format!("its ids go from 0 to {}", width.saturating_sub(1))),
                ),
            }
        }
    }
}
