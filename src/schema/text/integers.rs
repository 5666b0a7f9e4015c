//! Integers within bounds, as the smallest automaton of their texts.
//!
//! For a number as long as a bound, only the comparison of its digits so far with the bound's
//! matters; for other numbers, only the length. States are built from the last digit to the first
//! without duplicates, so no search for equivalent states is needed.

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::grammar::pattern::{Automaton, Moves, State};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, Comparison, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::schema::text::automaton::push_run;
use crate::util::decimal::Decimal;

use FormulaId as F;

/// A lower or upper bound; `None` if there is none.
pub(super) type Bound<'a> = Option<(Comparison, &'a Decimal)>;

/// Initial capacity for states, enough for most bounds.
const STATES: usize = 14;

/// Results of comparing digits with those of a bound.
const ORDERS: [Ordering; 3] = [Ordering::Less, Ordering::Equal, Ordering::Greater];

/// Returns the index of an order in `ORDERS`.
fn at(order: Ordering) -> usize {
    (order as i8 + 1) as usize
}

/// State after the digits so far, by their comparison with the nearer and the farther bound; `None`
/// if no number continues from there.
type Behind = [[Option<u32>; 3]; 3];

/// Matches the integers from `least` to `most`, without a decimal point and exponent, and without
/// `-0`.
pub(super) fn between(least: Bound<'_>, most: Bound<'_>) -> Automaton {
    let mut made = Made { ids: HashTable::with_capacity(STATES), ..Made::default() };
    let mut start = State::default();
    let moves = made.first_digits([most, least], true);
    if !moves.is_empty() {
        let negative = made.state(State { moves, accepts: false });
        start.moves.push((b'-', b'-', negative));
    }
    let zero = Decimal::default();
    if [least, most].iter().flatten().all(|(how, bound)| how.holds(zero.cmp(bound))) {
        let zero = made.state(State { moves: Moves::new(), accepts: true });
        start.moves.push((b'0', b'0', zero));
    }
    for (first, last, next) in made.first_digits([least, most], false) {
        push_run(&mut start.moves, (first, last), next);
    }
    if start.moves.is_empty() { Automaton::default() } else { made.reached(start) }
}

impl Machine<'_> {
    /// Whether the formula is a conjunction that requires integers.
    pub(super) fn are_integers(&self, formula: F) -> bool {
        let formulas = &self.reader.formulas;
        let is_integer =
            |&part: &F| matches!(formulas.shape(part), Shape::Atom(Atom::Integer { .. }));
        match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).iter().any(is_integer),
            _ => false,
        }
    }

    /// Returns the integers that satisfy a conjunction whose only other conditions are bounds.
    pub(super) fn bounded_integers(
        &mut self,
        formula: F,
    ) -> Result<Option<Automaton>, SchemaError> {
        let (formulas, numbers) = (&self.reader.formulas, &self.reader.atoms.numbers);
        let Shape::And(list) = formulas.shape(formula) else { return Ok(None) };
        let parts = formulas.parts(list);
        let (mut least, mut most): (Bound<'_>, Bound<'_>) = (None, None);
        for &part in parts {
            match formulas.shape(part) {
                Shape::Atom(Atom::Integer { .. }) => {}
                Shape::Atom(Atom::Compare(comparison, number)) => {
                    let bound = Some((comparison, numbers.get(number)));
                    let (side, wanted) = match comparison.holds(Ordering::Greater) {
                        true => (&mut least, Ordering::Greater),
                        false => (&mut most, Ordering::Less),
                    };
                    // Of two bounds with the same number, the one that excludes it is narrower.
                    let is_narrower = side.is_none_or(|(_, known)| {
                        let order = numbers.get(number).cmp(known);
                        order == wanted || order.is_eq() && !comparison.holds(order)
                    });
                    if is_narrower {
                        *side = bound;
                    }
                }
                _ => return Ok(None),
            }
        }
        let integers = between(least, most);
        let steps = 16 * parts.len() + integers.states.len() / 4;
        self.spend(steps)?;
        Ok(Some(integers))
    }
}

/// A bound on the digits of numbers.
struct Digits {
    digits: Vec<u8>,
    /// Whether the number with exactly these digits satisfies the bound.
    holds: bool,
}

/// Restricts a bound to the integers of one sign other than 0. Returns `None` if none of them
/// satisfies it, and no digits if all do.
fn of_sign(bound: Bound<'_>, is_negative: bool) -> Option<Option<Digits>> {
    let Some((comparison, number)) = bound else { return Some(None) };
    let (digits, fraction) = number.plain();
    let signed = |order: Ordering| if is_negative { order.reverse() } else { order };
    if digits.is_empty() || number.is_negative() != is_negative {
        // All of them are farther from 0, or on the other side of it.
        return comparison.holds(signed(Ordering::Greater)).then_some(None);
    }
    let order = if fraction.is_empty() { Ordering::Equal } else { Ordering::Less };
    Some(Some(Digits { digits, holds: comparison.holds(signed(order)) }))
}

/// Returns how `count` digits and another one compare with those of a bound, given how the first
/// `count` compare, and the last digit with the same result.
fn then(bound: Option<&Digits>, count: usize, order: Ordering, digit: u8) -> (Ordering, u8) {
    let own = bound.map(|bound| bound.digits.get(count));
    match (own, order) {
        (None, _) => (Ordering::Equal, 9),
        (Some(None), _) => (Ordering::Greater, 9),
        (Some(Some(&own)), Ordering::Equal) => match digit.cmp(&own) {
            Ordering::Less => (Ordering::Less, own - 1),
            Ordering::Equal => (Ordering::Equal, own),
            Ordering::Greater => (Ordering::Greater, 9),
        },
        (Some(Some(_)), order) => (order, 9),
    }
}

/// Whether a number of `count` digits satisfies a bound, given how the digits compare with it and
/// whether it is the farther or the nearer bound.
fn holds(bound: Option<&Digits>, is_far: bool, count: usize, order: Ordering) -> bool {
    bound.is_none_or(|bound| match count.cmp(&bound.digits.len()).then(order) {
        Ordering::Less => is_far,
        Ordering::Equal => bound.holds,
        Ordering::Greater => !is_far,
    })
}

/// States without duplicates.
#[derive(Default)]
struct Made {
    states: Vec<State>,
    ids: HashTable<u32>,
    /// The state after which any digits may follow.
    free: Option<u32>,
}

impl Made {
    fn state(&mut self, state: State) -> u32 {
        let hash = |state: &State| FxBuildHasher.hash_one(state);
        let Self { states, ids, .. } = self;
        let hashed = hash(&state);
        if let Some(&known) = ids.find(hashed, |&id| states[id as usize] == state) {
            return known;
        }
        let id = states.len() as u32;
        states.push(state);
        ids.insert_unique(hashed, id, |&id| hash(&states[id as usize]));
        id
    }

    fn free(&mut self) -> u32 {
        let next = self.states.len() as u32;
        let moves = Moves::from_slice(&[(b'0', b'9', next)]);
        let free = self.free.unwrap_or_else(|| self.state(State { moves, accepts: true }));
        *self.free.insert(free)
    }

    /// Returns the moves over the first digit of the integers of one sign, after the sign: from the
    /// bound nearer to 0 to the farther one.
    fn first_digits(&mut self, bounds: [Bound<'_>; 2], is_negative: bool) -> Moves {
        let [Some(near), Some(far)] = bounds.map(|bound| of_sign(bound, is_negative)) else {
            return Moves::new();
        };
        let bounds = [near.as_ref(), far.as_ref()];
        let longest = bounds.iter().flatten().map(|bound| bound.digits.len()).max().unwrap_or(0);
        // Longer numbers all satisfy the nearer bound, and none satisfies the farther one.
        let mut behind = [[far.is_none().then(|| self.free()); 3]; 3];
        for count in (1..=longest).rev() {
            let further = behind;
            let orders = |bound: Option<&Digits>| {
                if bound.is_some() { &ORDERS[..] } else { &[Ordering::Equal] }
            };
            for &near in orders(bounds[0]) {
                for &far in orders(bounds[1]) {
                    let accepts =
                        holds(bounds[0], false, count, near) && holds(bounds[1], true, count, far);
                    let moves = moves(bounds, count, [near, far], &further);
                    let is_live = accepts || !moves.is_empty();
                    behind[at(near)][at(far)] =
                        is_live.then(|| self.state(State { moves, accepts }));
                }
            }
        }
        moves(bounds, 0, [Ordering::Equal; 2], &behind)
    }

    /// Returns the automaton of the states that `start` reaches, in the order in which they are
    /// reached.
    fn reached(&self, mut start: State) -> Automaton {
        let mut ids: Vec<Option<u32>> = vec![None; self.states.len()];
        let mut met: Vec<u32> = Vec::with_capacity(self.states.len());
        let mut number = |state: &mut State, met: &mut Vec<u32>| {
            for (_, _, next) in &mut state.moves {
                *next = *ids[*next as usize].get_or_insert_with(|| {
                    met.push(*next);
                    met.len() as u32
                });
            }
        };
        number(&mut start, &mut met);
        let mut states = Vec::with_capacity(self.states.len() + 1);
        states.push(start);
        while let Some(&next) = met.get(states.len() - 1) {
            let mut state = self.states[next as usize].clone();
            number(&mut state, &mut met);
            states.push(state);
        }
        Automaton::minimal(states)
    }
}

/// Returns the moves after `count` digits, given how these compare with the bounds. `behind` has
/// the states after another digit.
fn moves(
    bounds: [Option<&Digits>; 2],
    count: usize,
    orders: [Ordering; 2],
    behind: &Behind,
) -> Moves {
    let mut moves = Moves::new();
    // No number begins with a 0.
    let mut first = u8::from(count == 0);
    while first <= 9 {
        let sides = [0, 1].map(|side| then(bounds[side], count, orders[side], first));
        let [(near, near_last), (far, far_last)] = sides;
        let last = near_last.min(far_last);
        if let Some(next) = behind[at(near)][at(far)] {
            push_run(&mut moves, (b'0' + first, b'0' + last), next);
        }
        first = last + 1;
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::Pattern;
    use crate::lexer::Compiler;
    use crate::schema::text::automaton::{matches, of};
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    #[test]
    fn integers_keep_to_their_bounds() {
        use Comparison::{Above, AtLeast, AtMost, Below};
        let bounds = ["-120", "-10.5", "-9", "-1", "-0.5", "0", "0.5", "7", "10", "99.5", "120"];
        let bounds = bounds.map(|text| Decimal::parse(text).expect("a number"));
        let all = |ways: [Comparison; 2]| {
            let bounds = &bounds;
            let some = ways.into_iter().flat_map(move |way| bounds.iter().map(move |of| (way, of)));
            some.map(Some).chain([None]).collect::<Vec<Bound<'_>>>()
        };
        let meter = Meter::new(&Limits::default());
        for least in all([AtLeast, Above]) {
            for most in all([AtMost, Below]) {
                let automaton = between(least, most);
                let whole = Pattern::Automaton(Automaton::new(automaton.states.clone()));
                let smallest = Compiler::new(&meter).compile(&whole).expect("small");
                assert_eq!(of(&smallest), automaton, "{least:?} {most:?}");
                for value in -1500..=1500 {
                    let text = i32::to_string(&value);
                    let number = Decimal::parse(&text).expect("a number");
                    let mut sides = [least, most].into_iter().flatten();
                    let keeps = sides.all(|(way, bound)| way.holds(number.cmp(bound)));
                    assert_eq!(matches(&automaton, &text), keeps, "{value}: {least:?} {most:?}");
                }
                for text in ["", "-", "-0", "00", "01", "-01", "1.0"] {
                    assert!(!matches(&automaton, text), "{text}");
                }
            }
        }
    }
}
