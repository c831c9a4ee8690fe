"""Devices looked for, tried and remembered; what a person's choice of one means."""

from functools import partial

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.events import CancelToken, MeasureProgress, Preparing, followed
from engine.llama.library import devices
from engine.llama.speed import DeviceFinding, DeviceTrial, ModelSpeed
from engine.models import devices as loading
from engine.models.checked_model import checked_model
from engine.models.devices import (
    found_devices,
    lost_device,
    proposed_device,
    remembered_trial,
    try_device,
    trying_devices,
    wished_device,
)
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_on, machine_settings, remembered_speed
from engine.models.templates import model_memory
from engine.settings.rows import CPU, Device, DeviceKind
from engine.system.paths import demo_model
from engine.system.subprocess_worker import SubprocessWorker
from tests.steps import refused, there

pytestmark = pytest.mark.usefixtures("demo_tried")

GONE = Device("Vulkan7", "A card that was sold", "Vulkan", DeviceKind.GPU, 8 << 30, "00000001")
SPEED = ModelSpeed(reading=100, writing_one=10, writing_ten=40, prompt=512, cores=3.9, threads=4)
CANCEL = CancelToken()


@pytest.fixture
def model() -> ModelFile:
    return read_model_file(demo_model())


def remember(model: ModelFile, *findings: DeviceFinding) -> str:
    """A trial of these findings, with a processor that is slow; the model's hash."""
    file_hash = checked_model(model, CANCEL).hash
    with model_memory() as memory:
        memory.remember("devices", loading._key(file_hash), DeviceTrial(SPEED, findings))
    return file_hash


def fast(device: Device) -> DeviceFinding:
    return DeviceFinding(device, 0.01, 0.02, ModelSpeed(9000, 900, 9000, 512, 0.1, 0))


def test_a_child_process_finds_what_this_one_finds() -> None:
    assert found_devices(CANCEL) == devices()


def test_another_build_of_llama_cpp_has_tried_nothing_and_a_damaged_memory_remembers_nothing(
    model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_hash = checked_model(model, CANCEL).hash
    assert remembered_trial(file_hash) is None
    assert wished_device(None, file_hash, CANCEL) is None  # a model that was never tried: the processor
    remember(model, fast(GONE))
    with monkeypatch.context() as patch:
        patch.setattr(loading, "library_version", lambda: "another")
        assert remembered_trial(file_hash) is None
    assert remembered_trial(file_hash)
    with model_memory() as memory:
        memory._write("UPDATE devices SET trial = ?", ('{"processor": {}, "findings": []}',))
    assert remembered_trial(file_hash) is None


def test_no_device_is_looked_for_where_none_was_found_to_be_fast(
    model: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_hash = remember(model, DeviceFinding(GONE, reason="it broke down"))

    def looked(*_: object) -> None:
        raise AssertionError("a child process was started")

    monkeypatch.setattr(loading, "run_child", looked)
    assert proposed_device(file_hash, CANCEL) is None
    assert wished_device(f" {CPU.upper()} ", file_hash, CANCEL) is None


def test_a_device_that_is_not_there_any_more_is_not_proposed(model: ModelFile) -> None:
    file_hash = remember(model, fast(GONE))
    trial = there(remembered_trial(file_hash))
    assert trial.best == GONE
    assert proposed_device(file_hash, CANCEL) is None
    assert lost_device(file_hash, None).startswith(
        "A card that was sold (graphics card, Vulkan) was the fastest"
    )
    assert lost_device(file_hash, GONE) == ""
    remember(model, DeviceFinding(GONE, reason="it broke down"))
    assert lost_device(file_hash, None) == ""


def test_an_unknown_name_is_refused_with_those_that_there_are(model: ModelFile) -> None:
    file_hash = checked_model(model, CANCEL).hash
    error = refused(lambda: wished_device("no such card", file_hash, CANCEL))
    assert "No device is called 'no such card'. On this computer" in error.problem
    assert OPTIONS.of(error.hint).endswith("use the processor: --device cpu.")


@pytest.mark.slow
def test_a_device_that_fails_is_a_finding_and_the_processor_is_measured(model: ModelFile) -> None:
    told: list[object] = []
    worker = partial(SubprocessWorker, try_device, CANCEL)
    trial = followed(trying_devices(model, 1, CANCEL, worker, [GONE]), told.append)
    (finding,) = trial.findings
    assert finding.reason == "it is no longer found on this computer"
    assert not finding.sound
    assert trial.best is None
    file_hash = checked_model(model, CANCEL).hash
    assert remembered_trial(file_hash) == trial
    assert remembered_speed(file_hash, machine_settings(1)) == trial.processor
    assert [each.what for each in told if isinstance(each, Preparing)] == [
        "Checking the model file",
        "Testing the processor",
        f"Testing {GONE.title}",
    ]
    assert any(isinstance(each, MeasureProgress) for each in told)


def test_a_graphics_card_takes_what_its_memory_holds(model: ModelFile) -> None:
    layers = model.layers
    assert layers > 1
    assert machine_on(GONE, 2, None, model).gpu_layers == layers + 1
    small = Device("Vulkan0", "Small", "Vulkan", DeviceKind.GPU, memory=model.size_bytes)
    assert 0 < machine_on(small, 2, None, model).gpu_layers < layers
    shared = Device("Vulkan0", "Shared", "Vulkan", DeviceKind.INTEGRATED, memory=model.size_bytes)
    assert machine_on(shared, 2, None, model).gpu_layers == layers + 1
    assert machine_on(small, 2, 1, model).gpu_layers == 1
    assert machine_on(None, 2, 5, model) == machine_settings(2)


def test_a_real_device_is_tried(model: ModelFile) -> None:
    found = found_devices(CANCEL)
    if not found:
        pytest.skip("llama.cpp finds no GPU here")
    worker = partial(SubprocessWorker, try_device, CANCEL)
    trial = followed(trying_devices(model, 1, CANCEL, worker, found[:1]))
    assert trial.findings[0].sound
    assert trial.findings[0].speed is not None
