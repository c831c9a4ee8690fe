"""`runs export --accepted`, `rank --accepted`, and what `trust` writes for a paper."""

from collections.abc import Callable
from pathlib import Path

import pytest

import tiebreak
from engine.api.refused import TiebreakNotice
from engine.data.submission import read_submission
from tests.commands import printed, refusal
from tests.judged import RATHER_A, SURE_A, A, B, dataset, stored_run
from tests.kept_trust import kept_trust_of, manifest_of

ITEMS = 60


@pytest.fixture
def gold(save: Callable[[str, bytes], Path]) -> Path:
    """The items of run 1, with labels and candidates; its judge is sure of the first half."""
    labels = [A] * (ITEMS - 15) + [B] * 15
    made = dataset({"safety": labels})
    lines = ["id\tinstruction\toutput_a\toutput_b\tsafety_preference\tcandidate_a\tcandidate_b"]
    for place, (item, label) in enumerate(zip(made, labels, strict=True)):
        names = ("one", "two") if place % 3 else ("two", "one")
        lines.append("\t".join((item.id, item.instruction, "a", "b", label, *names)))
    path = save("gold.tsv", "\n".join(lines).encode())
    half = ITEMS // 2
    kept = manifest_of(kept_trust_of({"safety": 0.7}))
    stored_run(path.parent, made, {"safety": [SURE_A] * half + [RATHER_A] * half}, manifest=kept)
    return path


def with_store(gold: Path, *words: object) -> tuple[object, ...]:
    return *words, "--store", gold.with_name("runs.sqlite")


def test_an_export_holds_what_may_stand_and_says_by_what(gold: Path, tmp_path: Path) -> None:
    out, pairs = tmp_path / "out.tsv", tmp_path / "pairs.jsonl"
    said = printed(*with_store(gold, "runs", "export", 1, "--accepted", "--out", out))
    assert "at least 85.0 % of these labels agree with people, at a risk of 10.0 %" in said
    assert "Safety: from 0.700 on" in said
    assert "30 labels are left out." in said
    labels = [row.predictions["safety"].preference for row in read_submission(out).rows]
    assert labels == [A] * 30 + [None] * 30
    more = ("--for", "dpo", "--out", pairs, "--dataset", gold)
    said = printed(*with_store(gold, "runs", "export", 1, "--accepted", *more))
    assert "30 pairs on safety; omitted: 0 ties, 0 without a label, 30 whose label may not stand." in said


def test_a_log_in_which_they_would_count_as_wrong_is_refused(gold: Path, tmp_path: Path) -> None:
    words = ("--accepted", "--for", "inspect", "--dataset", gold, "--out", tmp_path / "x.json")
    refused = refusal(*with_store(gold, "runs", "export", 1, *words))
    assert "a log of inspect_ai counts what is left out as wrong" in refused
    assert not (tmp_path / "x.json").exists()


def test_a_run_without_thresholds_has_no_accepted_labels(tmp_path: Path) -> None:
    stored_run(tmp_path, dataset({"safety": [A]}), {"safety": [SURE_A]})
    words = ("runs", "export", 1, "--accepted", "--out", tmp_path / "x.tsv")
    refused = refusal(*words, "--store", tmp_path / "runs.sqlite")
    assert "Which labels of run 1 may stand is not known." in refused
    assert not (tmp_path / "x.tsv").exists()


def test_a_ranking_by_accepted_labels_says_what_its_intervals_are_of(gold: Path) -> None:
    said = printed(*with_store(gold, "rank", 1, "--gold", gold, "--accepted"))
    assert "Run 1, safety, labels that may stand: 2 candidates in 30 of 60 items" in said
    assert "all rates and intervals are of these items alone" in said
    assert "Corrected by human labels" not in said
    assert "Which labels may stand is kept with runs alone." in refusal("rank", gold, "--accepted")


def test_trust_writes_its_figure_and_its_methods(gold: Path, tmp_path: Path) -> None:
    methods = ("--methods-text", tmp_path / "m.tex", "--bib", tmp_path / "m.bib")
    said = printed(*with_store(gold, "trust", 1, "--gold", gold, "--figures", tmp_path / "new", *methods))
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["trust.png", "trust.svg"]
    assert "Figure: " in said
    assert r"\cite{jung2024trust}" in (tmp_path / "m.tex").read_text("utf-8")
    assert "wiens2005fallback" in (tmp_path / "m.bib").read_text("utf-8")


@pytest.mark.filterwarnings("ignore:Only labels that may stand")
def test_a_notebook_writes_what_may_stand(gold: Path, tmp_path: Path) -> None:
    run = tiebreak.Run(1, gold.with_name("runs.sqlite"))
    with pytest.warns(TiebreakNotice, match="30 labels are left out"):
        out = run.submission(tmp_path / "out.tsv", accepted=True)
    labels = [row.predictions["safety"].preference for row in read_submission(out).rows]
    assert labels == [A] * 30 + [None] * 30
    assert all(row.predictions["safety"].preference for row in read_submission(run.submission(out)).rows)
