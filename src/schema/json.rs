//! JSON reader that keeps details a schema needs: the order of keys, the location of each value,
//! all digits of numbers. Two equal keys in one object are an error, because readers disagree about
//! which one counts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::util::decimal::Decimal;
use crate::util::diagnostic::Place;

/// A value, by its number in a [`Json`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

/// String, usually borrowed from the document.
pub(super) type Text<'a> = Cow<'a, str>;

/// Content of a value.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Null,
    Boolean(bool),
    Number(Decimal),
    String(Text<'a>),
    Array(Vec<NodeId>),
    Object(Vec<(Text<'a>, NodeId)>),
}

#[derive(Debug)]
struct Node<'a> {
    value: Value<'a>,
    parent: Option<NodeId>,
    document: u32,
    span: Range<usize>,
}

/// Documents that were read, with all of their values in one list.
#[derive(Debug, Default)]
pub(super) struct Json<'a> {
    nodes: Vec<Node<'a>>,
    /// Indices of the members of large objects, in the order of the keys.
    sorted: FxHashMap<NodeId, Box<[u32]>>,
    /// Names and texts of the documents, for messages.
    documents: Vec<(Arc<str>, Arc<str>)>,
}

/// Typical lower bound on bytes of text for each value.
const BYTES_OF_A_VALUE: usize = 16;
/// Maximum number of values reserved in advance.
const MOST_AT_ONCE: usize = 1 << 18;
/// Maximum nesting depth of values.
const DEPTH: usize = 200;
/// Maximum number of keys of an object that are compared one by one; more are sorted.
const MOST_COMPARED: usize = 16;

impl<'a> Json<'a> {
    /// Reads the document `text`, called `name` in messages.
    pub(super) fn read(&mut self, name: &str, text: &'a str) -> Result<NodeId, SchemaError> {
        self.read_with(name, text, Cow::Borrowed)
    }

    /// Reads a text that is dropped afterwards.
    pub(super) fn read_copied(&mut self, name: &str, text: &str) -> Result<NodeId, SchemaError> {
        self.read_with(name, text, |part| Cow::Owned(part.to_owned()))
    }

    fn read_with<'t>(
        &mut self,
        name: &str,
        text: &'t str,
        kept: fn(&'t str) -> Text<'a>,
    ) -> Result<NodeId, SchemaError> {
        self.documents.push((name.into(), text.into()));
        // Hardly any schema has more values, so the list rarely grows, which would copy it.
        self.nodes.reserve((text.len() / BYTES_OF_A_VALUE).min(MOST_AT_ONCE));
        let document = (self.documents.len() - 1) as u32;
        // Some editors write a byte order mark at the beginning, which is not part of the text.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut reader = Reader { json: self, text, kept, at, document };
        reader.blanks();
        let root = reader.value(None, 0)?;
        reader.blanks();
        if reader.at < text.len() {
            return Err(reader.error("there is text after the value"));
        }
        Ok(root)
    }

    /// Returns the number of values read.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn value(&self, node: NodeId) -> &Value<'a> {
        &self.nodes[node.0 as usize].value
    }

    /// Returns the value of a key, if `node` is an object that has it.
    pub(super) fn get(&self, node: NodeId, key: &str) -> Option<NodeId> {
        match self.value(node) {
            Value::Object(members) => match self.sorted.get(&node) {
                Some(sorted) => {
                    let of = |&place: &u32| &*members[place as usize].0;
                    let at = sorted.binary_search_by_key(&key, of).ok()?;
                    Some(members[sorted[at] as usize].1)
                }
                None => members.iter().find(|(name, _)| name == key).map(|&(_, value)| value),
            },
            _ => None,
        }
    }

    /// Returns the string, if `node` is one.
    pub(super) fn string(&self, node: NodeId) -> Option<&str> {
        match self.value(node) {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Replaces a value.
    pub(super) fn set(&mut self, node: NodeId, value: Value<'a>) {
        self.sorted.remove(&node);
        self.nodes[node.0 as usize].value = value;
    }

    /// Adds a value with the location of `node`.
    pub(super) fn add(&mut self, node: NodeId, value: Value<'a>) -> NodeId {
        let Node { parent, document, span, .. } = &self.nodes[node.0 as usize];
        let node = Node { value, parent: *parent, document: *document, span: span.clone() };
        self.nodes.push(node);
        NodeId((self.nodes.len() - 1) as u32)
    }

    pub(super) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].parent
    }

    /// Returns the span of the value in its document, in bytes.
    pub(super) fn span(&self, node: NodeId) -> Range<usize> {
        self.nodes[node.0 as usize].span.clone()
    }

    /// Returns the location of the value in its document.
    pub(super) fn place(&self, node: NodeId) -> Place {
        let node = &self.nodes[node.0 as usize];
        let (name, text) = &self.documents[node.document as usize];
        Place::new(name, text, node.span.clone())
    }

    /// Returns the JSON pointer from the document to the value.
    pub(super) fn pointer(&self, mut node: NodeId) -> String {
        let mut steps = Vec::new();
        while let Some(parent) = self.parent(node) {
            steps.push(match self.value(parent) {
                Value::Object(members) => {
                    let key = members
                        .iter()
                        .find(|&&(_, value)| value == node)
                        .map_or("", |(key, _)| &**key);
                    key.replace('~', "~0").replace('/', "~1")
                }
                Value::Array(items) => {
                    items.iter().position(|&item| item == node).unwrap_or_default().to_string()
                }
                _ => String::new(),
            });
            node = parent;
        }
        steps.iter().rev().flat_map(|step| ["/", step]).collect()
    }

    /// Returns the values on the path of a JSON pointer from `node`, the target last.
    pub(super) fn follow(&self, node: NodeId, pointer: &str) -> Option<Vec<NodeId>> {
        let mut way = vec![node];
        if pointer.is_empty() {
            return Some(way);
        }
        let mut node = node;
        for step in pointer.strip_prefix('/')?.split('/') {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match self.value(node) {
                Value::Object(_) => self.get(node, &step)?,
                Value::Array(items) => *items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
            way.push(node);
        }
        Some(way)
    }
}

/// Returns the number of leading bytes that represent themselves in a string.
fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Eight bytes at a time: keys are short, and descriptions are most of the text of schemas.
    while let Some(&eight) = bytes[at..].first_chunk() {
        let ends = first_end(u64::from_le_bytes(eight));
        at += ends as usize;
        if ends < 8 {
            return at;
        }
    }
    let ends = |byte: &u8| *byte == b'"' || *byte == b'\\' || *byte < b' ';
    at + bytes[at..].iter().position(ends).unwrap_or(bytes.len() - at)
}

/// Returns the index of the first of eight bytes, lowest first, that does not represent itself; 8
/// if all do.
fn first_end(eight: u64) -> u32 {
    const ONES: u64 = u64::MAX / 255;
    // The high bit of each byte below `bound`, up to 128, and possibly of some after such a byte.
    let below =
        |bytes: u64, bound: u8| bytes.wrapping_sub(ONES * u64::from(bound)) & !bytes & (ONES << 7);
    let is = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
    (below(eight, b' ') | is(b'"') | is(b'\\')).trailing_zeros() / 8
}

struct Reader<'j, 't, 'a> {
    json: &'j mut Json<'a>,
    text: &'t str,
    /// Converts a part of the text to the form that is kept.
    kept: fn(&'t str) -> Text<'a>,
    at: usize,
    document: u32,
}

impl<'t, 'a> Reader<'_, 't, 'a> {
    fn error(&self, message: impl Into<String>) -> SchemaError {
        let (name, text) = &self.json.documents[self.document as usize];
        let end = (self.at + 1).min(text.len());
        SchemaError::new(SchemaErrorKind::InvalidJson, message)
            .at(String::new(), Place::new(name, text, self.at..end.max(self.at)))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Adds a value whose content is set later.
    fn enter(&mut self, parent: Option<NodeId>) -> NodeId {
        let node =
            Node { value: Value::Null, parent, document: self.document, span: self.at..self.at };
        self.json.nodes.push(node);
        NodeId((self.json.nodes.len() - 1) as u32)
    }

    fn value(&mut self, parent: Option<NodeId>, depth: usize) -> Result<NodeId, SchemaError> {
        if depth > DEPTH {
            return Err(self.error(format!("values nest more than {DEPTH} levels deep")));
        }
        let id = self.enter(parent);
        let value = match self.peek() {
            Some(b'{') => self.object(id, depth)?,
            Some(b'[') => self.array(id, depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Boolean(true))?,
            Some(b'f') => self.word("false", Value::Boolean(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            Some(_) => return Err(self.error("expected a value")),
            None => return Err(self.error("expected a value, but the text ends")),
        };
        let end = self.at;
        let node = &mut self.json.nodes[id.0 as usize];
        node.value = value;
        node.span.end = end;
        Ok(id)
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, SchemaError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.error(format!("expected `{word}`")));
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, id: NodeId, depth: usize) -> Result<Value<'a>, SchemaError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            self.blanks();
            items.push(self.value(Some(id), depth + 1)?);
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.error("expected `,` or `]`")),
            }
        }
        self.at += 1;
        Ok(Value::Array(items))
    }

    fn object(&mut self, id: NodeId, depth: usize) -> Result<Value<'a>, SchemaError> {
        self.at += 1;
        let mut members: Vec<(Text<'a>, NodeId)> = Vec::new();
        // Positions of keys that are not compared one by one.
        let mut starts: Vec<usize> = Vec::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key in double quotes"));
            }
            let start = self.at;
            let key = self.string()?;
            if members.len() >= MOST_COMPARED {
                starts.push(start);
            } else if members.iter().any(|(known, _)| *known == key) {
                return Err(self.stands_twice(start, &key));
            }
            self.blanks();
            if self.peek() != Some(b':') {
                return Err(self.error("expected `:`"));
            }
            self.at += 1;
            self.blanks();
            let value = self.value(Some(id), depth + 1)?;
            members.push((key, value));
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return Err(self.error("expected `,` or `}`")),
            }
        }
        if members.len() > MOST_COMPARED {
            self.sort(id, &members, &starts)?;
        }
        self.at += 1;
        Ok(Value::Object(members))
    }

    /// Sorts the keys of an object with many members; the keys not compared one by one begin at
    /// `starts`.
    fn sort(
        &mut self,
        id: NodeId,
        members: &[(Text<'a>, NodeId)],
        starts: &[usize],
    ) -> Result<(), SchemaError> {
        let key = |place: u32| &*members[place as usize].0;
        let mut sorted: Vec<u32> = (0..members.len() as u32).collect();
        sorted.sort_by_key(|&place| key(place));
        let again = sorted.windows(2).filter(|two| key(two[0]) == key(two[1]));
        if let Some(second) = again.map(|two| two[1]).min() {
            let start = starts[second as usize - MOST_COMPARED];
            return Err(self.stands_twice(start, key(second)));
        }
        self.json.sorted.insert(id, sorted.into());
        Ok(())
    }

    /// Returns the error for a repeated key of an object.
    fn stands_twice(&mut self, start: usize, key: &str) -> SchemaError {
        self.at = start;
        let message = format!("the key \"{}\" occurs twice in this object", key.escape_debug());
        self.error(message).help("keep one of the two")
    }

    fn number(&mut self) -> Result<Value<'a>, SchemaError> {
        let start = self.at;
        let digits = |reader: &mut Self| {
            let from = reader.at;
            while reader.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                reader.at += 1;
            }
            reader.at > from
        };
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.peek() == Some(b'0');
        let whole = self.at;
        let mut holds = digits(self) && !(leading_zero && self.at > whole + 1);
        if holds && self.peek() == Some(b'.') {
            self.at += 1;
            holds = digits(self);
        }
        if holds && matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            holds = digits(self);
        }
        let number = Decimal::parse(&self.text[start..self.at]).filter(|_| holds);
        if number.is_none() {
            self.at = start;
        }
        number.map(Value::Number).ok_or_else(|| self.error("this is not a JSON number"))
    }

    fn string(&mut self) -> Result<Text<'a>, SchemaError> {
        self.at += 1;
        let whole = self.text;
        let plain = plain(&whole.as_bytes()[self.at..]);
        if whole.as_bytes().get(self.at + plain) == Some(&b'"') {
            let text = &whole[self.at..self.at + plain];
            self.at += plain + 1;
            return Ok((self.kept)(text));
        }
        self.escaped_string().map(Cow::Owned)
    }

    /// Reads a string with escapes, from the position after its quote.
    fn escaped_string(&mut self) -> Result<String, SchemaError> {
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = plain(rest.as_bytes());
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(self.error("a string contains a control character")),
                None => return Err(self.error("this string is not closed")),
            }
        }
        self.at += 1;
        Ok(text)
    }

    fn escape(&mut self) -> Result<char, SchemaError> {
        let kind = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match kind {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hexadecimal()?;
                let is_pair =
                    (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u");
                let code = match is_pair {
                    true => {
                        self.at += 2;
                        let second = self.hexadecimal()?;
                        0x10000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff)
                    }
                    false => first,
                };
                // An unpaired surrogate is not a character and appears in no text.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => {
                self.at -= 2;
                return Err(self.error("this is not a JSON escape"));
            }
        })
    }

    fn hexadecimal(&mut self) -> Result<u32, SchemaError> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.error("expected four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_byte_that_does_not_stand_for_itself() {
        let ends = |byte: &u8| b"\"\\".contains(byte) || *byte < b' ';
        for (at, byte) in (0..20).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
            for last in [b'!', 0xff, b'"'] {
                let mut text = [b' '; 20];
                (text[19], text[at]) = (last, byte);
                let expected = text.iter().position(ends).unwrap_or(20);
                assert_eq!(plain(&text), expected, "{byte} at {at}");
            }
        }
    }
}
