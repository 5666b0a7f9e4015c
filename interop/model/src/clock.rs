//! The time that a thread has run, which the load of the machine changes little.

use std::time::Duration;

/// Returns the time that this thread has run so far, to a few milliseconds; zero where the kernel
/// does not tell.
pub fn thread_time() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.unwrap_or(0))
}
