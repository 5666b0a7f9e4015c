//! The size of the scanner's caches.
//!
//! Sequences refer to scan states, obligations, points and parse states by number, so none is
//! dropped before the scanner is. Most grammars have few. If matches stay pending in ever new
//! combinations, each text adds more.

use std::sync::atomic::Ordering;

use super::Scanner;
use super::obligations::Obligations;
use crate::lr::table::ParseTable;
use crate::util::append::room;

impl Scanner {
    /// Returns the heap bytes of everything met so far, compiling included. Costs a few loads.
    pub(crate) fn met_bytes(&self) -> usize {
        let states = self.states();
        let classes = states.classes().count();
        let labels = SET_BYTES + self.lexis.terminal_count() / 8;
        let of_obligations = size_of::<Obligations>() + classes * OBLIGATIONS_AFTER_A_BYTE;
        let obligations = self.obligations.sets.len();
        states.len() * states.bytes_of_a_state(COMPONENTS)
            + states.label_sets.len() * labels
            + states.pasts.len() * ENTRY_BYTES
            + room(obligations) * ENTRY_BYTES
            + obligations * of_obligations
            + self.obligations.listed.load(Ordering::Relaxed)
            + self.obligations.implications.len() * ENTRY_BYTES
            + self.obligations.inclusions.len() * ENTRY_BYTES
            + self.points.bytes(classes)
            + self.lexis.lookaheads.expectations.len() * ENTRY_BYTES
            + self.discharges.len() * ENTRY_BYTES
            + self.table().met_bytes()
    }
}

impl ParseTable {
    fn met_bytes(&self) -> usize {
        let (states, entered) = self.met();
        let of_sets = SET_BYTES + self.end().index() / 8;
        (states + entered) * ENTRY_BYTES
            + self.acceptable_sets().len() * of_sets
            + self.bytes_of_unions()
    }
}

/// Memory of an entry with its key and its places in tables that are never full.
const ENTRY_BYTES: usize = 64;

/// Memory of a set in addition to its words.
const SET_BYTES: usize = 88;

/// Typical number of components of a scan state.
const COMPONENTS: usize = 4;

/// Memory of the obligations after one class of bytes.
const OBLIGATIONS_AFTER_A_BYTE: usize = 16;
