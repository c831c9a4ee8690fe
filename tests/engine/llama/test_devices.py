"""Devices beside the processor: their libraries stay where they are until one is asked for.

pip's build of llama.cpp has no GPU in it. Where one is at hand (LLAMA_CPP_LIB_PATH names such a build), two
tests compute with it.
"""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.core.codec import plain, record_of
from engine.core.errors import DeviceFailed
from engine.core.events import CancelToken, MeasureProgress, followed
from engine.core.items import Preference
from engine.core.numeric import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE, FloatArray
from engine.llama.context import BATCH, SessionShape
from engine.llama.library import GPU_FOLDER, device_pointer, devices, library_folder
from engine.llama.model import LlamaModel
from engine.llama.session import Entry, LlamaSession
from engine.llama.speed import (
    TEXTS,
    DeviceFinding,
    DeviceTrial,
    ModelSpeed,
    compared,
    measuring_speed,
    next_token_probabilities,
    speed_shape,
)
from engine.metrics.drift import EarlierItem, Opinion, drift
from engine.settings.rows import Device, DeviceKind
from engine.system.paths import demo_model
from tests.commands import said_by
from tests.steps import refused

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


def test_each_device_is_a_device_of_its_own_kind_and_one_that_is_gone_is_said_to_be() -> None:
    for device in devices():
        assert device.name
        assert device.description
        assert record_of(plain(device), Device) == device
        assert device_pointer(device) is not None
    assert device_pointer(GONE) is None
    gone = r"A card that was sold .* no longer found on this computer"
    assert isinstance(refused(lambda: LlamaModel(demo_model(), GONE, 4), gone), DeviceFailed)


@pytest.mark.skipif(sys.platform != "linux", reason="the names of libraries are those of Linux")
def test_libraries_of_gpus_are_loaded_where_devices_are_looked_for_and_not_before(tmp_path: Path) -> None:
    libraries = tmp_path / "lib"
    shutil.copytree(library_folder(), libraries, ignore=shutil.ignore_patterns("*mtmd*", GPU_FOLDER))
    (libraries / GPU_FOLDER).mkdir()
    fake = libraries / GPU_FOLDER / "libggml-fake.so"
    # A library that can be loaded and is no backend: llama.cpp says that it lacks something.
    shutil.copy(libraries / "libggml-base.so", fake)
    script = _LOOK.format(model=str(demo_model()), fake=fake.name)
    assert said_by(script, LLAMA_CPP_LIB_PATH=str(libraries)).split() == ["False", "True"]


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
    with LlamaModel(demo_model(), device, 99) as model:
        error = refused(lambda: LlamaSession(model, huge, 1, CancelToken()), "cannot allocate a context")
    assert isinstance(error, DeviceFailed)


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


# What a trial of devices says: which of them is sound, which is the fastest

CARD = Device("Vulkan0", "Card", "Vulkan", DeviceKind.GPU, 8 << 30, "00400001")
GRAPHICS = Device("Vulkan1", "Graphics", "Vulkan", DeviceKind.INTEGRATED)
SLOW = ModelSpeed(reading=100, writing_one=10, writing_ten=40, prompt=512, cores=3.9, threads=4)
FAST = replace(SLOW, reading=1000, writing_ten=400, threads=0)
PLACES = 20


def sure_of(token: int, probability: float = 0.9) -> FloatArray:
    """Places that all give one of four tokens this probability, and the others the same."""
    rows = np.full((PLACES, 4), (1 - probability) / 3)
    rows[:, token] = probability
    return rows


def test_rounding_is_sound_and_another_text_or_one_wrong_place_is_not() -> None:
    found = compared(CARD, sure_of(0), sure_of(0, 0.92), FAST)
    assert found.sound
    assert [found.mean, found.worst] == pytest.approx([0.02, 0.02])
    found = compared(CARD, sure_of(0), sure_of(1), FAST)
    assert found.mean == pytest.approx(0.9 - 0.1 / 3)
    assert (found.sound, found.reason) == (False, "its results differ from the processor's")
    own = sure_of(0)
    own[3] = own[3][::-1]
    found = compared(CARD, sure_of(0), own, FAST)
    assert (found.sound, found.worst > 0.5) == (False, True)


@pytest.mark.parametrize("own", [np.full((PLACES, 4), np.nan), np.zeros((PLACES, 0))], ids=["nan", "none"])
def test_what_is_no_number_is_not_sound(own: FloatArray) -> None:
    found = compared(CARD, sure_of(0), own, FAST)
    assert (found.sound, found.reason) == (False, "its results are not finite numbers")


def test_what_a_sound_device_computes_is_no_significant_change() -> None:
    own = sure_of(0, 0.9 - ROUNDING_ON_AVERAGE + 1e-9)
    assert compared(CARD, sure_of(0), own, FAST).sound
    column = [
        EarlierItem(str(place), Opinion(Preference.A, tuple(then)), Opinion(Preference.A, tuple(now)))
        for place, (then, now) in enumerate(zip(sure_of(0), own, strict=True))
    ]
    assert not drift({"safety": column}, "CPU", "GPU").moved_significantly
    assert not compared(CARD, sure_of(0), sure_of(0, 0.9 - 2 * ROUNDING_ON_AVERAGE), FAST).sound


@pytest.mark.parametrize(("nats", "distance"), [(0.16, ROUNDING_ON_AVERAGE), (0.51, ROUNDING_AT_WORST)])
def test_so_far_apart_are_log_probabilities_at_the_bounds_of_rounding(nats: float, distance: float) -> None:
    likely = 1 / (1 + np.exp(nats))  # e^nats times as likely, and all else as much less
    apart = likely * np.exp(nats) - likely
    assert apart == pytest.approx(distance, abs=0.002)
    random = np.random.default_rng(0)
    one = random.dirichlet((1, 1, 1, 1), 1000)
    other = one * np.exp(random.uniform(-nats / 2, nats / 2, one.shape))  # normalising moves them again
    assert (np.abs(one - other / other.sum(axis=1, keepdims=True)).sum(axis=1) / 2).max() <= apart


def test_the_fastest_sound_device_is_the_best() -> None:
    sound = DeviceFinding(GRAPHICS, 0.01, 0.02, replace(FAST, reading=500))
    wrong = DeviceFinding(CARD, 0.5, 0.9, FAST, "its results differ from the processor's")
    assert DeviceTrial(SLOW, (wrong, sound)).best == GRAPHICS
    assert DeviceTrial(SLOW, (sound, DeviceFinding(CARD, 0.01, 0.02, FAST))).best == CARD
    assert DeviceTrial(FAST, (replace(sound, speed=SLOW),)).best is None
    assert DeviceTrial(SLOW, (DeviceFinding(CARD, reason="it broke down"),)).best is None
    lopsided = replace(SLOW, reading=120, writing_ten=5)  # which reads fast and writes slowly
    assert DeviceTrial(SLOW, (DeviceFinding(CARD, 0, 0, lopsided),)).best is None


def test_it_is_kept_as_plain_values() -> None:
    failed = DeviceFinding(GRAPHICS, reason="it broke down")
    trial = DeviceTrial(SLOW, (DeviceFinding(CARD, 0.01, 0.02, FAST), failed))
    assert record_of(json.loads(json.dumps(plain(trial))), DeviceTrial) == trial


# llama.cpp is started once, whichever thread asks first

# In a process of its own: here it was started long ago.
_PROGRAM = """
import threading, time
from engine.llama import library
begun, start = [], library.llama_cpp.llama_backend_init
def slow():
    begun.append(1)
    time.sleep(0.3)
    start()
library.llama_cpp.llama_backend_init = slow
threads = [threading.Thread(target=library.start_library) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(begun))
"""


def test_threads_that_ask_at_once_start_it_once() -> None:
    assert said_by(_PROGRAM) == "1"


# The speed of a model: measured with real llama.cpp, and what is reckoned from it

SmallModel = Callable[[str], Path]
SPEED = ModelSpeed(reading=1000, writing_one=40, writing_ten=100, prompt=512, cores=1.9, threads=2)


def measured(path: Path, received: list[MeasureProgress], context: int | None = None) -> ModelSpeed:
    with LlamaModel(path) as model:
        shape = speed_shape(model.trained_context)
        shape = replace(shape, context=context or shape.context)
        with LlamaSession(model, shape, 1, CancelToken()) as session:
            return followed(measuring_speed(session, 1), received.append)


@pytest.mark.parametrize("family", ["headers", "mamba", "short_context"])
def test_a_model_is_measured_in_stages(small_model: SmallModel, family: str) -> None:
    received: list[MeasureProgress] = []
    speed = measured(small_model(family), received)
    assert speed.prompt == 512
    assert min(speed.reading, speed.writing_one, speed.writing_ten) > 0
    assert [event.done for event in received] == sorted(event.done for event in received)
    assert received[-1].done == received[-1].total


def test_a_context_too_small_for_the_usual_prompt_has_a_shorter_one(small_model: SmallModel) -> None:
    assert 32 <= measured(small_model("headers"), [], context=256).prompt < 256


def test_texts_together_are_reckoned_from_one_and_ten_and_other_programs_are_told_of() -> None:
    wanted = {1: 40, 10: 100, 19: 19 / (2 * 0.1 - 0.025)}
    assert {texts: SPEED.writing(texts) for texts in wanted} == pytest.approx(wanted)
    assert replace(SPEED, writing_ten=4000).writing(20) == pytest.approx(20 * 40)
    cases = {(1.9, 2): False, (1.2, 2): True, (0.1, 0): False}
    assert {case: replace(SPEED, cores=case[0], threads=case[1]).disturbed for case in cases} == cases


def test_it_comes_back_from_json() -> None:
    assert record_of(json.loads(json.dumps(plain(SPEED))), ModelSpeed) == SPEED


@pytest.mark.parametrize(
    "wrong", [0, -1, float("nan"), float("inf"), "fast", None, True, 1e308, 1e-308, 10**400]
)
def test_what_cannot_have_been_measured_is_not_believed(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"^reading: "):
        record_of(plain(SPEED) | {"reading": wrong}, ModelSpeed)
