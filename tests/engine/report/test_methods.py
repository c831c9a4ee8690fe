"""The paragraph of methods: what it says of runs, submissions and people, each sentence with its source."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.core.events import Reports
from engine.core.items import Prediction
from engine.data.submission import Submission, SubmissionRow
from engine.measure.systems import System
from engine.rank.ranking import Ranking, rank
from engine.report.methods import methods, methods_text
from engine.report.ranked_by import RankedBy
from engine.system.paths import demo_model
from tests.engine.rank.worlds import davidson_contests
from tests.judged import SURE_A, A, B, dataset, stored_run

GOLD = dataset({"safety": [A, A, B, A]})


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    reports = Reports(rank(davidson_contests([0.8, 0.0, -0.8], 120, seed=1)))
    list(reports)
    return reports.result


def text_of(ranked: RankedBy, ranking: Ranking) -> str:
    return methods_text(ranked, ranking, seed=7)


def of_run(folder: Path, **changes: Any) -> RankedBy:
    return RankedBy.by_system(stored_run(folder, GOLD, {"safety": [SURE_A] * 4}, **changes), GOLD, "safety")


def test_each_sentence_has_a_number_and_each_number_a_source(tmp_path: Path, ranking: Ranking) -> None:
    ranked = of_run(tmp_path)
    said = methods(ranked, ranking, 7)
    text = text_of(ranked, ranking)
    sources = list(dict.fromkeys(each.source for each in said))
    for each in said:
        assert f"{each.text} [{sources.index(each.source) + 1}]" in text
    for number, source in enumerate(sources, 1):
        assert f"\n[{number}] {source}\n" in text


def test_a_run_is_told_by_its_facts(tmp_path: Path, ranking: Ranking) -> None:
    model = demo_model()
    manifest = {"llama_cpp": "llama.cpp b1", "model_bytes": model.stat().st_size}
    named = {"model_path": model, "model_name": "demo-judge", "manifest": manifest}
    text = text_of(of_run(tmp_path, **named), ranking)
    for part in (
        "3 candidates (c0, c1, c2) were compared in 120 pairs of responses to",
        "The judge is demo-judge (F16), run with llama.cpp b1. ",
        "prompt version 7 of Tiebreak, by letters: safety, “",
        "Items were read in both orders;",
        "Its probabilities were not calibrated.",
        "All labels are the judge's.",
        "of 1,000 bootstrap draws of instructions (seed 7)",
        f"SHA-256 {'f' * 64}",
        f"SHA-256 of its texts {GOLD.hash}",
    ):
        assert part in text


def test_what_is_not_known_is_said(tmp_path: Path, ranking: Ranking) -> None:
    assert "a model (quantisation not known, the file is gone or another)" in text_of(
        of_run(tmp_path, manifest={}), ranking
    )
    rows = tuple(SubmissionRow(item.id, {"safety": Prediction(A)}) for item in GOLD)
    system = System("theirs.tsv", Submission(rows, ("safety",), with_explanations=False))
    text = text_of(RankedBy.by_system(system, GOLD, "safety"), ranking)
    assert "The labels on safety are those of theirs.tsv; of how they were made nothing is known." in text
    assert "prompt version" not in text


def test_without_strengths_nothing_is_said_of_them(tmp_path: Path, ranking: Ranking) -> None:
    text = text_of(of_run(tmp_path), replace(ranking, strengths=None))
    assert "Bradley-Terry" not in text
    assert "Korn and Graubard" in text
