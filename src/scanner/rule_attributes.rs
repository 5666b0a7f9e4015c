//! Attributes of the texts of rules: captures, the temperature for sampling them, and the number of
//! tokens they should take.

use hashbrown::HashMap;

use crate::grammar::Grammar;
use crate::grammar::ir::{Nonterminal, Temperature};
use crate::lexer::{Compiler, Dfa};
use crate::lr::earley::Derivations;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;
use crate::util::meter::Meter;

/// The rules of a grammar with attributes, and its productions, which determine the texts of rules.
#[derive(Debug)]
pub(crate) struct Marks {
    pub(crate) derivations: Derivations,
    rules: HashMap<NonterminalId, Mark>,
}

/// The attributes of a rule's texts.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Name under which they are captured.
    pub(crate) capture: Option<String>,
    pub(crate) suffix: Option<Suffix>,
    pub(crate) temperature: Option<f32>,
    /// Maximum number of tokens that one of its texts should take.
    pub(crate) max_tokens: Option<usize>,
}

/// The end of the texts, which is not captured with them.
#[derive(Debug)]
pub(crate) struct Suffix {
    dfa: Dfa,
    /// Name under which it is captured, and how many of its bytes are; `None`: all.
    pub(crate) capture: Option<(String, Option<usize>)>,
}

impl Marks {
    /// Returns the attributes in a grammar; `None` if it has none.
    ///
    /// # Errors
    ///
    /// When the pattern of a suffix exceeds a limit.
    pub(crate) fn new(grammar: &Grammar, meter: &Meter) -> Result<Option<Self>, Box<Diagnostic>> {
        let mut rules = HashMap::new();
        let mut compiler = Compiler::new(meter);
        for (index, nonterminal) in grammar.nonterminals.iter().enumerate() {
            if let Some(mark) = mark(nonterminal, &mut compiler)? {
                rules.insert(NonterminalId::new(index), mark);
            }
        }
        Ok((!rules.is_empty()).then(|| Self { derivations: Derivations::new(grammar), rules }))
    }

    /// Returns the attributes of a rule's texts.
    pub(crate) fn get(&self, rule: NonterminalId) -> Option<&Mark> {
        self.rules.get(&rule)
    }
}

fn mark(
    nonterminal: &Nonterminal,
    compiler: &mut Compiler<'_>,
) -> Result<Option<Mark>, Box<Diagnostic>> {
    let Some(marks) = &nonterminal.marks else { return Ok(None) };
    let suffix = match &marks.suffix {
        None => None,
        Some(suffix) => {
            let dfa = compiler.compile(&suffix.pattern).map_err(|error| {
                Box::new(error.into_diagnostic(&nonterminal.name, nonterminal.place.as_ref()))
            })?;
            let capture = suffix.capture.clone();
            let capture =
                capture.map(|(name, length)| (name, length.map(|length| length as usize)));
            Some(Suffix { dfa, capture })
        }
    };
    let temperature = marks.temperature.map(Temperature::value);
    let max_tokens = marks.max_tokens.map(|tokens| tokens as usize);
    Ok(Some(Mark { capture: marks.capture.clone(), suffix, temperature, max_tokens }))
}

impl Suffix {
    /// Returns where the suffix begins in a text that ends with it, choosing the shortest suffix.
    /// Costs the square of its length.
    pub(crate) fn split(&self, text: &[u8]) -> usize {
        (0..=text.len()).rev().find(|&at| self.dfa.matches(&text[at..])).unwrap_or(text.len())
    }
}
