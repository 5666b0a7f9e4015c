//! Runs a check of every small grammar with each of its lexers, on all processors.

#![allow(clippy::print_stdout, reason = "a line for each grammar")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::case::{Case, names};
use super::spec::LexerKind;

/// Calls `check` for every grammar of `tests/grammars`, or only for that named by `LRMASK_CASE`,
/// with each of its lexers. Prints a line for each.
///
/// # Panics
///
/// If a check returns faults or panics; the message has all of them.
pub fn in_every_small_grammar(check: impl Fn(&Case, LexerKind) -> Vec<String> + Sync) {
    let only = std::env::var("LRMASK_CASE").ok();
    let names: Vec<String> =
        names().into_iter().filter(|name| only.as_ref().is_none_or(|only| only == name)).collect();
    let jobs: Vec<(Case, LexerKind)> = names
        .iter()
        .map(|name| Case::read(name))
        .flat_map(|case| case.lexers.clone().into_iter().map(move |lexer| (case.clone(), lexer)))
        .collect();
    assert!(!jobs.is_empty());
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((case, lexer)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let faults = catch_unwind(AssertUnwindSafe(|| check(case, *lexer)))
                        .unwrap_or_else(|_| vec!["panicked".to_owned()]);
                    let verdict = if faults.is_empty() { "fine" } else { "FAULTY" };
                    let title = format!("{} ({})", case.name, lexer.name());
                    println!("{title}: {verdict}, {:.1?}", start.elapsed());
                    if !faults.is_empty() {
                        reports.lock().unwrap().push(format!("== {title}\n{}", faults.join("\n")));
                    }
                }
            });
        }
    });
    let mut reports = reports.into_inner().unwrap();
    reports.sort();
    let (failed, all) = (reports.len(), jobs.len());
    assert!(reports.is_empty(), "{failed} of {all} fail:\n{}", reports.join("\n"));
}
