"""Reads the vocabularies of llama.cpp's models, and decodes the ids beside them.

    vocabularies.py FOLDER OF VOCABULARIES [FOLDER OF TOKENIZERS]

A file `.inp` has texts, and `.out` the ids of each. The second folder has tokenizers' own files, as
`llama3/tokenizer.json.gz`: where one is that of a vocabulary, all tokens are compared.
"""

from __future__ import annotations

import gzip
import pathlib
import sys

import lrmask

#: Where else a vocabulary is described.
FILES = {
    "llama-bpe": "llama3/tokenizer.json.gz",
    "llama-spm": "llama2/tokenizer.model",
    "gpt-2": "gpt2/vocab.json.gz",
}
#: Tokenizers that lose part of a text: capitals, blanks, characters that they do not know.
LOSSY = {"bert-bge", "nomic-bert-moe"}


def texts(path: pathlib.Path) -> list[tuple[bytes, list[int]]]:
    inputs = path.with_suffix(".gguf.inp").read_bytes().split(b"\n__ggml_vocab_test__\n")
    outputs = path.with_suffix(".gguf.out").read_text().split("\n")
    return [(text, [int(id) for id in ids.split()]) for text, ids in zip(inputs, outputs)]


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    tokenizers = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    read = all_texts = right = compared = tokens = 0
    faults = []
    for path in sorted(folder.glob("ggml-vocab-*.gguf")):
        name = path.stem.removeprefix("ggml-vocab-")
        try:
            vocabulary = lrmask.Vocabulary.from_file(path)
        except ValueError as error:
            faults.append(f"{name}: {error}")
            continue
        read += 1
        line = f"{name}: {vocabulary}"
        if path.with_suffix(".gguf.inp").exists() and name not in LOSSY:
            found = 0
            for text, ids in texts(path):
                all_texts += 1
                decoded = vocabulary.decode(ids)
                # SentencePiece writes a blank before the text.
                found += decoded in (text, b" " + text)
                if decoded not in (text, b" " + text):
                    faults.append(f"{name}: {text!r} is read back as {decoded!r}")
            right += found
            line += f", {found} texts"
        file = tokenizers / FILES[name] if tokenizers and name in FILES else None
        if file is not None and file.exists():
            content = file.read_bytes()
            content = gzip.decompress(content) if file.suffix == ".gz" else content
            other = lrmask.Vocabulary.from_file_bytes(content)
            ids = range(max(vocabulary.width, other.width))
            differ = [
                id
                for id in ids
                if vocabulary.token_bytes(id) != other.token_bytes(id)
                or (id in vocabulary.special_tokens) != (id in other.special_tokens)
            ]
            compared += 1
            tokens += len(ids) - len(differ)
            line += f", {len(ids) - len(differ)} of {len(ids)} tokens as in {FILES[name]}"
            if differ:
                faults.append(
                    f"{name}: token {differ[0]} is {vocabulary.token_bytes(differ[0])!r} here, "
                    f"{other.token_bytes(differ[0])!r} there; {len(differ)} differ"
                )
        print(line)
    print("\n".join(faults))
    print(
        f"{read} vocabularies; {right} of {all_texts} texts read back from their ids; "
        f"{compared} vocabularies compared with other files, {tokens} tokens equal"
    )
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
