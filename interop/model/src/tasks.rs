//! The tasks: prompts of one kind, and the grammar of their answers.

use std::path::Path;

use anyhow::{Context, Result};
use lrmask::{
    Constraint, ConstraintBuilder, SchemaOptions, Separator, Source, Vocabulary, Whitespace,
};

use crate::prompts;

/// Prompts of one kind, and the grammar of their answers.
#[derive(Clone)]
pub struct Task {
    /// The name in tables.
    pub name: &'static str,
    /// Returns a prompt.
    pub prompt: fn(usize) -> String,
    /// The grammar.
    pub grammar: Text,
    /// Number of tokens after which a text is cut.
    pub limit: usize,
}

/// The text of a grammar.
#[derive(Clone, Debug)]
pub enum Text {
    /// A JSON Schema, with any white space.
    Schema(&'static str),
    /// A JSON Schema, with one spelling of white space: `, ` and `: `.
    Fixed(&'static str),
    /// A grammar of the project: its path, and its start rule.
    File(&'static str, &'static str),
    /// A grammar in Lark's notation.
    Lark(&'static str),
}

impl Text {
    fn source(&self) -> Result<Source> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read =
            |path: &str| std::fs::read_to_string(root.join(path)).with_context(|| path.to_owned());
        let mut options = SchemaOptions::default();
        Ok(match self {
            Self::Schema(schema) => Source::json_schema(*schema, &options),
            Self::Fixed(schema) => {
                options.whitespace = Whitespace::None;
                options.item_separator = Separator::Text(", ".to_owned());
                options.key_separator = Separator::Text(": ".to_owned());
                Source::json_schema(*schema, &options)
            }
            Self::File(path, start) => Source::lark(read(path)?)
                .start(*start)
                .file("identifiers.lark", read("grammars/python/identifiers.lark")?),
            Self::Lark(text) => Source::lark(*text),
        })
    }
}

impl Task {
    /// Returns the constraint of the grammar.
    pub fn constraint(&self, vocabulary: &Vocabulary) -> Result<Constraint> {
        self.built(&Constraint::builder(), vocabulary)
    }

    /// Returns the constraint of the grammar with bounds on ignored text and strings.
    pub fn constraint_for_models(&self, vocabulary: &Vocabulary) -> Result<Constraint> {
        self.built(&Constraint::builder().for_models(), vocabulary)
    }

    fn built(&self, builder: &ConstraintBuilder, vocabulary: &Vocabulary) -> Result<Constraint> {
        builder
            .read(&self.grammar.source()?, vocabulary)
            .with_context(|| format!("the task {}", self.name))
    }
}

fn of_schema(
    name: &'static str,
    schema: &'static str,
    prompt: fn(usize) -> String,
    limit: usize,
) -> Task {
    Task { name, prompt, grammar: Text::Schema(schema), limit }
}

const PERSON: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"},
        "job": {"type": "string"}, "city": {"type": "string"}
    },
    "required": ["name", "age", "job", "city"],
    "additionalProperties": false
}"#;

const CHARACTER: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "class": {"enum": ["wizard", "ranger", "thief", "paladin", "bard"]},
        "level": {"type": "integer", "minimum": 1, "maximum": 20},
        "armor": {"enum": ["leather", "chain mail", "plate"]},
        "weapons": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}
    },
    "required": ["name", "class", "level", "armor", "weapons"],
    "additionalProperties": false
}"#;

const STEPS: &str = r#"{
    "type": "object",
    "properties": {
        "thoughts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "step": {"type": "string"}, "calculation": {"type": "string"},
                    "result": {"type": "number"}
                },
                "required": ["step", "calculation", "result"],
                "additionalProperties": false
            },
            "minItems": 1, "maxItems": 4
        },
        "answer": {"type": "number"}
    },
    "required": ["thoughts", "answer"],
    "additionalProperties": false
}"#;

/// Facts of a person, after an example.
pub fn person_after_example() -> Task {
    let prompt = |index| prompts::person_as_json(index, true);
    of_schema("person, one example", PERSON, prompt, 120)
}

/// Facts of a person.
pub fn person() -> Task {
    let prompt = |index| prompts::person_as_json(index, false);
    of_schema("person", PERSON, prompt, 120)
}

/// The same, with one spelling of white space.
pub fn person_with_separators() -> Task {
    Task { name: "person, fixed separators", grammar: Text::Fixed(PERSON), ..person() }
}

/// A character of a game.
pub fn character() -> Task {
    of_schema("character", CHARACTER, prompts::character, 120)
}

/// The same, with one spelling of white space.
pub fn character_with_separators() -> Task {
    let grammar = Text::Fixed(CHARACTER);
    Task { name: "character, fixed separators", grammar, ..character() }
}

/// Steps of a sum in words, after three examples.
pub fn steps() -> Task {
    of_schema("steps, three examples", STEPS, prompts::steps, 150)
}

/// Steps of a sum in words.
pub fn steps_without_examples() -> Task {
    of_schema("steps", STEPS, prompts::steps_without_examples, 150)
}

/// JSON of any kind.
pub fn any_json() -> Task {
    let grammar = Text::File("grammars/json/json.lark", "json");
    Task { name: "JSON without a schema", prompt: prompts::any_json, grammar, limit: 150 }
}

/// A person in XML: the grammar of DOMINO's listing 6.
const XML: &str = r#"
start: person
person: "<person>" blank name age job friends? "</person>"
name: "<name>" TEXT "</name>" blank
age: "<age>" TEXT "</age>" blank
job: "<job>" blank title salary "</job>" blank
title: "<title>" TEXT "</title>" blank
salary: "<salary>" TEXT "</salary>" blank
friends: "<friends>" blank (person blank)+ "</friends>" blank
blank: BLANK?
BLANK: /[ \t\n]+/
TEXT: /[^<]+/
"#;

/// A person in XML.
pub fn xml() -> Task {
    let grammar = Text::Lark(XML);
    Task { name: "XML with a schema", prompt: prompts::xml, grammar, limit: 120 }
}

/// A function in a language like C.
pub fn c_program() -> Task {
    let grammar = Text::File("benches/peers/workloads/c-like/reserving.lark", "start");
    Task { name: "C", prompt: prompts::c_program, grammar, limit: 150 }
}

/// An SQL query.
pub fn sqlite() -> Task {
    let prompt = |index| prompts::query(index, false);
    let grammar = Text::File("grammars/sqlite/sqlite.lark", "query");
    Task { name: "sqlite", prompt, grammar, limit: 150 }
}

/// An SQL query, after an open fence.
pub fn fenced_sqlite() -> Task {
    let prompt = |index| prompts::query(index, true);
    Task { name: "sqlite, open fence", prompt, ..sqlite() }
}

/// A function in Python.
pub fn python() -> Task {
    let prompt = |index| prompts::function(index, false);
    let grammar = Text::File("grammars/python/python.lark", "module");
    Task { name: "python", prompt, grammar, limit: 150 }
}

/// A function in Python, after an open fence.
pub fn fenced_python() -> Task {
    let prompt = |index| prompts::function(index, true);
    Task { name: "python, open fence", prompt, ..python() }
}
