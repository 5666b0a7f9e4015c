"""Asks lrmask about the grammars and texts of llama.cpp's own tests: texts.py FOLDER OF TESTS."""

from __future__ import annotations

import pathlib
import sys

import cpp
import lrmask

#: Texts that llama.cpp refuses or accepts by a meaning of its own.
OWN_MEANINGS = {
    ("min 0", b"100000000000000000000000000000000"): "integers have 16 digits there at most",
    ("min 2", b"12345678900000000"): "integers have 16 digits there at most",
    ("min+max items", b"1"): "a schema with `items` describes only arrays there",
    (
        "object properties",
        b'{ "number": 1600, "street_name": "Pennsylvania", "street_type":"Avenue", '
        b'"direction":"NW"}',
    ): "objects with `properties` are closed there",
}
#: Tokens that stand for themselves come after the bytes in the vocabulary, but keep their number.
MOST = 64
vocabulary = lrmask.Vocabulary.from_tokens(
    [b""] * MOST + [bytes([byte]) for byte in range(256)] + [b""],
    special_tokens={**{id: f"<special {id}>" for id in range(MOST)}, MOST + 256: "</s>"},
    stop_tokens=[MOST + 256],
)


def grammar_of(case: cpp.Case, notation: str) -> lrmask.Grammar:
    if case.kind == "schema" and notation == "gbnf":
        return lrmask.JsonSchema(case.grammar, order="declared")
    if case.kind == "schema":
        return lrmask.Grammar.from_lark(f"%llguidance {{}}\nstart: %json {case.grammar}")
    if notation == "gbnf":
        return lrmask.Grammar.from_gbnf(case.grammar, start="root")
    return lrmask.Grammar.from_lark(case.grammar)


def accepts(constraint: lrmask.Constraint, text: cpp.Text) -> bool:
    matcher = constraint.matcher()
    for part in text:
        tokens = [part] if isinstance(part, int) else [MOST + byte for byte in part]
        if not all(matcher.try_advance(token) for token in tokens):
            return False
    return matcher.is_accepting


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    results = []
    unexpected = 0
    for file, notation in (
        ("test-grammar-llguidance.cpp", "lark"),
        ("test-grammar-integration.cpp", "gbnf"),
    ):
        grammars = right = own = all_texts = 0
        for case in cpp.Reader((folder / file).read_text()).cases():
            grammars += 1
            texts = [(t, True) for t in case.accepted] + [(t, False) for t in case.refused]
            all_texts += len(texts)
            try:
                constraint = lrmask.Constraint(grammar_of(case, notation), vocabulary)
            except lrmask.LrmaskError as error:
                print(f"{file}, {case.name}: not built: {error}")
                unexpected += len(texts)
                continue
            for text, expected in texts:
                if accepts(constraint, text) == expected:
                    right += 1
                elif len(text) == 1 and (why := OWN_MEANINGS.get((case.name, text[0]))):
                    own += 1
                    print(f"{file}, {case.name}: {text[0]!r}: {why}")
                else:
                    print(f"{file}, {case.name}: {text!r} should be {expected}")
                    unexpected += 1
        results.append(f"{file}: {right} of {all_texts} texts, {own} by another meaning")
    print("; ".join(results))
    return int(unexpected > 0)


if __name__ == "__main__":
    sys.exit(main())
