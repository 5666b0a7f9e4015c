//! Finds one reading of a token, when following all of them takes too long.
//!
//! A mask may allow a token for a single reading found in time, while following the others, or
//! deciding them at the token's end, takes longer than a mask may take. Refusing the token then
//! would contradict the mask. So of the readings that differ only in their stacks a few are
//! followed, each on a single path through its stack: nothing is merged, and each step costs one
//! path. After each byte every reading is tested for whether it can be completed, though not with
//! the rest of the token.

use std::collections::VecDeque;

use super::Matcher;
use super::side_state::NotedReading;
use crate::scanner::{Reads, Scanner};

/// Upper bound on the followed readings that differ only in their stacks.
const ALIKE: usize = 64;

impl Matcher {
    /// Returns a reading of a token that ends with `bytes`, after one of `from`, with which the
    /// text can be completed. `None` if none of those that are followed leads to one, which counts
    /// as undecided. Adds the steps taken to `decided`.
    pub(super) fn one_reading(
        &self,
        from: impl Iterator<Item = NotedReading>,
        bytes: &[u8],
        decided: &mut usize,
    ) -> Option<NotedReading> {
        let scanner = self.index.scanner();
        let (last, bytes) = bytes.split_last()?;
        let mut now = Few::default();
        from.for_each(|reading| now.add(reading, scanner));
        let (mut stepped, mut viewed) = (Reads::none(), Reads::none());
        for &byte in bytes {
            let mut next = Few::default();
            for (at, before) in now.all {
                let has_time = *stepped.steps() <= scanner.bounds().mask_steps;
                if has_time || next.all.is_empty() {
                    scanner.step_over(&at, byte, &mut stepped, |after, ended| {
                        if let Some(note) = before.after(scanner, &after, byte, ended)
                            && self.may_be_viable(&after, false, &mut viewed)
                        {
                            next.add((after, note), scanner);
                        }
                    });
                }
            }
            now = next;
        }
        // What the mask asked of an end, it asked with all of its steps before it.
        *decided += *viewed.steps();
        viewed.begin_anew();
        let found = now.all.into_iter().find_map(|(at, before)| {
            let mut one = None;
            scanner.step_over(&at, *last, &mut stepped, |after, ended| {
                if one.is_none()
                    && let Some(note) = before.after(scanner, &after, *last, ended)
                    && self.may_be_viable(&after, true, &mut viewed)
                {
                    one = Some((after, note));
                }
            });
            one
        });
        *decided += *viewed.steps() + *stepped.steps();
        if found.is_none() {
            scanner.give_up(&mut Reads::none());
        }
        found
    }
}

/// Readings of one text; of those that differ only in their stacks, a few.
#[derive(Default)]
struct Few {
    all: Vec<NotedReading>,
}

impl Few {
    /// Adds some of the paths of a reading.
    fn add(&mut self, (at, note): NotedReading, scanner: &Scanner) {
        let table = scanner.table();
        let is_alike = |(known, other): &&NotedReading| {
            other.same(&note)
                && known.differs_by_stack(&at)
                && known.stack.same_top(&at.stack, table)
        };
        let alike = self.all.iter().filter(is_alike).count();
        // Forks near the top matter most for the next bytes.
        let mut left = VecDeque::from([at.stack.clone()]);
        let mut ways = Vec::new();
        while alike + ways.len() < ALIKE
            && let Some(stack) = left.pop_front()
        {
            if stack.first_fork().is_none() {
                ways.push(at.on(stack));
                continue;
            }
            let has_room = alike + ways.len() + left.len() < ALIKE;
            left.extend(stack.split(table).into_iter().take(if has_room { ALIKE } else { 1 }));
        }
        self.all.extend(ways.into_iter().map(|way| (way, note.clone())));
    }
}
