//! Texts that run on under random grammars and schemas, which a first mask does not show.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use fastrand::Rng;
use lrmask::{Constraint, Limits, TokenId};

use crate::random;

/// How many texts are sampled under each, of how many tokens.
const TEXTS: usize = 6;
const TOKENS: usize = 25;

/// No further text is begun after that.
const LONG: Duration = Duration::from_secs(4);

/// What one mask or one token may take.
const MOST: Duration = Duration::from_secs(2);

/// What was met.
#[derive(Default)]
struct Met {
    steps: usize,
    /// The longest step, and under which number.
    worst: (Duration, usize),
    /// How many findings there are.
    faults: usize,
}

/// Samples texts under what has these numbers, under the strict limits. Tells where a token is
/// refused that its mask has allowed, where a text cannot go on though nothing was left undecided,
/// and where a step takes too long. Whether none does.
pub(crate) fn hunt_among(name: &str, numbers: RangeInclusive<usize>) -> bool {
    let mut met = Met::default();
    let mut taken = 0;
    for number in numbers {
        if let Ok(constraint) = random::constraint(name, number, &Limits::strict()) {
            taken += 1;
            sample(name, number, &constraint, &mut met);
        }
    }
    let Met { steps, worst: (worst, number), faults } = met;
    println!(
        "{name}: {taken} taken, {steps} steps, {faults} faults; the longest step {worst:.2?} ({number})"
    );
    faults == 0
}

fn sample(name: &str, number: usize, constraint: &Constraint, met: &mut Met) {
    let mut random = Rng::with_seed(number as u64);
    let (mut mask, begin) = (constraint.new_mask(), Instant::now());
    for _ in 0..TEXTS {
        if begin.elapsed() > LONG {
            return;
        }
        let mut matcher = constraint.matcher();
        for step in 0..TOKENS {
            let mut told = |what: &str| {
                met.faults += 1;
                println!("{name}, {number}: {what} at step {step}");
            };
            let start = Instant::now();
            matcher.fill_mask(&mut mask);
            let filled = start.elapsed();
            let allowed: Vec<TokenId> = mask.tokens().collect();
            let is_exact = constraint.undecided() == 0 && matcher.dropped_readings() == 0;
            if allowed.is_empty() {
                if is_exact && !matcher.is_accepting() {
                    told("nothing may follow");
                }
                break;
            }
            let next = longest_of_some(constraint, &allowed, &mut random);
            let start = Instant::now();
            let is_taken = matcher.advance(next).is_ok();
            let longest = filled.max(start.elapsed());
            if !is_taken {
                told("what the mask allows is refused");
            }
            if longest > MOST {
                told(&format!("{longest:.2?}"));
            }
            met.steps += 1;
            met.worst = met.worst.max((longest, number));
            if !is_taken {
                break;
            }
        }
    }
}

/// Long tokens have more readings than short ones.
fn longest_of_some(constraint: &Constraint, allowed: &[TokenId], random: &mut Rng) -> TokenId {
    let length = |token: TokenId| constraint.vocabulary().bytes(token).map_or(0, <[u8]>::len);
    let first = allowed[random.usize(..allowed.len())];
    (0..random.usize(..4)).fold(first, |longest, _| {
        let other = allowed[random.usize(..allowed.len())];
        if length(other) > length(longest) { other } else { longest }
    })
}
