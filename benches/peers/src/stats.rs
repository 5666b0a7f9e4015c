//! Samples in few numbers.

use serde::{Deserialize, Serialize};

/// Times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// The arithmetic mean.
    pub mean: f64,
    /// The median.
    pub p50: f64,
    /// Nine of ten are at most this.
    pub p90: f64,
    /// Ninety-nine of a hundred are at most this.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Distribution {
    /// Of these samples; zeros of none.
    pub fn of(mut samples: Vec<u64>) -> Self {
        if samples.is_empty() {
            return Self::default();
        }
        samples.sort_unstable();
        // Nearest rank: the smallest sample that so many are at most.
        let rank = |part: f64| {
            let rank = (part * samples.len() as f64).ceil() as usize;
            samples[rank.clamp(1, samples.len()) - 1] as f64
        };
        let sum: u64 = samples.iter().sum();
        Self {
            mean: sum as f64 / samples.len() as f64,
            p50: rank(0.5),
            p90: rank(0.9),
            p99: rank(0.99),
            max: rank(1.0),
        }
    }
}

/// The middle one, the mean of both where there are two; zero of none.
pub fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => numbers[odd / 2],
        even => f64::midpoint(numbers[even / 2 - 1], numbers[even / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let hundred = Distribution::of((1..=100).rev().collect());
        let expected = Distribution { mean: 50.5, p50: 50.0, p90: 90.0, p99: 99.0, max: 100.0 };
        assert_eq!(hundred, expected);
        let one = Distribution::of(vec![7]);
        assert_eq!(one, Distribution { mean: 7.0, p50: 7.0, p90: 7.0, p99: 7.0, max: 7.0 });
        assert_eq!(Distribution::of(Vec::new()), Distribution::default());
    }

    #[test]
    fn medians_of_odd_and_even() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
        assert_eq!(median(std::iter::empty()), 0.0);
    }
}
