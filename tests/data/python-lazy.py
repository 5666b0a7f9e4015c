"""Writes python-lazy.tsv: where CPython's `re.match` ends in regexes with lazy repetition, for the tests of src/lexer.

    python3 tests/data/python-lazy.py > tests/data/python-lazy.tsv

A line is a regex, then texts, each with a colon and the length of what is found there, or `-`. The regexes are random, the
same ones each time. What may match nothing is not repeated: how often nothing is tried differs among engines.
"""

import random
import re
import sys

COUNT = 1200
TEXTS = 10
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "{1,3}?", "{2,}?"]


def draw(random, depth):
    """A regex, and whether it may match nothing."""
    kind = random.randrange(10 if depth else 4)
    if kind < 4:
        return random.choice(["a", "b", "c", "[ab]", "[^a]", "."]), False
    if kind < 6:
        parts = [draw(random, depth - 1) for _ in range(random.randint(2, 3))]
        return "".join(part for part, _ in parts), all(empty for _, empty in parts)
    if kind < 8:
        parts = [draw(random, depth - 1) for _ in range(random.randint(2, 3))]
        return "(?:" + "|".join(part for part, _ in parts) + ")", any(empty for _, empty in parts)
    inner, empty = draw(random, depth - 1)
    while empty:
        inner, empty = draw(random, depth - 1)
    quantifier = random.choice(QUANTIFIERS)
    return f"(?:{inner}){quantifier}", quantifier[0] in "*?"


def main():
    source = random.Random(7)
    print(f"# Made by python-lazy.py with CPython {sys.version.split()[0]}; see there.")
    seen = set()
    while len(seen) < COUNT:
        regex, _ = draw(source, 4)
        if regex in seen or len(regex) > 60 or not re.search(r"[*+?}]\?", regex):
            continue
        seen.add(regex)
        compiled = re.compile(regex)
        fields = [regex]
        for _ in range(TEXTS):
            text = "".join(source.choice("aabbc") for _ in range(source.randint(0, 8)))
            found = compiled.match(text)
            fields.append(f"{text}:{found.end() if found else '-'}")
        print(*fields, sep="\t")


main()
