"""An instruction is read once: for both orders of an item, and for its neighbours."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.items import Order
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan
from engine.settings.rows import JudgeSettings, Mode
from tests.commands import ROOT
from tests.engine.judging.runs import counted, counts_and_resumes
from tests.steps import plan_with

LABELS = JudgeSettings(mode=Mode.LABELS, context=8192)
EXPLAIN = JudgeSettings(context=8192, max_explanation_tokens=4)
SAME = [0, 0, 1, 1, 1, 2, 1]
"""Which items have the same instruction: some in one group of two, some across groups, one further away."""


@pytest.fixture(scope="module")
def dataset_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[int]], Dataset]:
    """Items of the demo in an order, some of which are made to answer one instruction."""
    items = list(load_dataset(ROOT / "examples" / "demo.tsv").head(len(SAME)))

    def dataset_of(places: Sequence[int]) -> Dataset:
        lines = ["id\tinstruction\toutput_a\toutput_b"]
        for place in places:
            instruction = f"{items[SAME[place]].instruction} Say it in a few words that everybody knows."
            item = items[place]
            lines.append("\t".join([item.id, instruction, item.output_a, item.output_b]))
        path = tmp_path_factory.mktemp("neighbours") / "items.tsv"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return load_dataset(path)

    return dataset_of


@pytest.fixture
def plan_of(small_model: Callable[[str], Path], dataset_of: Callable[[Sequence[int]], Dataset]) -> "PlanOf":
    def plan_of(
        settings: JudgeSettings, family: str = "headers", places: Sequence[int] = range(len(SAME))
    ) -> RunPlan:
        return plan_with(small_model(family), dataset_of(places), settings)

    return plan_of


PlanOf = Callable[..., RunPlan]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("headers", LABELS),
        ("headers", replace(LABELS, items_at_once=2)),
        ("headers", replace(LABELS, orders=(Order.AB,))),
        ("headers", replace(EXPLAIN, items_at_once=2)),
        ("headers", replace(EXPLAIN, items_at_once=3)),
        ("mamba", LABELS),
        ("mamba", replace(EXPLAIN, items_at_once=3, orders=(Order.AB,))),
    ],
)
def test_a_plan_counts_what_is_read_and_a_resumed_run_is_the_unbroken_one(
    plan_of: PlanOf, tmp_path: Path, settings: JudgeSettings, family: str
) -> None:
    counts_and_resumes(plan_of(settings, family), tmp_path, stops=2)


def test_both_orders_read_the_instruction_once(plan_of: PlanOf) -> None:
    saved, letters = [], []
    for place in (0, 2, 5):
        both = plan_of(LABELS, "bytes", [place])
        one = replace(both, settings=replace(LABELS, orders=(Order.AB,)))
        saved.append(2 * counted(one).tokens_to_read - counted(both).tokens_to_read)
        letters.append(len(both.dataset[0].instruction))
    assert len(set(letters)) == 3
    assert {tokens - count for tokens, count in zip(saved, letters, strict=True)} == {saved[0] - letters[0]}


def test_neighbours_with_one_instruction_read_it_once(plan_of: PlanOf) -> None:
    together = plan_of(LABELS, "bytes")
    apart = plan_of(LABELS, "bytes", [2, 0, 3, 1, 4, 5, 6])
    letters = [len(item.instruction) for item in together.dataset]  # of which each is a token
    saved = counted(apart).tokens_to_read - counted(together).tokens_to_read
    assert saved >= letters[1] + letters[3] + letters[4]
