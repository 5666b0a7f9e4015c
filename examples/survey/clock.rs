//! Processor time of one thread on Linux; elapsed time elsewhere.

use std::time::{Duration, Instant};

/// A point in time.
pub(crate) struct Clock {
    at: Instant,
    spent: Option<Duration>,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { at: Instant::now(), spent: spent() }
    }

    /// Returns the time that this thread has spent since then.
    pub(crate) fn elapsed(&self) -> Duration {
        let passed = self.at.elapsed();
        match (self.spent, spent()) {
            (Some(then), Some(now)) => now.saturating_sub(then),
            _ => passed,
        }
    }
}

/// Returns the first field, in nanoseconds.
fn spent() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
