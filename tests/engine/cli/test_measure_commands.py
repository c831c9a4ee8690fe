"""`evaluate`, `weigh` and `compare` on a run of the demo judge."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli.shared.console import INCOMPLETE
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT, give, refusal, run_here
from tests.engine.cli.in_process import Command, Streams, row

ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"


def first_of(gold: Path, folder: Path) -> Path:
    few = folder / "few.tsv"
    few.write_bytes(b"".join(gold.read_bytes().splitlines(keepends=True)[:5]))
    return few


def test_a_required_measure_decides_the_exit_code(demo_store: Path, demo_gold: Path) -> None:
    asked = ("evaluate", 1, "--gold", demo_gold, "--store", demo_store, "--require")
    done = run_here(*asked, "accuracy>=0.5", "--require", "safety:accuracy.low >= 0.5")
    assert (done.returncode, done.stderr.count(": met.")) == (0, 2)
    done = run_here(*asked, "accuracy>=0.5", "--require", "safety:kappa>=1.1")
    assert done.returncode == INCOMPLETE
    assert "Required: safety:kappa >= 1.1." in done.stderr
    assert "not met." in done.stderr
    assert "--require: cannot read 'accuracy=0.7'" in refusal(*asked, "accuracy=0.7")
    assert "there is no measure 'acuracy'.\nDid you mean accuracy?" in refusal(*asked, "acuracy>=0")


def test_a_run_and_its_submission_score_the_same(command: Command, demo_store: Path, demo_gold: Path) -> None:
    folder = demo_store.parent
    of_run = command("evaluate", 1, "--gold", demo_gold, "--json", folder / "run.json")
    of_file = command("evaluate", folder / "submission.tsv", "--gold", demo_gold, "--json", folder / "f.json")
    assert row(of_run, "safety") == row(of_file, "safety")
    scores = [json.loads((folder / name).read_text("utf-8")) for name in ("run.json", "f.json")]
    for score in scores:
        del score["details"]
    assert scores[0] == scores[1]
    assert scores[0]["safety_accuracy"] > 90
    assert scores[0]["safety_rougeL"] > 80


def test_labels_of_a_part_correct_the_shares_of_all(
    command: Command, demo_gold: Path, tmp_path: Path
) -> None:
    head, *rows = demo_gold.read_text("utf-8").splitlines()
    place, file = head.split("\t").index("safety_preference"), tmp_path / "scores.json"
    cells = [line.split("\t") for line in rows]
    for line in cells[-4:]:
        line[place] = ""
    part = tmp_path / "part.tsv"
    part.write_text("\n".join([head, *map("\t".join, cells), ""]), "utf-8")
    command("evaluate", 1, "--gold", part, "--partial", "--json", file)
    found = json.loads(file.read_text("utf-8"))["details"]["corrected_shares"]
    assert [*found] == ["safety"]
    assert [*found["safety"]["all items"]] == [label.value for label in PREFERENCES]
    command("evaluate", 1, "--gold", demo_gold, "--json", file)
    assert "corrected_shares" not in json.loads(file.read_text("utf-8"))["details"]


def test_a_dataset_with_other_texts_under_the_same_ids_is_refused(
    command: Command, demo_store: Path, demo_gold: Path
) -> None:
    other = demo_store.with_name("other_texts.tsv")
    other.write_bytes(demo_gold.read_bytes().replace(b" the ", b" a "))
    with pytest.raises(SetupError, match="has other texts than run 1 judged"):
        command("evaluate", 1, "--gold", other)


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_bertscore_and_agreement_are_measured_once(
    command: Command,
    demo_gold: Path,
    demo_store: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    def not_again(*_: object) -> None:
        pytest.fail("a model is opened again")

    few = first_of(demo_gold, tmp_path)
    words = [1, "--gold", few, "--partial", "--threads", 1]
    words += ["--encoder", ENCODER, "--judge-model", demo_model()]
    files = ["--json", demo_store.with_name("slow.json"), "--store", demo_store]
    before = measured_in(demo_store)  # by other tests
    assert give("evaluate", *words, *files) == 0
    first = capsys.readouterr()
    once = measured_in(demo_store)
    assert 5 * 4 <= once <= before + 2 * 5 * 4
    # The demo judge says yes or no to whatever is asked so; nothing warns of that it has not learned this.
    assert "it did not understand the question" not in first.err
    scores = json.loads(demo_store.with_name("slow.json").read_text("utf-8"))
    assert 0 < scores["safety_bertscore_f1"] <= 100
    assert 0 <= scores["safety_demo-judge"] <= 100
    assert scores["details"]["explanations"]["safety"]["p_yes"] > 0
    monkeypatch.setattr("engine.metrics.model_measures.open_encoder", not_again)
    monkeypatch.setattr("engine.metrics.model_measures.open_agreement_model", not_again)
    assert command("evaluate", *words) == first.out.split("\n\n", 1)[1]
    assert measured_in(demo_store) == once


def measured_in(path: Path) -> int:
    with RunStore(path) as store:
        return int(store._file._db.execute("SELECT count(*) FROM measured").fetchone()[0])


def test_a_judge_model_that_does_not_say_yes_or_no_is_named(
    demo_gold: Path,
    demo_store: Path,
    tmp_path: Path,
    tried_model: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = first_of(demo_gold, tmp_path)
    words = [1, "--gold", few, "--partial", "--threads", 1, "--judge-model", tried_model("headers")]
    assert give("evaluate", *words, "--store", demo_store) == 0
    assert "it did not understand the question" in capsys.readouterr().err


def test_a_judge_that_gives_one_label_is_named_as_one_to_look_at(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    constant, out = demo_store.with_name("constant.tsv"), tmp_path / "scores.json"
    text = (demo_store.parent / "submission.tsv").read_text("utf-8")
    constant.write_text(re.sub(r"\t(A|B|both_good|both_bad)(?=\t)", "\tA", text), "utf-8")
    # Of labels alone nobody knows whether it went by the place.
    verdict = "The model may not judge properly. In its answers for 30 items:\n"
    sign = "- 100.0 % of all labels are “A”, whatever the item and the criterion. Both orders would show"
    assert verdict + sign in command("evaluate", constant, "--gold", demo_gold, "--json", out)
    assert json.loads(out.read_text("utf-8"))["details"]["health"]["verdict"] == "look_closely"
    assert "No technical problem in the 30 answers." in command("evaluate", 1, "--gold", demo_gold)
    compared = command("compare", 1, constant, "--gold", demo_gold)
    assert compared.count(verdict) == 1
    assert "constant.tsv:\n    The model may not judge" in compared


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["1", "--weights", "speed=1"], "run 1 has no criterion speed"),
        (["1", "--fit-weights"], "--fit-weights needs human labels"),
        (["1", "--tie-threshold", "-1"], "tie_threshold is -1"),
        (["7"], "has no run 7"),
        (["99999999999999999999"], "has no run 99999999999999999999"),  # more than SQLite can keep
    ],
)
def test_weigh_refuses_what_means_nothing(command: Command, words: list[str], problem: str) -> None:
    with pytest.raises(SetupError, match=problem):
        command("weighted-score", *words)


def test_fitted_weights_know_the_items_of_their_fit(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    out = demo_store.with_name("fitted.json")
    two = "relevance=1,overall_quality=1"
    command("weighted-score", 1, "--gold", demo_gold, "--weights", two, "--fit-weights", "--json", out)
    fitted = json.loads(out.read_text("utf-8"))["fitted"]
    again = command(
        "weighted-score", 1, "--gold", first_of(demo_gold, tmp_path), "--partial", "--weights", out
    )
    assert "4 of these 4 items took part in the fit of the weights. On these the weights" in again
    assert f"Differences up to {fitted['tie_threshold']:g} points are a tie." in again
    for key in ("dataset", "took_part"):  # as a file of before
        del fitted[key]
    out.write_text(json.dumps({"fitted": fitted}), "utf-8")
    before = command("weighted-score", 1, "--gold", demo_gold, "--weights", out)
    assert "was fitted on are not known" in before
    out.write_text(json.dumps({"fitted": {"weights": {"safety": "much"}}}), "utf-8")
    with pytest.raises(SetupError, match=r"weights\.safety: found 'much', expected a number"):
        command("weighted-score", 1, "--gold", demo_gold, "--weights", out)


def test_files_of_one_name_are_told_apart_by_their_folders(
    command: Command, demo_gold: Path, demo_store: Path, tmp_path: Path
) -> None:
    other = tmp_path / "submission.tsv"
    other.write_bytes(demo_store.with_name("submission.tsv").read_bytes())
    printed = command("compare", other, demo_store.with_name("submission.tsv"), "--gold", demo_gold)
    assert f"{other}: submission {other}" in printed
    assert "0 labels differ" in printed


def test_weigh_decides_only_what_has_a_label(command: Command, demo_gold: Path, tmp_path: Path) -> None:
    printed = command("weighted-score", 1, "--gold", first_of(demo_gold, tmp_path), "--partial")
    assert row(printed, "comparisons")[-1] == "4"


def test_what_ids_join_is_said(streams: Streams, demo_gold: Path, demo_store: Path, tmp_path: Path) -> None:
    text = demo_store.with_name("submission.tsv").read_bytes().splitlines(keepends=True)
    part = tmp_path / "part.tsv"
    part.write_bytes(b"".join([*text[:-1], text[-1].replace(b"30\t", b"x\t", 1)]))
    said = streams("evaluate", part, "--gold", demo_gold, "--partial")[1]
    assert "29 of 30 ids of part.tsv are in gold.tsv. A submission holds no texts" in said
    assert "ids of run 1" not in streams("evaluate", 1, "--gold", demo_gold)[1]
    scores = tmp_path / "scores.json"
    rows = [{"id": name, "scores_a": {"quality": 1}, "scores_b": {"quality": 0}} for name in ("1", "2", "x")]
    scores.write_text(json.dumps(rows), "utf-8")
    said = streams("weighted-score", scores, "--weights", "quality=1", "--gold", demo_gold)[1]
    assert "2 of 3 ids of scores.json are in gold.tsv. Scored comparisons have no texts" in said
