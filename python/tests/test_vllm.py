"""The plug-in of vLLM, on stubs of what it touches. `interop/run vllm` runs vLLM itself."""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
import types
from typing import Any

import numpy
import pytest

import lrmask
import lrmask.vllm

Options = enum.Enum(
    "Options", ["JSON", "JSON_OBJECT", "REGEX", "GRAMMAR", "CHOICE", "STRUCTURAL_TAG"]
)


class VLLMValidationError(ValueError):
    pass


@dataclasses.dataclass
class StructuredOutputs:
    kind: Any
    spec: str
    _backend: str | None = None
    _backend_was_auto: bool = False


@dataclasses.dataclass
class Config:
    backend: str = "auto"
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False


class Tensor(numpy.ndarray):
    """What the stub of torch allocates."""


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """Modules with the names that the plug-in replaces, and callers as vLLM has them."""
    modules = {
        name: types.ModuleType(name)
        for name in (
            "torch",
            "vllm",
            "vllm.sampling_params",
            "vllm.v1",
            "vllm.v1.structured_output",
            "vllm.v1.structured_output.backend_guidance",
            "vllm.v1.structured_output.backend_types",
        )
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, inner = name.rpartition(".")
        if parent:
            setattr(modules[parent], inner, module)
    torch: Any = modules["torch"]
    torch.int32 = numpy.int32
    torch.cuda = types.SimpleNamespace(is_available=lambda: False)
    torch.full = lambda shape, value, dtype, pin_memory: numpy.full(shape, value, dtype=dtype)
    guidance: Any = modules["vllm.v1.structured_output.backend_guidance"]
    guidance.VLLMValidationError = VLLMValidationError
    guidance.get_structured_output_key = lambda outputs: (outputs.kind, outputs.spec)
    backends: Any = modules["vllm.v1.structured_output.backend_types"]
    backends.StructuredOutputGrammar = type("StructuredOutputGrammar", (), {})
    backends.StructuredOutputBackend = type("StructuredOutputBackend", (), {})

    class SamplingParams:
        def __init__(self, outputs: StructuredOutputs) -> None:
            self.structured_outputs = outputs

        def _validate_structured_outputs(self, model: Any, config: Any, tokenizer: Any) -> None:
            self.structured_outputs._backend = config.backend
            if config.backend == "guidance":
                guidance.validate_guidance_grammar(self, tokenizer=None)

    modules["vllm.sampling_params"].SamplingParams = SamplingParams  # type: ignore[attr-defined]
    lrmask.vllm.register()
    lrmask.vllm.register()
    manager: Any = modules["vllm.v1.structured_output"]
    return types.SimpleNamespace(manager=manager, params=SamplingParams)


class Tokenizer:
    """A tokenizer as transformers has it: bytes, and an end."""

    eos_token_id = 256

    class backend_tokenizer:
        @staticmethod
        def to_str() -> str:
            # The alphabet of byte-level tokenizers.
            plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
            other = [byte for byte in range(256) if byte not in plain]
            letters = {**{b: chr(b) for b in plain}, **{b: chr(256 + n) for n, b in enumerate(other)}}
            return json.dumps(
                {
                    "model": {"type": "BPE", "vocab": {letters[b]: b for b in range(256)}, "merges": []},
                    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
                    "decoder": {"type": "ByteLevel"},
                    "added_tokens": [{"id": 256, "content": "<|end|>", "special": True}],
                }
            )

    def __len__(self) -> int:
        return 257


def engine(vllm: types.SimpleNamespace, **config: Any) -> Any:
    settings = types.SimpleNamespace(structured_outputs_config=Config(**config))
    # As the manager calls it.
    return vllm.manager.GuidanceBackend(settings, tokenizer=Tokenizer(), vocab_size=260)


REQUESTS = [
    (Options.JSON, '{"type": "integer"}', b"12", b"x"),
    (Options.JSON_OBJECT, "", b'{"a": 1}', b"[]"),
    (Options.REGEX, "[a-c]+", b"abc", b"d"),
    (Options.CHOICE, '["yes", "no"]', b"no", b"maybe"),
    (Options.GRAMMAR, 'root ::= "a" [0-9]', b"a1", b"b"),
    (Options.GRAMMAR, 'start: "a" /[0-9]/', b"a1", b"b"),
    (
        Options.STRUCTURAL_TAG,
        json.dumps(
            {
                "triggers": ["<f"],
                "structures": [{"begin": "<f>", "schema": {"type": "null"}, "end": "</f>"}],
            }
        ),
        b"so <f>null</f>",
        b"<f>1",
    ),
    (
        Options.STRUCTURAL_TAG,
        json.dumps(
            {
                "type": "structural_tag",
                "format": {
                    "type": "tag",
                    "begin": "<f>",
                    "content": {"type": "json_schema", "json_schema": {"type": "null"}},
                    "end": "</f>",
                },
            }
        ),
        b"<f>null</f>",
        b"<f>1",
    ),
]


@pytest.mark.parametrize(("kind", "spec", "yes", "no"), REQUESTS)
@pytest.mark.parametrize("backend", ["auto", "guidance"])
def test_requests(
    vllm: types.SimpleNamespace, backend: str, kind: Any, spec: str, yes: bytes, no: bytes
) -> None:
    params = vllm.params(StructuredOutputs(kind, spec))
    params._validate_structured_outputs(None, Config(backend), Tokenizer())
    assert params.structured_outputs._backend == "guidance"
    assert params.structured_outputs._backend_was_auto == (backend == "auto")
    grammar = engine(vllm).compile_grammar(kind, spec, stop_token_ids={256})
    assert grammar.accept_tokens("r", list(yes)) and not grammar.is_terminated()
    assert grammar.validate_tokens([256]) == [256]
    assert grammar.accept_tokens("r", [256]) and grammar.is_terminated()
    grammar.reset()
    assert not grammar.accept_tokens("r", [*no, 256])


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (Options.JSON, '{"type": "nothing"}'),
        (Options.JSON, "{"),
        (Options.REGEX, "a("),
        (Options.CHOICE, "no list"),
        (Options.GRAMMAR, "start: nowhere"),
        (Options.STRUCTURAL_TAG, "{}"),
        (Options.GRAMMAR, "start: A\nA: /(a|b)*a(a|b){40}/"),
        (Options.GRAMMAR, 'start: "a" <|no_such_token|>'),
    ],
)
def test_bad_requests_are_refused_where_they_come_in(
    vllm: types.SimpleNamespace, kind: Any, spec: str
) -> None:
    for _ in range(2):
        params = vllm.params(StructuredOutputs(kind, spec))
        with pytest.raises(VLLMValidationError, match="Grammar error: .+"):
            params._validate_structured_outputs(None, Config(), Tokenizer())
    backend = engine(vllm)
    with pytest.raises(ValueError):
        backend.compile_grammar(kind, spec)
    # Others are not harmed.
    assert backend.compile_grammar(Options.REGEX, "a").accept_tokens("r", [97])


def test_other_backends_are_left_alone(vllm: types.SimpleNamespace) -> None:
    params = vllm.params(StructuredOutputs(Options.GRAMMAR, "start: nowhere"))
    params._validate_structured_outputs(None, Config("xgrammar"), None)
    assert params.structured_outputs._backend == "xgrammar"


def test_drafts_padding_and_rollback_over_the_end(vllm: types.SimpleNamespace) -> None:
    backend = engine(vllm)
    grammar = backend.compile_grammar(Options.REGEX, "ab*", stop_token_ids={256, 257})
    masks = backend.allocate_token_bitmask(4)
    assert masks.shape == (4, 9)
    assert grammar.validate_tokens([97, 98, 98, -1, -1]) == [97, 98, 98]
    assert grammar.validate_tokens([97, 120]) == [97]
    for row, token in enumerate([97, 98, 257]):
        grammar.fill_bitmask(masks, row)
        assert grammar.accept_tokens("r", [token])
    assert grammar.is_terminated() and grammar.accept_tokens("r", [5, 6])
    assert grammar.validate_tokens([97]) == []
    bits = numpy.unpackbits(masks[:3].view(numpy.uint8), axis=1, bitorder="little")
    assert [row.nonzero()[0].tolist() for row in bits] == [[97], [98, 256, 257], [98, 256, 257]]
    assert (masks[3] == -1).all()
    grammar.rollback(-1)
    grammar.rollback(0)
    grammar.rollback(2)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated() and grammar.accept_tokens("r", [98, 256])
    # A stop token that is not this request's.
    other = backend.compile_grammar(Options.REGEX, "ab*", stop_token_ids={258})
    assert other.accept_tokens("r", [97]) and not other.accept_tokens("r", [256])
    assert other.accept_tokens("r", [258]) and len(backend.cache) == 1


def test_settings(vllm: types.SimpleNamespace) -> None:
    spec = (
        '{"properties": {"a": {"type": "null"}, "properties": {"enum": [{"properties": {}}]}},'
        ' "type": "object"}'
    )
    strict = engine(vllm, disable_any_whitespace=True, disable_additional_properties=True)
    for backend, text, accepted in (
        (strict, b'{"a":null}', True),
        (strict, b'{"a": null}', False),
        (strict, b'{"b":1}', False),
        # Neither a property of this name nor a value is a schema.
        (strict, b'{"properties":{"properties":{}}}', True),
        (strict, b'{"additionalProperties":1}', False),
        (engine(vllm), b'{"a": null, "b": 1}', True),
    ):
        grammar = backend.compile_grammar(Options.JSON, spec)
        assert grammar.accept_tokens("r", [*text, 256]) == accepted
    assert lrmask.vllm.metrics.requests > 0 and "masks=" in repr(lrmask.vllm.metrics)
