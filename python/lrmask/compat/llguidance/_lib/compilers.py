"""Grammars as texts, and limits."""

from __future__ import annotations

import json
import re
from typing import Any

import lrmask
from lrmask._native import Limits

#: Fuel of llguidance in our steps of building.
_STEPS_OF_FUEL = 60


class LLParserLimits:
    """Limits, by llguidance's names. Those of building count; ours hold as well."""

    def __init__(
        self,
        max_items_in_row: int | None = None,
        initial_lexer_fuel: int | None = None,
        step_lexer_fuel: int | None = None,
        step_max_items: int | None = None,
        max_lexer_states: int | None = None,
        max_grammar_size: int | None = None,
        precompute_large_lexemes: bool | None = None,
        verbose_errors: bool | None = None,
    ) -> None:
        def given(value: Any, default: Any) -> Any:
            return default if value is None else value

        self.max_items_in_row: int = given(max_items_in_row, 2000)
        self.initial_lexer_fuel: int = given(initial_lexer_fuel, 1_000_000)
        self.step_lexer_fuel: int = given(step_lexer_fuel, 200_000)
        self.step_max_items: int = given(step_max_items, 50_000)
        self.max_lexer_states: int = given(max_lexer_states, 250_000)
        self.max_grammar_size: int = given(max_grammar_size, 500_000)
        self.precompute_large_lexemes: bool = given(precompute_large_lexemes, True)
        self.verbose_errors: bool = given(verbose_errors, True)


def limits_of(limits: LLParserLimits | None) -> Limits:
    """Our limits: strict ones, and what is asked for below them."""
    strict = Limits.strict()
    if limits is None:
        return strict
    return strict.replace(
        build_steps=min(strict.build_steps, limits.initial_lexer_fuel * _STEPS_OF_FUEL),
        scan_states=min(strict.scan_states, limits.max_lexer_states),
    )


def read(grammar: Any) -> lrmask.Grammar:
    """The grammar of a text that `LLMatcher` takes: Lark, or a list of grammars in JSON.

    Raises `ValueError`.
    """
    if isinstance(grammar, str) and not grammar.lstrip().startswith("{"):
        if not grammar.strip():
            raise ValueError("Empty grammar")
        return lrmask.Grammar.from_lark(_dialect(grammar))
    listed = json.loads(grammar) if isinstance(grammar, str) else grammar
    try:
        grammars: list[dict[str, Any]] = listed["grammars"]
        first = grammars[0]
    except (KeyError, IndexError, TypeError):
        raise ValueError("expecting a grammar in Lark's notation, or {'grammars': [...]}") from None
    if len(grammars) == 1 and first.get("json_schema") is not None:
        schema = first["json_schema"]
        options = schema.get("x-guidance", {}) if isinstance(schema, dict) else {}
        lenient = bool(options.get("lenient"))
        return lrmask.JsonSchema(schema, formats="known" if lenient else "strict")
    if len(grammars) == 1 and first.get("gbnf_grammar") is not None:
        return lrmask.Grammar.from_gbnf(first["gbnf_grammar"])
    texts = {str(part.get("name", number)): _text(part) for number, part in enumerate(grammars)}
    files = {f"{name}.lark": _dialect(text) for name, text in texts.items()}
    return lrmask.Grammar.from_lark(_dialect(_text(first)), files=files)


def _text(part: dict[str, Any]) -> str:
    if part.get("lark_grammar") is not None:
        return str(part["lark_grammar"])
    if part.get("json_schema") is not None:
        return f"start: %json {json.dumps(part['json_schema'])}"
    raise ValueError("a grammar of the list has neither lark_grammar nor json_schema")


def _dialect(text: str) -> str:
    """The text with a mark that it is llguidance's dialect, after all its own lines."""
    return text if "%llguidance" in text else f"{text}\n%llguidance {{}}\n"


def message_of(error: Exception) -> str:
    """The message of an error, with the words by which hosts of llguidance know its kind."""
    if isinstance(error, lrmask.LimitError):
        return f"initial lexer configuration (grammar) too big: {error}"
    if isinstance(error, lrmask.SchemaError) and error.kind == "schema-format":
        return f"Unknown format: {error}"
    if isinstance(error, lrmask.GrammarError):
        codes = [finding.code for finding in error.diagnostics]
        if any(code.startswith("regex") for code in codes):
            return f"invalid regex: {error.rendered}"
        return error.rendered
    return str(error)


def warnings_of(findings: list[lrmask.Diagnostic]) -> list[str]:
    """Warnings, in the same way."""
    names = {"unknown-format": "Unknown format: "}
    return [names.get(finding.code, "") + finding.text for finding in findings]


def regex_to_lark(regex: str, use_ascii: str = "") -> str:
    """The regex for use between the slashes of a terminal, with ASCII's classes if asked for."""
    classes = {
        "d": (r"\d", "0-9"),
        "w": (r"\w", "0-9a-zA-Z_"),
        "s": (r"\s", r" \t\n\r\f\v"),
    }
    ascii: dict[str, tuple[str, str | None]] = {}
    for flag, (name, members) in classes.items():
        if flag in (use_ascii or ""):
            ascii[name] = (f"[{members}]", members)
            ascii[name.upper()] = (f"[^{members}]", None)
    found: list[str] = []
    inside = False
    for part in re.findall(r"\\.|.", regex, re.DOTALL):
        if part in ascii:
            outer, inner = ascii[part]
            found.append((inner or part) if inside else outer)
        elif part == "/":
            found.append(r"\/")
        elif part == "\n":
            found.append(r"\n")
        else:
            inside = part == "[" or (inside and part != "]")
            found.append(part)
    return "".join(found)


def schema_grammar(schema: Any, defaults: Any = None, overrides: Any = None) -> str:
    """A JSON schema with options, as a list of one grammar."""
    schema = json.loads(schema) if isinstance(schema, str) else schema
    if defaults is not None or overrides is not None:
        if not isinstance(schema, dict):
            raise ValueError("Expecting object schema to apply options")

        def options(given: Any) -> dict[str, Any]:
            return dict(json.loads(given) if isinstance(given, str) else given or {})

        merged = {**options(defaults), **schema.get("x-guidance", {}), **options(overrides)}
        schema = {**schema, "x-guidance": merged}
    return json.dumps({"grammars": [{"json_schema": schema}]})


def regex_grammar(regex: str) -> str:
    """A regex, as a list of one grammar."""
    lark = f"%llguidance {{}}\nstart: /{regex_to_lark(regex)}/"
    return json.dumps({"grammars": [{"lark_grammar": lark}]})


def _checked(grammar: str, check: bool) -> str:
    if check:
        try:
            read(grammar).check(limits_of(None))
        except ValueError as error:
            raise ValueError(message_of(error)) from error
    return grammar


class JsonCompiler:
    """A JSON schema as a grammar. Deprecated by llguidance."""

    def __init__(
        self,
        separators: tuple[str, str] | None = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: str | None = None,
        json_allowed_escapes: str | None = None,
        json_allow_general_unicode_escapes: bool = False,
    ) -> None:
        plain = (",", ":") if whitespace_flexible else (", ", ": ")
        item, key = separators or plain
        self.options = {
            "item_separator": item,
            "key_separator": key,
            "whitespace_flexible": whitespace_flexible,
            "coerce_one_of": coerce_one_of,
            "whitespace_pattern": whitespace_pattern,
            "json_allowed_escapes": json_allowed_escapes,
        }
        if json_allow_general_unicode_escapes:
            self.options["json_allow_general_unicode_escapes"] = True

    def compile(self, schema: str, check: bool = True) -> str:
        return _checked(schema_grammar(schema, overrides=self.options), check)


class LarkCompiler:
    """A grammar in Lark's notation. Deprecated by llguidance."""

    def compile(self, lark: str, check: bool = True) -> str:
        return _checked(lark, check)


class RegexCompiler:
    """A regex as a grammar. Deprecated by llguidance."""

    def compile(self, regex: str, check: bool = True) -> str:
        return _checked(regex_grammar(regex), check)


def get_version() -> str:
    return f"llguidance@1.9.1 (lrmask {lrmask.__version__})"
