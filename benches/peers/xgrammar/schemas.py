"""Measures xgrammar on schemas: what src/schemas/measure.rs does for the engines that are crates.

Its one argument is the case's file; it prints the measurements as JSON.
"""

import json
import sys
import time

from measure import allows, read_words  # first: it puts empty modules in the place of absent ones
import numpy
import xgrammar

clock = time.perf_counter_ns


class Run:
    def __init__(self, case):
        self.patience = case["patience"]
        words, self.stops = read_words(case["vocabulary"])
        with open(case["schemas"]) as file:
            self.schemas = json.load(file)
        self.row = numpy.zeros((1, (len(words) + 31) // 32), dtype=numpy.int32)
        self.words = self.row.view(numpy.uint32)[0]
        info = xgrammar.TokenizerInfo(
            words, xgrammar.VocabType.RAW, vocab_size=len(words), stop_token_ids=self.stops
        )
        # Without a cache: what it learns of a schema is not to serve the next.
        self.compiler = xgrammar.GrammarCompiler(info, cache_enabled=False)

    def measure(self, schema):
        result = {
            "refusal": None,
            "first_mask": 0,
            "cold": [],
            "warm": [],
            "valid_refused": 0,
            "invalid_accepted": 0,
        }
        begin = clock()
        self.compiled = self.compiler.compile_json_schema(schema["text"], strict_mode=False)
        matcher = xgrammar.GrammarMatcher(self.compiled)
        before = clock()
        matcher.fill_next_token_bitmask(self.row)
        end = clock()
        result["first_mask"] = end - begin
        deadline = clock() + self.patience * 1e9
        followed = []
        for tokens in schema["valid"]:
            if clock() > deadline:
                break
            followed.append(tokens)
            result["valid_refused"] += not self.accepts(tokens, result["cold"])
        # The first mask of all was met before.
        result["cold"][:1] = [end - before] if result["cold"] else []
        for tokens in followed:
            self.accepts(tokens, result["warm"])
        for tokens in schema["invalid"]:
            result["invalid_accepted"] += self.accepts(tokens, [])
        return result

    def accepts(self, tokens, times):
        matcher = xgrammar.GrammarMatcher(self.compiled)
        for token in tokens:
            begin = clock()
            restricts = matcher.fill_next_token_bitmask(self.row)
            times.append(clock() - begin)
            if restricts and not allows(self.words, token) or not matcher.accept_token(token):
                return False
        begin = clock()
        restricts = matcher.fill_next_token_bitmask(self.row)
        times.append(clock() - begin)
        return not restricts or any(allows(self.words, stop) for stop in self.stops)


def main():
    with open(sys.argv[1]) as file:
        run = Run(json.load(file))
    results = []
    for schema in run.schemas:
        try:
            results.append(run.measure(schema))
        except (RuntimeError, ValueError) as refusal:
            refusal = " ".join(str(refusal).split())[:200]
            zero = {"first_mask": 0, "cold": [], "warm": [], "valid_refused": 0, "invalid_accepted": 0}
            results.append({"refusal": refusal, **zero})
    json.dump(results, sys.stdout)


main()
