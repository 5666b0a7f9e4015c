//! Whether a text can be ended within some tokens, and how.
//!
//! Ways to find out, each dearer than the one before:
//!
//! 1. If lexemes are separate ([`Scanner::is_separate`]), the fewest tokens that finish the lexeme
//!    in progress and the stack after it are known, as far as no token goes past the end of a
//!    lexeme ([`Index::tokens_to_end`]). No witness is needed: some token leads to a configuration
//!    that needs one token less.
//! 2. The lexeme in progress is finished by its shortest text, and what follows a lexeme of its
//!    label is a short completion. That is computed once for each label and stack, as if no other
//!    terminal competed, and used after each lexeme of the label if its first byte ends both.
//! 3. A short completion of the configuration itself.
//! 4. A search over tokens, best first, where the vocabulary is small.
//!
//! [`Scanner::is_separate`]: crate::scanner::Scanner::is_separate
//! [`Index::tokens_to_end`]: crate::index::Index::tokens_to_end

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::next_tokens::Tokens;
use super::{Matcher, Moment};
use crate::index::NEVER;
use crate::lr::stack::Stack;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Layout, ObligationsId, Reads};
use crate::util::id::{CoreId, ScanStateId, TerminalId, TokenId};

/// How a text can be ended.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// By this number of tokens.
    Counted(usize),
    /// By these tokens.
    Spelled(Arc<[TokenId]>),
}

impl Ending {
    pub(super) fn tokens(&self) -> usize {
        match self {
            Self::Counted(count) => *count,
            Self::Spelled(tokens) => tokens.len(),
        }
    }
}

/// What is known of the text after the lexeme in progress, by its label, for one stack and layout.
#[derive(Default)]
pub(super) struct CompletionsByLabel {
    of: Option<(Stack, Layout)>,
    counts: HashMap<TerminalId, u64, FxBuildHasher>,
    texts: HashMap<TerminalId, Option<Rest>, FxBuildHasher>,
    /// Of any stack and layout.
    unended: Unended,
}

/// Configurations that a search has left without an ending within a number of tokens.
#[derive(Default)]
struct Unended(HashMap<Key, Vec<(Configuration, usize)>, FxBuildHasher>);

/// What is compared first of two configurations.
type Key = (ScanStateId, ObligationsId, ExpectationsId, CoreId, u32);

impl Unended {
    fn key(at: &Configuration) -> Key {
        (at.state, at.obligations, at.expectations, at.stack.core(), at.stack.depth())
    }

    /// Whether a configuration is known to have no ending within `most` tokens.
    fn has(&self, at: &Configuration, most: usize) -> bool {
        let known = self.0.get(&Self::key(at)).into_iter().flatten();
        known.into_iter().any(|(known, tokens)| *tokens >= most && known.same(at))
    }

    fn add(&mut self, at: Configuration, most: usize) {
        if !self.has(&at, most) {
            self.0.entry(Self::key(&at)).or_default().push((at, most));
        }
    }
}

/// A completion after a lexeme, and the fewest tokens that spell it.
struct Rest {
    /// The state in which that lexeme ended.
    state: ScanStateId,
    text: Vec<u8>,
    tokens: Vec<TokenId>,
}

/// A vocabulary with more nodes in its trie is not searched.
pub(super) const MOST_NODES: usize = 1 << 12;

/// Upper bound on the configurations met by one search.
const MOST_MET: usize = 1 << 11;

/// One completion may take this fraction of the steps of a decision.
const COMPLETIONS_OF_A_DECISION: usize = 16;

impl CompletionsByLabel {
    /// Forgets what is known of other stacks and layouts.
    fn turn_to(&mut self, at: &Configuration) {
        let is_same =
            |(stack, layout): &(Stack, Layout)| stack.is(&at.stack) && *layout == at.layout;
        if !self.of.as_ref().is_some_and(is_same) {
            let unended = std::mem::take(&mut self.unended);
            let of = Some((at.stack.clone(), at.layout.clone()));
            *self = Self { of, unended, ..Self::default() };
        }
    }
}

impl Matcher {
    /// Returns a way to end the text within `most` tokens. `between`: no lexeme is in progress.
    pub(super) fn ending(
        &self,
        at: &Configuration,
        between: bool,
        most: usize,
        rests: &mut CompletionsByLabel,
    ) -> Option<Ending> {
        if self.may_end_here(at, between) {
            return Some(Ending::Counted(0));
        }
        if most == 0 {
            return None;
        }
        rests.turn_to(at);
        if self.index.scanner().is_separate() {
            let count = self.counted_ending(at, between, rests)?;
            if count <= most {
                return Some(Ending::Counted(count));
            }
        } else if !between && !self.index.scanner().is_viable(at, &mut Reads::none()) {
            return None;
        }
        let written = if between { None } else { self.written_ending(at, most, rests) };
        let found =
            written.or_else(|| self.index.spelled().cut_fewest(&self.short_text(at, between)?));
        let found = found.filter(|tokens| tokens.len() <= most);
        let found = found.or_else(|| self.search_ending(at, between, most, &mut rests.unended));
        found.map(|tokens| Ending::Spelled(tokens.into()))
    }

    /// Returns the shortest way to end the text that is found.
    pub(super) fn least_ending(&self, at: &Configuration, between: bool) -> Option<Ending> {
        let mut least = self.ending(at, between, usize::MAX, &mut CompletionsByLabel::default())?;
        while let Some(fewer) = least.tokens().checked_sub(1)
            && let Some(shorter) =
                self.ending(at, between, fewer, &mut CompletionsByLabel::default())
        {
            least = shorter;
        }
        Some(least)
    }

    /// Returns a way to end the text within `most` tokens, where the tokens of lexemes are limited:
    /// a short completion that is then followed token by token.
    pub(super) fn counting_ending(&self, at: &Moment, most: usize) -> Option<Ending> {
        if self.may_end(at) {
            return Some(Ending::Counted(0));
        }
        at.readings.iter().enumerate().find_map(|(place, reading)| {
            let text = self.short_text(reading, at.is_between(place))?;
            let tokens = self.index.spelled().cut_fewest(&text)?;
            let is_taken = |tokens: &[TokenId]| {
                let mut now = at.clone();
                for &token in tokens {
                    now = self.after_spelled(&now, token).ok()?;
                }
                self.may_end(&now).then_some(())
            };
            (tokens.len() <= most && is_taken(&tokens).is_some())
                .then(|| Ending::Spelled(tokens.into()))
        })
    }

    fn may_end_here(&self, at: &Configuration, between: bool) -> bool {
        let scanner = self.index.scanner();
        match between {
            true => scanner.is_complete_between(at, &mut Reads::none()),
            false => scanner.is_complete(at, &mut Reads::none()),
        }
    }

    /// Returns the fewest tokens that end the text without spanning lexemes, where lexemes are
    /// separate; `None` if the text cannot be ended.
    fn counted_ending(
        &self,
        at: &Configuration,
        between: bool,
        rests: &mut CompletionsByLabel,
    ) -> Option<usize> {
        let scanner = self.index.scanner();
        let mut steps = scanner.bounds().decision_steps;
        if between {
            let count = self.index.tokens_to_complete(&at.stack, &mut steps)?;
            return usize::try_from(count).ok().filter(|_| count < NEVER);
        }
        let components = scanner.states().components(at.state).iter();
        let counts = components.map(|component| {
            let label = component.terminal;
            let rest = *rests.counts.entry(label).or_insert_with(|| {
                let mut least = NEVER;
                let Configuration { stack, layout, expectations, .. } = at;
                let reads = &mut Reads::none();
                scanner.after_lexeme(
                    stack,
                    layout,
                    *expectations,
                    label,
                    reads,
                    &mut |after, _| {
                        let count = self.index.tokens_to_complete(&after.stack, &mut steps);
                        least = least.min(count.unwrap_or(NEVER));
                    },
                );
                least
            });
            match rest {
                NEVER.. => NEVER,
                rest => rest + self.index.tokens_to_end(label, component.state),
            }
        });
        let least = counts.min().filter(|&count| count < NEVER)?;
        usize::try_from(least).ok()
    }

    /// Returns at most `most` tokens that finish the lexeme in progress by a shortest text, and
    /// then the whole text. `None` if there are none; then [`Matcher::complete`] may know others.
    fn written_ending(
        &self,
        at: &Configuration,
        most: usize,
        rests: &mut CompletionsByLabel,
    ) -> Option<Vec<TokenId>> {
        let states = self.index.scanner().states();
        if at.obligations != ObligationsId::NONE || states.has_past() || states.has_conditions() {
            return None;
        }
        // What is known is tried first.
        for is_known in [true, false] {
            for component in states.components(at.state) {
                let label = component.terminal;
                if rests.texts.contains_key(&label) != is_known {
                    continue;
                }
                let finish = states.shortest_from(label, component.state);
                let end = finish.iter().try_fold(at.state, |state, &byte| states.next(state, byte));
                let end = end.filter(|&end| states.label(end) == Some(label));
                let Some(end) = end.map(|state| Configuration { state, ..at.clone() }) else {
                    continue;
                };
                let rest = rests.texts.entry(label).or_insert_with(|| self.rest(at, label));
                let Some(rest) = rest else { continue };
                let found = match rest.text.first() {
                    Some(&byte)
                        if states.next(end.state, byte).is_none()
                            && states.next(rest.state, byte).is_none() =>
                    {
                        self.cut_both(&finish, rest, most)
                    }
                    None if self.may_end_here(&end, false) => self.cut_both(&finish, rest, most),
                    _ => self.short_text(&end, false).and_then(|text| {
                        self.index.spelled().cut_fewest(&[&finish[..], &text].concat())
                    }),
                };
                let found = found.filter(|tokens| tokens.len() <= most);
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// Returns a short completion after a lexeme with this label, on the stack of `at`.
    fn rest(&self, at: &Configuration, label: TerminalId) -> Option<Rest> {
        let state = self.index.scanner().states().finished(label)?;
        let text = self.short_text(&Configuration { state, ..at.clone() }, false)?;
        let tokens = self.index.spelled().cut_fewest(&text)?;
        Some(Rest { state, text, tokens })
    }

    /// Returns a short completion, within some steps.
    pub(super) fn short_text(&self, at: &Configuration, between: bool) -> Option<Vec<u8>> {
        if self.may_end_here(at, between) {
            return Some(Vec::new());
        }
        let steps = self.index.scanner().bounds().decision_steps;
        self.complete(at, between, &mut (steps / COMPLETIONS_OF_A_DECISION))
    }

    /// Cuts the end of a lexeme and the text after it into tokens: apart if these are no more than
    /// `most`, which is faster, else together.
    fn cut_both(&self, finish: &[u8], rest: &Rest, most: usize) -> Option<Vec<TokenId>> {
        let spelled = self.index.spelled();
        match spelled.cut_fewest(finish) {
            Some(mut tokens) if tokens.len() + rest.tokens.len() <= most => {
                tokens.extend_from_slice(&rest.tokens);
                Some(tokens)
            }
            _ => spelled.cut_fewest(&[finish, &rest.text].concat()),
        }
    }

    /// Searches for at most `most` tokens that end the text: best first, by the number of tokens so
    /// far plus a lower bound on the others. `None` if there are none, or the search takes too
    /// long.
    fn search_ending(
        &self,
        from: &Configuration,
        between: bool,
        most: usize,
        unended: &mut Unended,
    ) -> Option<Vec<TokenId>> {
        let scanner = self.index.scanner();
        let trie = self.index.spelled().spelled.trie();
        if trie.node_count() > MOST_NODES || !between && unended.has(from, most) {
            return None;
        }
        // A configuration, its predecessor with the token in between, and the number of tokens.
        type Met = (Configuration, (usize, u32), usize);
        let mut met: Vec<Met> = vec![(from.clone(), (0, 0), 0)];
        let mut alike: HashMap<Key, SmallVec<[usize; 1]>, FxBuildHasher> = HashMap::default();
        let mut pending = BinaryHeap::from([Reverse((0, 0))]);
        while let Some(Reverse((_, place))) = pending.pop() {
            let (at, _, count) = met[place].clone();
            if self.may_end_here(&at, between && place == 0) {
                let mut tokens = Vec::with_capacity(count);
                let mut back = place;
                while back > 0 {
                    let (before, token) = met[back].1;
                    tokens.push(self.index.spelled().plain_id(TokenId(token)));
                    back = before;
                }
                tokens.reverse();
                return Some(tokens);
            }
            if count == most {
                continue;
            }
            self.next_tokens(Tokens::All, &at, |after, _, tokens| {
                let known = alike.entry(Unended::key(&after)).or_default();
                let is_known =
                    |&place: &usize| met[place].0.same(&after) && met[place].2 <= count + 1;
                if !known.iter().any(is_known) && !unended.has(&after, most - count - 1) {
                    let least = (count + 1).saturating_add(self.fewest_left(&after));
                    if least <= most && scanner.is_viable(&after, &mut Reads::none()) {
                        known.push(met.len());
                        pending.push(Reverse((least, met.len())));
                        let token = trie.ids()[tokens[0].0 as usize];
                        met.push((after, (place, token), count + 1));
                    }
                }
                met.len() > MOST_MET
            });
            if met.len() > MOST_MET {
                return None;
            }
        }
        let within = if between { &met[1..] } else { &met[..] };
        for (at, _, count) in within {
            unended.add(at.clone(), most - count);
        }
        None
    }

    /// Returns a lower bound on the tokens that end the text: as many of the longest one as the
    /// completion has bytes.
    fn fewest_left(&self, at: &Configuration) -> usize {
        let scanner = self.index.scanner();
        // The plan through words that ask about others, or through blocks, costs more than bytes.
        if scanner.asks_about_words() || scanner.indentation().is_some() {
            return 0;
        }
        let mut steps = scanner.bounds().decision_steps;
        let longest = self.index.spelled().spelled.trie().max_depth().max(1) as u64;
        let terminals = scanner.states().dfas().len();
        let components = scanner.states().components(at.state).iter();
        let components = components.filter(|component| component.terminal.index() < terminals);
        let bytes = components.map(|component| {
            let (label, mut least) = (component.terminal, u64::MAX);
            let left = u64::from(scanner.states().distance_of(label, component.state));
            let Configuration { stack, layout, expectations, .. } = at;
            let reads = &mut Reads::none();
            scanner.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, _| {
                least = least.min(scanner.completion_cost(&after.stack, &mut steps).unwrap_or(0));
            });
            least.saturating_add(left)
        });
        let bytes = bytes.min().unwrap_or(0).div_ceil(longest);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }
}
