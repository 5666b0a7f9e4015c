//! One of the stacks of a reading, for when there is no time to follow all of them.

use super::Scanner;
use super::configuration::Configuration;
use super::lookahead::Between;
use super::reads::Reads;

/// Maximum number of parts of a graph that are looked at.
const MOST: usize = 1 << 14;

impl Scanner {
    /// Returns a reading on one of its stacks with which the text can be completed; `is_between`
    /// says that no byte of the lexeme has been read. `None` if none is found in the time of one
    /// mask, whose steps `reads` counts.
    ///
    /// Shallower ways come first: they have the fewest open rules, so little of what follows has
    /// several readings. If some stack of a graph can be completed, so can some stack on one of the
    /// ways from its first fork.
    pub(crate) fn one_way(
        &self,
        at: &Configuration,
        is_between: bool,
        reads: &mut Reads,
    ) -> Option<Configuration> {
        let mut left = vec![at.clone()];
        for _ in 0..MOST {
            let at = left.pop()?;
            let can_go_on = match is_between {
                true => {
                    let Configuration { stack, layout, expectations, .. } = at.clone();
                    let between = Between { stack, layout, expectations };
                    self.can_be_completed(&between, at.obligations, reads)
                }
                false => self.is_viable(&at, reads),
            };
            if !can_go_on {
                continue;
            }
            if at.stack.first_fork().is_none() {
                return Some(at);
            }
            let mut ways = at.stack.split(self.table());
            ways.sort_by_key(|stack| std::cmp::Reverse(stack.depth()));
            left.extend(ways.into_iter().map(|stack| at.on(stack)));
        }
        None
    }
}
