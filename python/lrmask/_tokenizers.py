"""Vocabularies of other packages' tokenizers."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from ._native import Vocabulary


def rebuild(tokens: list[bytes], settings: dict[str, Any]) -> Vocabulary:
    """Of a pickled vocabulary."""
    return Vocabulary.from_tokens(tokens, **settings)


def from_hf(
    tokenizer: Any, stop_tokens: Iterable[int] | None = None, width: int | None = None
) -> Vocabulary:
    """Reads a tokenizer of transformers or of tokenizers."""
    fast = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(fast, "to_str"):
        vocabulary = Vocabulary.from_file_bytes(fast.to_str().encode())
    else:
        vocabulary = _from_slow(tokenizer)
    if width is None:
        length = len(tokenizer) if hasattr(tokenizer, "__len__") else tokenizer.get_vocab_size()
        width = max(length, vocabulary.width)
    if stop_tokens is None:
        # Those known by name, and the one that the tokenizer says.
        own = getattr(tokenizer, "eos_token_id", None)
        found = {*vocabulary.stop_tokens, *([] if own is None else [own])}
        stop_tokens = {stop for stop in found if stop < width}
    return with_settings(vocabulary, list(stop_tokens), width)


def _from_slow(tokenizer: Any) -> Vocabulary:
    """Reads the file of a tokenizer that Python runs: SentencePiece's, or tiktoken's."""
    path = getattr(tokenizer, "vocab_file", None)
    if path is None or not os.path.exists(path):
        raise TypeError(
            f"{type(tokenizer).__name__} has no `to_str` and no `vocab_file`; read its file with "
            "Vocabulary.from_file, or give its tokens to Vocabulary.from_tokens"
        )
    vocabulary = Vocabulary.from_file(path)
    added = {i: str(token) for i, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
    return vocabulary.replace(special_tokens=added)


def from_tiktoken(
    encoding: Any, stop_tokens: Iterable[int] | None = None, width: int | None = None
) -> Vocabulary:
    """Reads a `tiktoken.Encoding`."""
    ranks: dict[bytes, int] = encoding._mergeable_ranks
    special: dict[str, int] = encoding._special_tokens
    lines = (b64encode(token) + b" %d" % id for token, id in ranks.items())
    vocabulary = Vocabulary.from_file_bytes(b"\n".join(lines)).with_split_pattern(encoding._pat_str)
    return vocabulary.replace(
        special_tokens={id: name for name, id in special.items()},
        stop_tokens=None if stop_tokens is None else list(stop_tokens),
        width=width,
    )


def with_settings(vocabulary: Vocabulary, stop_tokens: list[int], width: int) -> Vocabulary:
    """Returns the vocabulary with other stop tokens and another width."""
    if (sorted(stop_tokens), width) == (vocabulary.stop_tokens, vocabulary.width):
        return vocabulary
    return vocabulary.replace(stop_tokens=stop_tokens, width=width)
