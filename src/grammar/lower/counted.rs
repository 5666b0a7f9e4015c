//! Counted repetition, `x~n..m`, in productions whose number grows with the logarithm of the
//! counts.
//!
//! Small counts are written out, as in Lark. Large ones are counted in binary on the parse stack:
//! let `P0` be `x` and `Pk: Pk-1 Pk-1`, so that `Pk` is `x` repeated `2^k` times. Exactly `n` is
//! then the powers in `n`, largest first, and at most `m`, at least one, is with `2^k` the largest
//! power in `m`
//!
//! ```text
//! A(m): Pk A(m - 2^k) | Pk | A(2^k - 1)
//! ```
//!
//! Reading `x`s, the parser holds the powers in their number so far, largest first, and two equal
//! ones on top reduce without looking ahead, as a binary counter carries. So this is LALR(1)
//! wherever the next thing does not begin with `x`.

use crate::grammar::ir::Symbol;
use crate::grammar::lower::expand::{Expander, HelperKind, RightSide};

/// Maximum count up to which the repetition of one symbol is written out.
const SMALL_COUNT: u32 = 16;
/// Longer sequences become a symbol of their own before they are repeated.
const SMALL_SYMBOLS: usize = 32;

/// Maximum number of alternatives to which the repetition of a group with several is written out,
/// as Lark does: a nonterminal for the group would have to end before the text after it is known.
const WRITTEN_OUT: usize = 64;

/// Returns all sequences of `min..=max` of `base`, if they are few; the caller handles the empty
/// one.
fn written_out(base: &[RightSide], min: u32, max: u32) -> Option<Vec<RightSide>> {
    let mut power: Vec<RightSide> = vec![Vec::new()];
    let mut all = Vec::new();
    for count in 1..=max {
        if power.len() * base.len() > WRITTEN_OUT {
            return None;
        }
        power = power
            .iter()
            .flat_map(|left| base.iter().map(|right| [&left[..], right].concat()))
            .collect();
        if count >= min {
            all.extend_from_slice(&power);
        }
    }
    (all.len() <= WRITTEN_OUT
        && all.iter().map(Vec::len).sum::<usize>() <= WRITTEN_OUT * SMALL_SYMBOLS)
        .then_some(all)
}

impl Expander {
    /// Repeats `base` `min..=max` times; the caller handles the empty case; `max` is at least 2.
    pub(crate) fn between(&mut self, base: Vec<RightSide>, min: u32, max: u32) -> Vec<RightSide> {
        if base.len() > 1
            && let Some(all) = written_out(&base, min, max)
        {
            return all;
        }
        let single = match &base[..] {
            [rhs] if rhs.len() * max as usize <= SMALL_SYMBOLS => rhs.clone(),
            _ => vec![self.symbol(base)],
        };
        if max <= SMALL_COUNT {
            return (min.max(1)..=max).map(|count| single.repeat(count as usize)).collect();
        }
        let symbol = self.symbol(vec![single]);
        let exactly = self.exactly(symbol, min);
        let mut all = Vec::new();
        if max > min {
            let more = self.at_most(symbol, max - min);
            all.push([&exactly[..], &[more]].concat());
        }
        if min > 0 {
            all.push(exactly);
        }
        all
    }

    /// Repeats `base` `min` times or more; `min` is at least 2.
    pub(crate) fn at_least(&mut self, base: Vec<RightSide>, min: u32) -> Vec<RightSide> {
        let symbol = self.symbol(base);
        let exactly = self.exactly(symbol, min);
        let list = self.helper(HelperKind::Count(min), vec![vec![symbol], exactly], |list, key| {
            vec![key[1].clone(), vec![list, symbol]]
        });
        vec![vec![list]]
    }

    /// Repeats `symbol` `count` times.
    fn exactly(&mut self, symbol: Symbol, count: u32) -> RightSide {
        if count <= SMALL_COUNT {
            return vec![symbol; count as usize];
        }
        (0..u32::BITS)
            .rev()
            .filter(|bit| count >> bit & 1 == 1)
            .map(|bit| self.power(symbol, bit))
            .collect()
    }

    /// Repeats `symbol` 2 to the `exponent` times.
    fn power(&mut self, symbol: Symbol, exponent: u32) -> Symbol {
        let mut power = symbol;
        for _ in 0..exponent {
            power = self.helper(HelperKind::Power, vec![vec![power, power]], |_, key| key.to_vec());
        }
        power
    }

    /// Repeats `symbol` between 1 and `max` times; `max` is at least 1. Recurses once per bit of
    /// `max`, and of each of the at most 32 remainders.
    fn at_most(&mut self, symbol: Symbol, max: u32) -> Symbol {
        if max == 1 {
            return symbol;
        }
        let bit = max.ilog2();
        let power = self.power(symbol, bit);
        let full = (1 << bit) - 1;
        let below = self.at_most(symbol, full);
        let mut all = vec![vec![power], vec![below]];
        if let rest @ 1.. = max - (1 << bit) {
            let rest = if rest == full { below } else { self.at_most(symbol, rest) };
            all.push(vec![power, rest]);
        }
        self.helper(HelperKind::Count(max), all, |_, key| key.to_vec())
    }
}
