//! Options that restrict ignored text, so that a model cannot write blanks or comments for ever.
//!
//! Ignored text that is not allowed must still be a lexeme: without its comments, a language where
//! `--` begins one would read two minus signs. So the terminal of such text stays, and competes
//! wherever a lexeme starts, but no rule takes it and it is not ignored: a text with it is not
//! viable.
//!
//! A run is all ignored text between two lexemes that are not ignored. Where ignored lexemes are
//! kept apart from all others, a run is lexed as one lexeme of a terminal of its own: the automaton
//! of any ignored terminal, which begins anew where a match ends. Then a bound on the length of a
//! run is one on the length of a lexeme, and the longer ones are not allowed. That is exact if no
//! other terminal has a text that begins with an ignored lexeme, and if a match that can go on
//! always has gone on to a match. Otherwise each ignored lexeme is bounded, with a warning.

use hashbrown::HashSet;

use crate::grammar::ir::{LexerKind, Terminal};
use crate::grammar::pattern::{Automaton, Moves, Pattern, RegexFlags, State};
use crate::grammar::{Grammar, GrammarError};
use crate::lexer::{Compiler, Dfa, PatternError, product};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TerminalId;
use crate::util::limits::Limits;
use crate::util::meter::{LimitReached, Meter, Phase};

/// Ignored text that a constraint allows, of that which the grammar ignores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ignored {
    /// All of it.
    #[default]
    All,
    /// White space: no comments. With `%indent`, the terminal that joins lines stays, too.
    Blanks,
    /// Nothing. With `%indent` the same as [`Ignored::Blanks`], since lines begin with blanks.
    None,
}

/// Restrictions on ignored text.
#[derive(Clone, Debug, Default)]
pub(super) struct IgnoredText {
    pub(super) kinds: Ignored,
    /// Upper bound on the characters of a run.
    pub(super) run: Option<u32>,
}

impl IgnoredText {
    /// Returns the grammar with these restrictions; `None` if there are none.
    ///
    /// # Errors
    ///
    /// If a limit is exceeded.
    pub(super) fn restrict(
        &self,
        grammar: &Grammar,
        limits: &Limits,
    ) -> Result<Option<Grammar>, GrammarError> {
        let is_lined = grammar.indentation.is_some();
        let kinds = match (self.kinds, self.run) {
            (Ignored::None, _) | (_, Some(0)) if is_lined => Ignored::Blanks,
            (_, Some(0)) => Ignored::None,
            (kinds, _) => kinds,
        };
        let run = self.run.filter(|_| !is_lined);
        let ignores = grammar.terminals.iter().any(|terminal| terminal.ignored);
        if !ignores || (kinds, run) == (Ignored::All, None) {
            return Ok(None);
        }
        let meter = Meter::after(grammar.cost, limits);
        let mut restriction = Restriction {
            grammar: grammar.clone(),
            banned: Vec::new(),
            meter: meter.at(Phase::Lexer),
        };
        let restricted = restriction
            .select(kinds)
            .and_then(|()| run.map_or(Ok(()), |most| restriction.bound(most)));
        let mut restricted = match restricted {
            Ok(()) => restriction.finish(),
            Err(error) => {
                let error = error.about("the bound on ignored text", None);
                return Err(GrammarError::beside(vec![error], grammar.warnings().to_vec()));
            }
        };
        restricted.cost = meter.cost();
        Ok(Some(restricted))
    }
}

/// A grammar that is being restricted.
struct Restriction {
    grammar: Grammar,
    /// Terminals whose lexemes are not allowed.
    banned: Vec<usize>,
    meter: Meter,
}

impl Restriction {
    fn ignored(&self) -> Vec<usize> {
        let terminals = self.grammar.terminals.iter().enumerate();
        terminals.filter(|(_, terminal)| terminal.ignored).map(|(index, _)| index).collect()
    }

    /// Returns the automaton of a pattern. `None` if it is not regular, or wrong, which the
    /// compilation of the grammar reports.
    fn dfa(&self, pattern: &Pattern) -> Result<Option<Dfa>, PatternError> {
        match Compiler::new(&self.meter).compile(pattern) {
            Ok(dfa) => Ok(Some(dfa)),
            Err(error) if error.limit().is_some_and(LimitReached::ends_building) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Forbids lexemes of a terminal.
    fn ban(&mut self, index: usize) {
        self.grammar.terminals[index].ignored = false;
        self.banned.push(index);
    }

    /// Gives a terminal this pattern, and forbids the texts of `others`.
    fn split(&mut self, index: usize, pattern: Pattern, others: Pattern) {
        let terminals = self.grammar.terminals.len();
        let terminal = &mut self.grammar.terminals[index];
        terminal.pattern = Some(pattern);
        // Of the same rank, so that it competes as before.
        let name = format!("__{}_FORBIDDEN_{}", terminal.name, terminals);
        let others = Terminal { name, pattern: Some(others), ..terminal.clone() };
        self.grammar.terminals.push(others);
        self.ban(self.grammar.terminals.len() - 1);
    }

    /// Forbids ignored lexemes of other kinds.
    fn select(&mut self, kinds: Ignored) -> Result<(), PatternError> {
        let indentation = self.grammar.indentation.as_ref();
        let (is_lined, join) = (indentation.is_some(), indentation.and_then(|lines| lines.join));
        for index in self.ignored() {
            let Some(pattern) = self.grammar.terminals[index].pattern.clone() else { continue };
            if kinds == Ignored::All || join.is_some_and(|join| join.index() == index) {
                continue;
            }
            if kinds == Ignored::None {
                self.ban(index);
                continue;
            }
            let Some(dfa) = self.dfa(&pattern)? else { continue };
            if (0..=u8::MAX)
                .all(|byte| !dfa.uses(byte) || byte == 0x0b || byte.is_ascii_whitespace())
            {
                continue;
            }
            let both = |other| Pattern::Intersection(vec![pattern.clone(), other]);
            let blanks = regex(r"\s+");
            let kept = both(blanks.clone());
            match self.dfa(&kept)? {
                Some(blank) if !blank.is_empty() => {
                    // Blanks before the first lexeme of a line are always ignored.
                    if !is_lined {
                        self.split(index, kept, both(Pattern::Complement(Box::new(blanks))));
                    }
                }
                _ => self.ban(index),
            }
        }
        Ok(())
    }

    /// Bounds the characters of a run.
    fn bound(&mut self, most: u32) -> Result<(), PatternError> {
        let ignored = self.ignored();
        let Some(&first) = ignored.first() else { return Ok(()) };
        match self.runs(&ignored)? {
            Some(runs) => {
                for &other in &ignored[1..] {
                    let terminal = &mut self.grammar.terminals[other];
                    (terminal.pattern, terminal.ignored) = (None, false);
                }
                self.shorten(first, Pattern::Automaton(runs), most)
            }
            None => {
                let message = "a run of ignored text is not bounded, only each lexeme in it";
                let help = "write the ignored terminals so that no other terminal begins with a \
                            text of theirs, and without look-around or priorities";
                let warning = Diagnostic::warning("ignored-run", message).help(help);
                self.grammar.warnings.push(warning);
                for index in ignored {
                    if let Some(pattern) = self.grammar.terminals[index].pattern.clone() {
                        self.shorten(index, pattern, most)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Forbids texts of more characters.
    fn shorten(&mut self, index: usize, pattern: Pattern, most: u32) -> Result<(), PatternError> {
        let any = Pattern::Range('\0', char::MAX);
        let short = Pattern::Repeat { pattern: Box::new(any), min: 0, max: Some(most) };
        let both = |other| Pattern::Intersection(vec![pattern.clone(), other]);
        let longer = both(Pattern::Complement(Box::new(short.clone())));
        if self.dfa(&longer)?.is_some_and(|longer| !longer.is_empty()) {
            self.split(index, both(short), longer);
        } else {
            self.grammar.terminals[index].pattern = Some(pattern);
        }
        Ok(())
    }

    /// Returns the automaton of runs, if runs may be lexed as one lexeme.
    fn runs(&self, ignored: &[usize]) -> Result<Option<Automaton>, PatternError> {
        let terminals = &self.grammar.terminals;
        let priority = terminals[ignored[0]].priority;
        let mut dfas = Vec::new();
        for &index in ignored {
            let terminal = &terminals[index];
            let pattern = terminal.pattern.as_ref();
            let dfa = pattern.map_or(Ok(None), |pattern| self.dfa(pattern))?;
            let is_plain = !terminal.lazy && !terminal.every_match && terminal.priority == priority;
            let is_alone =
                |dfa: &Dfa| dfa.conditions().is_empty() && !dfa.looks_behind() && !dfa.counts();
            match dfa.filter(|dfa| is_plain && is_alone(dfa)) {
                Some(dfa) => dfas.push(dfa.without_empty()),
                None => return Ok(None),
            }
        }
        dfas.retain(|dfa| !dfa.is_empty());
        let any = product(&dfas, |each| each.contains(&true), &self.meter)?;
        if any.is_empty() {
            return Ok(None);
        }
        for (index, terminal) in terminals.iter().enumerate() {
            if let Some(pattern) = &terminal.pattern
                && !ignored.contains(&index)
                && let Some(dfa) = self.dfa(pattern)?
                && (dfa.looks_behind() || self.begins_with(&dfa, &any)?)
            {
                return Ok(None);
            }
        }
        Ok(runs_of(&any))
    }

    /// Whether some text of `dfa` begins with one of `ignored`.
    fn begins_with(&self, dfa: &Dfa, ignored: &Dfa) -> Result<bool, PatternError> {
        let mut pending = vec![(dfa.start(), ignored.start())];
        let mut seen: HashSet<(u32, u32)> = pending.iter().copied().collect();
        while let Some((own, other)) = pending.pop() {
            self.meter.step(usize::from(u8::MAX))?;
            for byte in 0..=u8::MAX {
                let next = (dfa.next(own, byte), ignored.next(other, byte));
                if next.0 == Dfa::DEAD || next.1 == Dfa::DEAD {
                    continue;
                }
                if ignored.is_accept(next.1) {
                    return Ok(true);
                }
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        Ok(false)
    }

    /// Returns the grammar.
    fn finish(mut self) -> Grammar {
        let terminals = &mut self.grammar.terminals;
        if self.grammar.lexer == LexerKind::Contextual {
            let all = (0..terminals.len()).filter(|index| !self.banned.contains(index));
            let all: Vec<TerminalId> = all.map(TerminalId::new).collect();
            for &index in &self.banned {
                terminals[index].reserved_against.clone_from(&all);
            }
        }
        let mut by_rank: Vec<usize> = (0..terminals.len()).collect();
        by_rank.sort_by_key(|&index| (terminals[index].rank, index));
        for (rank, index) in by_rank.into_iter().enumerate() {
            terminals[index].rank = rank as u32;
        }
        self.grammar
    }
}

/// Returns the automaton of one or more texts of `any` in a row, each the longest; `None` if a
/// match may be undone that has gone on.
fn runs_of(any: &Dfa) -> Option<Automaton> {
    let mut states = Vec::with_capacity(any.state_count());
    for at in 0..any.state_count() as u32 {
        let mut moves = Moves::new();
        for byte in 0..=u8::MAX {
            let (mut next, anew) = (any.next(at, byte), any.next(any.start(), byte));
            if any.is_accept(at) && anew != Dfa::DEAD {
                match next {
                    Dfa::DEAD => next = anew,
                    _ if !any.is_accept(next) => return None,
                    _ => {}
                }
            }
            match moves.last_mut() {
                _ if next == Dfa::DEAD => {}
                Some((_, last, to)) if *to == next && last.checked_add(1) == Some(byte) => {
                    *last = byte;
                }
                _ => moves.push((byte, byte, next)),
            }
        }
        states.push(State { moves, accepts: any.is_accept(at) });
    }
    Some(Automaton::new(states))
}

fn regex(pattern: &str) -> Pattern {
    Pattern::Regex { pattern: pattern.to_owned(), flags: RegexFlags::default(), place: None }
}
