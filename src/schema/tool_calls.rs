//! Calls of tools in the forms of model families, written as structural tags.

use std::fmt::Write as _;

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::tags::StructuralTags;

/// The form in which the models of a family call tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolForm {
    /// Hermes 2 and 3, Qwen 2.5 and 3: `<tool_call>`, a JSON object, `</tool_call>`.
    Hermes,
    /// Llama 3.1 to 3.3: a JSON object with `name` and `parameters`.
    Llama3,
    /// Llama 4, and others that call functions in Python's syntax: `[get_weather(city="Paris")]`.
    /// Values are those of JSON, but for `True`, `False` and `None` as arguments; arguments are
    /// named, in the order of the schema.
    Python,
    /// Mistral: `[TOOL_CALLS]` and a list of JSON objects.
    Mistral,
    /// DeepSeek V3.1.
    DeepSeek,
    /// Kimi K2.
    Kimi,
    /// GLM 4.5 and 4.6: `<tool_call>`, keys and values as elements. Strings are written as they
    /// are, and other values as JSON.
    Glm,
    /// gpt-oss (harmony), after `<|start|>assistant`. The special tokens of this form must be
    /// special tokens of the vocabulary. Calls end at the stop token `<|call|>`, answers at
    /// `<|return|>`.
    Harmony,
}

/// How many tools are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Calls {
    /// Any number, in free text.
    #[default]
    Any,
    /// None: free text without the beginning of a call.
    None,
    /// Free text, and at most one call, which ends it.
    AtMostOne,
    /// A call at the beginning, and then any number in free text.
    AtLeastOne,
    /// A call and nothing else.
    One,
}

/// Tools, and the form in which a model calls them.
///
/// A call that the prompt has begun is continued: give its text to
/// [`Matcher::advance_bytes`](crate::Matcher::advance_bytes), and its special tokens to `advance`.
///
/// ```
/// use lrmask::{Calls, Constraint, SchemaOptions, ToolCalls, ToolForm, Vocabulary};
///
/// let mut tools = ToolCalls::new(ToolForm::Hermes, Calls::One);
/// tools.add_tool("get_time", r#"{"type": "object", "properties": {}, "additionalProperties": false}"#);
/// let grammar = tools.tags()?.grammar(&SchemaOptions::default())?;
/// let mut matcher = Constraint::new(&grammar, &Vocabulary::single_bytes())?.matcher();
/// matcher.advance_bytes(b"<tool_call>\n")?; // the end of the prompt
/// matcher.advance_bytes(b"{\"name\": \"get_time\", \"arguments\": {}}\n</tool_call>")?;
/// assert!(matcher.is_accepting() && !matcher.can_continue());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolCalls {
    form: ToolForm,
    calls: Calls,
    tools: Vec<(String, String)>,
}

/// A format, as JSON.
type Format = String;

type Result<T> = std::result::Result<T, SchemaError>;

impl ToolCalls {
    /// Creates a set of no tools.
    pub fn new(form: ToolForm, calls: Calls) -> Self {
        Self { form, calls, tools: Vec::new() }
    }

    /// Adds a tool: its name, and the JSON Schema of its arguments, an object.
    pub fn add_tool(&mut self, name: &str, parameters: &str) {
        self.tools.push((name.to_owned(), parameters.to_owned()));
    }

    /// Returns the structural tags of these calls.
    ///
    /// # Errors
    ///
    /// If there are no tools, or the schema of one is not JSON. Other faults of schemas are
    /// reported by [`StructuralTags::grammar`].
    pub fn tags(&self) -> Result<StructuralTags> {
        if self.tools.is_empty() {
            let error = SchemaError::new(SchemaErrorKind::InvalidSchema, "there are no tools");
            return Err(error.help("add one with `add_tool`"));
        }
        for (_, parameters) in &self.tools {
            Json::default().read("<parameters>", parameters)?;
        }
        let format = match self.form {
            ToolForm::Harmony => self.harmony()?,
            _ => self.among_text()?,
        };
        StructuralTags::parse(&format!(r#"{{"type":"structural_tag","format":{format}}}"#))
    }

    /// Returns the text by which a call is found.
    fn trigger(&self) -> &'static str {
        match self.form {
            ToolForm::Hermes | ToolForm::Glm => "<tool_call>",
            ToolForm::Llama3 => "{\"name\": ",
            ToolForm::Python => "[",
            ToolForm::Mistral => "[TOOL_CALLS]",
            ToolForm::DeepSeek => "<｜tool▁calls▁begin｜>",
            ToolForm::Kimi => "<|tool_calls_section_begin|>",
            ToolForm::Harmony => "<|channel|>",
        }
    }

    fn among_text(&self) -> Result<Format> {
        let trigger = quoted(self.trigger());
        if self.calls == Calls::None {
            return Ok(format!(r#"{{"type":"any_text","excludes":[{trigger}]}}"#));
        }
        let tags = self.sections()?.join(",");
        let least = matches!(self.calls, Calls::AtLeastOne | Calls::One);
        let stop = matches!(self.calls, Calls::AtMostOne | Calls::One);
        Ok(format!(
            r#"{{"type":"triggered_tags","triggers":[{trigger}],"tags":[{tags}],"at_least_one":{least},"stop_after_first":{stop}}}"#
        ))
    }

    /// Returns the tags that a trigger begins: a call, or a section with several of them.
    fn sections(&self) -> Result<Vec<Format>> {
        let one = matches!(self.calls, Calls::AtMostOne | Calls::One);
        let section = |begin: &str, separator: &str, end: &str| -> Result<Vec<Format>> {
            let calls = self.each(|name, schema| self.call(name, schema))?.join(",");
            let separator = quoted(separator);
            let calls = format!(
                r#"{{"type":"tags_with_separator","tags":[{calls}],"separator":{separator},"at_least_one":true,"stop_after_first":{one}}}"#
            );
            Ok(vec![tag(begin, &calls, end)])
        };
        match self.form {
            ToolForm::Python => section("[", ", ", "]"),
            ToolForm::Mistral => section("[TOOL_CALLS][", ", ", "]"),
            ToolForm::DeepSeek => section(self.trigger(), "", "<｜tool▁calls▁end｜>"),
            ToolForm::Kimi => section(self.trigger(), "", "<|tool_calls_section_end|>"),
            _ => self.each(|name, schema| self.call(name, schema)),
        }
    }

    fn each(&self, of: impl Fn(&str, &str) -> Result<Format>) -> Result<Vec<Format>> {
        self.tools.iter().map(|(name, parameters)| of(name, parameters)).collect()
    }

    /// Returns the tag of one call.
    fn call(&self, name: &str, parameters: &str) -> Result<Format> {
        let json = schema(parameters);
        Ok(match self.form {
            ToolForm::Hermes => {
                let begin = format!("<tool_call>\n{{\"name\": {}, \"arguments\": ", quoted(name));
                tag(&begin, &json, "}\n</tool_call>")
            }
            ToolForm::Llama3 => {
                tag(&format!("{{\"name\": {}, \"parameters\": ", quoted(name)), &json, "}")
            }
            ToolForm::Mistral => {
                tag(&format!("{{\"name\": {}, \"arguments\": ", quoted(name)), &json, "}")
            }
            ToolForm::DeepSeek => {
                let begin = format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>");
                tag(&begin, &json, "<｜tool▁call▁end｜>")
            }
            ToolForm::Kimi => {
                let number = r#"{"type":"regex","pattern":"[0-9]+"}"#;
                let middle = text("<|tool_call_argument_begin|>");
                let content = sequence(&[number.to_owned(), middle, json]);
                let begin = format!("<|tool_call_begin|>functions.{name}:");
                tag(&begin, &content, "<|tool_call_end|>")
            }
            ToolForm::Glm => {
                let arguments = arguments(parameters, &|key, value| {
                    let begin = format!("<arg_key>{key}</arg_key>\n<arg_value>");
                    let value =
                        if value.is_text { r#"{"type":"any_text"}"# } else { value.json.as_str() };
                    tag(&begin, value, "</arg_value>\n")
                })?;
                tag(&format!("<tool_call>{name}\n"), &list(&arguments, ""), "</tool_call>")
            }
            ToolForm::Python => {
                let arguments = arguments(parameters, &|key, value| {
                    let value = match value.kind.as_deref() {
                        Some("boolean") => or(&[text("True"), text("False")]),
                        Some("null") => text("None"),
                        _ => value.json.clone(),
                    };
                    sequence(&[text(&format!("{key}=")), value])
                })?;
                tag(&format!("{name}("), &list(&arguments, ", "), ")")
            }
            ToolForm::Harmony => {
                let to = format!("commentary to=functions.{name} ");
                let (constrain, message) = (token("<|constrain|>"), token("<|message|>"));
                let call =
                    [token("<|channel|>"), text(&to), constrain, text("json"), message, json];
                sequence(&call)
            }
        })
    }

    /// Returns the channels of harmony: thoughts, and then a call or an answer.
    fn harmony(&self) -> Result<Format> {
        let channel = |name: &str| {
            sequence(&[
                token("<|channel|>"),
                text(name),
                token("<|message|>"),
                r#"{"type":"any_text"}"#.to_owned(),
            ])
        };
        let next = [channel("analysis"), token("<|end|>"), token("<|start|>"), text("assistant")];
        let thoughts = format!(r#"{{"type":"star","content":{}}}"#, sequence(&next));
        let answer = channel("final");
        let calls = self.each(|name, parameters| self.call(name, parameters))?;
        let last = match self.calls {
            Calls::None => answer,
            Calls::AtLeastOne | Calls::One => or(&calls),
            Calls::Any | Calls::AtMostOne => or(&[&[answer], &calls[..]].concat()),
        };
        Ok(sequence(&[thoughts, last]))
    }
}

/// The value of an argument.
struct Argument {
    json: Format,
    /// Its `type`, if that is one.
    kind: Option<String>,
    /// Whether it is any string.
    is_text: bool,
}

/// An argument, written out, and whether it may be absent.
type Written = (Format, bool);

/// Returns the arguments that a schema names, in its order.
fn arguments(parameters: &str, write: &dyn Fn(&str, &Argument) -> Format) -> Result<Vec<Written>> {
    let mut json = Json::default();
    let root = json.read("<parameters>", parameters)?;
    let raw = |node: NodeId| parameters.get(json.span(node)).unwrap_or_default();
    let required = match json.get(root, "required").map(|list| json.value(list)) {
        Some(Value::Array(names)) => names.iter().filter_map(|&name| json.string(name)).collect(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = json.get(root, "properties").map(|of| json.value(of))
    else {
        return Ok(Vec::new());
    };
    // References in a property lead to definitions of the whole.
    let mut definitions = String::new();
    for name in ["$defs", "definitions"] {
        if let Some(of) = json.get(root, name) {
            let _ = write!(definitions, ",{}:{}", quoted(name), raw(of));
        }
    }
    let argument = |key: &str, node: NodeId| {
        let kind = json.get(node, "type").and_then(|kind| json.string(kind)).map(str::to_owned);
        let narrows = ["enum", "const", "pattern", "format", "minLength", "maxLength"];
        let is_text = kind.as_deref() == Some("string")
            && narrows.iter().all(|keyword| json.get(node, keyword).is_none());
        let own = match definitions.is_empty() {
            true => raw(node).to_owned(),
            false => format!(r#"{{"allOf":[{}]{definitions}}}"#, raw(node)),
        };
        let argument = Argument { json: schema(&own), kind, is_text };
        (write(key, &argument), !required.contains(&key))
    };
    Ok(properties.iter().map(|(key, node)| argument(key, *node)).collect())
}

/// Returns the format of arguments in order, some of which may be absent, with a separator between
/// two.
fn list(arguments: &[Written], separator: &str) -> Format {
    let mut ways = Vec::new();
    for (first, (argument, may_be_absent)) in arguments.iter().enumerate() {
        let mut parts = vec![argument.clone()];
        for (argument, may_be_absent) in &arguments[first + 1..] {
            let next = sequence(&[text(separator), argument.clone()]);
            parts.push(if *may_be_absent { optional(&next) } else { next });
        }
        ways.push(sequence(&parts));
        if !may_be_absent {
            return or(&ways);
        }
    }
    ways.push(text(""));
    or(&ways)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

fn text(text: &str) -> Format {
    format!(r#"{{"type":"const_string","value":{}}}"#, quoted(text))
}

fn token(name: &str) -> Format {
    format!(r#"{{"type":"token","token":{}}}"#, quoted(name))
}

fn schema(schema: &str) -> Format {
    format!(r#"{{"type":"json_schema","json_schema":{schema}}}"#)
}

fn sequence(parts: &[Format]) -> Format {
    format!(r#"{{"type":"sequence","elements":[{}]}}"#, parts.join(","))
}

fn or(ways: &[Format]) -> Format {
    format!(r#"{{"type":"or","elements":[{}]}}"#, ways.join(","))
}

fn optional(content: &str) -> Format {
    format!(r#"{{"type":"optional","content":{content}}}"#)
}

fn tag(begin: &str, content: &str, end: &str) -> Format {
    let (begin, end) = (quoted(begin), quoted(end));
    format!(r#"{{"type":"tag","begin":{begin},"content":{content},"end":{end}}}"#)
}
