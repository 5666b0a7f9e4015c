//! Numbers as written in a schema: exact decimals of any length.

use std::cmp::Ordering;

/// `digits * 10^exponent`, with a sign. Zero has no digits, an exponent of 0 and no sign; other
/// numbers neither begin nor end with the digit 0. So equal numbers are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Decimal {
    negative: bool,
    /// Digits from 0 to 9, the most significant first.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Parses a JSON number. Returns `None` if `text` is not one, or if its exponent has more than
    /// nine digits.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = match rest.find(['e', 'E']) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, "0"),
        };
        let unsigned = exponent.trim_start_matches(['+', '-']);
        if unsigned.len() > 9 {
            return None;
        }
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty()
            || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|byte| byte - b'0').collect();
        Some(Self { negative, digits, exponent: exponent - fraction.len() as i64 }.normal())
    }

    fn normal(mut self) -> Self {
        let zeros = self.digits.iter().take_while(|&&digit| digit == 0).count();
        self.digits.drain(..zeros);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() { Self::default() } else { self }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Returns the number without its sign.
    pub(crate) fn magnitude(&self) -> Self {
        Self { negative: false, ..self.clone() }
    }

    /// Returns the number of digits before and after the point when the number is written without
    /// an exponent.
    pub(crate) fn width(&self) -> (usize, usize) {
        let whole = (self.digits.len() as i64 + self.exponent).max(0);
        (whole as usize, (-self.exponent).max(0) as usize)
    }

    /// Returns the digits before and after the point, without superfluous zeros at either end.
    pub(crate) fn plain(&self) -> (Vec<u8>, Vec<u8>) {
        let (whole, fraction) = self.width();
        let point = self.digits.len() as i64 + self.exponent;
        let digit = |at: i64| {
            self.digits.get(usize::try_from(at).unwrap_or(usize::MAX)).copied().unwrap_or(0)
        };
        let before = (0..whole as i64).map(digit).collect();
        let behind = (0..fraction as i64).map(|at| digit(point + at)).collect();
        (before, behind)
    }

    /// Returns the number as a `u64`, if it is one of at most 19 digits.
    pub(crate) fn to_u64(&self) -> Option<u64> {
        if self.negative || !self.is_integer() || self.width().0 > 19 {
            return None;
        }
        Some(self.plain().0.iter().fold(0, |value, &digit| value * 10 + u64::from(digit)))
    }

    /// Returns the digits as a number, if there are at most 18, and the exponent.
    pub(crate) fn coefficient(&self) -> Option<(u64, i64)> {
        let small = self.digits.len() <= 18;
        small.then(|| {
            (
                self.digits.iter().fold(0, |value, &digit| value * 10 + u64::from(digit)),
                self.exponent,
            )
        })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign =
            |number: &Self| i8::from(!number.is_zero()) * if number.negative { -1 } else { 1 };
        let order =
            |number: &Self| (number.digits.len() as i64 + number.exponent, number.digits.clone());
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => order(self).cmp(&order(other)),
            _ => order(other).cmp(&order(self)),
        })
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let text =
            |digits: &[u8]| digits.iter().map(|digit| char::from(b'0' + digit)).collect::<String>();
        let (before, behind) = self.width();
        if before > 40 || behind > 40 {
            return write!(f, "{sign}{}e{}", text(&self.digits), self.exponent);
        }
        let (before, behind) = self.plain();
        let before = if before.is_empty() { "0".to_owned() } else { text(&before) };
        match behind.is_empty() {
            true => write!(f, "{sign}{before}"),
            false => write!(f, "{sign}{before}.{}", text(&behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_equal() {
        let number = |text| Decimal::parse(text).expect("a number");
        assert_eq!(number("1"), number("1.0"));
        assert_eq!(number("-0"), number("0.000e5"));
        assert_eq!(number("100"), number("1E2"));
        assert_eq!(number("12.5").to_string(), "12.5");
        assert_eq!(number("-0.05").to_string(), "-0.05");
        assert_eq!(number("1200").to_u64(), Some(1200));
        assert!(Decimal::parse("1e9999999999").is_none());
    }

    #[test]
    fn numbers_are_ordered() {
        let sorted = ["-12", "-2", "-0.5", "0", "0.05", "0.5", "2", "2.5", "12", "1e3"];
        for (at, small) in sorted.iter().enumerate() {
            for large in &sorted[at + 1..] {
                assert!(Decimal::parse(small) < Decimal::parse(large), "{small} {large}");
            }
        }
    }
}
