"""The readings that were kept of ten items: what is found different; this llama.cpp still reads so."""

import json
import math
from importlib.metadata import version
from pathlib import Path

import pytest

from bench import readings
from bench.readings import CLOSE, CLOSE_LOGS, KEPT, largest_difference, main, other_labels
from tests.commands import ROOT

BEFORE = {"1, safety, AB": [0.9, 0.05, 0.03, 0.02], "1, safety, BA": [0.4, 0.5, 0.05, 0.05]}


def test_the_largest_difference_is_found_and_named() -> None:
    now = BEFORE | {"1, safety, BA": [0.46, 0.44, 0.05, 0.05]}
    largest, where = largest_difference(BEFORE, now)
    assert (round(largest, 6), where) == (0.06, "1, safety, BA, B")
    assert other_labels(BEFORE, now) == ["1, safety, BA"]
    assert other_labels(BEFORE, BEFORE) == []


@pytest.mark.parametrize("now", [{}, BEFORE | {"2, safety, AB": [1.0, 0.0, 0.0, 0.0]}])
def test_a_reading_that_lacks_is_a_difference(now: dict[str, list[float]]) -> None:
    assert largest_difference(BEFORE, now)[0] == math.inf


@pytest.mark.parametrize("place", range(4))
def test_what_is_no_number_is_a_difference(place: int) -> None:
    broken = [0.9, 0.05, 0.03, 0.02]
    broken[place] = math.nan
    for one, other in (
        (BEFORE, BEFORE | {"1, safety, AB": broken}),
        (BEFORE | {"1, safety, AB": broken}, BEFORE),
    ):
        assert largest_difference(one, other) == (math.inf, "1, safety, AB has what is no number")


@pytest.mark.parametrize(
    ("now", "code"),
    [
        (BEFORE, 0),
        (BEFORE | {"1, safety, AB": [0.9, 0.05, 0.0305, 0.0195]}, 0),
        (BEFORE | {"1, safety, AB": [0.905, 0.05, 0.03, 0.015]}, 1),  # 0.005 is little, but a quarter of 0.02
        (
            BEFORE | {"1, safety, BA": [0.412, 0.488, 0.05, 0.05]},
            1,
        ),  # a small part of both, but more than 0.01
        (BEFORE | {"1, safety, BA": [math.nan, 0.5, 0.05, 0.05]}, 1),
    ],
)
def test_small_probabilities_are_held_by_their_logarithms(
    now: dict[str, list[float]], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "readings.json"
    kept.write_text(json.dumps(json.loads(KEPT.read_text("utf-8")) | {"readings": BEFORE}), "utf-8")
    monkeypatch.setattr(readings, "KEPT", kept)
    monkeypatch.setattr(readings, "read", lambda: now)
    assert main([]) == code


def test_probabilities_that_are_next_to_nothing_are_alike() -> None:
    assert (
        largest_difference({"x": [1e-6, 0.0, 9e-5, 1.0]}, {"x": [9e-5, 1e-5, 0.0, 1.0]}, readings._log)[0]
        == 0
    )


def test_what_is_kept_is_of_the_llama_cpp_that_is_asked_for() -> None:
    made_with = json.loads(KEPT.read_text("utf-8"))["made_with"]
    assert f"\n{made_with.replace(' ', '==')} " in (ROOT / "packaging" / "locks" / "bundle.txt").read_text(
        "utf-8"
    )


@pytest.mark.models
def test_this_llama_cpp_reads_as_the_kept_one_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert f"llama-cpp-python {version('llama-cpp-python')}, held against" in said
    assert f"allowed: {CLOSE}\n" in said
    assert f"allowed: {CLOSE_LOGS}\n" in said
