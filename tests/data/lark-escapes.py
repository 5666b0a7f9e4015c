r"""What Lark makes of the escapes in its strings and regexes, for the tests of src/syntax.

    pip install lark==1.3.1 && python3 tests/data/lark-escapes.py > tests/data/lark-escapes.tsv

Each line has a literal as it is written in a grammar, as JSON, and the text or regex that Lark takes it for, as JSON. Literals
that Lark refuses are left out.
"""

import itertools
import json
import random

import lark
from lark.exceptions import GrammarError
from lark.lexer import Token
from lark.load_grammar import _literal_to_pattern

PIECES = ["\\\\", '\\"', "a", "n", "\\n", "\\t", "\\d", "\\.", "\\x5b", "\\x41", "\\x5c", "\\u00e9", "\\u002e", "[", "]", "'", "\\'",
          "\\/", "{", "}", "0", "\\x32", "é", " ", "\\U0001F600", "\\f", "\\r", "\\x22", "\\x0b"]


def rows():
    source = random.Random(3)
    short = ["".join(pieces) for count in (1, 2) for pieces in itertools.product(PIECES + ['"'], repeat=count)]
    long = ["".join(source.choice(PIECES + ['"']) for _ in range(source.randint(3, 7))) for _ in range(1500)]
    for inner in dict.fromkeys(short + long):
        # A quotation mark ends a string; a comment begins with two slashes.
        is_string = '"' not in inner.replace("\\\\", "").replace('\\"', "")
        if is_string:
            yield Token("STRING", f'"{inner}"')
        # An escaped backslash before a slash is cut in another order here, which nobody writes.
        if "\\x5c\\/" not in inner:
            yield Token("REGEXP", f"/{inner}/")
            if source.random() < 0.2:
                yield Token("REGEXP", f"/{inner}/x")


print(f"# Made by lark-escapes.py with Lark {lark.__version__}; see there.")
for token in rows():
    try:
        pattern = _literal_to_pattern(token)
    except (GrammarError, ValueError, SyntaxError):
        continue
    print(json.dumps(str(token)), json.dumps(pattern.value), sep="\t")
