//! Text derived by marked rules: captures, and the sampling temperature that the grammar asks for.
//!
//! Masks need no parse tree, so none is built. If the grammar marks rules, the matcher records the
//! input of each step. On request it reads the text again, tracks the completed lexemes of each
//! reading, and parses the lexemes of the first reading.

use std::ops::Range;

use smallvec::SmallVec;

use super::lexed::{Lexeme, Reading};
use super::{Matcher, Progress};
use crate::lr::earley::{Ahead, Derived};
use crate::scanner::{Mark, Marks, Reads};
use crate::util::bitset::BitSet;
use crate::util::id::{NonterminalId, TerminalId, TokenId};

/// Input of one step.
#[derive(Clone, Debug)]
pub(super) enum Input {
    Token(TokenId),
    Bytes(Box<[u8]>),
}

/// A part of the text that was derived by a rule marked in the grammar: `rule[capture]`.
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
    /// Returns the name of the capture in the grammar.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the captured bytes. A special token is represented by its name.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the range of these bytes in the text, where special tokens count as their names.
    pub fn span(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

/// The text of one reading, split into lexemes.
struct LexedText {
    text: Vec<u8>,
    /// End of each step in the text.
    steps: Vec<usize>,
    lexemes: Vec<Lexeme>,
    /// Start of the lexeme in progress, if there is one.
    in_progress: Option<usize>,
    derived: Derived,
}

/// The nonterminals that are not complete, innermost first.
type Open = Vec<(NonterminalId, usize)>;

impl Matcher {
    /// Records the input of a step, if the grammar marks rules.
    pub(super) fn note(&mut self, said: impl FnOnce() -> Input) {
        if self.index.marks().is_some() {
            self.inputs.push(said());
        }
    }

    /// Returns the captures of all complete rules that the grammar marks, in the order in which
    /// they end, inner ones first. The lexeme in progress counts as ended if the text is a
    /// sentence, or if the lexeme cannot be extended. If the text has several readings, the first
    /// one is used.
    ///
    /// Reads the whole text again; the cost is quadratic in the number of lexemes for
    /// right-recursive rules. Empty for a grammar without captures, under `%indent`, and if the
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

    /// Returns the temperature at which the next token should be drawn, if a rule around the end of
    /// the text sets one (`rule[temperature=0.7]`). The innermost such rule counts; if several
    /// derivations are possible, the highest temperature. Masks do not depend on it. Costs as much
    /// as [`Matcher::captures`].
    pub fn temperature(&self) -> Option<f32> {
        let marks = self.index.marks()?;
        let read = self.read_on(marks)?;
        let of = |open: &Open| open.iter().find_map(|&(rule, _)| marks.get(rule)?.temperature);
        read.derived.open.iter().filter_map(of).max_by(f32::total_cmp)
    }

    /// Returns how many more tokens the current rule should take, if a rule around the end of the
    /// text has a limit (`rule[max_tokens=10]`). The smallest value of the enclosing rules counts;
    /// if several derivations are possible, the greatest. A token counts for a rule if it ends
    /// within the rule's text; the bytes of one [`Matcher::advance_bytes`] call count as one token.
    ///
    /// Masks enforce the limit for rules that are one lexeme: the rule ends after its last allowed
    /// token. Other rules may exceed it, with a warning (`unheld-max-tokens`); for them, 0 tells
    /// the caller to end the rule. Costs as much as [`Matcher::captures`].
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

    /// Returns the first reading of the text: as a sentence if it is one, as a prefix otherwise.
    fn read(&self, marks: &Marks) -> Option<LexedText> {
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
        let mut lexemes = reading.lexemes_from(0);
        let label = scanner.states().label(reading.at.state).filter(|_| !reading.between);
        lexemes.extend(label.map(|label| reading.last_lexeme(label, text.len())));
        self.derive(marks, (text, steps), lexemes, None, &Ahead::End)
    }

    /// Returns the first reading of the text as a prefix.
    fn read_on(&self, marks: &Marks) -> Option<LexedText> {
        let (text, steps, readings) = self.readings()?;
        let reading = readings.first()?;
        let (states, lexis) = (self.index.scanner().states(), self.index.scanner().lexis());
        let mut lexemes = reading.lexemes_from(0);
        let label =
            states.label(reading.at.state).filter(|_| states.moves(reading.at.state).is_empty());
        if let Some(label) = label.filter(|_| !reading.between) {
            lexemes.push(reading.last_lexeme(label, text.len()));
            return self.derive(marks, (text, steps), lexemes, None, &Ahead::Any);
        }
        let mut ahead = BitSet::new(states.dfas().len() + 1);
        for label in states.label_set(states.reach(reading.at.state)).iter() {
            for terminal in lexis.all_readings(TerminalId::new(label)) {
                ahead.insert(terminal.index());
            }
        }
        let is_ignored = |label: &usize| lexis.is_ignored(TerminalId::new(*label));
        // Any terminal may follow an ignored lexeme.
        let ahead = if ahead.iter().all(|label| is_ignored(&label)) {
            Ahead::Any
        } else {
            Ahead::Among(ahead)
        };
        let in_progress = (!reading.between).then_some(reading.start);
        self.derive(marks, (text, steps), lexemes, in_progress, &ahead)
    }

    /// Derives the lexemes that are not ignored.
    fn derive(
        &self,
        marks: &Marks,
        (text, steps): (Vec<u8>, Vec<usize>),
        mut lexemes: Vec<Lexeme>,
        in_progress: Option<usize>,
        ahead: &Ahead,
    ) -> Option<LexedText> {
        let lexis = self.index.scanner().lexis();
        lexemes.retain(|lexeme| !lexis.is_ignored(lexeme.label));
        let terminals: Vec<SmallVec<[TerminalId; 2]>> =
            lexemes.iter().map(|lexeme| lexis.all_readings(lexeme.label)).collect();
        let derived = marks.derivations.derive(&terminals, ahead)?;
        Some(LexedText { text, steps, lexemes, in_progress, derived })
    }

    /// Returns the text (special tokens by name), the end of each step in it, and all its readings;
    /// `None` if no reading is left.
    fn readings(&self) -> Option<(Vec<u8>, Vec<usize>, Vec<Reading>)> {
        let scanner = self.index.scanner();
        let vocabulary = self.index.spelled();
        let (mut text, mut steps) = (Vec::new(), Vec::new());
        let mut readings = Reading::initial(&self.index);
        let mut said: Vec<&Input> = self.inputs.iter().collect();
        said.reverse();
        if self.now.progress == Progress::Finished {
            // The stop token is not part of the text.
            said.pop();
        }
        for said in said {
            let mut next = Vec::new();
            match said {
                Input::Bytes(bytes) => {
                    Reading::follow(&readings, bytes, text.len(), &mut next, &self.index);
                    text.extend_from_slice(bytes);
                }
                Input::Token(token) => {
                    for spelling in vocabulary.spellings(*token) {
                        Reading::follow(&readings, spelling, text.len(), &mut next, &self.index);
                    }
                    let name = || vocabulary.plain.special(*token).map(str::as_bytes);
                    text.extend_from_slice(
                        vocabulary.plain.bytes(*token).or_else(name).unwrap_or_default(),
                    );
                }
            }
            let taken = text.len() > steps.last().copied().unwrap_or(0);
            steps.push(text.len());
            readings = match taken && self.has_notes() {
                true => Reading::end_step(&next, text.len(), &self.index),
                false => next,
            };
            readings.truncate(scanner.bounds().readings);
        }
        (!readings.is_empty()).then_some((text, steps, readings))
    }
}

/// Adds the captures for the text of one rule.
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
