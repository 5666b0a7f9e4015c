//! Fills the masks of many sequences at once, for the steps of a batching server.

use super::{Matcher, RowError};
use crate::util::threads;

/// Fills one row for each matcher of a batch: row `i` is `rows[i * stride..][..stride]`, filled as
/// by [`Matcher::fill_mask_into`]. `stride` is the width of the logits in words,
/// `width.div_ceil(32)`; it may be wider than the vocabulary, and the words past the vocabulary are
/// cleared.
///
/// Rows without a matcher (`None`, or past the end of the list) are all ones: their sequences are
/// not constrained. Matchers may belong to different constraints, and one matcher may be given
/// several times.
///
/// Uses up to `threads` threads, including the calling thread. The others are started once the
/// calling thread has worked for a tenth of a millisecond, and end before this returns. There is no
/// thread pool, so the process may fork at any time. Rows whose masks are cached take less than
/// that.
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary, fill_masks};
///
/// let vocabulary = Vocabulary::from_tokens(["a", "b", "1"])?;
/// let letters = Constraint::new(&Grammar::from_lark(r#"start: /[a-z]+/"#)?, &vocabulary)?;
/// let digits = Constraint::new(&Grammar::from_lark(r#"start: /[0-9]+/"#)?, &vocabulary)?;
/// let (first, third) = (letters.matcher(), digits.matcher());
///
/// // Three sequences; the logits have room for 64 tokens, so rows have two words.
/// let mut rows = vec![0u32; 3 * 2];
/// fill_masks(&[Some(&first), None, Some(&third)], &mut rows, 2, 4)?;
/// assert_eq!(rows, [0b011, 0, u32::MAX, u32::MAX, 0b100, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a row is too short for its mask, or missing. Nothing is written then.
pub fn fill_masks(
    matchers: &[Option<&Matcher>],
    rows: &mut [u32],
    stride: usize,
    threads: usize,
) -> Result<(), RowError> {
    let constrained = matchers.iter().enumerate();
    let constrained: Vec<(usize, &Matcher)> =
        constrained.filter_map(|(row, matcher)| Some((row, (*matcher)?))).collect();
    let is_free = |row: usize| matchers.get(row).is_none_or(Option::is_none);
    fill_rows(&constrained, rows, stride, threads)?;
    let free = rows.chunks_mut(stride.max(1)).enumerate().filter(|&(row, _)| is_free(row));
    free.for_each(|(_, row)| row.fill(u32::MAX));
    Ok(())
}

/// Fills the given rows of a batch: row `r` is `rows[r * stride..][..stride]`. Other rows are left
/// unchanged. Otherwise the same as [`fill_masks`].
///
/// ```
/// use lrmask::{Constraint, Grammar, Vocabulary, fill_rows};
///
/// let vocabulary = Vocabulary::from_tokens(["a", "b", "1"])?;
/// let letters = Constraint::new(&Grammar::from_lark(r#"start: /[a-z]+/"#)?, &vocabulary)?;
/// let mut rows = [7; 3];
/// fill_rows(&[(2, &letters.matcher())], &mut rows, 1, 1)?;
/// assert_eq!(rows, [7, 7, 0b011]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If a row is too short for its mask, missing, or given twice. Nothing is written then.
pub fn fill_rows(
    matchers: &[(usize, &Matcher)],
    rows: &mut [u32],
    stride: usize,
    threads: usize,
) -> Result<(), RowError> {
    matchers.iter().try_for_each(|(_, matcher)| matcher.check_row(stride))?;
    let mut by_row: Vec<Option<&mut [u32]>> =
        rows.chunks_exact_mut(stride.max(1)).map(Some).collect();
    let rows = by_row.len();
    let mut work = Vec::with_capacity(matchers.len());
    for &(row, matcher) in matchers {
        let place = by_row.get_mut(row).ok_or(RowError::Missing { row, rows })?;
        work.push((place.take().ok_or(RowError::Twice { row })?, matcher));
    }
    threads::each(work.into_iter(), threads, |(row, matcher)| {
        matcher.fill_wide_row(&matcher.now, row);
    });
    Ok(())
}
