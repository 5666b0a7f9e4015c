"""Tokenizers of tiktoken."""

from __future__ import annotations

from typing import Any

from ._lib import LLTokenizer


def lltokenizer_from_encoding(
    encoding: Any,
    *,
    n_vocab: int | None = None,
    eos_token: int | list[int] | None = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """Of a `tiktoken.Encoding`."""
    return LLTokenizer.from_tiktoken(
        encoder=encoding._mergeable_ranks,
        special_tokens=encoding._special_tokens,
        pattern=encoding._pat_str,
        eos_token=encoding.eot_token if eos_token is None else eos_token,
        n_vocab=n_vocab,
        slices=slices,
    )
