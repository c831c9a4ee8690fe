"""Runs that read the second order only where the first leaves a label in doubt, with the real demo model."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from engine.core.events import CancelToken, LabelsRead, followed
from engine.core.items import Order
from engine.core.judgments import JudgedItem, RawPrediction
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.item_prompt import order_tokens
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.results.second_order import LEAST_ITEMS, leaves_open, orders_read
from engine.settings.rows import JudgeSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import ROOT
from tests.engine.judging.runs import counted, judged_until
from tests.judged import with_texts
from tests.steps import plan_with, there

SmallModel = Callable[[str], Path]

DEMO = load_dataset(ROOT / "examples" / "demo.tsv")
SAMPLE = load_dataset(ROOT / "examples" / "sample.tsv").head(5)
# Of three of them, AB has a margin below 0.7 on some criterion.
SEVEN = DEMO.only({"1", "2", "3", "8", "9", "14", "15"})
BELOW = 0.7
LABELS = JudgeSettings(mode=Mode.LABELS, context=1024, second_order_below=BELOW)
EXPLAIN = JudgeSettings(context=2048, max_explanation_tokens=8, items_at_once=2, second_order_below=BELOW)
KINDS = pytest.mark.parametrize("settings", [LABELS, EXPLAIN], ids=["labels", "explain"])


class Run(NamedTuple):
    """A judged run: its store, its items without their times, the tokens that were evaluated."""

    store: Path
    items: list[JudgedItem]
    tokens: int


Judged = Callable[[JudgeSettings], Run]


def plan_of(settings: JudgeSettings, path: Path | None = None, dataset: Dataset = SEVEN) -> RunPlan:
    return plan_with(path or demo_model(), dataset, settings)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """SEVEN, judged once with some settings; tests leave the store as it is."""

    @cache
    def judged(settings: JudgeSettings) -> Run:
        store = tmp_path_factory.mktemp("judged") / "runs.sqlite"
        return Run(store, *judged_until(plan_of(settings), store))

    return judged


@KINDS
def test_the_second_order_is_read_where_the_first_leaves_a_label_open(
    judged: Judged, settings: JudgeSettings
) -> None:
    items = judged(settings).items
    for item in items:
        first = first_order(item)
        assert len(first) == len(ELOQUENT.names)
        orders = {tuple(reading.order for reading in own) for own in item.raw_predictions.values()}
        # One criterion in doubt is enough for all: the texts are what costs.
        assert orders == ({(Order.AB, Order.BA)} if leaves_open(first, BELOW, {}) else {(Order.AB,)})
    assert {orders_read(item) for item in items} == {1, 2}


def first_order(item: JudgedItem) -> dict[str, list[RawPrediction]]:
    return {name: [one for one in own if one.order is Order.AB] for name, own in item.raw_predictions.items()}


@KINDS
def test_what_is_read_is_what_a_run_in_both_orders_reads(judged: Judged, settings: JudgeSettings) -> None:
    """But for the last digits, which batches decide; a wrong place in the cache would be far off."""
    _, uncertain, fewer = judged(settings)
    _, both, all_tokens = judged(replace(settings, second_order_below=None))
    assert fewer < all_tokens
    for item, whole in zip(uncertain, both, strict=True):
        for name, raw_predictions in item.raw_predictions.items():
            wanted = {reading.order: reading.log_probs for reading in whole.raw_predictions[name]}
            for reading in raw_predictions:
                assert np.exp(reading.log_probs) == pytest.approx(np.exp(wanted[reading.order]), abs=0.01)
        if orders_read(item) == 2:
            assert item.explanations == whole.explanations


@KINDS
def test_a_run_that_is_stopped_again_and_again_equals_an_unbroken_one(
    judged: Judged, tmp_path: Path, settings: JudgeSettings
) -> None:
    plan, path = plan_of(settings), tmp_path / "stopped.sqlite"
    lengths = [len(judged_until(plan, path, more)[0]) for more in (1, 2, 2)]
    assert 1 <= lengths[0] < lengths[1] < lengths[2] < len(SEVEN)
    resumed, _ = judged_until(plan, path)
    assert resumed == judged(settings).items


@pytest.mark.slow
@KINDS
def test_neighbours_of_one_instruction_change_none_of_that(tmp_path: Path, settings: JudgeSettings) -> None:
    """What they begin with is held from one to the next, and read again where a run goes on."""
    plan = plan_of(settings, dataset=with_texts(SEVEN, instruction=SEVEN[1].instruction))
    assert plan.dataset.series
    unbroken, _ = judged_until(plan, tmp_path / "unbroken.sqlite")
    assert {orders_read(item) for item in unbroken} == {1, 2}
    judged_until(plan, tmp_path / "stopped.sqlite", 3)
    resumed, _ = judged_until(plan, tmp_path / "stopped.sqlite")
    # The instruction is read once more where the run went on; nothing else differs.
    assert [replace(item, tokens_read=0) for item in resumed] == [
        replace(item, tokens_read=0) for item in unbroken
    ]


@pytest.mark.parametrize("family", ["split_letters", "mamba"])
@KINDS
def test_other_kinds_of_models_do_it_too(
    small_model: SmallModel, tmp_path: Path, settings: JudgeSettings, family: str
) -> None:
    """Of random weights nothing is sure: with the largest margin all is read in both orders."""
    wide = replace(settings, context=8192, second_order_below=1.0)
    plan = plan_of(wide, small_model(family), SEVEN.head(2))
    items, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    in_both = replace(plan, settings=replace(wide, second_order_below=None))
    both, _ = judged_until(in_both, tmp_path / "both.sqlite")
    for item, whole in zip(items, both, strict=True):
        assert orders_read(item) == 2
        one, other = (
            [reading.log_probs for own in first_order(each).values() for reading in own]
            for each in (item, whole)
        )
        assert np.array(one) == pytest.approx(np.array(other), abs=0.05)
    assert tokens > 0


@pytest.mark.parametrize("context", range(1024, 2817, 512))
def test_what_is_counted_to_fit_does_fit(small_model: SmallModel, tmp_path: Path, context: int) -> None:
    """BA is read beside AB, and beside the items before: at no size of context does that overflow. An item of
    the sample takes some 700 to 900 tokens in each order.
    """
    wide = replace(EXPLAIN, context=context, items_at_once=4, second_order_below=1.0)
    items, _ = judged_until(plan_of(wide, small_model("headers"), SAMPLE), tmp_path / "runs.sqlite")
    for item in items:
        assert bool(item.unscored) != bool(item.explanations)
    assert any(item.explanations for item in items) or context < 1700


def test_a_preview_is_whole_once_nothing_more_is_read(tmp_path: Path) -> None:
    plan = plan_of(LABELS)
    with RunStore(tmp_path / "runs.sqlite") as store:
        events = list(run_judging(plan, store, partial(open_model, plan, CancelToken())))
        items = list(store.judged(1))
    told: dict[int, list[bool]] = {}
    for event in events:
        if isinstance(event, LabelsRead):
            told.setdefault(event.position, []).append(event.whole)
    assert told == {item.position: [False, True] if orders_read(item) == 2 else [True] for item in items}


@pytest.mark.slow
@KINDS
def test_a_plan_counts_both_orders_of_all_where_no_run_tells(tmp_path: Path, settings: JudgeSettings) -> None:
    plan = plan_of(replace(settings, second_order_below=1.0))
    now = counted(plan)
    assert now.second is not None
    assert (now.second.share, now.second.run_id) == (1.0, None)
    _, tokens = judged_until(plan, tmp_path / "runs.sqlite")
    with RunStore(tmp_path / "runs.sqlite") as store:
        written = sum(each.tokens_generated for each in store.efforts(1))
    assert tokens - written - now.tokens_to_read in range(settings.items_at_once)


@pytest.mark.slow
def test_a_plan_counts_as_many_second_orders_as_a_run_in_both_tells(tmp_path: Path) -> None:
    store, enough = tmp_path / "runs.sqlite", DEMO.head(LEAST_ITEMS)
    items, all_tokens = judged_until(plan_of(replace(LABELS, second_order_below=None), dataset=enough), store)
    plan = plan_of(LABELS, dataset=enough)
    now = counted(plan, store)
    assert now.second is not None
    assert now.second.run_id == 1
    uncertain = sum(leaves_open(first_order(item), BELOW, {}) for item in items)
    assert now.second.share == pytest.approx(uncertain / len(items), abs=0.05)
    _, tokens = judged_until(plan, store)
    assert now.tokens_to_read == pytest.approx(tokens, rel=0.05)
    assert tokens < 0.8 * all_tokens
    # A run with this margin tells better than one in both orders.
    again = counted(plan, store, fresh=True)
    assert there(again.second).run_id == 2


@pytest.mark.usefixtures("demo_tried")
def test_the_tokens_of_each_order_are_those_that_a_run_reads(judged: Judged) -> None:
    store_path, items, _ = judged(LABELS)
    with RunStore(store_path) as store:
        run = store.run(1)
    model_hash = checked_model(read_model_file(demo_model()), CancelToken()).hash
    run = replace(run, identity=replace(run.identity, model_hash=model_hash))
    by_id = followed(order_tokens(run, SEVEN, CancelToken()))
    for item in items:
        first, second = by_id[item.item_id]
        assert item.tokens_read == first + (second if orders_read(item) == 2 else 0)
