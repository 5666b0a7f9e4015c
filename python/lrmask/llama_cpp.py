"""Constraints in llama-cpp-python.

    >>> llama = llama_cpp.Llama("model.gguf")                                    # doctest: +SKIP
    >>> processor = lrmask.llama_cpp.processor(llama, lrmask.JsonSchema(Person)) # doctest: +SKIP
    >>> llama("A person:", logits_processor=[processor])                         # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from ._core import SequenceProcessor
from ._grammar import Grammar
from ._native import Constraint, Vocabulary, apply_mask


def vocabulary(llama: Any) -> Vocabulary:
    """The vocabulary of a `llama_cpp.Llama`."""
    import llama_cpp

    return vocabulary_of(llama_cpp.llama_model_get_vocab(llama.model))


def vocabulary_of(vocab: Any) -> Vocabulary:
    """The vocabulary of a `llama_vocab_p`, by its tokens' bytes and attributes."""
    import ctypes

    import llama_cpp

    count = llama_cpp.llama_vocab_n_tokens(vocab)
    tokens: list[bytes] = []
    special: dict[int, str] = {}
    stops = []
    room = 512
    for id in range(count):
        if llama_cpp.llama_vocab_is_eog(vocab, id):
            stops.append(id)
        piece = ctypes.create_string_buffer(room)
        length = llama_cpp.llama_token_to_piece(vocab, id, piece, room, 0, True)
        if length < 0:
            piece = ctypes.create_string_buffer(-length)
            length = llama_cpp.llama_token_to_piece(vocab, id, piece, -length, 0, True)
        token = piece.raw[: max(length, 0)]
        if llama_cpp.llama_vocab_is_control(vocab, id):
            special[id] = token.decode(errors="replace")
            token = b""
        tokens.append(token)
    return Vocabulary.from_tokens(tokens, special_tokens=special, stop_tokens=stops)


class GrammarLogitsProcessor(SequenceProcessor):
    """Rejects the tokens that a grammar does not allow: one of `logits_processor`."""

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        mask = self.follower.masks(input_ids.reshape(1, -1))
        apply_mask(scores.reshape(1, -1), mask)
        return scores


def processor(llama: Any, grammar: Grammar | Constraint) -> Any:
    """The processor of a grammar for a model, as a `LogitsProcessorList`."""
    import llama_cpp

    if not isinstance(grammar, Constraint):
        grammar = Constraint(grammar, vocabulary(llama))
    return llama_cpp.LogitsProcessorList([GrammarLogitsProcessor(grammar)])
