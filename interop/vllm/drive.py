"""Sends requests of all kinds to vLLM's engine, hostile ones among them."""

import json
import re
import sys
import time

import lrmask

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
REQUESTS = [
    ({"json": SCHEMA}, lambda text: set(json.loads(text)) == {"name", "age"}),
    ({"regex": "[a-f]{4,8}"}, lambda text: re.fullmatch("[a-f]{4,8}", text)),
    ({"choice": ["red", "green", "blue"]}, lambda text: text in ("red", "green", "blue")),
    ({"grammar": 'start: "<" /[0-9]{1,5}/ ">"'}, lambda text: re.fullmatch("<[0-9]{1,5}>", text)),
    ({"grammar": 'root ::= "(" [a-z]+ ")"'}, lambda text: re.fullmatch(r"\([a-z]+\)", text)),
]
HOSTILE = [
    {"grammar": "start: nowhere"},
    {"json": '{"type": "nothing"}'},
    {"regex": "(a|b)*a(a|b){40}"},
]


def main() -> None:
    from vllm import LLM, SamplingParams
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import StructuredOutputsParams

    drafts = int(sys.argv[2])
    options = {}
    if drafts:
        options["speculative_config"] = {
            "method": "ngram",
            "num_speculative_tokens": drafts,
            "prompt_lookup_max": 4,
        }
    model = LLM(
        sys.argv[1],
        dtype="bfloat16",
        enforce_eager=True,
        max_model_len=1024,
        max_num_seqs=8,
        **options,
    )
    begun = time.perf_counter()
    valid = cut = refused = tokens = 0
    params = [
        SamplingParams(max_tokens=120, seed=n, structured_outputs=StructuredOutputsParams(**of))
        for n, (of, _) in enumerate(REQUESTS * 6)
    ]
    for hostile in HOSTILE:
        bad = SamplingParams(structured_outputs=StructuredOutputsParams(**hostile))
        try:
            model.generate(["A text:"], [bad])
            raise AssertionError(f"accepted: {hostile}")
        except VLLMValidationError as error:
            assert "Grammar error" in str(error), error
            refused += 1
    for output, (_, is_valid) in zip(
        model.generate(["Write what is asked:"] * len(params), params), REQUESTS * 6
    ):
        [written] = output.outputs
        tokens += len(written.token_ids)
        if written.finish_reason == "length":
            cut += 1
            continue
        assert is_valid(written.text), written.text
        valid += 1
    seconds = time.perf_counter() - begun
    print(
        f"lrmask {lrmask.__version__}, {drafts} drafts: {valid} valid, {cut} cut, "
        f"{refused} refused, {tokens / seconds:.0f} tokens a second"
    )


if __name__ == "__main__":
    main()
