"""The classes of llguidance's native module."""

from .compilers import (
    JsonCompiler,
    LarkCompiler,
    LLParserLimits,
    RegexCompiler,
    get_version,
    regex_to_lark,
)
from .interpreter import LLInterpreter
from .matcher import LLExecutor, LLMatcher
from .tokenizer import LLTokenizer

__all__ = [
    "JsonCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "get_version",
    "regex_to_lark",
]
