"""The readings that were kept of ten items: what is found different; this llama.cpp still reads so."""

import json
import math
from importlib.metadata import version

import pytest

from bench.readings import CLOSE, KEPT, largest_difference, main, other_labels
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
    assert f"allowed: {CLOSE}" in said
