//! The parameter of llguidance's parametric rules: a number of 64 bits, what becomes of it where a
//! rule is used (`list::incr([0:3])`), and what an alternative asks of it (`%if lt([0:3], 5)`).

use std::fmt::{self, Display, Formatter};

/// What a rule is given, by the parameter of the rule in which it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Constant(u64),
    /// `_`.
    Same,
    /// `set_bit(k)`, `bit_or(v)`.
    Or(u64),
    /// `clear_bit(k)`, `bit_and(v)`.
    And(u64),
    /// One more in these bits, unless all of them are set.
    Increment(Bits),
    /// One less in these bits, unless none of them is set.
    Decrement(Bits),
}

impl Value {
    /// What it is where the parameter is `own`; `None` where there is none and one is needed.
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

/// Bits of the parameter: from the first up to the last, that excluded; one at least, 64 at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Bits {
    start: u8,
    end: u8,
}

impl Bits {
    /// All of them: `_`.
    pub(crate) const WHOLE: Self = Self { start: 0, end: 64 };

    /// `[start:end]`; `None` where that is none of 64 bits.
    pub(crate) fn new(start: u64, end: u64) -> Option<Self> {
        (start < end && end <= 64).then_some(Self { start: start as u8, end: end as u8 })
    }

    /// The number that these bits of `parameter` are.
    fn of(self, parameter: u64) -> u64 {
        parameter >> self.start & self.all()
    }

    /// The number where all of them are set.
    fn all(self) -> u64 {
        u64::MAX >> (64 - (self.end - self.start))
    }
}

/// What an alternative asks of the parameter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    True,
    /// The number that these bits are, or how many of them are set, held against a number.
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

/// How two numbers are compared.
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
    /// By the names that functions have.
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
    /// Whether it holds of `parameter`.
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
