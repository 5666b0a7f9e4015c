"""Requests of all kinds, each with the language's own test of an answer, and hostile grammars."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import json
import pathlib
import random
import re
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema

GRAMMARS = pathlib.Path(__file__).parents[2] / "grammars"


@dataclasses.dataclass
class Request:
    kind: str
    prompt: str
    outputs: dict[str, Any]
    """The field `structured_outputs`."""
    is_valid: Callable[[str], bool]
    max_tokens: int = 40
    is_common: bool = True
    """Whether other backends take it, too."""


def matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text, re.DOTALL) is not None


def satisfies(schema: Any) -> Callable[[str], bool]:
    def is_valid(text: str) -> bool:
        value = json.loads(text)
        kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        return bool(kind(schema).is_valid(value))

    return is_valid


def is_sql(text: str) -> bool:
    try:
        sqlite3.connect(":memory:").execute(f"EXPLAIN {text}")
    except sqlite3.Error as error:
        return "syntax error" not in str(error) and "incomplete" not in str(error)
    return True


def is_python(text: str) -> bool:
    ast.parse(text)
    return True


TOOLS = {
    "weather": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}


def has_valid_calls(text: str) -> bool:
    """Whether each call that begins in a text is one of the tools', and ends."""
    for rest in text.split("<tool=")[1:]:
        call = re.match(r"(\w+)>(.*?)</tool>", rest, re.DOTALL)
        if call is None or not satisfies(TOOLS[call[1]])(call[2]):
            return False
    return True


SECTION = {
    "triggers": ["<tool="],
    "structures": [
        {"begin": f"<tool={name}>", "schema": schema, "end": "</tool>"}
        for name, schema in TOOLS.items()
    ],
}
FORMAT = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<tool="],
        "tags": [
            {
                "begin": f"<tool={name}>",
                "content": {"type": "json_schema", "json_schema": schema},
                "end": "</tool>",
            }
            for name, schema in TOOLS.items()
        ],
        "at_least_one": True,
        "stop_after_first": True,
    },
}


def maskbench(archive: str | None) -> list[Any]:
    """Schemas of MaskBench, from an archive of its files; without one, two of our own."""
    if archive is None:
        return list(TOOLS.values())
    with tarfile.open(archive) as tar:
        names = sorted(name for name in tar.getnames() if name.endswith(".json"))
        random.Random(0).shuffle(names)
        found = []
        for name in names:
            file = tar.extractfile(name)
            assert file is not None
            case = json.loads(file.read())
            schema = case["schema"]
            text = json.dumps(schema)
            # References to the network are refused by all, and long schemas are not answered.
            if "not" in case["meta"]["features"] or '"$ref": "http' in text or len(text) > 3000:
                continue
            if any(test["valid"] for test in case["tests"]):
                found.append(schema)
        return found


PYTHON = (GRAMMARS / "python/python.lark").read_text(encoding="utf-8")
IDENTIFIERS = (GRAMMARS / "python/identifiers.lark").read_text(encoding="utf-8")
PYTHON = re.sub(r"%import \.identifiers .*", lambda _: IDENTIFIERS, PYTHON)
SQLITE = (GRAMMARS / "sqlite/sqlite.lark").read_text(encoding="utf-8")
SQLITE = SQLITE.replace("%start script statement query", "%start query")


def requests(count: int, archive: str | None) -> list[Request]:
    """This many requests, of all kinds in turn."""
    schemas = maskbench(archive)
    made: list[Request] = []

    def add(*of: Any, **options: Any) -> None:
        made.append(Request(*of, **options))

    regexes = [r"[a-f]{4,8}", r"20\d\d-(0[1-9]|1[0-2])-[0-3][0-9]", r"(yes|no)(, (yes|no)){0,3}"]
    choices = [["red", "green", "blue"], ["yes", "no"], ["Paris", "Rome", "Berlin", "Bern"]]
    small = [
        ('start: "<" /[0-9]{1,5}/ ">"', r"<[0-9]{1,5}>"),
        ('root ::= "(" [a-z]{1,9} ")"', r"\([a-z]{1,9}\)"),
    ]
    for number in range(-(-count // 8)):
        for schema in schemas[2 * number % len(schemas) :][:2]:
            prompt = f"A JSON value that satisfies {json.dumps(schema)[:700]}:\n"
            add("schema", prompt, {"json": schema}, satisfies(schema), max_tokens=64)
        pattern = regexes[number % len(regexes)]
        add("regex", f"A text like {pattern}: ", {"regex": pattern}, matches(pattern))
        choice = choices[number % len(choices)]
        add("choice", f"One of {choice}: ", {"choice": choice}, choice.__contains__)
        grammar, pattern = small[number % len(small)]
        is_lark = "::=" not in grammar
        add(
            "grammar",
            f"{grammar}\n",
            {"grammar": grammar},
            matches(pattern),
            is_common=not is_lark,
        )
        add(
            "sqlite",
            "The tables are films(title, year) and people(name, born).\n"
            f"SQL query number {number}: ",
            {"grammar": SQLITE},
            is_sql,
            is_common=False,
        )
        add(
            "python",
            f"# Python: a function that returns {number}.\n",
            {"grammar": PYTHON},
            is_python,
            is_common=False,
        )
        form = SECTION if number % 2 else FORMAT
        add(
            "tags",
            "Call a tool, <tool=weather> or <tool=add>.\n"
            'What is 1 + 2? <tool=add>{"a": 1, "b": 2}</tool>\n'
            f"What is {number} + 2? ",
            {"structural_tag": json.dumps(form)},
            has_valid_calls,
            is_common=False,
        )
    return made[:count]


def nested(depth: int) -> str:
    return "start: " + "(" * depth + '"a"' + ")" * depth


HOSTILE: list[dict[str, Any]] = [
    {"grammar": "start: nowhere"},
    {"grammar": 'start: "a'},
    {"grammar": "start: A\nA: /(a|b)*a(a|b){40}/"},
    {"grammar": "start: start"},
    {"grammar": nested(30_000)},
    {"grammar": "\n".join(f"r{n}: r{n + 1} r{n + 1}" for n in range(100_000))},
    {"grammar": "root ::= missing"},
    {"grammar": 'start: %json {"type": "nothing"}'},
    {"grammar": "start: <|no_such_token|>"},
    {"regex": "("},
    {"regex": "[z-a]"},
    {"regex": "(a|b)*a(a|b){40}"},
    {"regex": "((a{1,1000}){1,1000}){1,1000}"},
    {"regex": "(x+x+)+y{1000}" * 200},
    {"json": {"type": "nothing"}},
    {"json": '{"type": "object"'},
    {"json": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}},
    {"json": {"allOf": [{"type": "string"}, {"type": "integer"}]}},
    {"json": {"type": "string", "pattern": "^(a|b)*a(a|b){30}$"}},
    {"structural_tag": json.dumps({"type": "structural_tag", "format": {"type": "unknown"}})},
]


def mixed(count: int, archive: str | None, hostile: int) -> Iterator[Request | dict[str, Any]]:
    """Requests with hostile grammars among them."""
    asked = requests(count - hostile, archive)
    every = max(1, len(asked) // max(hostile, 1))
    bad = iter(HOSTILE[:hostile])
    for number, request in enumerate(asked):
        if number % every == every // 2:
            yield from itertools.islice(bad, 1)
        yield request
    yield from bad
