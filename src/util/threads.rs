//! Work that is shared among threads. They are started for it and end with it: nothing remains, so
//! a process that forks later does not copy a thread pool without its threads.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// Time after which other threads are started: starting one takes some tens of microseconds.
const ALONE: Duration = Duration::from_micros(100);

/// Does `work` for each item, on up to `threads` threads including the caller's. If a thread cannot
/// be started, the others do the work.
pub(crate) fn each<T: Send>(
    mut items: impl Iterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) + Sync,
) {
    if threads <= 1 {
        return items.for_each(work);
    }
    let begun = Instant::now();
    while begun.elapsed() < ALONE {
        let Some(item) = items.next() else { return };
        work(item);
    }
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let rest = || std::iter::from_fn(next).for_each(&work);
    scope(|scope| {
        for _ in 1..threads {
            if Builder::new().spawn_scoped(scope, rest).is_err() {
                break;
            }
        }
        rest();
    });
}

/// Returns the results of `work` for each item, in the order of the items.
pub(crate) fn map<T: Send, R: Send + Sync>(
    items: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let made: Vec<OnceLock<R>> = (0..items.len()).map(|_| OnceLock::new()).collect();
    each(made.iter().zip(items), threads, |(made, item)| {
        made.get_or_init(|| work(item));
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_done_once_and_in_order() {
        for threads in [0, 1, 2, 7] {
            let slow = |number: usize| {
                std::thread::sleep(Duration::from_micros(50));
                number * 2
            };
            let made = map(0..40, threads, slow);
            assert_eq!(made, (0..40).map(|number| number * 2).collect::<Vec<_>>());
        }
    }
}
