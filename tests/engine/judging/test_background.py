"""Context and reference answer, shown to the judge by choice: counted, resumed, told apart, compared."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, check_resumed
from engine.judging.prepare import background_notices
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import system_of_run
from engine.results.calibration import judge_of_run
from engine.settings.rows import JudgeSettings, Mode, settings_in_words, settings_of
from engine.store.run_store import RunStore
from tests.engine.judging.runs import counted, counts_and_resumes, judged_by
from tests.steps import plan_with, results_of

LABELS = JudgeSettings(mode=Mode.LABELS, context=8192)
TOLD = replace(LABELS, show_context=True, show_reference=True)
ITEMS = [
    # Neighbours of one instruction with different texts beside it, as far as there are any.
    {"instruction": f"What is {place // 2} times 8?", "output_a": "It is 54.", "output_b": "It is 56."}
    | {"context": "Seven eights are fifty-six. " * place, "reference": "56" if place else ""}
    for place in range(5)
]

Written = Callable[..., Dataset]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def written(**others: str) -> Dataset:
        path = tmp_path / "items.jsonl"
        lines = (json.dumps({"id": str(at), **item, **others}) for at, item in enumerate(ITEMS))
        path.write_text("\n".join(lines), "utf-8")
        return load_dataset(path)

    return written


@pytest.fixture
def plan_of(small_model: Callable[[str], Path]) -> Callable[..., RunPlan]:
    return lambda settings, dataset: plan_with(small_model("headers"), dataset, settings)


def test_what_is_shown_is_counted_and_resumed_and_alone_decides_what_is_read(
    plan_of: Callable[..., RunPlan], written: Written, tmp_path: Path
) -> None:
    without, told = plan_of(LABELS, written()), plan_of(TOLD, written())
    counts_and_resumes(told, tmp_path)
    read = counted(without).tokens_to_read
    assert counted(told).tokens_to_read > read
    too_small = replace(TOLD, context=counted(told).largest[1] - 1)
    assert counted(replace(told, settings=too_small)).too_long == ("4",)
    assert counted(plan_of(LABELS, written(reference="x" * 99))).tokens_to_read == read


def test_a_run_that_showed_them_is_another_and_says_so(
    plan_of: Callable[..., RunPlan], written: Written, tmp_path: Path
) -> None:
    without, told = plan_of(LABELS, written()), plan_of(TOLD, written())
    identity = told.identity()
    assert settings_of(identity.settings) == TOLD
    assert settings_in_words(TOLD) == "labels only, context shown, reference answer shown"
    assert without.identity().dataset_hash == identity.dataset_hash
    assert judge_of_run(without.identity()) != judge_of_run(identity)
    assert plan_of(LABELS, written(reference="55")).identity().key == without.identity().key
    changed = plan_of(TOLD, written(reference="55"))
    one = replace(TOLD, show_context=False)
    assert len({each.identity().key for each in (without, told, changed, plan_of(one, written()))}) == 4
    with (
        RunStore(tmp_path / "runs.sqlite") as store,
        store.begin(identity) as run,
        pytest.raises(SetupError, match="Changed since its start: the contexts or reference answers"),
    ):
        check_resumed(changed, run)


def test_a_dataset_without_any_is_refused_and_one_without_some_is_told(written: Written) -> None:
    assert list(background_notices(written(), LABELS)) == []
    assert list(background_notices(written(), TOLD)) == [
        "items.jsonl: 1 item has no context to show.",
        "items.jsonl: 1 item has no reference to show.",
    ]
    with pytest.raises(SetupError, match="has no reference to show") as caught:
        list(background_notices(written(reference=""), TOLD))
    assert "reference=COLUMN" in str(caught.value.hint)


def test_with_and_without_are_compared_on_the_same_items(
    plan_of: Callable[..., RunPlan], written: Written, tmp_path: Path
) -> None:
    dataset = written(overall_quality_preference="B")
    for place, settings in enumerate((LABELS, TOLD)):
        judged_by(plan_of(settings, dataset), tmp_path / f"{place}.sqlite")
    runs = (system_of_run(results_of(tmp_path / f"{place}.sqlite")) for place in range(2))
    systems = [replace(run, name=name) for run, name in zip(runs, ("without", "told"), strict=True)]
    compared = compare([evaluate(matched) for matched in match_all(systems, dataset)])
    (agreement,) = compared.agreements
    assert (compared.items, agreement.criterion) == (len(ITEMS), "overall_quality")
    assert agreement.interval is not None
    assert "context shown, reference shown" in systems[1].description
