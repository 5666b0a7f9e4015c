"""Writes python-match.tsv: where CPython's `re.match` ends in regexes with lazy repetition, for the tests of src/lexer.

    python3 tests/data/python-match.py > tests/data/python-match.tsv

A line is a regex, then texts, each with a colon and the length of what is found there, or `-`. The regexes are random, the
same ones each time; a third of them look around, too. What may match nothing is not repeated: how often nothing is tried
differs among engines.
"""

import random
import re
import sys

COUNT = 1200
LOOKING = 1200
TEXTS = 10
LOOKS = [r"\b", r"\B", "$", r"\Z", r"(?=b|$)", r"(?!c\b)", "(?!(?:a|ab)(?!b))", "(?=[ab]*c)", "(?!b)", "(?=a)", "(?=[bc]a)", "(?!ab|c)", "(?!b*c)", "(?<!a)", "(?<=b)", "(?<![ab]c)", "(?<=ab)"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "{1,3}?", "{2,}?"]


def draw(random, depth, looks):
    """A regex, perhaps with look-arounds, and whether it may match nothing."""
    if looks and random.randrange(5) == 0:
        inner, empty = draw(random, depth, looks)
        look = random.choice(LOOKS)
        return (inner + look if random.randrange(2) else look + inner), empty
    kind = random.randrange(10 if depth else 4)
    if kind < 4:
        return random.choice(["a", "b", "c", "[ab]", "[^a]", "."]), False
    if kind < 6:
        parts = [draw(random, depth - 1, looks) for _ in range(random.randint(2, 3))]
        return "".join(part for part, _ in parts), all(empty for _, empty in parts)
    if kind < 8:
        parts = [draw(random, depth - 1, looks) for _ in range(random.randint(2, 3))]
        return "(?:" + "|".join(part for part, _ in parts) + ")", any(empty for _, empty in parts)
    inner, empty = draw(random, depth - 1, looks)
    while empty:
        inner, empty = draw(random, depth - 1, looks)
    quantifier = random.choice(QUANTIFIERS)
    return f"(?:{inner}){quantifier}", quantifier[0] in "*?"


def main():
    source = random.Random(7)
    print(f"# Made by python-match.py with CPython {sys.version.split()[0]}; see there.")
    seen = set()
    while len(seen) < COUNT + LOOKING:
        looks = len(seen) >= COUNT
        regex, _ = draw(source, 4, looks)
        # Half of them look no further than their own end.
        regex = f"(?:{regex})[abc]c" if looks and len(seen) % 2 else regex
        if regex in seen or len(regex) > 70 or not re.search(r"[*+?}]\?", regex) or looks and not re.search(r"\(\?[=!<]|\\[bBZ]|\$", regex):
            continue
        seen.add(regex)
        compiled = re.compile(regex)
        fields = [regex]
        for _ in range(TEXTS):
            text = "".join(source.choice("aabbc" if not looks else "aabbcc-") for _ in range(source.randint(0, 8)))
            found = compiled.match(text)
            fields.append(f"{text}:{found.end() if found else '-'}")
        print(*fields, sep="\t")


main()
