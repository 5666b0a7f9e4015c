"""Tokenizers of llama-cpp-python."""

from __future__ import annotations

from typing import Any

from lrmask.llama_cpp import vocabulary_of

from ._lib import LLTokenizer


def lltokenizer_from_vocab(
    vocab: Any,
    n_vocab: int | None = None,
    eos_token: int | list[int] | None = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """Of a `llama_vocab_p`."""
    import llama_cpp

    def tokenize(text: bytes) -> list[int]:
        room = len(text) + 8
        ids = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(vocab, text, len(text), ids, room, False, False)
        return list(ids[: max(count, 0)])

    return LLTokenizer._of(vocabulary_of(vocab), tokenize, eos_token, n_vocab)
