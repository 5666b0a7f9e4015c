"""Arrays for masks."""

from __future__ import annotations

from typing import Any


def new_mask(count: int, width: int) -> Any:
    """Returns `count` rows for masks of `width` tokens: a NumPy array of `int32`, all ones.

    `torch.from_numpy` makes a tensor of it that shares its memory.
    """
    import numpy

    return numpy.full((count, -(-width // 32)), -1, dtype=numpy.int32)
