//! Tests of the whole layer: the classic grammars, the conflicts' examples, and `lrtable` as
//! oracle.

mod classics;
mod conflicts;
mod examples;
mod oracle;
mod stacks;
mod text;
