//! Tests of the whole layer: the classic grammars, the conflicts' examples, and `lrtable` as
//! oracle.

mod classics;
mod conflicts;
mod examples;
mod oracle;
mod requirements;
mod stacks;
mod text;

use super::conflict::ConflictError;
use super::table::ParseTable;
use crate::grammar::Grammar;
use crate::util::limits::Limits;
use crate::util::meter::Meter;

/// The table of a grammar within the usual limits.
fn table_of(grammar: &Grammar) -> Result<ParseTable, ConflictError> {
    ParseTable::build(grammar, &Meter::new(&Limits::default()))
}
