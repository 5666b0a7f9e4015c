//! Grammars as texts with all options for reading them, used as keys of a cache.

use std::collections::BTreeMap;
use std::io;

use super::build_error::BuildError;
use crate::grammar::{Grammar, GrammarReader};
use crate::schema::{SchemaOptions, StructuralTags};
use crate::util::limits::Limits;

/// A grammar as a text: its notation, its start symbol, the files that it imports, the options of a
/// schema. Equal sources mean the same; nothing is read before it is needed.
///
/// ```
/// use lrmask::{Constraint, SchemaOptions, Source, Vocabulary};
///
/// let vocabulary = Vocabulary::single_bytes();
/// let list = Source::lark("%import .words.WORD\nlist: WORD+").start("list");
/// let list = list.file("words.lark", "WORD: /[a-z]+/");
/// let schema = Source::json_schema(r#"{"enum": ["yes", "no"]}"#, &SchemaOptions::default());
/// for source in [list, schema] {
///     let constraint = Constraint::builder().read(&source, &vocabulary)?;
///     assert!(constraint.matcher().can_continue());
/// }
/// # Ok::<(), lrmask::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    text: Text,
    start: Option<String>,
    files: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Text {
    Lark(String),
    Gbnf(String),
    Yacc { grammar: String, terminals: String },
    Regex(String),
    Choices(Vec<String>),
    JsonSchema(String, SchemaOptions),
    StructuralTags(StructuralTags, SchemaOptions),
}

impl Source {
    fn new(text: Text) -> Self {
        Self { text, start: None, files: BTreeMap::new() }
    }

    /// Creates a source in Lark's notation: see [`Grammar::from_lark`].
    pub fn lark(text: impl Into<String>) -> Self {
        Self::new(Text::Lark(text.into()))
    }

    /// Creates a source in GBNF, or another of the `::=` notations: see [`Grammar::from_gbnf`].
    pub fn gbnf(text: impl Into<String>) -> Self {
        Self::new(Text::Gbnf(text.into()))
    }

    /// Creates a source from a Yacc file and its terminals: see [`GrammarReader::yacc`].
    pub fn yacc(grammar: impl Into<String>, terminals: impl Into<String>) -> Self {
        Self::new(Text::Yacc { grammar: grammar.into(), terminals: terminals.into() })
    }

    /// Creates a source for the texts that a regex matches as a whole: see [`Grammar::from_regex`].
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self::new(Text::Regex(pattern.into()))
    }

    /// Creates a source for exactly these texts: see [`Grammar::from_choices`].
    pub fn choices<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::new(Text::Choices(texts.into_iter().map(Into::into).collect()))
    }

    /// Creates a source from a JSON Schema: see [`Grammar::from_schema`].
    pub fn json_schema(text: impl Into<String>, options: &SchemaOptions) -> Self {
        Self::new(Text::JsonSchema(text.into(), options.clone()))
    }

    /// Creates a source for free text with tagged JSON in it: see [`StructuralTags::grammar`].
    pub fn structural_tags(tags: &StructuralTags, options: &SchemaOptions) -> Self {
        Self::new(Text::StructuralTags(tags.clone(), options.clone()))
    }

    /// Sets the start symbol, in place of the one in the text: see [`GrammarReader::start`].
    #[must_use]
    pub fn start(mut self, rule: impl Into<String>) -> Self {
        self.start = Some(rule.into());
        self
    }

    /// Adds a file that the text may import, with its path relative to the text.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    /// Returns the source with bounds for models in the options of a schema.
    pub(super) fn for_models(&self) -> Self {
        let mut source = self.clone();
        if let Text::JsonSchema(_, options) | Text::StructuralTags(_, options) = &mut source.text {
            *options = std::mem::take(options).for_models();
        }
        source
    }

    /// Reads the grammar within `limits`.
    ///
    /// # Errors
    ///
    /// As the function for its notation.
    pub fn grammar(&self, limits: &Limits) -> Result<Grammar, BuildError> {
        let imports =
            |path: &str| self.files.get(path).cloned().ok_or(io::ErrorKind::NotFound.into());
        let reader = GrammarReader::new().start(self.start.as_deref()).imports(&imports);
        let reader = reader.limits(limits);
        Ok(match &self.text {
            Text::Lark(text) => reader.lark(text)?,
            Text::Gbnf(text) => reader.gbnf(text)?,
            Text::Yacc { grammar, terminals } => reader.yacc(grammar, terminals)?,
            Text::Regex(pattern) => reader.regex(pattern)?,
            Text::Choices(texts) => reader.choices(texts)?,
            Text::JsonSchema(text, options) => reader.json_schema(text, options)?.grammar(),
            Text::StructuralTags(tags, options) => reader.structural_tags(tags, options)?,
        })
    }

    /// Returns the number of bytes of its texts.
    pub(super) fn bytes(&self) -> usize {
        let text = match &self.text {
            Text::Lark(text) | Text::Gbnf(text) | Text::Regex(text) => text.len(),
            Text::Yacc { grammar, terminals } => grammar.len() + terminals.len(),
            Text::Choices(texts) => texts.iter().map(String::len).sum(),
            Text::JsonSchema(text, options) => text.len() + options.bytes(),
            Text::StructuralTags(tags, options) => tags.bytes() + options.bytes(),
        };
        let file = |(path, text): (&String, &String)| path.len() + text.len();
        text + self.files.iter().map(file).sum::<usize>()
    }
}
