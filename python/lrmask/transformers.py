"""Constraints in transformers.

    >>> processor = GrammarLogitsProcessor(constraint)             # doctest: +SKIP
    >>> model.generate(**inputs, logits_processor=[processor])     # doctest: +SKIP

or in one call: `generate(model, tokenizer, "A person:", lrmask.JsonSchema(Person))`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ._core import Follower
from ._grammar import Grammar
from ._native import Constraint, Vocabulary, apply_mask

try:
    from transformers import LogitsProcessor as _Base
except ImportError:  # The class works without it, for those who bring their own loop.
    _Base = object

_vocabularies: weakref.WeakKeyDictionary[Any, dict[int | None, Vocabulary]] = (
    weakref.WeakKeyDictionary()
)


def vocabulary(tokenizer: Any, model: Any = None) -> Vocabulary:
    """The vocabulary of a tokenizer, as wide as the model's logits. Kept as long as the tokenizer."""
    width = None
    if model is not None:
        config = model.config
        width = getattr(config, "vocab_size", None)
        if width is None:
            width = config.get_text_config().vocab_size
    known = _vocabularies.setdefault(tokenizer, {})
    if width not in known:
        vocabulary = Vocabulary.from_hf(tokenizer, width=width)
        eos = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
        if eos is not None:
            more = eos if isinstance(eos, list) else [eos]
            stops = sorted({*vocabulary.stop_tokens, *more})
            vocabulary = vocabulary.replace(stop_tokens=stops)
        known[width] = vocabulary
    return known[width]


def constraint(source: Grammar | Constraint, tokenizer: Any, model: Any = None) -> Constraint:
    """The constraint of a grammar for a tokenizer and a model."""
    if isinstance(source, Constraint):
        return source
    return Constraint(source, vocabulary(tokenizer, model))


class GrammarLogitsProcessor(_Base):  # type: ignore[misc]
    """Rejects the tokens that a grammar does not allow.

    For all ways of `generate`: batches, greedy, sampling, beams, assisted. `constraints` is one for
    all prompts, or one for each (`None`: free). The text begins after the prompt. A processor may
    be used for one generation after the other, but not for two at once.
    """

    #: Continuous batching has no rows of ids.
    supports_continuous_batching = False

    def __init__(
        self,
        constraints: Constraint | Sequence[Constraint | None],
        *,
        stop_tokens: Iterable[int] | None = None,
        threads: int = 1,
    ) -> None:
        self.follower = Follower(constraints, stop_tokens=stop_tokens, threads=threads)

    def reset(self) -> None:
        """Begins a new generation, where the new prompt continues the old text."""
        self.follower.reset()

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        mask = self.follower.masks(input_ids.detach().cpu().numpy())
        apply_mask(scores, torch.from_numpy(mask))
        return scores


def generate(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[str],
    grammar: Grammar | Constraint | Sequence[Grammar | Constraint],
    **options: Any,
) -> Any:
    """Generates texts of a grammar: a text for one prompt, else a list of them.

    `grammar` is one for all prompts, or one for each. The options are those of `model.generate`.
    """
    prompts = [prompt] if isinstance(prompt, str) else list(prompt)
    inputs, processor = _prepare(model, tokenizer, prompts, grammar)
    ids = model.generate(**inputs, logits_processor=[processor], **options)
    written = ids[:, inputs["input_ids"].shape[1] :]
    texts = tokenizer.batch_decode(written, skip_special_tokens=True)
    return texts[0] if isinstance(prompt, str) and len(texts) == 1 else texts


def stream(
    model: Any,
    tokenizer: Any,
    prompt: str,
    grammar: Grammar | Constraint,
    **options: Any,
) -> Iterator[str]:
    """Generates a text of a grammar, piece by piece."""
    from transformers import TextIteratorStreamer

    inputs, processor = _prepare(model, tokenizer, [prompt], grammar)
    pieces = TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            model.generate(**inputs, logits_processor=[processor], streamer=pieces, **options)
        except BaseException as error:
            raised.append(error)
            pieces.end()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    for piece in pieces:
        if piece:
            yield piece
    thread.join()
    if raised:
        raise raised[0]


def _prepare(
    model: Any, tokenizer: Any, prompts: list[str], grammar: Any
) -> tuple[Any, GrammarLogitsProcessor]:
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    inputs = tokenizer(prompts, return_tensors="pt", padding=True).to(model.device)
    one = isinstance(grammar, Grammar | Constraint)
    grammars = [grammar] if one else list(grammar)
    constraints = [constraint(of, tokenizer, model) for of in grammars]
    return inputs, GrammarLogitsProcessor(constraints)
