//! JSON schemas in the place of grammars, and how they are read.

use lrmask::{Formats, Grammar, JsonSchema, KeyOrder, Limits, Numerals, SchemaOptions, Whitespace};

use crate::grammars::LoadError;

/// How a JSON schema is read.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SchemaArguments {
    /// Of a JSON schema: in which order keys may stand.
    #[arg(long, value_enum, default_value_t = Order::Declared)]
    pub(crate) order: Order,
    /// Of a JSON schema: what may stand between lexemes, `any`, `none`, or a regular expression.
    #[arg(long, default_value = "any", value_name = "any|none|REGEX")]
    pub(crate) whitespace: String,
    /// Of a JSON schema: which formats are held.
    #[arg(long, value_enum, default_value_t = Held::Known)]
    pub(crate) formats: Held,
    /// Of a JSON schema: how numbers may be written.
    #[arg(long, value_enum, default_value_t = Written::Plain)]
    pub(crate) numerals: Written,
}

/// In which order keys may stand.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Order {
    /// As the schema names them.
    #[default]
    Declared,
    /// In any.
    Any,
}

/// Which formats are held.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Held {
    /// Those that a draft defines; others only annotate.
    #[default]
    Known,
    /// Those that a draft defines; others are errors.
    Strict,
    /// None.
    Ignore,
}

/// How numbers may be written.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(crate) enum Written {
    /// Integers without a point.
    #[default]
    Plain,
    /// Integers with `.0` too.
    Any,
}

/// Reads the text of a JSON schema.
pub(crate) fn schema(arguments: &SchemaArguments, text: &str, limits: &Limits) -> Result<Grammar, LoadError> {
    let mut options = SchemaOptions::default();
    options.order = match arguments.order {
        Order::Declared => KeyOrder::Declared,
        Order::Any => KeyOrder::Any,
    };
    options.whitespace = match arguments.whitespace.as_str() {
        "any" => Whitespace::Any,
        "none" => Whitespace::None,
        pattern => Whitespace::Pattern(pattern.to_owned()),
    };
    options.formats = match arguments.formats {
        Held::Known => Formats::Known,
        Held::Strict => Formats::Strict,
        Held::Ignore => Formats::Ignore,
    };
    options.numerals = match arguments.numerals {
        Written::Plain => Numerals::Plain,
        Written::Any => Numerals::Any,
    };
    let schema = JsonSchema::parse_within(text, &options, limits);
    let schema = schema.map_err(|error| LoadError::Refused(vec![error.diagnostic()]))?;
    Ok(schema.grammar())
}
