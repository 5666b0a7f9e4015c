//! Length bounds in patterns, such as the look-ahead of
//! `^(?=.{1,253}$)([a-z0-9-]{1,63}\.)+[a-z]+$`.
//!
//! A look-ahead that counts a whole text multiplies the states of everything after it. As a
//! separate bound next to the pattern, the length is counted by the lexer
//! ([`bounded`](super::bounded)). And if a text is bounded, upper bounds of repetitions that no
//! such text reaches are dropped, because they would multiply states as well.

use crate::grammar::regex::ecma::{Braces, braces};

/// A pattern without its counts of all characters of a text, and these counts. A text has this many
/// characters, and contains a match of each pattern.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::schema) struct Counted {
    pub(in crate::schema) patterns: Vec<String>,
    pub(in crate::schema) min: u32,
    pub(in crate::schema) max: Option<u32>,
}

/// `.` does not match a line break.
const IN_ONE_LINE: &str = "^.*$";

/// Largest count for an automaton that counts nothing else.
const NEAR: u32 = 1_000;

/// Counts up to this are never worth removing.
const FEW: u32 = 16;

/// Extracts the counts of all characters from a pattern that has some, and may have too many.
pub(in crate::schema) fn counted(pattern: &str) -> Option<Counted> {
    let rest = pattern.strip_prefix('^')?;
    all_of_a_set(rest).or_else(|| looked_at(pattern, rest))
}

/// Extracts the counts from a pattern that begins with look-aheads, one of which counts.
fn looked_at(pattern: &str, mut rest: &str) -> Option<Counted> {
    loop {
        let before = pattern.len() - rest.len();
        let after = rest.strip_prefix("(?=").or_else(|| rest.strip_prefix("(?!"))?;
        let end = end_of_group(after)?;
        let behind = &after[end + 1..];
        if let Some((min, max)) = rest.strip_prefix("(?=").and_then(|_| all(&after[..end])) {
            // The rest must always hold together with the look-ahead, which must not be optional.
            let is_whole = top_level(behind).all(|(_, c)| c != '|')
                && !behind.starts_with(['*', '+', '?', '{']);
            let patterns = vec![[&pattern[..before], behind].concat(), IN_ONE_LINE.to_owned()];
            return is_whole.then_some(Counted { patterns, min, max });
        }
        rest = behind;
    }
}

/// Extracts the counts from `^[a-z]{1,5000}$`, without the first character.
fn all_of_a_set(rest: &str) -> Option<Counted> {
    let set = match rest.as_bytes() {
        [b'.', ..] => 1,
        [b'\\', b'd' | b'D' | b's' | b'S' | b'w' | b'W', ..] => 2,
        [b'[', ..] => end_of_class(rest)? + 1,
        _ => return None,
    };
    let (set, counts) = rest.split_at(set);
    let (min, max) = counts_in(counts.strip_suffix('$')?)?;
    let is_far = max.is_some_and(|max| max > NEAR);
    is_far.then(|| Counted { patterns: vec![format!("^{set}*$")], min, max })
}

/// Returns the end of the class at the beginning of `text`.
fn end_of_class(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_end = c == ']' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

/// Returns the counts of `.{1,255}$`.
fn all(look: &str) -> Option<(u32, Option<u32>)> {
    counts_in(look.strip_prefix('.')?.strip_suffix('$')?)
}

/// Returns the counts of `{1,255}`.
fn counts_in(braces: &str) -> Option<(u32, Option<u32>)> {
    let counts = braces.strip_prefix('{')?.strip_suffix('}')?;
    let (min, max) = counts.split_once(',').unwrap_or((counts, counts));
    let max = if max.is_empty() { None } else { Some(max.parse().ok()?) };
    Some((min.parse().ok()?, max))
}

/// Returns the end of the group whose inside begins `text`.
fn end_of_group(text: &str) -> Option<usize> {
    top_level(text).find(|&(_, c)| c == ')').map(|(at, _)| at)
}

/// Returns the characters outside of groups and classes, up to the end of the enclosing group,
/// without the parentheses of groups.
fn top_level(text: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut in_class, mut is_escaped) = (0usize, false, false);
    text.char_indices().filter(move |&(_, c)| {
        if is_escaped {
            is_escaped = false;
            return false;
        }
        match c {
            '\\' => is_escaped = true,
            ']' if in_class => in_class = false,
            _ if in_class => {}
            '[' => in_class = true,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            _ => return depth == 0,
        }
        false
    })
}

/// Removes the upper bounds of repetitions that no text of at most `longest` characters reaches.
pub(in crate::schema) fn without_idle_counts(pattern: &str, longest: u64) -> String {
    let mut text = pattern.to_owned();
    for Braces { place, min, max, width } in braces(pattern).into_iter().rev() {
        let beyond = (u64::from(max) + 1).saturating_mul(width);
        // A count of single characters, or a small one, takes few states anyway.
        let are_many = width > 1 && max > FEW;
        if are_many && min < max && beyond > longest {
            text.replace_range(place, &format!("{{{min},}}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str) -> Option<(String, u32, Option<u32>)> {
        counted(pattern).map(|Counted { patterns, min, max }| (patterns[0].clone(), min, max))
    }

    #[test]
    fn the_look_ahead_that_counts_is_taken_out() {
        let taken = |pattern: &str, min, max| Some((pattern.to_owned(), min, max));
        assert_eq!(of("^(?=.{1,253}$)[a-z]+$"), taken("^[a-z]+$", 1, Some(253)));
        assert_eq!(of("^(?!a)(?=.{3}$)b"), taken("^(?!a)b", 3, Some(3)));
        assert_eq!(of("^(?!(a|[)])\\))(?=.{3,}$)(b|c)$"), taken("^(?!(a|[)])\\))(b|c)$", 3, None));
        assert_eq!(of("^(?=.{3,9}$)[|]\\|$"), taken("^[|]\\|$", 3, Some(9)));
    }

    #[test]
    fn sets_that_are_all_of_a_text_are_counted() {
        let taken = |pattern: &str, min, max| Some((pattern.to_owned(), min, max));
        assert_eq!(of("^.{0,10000}$"), taken("^.*$", 0, Some(10_000)));
        assert_eq!(of("^[^\\]\\\\]{2000}$"), taken("^[^\\]\\\\]*$", 2000, Some(2000)));
        assert_eq!(of("^\\w{1,2000}$"), taken("^\\w*$", 1, Some(2000)));
        for pattern in
            ["^.{0,999}$", "^.{0,10000}", ".{0,10000}$", "^(ab){0,10000}$", "^.{0,9000}a$"]
        {
            assert_eq!(of(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn other_look_aheads_stay() {
        let others = [
            "(?=.{1,9}$)a",
            "^(?=.{1,9})a",
            "^(?!.{1,9}$)a",
            "^(?=.{1,9}$)a|b",
            "^(?=[a-z]{1,9}$)a",
            "^a(?=.{1,9}$)",
            "^(?=.{1,9}$)?a",
            "^(?=.{1,9}$",
            "^(?=.{,9}$)a",
        ];
        for pattern in others {
            assert_eq!(of(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn counts_that_no_text_comes_to_are_left_out() {
        let of = |pattern: &str, longest| without_idle_counts(pattern, longest);
        assert_eq!(of("^(.{1,63}\\.){1,127}$", 255), "^(.{1,63}\\.){1,}$");
        assert_eq!(of("^(.{1,63}\\.){1,127}$", 256), "^(.{1,63}\\.){1,127}$");
        assert_eq!(of("^(.{1,63}\\.){1,127}$", 50), "^(.{1,63}\\.){1,}$");
        // A part that may be empty may be repeated any number of times.
        assert_eq!(of("^(a?){1,99}[{1,99}]b{99}$", 5), "^(a?){1,99}[{1,99}]b{99}$");
        assert_eq!(of("^(?!(ab){2,99}$)(ab){2,99}$", 5), "^(?!(ab){2,99}$)(ab){2,}$");
    }
}
