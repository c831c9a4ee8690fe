"""Check that llama.cpp and PyTorch compute the same from one GGUF file of the demo judge.

    python -m models.demo.check_export models/demo-judge.gguf

Knows: both sides' logits. Does not know: training, what the logits mean.
"""

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from random import Random

import llama_cpp
import numpy as np
import numpy.typing as npt
import torch

from engine.chat_template import ChatTemplate
from engine.llama_library import LlamaModel
from engine.llama_vocabulary import Vocabulary
from engine.prompt_tokens import tokenize_prompt
from engine.prompts import build_prompt
from engine.records import Order
from engine.rubric import ELOQUENT
from models.demo.export import read_network
from models.demo.rows import Content, RowWriter, as_batch
from models.demo.train import at_places, hidden_states
from models.demo.vocabulary import TEMPLATE
from models.demo.world import World

_ITEMS = 8
_ROOM = 1024
# llama.cpp multiplies 16-bit matrices with activations rounded to 16 bits.
TOLERANCE = 0.05
"""Of log-probabilities, natural logarithm."""


def largest_differences(path: Path, items: int = _ITEMS) -> tuple[float, float]:
    """How far apart logits and log-probabilities are at most, over whole vocabularies, where labels are read.

    PyTorch reads an item as one row with a tree-shaped mask, llama.cpp each prompt as a whole.
    """
    network, world = read_network(path), World()
    rows, prompts = [], []
    with LlamaModel(path) as model:
        writer = RowWriter(model, TEMPLATE, world.topics)
        template = ChatTemplate(model.chat_template, Vocabulary(model))
        for comparison in islice(world.comparisons(Random(0), held_out=True), items):
            rows.append(writer.row(comparison, Random(0), Content(items)))
            tree = build_prompt(comparison.item("check"), Order.AB, ELOQUENT)
            prompts.append([branch.prompt for branch in tokenize_prompt(tree, template).branches])
        stem = torch.tensor(writer.stem)
    batch = as_batch(rows)
    with torch.no_grad():
        hidden = hidden_states(network, stem, batch)
        trained = network.logits(at_places(hidden, batch.label_places)).numpy()
    exported = _llama_logits(path, prompts)
    return (
        float(np.abs(trained - exported).max()),
        float(np.abs(_log_softmax(trained) - _log_softmax(exported)).max()),
    )


def _llama_logits(path: Path, prompts: Sequence[Sequence[Sequence[int]]]) -> npt.NDArray[np.float32]:
    """Logits after each prompt, [items, branches, vocabulary]."""
    llama = llama_cpp.Llama(str(path), n_ctx=_ROOM, n_batch=_ROOM, logits_all=True, verbose=False)
    try:
        return np.array([[_last_logits(llama, prompt) for prompt in branches] for branches in prompts])
    finally:
        llama.close()


def _last_logits(llama: llama_cpp.Llama, prompt: Sequence[int]) -> npt.NDArray[np.float32]:
    llama.reset()  # type: ignore[no-untyped-call]
    llama.eval(list(prompt))
    return np.array(llama.scores[len(prompt) - 1])


def _log_softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    shifted = logits - logits.max(-1, keepdims=True)
    return np.array(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


if __name__ == "__main__":
    logits, log_probabilities = largest_differences(Path(sys.argv[1]))
    print(f"largest difference of logits {logits:.4f}, of log-probabilities {log_probabilities:.4f}")
    sys.exit(log_probabilities > TOLERANCE)
