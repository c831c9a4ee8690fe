"""The speed of a model: measured with real llama.cpp, and what is reckoned from it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.codec import plain, record_of
from engine.core.events import CancelToken, MeasureProgress, followed
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.llama.speed import ModelSpeed, measuring_speed, speed_shape

SmallModel = Callable[[str], Path]
SPEED = ModelSpeed(reading=1000, writing_one=40, writing_ten=100, prompt=512, cores=1.9, threads=2)


@pytest.mark.parametrize("family", ["headers", "mamba", "short_context"])
def test_a_model_is_measured_in_stages(small_model: SmallModel, family: str) -> None:
    received: list[MeasureProgress] = []
    with LlamaModel(small_model(family)) as model:
        shape = speed_shape(model.trained_context)
        with LlamaSession(model, shape, 1, CancelToken()) as session:
            speed = followed(measuring_speed(session, 1), received.append)
    assert speed.prompt == 512
    assert min(speed.reading, speed.writing_one, speed.writing_ten) > 0
    assert [event.done for event in received] == sorted(event.done for event in received)
    assert received[-1].done == received[-1].total


def test_a_context_too_small_for_the_usual_prompt_has_a_shorter_one(small_model: SmallModel) -> None:
    with LlamaModel(small_model("headers")) as model:
        shape = replace(speed_shape(model.trained_context), context=256)
        with LlamaSession(model, shape, 1, CancelToken()) as session:
            speed = followed(measuring_speed(session, 1), lambda _event: None)
    assert 32 <= speed.prompt < 256


@pytest.mark.parametrize(("texts", "expected"), [(1, 40), (10, 100), (19, 19 / (2 * 0.1 - 0.025))])
def test_texts_together_are_reckoned_from_one_and_ten(texts: int, expected: float) -> None:
    assert SPEED.writing(texts) == pytest.approx(expected)


def test_texts_together_are_never_faster_than_a_step_of_one() -> None:
    odd = replace(SPEED, writing_ten=4000)
    assert odd.writing(20) == pytest.approx(20 * 40)


@pytest.mark.parametrize(
    ("cores", "threads", "disturbed"), [(1.9, 2, False), (1.2, 2, True), (0.1, 0, False)]
)
def test_a_measure_beside_other_programs_is_told(cores: float, threads: int, disturbed: bool) -> None:
    assert replace(SPEED, cores=cores, threads=threads).disturbed is disturbed


def test_it_comes_back_from_json() -> None:
    assert record_of(json.loads(json.dumps(plain(SPEED))), ModelSpeed) == SPEED


@pytest.mark.parametrize(
    "wrong", [0, -1, float("nan"), float("inf"), "fast", None, True, 1e308, 1e-308, 10**400]
)
def test_what_cannot_have_been_measured_is_not_believed(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"reading|a speed is 0"):
        record_of(plain(SPEED) | {"reading": wrong}, ModelSpeed)
