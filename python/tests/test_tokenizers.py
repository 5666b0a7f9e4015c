"""Vocabularies of other packages' tokenizers equal those of their files, id by id."""

from __future__ import annotations

import pathlib
import struct
from typing import Any

import pytest
from conftest import tokenizer_file

import lrmask


@pytest.mark.parametrize("name", ["llama3", "phi2"])
def test_from_hf_equals_the_file(name: str, samples: pathlib.Path) -> None:
    tokenizers: Any = pytest.importorskip("tokenizers")
    file = tokenizer_file(samples, name)
    own = lrmask.Vocabulary.from_file_bytes(file)
    tokenizer = tokenizers.Tokenizer.from_str(file.decode())
    other = lrmask.Vocabulary.from_hf(tokenizer)
    assert other == own
    # What a fast tokenizer of transformers has besides.
    stop = max(own.special_tokens)

    class Fast:
        backend_tokenizer = tokenizer
        eos_token_id = stop

        def __len__(self) -> int:
            return own.width

    fast = lrmask.Vocabulary.from_hf(Fast(), width=own.width + 100)
    assert fast.width == own.width + 100 and stop in fast.stop_tokens
    assert set(own.stop_tokens) <= set(fast.stop_tokens)
    assert lrmask.Vocabulary.from_hf(Fast(), stop_tokens=[5]).stop_tokens == [5]
    # The package decodes what the vocabulary says.
    for text in ("Hello, wörld! 1234\n\tif x:", "日本語 👋"):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        assert own.decode(ids) == text.encode()


def test_from_tiktoken_equals_the_file(samples: pathlib.Path) -> None:
    tiktoken: Any = pytest.importorskip("tiktoken")
    file = tokenizer_file(samples, "gpt2")
    own = lrmask.Vocabulary.from_file_bytes(file)
    ranks = {own.token_bytes(id): id for id in range(own.width) if own.token_bytes(id)}
    encoding = tiktoken.Encoding(
        "gpt2",
        pat_str=r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": 50256},
    )
    other = lrmask.Vocabulary.from_tiktoken(encoding)
    assert other.stop_tokens == [50256] and other.width == 50257
    assert all(other.token_bytes(id) == own.token_bytes(id) for id in ranks.values())
    assert other.decode(encoding.encode("Hello world")) == b"Hello world"


def test_a_slow_tokenizer_is_read_from_its_file(
    samples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(tokenizer_file(samples, "llama2"))

    class Slow:
        vocab_file = str(path)
        eos_token_id = 2
        added_tokens_decoder = {32000: "<|tool|>"}

        def __len__(self) -> int:
            return 32001

    vocabulary = lrmask.Vocabulary.from_hf(Slow())
    assert vocabulary.special_tokens[32000] == "<|tool|>" and vocabulary.width == 32001
    assert vocabulary.stop_tokens == [2] and vocabulary.has_leading_space
    with pytest.raises(TypeError):
        lrmask.Vocabulary.from_hf(object())


def test_llguidance_cuts_as_the_tokenizer(samples: pathlib.Path) -> None:
    pytest.importorskip("tokenizers")
    from lrmask.compat.llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer(tokenizer_file(samples, "llama3").decode())
    assert tokenizer.is_canonical
    text = "a <|eot_id|> 日本"
    plain = tokenizer.tokenize_str(text)
    special = tokenizer.tokenize_str(text, parse_special=True)
    assert tokenizer.decode_str(plain) == tokenizer.decode_str(special) == text
    assert 128009 in special and 128009 not in plain
    assert tokenizer.tokenize_partial(b"order") == ([], b"order")
    matcher = LLMatcher(tokenizer, 'start: "{\\"name_of_the_person\\":" /[0-9]+/')
    forced = matcher.compute_ff_tokens()
    assert forced == tokenizer.tokenize_str('{"name_of_the_person":')[: len(forced)] != []


def test_a_gguf_model_is_read_without_its_tensors(tmp_path: pathlib.Path) -> None:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def texts(values: list[str]) -> bytes:
        return struct.pack("<IIQ", 9, 8, len(values)) + b"".join(map(text, values))

    metadata = [
        text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("gpt2"),
        text("tokenizer.ggml.tokens") + texts(["a", "b", "ab", "<end>"]),
        text("tokenizer.ggml.merges") + texts(["a b"]),
        text("tokenizer.ggml.eos_token_id") + struct.pack("<II", 4, 3),
    ]
    path = tmp_path / "model.gguf"
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata)) + b"".join(metadata) + bytes(100_000)
    )
    for read in (lrmask.Vocabulary.from_gguf, lrmask.Vocabulary.from_file):
        vocabulary = read(path, limits=lrmask.Limits(vocabulary_bytes=10_000))
        assert [vocabulary.token_bytes(id) for id in range(3)] == [b"a", b"b", b"ab"]
        assert vocabulary.stop_tokens == [3]
    path.write_bytes(b"[]")
    with pytest.raises(lrmask.VocabularyError, match="GGUF"):
        lrmask.Vocabulary.from_gguf(path)
