"""Values of types: every text that the masks allow is an instance, and instances are allowed."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import random
import typing
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

import pytest

import lrmask

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.0


@dataclasses.dataclass
class Box(Generic[T]):
    item: T
    label: str | None = None


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree] = dataclasses.field(default_factory=list)


class Film(TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    left: Colour
    right: bool = False


@dataclasses.dataclass
class Everything:
    a: int
    b: bool
    c: Literal["x", 1, None]
    d: Colour
    e: list[Point]
    f: tuple[int, str]
    g: tuple[int, ...]
    h: set[int]
    i: dict[str, int]
    j: int | str | None
    k: Film
    l: Pair
    m: Box[int]
    n: datetime.date
    o: datetime.datetime
    p: uuid.UUID
    q: decimal.Decimal
    r: frozenset[str]
    s: Any
    t: tuple[()] = ()
    u: float = 1.5
    v: dict[int, Colour] = dataclasses.field(default_factory=dict)


EVERYTHING = Everything(
    a=-5,
    b=True,
    c=None,
    d=Colour.BLUE,
    e=[Point(1), Point(2, 3.5)],
    f=(1, "é\"'\\\n"),
    g=(7,),
    h={1},
    i={"k": 1, "": 2},
    j="x",
    k={"title": "M"},
    l=Pair(Colour.RED, True),
    m=Box(3, None),
    n=datetime.date(2026, 11, 28),
    o=datetime.datetime(2026, 1, 31, 23, 59, 59, tzinfo=datetime.timezone.utc),
    p=uuid.UUID("12345678-1234-5678-1234-567812345678"),
    q=decimal.Decimal("-1.50"),
    r=frozenset({"a"}),
    s={"deep": [1, None]},
    v={-3: Colour.RED},
)

TYPES: list[Any] = [
    int,
    float,
    bool,
    str,
    None,
    Colour,
    Point,
    Box[int],
    Box[Point],
    Box[list[str]],
    Tree,
    Film,
    Pair,
    list[int],
    dict[str, float],
    tuple[int, ...],
    tuple[int],
    set[Literal[1, 2]],
    frozenset[bool],
    int | None,
    list[Point | Film],
    datetime.date,
    datetime.time,
    datetime.datetime,
    uuid.UUID,
    decimal.Decimal,
    Everything,
    Literal["a", "b", 3, None],
]


def call(value: Any) -> str:
    """A value as a constructor call, written by other means than the package has."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if dataclasses.is_dataclass(value):
        fields = [f"{f.name}={call(getattr(value, f.name))}" for f in dataclasses.fields(value)]
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = [f"{name}={call(part)}" for name, part in value._asdict().items()]
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, datetime.date | datetime.time):
        return f'{type(value).__name__}.fromisoformat("{value.isoformat()}")'
    if isinstance(value, uuid.UUID | decimal.Decimal):
        return f'{type(value).__name__}("{value}")'
    if isinstance(value, list):
        return f"[{', '.join(map(call, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(call, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict) and "title" in value:
        return f"Film(title={value['title']!r})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{call(k)}: {call(v)}" for k, v in value.items()) + "}"
    if isinstance(value, set):
        return "{" + ", ".join(map(call, value)) + "}"
    if isinstance(value, frozenset):
        return "frozenset({" + ", ".join(map(call, value)) + "})"
    return repr(value)


def test_a_call_is_parsed_back() -> None:
    grammar = lrmask.Grammar.from_type(Everything, form="call")
    text = call(EVERYTHING)
    assert grammar.accepts(text.encode())
    assert grammar.parse(text) == EVERYTHING


@pytest.mark.parametrize(
    "text",
    ["Point(y=1.0)", "Point(x=1.5)", "Point(x=1,y=2.0,)", "Point(1)", "point(x=1)", "Point(x=01)"],
)
def test_other_calls_are_refused(text: str) -> None:
    assert not lrmask.Grammar.from_type(Point, form="call").accepts(text.encode())


def generate(constraint: lrmask.Constraint, seed: int, length: int = 300) -> str | None:
    """A random text drawn from the masks; `None` if it does not end in time."""
    random_ = random.Random(seed)
    matcher = constraint.matcher()
    text = bytearray()
    while len(text) < length:
        allowed = matcher.allowed_tokens()
        if matcher.is_accepting and (not allowed or random_.random() < 0.3):
            return text.decode()
        assert allowed, bytes(text)
        # Quotes and brackets that close are drawn more often, so that texts end.
        closing = [t for t in allowed if bytes([t]) in b"\"')]},"]
        weights = closing if closing and random_.random() < 0.4 else allowed
        token = random_.choice(weights)
        matcher.advance(token)
        text.append(token)
    completion = matcher.shortest_completion()
    assert completion is not None
    matcher.advance_bytes(completion)
    assert matcher.is_accepting
    text += completion
    return text.decode(errors="surrogateescape") if _is_text(text) else None


def _is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_instance(value: Any, of: Any) -> bool:
    """Whether a value is of a type, by other means than the package has."""
    if of is Any:
        return True
    if of is None:
        return value is None
    if isinstance(of, TypeVar):
        return True
    origin, arguments = typing.get_origin(of), typing.get_args(of)
    if origin is Literal:
        return any(value == known and type(value) is type(known) for known in arguments)
    if origin is not None and type(None) in arguments or str(origin) in (
        "<class 'types.UnionType'>",
        "typing.Union",
    ):
        return any(is_instance(value, option) for option in arguments)
    plain = origin or of
    if plain is tuple:
        if arguments[-1:] == (Ellipsis,):
            return all(is_instance(part, arguments[0]) for part in value)
        return len(value) == len(arguments) and all(map(is_instance, value, arguments))
    if plain in (list, set, frozenset):
        return type(value) is plain and all(is_instance(part, arguments[0]) for part in value)
    if plain is dict:
        return all(is_instance(k, arguments[0]) and is_instance(v, arguments[1]) for k, v in value.items())
    if typing.is_typeddict(plain):
        hints = typing.get_type_hints(plain)
        return all(is_instance(part, hints[name]) for name, part in value.items())
    if dataclasses.is_dataclass(plain):
        hints = typing.get_type_hints(plain)
        return type(value) is plain and all(is_instance(getattr(value, n), h) for n, h in hints.items())
    return isinstance(value, plain) and (plain is not int or type(value) is int)


@pytest.mark.parametrize("form", ["json", "call"])
@pytest.mark.parametrize("of", TYPES, ids=str)
def test_what_the_masks_allow_is_an_instance(of: Any, form: Literal["json", "call"]) -> None:
    constraint = lrmask.Constraint.from_type(of, lrmask.Vocabulary.builtin("bytes"), form=form)
    parsed = 0
    for seed in range(12):
        text = generate(constraint, seed)
        if text is not None:
            assert is_instance(constraint.parse(text), of), text
            parsed += 1
    assert parsed > 2


def test_a_json_text_is_parsed_back() -> None:
    schema = lrmask.JsonSchema(list[Point | Film | Pair])
    text = '[{"x": 1}, {"title": "M", "year": 1931}, {"left": "red", "right": true}]'
    assert schema.accepts(text.encode())
    assert schema.parse(text) == [Point(1), {"title": "M", "year": 1931}, Pair(Colour.RED, True)]
    tree = lrmask.JsonSchema(Tree)
    text = '{"value": 1, "children": [{"value": 2}]}'
    assert tree.accepts(text.encode()) and tree.parse(text) == Tree(1, [Tree(2)])
    assert lrmask.JsonSchema({"type": "object"}).parse('{"a": 1}') == {"a": 1}


@dataclasses.dataclass
class Within:
    """Metadata as annotated_types and pydantic have it."""

    ge: int | None = None
    le: int | None = None
    min_length: int | None = None
    max_length: int | None = None


@dataclasses.dataclass
class Person:
    age: Annotated[int, Within(ge=0, le=120)]
    name: Annotated[str, Within(min_length=1, max_length=3)]
    tags: Annotated[list[str], Within(max_length=1)]


def test_bounds_of_annotated_types() -> None:
    for form, yes, no in [
        ("json", b'{"age":120,"name":"abc","tags":["a"]}', b'{"age":121,"name":"abc","tags":[]}'),
        ("call", b'Person(age=0, name="a", tags=[])', b'Person(age=0, name="", tags=[])'),
        ("call", b"Person(age=7, name='a', tags=['b'])", b"Person(age=-1, name='a', tags=[])"),
        ("call", b"Person(age=7, name='a', tags=[])", b"Person(age=7, name='a', tags=['', ''])"),
    ]:
        grammar = lrmask.Grammar.from_type(Person, form=typing.cast(Any, form))
        assert grammar.accepts(yes) and not grammar.accepts(no)
        assert isinstance(grammar.parse(yes.decode()), Person)


def test_pydantic_models() -> None:
    pydantic = pytest.importorskip("pydantic")

    class City(pydantic.BaseModel):
        name: str = pydantic.Field(pattern="^[A-Z][a-z]+$")
        size: int = pydantic.Field(ge=1)

    class Land(pydantic.BaseModel):
        cities: list[City]
        code: Literal["DE", "FR"] = pydantic.Field(alias="iso")

    schema = lrmask.JsonSchema(Land)
    text = '{"cities": [{"name": "Rom", "size": 3}], "iso": "FR"}'
    assert schema.accepts(text.encode()) and not schema.accepts(text.replace("Rom", "rom").encode())
    assert schema.parse(text) == Land(cities=[City(name="Rom", size=3)], iso="FR")
    several = lrmask.JsonSchema(dict[str, Land | Point])
    assert several.accepts(b'{"a": ' + text.encode() + b', "b": {"x": 1}}')

    class Size(pydantic.BaseModel):
        width: int = 1

    calls = lrmask.Grammar.from_type(list[Size], form="call")
    assert calls.parse("[Size(width=3), Size()]") == [Size(width=3), Size()]
    assert calls.accepts(b"[Size(width=3), Size()]")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "Point(x=__import__('os'))",
        "Point(x=1, **{'y': 2})",
        "[Point(x=1) for _ in ()]",
        "Point",
        "Point(x=1).x",
    ],
)
def test_nothing_is_evaluated(text: str) -> None:
    with pytest.raises(ValueError):
        lrmask.Grammar.from_type(Point, form="call").parse(text)


def test_types_without_a_form_are_refused() -> None:
    class Plain:
        pass

    for of in (Plain, complex, typing.Callable[[], int]):
        with pytest.raises(TypeError):
            lrmask.JsonSchema(of)
    with pytest.raises(TypeError):
        lrmask.Grammar.from_lark('start: "a"').parse("a")
    with pytest.raises(ValueError):
        lrmask.Grammar.from_type(int, form=typing.cast(Any, "xml"))
    assert json.loads(lrmask.JsonSchema(True).text) is True
