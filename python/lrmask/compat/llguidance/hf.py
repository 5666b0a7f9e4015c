"""Tokenizers of transformers."""

from __future__ import annotations

from typing import Any

from ._lib import LLTokenizer


def from_tokenizer(
    hf_tokenizer: Any,
    n_vocab: int | None = None,
    eos_token: int | list[int] | None = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """Of a fast tokenizer, with the tokens that were added to it."""
    backend = getattr(hf_tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ValueError("Only fast tokenizers are supported")
    if eos_token is None:
        eos_token = hf_tokenizer.eos_token_id
    return LLTokenizer(backend.to_str(), n_vocab=n_vocab, eos_token=eos_token, slices=slices)
