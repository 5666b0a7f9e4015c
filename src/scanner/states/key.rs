//! Keys of scan states that do not depend on the order in which texts meet them.

use super::ScanStates;
use crate::util::fingerprint::Fingerprint;
use crate::util::id::ScanStateId;

impl ScanStates {
    /// Adds what a state consists of to a fingerprint: its terminals, each with the state of its
    /// automaton. The number of characters that a lexeme has so far is left out: it differs at
    /// each character of a bounded string, and says little about the next one.
    pub(crate) fn add_to_key(&self, state: ScanStateId, key: &mut Fingerprint) {
        for component in self.components(state) {
            let dfa = self.dfas.get(component.terminal.index()).and_then(Option::as_ref);
            let state = dfa.map_or(component.state, |dfa| dfa.table_state(component.state));
            key.number(u64::from(component.terminal.0) << 32 | u64::from(state));
        }
    }
}
