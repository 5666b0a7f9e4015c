"""The exceptions. The native module creates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Diagnostic


class LrmaskError(Exception):
    """Anything that this package refuses."""


class GrammarError(LrmaskError, ValueError):
    """A grammar that is rejected. `str` is the finding as one text."""

    def __init__(
        self,
        message: str,
        *,
        rendered: str = "",
        diagnostics: list[Diagnostic] | None = None,
        kind: str = "grammar",
    ) -> None:
        super().__init__(message)
        #: The findings with the lines of the grammar that they are about.
        self.rendered = rendered or message
        #: The findings, errors and warnings.
        self.diagnostics = diagnostics or []
        #: `grammar`, `limit` or `import`; for schemas the code of the finding.
        self.kind = kind


class SchemaError(GrammarError):
    """A JSON schema, or structural tags, that are rejected."""

    def __init__(
        self,
        message: str,
        *,
        rendered: str = "",
        diagnostics: list[Diagnostic] | None = None,
        kind: str = "schema-invalid",
        pointer: str = "",
    ) -> None:
        super().__init__(message, rendered=rendered, diagnostics=diagnostics, kind=kind)
        #: JSON pointer to the part of the schema.
        self.pointer = pointer


class LimitError(GrammarError):
    """A limit of building was reached, or the build was cancelled."""

    def __init__(
        self,
        message: str,
        *,
        rendered: str = "",
        diagnostics: list[Diagnostic] | None = None,
        kind: str = "limit",
        pointer: str = "",
        limit: str = "",
        phase: str = "",
        most: str | None = None,
    ) -> None:
        super().__init__(message, rendered=rendered, diagnostics=diagnostics, kind=kind)
        #: JSON pointer to the part of the schema, if it is one.
        self.pointer = pointer
        #: Which limit: `steps`, `bytes`, `input`, `terminalstates`, `scanstates`, `cancelled`.
        self.limit = limit
        #: What was being done.
        self.phase = phase
        #: The rule or terminal that took most.
        self.most = most


class LoadError(LrmaskError, ValueError):
    """Saved bytes that are damaged, of a later version, or of another vocabulary."""


class VocabularyError(LrmaskError, ValueError):
    """A tokenizer that cannot be read."""

    def __init__(self, message: str, *, kind: str = "file") -> None:
        super().__init__(message)
        #: `file`, `argument`, `name` or `limit`.
        self.kind = kind


class AdvanceError(LrmaskError, ValueError):
    """A token or text that the grammar does not allow here. The matcher is unchanged."""

    def __init__(
        self,
        message: str,
        *,
        kind: str = "grammar",
        token: int | None = None,
        accepted_bytes: int = 0,
    ) -> None:
        super().__init__(message)
        #: `grammar`, `repeated-item`, `incomplete`, `finished`, `width`, `no-text`, `lookahead`,
        #: `budget`, `canonical` or `limit`.
        self.kind = kind
        #: The token, unless bytes were refused.
        self.token = token
        #: How many of its bytes could follow.
        self.accepted_bytes = accepted_bytes
