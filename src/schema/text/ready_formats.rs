//! Automata of formats: they do not depend on the schema, so a process builds each of them once.
//!
//! A server meets the same few formats in most schemas, and building the automaton of date and time
//! took two thirds of the total time of a small schema with it. Each build that uses a format is
//! charged its construction cost, once: whether a schema is within its limits does not depend on
//! earlier builds, and schemas in the same grammar share their formats.

use std::sync::OnceLock;

use crate::grammar::pattern::Pattern;
use crate::lexer::{Compiler, Dfa, PatternError};
use crate::schema::text::formats;
use crate::util::limits::Limits;
use crate::util::meter::{Cost, Meter};

/// An automaton, and its construction cost.
struct Ready {
    contents: Dfa,
    cost: Cost,
}

/// Cached automata, by number of the format and whether it is short.
static READY: [[OnceLock<Option<Ready>>; 2]; formats::KNOWN.len()] =
    [const { [const { OnceLock::new() }; 2] }; formats::KNOWN.len()];

/// Returns the contents of strings of a format. If `is_short`, their parts need not be counted.
///
/// # Errors
///
/// When the construction cost of the automaton exceeds the limits of the meter.
pub(super) fn automaton(name: &str, is_short: bool, meter: &Meter) -> Result<Dfa, PatternError> {
    let number = formats::KNOWN.iter().position(|known| *known == name);
    let ready = number.and_then(|number| {
        let ready = READY[number][usize::from(is_short)].get_or_init(|| make(name, is_short));
        Some((formats::KNOWN[number], ready.as_ref()?))
    });
    match ready {
        Some((name, Ready { contents, cost })) => {
            meter.holding().set(usize::try_from(cost.bytes).unwrap_or(usize::MAX))?;
            meter.step_once(name, cost.steps)?;
            Ok(contents.clone())
        }
        // An unknown format, which has no strings, or one beyond the default limits.
        None => Compiler::new(meter).compile(&pattern(name, is_short)),
    }
}

/// Builds an automaton within the default limits.
fn make(name: &str, is_short: bool) -> Option<Ready> {
    let meter = Meter::new(&Limits::default());
    let contents = Compiler::new(&meter).compile(&pattern(name, is_short)).ok()?;
    Some(Ready { contents, cost: meter.cost() })
}

fn pattern(name: &str, is_short: bool) -> Pattern {
    if is_short { formats::short_pattern(name) } else { formats::pattern(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_ready_and_costs_each_time_what_it_cost_first() {
        for name in formats::KNOWN {
            for is_short in [false, true] {
                let costs = [(); 2].map(|()| {
                    let meter = Meter::new(&Limits::default());
                    automaton(name, is_short, &meter).expect("within the limits");
                    (meter.cost().steps, meter.cost().bytes)
                });
                assert!(costs[0].0 > 0 && costs[0] == costs[1], "{name}: {costs:?}");
                let poor = Limits { build_steps: costs[0].0 - 1, ..Limits::default() };
                assert!(automaton(name, is_short, &Meter::new(&poor)).is_err(), "{name}");
            }
        }
    }
}
