"""Masks from Python are those of Rust, bit for bit, along texts in several vocabularies."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import numpy
import pytest
from conftest import tokenizer_file

import lrmask

TEXTS = {
    "json": b'{"a": [1.5e3, true, null, "x\\u00e9\xc3\xa9"], "b": {}}',
    "sqlite": b"SELECT a, count(*) FROM t WHERE b LIKE 'x%' GROUP BY a ORDER BY 2 DESC;",
    "python": b"def f(x: int) -> str:\n    return f'{x!r:>10}' if x else \"\"\n",
}


def command(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "lrmask", *arguments], capture_output=True)


def ids_by_command(grammar: str, vocabulary: str, prefix: bytes) -> list[int]:
    done = command("mask", grammar, "--vocab", vocabulary, "--prefix", prefix.decode(), "--json")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["ids"])


@pytest.mark.parametrize("name", ["gpt2", "llama2", "llama3", "phi2"])
def test_masks_equal_those_of_the_command_line(
    name: str, samples: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / ("tokenizer.model" if name == "llama2" else "tokenizer.json")
    file.write_bytes(tokenizer_file(samples, name))
    vocabulary = lrmask.Vocabulary.from_file(file)
    for grammar, text in TEXTS.items():
        constraint = lrmask.Constraint(lrmask.Grammar.builtin(grammar), vocabulary)
        for end in (0, len(text) // 3, len(text) * 2 // 3):
            matcher = constraint.matcher()
            matcher.advance_bytes(text[:end])
            expected = ids_by_command(grammar, str(file), text[:end])
            assert matcher.allowed_tokens() == expected
            rows = lrmask.new_mask(2, vocabulary.width)
            matcher.fill_mask(rows, 1)
            bits = numpy.unpackbits(rows[1].view(numpy.uint8), bitorder="little")
            assert bits.nonzero()[0].tolist() == expected


def test_a_mask_says_what_each_token_does(words: lrmask.Vocabulary) -> None:
    """The mask against one advance for each token, which needs no mask."""
    for grammar, text in TEXTS.items():
        constraint = lrmask.Constraint(lrmask.Grammar.builtin(grammar), words)
        matcher = constraint.matcher()
        for byte in text:
            allowed = matcher.allowed_tokens()
            assert allowed == [t for t in range(words.width) if matcher.fork().try_advance(t)]
            assert byte in allowed
            matcher.advance(byte)
        assert matcher.is_accepting and 264 in matcher.allowed_tokens()


def test_the_command_line() -> None:
    done = command("generate", "json", "--count", "2", "--max-tokens", "60", "--json")
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        json.loads(json.loads(line)["text"])
    assert command("check", "nowhere.lark").returncode == 2
    assert command("--help").returncode == 0 and command("frobnicate").returncode == 2
    refused = subprocess.run(
        [sys.executable, "-m", "lrmask", "validate", "json", "-"], input=b"[1", capture_output=True
    )
    assert refused.returncode == 1
