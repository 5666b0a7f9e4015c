//! What the caller may choose.

use std::collections::BTreeMap;

/// In which order the keys of an object may stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyOrder {
    /// Keys that the schema names stand in the order in which it names them; other keys stand
    /// anywhere.
    #[default]
    Declared,
    /// Keys stand in any order. Takes a state for each set of keys that may have been met; of
    /// objects with many keys only some are kept track of, and the others may stand twice.
    Any,
}

/// What may stand between the lexemes of JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Whitespace {
    /// Blanks, tabs and ends of lines, any number of them.
    #[default]
    Any,
    /// Nothing.
    None,
    /// What this regular expression, in the syntax of Python's `re`, describes. It must match the
    /// empty text too.
    Pattern(String),
}

/// What stands between two items or members, or between a key and its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Separator {
    /// This text.
    Text(String),
    /// What this regular expression, in the syntax of Python's `re`, describes.
    Pattern(String),
}

impl Separator {
    /// Whether it is certainly `mark`, with or without blanks around it.
    fn is_among_blanks(&self, mark: char) -> bool {
        let (Self::Text(text) | Self::Pattern(text)) = self;
        let Some((before, after)) = text.split_once(mark) else { return false };
        match self {
            Self::Text(_) => [before, after].iter().all(|part| part.trim_matches(BLANK).is_empty()),
            // Neither repeated, nor one of several ways, nor within a group.
            Self::Pattern(_) => {
                !after.starts_with(['?', '*', '+', '{'])
                    && !text.contains(['(', ')', '|'])
                    && certainly_describes_blanks(before)
                    && certainly_describes_blanks(after)
            }
        }
    }
}

/// What `format` does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Formats {
    /// Formats that a draft defines are held, others only annotate.
    #[default]
    Known,
    /// Formats that cannot be held are errors.
    Strict,
    /// Formats only annotate.
    Ignore,
}

/// Which escapes strings are written with, of those whose letters are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StringEscapes {
    /// Those that are needed: of quotes, backslashes and control characters, one for each.
    Needed,
    /// Strings of which nothing is asked have any, others those that are needed.
    #[default]
    Free,
    /// Strings of which nothing but a length is asked have any. A character counts as one, however
    /// it is written.
    General,
}

/// What becomes of a schema that no value satisfies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unsatisfiable {
    /// It is an error, which names keywords that contradict one another.
    #[default]
    Refuse,
    /// It is read, with a warning: its masks are empty, and no text is in its language.
    Empty,
}

/// How numbers may be written where a schema says something about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Numerals {
    /// Integers without a point, other numbers with digits on both sides of it; very large and very
    /// small numbers with an exponent, as Python and JavaScript write them.
    #[default]
    Plain,
    /// The same, and integers with a point and zeros behind it (`1.0`) where the draft takes these
    /// for integers.
    Any,
}

/// How a schema is read.
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
    /// In which order keys may stand.
    pub order: KeyOrder,
    /// What may stand between lexemes; never before or behind the whole value.
    pub whitespace: Whitespace,
    /// What stands between the items of an array and between the members of an object. Default `,`.
    pub item_separator: Separator,
    /// What stands between a key and its value. Default `:`.
    pub key_separator: Separator,
    /// What `format` does.
    pub formats: Formats,
    /// Which escapes strings are written with.
    pub escapes: StringEscapes,
    /// The characters that may stand behind a backslash. A character that needs an escape of other
    /// letters stands in no string. Default `"\/bfnrtu`, which is all that JSON has.
    pub escape_letters: String,
    /// How numbers may be written.
    pub numerals: Numerals,
    /// What becomes of a schema that no value satisfies.
    pub unsatisfiable: Unsatisfiable,
    /// Whether `"nullable": true` has `null` among the types that stand beside it, as OpenAPI 3.0
    /// says. Default no: JSON Schema has no such keyword, and a warning tells.
    pub nullable: bool,
    /// The definition that is meant, in the place of the whole schema: by its name in `$defs` or
    /// `definitions`, or a JSON pointer.
    pub definition: Option<String>,
    /// Other documents that `$ref` may lead to, by their absolute addresses without fragments.
    pub documents: BTreeMap<String, String>,
}

/// What may stand behind a backslash in JSON.
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
            definition: None,
            documents: BTreeMap::new(),
        }
    }
}

impl SchemaOptions {
    /// Bytes of its texts.
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

    /// Whether nothing but blanks, a comma and a colon certainly stands between values.
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

/// Whether a regular expression has the letters of one that describes blanks only.
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
