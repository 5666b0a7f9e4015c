//! Options for reading JSON schemas, from keyword arguments.

use lrmask::{
    Formats, KeyOrder, Numerals, SchemaOptions, Separator, StringEscapes, Unsatisfiable, Whitespace,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Reads the options; those that are absent or `None` are the default ones.
pub(crate) fn read(fields: &Bound<'_, PyDict>) -> PyResult<SchemaOptions> {
    let mut options = SchemaOptions::default();
    for (name, value) in fields {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        let text = || value.extract::<String>();
        match name.as_str() {
            "order" => {
                options.order = choice(
                    &name,
                    &value,
                    [("declared", KeyOrder::Declared), ("any", KeyOrder::Any)],
                )?;
            }
            "whitespace" => {
                options.whitespace =
                    choice(&name, &value, [("any", Whitespace::Any), ("none", Whitespace::None)])?;
            }
            "whitespace_pattern" => options.whitespace = Whitespace::Pattern(text()?),
            "item_separator" => options.item_separator = Separator::Text(text()?),
            "item_separator_pattern" => options.item_separator = Separator::Pattern(text()?),
            "key_separator" => options.key_separator = Separator::Text(text()?),
            "key_separator_pattern" => options.key_separator = Separator::Pattern(text()?),
            "formats" => {
                let known = [
                    ("known", Formats::Known),
                    ("strict", Formats::Strict),
                    ("ignore", Formats::Ignore),
                ];
                options.formats = choice(&name, &value, known)?;
            }
            "escapes" => {
                let known = [
                    ("needed", StringEscapes::Needed),
                    ("free", StringEscapes::Free),
                    ("general", StringEscapes::General),
                ];
                options.escapes = choice(&name, &value, known)?;
            }
            "escape_letters" => options.escape_letters = text()?,
            "numerals" => {
                options.numerals =
                    choice(&name, &value, [("plain", Numerals::Plain), ("any", Numerals::Any)])?;
            }
            "unsatisfiable" => {
                let known = [("refuse", Unsatisfiable::Refuse), ("empty", Unsatisfiable::Empty)];
                options.unsatisfiable = choice(&name, &value, known)?;
            }
            "default_max_length" => options.default_max_length = value.extract()?,
            "default_max_items" => options.default_max_items = value.extract()?,
            "default_max_digits" => options.default_max_digits = value.extract()?,
            "nullable" => options.nullable = value.extract()?,
            "definition" => options.definition = Some(text()?),
            "documents" => options.documents = value.extract()?,
            _ => {
                let message = format!("schemas have no option called {name:?}");
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    Ok(options)
}

fn choice<T, const N: usize>(
    option: &str,
    value: &Bound<'_, PyAny>,
    known: [(&str, T); N],
) -> PyResult<T> {
    let value: String = value.extract()?;
    let names = known.each_ref().map(|(name, _)| format!("{name:?}")).join(" or ");
    let found = known.into_iter().find(|(name, _)| *name == value);
    let message = || PyValueError::new_err(format!("{option} is {value:?}; it may be {names}"));
    found.map(|(_, value)| value).ok_or_else(message)
}
