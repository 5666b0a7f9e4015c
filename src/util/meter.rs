//! One meter for all of building: it counts steps, which are proportional to time, and bytes held
//! at once, over all phases. Everything that can outgrow its input is counted here while it grows,
//! and stops at the first limit.
//!
//! A step is about ten nanoseconds. Loops count in bulk, once a state or a set, so that counting is
//! cheap; an iteration that takes more than ten nanoseconds counts as several steps.
//!
//! Bytes are those of the growing structures as their owners compute them, not as an allocator
//! does.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::amount;
use super::limits::{Cancel, Limits};

/// The budget left for one build. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    counts: Arc<Counts>,
    most_steps: u64,
    most_bytes: u64,
    /// Limit for one terminal's DFA.
    most_states: usize,
    /// Limit for all files of a grammar.
    most_input: usize,
    schemas: OfSchemas,
    cancel: Option<Cancel>,
    phase: Phase,
}

/// Limits for one JSON Schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfSchemas {
    /// [`Limits::schema_steps`].
    pub(crate) steps: usize,
    /// [`Limits::schema_attempt_steps`].
    pub(crate) attempt_steps: u64,
    /// [`Limits::schema_productions`].
    pub(crate) productions: usize,
}

/// The cost so far.
#[derive(Debug, Default)]
struct Counts {
    steps: AtomicU64,
    bytes: AtomicU64,
    peak: AtomicU64,
    input: AtomicU64,
    /// The rule or terminal that took the most steps, and their number.
    most: Mutex<Option<(String, u64)>>,
    /// Things made once and used often that have been counted, with their steps.
    made: Mutex<Vec<(&'static str, u64)>>,
}

/// A phase of building.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The text of a grammar becomes a syntax tree.
    Notation,
    /// The syntax tree becomes rules and terminals.
    Lowering,
    /// A JSON Schema becomes rules and terminals.
    Schema,
    /// Terminals become automata.
    Lexer,
    /// Rules become parse tables.
    Tables,
    /// The check of the grammar, and the proof that texts can be completed.
    Check,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Notation => "reading the grammar",
            Self::Lowering => "expanding the rules",
            Self::Schema => "reading the schema",
            Self::Lexer => "building the terminals' automata",
            Self::Tables => "building the parse tables",
            Self::Check => "checking the grammar",
        })
    }
}

/// The cost of building.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// Steps, about ten nanoseconds each: see [`Limits::build_steps`].
    pub steps: u64,
    /// The most bytes held at once: see [`Limits::build_bytes`].
    pub bytes: u64,
    /// The bytes that remain.
    pub kept: u64,
}

/// The limit that building reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`Limits::build_steps`].
    Steps,
    /// [`Limits::build_bytes`].
    Bytes,
    /// [`Limits::grammar_bytes`].
    Input,
    /// [`Limits::terminal_states`], or a part of them.
    TerminalStates,
    /// [`Limits::scan_states`].
    ScanStates,
    /// [`Cancel::stop`] was called.
    Cancelled,
}

/// The limit at which building stopped, the phase, and the part that took most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitReached(Box<Reached>);

/// Boxed, so that results stay small in the common case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Reached {
    kind: LimitKind,
    phase: Phase,
    limit: u64,
    most: Option<String>,
}

impl LimitReached {
    /// Returns which limit was reached.
    pub fn kind(&self) -> LimitKind {
        self.0.kind
    }

    /// Returns the phase of building.
    pub fn phase(&self) -> Phase {
        self.0.phase
    }

    /// Returns the value of the limit in steps, bytes or states; 0 if building was cancelled.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the rule or terminal that took the most steps, if one is known.
    pub fn took_most(&self) -> Option<&str> {
        self.0.most.as_deref()
    }

    /// Returns whether nothing else can be built either, because the limit applies to all of
    /// building.
    pub(crate) fn ends_building(&self) -> bool {
        self.0.kind != LimitKind::TerminalStates
    }

    /// Returns what to do about it.
    pub(crate) fn help(&self) -> &'static str {
        match self.0.kind {
            LimitKind::Steps => {
                "write a smaller count or an unbounded repetition (`+`, `*`), or raise \
                 `build_steps` of the limits (`--build-steps`)"
            }
            LimitKind::Bytes => {
                "write a smaller count or an unbounded repetition (`+`, `*`), or raise \
                 `build_bytes` of the limits (`--build-bytes`)"
            }
            LimitKind::Input => {
                "shorten the grammar, or raise `grammar_bytes` of the limits (`--grammar-bytes`)"
            }
            LimitKind::TerminalStates => {
                "write an unbounded repetition (`+`, `*`) or a smaller count, split the pattern \
                 into several terminals and a rule, or raise `terminal_states` of the limits"
            }
            LimitKind::ScanStates => {
                "shorten counted repetitions, split long terminals into rules, or raise \
                 `scan_states` of the limits"
            }
            LimitKind::Cancelled => "build it again",
        }
    }
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reached { kind, phase, limit, most } = &*self.0;
        match kind {
            LimitKind::Steps => {
                write!(f, "{phase} takes more than {} steps in total", amount::in_words(*limit))?;
            }
            LimitKind::Bytes => {
                write!(f, "{phase} takes more than {} in total", amount::bytes(*limit))?;
            }
            LimitKind::Input => write!(f, "the grammar has more than {}", amount::bytes(*limit))?,
            LimitKind::TerminalStates => {
                write!(f, "its automaton has more than {} states", amount::in_words(*limit))?;
                return Ok(());
            }
            LimitKind::ScanStates => {
                write!(
                    f,
                    "the terminals together need more than {} scan states (`scan_states` of the \
                     limits)",
                    amount::in_words(*limit)
                )?;
                return Ok(());
            }
            LimitKind::Cancelled => write!(f, "{phase} was cancelled")?,
        }
        match most {
            Some(most) => write!(f, ", most of them for {most}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LimitReached {}

impl Meter {
    /// Creates a meter with nothing spent.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            counts: Arc::default(),
            most_steps: limits.build_steps,
            most_bytes: limits.build_bytes,
            most_states: limits.terminal_states,
            most_input: limits.grammar_bytes,
            schemas: OfSchemas {
                steps: limits.schema_steps,
                attempt_steps: limits.schema_attempt_steps,
                productions: limits.schema_productions,
            },
            cancel: limits.cancel.clone(),
            phase: Phase::Notation,
        }
    }

    /// Creates a meter with the steps of `cost` spent already.
    pub(crate) fn after(cost: Cost, limits: &Limits) -> Self {
        let meter = Self::new(limits);
        meter.counts.steps.store(cost.steps, Ordering::Relaxed);
        meter
    }

    /// Returns the limits for one JSON Schema.
    pub(crate) fn of_schemas(&self) -> OfSchemas {
        self.schemas
    }

    /// Returns the same meter, counting for `phase`.
    pub(crate) fn at(&self, phase: Phase) -> Self {
        Self { phase, ..self.clone() }
    }

    /// Returns the same meter with at most this many steps left, and states for one automaton.
    pub(crate) fn part(&self, steps: u64, states: usize) -> Self {
        let most_steps = self.most_steps.min(self.steps().saturating_add(steps));
        Self { most_steps, most_states: self.most_states.min(states), ..self.clone() }
    }

    /// Returns the same meter with at most one `part`th of the steps that are left.
    pub(crate) fn share(&self, part: usize) -> Self {
        self.part((self.steps_left() / part) as u64, self.most_states)
    }

    /// Returns the maximum number of states of one terminal's automaton.
    pub(crate) fn states(&self) -> usize {
        self.most_states
    }

    /// Returns the maximum number of bytes held at once.
    pub(crate) fn most_bytes(&self) -> usize {
        usize::try_from(self.most_bytes).unwrap_or(usize::MAX)
    }

    /// Returns the cost so far.
    pub(crate) fn cost(&self) -> Cost {
        Cost {
            steps: self.steps(),
            bytes: self.counts.peak.load(Ordering::Relaxed),
            kept: self.counts.bytes.load(Ordering::Relaxed),
        }
    }

    fn steps(&self) -> u64 {
        self.counts.steps.load(Ordering::Relaxed)
    }

    /// Returns how many steps are left.
    pub(crate) fn steps_left(&self) -> usize {
        usize::try_from(self.most_steps.saturating_sub(self.steps())).unwrap_or(usize::MAX)
    }

    /// Counts the bytes of a file.
    pub(crate) fn input(&self, bytes: usize) -> Result<(), LimitReached> {
        let all = self
            .counts
            .input
            .fetch_add(bytes as u64, Ordering::Relaxed)
            .saturating_add(bytes as u64);
        match all > self.most_input as u64 {
            true => Err(self.reached(LimitKind::Input, self.most_input as u64)),
            false => Ok(()),
        }
    }

    /// Counts steps.
    pub(crate) fn step(&self, steps: usize) -> Result<(), LimitReached> {
        let all = self
            .counts
            .steps
            .fetch_add(steps as u64, Ordering::Relaxed)
            .saturating_add(steps as u64);
        if all > self.most_steps {
            return Err(self.reached(LimitKind::Steps, self.most_steps));
        }
        match &self.cancel {
            Some(cancel) if cancel.is_stopped() => Err(self.reached(LimitKind::Cancelled, 0)),
            _ => Ok(()),
        }
    }

    /// Counts the steps of making the thing of this name, once however often it is used.
    pub(crate) fn step_once(&self, name: &'static str, steps: u64) -> Result<(), LimitReached> {
        // A poisoned lock only says that another thread panicked elsewhere.
        let mut made = self.counts.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.contains(&(name, steps)) {
            return Ok(());
        }
        made.push((name, steps));
        drop(made);
        self.step(usize::try_from(steps).unwrap_or(usize::MAX))
    }

    /// Counts bytes that stay until building ends.
    pub(crate) fn keep(&self, bytes: usize) -> Result<(), LimitReached> {
        let all = self
            .counts
            .bytes
            .fetch_add(bytes as u64, Ordering::Relaxed)
            .saturating_add(bytes as u64);
        self.counts.peak.fetch_max(all, Ordering::Relaxed);
        match all > self.most_bytes {
            true => Err(self.reached(LimitKind::Bytes, self.most_bytes)),
            false => Ok(()),
        }
    }

    /// Returns the limit on bytes as reached, for memory that another library holds and bounds
    /// itself.
    pub(crate) fn too_many_bytes(&self) -> LimitReached {
        self.reached(LimitKind::Bytes, self.most_bytes)
    }

    /// Returns the limit on the states of one terminal as reached.
    pub(crate) fn too_many_states(&self) -> LimitReached {
        self.reached(LimitKind::TerminalStates, self.most_states as u64)
    }

    /// Returns the limit on the scan states, `most`, as reached.
    pub(crate) fn too_many_scan_states(&self, most: usize) -> LimitReached {
        self.reached(LimitKind::ScanStates, most as u64)
    }

    /// Returns an account of bytes to be held for a while, which starts at zero.
    pub(crate) fn holding(&self) -> Holding {
        Holding { meter: self.clone(), bytes: 0 }
    }

    /// Records that something of this name took this many steps; the greatest is named when
    /// building stops.
    pub(crate) fn took(&self, name: &str, steps: u64) {
        // A poisoned lock only says that another thread panicked elsewhere.
        let mut most = self.counts.most.lock().unwrap_or_else(PoisonError::into_inner);
        if most.as_ref().is_none_or(|(_, known)| *known < steps) {
            *most = Some((shortened(name), steps));
        }
    }

    #[cold]
    fn reached(&self, kind: LimitKind, limit: u64) -> LimitReached {
        let most = self.counts.most.lock().unwrap_or_else(PoisonError::into_inner);
        let most = most.as_ref().map(|(name, _)| name.clone());
        LimitReached(Box::new(Reached { kind, phase: self.phase, limit, most }))
    }
}

/// Shortens a name, which may be as long as the grammar.
fn shortened(name: &str) -> String {
    const MOST: usize = 60;
    match name.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

/// Bytes that are held until this is dropped.
#[derive(Debug)]
pub(crate) struct Holding {
    meter: Meter,
    bytes: usize,
}

impl Holding {
    /// Sets the number of bytes held now.
    pub(crate) fn set(&mut self, bytes: usize) -> Result<(), LimitReached> {
        if bytes <= self.bytes {
            self.meter.counts.bytes.fetch_sub((self.bytes - bytes) as u64, Ordering::Relaxed);
            self.bytes = bytes;
            return Ok(());
        }
        let more = bytes - self.bytes;
        self.bytes = bytes;
        self.meter.keep(more)
    }
}

impl Holding {
    /// Keeps the bytes counted until building ends.
    pub(crate) fn keep(mut self) {
        self.bytes = 0;
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.meter.counts.bytes.fetch_sub(self.bytes as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(steps: u64, bytes: u64) -> Limits {
        Limits { build_steps: steps, build_bytes: bytes, ..Limits::default() }
    }

    #[test]
    fn parts_and_clones_spend_the_same() {
        let meter = Meter::new(&limits(100, 100));
        assert!(meter.at(Phase::Lexer).step(60).is_ok());
        let part = meter.part(20, 5);
        assert!(part.step(20).is_ok() && part.step(1).is_err());
        assert!(meter.step(19).is_ok());
        let error = meter.step(1).unwrap_err();
        assert_eq!((error.kind(), error.limit()), (LimitKind::Steps, 100));
    }

    #[test]
    fn what_is_held_is_given_back() {
        let meter = Meter::new(&limits(100, 100));
        let mut held = meter.holding();
        assert!(held.set(80).is_ok() && held.set(10).is_ok());
        assert!(meter.keep(50).is_ok());
        assert_eq!(held.set(51).unwrap_err().kind(), LimitKind::Bytes);
        drop(held);
        assert!(meter.keep(50).is_ok() && meter.keep(1).is_err());
        assert_eq!(meter.cost(), Cost { steps: 0, bytes: 101, kept: 101 });
    }

    #[test]
    fn what_took_most_is_named() {
        let meter = Meter::new(&limits(10, 10));
        meter.took("A", 3);
        meter.took("B", 2);
        assert_eq!(meter.step(11).unwrap_err().took_most(), Some("A"));
    }
}
