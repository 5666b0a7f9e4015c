"""Constraints in mlx-lm. Written to its interface; not tested, for want of such a machine.

    >>> processor = lrmask.mlx.GrammarLogitsProcessor(constraint)                   # doctest: +SKIP
    >>> mlx_lm.generate(model, tokenizer, "A:", logits_processors=[processor])      # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from ._core import Follower, allowed
from ._native import Constraint


class GrammarLogitsProcessor:
    """Rejects the tokens that a grammar does not allow: one of `logits_processors`.

    The text begins behind the prompt, which is what the first call has seen.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.follower = Follower(constraint)

    def reset(self) -> None:
        """Begins a new generation, where the new prompt continues the old text."""
        self.follower.reset()

    def __call__(self, tokens: Any, logits: Any) -> Any:
        import mlx.core as mx
        import numpy

        mask = self.follower.masks(numpy.array(tokens).reshape(1, -1))
        keep = mx.array(allowed(mask, logits.shape[-1]).reshape(-1))
        return mx.where(keep, logits, mx.array(float("-inf"), dtype=logits.dtype))
