"""Python types as shapes: what a value consists of, in JSON and as an expression of Python.

A shape has four sides: its JSON schema, its rule in Lark's notation, and how a value is made of
JSON and of Python's syntax tree. Nothing is ever evaluated.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import re
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any


class Mismatch(ValueError):
    """A value that is not of the type."""


class Defs:
    """Named parts that are being written: schemas, or rules."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.parts: dict[str, Any] = {}

    def of(self, shape: Shape, name: str, write: Callable[[], Any]) -> str:
        """The name of the part of `shape`, written at its first use: it may use itself."""
        known = self.names.get(id(shape))
        if known is not None:
            return known
        name = re.sub(r"\W+", "_", name).strip("_") or "part"
        number = 1
        while name in self.parts:
            number += 1
            name = f"{re.sub(r'_[0-9]+$', '', name)}_{number}"
        self.names[id(shape)] = name
        self.parts[name] = None
        self.parts[name] = write()
        return name


class Shape:
    """A type."""

    name = "value"

    def schema(self, defs: Defs) -> dict[str, Any]:
        raise NotImplementedError

    def rule(self, defs: Defs) -> str:
        """A part of the right-hand side of a rule."""
        raise NotImplementedError

    def of_json(self, value: Any) -> Any:
        raise NotImplementedError

    def of_ast(self, node: ast.expr) -> Any:
        raise NotImplementedError


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _constant(node: ast.expr) -> Any:
    """The value of a constant, which may have a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _constant(node.operand)
        if type(value) in (int, float):
            return -value
    elif isinstance(node, ast.Constant):
        return node.value
    raise Mismatch(f"{ast.unparse(node)} is no constant")


#: Strings of Python without prefixes. Escapes are those that JSON has too, and `\'` and `\xhh`.
_CHARACTER = {
    '"': r"""([^"\\\x00-\x1f\x7f]|\\["'\\nrt]|\\x[0-9a-f]{2})""",
    "'": r"""([^'\\\x00-\x1f\x7f]|\\["'\\nrt]|\\x[0-9a-f]{2})""",
}
_INT = r"-?(0|[1-9][0-9]{0,99})"
_FLOAT = _INT + r"(\.[0-9]{1,99})?([eE][-+]?[0-9]{1,3})?"


@dataclasses.dataclass
class Number(Shape):
    """An integer or a floating-point number, within bounds."""

    of: type
    bounds: dict[str, Any] = dataclasses.field(default_factory=dict)

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {"type": "integer" if self.of is int else "number", **self.bounds}

    def rule(self, defs: Defs) -> str:
        if not self.bounds:
            pattern = _INT if self.of is int else _FLOAT
            return defs.of(self, self.of.__name__.upper(), lambda: f"/{pattern}/")
        # Numbers of JSON are numbers of Python.
        part = f"%json {json.dumps(self.schema(defs))}"
        return defs.of(self, "number", lambda: part)

    def of_json(self, value: Any) -> Any:
        if type(value) is int or (type(value) is float and self.of is float):
            return self.of(value)
        raise Mismatch(f"{value!r} is no {self.of.__name__}")

    def of_ast(self, node: ast.expr) -> Any:
        return self.of_json(_constant(node))


@dataclasses.dataclass
class Text(Shape):
    """A string."""

    limits: dict[str, Any] = dataclasses.field(default_factory=dict)

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {"type": "string", **self.limits}

    def rule(self, defs: Defs) -> str:
        if "pattern" in self.limits:
            raise TypeError("a pattern is for form='json' only; leave it out, or use that form")
        least, most = self.limits.get("minLength", 0), self.limits.get("maxLength", "")
        count = f"{{{least},{most}}}" if self.limits else "*"
        quoted = [f"{quote}{letter}{count}{quote}" for quote, letter in _CHARACTER.items()]
        return defs.of(self, "STR", lambda: f"/{'|'.join(quoted)}/")

    def of_json(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        raise Mismatch(f"{value!r} is no string")

    def of_ast(self, node: ast.expr) -> Any:
        return self.of_json(_constant(node))


#: Those without bounds, which have one name in a grammar.
_NUMBERS = {int: Number(int), float: Number(float)}
_TEXT = Text()


@dataclasses.dataclass
class Literal(Shape):
    """One of some constants; enum members among them, by name in Python and by value in JSON."""

    values: list[Any]

    def _json(self, value: Any) -> Any:
        if not isinstance(value, enum.Enum):
            return value
        plain = isinstance(value.value, str | int | float | bool | None)
        return value.value if plain else value.name

    def _python(self, value: Any) -> str:
        if isinstance(value, enum.Enum):
            return f"{type(value).__name__}.{value.name}"
        return repr(value)

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {"enum": [self._json(value) for value in self.values]}

    def rule(self, defs: Defs) -> str:
        texts = [_literal(self._python(value)) for value in self.values]
        return f"({' | '.join(texts)})"

    def of_json(self, value: Any) -> Any:
        for known in self.values:
            plain = self._json(known)
            # In JSON 1 and 1.0 are one number, but true is none.
            if plain == value and (type(plain) is bool) == (type(value) is bool):
                return known
        raise Mismatch(f"{value!r} is none of {self.values}")

    def of_ast(self, node: ast.expr) -> Any:
        text = ast.unparse(node)
        for known in self.values:
            if ast.unparse(ast.parse(self._python(known), mode="eval")) == text:
                return known
        raise Mismatch(f"{text} is none of {self.values}")


@dataclasses.dataclass
class Written(Shape):
    """A type with a textual form: a date is `date.fromisoformat("2026-11-28")`."""

    of: type
    call: str
    pattern: str
    make: Callable[[str], Any]
    format: str | None = None

    def schema(self, defs: Defs) -> dict[str, Any]:
        if self.format is not None:
            return {"type": "string", "format": self.format}
        return {"type": "string", "pattern": f"^({self.pattern})$"}

    def rule(self, defs: Defs) -> str:
        return f'{_literal(self.call)} /\\("({self.pattern})"\\)/'

    def of_json(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise Mismatch(f"{value!r} is no {self.of.__name__}")
        try:
            return self.make(value)
        except (ValueError, ArithmeticError) as error:
            raise Mismatch(f"{value!r} is no {self.of.__name__}: {error}") from error

    def of_ast(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == self.call:
            if len(node.args) == 1 and not node.keywords:
                return self.of_json(_constant(node.args[0]))
        raise Mismatch(f"{ast.unparse(node)} is no {self.of.__name__}")


_DATE = (
    r"[12][0-9]{3}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    r"|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_HEX = "[0-9a-f]"
WRITTEN: dict[type, Written] = {
    # The schemas of dates are patterns too: formats allow leap seconds, which Python has not.
    datetime.date: Written(
        datetime.date, "date.fromisoformat", _DATE, datetime.date.fromisoformat
    ),
    datetime.time: Written(
        datetime.time, "time.fromisoformat", _TIME, datetime.time.fromisoformat
    ),
    datetime.datetime: Written(
        datetime.datetime,
        "datetime.fromisoformat",
        rf"{_DATE}T{_TIME}(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])?",
        datetime.datetime.fromisoformat,
    ),
    uuid.UUID: Written(
        uuid.UUID, "UUID", "-".join(_HEX + f"{{{n}}}" for n in (8, 4, 4, 4, 12)), uuid.UUID
    ),
    decimal.Decimal: Written(
        decimal.Decimal, "Decimal", r"-?(0|[1-9][0-9]{0,27})(\.[0-9]{1,28})?", decimal.Decimal
    ),
    pathlib.Path: Written(pathlib.Path, "Path", r"[^\"\\\x00-\x1f\x7f]+", pathlib.Path),
}


_BRACKETS: dict[Any, str] = {list: "[]", tuple: "()", set: "{}", frozenset: "{}"}


@dataclasses.dataclass
class Sequence(Shape):
    """A list, a set or a tuple of any number of items of one type."""

    of: Any
    item: Shape
    counts: dict[str, Any] = dataclasses.field(default_factory=dict)

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {"type": "array", "items": self.item.schema(defs), **self.counts}

    def rule(self, defs: Defs) -> str:
        def write() -> str:
            item = self.item.rule(defs)
            brackets = _BRACKETS[self.of]
            open, close = brackets[0], brackets[1]
            least = self.counts.get("minItems", 0)
            most = self.counts.get("maxItems")
            more = max(least - 1, 0), "" if most is None else max(most - 1, 0)
            rest = f"(/, ?/ {item})" + (f"~{more[0]}..{more[1]}" if most is not None else "*")
            if most is not None and most <= 1:
                rest = ""
            if most is None and more[0]:
                rest = f"(/, ?/ {item})~{more[0]} {rest}"
            forms = []
            if self.of is tuple:
                # A tuple of one item has a comma after it.
                if least <= 1 and most != 0:
                    forms.append(f'"(" {item} ",)"')
                if most is None or most >= 2:
                    two = f'"(" {item} (/, ?/ {item})'
                    if most is None:
                        forms.append(f'{two}~{max(more[0], 1)} (/, ?/ {item})* ")"')
                    else:
                        forms.append(f'{two}~{max(more[0], 1)}..{more[1]} ")"')
            elif most != 0:
                forms.append(f"{_literal(open)} {item} {rest} {_literal(close)}")
            if least == 0:
                forms.append('"set()"' if open == "{" else f'"{open}{close}"')
            body = " | ".join(forms)
            return f'"frozenset(" ({body}) ")"' if self.of is frozenset else body

        return defs.of(self, "items", write)

    def of_json(self, value: Any) -> Any:
        if not isinstance(value, list):
            raise Mismatch(f"{value!r} is no list")
        return self.of(map(self.item.of_json, value))

    def of_ast(self, node: ast.expr) -> Any:
        if self.of is frozenset and _is_call(node, "frozenset", 1):
            node = typing.cast(ast.Call, node).args[0]
        if self.of in (set, frozenset) and _is_call(node, "set", 0):
            return self.of()
        brackets = {ast.List: "[]", ast.Tuple: "()", ast.Set: "{}"}.get(type(node))
        if isinstance(node, ast.List | ast.Tuple | ast.Set) and brackets == _BRACKETS[self.of]:
            return self.of(map(self.item.of_ast, node.elts))
        raise Mismatch(f"{ast.unparse(node)} is no {self.of.__name__}")


def _is_call(node: ast.expr, name: str, arguments: int) -> bool:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == name
        and len(node.args) == arguments
        and not node.keywords
    )


@dataclasses.dataclass
class Tuple(Shape):
    """A tuple of given items."""

    items: list[Shape]

    def schema(self, defs: Defs) -> dict[str, Any]:
        count = len(self.items)
        items = {"prefixItems": [item.schema(defs) for item in self.items]} if count else {}
        return {"type": "array", **items, "items": False, "minItems": count, "maxItems": count}

    def rule(self, defs: Defs) -> str:
        items = " /, ?/ ".join(item.rule(defs) for item in self.items)
        return f'("(" {items} {_literal(",)" if len(self.items) == 1 else ")")})'

    def of_json(self, value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(self.items):
            raise Mismatch(f"{value!r} is no list of {len(self.items)}")
        return tuple(item.of_json(part) for item, part in zip(self.items, value))

    def of_ast(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Tuple) or len(node.elts) != len(self.items):
            raise Mismatch(f"{ast.unparse(node)} is no tuple of {len(self.items)}")
        return tuple(item.of_ast(part) for item, part in zip(self.items, node.elts))


@dataclasses.dataclass
class Mapping(Shape):
    """A dictionary. Keys of JSON are strings: those of other types are written in them."""

    key: Shape
    item: Shape

    def schema(self, defs: Defs) -> dict[str, Any]:
        item = self.item.schema(defs)
        if isinstance(self.key, Text) and not self.key.limits:
            return {"type": "object", "additionalProperties": item}
        if isinstance(self.key, Text | Literal | Written):
            names = self.key.schema(defs)
            return {"type": "object", "additionalProperties": item, "propertyNames": names}
        if isinstance(self.key, Number) and self.key.of is int and not self.key.bounds:
            pattern = f"^{_INT}$"
            return {
                "type": "object",
                "patternProperties": {pattern: item},
                "additionalProperties": False,
            }
        raise TypeError("the keys of a dictionary may be str, int, Literal or an Enum in JSON")

    def rule(self, defs: Defs) -> str:
        def write() -> str:
            pair = f'{self.key.rule(defs)} /: ?/ {self.item.rule(defs)}'
            return f'"{{" {pair} (/, ?/ {pair})* "}}" | "{{}}"'

        return defs.of(self, "pairs", write)

    def of_json(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise Mismatch(f"{value!r} is no object")
        number = isinstance(self.key, Number)
        return {
            self.key.of_json(int(key) if number else key): self.item.of_json(item)
            for key, item in value.items()
        }

    def of_ast(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Dict):
            raise Mismatch(f"{ast.unparse(node)} is no dictionary")
        pairs = {}
        for key, item in zip(node.keys, node.values):
            if key is None:
                raise Mismatch(f"{ast.unparse(node)} unpacks another dictionary")
            pairs[self.key.of_ast(key)] = self.item.of_ast(item)
        return pairs


@dataclasses.dataclass
class Union(Shape):
    """Any of several types; the first that fits counts."""

    options: list[Shape]

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {"anyOf": [option.schema(defs) for option in self.options]}

    def rule(self, defs: Defs) -> str:
        return f"({' | '.join(option.rule(defs) for option in self.options)})"

    def _first(self, read: Callable[[Shape], Any]) -> Any:
        errors = []
        for option in self.options:
            try:
                return read(option)
            except Mismatch as error:
                errors.append(str(error))
        raise Mismatch("; ".join(errors))

    def of_json(self, value: Any) -> Any:
        return self._first(lambda option: option.of_json(value))

    def of_ast(self, node: ast.expr) -> Any:
        return self._first(lambda option: option.of_ast(node))


@dataclasses.dataclass
class Anything(Shape):
    """Any JSON value, or any literal of Python."""

    def schema(self, defs: Defs) -> dict[str, Any]:
        return {}

    def rule(self, defs: Defs) -> str:
        parts: list[Shape] = [
            Literal([None, True, False]),
            _NUMBERS[float],
            _TEXT,
            Sequence(list, self),
            Mapping(_TEXT, self),
        ]
        return defs.of(self, "anything", lambda: " | ".join(part.rule(defs) for part in parts))

    def of_json(self, value: Any) -> Any:
        return value

    def of_ast(self, node: ast.expr) -> Any:
        return ast.literal_eval(node)


_ANYTHING = Anything()


@dataclasses.dataclass
class Field:
    name: str
    shape: Shape
    required: bool
    #: The key in JSON.
    key: str


class Record(Shape):
    """A class with named fields: a constructor call with keywords, or an object."""

    def __init__(self, of: type, name: str, make: Callable[[dict[str, Any]], Any]) -> None:
        self.of = of
        self.name = name
        self.make = make
        self.fields: list[Field] = []
        #: The schema of a pydantic model, which says more than its fields.
        self.own_schema: Callable[[Defs], dict[str, Any]] | None = None
        self.read_json: Callable[[Any], Any] | None = None

    def schema(self, defs: Defs) -> dict[str, Any]:
        def write() -> dict[str, Any]:
            if self.own_schema is not None:
                return self.own_schema(defs)
            return {
                "type": "object",
                "properties": {field.key: field.shape.schema(defs) for field in self.fields},
                "required": [field.key for field in self.fields if field.required],
                "additionalProperties": False,
            }

        return {"$ref": f"#/$defs/{defs.of(self, self.name.lower(), write)}"}

    def rule(self, defs: Defs) -> str:
        def write() -> str:
            # Two rules for each field: it and the rest, first, and after a comma.
            first: list[str] = []
            rest: list[str] = []
            name = defs.names[id(self)]
            for number, field in enumerate(self.fields):
                # The name and its sign are one lexeme: a name may begin another.
                pair = f"{_literal(field.name + '=')} {field.shape.rule(defs)}"
                last = number + 1 == len(self.fields)
                suffix = "" if last else f" {name}_rest_{number + 1}"
                skip_first = '""' if last else f"{name}_first_{number + 1}"
                skip_rest = '""' if last else f"{name}_rest_{number + 1}"
                optional = not field.required
                first.append(pair + suffix + (f" | {skip_first}" if optional else ""))
                rest.append(f"/, ?/ {pair}{suffix}" + (f" | {skip_rest}" if optional else ""))
            for number in range(1, len(self.fields)):
                defs.parts[f"{name}_rest_{number}"] = rest[number]
                if all(not field.required for field in self.fields[:number]):
                    defs.parts[f"{name}_first_{number}"] = first[number]
            arguments = f" ({first[0]})" if first else ""
            return f'{_literal(self.of.__name__ + "(")}{arguments} ")"'

        return defs.of(self, self.name.lower(), write)

    def of_json(self, value: Any) -> Any:
        if self.read_json is not None:
            try:
                return self.read_json(value)
            except ValueError as error:
                raise Mismatch(str(error)) from error
        if not isinstance(value, dict):
            raise Mismatch(f"{value!r} is no {self.of.__name__}")
        return self._of({field.key: field for field in self.fields}, value, "of_json")

    def of_ast(self, node: ast.expr) -> Any:
        called = isinstance(node, ast.Call) and ast.unparse(node.func) == self.of.__name__
        if not called or typing.cast(ast.Call, node).args:
            raise Mismatch(f"{ast.unparse(node)} is no {self.of.__name__}")
        keywords = typing.cast(ast.Call, node).keywords
        given = {keyword.arg: keyword.value for keyword in keywords}
        return self._of({field.name: field for field in self.fields}, given, "of_ast")

    def _of(self, fields: dict[str, Field], given: dict[Any, Any], read: str) -> Any:
        unknown = [key for key in given if key not in fields]
        missing = [key for key, field in fields.items() if field.required and key not in given]
        if unknown or missing:
            raise Mismatch(f"{self.of.__name__} lacks {missing} and has no {unknown}")
        parts = {
            fields[key].name: getattr(fields[key].shape, read)(value)
            for key, value in given.items()
        }
        return self.make(parts)


# Of types to shapes.

#: Metadata by the names of annotated_types, which pydantic's `Field` comes to.
_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
}


def shape_of(of: Any) -> Shape:
    """Returns the shape of a type."""
    return _Reader().read(of, {})


class _Reader:
    def __init__(self) -> None:
        self.records: dict[Any, Record] = {}

    def read(self, of: Any, bound: dict[Any, Any]) -> Shape:
        if isinstance(of, typing.TypeVar):
            return self.read(bound.get(of, of.__bound__ or Any), bound)
        if of is Any or of is object:
            return _ANYTHING
        if of is None or of is type(None):
            return Literal([None])
        if of is bool:
            return Literal([True, False])
        if of is int or of is float:
            return _NUMBERS[of]
        if of is str:
            return _TEXT
        if isinstance(of, type) and of in WRITTEN:
            return WRITTEN[of]
        if isinstance(of, typing.NewType):
            return self.read(of.__supertype__, bound)
        if hasattr(of, "__value__") and type(of).__name__ == "TypeAliasType":
            return self.read(of.__value__, bound)
        origin, arguments = typing.get_origin(of), typing.get_args(of)
        if origin is typing.Annotated:
            return self._annotated(self.read(arguments[0], bound), arguments[1:])
        if origin in (typing.Required, typing.NotRequired, typing.Final):
            return self.read(arguments[0], bound)
        if origin is typing.Literal:
            return Literal(list(arguments))
        if origin in (typing.Union, types.UnionType):
            return Union([self.read(option, bound) for option in arguments])
        plain = origin or of
        if plain is tuple:
            if of is tuple:
                return Sequence(tuple, _ANYTHING)
            if len(arguments) == 2 and arguments[1] is Ellipsis:
                return Sequence(tuple, self.read(arguments[0], bound))
            return Tuple([self.read(item, bound) for item in arguments])
        sequences: dict[Any, Any] = {
            list: list,
            set: set,
            frozenset: frozenset,
            collections.abc.Sequence: list,
            collections.abc.Iterable: list,
            collections.abc.Set: set,
        }
        if plain in sequences:
            item = self.read(arguments[0], bound) if arguments else _ANYTHING
            return Sequence(sequences[plain], item)
        if plain in (dict, collections.abc.Mapping):
            key, item = arguments or (str, Any)
            return Mapping(self.read(key, bound), self.read(item, bound))
        if isinstance(plain, type):
            if issubclass(plain, enum.Enum):
                return Literal(list(plain))
            return self._record(plain, arguments, bound)
        raise TypeError(f"{of!r} has no form; use a class, or a type of `typing`")

    def _record(self, of: type, arguments: tuple[Any, ...], bound: dict[Any, Any]) -> Shape:
        arguments = tuple(bound.get(argument, argument) for argument in arguments)
        known = self.records.get((of, arguments))
        if known is not None:
            return known
        inner = dict(zip(getattr(of, "__parameters__", ()), arguments))
        record = Record(of, of.__name__, lambda parts: of(**parts))
        self.records[of, arguments] = record
        if hasattr(of, "model_fields"):
            self._pydantic(record, inner)
            return record
        hints = typing.get_type_hints(of, include_extras=True)
        if dataclasses.is_dataclass(of):
            for field in dataclasses.fields(of):
                if field.init:
                    absent = dataclasses.MISSING
                    required = field.default is absent and field.default_factory is absent
                    self._field(record, field.name, hints[field.name], required, inner)
        elif typing.is_typeddict(of):
            for name, hint in hints.items():
                # The class does not know it of annotations that are texts.
                required = typing.get_origin(hint) is not typing.NotRequired and (
                    typing.get_origin(hint) is typing.Required
                    or name in of.__required_keys__  # type: ignore[attr-defined]
                )
                self._field(record, name, hint, required, inner)
        elif issubclass(of, tuple) and hasattr(of, "_fields"):
            for name in of._fields:
                required = name not in of._field_defaults  # type: ignore[attr-defined]
                self._field(record, name, hints.get(name, Any), required, inner)
        else:
            raise TypeError(
                f"{of.__name__} has no fields to be known: make it a dataclass, a TypedDict, a "
                "NamedTuple or a pydantic model"
            )
        return record

    def _field(
        self, record: Record, name: str, hint: Any, required: bool, bound: dict[Any, Any]
    ) -> None:
        record.fields.append(Field(name, self.read(hint, bound), required, name))

    def _pydantic(self, record: Record, bound: dict[Any, Any]) -> None:
        model: Any = record.of
        for name, field in model.model_fields.items():
            shape = self.read(field.annotation, bound)
            shape = self._annotated(shape, tuple(field.metadata))
            key = field.alias or name
            record.fields.append(Field(name, shape, field.is_required(), key))
        keys = {field.name: field.key for field in record.fields}

        def make(parts: dict[str, Any]) -> Any:
            return model.model_validate({keys[name]: part for name, part in parts.items()})

        def own_schema(defs: Defs) -> dict[str, Any]:
            # Its definitions get names of their own among the others.
            prefix = f"{defs.names[id(record)]}."
            schema: dict[str, Any] = model.model_json_schema(
                ref_template=f"#/$defs/{prefix}{{model}}"
            )
            for name, part in schema.pop("$defs", {}).items():
                defs.parts[prefix + name] = part
            return schema

        record.make = make
        record.own_schema = own_schema
        # What the model makes of the JSON is its own affair.
        record.read_json = model.model_validate

    def _annotated(self, shape: Shape, metadata: tuple[Any, ...]) -> Shape:
        told: dict[str, Any] = {}
        for part in metadata:
            known = [*_BOUNDS, "min_length", "max_length", "pattern"]
            for source in (part, *getattr(part, "metadata", ())):
                told.update({n: v for n in known if (v := getattr(source, n, None)) is not None})
        if not told:
            return shape
        if isinstance(shape, Number):
            bounds = {schema: told[name] for name, schema in _BOUNDS.items() if name in told}
            return Number(shape.of, {**shape.bounds, **bounds})
        names = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
        if isinstance(shape, Text):
            limits = {schema: told[name] for name, schema in names.items() if name in told}
            return Text({**shape.limits, **limits})
        if isinstance(shape, Sequence):
            names = {"min_length": "minItems", "max_length": "maxItems"}
            counts = {schema: told[name] for name, schema in names.items() if name in told}
            return Sequence(shape.of, shape.item, {**shape.counts, **counts})
        return shape


def schema_of(shape: Shape) -> dict[str, Any]:
    """Returns the JSON schema of a shape."""
    defs = Defs()
    schema = shape.schema(defs)
    return {**schema, "$defs": defs.parts} if defs.parts else schema


def lark_of(shape: Shape) -> str:
    """Returns the grammar of a shape's expressions of Python, in Lark's notation."""
    defs = Defs()
    # The name is taken.
    defs.parts["start"] = ""
    defs.parts["start"] = shape.rule(defs)
    return "".join(f"{name}: {rule}\n" for name, rule in defs.parts.items())


def parse_json(shape: Shape, text: str | bytes) -> Any:
    """Makes a value of JSON."""
    return shape.of_json(json.loads(text))


def parse_call(shape: Shape, text: str) -> Any:
    """Makes a value of an expression of Python."""
    return shape.of_ast(ast.parse(text.strip(), mode="eval").body)
