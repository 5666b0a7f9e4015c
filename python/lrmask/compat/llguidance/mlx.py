"""Masks in MLX's arrays. Not tested, for want of such a machine."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from lrmask._core import allowed

from .numpy import (
    allocate_token_bitmask,
    fill_next_token_bitmask,
    fill_next_token_bitmask_par,
    fill_next_token_bitmask_par_with_draft_tokens,
    get_bitmask_shape,
)

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "fill_next_token_bitmask_par_with_draft_tokens",
    "get_bitmask_shape",
]


def apply_token_bitmask(logits: Any, mask_np: Any) -> Any:
    keep = mx.array(allowed(mask_np, logits.shape[-1]).reshape(logits.shape))
    return mx.where(keep, logits, mx.array(float("-inf"), dtype=logits.dtype))
