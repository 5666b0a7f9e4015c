"""Tokenizers that guidance has read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class TokenizerWrapper:
    """A tokenizer with `tokens`, `eos_token_id` and a call that cuts texts."""

    eos_token_id: int
    bos_token_id: int | None
    tokens: Sequence[bytes]
    special_token_ids: Sequence[int]

    def __init__(self, gtokenizer: Any) -> None:
        self.eos_token_id = gtokenizer.eos_token_id
        self.bos_token_id = gtokenizer.bos_token_id
        self.tokens = gtokenizer.tokens
        self.special_token_ids = getattr(gtokenizer, "special_token_ids", [])
        self.is_tokenizer_wrapper = True
        self._gtokenizer = gtokenizer
        try:
            gtokenizer(b"test")
            self._accepts_bytes = True
        except Exception:
            self._accepts_bytes = False

    def __call__(self, s: str) -> list[int]:
        return list(self._gtokenizer(s.encode() if self._accepts_bytes else s))
