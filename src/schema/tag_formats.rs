//! Structural tags as formats within formats: `{"type": "structural_tag", "format": {...}}`, as
//! XGrammar and vLLM take them.
//!
//! A format becomes a piece of a grammar of characters, in which every text may end wherever it
//! can: so formats side by side mean what they say. JSON schemas are put into it as they are.

use hashbrown::HashSet;

use crate::grammar::characters::{TagFormat, TagFormatKind, lower_tag_formats};
use crate::grammar::{Grammar, GrammarError};
use crate::schema::embedded::write_out;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::excluded::without_texts;
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::options::SchemaOptions;
use crate::util::diagnostic::{Diagnostic, Severity};
use crate::util::limits::Limits;
use crate::util::meter::{Meter, Phase};

type Result<T> = std::result::Result<T, SchemaError>;

/// The formats that are read, with their members.
const FORMATS: [(&str, &[&str]); 18] = [
    ("const_string", &["value"]),
    ("json_schema", &["json_schema", "style", "any_order", "excludes"]),
    ("any_text", &["excludes", "max_tokens", "max_chars"]),
    ("grammar", &["grammar"]),
    ("regex", &["pattern"]),
    ("sequence", &["elements"]),
    ("or", &["elements"]),
    ("optional", &["content"]),
    ("plus", &["content"]),
    ("star", &["content"]),
    ("repeat", &["content", "min", "max"]),
    ("tag", &["begin", "content", "end"]),
    ("triggered_tags", &["triggers", "tags", "at_least_one", "stop_after_first", "excludes"]),
    ("tags_with_separator", &["tags", "separator", "at_least_one", "stop_after_first"]),
    ("dispatch", &["rules", "loop", "excludes"]),
    ("token", &["token"]),
    ("exclude_token", &["exclude_tokens"]),
    ("any_tokens", &["exclude_tokens", "max_tokens"]),
];

/// Whether the value is structural tags of this form.
pub(super) fn is_format(json: &Json<'_>, root: NodeId) -> bool {
    let format = json.get(root, "format").map(|format| json.value(format));
    matches!(format, Some(Value::Object(_)))
        || json.get(root, "type").and_then(|kind| json.string(kind)) == Some("structural_tag")
            && ["triggers", "structures"].iter().all(|key| json.get(root, key).is_none())
}

/// The grammar of the format in `text`, all schemas read with `options`.
pub(super) fn grammar(text: &str, options: &SchemaOptions, limits: &Limits) -> Result<Grammar> {
    let mut json = Json::default();
    let root = json.read("<tags>", text)?;
    let mut reader = Reader { json: &json, text, pieces: Vec::new(), warnings: Vec::new() };
    let format = reader.member(root, "format")?;
    let whole = reader.format(format, &End::default())?;
    let lowered = lower_tag_formats(text, "<tags>", (&reader.pieces, whole), limits);
    let lowered = lowered.map_err(|error| refused(&error))?;
    let meter = Meter::after(lowered.cost, limits);
    let written = write_out(&lowered, options, false, &meter.at(Phase::Schema));
    let mut grammar = match written.map_err(|errors| refused(&GrammarError::new(errors)))? {
        None => lowered,
        Some(mut written) => {
            // The terminals of schemas occur next to others that are not matched longest.
            written.terminals.iter_mut().for_each(|terminal| terminal.every_match = true);
            written
        }
    };
    grammar.warnings.splice(0..0, reader.warnings);
    grammar.cost = meter.cost();
    Ok(grammar)
}

/// The first error.
fn refused(error: &GrammarError) -> SchemaError {
    if let Some(limit) = error.limit() {
        return SchemaError::from(limit.clone());
    }
    let found = error.diagnostics().iter().find(|found| found.severity == Severity::Error);
    let Some(found) = found else {
        return SchemaError::new(SchemaErrorKind::InvalidSchema, "the format is invalid");
    };
    let mut refused = SchemaError::new(SchemaErrorKind::InvalidSchema, &*found.message);
    if let Some(help) = &found.help {
        refused = refused.help(&**help);
    }
    match &found.place {
        Some(place) => refused.at(String::new(), place.clone()),
        None => refused,
    }
}

/// Where the nearest tag around a format ends.
#[derive(Clone, Debug, Default)]
struct End {
    texts: Vec<String>,
    token: Option<Token>,
}

/// A token, by its number or its name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Id(u32),
    Name(String),
}

struct Reader<'a> {
    json: &'a Json<'a>,
    text: &'a str,
    pieces: Vec<TagFormat>,
    warnings: Vec<Diagnostic>,
}

impl Reader<'_> {
    /// The piece that a format is. Recurses as deep as the JSON nests, which its reader bounds.
    fn format(&mut self, node: NodeId, end: &End) -> Result<usize> {
        let json = self.json;
        let list = || {
            let names: Vec<&str> = FORMATS.iter().map(|&(name, _)| name).collect();
            format!("the supported formats are {}", names.join(", "))
        };
        let Value::Object(members) = json.value(node) else {
            return Err(self.invalid(node, "expected a format, which is an object").help(list()));
        };
        let Some(kind) = json.get(node, "type").and_then(|kind| json.string(kind)) else {
            return Err(self.invalid(node, "the format has no `type`").help(list()));
        };
        let Some(&(name, known)) = FORMATS.iter().find(|&&(name, _)| name == kind) else {
            let message = format!("the format `{kind}` is not supported");
            let error = SchemaError::new(SchemaErrorKind::UnsupportedKeyword, message);
            return Err(error.at(json.pointer(node), json.place(node)).help(list()));
        };
        for (member, value) in members {
            if member != "type" && !known.contains(&&**member) {
                let message = format!("`{member}` has no effect in a format `{name}`");
                let help = format!("its members: {}", known.join(", "));
                let found = Diagnostic::warning("unknown-member", message).help(help);
                self.warnings.push(found.at(json.place(*value)));
            }
        }
        let kind = match name {
            "const_string" => TagFormatKind::Text(self.string(self.member(node, "value")?)?),
            "json_schema" => self.schema(node)?,
            "any_text" => {
                self.unlimited(node)?;
                let excludes = self.excludes(node, end)?;
                TagFormatKind::Dispatch { tags: Vec::new(), excludes, loops: true }
            }
            "grammar" => TagFormatKind::Grammar(self.string(self.member(node, "grammar")?)?),
            "regex" => TagFormatKind::Regex(self.string(self.member(node, "pattern")?)?),
            "sequence" => TagFormatKind::Sequence(self.elements(node, end)?),
            "or" => TagFormatKind::Choice(self.elements(node, end)?),
            "optional" => self.repeat(node, end, 0, Some(1))?,
            "plus" => self.repeat(node, end, 1, None)?,
            "star" => self.repeat(node, end, 0, None)?,
            "repeat" => {
                let min = self.count(self.member(node, "min")?, false)?.unwrap_or(0);
                let most = self.member(node, "max")?;
                let max = self.count(most, true)?;
                if max.is_some_and(|max| max < min) {
                    return Err(self.invalid(most, "`max` is less than `min`"));
                }
                self.repeat(node, end, min, max)?
            }
            "tag" => return self.tag(node),
            "triggered_tags" => return self.triggered_tags(node, end),
            "tags_with_separator" => return self.tags_with_separator(node),
            "dispatch" => return self.dispatch(node, end),
            "token" => self.token(self.member(node, "token")?).map(only)?,
            // "exclude_token" and "any_tokens".
            _ => {
                let others = self.other_tokens(node, end)?;
                if name == "exclude_token" {
                    others
                } else {
                    self.unlimited(node)?;
                    let piece = self.add("exclude_token", node, others);
                    TagFormatKind::Repeat { piece, min: 0, max: None }
                }
            }
        };
        Ok(self.add(name, node, kind))
    }

    fn schema(&mut self, node: NodeId) -> Result<TagFormatKind> {
        let json = self.json;
        if let Some(style) = json.get(node, "style").filter(|&style| !self.is_null(style))
            && json.string(style) != Some("json")
        {
            return Err(self.unsupported(style, "`json` is the only supported style of schemas"));
        }
        if let Some(any) = json.get(node, "any_order")
            && self.flag(node, "any_order")?
        {
            let message = "`any_order` has no effect: the schema options define the order of keys";
            let help = "allow any order with `KeyOrder::Any` or `--order any`";
            let found = Diagnostic::warning("narrowed-schema", message).help(help);
            self.warnings.push(found.at(json.place(any)));
        }
        let schema = self.member(node, "json_schema")?;
        let schema = self.text.get(json.span(schema)).unwrap_or_default();
        let excludes = self.excludes(node, &End::default())?;
        Ok(TagFormatKind::Schema(match excludes[..] {
            [] => schema.to_owned(),
            _ => without_texts(schema, &excludes),
        }))
    }

    fn repeat(
        &mut self,
        node: NodeId,
        end: &End,
        min: u32,
        max: Option<u32>,
    ) -> Result<TagFormatKind> {
        let content = self.member(node, "content")?;
        Ok(TagFormatKind::Repeat { piece: self.format(content, end)?, min, max })
    }

    fn elements(&mut self, node: NodeId, end: &End) -> Result<Vec<usize>> {
        let elements = self.list(node, "elements")?;
        if elements.is_empty() {
            return Err(self.invalid(node, "`elements` is empty"));
        }
        elements.into_iter().map(|element| self.format(element, end)).collect()
    }

    /// A tag: beginning, content, end.
    fn tag(&mut self, node: NodeId) -> Result<usize> {
        let begin = self.member(node, "begin")?;
        let begin = match self.json.string(begin) {
            Some(_) => self.add("begin", begin, TagFormatKind::Text(self.string(begin)?)),
            None => self.format(begin, &End::default())?,
        };
        let rest = self.rest(node)?;
        Ok(self.add("tag", node, TagFormatKind::Sequence([vec![begin], rest].concat())))
    }

    /// Content and end of a tag.
    fn rest(&mut self, node: NodeId) -> Result<Vec<usize>> {
        let json = self.json;
        let last = self.member(node, "end")?;
        let mut end = End::default();
        let mut ways = Vec::new();
        match json.value(last) {
            Value::Array(texts) if !texts.is_empty() => {
                for &text in texts {
                    end.texts.push(self.string(text)?);
                }
            }
            Value::Object(_) => {
                ways.push(self.format(last, &End::default())?);
                let token = json.get(last, "token").map(|token| self.token(token));
                end.token = token.transpose()?;
            }
            _ => end.texts.push(self.string(last)?),
        }
        for text in end.texts.clone() {
            ways.push(self.add("end", last, TagFormatKind::Text(text)));
        }
        end.texts.retain(|text| !text.is_empty());
        let content = self.member(node, "content")?;
        let content = self.format(content, &end)?;
        Ok(vec![content, self.add("end", last, TagFormatKind::Choice(ways))])
    }

    /// The tags of a format, which need not say that they are tags.
    fn tags(&mut self, node: NodeId) -> Result<Vec<NodeId>> {
        let tags = self.list(node, "tags")?;
        if tags.is_empty() {
            return Err(self.invalid(node, "`tags` is empty"));
        }
        for &tag in &tags {
            let kind = self.json.get(tag, "type");
            if kind.is_some_and(|kind| self.json.string(kind) != Some("tag")) {
                return Err(self.invalid(tag, "expected a format `tag`"));
            }
        }
        Ok(tags)
    }

    fn triggered_tags(&mut self, node: NodeId, end: &End) -> Result<usize> {
        let mut triggers = self.strings(node, "triggers")?;
        let mut seen = HashSet::new();
        triggers.retain(|trigger| seen.insert(trigger.clone()));
        let mut excludes = self.excludes(node, end)?;
        let mut tails: Vec<Vec<usize>> = vec![Vec::new(); triggers.len()];
        let mut firsts = Vec::new();
        let at_least_one = self.flag(node, "at_least_one")?;
        let stop_after_first = self.flag(node, "stop_after_first")?;
        // Whether tags stand in text.
        let more = !(at_least_one && stop_after_first);
        for tag in self.tags(node)? {
            let begin_at = self.member(tag, "begin")?;
            let begin = self.string(begin_at)?;
            // Of several the shortest is found first.
            let found = triggers.iter().enumerate();
            let found = found.filter(|(_, trigger)| begin.starts_with(trigger.as_str()));
            let Some((number, trigger)) = found.min_by_key(|(_, trigger)| trigger.len()) else {
                let message = format!("the tag {begin:?} does not begin with a trigger");
                let help = "add its first characters to the triggers";
                return Err(self.invalid(begin_at, &message).help(help));
            };
            let behind = self.rest(tag)?;
            if at_least_one {
                let first = self.add("begin", begin_at, TagFormatKind::Text(begin.clone()));
                let first = TagFormatKind::Sequence([vec![first], behind.clone()].concat());
                firsts.push(self.add("tag", tag, first));
            }
            if more {
                let mut parts = behind;
                let tail = begin[trigger.len()..].to_owned();
                if !tail.is_empty() {
                    parts.insert(0, self.add("begin", begin_at, TagFormatKind::Text(tail)));
                }
                tails[number].push(self.add("tag", tag, TagFormatKind::Sequence(parts)));
            }
        }
        if !more {
            return Ok(self.add("tag", node, TagFormatKind::Choice(firsts)));
        }
        let mut tags = Vec::new();
        for (trigger, ways) in triggers.into_iter().zip(tails) {
            if ways.is_empty() {
                // Nothing may follow it.
                excludes.push(trigger);
            } else {
                let ways = self.add("tag", node, TagFormatKind::Choice(ways));
                tags.push((trigger, ways));
            }
        }
        let loops = !stop_after_first;
        let text = self.text_with(node, tags, excludes, loops)?;
        if !at_least_one {
            return Ok(text);
        }
        let first = self.add("tag", node, TagFormatKind::Choice(firsts));
        Ok(self.add("triggered_tags", node, TagFormatKind::Sequence(vec![first, text])))
    }

    fn dispatch(&mut self, node: NodeId, end: &End) -> Result<usize> {
        let json = self.json;
        let mut tags = Vec::new();
        for rule in self.list(node, "rules")? {
            let Value::Array(pair) = json.value(rule) else {
                return Err(self.invalid(rule, "expected a text and a format: `[text, format]`"));
            };
            let [text, format] = pair[..] else {
                return Err(self.invalid(rule, "expected a text and a format: `[text, format]`"));
            };
            tags.push((self.filled(text)?, self.format(format, end)?));
        }
        let loops = json.get(node, "loop").is_none() || self.flag(node, "loop")?;
        let excludes = self.excludes(node, end)?;
        self.text_with(node, tags, excludes, loops)
    }

    /// Text, and after the first of the tags in it a piece.
    fn text_with(
        &mut self,
        node: NodeId,
        tags: Vec<(String, usize)>,
        excludes: Vec<String>,
        loops: bool,
    ) -> Result<usize> {
        for (tag, _) in &tags {
            if let Some(exclude) = excludes.iter().find(|exclude| tag.starts_with(*exclude)) {
                let message =
                    format!("{tag:?} begins with {exclude:?}, which the text must not contain");
                let help = "choose another beginning: a text ends before an excluded text, and \
                            before the end of its enclosing tag";
                return Err(self.invalid(node, &message).help(help));
            }
        }
        Ok(self.add("text", node, TagFormatKind::Dispatch { tags, excludes, loops }))
    }

    fn tags_with_separator(&mut self, node: NodeId) -> Result<usize> {
        let mut ways = Vec::new();
        for tag in self.tags(node)? {
            ways.push(self.tag(tag)?);
        }
        let mut all = self.add("tag", node, TagFormatKind::Choice(ways));
        if !self.flag(node, "stop_after_first")? {
            let separator = self.member(node, "separator")?;
            let text = TagFormatKind::Text(self.string(separator)?);
            let separator = self.add("separator", separator, text);
            let more = self.add("tag", node, TagFormatKind::Sequence(vec![separator, all]));
            let more = TagFormatKind::Repeat { piece: more, min: 0, max: None };
            let more = self.add("tags", node, more);
            all = self.add("tags", node, TagFormatKind::Sequence(vec![all, more]));
        }
        if self.flag(node, "at_least_one")? {
            return Ok(all);
        }
        let all = TagFormatKind::Repeat { piece: all, min: 0, max: Some(1) };
        Ok(self.add("tags", node, all))
    }

    /// What text cannot have in it.
    fn excludes(&self, node: NodeId, end: &End) -> Result<Vec<String>> {
        let mut excludes = match self.json.get(node, "excludes") {
            Some(list) if !self.is_null(list) => self.strings(node, "excludes")?,
            _ => Vec::new(),
        };
        excludes.extend(end.texts.iter().cloned());
        Ok(excludes)
    }

    fn unlimited(&self, node: NodeId) -> Result<()> {
        for limit in ["max_tokens", "max_chars"] {
            if let Some(limit) = self.json.get(node, limit).filter(|&limit| !self.is_null(limit)) {
                let message = "limits on the length of free text are not supported";
                let help = "remove the limit, or use `regex` with a count: `[^<]{0,100}`";
                return Err(self.unsupported(limit, message).help(help));
            }
        }
        Ok(())
    }

    fn token(&self, node: NodeId) -> Result<Token> {
        if let Some(name) = self.json.string(node).filter(|name| !name.is_empty()) {
            return Ok(Token::Name(name.to_owned()));
        }
        let id = self.count(node, false).ok().flatten();
        let invalid = || self.invalid(node, "expected the number or the name of a token");
        id.map(Token::Id).ok_or_else(invalid)
    }

    /// Any token but those that are excluded, and but the end of the tag around.
    fn other_tokens(&self, node: NodeId, end: &End) -> Result<TagFormatKind> {
        let mut tokens = Vec::new();
        if self.json.get(node, "exclude_tokens").is_some_and(|list| !self.is_null(list)) {
            for token in self.list(node, "exclude_tokens")? {
                tokens.push(self.token(token)?);
            }
        }
        tokens.extend(end.token.clone());
        tokens.dedup();
        if let [Token::Name(name)] = &tokens[..] {
            return Ok(TagFormatKind::NotToken(name.clone()));
        }
        let id = |token: Token| match token {
            Token::Id(id) => Some(id),
            Token::Name(_) => None,
        };
        let ids: Option<Vec<u32>> = tokens.into_iter().map(id).collect();
        ids.filter(|ids| !ids.is_empty()).map(TagFormatKind::NotIds).ok_or_else(|| {
            self.unsupported(node, "expected one token, or several tokens by number")
        })
    }

    fn add(&mut self, name: &'static str, node: NodeId, kind: TagFormatKind) -> usize {
        self.pieces.push(TagFormat { name, span: self.json.span(node), kind });
        self.pieces.len() - 1
    }

    fn member(&self, node: NodeId, key: &str) -> Result<NodeId> {
        let missing = || self.invalid(node, &format!("`{key}` is missing"));
        self.json.get(node, key).ok_or_else(missing)
    }

    fn list(&self, node: NodeId, key: &str) -> Result<Vec<NodeId>> {
        let list = self.member(node, key)?;
        match self.json.value(list) {
            Value::Array(items) => Ok(items.clone()),
            _ => Err(self.invalid(list, &format!("`{key}` must be a list"))),
        }
    }

    fn string(&self, node: NodeId) -> Result<String> {
        let missing = || self.invalid(node, "expected a string");
        self.json.string(node).map(str::to_owned).ok_or_else(missing)
    }

    fn filled(&self, node: NodeId) -> Result<String> {
        let text = self.string(node)?;
        if text.is_empty() { Err(self.invalid(node, "the text is empty")) } else { Ok(text) }
    }

    fn strings(&self, node: NodeId, key: &str) -> Result<Vec<String>> {
        self.list(node, key)?.into_iter().map(|item| self.filled(item)).collect()
    }

    fn flag(&self, node: NodeId, key: &str) -> Result<bool> {
        match self.json.get(node, key).map(|flag| (flag, self.json.value(flag))) {
            None | Some((_, Value::Null)) => Ok(false),
            Some((_, Value::Boolean(flag))) => Ok(*flag),
            Some((flag, _)) => {
                Err(self.invalid(flag, &format!("`{key}` must be `true` or `false`")))
            }
        }
    }

    /// A count; `None` is without bound, which is written -1.
    fn count(&self, node: NodeId, may_be_unbounded: bool) -> Result<Option<u32>> {
        let wrong = || self.invalid(node, "expected a count");
        let Value::Number(number) = self.json.value(node) else { return Err(wrong()) };
        if number.is_negative() && may_be_unbounded && number.is_integer() {
            return Ok(None);
        }
        let count = if number.is_negative() { None } else { number.to_u64() };
        count.and_then(|count| u32::try_from(count).ok()).map(Some).ok_or_else(wrong)
    }

    fn is_null(&self, node: NodeId) -> bool {
        matches!(self.json.value(node), Value::Null)
    }

    fn invalid(&self, node: NodeId, message: &str) -> SchemaError {
        SchemaError::new(SchemaErrorKind::InvalidSchema, message)
            .at(self.json.pointer(node), self.json.place(node))
    }

    fn unsupported(&self, node: NodeId, message: &str) -> SchemaError {
        SchemaError::new(SchemaErrorKind::UnsupportedKeyword, message)
            .at(self.json.pointer(node), self.json.place(node))
    }
}

fn only(token: Token) -> TagFormatKind {
    match token {
        Token::Id(id) => TagFormatKind::Id(id),
        Token::Name(name) => TagFormatKind::Token(name),
    }
}
