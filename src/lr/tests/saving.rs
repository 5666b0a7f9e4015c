//! Tables that were forged: none is loaded of which a stack would never have done.

use super::super::table::{ParseTable, Reduction};
use super::table_of;
use super::text::grammar;
use crate::grammar::Grammar;
use crate::grammar::ir::Conflicts;
use crate::util::limits::Limits;
use crate::util::lists::Lists;
use crate::util::meter::Meter;
use crate::util::saving::{Malformed, Reader, Writer};

fn load(grammar: &Grammar, table: &ParseTable) -> Result<ParseTable, Malformed> {
    let mut writer = Writer::default();
    table.save(&mut writer);
    ParseTable::load(
        &mut Reader::new(&writer.into_bytes()),
        grammar,
        &Meter::new(&Limits::default()),
    )
}

/// A reduction that takes four billion states off a stack does so one by one.
#[test]
fn reductions_of_no_production_are_refused() {
    let grammar = grammar("S -> a S b | c");
    let mut table = table_of(&grammar).expect("no conflict");
    assert!(load(&grammar, &table).is_ok());
    let mut changed = Lists::new();
    for state in 0..table.reductions.len() {
        for reduction in table.reductions.get(state) {
            changed.push(Reduction { length: u32::MAX as usize, ..*reduction });
        }
        changed.close();
    }
    table.reductions = changed;
    assert!(load(&grammar, &table).is_err());
}

/// Where there are said to be none, ways that part are followed each by itself, though they meet.
#[test]
fn conflicts_that_are_hidden_are_refused() {
    let mut grammar = grammar("S -> S S | a |");
    grammar.conflicts = Conflicts::Follow;
    let mut table = table_of(&grammar).expect("followed");
    assert!(table.conflicting && load(&grammar, &table).is_ok());
    table.conflicting = false;
    assert!(load(&grammar, &table).is_err());
}
