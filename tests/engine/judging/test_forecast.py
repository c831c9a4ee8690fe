"""Forecasts held against what real runs of real llama.cpp then do."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from engine.core.errors import ModelFileError, SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress
from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.forecast import DEFAULT_TEXT, Rate, forecast, time_some_items
from engine.judging.plan import RunPlan, open_model
from engine.llama.speed import ModelSpeed
from engine.models.opening import _key
from engine.models.templates import model_memory
from engine.prompt.examples import ExamplePool, choose_examples
from engine.settings.rows import JudgeSettings, KvType, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.engine.judging.runs import counted, judged_until, plan_with

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


def test_what_is_said_to_be_too_long_is_what_a_run_leaves_unscored(
    small_model: SmallModel, tmp_path: Path
) -> None:
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
    wanted = now.context_that_fits_all
    assert wanted is not None
    assert wanted - 256 < now.largest[1] <= wanted
    for context, misfits in ((wanted, False), (wanted - 256, True)):
        there = counted(replace(plan, settings=replace(TIGHT, context=context)))
        assert (now.largest[0] in there.too_long) is misfits


def test_no_context_fits_all_where_the_model_was_trained_with_less(small_model: SmallModel) -> None:
    plan = plan_of(replace(TIGHT, context=1024), small_model("short_context"), SAMPLE)
    assert counted(plan).context_that_fits_all is None


def test_a_stopped_run_is_known_with_what_is_left_of_it(tmp_path: Path) -> None:
    store, plan = tmp_path / "runs.sqlite", plan_of(LABELS)
    first, _ = judged_until(plan, store, most=2)
    now, anew = counted(plan, store), counted(plan, store, fresh=True)
    assert (now.judged, now.run_id) == (len(first), 1)
    assert 2 <= len(first) < 6
    assert (anew.judged, anew.run_id, anew.tokens_left_to_read) == (0, None, anew.tokens_to_read)
    assert now.seconds is not None
    assert anew.seconds is not None
    assert 0 < now.seconds < anew.seconds
    _, tokens = judged_until(plan, store)
    assert now.tokens_left_to_read == tokens


def test_a_complete_run_leaves_nothing(explained: Path) -> None:
    now = counted(plan_of(EXPLAIN), explained)
    assert (now.judged, now.tokens_left_to_read, now.texts_left, now.seconds) == (6, 0, 0, 0.0)


def test_the_same_work_is_said_to_take_as_long_as_before(explained: Path) -> None:
    with RunStore(explained) as store:
        seconds = sum(item.seconds for item in store.judged(1))
    now = counted(plan_of(EXPLAIN), explained, fresh=True)
    # The stem, which is read once, is all that the items' own seconds do not hold.
    assert now.seconds == pytest.approx(seconds, rel=0.1)
    assert now.seconds_from == 1


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
    assert counted(plan, labelled).seconds_from == 1
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
def test_explanations_are_expected_as_long_as_before_but_no_longer_than_allowed(
    rate: Rate, seconds: float
) -> None:
    left = replace(counted(plan_of(EXPLAIN)), tokens_left_to_read=100, texts_left=20)
    assert left.with_rate(rate).seconds == pytest.approx(seconds)


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


def test_where_no_item_fits_there_is_no_rate() -> None:
    plan = plan_of(replace(LABELS, context=256), dataset=DEMO.head(2))
    with pytest.raises(SetupError, match="no item fits a context of 256 tokens"):
        time_some_items(plan, partial(open_model, plan, CancelToken()))


def test_counting_stops_soon_when_asked_to() -> None:
    cancel = CancelToken()
    work = forecast(plan_of(LABELS), None, cancel)
    assert next(work) == MeasureProgress(0, 6)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)


def test_a_forecast_makes_no_store(tmp_path: Path) -> None:
    counted(plan_of(LABELS, dataset=DEMO.head(1)), tmp_path / "runs.sqlite")
    assert not any(tmp_path.glob("runs*"))


def test_what_a_run_would_refuse_is_refused(small_model: SmallModel) -> None:
    with pytest.raises(ModelFileError, match="trained with"):
        counted(plan_of(replace(LABELS, context=2048), small_model("short_context")))
    with pytest.raises(SetupError, match="no item fits"):
        counted(plan_of(replace(LABELS, context=256), small_model("bytes")))


SPEED = ModelSpeed(reading=1000, writing_one=50, writing_ten=200, prompt=512, cores=1, threads=1)


@pytest.fixture
def measured_file() -> None:
    """The speed of the demo model is remembered."""
    plan = plan_of(LABELS)
    with model_memory() as memory:
        memory.remember("speed", _key(plan.model.hash, plan.machine), SPEED)


@pytest.mark.usefixtures("measured_file")
def test_without_a_run_the_time_is_that_of_the_measured_file(tmp_path: Path) -> None:
    made = counted(plan_of(LABELS), tmp_path / "none.sqlite")
    assert made.seconds == pytest.approx(made.tokens_left_to_read / 1000)
    assert made.seconds_of_file
    assert made.time_estimate == "this model file when it was measured here"


@pytest.mark.usefixtures("measured_file")
def test_explanations_of_a_usual_length_are_reckoned_with() -> None:
    made = counted(plan_of(replace(EXPLAIN, max_explanation_tokens=120)))
    # Five texts together: a step takes 20 ms for one, 50 ms for ten.
    step = 0.02 + 4 / 9 * 0.03
    written = made.texts_left / 5 * DEFAULT_TEXT * step
    assert made.seconds == pytest.approx(made.tokens_left_to_read / 1000 + written)
    assert made.time_estimate.endswith(f"with explanations of {DEFAULT_TEXT} tokens")
    assert counted(plan_of(EXPLAIN)).time_estimate.endswith("with explanations of 8 tokens")


@pytest.mark.usefixtures("measured_file")
def test_a_run_tells_the_time_better_than_the_file(labelled: Path) -> None:
    made = counted(plan_of(LABELS), labelled)
    assert (made.seconds_from, made.seconds_of_file, made.time_estimate) == (1, False, "run 1")


@pytest.mark.usefixtures("measured_file")
def test_the_speed_of_other_threads_or_of_another_cache_is_not_taken() -> None:
    plan = plan_of(LABELS)
    assert counted(replace(plan, machine=MachineSettings(2, 0))).seconds is None
    assert counted(replace(plan, settings=replace(LABELS, kv_type=KvType.Q8_0))).seconds is None
