"""A small part of the bench of kills: one kill; and that it sees what is missing."""

import sys
from pathlib import Path

import pytest

from bench.durability.ledger import Key, Ledger, Refused, Said
from bench.durability.trials import Bench, Situation

LABEL, DRAFT, RUN = Key("label", "1", "safety"), Key("draft", "1", "safety"), Key("run", "2")


@pytest.mark.models  # a second process lives a window through and is killed
@pytest.mark.skipif(sys.platform == "win32", reason="without forks each window takes seconds to start")
def test_what_a_killed_window_had_shown_as_stored_is_there(demo_store: Path, tmp_path: Path) -> None:
    bench = Bench(tmp_path / "bench", demo_store)
    outcome = bench.try_once("label", Situation.ONE, "1", tmp_path / "label")
    assert (outcome.missing, outcome.silent) == ([], [])
    assert outcome.shown


@pytest.mark.parametrize(
    ("received", "found", "stands"),
    [
        ([Said(LABEL, "A", True)], "A", True),
        ([Said(LABEL, "A", True)], None, False),
        ([Said(LABEL, "A", True), Said(LABEL, "B", False)], "B", True),
        ([Said(LABEL, "A", True), Said(LABEL, "B", False)], "A", True),
        ([Said(LABEL, "A", True), Said(LABEL, "B", False), Said(LABEL, "B", True)], "A", False),
        ([Said(LABEL, "B", False)], None, True),
        ([Said(DRAFT, "one", True), Said(DRAFT, "another", False)], "anot", True),
        ([Said(DRAFT, "one", True)], "on", False),
        ([Said(DRAFT, "on", True), Said(DRAFT, "one", False)], "one", True),
        ([Said(DRAFT, "on", True), Said(DRAFT, "one", False)], "o", False),
        ([Said(RUN, "7", True)], "8", True),
        ([Said(RUN, "7", True)], "6", False),
    ],
)
def test_what_was_shown_or_was_about_to_be_said_stands(
    received: list[Said], found: str | None, stands: bool
) -> None:
    ledger = Ledger()
    for each in received:
        ledger.take(each)
    assert (ledger.missing({received[0].key: found}, "the window") == {}) is stands


def test_what_was_said_counts_where_the_window_is_closed() -> None:
    ledger = Ledger()
    ledger.take(Said(LABEL, "A", shown=False))
    ledger.take(Refused(LABEL, ""))
    ledger.count_all_said()
    assert list(ledger.missing({LABEL: None}, "the window").values()) == [
        "label 1 safety: 'A' is missing; the window has nothing"
    ]
