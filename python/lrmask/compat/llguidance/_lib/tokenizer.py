"""Tokenizers: the vocabulary, and how texts are cut."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import Any

from lrmask._native import ConstraintCache, Vocabulary

Cut = Callable[[str], list[int]]

#: Special tokens of the tokenizer of bytes.
_BYTE_SPECIAL = ["<|tool|>", "<|/tool|>", "<|user|>", "<|system|>", "<|assistant|>", "<|end|>"]

#: Bytes that no text has: what follows is the name or the number of a token.
_MARK = 0xFF


class LLTokenizer:
    """A vocabulary, with the constraints that were built for it."""

    def __init__(
        self,
        tokenizer: Any,
        n_vocab: int | None = None,
        eos_token: int | list[int] | None = None,
        slices: list[str] | None = None,
    ) -> None:
        if isinstance(tokenizer, str):
            if tokenizer == "byte":
                vocabulary, cut = _of_bytes(), None
            else:
                vocabulary, cut = _of_text(tokenizer)
        else:
            vocabulary, cut = _of_wrapper(tokenizer)
        self._begin(vocabulary, cut, eos_token, n_vocab)
        self._bytes = tokenizer == "byte"

    @classmethod
    def _of(
        cls,
        vocabulary: Vocabulary,
        cut: Callable[[bytes], list[int]] | None,
        eos_token: int | list[int] | None,
        n_vocab: int | None,
    ) -> LLTokenizer:
        made = cls.__new__(cls)
        made._begin(vocabulary, cut and (lambda text: cut(text.encode())), eos_token, n_vocab)
        return made

    def _begin(
        self,
        vocabulary: Vocabulary,
        cut: Cut | None,
        eos_token: int | list[int] | None,
        n_vocab: int | None,
    ) -> None:
        if n_vocab is not None and n_vocab > vocabulary.width:
            vocabulary = vocabulary.replace(width=n_vocab)
        stops = [eos_token] if isinstance(eos_token, int) else eos_token
        if stops is not None:
            if not stops:
                raise ValueError("eos_token list must not be empty")
            for stop in stops:
                if stop >= vocabulary.width:
                    raise ValueError(
                        f"EOS token ID {stop} is out of range (vocab_size={vocabulary.width})"
                    )
            vocabulary = vocabulary.replace(stop_tokens=stops)
        self._vocabulary = vocabulary
        self._special = vocabulary.special_tokens
        self._named = {name: id for id, name in self._special.items()}
        self._cut = cut
        self._bytes = False
        self._cache = ConstraintCache()
        self.vocab_size: int = vocabulary.width
        self.eos_tokens: list[int] = stops or vocabulary.stop_tokens or [vocabulary.width]
        self.eos_token: int = self.eos_tokens[0]

    @staticmethod
    def from_tiktoken(
        *,
        encoder: dict[bytes, int],
        special_tokens: dict[str, int],
        pattern: str,
        eos_token: int | list[int],
        n_vocab: int | None = None,
        slices: list[str] | None = None,
    ) -> LLTokenizer:
        class Encoding:
            _mergeable_ranks = encoder
            _special_tokens = special_tokens

        vocabulary = Vocabulary.from_tiktoken(Encoding)
        try:
            import tiktoken

            name = "lrmask"
            known = tiktoken.Encoding(
                name,
                pat_str=pattern,
                mergeable_ranks=encoder,
                special_tokens=special_tokens,
            )
            cut: Cut | None = known.encode_ordinary
        except ImportError:
            cut = None
        made = LLTokenizer.__new__(LLTokenizer)
        made._begin(vocabulary, cut, eos_token, n_vocab)
        return made

    @staticmethod
    def from_llamacpp(
        *,
        tokens: list[bytes],
        vocab_ptr: int,
        tokenize_fptr: int,
        eos_token: int | list[int],
        slices: list[str] | None = None,
    ) -> LLTokenizer:
        import ctypes

        signature = ctypes.CFUNCTYPE(
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_int32),
            ctypes.c_int32,
            ctypes.c_bool,
            ctypes.c_bool,
        )
        call = signature(tokenize_fptr)

        def cut(text: bytes) -> list[int]:
            room = len(text) + 8
            ids = (ctypes.c_int32 * room)()
            count = call(vocab_ptr, text, len(text), ids, room, False, False)
            return list(ids[: max(count, 0)])

        return LLTokenizer._of(_of_marked(tokens), cut, eos_token, None)

    def with_slices(self, slices: list[str]) -> LLTokenizer:
        """The same: slices make llguidance quicker, and nothing here."""
        return self

    @staticmethod
    def general_slices() -> list[str]:
        return [r"[^\x00-\x1F\x7F\"\\]{1,10}", r"[^\x00-\x1F\x7F\"\\]{1,30}"]

    @staticmethod
    def json_slices() -> list[str]:
        return [r"[^\x00-\x1F\x7F\"\\]{1,10}", r"[^\x00-\x1F\x7F\"\\]{1,30}"]

    @property
    def is_canonical(self) -> bool:
        """Whether texts are cut as the model's tokenizer does."""
        return self._cut is not None or self._bytes

    def greedy_tokenize(self, text: str) -> list[int]:
        return self._greedy(text.encode())

    def tokenize_str(self, text: str, *, parse_special: bool = False) -> list[int]:
        return self.tokenize_bytes(text.encode(), parse_special=parse_special)

    def tokenize_bytes(self, utf8bytes: bytes, *, parse_special: bool = False) -> list[int]:
        if parse_special and self._named:
            names = sorted(self._named, key=len, reverse=True)
            parts = re.split(b"(" + b"|".join(re.escape(n.encode()) for n in names) + b")", utf8bytes)
            tokens: list[int] = []
            for place, part in enumerate(parts):
                tokens += [self._named[part.decode()]] if place % 2 else self.tokenize_bytes(part)
            return tokens
        if self._cut is None:
            return self._greedy(utf8bytes)
        try:
            return self._cut(utf8bytes.decode()) if utf8bytes else []
        except UnicodeDecodeError as error:
            before, bad = utf8bytes[: error.start], utf8bytes[error.start : error.end]
            tokens = self._cut(before.decode()) if before else []
            return tokens + self._greedy(bad) + self.tokenize_bytes(utf8bytes[error.end :])

    def _greedy(self, text: bytes) -> list[int]:
        """The longest tokens; bytes that are none are left out."""
        tokens = []
        start = 0
        while start < len(text):
            end, found, length = start + 1, None, 1
            while True:
                token = self._vocabulary.token(text[start:end])
                if token is not None:
                    found, length = token, end - start
                if end >= len(text) or not self._vocabulary.has_longer(text[start:end]):
                    break
                end += 1
            if found is not None:
                tokens.append(found)
            start += length
        return tokens

    def _marked(self, text: bytes) -> tuple[list[int], int]:
        """Tokens of a text with marked tokens in it, and how many of them are certain."""
        tokens: list[int] = []
        certain = place = 0
        while place < len(text):
            mark = text.find(_MARK, place)
            plain = text[place : mark if mark >= 0 else len(text)]
            if plain:
                tokens += self.tokenize_bytes(plain)
                place += len(plain)
            if mark < 0:
                break
            place += 1
            rest = text[place : place + 100]
            named = re.match(rb"<[^>]*>", rest)
            numbered = re.match(rb"\[([0-9]+)\]", rest)
            token = None
            if named is not None:
                token = self._named.get(named[0].decode(errors="replace"))
            elif numbered is not None and int(numbered[1]) < self.vocab_size:
                token = int(numbered[1])
            if token is not None:
                tokens.append(token)
                certain = len(tokens)
                place += len((named or numbered or [b""])[0])
        return tokens, certain

    def _raw(self, tokens: list[int]) -> bytes:
        """The bytes of tokens, with marks for those that have none."""
        plain = (self._vocabulary.token_bytes(t) for t in tokens)
        return b"".join(
            p if p is not None else b"\xff[%d]" % t for p, t in zip(plain, tokens, strict=True)
        )

    def tokenize_partial(
        self, new_bytes: bytes, recent_tokens: list[int] | None = None
    ) -> tuple[list[int], bytes]:
        """The tokens of a text that no later text changes, and the bytes after them."""
        if not new_bytes:
            return [], b""
        known = list((recent_tokens or [])[-1:])
        before = self._raw(known)
        text = before + new_bytes
        tokens, certain = self._marked(text)
        if tokens[: len(known)] != known:
            tokens, certain = self._marked(new_bytes)
            known = []
        else:
            certain = max(len(known), certain)
        cut = self._uncertain(tokens[certain:])
        kept = tokens[len(known) : len(tokens) - cut]
        rest = self._raw(tokens[len(tokens) - cut :])
        return kept, rest

    def _uncertain(self, tokens: list[int]) -> int:
        """How many tokens at the end could be others if more text followed."""
        end = self._raw(tokens[-4:])
        for start in range(len(end)):
            rest = end[start:]
            if self._vocabulary.has_longer(rest):
                length = 0
                for count, token in enumerate(reversed(tokens), 1):
                    length += len(self._raw([token]))
                    if length >= len(rest):
                        return count
        return 0

    def _shown(self, token: int) -> bytes:
        known = self._vocabulary.token_bytes(token) if token < self.vocab_size else None
        if known is not None:
            return known
        return self._special.get(token, f"<[{token}]>").encode()

    def decode_bytes(self, tokens: list[int]) -> bytes:
        return b"".join(map(self._shown, tokens))

    def decode_str(self, tokens: list[int]) -> str:
        return self.decode_bytes(tokens).decode(errors="replace")

    def dbg_tokens(self, tokens: list[int]) -> str:
        return "⟦" + "‧".join(self.decode_str([token]) for token in tokens) + "⟧"

    def test_trace_tokens(self, tokens: list[int]) -> str:
        return "‧".join(self.decode_str([token]) for token in tokens)

    def is_special_token(self, token: int) -> bool:
        return token in self._special


def _of_bytes() -> Vocabulary:
    tokens = [bytes([byte]) for byte in range(256)]
    special = dict(enumerate(_BYTE_SPECIAL, 256))
    # No text has the byte that marks tokens.
    tokens[_MARK] = b"\xff"
    return Vocabulary.from_tokens(
        tokens, special_tokens=special, stop_tokens=[255 + len(_BYTE_SPECIAL)]
    )


def _of_marked(tokens: list[bytes]) -> Vocabulary:
    """Special tokens have a mark before their names."""
    special = {
        id: token[1:].decode(errors="replace")
        for id, token in enumerate(tokens)
        if token[:1] == b"\xff" and len(token) > 1
    }
    return Vocabulary.from_tokens(tokens, special_tokens=special)


def _of_wrapper(wrapper: Any) -> tuple[Vocabulary, Cut]:
    if not getattr(wrapper, "is_tokenizer_wrapper", False):
        raise ValueError("Expecting a TokenizerWrapper() class")
    tokens = [bytes(token) for token in wrapper.tokens]
    eos = wrapper.eos_token_id
    if eos is None:
        eos = len(tokens)
        tokens.append(b"")
    special = {id: tokens[id].decode(errors="replace") for id in wrapper.special_token_ids}
    vocabulary = Vocabulary.from_tokens(tokens, special_tokens=special, stop_tokens=[eos])
    return vocabulary, wrapper


def _of_text(text: str) -> tuple[Vocabulary, Cut | None]:
    """Of the text of a tokenizer.json, or the path of one, or a name of the hub."""
    tokenizers = _module("tokenizers")
    if not text.startswith("{"):
        try:
            with open(text, encoding="utf-8") as file:
                text = file.read()
        except OSError:
            if tokenizers is None:
                raise
            text = tokenizers.Tokenizer.from_pretrained(text).to_str()
    vocabulary = Vocabulary.from_file_bytes(text.encode())
    if tokenizers is None:
        return vocabulary, None
    tokenizer = tokenizers.Tokenizer.from_str(_without_prefix(text))
    # The name of a special token is ordinary text.
    tokenizer.encode_special_tokens = True
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def cut(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    return vocabulary, cut


def _module(name: str) -> Any:
    """A module that need not be installed, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _without_prefix(text: str) -> str:
    """The tokenizer without the space that it puts before a text."""
    read = json.loads(text)
    for part, list_name in (("normalizer", "normalizers"), ("pre_tokenizer", "pretokenizers")):
        step = read.get(part)
        for inner in [step, *(step or {}).get(list_name, [])]:
            kind = (inner or {}).get("type")
            if kind == "Prepend":
                inner.clear()
                inner.update({"type": "Sequence", "normalizers": []})
            elif kind == "Metaspace":
                inner["prepend_scheme"] = "never"
                inner.pop("add_prefix_space", None)
            elif kind == "ByteLevel":
                inner["add_prefix_space"] = False
    return json.dumps(read)
