//! The memory of this process, as the system counts it.

use std::fs;

/// Resident bytes now; zero where the system does not tell (`/proc` is Linux's).
pub fn resident() -> u64 {
    of("self", "VmRSS:")
}

/// The most resident bytes since the process began or [`forget_peak`]; zero where the system does
/// not tell.
pub fn peak() -> u64 {
    of("self", "VmHWM:")
}

/// Resident bytes of another process; zero when it has ended.
pub fn resident_of(process: u32) -> u64 {
    of(&process.to_string(), "VmRSS:")
}

/// Lets [`peak`] begin anew. Where that is not allowed, the peak is that of the whole life, reading
/// included.
pub fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn of(process: &str, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}
