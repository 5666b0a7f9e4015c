"""What all hosts that ask for logits have in common: from the ids so far to masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ._native import Constraint, Matcher, fill_masks
from ._rows import new_mask


class Follower:
    """Follows the rows of a generation by their ids.

    Rows may be exchanged (beams), go back (drafts that were refused) and end. A row is known by the
    ids that were generated so far, so none of this has to be told.
    """

    def __init__(
        self,
        constraints: Constraint | Sequence[Constraint | None],
        *,
        stop_tokens: Iterable[int] | None = None,
        threads: int = 1,
    ) -> None:
        #: One for all rows, or one for each prompt.
        self.constraints: list[Constraint | None]
        self.constraints = [constraints] if isinstance(constraints, Constraint) else [*constraints]
        if not self.constraints:
            raise ValueError("give a constraint, or one for each prompt")
        self.stop_tokens = None if stop_tokens is None else list(stop_tokens)
        self.threads = threads
        self.reset()

    def reset(self) -> None:
        """Begins a new generation at the next call."""
        self._prompt: Any = None
        #: Matchers by prompt and generated ids; `None` for a row that holds a refused token.
        self._known: dict[tuple[int, bytes], Matcher | None] = {}
        self._mask: Any = None

    @property
    def width(self) -> int:
        """The width of the widest mask."""
        return max((c.vocabulary.width for c in self.constraints if c is not None), default=0)

    def matchers(self, ids: Any) -> list[Matcher | None]:
        """The matchers of rows of ids, a NumPy array; the first call has the prompts.

        `None` stands for a row that is not constrained.
        """
        import numpy

        ids = numpy.ascontiguousarray(ids, dtype=numpy.int64)
        length = 0 if self._prompt is None else self._prompt.shape[1]
        if not self._goes_on(ids):
            self.reset()
            self._prompt, length = ids, ids.shape[1]
        count = len(self.constraints)
        if len(ids) % count:
            raise ValueError(f"{len(ids)} rows cannot be those of {count} constraints")
        found: list[Matcher | None] = []
        known = {}
        for row, generated in enumerate(ids[:, length:]):
            prompt = row * count // len(ids)
            constraint = self.constraints[prompt]
            if constraint is None:
                found.append(None)
                continue
            key = (prompt, generated.tobytes())
            if key not in known:
                known[key] = self._follow(constraint, key)
            # A row that holds a refused token ends: see `masks`.
            found.append(known[key] or self._ended(constraint))
        # Drafts that were refused go back by some steps; all before are on the way of the present.
        self._known = {
            key: matcher
            for key, matcher in {**self._known, **known}.items()
            if len(key[1]) > 8 * (ids.shape[1] - length - 64)
        }
        return found

    def masks(self, ids: Any) -> Any:
        """The masks of rows of ids: a NumPy array of 32-bit words, which the next call reuses."""
        matchers = self.matchers(ids)
        if self._mask is None or len(self._mask) != len(matchers):
            self._mask = new_mask(len(matchers), self.width)
        fill_masks(matchers, self._mask, threads=self.threads)
        return self._mask

    def _goes_on(self, ids: Any) -> bool:
        """Whether these are rows of the generation that was begun."""
        prompt = self._prompt
        if prompt is None or ids.shape[1] <= prompt.shape[1]:
            return False
        if len(ids) == len(prompt):
            # Beams of one prompt are exchanged among themselves, and begin alike.
            return bool((ids[:, : prompt.shape[1]] == prompt).all())
        return False

    def _begin(self, constraint: Constraint) -> Matcher:
        return constraint.matcher(self.stop_tokens)

    def _follow(self, constraint: Constraint, key: tuple[int, bytes]) -> Matcher | None:
        prompt, ids = key
        if key in self._known:
            return self._known[key]
        # From the longest part that is known.
        end = len(ids) - 8
        while end > 0 and (prompt, ids[:end]) not in self._known:
            end -= 8
        known = self._known.get((prompt, ids[:end])) if end > 0 else self._begin(constraint)
        if known is None:
            return None
        matcher = known.fork()
        for start in range(max(end, 0), len(ids), 8):
            token = int.from_bytes(ids[start : start + 8], "little", signed=True)
            if token < 0 or not matcher.try_advance(token):
                return None
        return matcher

    def _ended(self, constraint: Constraint) -> Matcher:
        """A matcher that allows stop tokens only.

        A beam that holds a refused token has no finite score; padding follows a stop token. So
        neither is looked at, but a row without any finite logit would make samplers fail.
        """
        ended = getattr(self, "_end", None)
        if ended is None or ended[0] is not constraint:
            from ._grammar import Grammar

            empty = Constraint(Grammar.from_lark('start: ""'), constraint.vocabulary)
            ended = self._end = (constraint, empty.matcher(self.stop_tokens))
        matcher: Matcher = ended[1]
        return matcher


class SequenceProcessor:
    """What processors of hosts with one sequence have in common.

    The text begins after the prompt, which is the argument of the first call.
    """

    def __init__(self, constraint: Constraint) -> None:
        self.follower = Follower(constraint)

    def reset(self) -> None:
        """Begins a new generation, where the new prompt continues the old text."""
        self.follower.reset()


def allowed(mask: Any, width: int) -> Any:
    """The bits of masks as a NumPy array of booleans, `width` for each row."""
    import numpy

    bits = numpy.unpackbits(mask.view(numpy.uint8), axis=-1, bitorder="little")
    if bits.shape[-1] < width:
        pad = [(0, 0)] * (bits.ndim - 1) + [(0, width - bits.shape[-1])]
        bits = numpy.pad(bits, pad)
    return bits[..., :width].astype(bool)
