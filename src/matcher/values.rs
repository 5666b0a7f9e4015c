//! Identities of JSON values in a text, to compare the arrays and objects that end in it.
//!
//! A value has an identity of 128 bits. Equal values have equal identities: objects regardless of
//! the order of their members, of which the last one of each key counts; strings regardless of
//! escapes; numbers regardless of notation. Different values have different identities except with
//! negligible probability; if two collide, they count as equal.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::history::History;
use super::text_so_far::TextSoFar;
use super::value_map::{ValueId, ValueIds, ValueMap};
use crate::util::decimal::Decimal;

/// Position of a text within its arrays and objects.
#[derive(Clone, Default)]
pub(super) struct Values {
    /// The open arrays and objects, innermost last.
    open: History<Composite>,
    /// The scalar in progress.
    scalar: TextSoFar,
    state: StringState,
}

/// Position of the next byte relative to strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StringState {
    /// Not in a string.
    #[default]
    Outside,
    /// In a string.
    Within,
    /// After a backslash in a string.
    Escaped,
}

/// An open array or object.
#[derive(Clone)]
struct Composite {
    /// Sum over the members: for an object, the last one of each key; for an array, its items by
    /// index.
    sum: u128,
    members: Members,
}

/// The known members of an array or object.
#[derive(Clone)]
enum Members {
    Object {
        /// The key whose value comes next.
        key: Option<ValueId>,
        /// The value of each key.
        values: ValueMap<ValueId>,
    },
    Array {
        count: ValueId,
        /// The last item; unspecified if there is none.
        last: ValueId,
    },
}

/// A completed array or object.
pub(super) struct Ended {
    /// Nesting depth, including the value itself.
    pub(super) depth: usize,
    pub(super) id: ValueId,
    composite: Composite,
}

impl Ended {
    /// Returns the identities of the value without one member: any member of an object, the last
    /// item of an array.
    pub(super) fn rests(&self) -> impl Iterator<Item = ValueId> {
        let Composite { sum, ref members } = self.composite;
        let (object, array) = match members {
            Members::Object { values, .. } => (Some(values), None),
            Members::Array { count, last } => (None, count.checked_sub(1).zip(Some(*last))),
        };
        let all = object.into_iter().flat_map(ValueMap::iter).chain(array);
        all.map(move |(key, value)| rest(sum.wrapping_sub(pair(key, value)), key))
    }
}

impl Values {
    /// Returns the number of open arrays and objects.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether both are certainly equal. May be false for equal ones.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.open.same(&other.open) && self.scalar.same(&other.scalar) && self.state == other.state
    }

    /// Reads one more byte; returns the array or object that ends with it.
    pub(super) fn push(&mut self, byte: u8) -> Option<Ended> {
        if self.state == StringState::Outside && !self.scalar.is_empty() && !is_of_word(byte) {
            self.end_scalar(word_id);
        }
        match (self.state, byte) {
            (StringState::Escaped, _) => self.state = StringState::Within,
            (StringState::Within, b'\\') => self.state = StringState::Escaped,
            (StringState::Within, b'"') => {
                self.state = StringState::Outside;
                self.end_scalar(string_id);
                return None;
            }
            (StringState::Within, _) => {}
            (StringState::Outside, b'"') => {
                self.state = StringState::Within;
                return None;
            }
            (StringState::Outside, b'{' | b'[') => {
                self.open.push(Composite::new(byte == b'{'));
                return None;
            }
            (StringState::Outside, b'}' | b']') => return self.close(),
            (StringState::Outside, _) if !is_of_word(byte) => return None,
            (StringState::Outside, _) => {}
        }
        if self.depth() > 0 {
            self.scalar.push(byte);
        }
        None
    }

    fn end_scalar(&mut self, id: fn(&[u8]) -> ValueId) {
        if self.depth() == 0 {
            return;
        }
        let text = std::mem::take(&mut self.scalar).bytes();
        self.add(id(&text));
    }

    /// Adds a value to the innermost array or object.
    fn add(&mut self, value: ValueId) {
        if let Some(mut within) = self.open.pop() {
            within.add(value);
            self.open.push(within);
        }
    }

    fn close(&mut self) -> Option<Ended> {
        let depth = self.depth();
        let composite = self.open.pop()?;
        let id = composite.id();
        self.add(id);
        Some(Ended { depth, id, composite })
    }

    /// Whether the array or object at a depth may become one of `known`, either unchanged or by
    /// adding the value that comes next or is in progress. `rests` are the identities of the known
    /// values without one member.
    pub(super) fn may_be(&self, depth: usize, known: &ValueIds, rests: &ValueIds) -> bool {
        let Some(above) = self.depth().checked_sub(depth) else { return true };
        self.open.iter().nth(above).is_none_or(|of| {
            let next = of.next_key().map(|key| rest(of.sum_without(key), key));
            (!of.has_key() && known.contains(of.id()))
                || next.is_some_and(|rest| rests.contains(rest))
        })
    }
}

impl Composite {
    fn new(is_object: bool) -> Self {
        let members = match is_object {
            true => Members::Object { key: None, values: ValueMap::default() },
            false => Members::Array { count: 0, last: 0 },
        };
        Self { sum: 0, members }
    }

    fn id(&self) -> ValueId {
        let kind = match self.members {
            Members::Object { .. } => b'{',
            Members::Array { .. } => b'[',
        };
        id_of(kind, self.sum)
    }

    /// Whether it has a key without a value.
    fn has_key(&self) -> bool {
        matches!(self.members, Members::Object { key: Some(_), .. })
    }

    /// Returns the key or index of the next value.
    fn next_key(&self) -> Option<ValueId> {
        match self.members {
            Members::Object { key, .. } => key,
            Members::Array { count, .. } => Some(count),
        }
    }

    /// Returns the sum of the members with other keys.
    fn sum_without(&self, key: ValueId) -> u128 {
        let old = match &self.members {
            Members::Object { values, .. } => values.get(key),
            Members::Array { .. } => None,
        };
        old.map_or(self.sum, |value| self.sum.wrapping_sub(pair(key, value)))
    }

    /// Adds a key or a value.
    fn add(&mut self, value: ValueId) {
        // The last value of a key counts.
        if let Some(key) = self.next_key() {
            self.sum = self.sum_without(key).wrapping_add(pair(key, value));
        }
        match &mut self.members {
            Members::Object { key, values } => match key.take() {
                Some(key) => *values = values.with(key, value),
                None => *key = Some(value),
            },
            Members::Array { count, last } => (*count, *last) = (*count + 1, value),
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn id_of(kind: u8, content: impl Hash) -> ValueId {
    let half = |number: u8| {
        let mut hasher = DefaultHasher::new();
        (number, kind, &content).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

fn pair(key: ValueId, value: ValueId) -> ValueId {
    id_of(b':', (key, value))
}

/// Returns the identity of a value with these other members and any value for this key.
fn rest(others: u128, key: ValueId) -> ValueId {
    id_of(b'?', (others, key))
}

/// Returns the identity of a string, given the text between its quotes.
fn string_id(text: &[u8]) -> ValueId {
    let content = text.contains(&b'\\').then(|| {
        let quoted = [b"\"", text, b"\""].concat();
        serde_json::from_slice::<String>(&quoted).ok()
    });
    let content = content.flatten();
    id_of(b'"', content.as_deref().map_or(text, str::as_bytes))
}

/// Returns the identity of a number, or of `true`, `false` or `null`. All numbers with exponents of
/// ten or more digits are the same.
fn word_id(text: &[u8]) -> ValueId {
    let Ok(text) = str::from_utf8(text) else { return 0 };
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return id_of(b'a', text);
    }
    id_of(b'0', Decimal::parse(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<ValueId> {
        let mut values = Values::default();
        let mut ended = None;
        for byte in text.bytes() {
            ended = values.push(byte);
        }
        ended.filter(|ended| ended.depth == 1).map(|ended| ended.id)
    }

    #[test]
    fn equal_values_have_one_number() {
        for (one, other) in [
            (r#"{"a":1,"b":[true,null]}"#, r#" { "b" : [ true , null ] , "a" : 1.0 }"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":{"x":1,"x":[]},"b":"","b":0,"a":3e0}"#, r#"{"b":-0,"a":3}"#),
            (r#"["\u0061\n\ud83d\ude00\/"]"#, "[\"a\\n\u{1f600}/\"]"),
            (r#"[1.50,-2e3]"#, r#"[15e-1,-2000]"#),
            (r#"["}\"]"]"#, r#"["\u007d\"]"]"#),
        ] {
            assert!(id(one).is_some(), "{one}");
            assert_eq!(id(one), id(other), "{one} {other}");
        }
    }

    #[test]
    fn others_have_different_numbers() {
        let texts = [
            "{}",
            "[]",
            "[[]]",
            "[{}]",
            r#"[""]"#,
            r#"["",""]"#,
            "[0]",
            "[1]",
            "[1,2]",
            "[2,1]",
            "[12]",
            "[null]",
            "[false]",
            r#"["null"]"#,
            r#"["1"]"#,
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"":""}"#,
            r#"{"a":{}}"#,
            r#"{"a":[]}"#,
        ];
        for (place, one) in texts.iter().enumerate() {
            assert!(id(one).is_some(), "{one}");
            for other in &texts[..place] {
                assert_ne!(id(one), id(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn what_may_become_a_value_again_is_known() {
        let may_be = |text: &str, one: &str| {
            let mut values = Values::default();
            let ended = one.bytes().filter_map(|byte| values.push(byte)).last().expect("a value");
            let known = ValueIds::default().with_value(ended.id);
            let rests = ended.rests().fold(ValueIds::default(), |all, rest| all.with_value(rest));
            let mut values = Values::default();
            text.bytes().for_each(|byte| drop(values.push(byte)));
            values.may_be(1, &known, &rests)
        };
        let object = r#"{"a":0,"a":1,"b":"x"}"#;
        for (text, expected) in [
            ("{", false),
            (r#"{"a":1"#, false),
            (r#"{"a":1,"b":""#, true),
            (r#"{"a":2,"b":""#, false),
            (r#"{"a":2,"b":"x","a":"#, true),
            (r#"{"b":"x","a""#, true),
            (r#"{"b":"x","a":1"#, true),
            (r#"{"b":"x","a":[{"#, true),
            (r#"{"b":"x","a":1,"#, true),
            (r#"{"b":"x","a":1,"c":"#, false),
        ] {
            assert_eq!(may_be(text, object), expected, "{text}");
        }
        let array = "[1,2]";
        for (text, expected) in [
            ("[", false),
            ("[1", false),
            ("[1,", true),
            ("[1,2", true),
            ("[1,2,", true),
            ("[2,", false),
        ] {
            assert_eq!(may_be(text, array), expected, "{text}");
        }
    }
}
