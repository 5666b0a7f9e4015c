//! Regexes that are none by themselves.
//!
//! Lark puts the parts of a sequence together as text, and some terminals rely on that: a group
//! begins in one regex and ends in another, as in `/(?!/ KEYWORD /)/ NAME`. Only where a part is no
//! regex are they put together so here; else `/a|b/ "c"` would be `a|bc`.

use std::fmt::Write;

use crate::grammar::pattern::{Pattern, RegexFlags};

/// The regex that `parts` make as text; `None` where they have flags, or more than regexes have.
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

/// The character as itself, within a set and outside.
fn add_char(text: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        text.push('\\');
    }
    text.push(c);
}
