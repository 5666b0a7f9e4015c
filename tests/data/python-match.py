r"""Writes python-match.tsv: where CPython's `re.match` ends in random regexes, for the tests of src/lexer.

    python3 tests/data/python-match.py > tests/data/python-match.tsv

The first line has the texts. Each of the others is a regex, and for each text the length of what is found there, as a digit, or
`-`. The regexes are the same ones each time: each has a lazy repetition, and half of them look around, too. What may match
nothing is not repeated: how often nothing is tried differs among engines.
"""

import itertools
import random
import re
import sys

COUNT = 10_000
LETTERS = "abc-"
LOOKS = [
    r"\b", r"\B", "$", r"\Z", r"(?=b|$)", r"(?!c\b)", "(?!(?:a|ab)(?!b))", "(?=[ab]*c)", r"(?=\w)", r"(?!\W|$)", "(?!b)",
    "(?=a)", "(?=[bc]a)", "(?!ab|c)", "(?!b*c)", "(?<!a)", "(?<=b)", "(?<![ab]c)", "(?<=ab)", r"(?<=\w)", r"(?<!\W)",
]
CHARACTERS = ["a", "b", "c", "-", "[ab]", "[^a]", ".", r"\w", r"\W", "[a-c]", r"[^\w]", r"[b\-]", r"[^b-c]"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "{1,3}?", "{2,}?"]
LAZY = re.compile(r"[*+?}]\?")
LOOKING = re.compile(r"\(\?[=!<]|\\[bBZ]|\$")


def texts():
    """All short texts, and some longer ones."""
    source = random.Random(5)
    short = ["".join(letters) for length in range(4) for letters in itertools.product(LETTERS, repeat=length)]
    return short + ["".join(source.choice("aabbbcc-") for _ in range(4 + place % 6)) for place in range(100 - len(short))]


def draw(random, depth, looks):
    """A regex, perhaps with look-arounds, and whether it may match nothing."""
    if looks and random.randrange(5) == 0:
        inner, empty = draw(random, depth, looks)
        look = random.choice(LOOKS)
        return (inner + look if random.randrange(2) else look + inner), empty
    kind = random.randrange(10 if depth else 4)
    if kind < 4:
        return random.choice(CHARACTERS), False
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
    print(*texts(), sep="\t")
    seen = set()
    while len(seen) < COUNT:
        looks = len(seen) % 2 == 1
        regex, _ = draw(source, 4, looks)
        # Half of those that look around look no further than their own end.
        regex = f"(?:{regex})[abc]c" if looks and len(seen) % 4 == 1 else regex
        # The letters of all languages make large automata, and the texts have none of them.
        regex = f"(?a){regex}" if re.search(r"\\[wWbB]", regex) else regex
        if regex in seen or len(regex) > 74 or not LAZY.search(regex) or looks and not LOOKING.search(regex):
            continue
        seen.add(regex)
        compiled = re.compile(regex)
        found = [compiled.match(text) for text in texts()]
        print(regex, "".join(str(match.end()) if match else "-" for match in found), sep="\t")


main()
