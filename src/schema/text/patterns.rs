//! Strings that contain matches of patterns.

use std::rc::Rc;

use crate::grammar::pattern::{Automaton, Pattern};
use crate::grammar::regex::Regex;
use crate::lexer::{Compiler, Dfa, PatternError};
use crate::schema::STATES_OF_A_TEXT;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::machine::Machine;
use crate::schema::text::ecma::{self, Less, Meaning};
use crate::schema::text::{Texts, automaton};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of steps for the automaton of a pattern that may be approximated, and for that of
/// the approximation.
const STEPS_OF_A_PATTERN: u64 = 20_000_000;
const STEPS_OF_LESS: u64 = 8_000_000;
/// Approximations of such a pattern, with their names in messages: the first that makes a
/// difference is used.
const LESS: [(Less, &str); 2] = [
    (Less::Apart, "parts that do not contain the separators next to them"),
    (Less::Small, "counts of 8"),
];

impl Texts<'_> {
    /// Returns the texts that a pattern means, within `steps` if they are bounded.
    fn meaning_within(
        &mut self,
        meaning: Meaning,
        steps: Option<u64>,
    ) -> Result<Rc<Dfa>, PatternError> {
        match steps {
            Some(steps) => {
                let part = self.meter.part(steps, STATES_OF_A_TEXT);
                self.meaning(meaning, &mut Compiler::new(&part))
            }
            None => {
                let meter = self.meter;
                let mut compiler = std::mem::replace(&mut self.compiler, Compiler::new(meter));
                let dfa = self.meaning(meaning, &mut compiler);
                self.compiler = compiler;
                dfa
            }
        }
    }

    /// Returns the texts that a pattern means, built by `compiler`.
    fn meaning(
        &mut self,
        Meaning { texts, prefixes }: Meaning,
        compiler: &mut Compiler<'_>,
    ) -> Result<Rc<Dfa>, PatternError> {
        let mut parts = Vec::new();
        if !texts.is_empty() {
            parts.push(Rc::new(compiler.regex(&Regex::Alternation(texts), false)?));
        }
        if !prefixes.is_empty() {
            let begins = compiler.regex(&Regex::Alternation(prefixes), true)?;
            let universe = self.universe()?;
            let texts = Pattern::Automaton(with_open_end(&begins, &universe));
            parts.push(Rc::new(compiler.compile(&texts)?));
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
        self.searched(pattern, Some(Less::Far))
    }

    /// Returns some strings that contain a match of a pattern whose automaton is too large, if
    /// there are any. Adds a warning.
    pub(super) fn part_of_pattern(&mut self, pattern: u32) -> Option<Rc<Dfa>> {
        let text = self.reader.atoms.texts.get(pattern);
        let is_less = |less| ecma::read(text, Some(less)).is_ok_and(|(_, is_less)| is_less);
        let &(less, held) = LESS.iter().find(|&&(less, _)| is_less(less))?;
        let some = self.searched(pattern, Some(less)).ok().filter(|some| !some.is_empty())?;
        let why = format!("takes too large an automaton and is limited to {held}");
        self.warn_of_less(pattern, &why);
        Some(some)
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
        let (meaning, _) = ecma::read(&text, less).map_err(|refusal| {
            refused(self, &refusal.0)
                .help("use a regular expression of ECMA-262 without back-references")
        })?;
        let steps = match less {
            None => ecma::counts(&text).then_some(STEPS_OF_A_PATTERN),
            Some(_) => Some(STEPS_OF_LESS),
        };
        let compiled = self.texts.meaning_within(meaning, steps);
        compiled.map_err(|error| refused(self, error.message()))
    }
}
