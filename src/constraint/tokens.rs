//! Looks up the tokens that a grammar names in a vocabulary.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::CompiledGrammar;
use crate::grammar::did_you_mean;
use crate::grammar::ir::Terminal;
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::{MARK, Tokens};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TokenId;
use crate::vocab::{Spelled, Vocabulary};

impl CompiledGrammar {
    /// Returns the vocabulary with spellings for the tokens that the grammar names. Missing tokens
    /// have none.
    pub(super) fn spelled(&self, vocabulary: &Vocabulary) -> Spelled {
        let is_there = |tokens: &Tokens| match tokens {
            Tokens::Special(name) => vocabulary.special_tokens().any(|(_, known)| known == name),
            _ => true,
        };
        let mut named = self.named_tokens().filter(|(_, tokens)| is_there(tokens)).peekable();
        if named.peek().is_none() {
            return Spelled::plain(vocabulary);
        }
        let names = Names::new(named.map(|(_, tokens)| tokens));
        Spelled::new(vocabulary, MARK, |id: TokenId| names.spellings(vocabulary, id))
    }

    /// Returns errors for tokens that the grammar names and the vocabulary lacks.
    pub(super) fn missing(&self, vocabulary: &Vocabulary) -> Vec<Diagnostic> {
        let mut seen: HashSet<&Tokens> = HashSet::new();
        self.named_tokens()
            .filter(|&(_, tokens)| seen.insert(tokens))
            .filter_map(|(terminal, tokens)| missing(vocabulary, terminal, tokens))
            .collect()
    }

    /// Returns warnings for strings that look like special tokens of the vocabulary: a string is
    /// text, so the token is not allowed in its place, and models that were trained on the token
    /// write nothing else. Costs the grammar's patterns.
    pub(super) fn written_as_text(&self, vocabulary: &Vocabulary) -> Vec<Diagnostic> {
        let mut special: HashSet<&str> =
            vocabulary.special_tokens().map(|(_, name)| name).collect();
        for (_, tokens) in self.named_tokens() {
            if let Tokens::Special(name) = tokens {
                special.remove(name.as_str());
            }
        }
        let mut warnings = Vec::new();
        for terminal in &self.grammar.terminals {
            let Some(pattern) = &terminal.pattern else { continue };
            let mut pending = vec![pattern];
            while let Some(pattern) = pending.pop() {
                match pattern {
                    Pattern::Literal { text, .. } if special.remove(text.as_str()) => {
                        warnings.push(as_text(text).at(terminal.place.clone()));
                    }
                    Pattern::Concat(parts)
                    | Pattern::Alternation(parts)
                    | Pattern::Intersection(parts) => pending.extend(parts),
                    Pattern::Repeat { pattern, .. }
                    | Pattern::Complement(pattern)
                    | Pattern::Shortest(pattern) => pending.push(pattern),
                    _ => {}
                }
            }
        }
        warnings
    }

    fn named_tokens(&self) -> impl Iterator<Item = (&Terminal, &Tokens)> {
        self.grammar.terminals.iter().filter_map(|terminal| match &terminal.pattern {
            Some(Pattern::Tokens(tokens)) => Some((terminal, tokens)),
            _ => None,
        })
    }
}

/// The names and ids by which a grammar refers to tokens.
struct Names<'g> {
    names: BTreeSet<&'g str>,
    ids: Vec<&'g Tokens>,
    /// The excluded tokens of each reference to all other tokens.
    excluded: Vec<&'g Tokens>,
}

impl<'g> Names<'g> {
    fn new(tokens: impl Iterator<Item = &'g Tokens>) -> Self {
        let mut names = Self { names: BTreeSet::new(), ids: Vec::new(), excluded: Vec::new() };
        let mut seen = HashSet::new();
        for tokens in tokens {
            match tokens {
                Tokens::Name(name) | Tokens::Special(name) => {
                    names.names.insert(name);
                }
                Tokens::Ids(_) => names.ids.push(tokens),
                Tokens::Others(excluded) if seen.insert(&**excluded) => {
                    names.excluded.push(excluded);
                }
                Tokens::Others(_) => {}
            }
        }
        names
    }

    /// Returns the spellings of a token besides its bytes.
    fn spellings(&self, vocabulary: &Vocabulary, id: TokenId) -> Vec<Vec<u8>> {
        if vocabulary.bytes(id).is_none() && vocabulary.special(id).is_none() {
            return Vec::new();
        }
        let name = text(vocabulary, id).filter(|name| self.names.contains(name));
        let name = name.filter(|name| is_called(vocabulary, id, name)).map(Tokens::name_spelling);
        let own =
            self.ids.iter().any(|tokens| tokens.has_id(id.0)).then(|| Tokens::id_spelling(id.0));
        let is_stop = vocabulary.stop_tokens().contains(&id);
        let others =
            self.excluded.iter().filter(|excluded| !is_stop && !has(vocabulary, excluded, id));
        name.into_iter()
            .chain(own)
            .chain(others.map(|excluded| Tokens::others_spelling(excluded)))
            .collect()
    }
}

/// Returns the name of a special token, or the text of another one.
fn text(vocabulary: &Vocabulary, id: TokenId) -> Option<&str> {
    vocabulary.special(id).or_else(|| std::str::from_utf8(vocabulary.bytes(id)?).ok())
}

/// Whether a name refers to this token, which has that name or text: special tokens take
/// precedence.
fn is_called(vocabulary: &Vocabulary, id: TokenId, name: &str) -> bool {
    vocabulary.special(id).is_some() || !vocabulary.special_tokens().any(|(_, known)| known == name)
}

/// Whether a token is one of these.
fn has(vocabulary: &Vocabulary, tokens: &Tokens, id: TokenId) -> bool {
    match tokens {
        Tokens::Name(name) => text(vocabulary, id) == Some(name) && is_called(vocabulary, id, name),
        Tokens::Special(name) => vocabulary.special(id) == Some(name),
        Tokens::Ids(_) => tokens.has_id(id.0),
        Tokens::Others(excluded) => !has(vocabulary, excluded, id),
    }
}

/// Returns the warning for a string that looks like a special token.
fn as_text(name: &str) -> Diagnostic {
    let message = format!(
        "`{name}` is a special token of the vocabulary; a string denotes its text, and the token \
         itself is not allowed there"
    );
    Diagnostic::warning("special-token-as-text", message).help(format!(
        "to allow the token itself, name it in a rule without quotes (`{name}`); in structural \
         tags it is allowed as a whole trigger and as the whole end of a tag"
    ))
}

/// Returns the error that the vocabulary has none of these tokens, if so.
fn missing(vocabulary: &Vocabulary, terminal: &Terminal, tokens: &Tokens) -> Option<Diagnostic> {
    let error =
        |message: String| Diagnostic::error("unknown-token", message).at(terminal.place.clone());
    match tokens {
        Tokens::Name(name) => {
            if (0..vocabulary.width() as u32).any(|id| has(vocabulary, tokens, TokenId(id))) {
                return None;
            }
            let error = error(format!("the vocabulary has no token `{name}`"));
            let error =
                did_you_mean(error, name, vocabulary.special_tokens().map(|(_, name)| name));
            if error.help.is_some() {
                return Some(error);
            }
            let some: Vec<String> =
                vocabulary.special_tokens().take(8).map(|(_, name)| format!("`{name}`")).collect();
            Some(match some.is_empty() {
                true => {
                    error.help("the vocabulary has no special tokens; write the text as a string")
                }
                false => error.help(format!("its special tokens include {}", some.join(", "))),
            })
        }
        Tokens::Special(_) => None,
        Tokens::Others(excluded) => missing(vocabulary, terminal, excluded),
        Tokens::Ids(ranges) => {
            let is_token = |id: u32| {
                let id = TokenId(id);
                vocabulary.bytes(id).is_some() || vocabulary.special(id).is_some()
            };
            let width = vocabulary.width() as u32;
            let mut ids =
                ranges.iter().flat_map(|&(first, last)| first..width.min(last.saturating_add(1)));
            match ids.any(is_token) {
                true => None,
                false => Some(
                    error(format!(
                        "the vocabulary has no token `{}`",
                        Pattern::Tokens(tokens.clone())
                    ))
                    .help(format!("its ids range from 0 to {}", width.saturating_sub(1))),
                ),
            }
        }
    }
}
