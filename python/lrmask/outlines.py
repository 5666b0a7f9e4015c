"""Constraints in Outlines.

    >>> processor = lrmask.outlines.processor(constraint)           # doctest: +SKIP
    >>> outlines.Generator(model, processor=processor)("A person:") # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from ._core import Follower, allowed
from ._native import Constraint, apply_mask


def processor(constraint: Constraint, tensor_library_name: str = "torch") -> Any:
    """The logits processor of a constraint, for a model that computes with this library."""
    from outlines.processors.base_logits_processor import OutlinesLogitsProcessor

    class GrammarLogitsProcessor(OutlinesLogitsProcessor):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(tensor_library_name)
            self.follower = Follower(constraint)

        def reset(self) -> None:
            self.follower.reset()

        def process_logits(self, input_ids: Any, logits: Any) -> Any:
            return mask_logits(self.follower, input_ids, logits)

    return GrammarLogitsProcessor()


def mask_logits(follower: Follower, input_ids: Any, logits: Any) -> Any:
    """Rejects logits in the arrays of torch, NumPy or MLX."""
    import numpy

    if hasattr(input_ids, "detach"):
        import torch

        mask = follower.masks(input_ids.detach().cpu().numpy())
        apply_mask(logits, torch.from_numpy(mask))
        return logits
    mask = follower.masks(numpy.array(input_ids))
    if isinstance(logits, numpy.ndarray):
        apply_mask(logits, mask)
        return logits
    import mlx.core as mx

    keep = mx.array(allowed(mask, logits.shape[-1]))
    return mx.where(keep, logits, mx.array(float("-inf"), dtype=logits.dtype))
