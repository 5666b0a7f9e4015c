//! What the rules of a text derived: captures, and the temperature that the author of the grammar
//! asks for.
//!
//! Masks need no tree, so none is kept. Where the grammar marks rules, a matcher keeps what each
//! step took. When it is asked, the text is read once more, each reading with the lexemes that have
//! ended, and the lexemes of the first reading are parsed.

use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Matcher, Progress};
use crate::lr::earley::{Ahead, Derived};
use crate::scanner::configuration::Configuration;
use crate::scanner::{Mark, Marks, Reads};
use crate::util::bitset::BitSet;
use crate::util::id::{NonterminalId, TerminalId, TokenId};

/// What one step took.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Token(TokenId),
    Bytes(Box<[u8]>),
}

/// A part of the text that a rule derived, and that the grammar names: `rule[capture]`.
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary};
///
/// let grammar = Grammar::from_lark("start: \"<\" name \">\"\nname[capture]: /[a-z]+/")?;
/// let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte]))?;
/// let mut matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
/// matcher.advance_bytes(b"<ab>")?;
/// let captures = matcher.captures();
/// assert_eq!((captures[0].name(), captures[0].bytes(), captures[0].span()), ("name", &b"ab"[..], 1..3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    name: String,
    bytes: Vec<u8>,
    start: usize,
}

impl Capture {
    /// The name that the grammar gives it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its bytes. A special token stands in them by its name.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Where they stand in the text, special tokens counted as their names.
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

/// A way to read the text so far, with the lexemes that have ended.
#[derive(Clone)]
struct Reading {
    at: Configuration,
    ended: Option<Arc<Ended>>,
    /// Where the lexeme in progress began, or will.
    start: usize,
    /// How many tokens have ended in it.
    tokens: u32,
    /// Whether no byte of it has come.
    between: bool,
}

/// A lexeme that has ended, and those before it.
struct Ended {
    lexeme: Lexeme,
    earlier: Option<Arc<Ended>>,
}

#[derive(Clone)]
struct Lexeme {
    label: TerminalId,
    start: usize,
    end: usize,
}

impl Drop for Ended {
    /// In a loop: the derived drop would recurse once a lexeme.
    fn drop(&mut self) {
        let mut earlier = self.earlier.take();
        while let Some(ended) = earlier {
            earlier = Arc::into_inner(ended).and_then(|mut ended| ended.earlier.take());
        }
    }
}

/// The text as it was read, lexeme by lexeme.
struct Read {
    text: Vec<u8>,
    /// Where the text of each step ends.
    steps: Vec<usize>,
    lexemes: Vec<Lexeme>,
    /// Where the lexeme in progress began, if there is one.
    in_progress: Option<usize>,
    derived: Derived,
}

/// The nonterminals that go on, innermost first.
type Open = Vec<(NonterminalId, usize)>;

impl Matcher {
    /// Notes what a step takes, if anybody wants to know.
    pub(super) fn note(&mut self, said: impl FnOnce() -> Said) {
        if self.index.marks().is_some() {
            self.said.push(said());
        }
    }

    /// What the rules that the grammar captures have derived: each rule that is complete, in the
    /// order in which they end, inner ones first. The lexeme in progress has ended where the text
    /// is a sentence, or where it cannot go on. Where the text can be read in several ways, the
    /// first is taken.
    ///
    /// Costs the whole text, which is read once more, and the square of its lexemes where rules are
    /// right recursive. Empty for a grammar that captures nothing, under `%indent`, and where the
    /// derivation takes more than four million items.
    pub fn captures(&self) -> Vec<Capture> {
        let Some((marks, read)) =
            self.index.marks().and_then(|marks| Some((marks, self.read(marks)?)))
        else {
            return Vec::new();
        };
        let mut captures = Vec::new();
        for &(rule, first, last) in &read.derived.parts {
            if let Some(mark) = marks.get(rule) {
                let start = match first.checked_sub(1).filter(|_| first == last) {
                    Some(before) => read.lexemes[before].end,
                    None => read.lexemes.get(first).map_or(0, |lexeme| lexeme.start),
                };
                let end = last.checked_sub(1).map_or(0, |last| read.lexemes[last].end).max(start);
                capture(mark, &read.text, start..end, &mut captures);
            }
        }
        captures
    }

    /// The temperature at which the next token should be drawn, where a rule that the text stands
    /// in says so (`rule[temperature=0.7]`): the innermost such rule; the highest, where several
    /// may go on. The grammar's masks do not depend on it. Costs what [`Matcher::captures`] costs.
    pub fn temperature(&self) -> Option<f32> {
        let marks = self.index.marks()?;
        let read = self.read_on(marks)?;
        let of = |open: &Open| open.iter().find_map(|&(rule, _)| marks.get(rule)?.temperature);
        read.derived.open.iter().filter_map(of).max_by(f32::total_cmp)
    }

    /// How many tokens more the rule should take in which the text stands, where a rule says how
    /// many it takes at most (`rule[max_tokens=10]`): the least of such rules around, and the
    /// greatest where several may go on. A token counts for a rule when it ends within the rule's
    /// text; bytes that were advanced by at once count as one.
    ///
    /// Masks hold rules that are one lexeme to it: behind the last of its tokens the rule has
    /// ended. Others may go beyond, with a warning (`unheld-max-tokens`); there 0 says that the
    /// caller should end the rule. Costs what [`Matcher::captures`] costs.
    pub fn remaining_tokens(&self) -> Option<usize> {
        let marks = self.index.marks()?;
        let read = self.read_on(marks)?;
        let left = |&(rule, first): &(NonterminalId, usize)| {
            let most = marks.get(rule)?.max_tokens?;
            let start = match (read.lexemes.get(first), read.in_progress) {
                (Some(lexeme), _) => lexeme.start,
                (None, Some(start)) => start,
                (None, None) => return Some(most),
            };
            let taken = read.steps.iter().filter(|&&end| end > start).count();
            Some(most.saturating_sub(taken))
        };
        let of = |open: &Open| open.iter().filter_map(left).min();
        read.derived.open.iter().filter_map(of).max()
    }

    /// The first reading of the text, as a sentence if it is one.
    fn read(&self, marks: &Marks) -> Option<Read> {
        if !self.is_accepting() {
            return self.read_on(marks);
        }
        let scanner = self.index.scanner();
        let (text, steps, readings) = self.readings()?;
        let is_whole = |reading: &&Reading| match reading.between {
            true => scanner.is_complete_between(&reading.at, &mut Reads::none()),
            false => scanner.is_complete(&reading.at, &mut Reads::none()),
        };
        let reading = readings.iter().find(is_whole)?;
        let mut lexemes = lexemes(reading);
        let label = scanner.states().label(reading.at.state).filter(|_| !reading.between);
        lexemes.extend(label.map(|label| Lexeme { label, start: reading.start, end: text.len() }));
        self.derive(marks, (text, steps), lexemes, None, &Ahead::End)
    }

    /// The first reading of the text as a beginning.
    fn read_on(&self, marks: &Marks) -> Option<Read> {
        let (text, steps, readings) = self.readings()?;
        let reading = readings.first()?;
        let (states, lexis) = (self.index.scanner().states(), self.index.scanner().lexis());
        let mut lexemes = lexemes(reading);
        let label =
            states.label(reading.at.state).filter(|_| states.moves(reading.at.state).is_empty());
        if let Some(label) = label.filter(|_| !reading.between) {
            lexemes.push(Lexeme { label, start: reading.start, end: text.len() });
            return self.derive(marks, (text, steps), lexemes, None, &Ahead::Any);
        }
        let mut ahead = BitSet::new(states.dfas().len() + 1);
        for label in states.label_set(states.reach(reading.at.state)).iter() {
            for terminal in lexis.all_readings(TerminalId::new(label)) {
                ahead.insert(terminal.index());
            }
        }
        let is_ignored = |label: &usize| lexis.is_ignored(TerminalId::new(*label));
        // Behind what is ignored anything may come.
        let ahead = if ahead.iter().all(|label| is_ignored(&label)) {
            Ahead::Any
        } else {
            Ahead::Among(ahead)
        };
        let in_progress = (!reading.between).then_some(reading.start);
        self.derive(marks, (text, steps), lexemes, in_progress, &ahead)
    }

    /// The lexemes that count, and what derives them.
    fn derive(
        &self,
        marks: &Marks,
        (text, steps): (Vec<u8>, Vec<usize>),
        mut lexemes: Vec<Lexeme>,
        in_progress: Option<usize>,
        ahead: &Ahead,
    ) -> Option<Read> {
        let lexis = self.index.scanner().lexis();
        lexemes.retain(|lexeme| !lexis.is_ignored(lexeme.label));
        let terminals: Vec<SmallVec<[TerminalId; 2]>> =
            lexemes.iter().map(|lexeme| lexis.all_readings(lexeme.label)).collect();
        let derived = marks.derivations.derive(&terminals, ahead)?;
        Some(Read { text, steps, lexemes, in_progress, derived })
    }

    /// The text, special tokens by name, where each step ends in it, and all ways to read it;
    /// `None` when there is none that is kept.
    fn readings(&self) -> Option<(Vec<u8>, Vec<usize>, Vec<Reading>)> {
        let scanner = self.index.scanner();
        let vocabulary = self.index.spelled();
        let (mut text, mut steps) = (Vec::new(), Vec::new());
        let initial = scanner.initial().into_iter();
        let begin = |at| Reading { at, ended: None, start: 0, tokens: 0, between: true };
        let mut readings: Vec<Reading> = initial.map(begin).collect();
        let mut said: Vec<&Said> = self.said.iter().collect();
        said.reverse();
        if self.now.progress == Progress::Finished {
            // The stop token is no part of the text.
            said.pop();
        }
        for said in said {
            let mut next = Vec::new();
            match said {
                Said::Bytes(bytes) => {
                    self.follow(&readings, bytes, text.len(), &mut next);
                    text.extend_from_slice(bytes);
                }
                Said::Token(token) => {
                    for spelling in vocabulary.spellings(*token) {
                        self.follow(&readings, spelling, text.len(), &mut next);
                    }
                    let name = || vocabulary.plain.special(*token).map(str::as_bytes);
                    text.extend_from_slice(
                        vocabulary.plain.bytes(*token).or_else(name).unwrap_or_default(),
                    );
                }
            }
            let taken = text.len() > steps.last().copied().unwrap_or(0);
            steps.push(text.len());
            readings =
                if taken && self.has_notes() { self.end_step(&next, text.len()) } else { next };
            readings.truncate(scanner.bounds().readings);
        }
        (!readings.is_empty()).then_some((text, steps, readings))
    }

    /// Reads `bytes`, which stand at `offset`, in each of these ways.
    fn follow(&self, from: &[Reading], bytes: &[u8], offset: usize, to: &mut Vec<Reading>) {
        let scanner = self.index.scanner();
        let is_text = self.index.spelled().mark() != bytes.first().copied();
        let mut readings = from.to_vec();
        for (count, &byte) in bytes.iter().enumerate() {
            let place = offset + if is_text { count } else { 0 };
            let mut next: Vec<Reading> = Vec::new();
            for reading in &readings {
                scanner.step_over(&reading.at, byte, &mut Reads::none(), |at, label| {
                    let tokens = if label.is_some() { 0 } else { reading.tokens };
                    if next.iter().any(|known| known.is_alike(&at, tokens))
                        || !scanner.is_viable(&at, &mut Reads::none())
                    {
                        return;
                    }
                    next.push(match label {
                        None => Reading { at, between: false, ..reading.clone() },
                        Some(label) => {
                            let lexeme = Lexeme { label, start: reading.start, end: place };
                            let ended =
                                Some(Arc::new(Ended { lexeme, earlier: reading.ended.clone() }));
                            Reading { at, ended, start: place, tokens, between: false }
                        }
                    });
                });
            }
            readings = next;
        }
        for reading in readings {
            if !to.iter().any(|known| known.is_alike(&reading.at, reading.tokens)) {
                to.push(reading);
            }
        }
    }

    /// What holds at the end of a token, which stands before `place`.
    fn end_step(&self, readings: &[Reading], place: usize) -> Vec<Reading> {
        let mut ended: Vec<Reading> = Vec::new();
        for reading in readings {
            let tokens = reading.tokens + 1;
            for (at, cut) in self.index.scanner().settle(&reading.at, tokens) {
                let next = match cut {
                    None => Reading { at, tokens, ..reading.clone() },
                    Some(label) => {
                        let lexeme = Lexeme { label, start: reading.start, end: place };
                        let ended =
                            Some(Arc::new(Ended { lexeme, earlier: reading.ended.clone() }));
                        Reading { at, ended, start: place, tokens: 0, between: true }
                    }
                };
                if !ended.iter().any(|known| {
                    known.is_alike(&next.at, next.tokens) && known.between == next.between
                }) {
                    ended.push(next);
                }
            }
        }
        ended
    }
}

impl Reading {
    /// Whether it goes on as the other does.
    fn is_alike(&self, at: &Configuration, tokens: u32) -> bool {
        self.tokens == tokens && self.at.same(at)
    }
}

/// The lexemes that have ended.
fn lexemes(reading: &Reading) -> Vec<Lexeme> {
    let ended = std::iter::successors(reading.ended.as_deref(), |ended| ended.earlier.as_deref());
    let mut lexemes: Vec<Lexeme> = ended.map(|ended| ended.lexeme.clone()).collect();
    lexemes.reverse();
    lexemes
}

/// Adds what is captured of the text that a rule derived.
fn capture(mark: &Mark, text: &[u8], span: Range<usize>, captures: &mut Vec<Capture>) {
    let mut add = |name: &str, span: Range<usize>| {
        captures.push(Capture {
            name: name.to_owned(),
            bytes: text[span.clone()].to_vec(),
            start: span.start,
        });
    };
    let mut own = span.clone();
    if let Some(suffix) = &mark.suffix {
        own.end = span.start + suffix.split(&text[span.clone()]);
        if let Some((name, length)) = &suffix.capture {
            add(name, own.end..length.map_or(span.end, |length| (own.end + length).min(span.end)));
        }
    }
    if let Some(name) = &mark.capture {
        add(name, own);
    }
}
