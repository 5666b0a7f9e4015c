//! Viability: a text is a viable prefix when some completion makes it a member; the completion is
//! searched.
//!
//! A yes is always exact, for there is a witness. A no is exact as far as completions over the
//! alphabet go, unless the search has come to its limit; whoever disagrees must show a completion,
//! which [`Oracle::is_member`] judges.

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
    /// The search has come to its limit.
    Unknown,
    /// The text has more readings than can be told one by one.
    TooMany,
}

/// Situations looked at before a search is given up, unless otherwise said.
const LIMIT: usize = 3_000;

impl Oracle {
    pub fn new(spec: Spec, alphabet: &[u8]) -> Self {
        Self::with_limit(spec, alphabet, LIMIT)
    }

    /// One that searches less, or more.
    pub fn with_limit(spec: Spec, alphabet: &[u8], limit: usize) -> Self {
        Self {
            language: Language::new(spec),
            alphabet: alphabet.to_vec(),
            search: Search::new(alphabet, limit),
            viable: RefCell::default(),
        }
    }

    /// Whether `text` is in the language, if it has not too many readings.
    pub fn judge(&self, text: &[u8]) -> Option<bool> {
        self.language.is_member(text)
    }

    /// The same for a text that has but a few.
    ///
    /// # Panics
    /// When it has more.
    pub fn is_member(&self, text: &[u8]) -> bool {
        self.judge(text).expect("a text of few readings")
    }

    /// Whether a completion of `text` was found.
    pub fn is_viable(&self, text: &[u8]) -> bool {
        self.viable(text) == Viable::Yes
    }

    /// Whether there is a completion of `text`, as far as the search can tell.
    ///
    /// # Panics
    /// When the search proposes what is no completion: the oracle disagrees with itself.
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

    /// Judges a completion that someone else found, and learns from it. `None` where that has too
    /// many readings.
    pub fn is_completed_by(&self, text: &[u8], ending: &[u8]) -> Option<bool> {
        let member = [text, ending].concat();
        let completed = self.judge(&member);
        if completed == Some(true) {
            let beginnings = (0..=member.len()).map(|end| (member[..end].to_vec(), Viable::Yes));
            self.viable.borrow_mut().extend(beginnings);
        }
        completed
    }

    /// All members up to `length` bytes over the alphabet, by brute force: the check of the search
    /// itself.
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
