//! The cost of untrusted input: prints the table of `docs/security.md`.
//!
//! ```text
//! cargo run --release --example attacks               # all of them, as a table in Markdown
//! cargo run --release --example attacks -- words      # those with this in their names
//! cargo run --release --example attacks -- --random 1 500     # random ones, by number
//! cargo run --release --example attacks -- --walks 1 500      # texts under these
//! cargo run --release --example attacks -- --text "a random grammar" 7
//! ```
//!
//! Each attack runs at three sizes, under the default limits and under the strict ones, in its own
//! process with 4 GB of address space and a minute of processor time. Each process reports its
//! processor time and peak memory from `/proc`, so this runs on Linux only.

#![allow(clippy::print_stdout, reason = "the table is the answer")]

mod building;
mod files;
mod random;
mod running;
mod schemas;
mod walks;

use std::ops::RangeInclusive;
use std::process::{Command, ExitCode};
use std::time::Duration;

use lrmask::{Diagnostic, GrammarError, Limits, Severity};

/// An attack: its name, the sizes at which it runs, and its function.
pub(crate) struct Attack {
    name: &'static str,
    sizes: [usize; 3],
    run: fn(usize, &Limits) -> Answer,
}

/// The result of an attack: the size of the input, and the answer in a word.
pub(crate) struct Answer {
    bytes: usize,
    word: String,
}

impl Answer {
    /// Returns `accepted`, or the code of the first error.
    fn of<T>(input: &str, result: Result<T, Vec<Diagnostic>>) -> Self {
        Self::new(input.len(), result.map(|_| "accepted"))
    }

    fn new(bytes: usize, result: Result<impl Into<String>, Vec<Diagnostic>>) -> Self {
        let error = |findings: Vec<Diagnostic>| {
            let first = findings.into_iter().find(|finding| finding.severity == Severity::Error);
            first.map_or_else(String::new, |finding| match finding.limit() {
                Some(limit) => format!("{:?}: {}", limit.kind(), limit.phase()),
                None => finding.code.to_owned(),
            })
        };
        Self { bytes, word: result.map_or_else(error, Into::into) }
    }
}

/// Returns the findings of an error.
fn findings(error: &GrammarError) -> Vec<Diagnostic> {
    error.diagnostics().to_vec()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let attacks: Vec<Attack> = [
        building::attacks(),
        schemas::attacks(),
        files::attacks(),
        running::attacks(),
        random::attacks(),
    ]
    .into_iter()
    .flatten()
    .collect();
    if let [child, name, size, limits] = &arguments[..]
        && child == "--child"
    {
        let attack = attacks.iter().find(|attack| attack.name == name);
        let (Some(attack), Ok(size)) = (attack, size.parse()) else { return ExitCode::from(2) };
        let limits = if limits == "strict" { Limits::strict() } else { Limits::default() };
        let answer = (attack.run)(size, &limits);
        println!("{}\t{}\t{}\t{}", answer.bytes, cpu().as_millis(), peak() >> 20, answer.word);
        return ExitCode::SUCCESS;
    }
    if let [shown, name, number] = &arguments[..]
        && shown == "--text"
    {
        let text = number.parse().ok().and_then(|number| random::text(name, number));
        let Some(text) = text else { return ExitCode::from(2) };
        print!("{text}");
        return ExitCode::SUCCESS;
    }
    if let [hunt, first, last] = &arguments[..]
        && (hunt == "--random" || hunt == "--walks")
    {
        let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else { return ExitCode::from(2) };
        let drawn = attacks.iter().filter(|attack| random::NAMES.contains(&attack.name));
        let hunt_among = |attack: &Attack| match hunt.as_str() {
            "--random" => hunt_among(attack, first..=last),
            _ => walks::hunt_among(attack.name, first..=last),
        };
        let sound = drawn.map(hunt_among).collect::<Vec<_>>();
        return if sound.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    }
    println!(
        "| attack, size | input | default: CPU | memory | answer | strict: CPU | memory | answer |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut sound = true;
    let wanted = |attack: &&Attack| {
        arguments.is_empty() || arguments.iter().any(|part| attack.name.contains(part.as_str()))
    };
    for attack in attacks.iter().filter(wanted) {
        for size in attack.sizes {
            let default = in_child(attack, size, "default");
            let strict = in_child(attack, size, "strict");
            sound &= default.is_within(10_000, 1_000) && strict.is_within(2_000, 320);
            println!(
                "| {}, {size} | {} | {} | {} |",
                attack.name,
                kilobytes(default.bytes),
                default.cells(),
                strict.cells()
            );
        }
    }
    if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs an attack with these numbers under the strict limits, and prints those that exceed the
/// allowed cost, the most expensive, and the largest. Returns whether none exceeds it.
fn hunt_among(attack: &Attack, numbers: RangeInclusive<usize>) -> bool {
    let mut sound = true;
    let mut told: Vec<(usize, Told)> = Vec::new();
    for number in numbers {
        let strict = in_child(attack, number, "strict");
        if !strict.is_within(2_000, 320) {
            sound = false;
            println!("{}, {number}: {}", attack.name, strict.cells());
        }
        told.push((number, strict));
    }
    println!("{}: {} drawn; the dearest:", attack.name, told.len());
    told.sort_by_key(|(_, told)| std::cmp::Reverse(told.milliseconds));
    let largest = told.iter().max_by_key(|(_, told)| told.megabytes);
    for (number, told) in told.iter().take(5).chain(largest) {
        println!("    {number}: {} | {}", kilobytes(told.bytes), told.cells());
    }
    sound
}

/// The report of a child process.
struct Told {
    bytes: usize,
    milliseconds: u64,
    megabytes: u64,
    answer: String,
    ended: bool,
}

impl Told {
    fn is_within(&self, milliseconds: u64, megabytes: u64) -> bool {
        self.ended && self.milliseconds <= milliseconds && self.megabytes <= megabytes
    }

    fn cells(&self) -> String {
        let Self { milliseconds, megabytes, answer, .. } = self;
        match self.ended {
            true => format!(
                "{}.{:02} s | {megabytes} MB | {answer}",
                milliseconds / 1000,
                milliseconds % 1000 / 10
            ),
            false => format!("| | **{answer}**"),
        }
    }
}

/// Runs an attack in its own process.
fn in_child(attack: &Attack, size: usize, limits: &str) -> Told {
    const BOUNDS: &str = "ulimit -v 4000000; ulimit -t 60; exec \"$0\" \"$@\"";
    let program = std::env::current_exe().unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", BOUNDS])
        .arg(program)
        .args(["--child", attack.name, &size.to_string(), limits])
        .output();
    let aborted =
        |why: String| Told { bytes: 0, milliseconds: 0, megabytes: 0, answer: why, ended: false };
    let Ok(output) = output else { return aborted("not started".to_owned()) };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut parts = text.trim_end().splitn(4, '\t');
    let mut number = || parts.next()?.parse::<u64>().ok();
    match (number(), number(), number()) {
        (Some(bytes), Some(milliseconds), Some(megabytes)) => Told {
            bytes: bytes as usize,
            milliseconds,
            megabytes,
            answer: parts.next().unwrap_or_default().to_owned(),
            ended: output.status.success(),
        },
        _ => aborted(format!("aborted: {}", output.status)),
    }
}

fn kilobytes(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{}.{} KB", bytes / 1000, bytes % 1000 / 100),
        10_000..10_000_000 => format!("{} KB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// Returns the processor time of this process, over all threads.
fn cpu() -> Duration {
    // The fourteenth and the fifteenth field, in hundredths of a second; the second field is in
    // brackets.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    Duration::from_millis(ticks.filter_map(|field| field.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// Returns the peak memory of this process, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    number.unwrap_or(0) << 10
}
