"""What a trial of devices says: which of them is sound, which is the fastest."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.core.codec import plain, record_of
from engine.core.items import Preference
from engine.core.numeric import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE, FloatArray
from engine.llama.speed import DeviceFinding, DeviceTrial, ModelSpeed, compared
from engine.metrics.drift import EarlierItem, drift
from engine.metrics.rounding import Opinion
from engine.settings.rows import Device, DeviceKind

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


def test_rounding_is_sound() -> None:
    found = compared(CARD, sure_of(0), sure_of(0, 0.92), FAST)
    assert found.sound
    assert found.mean == pytest.approx(0.02)
    assert found.worst == pytest.approx(0.02)


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
    other = one * np.exp(
        random.uniform(-nats / 2, nats / 2, one.shape)
    )  # normalising moves them as far again
    assert (np.abs(one - other / other.sum(axis=1, keepdims=True)).sum(axis=1) / 2).max() <= apart


def test_another_text_is_not() -> None:
    found = compared(CARD, sure_of(0), sure_of(1), FAST)
    assert not found.sound
    assert found.mean == pytest.approx(0.9 - 0.1 / 3)
    assert found.reason == "its results differ from the processor's"


def test_one_wrong_place_is_enough() -> None:
    own = sure_of(0)
    own[3] = own[3][::-1]
    found = compared(CARD, sure_of(0), own, FAST)
    assert found.worst > 0.5
    assert not found.sound


@pytest.mark.parametrize("own", [np.full((PLACES, 4), np.nan), np.zeros((PLACES, 0))], ids=["nan", "none"])
def test_what_is_no_number_is_not_sound(own: FloatArray) -> None:
    found = compared(CARD, sure_of(0), own, FAST)
    assert not found.sound
    assert found.reason == "its results are not finite numbers"


def test_the_fastest_sound_device_is_the_best() -> None:
    sound = DeviceFinding(GRAPHICS, 0.01, 0.02, replace(FAST, reading=500))
    wrong = DeviceFinding(CARD, 0.5, 0.9, FAST, "its results differ from the processor's")
    assert DeviceTrial(SLOW, (wrong, sound)).best == GRAPHICS
    assert DeviceTrial(SLOW, (sound, DeviceFinding(CARD, 0.01, 0.02, FAST))).best == CARD
    assert DeviceTrial(FAST, (replace(sound, speed=SLOW),)).best is None
    assert DeviceTrial(SLOW, (DeviceFinding(CARD, reason="it broke down"),)).best is None


def test_reading_fast_is_not_enough_where_writing_is_slow() -> None:
    lopsided = replace(SLOW, reading=120, writing_ten=5)
    assert DeviceTrial(SLOW, (DeviceFinding(CARD, 0, 0, lopsided),)).best is None


def test_it_is_kept_as_plain_values() -> None:
    failed = DeviceFinding(GRAPHICS, reason="it broke down")
    trial = DeviceTrial(SLOW, (DeviceFinding(CARD, 0.01, 0.02, FAST), failed))
    assert record_of(json.loads(json.dumps(plain(trial))), DeviceTrial) == trial
