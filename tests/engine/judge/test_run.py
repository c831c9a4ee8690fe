"""Whole runs with real llama.cpp: what comes out, that it repeats, and what does not fit."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.commands.shared.remedies import OPTIONS
from engine.core.cancel import CancelToken
from engine.core.errors import ModelFileError, SetupError
from engine.core.events import (
    Drafted,
    GroupUnderWay,
    ItemJudged,
    LabelsRead,
    ModelOpened,
    RunEnded,
    RunEvent,
    RunStarted,
    TokensEvaluated,
)
from engine.core.items import PREFERENCES, Order, Preference
from engine.core.judgments import AnyJudgment, CriterionCalibration, JudgedItem, Judgment, Unscored
from engine.core.rubric import ELOQUENT
from engine.core.settings import JudgeSettings, KvType, MachineSettings, Mode
from engine.data.dataset import Dataset, load_dataset
from engine.decisions.calibration import Calibration, judge_of_run
from engine.decisions.decision import decide
from engine.decisions.run_results import load_results, submission_of
from engine.judge.plan import RunPlan, open_model, worked_alike
from engine.judge.run import make_item_judge, run_judging
from engine.loading.checked_model import CheckedModel
from engine.measure.accuracy import run_accuracy
from engine.prompt.examples import choose_examples
from engine.store.run_store import RunStore
from tests.commands import ROOT

SmallModel = Callable[[str], Path]
Judged = Callable[[RunPlan], Path]

SAMPLE = ROOT / "examples" / "sample.tsv"
SETTINGS = JudgeSettings(context=8192, max_explanation_tokens=12, items_at_once=2)


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return load_dataset(SAMPLE).head(5)


@pytest.fixture(scope="module")
def make_plan(small_model: SmallModel, sample: Dataset) -> Callable[..., RunPlan]:
    def plan(family: str = "headers", dataset: Dataset = sample, **settings: object) -> RunPlan:
        path = small_model(family)
        state = path.stat()
        return RunPlan(
            dataset=dataset,
            rubric=ELOQUENT,
            settings=replace(SETTINGS, **settings),  # type: ignore[arg-type]
            machine=MachineSettings(threads=1, gpu_layers=0),
            model=CheckedModel(path, family, family, state.st_size, state.st_mtime_ns),
        )

    return plan


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """The store of a plan that is judged whole, once for all tests; those that change it copy it."""
    stores: dict[object, Path] = {}

    def store_of(plan: RunPlan) -> Path:
        key = (plan.identity().key, plan.settings, plan.machine)
        if key not in stores:
            path = tmp_path_factory.mktemp("judged") / "runs.sqlite"
            judged_by(plan, path)
            stores[key] = path
        return stores[key]

    return store_of


def judged_by(plan: RunPlan, store_path: Path) -> list[JudgedItem]:
    """All items of a run, after it has ended."""
    with RunStore(store_path) as store:
        *_, ended = run_judging(plan, store, lambda: open_model(plan, CancelToken()))
        assert isinstance(ended, RunEnded)
        assert not ended.stopped
        return [without_time(item) for item in store.judged(ended.run_id)]


def without_time(item: JudgedItem) -> JudgedItem:
    return replace(item, seconds=0.0)


def stop_after(items: int, events: Iterable[RunEvent], cancel: CancelToken) -> RunEnded:
    """Ask a run to stop once some items are judged; how it ended."""
    judged = 0
    for event in events:
        judged += isinstance(event, ItemJudged)
        if judged == items:
            cancel.cancel()
        if isinstance(event, RunEnded):
            ended = event
    return ended


@pytest.mark.parametrize(
    "family", ["headers", "chatml", "instructions", "no_system", "no_template", "split_letters", "mamba"]
)
def test_every_family_of_models_judges_and_explains(
    make_plan: Callable[..., RunPlan], sample: Dataset, tmp_path: Path, family: str
) -> None:
    judged = judged_by(make_plan(family, dataset=sample.head(2)), tmp_path / "runs.sqlite")
    for item in judged:
        for criterion in ELOQUENT.names:
            judgment = decide(item, criterion)
            assert isinstance(judgment, Judgment)
            assert sum(judgment.probabilities) == pytest.approx(1)
            assert 0 < judgment.format_mass < 1
            assert {reading.order for reading in judgment.readings} == set(Order)
            assert judgment.explanation
            assert judgment.explanation.preference is judgment.preference


@pytest.mark.parametrize("pair", ["llama-3.1", "qwen2.5", "phi-3.5"])
def test_real_tokenizers_and_templates_judge(
    make_plan: Callable[..., RunPlan],
    sample: Dataset,
    real_tokenizer_model: Callable[[str], Path],
    tmp_path: Path,
    pair: str,
) -> None:
    path = real_tokenizer_model(pair)
    state = path.stat()
    model = CheckedModel(path, pair, pair, state.st_size, state.st_mtime_ns)
    plan = replace(make_plan(dataset=sample.head(1)), model=model)
    (item,) = judged_by(plan, tmp_path / "runs.sqlite")
    assert set(item.explanations) == set(ELOQUENT.names)
    assert not item.unscored


def test_a_run_tells_its_story_in_order(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan()
    with RunStore(tmp_path / "runs.sqlite") as store:
        events = list(run_judging(plan, store, lambda: open_model(plan, CancelToken())))
    assert [type(event) for event in events[:2]] == [RunStarted, ModelOpened]
    assert events[-1] == RunEnded(run_id=1, items=5, judged=5, stopped=False)
    assert [event.judged.position for event in events if isinstance(event, ItemJudged)] == [0, 1, 2, 3, 4]
    counted = sum(event.tokens for event in events if isinstance(event, TokensEvaluated))
    judged = [event.judged for event in events if isinstance(event, ItemJudged)]
    assert counted >= sum(item.tokens_read + item.tokens_generated for item in judged) > 0


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
    return replace(judgment, readings=tuple(sorted(judgment.readings, key=lambda reading: reading.order)))


def safety_of(items: Iterable[ItemJudged]) -> set[Preference]:
    """The labels of safety that were decided."""
    judgments = [item.judgments[ELOQUENT.names.index("safety")] for item in items]
    return {judgment.preference for judgment in judgments if isinstance(judgment, Judgment)}


@pytest.mark.parametrize("context", [8192, 1800])
def test_items_come_with_what_is_decided_of_them(
    make_plan: Callable[..., RunPlan], tmp_path: Path, context: int
) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        items = items_of(make_plan(context=context, items_at_once=2), store)
    assert len(items) == 5
    assert all([judgment.criterion for judgment in item.judgments] == list(ELOQUENT.names) for item in items)
    judgments = [judgment for item in items for judgment in item.judgments]
    assert any(isinstance(judgment, Unscored) for judgment in judgments) == (context == 1800)
    assert any(isinstance(judgment, Judgment) and judgment.explanation for judgment in judgments)


def test_the_calibration_of_a_plan_decides(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan()
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


def test_a_run_that_was_calibrated_after_it_stopped_goes_on_with_that(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        items_of(plan, store, stop_at=2)
        store.calibrate(1, always(Preference.BOTH_BAD, plan).as_json())
        assert safety_of(items_of(plan, store)) == {Preference.BOTH_BAD}


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.8, "seed": 7}, {"mode": Mode.LABELS}])
def test_a_repeated_run_gives_exactly_the_same(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path, settings: dict[str, object]
) -> None:
    plan = make_plan(**settings)
    assert judged_by(plan, judged_once(plan)) == judged_by(plan, tmp_path / "again.sqlite")


@pytest.mark.parametrize("stop_at", [1, 2, 4])
def test_a_stopped_run_goes_on_to_exactly_the_unbroken_result(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path, stop_at: int
) -> None:
    plan = make_plan()
    unbroken = judged_by(plan, judged_once(plan))
    cancel = CancelToken()
    with RunStore(tmp_path / "stopped.sqlite") as store:
        ended = stop_after(stop_at, run_judging(plan, store, lambda: open_model(plan, cancel)), cancel)
        assert ended.stopped
        assert stop_at <= ended.judged < 5
    assert judged_by(plan, tmp_path / "stopped.sqlite") == unbroken


def test_a_run_that_ends_soon_loses_nothing_and_goes_on_to_the_unbroken_result(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan()
    wish = CancelToken()
    with RunStore(tmp_path / "stopped.sqlite") as store:
        events = run_judging(
            plan, store, partial(open_model, plan, CancelToken()), ending=lambda: wish.ending
        )
        read = 0
        for event in events:
            read += isinstance(event, LabelsRead)
            if read == 1:  # in the middle of the first two items
                wish.end_soon()
    assert event == RunEnded(run_id=1, items=5, judged=2, stopped=True)
    assert judged_by(plan, tmp_path / "stopped.sqlite") == judged_by(plan, judged_once(plan))


def test_what_is_read_is_told_before_it_is_stored_and_will_be_decided_so(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan()
    with RunStore(tmp_path / "runs.sqlite") as store:
        events = list(run_judging(plan, store, partial(open_model, plan, CancelToken())))
    kinds = [type(event) for event in events]
    assert kinds.index(TokensEvaluated) < kinds.index(LabelsRead) < kinds.index(ItemJudged)
    previews = [event for event in events if isinstance(event, LabelsRead)]
    assert [(event.position, event.whole) for event in previews[:4]] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
    ]
    whole = {event.position: event for event in previews if event.whole}
    for event in events:
        if isinstance(event, ItemJudged):
            decided = [
                replace(each, explanations=()) for each in event.judgments if isinstance(each, Judgment)
            ]
            assert list(whole[event.judged.position].judgments) == decided
    drafts = [event for event in events if isinstance(event, Drafted)]
    assert drafts
    assert {draft.criterion for draft in drafts} <= set(ELOQUENT.names)


def test_a_long_prompt_tells_how_far_it_is(make_plan: Callable[..., RunPlan], tmp_path: Path) -> None:
    plan = make_plan("slow", mode=Mode.LABELS)
    item = replace(plan.dataset[0], output_a="A long response. " * 200)
    judge_events: list[RunEvent] = []
    with open_model(plan, CancelToken()) as opened:
        for event in make_item_judge(plan, opened).judge([(0, item)]):
            judge_events.append(event)
            if isinstance(event, LabelsRead):
                break
    *before, _ = judge_events
    assert len([event for event in before if isinstance(event, TokensEvaluated)]) > 2
    told = [event for event in before if isinstance(event, GroupUnderWay)]
    assert len(told) > 2
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert all(event.done <= event.total for event in told)
    assert told[-1].seconds_left is not None


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
    assert run.manifest_in_short["threads"] == "8 at most, as the computer was free"
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
        with pytest.raises(SetupError, match="Run 1 cannot go on: its prompts were in another chat format"):
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


def test_labels_are_those_of_a_run_with_explanations(
    make_plan: Callable[..., RunPlan], judged_once: Judged
) -> None:
    plans = make_plan(mode=Mode.LABELS), make_plan()
    labels, explained = (judged_by(plan, judged_once(plan)) for plan in plans)
    for without, with_text in zip(labels, explained, strict=True):
        for criterion in ELOQUENT.names:
            one, other = decide(without, criterion), decide(with_text, criterion)
            assert isinstance(one, Judgment)
            assert isinstance(other, Judgment)
            # Another batch shape: equal up to the rounding of the cache.
            assert np.allclose(one.probabilities, other.probabilities, atol=0.02)
    assert not any(item.explanations or item.tokens_generated for item in labels)


def test_one_order_reads_about_half_as_much(
    make_plan: Callable[..., RunPlan], judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    both = judged_by(plan, judged_once(plan))
    one = judged_by(make_plan(mode=Mode.LABELS, orders=(Order.AB,)), tmp_path / "one.sqlite")
    share = sum(item.tokens_read for item in one) / sum(item.tokens_read for item in both)
    assert 0.45 < share < 0.55
    judgment = decide(one[0], "safety")
    assert isinstance(judgment, Judgment)
    assert judgment.flipped is None


def test_what_does_not_fit_is_unscored_with_the_numbers(
    make_plan: Callable[..., RunPlan], sample: Dataset, tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS, context=1800, items_at_once=1)
    judged = judged_by(plan, tmp_path / "runs.sqlite")
    outcomes = [decide(item, "safety") for item in judged]
    unscored = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    assert 0 < len(unscored) < len(outcomes)
    assert unscored[0].reason.startswith("needs ")
    assert unscored[0].reason.endswith("tokens, the context holds 1,800")


def test_what_does_not_fit_is_shortened_where_that_is_wanted(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    longer = load_dataset(SAMPLE).head(12)
    plan = make_plan(dataset=longer, mode=Mode.LABELS, context=1800, items_at_once=1)
    unscored = [item.item_id for item in judged_by(plan, tmp_path / "plain.sqlite") if item.unscored]
    shortening = replace(plan, settings=replace(plan.settings, shorten=True))
    judged = judged_by(shortening, tmp_path / "short.sqlite")
    shortened = [item.item_id for item in judged if item.shortening]
    assert shortened
    assert set(shortened) | {item.item_id for item in judged if item.unscored} == set(unscored)


@pytest.mark.parametrize("context", range(2304, 6145, 384))
def test_what_is_counted_to_fit_does_fit(
    make_plan: Callable[..., RunPlan], tmp_path: Path, context: int
) -> None:
    """At every size of context: no item that is counted to fit overflows, alone or with others."""
    plan = make_plan(context=context - context % 256, items_at_once=4, max_explanation_tokens=60)
    for item in judged_by(plan, tmp_path / "runs.sqlite"):
        assert bool(item.unscored) != bool(item.explanations)


def test_examples_are_read_once_and_change_the_result(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan(mode=Mode.LABELS, items_at_once=1)
    pool = choose_examples(load_dataset(SAMPLE), ELOQUENT, shots=1)
    shown = replace(plan, examples=pool)
    without = judged_by(plan, tmp_path / "without.sqlite")
    with_examples = judged_by(shown, tmp_path / "with.sqlite")
    assert shown.identity().key != plan.identity().key
    assert [item.readings for item in without] != [item.readings for item in with_examples]
    read_more = sum(item.tokens_read for item in with_examples) - sum(item.tokens_read for item in without)
    assert read_more < 0.1 * sum(item.tokens_read for item in without)


@pytest.mark.parametrize(
    "change",
    [
        {"settings": replace(SETTINGS, shorten=True)},
        {"settings": replace(SETTINGS, kv_type=KvType.Q8_0)},
        {"rubric": ELOQUENT.only(("safety",))},
        {"model": CheckedModel(Path("m"), "m", "another hash", 1, 1)},
        {"dataset": load_dataset(SAMPLE).head(4)},
    ],
    ids=["settings", "cache", "rubric", "model", "dataset"],
)
def test_whatever_can_change_the_result_makes_another_run(
    make_plan: Callable[..., RunPlan], change: dict[str, object]
) -> None:
    plan = make_plan()
    assert replace(plan, **change).identity().key != plan.identity().key  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "change"),
    [
        (Mode.EXPLAIN, {"seed": 1}),
        (Mode.LABELS, {"seed": 1}),
        (Mode.LABELS, {"temperature": 0.5}),
        (Mode.LABELS, {"max_explanation_tokens": 5}),
    ],
)
def test_settings_that_do_not_count_make_no_other_run(
    make_plan: Callable[..., RunPlan], mode: Mode, change: dict[str, object]
) -> None:
    assert make_plan(mode=mode, **change).identity().key == make_plan(mode=mode).identity().key


def test_a_cache_in_f16_is_not_named_so_that_runs_from_before_are_the_same() -> None:
    assert "kv_type" not in SETTINGS.as_json()
    assert replace(SETTINGS, kv_type=KvType.Q8_0).as_json()["kv_type"] == "q8_0"


def test_speed_settings_do_not_make_another_run(make_plan: Callable[..., RunPlan]) -> None:
    plan = make_plan()
    faster = replace(plan, machine=MachineSettings(threads=2, gpu_layers=0))
    assert faster.identity().key == plan.identity().key


def test_a_context_above_the_trained_one_is_refused(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan("short_context")
    with (
        RunStore(tmp_path / "runs.sqlite") as store,
        pytest.raises(ModelFileError, match="trained with") as caught,
    ):
        list(run_judging(plan, store, lambda: open_model(plan, CancelToken())))
    assert "--context 1024" in OPTIONS.of(caught.value.remedy)


def test_a_model_that_changed_since_it_was_checked_is_refused(
    make_plan: Callable[..., RunPlan], tmp_path: Path
) -> None:
    plan = make_plan()
    stale = replace(plan, model=replace(plan.model, size_bytes=plan.model.size_bytes + 1))
    with (
        RunStore(tmp_path / "runs.sqlite") as store,
        pytest.raises(ModelFileError, match="has changed since it was checked"),
    ):
        list(run_judging(stale, store, lambda: open_model(stale, CancelToken())))


def test_a_run_becomes_a_submission_and_scores(
    make_plan: Callable[..., RunPlan], judged_once: Judged, sample: Dataset
) -> None:
    with RunStore(judged_once(make_plan())) as store:
        results = load_results(store, 1)
    submission = submission_of(results)
    assert [row.id for row in submission.rows] == sample.ids
    assert submission.with_explanations
    right = sum(
        row.predictions["safety"].preference is item.gold["safety"].preference
        for row, item in zip(submission.rows, sample, strict=True)
    )
    assert run_accuracy(results, sample)["safety"].share == right / 5
