"""Whole runs with real llama.cpp: what comes out, that it repeats, and what does not fit."""

import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import ModelFileError, SetupError
from engine.core.events import (
    CancelToken,
    Drafted,
    GroupUnderWay,
    ItemJudged,
    LabelsRead,
    ModelOpened,
    Reports,
    RunEnded,
    RunEvent,
    RunStarted,
    TokensEvaluated,
)
from engine.core.items import PREFERENCES, Gold, Order, Prediction, Preference
from engine.core.judgments import LENGTHS, AnyJudgment, CriterionCalibration, JudgedItem, Judgment, Unscored
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.item_judge import tidy
from engine.judging.item_prompt import ItemQuestion, shown_prompts
from engine.judging.plan import RunPlan, open_model, worked_alike
from engine.judging.run import make_item_judge, run_judging
from engine.llama.model import LlamaModel, Vocabulary
from engine.metrics.accuracy import run_accuracy
from engine.metrics.model_measures import AgreementQuestion, measure_agreement
from engine.models.model_file import read_model_file
from engine.prompt.conversation import UnbreakableTextError
from engine.prompt.examples import ExamplePool, choose_examples
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import PromptSizer
from engine.results.calibration import Calibration, judge_of_run, lengths_unknown
from engine.results.decision import decide
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from tests.engine.judging.runs import SAMPLE, SETTINGS, Judged, MakePlan, counted, judged_by, stop_after
from tests.random_models import INSTRUCTIONS, sentence_pieces, write_random_model
from tests.steps import plan_with, results_of, there


def decisions(item: JudgedItem) -> list[Judgment]:
    """What is decided of an item, which was scored on all criteria."""
    found = [decide(item, criterion) for criterion in ELOQUENT.names]
    assert not [each for each in found if isinstance(each, Unscored)]
    return [each for each in found if isinstance(each, Judgment)]


@pytest.mark.parametrize(
    "family", ["chatml", "instructions", "no_system", "no_template", "split_letters", "mamba"]
)
def test_every_family_of_models_judges_and_explains(
    make_plan: MakePlan, sample: Dataset, tmp_path: Path, family: str
) -> None:
    (item,) = judged_by(make_plan(family, dataset=sample.head(1)), tmp_path / "runs.sqlite")
    for judgment in decisions(item):
        assert sum(judgment.probabilities) == pytest.approx(1)
        assert 0 < there(judgment.answer_mass) < 1
        assert {reading.order for reading in judgment.raw_predictions} == set(Order)
        assert judgment.explanation
        assert judgment.explanation.preference is judgment.preference


@pytest.mark.models
@pytest.mark.parametrize("pair", ["llama-3.1", "qwen2.5", "phi-3.5"])
def test_real_tokenizers_and_templates_judge(
    sample: Dataset, real_tokenizer_model: Callable[[str], Path], tmp_path: Path, pair: str
) -> None:
    plan = plan_with(real_tokenizer_model(pair), sample.head(1), SETTINGS)
    (item,) = judged_by(plan, tmp_path / "runs.sqlite")
    assert set(item.explanations) == set(ELOQUENT.names)
    assert not item.unscored


def running(
    plan: RunPlan, store: RunStore, cancel: CancelToken | None = None, **how: Any
) -> Iterator[RunEvent]:
    """The events of a run whose model is opened as a run opens it."""
    return run_judging(plan, store, partial(open_model, plan, cancel or CancelToken()), **how)


def stopped(plan: RunPlan, store: RunStore, after: int) -> RunEnded:
    """The run after so many items more."""
    cancel = CancelToken()
    return stop_after(after, running(plan, store, cancel), cancel)


@pytest.fixture(scope="module")
def events(make_plan: MakePlan, tmp_path_factory: pytest.TempPathFactory) -> list[RunEvent]:
    """All that a run with explanations tells."""
    plan = make_plan()
    with RunStore(tmp_path_factory.mktemp("events") / "runs.sqlite") as store:
        return list(running(plan, store))


def test_a_run_tells_its_story_in_order(events: list[RunEvent]) -> None:
    assert [type(event) for event in events[:2]] == [RunStarted, ModelOpened]
    assert events[-1] == RunEnded(run_id=1, items=5, judged=5, stopped=False)
    assert [event.judged.position for event in events if isinstance(event, ItemJudged)] == [0, 1, 2, 3, 4]
    counted = sum(event.tokens for event in events if isinstance(event, TokensEvaluated))
    judged = [event.judged for event in events if isinstance(event, ItemJudged)]
    assert counted >= sum(item.tokens_read + item.tokens_generated for item in judged) > 0


def test_a_repeated_run_gives_exactly_the_same(make_plan: MakePlan, tmp_path: Path) -> None:
    """Also where it draws; one that does not is repeated where stopped runs go on to the unbroken result."""
    plan = make_plan(temperature=0.8, seed=7)
    plan = replace(plan, dataset=plan.dataset.head(3))
    once, again = (judged_by(plan, tmp_path / name) for name in ("once.sqlite", "again.sqlite"))
    assert once == again


def test_what_is_read_is_told_before_it_is_stored_and_will_be_decided_so(events: list[RunEvent]) -> None:
    kinds = [type(event) for event in events]
    assert kinds.index(TokensEvaluated) < kinds.index(LabelsRead) < kinds.index(ItemJudged)
    previews = [event for event in events if isinstance(event, LabelsRead)]
    seen = [(event.position, event.whole) for event in previews[:4]]
    assert seen == [(0, False), (0, True), (1, False), (1, True)]
    whole = {event.position: event for event in previews if event.whole}
    for event in events:
        if isinstance(event, ItemJudged):
            scored = (each for each in event.judgments if isinstance(each, Judgment))
            decided = [replace(each, explanations=()) for each in scored]
            assert list(whole[event.judged.position].judgments) == decided
    drafted = {event.criterion for event in events if isinstance(event, Drafted)}
    assert drafted
    assert drafted <= set(ELOQUENT.names)


@pytest.mark.slow
def test_a_long_prompt_tells_how_far_it_is(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan("slow", mode=Mode.LABELS)
    item = replace(plan.dataset[0], output_a="A long response. " * 120)
    told: list[GroupUnderWay] = []
    steps = 0
    with open_model(plan, CancelToken()) as opened:
        for event in make_item_judge(plan, opened).judge([(0, item)]):
            assert not isinstance(event, LabelsRead)
            steps += isinstance(event, TokensEvaluated)
            told += [event] if isinstance(event, GroupUnderWay) else []
            if len(told) > 2:
                break
    assert steps > 2
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert all(event.done <= event.total for event in told)
    assert told[-1].seconds_left is not None


def test_labels_are_those_of_a_run_with_explanations(make_plan: MakePlan, judged_once: Judged) -> None:
    plans = make_plan(mode=Mode.LABELS), make_plan()
    labels, explained = (judged_by(plan, judged_once(plan)) for plan in plans)
    one, other = (
        [each.probabilities for item in items for each in decisions(item)] for items in (labels, explained)
    )
    # Another batch shape: equal up to the rounding of the cache.
    assert np.allclose(one, other, atol=0.02)
    assert not any(item.explanations or item.tokens_generated for item in labels)


def test_one_order_reads_about_half_as_much(make_plan: MakePlan, judged_once: Judged, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    both = judged_by(plan, judged_once(plan))
    one = judged_by(make_plan(mode=Mode.LABELS, orders=(Order.AB,)), tmp_path / "one.sqlite")
    share = sum(item.tokens_read for item in one) / sum(item.tokens_read for item in both)
    assert 0.45 < share < 0.55
    assert {judgment.flipped for judgment in decisions(one[0])} == {None}


@pytest.mark.slow
def test_what_does_not_fit_is_unscored_with_the_numbers_or_shortened_where_that_is_wanted(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan = make_plan("bytes", mode=Mode.LABELS, context=1800, items_at_once=1)
    judged = judged_by(plan, tmp_path / "runs.sqlite")
    outcomes = [decide(item, "safety") for item in judged]
    unscored = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
    assert 0 < len(unscored) < len(outcomes)
    assert unscored[0].reason.startswith("needs ")
    assert unscored[0].reason.endswith("tokens, the context holds 1,800")
    shortening = replace(plan, settings=replace(plan.settings, shorten=True))
    again = judged_by(shortening, tmp_path / "short.sqlite")
    assert any(item.shortening for item in again)
    for item, before in zip(again, judged, strict=True):
        assert bool(item.shortening or item.unscored) == bool(before.unscored)


@pytest.mark.parametrize("context", range(1280, 2817, 512))
def test_what_is_counted_to_fit_does_fit(make_plan: MakePlan, tmp_path: Path, context: int) -> None:
    """At every size of context: no item that is counted to fit overflows, alone or with others. Runs in doubt
    are held to it at the sizes between these.
    """
    plan = make_plan(context=context, items_at_once=4, max_explanation_tokens=30)
    for item in judged_by(plan, tmp_path / "runs.sqlite"):
        assert bool(item.unscored) != bool(item.explanations)


@pytest.mark.slow
def test_examples_are_read_once_and_change_the_result(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS, items_at_once=1)
    pool = choose_examples(load_dataset(SAMPLE), ELOQUENT, shots=1)
    shown = replace(plan, examples=pool)
    without = judged_by(plan, tmp_path / "without.sqlite")
    with_examples = judged_by(shown, tmp_path / "with.sqlite")
    assert shown.identity().key != plan.identity().key
    assert [item.raw_predictions for item in without] != [item.raw_predictions for item in with_examples]
    read_more = sum(item.tokens_read for item in with_examples) - sum(item.tokens_read for item in without)
    assert read_more < 0.1 * sum(item.tokens_read for item in without)


def test_a_context_above_the_trained_one_and_a_model_that_changed_are_refused(
    make_plan: MakePlan, tmp_path: Path
) -> None:
    plan, stale = make_plan("short_context"), make_plan()
    stale = replace(stale, model=replace(stale.model, size_bytes=stale.model.size_bytes + 1))
    with RunStore(tmp_path / "runs.sqlite") as store:
        with pytest.raises(ModelFileError, match="trained with") as caught:
            list(running(plan, store))
        with pytest.raises(ModelFileError, match="has changed since it was checked"):
            list(running(stale, store))
    assert "--context 1024" in OPTIONS.of(caught.value.hint)


def test_a_run_is_a_submission_and_scores(make_plan: MakePlan, judged_once: Judged, sample: Dataset) -> None:
    results = results_of(judged_once(make_plan()))
    submission = submission_of(results)
    assert [row.id for row in submission.rows] == sample.ids
    assert submission.with_explanations
    right = sum(
        row.predictions["safety"].preference is item.gold["safety"].label
        for row, item in zip(submission.rows, sample, strict=True)
    )
    assert run_accuracy(results, sample)["safety"].share == right / 5


# A generated explanation as one honest line of text


@pytest.mark.parametrize(
    ("data", "cut", "expected"),
    [
        (b" Response A is kind.", False, "Response A is kind."),
        (b" Two\r lines\tand\x00 a NUL.", False, "Two lines and a NUL."),
        (b" First sentence. Second sent", True, "First sentence."),
        (b" No sentence ends he", True, "No sentence ends he"),
        (b" Is it? Yes! And mor", True, "Is it? Yes!"),
        (b" Version 2.5 is bett", True, "Version 2.5 is bett"),
        ("caf\u00e9".encode()[:-1], True, "caf"),
        (b"caf\xc3 good", False, "caf\ufffd good"),
        ("\u2028 line separator".encode(), False, "line separator"),
        (b"  ", False, ""),
        (b" None", False, ""),
        (b" 7", False, ""),
        (b" None of them is wrong.", False, "None of them is wrong."),
    ],
)
def test_tidy(data: bytes, cut: bool, expected: str) -> None:
    assert tidy(data, cut) == expected


# Runs that were stopped go on: to the same result, in the same format, with the calibration they keep


def always(label: Preference, plan: RunPlan) -> Calibration:
    """A calibration for the judge of a plan that decides safety for this label, whatever was read."""
    a, b, both_good, both_bad = (9.0 if other is label else 0.0 for other in PREFERENCES)
    safety = CriterionCalibration(0.0, (a, b, both_good, both_bad), None, 99)
    return Calibration(judge_of_run(plan.identity()), "gold.tsv", "e" * 64, {"safety": safety}, {})


def items_of(plan: RunPlan, store: RunStore, stop_at: int | None = None) -> list[ItemJudged]:
    """The items that a run tells of; each carries what load_results decides of what is stored."""
    cancel = CancelToken()
    items: list[ItemJudged] = []
    for event in running(plan, store, cancel):
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
    readings = sorted(judgment.raw_predictions, key=lambda reading: reading.order)
    return replace(judgment, raw_predictions=tuple(readings))


def safety_of(items: Iterable[ItemJudged]) -> set[Preference]:
    """The labels of safety that were decided."""
    judgments = [item.judgments[ELOQUENT.names.index("safety")] for item in items]
    return {judgment.preference for judgment in judgments if isinstance(judgment, Judgment)}


@pytest.mark.slow
@pytest.mark.parametrize("context", [8192, 1800])
def test_items_come_with_what_is_decided_of_them(make_plan: MakePlan, tmp_path: Path, context: int) -> None:
    plan = make_plan("bytes", context=context, items_at_once=2, max_explanation_tokens=6)
    with RunStore(tmp_path / "runs.sqlite") as store:
        items = items_of(plan, store)
    assert len(items) == 5
    assert all([judgment.criterion for judgment in item.judgments] == list(ELOQUENT.names) for item in items)
    judgments = [judgment for item in items for judgment in item.judgments]
    assert any(isinstance(judgment, Unscored) for judgment in judgments) == (context == 1800)
    assert any(isinstance(judgment, Judgment) and judgment.explanation for judgment in judgments)


@pytest.mark.parametrize(
    ("began", "stored", "now", "expected"),
    [
        (Preference.B, None, None, Preference.B),
        (Preference.B, None, Preference.BOTH_BAD, Preference.BOTH_BAD),
        (None, Preference.BOTH_BAD, None, Preference.BOTH_BAD),
    ],
    ids=["that it keeps", "a new one", "one that it got after it stopped"],
)
def test_a_resumed_run_decides_with_its_calibration(
    make_plan: MakePlan,
    tmp_path: Path,
    began: Preference | None,
    stored: Preference | None,
    now: Preference | None,
    expected: Preference,
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        first = items_of(replace(plan, calibration=always(began, plan) if began else None), store, stop_at=2)
        if stored:
            store.calibrate(1, always(stored, plan).as_json())
        rest = items_of(replace(plan, calibration=always(now, plan) if now else None), store)
        results = load_results(store, 1)
    assert len(first) + len(rest) == 5
    assert began is None or safety_of(first) == {began}
    assert safety_of(rest) == {expected}
    assert {results.label(judgment) for judgment in results.judgments["safety"]} == {expected}


def test_a_run_of_before_goes_on_with_no_calibration_that_looks_at_lengths(
    make_plan: MakePlan, tmp_path: Path
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


@pytest.mark.slow
def test_a_run_that_is_stopped_again_and_again_goes_on_to_exactly_the_unbroken_result(
    make_plan: MakePlan, judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan()
    for stop_at in (1, 2):
        with RunStore(tmp_path / "stopped.sqlite") as store:
            before = len(store.positions(1)) if store.runs() else 0
            ended = stopped(plan, store, stop_at)
            assert ended.stopped
            assert before < ended.judged < 5
    assert judged_by(plan, tmp_path / "stopped.sqlite") == judged_by(plan, judged_once(plan))


def test_a_run_that_ends_soon_loses_nothing_and_goes_on_to_the_unbroken_result(
    make_plan: MakePlan, judged_once: Judged, tmp_path: Path
) -> None:
    plan = make_plan()
    request = CancelToken()
    with RunStore(tmp_path / "stopped.sqlite") as store:
        read = 0
        for event in running(plan, store, ending=lambda: request.ending):
            read += isinstance(event, LabelsRead)
            if read == 1:  # in the middle of the first two items
                request.end_soon()
    assert event == RunEnded(run_id=1, items=5, judged=2, stopped=True)
    assert judged_by(plan, tmp_path / "stopped.sqlite") == judged_by(plan, judged_once(plan))


@pytest.mark.slow
def test_a_run_that_goes_on_otherwise_says_so(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    for threads, stop_at in ((1, 1), (2, 1), (2, 5)):
        with RunStore(tmp_path / "runs.sqlite") as store:
            stopped(replace(plan, machine=MachineSettings(threads, gpu_layers=0)), store, stop_at)
            manifest = store.run(1).manifest
    assert manifest["threads"] == 1
    assert [session["threads"] for session in manifest["continued_with"]] == [2]


def test_threads_that_adapt_are_said_to_be_the_most(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    for adapts in (True, False):
        with RunStore(tmp_path / "runs.sqlite") as store:
            stopped(replace(plan, machine=MachineSettings(8, gpu_layers=0, adapts=adapts)), store, 1)
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


def test_a_run_does_not_go_on_in_another_chat_format(make_plan: MakePlan, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        stopped(plan, store, 1)
        began = store.run(1).manifest
        judged = store.positions(1)
        store.describe(1, {**began, "chat_format_hash": "0" * 64})
        with pytest.raises(SetupError, match="Run 1 cannot be resumed: its prompts used another chat format"):
            list(running(plan, store))
        assert store.positions(1) == judged
        # A run from before formats were kept goes on.
        store.describe(1, {name: value for name, value in began.items() if name != "chat_format_hash"})
        *_, ended = running(plan, store)
    assert ended == RunEnded(run_id=1, items=5, judged=5, stopped=False)


@pytest.mark.parametrize("resumes", [None, 1])
def test_a_run_that_goes_on_comes_out_of_the_archive(
    make_plan: MakePlan, tmp_path: Path, resumes: int | None
) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        stopped(plan, store, 1)
        for expected in (True, False):  # it is not complete, then it is
            store.archive([1], "Ada")
            list(running(plan, store, resumes=resumes))
            assert (store.run(1).archived is None) is expected


def test_a_complete_run_is_not_judged_again(make_plan: MakePlan, judged_once: Judged, tmp_path: Path) -> None:
    plan = make_plan(mode=Mode.LABELS)
    with RunStore(Path(shutil.copy(judged_once(plan), tmp_path))) as store:
        events = list(run_judging(plan, store, lambda: pytest.fail("the model was opened")))
    assert [type(event) for event in events] == [RunStarted, RunEnded]


# An item whose text cannot be kept from being a control token is unscored, with the reason

REASON = "a text would be parsed as part of the prompt's structure: § cannot be broken up"
LABELS = JudgeSettings(mode=Mode.LABELS, context=4096)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model to which § is a control token."""
    path = tmp_path_factory.mktemp("refusing") / "model.gguf"
    return write_random_model(path, sentence_pieces(("§",)), INSTRUCTIONS)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "two.tsv"
    lines = ("id\tinstruction\toutput_a\toutput_b", "1\tSay hi.\tHi.\tNo.", "2\tSay hi.\tHi (§ 3).\tNo.", "")
    path.write_text("\n".join(lines), encoding="utf-8")
    return load_dataset(path)


def test_it_is_unscored_as_the_plan_says_before_and_its_prompt_is_not_shown(
    model: Path, dataset: Dataset, tmp_path: Path
) -> None:
    plan = plan_with(model, dataset, LABELS)
    for shorten in (False, True):
        forecast = counted(replace(plan, settings=replace(LABELS, shorten=shorten)))
        assert (forecast.too_long, forecast.shortened) == (("2",), ())
    first, second = (decide(item, "safety") for item in judged_by(plan, tmp_path / "runs.sqlite"))
    assert isinstance(first, Judgment)
    assert isinstance(second, Unscored)
    assert second.reason == REASON
    asked = ItemQuestion(
        dataset[1], ELOQUENT, LABELS, MachineSettings(1, 0), read_model_file(model), plan.model, ExamplePool()
    )
    with pytest.raises(SetupError, match="Item 2 cannot be shown to this model"):
        list(shown_prompts(asked, ("safety", Order.AB), CancelToken()))


def test_as_an_example_it_stops_the_run_before_it_begins(model: Path, dataset: Dataset) -> None:
    example = replace(dataset[1], gold={"safety": Gold(Preference.A)})
    pool = ExamplePool((example, replace(example, instruction="Other")), 1)
    with LlamaModel(model, vocabulary_only=True) as opened:
        template = ChatTemplate(render_frame(INSTRUCTIONS, "<s>", "</s>"), Vocabulary(opened))
        with pytest.raises(UnbreakableTextError, match="Remove that item or example"):
            PromptSizer(template, ELOQUENT, LABELS, pool, lambda: None)


def test_its_explanations_are_not_asked_about(model: Path, dataset: Dataset, tmp_path: Path) -> None:
    plan = plan_with(model, dataset, LABELS)
    gold, prediction = Gold(Preference.A, "By § 3."), Prediction(Preference.A, "It is.")
    question = AgreementQuestion(dataset[0], ELOQUENT.criteria[0], gold, prediction)
    with RunStore(tmp_path / "runs.sqlite") as store:
        opener = partial(open_model, plan, CancelToken())
        asking = Reports(measure_agreement([question], opener, store, "hash"))
        assert list(asking)
    assert asking.result == [Unscored("1", ELOQUENT.names[0], REASON)]
