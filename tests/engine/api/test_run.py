"""A run as frames: what each holds, whose labels count, what is measured, what is written."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tiebreak
from engine.annotations.records import new_override
from engine.core.items import PREFERENCES
from engine.store.run_store import RunStore
from tests.commands import ROOT, ended, give
from tests.engine.cli.conftest import overridden
from tests.engine.cli.in_process import safety_alone
from tests.judged import SURE_A, SURE_B, A, dataset, stored_run

__all__ = ["overridden"]  # a fixture

pytestmark = pytest.mark.filterwarnings("ignore::engine.api.refused.TiebreakNotice")
ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"


def test_what_a_run_is(run: tiebreak.Run, demo_gold: Path) -> None:
    assert (run.id, run.name, run.title, run.complete) == (1, "", "Run 1", True)
    assert (run.model, run.dataset) == ("demo-judge", demo_gold)
    assert repr(run) == "<Run 1: 30 of 30 items of gold.tsv by demo-judge>"
    assert tiebreak.runs(run.store) == [run]
    assert repr(tiebreak.Run(7, run.store)) == "<Run 7, which is not in the store>"
    assert tiebreak.runs() == []


def test_peoples_labels_are_in_force_but_by_the_judge(overridden: Path) -> None:
    run = tiebreak.Run(1, overridden)
    own = run.by("judge")
    item = run.labels.index[0]
    assert run.labels.loc[item, "safety"] != own.labels.loc[item, "safety"]
    assert run.by("Ada").labels.equals(run.labels)
    assert run.explanations.loc[item, "safety"] == "I saw it."
    row = run.judgments.set_index(["id", "criterion"]).loc[(item, "safety")]
    assert [row["overridden"], row["model_preference"]] == ["both", str(own.labels.loc[item, "safety"])]
    assert own.judgments["overridden"].isna().all()


def test_a_run_is_read_again_where_the_store_has_changed(overridden: Path) -> None:
    run = tiebreak.Run(1, overridden)
    before = run.labels
    assert run.labels.equals(before)
    item = before.index[1]
    other = next(label for label in PREFERENCES if label != before.loc[item, "safety"])
    with RunStore(overridden) as store:
        store.annotate(1, new_override(item, "safety", other, None, author="Ada"))
    assert run.labels.loc[item, "safety"] == other


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_explanations_are_measured_by_models_as_the_command_does(
    run: tiebreak.Run, demo_gold: Path, tmp_path: Path
) -> None:
    gold = tmp_path / "few.tsv"
    gold.write_text("\n".join(demo_gold.read_text("utf-8").splitlines()[:5]) + "\n", "utf-8")
    scores = tmp_path / "scores.json"
    words = [1, "--gold", gold, "--partial", "--json", scores, "--store", run.store, "--threads", 1]
    ended("evaluate", *words, "--encoder", ENCODER, "--judge-model", "demo")
    told = json.loads(scores.read_text("utf-8"))["details"]["explanations"]
    frame = run.evaluate(gold, partial=True, encoder=ENCODER, judge_model="demo", threads=1)
    for name, one in told.items():
        for measure in ("bertscore", "agreement"):
            assert frame.loc[name, measure] == one[measure] / 100
        assert frame.loc[name, "unmeasured"] == one["unmeasured"]
    ends = frame[["bertscore_low", "bertscore", "bertscore_high"]].loc["mean"]
    assert ends.is_monotonic_increasing
    assert set(frame.attrs["meaning"]) == set(frame.columns)
    assert "bertscore" not in run.evaluate(gold, partial=True)
    with pytest.raises(tiebreak.Refused, match=r"gold|few"):
        run.evaluate(gold, partial=True, encoder=gold)


@pytest.mark.parametrize(
    ("tool", "name", "criterion"),
    [
        ("dpo", "pairs.jsonl", None),
        ("dpo", "pairs.parquet", "safety"),
        ("inspect", "log.json", None),
        ("alpaca-eval", "annotations.json", "relevance"),
    ],
)
def test_what_other_tools_read_is_that_of_the_command(
    run: tiebreak.Run, tmp_path: Path, tool: Any, name: str, criterion: str | None
) -> None:
    of_one = [] if criterion is None else ["--criterion", criterion]
    words = [1, "--for", tool, *of_one, "--out", tmp_path / f"by_command_{name}", "--store", run.store]
    ended("runs", "export", *words)
    written = run.export(tmp_path / name, tool, criterion)
    assert written.read_bytes() == (tmp_path / f"by_command_{name}").read_bytes()


def test_an_export_that_cannot_be_is_refused_and_omissions_said(run: tiebreak.Run, tmp_path: Path) -> None:
    with pytest.raises(tiebreak.Refused, match=r"for dpo a file ends in \.jsonl or \.parquet"):
        run.export(tmp_path / "pairs.tsv", "dpo")
    with pytest.raises(tiebreak.Refused, match="has no criterion 'humour'"):
        run.export(tmp_path / "pairs.jsonl", "dpo", "humour")
    with pytest.raises(tiebreak.Refused, match="has no effect here"):
        run.export(tmp_path / "log.json", "inspect", "safety")
    with pytest.raises(tiebreak.Refused, match="tool is 'trl'"):
        run.export(tmp_path / "log.json", "trl")  # type: ignore[arg-type]
    assert not list(tmp_path.glob("*.js*"))
    with pytest.warns(tiebreak.Notice, match=r"pairs on safety; omitted: \d+ ties, 0 without a label"):
        run.export(tmp_path / "pairs.jsonl", "dpo", "safety")


def test_gold_may_be_a_file_a_frame_or_a_part(run: tiebreak.Run, demo_gold: Path) -> None:
    own = run.evaluate()
    frame = tiebreak.read(demo_gold)
    assert run.evaluate(demo_gold).equals(own)
    assert run.evaluate(frame).equals(own)
    with pytest.raises(tiebreak.Refused, match="ids that are not in the frame"):
        run.evaluate(frame.head(12))
    with pytest.warns(tiebreak.Notice, match="that the frame lacks, not scored"):
        part = run.evaluate(frame.head(12), partial=True)
    assert part["items"].tolist()[:-1] == [12] * 5
    with pytest.raises(tiebreak.Refused, match="no human label"):
        run.evaluate(frame[["id", "instruction", "output_a", "output_b"]])


def test_tables_are_those_of_the_report(run: tiebreak.Run) -> None:
    tables = run.tables()
    assert set(tables) >= {"accuracy", "labels", "explanations", "weighing"}
    assert tables["accuracy"]["accuracy"].tolist() == run.evaluate()["accuracy"].tolist()


@pytest.mark.slow
def test_a_calibration_decides_the_run_and_is_taken_off(overridden: Path, tmp_path: Path) -> None:
    run = tiebreak.Run(1, overridden)
    read = run.by("judge").judgments
    calibration = run.calibrate()
    assert repr(calibration).startswith("<calibration of relevance, ")
    assert calibration.table["criterion"].tolist()[-1] == "mean"
    assert {"quality", "parameters"} <= set(calibration.tables)
    changed = run.apply(calibration.save(tmp_path / "calibration.json"))
    assert changed["calibrated"].all()
    calibrated = run.by("judge").judgments
    assert not calibrated["probability_A"].equals(read["probability_A"])
    assert calibrated["place_decides"].notna().all()
    assert run.apply(calibration)["changed"].sum() == 0
    assert not run.apply(None)["calibrated"].any()
    assert run.by("judge").judgments.equals(read)
    with pytest.raises(tiebreak.Refused, match="a calibration is JSON"):
        calibration.save(tmp_path / "calibration.txt")
    with pytest.raises(tiebreak.Refused):
        run.apply(run.dataset)


def test_the_files_of_a_run(run: tiebreak.Run, demo_store: Path, tmp_path: Path) -> None:
    written = run.submission(tmp_path / "submission.tsv").read_bytes()
    assert written == demo_store.with_name("submission.tsv").read_bytes()
    table = pd.read_csv(run.csv(tmp_path / "all.csv"), dtype=str, keep_default_na=False)
    assert table["probability_A"].astype(float).tolist() == run.judgments["probability_A"].tolist()
    assert '"run"' in run.json(tmp_path / "run.json").read_text(encoding="utf-8")
    before = run.dataset.read_bytes()
    for write, form in ((run.csv, "CSV"), (run.json, "JSON"), (run.report, "HTML"), (run.submission, "TSV")):
        with pytest.raises(tiebreak.Refused, match=f"x.pdf: the file will be {form}"):
            write(tmp_path / "x.pdf")
        with pytest.raises(tiebreak.Refused):
            write(tmp_path / "none" / f"x.{form.lower()}")
        with pytest.raises(tiebreak.Refused):
            write(run.dataset)
    assert run.dataset.read_bytes() == before


@pytest.mark.slow
def test_a_report_is_that_of_the_command(run: tiebreak.Run, demo_gold: Path, tmp_path: Path) -> None:
    gold = safety_alone(demo_gold, tmp_path)
    written = run.report(tmp_path / "by_call.html", gold).read_text(encoding="utf-8")
    words = ["1", "--gold", gold, "--out", tmp_path / "by_command.html", "--store", run.store]
    assert give("report", *words) == 0
    by_command = (tmp_path / "by_command.html").read_text(encoding="utf-8")
    assert without_figures(written) == without_figures(by_command)


def without_figures(page: str) -> str:
    """A page without its pictures, whose parts have names by chance."""
    return re.sub(r'src="data:[^"]*"|<svg.*?</svg>', "", page, flags=re.S)


def test_candidates_are_ranked(judge: tiebreak.Judge, tmp_path: Path) -> None:
    frame = tiebreak.read(tiebreak.demo_dataset().with_name("demo-candidates.tsv")).head(24)
    run = judge.run(frame, progress=False)
    ranking = run.rank()
    names = set(frame["candidate_a"]) | set(frame["candidate_b"])
    assert set(ranking.candidates["candidate"]) == names
    assert ranking.candidates["win_rate"].between(0, 1).all()
    assert set(ranking.pairs.columns) >= {"candidate", *names}
    assert ranking.title.startswith("Run 1, overall quality")
    assert ranking.sentences[0] in repr(ranking)
    mixed = run.rank(by="longer", mix={"A": 0.5, "B": 0.5}).candidates
    assert set(mixed.columns) - set(ranking.candidates.columns) == {"mixed", "mixed_low", "mixed_high"}
    weighted = run.rank(weighted=True, weights={"safety": 1, "relevance": 0.5})
    assert "weighted judge" in weighted.title
    with pytest.raises(tiebreak.Refused, match="Remove one of them"):
        run.rank("safety", weighted=True)
    with pytest.raises(tiebreak.Refused, match="Add weighted=True"):
        run.rank(tie_threshold=0.5)
    with pytest.raises(tiebreak.Refused, match="humour"):
        run.rank("humour")
    with pytest.raises(tiebreak.Refused, match="Pass both"):
        run.rank(mix={"A": 1.0})


def test_two_judges_that_err_alike_in_part_are_worth_one_and_a_half(tmp_path: Path) -> None:
    gold = dataset({"safety": [A] * 40}, instructions=[f"instruction {n}" for n in range(40)])
    for key, wrong in (("one", range(10)), ("two", [*range(5), *range(20, 25)])):
        said = [SURE_B if n in wrong else SURE_A for n in range(40)]
        stored_run(tmp_path, gold, {"safety": said}, key=key, model_hash=key)
    texts = ("id", "instruction", "output_a", "output_b")
    frame = pd.DataFrame([{name: getattr(item, name) for name in texts} for item in gold])
    labels = frame.assign(safety_preference="A")
    one, two = tiebreak.runs(tmp_path / "runs.sqlite")
    worth = one.jury_worth(two, gold=labels)
    [jury] = worth["jury"].to_dict("records")
    assert jury["correlation"] == pytest.approx(1 / 3)
    assert jury["effective"] == pytest.approx(1.5)
    assert 1 <= jury["effective_low"] < 1.5 < jury["effective_high"]
    assert (jury["labels"], jury["instructions"]) == (40, 40)
    assert worth["judges"]["accuracy"].tolist() == [0.75, 0.75]
    assert worth["judges"]["adds"].tolist() == pytest.approx([jury["accuracy"] - 0.75] * 2)
    with pytest.raises(tiebreak.Refused, match="fewer than 10 different instructions"):
        one.jury_worth(two, gold=labels[:9], partial=True)
    with pytest.raises(tiebreak.Refused, match="jury"):
        one.jury_worth(gold=labels)


def test_a_run_stays_the_same_from_another_folder(
    demo_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(demo_store.parent)
    run = tiebreak.Run(1, demo_store.name)
    monkeypatch.chdir(tmp_path)
    assert run == tiebreak.Run(1, demo_store)
    assert len(run.labels) == 30


@pytest.mark.slow
def test_items_with_other_labels_are_measured_by_these(judge: tiebreak.Judge, demo_gold: Path) -> None:
    frame = tiebreak.read(demo_gold).head(6)
    first = judge.run(frame.filter(regex="^(id|instruction|output_.)$"), progress=False)
    assert set(first.tables()) == {"labels_given"}
    assert first.health.verdict == "too_few_items"
    assert first.health.sentences[0] in repr(first.health)
    with pytest.raises(tiebreak.Refused, match="no human label"):
        first.evaluate()
    found = first.labels["safety"].astype(object).to_numpy()
    right = judge.run(frame.assign(safety_preference=found), progress=False)
    wrong = judge.run(frame.assign(safety_preference=np.where(found == "A", "B", "A")), progress=False)
    assert first == right == wrong
    assert len({first.dataset, right.dataset, wrong.dataset}) == 3
    assert right.evaluate().loc["safety", "accuracy"] == 1
    assert wrong.by("judge").evaluate().loc["safety", "accuracy"] == 0
    assert [run.dataset for run in tiebreak.runs(judge.store)] == [first.dataset]
    for file in (right.dataset, first.dataset):
        with pytest.raises(tiebreak.Refused):
            right.json(file)


@pytest.mark.slow
def test_candidates_that_are_named_later_are_ranked(judge: tiebreak.Judge, demo_gold: Path) -> None:
    frame = tiebreak.read(demo_gold).head(6)
    judge.run(frame, progress=False)
    named = judge.run(frame.assign(candidate_a="new", candidate_b="old"), progress=False)
    assert set(named.rank().candidates["candidate"]) == {"new", "old"}


def compared(*runs: tiebreak.Run) -> list[str]:
    return runs[0].compare(*runs[1:])["agreement"]["systems"].unique().tolist()


def test_runs_of_the_same_name_are_told_apart(run: tiebreak.Run, demo_store: Path, overridden: Path) -> None:
    touched = tiebreak.Run(1, overridden)
    assert run.title == touched.title
    (by_whom,) = compared(touched, touched.by("judge"))
    assert "run 1 by effective" in by_whom
    assert "run 1 by judge" in by_whom
    (by_store,) = compared(run, touched)
    assert f"run 1 of {demo_store.name}" in by_store
    assert f"run 1 of {overridden.name}" in by_store
    with pytest.raises(tiebreak.Refused, match="are in different stores"):
        run.drift(touched)


@pytest.mark.slow
@pytest.mark.parametrize("ask", ["evaluate", "tables", "calibrate", "curve", "report", "compare"])
def test_a_part_is_measured_by_the_parameter_that_the_remedy_names(
    overridden: Path, demo_gold: Path, tmp_path: Path, ask: str
) -> None:
    few = 2 if ask in {"calibrate", "curve"} else 29  # these fit for long
    run, frame = tiebreak.Run(1, overridden), tiebreak.read(demo_gold).head(few)
    needed: dict[str, list[Any]] = {"report": [tmp_path / "part.html"], "compare": [run.by("judge")]}
    first = needed.get(ask, [])
    call = getattr(run, ask)
    with pytest.raises(tiebreak.Refused) as met:
        call(*first, gold=frame)
    assert met.value.hint.endswith(", or score what both have with partial=True.")
    if ask == "curve":
        with pytest.raises(tiebreak.Refused) as met:
            call(gold=frame, partial=True)
        assert "ids" not in met.value.problem  # but that there are too few of them
    else:
        assert call(*first, gold=frame, partial=True) is not None


def test_the_number_of_a_run_is_a_whole_number(run: tiebreak.Run, demo_store: Path) -> None:
    for number in (np.int64(1), 1.0):
        same = tiebreak.Run(number, demo_store)  # type: ignore[arg-type]
        assert (same, repr(same.id)) == (run, "1")
        assert same.labels.equals(run.labels)
    with pytest.raises(tiebreak.Refused, match="id is '1'"):
        tiebreak.Run("1", demo_store)  # type: ignore[arg-type]
    with pytest.raises(tiebreak.Refused, match=r"other is 1\.5"):
        run.drift(1.5)  # type: ignore[arg-type]
    with pytest.raises(tiebreak.Refused, match="Run 1 and Run 1"):  # it is found, and is the same
        run.drift(np.int64(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda run: tiebreak.Run(7, run.store).labels, "no run 7"),
        (lambda run: tiebreak.runs(run.store.with_name("none.sqlite")), "There is no run store"),
        (lambda run: run.by("Eve").labels, "There is no annotator 'Eve'"),
        (lambda run: run.rank(), "does not name the models that wrote its responses"),
        (lambda run: run.drift(77), "no run 77"),
        (lambda run: run.compare(run), "Two of the systems are called run 1."),
        (lambda run: run.by(None), "labels_of is None."),
        (lambda run: run.compare(1), "1 is not a run."),
        (lambda run: run.submission(5), "path is 5."),
        (lambda run: run.apply(5), "calibration is 5."),
        (lambda _: tiebreak.runs(5), "store is 5."),  # type: ignore[arg-type]
        (lambda _: tiebreak.read(None), "path is None."),  # type: ignore[call-overload]
        (lambda _: tiebreak.read(tiebreak.demo_dataset(), ["id"]), "columns is ['id']."),  # type: ignore[call-overload]
    ],
)
def test_what_a_run_cannot_do_is_refused(run: tiebreak.Run, call: Callable[[Any], object], said: str) -> None:
    with pytest.raises(tiebreak.Refused) as met:
        call(run)
    assert said in met.value.problem
