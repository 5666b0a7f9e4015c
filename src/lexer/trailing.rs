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

/// Whether one look-ahead implies another is followed through so many pairs of states.
const MOST_PAIRS: usize = 500;

/// `raw` with what it asks. `ends` has for each state the numbers of the watches of which one must
/// come true wholly; number 0 are none, and an end that asks nothing.
pub(super) fn ask(
    mut raw: RawDfa,
    ends: &[Vec<u32>],
    watches: &[Watches],
    looks: &[LookAround],
    meter: &Meter,
) -> Result<RawDfa, PatternError> {
    let mut known: HashMap<Vec<Watches>, Asked, FxBuildHasher> = HashMap::default();
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
                    Condition { holds, .. } if holds.is_empty() => Asked::Impossible,
                    Condition { fails, .. } if fails.is_empty() => Asked::Nothing,
                    _ => Asked::Number(*places.entry(condition).or_insert_with_key(|condition| {
                        conditions.push(condition.clone());
                        conditions.len() - 1
                    })),
                };
                *known.entry(alternatives).or_insert(asked)
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

/// Which watches say nothing beside others.
struct Implied<'a> {
    looks: &'a [LookAround],
    /// By the look-arounds and states of two: whether the second has matched as soon as the first
    /// has.
    known: HashMap<[(u32, u32); 2], bool, FxBuildHasher>,
}

impl Implied<'_> {
    /// `watches` without those that others imply: where no letter may follow, no keyword can be
    /// completed, whichever has begun. So all ends of an identifier that is no keyword ask the
    /// same.
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

    /// Whether each text with which the first comes true begins with one with which the second
    /// does.
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

/// What is asked at an end.
#[derive(Clone, Copy)]
enum Asked {
    Nothing,
    Number(usize),
    /// What no text fulfils.
    Impossible,
}

/// A condition as formula: one of these must come true wholly.
struct Alternatives<'a>(&'a [Watches], &'a [LookAround]);

/// How far the automaton of a look-ahead has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Progress {
    Open(u32),
    Matched,
    Failed,
}

/// How far the automata of several look-aheads have come, by number.
#[derive(Default)]
struct Tuples {
    all: Vec<Vec<Progress>>,
    verdicts: Vec<Option<bool>>,
    ids: HashMap<Vec<Progress>, u32, FxBuildHasher>,
    /// Where the matter is settled, nothing else is of interest: one number for no, one for yes.
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
                return Err(PatternError::too_large(
                    "what its look-aheads ask takes too many states",
                )
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
