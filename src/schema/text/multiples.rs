//! Automata of the multiples of a number.

use std::hash::{Hash, Hasher};

use crate::grammar::pattern::Automaton;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::text::automaton::explore;
use crate::util::decimal::Decimal;

/// Maximum number of states of an automaton of multiples.
const MOST_STATES: u64 = 20_000;

/// Returns a divisor as an integer and a power of ten.
pub(super) fn divisor(number: &Decimal) -> Result<(u64, i64), SchemaError> {
    let coefficient = number.coefficient().and_then(|(divisor, exponent)| {
        let scaled = u32::try_from(exponent).ok().and_then(|exponent| 10u64.checked_pow(exponent));
        match exponent {
            ..=0 => Some((divisor, exponent)),
            _ => Some((divisor.checked_mul(scaled?)?, 0)),
        }
    });
    let small = coefficient.filter(|&(divisor, exponent)| {
        Remainder::count(divisor)
            .is_some_and(|count| count.saturating_mul(exponent.unsigned_abs() + 2) <= MOST_STATES)
    });
    small.ok_or_else(|| {
        let message = format!(
            "the automaton of the multiples of {number} has more than {MOST_STATES} states"
        );
        SchemaError::new(SchemaErrorKind::TooLarge, message)
    })
}

/// Matches numbers without an exponent that are multiples of `divisor * 10^exponent`, where
/// `exponent` is not positive. The states are the remainders of the digits without the point.
pub(super) fn multiples(divisor: u64, exponent: i64) -> Automaton {
    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    enum State {
        Start,
        Sign,
        Zero,
        /// The remainder so far, and the number of digits after the point, or `None` before it.
        Digits(Remainder, Option<u64>),
    }
    let zero = Remainder::new(0, divisor);
    let places = exponent.unsigned_abs();
    let step = |&state: &State, byte: u8| match (state, byte) {
        (State::Start, b'-') => Some(State::Sign),
        (_, b'-') => None,
        (State::Zero, b'.') => Some(State::Digits(zero, Some(u64::MAX))),
        (State::Digits(rest, None), b'.') => Some(State::Digits(rest, Some(u64::MAX))),
        (_, b'.') => None,
        (State::Start | State::Sign, b'0') => Some(State::Zero),
        (State::Start | State::Sign, _) => Some(State::Digits(zero.push(byte, divisor), None)),
        (State::Zero, _) => None,
        (State::Digits(rest, None), _) => Some(State::Digits(rest.push(byte, divisor), None)),
        // After as many places as the divisor has, only zeros may follow.
        (State::Digits(rest, Some(count)), _) => match if count == u64::MAX { 0 } else { count } {
            count if count < places => {
                Some(State::Digits(rest.push(byte, divisor), Some(count + 1)))
            }
            count => (byte == b'0').then_some(State::Digits(rest, Some(count))),
        },
    };
    let accepts = |&state: &State| match state {
        State::Start | State::Sign | State::Digits(_, Some(u64::MAX)) => false,
        State::Zero => true,
        State::Digits(rest, count) => {
            let missing = places - count.unwrap_or(0).min(places);
            (0..missing).fold(rest, |rest, _| rest.push(b'0', divisor)) == zero
        }
    };
    explore(State::Start, b"-.0123456789", step, accepts)
}

/// A remainder of division by a divisor. Two are equal if the same digits complete both to a
/// multiple: the shortest such digits tell which. So the multiples of 20000 need six remainders.
#[derive(Clone, Copy)]
struct Remainder {
    rest: u64,
    /// Number of the fewest digits that complete the number to a multiple, and their value.
    completion: (u32, u64),
}

impl Remainder {
    /// Largest divisor for which ten remainders fit an integer.
    const MOST: u64 = 10u64.pow(18);

    fn new(rest: u64, divisor: u64) -> Self {
        let (mut count, mut power, mut value) = (0, 1, (divisor - rest) % divisor);
        while value >= power && power < divisor {
            (count, power, value) = (count + 1, power * 10, value * 10 % divisor);
        }
        Remainder { rest, completion: (count, value) }
    }

    /// Returns the remainder after another digit.
    fn push(self, digit: u8, divisor: u64) -> Self {
        Remainder::new((self.rest * 10 + u64::from(digit - b'0')) % divisor, divisor)
    }

    /// Returns an upper bound on the number of different remainders, or `None` if the divisor is
    /// too large. Of `n` digits, only multiples of the greatest common divisor of the divisor and
    /// `10^n` complete anything.
    fn count(divisor: u64) -> Option<u64> {
        let gcd = |mut one: u64, mut other: u64| {
            while other != 0 {
                (one, other) = (other, one % other);
            }
            one
        };
        let (mut count, mut power) = (0, 1);
        while power < divisor && divisor <= Remainder::MOST {
            count += power / gcd(divisor, power);
            power *= 10;
        }
        (divisor <= Remainder::MOST).then(|| count + divisor / gcd(divisor, power))
    }
}

impl PartialEq for Remainder {
    fn eq(&self, other: &Self) -> bool {
        self.completion == other.completion
    }
}

impl Eq for Remainder {}

impl Hash for Remainder {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.completion.hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::Pattern;
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    #[test]
    fn multiples_are_those_that_division_tells() {
        for divisor in (1..=130).chain([250, 625, 1_000, 6_400]) {
            let meter = Meter::new(&Limits::default());
            let automaton = Pattern::Automaton(multiples(divisor, 0));
            let dfa = Compiler::new(&meter).compile(&automaton).unwrap();
            let near = (1..40).flat_map(|times| [-1, 0, 1].map(|by| (times * divisor) as i64 + by));
            for number in (0..1_000).chain(near) {
                let text = number.to_string();
                let is_multiple = number % divisor as i64 == 0;
                assert_eq!(dfa.matches(text.as_bytes()), is_multiple, "{number} of {divisor}");
            }
        }
    }

    #[test]
    fn remainders_are_no_more_than_counted() {
        for divisor in (1..=600).chain([20_000, 86_400, 1_000_000]) {
            let all: std::collections::HashSet<_> =
                (0..divisor).map(|rest| Remainder::new(rest, divisor)).collect();
            let count = Remainder::count(divisor).unwrap();
            assert!(all.len() as u64 <= count, "{divisor}");
        }
        assert_eq!(Remainder::count(20_000), Some(6));
        assert_eq!(Remainder::count(u64::MAX), None);
    }
}
