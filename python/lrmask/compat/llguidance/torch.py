"""Masks in torch's tensors."""

from __future__ import annotations

from typing import Any

import torch

from lrmask._native import apply_mask

from ._lib import LLExecutor, LLInterpreter, LLMatcher


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    return (batch_size, (vocab_size + 31) // 32)


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> Any:
    pinned = torch.cuda.is_available()
    shape = get_bitmask_shape(batch_size, vocab_size)
    return torch.full(shape, -1, dtype=torch.int32, pin_memory=pinned)


def apply_token_bitmask_inplace(logits: Any, mask: Any) -> None:
    apply_mask(logits, mask.contiguous())


def fill_next_token_bitmask(
    interp: LLMatcher | LLInterpreter, bitmask: Any, index: int = 0
) -> Any:
    assert bitmask.dtype == torch.int32, "Mask must be int32"
    assert bitmask.is_cpu, "Mask must be on CPU"
    assert bitmask.dim() == 2, "Mask must be 2D"
    row = bitmask[index, :]
    assert row.is_contiguous(), "Mask must be contiguous"
    return interp.unsafe_compute_mask_ptr(row.data_ptr(), row.numel() * row.element_size())


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: Any
) -> None:
    """Fills row `i` for each `(matcher, i)`."""
    batch, words = _checked(bitmask).shape
    executor.unsafe_compute_mask_ptr(matchers, bitmask.data_ptr(), words * 4, batch)


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int, list[int]]], bitmask: Any
) -> None:
    """Fills row `i`, and one after each draft, for each `(matcher, i, drafts)`."""
    batch, words = _checked(bitmask).shape
    executor.unsafe_compute_mask_ptr_with_draft_token(
        matchers, bitmask.data_ptr(), words * 4, batch
    )


def consume_token_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, int]]) -> list[bool]:
    return executor.consume_token_par(matchers)


def _checked(bitmask: Any) -> Any:
    assert bitmask.dtype == torch.int32, "Mask must be int32"
    assert bitmask.is_cpu, "Mask must be on CPU"
    assert bitmask.dim() == 2, "Mask must be 2D"
    assert bitmask.is_contiguous(), "Mask must be contiguous"
    return bitmask
