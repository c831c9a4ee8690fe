"""What the tests of runs share: a small dataset, plans of it, stores that are judged once."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan
from engine.models.checked_model import CheckedModel
from engine.settings.rows import MachineSettings
from tests.engine.judging.runs import SAMPLE, SETTINGS, Judged, MakePlan, SmallModel, judged_by


@pytest.fixture(scope="module")
def sample() -> Dataset:
    return load_dataset(SAMPLE).head(5)


@pytest.fixture(scope="module")
def make_plan(small_model: SmallModel, sample: Dataset) -> MakePlan:
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
