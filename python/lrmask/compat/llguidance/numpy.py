"""Masks in NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrmask._native import apply_mask

from ._lib import LLExecutor, LLMatcher


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    return (batch_size, (vocab_size + 31) // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    return np.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=np.int32)


def apply_token_bitmask_inplace(logits: NDArray[Any], mask: NDArray[np.int32]) -> None:
    assert mask.dtype == np.int32, "Mask must be int32"
    apply_mask(logits, np.ascontiguousarray(mask))


def fill_next_token_bitmask(
    interp: LLMatcher, bitmask: NDArray[np.int32], index: int = 0
) -> None:
    assert bitmask.dtype == np.int32, "Mask must be int32"
    assert bitmask.ndim == 2, "Mask must be 2D"
    interp._fill(bitmask, index)


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: NDArray[np.int32]
) -> None:
    """Fills row `i` for each `(matcher, i)`."""
    batch, words = _checked(bitmask).shape
    executor.unsafe_compute_mask_ptr(matchers, bitmask.ctypes.data, words * 4, batch)


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor,
    matchers: list[tuple[LLMatcher, int, list[int]]],
    bitmask: NDArray[np.int32],
) -> None:
    """Fills row `i`, and one after each draft, for each `(matcher, i, drafts)`."""
    batch, words = _checked(bitmask).shape
    executor.unsafe_compute_mask_ptr_with_draft_token(
        matchers, bitmask.ctypes.data, words * 4, batch
    )


def consume_token_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, int]]) -> list[bool]:
    return executor.consume_token_par(matchers)


def _checked(bitmask: NDArray[np.int32]) -> NDArray[np.int32]:
    assert bitmask.dtype == np.int32, "Mask must be int32"
    assert bitmask.ndim == 2, "Mask must be 2D"
    assert bitmask.flags["C_CONTIGUOUS"], "Mask must be contiguous"
    return bitmask
