//! Terminals that may come next, in the terms of the grammar: for error messages, not for
//! generation.

use std::fmt;

use hashbrown::HashSet;

use super::{Matcher, Moment, Progress};
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::Between;
use crate::scanner::{Distinct, Reads};
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// Something that may come next, named as in the grammar.
///
/// Displayed as in messages: `"if"`, `NAME`, `end of text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected<'g> {
    /// A literal, in quotes as in the grammar.
    Literal(&'g str),
    /// One character of a class, as in the grammar: `/[a-z]/`.
    Character(&'g str),
    /// A terminal, by its name, or by its pattern if it has no name.
    Terminal(&'g str),
    /// The end of the text.
    End,
}

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) | Self::Terminal(text) => f.write_str(text),
            Self::Character(class) => write!(f, "a character of {class}"),
            Self::End => f.write_str("end of text"),
        }
    }
}

impl<'g> Expected<'g> {
    /// Classifies the name of a terminal.
    fn named(name: &'g str) -> Self {
        let class = name.strip_prefix('/').and_then(|name| name.strip_suffix('/')).unwrap_or(name);
        if is_enclosed(name, '"', '"') {
            Self::Literal(name)
        } else if is_enclosed(class, '[', ']') {
            Self::Character(name)
        } else {
            Self::Terminal(name)
        }
    }
}

/// Whether the text is a single string or class: its first unescaped closing character is its last
/// character.
fn is_enclosed(text: &str, open: char, close: char) -> bool {
    let Some(inner) = text.strip_prefix(open) else { return false };
    let mut is_escaped = false;
    let end = inner.char_indices().find(|&(_, character)| {
        let ends = character == close && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    end.is_some_and(|(at, _)| at + close.len_utf8() == inner.len())
}

/// Progress of a reading within a lexeme.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lexeme {
    None,
    Begun,
    /// The lexeme so far repeats an item of its list and must become another one.
    Repeated,
}

impl Matcher {
    /// Returns the terminals that may come next, in the order of the grammar: literals in quotes,
    /// others by name, and the end of the text. Includes a terminal whose lexeme has begun and
    /// cannot end yet, but not one that could go on or end. Ignored terminals are included only if
    /// one has begun and nothing else may come. After a stop token: only the end. Bytes that are
    /// [unwritten](Matcher::unwritten) count as written.
    ///
    /// Costs the number of terminals times the number of readings of the text so far.
    pub fn expected(&self) -> Vec<Expected<'_>> {
        self.expected_at(&self.now)
    }

    /// Returns the same for another state.
    pub(super) fn expected_at(&self, from: &Moment) -> Vec<Expected<'_>> {
        let table = self.index.scanner().table();
        let end = table.end().index();
        let mut next = BitSet::new(end + 1);
        let mut ignored = BitSet::new(end + 1);
        if from.progress == Progress::Finished {
            next.insert(end);
        } else {
            for (place, at) in from.readings.iter().enumerate() {
                let is_repeated =
                    from.notes.get(place).is_some_and(|note| note.items.repeats_one());
                let progress = match (from.is_between(place), is_repeated) {
                    (true, _) => Lexeme::None,
                    (false, false) => Lexeme::Begun,
                    (false, true) => Lexeme::Repeated,
                };
                self.expect(at, progress, &mut next, &mut ignored);
            }
            self.keep_what_goes_on(from, &mut next);
        }
        let next = if next.is_empty() { ignored } else { next };
        // Terminals that were split from one terminal share its name.
        let mut named = HashSet::new();
        next.iter()
            .filter(|&terminal| !self.index.scanner().is_cut(TerminalId::new(terminal)))
            .map(|terminal| match table.terminal_name(TerminalId::new(terminal)) {
                _ if terminal == end => Expected::End,
                name => Expected::named(name),
            })
            .filter(|&expected| named.insert(expected))
            .collect()
    }

    /// Removes terminals that no allowed byte begins or continues. Configurations do not know the
    /// items of lists of distinct items.
    fn keep_what_goes_on(&self, from: &Moment, next: &mut BitSet) {
        let scanner = self.index.scanner();
        if !scanner.lexis().has_distinct() {
            return;
        }
        let end = scanner.table().end().index();
        let mut goes_on = BitSet::new(end + 1);
        if next.contains(end) {
            goes_on.insert(end);
        }
        for byte in 0..=u8::MAX {
            let Ok((readings, _)) = self.read_noted(from, &[byte]) else { continue };
            for (at, _) in readings {
                for component in scanner.states().components(at.state) {
                    goes_on.insert(component.terminal.index());
                }
            }
        }
        next.intersect_with(&goes_on);
        // A blank continues every punctuation terminal that may have blanks in front, so each
        // literal is checked in full.
        let has_begun = |terminal: usize| {
            from.readings.iter().any(|at| {
                let mut components = scanner.states().components(at.state).iter();
                components.any(|component| component.terminal.index() == terminal)
            })
        };
        let literals: Vec<usize> = next.iter().filter(|&terminal| terminal != end).collect();
        for terminal in literals {
            let name = scanner.table().terminal_name(TerminalId::new(terminal));
            let text = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            let Some(text) = text.filter(|text| !text.contains(['"', '\\'])) else { continue };
            if !has_begun(terminal) && self.read_noted(from, text.as_bytes()).is_err() {
                next.remove(terminal);
            }
        }
    }

    fn expect(&self, at: &Configuration, lexeme: Lexeme, next: &mut BitSet, ignored: &mut BitSet) {
        let scanner = self.index.scanner();
        let states = scanner.states();
        let Configuration { stack, layout, .. } = at;
        if lexeme == Lexeme::None {
            let (stack, layout) = (stack.clone(), layout.clone());
            let from = Between { stack, layout, expectations: at.expectations };
            return scanner.next_terminals(&from, next);
        }
        let may_end = |label: TerminalId| {
            lexeme == Lexeme::Begun || scanner.lexis().distinct(label) != Some(Distinct::Item)
        };
        let label = states.plain_label(at.state).filter(|&label| may_end(label));
        for (label, _) in states.ends(at.state) {
            if !may_end(label) {
                continue;
            }
            let reads = &mut Reads::none();
            scanner.after_lexeme(stack, layout, at.expectations, label, reads, &mut |after, _| {
                scanner.next_terminals(&after, next);
            });
        }
        for terminal in states.label_set(states.reach(at.state)).iter() {
            let may_be = !self.after(at, TerminalId::new(terminal)).is_empty();
            if may_be && label.is_none_or(|label| label.index() != terminal) {
                let set = if scanner.is_ignored(TerminalId::new(terminal)) {
                    &mut *ignored
                } else {
                    &mut *next
                };
                set.insert(terminal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_literals_and_characters_apart() {
        for (name, shown) in [
            (r#""if""#, r#""if""#),
            (r#""\"""#, r#""\"""#),
            (r#""a" | "b""#, r#""a" | "b""#),
            ("/[a-z]/", "a character of /[a-z]/"),
            (r"[^\]x]", r"a character of [^\]x]"),
            ("/[a-z]+/", "/[a-z]+/"),
            ("[a-z] [0-9]", "[a-z] [0-9]"),
            ("NUMBER", "NUMBER"),
        ] {
            assert_eq!(Expected::named(name).to_string(), shown);
        }
        assert_eq!(Expected::named(r#""a" | "b""#), Expected::Terminal(r#""a" | "b""#));
    }
}
