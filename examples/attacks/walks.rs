//! Long texts under random grammars and schemas, for costs that a first mask does not show.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use fastrand::Rng;
use lrmask::{Constraint, Limits, TokenId};

use crate::random;

/// Number of texts sampled under each, and of their tokens.
const TEXTS: usize = 6;
const TOKENS: usize = 25;

/// Time after which no further text is begun.
const LONG: Duration = Duration::from_secs(4);

/// Upper bound on the time of one mask or one token.
const MOST: Duration = Duration::from_secs(2);

/// Results of a hunt.
#[derive(Default)]
struct Met {
    steps: usize,
    /// The longest step, with the number of its grammar.
    worst: (Duration, usize),
    /// Number of findings.
    faults: usize,
}

/// Samples texts under the grammars with these numbers, within the strict limits. Reports each
/// token that is refused although its mask allows it, each text that cannot continue although
/// nothing was left undecided, and each step that takes too long. Returns whether there are none.
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

/// Returns the longest of a few random tokens: long tokens have more readings than short ones.
fn longest_of_some(constraint: &Constraint, allowed: &[TokenId], random: &mut Rng) -> TokenId {
    let length = |token: TokenId| constraint.vocabulary().bytes(token).map_or(0, <[u8]>::len);
    let first = allowed[random.usize(..allowed.len())];
    (0..random.usize(..4)).fold(first, |longest, _| {
        let other = allowed[random.usize(..allowed.len())];
        if length(other) > length(longest) { other } else { longest }
    })
}
