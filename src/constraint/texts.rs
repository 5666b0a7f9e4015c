//! Grammars of a regex or of fixed texts.

use std::sync::Arc;

use crate::grammar::pattern::{Automaton, Moves, Pattern, RegexFlags, State};
use crate::grammar::words;
use crate::grammar::{Grammar, GrammarError, GrammarReader, of_choices};
use crate::lexer::{Compiler, Dfa};
use crate::util::diagnostic::{Diagnostic, Place};
use crate::util::meter::{Meter, Phase};

/// Upper bounds on the number of choices that a message lists, and on their bytes in total.
const FEW: usize = 8;
const MOST_SHOWN: usize = 80;

impl Grammar {
    /// Builds the grammar of the texts that a regular expression matches as a whole, as
    /// `re.fullmatch` does. The syntax is that of Python's `re`, restricted to the features of
    /// terminal patterns. Laziness has no effect here, nor do `^` and `\A` at the very beginning,
    /// `$` and `\Z` at the very end.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let grammar = Grammar::from_regex(r"(\d{1,3}\.){3}\d{1,3}")?;
    /// let tokens = [&b"10"[..], b".", b"0.0", b".1", b"x"];
    /// let vocabulary = Vocabulary::from_tokens(tokens.map(<[u8]>::to_vec).to_vec())?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let mut matcher = constraint.matcher();
    /// for token in [0, 1, 2] {
    ///     matcher.advance(token)?;
    /// }
    /// assert!(!matcher.is_accepting() && !matcher.allows(4));
    /// matcher.advance(3)?;
    /// assert!(matcher.is_accepting());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the pattern is not a regex, or more than regular (a back reference), if it matches no
    /// text, or if its automaton is too large. Positions refer to `<regex>`.
    pub fn from_regex(pattern: &str) -> Result<Self, GrammarError> {
        GrammarReader::new().regex(pattern)
    }

    /// Builds the grammar of exactly these texts. They may be prefixes of each other, be given
    /// several times, and be empty. Costs their bytes, and sorting.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let grammar = Grammar::from_choices(["yes", "no", "no, never"])?;
    /// let tokens = [&b"y"[..], b"no", b", ", b"never", b"es"];
    /// let vocabulary = Vocabulary::from_tokens(tokens.map(<[u8]>::to_vec).to_vec())?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let mut matcher = constraint.matcher();
    /// matcher.advance(1)?;
    /// assert!(matcher.is_accepting() && matcher.allows(2) && !matcher.allows(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn from_choices<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Self, GrammarError> {
        GrammarReader::new().choices(texts)
    }
}

impl GrammarReader<'_> {
    /// Builds the grammar of the texts that a regular expression matches as a whole: see
    /// [`Grammar::from_regex`].
    ///
    /// # Errors
    ///
    /// As [`Grammar::from_regex`], and if a limit is exceeded.
    pub fn regex(&self, pattern: &str) -> Result<Grammar, GrammarError> {
        let meter = Meter::new(self.within()).at(Phase::Lexer);
        let large = |limit| Diagnostic::of_limit("pattern-too-large", limit);
        meter.input(pattern.len()).map_err(large)?;
        let source: Arc<str> = "<regex>".into();
        let place = Place::new(&source, pattern, 0..pattern.len());
        let inner = without_anchors(pattern);
        let regex = Pattern::Regex {
            pattern: inner.to_owned(),
            flags: RegexFlags::default(),
            place: Some(place.clone()),
        };
        if let Some(automata) = words::automata(&regex) {
            let grammar = Grammar::of_texts(automata, false, &regex.to_string(), Some(&place));
            return Ok(Grammar { cost: meter.cost(), ..grammar });
        }
        let mut compiler = Compiler::narrowing(&meter);
        let dfa = compiler.whole(&regex);
        let dfa = dfa.map_err(|error| error.about("the regex", Some(&place)))?;
        let texts = automaton(&dfa);
        let has_texts = has_texts(&texts);
        let with_empty = ends(&dfa, dfa.first_start());
        if !has_texts && !with_empty {
            let diagnostic = Diagnostic::error("empty-language", "the regex matches no text");
            return Err(diagnostic.at(place).into());
        }
        let automata = has_texts.then_some(texts).into_iter().collect();
        meter.keep(4 * dfa.bytes()).map_err(large)?;
        let mut grammar = Grammar::of_texts(automata, with_empty, &regex.to_string(), Some(&place));
        let narrowed = compiler.take_narrowed().into_iter();
        grammar.warnings.extend(narrowed.map(|narrowed| narrowed.about("the regex", Some(&place))));
        Ok(Grammar { cost: meter.cost(), ..grammar })
    }

    /// Builds the grammar of exactly these texts: see [`Grammar::from_choices`].
    ///
    /// # Errors
    ///
    /// If there are none, or if a limit is exceeded.
    pub fn choices<T: AsRef<str>>(
        &self,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Grammar, GrammarError> {
        let meter = Meter::new(self.within()).at(Phase::Lexer);
        let large = |limit| Diagnostic::of_limit("pattern-too-large", limit);
        let counted = |text: T| {
            meter
                .input(text.as_ref().len())
                .and_then(|()| meter.keep(size_of::<T>()))
                .map_err(large)?;
            Ok(text)
        };
        let mut texts = texts.into_iter().map(counted).collect::<Result<Vec<T>, GrammarError>>()?;
        texts.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
        texts.dedup_by(|one, other| (*one).as_ref() == (*other).as_ref());
        if texts.is_empty() {
            let diagnostic = Diagnostic::error("empty-language", "the list of choices is empty");
            return Err(diagnostic.help("give at least one text").into());
        }
        let with_empty = texts[0].as_ref().is_empty();
        let filled = texts[usize::from(with_empty)..].iter().map(|text| text.as_ref().as_bytes());
        let few = texts.iter().take(FEW + 1).map(|text| format!("{:?}", text.as_ref()));
        let few = few.collect::<Vec<_>>().join(" | ");
        let is_few = texts.len() <= FEW && few.len() <= MOST_SHOWN;
        let description = if is_few { few } else { format!("one of {} texts", texts.len()) };
        let automata = of_choices(filled);
        let mut grammar = Grammar::of_texts(automata, with_empty, &description, None);
        if with_empty && texts.len() > 1 {
            let warning =
                Diagnostic::warning("empty-choice", "the empty text is one of the choices");
            let help = "remove it, or the blank line of the file, unless nothing may be written";
            grammar.warnings.push(warning.help(help));
        }
        Ok(Grammar { cost: meter.cost(), ..grammar })
    }
}

/// Returns the pattern without redundant anchors.
fn without_anchors(pattern: &str) -> &str {
    let pattern =
        ["^", "\\A"].iter().find_map(|anchor| pattern.strip_prefix(anchor)).unwrap_or(pattern);
    let inner = ["$", "\\Z"].iter().find_map(|anchor| pattern.strip_suffix(anchor));
    let is_escaped = |inner: &str| (inner.len() - inner.trim_end_matches('\\').len()) % 2 == 1;
    inner.filter(|inner| !is_escaped(inner)).unwrap_or(pattern)
}

/// Whether the whole text may end in `state`, with no text after it for look-aheads.
fn ends(dfa: &Dfa, state: u32) -> bool {
    let holds = |asked: usize| {
        let holds = &dfa.conditions()[asked].holds;
        let start = holds.start();
        holds.is_accept(start) || holds.is_accept(holds.next(start, Dfa::END))
    };
    dfa.is_accept(state) && dfa.condition(state).is_none_or(holds)
}

/// Whether the automaton, whose start state is not accepting, accepts any text.
fn has_texts(automaton: &Automaton) -> bool {
    let mut seen = vec![false; automaton.states.len()];
    let mut pending = vec![0];
    while let Some(state) = pending.pop() {
        let State { moves, accepts } = &automaton.states[state as usize];
        if *accepts {
            return true;
        }
        let next = moves.iter().map(|&(_, _, next)| next);
        pending.extend(next.filter(|&next| !std::mem::replace(&mut seen[next as usize], true)));
    }
    false
}

/// Returns an automaton for the language of `dfa` without the empty text: a new start state is
/// added before its states.
fn automaton(dfa: &Dfa) -> Automaton {
    let moves = |state: u32| {
        let mut moves = Moves::new();
        for byte in 0..=u8::MAX {
            let next = dfa.next(state, byte);
            match moves.last_mut() {
                _ if next == Dfa::DEAD => {}
                Some((_, last, to)) if *to == next + 1 && *last + 1 == byte => *last = byte,
                _ => moves.push((byte, byte, next + 1)),
            }
        }
        moves
    };
    let start = State { moves: moves(dfa.first_start()), accepts: false };
    let states = (0..dfa.state_count() as u32)
        .map(|state| State { moves: moves(state), accepts: ends(dfa, state) });
    Automaton::new(std::iter::once(start).chain(states).collect::<Vec<_>>())
}
