//! The regular expressions of Python's `re`, as Hir.
//!
//! Follows CPython's `Lib/re/_parser.py` construct by construct, so that a pattern means here what
//! it means in Python: which characters `\w` matches, that `{,3}` counts from 0 and `{x}` is text,
//! that `[a&&b]` is no intersection. Look-arounds become part of the automaton
//! ([`super::determinize_lookaround`]). Constructs that no finite automaton can express (back
//! references to groups with infinitely many texts), or that are not implemented (possessive
//! repetition), are refused with a suggestion.
//!
//! * [`parser`]: alternations, repetitions, groups.
//! * [`opening`]: the syntax after an opening parenthesis; [`around`]: look-arounds and anchors.
//! * [`escape`]: the syntax after a backslash; [`sets`]: characters between brackets.
//! * [`groups`]: groups with numbers; [`references`]: back references to groups with few texts;
//!   [`conditions`]: conditionals.
//! * [`unicode`]: `\d`, `\w`, `\s`, and case folding.

mod around;
mod conditions;
mod cursor;
mod escape;
mod groups;
mod opening;
mod parser;
mod references;
mod sets;
mod unicode;

pub(super) use parser::parse;
pub(super) use unicode::Tables;
