//! Strings that contain matches of patterns.

use std::rc::Rc;

use crate::grammar::pattern::{Automaton, Pattern};
use crate::lexer::{Compiler, Condition, Dfa, PatternError};
use crate::schema::STATES_OF_A_TEXT;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::machine::Machine;
use crate::schema::text::ecma::{self, Less, MARKS, Meaning};
use crate::schema::text::ecma_separators::Apart;
use crate::schema::text::{Texts, automaton};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of steps for the automaton of a pattern that may be approximated, and for that of
/// an approximation.
const STEPS_OF_A_PATTERN: u64 = 20_000_000;
const STEPS_OF_LESS: u64 = 8_000_000;
/// Approximations of such a pattern, in the order in which they are tried, with their names in
/// messages. Repetition counts are lowered to the first number, and in look-aheads to the second.
const LESS: [(Less, &str); 7] = [
    (Less::apart(Apart::Repeated), "parts that do not contain the separators next to them"),
    (Less::counts(32, FAR), "counts of 32"),
    (Less::apart(Apart::All), "parts that do not contain the separators next to them"),
    (Less::counts(16, FAR), "counts of 16"),
    (Less::counts(8, FAR), "counts of 8"),
    (Less::counts(8, 64), "counts of 8"),
    (Less::counts(4, 32), "counts of 4"),
];
const FAR: u32 = 1_000;

impl Texts<'_> {
    /// Returns the union of the branches of a pattern, within `steps` if they are bounded.
    fn meanings_within(
        &mut self,
        meanings: Vec<Meaning>,
        steps: Option<u64>,
    ) -> Result<Rc<Dfa>, PatternError> {
        match steps {
            Some(steps) => {
                let part = self.meter.part(steps, STATES_OF_A_TEXT);
                self.meanings(meanings, &mut Compiler::new(&part))
            }
            None => {
                let meter = self.meter;
                let mut compiler = std::mem::replace(&mut self.compiler, Compiler::new(meter));
                let dfa = self.meanings(meanings, &mut compiler);
                self.compiler = compiler;
                dfa
            }
        }
    }

    /// Returns the union of the branches of a pattern, built by `compiler`.
    fn meanings(
        &mut self,
        meanings: Vec<Meaning>,
        compiler: &mut Compiler<'_>,
    ) -> Result<Rc<Dfa>, PatternError> {
        let mut compile = |pattern: &Pattern| compiler.compile(pattern).map(Rc::new);
        // Branches with a closed end, and those with an open end.
        let mut plain = [Vec::new(), Vec::new()];
        let mut parts = Vec::new();
        for meaning in meanings {
            match meaning {
                Meaning::Plain { pattern, is_open } => plain[usize::from(is_open)].push(pattern),
                Meaning::Marked { pattern, marks } => {
                    self.met_marks = true;
                    let marked = compile(&pattern)?;
                    let inside = Pattern::Automaton(without_marks(&marked, marks));
                    parts.push(compile(&inside)?);
                }
            }
        }
        let [closed, open] = plain;
        if !closed.is_empty() {
            parts.push(compile(&Pattern::Alternation(closed))?);
        }
        if !open.is_empty() {
            let begins = Pattern::Shortest(Box::new(Pattern::Alternation(open)));
            let begins = compile(&begins)?;
            let universe = self.universe()?;
            parts.push(compile(&Pattern::Automaton(with_open_end(&begins, &universe)))?);
        }
        match &parts[..] {
            [only] => Ok(only.clone()),
            parts => self.product(parts, |each| each.contains(&true)),
        }
    }
}

/// Matches the texts with a prefix in `begins`. After the first match, the search ends.
fn with_open_end(begins: &Dfa, universe: &Dfa) -> Automaton {
    if begins.is_empty() {
        return Automaton::default();
    }
    let mut states = automaton::states_of(begins);
    let first = states.len() as u32;
    let mut rest = automaton::states_of(universe);
    rest.iter_mut().flat_map(|state| &mut state.moves).for_each(|(_, _, next)| *next += first);
    for state in &mut states {
        if state.accepts {
            state.moves.clone_from(&rest[0].moves);
        }
    }
    states.append(&mut rest);
    Automaton::new(states)
}

/// Matches the texts between `marks` repetitions of the first mark and the second mark.
fn without_marks(marked: &Dfa, marks: usize) -> Automaton {
    let read = |state: u32, mark: char| {
        let mut bytes = [0; 4];
        mark.encode_utf8(&mut bytes).bytes().fold(state, |state, byte| marked.next(state, byte))
    };
    let start = (0..marks).fold(marked.start(), |state, _| read(state, MARKS[0]));
    let mut states = automaton::states_of(marked);
    for (number, state) in (0..).zip(&mut states) {
        // No set of a pattern contains a mark, so the second one can only be the last character.
        state.accepts = ends_text(marked, read(number, MARKS[1]));
    }
    let Some(first) = states.get(start as usize).cloned() else { return Automaton::default() };
    // The start state is inserted again at the front.
    states.insert(0, first);
    for (_, _, next) in states.iter_mut().flat_map(|state| &mut state.moves) {
        *next += 1;
    }
    Automaton::new(states)
}

/// Whether a text may end in `state`: its condition on the text after it holds for the empty text.
fn ends_text(dfa: &Dfa, state: u32) -> bool {
    let holds = |number: usize| {
        dfa.conditions().get(number).is_none_or(|Condition { holds, .. }| {
            holds.is_accept(holds.next(holds.start(), Dfa::END))
        })
    };
    dfa.is_accept(state) && dfa.condition(state).is_none_or(holds)
}

impl Machine<'_> {
    /// Returns an error about the text with this number, at its location in the schema.
    fn text_error(
        &self,
        text: u32,
        kind: SchemaErrorKind,
        message: impl Into<String>,
    ) -> SchemaError {
        match self.reader.places.get(&text) {
            Some(&node) => self.reader.schemas.error(kind, node, message),
            None => SchemaError::new(kind, message),
        }
    }

    /// Returns the strings that contain a match of the pattern.
    pub(in crate::schema) fn pattern(&mut self, pattern: u32) -> Result<Rc<Dfa>, SchemaError> {
        self.searched(pattern, None)
    }

    /// Whether every string contains a match of the pattern.
    pub(in crate::schema) fn is_in_every_text(
        &mut self,
        pattern: u32,
    ) -> Result<bool, SchemaError> {
        let Ok(found) = self.some_pattern(pattern) else { return Ok(false) };
        let universe = self.texts.universe().map_err(|error| self.too_large(&error))?;
        Ok(found == universe)
    }

    /// Returns strings that contain a match of the pattern: all of them, unless it has
    /// back-references or counts further than automata do. In that case, adds a warning.
    pub(super) fn some_pattern(&mut self, pattern: u32) -> Result<Rc<Dfa>, SchemaError> {
        let text = self.reader.atoms.texts.get(pattern);
        if !ecma::is_narrowed(text) {
            return self.pattern(pattern);
        }
        let why = "has a back reference, which matches nothing here, or too large counts: fewer \
                   texts are allowed";
        self.warn_of_less(pattern, why);
        self.searched(pattern, Some(Less::FAR))
    }

    /// Returns some strings that contain a match of a pattern whose automaton is too large, from an
    /// approximation with smaller counts, if there are any. Adds a warning.
    pub(super) fn part_of_pattern(&mut self, pattern: u32) -> Result<Option<Rc<Dfa>>, SchemaError> {
        if let Some(known) = self.texts.parts_of_patterns.get(&pattern) {
            return Ok(known.clone());
        }
        let text = self.reader.atoms.texts.get(pattern).clone();
        let mut found = None;
        for (less, held) in LESS {
            if ecma::read(&text, Some(less)).is_ok_and(|(_, is_less)| is_less)
                && let Ok(some) = self.searched(pattern, Some(less))
                && !some.is_empty()
            {
                let why = format!("takes too large an automaton and is limited to {held}");
                self.warn_of_less(pattern, &why);
                found = Some(some);
                break;
            }
        }
        self.texts.parts_of_patterns.insert(pattern, found.clone());
        Ok(found)
    }

    fn warn_of_less(&mut self, pattern: u32, why: &str) {
        let text = self.written(pattern);
        let mut warning =
            Diagnostic::warning("narrowed-schema", format!("the pattern \"{text}\" {why}"));
        if let Some(&node) = self.reader.places.get(&pattern) {
            warning = warning.at(self.reader.schemas.json.place(node));
        }
        let help = "write out the texts of a group as alternatives, and use smaller counts";
        self.reader.warn(warning.help(help));
    }

    /// Returns a pattern as written in the schema, where it may be part of a longer one.
    fn written(&self, pattern: u32) -> String {
        let place = self.reader.places.get(&pattern);
        let written = place.and_then(|&node| self.reader.schemas.json.string(node));
        let own = self.reader.atoms.texts.get(pattern);
        written.unwrap_or(own).escape_debug().to_string()
    }

    /// Returns the strings that contain a match of the pattern, or of its approximation by `less`.
    fn searched(&mut self, pattern: u32, less: Option<Less>) -> Result<Rc<Dfa>, SchemaError> {
        if let Some(known) = self.texts.patterns.get(&(pattern, less)) {
            return known.clone();
        }
        let found = self.search(pattern, less);
        self.texts.patterns.insert((pattern, less), found.clone());
        found
    }

    fn search(&mut self, pattern: u32, less: Option<Less>) -> Result<Rc<Dfa>, SchemaError> {
        let text = self.reader.atoms.texts.get(pattern).clone();
        self.spend(text.len())?;
        let refused = |machine: &Self, why: &str| {
            let message =
                format!("the pattern \"{}\" is not supported: {why}", machine.written(pattern));
            machine.text_error(pattern, SchemaErrorKind::UnsupportedPattern, message)
        };
        let (meanings, _) = ecma::read(&text, less).map_err(|refusal| {
            refused(self, &refusal.0)
                .help("use a regular expression of ECMA-262 without back-references")
        })?;
        let steps = match less {
            None => ecma::counts(&text).then_some(STEPS_OF_A_PATTERN),
            Some(_) => Some(STEPS_OF_LESS),
        };
        let compiled = self.texts.meanings_within(meanings, steps);
        compiled.map_err(|error| refused(self, error.message()))
    }
}
