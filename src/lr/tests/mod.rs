//! Tests of the whole layer: the classic grammars, the examples of conflicts, and `lrtable` as an
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

/// Builds the table of a grammar with the default limits.
fn table_of(grammar: &Grammar) -> Result<ParseTable, ConflictError> {
    ParseTable::build(grammar, &Meter::new(&Limits::default()))
}
