//! A key of the state of a sequence, for statistics and caches.

use smallvec::SmallVec;

use super::{Matcher, Progress};
use crate::util::fingerprint::Fingerprint;

impl Matcher {
    /// Returns a key of the state of the text: the scan state and the top of the parse stack, of
    /// all readings together. These are alpha and beta of DOMINO, section 3.6.
    ///
    /// Equal states have equal keys: in clones, after a rollback, in all matchers of the
    /// constraint, and after the constraint was saved and loaded by the same version of the crate.
    /// Equal keys do not mean equal masks, because the parse stack below its top, the blocks of
    /// `%indent`, and the number of characters that a bounded lexeme has so far do not count. Use
    /// it for statistics, such as those of [`Speculator`](crate::Speculator).
    ///
    /// Costs a few nanoseconds for each terminal that competes for the lexeme in progress.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let vocabulary = Vocabulary::from_tokens(["(", "1", ")"])?;
    /// let grammar = Grammar::from_lark("start: \"(\" start \")\" | /1+/")?;
    /// let constraint = Constraint::new(&grammar, &vocabulary)?;
    /// let after = |text: &[u8]| {
    ///     let mut matcher = constraint.matcher();
    ///     matcher.advance_bytes(text).map(|()| matcher.state_key())
    /// };
    /// assert_eq!(after(b"((")?, after(b"(((")?);
    /// assert_ne!(after(b"((1")?, after(b"((")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn state_key(&self) -> u64 {
        let scanner = self.index.scanner();
        let of_reading = |place: usize| {
            let at = &self.now.readings[place];
            let mut key = Fingerprint::default();
            key.number(u64::from(at.stack.core().0) << 1 | u64::from(self.now.is_between(place)));
            scanner.states().add_to_key(at.state, &mut key);
            key.value()
        };
        // The order of readings depends on the way to the state.
        let mut keys: SmallVec<[u64; 2]> = (0..self.now.readings.len()).map(of_reading).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut key = Fingerprint::default();
        key.number(u64::from(self.now.progress == Progress::Finished));
        keys.into_iter().for_each(|of_reading| key.number(of_reading));
        key.bytes(self.unwritten());
        key.value()
    }
}
