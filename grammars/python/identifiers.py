"""Writes identifiers.lark: `python3.12 grammars/python/identifiers.py > grammars/python/identifiers.lark`."""

import sys


def ranges(belongs):
    """The characters beyond ASCII that belong, as a character class."""
    found, first = [], None
    for code in range(0x80, 0x110001):
        inside = code < 0x110000 and not 0xD800 <= code < 0xE000 and belongs(chr(code))
        if inside and first is None:
            first = code
        if not inside and first is not None:
            found.append(escape(first) if first == code - 1 else f"{escape(first)}-{escape(code - 1)}")
            first = None
    return "".join(found)


def escape(code):
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


if sys.version_info[:2] != (3, 12):
    sys.exit("this asks CPython 3.12: other versions know another Unicode")
print("// XID_Start and XID_Continue beyond ASCII, as CPython 3.12 has them (Unicode 15.0). Written by identifiers.py.\n")
print(f"XID_START: /[{ranges(str.isidentifier)}]/")
print(f"XID_CONTINUE: /[{ranges(lambda character: ('a' + character).isidentifier())}]/")
