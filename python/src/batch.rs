//! Masks of many sequences, and their use on logits.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors;
use crate::matcher::Matcher;
use crate::rows::Rows;

/// Fills a row for each matcher: `rows[i]`, or row `i`.
#[pyfunction]
#[pyo3(signature = (matchers, mask, *, rows=None, threads=1))]
pub(crate) fn fill_masks(
    matchers: Vec<Option<Bound<'_, Matcher>>>,
    mask: &Bound<'_, PyAny>,
    rows: Option<Vec<usize>>,
    threads: usize,
) -> PyResult<()> {
    let py = mask.py();
    let mut masks = Rows::of(mask)?.masks()?;
    let stride = masks.stride;
    if rows.as_ref().is_some_and(|rows| rows.len() != matchers.len()) {
        return Err(PyValueError::new_err("give a row for each matcher"));
    }
    let places: Vec<usize> = rows.unwrap_or_else(|| (0..matchers.len()).collect());
    let (mut free, mut constrained) = (Vec::new(), Vec::new());
    for (row, matcher) in places.into_iter().zip(&matchers) {
        masks.check(row)?;
        match matcher {
            Some(matcher) => constrained.push((row, matcher.get().now())),
            None => free.push(row),
        }
    }
    if masks.count == 0 {
        return Ok(());
    }
    py.detach(|| {
        let constrained: Vec<(usize, &lrmask::Matcher)> =
            constrained.iter().map(|(row, matcher)| (*row, &**matcher)).collect();
        lrmask::fill_rows(&constrained, masks.words_from(0)?, stride, threads)
            .map_err(|error| errors::row(&error))?;
        for row in free {
            masks.words(row)?.fill(u32::MAX);
        }
        Ok(())
    })
}

/// Sets rejected logits to negative infinity, in place.
#[pyfunction]
#[pyo3(signature = (logits, mask, *, rows=None))]
pub(crate) fn apply_mask(
    logits: &Bound<'_, PyAny>,
    mask: &Bound<'_, PyAny>,
    rows: Option<Vec<usize>>,
) -> PyResult<()> {
    let py = logits.py();
    if logits.getattr_opt("is_cpu")?.is_some_and(|is_cpu| !is_cpu.is_truthy().unwrap_or(true)) {
        py.import("lrmask._device")?.call_method1("apply_mask", (logits, mask, rows))?;
        return Ok(());
    }
    let (mut logits, mut masks) = (Rows::of(logits)?, Rows::of(mask)?.masks()?);
    if rows.is_none() && logits.count != masks.count {
        return Err(PyValueError::new_err(format!(
            "there are {} rows of logits and {} masks",
            logits.count, masks.count
        )));
    }
    py.detach(|| {
        for row in rows.unwrap_or_else(|| (0..logits.count).collect()) {
            logits.reject(row, masks.words(row)?)?;
        }
        Ok(())
    })
}
