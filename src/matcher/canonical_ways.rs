//! Ways on for canonical tokens: whether a text can go on after them such that the tokenizer still
//! makes them.
//!
//! A way is looked for in this order:
//!
//! * The text may end here.
//! * One or two characters may follow that cut the tokenizer's piece for good: each sentence from
//!   there on has canonical tokens, if the tokenizer can spell all texts.
//! * The tokenizer makes the same tokens so far when the text goes on with its shortest completion.
//! * One of the tokens that may follow has a way on: the first few are tried, and after these the
//!   tokens that may follow them, breadth first, up to a number of states ([`Effort`]).
//!
//! So masks are never too wide. They are too narrow where only the last question has a way, and its
//! bounds are reached.
//!
//! The tokens of a group lead to one configuration. Where they also lead to the same states of the
//! tokenizer they differ by one thing: which tokens may be their neighbours within a piece. So the
//! answer for all of them is a list of ways, and a token has those of which the first token may
//! follow it.

use super::endings::{CompletionsByLabel, MOST_NODES};
use super::next_tokens::Tokens;
use super::side_state::Notes;
use super::{Matcher, Moment, Progress};
use crate::index::Ranges;
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::util::id::TokenId;
use crate::vocab::trie::Trie;
use crate::vocab::{Begin, Canonical, CanonicalTokens, States};

/// How much is tried for one answer.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Upper bound on the tokens that are tried after a state.
    next: usize,
    /// Upper bound on the states that are tried.
    states: usize,
}

impl Effort {
    /// For a state, or in a small vocabulary.
    const FULL: Self = Self { next: 64, states: 512 };
    /// For each group of a mask. Nearly all are decided before a search: characters that cut are in
    /// most grammars allowed nearly everywhere.
    const LITTLE: Self = Self { next: 16, states: 16 };
    /// For each group of a mask within a budget, where no such character settles a question.
    const NONE: Self = Self { next: 0, states: 0 };

    fn of_masks(matcher: &Matcher, left: Option<usize>) -> Self {
        match matcher.index.spelled().spelled.trie().node_count() > MOST_NODES {
            false => Self::FULL,
            true if left.is_some() => Self::NONE,
            true => Self::LITTLE,
        }
    }
}

/// A way in which a text can go on.
pub(super) struct Way {
    pub(super) tokens: Vec<u32>,
    /// The text after these tokens, if the whole can go on anyhow after it; else it ends.
    pub(super) free: Option<Vec<char>>,
}

impl Way {
    fn end(tokens: Vec<u32>) -> Self {
        Self { tokens, free: None }
    }
}

/// The question whether tokens have a way on.
pub(super) struct Question<'m> {
    matcher: &'m Matcher,
    tables: &'m CanonicalTokens,
    /// Characters that the grammar and the tokenizer tell apart.
    probes: Vec<char>,
    /// The tokens left after these, if their number is limited.
    left: Option<usize>,
    effort: Effort,
}

/// The tokens of one group, and the answers found for them.
pub(super) struct Group {
    at: Moment,
    answers: Vec<(States, Answer)>,
}

/// The answer for the tokens of a group that lead to the same states of the tokenizer.
#[derive(Default)]
struct Answer {
    /// The tokens of a way after each of them.
    open: Option<Vec<u32>>,
    /// The tokens of ways of which the first must be a neighbour.
    joined: Vec<Vec<u32>>,
    /// The searches that were not made yet.
    searches: Searches,
}

/// Searches that can add ways to an answer.
#[derive(Default)]
enum Searches {
    #[default]
    Near,
    Far,
    None,
}

/// A state that was met by a search.
struct Met {
    at: Moment,
    next: Canonical,
    /// The place of the state before it, and the token in between.
    before: Option<(usize, u32)>,
    count: usize,
}

impl<'m> Question<'m> {
    pub(super) fn new(
        matcher: &'m Matcher,
        tables: &'m CanonicalTokens,
        left: Option<usize>,
    ) -> Self {
        let mut probes = Vec::new();
        if left.is_none() && tables.can_spell_all() {
            let classes = matcher.index.scanner().states().classes();
            let mut met = Vec::new();
            for character in (0..0x80u8).map(char::from) {
                let class = (classes.get(character as u8), tables.class(character));
                if !met.contains(&class) {
                    met.push(class);
                    probes.push(character);
                }
            }
        }
        let effort = Effort::of_masks(matcher, left);
        Self { matcher, tables, probes, left, effort }
    }

    /// Returns the same question, for which more is tried.
    pub(super) fn in_full(self) -> Self {
        Self { effort: Effort::FULL, ..self }
    }

    /// Passes the groups of tokens that the scanner can read to `each`, until it returns true.
    /// Returns false if there are too many readings to pass all.
    pub(super) fn each_group(
        &self,
        tokens: Tokens<'_>,
        at: &Moment,
        mut each: impl FnMut(&mut Group, &Ranges) -> bool,
    ) -> bool {
        let (mut are_all, mut stopped) = (true, false);
        for reading in &at.readings {
            are_all &= self.matcher.next_tokens(tokens, reading, |after, _, tokens| {
                let group = self.group(at, after);
                stopped = group.is_some_and(|mut group| each(&mut group, tokens));
                stopped
            });
            if stopped {
                break;
            }
        }
        are_all
    }

    /// Returns a group of tokens, if the text after them is viable.
    fn group(&self, at: &Moment, after: Configuration) -> Option<Group> {
        let is_viable = self.matcher.index.scanner().is_viable(&after, &mut Reads::none());
        let at = Moment {
            readings: [after].into_iter().collect(),
            notes: Notes::default(),
            progress: Progress::Begun,
            tokens: None,
            healing: None,
            ..at.clone()
        };
        is_viable.then(|| Group { at, answers: Vec::new() })
    }

    /// Returns the tokens of a way on after `token`, as far as it took a search to find them.
    pub(super) fn way_after_token(
        &self,
        from: &Moment,
        token: TokenId,
        after: &Moment,
        at: &Canonical,
    ) -> Option<Vec<u32>> {
        if from.healing.is_some() {
            return self.way(after, at).map(|way| way.tokens);
        }
        let spellings: Vec<&[u8]> = self.matcher.index.spelled().spellings(token).collect();
        let trie = Trie::new(spellings.len(), |id| spellings[id as usize]);
        let mut way = None;
        self.each_group(Tokens::Of(&trie), from, |group, _| {
            way = self.way_after(group, token.get(), None, || Some(at.clone()));
            way.is_some()
        });
        way
    }

    /// Returns the same after a token of a group, given the states after it if they are known to
    /// be all that counts.
    pub(super) fn way_after(
        &self,
        group: &mut Group,
        token: u32,
        states: Option<States>,
        next: impl FnOnce() -> Option<Canonical>,
    ) -> Option<Vec<u32>> {
        let states = match states {
            Some(states) => states,
            None => {
                let next = next()?;
                match self.tables.states_of(&next) {
                    Some(states) => states,
                    None => return self.way(&group.at, &next).map(|way| way.tokens),
                }
            }
        };
        let Group { at, answers } = group;
        let known = answers.iter().position(|(known, _)| *known == states);
        let place = known.unwrap_or_else(|| {
            answers.push((states.clone(), self.answer(at, &states)));
            answers.len() - 1
        });
        let answer = &mut answers[place].1;
        loop {
            let follows = |way: &&Vec<u32>| self.tables.are_neighbours(token, way[0]);
            let found = answer.open.as_ref().or_else(|| answer.joined.iter().find(follows));
            if found.is_some() {
                return found.cloned();
            }
            answer.searches = match answer.searches {
                Searches::Near => self.search_near(at, &states, answer),
                Searches::Far => self.search_far(at, &states, answer),
                Searches::None => return None,
            };
        }
    }

    /// Returns the answer that needs no search.
    fn answer(&self, at: &Moment, states: &States) -> Answer {
        let next = Canonical::after_any(states);
        if self.ends(at, &next) || self.free(at, &next).is_some() {
            return Answer { open: Some(Vec::new()), ..Answer::default() };
        }
        let tokens = self.completion(at).and_then(|text| self.tokens_of(&next, &text));
        match tokens.filter(|(tokens, _)| self.left.is_none_or(|left| tokens.len() <= left)) {
            Some((_, Begin::Cut)) => Answer { open: Some(Vec::new()), ..Answer::default() },
            Some((tokens, Begin::Joined)) => Answer { joined: vec![tokens], ..Answer::default() },
            // A budget that no tokens fit is too small for canonical ones.
            None if self.is_too_little(at) => {
                Answer { searches: Searches::None, ..Answer::default() }
            }
            None => Answer::default(),
        }
    }

    /// Whether no tokens are known that end the text within those left.
    fn is_too_little(&self, at: &Moment) -> bool {
        let Some(left) = self.left else { return false };
        let mut completions = CompletionsByLabel::default();
        let mut readings = at.readings.iter();
        !readings
            .any(|reading| self.matcher.ending(reading, false, left, &mut completions).is_some())
    }

    /// Adds the ways that begin with a token after which no search is needed.
    fn search_near(&self, at: &Moment, states: &States, answer: &mut Answer) -> Searches {
        self.search_next(at, states, answer, |after, next, left| self.near_way(after, next, left));
        Searches::Far
    }

    /// Adds the ways that begin with other tokens.
    fn search_far(&self, at: &Moment, states: &States, answer: &mut Answer) -> Searches {
        let mut tries = self.effort.states;
        self.search_next(at, states, answer, |after, next, left| {
            self.search(after, next, left, &mut tries)
        });
        Searches::None
    }

    /// Adds the ways that begin with each token that may follow, and go on with `way`.
    fn search_next(
        &self,
        at: &Moment,
        states: &States,
        answer: &mut Answer,
        mut way: impl FnMut(&Moment, &Canonical, Option<usize>) -> Option<Way>,
    ) {
        let Ok(left) = self.left.map(|left| left.checked_sub(1).ok_or(())).transpose() else {
            return;
        };
        let any = Canonical::after_any(states);
        for token in self.next_of(at, &any) {
            let Some(after) = self.after_plain(at, token) else { continue };
            let mut way_from = |from: &Canonical| {
                let next = self.tables.after(from, token)?;
                Some([&[token], &way(&after, &next, left)?.tokens[..]].concat())
            };
            answer.open = way_from(&any.cut());
            if answer.open.is_some() {
                return;
            }
            answer.joined.extend(way_from(&any));
        }
    }

    /// Whether the text may end here.
    fn ends(&self, at: &Moment, next: &Canonical) -> bool {
        self.tables.may_end(next) && self.matcher.may_end_by_grammar(at)
    }

    /// Returns a text of one or two characters that cuts the text here for good, if one may follow
    /// and the text can then go on anyhow. Two are needed where the tokenizer looks ahead: a blank
    /// and a letter after blanks.
    fn free(&self, at: &Moment, next: &Canonical) -> Option<Vec<char>> {
        let may_follow = |text: &[char]| {
            let text: String = text.iter().collect();
            self.matcher.within_healing(at, text.as_bytes()).is_ok()
        };
        let mut open = Vec::new();
        for &probe in &self.probes {
            match self.tables.settles(next, &[probe]) {
                Some(true) if may_follow(&[probe]) => return Some(vec![probe]),
                Some(false) => open.push(probe),
                _ => {}
            }
        }
        open.retain(|&first| may_follow(&[first]));
        let pairs =
            open.iter().flat_map(|&first| self.probes.iter().map(move |&then| [first, then]));
        let mut settled = pairs.filter(|pair| self.tables.settles(next, pair) == Some(true));
        settled.find(|pair| may_follow(pair)).map(|pair| pair.to_vec())
    }

    /// Returns a short completion of the text, if one is found without a search.
    fn completion(&self, at: &Moment) -> Option<Vec<u8>> {
        let readings = at.readings.iter().enumerate();
        let texts = readings
            .filter_map(|(place, reading)| self.matcher.short_text(reading, at.is_between(place)));
        Some([at.unwritten(), &texts.min_by_key(Vec::len)?].concat())
    }

    /// Returns the tokens of a text that the grammar spells, after which the text ends, and whether
    /// it is still to be tested that the first may be a neighbour of the last one.
    fn tokens_of(&self, from: &Canonical, text: &[u8]) -> Option<(Vec<u32>, Begin)> {
        let spelled = self.matcher.index.spelled();
        let to_mark = |text: &[u8]| {
            let mark = spelled.mark();
            let place = mark.and_then(|mark| text.iter().position(|&byte| byte == mark));
            place.unwrap_or(text.len())
        };
        let (head, mut rest) = text.split_at(to_mark(text));
        let (mut tokens, begin) = self.tables.pieces_after(from, head)?;
        while !rest.is_empty() {
            let (token, length) = spelled.longest(rest)?;
            if self.matcher.vocabulary().bytes(token).is_some() {
                return None;
            }
            tokens.push(token.get());
            let (head, after) = rest[length..].split_at(to_mark(&rest[length..]));
            tokens.extend(self.tables.pieces_after(&self.tables.start(), head)?.0);
            rest = after;
        }
        Some((tokens, begin))
    }

    /// Returns the tokens of a completion that begins with `free`.
    pub(super) fn ending_from(
        &self,
        at: &Moment,
        next: &Canonical,
        free: &[char],
    ) -> Option<Vec<u32>> {
        let mut text = free.iter().collect::<String>().into_bytes();
        let after = self.matcher.within_healing(at, &text).ok()?;
        let now = Moment { tokens: None, ..after };
        let after = Matcher { now, canonical: None, ..self.matcher.clone() };
        text.extend(after.spelled_completion()?);
        self.fitting_tokens(next, &text)
    }

    fn fitting_tokens(&self, from: &Canonical, text: &[u8]) -> Option<Vec<u32>> {
        let (tokens, begin) = self.tokens_of(from, text)?;
        let fits = begin == Begin::Cut || self.tables.follows(from, *tokens.first()?);
        fits.then_some(tokens)
    }

    /// Returns a way on.
    pub(super) fn way(&self, at: &Moment, next: &Canonical) -> Option<Way> {
        let search = || self.search(at, next, self.left, &mut self.effort.states.clone());
        self.near_way(at, next, self.left).or_else(search)
    }

    /// Returns a way on that needs no search.
    fn near_way(&self, at: &Moment, next: &Canonical, left: Option<usize>) -> Option<Way> {
        if self.ends(at, next) {
            return Some(Way::end(Vec::new()));
        }
        if let Some(free) = self.free(at, next) {
            return Some(Way { tokens: Vec::new(), free: Some(free) });
        }
        let tokens = self.fitting_tokens(next, &self.completion(at)?)?;
        left.is_none_or(|left| tokens.len() <= left).then(|| Way::end(tokens))
    }

    /// Searches for a way on after one more token, or several. Each state that is tried takes one
    /// from `tries`.
    fn search(
        &self,
        from: &Moment,
        next: &Canonical,
        left: Option<usize>,
        tries: &mut usize,
    ) -> Option<Way> {
        let start = Met { at: from.clone(), next: next.clone(), before: None, count: 0 };
        let mut met = vec![start];
        for place in 0.. {
            let Met { at, next, count, .. } = met.get(place)?;
            let (at, next, count) = (at.clone(), next.clone(), count + 1);
            let left = match left {
                Some(left) if left < count => return None,
                left => left.map(|left| left - count),
            };
            for token in self.next_of(&at, &next) {
                let Some(next) = self.tables.after(&next, token) else { continue };
                let Some(at) = self.after_plain(&at, token) else { continue };
                if met.iter().any(|known| known.next == next && known.at.is_like(&at)) {
                    continue;
                }
                *tries = tries.checked_sub(1)?;
                let way = self.near_way(&at, &next, left);
                met.push(Met { at, next, before: Some((place, token)), count });
                if let Some(way) = way {
                    let mut tokens: Vec<u32> = way.tokens.into_iter().rev().collect();
                    let back = |&(before, _): &(usize, u32)| met[before].before;
                    let steps = std::iter::successors(met.last()?.before, back);
                    tokens.extend(steps.map(|(_, token)| token));
                    tokens.reverse();
                    return Some(Way { tokens, ..way });
                }
            }
        }
        None
    }

    /// Returns the first tokens that may follow.
    fn next_of(&self, at: &Moment, next: &Canonical) -> Vec<u32> {
        let mut row = vec![0; self.matcher.index.words()];
        self.matcher.fill_plain_row(at, &mut row);
        let words = row.iter().zip(self.tables.followers(next).all).zip(0u32..);
        let ids = words.flat_map(|((&row, all), word)| {
            let bits = row & all;
            (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 32 + bit)
        });
        ids.take(self.effort.next).collect()
    }

    /// Returns the state after a token that does not end the text, by the grammar alone.
    pub(super) fn after_plain(&self, at: &Moment, token: u32) -> Option<Moment> {
        let at = Moment { tokens: None, ..at.clone() };
        match &at.healing {
            None => self.matcher.after_spelled(&at, TokenId(token)).ok(),
            Some(healing) => {
                let plain = Matcher { canonical: None, ..self.matcher.clone() };
                plain.after_healing(&at, healing, TokenId(token)).ok()
            }
        }
    }
}

impl Moment {
    /// Whether both are equal apart from their costs. May return false for equal ones.
    fn is_like(&self, other: &Self) -> bool {
        let mut readings = self.readings.iter().zip(&other.readings);
        self.readings.len() == other.readings.len()
            && self.progress == other.progress
            && self.unwritten() == other.unwritten()
            && readings.all(|(one, other)| one.same(other))
    }
}
