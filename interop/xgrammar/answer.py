"""Asks lrmask what XGrammar was asked: answer.py RECORD [FILE FOR THE DIFFERENCES]."""

from __future__ import annotations

import collections
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import lrmask
from lrmask.compat.llguidance._lib.compilers import read

vocabulary = lrmask.Vocabulary.builtin("bytes")


def strict(schema: Any) -> Any:
    """XGrammar's strict mode: nothing that the schema does not name."""
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict_at(key, value) for key, value in schema.items()}
    if {"const", "enum"} & schema.keys():
        return closed
    if {"properties", "patternProperties"} & schema.keys():
        if not {"additionalProperties", "unevaluatedProperties"} & schema.keys():
            closed["unevaluatedProperties"] = False
    if "prefixItems" in schema and not {"items", "unevaluatedItems"} & schema.keys():
        closed["unevaluatedItems"] = False
    return closed


def strict_at(key: str, value: Any) -> Any:
    if key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
        if isinstance(value, dict):
            return {name: strict(schema) for name, schema in value.items()}
    if key in ("allOf", "anyOf", "oneOf", "prefixItems") and isinstance(value, list):
        return [strict(schema) for schema in value]
    if key in ("additionalProperties", "items", "unevaluatedItems", "unevaluatedProperties"):
        return strict(value)
    return value


def json_schema(text: str, options: dict[str, Any]) -> lrmask.Grammar:
    own: dict[str, Any] = {}
    schema = json.loads(text)
    if options.get("strict_mode", True):
        schema = strict(schema)
    if options.get("any_order"):
        own["order"] = "any"
    separators = options.get("separators")
    if options.get("any_whitespace", True):
        if (most := options.get("max_whitespace_cnt")) is not None:
            own["whitespace_pattern"] = f"[ \\n\\r\\t]{{0,{most}}}"
    else:
        own["whitespace"] = "none"
        separators = separators or (", ", ": ")
    if separators:
        own["item_separator"], own["key_separator"] = separators
    return lrmask.JsonSchema(schema, **own)


def grammar_of(notation: str, text: str, options: dict[str, Any]) -> lrmask.Grammar:
    if notation == "json_schema":
        return json_schema(text, options)
    if notation == "ebnf":
        return lrmask.Grammar.from_gbnf(text, start=options["start"])
    if notation == "regex":
        # As in XGrammar's EBNF, whose regexes are ECMAScript's; `from_regex` reads Python's.
        return lrmask.Grammar.from_gbnf(f"root ::= Regex({json.dumps(text)})")
    if notation == "lark":
        # XGrammar's Lark is llguidance's. The stop of a rule is written there, and removed later.
        grammars = [{"lark_grammar": text}]
        for name, inner in options["named"].items():
            grammars.append({"name": name, "lark_grammar": inner})
        for grammar in grammars:
            grammar["lark_grammar"] = re.sub(r"\bstop=(?!\"\")", "suffix=", grammar["lark_grammar"])
        return read({"grammars": grammars})
    if notation == "structural_tag":
        return lrmask.Grammar.from_structural_tags(text)
    return lrmask.Grammar.builtin(text)


def reason(notation: str, options: dict[str, Any], text: str) -> str | None:
    """Why a case is not one of lrmask's, if it is not."""
    if options.get("json_format", "json") != "json":
        return f"another notation than JSON ({options['json_format']})"
    if notation == "structural_tag":
        style = re.search(r'"style": *"(?!json")(\w+)"|"(qwen_xml_parameter)"', text)
        if style is not None:
            return f"another notation than JSON ({style[1] or style[2]})"
    if notation == "json_schema" and not options.get("any_whitespace", True):
        if options.get("indent") is not None:
            return "indentation"
    return None


def cases(path: str) -> Iterator[tuple[str, list[tuple[str, bool, bool]]]]:
    """Grammars, as JSON, with the texts of each: text, whether complete, answer."""
    grammars: dict[str, list[tuple[str, bool, bool]]] = collections.defaultdict(list)
    with open(path, encoding="utf-8") as file:
        for line in file:
            notation, source, options, text, complete, answer = json.loads(line)
            grammars[json.dumps([notation, source, options])].append((text, complete, answer))
    yield from grammars.items()


def main() -> None:
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    differences = open(sys.argv[2] if len(sys.argv) > 2 else "/dev/null", "w", encoding="utf-8")
    limits = lrmask.Limits()
    for key, texts in cases(sys.argv[1]):
        notation, source, options = json.loads(key)
        count = counts[notation]
        why = reason(notation, options, source)
        if why is not None:
            count[why] += len(texts)
            continue
        count["cases"] += len(texts)
        try:
            grammar = grammar_of(notation, source, options)
            constraint = lrmask.Constraint(grammar, vocabulary, limits=limits)
        except (lrmask.LrmaskError, ValueError) as error:
            # A schema that nothing satisfies is refused here, and accepts no text there.
            if "unsatisfiable" in str(error).lower() and not any(answer for *_, answer in texts):
                count["agree"] += len(texts)
                continue
            count["not built"] += len(texts)
            kind = str(error).splitlines()[0]
            row = [notation, len(texts), "not built", kind, source, options]
            print(json.dumps(row), file=differences)
            continue
        for text, complete, answer in texts:
            matcher = constraint.matcher()
            try:
                matcher.advance_bytes(text)
                own = matcher.is_accepting or not complete
            except lrmask.AdvanceError:
                own = False
            if own == answer:
                count["agree"] += 1
            else:
                count["differ"] += 1
                theirs = {"xgrammar": answer, "complete": complete}
                row = [notation, "differs", theirs, text, source, options]
                print(json.dumps(row), file=differences)
    rows = []
    for notation, count in sorted(counts.items()):
        share = 100 * count["agree"] / max(count["cases"], 1)
        rest = ", ".join(f"{n} {why}" for why, n in count.items() if why not in ("cases", "agree"))
        print(f"{notation}: {count['agree']} of {count['cases']} agree ({share:.1f} %); {rest}")
        rows.append(f"{notation} {share:.1f} %")
    print(", ".join(rows))


if __name__ == "__main__":
    main()
