//! Parts of a terminal that are no regexes by themselves.
//!
//! Lark concatenates the parts of a sequence as text, and some terminals rely on that: a group
//! begins in one regex and ends in another, as in `/(?!/ KEYWORD /)/ NAME`. Here parts are
//! concatenated as text only if one of them is no regex; otherwise `/a|b/ "c"` would be `a|bc`.

use std::fmt::Write;

use crate::grammar::pattern::{Pattern, RegexFlags};

/// Returns the regex of the concatenated text of `parts`, or `None` if they have flags or parts
/// that a regex cannot express.
pub(super) fn joined(parts: &[Pattern]) -> Option<Pattern> {
    let place = parts.iter().find_map(|part| match part {
        Pattern::Regex { place, .. } => place.clone(),
        _ => None,
    });
    let mut pattern = String::new();
    parts.iter().try_for_each(|part| add(&mut pattern, part))?;
    Some(Pattern::Regex { pattern, flags: RegexFlags::default(), place })
}

fn add(text: &mut String, pattern: &Pattern) -> Option<()> {
    match pattern {
        Pattern::Literal { text: literal, ignore_case: false } => {
            literal.chars().for_each(|c| add_char(text, c));
        }
        Pattern::Range(first, last) => {
            text.push('[');
            add_char(text, *first);
            text.push('-');
            add_char(text, *last);
            text.push(']');
        }
        Pattern::Regex { pattern, flags, .. } if *flags == RegexFlags::default() => {
            text.push_str(pattern);
        }
        Pattern::Concat(parts) => parts.iter().try_for_each(|part| add(text, part))?,
        Pattern::Alternation(parts) => {
            text.push_str("(?:");
            for (index, part) in parts.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "|" });
                add(text, part)?;
            }
            text.push(')');
        }
        Pattern::Repeat { pattern, min, max } => {
            text.push_str("(?:");
            add(text, pattern)?;
            let max = max.map_or_else(String::new, |max| max.to_string());
            write!(text, "){{{min},{max}}}").ok()?;
        }
        _ => return None,
    }
    Some(())
}

/// Appends the character as a literal, valid inside and outside of a set.
fn add_char(text: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        text.push('\\');
    }
    text.push(c);
}
