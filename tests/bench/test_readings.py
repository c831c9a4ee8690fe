"""The readings that were kept of ten items: what is found different; this llama.cpp still reads so."""

import json
from importlib.metadata import version

import pytest

from bench.readings import CLOSE, CLOSE_LOGS, KEPT, main
from tests.commands import ROOT


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
