"""The interpreter of guidance: masks, and tokens that must follow."""

from __future__ import annotations

import json
from typing import Any

from .compilers import LLParserLimits
from .matcher import LLMatcher
from .tokenizer import LLTokenizer


class LLInterpreter:
    """The state of one sequence, for a host that takes forced tokens."""

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: str,
        enable_backtrack: bool = True,
        enable_ff_tokens: bool = True,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
    ) -> None:
        self._matcher = LLMatcher(tokenizer, grammar, limits=limits)
        if self._matcher.is_error():
            raise ValueError(self._matcher.get_error())
        self._tokenizer = tokenizer
        self._forces = enable_ff_tokens
        self._told = 0
        self.log_level = log_level

    def deep_copy(self) -> LLInterpreter:
        copy = LLInterpreter.__new__(LLInterpreter)
        copy.__dict__.update(self.__dict__)
        copy._matcher = self._matcher.deep_copy()
        return copy

    def is_accepting(self) -> bool:
        return self._matcher.is_accepting()

    def stop_reason(self) -> str:
        return self._matcher.stop_reason()

    def process_prompt(self, prompt: list[int]) -> list[int]:
        """The prompt, with the tokens that must follow it."""
        forced = self._matcher.compute_ff_tokens() if self._forces else []
        self._matcher.consume_tokens(forced)
        return [*prompt, *forced]

    def start_without_prompt(self) -> None:
        pass

    def validate_tokens_raw(self, tokens: list[int]) -> int:
        return self._matcher.validate_tokens(tokens)

    def has_pending_stop(self) -> bool:
        return self._matcher.is_stopped()

    def _report(self) -> str:
        captures = self._matcher.get_captures()
        progress: list[dict[str, Any]] = [
            {
                "object": "capture",
                "name": name,
                "str": text.decode(errors="replace"),
                "hex": text.hex(),
                "log_prob": 0.0,
            }
            for name, text in captures[self._told :]
        ]
        self._told = len(captures)
        matcher = self._matcher._matcher
        temperature = None if matcher is None else matcher.temperature()
        stop = self._matcher.is_stopped()
        return json.dumps({"progress": progress, "stop": stop, "temperature": temperature or 0.0})

    def compute_mask(self) -> tuple[bytes | None, str]:
        if self._matcher.is_stopped():
            return None, self._report()
        return self._matcher.compute_logit_bias(), self._report()

    def compute_mask_into(self, trg: bytearray) -> str:
        mask = self._matcher.compute_bitmask()
        trg[:] = mask[: len(trg)] if not self._matcher.is_stopped() else bytes(len(trg))
        return self._report()

    def unsafe_compute_mask_ptr(self, trg_pointer: int, trg_byte_size: int) -> str:
        self._matcher.unsafe_compute_mask_ptr(trg_pointer, trg_byte_size)
        return self._report()

    def commit_token(self, sampled_token: int | None) -> tuple[int, list[int]]:
        """Takes a token. Returns how many to remove, always none, and those to append."""
        if sampled_token is None or self._matcher.is_stopped():
            return 0, []
        if not self._matcher.consume_token(sampled_token):
            raise ValueError(self._matcher.get_error())
        forced = self._matcher.compute_ff_tokens() if self._forces else []
        self._matcher.consume_tokens(forced)
        return 0, [sampled_token, *forced]
