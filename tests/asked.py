"""Runs that real models judge in several ways, for tests of what shows them."""

from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.items import Way
from engine.core.rubric import ELOQUENT
from engine.core.settings import JudgeSettings, MachineSettings, Mode
from engine.data.dataset import load_dataset
from engine.gguf.judge_file import read_model_file
from engine.judge.plan import RunPlan, open_model
from engine.judge.run import run_judging
from engine.loading.checked_model import checked_model
from engine.store.run_store import RunStore
from engine.system.paths import demo_model

IN_WAYS = JudgeSettings(mode=Mode.LABELS, context=2048, ways=(Way.LETTERS, Way.ABSOLUTE, Way.GRADED))
THINKING = JudgeSettings(
    mode=Mode.LABELS, context=8192, ways=(Way.LETTERS, Way.THINKING), thoughts=2, max_thought_tokens=12
)


def judge_in_ways(
    dataset: Path, store_path: Path, settings: JudgeSettings = IN_WAYS, model: Path | None = None
) -> None:
    """Add a run of the first three items of a dataset to a store."""
    checked = checked_model(read_model_file(model or demo_model()), CancelToken())
    plan = RunPlan(load_dataset(dataset).head(3), ELOQUENT, settings, MachineSettings(1, 0), checked)
    with RunStore(store_path) as store:
        for _event in run_judging(plan, store, lambda: open_model(plan, CancelToken())):
            pass
