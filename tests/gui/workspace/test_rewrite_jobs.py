"""Explanations written again by the window: the jobs."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.annotations.records import new_override
from engine.core.errors import ModelFileError, SetupError
from engine.core.events import MeasureProgress
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.judging.run import Rewritten
from engine.results.run_results import load_results
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.run_jobs import judge
from gui.workspace.store_jobs import rewrite
from tests.gui.jobs import done


def judged(folder: Path, gold: Path, shots: int = 0) -> Path:
    """A store with a run of two items, of which one has another label since."""
    path = folder / "judged.sqlite"
    setup = RunSetup(
        dataset_path=gold,
        model_path=demo_model(),
        items=2,
        threads=1,
        context=4096,
        max_explanation_tokens=20,
        examples_path=gold if shots else None,
        shots=shots or 1,
    )
    done(judge(setup, path, None))
    with RunStore(path) as store:
        first = next(store.judged(1))
        label = next(other for other in Preference if other is not first.explanations["safety"].preference)
        store.annotate(
            1, new_override(first.item_id, "safety", preference=label, explanation=None, author="Ada")
        )
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("demo_tried")
def test_what_is_out_of_date_is_written_again(tmp_path: Path, demo_gold: Path) -> None:
    path = judged(tmp_path, demo_gold)
    received: list[object] = []
    made = done(rewrite(path, 1, load_dataset(demo_gold), threads=1), received, apart=True)
    assert made == Rewritten(1, 1, 0, (), stopped=False)
    assert received == [MeasureProgress(0, 1), MeasureProgress(1, 1)]
    with RunStore(path) as store:
        assert load_results(store, 1).stale == 0


@pytest.mark.usefixtures("demo_tried")
def test_a_run_that_was_shown_examples_is_refused(tmp_path: Path, demo_gold: Path) -> None:
    path = judged(tmp_path, demo_gold, shots=1)
    with pytest.raises(SetupError, match="used labelled examples"):
        done(rewrite(path, 1, load_dataset(demo_gold), threads=1))


def test_a_model_that_is_gone_is_named(demo_store: Path, demo_gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(demo_store) as store, RunStore(path) as other:
        identity = store.run(1).identity
        gone = replace(identity, model_path=tmp_path / "gone.gguf")
        with other.begin(gone):
            pass
    with pytest.raises(ModelFileError, match=r"gone\.gguf: there is no such file"):
        done(rewrite(path, 1, load_dataset(demo_gold), threads=1))
