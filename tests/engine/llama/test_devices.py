"""Devices beside the processor: their libraries stay where they are until one is asked for.

pip's build of llama.cpp has no GPU in it. Where one is at hand (LLAMA_CPP_LIB_PATH names such a build), two
tests compute with it.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.core.codec import plain, record_of
from engine.core.errors import DeviceFailed
from engine.core.events import CancelToken
from engine.llama.context import BATCH, SessionShape
from engine.llama.library import GPU_FOLDER, device_pointer, devices, library_folder
from engine.llama.model import LlamaModel
from engine.llama.session import Entry, LlamaSession
from engine.llama.speed import TEXTS, next_token_probabilities, speed_shape
from engine.settings.rows import Device, DeviceKind
from engine.system.paths import demo_model
from tests.commands import ROOT

GONE = Device("Vulkan7", "A card that was sold", "Vulkan", DeviceKind.GPU, driver="00000001")
_LOOK = """
from pathlib import Path
from engine.llama.library import last_errors, start_library
from engine.llama.library import devices
from engine.llama.model import LlamaModel
LlamaModel(Path({model!r})).close()
print("{fake}" in last_errors())
devices()
print("{fake}" in last_errors())
"""


def test_each_device_is_a_device_of_its_own_kind() -> None:
    for device in devices():
        assert device.name
        assert device.description
        assert record_of(plain(device), Device) == device
        assert device_pointer(device) is not None


def test_a_device_that_is_gone_is_said_to_be_gone() -> None:
    assert device_pointer(GONE) is None
    with pytest.raises(DeviceFailed, match=r"A card that was sold .* no longer found on this computer"):
        LlamaModel(demo_model(), GONE, 4)


@pytest.mark.skipif(sys.platform != "linux", reason="the names of libraries are those of Linux")
def test_libraries_of_gpus_are_loaded_where_devices_are_looked_for_and_not_before(tmp_path: Path) -> None:
    libraries = tmp_path / "lib"
    shutil.copytree(library_folder(), libraries, ignore=shutil.ignore_patterns("*mtmd*", GPU_FOLDER))
    (libraries / GPU_FOLDER).mkdir()
    fake = libraries / GPU_FOLDER / "libggml-fake.so"
    # A library that can be loaded and is no backend: llama.cpp says that it lacks something.
    shutil.copy(libraries / "libggml-base.so", fake)
    script = _LOOK.format(model=str(demo_model()), fake=fake.name)
    variables = {**os.environ, "LLAMA_CPP_LIB_PATH": str(libraries)}
    command = [sys.executable, "-c", script]
    made = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True)
    assert made.stdout.split() == ["False", "True"]


@pytest.fixture
def device() -> Device:
    found = devices()
    if not found:
        pytest.skip("llama.cpp finds no GPU here")
    return found[0]


def test_a_device_computes_what_the_processor_computes(device: Device) -> None:
    rows = []
    for computes in (None, device):
        with LlamaModel(demo_model(), computes, 99) as model:
            shape = speed_shape(model.trained_context)
            with LlamaSession(model, shape, 1, CancelToken()) as session:
                rows.append(next_token_probabilities(session))
    assert not np.array_equal(rows[0], rows[1])  # it was another one that computed
    assert np.abs(rows[0] - rows[1]).sum(axis=1).max() / 2 < 0.1


def test_a_context_that_a_device_has_no_room_for_is_its_failure(device: Device) -> None:
    huge = SessionShape(1 << 26, 1, 1)
    with (
        LlamaModel(demo_model(), device, 99) as model,
        pytest.raises(DeviceFailed, match="cannot allocate a context"),
        LlamaSession(model, huge, 1, CancelToken()),
    ):
        pass


def test_the_same_processor_differs_by_nothing() -> None:
    with (
        LlamaModel(demo_model()) as model,
        LlamaSession(model, speed_shape(model.trained_context), 1, CancelToken()) as session,
    ):
        first, second = (next_token_probabilities(session) for _ in range(2))
    assert first.shape == (21, first.shape[1])
    assert np.allclose(first.sum(axis=1), 1)
    assert len(np.unique(first, axis=0)) == 21  # at different places
    assert np.array_equal(first, second)


class Watched(LlamaSession):
    """A session that knows how many tokens it read at once, each time."""

    read_at_once: tuple[int, ...] = ()

    def _decode(self, entries: Sequence[Entry]) -> None:
        self.read_at_once += (len(entries),)
        super()._decode(entries)


@pytest.mark.parametrize(("context", "largest"), [(speed_shape(1 << 20).context, BATCH), (256, 95)])
def test_a_trial_reads_as_many_tokens_at_once_as_a_run_does_and_fits_into_little_context(
    context: int, largest: int
) -> None:
    shape = SessionShape(context, 1, TEXTS)
    with LlamaModel(demo_model()) as model, Watched(model, shape, 1, CancelToken()) as session:
        next_token_probabilities(session)
        assert session.read_at_once[0] == largest
        assert session.read_at_once[-2:] == (TEXTS + sum(1 + k * 32 // TEXTS for k in range(TEXTS)), 3)
