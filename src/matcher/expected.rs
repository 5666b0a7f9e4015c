//! What may come next, in the grammar's own words: for messages to people, not for generation.

use std::fmt;

use super::Matcher;
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::Between;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;

/// Something that may come next, as the grammar calls it.
///
/// It is shown as a message has it: `"if"`, `NAME`, `end of text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expected<'g> {
    /// A literal without a name, in quotes as the grammar has it.
    Literal(&'g str),
    /// A terminal by its name.
    Terminal(&'g str),
    /// The end of the text.
    End,
}

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Literal(text) | Self::Terminal(text) => text,
            Self::End => "end of text",
        })
    }
}

impl Matcher {
    /// The terminals that may come next, in the order of the grammar: literals in quotes, others by
    /// name, and the end of the text. A terminal whose lexeme has begun and cannot end yet is one
    /// of them; one that could go on or end is not. Ignored terminals are named only where one has
    /// begun and nothing else may come. After a stop token: the end alone.
    ///
    /// Costs the number of terminals and of readings of the text so far.
    pub fn expected(&self) -> Vec<Expected<'_>> {
        let table = self.index.scanner().table();
        let end = table.end().index();
        let mut next = BitSet::new(end + 1);
        let mut ignored = BitSet::new(end + 1);
        if self.is_finished() {
            next.insert(end);
        } else {
            for (place, at) in self.now.readings.iter().enumerate() {
                self.expect(at, self.now.is_between(place), &mut next, &mut ignored);
            }
        }
        let next = if next.is_empty() { ignored } else { next };
        next.iter()
            .filter(|&terminal| !self.index.scanner().is_cut(TerminalId::new(terminal)))
            .map(|terminal| match table.terminal_name(TerminalId::new(terminal)) {
                _ if terminal == end => Expected::End,
                name if name.starts_with('"') => Expected::Literal(name),
                name => Expected::Terminal(name),
            })
            .collect()
    }

    fn expect(&self, at: &Configuration, between: bool, next: &mut BitSet, ignored: &mut BitSet) {
        let scanner = self.index.scanner();
        let states = scanner.states();
        let Configuration { stack, layout, .. } = at;
        if between {
            let (stack, layout) = (stack.clone(), layout.clone());
            let from = Between { stack, layout, expectations: at.expectations };
            return scanner.next_terminals(&from, next);
        }
        let label = states.plain_label(at.state);
        for (label, _) in states.ends(at.state) {
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
