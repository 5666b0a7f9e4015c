"""Grammars, of texts and of Python's types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from . import _native, _types
from ._native import Constraint, Limits, Vocabulary

Form = Literal["json", "call"]
ToolForm = Literal[
    "hermes", "llama3", "python", "mistral", "deepseek", "kimi", "glm", "harmony"
]


class Grammar(_native.Grammar):
    """The text of a grammar, with all that is needed to read it.

    It is read when a `Constraint` is built of it, or by `check`; until then it costs nothing, so
    that a `ConstraintCache` finds a known one at once.
    """

    @classmethod
    def from_lark(
        cls, text: str, *, start: str | None = None, files: Mapping[str, str] | None = None
    ) -> Grammar:
        """A grammar in Lark's notation, or in llguidance's dialect of it.

        `files` are the files that it may import, by path.
        """
        return Grammar("lark", [text], start, dict(files or {}))

    @classmethod
    def from_gbnf(cls, text: str, *, start: str | None = None) -> Grammar:
        """A grammar in llama.cpp's GBNF, or in XGrammar's EBNF."""
        return Grammar("gbnf", [text], start)

    @classmethod
    def from_yacc(cls, grammar: str, terminals: str, *, start: str | None = None) -> Grammar:
        """A Yacc file, and its terminals in Lark's notation."""
        return Grammar("yacc", [grammar, terminals], start)

    @classmethod
    def from_regex(cls, pattern: str) -> Grammar:
        """The texts that a regex matches as a whole."""
        return Grammar("regex", [pattern])

    @classmethod
    def from_choices(cls, texts: Iterable[str]) -> Grammar:
        """Exactly these texts."""
        return Grammar("choices", list(texts))

    @classmethod
    def from_structural_tags(cls, tags: str | Mapping[str, Any], **options: Any) -> Grammar:
        """Free text with tool calls in it: the JSON of vLLM and XGrammar, old or new.

        The options are those of `JsonSchema`.
        """
        text = tags if isinstance(tags, str) else json.dumps(tags)
        return Grammar("structural_tags", [text], None, None, options)

    @classmethod
    def from_tools(
        cls,
        tools: Mapping[str, Any],
        *,
        form: ToolForm = "hermes",
        calls: Literal["any", "none", "at_most_one", "at_least_one", "one"] = "any",
        **options: Any,
    ) -> Grammar:
        """Text with calls of tools, as a family of models writes them.

        `tools` are the JSON schemas of the arguments, or types, by the tools' names. The options
        are those of `JsonSchema`.
        """
        texts: list[str] = [form, calls]
        for name, parameters in tools.items():
            texts += [name, JsonSchema(parameters).text]
        return Grammar("tools", texts, None, None, options)

    @classmethod
    def from_type(cls, of: Any, *, form: Form = "json") -> Grammar:
        """The values of a type: as JSON, or as constructor calls in Python's syntax."""
        if form == "json":
            return JsonSchema(of)
        if form == "call":
            return _Calls(of)
        raise ValueError(f"form is {form!r}; it may be 'json' or 'call'")

    @classmethod
    def builtin(cls, name: str, *, start: str | None = None) -> Grammar:
        """`json`, `sqlite` or `python`, which come with the package."""
        return Grammar("builtin", [name], start)

    def parse(self, text: str) -> Any:
        """Returns the value of a text, for a grammar of a type or a schema."""
        raise TypeError("this grammar is of no type: use JsonSchema or Grammar.from_type")


class JsonSchema(Grammar):
    """A JSON schema: as a dictionary or a text, or that of a type.

    Types are pydantic models, dataclasses, TypedDicts, NamedTuples, enums, and what `typing`
    makes of them. The options are those of the library's `SchemaOptions`.
    """

    _shape: _types.Shape | None

    def __new__(
        cls,
        schema: Any,
        *,
        order: Literal["declared", "any"] | None = None,
        whitespace: Literal["any", "none"] | None = None,
        whitespace_pattern: str | None = None,
        item_separator: str | None = None,
        item_separator_pattern: str | None = None,
        key_separator: str | None = None,
        key_separator_pattern: str | None = None,
        formats: Literal["known", "strict", "ignore"] | None = None,
        escapes: Literal["needed", "free", "general"] | None = None,
        escape_letters: str | None = None,
        numerals: Literal["plain", "any"] | None = None,
        unsatisfiable: Literal["refuse", "empty"] | None = None,
        nullable: bool | None = None,
        default_max_length: int | None = None,
        default_max_items: int | None = None,
        default_max_digits: int | None = None,
        definition: str | None = None,
        documents: dict[str, str] | None = None,
    ) -> JsonSchema:
        given = dict(locals())
        options = {
            name: value
            for name, value in given.items()
            if name not in ("cls", "schema", "__class__") and value is not None
        }
        shape = None
        if isinstance(schema, str):
            text = schema
        elif isinstance(schema, bool | Mapping):
            text = json.dumps(schema)
        else:
            shape = _types.shape_of(schema)
            text = json.dumps(_types.schema_of(shape))
        grammar = super().__new__(cls, "json_schema", [text], None, None, options)
        grammar._shape = shape
        grammar._given = (schema, options)
        return grammar

    def __init__(self, schema: Any, **options: Any) -> None:
        pass

    _given: tuple[Any, dict[str, Any]]

    def __reduce__(self) -> Any:
        return _schema_again, self._given

    def parse(self, text: str) -> Any:
        """Returns the value of a text: an instance of the type, if the schema is one's."""
        if self._shape is None:
            return json.loads(text)
        return _types.parse_json(self._shape, text)


def _schema_again(schema: Any, options: dict[str, Any]) -> JsonSchema:
    return JsonSchema(schema, **options)


class _Calls(Grammar):
    """The constructor calls of a type (Koo et al. 2024, section 5.2)."""

    _shape: _types.Shape
    _of: Any

    def __new__(cls, of: Any) -> _Calls:
        shape = _types.shape_of(of)
        grammar = super().__new__(cls, "lark", [_types.lark_of(shape)])
        grammar._shape = shape
        grammar._of = of
        return grammar

    def __init__(self, of: Any) -> None:
        pass

    def __reduce__(self) -> Any:
        return _Calls, (self._of,)

    def parse(self, text: str) -> Any:
        return _types.parse_call(self._shape, text)


def constraint_from_type(
    of: Any, vocabulary: Vocabulary, form: Form, limits: Limits | None
) -> Constraint:
    """See `Constraint.from_type`."""
    return Constraint(Grammar.from_type(of, form=form), vocabulary, limits=limits)


def load_with_grammar(saved: bytes, vocabulary: Vocabulary, grammar: Any) -> Constraint:
    """Of a pickled constraint."""
    return Constraint.load(saved, vocabulary, grammar=grammar)
