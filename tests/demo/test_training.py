"""Training the demo judge: what a token sees, one seed one file, the same logits on both sides."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training is tested with requirements-train.txt only")
pytest.importorskip("tokenizers", reason="training is tested with requirements-train.txt only")

import torch

from engine.gguf.judge_file import read_model_file
from models.demo.check_export import TOLERANCE, differences
from models.demo.forward import seen_from
from models.demo.train import Recipe, train
from tests.commands import ROOT

TINY = Recipe(reading_steps=2, reading_rows=2, judging_steps=2, judging_rows=2, layers=1, width=32, heads=2)


def test_a_token_sees_the_stem_the_trunk_and_its_own_branch() -> None:
    seen = seen_from(torch.tensor([[0, 0, 1, 1, 2, -1]]), stem=1)
    assert seen[0].int().tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0, 1, 0],
        [1, 1, 1, 0, 0, 0, 0],
    ]


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.gguf" for name in ("first", "second")]
    for file in files:
        train(TINY, file, every=4)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert read_model_file(files[0]).vocabulary_size == TINY.vocabulary


def test_llama_cpp_computes_what_pytorch_computes() -> None:
    found = differences(ROOT / "models" / "demo-judge.gguf")
    assert found.same_weights < TOLERANCE
    assert found.file < 0.1
