//! The keywords and formats that are known, and which of them is meant by one that is not.

use crate::schema::draft::Draft;
use crate::schema::text::formats;
use crate::util::similar::distance;

use Draft::{Eight, Nine, Seven, Six, Three};

/// Keywords that ask for something, and the first draft as which a schema is read that has them.
const ASKING: &[(&str, Draft)] = &[
    ("$dynamicRef", Nine),
    ("$recursiveRef", Eight),
    ("$ref", Three),
    ("additionalItems", Three),
    ("additionalProperties", Three),
    ("allOf", Three),
    ("anyOf", Three),
    ("const", Six),
    ("contains", Six),
    ("dependencies", Three),
    ("dependentRequired", Eight),
    ("dependentSchemas", Eight),
    ("disallow", Three),
    ("divisibleBy", Three),
    ("else", Seven),
    ("enum", Three),
    ("exclusiveMaximum", Three),
    ("exclusiveMinimum", Three),
    ("extends", Three),
    ("format", Three),
    ("if", Seven),
    ("items", Three),
    ("maxContains", Eight),
    ("maximum", Three),
    ("maxItems", Three),
    ("maxLength", Three),
    ("maxProperties", Three),
    ("minContains", Eight),
    ("minimum", Three),
    ("minItems", Three),
    ("minLength", Three),
    ("minProperties", Three),
    ("multipleOf", Three),
    ("not", Three),
    ("oneOf", Three),
    ("pattern", Three),
    ("patternProperties", Three),
    ("prefixItems", Nine),
    ("properties", Three),
    ("propertyNames", Six),
    ("required", Three),
    ("then", Seven),
    ("type", Three),
    ("unevaluatedItems", Eight),
    ("unevaluatedProperties", Eight),
    ("uniqueItems", Three),
];
/// Keywords that ask for nothing, those of OpenAPI and of other dialects among them.
const ANNOTATING: &[&str] = &[
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "defaults",
    "definition",
    "definitions",
    "deprecated",
    "description",
    "descriptions",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "id",
    "name",
    "nullable",
    "optional",
    "options",
    "readOnly",
    "readonly",
    "title",
    "titles",
    "version",
    "writeOnly",
    "writeonly",
    "xml",
];
/// Formats of OpenAPI and of older drafts, which describe and are held by nobody.
const DESCRIBING: [&str; 20] = [
    "base64",
    "binary",
    "byte",
    "char",
    "color",
    "decimal",
    "double",
    "float",
    "html",
    "int16",
    "int32",
    "int64",
    "int8",
    "markdown",
    "password",
    "phone",
    "style",
    "uint32",
    "uint64",
    "utc-millisec",
];
/// Other names of formats.
const ALIASES: [(&str, &str); 12] = [
    ("datetime", "date-time"),
    ("guid", "uuid"),
    ("host", "hostname"),
    ("ip", "ipv4"),
    ("ipaddress", "ipv4"),
    ("ip4", "ipv4"),
    ("ip6", "ipv6"),
    ("mail", "email"),
    ("regexp", "regex"),
    ("timestamp", "date-time"),
    ("uriref", "uri-reference"),
    ("url", "uri"),
];
/// Longer names are not compared.
const LONGEST: usize = 40;

/// Whether the keyword asks for something, in some draft.
pub(super) fn asks(key: &str) -> bool {
    ASKING.iter().any(|(known, _)| *known == key)
}

/// The first draft that has the keyword, if it is a later one than `draft`.
pub(super) fn first_draft(key: &str, draft: Draft) -> Option<Draft> {
    ASKING.iter().find(|(known, first)| *known == key && *first > draft).map(|&(_, first)| first)
}

/// The keyword that is probably meant by one that no draft has.
pub(super) fn meant_keyword(key: &str) -> Option<&'static str> {
    if ANNOTATING.contains(&key) || asks(key) {
        return None;
    }
    let asking = ASKING.iter().map(|(known, _)| *known);
    nearest(key, asking.chain(["$defs", "definitions"]))
}

/// Whether somebody knows the format.
pub(super) fn is_format(name: &str) -> bool {
    formats::is_known(name) || DESCRIBING.contains(&name)
}

/// The format that is probably meant by one that nobody knows.
pub(super) fn meant_format(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let alias = ALIASES.iter().find(|(other, _)| *other == plain).map(|(_, known)| *known);
    alias.or_else(|| nearest(name, formats::KNOWN.into_iter()))
}

/// The known name that is nearest, if it is near: the same but for cases, hyphens and underscores,
/// or with one letter more, less, other or at another place; two in long names.
fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    if name.len() > LONGEST {
        return None;
    }
    let own = plain(name);
    let near = known.filter_map(|known| {
        let other = plain(known);
        let far = match distance(&own, &other) {
            2 if are_swapped(&own, &other) => 1,
            far => far,
        };
        let most = match other.chars().count() {
            0..=3 => 0,
            4..=8 => 1,
            _ => 2,
        };
        (far <= most).then_some((far, known))
    });
    near.min().map(|(_, known)| known)
}

/// Whether the two have the same letters.
fn are_swapped(one: &str, other: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    letters(one) == letters(other)
}

/// The name in small letters, and nothing but letters and digits.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
