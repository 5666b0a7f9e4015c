"""Puts lrmask in llguidance's place, and local files in that of the hub."""

import gzip
import os
import pathlib

import pytest

import lrmask.compat

lrmask.compat.install("llguidance")

#: Tests that demand another meaning than lrmask has.
OTHER_MEANINGS = {"test_grammar_warnings": "it demands that `not` in a JSON schema is refused"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.name in OTHER_MEANINGS:
            item.add_marker(pytest.mark.xfail(reason=OTHER_MEANINGS[item.name], strict=True))


FOLDER = os.environ.get("LRMASK_TOKENIZERS")

try:
    import transformers
except ImportError:
    transformers = None

if transformers is not None:

    def from_pretrained(name: str, **_: object) -> object:
        if FOLDER is None or "Llama" not in name:
            pytest.skip(f"no local file is known for {name}")
        content = gzip.decompress((pathlib.Path(FOLDER) / "llama3/tokenizer.json.gz").read_bytes())
        from tokenizers import Tokenizer

        return transformers.PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer.from_str(content.decode()), eos_token="<|eot_id|>"
        )

    transformers.AutoTokenizer.from_pretrained = from_pretrained
