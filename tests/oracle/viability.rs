//! Viability: a text is a viable prefix when some completion makes it a member; the completion is searched.
//!
//! A yes is always exact, for there is a witness. A no is exact as far as completions of at most `slack`
//! bytes over the alphabet go (put together of single bytes and of longer pieces, so that a whole keyword is one step
//! of the search); whoever disagrees must show a completion, which [`Oracle::is_member`] judges.

use super::language::Language;
use super::spec::Spec;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};

/// Texts looked at before what completed other texts is tried.
const FIRST_SEARCH: usize = 60;
/// Texts looked at before the search is given up.
const SECOND_SEARCH: usize = 1_000;
/// Endings remembered.
const KNOWN_ENDINGS: usize = 24;

/// The judge of one grammar.
#[derive(Debug)]
pub struct Oracle {
    pub language: Language,
    alphabet: Vec<u8>,
    /// What completions are put together of.
    pieces: Vec<Vec<u8>>,
    slack: usize,
    viable: RefCell<HashMap<Vec<u8>, bool>>,
    /// What completed earlier texts, the latest first.
    endings: RefCell<VecDeque<Vec<u8>>>,
}

impl Oracle {
    pub fn new(spec: Spec, alphabet: &[u8], longer_pieces: &[Vec<u8>], slack: usize) -> Self {
        let mut pieces: Vec<Vec<u8>> = alphabet.iter().map(|&byte| vec![byte]).collect();
        pieces.extend_from_slice(longer_pieces);
        Self {
            language: Language::new(spec),
            alphabet: alphabet.to_vec(),
            pieces,
            slack,
            viable: RefCell::default(),
            endings: RefCell::default(),
        }
    }

    /// Whether `text` is in the language.
    pub fn is_member(&self, text: &[u8]) -> bool {
        self.language.is_member(text)
    }

    /// Whether a completion of `text` was found.
    pub fn is_viable(&self, text: &[u8]) -> bool {
        if let Some(&known) = self.viable.borrow().get(text) {
            return known;
        }
        let witness = self.search(text);
        let mut viable = self.viable.borrow_mut();
        if let Some(member) = &witness {
            for end in 0..=member.len() {
                viable.insert(member[..end].to_vec(), true);
            }
        } else {
            viable.insert(text.to_vec(), false);
        }
        witness.is_some()
    }

    /// Whether a completion of `text` was found before.
    pub fn is_known_viable(&self, text: &[u8]) -> bool {
        self.viable.borrow().get(text) == Some(&true)
    }

    /// Judges a completion that someone else found, and learns from it.
    pub fn is_completed_by(&self, text: &[u8], ending: &[u8]) -> bool {
        let member = [text, ending].concat();
        if !self.is_member(&member) {
            return false;
        }
        self.remember_ending(ending);
        let mut viable = self.viable.borrow_mut();
        viable.extend((0..=member.len()).map(|end| (member[..end].to_vec(), true)));
        true
    }

    /// A text that begins with `text` and is a member, or is known to begin one.
    fn search(&self, text: &[u8]) -> Option<Vec<u8>> {
        if !self.language.may_continue(text) {
            return None;
        }
        let witness = self
            .search_near(text, FIRST_SEARCH)
            .or_else(|| self.search_known_endings(text))
            .or_else(|| self.search_near(text, SECOND_SEARCH));
        if let Some(witness) = &witness {
            self.remember_ending(&witness[text.len()..]);
        }
        witness
    }

    fn remember_ending(&self, ending: &[u8]) {
        let mut endings = self.endings.borrow_mut();
        if !endings.iter().any(|known| known == ending) {
            endings.push_front(ending.to_vec());
            endings.truncate(KNOWN_ENDINGS);
        }
    }

    /// Few pieces first, `limit` texts at most.
    fn search_near(&self, text: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut queue = VecDeque::from([text.to_vec()]);
        for _ in 0..limit {
            let candidate = queue.pop_front()?;
            if self.language.is_member(&candidate) {
                return Some(candidate);
            }
            for piece in &self.pieces {
                let longer = [candidate.as_slice(), piece].concat();
                if longer.len() <= text.len() + self.slack && self.language.may_continue(&longer) {
                    queue.push_back(longer);
                }
            }
        }
        None
    }

    /// What completed other texts, with a piece before or behind it.
    fn search_known_endings(&self, text: &[u8]) -> Option<Vec<u8>> {
        let endings = self.endings.borrow();
        let completed = |middle: &[u8], end: &[u8]| {
            let candidate = [text, middle, end].concat();
            self.language.is_member(&candidate).then_some(candidate)
        };
        endings.iter().find_map(|ending| completed(ending, b"")).or_else(|| {
            endings.iter().find_map(|ending| {
                self.pieces
                    .iter()
                    .find_map(|piece| completed(piece, ending).or_else(|| completed(ending, piece)))
            })
        })
    }

    /// All members up to `length` bytes over the alphabet, by brute force: the check of the search itself.
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
                .flat_map(|text| self.alphabet.iter().map(move |&byte| [text.as_slice(), &[byte]].concat()))
                .collect();
        }
        members
    }
}
