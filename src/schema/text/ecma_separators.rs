//! Parts of a text with a separator between them.
//!
//! In `(.{1,63}\.)+` each dot may end a part or stand within it. An automaton would have to keep
//! which of the last 63 characters may have been an end, and there are 2^63 answers. Read as its
//! author meant it, no part holds the separator beside it. That is less than the pattern says.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::schema::text::ecma_tree::Regex;

/// Which parts hold no separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::schema) enum Apart {
    /// Those that may come more than once, and what stands beside such.
    Repeated,
    /// All.
    All,
}

/// What has more characters separates nothing.
const MOST_SEPARATORS: usize = 3;

/// Takes separators out of the parts beside them. Whether there were any.
pub(super) fn set_apart(regex: &mut Regex, apart: Apart) -> bool {
    separate(regex, apart == Apart::All)
}

/// The same; `any_part` says whether all neighbours are meant, or only those of repeated parts.
fn separate(regex: &mut Regex, any_part: bool) -> bool {
    match regex {
        Regex::Concat(parts) => {
            let mut is_less = false;
            for at in 1..parts.len() {
                if any_part || parts[at - 1..=at].iter().any(repeats_parts) {
                    let (before, behind) = parts.split_at_mut(at);
                    is_less |= separate_from(&mut before[at - 1], &mut behind[0]);
                }
            }
            separate_all(parts, any_part) || is_less
        }
        Regex::Alternation(parts) => separate_all(parts, any_part),
        Regex::Repeat(inner, _, max) => {
            let is_repeated = max.is_none_or(|max| max > 1);
            let mut is_less = false;
            // Behind the last part the first one comes again.
            if is_repeated
                && let Regex::Concat(parts) = &mut **inner
                && let [first, .., last] = &mut parts[..]
            {
                is_less = begins_with(first).is_some_and(|set| take_out(last, &set));
            }
            separate(inner, any_part || is_repeated) || is_less
        }
        // What is less within what is denied would be more.
        Regex::Set(_)
        | Regex::Start
        | Regex::End
        | Regex::Mark(_)
        | Regex::Boundary(_)
        | Regex::Look { .. } => false,
    }
}

fn separate_all(parts: &mut [Regex], any_part: bool) -> bool {
    let mut is_less = false;
    for part in parts {
        is_less |= separate(part, any_part);
    }
    is_less
}

/// Takes the separators between two neighbours out of both. Whether there were any.
fn separate_from(before: &mut Regex, behind: &mut Regex) -> bool {
    let [separators, others] = [begins_with(behind), ends_in(before)];
    let is_less = separators.is_some_and(|set| take_out(before, &set));
    others.is_some_and(|set| take_out(behind, &set)) || is_less
}

fn take_out(part: &mut Regex, separators: &ClassUnicode) -> bool {
    let Regex::Repeat(inner, ..) = part else { return false };
    let Regex::Set(set) = &mut **inner else { return false };
    let mut rest = set.clone();
    rest.difference(separators);
    let is_less = !rest.ranges().is_empty() && rest != *set;
    if is_less {
        *set = rest;
    }
    is_less
}

/// The separators that a regex begins with.
fn begins_with(regex: &Regex) -> Option<ClassUnicode> {
    match regex {
        Regex::Set(set) => separators(set),
        Regex::Concat(parts) => begins_with(parts.first()?),
        Regex::Repeat(inner, ..) if repeats_parts(regex) => begins_with(inner),
        _ => None,
    }
}

/// Those between the parts that a regex repeats, if they stand at the end: of `, ` the comma.
fn ends_in(regex: &Regex) -> Option<ClassUnicode> {
    match regex {
        Regex::Repeat(inner, ..) if repeats_parts(regex) => ends_in(inner),
        Regex::Concat(parts) => {
            let is_part = |part: &Regex| !matches!(part, Regex::Set(_));
            let last = parts.iter().rposition(is_part)?;
            match parts.get(last + 1)? {
                Regex::Set(set) => separators(set),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The set, if it has few characters.
fn separators(set: &ClassUnicode) -> Option<ClassUnicode> {
    let count: usize = set.ranges().iter().map(ClassUnicodeRange::len).sum();
    (count <= MOST_SEPARATORS).then(|| set.clone())
}

/// Whether several parts come one behind the other, and again.
fn repeats_parts(regex: &Regex) -> bool {
    let Regex::Repeat(inner, _, max) = regex else { return false };
    let is_repeated = max.is_none_or(|max| max > 1);
    is_repeated && matches!(&**inner, Regex::Concat(parts) if parts.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::text::ecma_parser::parse;

    /// Whether what is less of the first pattern is the second one.
    fn is_less(pattern: &str, less: &str, apart: Apart) -> bool {
        let tree = |pattern: &str| parse(pattern, None).expect("a pattern").0;
        let mut regex = tree(pattern);
        assert_eq!(set_apart(&mut regex, apart), pattern != less, "{pattern}");
        format!("{regex:?}") == format!("{:?}", tree(less))
    }

    #[test]
    fn repeated_parts_hold_no_separator() {
        for (pattern, less) in [
            (r"(.{1,63}\.)+", r"([^.\r\n\u2028\u2029]{1,63}\.)+"),
            (r"([^;]{1,9},){0,9}[^;]{1,9}", r"([^;,]{1,9},){0,9}[^;,]{1,9}"),
            (r"[^;]{1,9}(,[^;]{1,9}){0,9}", r"[^;,]{1,9}(,[^;,]{1,9}){0,9}"),
            (r"([^;]+, )*[^;]+", r"([^;,]+, )*[^;,]+"),
            (r"[^;]+(, [^;]+)*", r"[^;,]+(, [^;,]+)*"),
            // No set that would be left empty, none of many, and nothing that comes but once.
            (r"(,+,)+", r"(,+,)+"),
            (r"([a-z0-9]+[a-z])+", r"([a-z0-9]+[a-z])+"),
            (r"[^;]{1,9}@", r"[^;]{1,9}@"),
            (r"(www\.)?[^;]{1,9}", r"(www\.)?[^;]{1,9}"),
            // Nor where something is denied.
            (r"(?!([^;]+,)+)a", r"(?!([^;]+,)+)a"),
        ] {
            assert!(is_less(pattern, less, Apart::Repeated), "{pattern}");
        }
    }

    #[test]
    fn all_parts_hold_no_separator() {
        assert!(is_less(r"[^;]{1,9}@[^;]{1,9}", r"[^;@]{1,9}@[^;]{1,9}", Apart::All));
        assert!(is_less(r"[^;]{1,9}(a|b)", r"[^;]{1,9}(a|b)", Apart::All));
    }
}
