//! Viability: a text is a viable prefix if some completion makes it a member; the completion is
//! found by search.
//!
//! A yes is always exact, because there is a witness. A no is exact for completions over the
//! alphabet, unless the search has reached its limit; a result that disagrees must come with a
//! completion, which [`Oracle::is_member`] judges.

use super::language::Language;
use super::quoted::show;
use super::search::{Search, Verdict};
use super::spec::Spec;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The judge of one grammar.
#[derive(Debug)]
pub struct Oracle {
    pub language: Language,
    alphabet: Vec<u8>,
    search: Search,
    viable: RefCell<HashMap<Vec<u8>, Viable>>,
}

/// Whether a text is a viable prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viable {
    Yes,
    No,
    /// The search has reached its limit.
    Unknown,
    /// The text has too many readings to enumerate.
    TooMany,
}

/// Default number of visited situations after which a search stops.
const LIMIT: usize = 3_000;

impl Oracle {
    pub fn new(spec: Spec, alphabet: &[u8]) -> Self {
        Self::with_limit(spec, alphabet, LIMIT)
    }

    /// Creates an oracle with a different limit.
    pub fn with_limit(spec: Spec, alphabet: &[u8], limit: usize) -> Self {
        Self {
            language: Language::new(spec),
            alphabet: alphabet.to_vec(),
            search: Search::new(alphabet, limit),
            viable: RefCell::default(),
        }
    }

    /// Whether `text` is in the language; `None` if it has too many readings.
    pub fn judge(&self, text: &[u8]) -> Option<bool> {
        self.language.is_member(text)
    }

    /// Whether `text`, which has few readings, is in the language.
    ///
    /// # Panics
    /// If it has too many.
    pub fn is_member(&self, text: &[u8]) -> bool {
        self.judge(text).expect("a text of few readings")
    }

    /// Whether a completion of `text` was found.
    pub fn is_viable(&self, text: &[u8]) -> bool {
        self.viable(text) == Viable::Yes
    }

    /// Returns whether `text` has a completion, as far as the search can decide.
    ///
    /// # Panics
    /// If the proposal of the search is not a completion: the oracle disagrees with itself.
    pub fn viable(&self, text: &[u8]) -> Viable {
        if let Some(&known) = self.viable.borrow().get(text) {
            return known;
        }
        let viable = match self.search.verdict(&self.language, text) {
            Verdict::Completed(ending) => {
                let judged = self.is_completed_by(text, &ending);
                assert!(
                    judged != Some(false),
                    "{} does not complete {}",
                    show(&ending),
                    show(text)
                );
                return Viable::Yes;
            }
            Verdict::Dead => Viable::No,
            Verdict::Unknown => Viable::Unknown,
            Verdict::TooMany => Viable::TooMany,
        };
        self.viable.borrow_mut().insert(text.to_vec(), viable);
        viable
    }

    /// Judges a completion found elsewhere, and learns from it. `None` if that has too many
    /// readings.
    pub fn is_completed_by(&self, text: &[u8], ending: &[u8]) -> Option<bool> {
        let member = [text, ending].concat();
        let completed = self.judge(&member);
        if completed == Some(true) {
            let beginnings = (0..=member.len()).map(|end| (member[..end].to_vec(), Viable::Yes));
            self.viable.borrow_mut().extend(beginnings);
        }
        completed
    }

    /// Returns all members up to `length` bytes over the alphabet, by brute force, to check the
    /// search itself.
    pub fn members(&self, length: usize) -> HashSet<Vec<u8>> {
        let mut members = HashSet::new();
        let mut layer = vec![Vec::new()];
        for depth in 0..=length {
            members.extend(layer.iter().filter(|text| self.is_member(text)).cloned());
            if depth == length {
                break;
            }
            layer = layer
                .iter()
                .flat_map(|text| {
                    self.alphabet.iter().map(move |&byte| [text.as_slice(), &[byte]].concat())
                })
                .collect();
        }
        members
    }
}
