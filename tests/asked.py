"""Runs that real models judge in several ways, for tests of what shows them."""

from pathlib import Path

from engine.core.events import CancelToken
from engine.core.items import Method
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model

IN_METHODS = JudgeSettings(
    mode=Mode.LABELS,
    context=2048,
    methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE),
)
CHAIN_OF_THOUGHT = JudgeSettings(
    mode=Mode.LABELS,
    context=8192,
    methods=(Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT),
    reasoning_samples=2,
    max_reasoning_tokens=12,
)


def judge_in_methods(
    dataset: Path, store_path: Path, settings: JudgeSettings = IN_METHODS, model: Path | None = None
) -> None:
    """Add a run of the first three items of a dataset to a store."""
    checked = checked_model(read_model_file(model or demo_model()), CancelToken())
    plan = RunPlan(load_dataset(dataset).head(3), ELOQUENT, settings, MachineSettings(1, 0), checked)
    with RunStore(store_path) as store:
        for _event in run_judging(plan, store, lambda: open_model(plan, CancelToken())):
            pass
