//! Conditions of a lexeme on the text after it.
//!
//! A lexeme may end while look-aheads that it has passed are still open. Each thread that has
//! reached the end requires all of its watches to succeed, and one thread suffices: a condition is
//! a disjunction of such conjunctions. Two automata decide it, the product of the look-aheads' own
//! automata once for success and once for failure. Each stops at the first byte that decides the
//! condition; the end of the text, which they read like a byte, decides everything.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::lexer::dfa::{Condition, Dfa, Trailing};
use crate::lexer::error::PatternError;
use crate::lexer::look_around::{LookAround, Watches};
use crate::lexer::minimize::RawDfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::meter::Meter;

/// Maximum number of pairs of states that are visited to decide whether one look-ahead implies
/// another.
const MOST_PAIRS: usize = 500;

/// Returns `raw` with its conditions. `ends` holds for each state the numbers of the sets of
/// watches, one of which must succeed as a whole; number 0 is the empty set, an end without a
/// condition.
pub(super) fn ask(
    mut raw: RawDfa,
    ends: &[Vec<u32>],
    watches: &[Watches],
    looks: &[LookAround],
    meter: &Meter,
) -> Result<RawDfa, PatternError> {
    let mut known: HashMap<Vec<Watches>, EndCondition, FxBuildHasher> = HashMap::default();
    let mut implied = Implied { looks, known: HashMap::default() };
    let mut needed: HashMap<u32, Watches, FxBuildHasher> = HashMap::default();
    let mut conditions: Vec<Condition> = Vec::new();
    let mut places: HashMap<Condition, usize, FxBuildHasher> = HashMap::default();
    let mut of = Vec::with_capacity(ends.len());
    for (state, open) in ends.iter().enumerate() {
        if open.is_empty() || open.contains(&0) {
            of.push(0);
            continue;
        }
        let mut alternatives: Vec<Watches> = Vec::with_capacity(open.len());
        for &number in open {
            let asked = match needed.get(&number) {
                Some(watches) => watches.clone(),
                None => {
                    let watches = implied.without(&watches[number as usize], meter)?;
                    needed.insert(number, watches.clone());
                    watches
                }
            };
            alternatives.push(asked);
        }
        alternatives.sort_unstable();
        alternatives.dedup();
        let asked = match known.get(&alternatives) {
            Some(&asked) => asked,
            None => {
                let condition = Alternatives(&alternatives, looks).condition(meter)?;
                let asked = match &condition {
                    Condition { holds, .. } if holds.is_empty() => EndCondition::Impossible,
                    Condition { fails, .. } if fails.is_empty() => EndCondition::Nothing,
                    _ => EndCondition::Number(*places.entry(condition).or_insert_with_key(
                        |condition| {
                            conditions.push(condition.clone());
                            conditions.len() - 1
                        },
                    )),
                };
                *known.entry(alternatives).or_insert(asked)
            }
        };
        raw.accept[state] = !matches!(asked, EndCondition::Impossible);
        of.push(if let EndCondition::Number(number) = asked { number as u32 + 1 } else { 0 });
    }
    if !conditions.is_empty() {
        raw.trailing = Some(Trailing { of: of.into(), conditions: conditions.into() });
    }
    Ok(raw)
}

/// Finds watches that are implied by others.
struct Implied<'a> {
    looks: &'a [LookAround],
    /// By the look-arounds and states of two watches: whether the second has matched as soon as the
    /// first has.
    known: HashMap<[(u32, u32); 2], bool, FxBuildHasher>,
}

impl Implied<'_> {
    /// Returns `watches` without those that others imply: where no letter may follow, no keyword
    /// can be completed, whichever has begun. So all ends of an identifier that is no keyword have
    /// the same condition.
    fn without(&mut self, watches: &Watches, meter: &Meter) -> Result<Watches, PatternError> {
        let mut kept = watches.clone();
        let mut at = 0;
        while let Some(&(number, state, negated)) = kept.get(at) {
            let mut is_implied = false;
            for other in 0..kept.len() {
                let (implying, from, rules_out) = kept[other];
                is_implied |= other != at
                    && negated
                    && rules_out
                    && self.has_matched([(number, state), (implying, from)], meter)?;
            }
            if is_implied {
                kept.remove(at);
            } else {
                at += 1;
            }
        }
        Ok(kept)
    }

    /// Returns whether each text that satisfies the first has a prefix that satisfies the second.
    fn has_matched(&mut self, pair: [(u32, u32); 2], meter: &Meter) -> Result<bool, PatternError> {
        if let Some(&known) = self.known.get(&pair) {
            return Ok(known);
        }
        let [first, second] = pair.map(|(number, _)| &self.looks[number as usize].dfa);
        let mut met = vec![pair.map(|(_, state)| state)];
        let (mut at, mut holds) = (0, true);
        while let Some(&[one, other]) = met.get(at).filter(|_| holds) {
            at += 1;
            for byte in 0..=u8::MAX {
                let next = [first.next(one, byte), second.next(other, byte)];
                let is_done = next[1] != Dfa::DEAD && second.is_accept(next[1]);
                if next[0] == Dfa::DEAD || is_done {
                    continue;
                }
                if next[1] == Dfa::DEAD || first.is_accept(next[0]) {
                    holds = false;
                    break;
                }
                if !met.contains(&next) {
                    met.push(next);
                }
            }
            meter.step(256)?;
            holds &= met.len() <= MOST_PAIRS;
        }
        self.known.insert(pair, holds);
        Ok(holds)
    }
}

/// The condition at an end.
#[derive(Clone, Copy)]
enum EndCondition {
    Nothing,
    Number(usize),
    /// A condition that no text satisfies.
    Impossible,
}

/// A condition as a formula: one of these must succeed as a whole.
struct Alternatives<'a>(&'a [Watches], &'a [LookAround]);

/// The progress of the automaton of a look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Progress {
    Open(u32),
    Matched,
    Failed,
}

/// The progress of the automata of several look-aheads, by number.
#[derive(Default)]
struct Tuples {
    all: Vec<Vec<Progress>>,
    verdicts: Vec<Option<bool>>,
    ids: HashMap<Vec<Progress>, u32, FxBuildHasher>,
    /// Once a condition is decided, nothing else matters: one number for failure, one for success.
    settled: [Option<u32>; 2],
}

impl Tuples {
    fn number(&mut self, tuple: Vec<Progress>, verdict: Option<bool>) -> u32 {
        let fresh = self.verdicts.len() as u32;
        let number = match verdict {
            Some(verdict) => *self.settled[usize::from(verdict)].get_or_insert(fresh),
            None => *self.ids.entry(tuple.clone()).or_insert(fresh),
        };
        if number == fresh {
            self.all.push(tuple);
            self.verdicts.push(verdict);
        }
        number
    }
}

impl Alternatives<'_> {
    /// Returns the two automata.
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
        let mut tuples = Tuples::default();
        let first: Vec<Progress> = atoms.iter().map(|&(_, state)| Progress::Open(state)).collect();
        let verdict = self.verdict(&atoms, &first);
        tuples.number(first, verdict);
        let mut table = Vec::new();
        let mut held = meter.holding();
        let mut at = 0;
        while at < tuples.verdicts.len() {
            for &byte in classes.representatives() {
                if tuples.verdicts[at].is_some() {
                    table.push(Dfa::DEAD);
                    continue;
                }
                let next: Vec<Progress> = tuples.all[at]
                    .iter()
                    .zip(&atoms)
                    .map(|(&at, &(number, _))| step(at, number, byte))
                    .collect();
                let verdict = self.verdict(&atoms, &next);
                table.push(tuples.number(next, verdict));
            }
            at += 1;
            let count = tuples.verdicts.len();
            if count > meter.states() {
                return Err(PatternError::too_large("its look-aheads need too many states")
                    .beyond(meter.too_many_states()));
            }
            meter.step(classes.count() * (4 + 2 * atoms.len()))?;
            held.set(count * (2 * 8 * atoms.len() + 64) + table.capacity() * size_of::<u32>())?;
        }
        let verdicts = tuples.verdicts;
        let decided = |wanted: bool| {
            let accept = verdicts.iter().map(|&verdict| verdict == Some(wanted)).collect();
            RawDfa { classes: classes.clone(), table: table.clone(), accept, trailing: None }
                .minimize(meter)
        };
        Ok(Condition { holds: decided(true)?, fails: decided(false)? })
    }

    /// Returns whether the condition holds, or `None` while that is open.
    fn verdict(&self, atoms: &[(u32, u32)], tuple: &[Progress]) -> Option<bool> {
        let one = |&(number, state, negated): &(u32, u32, bool)| {
            let atom = atoms.binary_search(&(number, state)).ok()?;
            match tuple[atom] {
                Progress::Open(_) => None,
                Progress::Matched => Some(!negated),
                Progress::Failed => Some(negated),
            }
        };
        let all = |watches: &Watches| {
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
