//! Budgets: what a grammar may cost before it is refused. Every loop and every array of this layer
//! that can outgrow the grammar counts against one of them.

/// What a table may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// States of the automaton.
    pub(super) states: usize,
    /// Items looked at while states are closed, and again steps taken while relations are drawn:
    /// time.
    pub(super) steps: usize,
    /// 64-bit words of all look-ahead sets together, and again of all distinct rows: memory.
    pub(super) words: usize,
    /// Cells that hold an action: memory.
    pub(super) cells: usize,
}

/// The budget that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exceeded {
    /// What is counted.
    pub(super) what: &'static str,
    /// How many are allowed.
    pub(super) limit: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 1_000_000, steps: 100_000_000, words: 50_000_000, cells: 30_000_000 }
    }
}

impl Limits {
    /// Refuses when there are more than the allowed number of states.
    pub(super) fn check_states(&self, count: usize) -> Result<(), Exceeded> {
        check("states", count, self.states)
    }

    /// Refuses when more than the allowed number of steps was taken.
    pub(super) fn check_steps(&self, count: usize) -> Result<(), Exceeded> {
        check("steps of construction", count, self.steps)
    }

    /// Refuses when the sets would take more than the allowed memory.
    pub(super) fn check_words(&self, count: usize) -> Result<(), Exceeded> {
        check("words of look-ahead sets", count, self.words)
    }

    /// Refuses when there are more than the allowed number of actions.
    pub(super) fn check_cells(&self, count: usize) -> Result<(), Exceeded> {
        check("actions", count, self.cells)
    }
}

fn check(what: &'static str, count: usize, limit: usize) -> Result<(), Exceeded> {
    if count > limit { Err(Exceeded { what, limit }) } else { Ok(()) }
}
