//! Parts of a text with a separator between them.
//!
//! In `(.{1,63}\.)+` each dot may end a part or be inside it. An automaton would have to track
//! which of the last 63 characters may have been an end, in 2^63 combinations. Under the reading
//! that the author meant, no part contains the separator next to it. That is a smaller language
//! than the pattern's.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::grammar::regex::Regex;

/// Maximum number of characters of a separator set; larger sets separate nothing.
const MOST_SEPARATORS: usize = 3;

/// Removes separators from the parts next to them. Returns whether there were any.
pub(super) fn set_apart(regex: &mut Regex) -> bool {
    // Each part is searched, whether or not one before it had any.
    let all = |parts: &mut [Regex]| parts.iter_mut().map(set_apart).filter(|&had| had).count() > 0;
    match regex {
        Regex::Concat(parts) => {
            let mut is_less = false;
            for at in 1..parts.len() {
                let (before, behind) = parts.split_at_mut(at);
                is_less |= separate(&mut before[at - 1], &mut behind[0]);
            }
            all(parts) || is_less
        }
        Regex::Alternation(parts) => all(parts),
        Regex::Repeat(inner, _, max) => {
            let mut is_less = false;
            // After the last part, the first one follows again.
            if max.is_none_or(|max| max > 1)
                && let Regex::Concat(parts) = &mut **inner
                && let [first, .., last] = &mut parts[..]
            {
                is_less = begins_with(first).is_some_and(|set| take_out(last, &set));
            }
            set_apart(inner) || is_less
        }
        // Inside a negation, a smaller language would enlarge the whole.
        _ => false,
    }
}

/// Removes the separators between two neighbours from both. Returns whether there were any.
fn separate(before: &mut Regex, behind: &mut Regex) -> bool {
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

/// Returns the separators that a regex begins with.
fn begins_with(regex: &Regex) -> Option<ClassUnicode> {
    match regex {
        Regex::Set(set) => separators(set),
        Regex::Concat(parts) => begins_with(parts.first()?),
        Regex::Repeat(inner, ..) if repeats_parts(regex) => begins_with(inner),
        _ => None,
    }
}

/// Returns the separators at the end of the parts that a regex repeats: for `, ` the comma.
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

/// Returns the set if it has few characters.
fn separators(set: &ClassUnicode) -> Option<ClassUnicode> {
    let count: usize = set.ranges().iter().map(ClassUnicodeRange::len).sum();
    (count <= MOST_SEPARATORS).then(|| set.clone())
}

/// Whether the regex repeats a sequence of several parts.
fn repeats_parts(regex: &Regex) -> bool {
    let Regex::Repeat(inner, _, max) = regex else { return false };
    let is_repeated = max.is_none_or(|max| max > 1);
    is_repeated && matches!(&**inner, Regex::Concat(parts) if parts.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::regex::ecma::parse;

    #[test]
    fn parts_hold_no_separator() {
        for (pattern, less) in [
            (r"(.{1,63}\.)+", r"([^.\r\n\u2028\u2029]{1,63}\.)+"),
            (r"([^;]{1,9},){0,9}[^;]{1,9}", r"([^;,]{1,9},){0,9}[^;,]{1,9}"),
            (r"[^;]{1,9}(,[^;]{1,9}){0,9}", r"[^;,]{1,9}(,[^;,]{1,9}){0,9}"),
            (r"([^;]+, )*[^;]+", r"([^;,]+, )*[^;,]+"),
            (r"[^;]+(, [^;]+)*", r"[^;,]+(, [^;,]+)*"),
            (r"[^;]{1,9}@[^;]{1,9}", r"[^;@]{1,9}@[^;]{1,9}"),
            // Unchanged: sets that would become empty, large sets, and groups without repetition.
            (r"(,+,)+", r"(,+,)+"),
            (r"([a-z0-9]+[a-z])+", r"([a-z0-9]+[a-z])+"),
            (r"(www\.)?[^;]{1,9}", r"(www\.)?[^;]{1,9}"),
            (r"[^;]{1,9}(a|b)", r"[^;]{1,9}(a|b)"),
            // Negations are unchanged too.
            (r"(?!([^;]+,)+)a", r"(?!([^;]+,)+)a"),
        ] {
            let tree = |pattern: &str| parse(pattern, None).expect("a pattern").0;
            let mut regex = tree(pattern);
            assert_eq!(set_apart(&mut regex), pattern != less, "{pattern}");
            assert_eq!(format!("{regex:?}"), format!("{:?}", tree(less)), "{pattern}");
        }
    }
}
