//! The meaning of ECMA-262 regular expressions, the syntax of `pattern`.
//!
//! A schema's pattern is searched for, not matched: `a` is found in `cat`. The search is
//! unnecessary at ends where all alternatives are anchored. If an alternative has other assertions
//! (an anchor inside, a word boundary, a look-around), it is matched against the whole text.

pub(super) use crate::grammar::regex::ecma::Less;
use crate::grammar::regex::ecma::{self, Foreign, parse};
use crate::grammar::regex::sets::everything;
use crate::grammar::regex::{Refusal, Regex};
use crate::schema::text::ecma_separators::set_apart;

/// Meaning of a schema's pattern: a union.
#[derive(Default)]
pub(super) struct Meaning {
    /// Whole texts.
    pub(super) texts: Vec<Regex>,
    /// Prefixes of texts, without look-arounds.
    pub(super) prefixes: Vec<Regex>,
}

/// Whether a pattern is approximated by a smaller language because it has back-references or counts
/// too far.
pub(in crate::schema) fn is_narrowed(text: &str) -> bool {
    let may_refer = |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k');
    let may_count = |five: &[u8]| five.iter().all(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    (bytes.windows(2).any(may_refer) || bytes.windows(5).any(may_count))
        && read(text, Some(Less::Far)).is_ok_and(|(_, is_narrow)| is_narrow)
}

/// Returns the first construct in a pattern that belongs to other dialects and not to ECMA-262.
pub(in crate::schema) fn foreign(text: &str) -> Option<Foreign> {
    // Most patterns contain none of the characters of such constructs.
    let signs = ["(?", "\\", "[:", "{,"];
    if signs.iter().any(|sign| text.contains(sign)) { ecma::foreign(text) } else { None }
}

/// Whether the text contains counts, so that its automaton has its own bound: if that is exceeded,
/// a smaller language may be used.
pub(super) fn counts(text: &str) -> bool {
    text.bytes().zip(text.bytes().skip(1)).any(|pair| matches!(pair, (b'{' | b',', b'0'..=b'9')))
}

/// Reads `text`. Returns its meaning, and whether that is a smaller language than the pattern's,
/// which is possible only if `less` is given.
pub(super) fn read(text: &str, less: Option<Less>) -> Result<(Meaning, bool), Refusal> {
    let (mut regex, mut is_narrow) = parse(text, less)?;
    if less == Some(Less::Apart) {
        is_narrow |= set_apart(&mut regex);
    }
    let mut meaning = Meaning::default();
    branches(regex, (false, false), &mut meaning);
    Ok((meaning, is_narrow))
}

/// Removes anchors from the ends of the alternatives of `regex`. `anchored` says which ends are
/// anchored outside of it.
fn branches(regex: Regex, anchored: (bool, bool), meaning: &mut Meaning) {
    match regex {
        Regex::Alternation(parts) => {
            parts.into_iter().for_each(|part| branches(part, anchored, meaning));
        }
        Regex::Concat(mut parts) => {
            let (mut start, mut end) = anchored;
            while matches!(parts.first(), Some(Regex::Start)) {
                parts.remove(0);
                start = true;
            }
            while matches!(parts.last(), Some(Regex::End)) {
                parts.pop();
                end = true;
            }
            match <[Regex; 1]>::try_from(parts) {
                Ok([only @ (Regex::Alternation(_) | Regex::Concat(_))]) => {
                    branches(only, (start, end), meaning);
                }
                Ok([only]) => branch(only, start, end, meaning),
                Err(parts) => branch(Regex::Concat(parts), start, end, meaning),
            }
        }
        other => branches(Regex::Concat(vec![other]), anchored, meaning),
    }
}

fn branch(mut regex: Regex, start: bool, end: bool, meaning: &mut Meaning) {
    let looks = looks(&regex);
    if !looks {
        regex = least(least(regex, end, false), start, true);
    }
    let any = |is_met: bool| {
        let any = || Regex::Repeat(Box::new(Regex::Set(everything())), 0, None);
        (!is_met).then(any)
    };
    let parts = any(start).into_iter().chain([regex]).chain(any(end || !looks));
    let into = if end || looks { &mut meaning.texts } else { &mut meaning.prefixes };
    into.push(Regex::Concat(parts.collect()));
}

/// Reduces a regex that is not anchored at one side to the least that has to be found: optional
/// repetitions at that side are dropped.
fn least(regex: Regex, is_anchored: bool, at_front: bool) -> Regex {
    match regex {
        regex if is_anchored => regex,
        Regex::Repeat(inner, min, max) if max != Some(min) => {
            least(Regex::Repeat(inner, min, Some(min)), is_anchored, at_front)
        }
        Regex::Repeat(_, 0, _) => Regex::Concat(Vec::new()),
        Regex::Concat(mut parts) => {
            if at_front {
                parts.reverse();
            }
            while let Some(last) = parts.pop() {
                match least(last, false, at_front) {
                    Regex::Concat(rest) if rest.is_empty() => {}
                    rest => {
                        parts.push(rest);
                        break;
                    }
                }
            }
            if at_front {
                parts.reverse();
            }
            Regex::Concat(parts)
        }
        Regex::Alternation(parts) => {
            Regex::Alternation(parts.into_iter().map(|part| least(part, false, at_front)).collect())
        }
        other => other,
    }
}

fn looks(regex: &Regex) -> bool {
    match regex {
        Regex::Set(_) => false,
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().any(looks),
        Regex::Repeat(inner, ..) => looks(inner),
        Regex::Start | Regex::End | Regex::Boundary { .. } | Regex::Look { .. } => true,
    }
}

/// Whether a pattern may be an alternative of another pattern: it is read exactly, and its groups
/// have no look-arounds, flags, names or back-references.
pub(in crate::schema) fn is_plain(text: &str) -> bool {
    let mut groups = text.match_indices("(?").map(|(at, begin)| &text[at + begin.len()..]);
    let refers = |two: &[u8]| two[0] == b'\\' && (two[1].is_ascii_digit() || two[1] == b'k');
    groups.all(|group| group.starts_with(':'))
        && !text.as_bytes().windows(2).any(refers)
        && matches!(parse(text, None), Ok((_, false)))
}
