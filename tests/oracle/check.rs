//! The walk: compares the engine's whole mask with the oracle's at every viable text up to a
//! length.
//!
//! If the engine allows a text, it must give a completion, which the oracle judges exactly; if it
//! refuses one, the oracle searches for a completion. So the comparison is exact in both
//! directions.

use super::quoted::show;
use super::viability::{Oracle, Viable};
use super::vocabularies::SmallVocabulary;
use lrmask::{Constraint, Diagnostic, Grammar, Matcher, TokenId, TokenMask, Vocabulary};
use std::collections::{HashMap, HashSet, VecDeque};

/// Number of reported faults after which a walk stops.
const MAX_FAULTS: usize = 8;

/// The extent of a walk.
#[derive(Clone, Debug)]
pub struct Extent {
    pub alphabet: Vec<u8>,
    /// Texts of up to this many bytes are visited.
    pub bytes: usize,
    /// Texts of up to this many tokens are visited as well.
    pub tokens: usize,
    /// Upper bound on the number of visited texts.
    pub texts: usize,
    /// Texts whose prefixes are all visited in addition.
    pub also: Vec<Vec<u8>>,
    /// The number of random texts, and the length in bytes up to which each is extended by random
    /// tokens.
    pub descents: (usize, usize),
    /// Whether the engine must find a completion for every viable text.
    pub completes: bool,
}

/// Results of a walk.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub texts: usize,
    pub bits: usize,
    /// Bits that the oracle cannot verify.
    pub undecided: usize,
    pub faults: Vec<String>,
}

/// Returns the engine for a grammar and a vocabulary, or the findings with which it refuses them.
pub fn build(
    lark: &str,
    vocabulary: &SmallVocabulary,
) -> Result<(Constraint, Vec<Diagnostic>), Vec<Diagnostic>> {
    let grammar = Grammar::from_lark(lark).map_err(|e| e.diagnostics().to_vec())?;
    compile(&grammar, vocabulary)
}

/// Returns the engine for one of the rules that `%start` names.
pub fn build_from(
    lark: &str,
    start: &str,
    vocabulary: &SmallVocabulary,
) -> Result<(Constraint, Vec<Diagnostic>), Vec<Diagnostic>> {
    let grammar = Grammar::from_lark(lark).and_then(|grammar| grammar.with_start(start));
    compile(&grammar.map_err(|e| e.diagnostics().to_vec())?, vocabulary)
}

/// Returns the engine for a grammar that has been read.
pub fn compile(
    grammar: &Grammar,
    vocabulary: &SmallVocabulary,
) -> Result<(Constraint, Vec<Diagnostic>), Vec<Diagnostic>> {
    let constraint = Constraint::new(grammar, &engine_vocabulary(vocabulary));
    let constraint = constraint.map_err(|e| e.diagnostics().to_vec())?;
    let mut warnings = grammar.warnings().to_vec();
    warnings.extend_from_slice(constraint.warnings());
    Ok((constraint, warnings))
}

fn engine_vocabulary(vocabulary: &SmallVocabulary) -> Vocabulary {
    let mut built = Vocabulary::from_tokens(vocabulary.tokens.clone()).unwrap();
    for &id in &vocabulary.special {
        built = built.with_special(id, &format!("<special {id}>")).unwrap();
    }
    built.with_stop_tokens(&vocabulary.stops).unwrap().with_width(vocabulary.width).unwrap()
}

/// Walks and compares.
pub fn walk(
    oracle: &Oracle,
    constraint: &Constraint,
    vocabulary: &SmallVocabulary,
    extent: &Extent,
) -> Outcome {
    let mut walk = Walk {
        oracle,
        constraint,
        loaded: constraint.clone(),
        vocabulary,
        masks: HashMap::new(),
        random: 0x9e37_79b9_7f4a_7c15,
        completes: extent.completes,
        outcome: Outcome::default(),
    };
    walk.run(extent);
    walk.outcome
}

#[derive(Debug)]
struct Walk<'a> {
    oracle: &'a Oracle,
    constraint: &'a Constraint,
    /// The constraint after the last saving and loading.
    loaded: Constraint,
    vocabulary: &'a SmallVocabulary,
    /// The engine's mask at the first visit of each text.
    masks: HashMap<Vec<u8>, Vec<u32>>,
    random: u64,
    completes: bool,
    outcome: Outcome,
}

impl Walk<'_> {
    fn run(&mut self, extent: &Extent) {
        let mut visited = HashSet::new();
        let mut queue = VecDeque::from([(Vec::new(), 0, self.constraint.matcher())]);
        let ending = self.constraint.matcher().shortest_completion();
        let judged = ending.map(|ending| self.oracle.is_completed_by(b"", &ending));
        let completed = judged.is_some_and(|judged| judged != Some(false));
        let untold = self.is_untold(self.oracle.viable(b""));
        if !completed && !self.oracle.is_viable(b"") && !untold {
            self.outcome
                .faults
                .push("the language is empty, and the engine does not say so".to_owned());
            return;
        }
        while let Some((text, tokens, matcher)) = queue.pop_front() {
            if !visited.insert(text.clone()) {
                continue;
            }
            if self.outcome.texts.is_power_of_two() || self.outcome.texts == 0 {
                self.reload();
            }
            let allowed = self.visit(&text, &matcher);
            self.outcome.texts += 1;
            if self.outcome.faults.len() >= MAX_FAULTS || visited.len() >= extent.texts {
                return;
            }
            for (id, &bit) in allowed.iter().enumerate() {
                let Some(bytes) = self.vocabulary.bytes(id) else { continue };
                let longer = [text.as_slice(), bytes].concat();
                let inside = longer.len() <= extent.bytes || tokens < extent.tokens;
                let over_alphabet = bytes.iter().all(|byte| extent.alphabet.contains(byte));
                if bit && inside && over_alphabet && !visited.contains(&longer) {
                    let mut next = matcher.clone();
                    if next.advance(id as u32).is_ok() {
                        queue.push_back((longer, tokens + 1, next));
                    }
                }
            }
        }
        for text in &extent.also {
            let mut matcher = self.constraint.matcher();
            for end in 0..=text.len() {
                if end > 0 && matcher.advance_bytes(&text[end - 1..end]).is_err() {
                    self.fault(&text[..end], "advance_bytes refuses what a person says is viable");
                    return;
                }
                if visited.insert(text[..end].to_vec()) {
                    self.visit(&text[..end], &matcher);
                    self.outcome.texts += 1;
                }
                if self.outcome.faults.len() >= MAX_FAULTS {
                    return;
                }
            }
        }
        let (descents, bytes) = extent.descents;
        for _ in 0..descents {
            self.descend(extent, bytes, &mut visited);
        }
    }

    /// Takes random tokens from the beginning.
    fn descend(&mut self, extent: &Extent, bytes: usize, visited: &mut HashSet<Vec<u8>>) {
        let (mut text, mut matcher) = (Vec::new(), self.constraint.matcher());
        while self.outcome.faults.len() < MAX_FAULTS {
            let mask = filled(self.constraint, &matcher);
            let fits = |id: &usize| {
                let token = self.vocabulary.bytes(*id).filter(|_| mask.contains(*id as u32));
                token.is_some_and(|token| {
                    text.len() + token.len() <= bytes
                        && token.iter().all(|b| extent.alphabet.contains(b))
                })
            };
            let allowed: Vec<usize> = (0..self.vocabulary.width).filter(fits).collect();
            if allowed.is_empty() {
                return;
            }
            let id = allowed[self.pick(allowed.len())];
            text.extend_from_slice(self.vocabulary.bytes(id).unwrap_or_default());
            if matcher.advance(id as u32).is_err() {
                return;
            }
            if visited.insert(text.clone()) {
                self.visit(&text, &matcher);
                self.outcome.texts += 1;
            }
        }
    }

    /// Compares everything at one text; returns the engine's mask.
    fn visit(&mut self, text: &[u8], matcher: &Matcher) -> Vec<bool> {
        let mask = filled(self.constraint, matcher);
        let bits: Vec<bool> =
            (0..self.vocabulary.width).map(|id| mask.contains(id as u32)).collect();
        if self.oracle.viable(text) == Viable::TooMany {
            return bits;
        }
        let Some(is_member) = self.oracle.judge(text) else { return bits };
        self.shape(text, &mask, &bits);
        self.arrive(text, &mask);
        if matcher.is_accepting() != is_member {
            self.fault(text, &format!("is_accepting is {}", !is_member));
        }
        if self.vocabulary.spells_all && !bits.contains(&true) {
            self.fault(text, "dead end: the mask is empty");
        }
        for (id, &bit) in bits.iter().enumerate() {
            self.compare_bit(text, matcher, id, bit, is_member);
        }
        let mut worker = matcher.clone();
        self.every_advance(text, &mut worker, &bits);
        self.expect_mask(text, "after refused and taken-back tokens", &worker, &mask);
        self.wander(text, &mut worker, &bits);
        self.expect_mask(text, "after a random walk and rollback", &worker, &mask);
        self.expect_mask(text, "of the original after work on its clone", matcher, &mask);
        self.bytes_agree(text, &mask);
        self.loaded_agrees(text, matcher, &mask);
        self.completion_and_forced(text, matcher, is_member);
        bits
    }

    /// Compares the words of the mask, including those past the width.
    fn shape(&mut self, text: &[u8], mask: &TokenMask, bits: &[bool]) {
        let width = self.vocabulary.width;
        let mut words = vec![0u32; width.div_ceil(32)];
        for (id, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            words[id / 32] |= 1 << (id % 32);
        }
        if mask.words() != words {
            self.fault(
                text,
                "mask.words() and mask.contains() differ, or bits past the width are set",
            );
        }
        if mask.contains(width as u32) || mask.contains(u32::MAX) {
            self.fault(text, "an id past the width is allowed");
        }
    }

    /// Checks that the mask does not depend on the tokens that led to the text.
    fn arrive(&mut self, text: &[u8], mask: &TokenMask) {
        match self.masks.get(text) {
            None => {
                self.masks.insert(text.to_vec(), mask.words().to_vec());
            }
            Some(first) if first == mask.words() => {}
            Some(_) => self.fault(text, "two ways to the same text have different masks"),
        }
    }

    fn compare_bit(
        &mut self,
        text: &[u8],
        matcher: &Matcher,
        id: usize,
        bit: bool,
        is_member: bool,
    ) {
        self.outcome.bits += 1;
        if self.vocabulary.is_stop(id) {
            if bit != is_member {
                self.fault(text, &format!("stop token {id}: the bit is {bit}"));
            }
            return;
        }
        let Some(bytes) = self.vocabulary.bytes(id) else {
            if bit {
                self.fault(text, &format!("id {id} has no bytes, and is allowed"));
            }
            return;
        };
        let longer = [text, bytes].concat();
        let viable = self.oracle.viable(&longer);
        match (bit, viable) {
            (true, Viable::Yes) | (false, Viable::No) => {}
            (false, Viable::Yes) => {
                let message =
                    format!("too narrow: {} is forbidden, but viable (id {id})", show(bytes));
                self.fault(text, &message);
            }
            (_, Viable::TooMany) | (false, Viable::Unknown) => self.outcome.undecided += 1,
            (true, _) => {
                let mut next = matcher.clone();
                let taken = next.advance(id as u32).is_ok();
                let ending = next.shortest_completion().filter(|_| taken);
                let judged =
                    ending.as_ref().map(|ending| self.oracle.is_completed_by(&longer, ending));
                match judged {
                    Some(Some(true)) => return,
                    Some(None) => return self.outcome.undecided += 1,
                    None if taken && self.is_untold(viable) => {
                        return self.outcome.undecided += 1;
                    }
                    _ => {}
                }
                let shown = ending.map_or("nothing".to_owned(), |ending| show(&ending));
                let why = format!("to be completed by {shown}; the search says {viable:?}");
                self.fault(text, &format!("too wide: {} is allowed (id {id}), {why}", show(bytes)));
            }
        }
    }

    /// Whether neither side can be expected to decide: the oracle's search has reached its limit,
    /// and the engine may lack a completion. It may always lack one with significant lines, because
    /// widths are unbounded.
    fn is_untold(&self, viable: Viable) -> bool {
        let may_lack = !self.completes || self.oracle.language.spec().indentation.is_some();
        viable == Viable::Unknown && may_lack
    }

    /// Compares `advance` and `allows` with the bit, for every id.
    fn every_advance(&mut self, text: &[u8], matcher: &mut Matcher, bits: &[bool]) {
        let steps = matcher.steps();
        for id in 0..bits.len() + 2 {
            let bit = bits.get(id).copied().unwrap_or(false);
            if matcher.allows(id as u32) != bit {
                self.fault(text, &format!("allows({id}) is not the bit, {bit}"));
            }
            if matcher.validate([id as u32]) != usize::from(bit) {
                self.fault(text, &format!("validate([{id}]) is not the bit, {bit}"));
            }
            let taken = matcher.advance(id as u32).is_ok();
            if taken != bit {
                self.fault(text, &format!("advance({id}) succeeds: {taken}; the bit: {bit}"));
            }
            if !taken {
                continue;
            }
            if self.vocabulary.is_stop(id) {
                self.only_stops(text, matcher);
            } else if let Some(bytes) = self.vocabulary.bytes(id) {
                let longer = [text, bytes].concat();
                let mask = filled(self.constraint, matcher);
                self.arrive(&longer, &mask);
            }
            if matcher.rollback(1) != 1 || matcher.steps() != steps {
                self.fault(text, "rollback(1) does not take back one step");
            }
        }
    }

    fn only_stops(&mut self, text: &[u8], matcher: &mut Matcher) {
        if !matcher.is_finished() {
            self.fault(text, "is_finished is false after a stop token");
        }
        let mask = filled(self.constraint, matcher);
        for id in 0..self.vocabulary.width {
            let stop = self.vocabulary.is_stop(id);
            if mask.contains(id as u32) != stop || matcher.allows(id as u32) != stop {
                self.fault(text, &format!("after a stop token, id {id} is allowed: {}", !stop));
            }
            let taken = matcher.advance(id as u32).is_ok();
            if taken != stop {
                self.fault(text, &format!("after a stop token, advance({id}) succeeds: {taken}"));
            }
            if taken {
                matcher.rollback(1);
            }
        }
        if matcher.advance_bytes(b"x").is_ok() {
            self.fault(text, "bytes are taken after a stop token");
            matcher.rollback(1);
        }
    }

    /// Takes some random allowed tokens, and rolls them back at once.
    fn wander(&mut self, text: &[u8], matcher: &mut Matcher, bits: &[bool]) {
        let mut bits = bits.to_vec();
        let mut taken = Vec::new();
        for _ in 0..1 + self.pick(4) {
            let allowed: Vec<usize> = (0..bits.len()).filter(|&id| bits[id]).collect();
            if allowed.is_empty() {
                break;
            }
            let id = allowed[self.pick(allowed.len())];
            if matcher.advance(id as u32).is_err() {
                self.fault(text, &format!("a random walk: {id} is allowed, but refused"));
                break;
            }
            taken.push(TokenId::from(id as u32));
            let mask = filled(self.constraint, matcher);
            bits = (0..bits.len()).map(|id| mask.contains(id as u32)).collect();
        }
        let last = filled(self.constraint, matcher);
        matcher.rollback(taken.len());
        if matcher.validate(&taken) != taken.len() {
            self.fault(text, "validate does not accept what was just taken");
        }
        for &id in &taken {
            if matcher.advance(id).is_err() {
                self.fault(text, "what was taken once is refused after rollback");
                return;
            }
        }
        self.expect_mask(text, "after taking the same tokens again", matcher, &last);
        matcher.rollback(taken.len());
    }

    /// Reads the same text as bytes: one by one, at once, and split at a random place.
    fn bytes_agree(&mut self, text: &[u8], mask: &TokenMask) {
        let cut = self.pick(text.len() + 1);
        let single: Vec<&[u8]> = text.chunks(1).collect();
        for pieces in [single, vec![text], vec![&text[..cut], &text[cut..]]] {
            let mut matcher = self.constraint.matcher();
            for piece in &pieces {
                if matcher.advance_bytes(piece).is_err() {
                    self.fault(text, "advance_bytes refuses a viable text");
                    return;
                }
            }
            self.expect_mask(text, "after the same text as bytes", &matcher, mask);
            matcher.reset();
            let start = filled(self.constraint, &self.constraint.matcher());
            self.expect_mask(b"", "after reset", &matcher, &start);
        }
    }

    /// Saves the constraint and loads it.
    fn reload(&mut self) {
        let saved = self.constraint.save();
        match Constraint::load(&saved, self.constraint.vocabulary()) {
            Ok(loaded) => self.loaded = loaded,
            Err(error) => self.fault(b"", &format!("what was saved is not loaded: {error}")),
        }
        if self.loaded.save() != saved {
            self.fault(b"", "what was loaded is not saved as it was");
        }
    }

    /// Checks that the loaded constraint gives the same results.
    fn loaded_agrees(&mut self, text: &[u8], matcher: &Matcher, mask: &TokenMask) {
        let mut other = self.loaded.matcher();
        if other.advance_bytes(text).is_err() {
            self.fault(text, "refused after loading");
            return;
        }
        self.expect_mask(text, "after loading", &other, mask);
        if other.is_accepting() != matcher.is_accepting() || other.expected() != matcher.expected()
        {
            self.fault(text, "is_accepting or expected differ after loading");
        }
        for id in 0..self.vocabulary.width as u32 {
            let mut one = other.clone();
            if one.advance(id).is_ok() != mask.contains(id) {
                self.fault(text, &format!("after loading, advance({id}) is not the bit"));
            }
        }
    }

    fn completion_and_forced(&mut self, text: &[u8], matcher: &Matcher, is_member: bool) {
        match matcher.shortest_completion() {
            Some(end) => {
                let whole = [text, &end].concat();
                if self.oracle.judge(&whole) == Some(false) {
                    let message = format!("the completion {} is not a member", show(&whole));
                    self.fault(text, &message);
                }
                if is_member && !end.is_empty() {
                    self.fault(text, "a member's shortest completion is not empty");
                }
            }
            None if self.completes => self.fault(text, "no completion of a viable text"),
            None => {}
        }
        let forced = matcher.forced_bytes();
        if self.vocabulary.name != "bytes" {
            return;
        }
        let viable: Vec<u8> =
            (0..=255u8).filter(|&byte| self.oracle.is_viable(&[text, &[byte]].concat())).collect();
        let expected =
            if let ([only], false) = (viable.as_slice(), is_member) { Some(only) } else { None };
        if forced.first() != expected {
            self.fault(text, &format!("forced_bytes is {}", show(&forced)));
        }
        if !self.oracle.is_viable(&[text, &forced].concat()) {
            self.fault(text, &format!("forced_bytes {} is not viable", show(&forced)));
        }
    }

    fn expect_mask(&mut self, text: &[u8], when: &str, matcher: &Matcher, expected: &TokenMask) {
        if filled(self.constraint, matcher).words() != expected.words() {
            self.fault(text, &format!("a different mask {when}"));
        }
    }

    fn fault(&mut self, text: &[u8], message: &str) {
        if self.outcome.faults.len() < MAX_FAULTS {
            self.outcome.faults.push(format!(
                "[{}] after {}: {message}",
                self.vocabulary.name,
                show(text)
            ));
        }
    }

    fn pick(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % below as u64) as usize
    }
}

fn filled(constraint: &Constraint, matcher: &Matcher) -> TokenMask {
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    mask
}
