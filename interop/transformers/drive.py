"""Generates texts with a real model, by all ways, and has each judged by `lrmask validate`."""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import lrmask
import torch
from lrmask.transformers import GrammarLogitsProcessor, constraint, generate, stream
from transformers import AutoModelForCausalLM, AutoTokenizer

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "hobbies": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
TAGS = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<tool="],
        "tags": [
            {
                "begin": f"<tool={name}>",
                "content": {"type": "json_schema", "json_schema": schema},
                "end": "</tool>",
            }
            for name, schema in (("person", PERSON), ("none", {"type": "null"}))
        ],
        "at_least_one": True,
    },
}
PATTERN = r"[A-Z][a-z]{2,9}( [A-Z][a-z]{2,9}){1,3}"
#: Grammars, and the prompts before them. A file's name ends as the command line wants it.
GRAMMARS = {
    "schema.json": (lrmask.JsonSchema(PERSON), json.dumps(PERSON), "A person as JSON: "),
    "tags.json": (lrmask.Grammar.from_structural_tags(TAGS), json.dumps(TAGS), "A call: "),
    "name.regex": (lrmask.Grammar.from_regex(PATTERN), PATTERN, "The president's name is "),
    "sqlite": (lrmask.Grammar.builtin("sqlite"), None, "All films of 1999, in SQL: "),
    "python": (lrmask.Grammar.builtin("python"), None, "# Python: adds two numbers.\n"),
}
WAYS = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 3, "do_sample": False, "num_return_sequences": 3},
    "beam sampling": {"num_beams": 3, "do_sample": True, "num_return_sequences": 3},
}

torch.manual_seed(0)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
folder = pathlib.Path(tempfile.mkdtemp())
counts = {"accepted": 0, "accepted with a completion": 0, "refused": 0}
texts = 0
in_masks = in_all = 0.0


class Timed(GrammarLogitsProcessor):
    def __call__(self, input_ids: object, scores: object) -> object:
        global in_masks
        begun = time.thread_time()
        try:
            return super().__call__(input_ids, scores)
        finally:
            in_masks += time.thread_time() - begun


def is_accepted(grammar: str, text: bytes) -> bool:
    command = [sys.executable, "-m", "lrmask", "validate", grammar, "-"]
    return subprocess.run(command, input=text, capture_output=True).returncode == 0


for name, (grammar, file, prompt) in GRAMMARS.items():
    path = name
    if file is not None:
        path = str(folder / name)
        pathlib.Path(path).write_text(file)
    ready = constraint(grammar, tokenizer, model)
    for way, options in WAYS.items():
        prompts = [prompt, f"Here it is, as you asked.\n{prompt}"]
        inputs = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
        begun = time.process_time()
        ids = model.generate(
            **inputs,
            logits_processor=[Timed(ready)],
            max_new_tokens=60,
            **options,
        )
        in_all += time.process_time() - begun
        for row in ids[:, inputs["input_ids"].shape[1] :].tolist():
            texts += 1
            matcher = ready.matcher()
            for token in row:
                if matcher.is_finished:
                    break
                matcher.advance(token)
            text = ready.vocabulary.decode(row)
            end = b"" if matcher.is_finished else matcher.shortest_completion()
            if end is None or not is_accepted(path, text + end):
                counts["refused"] += 1
                print(f"{name}, {way}: {text!r} {end!r}")
            else:
                counts["accepted" if not end else "accepted with a completion"] += 1
text = generate(model, tokenizer, "A person:", GRAMMARS["schema.json"][0], max_new_tokens=80)
pieces = stream(model, tokenizer, "A person:", GRAMMARS["schema.json"][0], max_new_tokens=80)
assert "".join(pieces) == text


def seconds(**options: object) -> float:
    inputs = tokenizer("Once upon a time", return_tensors="pt")
    begun = time.process_time()
    model.generate(**inputs, do_sample=False, min_new_tokens=60, max_new_tokens=60, **options)
    return time.process_time() - begun


free = constraint(lrmask.Grammar.from_regex(r"[\x00-\U0010ffff]*"), tokenizer, model)
plain, masked = [], []
for _ in range(5):
    plain.append(seconds())
    masked.append(seconds(logits_processor=[GrammarLogitsProcessor(free)]))
speed = f"{60 / min(plain):.1f} steps a second free, {60 / min(masked):.1f} with masks"
print(
    f"{speed}; {texts} texts: {', '.join(f'{count} {what}' for what, count in counts.items())}; "
    f"masks took {100 * in_masks / in_all:.2f} % of the processor's time"
)
sys.exit(counts["refused"] > 0)
