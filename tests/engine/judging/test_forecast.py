"""Forecasts compared with what real runs of real llama.cpp then do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import ModelFileError, SetupError
from engine.core.events import Cancelled, CancelToken, GroupUnderWay, MeasureProgress
from engine.core.items import Item, Method, Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.forecast import (
    DEFAULT_TEXT,
    Forecast,
    Rate,
    SecondShare,
    forecast,
    rate_of,
    time_some_items,
)
from engine.judging.item_reader import Remaining, TimeEstimate
from engine.judging.plan import RunPlan, open_model
from engine.judging.work import plan_facts
from engine.llama.speed import ModelSpeed
from engine.models.model_file import read_model_file
from engine.models.opening import _key
from engine.models.templates import model_memory
from engine.prompt.examples import ExamplePool, choose_examples
from engine.settings.identity import Effort
from engine.settings.rows import JudgeSettings, KvType, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.computer import Memory
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.engine.judging.runs import counted, judged_until
from tests.steps import plan_with, there

SmallModel = Callable[[str], Path]

DEMO = load_dataset(ROOT / "examples" / "demo.tsv").head(6)
SAMPLE = load_dataset(ROOT / "examples" / "sample.tsv").head(5)
LABELS = JudgeSettings(mode=Mode.LABELS, context=1024)
EXPLAIN = JudgeSettings(context=1024, max_explanation_tokens=8)
# The sample's items take some 1,700 to 2,000 tokens each where a token is a byte.
TIGHT = JudgeSettings(mode=Mode.LABELS, context=1800)


def plan_of(settings: JudgeSettings, path: Path | None = None, dataset: Dataset = DEMO) -> RunPlan:
    return plan_with(path or demo_model(), dataset, settings)


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 is the demo, judged and explained."""
    path = tmp_path_factory.mktemp("explained") / "runs.sqlite"
    judged_until(plan_of(EXPLAIN), path)
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose run 1 are two items of the demo, judged."""
    path = tmp_path_factory.mktemp("labelled") / "runs.sqlite"
    judged_until(plan_of(LABELS, dataset=DEMO.head(2)), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        (None, LABELS),
        (None, replace(LABELS, orders=(Order.AB,))),
        (None, EXPLAIN),
        (None, replace(EXPLAIN, items_at_once=2)),
        ("split_letters", replace(LABELS, context=8192)),
        ("mamba", replace(LABELS, context=8192)),
    ],
    ids=["labels", "one order", "explain", "two at once", "labels of several tokens", "recurrent"],
)
def test_a_run_reads_as_many_tokens_as_were_forecast(
    small_model: SmallModel, tmp_path: Path, family: str | None, settings: JudgeSettings
) -> None:
    plan = plan_of(settings, small_model(family) if family else None, DEMO.head(3))
    _, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    with RunStore(tmp_path / "runs.sqlite") as store:
        written = sum(each.tokens_generated for each in store.efforts(1))
    now = counted(plan)
    # What two items write together is shared out in whole tokens: one may be lost.
    lost = tokens - written - now.tokens_to_read
    assert lost in range(settings.items_at_once)
    assert written <= now.tokens_to_write_at_most
    assert now.too_long == ()


@pytest.mark.slow
def test_examples_that_an_item_leaves_out_are_counted(tmp_path: Path) -> None:
    plan = replace(plan_of(replace(LABELS, context=2048)), examples=choose_examples(DEMO, ELOQUENT, 2))
    _, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    assert counted(plan).tokens_to_read == tokens
    assert plan.examples != ExamplePool()


def test_the_size_of_the_work() -> None:
    labels, explained = counted(plan_of(LABELS)), counted(plan_of(EXPLAIN))
    assert (labels.items, labels.criteria, labels.orders) == (6, 5, 2)
    assert (labels.judgments, labels.raw_predictions) == (30, 60)
    assert labels.tokens_to_write_at_most == 0
    assert explained.tokens_to_write_at_most == 6 * 5 * 8
    assert labels.template_note == ""
    assert (labels.judged, labels.run_id, labels.seconds) == (0, None, None)


def test_what_is_said_to_be_too_long_a_run_leaves_unscored(small_model: SmallModel, tmp_path: Path) -> None:
    plan = plan_of(TIGHT, small_model("bytes"), SAMPLE)
    items, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    now = counted(plan)
    assert now.too_long == tuple(item.item_id for item in items if item.unscored)
    assert 0 < len(now.too_long) < 5
    assert now.tokens_to_read == tokens
    assert now.shortened == ()


@pytest.mark.slow
def test_what_will_be_shortened_is_counted_as_a_full_context(small_model: SmallModel, tmp_path: Path) -> None:
    plan = plan_of(TIGHT, small_model("bytes"), SAMPLE)
    shortening = replace(plan, settings=replace(TIGHT, shorten=True))
    now = counted(shortening)
    items, tokens = judged_until(shortening, tmp_path / "runs.sqlite")
    assert now.too_long == ()
    assert now.shortened == counted(plan).too_long
    assert set(now.shortened) == {item.item_id for item in items if item.shortening or item.unscored}
    assert now.tokens_to_read == pytest.approx(tokens, rel=0.05)


def test_the_context_that_fits_all_does_and_one_step_less_does_not(small_model: SmallModel) -> None:
    plan = plan_of(TIGHT, small_model("bytes"), SAMPLE)
    now = counted(plan)
    wanted = there(now.context_that_fits_all)
    assert wanted - 256 < now.largest[1] <= wanted
    for context, misfits in ((wanted, False), (wanted - 256, True)):
        found = counted(replace(plan, settings=replace(TIGHT, context=context)))
        assert (now.largest[0] in found.too_long) is misfits
    # None fits all where the model was trained with less.
    trained_less = plan_of(replace(TIGHT, context=1024), small_model("short_context"), SAMPLE)
    assert counted(trained_less).context_that_fits_all is None


def test_a_stopped_run_is_known_with_what_is_left_of_it(tmp_path: Path) -> None:
    store, plan = tmp_path / "runs.sqlite", plan_of(LABELS)
    first, _ = judged_until(plan, store, most=2)
    now, anew = counted(plan, store), counted(plan, store, fresh=True)
    assert (now.judged, now.run_id) == (len(first), 1)
    assert 2 <= len(first) < 6
    assert (anew.judged, anew.run_id, anew.tokens_left_to_read) == (0, None, anew.tokens_to_read)
    assert 0 < there(now.seconds) < there(anew.seconds)
    _, tokens = judged_until(plan, store)
    assert now.tokens_left_to_read == tokens


def test_a_complete_run_leaves_nothing_and_the_same_work_takes_as_long_as_before(explained: Path) -> None:
    now, anew = counted(plan_of(EXPLAIN), explained), counted(plan_of(EXPLAIN), explained, fresh=True)
    assert (now.judged, now.tokens_left_to_read, now.texts_left, now.seconds) == (6, 0, 0, 0.0)
    with RunStore(explained) as store:
        seconds = sum(item.seconds for item in store.judged(1))
    # The stem, which is read once, is all that the items' own seconds do not hold.
    assert anew.seconds == pytest.approx(seconds, rel=0.1)
    assert anew.time_estimate == "run 1"


@pytest.mark.parametrize(
    "change",
    [
        {"settings": replace(LABELS, mode=Mode.EXPLAIN, context=2048)},
        {"settings": replace(LABELS, kv_type=KvType.Q8_0)},
        {"machine": MachineSettings(threads=2, gpu_layers=0)},
        {"machine": MachineSettings(threads=1, gpu_layers=0, adapts=True)},
        {"machine": MachineSettings(threads=1, gpu_layers=1)},
    ],
    ids=["mode", "cache", "threads", "threads that adapt", "layers on the GPU"],
)
def test_a_run_that_worked_otherwise_tells_no_time(
    labelled: Path, change: dict[str, JudgeSettings | MachineSettings]
) -> None:
    # Another dataset: that the very run is complete says nothing of the rate.
    plan = plan_of(LABELS)
    assert counted(plan, labelled).time_estimate == "run 1"
    assert counted(replace(plan, **change), labelled).seconds is None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [
        (Rate(0.5, tokens_per_text=3), 0.5 * (100 + 20 * 3)),
        (Rate(0.5, tokens_per_text=30), 0.5 * (100 + 20 * 8)),
        (Rate(0.25, tokens_per_text=0), 0.25 * 100),
        (Rate(0.5, tokens_per_text=3, ratio=8), 0.5 * (100 + 8 * 20 * 3)),
    ],
)
def test_explanations_are_expected_as_long_as_before_and_as_allowed(rate: Rate, seconds: float) -> None:
    left = replace(counted(plan_of(EXPLAIN)), tokens_left_to_read=100, texts_left=20)
    assert replace(left, rate=rate).seconds == pytest.approx(seconds)


def test_the_first_items_that_fit_tell_a_rate(small_model: SmallModel) -> None:
    settings = replace(TIGHT, mode=Mode.EXPLAIN, context=2048, max_explanation_tokens=4)
    last_first = replace(SAMPLE, table=SAMPLE.table.take(list(range(len(SAMPLE)))[::-1]))
    plan = plan_of(settings, small_model("bytes"), last_first)
    too_long = counted(plan).too_long
    assert last_first.ids[0] in too_long
    assert len(too_long) < 5
    rate = time_some_items(plan, partial(open_model, plan, CancelToken()))
    assert rate.seconds_per_token > 0
    assert 0 < rate.tokens_per_text <= 4
    assert rate.run_id is None


def test_counting_stops_soon_when_asked_to() -> None:
    cancel = CancelToken()
    work = forecast(plan_of(LABELS), None, cancel)
    assert next(work) == MeasureProgress(0, 6)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)


def test_what_a_run_would_refuse_is_refused(small_model: SmallModel) -> None:
    with pytest.raises(ModelFileError, match="trained with"):
        counted(plan_of(replace(LABELS, context=2048), small_model("short_context")))
    with pytest.raises(SetupError, match="no item fits"):
        counted(plan_of(replace(LABELS, context=256), small_model("bytes")))
    plan = plan_of(replace(LABELS, context=256), dataset=DEMO.head(2))
    with pytest.raises(SetupError, match="no item fits a context of 256 tokens"):
        time_some_items(plan, partial(open_model, plan, CancelToken()))


SPEED = ModelSpeed(reading=1000, writing_one=50, writing_ten=200, prompt=512, cores=1, threads=1)


@pytest.fixture
def measured_file() -> None:
    """The speed of the demo model is remembered."""
    plan = plan_of(LABELS)
    with model_memory() as memory:
        memory.remember("speed", _key(plan.model.hash, plan.machine), SPEED)


@pytest.mark.usefixtures("measured_file")
def test_without_a_run_the_time_is_that_of_the_measured_file(tmp_path: Path, labelled: Path) -> None:
    plan = plan_of(LABELS)
    made = counted(plan, tmp_path / "none.sqlite")
    assert not (tmp_path / "none.sqlite").exists()
    assert made.seconds == pytest.approx(made.tokens_left_to_read / 1000)
    assert (made.time_estimate, made.untimed) == ("this model file when it was measured here", True)
    by_run = counted(plan, labelled)  # which tells better
    assert (by_run.time_estimate, by_run.untimed) == ("run 1", False)
    # The speed of other threads or of another cache is not taken.
    assert counted(replace(plan, machine=MachineSettings(2, 0))).seconds is None
    assert counted(replace(plan, settings=replace(LABELS, kv_type=KvType.Q8_0))).seconds is None


@pytest.mark.usefixtures("measured_file")
def test_explanations_of_a_usual_length_are_reckoned_with() -> None:
    made = counted(plan_of(replace(EXPLAIN, max_explanation_tokens=120)))
    # Five texts together: a step takes 20 ms for one, 50 ms for ten.
    step = 0.02 + 4 / 9 * 0.03
    written = made.texts_left / 5 * DEFAULT_TEXT * step
    assert made.seconds == pytest.approx(made.tokens_left_to_read / 1000 + written)
    assert made.time_estimate.endswith(f"with explanations of {DEFAULT_TEXT} tokens")
    assert counted(plan_of(EXPLAIN)).time_estimate.endswith("with explanations of 8 tokens")


# What a plan says: the same facts for the command line and the window

PLAN = Forecast(
    items=20,
    criteria=5,
    orders=2,
    settings=JudgeSettings(context=4096),
    tokens_to_read=7162,
    tokens_to_write_at_most=12_000,
    too_long=(),
    shortened=(),
    largest=("9", 964),
    context_that_fits_all=1024,
    template_note="",
    judged=0,
    run_id=None,
    tokens_left_to_read=7162,
    texts_left=100,
)
BEGUN = replace(PLAN, judged=12, run_id=3)
UNCERTAIN = replace(PLAN.settings, second_order_below=0.5)


def facts(forecast: Forecast, memory: Memory | None = None) -> dict[str, str]:
    return dict(plan_facts(forecast, read_model_file(demo_model()), memory).pairs)


def test_a_plan_says_readings_tokens_and_the_memory_that_it_needs() -> None:
    found = facts(PLAN, Memory(available=8 << 30, total=16 << 30))
    assert list(found) == ["raw predictions", "too long", "tokens", "memory"]
    assert found["raw predictions"] == "20 items x 5 criteria x both orders = 200"
    assert found["tokens"] == "7,162 to read, at most 12,000 to write"
    assert found["memory"].startswith("about ")
    assert found["memory"].endswith(" MiB with 4,096 tokens of context; 8.0 GiB are free")
    assert facts(PLAN)["memory"].endswith(" of context")  # others judge: what is free here counts for nothing
    assert facts(replace(PLAN, tokens_to_write_at_most=0))["tokens"] == "7,162 to read"


@pytest.mark.parametrize(
    ("plan", "fact", "said"),
    [
        (
            replace(PLAN, settings=UNCERTAIN, second=SecondShare(1.0, None)),
            "raw predictions",
            "20 items x 5 criteria x both orders if uncertain = 200 at most; no run tells how many items"
            " have a margin below 0.5",
        ),
        (
            replace(PLAN, settings=UNCERTAIN, second=SecondShare(0.25, 7)),
            "raw predictions",
            "about 125: 20 items x 5 criteria, and the second order for 25.0 % of the items, as in run 7",
        ),
        (BEGUN, "in the store", "12 of 20 items are judged in run 3, which is resumed"),
        (replace(BEGUN, judged=20), "in the store", "all 20 items are judged in run 3"),
        (replace(BEGUN, items=1, judged=1), "in the store", "the item is judged in run 3"),
    ],
)
def test_a_second_order_in_doubt_and_what_is_stored_are_told(plan: Forecast, fact: str, said: str) -> None:
    assert facts(plan)[fact] == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "none: every item fits. The largest, 9, needs 964 tokens of context."),
        (
            {"too_long": ("9",), "shortened": ("4", "5")},
            "1 of 20 items will be unscored: 9. 2 of 20 items will be shortened: 4, 5. The largest, 9, needs"
            " 964 tokens of context; 1,024 are enough.",
        ),
        (
            {"too_long": ("9",), "context_that_fits_all": None},
            "1 of 20 items will be unscored: 9. The largest, 9, needs 964 tokens of context; the model was"
            " trained with less.",
        ),
    ],
)
def test_what_is_too_long_is_named_with_the_context_that_it_needs(
    changes: dict[str, tuple[str, ...] | None], said: str
) -> None:
    assert facts(replace(PLAN, **changes))["too long"] == said  # type: ignore[arg-type]


def test_ways_are_told_where_there_are_several() -> None:
    methods = (Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT)
    settings = replace(PLAN.settings, methods=methods, reasoning_samples=2, max_reasoning_tokens=64)
    asked = replace(PLAN, settings=settings, tokens_by_method={Method.LABEL_TOKENS: 1500}, too_long=("9",))
    assert facts(asked)["elicitation methods"] == (
        "tokens that their questions add to the items: label tokens 1,500, chain of thought 0; at most 380"
        " reasoning samples of 64 tokens"
    )


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (PLAN, "not known before a run with this model and these settings"),
        (replace(BEGUN, judged=20), "nothing is left to judge"),
        (replace(PLAN, too_long=tuple(map(str, range(20)))), "no item fits: there is nothing to judge"),
        (replace(PLAN, rate=Rate(0.01, 0, run_id=7)), "about 72 s, at the speed of run 7"),
        (
            replace(BEGUN, rate=Rate(0.01, 0)),
            "about 72 s for the rest, at the speed of some items of typical length",
        ),
    ],
)
def test_the_time_is_told_with_what_it_is_reckoned_from(plan: Forecast, said: str) -> None:
    assert plan.time_in_words == said


# How long work takes, from how long work took

READING, WRITING = 0.01, 0.08  # seconds for a token


def time_estimate_of(items: int, tokens: int = 1000, length: int = 30) -> TimeEstimate:
    """So many items with five explanations each were judged, of 100 letters and of 200 tokens without."""
    time_estimate = TimeEstimate()
    for _ in range(items):
        time_estimate.sized(Item("1", "x" * 100, "", ""), tokens)
        time_estimate.read(tokens, READING * tokens)
        time_estimate.wrote(5 * length, 5, WRITING * 5 * length)
    return time_estimate


def test_what_is_left_is_counted_by_letters_and_explanations() -> None:
    left = Remaining(np.array([100.0, 100.0, 200.0, 50.0]), [2, 2], fixed=200, texts=5)
    time_estimate = time_estimate_of(4)  # 800 tokens for 100 letters
    reading = READING * (200 + 1600 + 200 + 400)
    assert left.after(0, time_estimate) == pytest.approx(reading + 2 * WRITING * 150)
    assert left.after(1, time_estimate) == 0
    # It is not known before something was read and written.
    reads = TimeEstimate()
    for _ in range(4):
        reads.sized(Item("1", "x", "", ""), 1000)
        reads.read(1000, 1.0)
    left = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=200, texts=5)
    assert [left.after(0, each) for each in (TimeEstimate(), time_estimate_of(3), reads)] == [None] * 3
    labels = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=200, texts=0)
    assert labels.after(0, reads) is not None


def test_second_orders_are_expected_as_often_as_they_were_needed() -> None:
    time_estimate = TimeEstimate()
    assert time_estimate.share_of_second_orders == 1.0  # nothing is known: all may be
    for place in range(4):
        time_estimate.sized(Item("1", "x" * 100, "", ""), 200)
        time_estimate.read(200, 2.0)
        time_estimate.decided(80 if place == 0 else None)
    time_estimate.read(80, 0.8)
    assert time_estimate.share_of_second_orders == 0.25
    # 880 tokens for 400 letters, at 0.01 s: a second order for one item of four is in it.
    left = Remaining(np.array([100.0, 100.0]), [1, 1], fixed=0, texts=0)
    assert left.after(0, time_estimate) == pytest.approx(2.2)


def test_a_rate_tells_tokens_that_are_read_from_those_that_are_written() -> None:
    random = np.random.default_rng(0)
    efforts = [
        Effort(READING * read + WRITING * written, read, written)
        for read, written in random.integers((800, 100), (4000, 400), (40, 2)).tolist()
    ]
    rate = rate_of(efforts, 5, run_id=1)
    assert rate.seconds_per_token == pytest.approx(READING)
    assert rate.ratio == pytest.approx(WRITING / READING)


@pytest.mark.parametrize("items", [1, 30])
def test_items_that_all_read_and_write_as_much_take_what_they_took(items: int) -> None:
    rate = rate_of([Effort(30.0, 1000, 200)] * items, 5, run_id=1)
    assert rate.tokens_per_text == 40
    assert rate.seconds_per_token * (1000 + rate.ratio * 200) == pytest.approx(30)


def test_a_group_says_what_a_stop_would_lose() -> None:
    group = GroupUnderWay(
        first=8, last=9, position=8, item_id="x", writing=False, done=5, total=9, seconds=40, seconds_left=125
    )
    assert group.loss_in_words == (
        "Stopping now loses 40 s of work on the 2 items judged now; in about 2 min it is stored."
    )
    later = group.after(200)
    assert (later.seconds, later.seconds_left) == (240, 0)
    assert "2 min" in group.ending_in_words
