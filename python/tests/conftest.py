"""What several tests need."""

from __future__ import annotations

import gzip
import pathlib

import pytest

import lrmask

#: Samples that may lie beside the project.
SAMPLES = pathlib.Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="session")
def samples() -> pathlib.Path:
    if not SAMPLES.is_dir():
        pytest.skip("no samples lie beside the project")
    return SAMPLES


def tokenizer_file(samples: pathlib.Path, name: str) -> bytes:
    """A tokenizer among the samples."""
    files = {
        "gpt2": "gpt2/r50k_base.tiktoken",
        "llama2": "llama2/tokenizer.model",
        "llama3": "llama3/tokenizer.json.gz",
        "phi2": "phi2/tokenizer.json.gz",
    }
    path = samples / "tokenizers" / files[name]
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


@pytest.fixture(scope="session")
def words() -> lrmask.Vocabulary:
    """A small vocabulary: all bytes, some words, and a stop token."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"true", b"false", b"null", b'":', b'",', b"10", b"  ", b"ab", b""]
    return lrmask.Vocabulary.from_tokens(tokens, special_tokens={264: "</s>"}, stop_tokens=[264])
