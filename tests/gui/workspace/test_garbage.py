"""The garbage collector works on the thread of the window, and rests while jobs make records."""

import gc
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from gui.workspace import garbage
from gui.workspace.garbage import Collector, many_records, run_closed
from tests.gui.steps import shown


@pytest.fixture(autouse=True)
def _by_itself(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a program that has just been started: what other tests keep is of no account."""
    gc.freeze()
    monkeypatch.setattr(garbage, "_hidden", garbage._Hidden())
    was_on = gc.isenabled()
    gc.enable()
    yield
    if not was_on:
        gc.disable()


@pytest.fixture
def collector(qtbot: QtBot) -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody need have been still for a look at what is out of sight."""
    monkeypatch.setattr(garbage, "_STILL", 0.0)
    monkeypatch.setattr(garbage, "_AS_LONG", 0)


def cycle(ended: list[str]) -> Callable[[], object]:
    """Something that only the collector clears away, which is told then."""

    def itself() -> object:
        return itself

    weakref.finalize(itself, ended.append, "ended")
    return itself


def test_the_first_of_two_jobs_to_end_leaves_the_collector_off() -> None:
    one, other = ExitStack(), ExitStack()
    one.enter_context(many_records())
    other.enter_context(many_records())
    one.close()
    assert not gc.isenabled()
    with pytest.raises(ValueError, match="no"), other:
        raise ValueError("no")  # also where a job fails
    assert gc.isenabled()


@pytest.mark.parametrize(("count", "kept"), [(1_000, False), (300_000, True)])
def test_only_very_many_records_are_kept_out_of_sight(count: int, kept: bool) -> None:
    gc.collect(1)
    before, made = gc.get_freeze_count(), load(count)
    assert (gc.get_freeze_count() >= before + count) is kept
    assert len(made) == count


def load(count: int = 300_000) -> list[list[int]]:
    with many_records():
        return [[place] for place in range(count)]


@pytest.mark.slow
def test_what_is_dropped_after_a_large_load_is_cleared_away(collector: Collector, at_once: None) -> None:
    """It was kept for ever, after each of them."""
    ended: list[str] = []
    for number in range(1, 4):
        figure, records = cycle(ended), load()
        del figure
        collector.tick()
        collector.tick()
        assert (len(ended), len(records)) == (number, 300_000)


@pytest.mark.slow
def test_keys_put_a_long_look_off(
    qtbot: QtBot, collector: Collector, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "_STILL", 1.0)
    line = shown(qtbot, QLineEdit())
    ended: list[str] = []
    figure, records = cycle(ended), load()
    del figure
    collector.tick()
    for _press in range(4):
        time.sleep(0.2)
        QTest.keyClick(line.windowHandle(), Qt.Key.Key_A)  # where the system brings it
        collector.tick()
        assert ended == []
    time.sleep(1.1)
    collector.tick()
    assert (ended, len(records)) == (["ended"], 300_000)


@pytest.mark.slow
def test_the_longer_a_look_takes_the_longer_nobody_must_have_been_at_work() -> None:
    hidden = garbage._hidden
    assert hidden.stillness == 3.0
    records = load(900_000)
    assert 6 < hidden.stillness < 10  # for a quarter of a second
    hidden.look()
    assert len(records) == 900_000
    assert not hidden.stale


@pytest.mark.slow
def test_what_is_dropped_with_a_closed_run_is_cleared_away(
    collector: Collector, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is left is out of sight again, where it is much."""
    monkeypatch.setattr(garbage, "_SHORT", 0.0)
    ended: list[str] = []
    figure, records = cycle(ended), load()
    for _tick in range(3):
        collector.tick()
    assert gc.get_freeze_count() > 300_000
    del figure
    for _tick in range(3):
        collector.tick()
    assert ended == []  # nobody has closed anything
    run_closed()
    for _tick in range(3):
        collector.tick()
    assert (ended, len(records)) == (["ended"], 300_000)
    assert gc.get_freeze_count() > 300_000


def test_a_job_that_begins_while_another_window_is_left_open_turns_it_off(collector: Collector) -> None:
    gc.enable()  # whoever did that
    with many_records():
        assert not gc.isenabled()


def test_it_never_runs_by_itself_until_the_last_window_is_closed(collector: Collector) -> None:
    Collector().close()
    with many_records():
        pass
    assert not gc.isenabled()
    collector.close()
    assert gc.isenabled()


def test_what_a_window_leaves_is_cleared_away_within_seconds(qtbot: QtBot, collector: Collector) -> None:
    ended: list[str] = []
    cycle(ended)
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)


def test_a_pass_goes_through_what_was_made_since_the_last_one(collector: Collector) -> None:
    """However much lives on: it is out of sight, and looked at once it has become very much."""
    kept: list[list[list[int]]] = []
    for _ in range(3):
        for _ in range(2):
            kept.append([[place] for place in range(30_000)])
            collector.tick()
        assert len(gc.get_objects()) < 30_000
    assert not garbage._hidden.stale
    kept.append([[place] for place in range(1_000_000)])
    collector.tick()
    assert garbage._hidden.stale


def test_it_rests_while_a_job_makes_records(collector: Collector) -> None:
    ended: list[str] = []
    with many_records():
        cycle(ended)
        collector.tick()
        assert ended == []
    collector.tick()
    assert ended == ["ended"]
