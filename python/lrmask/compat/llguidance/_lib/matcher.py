"""Matchers with llguidance's interface, which never raise for a grammar or a token."""

from __future__ import annotations

import ctypes
from typing import Any

from lrmask._native import Constraint, Matcher, fill_masks

from .compilers import (
    LLParserLimits,
    limits_of,
    message_of,
    read,
    regex_grammar,
    schema_grammar,
    warnings_of,
)
from .tokenizer import LLTokenizer


def build(
    tokenizer: LLTokenizer, grammar: Any, limits: LLParserLimits | None
) -> Constraint:
    """The constraint of a grammar. Raises `ValueError` with llguidance's words."""
    try:
        within = limits_of(limits)
        return tokenizer._cache.get_or_build(read(grammar), tokenizer._vocabulary, limits=within)
    except ValueError as error:
        raise ValueError(message_of(error)) from error


class LLMatcher:
    """The state of one sequence."""

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: Any,
        *,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._error = ""
        self._matcher: Matcher | None = None
        self._constraint: Constraint | None = None
        try:
            self._constraint = build(tokenizer, grammar, limits)
            self._matcher = self._constraint.matcher()
        except ValueError as error:
            self._error = str(error)

    @staticmethod
    def validate_grammar(
        grammar: Any,
        tokenizer: LLTokenizer | None = None,
        *,
        limits: LLParserLimits | None = None,
    ) -> str:
        """The error of a grammar, or nothing."""
        is_error, messages = LLMatcher.validate_grammar_with_warnings(
            grammar, tokenizer, limits=limits
        )
        return messages[0] if is_error else ""

    @staticmethod
    def validate_grammar_with_warnings(
        grammar: Any,
        tokenizer: LLTokenizer | None = None,
        *,
        limits: LLParserLimits | None = None,
    ) -> tuple[bool, list[str]]:
        """Whether there is an error, and it or the warnings."""
        try:
            known = read(grammar)
            if tokenizer is not None:
                return False, warnings_of(build(tokenizer, grammar, limits).warnings)
            warnings = warnings_of(known.check(limits_of(limits)))
        except ValueError as error:
            return True, [message_of(error)]
        if "<[" in known.text or "<|" in known.text:
            warnings.insert(0, "no tokenizer: tokens of the grammar were not looked up")
        return False, warnings

    @staticmethod
    def grammar_from_json_schema(schema: Any, defaults: Any = None, overrides: Any = None) -> str:
        return schema_grammar(schema, defaults, overrides)

    @staticmethod
    def grammar_from_lark(lark: str) -> str:
        return lark

    @staticmethod
    def grammar_from_regex(regex: str) -> str:
        return regex_grammar(regex)

    def _fail(self, message: str) -> bool:
        self._error = self._error or message
        return False

    def is_error(self) -> bool:
        return bool(self._error)

    def get_error(self) -> str:
        return self._error

    def get_grammar_warnings(self) -> list[str]:
        return [] if self._constraint is None else warnings_of(self._constraint.warnings)

    def deep_copy(self) -> LLMatcher:
        copy = LLMatcher.__new__(LLMatcher)
        copy.__dict__.update(self.__dict__)
        if self._matcher is not None:
            copy._matcher = self._matcher.fork()
        return copy

    def is_accepting(self) -> bool:
        return not self._error and self._now.is_accepting

    @property
    def _now(self) -> Matcher:
        """The matcher, where there is no error."""
        assert self._matcher is not None
        return self._matcher

    def is_stopped(self) -> bool:
        """Whether only a stop token may follow, or there was an error."""
        if self._error or self._now.is_finished:
            return True
        return self._now.is_accepting and not self._now.can_continue()

    def stop_reason(self) -> str:
        if self._error:
            return "InternalError"
        if self._now.is_finished:
            return "EndOfSentence"
        return "NoExtension" if self.is_stopped() else "NotStopped"

    def rollback(self, num_tokens: int) -> bool:
        if self._error:
            return False
        if num_tokens > self._now.steps:
            return self._fail(f"cannot roll back {num_tokens} tokens of {self._now.steps}")
        self._now.rollback(num_tokens)
        return True

    def reset(self) -> bool:
        if self._error:
            return False
        self._now.reset()
        return True

    def compute_ff_bytes(self) -> bytes:
        return b"" if self._error else self._now.forced_bytes()

    def compute_ff_tokens(self) -> list[int]:
        if self._error or not self._tokenizer.is_canonical:
            return []
        return self._now.forced_tokens(self._tokenizer.tokenize_bytes)

    def _takes(self, token: int) -> bool:
        """Takes a token if it may come; stop tokens after the end change nothing."""
        if token in self._tokenizer.eos_tokens and self.is_stopped():
            return True
        return self._now.try_advance(token)

    def try_consume_tokens(self, tokens: list[int]) -> int:
        if self._error:
            return 0
        for count, token in enumerate(tokens):
            if not 0 <= token < self._tokenizer.vocab_size:
                self._fail(f"token id {token} out of range")
                return count
            if self.is_stopped() or not self._now.try_advance(token):
                return count
        return len(tokens)

    def consume_token(self, sampled_token: int) -> bool:
        if not self._error and 0 <= sampled_token < self._tokenizer.vocab_size:
            if self._takes(sampled_token):
                return True
        return self._refuse(sampled_token)

    def _refuse(self, token: int) -> bool:
        if self._error:
            # A stop token after an error ends the text, as after the end.
            return token in self._tokenizer.eos_tokens
        if not 0 <= token < self._tokenizer.vocab_size:
            return self._fail(f"token id {token} out of range")
        shown = self._tokenizer.dbg_tokens([token])
        expected = ", ".join(self._now.expected()[:20])
        return self._fail(
            f"token {shown} doesn't satisfy the grammar; expected: {expected}"
        )

    def consume_tokens(self, sampled_tokens: list[int]) -> bool:
        return all(self.consume_token(token) for token in sampled_tokens)

    def validate_tokens(self, tokens: list[int]) -> int:
        if self._error:
            return int(tokens[:1] == [self._tokenizer.eos_token])
        if any(not 0 <= token < self._tokenizer.vocab_size for token in tokens):
            self._fail("token id out of range")
            return 0
        return self._now.validate(tokens)

    def _fill(self, mask: Any, row: int = 0) -> None:
        """Fills a row of an array; after an error, with the stop tokens."""
        if not self._error:
            self._now.fill_mask(mask, row)
            return
        stops = bytearray(-(-self._tokenizer.vocab_size // 32) * 4)
        for stop in self._tokenizer.eos_tokens:
            if stop < self._tokenizer.vocab_size:
                stops[stop // 8] |= 1 << stop % 8
        memoryview(mask).cast("B")[row * len(stops) : (row + 1) * len(stops)] = stops

    def compute_bitmask(self) -> bytes:
        mask = bytearray(-(-self._tokenizer.vocab_size // 32) * 4)
        self._fill(mask)
        return bytes(mask)

    def compute_logit_bias(self) -> bytes:
        mask = self.compute_bitmask()
        return b"".join([_BIAS[byte] for byte in mask])[: self._tokenizer.vocab_size]

    def _checked(self, trg_pointer: int, trg_byte_size: int) -> None:
        if trg_pointer == 0:
            raise ValueError("Null pointer")
        if trg_pointer % 4:
            raise ValueError("Pointer not aligned")
        if trg_byte_size != -(-self._tokenizer.vocab_size // 32) * 4:
            raise ValueError("Invalid buffer size")

    def unsafe_compute_mask_ptr(self, trg_pointer: int, trg_byte_size: int) -> None:
        self._checked(trg_pointer, trg_byte_size)
        if self._error:
            self._fill(_rows(trg_pointer, trg_byte_size, 1))
        else:
            self._now.fill_mask_at(trg_pointer, trg_byte_size // 4)

    def unsafe_compute_mask_ptr_with_draft_token(
        self, trg_pointer: int, trg_byte_size: int, draft_tokens: list[int]
    ) -> None:
        self._checked(trg_pointer, trg_byte_size)
        rows = _rows(trg_pointer, trg_byte_size, len(draft_tokens) + 1)
        if self._error:
            self._fill(rows)
        else:
            self._now.fill_draft_masks(draft_tokens, rows)

    def get_capture(self, name: str) -> bytes | None:
        found = [text for known, text in self.get_captures() if known == name]
        return found[-1] if found else None

    def get_captures(self) -> list[tuple[str, bytes]]:
        if self._matcher is None:
            return []
        return [(capture.name, capture.bytes) for capture in self._matcher.captures()]


#: For each byte of a mask, one byte for each token: 200 if it is allowed.
_BIAS = [bytes(200 if byte >> bit & 1 else 0 for bit in range(8)) for byte in range(256)]


def _rows(address: int, row_bytes: int, count: int) -> Any:
    """Rows at an address, which the caller answers for."""
    return memoryview((ctypes.c_uint32 * (row_bytes // 4) * count).from_address(address))


class LLExecutor:
    """Fills masks of many matchers."""

    def __init__(self, num_threads: int | None = None) -> None:
        import os

        self._threads = num_threads or max(1, min(32, (os.cpu_count() or 1) * 4 // 5))

    def _read(self, given: Any, types: tuple[type, ...], shown: str) -> list[Any]:
        found = []
        for entry in given:
            if not isinstance(entry, tuple):
                name = type(entry).__name__
                raise TypeError(f"'{name}' object is not an instance of 'tuple'")
            if len(entry) != len(types):
                raise ValueError(f"Expecting {shown} tuple")
            for part, of in zip(entry, types):
                if not isinstance(part, of):
                    name = type(part).__name__
                    raise TypeError(f"'{name}' object is not an instance of '{of.__name__}'")
            found.append(entry)
        matchers = [id(entry[0]) for entry in found]
        return found if len(set(matchers)) == len(matchers) else self._twice()

    def _twice(self) -> list[Any]:
        raise RuntimeError("Already borrowed")

    def unsafe_compute_mask_ptr(
        self,
        interpreters: list[tuple[LLMatcher, int]],
        trg_pointer: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        if not interpreters:
            raise ValueError("No interpreters")
        found = self._read(interpreters, (LLMatcher, int), "(LLMatcher, int)")
        for matcher, row in found:
            if not 0 <= row < trg_batch_size:
                raise ValueError("Target index out of bounds")
            matcher._checked(trg_pointer, one_mask_bytes)
        rows = _rows(trg_pointer, one_mask_bytes, trg_batch_size)
        sound = [(matcher, row) for matcher, row in found if not matcher._error]
        places = [row for _, row in sound]
        fill_masks([m._now for m, _ in sound], rows, rows=places, threads=self._threads)
        for matcher, row in found:
            if matcher._error:
                matcher._fill(rows, row)

    def unsafe_compute_mask_ptr_with_draft_token(
        self,
        interpreters: list[tuple[LLMatcher, int, list[int]]],
        trg_pointer: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        if not interpreters:
            raise ValueError("No interpreters")
        shown = "(LLMatcher, int, List[int])"
        found = self._read(interpreters, (LLMatcher, int, list), shown)
        for _, row, drafts in found:
            if not drafts:
                raise ValueError("Draft tokens must not be empty")
            if not 0 <= row < trg_batch_size - len(drafts):
                raise ValueError("Target index out of bounds")
        for matcher, row, drafts in found:
            address = trg_pointer + row * one_mask_bytes if trg_pointer else 0
            matcher.unsafe_compute_mask_ptr_with_draft_token(address, one_mask_bytes, drafts)

    def consume_token_par(self, matchers: list[tuple[LLMatcher, int]]) -> list[bool]:
        if not matchers:
            raise ValueError("No matchers")
        found = self._read(matchers, (LLMatcher, int), "(LLMatcher, int)")
        return [matcher.consume_token(token) for matcher, token in found]
