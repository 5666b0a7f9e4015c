"""Sends requests of all kinds to servers of vLLM, on one engine after the other.

    drive.py MODEL [--count 200] [--hostile 20] [--schemas ARCHIVE] [ENGINE...]

Each server has one backend. `lrmask` is this package's plug-in, `lrmask-drafts` with speculation by
n-grams; `shim` is vLLM's own backend `guidance`, on lrmask in llguidance's place; `guidance` and
`xgrammar` are those, without lrmask. The last line sums up.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import kinds
import lrmask
import lrmask.vllm

DRAFTS = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}
#: Backend, whether the plug-in is on, and what is in llguidance's place.
ENGINES: dict[str, dict[str, Any]] = {
    "lrmask": {"backend": "auto", "plugin": True},
    "lrmask-drafts": {"backend": "auto", "plugin": True, "drafts": True},
    "shim": {"backend": "guidance", "plugin": False, "shim": True},
    "guidance": {"backend": "guidance", "plugin": False},
    "xgrammar": {"backend": "xgrammar", "plugin": False},
}


@contextmanager
def server(model: str, log: pathlib.Path, engine: dict[str, Any]) -> Iterator[str]:
    """A server on this machine; its address."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [
        *(sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", model),
        *("--served-model-name", "model", "--host", "127.0.0.1", "--port", str(port)),
        *("--dtype", "bfloat16", "--enforce-eager", "--max-model-len", "1024"),
        *("--max-num-seqs", "8", "--structured-outputs-config.backend", engine["backend"]),
    ]
    if engine.get("drafts"):
        command += ["--speculative-config", json.dumps(DRAFTS)]
    environment = {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        **os.environ,
        "LRMASK_VLLM": "on" if engine["plugin"] else "off",
    }
    if engine.get("shim"):
        # Python imports it in every process, before anything else.
        environment["PYTHONPATH"] = str(pathlib.Path(__file__).parent / "shim")
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            time.sleep(1)
            if process.poll() is not None:
                raise RuntimeError(f"the server has ended; see {log}")
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5)
                break
            except OSError:
                continue
        yield address
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclasses.dataclass
class Answer:
    status: int
    text: str
    finish: str = ""
    tokens: int = 0


def ask(address: str, prompt: str, outputs: dict[str, Any], max_tokens: int, seed: int) -> Answer:
    body = {
        "model": "model",
        "prompt": prompt,
        "max_tokens": max_tokens,
        "temperature": 0.7,
        "seed": seed,
        "structured_outputs": outputs,
    }
    request = urllib.request.Request(
        f"{address}/v1/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=900) as response:
            answer = json.loads(response.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read().decode(errors="replace"))
    [choice] = answer["choices"]
    tokens = answer["usage"]["completion_tokens"]
    return Answer(200, choice["text"], choice["finish_reason"], tokens)


def prefix_is_valid(request: kinds.Request, text: str) -> bool:
    """Whether a text that was cut may become a sentence."""
    kind, spec = next(iter(request.outputs.items()))
    names = {"json": "JSON", "structural_tag": "STRUCTURAL_TAG"}
    grammar = lrmask.vllm.grammar_of(names.get(kind, kind.upper()), spec)
    matcher = lrmask.Constraint(grammar, lrmask.Vocabulary.builtin("bytes")).matcher()
    try:
        matcher.advance_bytes(text.rstrip("\ufffd"))
    except lrmask.AdvanceError:
        return False
    return matcher.shortest_completion() is not None


def drive(name: str, arguments: argparse.Namespace) -> tuple[str, list[str], dict[int, str]]:
    """The result in a line, the faults, and the answers by number."""
    engine = ENGINES[name]
    own = "lrmask" in name or name == "shim"
    asked = [
        (number, request)
        for number, request in enumerate(
            kinds.mixed(arguments.count, arguments.schemas, arguments.hostile)
        )
        if own or (isinstance(request, kinds.Request) and request.is_common)
    ]
    counts: collections.Counter[str] = collections.Counter()
    faults: list[str] = []
    answers: dict[int, str] = {}
    tokens = 0
    log = pathlib.Path(arguments.logs) / f"{name}.log"

    def work(address: str, number: int, request: Any) -> Answer:
        if isinstance(request, dict):
            return ask(address, "A text: ", request, 20, number)
        return ask(address, request.prompt, request.outputs, request.max_tokens, number)

    with server(arguments.model, log, engine) as address:
        ask(address, "Once", {"regex": "[a-z]+"}, 5, 0)
        begun = time.perf_counter()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            futures = [(n, r, pool.submit(work, address, n, r)) for n, r in asked]
            done = [(number, request, future.result()) for number, request, future in futures]
        seconds = time.perf_counter() - begun
    for number, request, answer in done:
        if isinstance(request, dict):
            good = answer.status == 400 and "error[" in answer.text
            counts["refused" if good else "not refused"] += 1
            if not good:
                faults.append(f"{str(request)[:90]}: {answer.status} {answer.text[:300]}")
            continue
        tokens += answer.tokens
        if answer.status != 200:
            counts["failed"] += 1
            faults.append(f"{number} {request.kind}: {answer.status} {answer.text[:500]}")
        elif answer.finish == "length":
            good = not own or prefix_is_valid(request, answer.text)
            counts["cut" if good else "badly cut"] += 1
            if not good:
                faults.append(f"{number} {request.kind}: cut {answer.text!r}")
        else:
            answers[number] = answer.text
            try:
                good = request.is_valid(answer.text)
            except (ValueError, SyntaxError):
                good = False
            counts["valid" if good else "invalid"] += 1
            if not good:
                asked_for = str(request.outputs)[:300]
                faults.append(f"{number} {request.kind}: {answer.text!r} {asked_for}")
    result = f"{name}: {', '.join(f'{count} {what}' for what, count in sorted(counts.items()))}"
    return f"{result}; {tokens / seconds:.0f} tokens a second", faults, answers


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("engines", nargs="*", default=list(ENGINES))
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--hostile", type=int, default=20)
    parser.add_argument("--schemas")
    parser.add_argument("--logs", default=tempfile.gettempdir())
    arguments = parser.parse_args()
    results = []
    texts: dict[str, dict[int, str]] = {}
    for name in arguments.engines:
        result, faults, texts[name] = drive(name, arguments)
        print("\n".join([*faults, result]), flush=True)
        results.append(result)
    if "lrmask" in texts and "shim" in texts:
        both = texts["lrmask"].keys() & texts["shim"].keys()
        equal = sum(texts["lrmask"][number] == texts["shim"][number] for number in both)
        results.append(f"{equal} of {len(both)} answers of lrmask and shim are equal")
    print("; ".join(results))


if __name__ == "__main__":
    main()
