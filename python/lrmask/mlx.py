"""Constraints in mlx-lm. Written to its interface; not tested, for want of such a machine.

    >>> processor = lrmask.mlx.GrammarLogitsProcessor(constraint)                   # doctest: +SKIP
    >>> mlx_lm.generate(model, tokenizer, "A:", logits_processors=[processor])      # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from ._core import SequenceProcessor, allowed


class GrammarLogitsProcessor(SequenceProcessor):
    """Rejects the tokens that a grammar does not allow: one of `logits_processors`."""

    def __call__(self, tokens: Any, logits: Any) -> Any:
        import mlx.core as mx
        import numpy

        mask = self.follower.masks(numpy.array(tokens).reshape(1, -1))
        keep = mx.array(allowed(mask, logits.shape[-1]).reshape(-1))
        return mx.where(keep, logits, mx.array(float("-inf"), dtype=logits.dtype))
