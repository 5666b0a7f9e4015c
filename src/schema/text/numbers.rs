//! Texts of the numbers that a formula allows.
//!
//! With arbitrary exponents, a range of numbers is not a regular language: `1e5` and `100000` are
//! the same number. So constrained numbers have three notations: without an exponent; between
//! -0.0001 and 0.0001 in scientific notation without needless zeros (`1.5e-07`), as in Python and
//! JavaScript; and from 10^16 on likewise (`1e+16`). If a condition cannot be decided for one of
//! the last two, that notation is not allowed there.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::grammar::pattern::{Automaton, Pattern};
use crate::lexer::{Dfa, PatternError};
use crate::schema::error::SchemaError;
use crate::schema::formula::{Atom, Comparison, FormulaId, Shape};
use crate::schema::machine::Machine;
use crate::schema::options::Numerals;
use crate::schema::text::automaton::{self, explore};
use crate::schema::text::multiples::{divisor, multiples};
use crate::schema::text::{Texts, fingerprints, regex};
use crate::util::decimal::Decimal;

use FormulaId as F;

const ANY: &str = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?";
const PLAIN: &str = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?";
const SMALL: &str = r"-?[1-9](?:\.[0-9]*[1-9])?e-(?:0?[5-9]|[1-9][0-9]{1,2})";
const LARGE: &str = r"-?[1-9](?:\.[0-9]{0,15}[1-9])?e\+?(?:1[6-9]|[2-9][0-9]|[1-9][0-9]{2})";
/// Texts with a minus sign, and those without.
const NEGATIVE: &str = r"-[-+.0-9eE]*";
const POSITIVE: &str = r"[.0-9eE][-+.0-9eE]*";
/// Numbers without an exponent and needless zeros.
const IN_ONE_WAY: &str = r"0|-?(?:[1-9][0-9]*(?:\.[0-9]*[1-9])?|0\.[0-9]*[1-9])";
const INTEGER: &str = "0|-?[1-9][0-9]*";
const INTEGER_WITH_POINT: &str = r"-?(?:0|[1-9][0-9]*)(?:\.0+)?";
const ODD_INTEGER: &str = r"-?(?:0|[1-9][0-9]*)\.0+|-0";

/// Upper bound on the magnitude of `SMALL` numbers, which are not 0.
const SMALL_BOUND: &str = "1e-4";
/// Lower bound on the magnitude of `LARGE` numbers.
const LARGE_BOUND: &str = "1e16";

/// A condition on numbers.
struct Leaf {
    atom: Atom,
    texts: Rc<Dfa>,
    /// Whether it is decided for small and for large numbers in scientific notation.
    decides: [bool; 2],
}

impl Texts<'_> {
    fn numeral(&mut self, pattern: &'static str) -> Result<Rc<Dfa>, PatternError> {
        if let Some(known) = self.numerals.get(pattern) {
            return Ok(known.clone());
        }
        let dfa = self.compile(&regex(pattern))?;
        self.numerals.insert(pattern, dfa.clone());
        Ok(dfa)
    }

    /// Restricts the texts of `pattern` to one sign.
    fn signed_numeral(
        &mut self,
        pattern: &'static str,
        signed: &'static str,
    ) -> Result<Rc<Dfa>, PatternError> {
        let parts = [self.numeral(pattern)?, self.numeral(signed)?];
        self.product(&parts, |each| each[0] && each[1])
    }

    /// Matches any of `parts`.
    fn any_numeral(&mut self, parts: &[&'static str]) -> Result<Rc<Dfa>, PatternError> {
        let parts: Result<Vec<_>, _> = parts.iter().map(|part| self.numeral(part)).collect();
        self.product(&parts?, |each| each.contains(&true))
    }
}

impl Machine<'_> {
    /// Returns the texts of the numbers that satisfy a formula which was projected on numbers, if
    /// there are any.
    pub(in crate::schema) fn numbers(
        &mut self,
        formula: F,
    ) -> Result<Option<Automaton>, SchemaError> {
        if let Some(known) = self.texts.numbers.get(&formula) {
            return Ok(known.clone());
        }
        let is_plain = self.reader.options.numerals == Numerals::Plain;
        let numbers = match (formula, self.reader.formulas.shape(formula)) {
            (F::TRUE, _) => self.texts.numeral(ANY).map_err(|error| self.too_large(&error))?,
            (F::FALSE, _) => self.compiled(Automaton::default())?,
            (_, Shape::Atom(Atom::Integer { .. })) if is_plain => {
                self.texts.numeral(INTEGER).map_err(|error| self.too_large(&error))?
            }
            _ => self.combined_numbers(formula, is_plain)?,
        };
        self.spend(numbers.state_count() / 4)?;
        let numbers = Some(automaton::of(&numbers)).filter(|numbers| !numbers.states.is_empty());
        self.texts.numbers.insert(formula, numbers.clone());
        Ok(numbers)
    }

    /// Whether the formula is a conjunction that requires integers.
    fn are_integers(&self, formula: F) -> bool {
        let formulas = &self.reader.formulas;
        let is_integer =
            |&part: &F| matches!(formulas.shape(part), Shape::Atom(Atom::Integer { .. }));
        match formulas.shape(formula) {
            Shape::And(list) => formulas.parts(list).iter().any(is_integer),
            _ => false,
        }
    }

    fn combined_numbers(&mut self, formula: F, is_plain: bool) -> Result<Rc<Dfa>, SchemaError> {
        let are_digits = is_plain && self.are_integers(formula);
        let mut leaves = Vec::new();
        for atom in self.reader.formulas.atoms(&[formula]) {
            self.spend(16)?;
            leaves.push(self.number_leaf(atom, are_digits)?);
        }
        let decides = [0, 1].map(|way| leaves.iter().all(|leaf| leaf.decides[way]));
        let wants_integer = leaves.iter().any(|leaf| matches!(leaf.atom, Atom::Integer { .. }));
        let texts = &mut self.texts;
        let mut all = match decides {
            _ if are_digits => texts.numeral(INTEGER),
            [true, true] => texts.any_numeral(&[PLAIN, SMALL, LARGE]),
            [true, false] => texts.any_numeral(&[PLAIN, SMALL]),
            [false, true] => texts.any_numeral(&[PLAIN, LARGE]),
            [false, false] => texts.numeral(PLAIN),
        };
        if is_plain && wants_integer && !are_digits {
            all = all.and_then(|all| {
                let odd = texts.any_numeral(&[ODD_INTEGER, LARGE])?;
                texts.product(&[all, odd], |each| each[0] && !each[1])
            });
        }
        let leaves = leaves.into_iter().map(|leaf| (leaf.atom, leaf.texts)).collect();
        let combined =
            all.and_then(|all| texts.combine(&self.reader.formulas, formula, Some(all), leaves));
        combined.map_err(|error| self.too_large(&error))
    }

    /// Returns the texts of the numbers that satisfy an atom; only those without a point and an
    /// exponent matter if all numbers `are_digits`.
    fn number_leaf(&mut self, atom: Atom, are_digits: bool) -> Result<Leaf, SchemaError> {
        let atoms = &self.reader.atoms;
        let mut decides = [true, true];
        let pattern = match atom {
            Atom::Integer { .. } if are_digits => regex(INTEGER),
            Atom::Integer { takes_point: true } => {
                Pattern::Alternation(vec![regex(INTEGER_WITH_POINT), regex(LARGE)])
            }
            Atom::Integer { takes_point: false } => regex(r"-?(?:0|[1-9][0-9]*)"),
            Atom::Numbers(set) => {
                let numbers = atoms
                    .sets
                    .get(set)
                    .iter()
                    .map(|&number| regex(spellings(atoms.numbers.get(number))));
                Pattern::Alternation(numbers.collect())
            }
            Atom::Compare(comparison, number) => {
                let number = atoms.numbers.get(number);
                return self.compare_leaf(atom, comparison, &number.clone(), are_digits);
            }
            Atom::MultipleOf(number) => {
                let number = atoms.numbers.get(number).clone();
                let (divisor, exponent) = divisor(&number)?;
                let mut parts = vec![Pattern::Automaton(multiples(divisor, exponent))];
                let bound = Decimal::parse(SMALL_BOUND).unwrap_or_default();
                // Small numbers are not multiples of a larger number; large ones are integers.
                let divides_integers = divisor == 1 && exponent <= 0;
                decides = [number >= bound, divides_integers];
                if divides_integers {
                    parts.push(regex(LARGE));
                }
                Pattern::Alternation(parts)
            }
            Atom::Apart => {
                decides = [false, false];
                regex(IN_ONE_WAY)
            }
            Atom::Fingerprint(rule, set) => {
                decides = [false, false];
                Pattern::Automaton(fingerprints::numbers(rule.modulus, set))
            }
            _ => Pattern::Alternation(Vec::new()),
        };
        let texts = self.texts.compile(&pattern).map_err(|error| self.too_large(&error))?;
        Ok(Leaf { atom, texts, decides })
    }

    fn compare_leaf(
        &mut self,
        atom: Atom,
        comparison: Comparison,
        bound: &Decimal,
        are_digits: bool,
    ) -> Result<Leaf, SchemaError> {
        let holds = move |order: Ordering| comparison.holds(order);
        let plain = self.compiled(comparing(bound, &holds))?;
        if are_digits {
            return Ok(Leaf { atom, texts: plain, decides: [true, true] });
        }
        let mut parts = vec![plain];
        let magnitude = bound.magnitude();
        let limit = |text| Decimal::parse(text).unwrap_or_default();
        let decides =
            [bound.is_zero() || magnitude >= limit(SMALL_BOUND), magnitude < limit(LARGE_BOUND)];
        // In scientific notation only sign and size matter: a small number is nearer to 0 than the
        // bound, a large one is not.
        let sign = |negative: bool| if negative { Ordering::Less } else { Ordering::Greater };
        for (way, is_nearer) in [(SMALL, !bound.is_zero()), (LARGE, false)] {
            for (signed, is_negative) in [(POSITIVE, false), (NEGATIVE, true)] {
                let order = sign(if is_nearer { !bound.is_negative() } else { is_negative });
                if holds(order) {
                    let part = self.texts.signed_numeral(way, signed);
                    parts.push(part.map_err(|error| self.too_large(&error))?);
                }
            }
        }
        let texts = self.texts.product(&parts, |each| each.contains(&true));
        let texts = texts.map_err(|error| self.too_large(&error))?;
        Ok(Leaf { atom, texts, decides })
    }
}

fn digits(digits: &[u8]) -> String {
    digits.iter().map(|digit| char::from(b'0' + digit)).collect()
}

/// Returns a regex of all texts of one number.
fn spellings(number: &Decimal) -> String {
    let (whole, fraction) = number.plain();
    let mut text = match (number.is_zero(), number.is_negative()) {
        (true, _) => return r"-?0(?:\.0+)?".to_owned(),
        (_, true) => "-".to_owned(),
        _ => String::new(),
    };
    let sign = text.clone();
    text.push_str(&if whole.is_empty() { "0".to_owned() } else { digits(&whole) });
    text.push_str(&match fraction.is_empty() {
        true => r"(?:\.0+)?".to_owned(),
        false => format!(r"\.{}0*", digits(&fraction)),
    });
    // Scientific notation is included here, and removed later where it is not allowed.
    let all: Vec<u8> = whole.iter().chain(&fraction).copied().collect();
    let significant: Vec<u8> = {
        let start = all.iter().position(|&digit| digit != 0).unwrap_or(0);
        let end = all.iter().rposition(|&digit| digit != 0).map_or(0, |at| at + 1);
        all[start..end].to_vec()
    };
    let exponent = match whole.len() {
        0 => -(fraction.iter().take_while(|&&digit| digit == 0).count() as i64) - 1,
        length => length as i64 - 1,
    };
    let mantissa = match significant.len() {
        1 => digits(&significant),
        _ => format!(r"{}\.{}", digits(&significant[..1]), digits(&significant[1..])),
    };
    match exponent {
        ..=-5 => format!("{text}|{sign}{mantissa}e-0?{}", -exponent),
        16.. => format!(r"{text}|{sign}{mantissa}e\+?{exponent}"),
        _ => text,
    }
}

/// Position of a text without an exponent in the comparison with a bound.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Compared {
    Start,
    Sign,
    /// Number of digits before the point, and how they compare with the first digits of the bound.
    Whole(usize, Ordering),
    /// More digits than the bound has.
    Longer,
    /// Only a 0.
    Zero,
    Point(Ordering),
    /// Number of digits after the point, and the comparison so far.
    Fraction(usize, Ordering),
}

/// Matches numbers without an exponent for whose order to `bound` `holds` is true.
fn comparing(bound: &Decimal, holds: &dyn Fn(Ordering) -> bool) -> Automaton {
    let (whole, fraction) = bound.plain();
    let (whole, fraction) = (&whole, &fraction);
    // The comparison of the part before the point, and that of the whole number if the text ends.
    let before_point = move |place: Compared| match place {
        Compared::Whole(count, _) if count < whole.len() => Some(Ordering::Less),
        Compared::Whole(_, order) => Some(order),
        Compared::Longer => Some(Ordering::Greater),
        Compared::Zero => Some(if whole.is_empty() { Ordering::Equal } else { Ordering::Less }),
        _ => None,
    };
    let finish = move |place: Compared| match place {
        Compared::Fraction(count, Ordering::Equal) if count < fraction.len() => {
            Some(Ordering::Less)
        }
        Compared::Fraction(_, order) => Some(order),
        Compared::Start | Compared::Sign | Compared::Point(_) => None,
        _ => before_point(place).map(|order| {
            if order.is_eq() && !fraction.is_empty() { Ordering::Less } else { order }
        }),
    };
    let digit = move |place: Compared, digit: u8| match place {
        Compared::Start | Compared::Sign if digit == 0 => Some(Compared::Zero),
        Compared::Start | Compared::Sign => Some(match whole.first() {
            None => Compared::Longer,
            Some(first) => Compared::Whole(1, digit.cmp(first)),
        }),
        Compared::Whole(count, order) => Some(match whole.get(count) {
            None => Compared::Longer,
            Some(own) => Compared::Whole(count + 1, order.then(digit.cmp(own))),
        }),
        Compared::Longer => Some(Compared::Longer),
        Compared::Zero => None,
        Compared::Point(order) => Some(behind(fraction, 0, order, digit)),
        Compared::Fraction(count, order) => Some(behind(fraction, count, order, digit)),
    };
    // If the bound is not 0 and has the other sign, any digits give the same result.
    let is_settled = |negative: bool| negative != bound.is_negative() && !bound.is_zero();
    let is_lost = |negative: bool| {
        let order = if negative { Ordering::Less } else { Ordering::Greater };
        is_settled(negative) && !holds(order)
    };
    let any_digits = |place: Compared| match place {
        Compared::Whole(..) => Compared::Longer,
        Compared::Point(_) => Compared::Point(Ordering::Greater),
        Compared::Fraction(..) => Compared::Fraction(0, Ordering::Greater),
        place => place,
    };
    let step = |&(negative, place): &(bool, Compared), byte: u8| {
        let (negative, place) = match byte {
            b'-' => (place == Compared::Start).then_some((true, Compared::Sign))?,
            // If there are fewer digits before the point, the digits after it do not matter.
            b'.' => (negative, Compared::Point(before_point(place)?)),
            _ => (negative, digit(place, byte - b'0')?),
        };
        match is_settled(negative) {
            true => (!is_lost(negative)).then(|| (negative, any_digits(place))),
            false => Some((negative, place)),
        }
    };
    let accepts = |&(negative, place): &(bool, Compared)| {
        let Some(order) = finish(place) else { return false };
        let order = match (negative, bound.is_negative()) {
            (false, false) => order,
            (true, true) => order.reverse(),
            (false, true) => Ordering::Greater,
            // If the bound is 0, the magnitude decides, and -0 is 0.
            (true, false) if bound.is_zero() => order.reverse(),
            (true, false) => Ordering::Less,
        };
        holds(order)
    };
    explore((false, Compared::Start), b"-.0123456789", step, accepts)
}

/// Returns the position after `count` digits of the fraction and another one.
fn behind(fraction: &[u8], count: usize, order: Ordering, digit: u8) -> Compared {
    match order {
        Ordering::Equal => {
            let own = fraction.get(count).copied().unwrap_or(0);
            Compared::Fraction((count + 1).min(fraction.len()), digit.cmp(&own))
        }
        order => Compared::Fraction(0, order),
    }
}
