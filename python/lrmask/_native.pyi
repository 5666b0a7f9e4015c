from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self, final

from typing_extensions import disjoint_base


__all__ = [
    "Cancel",
    "Capture",
    "Constraint",
    "ConstraintCache",
    "Diagnostic",
    "Explanation",
    "Grammar",
    "Limits",
    "MaskInfo",
    "Matcher",
    "Place",
    "Speculator",
    "TracedToken",
    "Vocabulary",
    "__version__",
    "apply_mask",
    "fill_masks",
    "run",
]

__version__: str

def run(arguments: Sequence[str]) -> int:
    """Runs the command line, and returns the exit status."""

def fill_masks(
    matchers: Sequence[Matcher | None],
    mask: Any,
    *,
    rows: Sequence[int] | None = None,
    threads: int = 1,
) -> None:
    """Fills a row of `mask` for each matcher: row `rows[i]` for matcher `i`, else row `i`.

    Other rows are left unchanged. A row without a matcher (`None`) becomes all ones. `threads`
    other than one pays off where masks are new: known ones take less time than starting a thread.
    """

def apply_mask(logits: Any, mask: Any, *, rows: Sequence[int] | None = None) -> None:
    """Sets the logits that a mask rejects to negative infinity, in place.

    `logits` are floats of 16, 32 or 64 bits (`bfloat16` too) in a NumPy array or a torch tensor,
    one row or several; `mask` has as many rows. With `rows`, only those. Logits past the mask's
    width are rejected. A tensor on another device is masked there.
    """

@final
class Cancel:
    """Stops building from another thread: give it to `Limits(cancel=...)`."""

    def __new__(cls) -> Cancel: ...
    def stop(self) -> None: ...
    @property
    def is_stopped(self) -> bool: ...

@final
class Limits:
    """Bounds on everything that can grow with an input.

    `Limits()` is for one's own grammars, `Limits.strict()` for those of strangers. The fields are
    those of the library's `Limits`, such as `build_steps` and `mask_steps`, and `cancel`.
    """

    def __new__(cls, **fields: int | Cancel | None) -> Limits: ...
    @staticmethod
    def strict(**fields: int | Cancel | None) -> Limits: ...
    def replace(self, **fields: int | Cancel | None) -> Limits: ...
    def __getattr__(self, name: str) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...

@final
class Place:
    """A place in a grammar: bytes from the beginning of a file, line and column from 1."""

    @property
    def source(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...

@final
class Diagnostic:
    """A finding about a grammar: what, where, an example, and what to write instead."""

    @property
    def severity(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def place(self) -> Place | None: ...
    @property
    def related(self) -> list[tuple[Place, str]]: ...
    @property
    def example(self) -> str | None: ...
    @property
    def help(self) -> str | None: ...
    @property
    def text(self) -> str: ...

@final
class Vocabulary:
    """The tokens of a model: their bytes, special tokens, stop tokens, and the width of the logits."""

    @staticmethod
    def from_file(
        path: str | PathLike[str],
        *,
        stop_tokens: Sequence[int] | None = None,
        width: int | None = None,
        limits: Limits | None = None,
    ) -> Vocabulary:
        """Reads a tokenizer's file: `tokenizer.json`, SentencePiece's `.model`, tiktoken's,
        `tekken.json`, `vocab.json`, a GGUF model or a list of tokens."""
    @staticmethod
    def from_gguf(
        path: str | PathLike[str],
        *,
        stop_tokens: Sequence[int] | None = None,
        width: int | None = None,
        limits: Limits | None = None,
    ) -> Vocabulary:
        """Reads the vocabulary of a GGUF model; its tensors are not read."""
    @staticmethod
    def from_file_bytes(
        file: bytes,
        *,
        stop_tokens: Sequence[int] | None = None,
        width: int | None = None,
        limits: Limits | None = None,
    ) -> Vocabulary: ...
    @staticmethod
    def from_tokens(
        tokens: Iterable[bytes | str | None],
        *,
        special_tokens: Mapping[int, str] | None = None,
        stop_tokens: Sequence[int] | None = None,
        width: int | None = None,
        leading_space: bool | None = None,
        limits: Limits | None = None,
    ) -> Vocabulary:
        """Makes a vocabulary of the bytes of tokens, whose ids are their positions."""
    @staticmethod
    def from_hf(
        tokenizer: Any, *, stop_tokens: Iterable[int] | None = None, width: int | None = None
    ) -> Vocabulary:
        """Reads a tokenizer of transformers, or of tokenizers.

        `width` is the width of the model's logits (`model.config.vocab_size`) where that is more
        than the tokenizer has.
        """
    @staticmethod
    def from_tiktoken(
        encoding: Any, *, stop_tokens: Iterable[int] | None = None, width: int | None = None
    ) -> Vocabulary:
        """Reads a `tiktoken.Encoding`."""
    @staticmethod
    def builtin(name: str) -> Vocabulary:
        """`bytes`: a token for each byte. A package built with the feature `tiktoken` has `gpt2`,
        `cl100k` and `o200k` too."""
    def replace(
        self,
        *,
        special_tokens: Mapping[int, str] | None = None,
        stop_tokens: Sequence[int] | None = None,
        width: int | None = None,
    ) -> Vocabulary:
        """The vocabulary with more special tokens, other stop tokens or another width."""
    def with_merges(self, merges: Iterable[tuple[bytes | str, bytes | str]]) -> Vocabulary:
        """The vocabulary with the merges of its byte-pair encoding, in their order, for
        `Constraint.with_canonical_tokens`. Readers of files that have them find them. Pickling does
        not keep them."""
    def with_split_pattern(self, pattern: str) -> Vocabulary:
        """The vocabulary with the regex that splits texts before they are merged. `from_tiktoken`
        sets it."""
    @property
    def width(self) -> int: ...
    @property
    def stop_tokens(self) -> list[int]: ...
    @property
    def special_tokens(self) -> dict[int, str]: ...
    @property
    def has_leading_space(self) -> bool: ...
    @property
    def fingerprint(self) -> int: ...
    def token_bytes(self, id: int) -> bytes | None:
        """The bytes of a token; `None` for a special token or an id without one."""
    def token(self, bytes: bytes) -> int | None:
        """The token that has these bytes."""
    def has_longer(self, bytes: bytes) -> bool:
        """Whether a token is longer than these bytes and begins with them."""
    def take_back(self, prompt: Sequence[int], *, tokens: int | None = None) -> tuple[int, bytes]:
        """How many tokens of a prompt stay, and the bytes of the others, for `Matcher.heal`. Takes
        back the last word, or this many tokens."""
    def decode(self, tokens: Sequence[int]) -> bytes:
        """Bytes of a sequence of tokens; special tokens have none."""
    def cut_longest(self, text: bytes) -> list[int] | None:
        """The longest tokens that spell a text, which is not how a tokenizer cuts it."""
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class Grammar:
    """The base of `lrmask.Grammar`."""

    def __new__(
        cls,
        kind: str,
        texts: Sequence[str],
        start: str | None = None,
        files: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Self: ...
    def __getnewargs__(self) -> tuple[Any, ...]: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    def check(self, limits: Limits | None = None) -> list[Diagnostic]:
        """Reads and compiles the grammar without a vocabulary. Returns its warnings."""
    def accepts(self, text: bytes, limits: Limits | None = None) -> bool:
        """Whether a text is a sentence of the grammar."""

@final
class Constraint:
    """A grammar and a vocabulary, ready to constrain any number of sequences in any number of
    threads. What is computed for one sequence is known to all."""

    def __new__(
        cls,
        grammar: Grammar,
        vocabulary: Vocabulary,
        *,
        limits: Limits | None = None,
        for_models: bool = False,
    ) -> Constraint:
        """`for_models` keeps a model from writing for ever: no comments, and bounds for blanks,
        strings, lists and numbers where the grammar has none."""
    @staticmethod
    def from_type(
        of: Any,
        vocabulary: Vocabulary,
        *,
        form: Literal["json", "call"] = "json",
        limits: Limits | None = None,
    ) -> Constraint:
        """A constraint to the values of a type: as JSON, or as constructor calls of Python.
        `parse` returns an instance."""
    @staticmethod
    def load(
        saved: bytes,
        vocabulary: Vocabulary,
        *,
        grammar: Any | None = None,
        limits: Limits | None = None,
    ) -> Constraint:
        """The constraint that `save` wrote; with its grammar, it can `parse` again."""
    def with_canonical_tokens(self) -> Constraint:
        """The constraint with masks that allow only the tokens that the model's tokenizer makes of
        the text. A `ValueError` says why they are not known. Not pickled, and not saved."""
    def with_lookahead(self, terminals: int) -> Constraint:
        """The constraint with masks that forbid tokens within which more lexemes end than this, as
        other engines have them, for comparisons. Not pickled, and not saved."""
    def save(self, samples: Sequence[Sequence[int]] | None = None) -> bytes:
        """The constraint as bytes. `load` computes the masks along the samples first."""
    def warm(
        self,
        samples: Sequence[Sequence[int]] | None = None,
        *,
        explore: int = 0,
        threads: int = 1,
        progress: Callable[[int], object] | None = None,
    ) -> int:
        """Computes masks before they are needed: along samples of tokens, and for `explore`
        states from the beginning on. `progress` gets the number of those done since its last call;
        it may be called from other threads."""
    def trace(
        self,
        tokens: Sequence[int],
        mask: Any,
        *,
        scores: Any | None = None,
        threads: int = 1,
    ) -> list[TracedToken]:
        """Fills row `i` with the mask before token `i`. With `scores`, the model's logits at each
        position (rows of `float32`), tells how much of its probability each mask removes."""
    def matcher(self, stop_tokens: Sequence[int] | None = None) -> Matcher:
        """A matcher at the beginning of a text; with its own stop tokens, if given."""
    def parse(self, text: str) -> Any:
        """The value of a text, for a constraint of a type or a JSON schema."""
    @property
    def grammar(self) -> Any: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
    @property
    def warnings(self) -> list[Diagnostic]: ...
    @property
    def fingerprint(self) -> int: ...
    @property
    def undecided(self) -> int: ...
    @property
    def is_outgrown(self) -> bool: ...
    @property
    def nbytes(self) -> int: ...

@final
class ConstraintCache:
    """A cache of constraints within a number of bytes, shared by all threads of a server.

    Refusals are kept too. If several threads ask for one constraint, one builds it.
    """

    def __new__(cls, nbytes: int = 268435456) -> ConstraintCache: ...
    def get_or_build(
        self, grammar: Grammar, vocabulary: Vocabulary, *, limits: Limits | None = None
    ) -> Constraint: ...
    def shrink(self) -> None: ...
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...

@final
class MaskInfo:
    @property
    def is_exact(self) -> bool:
        """Whether no limit was reached; a mask may be too narrow otherwise, never too wide."""
    @property
    def is_full(self) -> bool:
        """Whether all tokens may come next, so that the mask need not be applied."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class Capture:
    """A part of the text that a rule with the attribute `capture` derived."""

    @property
    def name(self) -> str: ...
    @property
    def bytes(self) -> bytes: ...
    @property
    def text(self) -> str: ...
    @property
    def span(self) -> tuple[int, int]: ...

@final
class Explanation:
    """Why a token or a text may not follow."""

    @property
    def kind(self) -> str: ...
    @property
    def offset(self) -> int:
        """The first byte that no sentence has there."""
    @property
    def expected(self) -> list[str]: ...
    @property
    def lexeme(self) -> tuple[int, list[str]] | None:
        """Where the lexeme in progress begins, counted from the token, and what may begin there."""
    @property
    def text(self) -> str: ...

@final
class TracedToken:
    """A token of a sequence, and the mask before it."""

    @property
    def token(self) -> int: ...
    @property
    def is_allowed(self) -> bool: ...
    @property
    def allowed(self) -> int:
        """How many tokens the mask allows."""
    @property
    def is_forced(self) -> bool: ...
    @property
    def removed(self) -> float | None:
        """The probability of tokens outside the mask, if there are scores."""

@final
class Speculator:
    """Drafts without a model: counts which tokens follow which states, and proposes them."""

    def __new__(cls, constraint: Constraint, *, capacity: int | None = None) -> Speculator: ...
    @staticmethod
    def load(saved: bytes, constraint: Constraint) -> Speculator: ...
    def save(self) -> bytes: ...
    def observe(self, tokens: Sequence[int]) -> int:
        """Learns from a sequence; returns how many of its tokens were allowed."""
    def propose(
        self,
        matcher: Matcher,
        last: int | None = None,
        *,
        most: int = 8,
        probability: float = 0.5,
    ) -> list[int]:
        """The tokens that probably follow the matcher's text, whose last token was `last`."""
    @property
    def contexts(self) -> int: ...
    @property
    def capacity(self) -> int: ...

@final
class Matcher:
    """The state of one sequence.

    Masks are rows of 32-bit integers: bit `t % 32` of word `t // 32` is token `t`. An array for
    them is NumPy's, or anything with the buffer protocol, or a torch tensor of `int32` in the
    processor's memory.
    """

    def fill_mask(self, mask: Any, row: int = 0) -> MaskInfo:
        """Fills a row with the tokens that may come next; words past the vocabulary are cleared."""
    def fill_mask_at(self, address: int, words: int) -> MaskInfo:
        """Fills the words at an address, which must be writable for so many."""
    def fill_draft_masks(
        self,
        drafts: Sequence[int],
        mask: Any,
        row: int = 0,
        *,
        parents: Sequence[int | None] | None = None,
    ) -> list[bool]:
        """Fills row `row` with the mask of the text so far, and row `row + 1 + i` with the mask
        after draft `i`. Drafts follow one another, or `parents[i]`, an earlier draft (`None`: the
        text so far). Returns for each draft whether it is allowed; rows of others are unchanged.
        """
    def allowed_tokens(self) -> list[int]:
        """The tokens that may come next."""
    def allows(self, token: int) -> bool: ...
    def advance(self, token: int) -> None:
        """Takes a token. An `AdvanceError` leaves the matcher unchanged."""
    def try_advance(self, token: int) -> bool:
        """Takes a token if it is allowed, and returns whether it was."""
    def advance_bytes(self, text: str | bytes) -> None:
        """Takes a text as one step."""
    def explain(self, token: int) -> Explanation | None:
        """Why a token may not follow; `None` if it may."""
    def explain_bytes(self, text: str | bytes) -> Explanation | None:
        """Why a text may not follow; `None` if it may."""
    def state_key(self) -> int:
        """A key of the state of the text, for statistics: equal states have equal keys."""
    def retokenize(
        self, text: str | bytes, scores: Callable[[list[int]], Any]
    ) -> list[int] | None:
        """The tokens that the model prefers for a text. `scores` gets the tokens chosen so far, and
        returns the logits after them, an array of `float32`."""
    def set_budget(self, tokens: int) -> None:
        """Limits the rest of the text to this many tokens, not counting the stop token: masks allow
        only what can still be ended in time. A `ValueError` says how many it needs."""
    def clear_budget(self) -> None: ...
    @property
    def budget(self) -> int | None: ...
    def heal(self, text: str | bytes) -> None:
        """Demands that the end of the prompt, which was taken back, is written first."""
    def follow_prompt(self, tokens: Sequence[int]) -> bool:
        """Tells the tokens of the prompt, on which the first canonical tokens depend. False, without
        effect, if the text would change them: take some back."""
    @property
    def unwritten(self) -> bytes:
        """The bytes of `heal` that are not written yet."""
    def validate(self, tokens: Sequence[int]) -> int:
        """How many of these tokens could be taken in order."""
    def rollback(self, steps: int = 1) -> int:
        """Undoes steps; returns how many."""
    def reset(self) -> None: ...
    def fork(self) -> Matcher:
        """A matcher in the same state, which goes its own way. Costs next to nothing."""
    def __copy__(self) -> Matcher: ...
    def __deepcopy__(self, _memo: Any) -> Matcher: ...
    def forced_bytes(self) -> bytes:
        """The bytes that must come next."""
    def forced_tokens(self, tokenize: Callable[[bytes], Sequence[int]] | None = None) -> list[int]:
        """The tokens that must come next, as `tokenize` cuts the forced bytes; without it, the
        longest tokens."""
    def captures(self) -> list[Capture]: ...
    def temperature(self) -> float | None: ...
    def remaining_tokens(self) -> int | None: ...
    def shortest_completion(self) -> bytes | None:
        """A short text that completes the sentence."""
    def expected(self) -> list[str]:
        """The terminals that may come next, as the grammar calls them."""
    def can_continue(self) -> bool:
        """Whether anything but the end may follow."""
    @property
    def is_accepting(self) -> bool:
        """Whether the text so far is a sentence."""
    @property
    def is_finished(self) -> bool:
        """Whether a stop token was taken."""
    @property
    def steps(self) -> int: ...
    @property
    def dropped_readings(self) -> int: ...
    @property
    def stop_tokens(self) -> list[int]: ...
    @property
    def vocabulary(self) -> Vocabulary: ...
