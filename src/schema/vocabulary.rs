//! Known keywords and formats, and suggestions for unknown ones.

use crate::schema::draft::Draft;
use crate::schema::meta;
use crate::schema::text::formats;
use crate::util::names::is_among;
use crate::util::similar::distance;

/// Keywords that constrain nothing, including those of OpenAPI and of other dialects.
const ANNOTATING: &str = "\
    $anchor|$comment|$defs|$dynamicAnchor|$id|$recursiveAnchor|$schema|$vocabulary|\
    contentEncoding|contentMediaType|contentSchema|default|defaults|definition|definitions|\
    deprecated|description|descriptions|discriminator|example|examples|externalDocs|id|name|\
    nullable|optional|options|readOnly|readonly|title|titles|version|writeOnly|writeonly|xml";
/// Formats of OpenAPI and of older drafts, which only describe and are never enforced.
const DESCRIBING: &str = "\
    base64|binary|byte|char|color|decimal|double|float|html|int16|int32|int64|int8|markdown|\
    password|phone|style|uint32|uint64|utc-millisec";
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
/// Longest name that is compared with known ones.
const LONGEST: usize = 40;

/// Whether the keyword constrains values, in some draft.
pub(super) fn asks(key: &str) -> bool {
    meta::first_draft(key).is_some() && !annotates(key)
}

/// Whether the keyword is known and constrains nothing.
pub(super) fn annotates(key: &str) -> bool {
    is_among(ANNOTATING, key)
}

/// Returns the first draft that has the keyword, if it is later than `draft`.
pub(super) fn first_draft(key: &str, draft: Draft) -> Option<Draft> {
    meta::first_draft(key).filter(|&first| first > draft && asks(key))
}

/// Returns the keyword that an unknown one probably means.
pub(super) fn meant_keyword(key: &str) -> Option<&'static str> {
    if annotates(key) || asks(key) {
        return None;
    }
    let mut known: Vec<&str> = meta::keywords().filter(|known| asks(known)).collect();
    known.sort_unstable();
    nearest(key, known.into_iter().chain(["$defs", "definitions"]))
}

/// Whether the format is known.
pub(super) fn is_format(name: &str) -> bool {
    formats::is_known(name) || is_among(DESCRIBING, name)
}

/// Returns the format that an unknown one probably means.
pub(super) fn meant_format(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let alias = ALIASES.iter().find(|(other, _)| *other == plain).map(|(_, known)| *known);
    alias.or_else(|| nearest(name, formats::KNOWN.into_iter()))
}

/// Returns the nearest known name if it is near: equal except for case, hyphens and underscores, or
/// with one letter inserted, deleted, replaced or moved; two in long names.
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

/// Converts the name to lowercase, with only its letters and digits.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
