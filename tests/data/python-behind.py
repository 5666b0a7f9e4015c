"""What Python's `re` makes of the text before a place where it begins to match.

Prints the texts before, the texts behind, and patterns that look at what stands before them, each with a verdict for every
pair of the two: how many bytes `match` finds when it begins between them, or `-`. The patterns are random, of a fixed seed.

    python3 tests/data/python-behind.py > tests/data/python-behind.tsv
"""

import json
import random
import re
import sys
import warnings

warnings.simplefilter("ignore")
BEFORES = ["", "a", "b", "ab", "ba", "-", "a-", "\n", "a\n", "\na", "é", "_", "aab", " "]
TEXTS = ["", "a", "b", "ab", "aab", "ba", "-a", "\na", "a\nb", "éa", "a b"]
LOOKS = [r"\b", r"\B", "^", "(?m:^)", r"\A", "(?<=a)", "(?<!a)", "(?<=ab)", "(?<!ba)", "(?<=[^a])", r"(?<!\n)", r"(?<=\w)",
         r"(?<!\w\w)", "(?<=a|b)", "(?<=é)", "(?<!a)(?<!b)"]
PIECES = ["a", "b", "[ab]", "[^b]", r"\w", "-", "\\n", "é", "(?:ab|a)", "."]
BEHIND = [r"\b", "$", "(?=b)", "(?!a)", ""]


# Look-behinds that contain look-behinds.
WITHIN = ["(?<=^a)", r"(?<!\Ab)", "(?<=(?<!a)b)", "(?<!(?<=a)b)", "(?<=(?m:^).)", "(?<!^)"]


def nested(random):
    """A look-ahead that looks back, perhaps within another one, before a piece."""
    def alternative(depth):
        look = nested_look(depth + 1) if depth < 2 and random.random() < 0.3 else random.choice(LOOKS + WITHIN)
        return random.choice(["", piece(random)]) + look + piece(random)

    def nested_look(depth):
        return random.choice(["(?=", "(?!"]) + "|".join(alternative(depth) for _ in range(random.choice([1, 1, 2]))) + ")"

    return random.choice(["", piece(random), random.choice(WITHIN)]) + nested_look(0) + piece(random) + random.choice(BEHIND)


def piece(random):
    text = random.choice(PIECES) + random.choice(["", "", "", "+", "*", "?"])
    return random.choice(LOOKS) + text if random.random() < 0.3 else text


def pattern(random):
    def sequence():
        first = random.choice(LOOKS) if random.random() < 0.8 else ""
        return first + "".join(piece(random) for _ in range(random.randint(1, 3))) + random.choice(BEHIND)

    return "|".join(sequence() for _ in range(random.choice([1, 1, 2])))


def longest(compiled, before, text):
    """A terminal finds the longest text of its set, not the first one: all ends are tried."""
    whole = before + text
    for length in range(len(text), -1, -1):
        if re.compile(f"(?:{compiled.pattern})(?<=^(?s:.{{{len(before) + length}}}))").match(whole, len(before)):
            return str(len(text[:length].encode()))
    return "-"


print(f"# Made by python-behind.py with CPython {sys.version.split()[0]}; see there.")
for texts in (BEFORES, TEXTS):
    print(*(json.dumps(text, ensure_ascii=True) for text in texts), sep="\t")
random = random.Random(1)
count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
patterns = [pattern(random) for _ in range(2000)]
for made in dict.fromkeys(patterns + [nested(random) for _ in range(count)]):
    compiled = re.compile(made)
    print(made, "".join(longest(compiled, before, text) for before in BEFORES for text in TEXTS), sep="\t")
