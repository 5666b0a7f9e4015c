//! What one terminal may cost before it is refused.

/// Limits on the compilation of one terminal's pattern. Each is checked while the thing grows, so a
/// hostile pattern costs no more than about a second and the memory named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LexerLimits {
    /// States of the automaton, before and after minimisation.
    pub(crate) states: usize,
    /// Bytes of the nondeterministic automaton, of the sets of states met while it is made
    /// deterministic, and of the table: each by itself.
    pub(crate) memory: usize,
    /// Elementary steps while the automaton is made deterministic (about 10^8 a second).
    pub(crate) steps: usize,
    /// How deep groups and pattern nodes may nest.
    pub(crate) depth: usize,
}

impl Default for LexerLimits {
    fn default() -> Self {
        Self { states: 200_000, memory: 64 << 20, steps: 100_000_000, depth: 200 }
    }
}
