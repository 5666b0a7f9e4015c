"""Keeps a language model's output inside a grammar.

    >>> import lrmask
    >>> vocabulary = lrmask.Vocabulary.from_tokens(["[", "]", ",", "1", ""], stop_tokens=[4])
    >>> grammar = lrmask.Grammar.from_lark('start: "[" /[0-9]+/ ("," /[0-9]+/)* "]"')
    >>> matcher = lrmask.Constraint(grammar, vocabulary).matcher()
    >>> matcher.allowed_tokens()
    [0]
    >>> matcher.advance(0)
    >>> matcher.allowed_tokens()
    [3]

The page docs/python.md has recipes. The modules `transformers`, `llama_cpp`, `outlines`, `mlx` and
`vllm` put constraints into those programs.
"""

from ._errors import (
    AdvanceError,
    GrammarError,
    LimitError,
    LoadError,
    LrmaskError,
    SchemaError,
    VocabularyError,
)
from ._grammar import Grammar, JsonSchema
from ._native import (
    Cancel,
    Capture,
    Constraint,
    ConstraintCache,
    Diagnostic,
    Explanation,
    Limits,
    MaskInfo,
    Matcher,
    Place,
    Speculator,
    TracedToken,
    Vocabulary,
    __version__,
    apply_mask,
    fill_masks,
)
from ._rows import new_mask

__all__ = [
    "AdvanceError",
    "Cancel",
    "Capture",
    "Constraint",
    "ConstraintCache",
    "Diagnostic",
    "Explanation",
    "Grammar",
    "GrammarError",
    "JsonSchema",
    "LimitError",
    "Limits",
    "LoadError",
    "LrmaskError",
    "MaskInfo",
    "Matcher",
    "Place",
    "SchemaError",
    "Speculator",
    "TracedToken",
    "Vocabulary",
    "VocabularyError",
    "__version__",
    "apply_mask",
    "fill_masks",
    "new_mask",
]
