"""The core of all hosts that ask for logits, on NumPy's arrays."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy
import pytest

import lrmask
from lrmask._core import Follower, allowed
from lrmask.llama_cpp import GrammarLogitsProcessor
from lrmask.outlines import mask_logits

STOP = 264


def schema() -> lrmask.JsonSchema:
    return lrmask.JsonSchema(
        {"type": "array", "items": {"enum": [True, False, 10]}, "maxItems": 6}, whitespace="none"
    )


def generate(processor: Any, prompts: list[list[int]], width: int, seed: int) -> list[list[int]]:
    """A loop as hosts have it: sampling, with padding behind stop tokens."""
    random_ = numpy.random.default_rng(seed)
    ids = numpy.array(prompts, dtype=numpy.int64)
    over = numpy.zeros(len(prompts), dtype=bool)
    while not over.all() and ids.shape[1] < 60:
        scores = random_.standard_normal((len(ids), width)).astype(numpy.float32)
        scores = processor(ids, scores)
        assert numpy.isfinite(scores).any(axis=1).all()
        tokens = numpy.where(over, 0, scores.argmax(axis=1))
        ids = numpy.concatenate([ids, tokens[:, None]], axis=1)
        over |= tokens == STOP
    return [list(row[len(prompts[0]) :]) for row in ids]


def process(follower: Follower) -> Any:
    def call(ids: Any, scores: Any) -> Any:
        return mask_logits(follower, ids, scores)

    return call


def text_of(vocabulary: lrmask.Vocabulary, tokens: list[int]) -> bytes:
    end = tokens.index(STOP) if STOP in tokens else len(tokens)
    return vocabulary.decode([int(token) for token in tokens[:end]])


def test_a_batch_is_followed_and_ends(words: lrmask.Vocabulary) -> None:
    constraint = lrmask.Constraint(schema(), words)
    follower = Follower(constraint, threads=2)
    for seed in range(3):
        # One processor for several generations, with prompts as long and of other lengths.
        prompts = [[1, 2, 3 + seed // 2], [7, 8, 9]]
        for tokens in generate(process(follower), prompts, words.width, seed):
            assert all(item in (True, False, 10) for item in json.loads(text_of(words, tokens)))


def test_each_prompt_has_its_own_constraint(words: lrmask.Vocabulary) -> None:
    numbers = lrmask.Constraint(lrmask.Grammar.from_regex("[0-9]{2}"), words)
    letters = lrmask.Constraint(lrmask.Grammar.from_regex("[a-z]{2}"), words)
    follower = Follower([numbers, None, letters])
    # Two rows for each prompt.
    ids = numpy.array([[1], [1], [2], [2], [3], [3]])
    first = follower.masks(ids).copy()
    assert allowed(first[:2], words.width)[:, ord("0") : ord("9") + 1].all()
    assert (first[2:4] == -1).all()
    assert allowed(first[4:], words.width)[:, ord("a")].all()
    with pytest.raises(ValueError):
        Follower([numbers, letters]).masks(ids[:3])
    with pytest.raises(ValueError):
        Follower([])


def test_beams_are_exchanged_and_die(words: lrmask.Vocabulary) -> None:
    """Rows are reordered at random, and some hold refused tokens: against a matcher for each."""
    constraint = lrmask.Constraint(schema(), words)
    follower = Follower(constraint)
    random_ = random.Random(0)
    rows: list[list[int]] = [[] for _ in range(6)]
    row = numpy.zeros(-(-words.width // 32), dtype=numpy.int32)
    for _ in range(14):
        ids = numpy.array([[5, 6, *tokens] for tokens in rows])
        masks = follower.masks(ids)
        for mask, tokens in zip(masks, rows):
            matcher = constraint.matcher()
            if matcher.validate(tokens) == len(tokens) and STOP not in tokens:
                for token in tokens:
                    matcher.advance(token)
                matcher.fill_mask(row)
                assert mask.tolist() == row.tolist()
            else:
                assert allowed(mask, words.width).nonzero()[0].tolist() == [STOP]
        grown = []
        for mask, tokens in zip(masks, rows):
            choices = allowed(mask, words.width).nonzero()[0].tolist()
            wild = random_.random() < 0.05
            grown.append([*tokens, 0 if wild else random_.choice(choices)])
        rows = [random_.choice(grown) for _ in rows]


def test_drafts_go_back(words: lrmask.Vocabulary) -> None:
    """As assisted generation asks: for longer texts first, then for one with another end."""
    constraint = lrmask.Constraint(schema(), words)
    follower = Follower(constraint)
    follower.masks(numpy.array([[5]]))
    text = words.cut_longest(b"[true,false")
    assert text is not None
    for end in (2, 3, len(text), 2, 1, 3):
        mask = follower.masks(numpy.array([[5, *text[:end]]]))
        matcher = constraint.matcher()
        for token in text[:end]:
            matcher.advance(token)
        assert allowed(mask[0], words.width).nonzero()[0].tolist() == matcher.allowed_tokens()


def test_llama_cpp_has_one_row(words: lrmask.Vocabulary) -> None:
    processor = GrammarLogitsProcessor(lrmask.Constraint(schema(), words))

    def call(ids: Any, scores: Any) -> Any:
        return processor(ids[0].astype(numpy.intc), scores[0]).reshape(1, -1)

    # Logits may be wider than the vocabulary.
    for width in (words.width, words.width + 40):
        [tokens] = generate(call, [[1, 2]], width, 4)
        json.loads(text_of(words, tokens))


def test_transformers() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from lrmask.transformers import GrammarLogitsProcessor as Processor

    tokens = [bytes([byte]) for byte in range(256)]
    vocabulary = lrmask.Vocabulary.from_tokens(
        [*tokens, b""], special_tokens={256: "</s>"}, stop_tokens=[256], width=258
    )
    constraint = lrmask.Constraint(schema(), vocabulary)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=258,
        hidden_size=32,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=256,
        pad_token_id=257,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    prompts = torch.tensor([[1, 2, 3], [4, 5, 6]])
    for options in (
        {"do_sample": False},
        {"do_sample": True},
        {"do_sample": True, "num_return_sequences": 3},
        {"num_beams": 4},
        {"num_beams": 4, "num_return_sequences": 2},
        {"num_beams": 3, "do_sample": True},
    ):
        out = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            logits_processor=[Processor(constraint)],
            max_new_tokens=60,
            **options,
        )
        for row in out[:, 3:].tolist():
            text = bytes(token for token in row if token < 256)
            assert 256 in row, (options, text)
            json.loads(text)
