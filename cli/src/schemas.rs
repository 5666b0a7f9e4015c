//! JSON schemas in place of grammars, and the options for reading them.

use std::collections::BTreeMap;

use lrmask::{
    Formats, Grammar, GrammarReader, KeyOrder, Limits, Numerals, SchemaOptions, StructuralTags,
    Unsatisfiable, Whitespace,
};

use crate::failure::Failure;
use crate::grammars::{GrammarArgument, LoadError, Sources};
use crate::input::Inputs;

/// Heading of these options in the help.
const HEADING: &str = "JSON schemas";

/// How a JSON schema is read.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SchemaArguments {
    /// The order of keys.
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Order::Declared)]
    pub(crate) order: Order,
    /// The white space between lexemes: `any`, `none`, or a regular expression.
    #[arg(help_heading = HEADING, long, default_value = "any", value_name = "any|none|REGEX")]
    pub(crate) whitespace: String,
    /// The formats that are enforced.
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = FormatPolicy::Known)]
    pub(crate) formats: FormatPolicy,
    /// The spelling of numbers.
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Written::Plain)]
    pub(crate) numerals: Written,
    /// The treatment of a schema that no value satisfies.
    #[arg(help_heading = HEADING, long, value_enum, default_value_t = Contradictory::Refuse)]
    pub(crate) unsatisfiable: Contradictory,
    /// `"nullable": true` allows `null`, as OpenAPI 3.0 has it.
    #[arg(long)]
    pub(crate) nullable: bool,
    /// The definition to use, by its name or a JSON pointer.
    #[arg(long, value_name = "NAME|POINTER")]
    pub(crate) definition: Option<String>,
    /// A document to which references may lead, and its address in them. May be given several
    /// times.
    #[arg(help_heading = HEADING, long, value_name = "ADDRESS=FILE")]
    pub(crate) document: Vec<String>,
}

/// The order of keys.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Order {
    /// The order of the schema.
    #[default]
    Declared,
    /// Any order.
    Any,
}

/// The formats that are enforced.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum FormatPolicy {
    /// Formats that a draft defines; others only annotate.
    #[default]
    Known,
    /// Formats that a draft defines; others are errors.
    Strict,
    /// None.
    Ignore,
}

/// The spelling of numbers.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Written {
    /// Integers without a point.
    #[default]
    Plain,
    /// Integers with `.0` too.
    Any,
}

/// The treatment of a schema that no value satisfies.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Contradictory {
    /// It is an error.
    #[default]
    Refuse,
    /// No text is allowed.
    Empty,
}

/// Reads the text of a JSON schema.
pub(crate) fn schema(
    argument: &GrammarArgument,
    text: &str,
    limits: &Limits,
    inputs: &Inputs,
    sources: &Sources,
) -> Result<Grammar, LoadError> {
    let mut options = options(argument);
    options.documents = argument.schema.documents(inputs, sources)?;
    let schema = GrammarReader::new().limits(limits).json_schema(text, &options);
    let schema = schema.map_err(|error| LoadError::Refused(vec![error.diagnostic()]))?;
    Ok(schema.grammar())
}

/// Reads the text of structural tags.
pub(crate) fn tags(
    argument: &GrammarArgument,
    text: &str,
    limits: &Limits,
) -> Result<Grammar, LoadError> {
    let tags = StructuralTags::parse(text);
    let grammar = tags.and_then(|tags| {
        GrammarReader::new().limits(limits).structural_tags(&tags, &options(argument))
    });
    grammar.map_err(|error| LoadError::Refused(vec![error.diagnostic()]))
}

fn options(argument: &GrammarArgument) -> SchemaOptions {
    let options = argument.schema.options();
    if argument.for_models { options.for_models() } else { options }
}

impl SchemaArguments {
    /// Returns the other documents, by their addresses.
    fn documents(
        &self,
        inputs: &Inputs,
        sources: &Sources,
    ) -> Result<BTreeMap<String, String>, Failure> {
        let mut documents = BTreeMap::new();
        for document in &self.document {
            // An address may contain `=` in its query, a file name hardly ever does.
            let Some((address, file)) = document.rsplit_once('=') else {
                let message = format!("`{document}` is not of the form ADDRESS=FILE");
                return Err(Failure::unusable(message));
            };
            let text = inputs.text(file)?;
            sources.add(address, &text);
            documents.insert(address.to_owned(), text);
        }
        Ok(documents)
    }

    fn options(&self) -> SchemaOptions {
        let mut options = SchemaOptions::default();
        options.order = match self.order {
            Order::Declared => KeyOrder::Declared,
            Order::Any => KeyOrder::Any,
        };
        options.whitespace = match self.whitespace.as_str() {
            "any" => Whitespace::Any,
            "none" => Whitespace::None,
            pattern => Whitespace::Pattern(pattern.to_owned()),
        };
        options.formats = match self.formats {
            FormatPolicy::Known => Formats::Known,
            FormatPolicy::Strict => Formats::Strict,
            FormatPolicy::Ignore => Formats::Ignore,
        };
        options.numerals = match self.numerals {
            Written::Plain => Numerals::Plain,
            Written::Any => Numerals::Any,
        };
        options.unsatisfiable = match self.unsatisfiable {
            Contradictory::Refuse => Unsatisfiable::Refuse,
            Contradictory::Empty => Unsatisfiable::Empty,
        };
        options.nullable = self.nullable;
        options.definition.clone_from(&self.definition);
        options
    }
}
