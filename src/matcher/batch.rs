//! The masks of many sequences at once, as a server wants them before each step of a batch.

#[cfg(feature = "rayon")]
use std::sync::{Mutex, PoisonError};

use super::Matcher;

/// Rows for which another thread is woken: what it then takes over is worth more than its waking
/// (measured: of 8 rows that were seen before it makes 40 µs out of 18, of 64 rows 90 out of 127).
#[cfg(feature = "rayon")]
const ROWS_FOR_A_THREAD: usize = 16;

/// Fills one row for each matcher of a batch: row `i` is `rows[i * stride..][..stride]`, as
/// [`Matcher::fill_mask_into`] fills it. `stride` is the width of the logits in words,
/// `width.div_ceil(32)`; it may be wider than the vocabulary, and the words past that are cleared.
///
/// Rows without a matcher, be it `None` or that the list is shorter, are all ones: their sequences
/// are not constrained. Matchers may be of different constraints, and one may be given several
/// times. With the feature `rayon` the threads of rayon's current pool help: of the global one, or
/// of that in whose `install` this is called.
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary, fill_masks};
///
/// let vocabulary = Vocabulary::from_tokens([b"a".to_vec(), b"b".to_vec(), b"1".to_vec()])?;
/// let letters = Constraint::new(&Grammar::from_lark(r#"start: /[a-z]+/"#)?, &vocabulary)?;
/// let digits = Constraint::new(&Grammar::from_lark(r#"start: /[0-9]+/"#)?, &vocabulary)?;
/// let (first, third) = (letters.matcher(), digits.matcher());
///
/// // Three sequences; the logits have room for 64 tokens, so rows have two words.
/// let mut rows = vec![0u32; 3 * 2];
/// fill_masks(&[Some(&first), None, Some(&third)], &mut rows, 2);
/// assert_eq!(rows, [0b011, 0, u32::MAX, u32::MAX, 0b100, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fill_masks(matchers: &[Option<&Matcher>], rows: &mut [u32], stride: usize) {
    if stride == 0 {
        return;
    }
    let (constrained, free) =
        rows.split_at_mut(rows.len().min(matchers.len().saturating_mul(stride)));
    free.fill(u32::MAX);
    fill(constrained.chunks_mut(stride).zip(matchers.iter().copied()));
}

/// A row and whose it is.
type Row<'r> = (&'r mut [u32], Option<&'r Matcher>);

fn fill_row((row, matcher): Row<'_>) {
    match matcher {
        Some(matcher) => matcher.fill_mask_into(row),
        None => row.fill(u32::MAX),
    }
}

#[cfg(not(feature = "rayon"))]
fn fill<'r>(rows: impl Iterator<Item = Row<'r>>) {
    rows.for_each(fill_row);
}

/// The caller begins at once, and the pool's threads take rows from it as they wake up, one at a
/// time: a row that was seen before takes a microsecond, less than to wake a thread, and a new one
/// may take a thousand times as long.
#[cfg(feature = "rayon")]
fn fill<'r>(rows: impl ExactSizeIterator<Item = Row<'r>> + Send) {
    let enough_for = rows.len() / ROWS_FOR_A_THREAD;
    if enough_for < 2 {
        // Without a look at the pool, which would start its threads.
        return rows.for_each(fill_row);
    }
    let threads = rayon::current_num_threads().min(enough_for);
    let rows = Mutex::new(rows);
    let next = || rows.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || std::iter::from_fn(next).for_each(fill_row);
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|_| scope.spawn(|_| work()));
        work();
    });
}
