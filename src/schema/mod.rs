//! JSON Schema: conversion of a schema into a grammar of the JSON texts that satisfy it.
//!
//! The passes, in the order of [`JsonSchema::parse`]:
//!
//! 1. [`guidance`]: options for separators and whitespace in the schema itself. [`json`]: the text
//!    as values that keep order, digits and locations. [`refs`]: drafts, resources and targets of
//!    references.
//! 2. [`keywords`] (with [`arguments`], [`constants`], [`told_apart`] and [`composites`]),
//!    [`unevaluated`], [`unique`]: conversion of a schema into a [`formula`].
//! 3. [`machine`], [`member_classes`], [`object`], [`key_classes`], [`steps`], [`item_steps`],
//!    [`names`]: a deterministic machine over values, built as far as it is reached; [`inhabited`]
//!    removes formulas that no value satisfies, [`text`] has the automata of scalars; [`conflict`]
//!    explains why no value is left.
//! 4. [`build`], [`members`], [`long_strings`], [`unique_followed`], [`extensible`]: the machine as
//!    productions ([`fragment`]).
//!
//! `docs/json-schema.md` lists the support for each keyword.

mod alternatives;
mod any_order;
mod arguments;
mod atoms;
mod build;
mod composites;
mod conflict;
mod constants;
mod counted_items;
mod described;
mod draft;
mod embedded;
mod emptiness;
mod error;
mod excluded;
mod extensible;
mod fingerprint;
mod foreign;
mod formula;
mod fragment;
mod guidance;
mod inhabited;
mod item_steps;
mod json;
mod key_classes;
mod keywords;
mod long_strings;
mod machine;
mod meant;
mod member_classes;
mod members;
mod meta;
mod names;
mod object;
mod options;
mod origins;
mod refs;
mod repeated;
mod rewriting;
mod runs;
mod shapes;
mod states;
mod steps;
mod tag_formats;
mod tags;
mod text;
mod told_apart;
mod tool_calls;
mod unevaluated;
mod unique;
mod unique_followed;
mod unknown;
mod uri;
mod vocabulary;

use crate::grammar::ir::Conflicts;
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::Tokens;
use crate::grammar::{Grammar, GrammarReader};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;
use crate::util::meter::{Cost, Meter, Phase};

pub(crate) use embedded::write_out;
pub use error::{SchemaError, SchemaErrorKind};
use fragment::MadeTerminals;
pub use options::{
    Formats, KeyOrder, Numerals, SchemaOptions, Separator, StringEscapes, Unsatisfiable, Whitespace,
};
pub use tags::StructuralTags;
pub use tool_calls::{Calls, ToolCalls, ToolForm};

/// Steps of the meter for a byte of a schema, which is read and becomes a part of formulas.
const STEPS_OF_A_BYTE: usize = 10;
/// Bytes of the meter for a byte of a schema in a JSON tree.
const BYTES_OF_A_BYTE: usize = 20;
/// All possible token ids: the complement matches no token, so it has an empty language.
const ALL_TOKENS: (u32, u32) = (0, 99_999_999);
/// Maximum number of states of one automaton of strings or numbers.
const STATES_OF_A_TEXT: usize = 100_000;

/// Features given up because the schema would otherwise be too large.
#[derive(Clone, Copy, Debug, Default)]
struct Narrowing {
    /// Tracking of keys that could be free.
    few_sets: bool,
    /// Keys in any order.
    declared: bool,
    /// Several items under `uniqueItems`.
    few_items: bool,
    /// Unique items that are followed by the matcher.
    unfollowed: bool,
    /// Arrays with more items than can be counted one by one.
    bounded_items: bool,
}

/// A JSON Schema that was read: the productions of the JSON texts that satisfy it.
#[derive(Clone, Debug)]
pub struct JsonSchema {
    fragment: fragment::Fragment,
    warnings: Vec<Diagnostic>,
    cost: Cost,
}

impl JsonSchema {
    /// Reads the schema in `text`, of draft 4, 6, 7, 2019-09 or 2020-12; the default is the last of
    /// these if `$schema` is missing.
    ///
    /// Costs about a millisecond for a schema of everyday size. `docs/json-schema.md` lists the
    /// keywords that are exact and those that are refused.
    ///
    /// ```
    /// use lrmask::{JsonSchema, SchemaOptions};
    ///
    /// let schema = JsonSchema::parse(r#"{"enum": ["yes", "no"]}"#, &SchemaOptions::default())?;
    /// let grammar = schema.grammar();
    /// # Ok::<(), lrmask::SchemaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the text is not a schema, if no value satisfies it, if it asks for something that is not
    /// supported, or if it exceeds a limit.
    pub fn parse(text: &str, options: &SchemaOptions) -> Result<Self, SchemaError> {
        GrammarReader::new().json_schema(text, options)
    }

    /// Reads a schema within the rest of a meter.
    fn metered(
        text: &str,
        options: &SchemaOptions,
        mut narrowing: Narrowing,
        meter: &Meter,
    ) -> Result<Self, SchemaError> {
        let meter = &meter.at(Phase::Schema);
        let documents = options.documents.values().map(String::len).sum::<usize>();
        meter.input(text.len() + documents)?;
        meter.step(STEPS_OF_A_BYTE * (text.len() + documents))?;
        let own = guidance::options(text, options)?;
        let options = own.as_ref().unwrap_or(options);
        loop {
            let error = match Self::read(text, options, narrowing, meter) {
                Ok(schema) => return Ok(schema),
                Err(error) if error.kind() == SchemaErrorKind::TooLarge => error,
                Err(error) => return Err(error),
            };
            // Sets of items and of keys are the first to grow.
            if !narrowing.bounded_items && text.contains("maxItems") {
                narrowing.bounded_items = true;
            } else if !narrowing.few_items && text.contains("uniqueItems") {
                narrowing.few_items = narrowing.unfollowed;
                narrowing.unfollowed = true;
            } else if options.order == KeyOrder::Any && !narrowing.declared {
                narrowing.declared = narrowing.few_sets;
                narrowing.few_sets = true;
            } else {
                return Err(error);
            }
        }
    }

    /// Reads the text with some features given up.
    fn read(
        text: &str,
        options: &SchemaOptions,
        narrowing: Narrowing,
        meter: &Meter,
    ) -> Result<Self, SchemaError> {
        let declared;
        let options = match narrowing.declared {
            true => {
                declared = SchemaOptions { order: KeyOrder::Declared, ..options.clone() };
                &declared
            }
            false => options,
        };
        let meter = &meter.part(meter.of_schemas().attempt_steps, STATES_OF_A_TEXT);
        let mut held = meter.holding();
        held.set(BYTES_OF_A_BYTE * text.len())?;
        let (schemas, root) = refs::Schemas::read(text, options)?;
        let mut reader = keywords::Reader::new(schemas, options);
        reader.keeps_few_items = narrowing.few_items;
        reader.bounds_items = narrowing.bounded_items;
        reader.follows_items = !narrowing.unfollowed;
        reader.keeps_few_sets = narrowing.few_sets;
        let formula = reader.child(root)?;
        Self::make(&mut machine::Machine::new(reader, meter), root, formula, narrowing, meter)
    }

    /// Runs the passes after reading.
    fn make(
        machine: &mut machine::Machine<'_>,
        root: json::NodeId,
        formula: formula::FormulaId,
        narrowing: Narrowing,
        meter: &Meter,
    ) -> Result<Self, SchemaError> {
        let options = machine.reader.options;
        let place = |machine: &mut machine::Machine<'_>, error: SchemaError| {
            let error = match error.kind() {
                SchemaErrorKind::TooLarge => machine.where_most_was_taken(error),
                _ => error,
            };
            error.at(String::new(), machine.reader.schemas.json.place(root))
        };
        let is_inhabited = match machine.is_inhabited(formula) {
            Ok(is_inhabited) => is_inhabited,
            Err(error) => return Err(place(machine, error)),
        };
        if !is_inhabited {
            let Some(narrowed) = machine.reader.warnings.first() else {
                return Self::nothing(machine.unsatisfiable(root), options, meter);
            };
            let message = "the approximations made for this schema leave no valid value";
            let error = SchemaError::new(SchemaErrorKind::UnsupportedKeyword, message)
                .help(narrowed.message.clone());
            return Err(place(machine, error));
        }
        let mut fragment = match build::build(machine, formula) {
            Ok(fragment) => fragment,
            Err(error) => return Err(place(machine, error)),
        };
        if !fragment.trim() {
            let error =
                SchemaError::new(SchemaErrorKind::Unsatisfiable, "no value satisfies the schema");
            return Self::nothing(place(machine, error), options, meter);
        }
        let mut warnings = std::mem::take(&mut machine.reader.schemas.warnings);
        warnings.append(&mut machine.reader.warnings);
        if narrowing.declared {
            let message =
                "the schema is too large for keys in any order; only the declared order is allowed";
            warnings.push(Diagnostic::warning("narrowed-schema", message));
        }
        Ok(Self { fragment, warnings, cost: meter.cost() })
    }

    /// Handles a schema that no value satisfies, as `error` says.
    fn nothing(
        error: SchemaError,
        options: &SchemaOptions,
        meter: &Meter,
    ) -> Result<Self, SchemaError> {
        if options.unsatisfiable == Unsatisfiable::Refuse
            || error.kind() != SchemaErrorKind::Unsatisfiable
        {
            return Err(error);
        }
        let mut fragment = fragment::Fragment::default();
        fragment.start = fragment.nonterminals("schema", 1);
        let no_token = Tokens::Others(Box::new(Tokens::Ids(vec![ALL_TOKENS])));
        let nothing = fragment.terminal("NOTHING", Pattern::Tokens(no_token));
        fragment.describe(nothing, "nothing: no value satisfies the schema".to_owned(), None);
        fragment.production(fragment.start, vec![nothing]);
        let found = error.diagnostic();
        let message = format!("{}: no text is allowed", found.message);
        let mut warning = Diagnostic::warning("empty-schema", message);
        if let Some(place) = found.place {
            warning = warning.at(place);
        }
        Ok(Self { fragment, warnings: vec![warning], cost: meter.cost() })
    }

    /// Returns the grammar whose sentences are the JSON texts of the values that satisfy the
    /// schema.
    pub fn grammar(&self) -> Grammar {
        let mut grammar = Grammar::plain(Vec::new(), Vec::new(), Vec::new(), Conflicts::Refuse);
        grammar.cost = self.cost;
        grammar.warnings.clone_from(&self.warnings);
        grammar.start = self.embed(&mut grammar, &mut MadeTerminals::default());
        grammar.starts = vec![grammar.start];
        grammar
    }

    /// Returns findings for the schema's author: constraints that are stricter than requested.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Adds the schema to a grammar and returns the nonterminal that derives its values. The
    /// terminals suit the contextual lexer: they compete only where several are possible. `made`
    /// contains the terminals of the schemas that the grammar has already.
    fn embed(&self, grammar: &mut Grammar, made: &mut MadeTerminals) -> NonterminalId {
        self.fragment.embed(grammar, made)
    }
}

impl GrammarReader<'_> {
    /// Reads a JSON Schema: see [`JsonSchema::parse`].
    ///
    /// # Errors
    ///
    /// Same as [`JsonSchema::parse`]; [`SchemaError::limit`] returns a limit that was reached.
    pub fn json_schema(
        &self,
        text: &str,
        options: &SchemaOptions,
    ) -> Result<JsonSchema, SchemaError> {
        JsonSchema::metered(text, options, Narrowing::default(), &Meter::new(self.within()))
    }
}

impl Grammar {
    /// Reads a schema and returns the grammar of the JSON texts that satisfy it:
    /// [`JsonSchema::parse`] and [`JsonSchema::grammar`].
    ///
    /// # Errors
    ///
    /// Same as [`JsonSchema::parse`].
    pub fn from_schema(text: &str, options: &SchemaOptions) -> Result<Self, SchemaError> {
        JsonSchema::parse(text, options).map(|schema| schema.grammar())
    }
}
