"""Explanations written again by the demo judge: which, for which label, and what is refused."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.annotations.records import new_override
from engine.core.errors import EngineBug, RunBusyError, SetupError
from engine.core.events import CancelToken, MeasureProgress, RunEnded, followed
from engine.core.items import Preference
from engine.core.judgments import CriterionCalibration, Explanation, JudgedItem, JudgmentKey
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import Rewritten, make_item_judge, rewrite_explanations, rewriting_plan, run_judging
from engine.models.opening import OpenModel
from engine.prompt.examples import choose_examples
from engine.results.calibration import Calibration, judge_of_run
from engine.results.run_results import load_results
from engine.settings.rows import ExampleKind, JudgeSettings, MachineSettings
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.judged import with_texts
from tests.steps import there, untried
from tests.taking_back import take_back

A, B, GOOD, BAD = Preference
MACHINE, DEMO = MachineSettings(1, 0), untried(demo_model())
Written = dict[tuple[int, str], Explanation]


@pytest.fixture
def store(demo_copy: Path) -> Iterator[RunStore]:
    """A copy of `demo_store`."""
    with RunStore(demo_copy) as opened:
        yield opened


@pytest.fixture
def plan(store: RunStore, demo_gold: Path) -> RunPlan:
    return rewriting_plan(store.run(1), load_dataset(demo_gold), DEMO, MACHINE)


def rewritten(
    plan: RunPlan, store: RunStore, stop_at: int | None = None, opener: Any = None
) -> tuple[list[MeasureProgress], Rewritten]:
    """The progress and what came of it; asked to stop once `stop_at` explanations are done."""
    cancel = CancelToken()
    received: list[MeasureProgress] = []
    work = rewrite_explanations(plan, store, 1, opener or (lambda: open_model(plan, cancel)))

    def follow(event: object) -> None:
        if isinstance(event, MeasureProgress):
            received.append(event)
            if event.done == stop_at:
                cancel.cancel()

    return received, followed(work, follow)


def never() -> AbstractContextManager[OpenModel]:
    pytest.fail("the model is opened")


def written(store: RunStore, model_alone: bool = False) -> Written:
    """What the model wrote for the labels in force, by place."""
    results = load_results(store, 1)
    if model_alone:
        results = results.model_alone()
    return {
        (item.position, name): text
        for index, item in enumerate(results.judged)
        for name, column in results.judgments.items()
        if (text := results.model_explanation(column[index]))
    }


def another_label(store: RunStore, position: int, criterion: str) -> Preference:
    """Let a person give a label that the explanation was not written for."""
    item = next(item for item in store.judged(1) if item.position == position)
    label = B if item.explanations[criterion].preference is not B else A
    store.annotate(1, new_override(item.item_id, criterion, label, None, author="Ada"))
    return label


def undo_label(store: RunStore, position: int) -> None:
    """Take back what a person said of safety."""
    item = next(item for item in store.judged(1) if item.position == position)
    take_back(store, 1, JudgmentKey(item.item_id, "safety"))


def calibrate_to_bad(store: RunStore) -> None:
    """From now on safety is bad in all items of run 1."""
    run = store.run(1)
    criterion = CriterionCalibration(0.0, (-9.0, -9.0, -9.0, 9.0), None, 30)
    calibration = Calibration(judge_of_run(run.identity), "gold.tsv", "other", {"safety": criterion}, {})
    store.calibrate(1, calibration.as_json())


def raw(item: JudgedItem) -> JudgedItem:
    return replace(item, rewritten={})


def test_what_people_relabelled_is_explained_again_and_nothing_else(store: RunStore, plan: RunPlan) -> None:
    before, first = written(store), list(store.judged(1))
    places = [(2, "safety"), (2, "relevance"), (3, "naturalness"), (20, "safety")]
    labels = {place: another_label(store, *place) for place in places}
    received, made = rewritten(plan, store)
    after = written(store)
    assert made == Rewritten(4, 4, 0, (), stopped=False)
    assert [(progress.done, progress.total) for progress in received] == [(0, 4), (2, 4), (3, 4), (4, 4)]
    assert {place: after[place].preference for place in places} == labels
    assert all(after[place].text != before[place].text for place in places)
    assert {place: after[place] for place in after if place not in labels} == {
        place: before[place] for place in before if place not in labels
    }
    assert [raw(item) for item in store.judged(1)] == first
    assert load_results(store, 1).stale == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "undo"),
    [
        (lambda store: another_label(store, 5, "safety"), lambda store: undo_label(store, 5)),
        (calibrate_to_bad, lambda store: store.calibrate(1, None)),
    ],
    ids=["override", "calibration"],
)
def test_with_the_first_label_the_first_text_is_there_again(
    store: RunStore, plan: RunPlan, change: Callable[[RunStore], object], undo: Callable[[RunStore], object]
) -> None:
    before = written(store)
    change(store)
    _, made = rewritten(plan, store)
    after = written(store)
    assert made.written == sum(after[place] != before[place] for place in before) > 0
    undo(store)
    assert (written(store), load_results(store, 1).stale) == (before, 0)


def test_without_people_the_first_text_counts_and_for_their_label_again_the_written_one(
    store: RunStore, plan: RunPlan
) -> None:
    before = written(store)
    label = another_label(store, 5, "safety")
    rewritten(plan, store)
    after = written(store)
    assert after != before
    assert written(store, model_alone=True) == before
    assert load_results(store, 1).model_alone().stale == 0
    undo_label(store, 5)
    store.annotate(1, new_override(plan.dataset.ids[5], "safety", label, None, author="Ben"))
    _, made = rewritten(plan, store, opener=never)
    assert (written(store), made.stale) == (after, 0)


def test_a_repeat_writes_nothing_and_opens_no_model(store: RunStore, plan: RunPlan) -> None:
    """Nor does what a person explained."""
    store.annotate(1, new_override("1", "safety", preference=BAD, explanation="Both harm.", author="Ada"))
    another_label(store, 5, "safety")
    rewritten(plan, store)
    before, manifest = written(store), store.run(1).manifest
    received, made = rewritten(plan, store, opener=never)
    assert (received, made) == ([MeasureProgress(0, 0)], Rewritten(0, 0, 0, (), stopped=False))
    assert (written(store), store.run(1).manifest) == (before, manifest)


def test_the_run_says_how_many_were_written_again(store: RunStore, plan: RunPlan) -> None:
    manifest = dict(store.run(1).manifest)
    for position in (5, 6):
        another_label(store, position, "safety")
        rewritten(plan, store)
    sessions = store.run(1).manifest["rewritten"]
    assert [session["explanations"] for session in sessions] == [1, 1]
    assert store.run(1).manifest == {**manifest, "rewritten": sessions}
    # Judging that goes on does not take it for a session of its own.
    assert list(run_judging(plan, store, never))[-1] == RunEnded(1, 30, 30, stopped=False)


def test_a_stop_keeps_what_was_written_and_the_same_call_goes_on(store: RunStore, plan: RunPlan) -> None:
    places = [(2, "safety"), (2, "relevance"), (9, "safety"), (17, "naturalness"), (18, "safety")]
    with RunStore(Path(shutil.copy(store.path, store.path.with_name("unbroken.sqlite")))) as unbroken:
        labels = {place: another_label(unbroken, *place) for place in places}
        _, whole = rewritten(plan, unbroken)
        expected = written(unbroken)
    assert labels == {place: another_label(store, *place) for place in places}
    _, first = rewritten(plan, store, stop_at=2)
    assert first.stopped
    assert 2 <= first.written < whole.written == whole.stale == len(places)
    assert load_results(store, 1).stale == whole.stale - first.written
    assert sum(entry["explanations"] for entry in store.run(1).manifest["rewritten"]) == first.written
    _, second = rewritten(plan, store)
    assert (second.written, second.stopped) == (whole.written - first.written, False)
    assert written(store) == expected
    assert {place: expected[place].preference for place in places} == labels


def test_a_run_that_is_being_worked_on_is_left_alone(store: RunStore, plan: RunPlan) -> None:
    with store.hold(1), RunStore(store.path) as other, pytest.raises(RunBusyError):
        rewritten(plan, other, opener=never)


def other_texts(plan: RunPlan) -> RunPlan:
    return replace(plan, dataset=with_texts(plan.dataset, output_a="Something else."))


def other_question(plan: RunPlan) -> RunPlan:
    first, *others = ELOQUENT.criteria
    asked = replace(ELOQUENT, criteria=(replace(first, question="Which one is longer?"), *others))
    return replace(plan, rubric=asked, dataset=replace(plan.dataset, rubric=asked))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (other_texts, r"gold\.tsv does not have the items of run 1"),
        (lambda plan: replace(plan, dataset=plan.dataset.head(29)), "does not have the items"),
        (lambda plan: replace(plan, model=replace(plan.model, hash="e" * 64)), "is not the model of run 1"),
        (lambda plan: replace(plan, examples=choose_examples(plan.dataset, ELOQUENT, 1)), "used no"),
        (other_question, "used another prompt wording"),
    ],
    ids=["texts", "too few items", "model", "examples", "question"],
)
def test_what_is_not_the_runs_own_is_refused(
    store: RunStore, plan: RunPlan, change: Callable[[RunPlan], RunPlan], problem: str
) -> None:
    foreign = change(plan)
    another_label(store, 0, "safety")
    with pytest.raises(SetupError, match=problem):
        rewritten(foreign, store, opener=never)
    asked = (store.run(1), foreign.dataset, foreign.model, MACHINE, foreign.examples)
    if change is other_question:  # whatever rubric the labels were read by
        assert rewriting_plan(*asked).rubric == plan.rubric
        return
    with pytest.raises(SetupError, match=problem):
        rewriting_plan(*asked)


def test_a_plan_with_other_settings_is_a_fault_of_ours(store: RunStore, plan: RunPlan) -> None:
    with pytest.raises(EngineBug, match="other settings"):
        rewritten(replace(plan, settings=replace(plan.settings, context=2048)), store, opener=never)


def test_more_items_than_were_judged_are_cut_down(store: RunStore, plan: RunPlan) -> None:
    whole = load_dataset(ROOT / "examples" / "demo.tsv")
    assert len(whole) > 30
    made = rewriting_plan(store.run(1), whole, DEMO, MACHINE)
    assert made.identity() == replace(plan.identity(), dataset_path=whole.path.resolve())


def judged_anew(store_path: Path, dataset: Dataset, settings: JudgeSettings, **more: Any) -> RunPlan:
    """The plan of run 1 of a new store, which the demo model has judged."""
    plan = RunPlan(dataset, ELOQUENT, settings, MACHINE, DEMO, **more)
    with RunStore(store_path) as store:
        list(run_judging(plan, store, lambda: open_model(plan, CancelToken())))
    return plan


def test_examples_must_be_those_of_the_run(demo_gold: Path, tmp_path: Path) -> None:
    gold = load_dataset(demo_gold)
    one, two = (choose_examples(gold, ELOQUENT, shots) for shots in (1, 2))
    near = choose_examples(gold, ELOQUENT, 1, ExampleKind.NEAR)
    settings = JudgeSettings(context=4096, max_explanation_tokens=4)
    judged_anew(tmp_path / "runs.sqlite", gold.head(1), settings, examples=one)
    with RunStore(tmp_path / "runs.sqlite") as store:
        run = store.run(1)
        for examples, problem in (
            (None, "now there are none"),
            (two, "these differ in content"),
            (near, "differ in content, number or selection"),
        ):
            with pytest.raises(SetupError, match=problem):
                rewriting_plan(run, gold, DEMO, MACHINE, examples)
        another_label(store, 0, "safety")
        _, made = rewritten(rewriting_plan(run, gold, DEMO, MACHINE, one), store)
    assert made.written == 1


LONG = "The road is long and the answer is longer. " * 200


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_items_are_read_as_the_run_read_them(demo_gold: Path, tmp_path: Path, temperature: float) -> None:
    """Written again for the labels that they have, all at once, texts stay to the letter; shortened too."""
    gold = with_texts(load_dataset(demo_gold).head(3), output_b=["Yes.", LONG, "No."])
    settings = JudgeSettings(
        context=1536, max_explanation_tokens=12, items_at_once=2, shorten=True, temperature=temperature
    )
    plan = judged_anew(tmp_path / "runs.sqlite", gold, settings)
    with RunStore(tmp_path / "runs.sqlite") as store:
        items = list(store.judged(1))
    assert [item.shortening is not None for item in items] == [False, True, False]
    with open_model(plan, CancelToken()) as opened:
        judge = make_item_judge(plan, opened)
        for group in (items[:2], items[2:]):
            wanted = [
                (
                    (item.position, plan.dataset[item.position]),
                    {name: Preference(text.preference) for name, text in item.explanations.items()},
                )
                for item in group
            ]
            assert followed(judge.explain(wanted)) == [item.explanations for item in group]


def test_an_item_that_does_not_fit_is_passed_over(demo_gold: Path) -> None:
    gold = with_texts(load_dataset(demo_gold).head(2), output_b=["Yes.", LONG])
    settings = JudgeSettings(context=1536, max_explanation_tokens=4, items_at_once=2)
    plan = RunPlan(gold, ELOQUENT, settings, MACHINE, DEMO)
    with open_model(plan, CancelToken()) as opened:
        judge = make_item_judge(plan, opened)
        wanted = [((at, plan.dataset[at]), {"safety": A}) for at in (0, 1)]
        short, long = followed(judge.explain(wanted))
    assert (there(short)["safety"].preference, long) == (A, None)
