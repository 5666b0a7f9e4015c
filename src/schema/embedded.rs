//! Schemas inside of grammars: `%json {...}` is used in a rule like a terminal. When the grammar is
//! compiled, the schema is read and its rules replace the terminal.

use super::{JsonSchema, MadeTerminals, Narrowing, SchemaOptions};
use crate::grammar::Grammar;
use crate::grammar::ir::Symbol;
use crate::grammar::pattern::Pattern;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TerminalId;
use crate::util::meter::Meter;

/// Returns `grammar` with rules for its schemas, all read with `options`; `None` if it has no
/// schema. A terminal that was a schema stays declared, but no production uses it. `follows`:
/// whether unique items may be followed, which requires that no other terminal can match in place
/// of theirs.
///
/// # Errors
///
/// Returns a finding for each schema that is refused, with the schema's location in the grammar.
pub(crate) fn write_out(
    grammar: &Grammar,
    options: &SchemaOptions,
    follows: bool,
    meter: &Meter,
) -> Result<Option<Grammar>, Vec<Diagnostic>> {
    let schema = |pattern: &Option<Pattern>| match pattern {
        Some(Pattern::Schema(text)) => Some(text.clone()),
        _ => None,
    };
    let schemas = grammar.terminals.iter().enumerate();
    let schemas = schemas
        .filter_map(|(id, terminal)| Some((TerminalId::new(id), schema(&terminal.pattern)?)));
    let schemas: Vec<(TerminalId, String)> = schemas.collect();
    if schemas.is_empty() {
        return Ok(None);
    }
    let mut grammar = grammar.clone();
    let mut made = MadeTerminals::default();
    let mut errors = Vec::new();
    let written = grammar.productions.len();
    for (terminal, text) in schemas {
        let place = grammar.terminals[terminal.index()].place.clone();
        let narrowing = Narrowing { unfollowed: !follows, ..Narrowing::default() };
        match JsonSchema::metered(&text, options, narrowing, meter) {
            Ok(schema) => {
                grammar.warnings.extend(
                    schema.warnings().iter().cloned().map(|finding| finding.at(place.clone())),
                );
                let value = Symbol::Nonterminal(schema.embed(&mut grammar, &mut made));
                let symbols = grammar.productions[..written]
                    .iter_mut()
                    .flat_map(|production| &mut production.rhs);
                symbols
                    .filter(|symbol| **symbol == Symbol::Terminal(terminal))
                    .for_each(|symbol| *symbol = value);
                grammar.terminals[terminal.index()].pattern = None;
            }
            Err(error) => errors.push(error.diagnostic().at(place)),
        }
    }
    if errors.is_empty() { Ok(Some(grammar)) } else { Err(errors) }
}
