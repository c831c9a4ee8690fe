"""What makes two runs the same, and what does not."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.plan import RunPlan
from engine.models.checked_model import CheckedModel
from engine.settings.rows import Device, DeviceKind, KvType, MachineSettings, Mode
from tests.engine.judging.runs import SAMPLE, SETTINGS


@pytest.mark.parametrize(
    "change",
    [
        {"settings": replace(SETTINGS, shorten=True)},
        {"settings": replace(SETTINGS, kv_type=KvType.Q8_0)},
        {"settings": replace(SETTINGS, second_order_below=0.5)},
        {"rubric": ELOQUENT.only(("safety",))},
        {"model": CheckedModel(Path("m"), "m", "another hash", 1, 1)},
        {"dataset": load_dataset(SAMPLE).head(4)},
        {"machine": MachineSettings(1, 9, device=Device("Vulkan0", "Card", "Vulkan", DeviceKind.GPU))},
    ],
    ids=["settings", "cache", "orders", "rubric", "model", "dataset", "device"],
)
def test_whatever_can_change_the_result_makes_another_run(
    make_plan: Callable[..., RunPlan], change: dict[str, object]
) -> None:
    plan = make_plan()
    assert replace(plan, **change).identity().key != plan.identity().key  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "change"),
    [
        (Mode.EXPLAIN, {"seed": 1}),
        (Mode.LABELS, {"seed": 1}),
        (Mode.LABELS, {"temperature": 0.5}),
        (Mode.LABELS, {"max_explanation_tokens": 5}),
    ],
)
def test_settings_that_do_not_count_make_no_other_run(
    make_plan: Callable[..., RunPlan], mode: Mode, change: dict[str, object]
) -> None:
    assert make_plan(mode=mode, **change).identity().key == make_plan(mode=mode).identity().key


def test_speed_settings_do_not_make_another_run(make_plan: Callable[..., RunPlan]) -> None:
    plan = make_plan()
    faster = replace(plan, machine=MachineSettings(threads=2, gpu_layers=0))
    assert faster.identity().key == plan.identity().key
