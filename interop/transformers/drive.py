"""Generates texts with a real model, by all ways, and checks each with the grammar itself."""

import json
import sys
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
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
GRAMMARS = {
    "schema": lrmask.JsonSchema(PERSON, whitespace="none"),
    "sqlite": lrmask.Grammar.builtin("sqlite"),
    "python": lrmask.Grammar.builtin("python"),
    "regex": lrmask.Grammar.from_regex(r"[A-Z][a-z]{2,9}( [A-Z][a-z]{2,9}){1,3}"),
    "choices": lrmask.Grammar.from_choices(["yes", "no", "perhaps"]),
}
WAYS = {
    "greedy": {"do_sample": False},
    "sampling": {"do_sample": True, "num_return_sequences": 3},
    "beams": {"num_beams": 3, "do_sample": False},
    "beam sampling": {"num_beams": 3, "do_sample": True},
}

model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
torch.manual_seed(0)
accepted = cut = 0
for name, grammar in GRAMMARS.items():
    ready = constraint(grammar, tokenizer, model)
    for way, options in WAYS.items():
        prompts = [f"Write {name}:", f"Here is some {name}, as you asked:"]
        inputs = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
        ids = model.generate(
            **inputs,
            logits_processor=[GrammarLogitsProcessor(ready)],
            max_new_tokens=60,
            **options,
        )
        for row in ids[:, inputs["input_ids"].shape[1] :].tolist():
            matcher = ready.matcher()
            for token in row:
                if matcher.is_finished:
                    break
                matcher.advance(token)
            if matcher.is_finished:
                text = ready.vocabulary.decode(row)
                assert grammar.accepts(text), (name, way, text)
                accepted += 1
            else:
                # The text was cut by its length.
                assert matcher.shortest_completion() is not None, (name, way)
                cut += 1
text = generate(model, tokenizer, "A person:", GRAMMARS["schema"], max_new_tokens=80)
pieces = stream(model, tokenizer, "A person:", GRAMMARS["schema"], max_new_tokens=80)
assert isinstance(json.loads(text), dict) and "".join(pieces) == text


def seconds(**options: object) -> float:
    inputs = tokenizer("Once upon a time", return_tensors="pt")
    begun = time.perf_counter()
    model.generate(**inputs, do_sample=False, min_new_tokens=60, max_new_tokens=60, **options)
    return time.perf_counter() - begun


free = constraint(lrmask.Grammar.from_regex(r"[\x00-\U0010ffff]*"), tokenizer, model)
plain = min(seconds() for _ in range(3))
masked = min(seconds(logits_processor=[GrammarLogitsProcessor(free)]) for _ in range(3))
print(f"60 steps: {plain:.2f} s free, {masked:.2f} s with masks")
print(f"{accepted} texts accepted, {cut} cut by their length")
