//! The error that no text is a sentence, though the rules derive sentences of terminals.

use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::lexer::Dfa;
use crate::scanner::Scanner;
use crate::util::amount;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TerminalId;
use crate::util::limits::Limits;

/// Returns the error for a grammar whose lexemes cannot be joined to any sentence.
pub(super) fn empty_language(grammar: &Grammar, scanner: &Scanner) -> Diagnostic {
    let message = "no text is in the language: in every text, lexemes run into one another, or \
                   precedence removed the continuation";
    Diagnostic::error("empty-language", message)
        .at(grammar.nonterminals[grammar.start.index()].place.clone())
        .example(example(grammar, scanner))
        .help(
            "allow an ignored terminal (white space) between the lexemes, or make the first one \
             end on a character that cannot begin the next one",
        )
}

/// Returns the error for a grammar for which it takes too long to find out whether it has a
/// sentence.
pub(super) fn undecided_language(limits: &Limits) -> Diagnostic {
    let steps = amount::in_words(limits.decision_steps as u64);
    let message =
        format!("deciding whether any text is in the language takes more than {steps} steps");
    Diagnostic::error("decision-limit", message).help(
        "raise `decision_steps` of the limits (`--decision-steps`), or allow an ignored terminal \
         (white space) between the lexemes",
    )
}

/// Describes a shortest sentence in terminals, and its first lexeme that runs into the next one, if
/// there is one.
fn example(grammar: &Grammar, scanner: &Scanner) -> String {
    let sentence = shortest_sentence(grammar);
    let name = |terminal: TerminalId| grammar.terminals[terminal.index()].shown();
    let names: Vec<String> = sentence.iter().map(|&terminal| name(terminal)).collect();
    let mut example = names.join(" ");
    let text = |terminal| scanner.lexis().texts(terminal).map_or_else(Vec::new, Dfa::shortest);
    for (&terminal, &next) in sentence.iter().zip(sentence.iter().skip(1)) {
        let (this, behind) = (text(terminal), text(next));
        let goes_on = |dfa: &Dfa| {
            let end = |start| {
                this.iter().chain(&behind).fold(start, |state, &byte| dfa.next(state, byte))
            };
            dfa.starts().any(|start| end(start) != Dfa::DEAD)
        };
        if scanner.lexis().texts(terminal).is_some_and(goes_on) {
            let this = String::from_utf8_lossy(&this);
            example.push_str(&format!("\n`{this}` may run into a following {}", name(next)));
            break;
        }
    }
    example
}

/// Returns a shortest sentence of the rules: a fixpoint over the lengths of the derivations of
/// nonterminals.
fn shortest_sentence(grammar: &Grammar) -> Vec<TerminalId> {
    let mut best: Vec<Option<(usize, usize)>> = vec![None; grammar.nonterminals.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, production) in grammar.productions.iter().enumerate() {
            let length = production.rhs.iter().try_fold(0usize, |length, symbol| match symbol {
                Symbol::Terminal(_) => Some(length.saturating_add(1)),
                Symbol::Nonterminal(inner) => Some(length.saturating_add(best[inner.index()]?.0)),
            });
            let known = &mut best[production.lhs.index()];
            if let Some(length) = length
                && known.is_none_or(|(least, _)| length < least)
            {
                *known = Some((length, number));
                changed = true;
            }
        }
    }
    let mut sentence = Vec::new();
    let mut open = vec![Symbol::Nonterminal(grammar.start)];
    while let Some(symbol) = open.pop().filter(|_| sentence.len() < MOST) {
        match symbol {
            Symbol::Terminal(terminal) => sentence.push(terminal),
            Symbol::Nonterminal(inner) => {
                let production =
                    best[inner.index()].map(|(_, number)| &grammar.productions[number]);
                open.extend(
                    production.into_iter().flat_map(|production| production.rhs.iter().rev()),
                );
            }
        }
    }
    sentence
}

/// Number of terminals of a sentence that are shown.
const MOST: usize = 16;
