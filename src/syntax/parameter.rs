//! The parameter of llguidance's parametric rules: a number of 64 bits, the values passed to rules
//! (`list::incr([0:3])`), and the conditions of alternatives (`%if lt([0:3], 5)`).

use std::fmt::{self, Display, Formatter};

/// The argument of a rule, as a function of the parameter of the rule that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Constant(u64),
    /// `_`.
    Same,
    /// `set_bit(k)`, `bit_or(v)`.
    Or(u64),
    /// `clear_bit(k)`, `bit_and(v)`.
    And(u64),
    /// Adds 1 in these bits, unless all of them are set.
    Increment(Bits),
    /// Subtracts 1 in these bits, unless none of them is set.
    Decrement(Bits),
}

impl Value {
    /// Returns the value for the parameter `own`, or `None` if one is needed and there is none.
    pub(crate) fn of(self, own: Option<u64>) -> Option<u64> {
        if let Value::Constant(value) = self {
            return Some(value);
        }
        let own = own?;
        Some(match self {
            Value::Constant(value) => value,
            Value::Same => own,
            Value::Or(bits) => own | bits,
            Value::And(bits) => own & bits,
            Value::Increment(bits) if bits.of(own) == bits.all() => own,
            Value::Increment(bits) => own.wrapping_add(1 << bits.start),
            Value::Decrement(bits) if bits.of(own) == 0 => own,
            Value::Decrement(bits) => own.wrapping_sub(1 << bits.start),
        })
    }
}

/// Bits of the parameter, from the first up to but excluding the last; 1 to 64 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bits {
    start: u8,
    end: u8,
}

impl Bits {
    /// All of them: `_`.
    pub(crate) const WHOLE: Self = Self { start: 0, end: 64 };

    /// Creates `[start:end]`; returns `None` if that is empty or exceeds 64 bits.
    pub(crate) fn new(start: u64, end: u64) -> Option<Self> {
        (start < end && end <= 64).then_some(Self { start: start as u8, end: end as u8 })
    }

    /// Returns these bits of `parameter` as a number.
    fn of(self, parameter: u64) -> u64 {
        parameter >> self.start & self.all()
    }

    /// Returns the number in which all of them are set.
    fn all(self) -> u64 {
        u64::MAX >> (64 - (self.end - self.start))
    }
}

/// A condition on the parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    True,
    /// Compares these bits as a number, or how many of them are set, with a number.
    Compare {
        bits: Bits,
        counted: bool,
        comparison: Comparison,
        with: u64,
    },
    And(Box<(Condition, Condition)>),
    Or(Box<(Condition, Condition)>),
    Not(Box<Condition>),
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparisons with the names of their functions.
    pub(crate) const NAMES: [(&str, Self); 6] = [
        ("eq", Self::Equal),
        ("ne", Self::NotEqual),
        ("lt", Self::Less),
        ("le", Self::LessOrEqual),
        ("gt", Self::Greater),
        ("ge", Self::GreaterOrEqual),
    ];

    fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

impl Condition {
    /// Returns whether the condition holds for `parameter`.
    pub(crate) fn holds(&self, parameter: u64) -> bool {
        match self {
            Condition::True => true,
            Condition::Compare { bits, counted, comparison, with } => {
                let number = bits.of(parameter);
                let left = if *counted { number.count_ones().into() } else { number };
                comparison.holds(left, *with)
            }
            Condition::And(both) => both.0.holds(parameter) && both.1.holds(parameter),
            Condition::Or(both) => both.0.holds(parameter) || both.1.holds(parameter),
            Condition::Not(condition) => !condition.holds(parameter),
        }
    }

    /// `is_ones(bits)`.
    pub(crate) fn all_set(bits: Bits) -> Self {
        let (counted, comparison) = (false, Comparison::Equal);
        Condition::Compare { bits, counted, comparison, with: bits.all() }
    }

    /// `is_zeros(bits)`.
    pub(crate) fn none_set(bits: Bits) -> Self {
        let (counted, comparison) = (false, Comparison::Equal);
        Condition::Compare { bits, counted, comparison, with: 0 }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Constant(value) => write!(f, "{value}"),
            Value::Same => f.write_str("_"),
            Value::Or(bits) => write!(f, "bit_or({bits:#x})"),
            Value::And(bits) => write!(f, "bit_and({bits:#x})"),
            Value::Increment(bits) => write!(f, "incr({bits})"),
            Value::Decrement(bits) => write!(f, "decr({bits})"),
        }
    }
}

impl Display for Bits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::WHOLE => f.write_str("_"),
            Self { start, end } => write!(f, "[{start}:{end}]"),
        }
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Condition::True => f.write_str("true"),
            Condition::Compare { bits, counted, comparison, with } => {
                let named = Comparison::NAMES.iter().find(|(_, known)| known == comparison);
                let (name, _) = named.unwrap_or(&Comparison::NAMES[0]);
                let counted = if *counted { "bit_count_" } else { "" };
                write!(f, "{counted}{name}({bits}, {with})")
            }
            Condition::And(both) => write!(f, "and({}, {})", both.0, both.1),
            Condition::Or(both) => write!(f, "or({}, {})", both.0, both.1),
            Condition::Not(condition) => write!(f, "not({condition})"),
        }
    }
}
