"""Measures xgrammar on a case: what src/measure.rs does for the engines that are crates.

Its one argument is the case's file; it prints the measurement as JSON. Times hold the call from Python to the engine,
half a microsecond or so: that is how it is used.
"""

import json
import struct
import sys
import time
import types

# The foundation looks for torch by itself and does without it.
import tvm_ffi  # noqa: F401


class Absent(types.ModuleType):
    """A module that is imported for the names of its types only."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *_, **__: None})


for name in ("torch", "transformers"):
    sys.modules[name] = Absent(name)

import numpy  # noqa: E402
import xgrammar  # noqa: E402


class Numbers:
    """A file of numbers, little-endian and 32 bits wide, as src/case.rs writes it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()
        self.at = 0

    def number(self):
        (number,) = struct.unpack_from("<I", self.content, self.at)
        self.at += 4
        return number

    def list(self):
        return [self.number() for _ in range(self.number())]

    def bytes(self):
        length = self.number()
        self.at += length
        return self.content[self.at - length : self.at]


def read_words(path):
    numbers = Numbers(path)
    stops = numbers.list()
    return [numbers.bytes() for _ in range(numbers.number())], stops


def read_documents(path):
    numbers = Numbers(path)
    return [numbers.list() for _ in range(numbers.number())]


def memory(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def forget_peak():
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def no_samples():
    return {"whole": False, "start": [], "mask": [], "advance": []}


class Fault(Exception):
    pass


def allows(words, token):
    return token // 32 < len(words) and int(words[token // 32]) >> (token % 32) & 1 == 1


class Run:
    def __init__(self, case):
        self.case = case
        self.result = {
            "fault": None,
            "prepare": 0.0,
            "compile": 0.0,
            "cold": no_samples(),
            "warm": no_samples(),
            "memory": {"prepared": 0.0, "compiled": 0.0, "used": 0.0, "peak": 0.0},
            "checks": [],
        }

    def measure(self):
        words, stops = read_words(self.case["vocabulary"])
        documents = read_documents(self.case["documents"])
        with open(self.case["grammar"]) as file:
            grammar = file.read()
        self.row = numpy.zeros((1, (len(words) + 31) // 32), dtype=numpy.int32)
        self.words = self.row.view(numpy.uint32)[0]

        result = self.result
        forget_peak()
        baseline = memory("VmRSS")

        begin = time.perf_counter_ns()
        info = xgrammar.TokenizerInfo(
            words, xgrammar.VocabType.RAW, vocab_size=len(words), stop_token_ids=stops
        )
        compiler = xgrammar.GrammarCompiler(info)
        result["prepare"] = time.perf_counter_ns() - begin
        result["memory"]["prepared"] = memory("VmRSS") - baseline

        compile_form = {
            "lark": compiler.compile_lark,
            "regex": lambda text: compiler.compile_regex(text.rstrip("\n")),
            "ebnf": compiler.compile_grammar,
        }[self.case["form"]]
        begin = time.perf_counter_ns()
        self.compiled = compile_form(grammar)
        result["compile"] = time.perf_counter_ns() - begin
        result["memory"]["compiled"] = memory("VmRSS") - baseline

        self.replay(result["cold"], documents, sys.maxsize)
        # No further than the first pass came: what it has not seen is not warm.
        self.replay(result["warm"], documents, len(result["cold"]["advance"]))
        result["memory"]["used"] = memory("VmRSS") - baseline
        result["memory"]["peak"] = memory("VmHWM") - baseline
        self.check(documents, words, stops)

    def replay(self, samples, documents, steps):
        clock = time.perf_counter_ns
        row, words = self.row, self.words
        start, mask, advance = samples["start"], samples["mask"], samples["advance"]
        deadline = clock() + self.case["patience"] * 1e9
        for index, tokens in enumerate(documents):
            begin = clock()
            matcher = xgrammar.GrammarMatcher(self.compiled)
            start.append(clock() - begin)
            for step, token in enumerate(tokens):
                begin = clock()
                restricts = matcher.fill_next_token_bitmask(row)
                mask.append(clock() - begin)
                if restricts and not allows(words, token):
                    raise Fault(f"document {index}, token {step}: refuses token {token}, which comes next")
                begin = clock()
                taken = matcher.accept_token(token)
                advance.append(clock() - begin)
                if not taken:
                    raise Fault(f"document {index}, token {step}: does not take token {token}")
                if len(advance) >= steps or clock() > deadline:
                    return
        samples["whole"] = True

    def check(self, documents, words, stops):
        ordinary = numpy.array([bool(word) for word in words])
        places = {}
        for document, step in self.case["checks"]:
            places.setdefault(document, set()).add(step)
        for document, steps in sorted(places.items()):
            matcher = xgrammar.GrammarMatcher(self.compiled)
            tokens = documents[document]
            for step in range(max(steps) + 1):
                if step in steps:
                    restricts = matcher.fill_next_token_bitmask(self.row)
                    bits = numpy.unpackbits(self.row.view(numpy.uint8)[0], bitorder="little")[: len(words)]
                    allowed = int((bits.astype(bool) & ordinary).sum()) if restricts else int(ordinary.sum())
                    ends = any(bits[stop] for stop in stops) or not restricts
                    self.result["checks"].append({"allowed": allowed, "ends": bool(ends)})
                if step < len(tokens):
                    matcher.accept_token(tokens[step])


def main():
    with open(sys.argv[1]) as file:
        run = Run(json.load(file))
    try:
        run.measure()
    except (Fault, RuntimeError, ValueError) as fault:
        run.result["fault"] = " ".join(str(fault).split())[:200]
    json.dump(run.result, sys.stdout)


if __name__ == "__main__":
    main()
