"""Check that llama.cpp and PyTorch compute the same from one GGUF file of the demo judge.

python -m models.demo.check_export models/demo-judge.gguf
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import llama_cpp
import numpy as np
import numpy.typing as npt
import torch

from engine.core.events import CancelToken
from engine.core.items import Order
from engine.llama.model import LlamaModel, Vocabulary
from engine.models.templates import chat_template
from engine.prompt.judge_prompt import build_prompt
from models.demo.export import read_network, write_judge
from models.demo.forward import at_places, hidden_states
from models.demo.gguf_files import read_vocabulary
from models.demo.questions import RUBRIC, all_questions
from models.demo.rows import Content, Row, RowWriter, as_batch, question_tokens
from models.demo.vocabulary import TEMPLATE
from models.demo.world import World

_ITEMS = 2
_CONTENT = Content(rows=1, drawn=len(RUBRIC.criteria), thorough=1)
_ROOM = 1024
TOLERANCE = 0.0005
"""Of logits, where both sides have the same 32-bit weights."""


@dataclass(frozen=True)
class Differences:
    """The largest differences of logits: with the same 32-bit weights, and between these and the file itself.

    llama.cpp rounds what it multiplies with 16-bit weights to 16 bits, so the second is larger. The KV cache
    has 32 bits in both.
    """

    same_weights: float
    file: float


def differences(path: Path, items: int = _ITEMS) -> Differences:
    """Compare whole vocabularies of logits where answers are read, on items of the demo's world: the label
    tokens of all criteria of both rubrics, all other methods for one of them.

    PyTorch reads an item as one row with a tree-shaped mask, llama.cpp each prompt as a whole.
    """
    network, world, questions = read_network(path), World(), all_questions()
    rows, prompts = list[Row](), []
    with LlamaModel(path, vocabulary_only=True) as model:
        writer = RowWriter(model, TEMPLATE, world.topics)
        template = chat_template(model.chat_template, Vocabulary(model), CancelToken())
        for comparison in islice(world.comparisons(Random(0), held_out=True), items):
            row = writer.row(comparison, Random(len(rows)), _CONTENT)
            tree = build_prompt(comparison.item("check"), Order.AB, RUBRIC)
            asked = [questions[number] for number in row.asked]
            prompts.append([question_tokens(tree, question, template).prompt for question in asked])
            rows.append(row)
        stem = torch.tensor(writer.stem)
    batch = as_batch(rows)
    with torch.no_grad():
        hidden = hidden_states(network, stem, batch)
        trained = network.logits(at_places(hidden, batch.label_places)).numpy()
    with TemporaryDirectory() as folder:
        copy = write_judge(Path(folder) / "copy.gguf", network, read_vocabulary(path), half=False)
        exported = _llama_logits(copy, prompts)
    return Differences(
        same_weights=float(np.abs(trained - exported).max()),
        file=float(np.abs(trained - _llama_logits(path, prompts)).max()),
    )


def _llama_logits(path: Path, prompts: Sequence[Sequence[Sequence[int]]]) -> npt.NDArray[np.float32]:
    """Logits after each prompt, [items, branches, vocabulary]."""
    llama = llama_cpp.Llama(
        str(path),
        n_ctx=_ROOM,
        n_batch=_ROOM,
        n_threads=1,
        type_k=llama_cpp.GGML_TYPE_F32,
        type_v=llama_cpp.GGML_TYPE_F32,
        logits_all=True,
        verbose=False,
    )
    try:
        return np.array([[_last_logits(llama, prompt) for prompt in branches] for branches in prompts])
    finally:
        llama.close()


def _last_logits(llama: llama_cpp.Llama, prompt: Sequence[int]) -> npt.NDArray[np.float32]:
    llama.reset()  # type: ignore[no-untyped-call]
    llama.eval(list(prompt))
    return np.array(llama.scores[len(prompt) - 1])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare llama.cpp with PyTorch on one file.")
    parser.add_argument("model", type=Path)
    found = differences(parser.parse_args().model)
    print(f"largest difference of logits: {found.same_weights:.5f} with 32-bit weights on both sides,")
    print(f"{found.file:.5f} between these and the 16-bit file")
    sys.exit(0 if found.same_weights < TOLERANCE else 1)
