//! Whether nothing but the end of the text can follow: the sign for a server to stop.

use super::side_state::NotedReading;
use super::{Matcher, Moment, Progress};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;

/// Upper bound on the configurations that are looked at.
const MOST: usize = 256;

impl Matcher {
    /// Whether the text may end here, whatever its tokens are.
    pub(super) fn may_end_by_grammar(&self, from: &Moment) -> bool {
        if from.healing.is_some() {
            return false;
        }
        let scanner = self.index.scanner();
        let mut readings = from.readings.iter().enumerate();
        from.progress == Progress::Finished
            || readings.any(|(place, at)| match from.is_between(place) {
                true => scanner.is_complete_between(at, &mut Reads::none()),
                false => scanner.is_complete(at, &mut Reads::none()),
            })
    }

    /// Whether the text so far is a sentence that can only be continued by ignored text: white
    /// space and comments. A model that may go on with these often does not end by itself, so a
    /// server may stop here as well as at a stop token.
    ///
    /// Also `true` after a stop token. May be `false` where ignored text has very many states, or
    /// where more than ignored text can follow only as long as no longer match is completed.
    ///
    /// Costs one step for each byte class of the scanner and each state that ignored text can
    /// reach.
    ///
    /// ```
    /// use lrmask::{Constraint, Grammar, Vocabulary};
    ///
    /// let grammar = Grammar::from_lark("start: \"[\" /[0-9]+/ \"]\"\n%ignore /[ \\n]+/")?;
    /// let mut matcher = Constraint::new(&grammar, &Vocabulary::single_bytes())?.matcher();
    /// matcher.advance_bytes(b"[1")?;
    /// assert!(!matcher.only_end_follows());
    /// matcher.advance_bytes(b"] ")?;
    /// assert!(matcher.only_end_follows() && matcher.allows(u32::from(b' ')));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only_end_follows(&self) -> bool {
        self.is_finished() || self.is_accepting() && self.only_ignored_follows()
    }

    fn only_ignored_follows(&self) -> bool {
        let scanner = self.index.scanner();
        let bytes = scanner.states().classes().representatives();
        let mut pending: Vec<NotedReading> = self.now.noted();
        let mut seen: Vec<Configuration> = Vec::new();
        while let Some((at, note)) = pending.pop() {
            for &byte in bytes {
                let mut next: Vec<NotedReading> = Vec::new();
                scanner.step_over(&at, byte, &mut Reads::none(), |after, ended| {
                    if let Some(note) = note.after(scanner, &after, byte, ended)
                        && scanner.is_viable(&after, &mut Reads::none())
                    {
                        next.push((after, note));
                    }
                });
                for (after, note) in next {
                    let is_other = |&label: &_| {
                        !scanner.is_ignored(label) && !self.after(&after, label).is_empty()
                    };
                    if self.labels(&after).iter().any(is_other) || seen.len() > MOST {
                        return false;
                    }
                    if !seen.iter().any(|known| known.same(&after)) {
                        seen.push(after.clone());
                        pending.push((after, note));
                    }
                }
            }
        }
        true
    }
}
