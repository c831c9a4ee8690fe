"""Training the demo judge: what a token sees, one seed one file, the same logits on both sides."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training is tested with requirements-train.txt only")
pytest.importorskip("tokenizers", reason="training is tested with requirements-train.txt only")

import torch

from engine.models.model_file import read_model_file
from models.demo.check_export import TOLERANCE, differences
from models.demo.export import read_network
from models.demo.forward import seen_from
from models.demo.gguf_files import read_vocabulary
from models.demo.teach import Lessons
from models.demo.train import Recipe
from models.demo.trainer import run_course
from tests.commands import ROOT

MODEL = ROOT / "models" / "demo-judge.gguf"
TINY = Recipe(reading_steps=2, reading_rows=2, judging_steps=2, judging_rows=2, layers=1, width=32, heads=2)


def test_a_token_sees_the_stem_the_trunk_and_its_own_branch() -> None:
    nothing = torch.zeros(1, 6, dtype=torch.int64)
    seen = seen_from(torch.tensor([[0, 0, 1, 1, 2, -1]]), nothing, stem=1)
    assert seen[0].int().tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0, 1, 0],
        [1, 1, 1, 0, 0, 0, 0],
    ]


def test_a_token_sees_the_branch_that_its_own_goes_on_from() -> None:
    seen = seen_from(torch.tensor([[0, 1, 2, 3, 4]]), torch.tensor([[0, 0, 1, 1, 0]]), stem=0)
    assert seen[0].int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [1, 0, 0, 0, 1],
    ]


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.gguf" for name in ("first", "second")]
    for file in files:
        run_course(TINY, file, every=4)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert read_model_file(files[0]).vocabulary_size == TINY.vocabulary


def test_lessons_go_on_from_a_file_and_give_the_same_file_again(tmp_path: Path) -> None:
    lessons = Lessons(MODEL, lessons=2, rows=1, drawn=2, rate=1e-5)
    files = [tmp_path / f"{name}.gguf" for name in ("first", "second")]
    for file in files:
        run_course(lessons, file, every=2)
    assert files[0].read_bytes() == files[1].read_bytes()
    before, after = (read_network(file).embedding.weight for file in (MODEL, files[0]))
    assert 0 < (before - after).abs().max() < 1e-3
    assert read_vocabulary(files[0]) == read_vocabulary(MODEL)


def test_llama_cpp_computes_what_pytorch_computes() -> None:
    found = differences(MODEL)
    assert found.same_weights < TOLERANCE
    assert found.file < 0.1
