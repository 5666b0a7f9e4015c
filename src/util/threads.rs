//! Work that is shared among threads. They are started for it and end with it: nothing stays, so a
//! process that forks later takes no half of a pool along.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// To start a thread takes some tens of microseconds: for less than this nobody is asked to help.
const ALONE: Duration = Duration::from_micros(100);

/// Does `work` for each item, on up to `threads` threads, of which the caller's is one. Where no
/// thread is to be had the others do it.
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

/// What `work` makes of each item, in their order.
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
