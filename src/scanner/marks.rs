//! What is to be known of the texts of rules: what is captured, how warm a model should be within
//! them, and how many tokens they should take.

use hashbrown::HashMap;

use crate::grammar::Grammar;
use crate::grammar::ir::{Nonterminal, Temperature};
use crate::lexer::{Compiler, Dfa};
use crate::lr::earley::Derivations;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;
use crate::util::meter::Meter;

/// The marked rules of a grammar, and its productions, which tell what they derive.
#[derive(Debug)]
pub(crate) struct Marks {
    pub(crate) derivations: Derivations,
    rules: HashMap<NonterminalId, Mark>,
}

/// What is to be known of a rule's texts.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Under what name they are captured.
    pub(crate) capture: Option<String>,
    pub(crate) suffix: Option<Suffix>,
    pub(crate) temperature: Option<f32>,
    /// How many tokens one of its texts should take at most.
    pub(crate) max_tokens: Option<usize>,
}

/// What ends the texts and is not captured with them.
#[derive(Debug)]
pub(crate) struct Suffix {
    dfa: Dfa,
    /// Under what name it is captured, and how many of its bytes are; `None`: all.
    pub(crate) capture: Option<(String, Option<usize>)>,
}

impl Marks {
    /// The marks of a grammar; `None` where it has none.
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

    /// What is to be known of the texts of a rule.
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
    /// Where the suffix begins in a text that ends with it: the shortest one. Costs the square of
    /// its length.
    pub(crate) fn split(&self, text: &[u8]) -> usize {
        (0..=text.len()).rev().find(|&at| self.dfa.matches(&text[at..])).unwrap_or(text.len())
    }
}
