//! Sequences of tokens, one by one: whether the tokenizer makes them, and which tokens may be next.
//!
//! Invariant: the tokens so far are the first tokens that the tokenizer makes of some text, for
//! each guess about where it cuts the text that the tokens spell.

use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::error::CanonicalError;
use super::merges::{Merges, NONE};
use super::pairs::Beginnings;
use super::pattern::Program;
use super::splitter::{DEAD, START, Splitter};
use super::utf8::{Partial, Read};
use super::{Bpe, Letters};
use crate::vocab::Vocabulary;
use crate::vocab::tokens::Tokens;
use crate::vocab::trie::Trie;

/// Upper bound on the rows of next states that are kept, each of two bytes for a token.
const MOST_ROWS: usize = 32;

/// Stands for any last token that is made of its bytes.
const ANY: u32 = NONE - 1;

/// The node of a piece that is one token and is not merged.
pub(super) const WHOLE: u32 = NONE - 1;

/// What decides which sequences a tokenizer makes; shared by all sequences of a vocabulary.
///
/// Takes about 60 bytes for each token of a large vocabulary, and at most 64 more for states that
/// were met.
pub(crate) struct CanonicalTokens {
    tokens: Arc<Tokens>,
    kinds: Box<[Kind]>,
    pub(super) merges: Merges,
    beginnings: Beginnings,
    pub(super) splitter: Splitter,
    /// The tokens that are split off first.
    pub(super) added: Box<[u32]>,
    /// The nodes of the trie on the way to the tokens of kind [`Kind::Whole`].
    whole_nodes: HashSet<u32, FxBuildHasher>,
    /// The tokens that lead to one of these nodes, and those that end within a character, as bits.
    /// After any other token the state alone counts.
    special_ends: Box<[u32]>,
    spells_all: bool,
    /// The tokens that are made of their bytes, as bits, and those that can begin a piece.
    made: Arc<[u32]>,
    beginning: Arc<[u32]>,
    /// By state, the state after each token.
    rows: RwLock<HashMap<u16, Arc<[u16]>, FxBuildHasher>>,
}

/// How a token comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The tokenizer never makes it.
    Never,
    /// It has no bytes, and cuts the text.
    Special,
    /// By merges, or as a letter.
    Made,
    /// As a byte of a character without a token.
    Byte,
    /// As a piece that is not merged, although its bytes would become other tokens.
    Whole,
    /// It is split off first. With its place in the list.
    Added(u16),
}

/// A sequence of tokens, as far as it decides which may follow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Canonical {
    /// The last token; [`NONE`] after a cut.
    pub(super) last: u32,
    /// The character in progress.
    pub(super) partial: Partial,
    pub(super) guesses: SmallVec<[Guess; 2]>,
}

/// A guess about the cuts so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Guess {
    pub(super) state: u16,
    /// The node of the vocabulary's trie that the piece in progress has reached; [`NONE`] if it is
    /// not in the trie, or does not matter.
    pub(super) node: u32,
}

/// Whether a text goes on with a piece, so that its first token must be a neighbour of the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    Joined,
    Cut,
}

/// Tokens, as bits, and by token the state after it.
type Part = (Arc<[u32]>, Arc<[u16]>);

/// The tokens that may follow others.
pub(crate) struct Followers {
    /// All of them, as bits.
    pub(crate) all: Vec<u32>,
    parts: Vec<Part>,
    /// Tokens after which more counts than the state, as bits.
    others: Vec<u32>,
}

/// The states after a token.
pub(crate) type States = SmallVec<[u16; 2]>;

impl Followers {
    /// Returns the states after a token. `None` if more counts than these.
    pub(crate) fn states(&self, token: u32) -> Option<States> {
        let (word, bit) = (token as usize / 32, 1 << (token % 32));
        if self.others[word] & bit != 0 {
            return None;
        }
        let mut states = States::new();
        for (tokens, next) in &self.parts {
            let state = next[token as usize];
            if tokens[word] & bit != 0 && state != DEAD && !states.contains(&state) {
                states.push(state);
            }
        }
        states.sort_unstable();
        Some(states)
    }
}

impl CanonicalTokens {
    pub(super) fn new(vocabulary: &Vocabulary, bpe: &Bpe) -> Result<Self, CanonicalError> {
        let width = vocabulary.width();
        let within = bpe.added.iter().filter(|&&id| vocabulary.bytes(id).is_some());
        let added: Box<[u32]> = within.copied().collect();
        let text = |&id: &u32| std::str::from_utf8(vocabulary.bytes(id).unwrap_or_default()).ok();
        let texts: Option<Vec<&str>> = added.iter().map(text).collect();
        let fault = |what: String| CanonicalError::Step(format!("of its pattern, {what}"));
        let texts = texts.ok_or_else(|| fault("added tokens are no text".to_owned()))?;
        let pattern = bpe.pattern.as_deref().ok_or(CanonicalError::NoPattern)?;
        let splitter = |texts: &[&str]| Program::new(pattern, texts).and_then(Splitter::new);
        splitter(&[]).and_then(|plain| plain.check_whole()).map_err(fault)?;
        let splitter = splitter(&texts).map_err(fault)?;
        let merges = Merges::new(vocabulary, bpe);
        let mut kinds: Vec<Kind> = (0..width as u32)
            .map(|id| match vocabulary.bytes(id) {
                None => Kind::Special,
                Some(_) if merges.is_made(id) => Kind::Made,
                Some(_) if bpe.whole_first => Kind::Whole,
                Some(_) => Kind::Never,
            })
            .collect();
        if let Letters::Characters(bytes) = &bpe.letters {
            let within = bytes.iter().filter(|&&id| vocabulary.bytes(id).is_some());
            within.for_each(|&id| kinds[id as usize] = Kind::Byte);
        }
        for (place, &id) in (0..).zip(&added) {
            kinds[id as usize] = Kind::Added(place);
        }
        let beginnings = Beginnings::new(&merges, width);
        let row = |of: fn(Kind) -> bool| {
            let mut row = vec![0; width.div_ceil(32)];
            let ids = (0..width).filter(|&id| of(kinds[id]));
            ids.for_each(|id| row[id / 32] |= 1 << (id % 32));
            Arc::from(row)
        };
        let trie = &vocabulary.tokens.trie;
        let mut whole_nodes = HashSet::default();
        let mut special_ends = vec![0; width.div_ceil(32)];
        for id in (0..width).filter(|&id| kinds[id] == Kind::Whole) {
            let mut node = Trie::ROOT;
            whole_nodes.insert(node);
            for &byte in vocabulary.tokens.get(id) {
                node = trie.child(node, byte).unwrap_or(Trie::ROOT);
                whole_nodes.insert(node);
            }
        }
        for &node in &whole_nodes {
            trie.tokens(node)
                .iter()
                .for_each(|&id| special_ends[id as usize / 32] |= 1 << (id % 32));
        }
        for id in 0..width {
            let bytes = vocabulary.tokens.get(id);
            let tail = &bytes[bytes.len().saturating_sub(3)..];
            let is_part = |from: usize| {
                std::str::from_utf8(&tail[from..]).is_err_and(|error| error.error_len().is_none())
            };
            if (0..tail.len()).any(is_part) {
                special_ends[id / 32] |= 1 << (id % 32);
            }
        }
        Ok(Self {
            tokens: vocabulary.tokens.clone(),
            whole_nodes,
            special_ends: special_ends.into(),
            made: row(|kind| matches!(kind, Kind::Made | Kind::Byte)),
            beginning: row(|kind| matches!(kind, Kind::Made | Kind::Byte | Kind::Whole)),
            kinds: kinds.into(),
            spells_all: merges.can_spell_all(),
            merges,
            beginnings,
            splitter,
            added,
            rows: RwLock::default(),
        })
    }

    /// Returns the sequence without tokens, or after a token that cuts the text.
    pub(crate) fn start(&self) -> Canonical {
        let node = self.root();
        let start = Guess { state: START, node };
        Canonical { last: NONE, partial: Partial::default(), guesses: SmallVec::from_iter([start]) }
    }

    /// Returns the sequence with one more token; `None` if no text has these tokens.
    pub(crate) fn after(&self, from: &Canonical, token: u32) -> Option<Canonical> {
        let kind = self.kinds.get(token as usize).copied().unwrap_or(Kind::Never);
        let bytes = self.vocabulary_bytes(token);
        let mut guesses = SmallVec::new();
        let mut add = |guess: Guess| {
            let is_live = guess.state != DEAD;
            if is_live && !guesses.contains(&guess) {
                guesses.push(guess);
            }
            is_live
        };
        match kind {
            Kind::Never => return None,
            Kind::Special => return self.may_end(from).then(|| self.start()),
            Kind::Added(place) => {
                let node = self.start().guesses[0].node;
                for (state, _) in self.beginnings(from) {
                    add(Guess { state: self.splitter.after_added(state, place.into()), node });
                }
                let after = Canonical { last: NONE, partial: Partial::default(), guesses };
                return (!after.guesses.is_empty()).then_some(after);
            }
            Kind::Made | Kind::Byte | Kind::Whole => {}
        }
        if self.merges.is_by_character() && kind != Kind::Byte && !from.partial.is_empty() {
            return None;
        }
        let mut partial = from.partial;
        let joins = kind != Kind::Whole && from.last != NONE && {
            let begun =
                from.guesses.iter().any(|&guess| from.joins(self, guess) && guess.node != WHOLE);
            begun && (from.last == ANY || self.merges.are_neighbours(from.last, token))
        };
        for &guess in &from.guesses {
            if joins && from.joins(self, guess) && guess.node != WHOLE {
                let (state, rest) = self.run(guess.state, from.partial, kind, bytes);
                if add(Guess { state, node: self.walk(guess.node, bytes) }) {
                    partial = rest;
                }
            }
        }
        for (state, node) in self.beginnings(from) {
            let (state, rest) = self.run(state, from.partial, kind, bytes);
            let node = if kind == Kind::Whole { WHOLE } else { self.walk(node, bytes) };
            if add(Guess { state, node }) {
                partial = rest;
            }
        }
        (!guesses.is_empty()).then_some(Canonical { last: token, partial, guesses })
    }

    /// Returns the states in which a piece may begin, or an added token.
    fn beginnings(&self, from: &Canonical) -> SmallVec<[(u16, u32); 4]> {
        let mut all = SmallVec::new();
        let node = self.root();
        if from.partial.is_empty() {
            for guess in &from.guesses {
                if !self.splitter.is_begun(guess.state) {
                    all.push((guess.state, node));
                } else if self.may_end_whole(guess.node) {
                    all.extend(self.splitter.cuts(guess.state).iter().map(|&cut| (cut, node)));
                }
            }
        }
        all
    }

    /// Returns the state after bytes, and the character that is then in progress.
    fn run(
        &self,
        mut state: u16,
        mut partial: Partial,
        kind: Kind,
        bytes: &[u8],
    ) -> (u16, Partial) {
        for (at, &byte) in bytes.iter().enumerate() {
            let before = partial;
            match partial.push(byte) {
                Read::Invalid => return (DEAD, partial),
                Read::Part => {}
                Read::Character(character) => {
                    state = self.splitter.step(state, character);
                    let has_token = || {
                        let own = [before.bytes(), &bytes[at..=at]].concat();
                        self.merges.has_letter(&own)
                    };
                    if state == DEAD || kind == Kind::Byte && has_token() {
                        return (DEAD, partial);
                    }
                }
            }
        }
        (state, partial)
    }

    /// Returns the node of the beginning of a piece.
    fn root(&self) -> u32 {
        if self.whole_nodes.is_empty() { NONE } else { Trie::ROOT }
    }

    /// Returns the node of the vocabulary's trie after these bytes.
    pub(super) fn walk(&self, node: u32, bytes: &[u8]) -> u32 {
        if node >= WHOLE {
            return node;
        }
        let trie = &self.tokens.trie;
        let child = |node, &byte: &u8| {
            trie.child(node, byte).filter(|next| self.whole_nodes.contains(next))
        };
        bytes.iter().try_fold(node, child).unwrap_or(NONE)
    }

    /// Returns whether a piece of the bytes of this node, which is several tokens, may end: it is
    /// no token itself that is not merged.
    pub(super) fn may_end_whole(&self, node: u32) -> bool {
        let is_whole = |&id: &u32| self.kinds[id as usize] == Kind::Whole;
        node >= WHOLE || !self.tokens.trie.tokens(node).iter().any(is_whole)
    }

    /// Returns the token of a piece that is not merged, although its bytes would become other
    /// tokens.
    pub(super) fn whole(&self, piece: &[u8]) -> Option<u32> {
        let node = self.walk(self.root(), piece);
        let ids = if node == NONE { &[] } else { self.tokens.trie.tokens(node) };
        ids.iter().copied().find(|&id| self.kinds[id as usize] == Kind::Whole)
    }

    pub(super) fn vocabulary_bytes(&self, token: u32) -> &[u8] {
        self.tokens.get(token as usize)
    }

    /// Returns whether the text may end after these tokens, or be cut by a special one.
    pub(crate) fn may_end(&self, at: &Canonical) -> bool {
        let ends =
            |guess: &Guess| self.splitter.may_end(guess.state) && self.may_end_whole(guess.node);
        at.partial.is_empty() && at.guesses.iter().any(ends)
    }

    /// Returns whether the tokens stay as they are if this text of one piece is next: `Some(true)`
    /// whatever follows it, `Some(false)` if that depends on what follows, `None` if not.
    pub(crate) fn settles(&self, at: &Canonical, next: &[char]) -> Option<bool> {
        let step = |state: u16, &next: &char| match state {
            DEAD => DEAD,
            state => self.splitter.step(state, next),
        };
        let beginnings = self.beginnings(at);
        let after = beginnings.iter().map(|&(state, _)| next.iter().fold(state, step));
        after.filter(|&after| after != DEAD).map(|after| self.splitter.is_settled(after)).max()
    }

    /// Returns whether the tokenizer has tokens for all texts.
    pub(crate) fn can_spell_all(&self) -> bool {
        self.spells_all
    }

    /// Returns the class of a character for [`CanonicalTokens::settles`].
    pub(crate) fn class(&self, character: char) -> u8 {
        self.splitter.class(character)
    }

    /// Returns the tokens that may follow these, with the states after them.
    pub(crate) fn followers(&self, from: &Canonical) -> Followers {
        let words = self.made.len();
        let mut followers =
            Followers { all: vec![0; words], parts: Vec::new(), others: vec![0; words] };
        if from.partial.is_empty() {
            let mut neighbours = None;
            for &guess in from.guesses.iter().filter(|guess| guess.node != WHOLE) {
                if from.joins(self, guess) {
                    let tokens = neighbours.get_or_insert_with(|| {
                        let mut row = self.made.to_vec();
                        if from.last != ANY {
                            self.merges.take_out_others(from.last, &self.beginnings, &mut row);
                        }
                        Arc::from(row)
                    });
                    self.add_part(guess.state, tokens, &mut followers);
                    if guess.node != NONE {
                        followers.others.fill(u32::MAX);
                    }
                }
            }
            for (state, _) in self.beginnings(from) {
                self.add_part(state, &self.beginning, &mut followers);
            }
        } else {
            let trie = &self.tokens.trie;
            let nodes = (0x80..0xc0).filter_map(|byte| trie.child(Trie::ROOT, byte));
            for &token in nodes.flat_map(|node| trie.subtree_tokens(node)) {
                if self.after(from, token).is_some() {
                    followers.all[token as usize / 32] |= 1 << (token % 32);
                }
            }
            followers.others.fill(u32::MAX);
        }
        for &token in self.added.iter().filter(|&&token| self.after(from, token).is_some()) {
            followers.all[token as usize / 32] |= 1 << (token % 32);
            followers.others[token as usize / 32] |= 1 << (token % 32);
        }
        if self.may_end(from) {
            let is_special = |&(_, kind): &(usize, &Kind)| *kind == Kind::Special;
            for (id, _) in self.kinds.iter().enumerate().filter(is_special) {
                followers.all[id / 32] |= 1 << (id % 32);
                followers.others[id / 32] |= 1 << (id % 32);
            }
        }
        followers.others.iter_mut().zip(&self.special_ends).for_each(|(word, more)| *word |= more);
        followers
    }

    /// Adds the tokens of `of` after which a state is alive.
    fn add_part(&self, state: u16, of: &Arc<[u32]>, followers: &mut Followers) {
        let next = self.next_states(state);
        for ((word, of), next) in followers.all.iter_mut().zip(&of[..]).zip(next.chunks(32)) {
            if of & !*word != 0 {
                let live =
                    next.iter().enumerate().map(|(bit, &next)| u32::from(next != DEAD) << bit);
                *word |= of & live.fold(0, |all, bit| all | bit);
            }
        }
        followers.parts.push((of.clone(), next));
    }

    /// Returns by token the state after it, from a state in which no character is in progress.
    pub(crate) fn next_states(&self, state: u16) -> Arc<[u16]> {
        let known = self.rows.read().unwrap_or_else(PoisonError::into_inner).get(&state).cloned();
        known.unwrap_or_else(|| {
            let next = (0..).zip(&self.kinds).map(|(id, &kind)| match kind {
                Kind::Made | Kind::Byte | Kind::Whole => {
                    self.run(state, Partial::default(), kind, self.vocabulary_bytes(id)).0
                }
                _ => DEAD,
            });
            let row: Arc<[u16]> = next.collect();
            let mut rows = self.rows.write().unwrap_or_else(PoisonError::into_inner);
            if rows.len() >= MOST_ROWS {
                rows.clear();
            }
            rows.insert(state, row.clone());
            row
        })
    }

    /// Returns whether a token of the same piece may follow the last one.
    pub(crate) fn follows(&self, at: &Canonical, token: u32) -> bool {
        self.merges.are_neighbours(at.last, token)
    }

    /// Returns the states of a sequence, if these alone count for what may follow, but for the
    /// neighbours of its last token.
    pub(crate) fn states_of(&self, at: &Canonical) -> Option<States> {
        let count_alone = at.last < ANY
            && at.partial.is_empty()
            && at.guesses.iter().all(|guess| guess.node == NONE);
        let mut states: States = at.guesses.iter().map(|guess| guess.state).collect();
        states.sort_unstable();
        states.dedup();
        count_alone.then_some(states)
    }

    /// Returns whether these tokens may be neighbours within a piece.
    pub(crate) fn are_neighbours(&self, left: u32, right: u32) -> bool {
        self.merges.is_made(right) && self.merges.are_neighbours(left, right)
    }
}

impl Canonical {
    /// Returns whether the next token goes on with the last one's piece, if it is not cut there.
    pub(super) fn joins(&self, of: &CanonicalTokens, guess: Guess) -> bool {
        self.last != NONE && (!self.partial.is_empty() || of.splitter.is_begun(guess.state))
    }

    /// Returns a sequence that ends in these states, after any token. All tokens that are made of
    /// their bytes are its neighbours.
    pub(crate) fn after_any(states: &[u16]) -> Self {
        let guesses = states.iter().map(|&state| Guess { state, node: NONE }).collect();
        Self { last: ANY, partial: Partial::default(), guesses }
    }

    /// Returns the same sequence, if the tokenizer cuts the text after it.
    pub(crate) fn cut(&self) -> Self {
        Self { last: NONE, ..self.clone() }
    }
}

impl std::fmt::Debug for CanonicalTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CanonicalTokens")
            .field("states", &self.splitter.len())
            .finish_non_exhaustive()
    }
}
