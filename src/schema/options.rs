//! Options that the caller may choose.

use std::collections::BTreeMap;

/// Order of the keys of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyOrder {
    /// Keys that the schema names appear in the order in which it names them; other keys may appear
    /// anywhere.
    #[default]
    Declared,
    /// Keys may appear in any order. This takes a state for each set of keys that may have been
    /// met. In objects with many keys only some are tracked, and the others may appear twice.
    Any,
}

/// Whitespace allowed between the lexemes of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Whitespace {
    /// Any number of spaces, tabs and line breaks.
    #[default]
    Any,
    /// Nothing.
    None,
    /// Text that matches this regular expression, in the syntax of Python's `re`. It must match the
    /// empty text too.
    Pattern(String),
}

/// Separator between two items or members, or between a key and its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Separator {
    /// This text.
    Text(String),
    /// Text that matches this regular expression, in the syntax of Python's `re`.
    Pattern(String),
}

impl Separator {
    /// Whether the separator is certainly `mark`, with or without blanks around it.
    fn is_among_blanks(&self, mark: char) -> bool {
        let (Self::Text(text) | Self::Pattern(text)) = self;
        let Some((before, after)) = text.split_once(mark) else { return false };
        match self {
            Self::Text(_) => [before, after].iter().all(|part| part.trim_matches(BLANK).is_empty()),
            // The mark is not repeated, not in an alternative and not in a group.
            Self::Pattern(_) => {
                !after.starts_with(['?', '*', '+', '{'])
                    && !text.contains(['(', ')', '|'])
                    && certainly_describes_blanks(before)
                    && certainly_describes_blanks(after)
            }
        }
    }
}

/// Treatment of `format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formats {
    /// Formats that a draft defines are enforced; others are annotations.
    #[default]
    Known,
    /// Formats that cannot be enforced are errors.
    Strict,
    /// All formats are annotations.
    Ignore,
}

/// Escapes allowed in strings, among those whose letters are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringEscapes {
    /// Only necessary escapes: of quotes, backslashes and control characters, one for each.
    Needed,
    /// Any escape in strings without constraints; only necessary ones in others.
    #[default]
    Free,
    /// Any escape in strings that are constrained at most by a length. An escaped character counts
    /// as one.
    General,
}

/// Treatment of a schema that no value satisfies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsatisfiable {
    /// The schema is an error, which names keywords that contradict each other.
    #[default]
    Refuse,
    /// The schema is accepted with a warning: its masks are empty, and its language has no texts.
    Empty,
}

/// Spelling of numbers that a schema constrains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numerals {
    /// Integers have no decimal point, other numbers have digits on both sides of it; very large
    /// and very small numbers have an exponent, as in Python and JavaScript.
    #[default]
    Plain,
    /// Like `Plain`, but integers may also have a decimal point followed by zeros (`1.0`) if the
    /// draft counts these as integers.
    Any,
}

/// Options for reading a schema.
///
/// ```
/// use lrmask::{KeyOrder, SchemaOptions, Whitespace};
///
/// let mut options = SchemaOptions::default();
/// options.order = KeyOrder::Any;
/// options.whitespace = Whitespace::None;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct SchemaOptions {
    /// Order of the keys of an object.
    pub order: KeyOrder,
    /// Whitespace allowed between lexemes; never before or after the whole value.
    pub whitespace: Whitespace,
    /// Separator between the items of an array and between the members of an object. Default `,`.
    pub item_separator: Separator,
    /// Separator between a key and its value. Default `:`.
    pub key_separator: Separator,
    /// Treatment of `format`.
    pub formats: Formats,
    /// Escapes allowed in strings.
    pub escapes: StringEscapes,
    /// Characters allowed after a backslash. A character that must be escaped, but only with other
    /// letters, is not allowed in strings. Default `"\/bfnrtu`, which is all that JSON has.
    pub escape_letters: String,
    /// Spelling of numbers.
    pub numerals: Numerals,
    /// Treatment of a schema that no value satisfies.
    pub unsatisfiable: Unsatisfiable,
    /// Whether `"nullable": true` adds `null` to the types next to it, as in OpenAPI 3.0. Default
    /// `false`: JSON Schema has no such keyword, and a warning is given.
    pub nullable: bool,
    /// Maximum length, in characters, of strings for which the schema names none. Default `None`:
    /// no bound. A bound that leaves no string has no effect.
    pub default_max_length: Option<u32>,
    /// Maximum number of items of arrays for which the schema names none, if it asks nothing of
    /// them but their number and the schema of each item. Default `None`.
    pub default_max_items: Option<u32>,
    /// Maximum number of digits of numbers that the schema does not list. Default `None`. A bound
    /// that leaves no number has no effect.
    pub default_max_digits: Option<u32>,
    /// Definition to use in place of the whole schema: its name in `$defs` or `definitions`, or a
    /// JSON pointer.
    pub definition: Option<String>,
    /// Other documents that `$ref` may refer to, by their absolute addresses without fragments.
    pub documents: BTreeMap<String, String>,
}

/// Characters that JSON allows after a backslash.
pub(super) const ESCAPE_LETTERS: &str = "\"\\/bfnrtu";

impl Default for SchemaOptions {
    fn default() -> Self {
        Self {
            order: KeyOrder::default(),
            whitespace: Whitespace::default(),
            item_separator: Separator::Text(",".to_owned()),
            key_separator: Separator::Text(":".to_owned()),
            formats: Formats::default(),
            escapes: StringEscapes::default(),
            escape_letters: ESCAPE_LETTERS.to_owned(),
            numerals: Numerals::default(),
            unsatisfiable: Unsatisfiable::default(),
            nullable: false,
            default_max_length: None,
            default_max_items: None,
            default_max_digits: None,
            definition: None,
            documents: BTreeMap::new(),
        }
    }
}

/// White space between lexemes, for models: a line break and its indentation.
const WHITESPACE_FOR_MODELS: &str = r"[ \t\n\r]{0,64}";

impl SchemaOptions {
    /// Sets what keeps a model from writing for ever, where nothing else is set: strings of at most
    /// 1,000 characters, arrays of at most 100 items, numbers of at most 20 digits, and at most 64
    /// blanks next to a bracket, comma or colon. All of these are off by default, since they narrow
    /// the language.
    ///
    /// ```
    /// use lrmask::{Grammar, SchemaOptions};
    ///
    /// let options = SchemaOptions::default().for_models();
    /// assert_eq!(options.default_max_length, Some(1_000));
    /// let grammar = Grammar::from_schema(r#"{"type": "string"}"#, &options)?;
    /// # Ok::<(), lrmask::SchemaError>(())
    /// ```
    #[must_use]
    pub fn for_models(mut self) -> Self {
        self.default_max_length.get_or_insert(1_000);
        self.default_max_items.get_or_insert(100);
        self.default_max_digits.get_or_insert(20);
        if self.whitespace == Whitespace::Any {
            self.whitespace = Whitespace::Pattern(WHITESPACE_FOR_MODELS.to_owned());
        }
        self
    }

    /// Number of bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let Self { item_separator, key_separator, escape_letters, documents, .. } = self;
        let document = |(address, text): (&String, &String)| address.len() + text.len();
        let separator = |of: &Separator| {
            let (Separator::Text(text) | Separator::Pattern(text)) = of;
            text.len()
        };
        separator(item_separator)
            + separator(key_separator)
            + escape_letters.len()
            + self.definition.as_ref().map_or(0, String::len)
            + documents.iter().map(document).sum::<usize>()
    }

    /// Whether the separators between values are certainly only blanks, a comma and a colon.
    pub(super) fn have_json_separators(&self) -> bool {
        let blanks = match &self.whitespace {
            Whitespace::Any | Whitespace::None => true,
            Whitespace::Pattern(expression) => certainly_describes_blanks(expression),
        };
        blanks
            && self.item_separator.is_among_blanks(',')
            && self.key_separator.is_among_blanks(':')
    }
}

const BLANK: [char; 4] = [' ', '\t', '\n', '\r'];

/// Whether a regular expression consists only of characters that describe blanks.
fn certainly_describes_blanks(expression: &str) -> bool {
    let mut letters = expression.chars();
    let mut counts = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next().is_some_and(|letter| "stnr".contains(letter)) => {}
            '{' | '}' => counts = letter == '{',
            '0'..='9' | ',' if counts => {}
            '[' | ']' | '(' | ')' | '?' | '*' | '+' | '|' => {}
            _ if BLANK.contains(&letter) => {}
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_json() {
        let mut options = SchemaOptions::default();
        for (expression, expected) in [
            (r"\s*", true),
            ("[ \n]?", true),
            (r"( |\n){0,12}", true),
            ("[ 0]", false),
            (r"\S*", false),
            ("[^ ]", false),
            (".", false),
        ] {
            options.whitespace = Whitespace::Pattern(expression.to_owned());
            assert_eq!(options.have_json_separators(), expected, "{expression}");
        }
        options.whitespace = Whitespace::None;
        for (separator, expected) in [(",", true), (" ,\n", true), (";", false), (", 1", false)] {
            options.item_separator = Separator::Text(separator.to_owned());
            assert_eq!(options.have_json_separators(), expected, "{separator}");
        }
        for (pattern, expected) in [
            (" ?, ?", true),
            (",", true),
            ("[ \n]*,", true),
            (",?", false),
            (",*", false),
            ("(,|;)", false),
            ("(, )?", false),
            (" ", false),
        ] {
            options.item_separator = Separator::Pattern(pattern.to_owned());
            assert_eq!(options.have_json_separators(), expected, "{pattern}");
        }
    }
}
