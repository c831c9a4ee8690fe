"""Runs that were stopped go on: to the same result, in the same format, with the calibration they keep."""

import shutil
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.core.events import CancelToken, ItemJudged, LabelsRead, RunEnded, RunStarted
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import LENGTHS, AnyJudgment, CriterionCalibration, Judgment, Unscored
from engine.core.rubric import ELOQUENT
from engine.judging.plan import RunPlan, open_model, worked_alike
from engine.judging.run import run_judging
from engine.results.calibration import Calibration, judge_of_run, lengths_unknown
from engine.results.run_results import load_results
from engine.settings.rows import MachineSettings, Mode
from engine.store.run_store import RunStore
from tests.engine.judging.runs import Judged, judged_by, stop_after


def always(label: Preference, plan: RunPlan) -> Calibration:
    """A calibration for the judge of a plan that decides safety for this label, whatever was read."""
    a, b, both_good, both_bad = (9.0 if other is label else 0.0 for other in PREFERENCES)
    safety = CriterionCalibration(0.0, (a, b, both_good, both_bad), None, 99)
    return Calibration(judge_of_run(plan.identity()), "gold.tsv", "e" * 64, {"safety": safety}, {})


def items_of(plan: RunPlan, store: RunStore, stop_at: int | None = None) -> list[ItemJudged]:
    """The items that a run tells of; each carries what load_results decides of what is stored."""
    cancel = CancelToken()
    items: list[ItemJudged] = []
    for event in run_judging(plan, store, lambda: open_model(plan, cancel)):
        if isinstance(event, ItemJudged):
            items.append(event)
            if len(items) == stop_at:
                cancel.cancel()
    results = load_results(store, 1)
    for item in items:
        stored = [column[item.judged.position] for column in results.judgments.values()]
        assert list(map(without_order, item.judgments)) == list(map(without_order, stored))
    return items


def without_order(judgment: AnyJudgment) -> AnyJudgment:
    """With the readings as the store gives them: AB is the first, whichever was read first."""
    if not isinstance(judgment, Judgment):
        return judgment
    return replace(
        judgment, raw_predictions=tuple(sorted(judgment.raw_predictions, key=lambda reading: reading.order))
    )


def safety_of(items: Iterable[ItemJudged]) -> set[Preference]:
    """The labels of safety that were decided."""
    judgments = [item.judgments[ELOQUENT.names.index("safety")] for item in items]
    return {judgment.preference for judgment in judgments if isinstance(judgment, Judgment)}


@pytest.mark.slow
@pytest.mark.parametrize("context", [8192, 1800])
def test_items_come_with_what_is_decided_of_them(
    make_plan: Callable[..., RunPlan], tmp_path: Path, context: int
) -> None:
    plan = make_plan("bytes", context=context, items_at_once=2, max_explanation_tokens=6)
    with RunStore(tmp_path / "runs.sqlite") as store:
        items = items_of(plan, store)
    assert len(items) == 5
    assert all([judgment.criterion for judgment in item.judgments] == list(ELOQUENT.names) for item in items)
    judgments = [judgment for item in items for judgment in item.judgments]
    assert any(isinstance(judgment, Unscored) for judgment in judgments) == (context == 1800)
    assert any(isinstance(judgment, Judgment) and judgment.explanation for judgment in judgments)


def test_the_calibration_of_a_plan_decides(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    for label in (Preference.B, Preference.BOTH_BAD):
        path = tmp_path / f"{label}.sqlite"
        with RunStore(path) as store:
            items = items_of(replace(plan, calibration=always(label, plan)), store)
        assert safety_of(items) == {label}
        assert len(items) == 5


def test_a_resumed_run_decides_with_the_calibration_that_it_keeps(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        first = items_of(replace(plan, calibration=always(Preference.B, plan)), store, stop_at=2)
        rest = items_of(plan, store)
    assert len(first) + len(rest) == 5
    assert safety_of(first) == safety_of(rest) == {Preference.B}


def test_a_resumed_run_decides_with_a_new_calibration(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        first = items_of(replace(plan, calibration=always(Preference.B, plan)), store, stop_at=2)
        rest = items_of(replace(plan, calibration=always(Preference.BOTH_BAD, plan)), store)
        results = load_results(store, 1)
    assert (safety_of(first), safety_of(rest)) == ({Preference.B}, {Preference.BOTH_BAD})
    assert {results.label(judgment) for judgment in results.judgments["safety"]} == {Preference.BOTH_BAD}


def test_a_run_of_before_goes_on_with_no_calibration_that_looks_at_lengths(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan, path = make_plan(mode=Mode.LABELS), tmp_path / "runs.sqlite"
    with RunStore(path) as store:
        items_of(plan, store, stop_at=2)
    with closing(sqlite3.connect(path)) as db, db:  # as earlier versions kept items
        db.execute("UPDATE judged_item SET letters_a = NULL, letters_b = NULL")
    by_lengths = CriterionCalibration(1.0, (0.0,) * 4, 1.0, 99, parts={LENGTHS: 0.5}, penalty_of_features=3.0)
    fitted = replace(always(Preference.B, plan), criteria={"safety": by_lengths})
    with RunStore(path) as store:
        with pytest.raises(SetupError) as error:
            items_of(replace(plan, calibration=fitted, name="night"), store)
        assert str(error.value) == str(lengths_unknown("Run 1"))
        assert (store.run(1).calibration, store.run(1).name) == (None, "")
        assert len(items_of(plan, store)) == 3


def test_a_run_that_was_calibrated_after_it_stopped_goes_on_with_that(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        items_of(plan, store, stop_at=2)
        store.calibrate(1, always(Preference.BOTH_BAD, plan).as_json())
        assert safety_of(items_of(plan, store)) == {Preference.BOTH_BAD}


@pytest.mark.slow
def test_a_run_that_is_stopped_again_and_again_goes_on_to_exactly_the_unbroken_result(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan()
    for stop_at in (1, 2):
        cancel = CancelToken()
        with RunStore(tmp_path / "stopped.sqlite") as store:
            before = len(store.positions(1)) if store.runs() else 0
            ended = stop_after(stop_at, run_judging(plan, store, partial(open_model, plan, cancel)), cancel)
            assert ended.stopped
            assert before < ended.judged < 5
    assert judged_by(plan, tmp_path / "stopped.sqlite") == judged_by(plan, judged_once(plan))


def test_a_run_that_ends_soon_loses_nothing_and_goes_on_to_the_unbroken_result(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan()
    request = CancelToken()
    with RunStore(tmp_path / "stopped.sqlite") as store:
        events = run_judging(
            plan, store, partial(open_model, plan, CancelToken()), ending=lambda: request.ending
        )
        read = 0
        for event in events:
            read += isinstance(event, LabelsRead)
            if read == 1:  # in the middle of the first two items
                request.end_soon()
    assert event == RunEnded(run_id=1, items=5, judged=2, stopped=True)
    assert judged_by(plan, tmp_path / "stopped.sqlite") == judged_by(plan, judged_once(plan))


@pytest.mark.slow
def test_a_run_that_goes_on_otherwise_says_so(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    for threads, stop_at in ((1, 1), (2, 1), (2, 5)):
        at_work = replace(plan, machine=MachineSettings(threads, gpu_layers=0))
        cancel = CancelToken()
        with RunStore(tmp_path / "runs.sqlite") as store:
            events = run_judging(at_work, store, partial(open_model, at_work, cancel))
            stop_after(stop_at, events, cancel)
            manifest = store.run(1).manifest
    assert manifest["threads"] == 1
    assert [session["threads"] for session in manifest["continued_with"]] == [2]


def test_threads_that_adapt_are_said_to_be_the_most(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    for adapts in (True, False):
        at_work = replace(plan, machine=MachineSettings(8, gpu_layers=0, adapts=adapts))
        cancel = CancelToken()
        with RunStore(tmp_path / "runs.sqlite") as store:
            stop_after(1, run_judging(at_work, store, partial(open_model, at_work, cancel)), cancel)
            run = store.run(1)
    assert run.manifest["threads"] == 8
    assert run.manifest["threads_adapt"] is True
    assert run.manifest_in_short["threads"] == "8 at most, depending on the load"
    assert "threads_adapt" not in run.manifest_in_short
    (later,) = run.manifest_in_short["continued_with"]
    assert later["threads"] == 8
    assert not worked_alike(run.manifest, MachineSettings(8, 0, adapts=True))
    first = {name: value for name, value in run.manifest.items() if name != "continued_with"}
    assert worked_alike(first, MachineSettings(8, 0, adapts=True))
    assert not worked_alike(first, MachineSettings(8, 0))


def test_a_run_does_not_go_on_in_another_chat_format(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan, cancel = make_plan(mode=Mode.LABELS), CancelToken()
    with RunStore(tmp_path / "runs.sqlite") as store:
        stop_after(1, run_judging(plan, store, partial(open_model, plan, cancel)), cancel)
        began = store.run(1).manifest
        judged = store.positions(1)
        store.describe(1, {**began, "chat_format_hash": "0" * 64})
        again = run_judging(plan, store, partial(open_model, plan, CancelToken()))
        with pytest.raises(SetupError, match="Run 1 cannot be resumed: its prompts used another chat format"):
            list(again)
        assert store.positions(1) == judged
        # A run from before formats were kept goes on.
        store.describe(1, {name: value for name, value in began.items() if name != "chat_format_hash"})
        *_, ended = run_judging(plan, store, partial(open_model, plan, CancelToken()))
    assert isinstance(ended, RunEnded)
    assert (ended.judged, ended.stopped) == (5, False)


@pytest.mark.parametrize("resumes", [None, 1])
def test_a_run_that_goes_on_comes_out_of_the_archive(
    make_plan: Callable[..., RunPlan], tmp_path: Path, resumes: int | None
) -> None:
    plan, cancel = make_plan(mode=Mode.LABELS), CancelToken()
    with RunStore(tmp_path / "runs.sqlite") as store:
        stop_after(1, run_judging(plan, store, partial(open_model, plan, cancel)), cancel)
        for expected in (True, False):  # it is not complete, then it is
            store.archive([1], "Ada")
            list(run_judging(plan, store, partial(open_model, plan, CancelToken()), resumes=resumes))
            assert (store.run(1).archived is None) is expected


def test_a_complete_run_is_not_judged_again(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(Path(shutil.copy(judged_once(plan), tmp_path))) as store:
        events = list(run_judging(plan, store, lambda: pytest.fail("the model was opened")))
    assert [type(event) for event in events] == [RunStarted, RunEnded]
