"""What the tests of runs share: a small dataset, plans of it, stores that are judged once."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan
from tests.engine.judging.runs import SAMPLE, SETTINGS, Judged, MakePlan, SmallModel, judged_by
from tests.steps import plan_with


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return load_dataset(SAMPLE).head(5)


@pytest.fixture(scope="module")
def make_plan(small_model: SmallModel, sample: Dataset) -> MakePlan:
    def plan(family: str = "headers", dataset: Dataset = sample, **settings: object) -> RunPlan:
        made = plan_with(small_model(family), dataset, replace(SETTINGS, **settings))  # type: ignore[arg-type]
        return replace(made, model=replace(made.model, name=family, hash=family))

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
