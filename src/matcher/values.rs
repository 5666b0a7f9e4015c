//! JSON values as a text brings them: what tells arrays and objects apart that end in it.
//!
//! A value has a number of 128 bits. Equal values have the same: an object whatever the order of
//! its members, of which the last under a key counts; a string however it is escaped; a number
//! however it is written. Of others it is as good as certain that their numbers differ. Should two
//! agree, they count as one value.

use std::hash::{DefaultHasher, Hasher as _};

use super::history::History;
use crate::util::decimal::Decimal;

/// What tells a value from others.
pub(super) type ValueId = u128;

/// Where a text stands among its arrays and objects.
#[derive(Clone, Default)]
pub(super) struct Values {
    /// The arrays and objects that have not ended, the innermost last.
    open: History<Composite>,
    /// The bytes of the scalar in progress, the last one first.
    scalar: History<u8>,
    place: Place,
}

/// Where the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Not in a string.
    #[default]
    Outside,
    /// In a string.
    Within,
    /// Behind a backslash in a string.
    Escaped,
}

/// An array or an object that has not ended.
#[derive(Clone, Default)]
pub(super) struct Composite {
    is_object: bool,
    /// Of an object: the sum of its members. Of an array: what its items make together.
    sum: u128,
    /// The key whose value comes next.
    key: Option<ValueId>,
    /// Keys and values; of an array the places of its items.
    members: History<(ValueId, ValueId)>,
    /// How many members no earlier item of the list has.
    new: u32,
}

/// An array or an object that has ended.
pub(super) struct Ended {
    /// In how many it stood, itself among them.
    pub(super) depth: usize,
    pub(super) id: ValueId,
    members: History<(ValueId, ValueId)>,
}

impl Ended {
    /// What tells its members from others.
    pub(super) fn members(&self) -> impl Iterator<Item = ValueId> {
        self.members.iter().map(|&(key, value)| pair(key, value))
    }
}

impl Values {
    /// How many arrays and objects have not ended.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Whether both are certainly the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.open.same(&other.open) && self.scalar.same(&other.scalar) && self.place == other.place
    }

    /// One more byte; the array or object that ends with it. `is_known` says of the member of one
    /// at a depth whether an earlier item of the list has it.
    pub(super) fn push(
        &mut self,
        byte: u8,
        is_known: &dyn Fn(usize, ValueId) -> bool,
    ) -> Option<Ended> {
        if self.place == Place::Outside && self.scalar.len() > 0 && !is_of_word(byte) {
            self.end_scalar(word_id, is_known);
        }
        match (self.place, byte) {
            (Place::Escaped, _) => self.place = Place::Within,
            (Place::Within, b'\\') => self.place = Place::Escaped,
            (Place::Within, b'"') => {
                self.place = Place::Outside;
                self.end_scalar(string_id, is_known);
                return None;
            }
            (Place::Within, _) => {}
            (Place::Outside, b'"') => {
                self.place = Place::Within;
                return None;
            }
            (Place::Outside, b'{' | b'[') => {
                self.open.push(Composite { is_object: byte == b'{', ..Composite::default() });
                return None;
            }
            (Place::Outside, b'}' | b']') => return self.close(is_known),
            (Place::Outside, _) if !is_of_word(byte) => return None,
            (Place::Outside, _) => {}
        }
        if self.depth() > 0 {
            self.scalar.push(byte);
        }
        None
    }

    fn end_scalar(
        &mut self,
        id: fn(&[u8]) -> ValueId,
        is_known: &dyn Fn(usize, ValueId) -> bool,
    ) {
        if self.depth() == 0 {
            return;
        }
        let mut text: Vec<u8> = self.scalar.iter().copied().collect();
        text.reverse();
        self.scalar = History::default();
        self.add(id(&text), is_known);
    }

    /// A value within the innermost array or object.
    fn add(&mut self, value: ValueId, is_known: &dyn Fn(usize, ValueId) -> bool) {
        let depth = self.depth();
        let Some(mut within) = self.open.pop() else { return };
        within.add(value, &|member| is_known(depth, member));
        self.open.push(within);
    }

    fn close(&mut self, is_known: &dyn Fn(usize, ValueId) -> bool) -> Option<Ended> {
        let depth = self.depth();
        let Composite { is_object, sum, members, .. } = self.open.pop()?;
        let id = id_of(if is_object { b'{' } else { b'[' }, &[&sum.to_le_bytes()]);
        self.add(id, is_known);
        Some(Ended { depth, id, members })
    }

    /// Whether the array or object at a depth has, as far as it has come, nothing that no earlier
    /// item of the list has; the value in progress aside.
    pub(super) fn is_known(&self, depth: usize, is_known: &dyn Fn(ValueId) -> bool) -> bool {
        let Some(above) = self.depth().checked_sub(depth) else { return true };
        self.open.iter().nth(above).is_none_or(|of| {
            let replaced = of.key.and_then(|key| of.value(key).map(|value| pair(key, value)));
            of.new == u32::from(replaced.is_some_and(|member| !is_known(member)))
        })
    }
}

impl Composite {
    /// The value under a key.
    fn value(&self, key: ValueId) -> Option<ValueId> {
        self.members.iter().find(|&&(own, _)| own == key).map(|&(_, value)| value)
    }

    /// One more key, or value.
    fn add(&mut self, value: ValueId, is_known: &dyn Fn(ValueId) -> bool) {
        let key = match (self.is_object, self.key.take()) {
            (true, None) => {
                self.key = Some(value);
                return;
            }
            (true, Some(key)) => {
                // The last one counts.
                if let Some(old) = self.value(key).map(|old| pair(key, old)) {
                    self.sum = self.sum.wrapping_sub(old);
                    self.new -= u32::from(!is_known(old));
                }
                key
            }
            (false, _) => self.members.len() as ValueId,
        };
        let member = pair(key, value);
        self.new += u32::from(!is_known(member));
        self.members.push((key, value));
        self.sum = self.sum.wrapping_add(member);
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn id_of(kind: u8, parts: &[&[u8]]) -> ValueId {
    let half = |number: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write(&[number, kind]);
        parts.iter().for_each(|part| hasher.write(part));
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

fn pair(key: ValueId, value: ValueId) -> ValueId {
    id_of(b':', &[&key.to_le_bytes(), &value.to_le_bytes()])
}

/// Of a string, by what stands between its quotes.
fn string_id(text: &[u8]) -> ValueId {
    let content = text.contains(&b'\\').then(|| {
        let quoted = [b"\"", text, b"\""].concat();
        serde_json::from_slice::<String>(&quoted).ok()
    });
    let content = content.flatten();
    id_of(b'"', &[content.as_deref().map_or(text, str::as_bytes)])
}

/// Of a number, or of `true`, `false` and `null`. Numbers with exponents of ten digits and more
/// count as one.
fn word_id(text: &[u8]) -> ValueId {
    let Ok(text) = str::from_utf8(text) else { return 0 };
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return id_of(b'a', &[text.as_bytes()]);
    }
    id_of(b'0', &[format!("{:?}", Decimal::parse(text)).as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<ValueId> {
        let mut values = Values::default();
        let mut ended = None;
        for byte in text.bytes() {
            ended = values.push(byte, &|_, _| false);
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
            "{}", "[]", "[[]]", "[{}]", r#"[""]"#, r#"["",""]"#, "[0]", "[1]", "[1,2]", "[2,1]",
            "[12]", "[null]", "[false]", r#"["null"]"#, r#"["1"]"#, r#"{"a":1}"#, r#"{"a":"1"}"#,
            r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#, r#"{"":""}"#, r#"{"a":{}}"#, r#"{"a":[]}"#,
        ];
        for (place, one) in texts.iter().enumerate() {
            assert!(id(one).is_some(), "{one}");
            for other in &texts[..place] {
                assert_ne!(id(one), id(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn what_is_new_in_an_object_is_known() {
        let is_known = |text: &str| {
            let seen = |_: usize, member| member == pair(string_id(b"a"), word_id(b"1"));
            let mut values = Values::default();
            for byte in text.bytes() {
                values.push(byte, &seen);
            }
            values.is_known(1, &|member| seen(1, member))
        };
        for (text, expected) in [
            ("{", true),
            (r#"{"a":2"#, true),
            (r#"{"a":1,"#, true),
            (r#"{"a":2,"#, false),
            (r#"{"a":2,"a""#, true),
            (r#"{"a":2,"a":1,"#, true),
            (r#"{"a":1,"a":3,"#, false),
            (r#"{"b":{"#, true),
            (r#"{"b":{},"#, false),
        ] {
            assert_eq!(is_known(text), expected, "{text}");
        }
    }
}
