"""llguidance's module on this engine: import it in its place.

    from lrmask.compat.llguidance import LLMatcher, LLTokenizer

or, before a host imports llguidance: `lrmask.compat.install("llguidance")`.

The interface is that of llguidance 1.9.1. docs/python.md says where the meaning differs.
"""

from ._grammar_from import GrammarFormat, grammar_from
from ._lib import (
    JsonCompiler,
    LarkCompiler,
    LLExecutor,
    LLInterpreter,
    LLMatcher,
    LLParserLimits,
    LLTokenizer,
    RegexCompiler,
    get_version,
    regex_to_lark,
)
from ._struct_tag import StructTag
from ._tokenizer import TokenizerWrapper

__version__ = "1.9.1"

__all__ = [
    "GrammarFormat",
    "JsonCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "StructTag",
    "TokenizerWrapper",
    "__version__",
    "get_version",
    "grammar_from",
    "regex_to_lark",
]
