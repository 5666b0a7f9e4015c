"""Grammars of several notations, as texts that `LLMatcher` reads."""

from __future__ import annotations

import json
from typing import Literal

from ._lib import LLMatcher

GrammarFormat = Literal[
    "lark",
    "gbnf",
    "ebnf",
    "cfg",
    "grammar",
    "json_schema",
    "json",
    "regex",
    "choice",
    "llguidance",
]


def grammar_from(format: GrammarFormat, text: str) -> str:
    """The grammar of a text in a notation. For any JSON object: `{"type": "object"}`."""
    if format == "lark":
        return LLMatcher.grammar_from_lark(text)
    if format in ("gbnf", "ebnf", "cfg", "grammar"):
        if "::=" not in text:
            return LLMatcher.grammar_from_lark(text)
        return json.dumps({"grammars": [{"gbnf_grammar": text}]})
    if format in ("json_schema", "json"):
        return LLMatcher.grammar_from_json_schema(text)
    if format == "regex":
        return LLMatcher.grammar_from_regex(text)
    if format == "choice":
        choices = json.loads(text) if isinstance(text, str) else text
        return LLMatcher.grammar_from_lark("start: " + " | ".join(map(json.dumps, choices)))
    if format == "llguidance":
        return text
    raise ValueError(f"Unknown grammar type: {format}")
