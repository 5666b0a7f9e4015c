//! The regular expressions of Python's `re`, as Hir.
//!
//! Follows CPython's `Lib/re/_parser.py` construct by construct, so that a pattern means here what
//! it means in Python: which characters `\w` is, that `{,3}` counts from 0 and `{x}` is text, that
//! `[a&&b]` is four characters. Look-arounds become part of the automaton ([`super::looking`]).
//! What a finite automaton cannot do (back references to what has no end of texts), or none of
//! these does (possessive repetition), is refused with what to write instead.
//!
//! * [`parser`]: alternations, repetitions, groups.
//! * [`opening`]: what follows an opening parenthesis; [`around`]: look-arounds and anchors.
//! * [`escape`]: what follows a backslash; [`sets`]: characters between brackets.
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
pub(super) use unicode::{Tables, fold_ascii};
