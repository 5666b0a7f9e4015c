"""Structured outputs of vLLM, by its entry point `vllm.general_plugins`.

If this package is installed with vLLM, `backend=guidance` and `backend=auto` mean lrmask, in
every process of vLLM: it has no registry of backends, so this one takes guidance's place.
`LRMASK_VLLM=off` in the environment leaves vLLM as it is. docs/vllm.md has the rest.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import threading
import time
from typing import Any

import lrmask
from lrmask._native import ConstraintCache, Limits, Matcher, Vocabulary
from lrmask.transformers import vocabulary

logger = logging.getLogger("vllm.lrmask")

#: Bytes of constraints that an engine keeps, and that the process of the API keeps.
CACHE_BYTES = 512 << 20
CHECKED_BYTES = 64 << 20


class Metrics:
    """What this process has done so far. Times are in seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.requests = 0
        self.request_seconds = 0.0
        self.refused = 0
        self.masks = 0
        self.mask_seconds = 0.0
        #: Constraints that are kept. Requests beyond their number were hits.
        self.constraints = 0

    def compiled(self, seconds: float, constraints: int) -> None:
        with self._lock:
            self.requests += 1
            self.request_seconds += seconds
            self.constraints = constraints
            if self.requests % 100 == 0:
                logger.info("lrmask: %s", self)

    def __repr__(self) -> str:
        fields = {name: value for name, value in vars(self).items() if name != "_lock"}
        return f"Metrics({', '.join(f'{name}={value}' for name, value in fields.items())})"


metrics = Metrics()


def grammar_of(
    kind: str, spec: Any, *, any_whitespace: bool = True, additional_properties: bool = True
) -> lrmask.Grammar:
    """The grammar of a request: `kind` is the name of a `StructuredOutputOptions`."""
    whitespace: Any = None if any_whitespace else "none"
    if kind == "JSON_OBJECT":
        return lrmask.JsonSchema({"type": "object"}, whitespace=whitespace)
    if kind == "JSON":
        if not additional_properties:
            spec = _closed(json.loads(spec) if isinstance(spec, str) else spec)
        return lrmask.JsonSchema(spec, whitespace=whitespace)
    if kind == "REGEX":
        return lrmask.Grammar.from_regex(spec)
    if kind == "CHOICE":
        choices = json.loads(spec) if isinstance(spec, str) else spec
        return lrmask.Grammar.from_choices(choices)
    if kind == "GRAMMAR":
        if "::=" in spec:
            return lrmask.Grammar.from_gbnf(spec)
        return lrmask.Grammar.from_lark(spec)
    if kind == "STRUCTURAL_TAG":
        return lrmask.Grammar.from_structural_tags(spec, whitespace=whitespace)
    raise ValueError(f"structured outputs of the kind {kind} are not known")


#: Keywords whose values are schemas by name; others have one schema, or a list of them.
_BY_NAME = {
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
}
#: Keywords whose values are no schemas.
_VALUES = {"const", "enum", "default", "examples"}


def _closed(schema: Any) -> Any:
    """The schema with objects closed where it does not say otherwise."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {}
    for key, value in schema.items():
        if key in _BY_NAME and isinstance(value, dict):
            value = {name: _closed(inner) for name, inner in value.items()}
        elif key not in _VALUES:
            value = _closed(value)
        closed[key] = value
    if any(isinstance(closed.get(key), dict) for key in ("properties", "patternProperties")):
        closed.setdefault("additionalProperties", False)
    return closed


@functools.lru_cache(maxsize=512)
def check(kind: str, spec: str, **options: bool) -> str | None:
    """The error of a request, or nothing. Needs no vocabulary, as the API process has none."""
    try:
        grammar_of(kind, spec, **options).check(Limits.strict())
    except lrmask.GrammarError as error:
        return error.rendered
    except (ValueError, TypeError, KeyError) as error:
        return str(error)
    return None


_checked = ConstraintCache(CHECKED_BYTES)


def check_tokens(kind: str, spec: str, tokenizer: Any) -> str | None:
    """The error of a grammar that names tokens, if the tokenizer lacks one, or nothing."""
    # No other kind can name tokens.
    if kind not in ("GRAMMAR", "STRUCTURAL_TAG"):
        return None
    try:
        _checked.get_or_build(grammar_of(kind, spec), vocabulary(tokenizer), limits=Limits.strict())
    except lrmask.GrammarError as error:
        return error.rendered
    return None


class Sequence:
    """The state of one request, with the meaning that vLLM's scheduler relies on.

    Stop tokens end the text, and count as steps; tokens after them are accepted, and count too.
    """

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.after_end = 0

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        for token in tokens:
            if self.matcher.is_finished:
                self.after_end += 1
            elif not self.matcher.try_advance(token):
                expected = ", ".join(self.matcher.expected()[:20])
                logger.warning(
                    "request %s: token %d is not allowed; expected: %s", request_id, token, expected
                )
                return False
        return True

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        padding = next((place for place, token in enumerate(tokens) if token < 0), len(tokens))
        if self.matcher.is_finished:
            return []
        return tokens[: self.matcher.validate(tokens[:padding])]

    def rollback(self, num_tokens: int) -> None:
        if num_tokens <= 0:
            return
        after_end = min(self.after_end, num_tokens)
        self.after_end -= after_end
        self.matcher.rollback(num_tokens - after_end)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        begun = time.perf_counter()
        self.matcher.fill_mask(bitmask, batch_index)
        # Sums of several threads may lose a little.
        metrics.mask_seconds += time.perf_counter() - begun
        metrics.masks += 1

    def is_terminated(self) -> bool:
        return self.matcher.is_finished

    def reset(self) -> None:
        self.after_end = 0
        self.matcher.reset()


def _classes() -> tuple[Any, Any]:
    """The backend and its request-level grammar, as classes of vLLM."""
    import torch
    from vllm.v1.structured_output import backend_types

    class LrmaskGrammar(Sequence, backend_types.StructuredOutputGrammar):  # type: ignore[misc]
        pass

    class LrmaskBackend(backend_types.StructuredOutputBackend):  # type: ignore[misc]
        def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None:
            self.vllm_config = vllm_config
            self.tokenizer = tokenizer
            self.vocab_size = vocab_size
            config = vllm_config.structured_outputs_config
            self.options = _options(config)
            self.vocabulary = Vocabulary.from_hf(tokenizer, width=vocab_size)
            self.cache = ConstraintCache(CACHE_BYTES)
            logger.info("lrmask %s: %s", lrmask.__version__, self.vocabulary)

        @staticmethod
        def is_tokenizer_supported(tokenizer: Any) -> bool:
            return hasattr(tokenizer, "backend_tokenizer") or bool(
                getattr(tokenizer, "vocab_file", None)
            )

        def compile_grammar(
            self,
            request_type: Any,
            grammar_spec: str,
            stop_token_ids: set[int] | None = None,
        ) -> Any:
            begun = time.perf_counter()
            grammar = grammar_of(request_type.name, grammar_spec, **self.options)
            try:
                constraint = self.cache.get_or_build(
                    grammar, self.vocabulary, limits=Limits.strict()
                )
            except lrmask.GrammarError as error:
                metrics.refused += 1
                raise ValueError(error.rendered) from error
            metrics.compiled(time.perf_counter() - begun, len(self.cache))
            stops = sorted(t for t in stop_token_ids or () if 0 <= t < self.vocab_size)
            return LrmaskGrammar(constraint.matcher(stops or None))

        def allocate_token_bitmask(self, max_num_seqs: int) -> Any:
            words = -(-self.vocab_size // 32)
            pinned = torch.cuda.is_available()
            return torch.full((max_num_seqs, words), -1, dtype=torch.int32, pin_memory=pinned)

        def destroy(self) -> None:
            logger.info("lrmask: %s", metrics)

    return LrmaskBackend, LrmaskGrammar


def _options(config: Any) -> dict[str, bool]:
    return {
        "any_whitespace": not getattr(config, "disable_any_whitespace", False),
        "additional_properties": not getattr(config, "disable_additional_properties", False),
    }


class _AsGuidance:
    """vLLM's settings with `guidance` as the backend."""

    backend = "guidance"

    def __init__(self, config: Any) -> None:
        self._config = config

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)


def _leave_tags_to_the_backend() -> None:
    """The API asks XGrammar about structural tags, whatever the backend; that checks them later."""
    try:
        from vllm.entrypoints.generate.base import protocol
    except ImportError:
        return
    if hasattr(protocol, "validate_structural_tag_payload"):
        protocol.validate_structural_tag_payload = lambda payload, *, parameter: None


def register() -> None:
    """Takes guidance's place. vLLM calls it in each of its processes."""
    if os.environ.get("LRMASK_VLLM", "").lower() in ("off", "0", "no"):
        return
    from vllm import sampling_params
    from vllm.v1 import structured_output
    from vllm.v1.structured_output import backend_guidance

    if getattr(backend_guidance, "lrmask", False):
        return
    backend, _ = _classes()
    backend_guidance.GuidanceBackend = backend
    structured_output.GuidanceBackend = backend
    backend_guidance.has_guidance_unsupported_json_features = lambda schema: False

    def key(outputs: Any) -> tuple[str, str]:
        kind, spec = backend_guidance.get_structured_output_key(outputs)
        return kind.name, spec if isinstance(spec, str) else json.dumps(spec)

    def refuse(error: str | None) -> None:
        if error is not None:
            raise backend_guidance.VLLMValidationError(f"Grammar error: {error}")

    def validate_guidance_grammar(params: Any, tokenizer: Any = None) -> None:
        if params.structured_outputs is not None:
            refuse(check(*key(params.structured_outputs)))

    backend_guidance.validate_guidance_grammar = validate_guidance_grammar
    _leave_tags_to_the_backend()
    params = sampling_params.SamplingParams
    validate = params._validate_structured_outputs

    def validate_structured_outputs(
        self: Any, model_config: Any, config: Any, tokenizer: Any
    ) -> None:
        if config is None or self.structured_outputs is None:
            return
        automatic = config.backend == "auto"
        validate(self, model_config, _AsGuidance(config) if automatic else config, tokenizer)
        if automatic:
            self.structured_outputs._backend_was_auto = True
        if automatic or config.backend == "guidance":
            refuse(check_tokens(*key(self.structured_outputs), tokenizer))

    params._validate_structured_outputs = validate_structured_outputs
    backend_guidance.lrmask = True
    logger.info("lrmask %s is the backend of structured outputs", lrmask.__version__)
