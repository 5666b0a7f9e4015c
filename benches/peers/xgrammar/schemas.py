"""Measures xgrammar on schemas: what src/schemas/measure.rs does for the engines that are crates.

Its one argument is the case's file; it prints the measurements as JSON.

Some schemas take the engine longer than anybody waits, and a call from Python cannot be cut short.
So a second process measures the schemas one after the other. It is killed at a schema that takes
three times the case's patience, and another goes on behind that schema.
"""

import json
import select
import subprocess
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


ZERO = {"first_mask": 0, "cold": [], "warm": [], "valid_refused": 0, "invalid_accepted": 0}


def measure_from(run, first):
    """Prints an empty line once the vocabulary is read, then one for each schema from `first` on."""
    print(flush=True)
    for schema in run.schemas[first:]:
        try:
            result = run.measure(schema)
        except (RuntimeError, ValueError) as refusal:
            result = {"refusal": " ".join(str(refusal).split())[:200], **ZERO}
        print(json.dumps(result), flush=True)


def watch(path):
    """The measurements of all schemas."""
    with open(path) as file:
        case = json.load(file)
    with open(case["schemas"]) as file:
        count = len(json.load(file))
    seconds = 3 * case["patience"]
    results = []
    while len(results) < count:
        command = [sys.executable, __file__, path, str(len(results))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as process:
            if not process.stdout.readline():
                sys.exit("the engine does not start")
            while len(results) < count:
                refusal = "the process has died"
                if not select.select([process.stdout], [], [], seconds)[0]:
                    refusal = f"stopped after {seconds:.0f} s"
                    process.kill()
                line = process.stdout.readline()
                if not line.endswith(b"\n"):
                    results.append({"refusal": refusal, **ZERO})
                    break
                results.append(json.loads(line))
    return results


def main():
    path = sys.argv[1]
    if len(sys.argv) > 2:
        with open(path) as file:
            measure_from(Run(json.load(file)), int(sys.argv[2]))
    else:
        json.dump(watch(path), sys.stdout)


main()
