//! What a lexeme asks of the text behind it.
//!
//! A lexeme may end where the look-aheads that it has passed are still open. Each thread that has
//! come to the end asks all of its watches to come true, and one thread suffices: a condition is an
//! alternative of such conjunctions. Two automata decide it, the product of the look-aheads' own
//! once for yes and once for no. Each stops at the first byte that settles the matter, and the end
//! of the text, which they read like a byte, settles all.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::lexer::dfa::{Condition, Dfa, Trailing};
use crate::lexer::error::PatternError;
use crate::lexer::look_around::{LookAround, Watches};
use crate::lexer::minimize::RawDfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// `raw` with what it asks. `ends` has for each state the numbers of the watches of which one must
/// come true wholly; number 0 are none, and an end that asks nothing.
pub(super) fn ask(
    mut raw: RawDfa,
    ends: &[Vec<u32>],
    watches: &[Watches],
    looks: &[LookAround],
    meter: &Meter,
) -> Result<RawDfa, PatternError> {
    let mut known: HashMap<&[u32], Asked, FxBuildHasher> = HashMap::default();
    let mut conditions: Vec<Condition> = Vec::new();
    let mut of = Vec::with_capacity(ends.len());
    for (state, open) in ends.iter().enumerate() {
        if open.is_empty() || open.contains(&0) {
            of.push(0);
            continue;
        }
        let asked = match known.get(&open[..]) {
            Some(&asked) => asked,
            None => {
                let alternatives = open.iter().map(|&number| &watches[number as usize]).collect();
                let condition = Alternatives(alternatives, looks).condition(meter)?;
                let asked = match &condition {
                    Condition { holds, .. } if holds.is_empty() => Asked::Impossible,
                    Condition { fails, .. } if fails.is_empty() => Asked::Nothing,
                    _ => {
                        let place = conditions.iter().position(|known| *known == condition);
                        Asked::Number(place.unwrap_or_else(|| {
                            conditions.push(condition);
                            conditions.len() - 1
                        }))
                    }
                };
                *known.entry(open).or_insert(asked)
            }
        };
        raw.accept[state] = !matches!(asked, Asked::Impossible);
        of.push(if let Asked::Number(number) = asked { number as u32 + 1 } else { 0 });
    }
    if !conditions.is_empty() {
        raw.trailing = Some(Trailing { of: of.into(), conditions: conditions.into() });
    }
    Ok(raw)
}

/// What is asked at an end.
#[derive(Clone, Copy)]
enum Asked {
    Nothing,
    Number(usize),
    /// What no text fulfils.
    Impossible,
}

/// A condition as formula: one of these must come true wholly.
struct Alternatives<'a>(Vec<&'a Watches>, &'a [LookAround]);

/// How far the automaton of a look-ahead has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Progress {
    Open(u32),
    Matched,
    Failed,
}

impl Alternatives<'_> {
    /// The two automata.
    fn condition(&self, meter: &Meter) -> Result<Condition, PatternError> {
        let Self(alternatives, looks) = self;
        let mut atoms: Vec<(u32, u32)> = alternatives
            .iter()
            .flat_map(|all| all.iter())
            .map(|&(number, state, _)| (number, state))
            .collect();
        atoms.sort_unstable();
        atoms.dedup();
        let kinds = |byte: u8| -> (bool, Vec<u8>) {
            let own =
                atoms.iter().map(|&(number, _)| looks[number as usize].dfa.classes().get(byte));
            (byte == Dfa::END, own.collect())
        };
        let mut numbers: HashMap<(bool, Vec<u8>), usize, FxBuildHasher> = HashMap::default();
        let classes = ByteClasses::by_key(|byte| {
            let next = numbers.len();
            *numbers.entry(kinds(byte)).or_insert(next)
        });
        let step = |at: Progress, number: u32, byte: u8| -> Progress {
            let Progress::Open(state) = at else { return at };
            let dfa = &looks[number as usize].dfa;
            match dfa.next(state, byte) {
                next if next != Dfa::DEAD && dfa.is_accept(next) => Progress::Matched,
                next if next == Dfa::DEAD || byte == Dfa::END => Progress::Failed,
                next => Progress::Open(next),
            }
        };
        let mut tuples: Vec<Vec<Progress>> =
            vec![atoms.iter().map(|&(_, state)| Progress::Open(state)).collect()];
        let mut ids: HashMap<Vec<Progress>, u32, FxBuildHasher> = HashMap::default();
        ids.insert(tuples[0].clone(), 0);
        let (mut table, mut verdicts) = (Vec::new(), Vec::new());
        let mut held = meter.holding();
        let mut at = 0;
        while let Some(tuple) = tuples.get(at).cloned() {
            at += 1;
            let verdict = self.verdict(&atoms, &tuple);
            verdicts.push(verdict);
            for &byte in classes.representatives() {
                if verdict.is_some() {
                    table.push(Dfa::DEAD);
                    continue;
                }
                let next = tuple
                    .iter()
                    .zip(&atoms)
                    .map(|(&at, &(number, _))| step(at, number, byte))
                    .collect();
                let fresh = tuples.len() as u32;
                table.push(*ids.entry(next).or_insert_with_key(|next| {
                    tuples.push(next.clone());
                    fresh
                }));
            }
            if tuples.len() > meter.states() {
                return Err(PatternError::too_large(
                    "what its look-aheads ask takes too many states",
                ));
            }
            meter.step(classes.count() * (4 + 2 * atoms.len()))?;
            held.set(
                tuples.capacity() * (2 * 8 * atoms.len() + 64)
                    + table.capacity() * size_of::<u32>(),
            )?;
        }
        let decided = |wanted: bool| {
            let accept = verdicts.iter().map(|&verdict| verdict == Some(wanted)).collect();
            RawDfa { classes: classes.clone(), table: table.clone(), accept, trailing: None }
                .minimize(meter)
        };
        Ok(Condition { holds: decided(true)?, fails: decided(false)? })
    }

    /// Whether the condition holds; `None` while that is open.
    fn verdict(&self, atoms: &[(u32, u32)], tuple: &[Progress]) -> Option<bool> {
        let one = |&(number, state, negated): &(u32, u32, bool)| {
            let atom = atoms.binary_search(&(number, state)).ok()?;
            match tuple[atom] {
                Progress::Open(_) => None,
                Progress::Matched => Some(!negated),
                Progress::Failed => Some(negated),
            }
        };
        let all = |watches: &&Watches| {
            let each = || watches.iter().map(one);
            if each().any(|verdict| verdict == Some(false)) {
                return Some(false);
            }
            each().all(|verdict| verdict == Some(true)).then_some(true)
        };
        let each = || self.0.iter().map(all);
        if each().any(|verdict| verdict == Some(true)) {
            return Some(true);
        }
        each().all(|verdict| verdict == Some(false)).then_some(false)
    }
}
