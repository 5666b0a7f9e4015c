"""Masks on other devices than the processor."""

from __future__ import annotations

from typing import Any


def apply_mask(logits: Any, mask: Any, rows: list[int] | None) -> None:
    """Sets the logits of a tensor that a mask rejects to negative infinity, in place."""
    import torch

    mask = torch.as_tensor(mask).to(logits.device, non_blocking=True)
    if logits.dim() == 1:
        logits, mask = logits.unsqueeze(0), mask.reshape(1, -1)
    bits = torch.arange(32, dtype=torch.int32, device=logits.device)
    chosen = logits if rows is None else logits[rows]
    masks = mask if rows is None else mask[rows]
    allowed = (masks.unsqueeze(-1) >> bits & 1).flatten(1).bool()
    rejected = torch.ones_like(chosen, dtype=torch.bool)
    width = min(allowed.shape[1], rejected.shape[1])
    rejected[:, :width] = ~allowed[:, :width]
    if rows is None:
        logits.masked_fill_(rejected, float("-inf"))
    else:
        logits[rows] = chosen.masked_fill(rejected, float("-inf"))
