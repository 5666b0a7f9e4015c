//! A short completion of the text, used to close a generated text and to show that a text is
//! viable.
//!
//! A plan of terminals is computed first, at the least cost
//! ([`lr::minimal_completion`](crate::lr::minimal_completion)). Each terminal of the plan is then
//! spelled by a breadth-first search over bytes from the current configuration, which obeys longest
//! match and inserts ignored text where necessary. If longest match rules the plan out (no dot can
//! follow a blank that swallows a dot), a search over bytes looks for another completion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::Matcher;
use super::side_state::NotedReading;
use crate::lr::stack::{Stack, Stacks, Unread};
use crate::scanner::Reads;
use crate::scanner::configuration::Configuration;
use crate::scanner::lookahead::Between;
use crate::util::id::TerminalId;

/// Upper bound on the configurations tried to spell one terminal.
const SEARCH_LIMIT: usize = 200_000;

/// Upper bound on the configurations expanded by the search for a whole completion.
const DETOUR_LIMIT: usize = 20_000;

/// Steps allowed for one completion, as a multiple of those of one decision.
const STEPS_FOR_A_STEP: usize = 16;

/// Weight of the remaining cost relative to the length so far, within a list of distinct items.
const WEIGHT: u64 = 16;

/// Steps charged for reading one byte.
const STEPS_OF_A_BYTE: usize = 4;

/// Number of comparisons of two configurations that are charged as one step.
const COMPARISONS_OF_A_STEP: usize = 16;

impl Matcher {
    /// Returns bytes that complete the text to a sentence: few, but not always the fewest. Empty if
    /// the text is a sentence already. `None` after a stop token, if no completion was found within
    /// a number of steps proportional to [`Limits::decision_steps`](crate::Limits::decision_steps),
    /// or if the completion needs a token without text.
    ///
    /// Costs the depth of the parse stack and the number of bytes returned.
    pub fn shortest_completion(&self) -> Option<Vec<u8>> {
        let is_text =
            |bytes: &Vec<u8>| self.index.spelled().mark().is_none_or(|mark| !bytes.contains(&mark));
        self.spelled_completion().filter(is_text)
    }

    /// Returns the same, in which tokens without text are spelled as the grammar names them.
    pub(super) fn spelled_completion(&self) -> Option<Vec<u8>> {
        if self.is_finished() {
            return None;
        }
        if !self.unwritten().is_empty() {
            let healed = Self { now: self.now.healed(), ..self.clone() };
            return Some([self.unwritten(), &healed.spelled_completion()?].concat());
        }
        if self.is_accepting() {
            return Some(Vec::new());
        }
        let steps =
            &mut self.index.scanner().bounds().decision_steps.saturating_mul(STEPS_FOR_A_STEP);
        let readings = self.now.readings.iter().enumerate();
        let completions =
            readings.filter_map(|(place, at)| self.complete(at, self.now.is_between(place), steps));
        // The plan does not know which items a list of distinct items already has.
        let knows_all = !self.index.scanner().lexis().has_distinct();
        let is_new = |text: &Vec<u8>| knows_all || self.after_text(&self.now, text).is_ok();
        let planned = completions.filter(is_new).min_by_key(Vec::len);
        let search = || self.now.noted().iter().find_map(|reading| self.search(reading, steps));
        planned.or_else(search)
    }

    /// Returns a completion by the cheapest plan, if it can be spelled. `between`: no lexeme is in
    /// progress.
    pub(super) fn complete(
        &self,
        from: &Configuration,
        between: bool,
        steps: &mut usize,
    ) -> Option<Vec<u8>> {
        let scanner = self.index.scanner();
        if let Some(indentation) = scanner.indentation() {
            return self.complete_in_lines(from, between, indentation, steps);
        }
        if between {
            return self.follow_plan(Vec::new(), from.clone(), from.stack.clone(), steps);
        }
        // The lexeme in progress is completed first.
        let (text, at) = self.finish_lexeme(from, steps)?;
        let labels = scanner.states().labels(at.state).into_iter();
        let mut after = labels.flat_map(|label| self.after(&at, label));
        after.find_map(|after| self.follow_plan(text.clone(), at.clone(), after.stack, steps))
    }

    /// Appends the cheapest plan for `stack` to `text`. `text` has led to `at`, and `stack` is the
    /// stack after the lexeme in progress.
    fn follow_plan(
        &self,
        mut text: Vec<u8>,
        mut at: Configuration,
        mut stack: Stack,
        steps: &mut usize,
    ) -> Option<Vec<u8>> {
        let scanner = self.index.scanner();
        for terminal in scanner.completion_plan(&stack, steps)? {
            let (bytes, reached) = self.spell(&at, Some(&stack), terminal, steps)?;
            text.extend(bytes);
            at = reached;
            let stacks = stack.feed(scanner.table(), terminal, &mut Unread);
            stack = self.nearest_to_the_end(stacks, steps)?;
        }
        scanner.is_complete(&at, &mut Reads::none()).then_some(text)
    }

    /// Returns the stack with the cheapest completion.
    pub(super) fn nearest_to_the_end(&self, stacks: Stacks, steps: &mut usize) -> Option<Stack> {
        let mut cost =
            |stack: &Stack| self.index.scanner().completion_cost(stack, steps).unwrap_or(u64::MAX);
        match &stacks[..] {
            [_] => stacks.into_iter().next(),
            _ => stacks.into_iter().min_by_key(|stack| cost(stack)),
        }
    }

    /// Returns bytes that complete the lexeme in progress, and the configuration after them. The
    /// label with the least remaining cost is chosen.
    pub(super) fn finish_lexeme(
        &self,
        at: &Configuration,
        steps: &mut usize,
    ) -> Option<(Vec<u8>, Configuration)> {
        let scanner = self.index.scanner();
        if scanner
            .states()
            .labels(at.state)
            .into_iter()
            .any(|label| !self.after(at, label).is_empty())
        {
            return Some((Vec::new(), at.clone()));
        }
        let mut labels: Vec<(u64, TerminalId)> = (self.labels(at).into_iter())
            .filter_map(|label| {
                let after = self.after(at, label).into_iter();
                let costs = after.filter_map(|after| scanner.completion_cost(&after.stack, steps));
                Some((costs.min()?, label))
            })
            .collect();
        labels.sort_unstable();
        labels.into_iter().find_map(|(_, label)| self.spell(at, None, label, steps))
    }

    /// Searches for a completion, best first: by the number of bytes so far plus a lower bound on
    /// the remaining cost.
    fn search(&self, from: &NotedReading, steps: &mut usize) -> Option<Vec<u8>> {
        // A configuration, its predecessor with the byte in between, and the number of bytes so
        // far.
        type Met = (NotedReading, Option<(usize, u8)>, u64);
        let scanner = self.index.scanner();
        let mut met: Vec<Met> = vec![(from.clone(), None, 0)];
        let mut alike: HashMap<_, SmallVec<[usize; 1]>, FxBuildHasher> = HashMap::default();
        let mut pending = BinaryHeap::from([Reverse((0, 0))]);
        let all_bytes: Vec<u8> = (0..=u8::MAX).collect();
        for _ in 0..DETOUR_LIMIT {
            let Reverse((_, at)) = pending.pop()?;
            let ((configuration, note), _, length) = met[at].clone();
            let text = || {
                let back = std::iter::successors(met[at].1, |&(before, _)| met[before].1);
                let mut text: Vec<u8> = back.map(|(_, byte)| byte).collect();
                text.reverse();
                text
            };
            if length > 0 && scanner.is_complete(&configuration, &mut Reads::none()) {
                return Some(text());
            }
            // After one more byte the item in progress may differ from all items of the list. Then
            // the plan is enough.
            if length > 0
                && note.items.is_in_list()
                && let Some(rest) = self.complete(&configuration, false, steps)
                && let whole = [text(), rest].concat()
                && self.after_text(&self.now, &whole).is_ok()
            {
                return Some(whole);
            }
            let bytes = match note.items.is_in_list() {
                true => &all_bytes[..],
                false => scanner.states().classes().representatives(),
            };
            for &byte in bytes {
                *steps = steps.checked_sub(STEPS_OF_A_BYTE)?;
                scanner.step_over(&configuration, byte, &mut Reads::none(), |after, ended| {
                    let Some(note) = note.after(scanner, &after, byte, ended) else { return };
                    let open = (after.obligations, after.expectations);
                    let key = (after.state, open, after.stack.core(), after.stack.depth());
                    let known = alike.entry(key).or_default();
                    *steps = steps.saturating_sub(known.len() / COMPARISONS_OF_A_STEP);
                    let is_known = |(other, beside): &NotedReading| {
                        other.same(&after) && (beside.same(&note) || !note.items.is_in_list())
                    };
                    if known.iter().any(|&known| is_known(&met[known].0))
                        || !scanner.is_viable(&after, &mut Reads::none())
                    {
                        return;
                    }
                    known.push(met.len());
                    // Plans do not know about distinct items: within lists, the first completion
                    // found is taken.
                    let weight = if note.items.is_in_list() { WEIGHT } else { 1 };
                    let left = self.least_left(&after, steps).saturating_mul(weight);
                    pending.push(Reverse((left.saturating_add(length + 1), met.len())));
                    met.push(((after, note), Some((at, byte)), length + 1));
                });
            }
        }
        None
    }

    /// Returns a lower bound on the remaining cost after the lexeme in progress, for any of its
    /// labels.
    fn least_left(&self, at: &Configuration, steps: &mut usize) -> u64 {
        let scanner = self.index.scanner();
        let stacks = self.labels(at).into_iter().flat_map(|label| self.after(at, label));
        stacks
            .filter_map(|after| scanner.completion_cost(&after.stack, steps))
            .min()
            .unwrap_or(u64::from(u32::MAX))
    }

    /// Returns the labels that the lexeme in progress can become and that the stack accepts.
    pub(super) fn labels(&self, at: &Configuration) -> Vec<TerminalId> {
        let scanner = self.index.scanner();
        let contexts = scanner.contexts_at(&at.stack, &at.layout, &mut Reads::none());
        let reach = scanner.states().label_set(scanner.states().reach(at.state));
        let taken = |&label: &usize| contexts.iter().any(|context| context.takes.contains(label));
        reach.iter().filter(taken).map(TerminalId::new).collect()
    }

    /// Returns the states after the lexeme in progress, if it ends with this label and the text can
    /// go on afterwards.
    pub(super) fn after(&self, at: &Configuration, label: TerminalId) -> SmallVec<[Between; 1]> {
        let scanner = self.index.scanner();
        let mut all = SmallVec::new();
        let Configuration { stack, layout, expectations, .. } = at;
        let reads = &mut Reads::none();
        scanner.after_lexeme(stack, layout, *expectations, label, reads, &mut |after, _| {
            if scanner.can_go_on(at, label, &after) {
                all.push(after);
            }
        });
        all
    }

    /// Returns bytes after which a lexeme of `terminal` can end, and the configuration after them.
    /// The lexeme starts on `on`, the stack after the lexeme in progress; with `None` it is the
    /// lexeme in progress.
    pub(super) fn spell(
        &self,
        from: &Configuration,
        on: Option<&Stack>,
        terminal: TerminalId,
        steps: &mut usize,
    ) -> Option<(Vec<u8>, Configuration)> {
        let scanner = self.index.scanner();
        *steps = steps.checked_sub(STEPS_OF_A_BYTE)?;
        let lexeme_stack = on.unwrap_or(&from.stack);
        if let Some(found) = self.spell_shortest(from, lexeme_stack, terminal) {
            return Some(found);
        }
        let bytes = scanner.states().classes().representatives();
        let mut seen: Vec<(Configuration, Option<(usize, u8)>)> = vec![(from.clone(), None)];
        let mut at = 0;
        while at < seen.len().min(SEARCH_LIMIT) {
            let configuration = seen[at].0.clone();
            let begun = at > 0 || on.is_none();
            if begun && self.ends_as(&configuration, lexeme_stack, terminal) {
                let mut text = Vec::new();
                let mut back = at;
                while let Some((before, byte)) = seen[back].1 {
                    text.push(byte);
                    back = before;
                }
                text.reverse();
                return Some((text, configuration));
            }
            for &byte in bytes {
                *steps = steps.checked_sub(STEPS_OF_A_BYTE + seen.len() / COMPARISONS_OF_A_STEP)?;
                let mut next = SmallVec::<[Configuration; 2]>::new();
                scanner.step(&configuration, byte, &mut Reads::none(), |after| next.push(after));
                for after in next {
                    let near = after.stack.same_stacks(lexeme_stack)
                        || after.stack.same_stacks(&from.stack);
                    if near
                        && scanner.is_viable(&after, &mut Reads::none())
                        && !seen.iter().any(|(known, _)| known.same(&after))
                    {
                        seen.push((after, Some((at, byte))));
                    }
                }
            }
            at += 1;
        }
        None
    }

    /// Tries the shortest lexeme of the terminal without a search, which nearly always succeeds.
    fn spell_shortest(
        &self,
        from: &Configuration,
        stack: &Stack,
        terminal: TerminalId,
    ) -> Option<(Vec<u8>, Configuration)> {
        let scanner = self.index.scanner();
        let text = scanner.lexis().texts(terminal)?.shortest();
        let mut at = from.clone();
        for &byte in &text {
            let mut next = None;
            scanner.step(&at, byte, &mut Reads::none(), |after| {
                if after.stack.same_stacks(stack) && scanner.is_viable(&after, &mut Reads::none()) {
                    next = Some(after);
                }
            });
            at = next?;
        }
        self.ends_as(&at, stack, terminal).then_some((text, at))
    }

    /// Whether the lexeme in progress started on `stack` and may end as `terminal`.
    pub(super) fn ends_as(&self, at: &Configuration, stack: &Stack, terminal: TerminalId) -> bool {
        let scanner = self.index.scanner();
        let reads = |label| {
            let last = at.stack.last_terminal(scanner.table());
            let contexts = scanner.contexts_at(&at.stack, &at.layout, &mut Reads::none());
            let mut readings = contexts
                .iter()
                .flat_map(|context| scanner.lexis().readings(label, &context.acceptable, last));
            label == terminal || readings.any(|(read, _)| read == terminal)
        };
        let mut labels = scanner.states().labels(at.state).into_iter();
        at.stack.same_stacks(stack)
            && labels.any(|label| reads(label) && !self.after(at, label).is_empty())
    }
}
