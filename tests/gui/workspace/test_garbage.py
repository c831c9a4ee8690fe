"""The garbage collector works on the thread of the window, and rests while jobs make records."""

import gc
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from gui.workspace.garbage import Collector, _Hidden, many_records, run_closed


@pytest.fixture(autouse=True)
def _by_itself(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a program that has just been started."""
    monkeypatch.setattr("gui.workspace.garbage._hidden", _Hidden())
    was_on = gc.isenabled()
    gc.enable()
    yield
    if not was_on:
        gc.disable()


class Cycle:
    """Something that only the collector clears away."""

    def __init__(self, ended: list[str]) -> None:
        self._ended = ended
        self._itself = self

    def __del__(self) -> None:
        self._ended.append("ended")


def test_the_first_of_two_jobs_to_end_leaves_the_collector_off() -> None:
    one, other = many_records(), many_records()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert not gc.isenabled()
    other.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_job_that_fails_leaves_it_on() -> None:
    with pytest.raises(ValueError, match="no"), many_records():
        raise ValueError("no")
    assert gc.isenabled()


@pytest.mark.parametrize(("count", "kept"), [(1_000, False), (300_000, True)])
def test_only_very_many_records_are_kept_out_of_sight(count: int, kept: bool) -> None:
    gc.collect(1)
    before = gc.get_freeze_count()
    with many_records():
        made = [[place] for place in range(count)]
    assert (gc.get_freeze_count() >= before + count) is kept
    assert len(made) == count


def load(count: int = 300_000) -> list[list[int]]:
    with many_records():
        return [[place] for place in range(count)]


@pytest.mark.slow
def test_what_is_dropped_after_a_large_load_is_cleared_away_once_nobody_is_at_work(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was kept for ever, after each of them."""
    monkeypatch.setattr("gui.workspace.garbage._STILL", 0.0)
    monkeypatch.setattr("gui.workspace.garbage._AS_LONG", 0)
    collector = Collector()
    ended: list[str] = []
    for number in range(1, 4):
        figure = Cycle(ended)
        records = load()
        del figure
        collector.tick()
        collector.tick()
        assert len(ended) == number
        assert len(records) == 300_000
    collector.close()


@pytest.mark.slow
def test_keys_put_a_long_look_off(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gui.workspace.garbage._STILL", 0.3)
    monkeypatch.setattr("gui.workspace.garbage._AS_LONG", 0)
    collector = Collector()
    line = QLineEdit()
    qtbot.addWidget(line)
    with qtbot.waitExposed(line):
        line.show()
    ended: list[str] = []
    figure, records = Cycle(ended), load()
    del figure
    collector.tick()
    for _press in range(4):
        time.sleep(0.2)
        QTest.keyClick(line.windowHandle(), Qt.Key.Key_A)  # where the system brings it
        collector.tick()
        assert ended == []
    time.sleep(0.4)
    collector.tick()
    assert ended == ["ended"]
    assert len(records) == 300_000
    collector.close()


@pytest.mark.slow
def test_the_longer_a_look_takes_the_longer_nobody_must_have_been_at_work() -> None:
    hidden = _Hidden()
    assert hidden.stillness == 3.0
    with pytest.MonkeyPatch.context() as change:
        change.setattr("gui.workspace.garbage._hidden", hidden)
        records = load(count=900_000)
    assert 6 < hidden.stillness < 10  # for a quarter of a second
    hidden.look()
    assert len(records) == 900_000
    assert not hidden.stale


@pytest.mark.slow
def test_what_is_dropped_with_a_closed_run_is_cleared_away(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is left is out of sight again, where it is much."""
    monkeypatch.setattr("gui.workspace.garbage._STILL", 0.0)
    monkeypatch.setattr("gui.workspace.garbage._SHORT", 0.0)
    monkeypatch.setattr("gui.workspace.garbage._AS_LONG", 0)
    collector = Collector()
    ended: list[str] = []
    figure, records = Cycle(ended), load()
    for _tick in range(3):
        collector.tick()
    before = gc.get_freeze_count()
    assert before > 300_000
    del figure
    for _tick in range(3):
        collector.tick()
    assert ended == []  # nobody has closed anything
    run_closed()
    for _tick in range(3):
        collector.tick()
    assert ended == ["ended"]
    assert gc.get_freeze_count() > 300_000
    assert len(records) == 300_000
    collector.close()


def test_a_job_that_begins_while_another_window_is_left_open_turns_it_off(qtbot: QtBot) -> None:
    left = Collector()
    gc.enable()  # whoever did that
    with many_records():
        assert not gc.isenabled()
    left.close()


def test_it_never_runs_by_itself_until_the_last_window_is_closed(qtbot: QtBot) -> None:
    one, other = Collector(), Collector()
    one.close()
    with many_records():
        pass
    assert not gc.isenabled()
    other.close()
    assert gc.isenabled()


def test_what_a_window_leaves_behind_is_cleared_away_within_seconds(qtbot: QtBot) -> None:
    collector = Collector()
    ended: list[str] = []
    Cycle(ended)
    qtbot.waitUntil(lambda: bool(ended), timeout=10_000)
    collector.close()


def test_everything_is_looked_at_once_enough_was_made(qtbot: QtBot) -> None:
    collector = Collector()
    collector._made, collector._next_full = 20_000, 0.0
    collector.tick()
    assert collector._made == 0
    assert collector._next_full > time.monotonic() + 20
    collector.close()


def test_it_rests_while_a_job_makes_records(qtbot: QtBot) -> None:
    collector = Collector()
    ended: list[str] = []
    with many_records():
        Cycle(ended)
        collector.tick()
        assert ended == []
    collector.tick()
    assert ended == ["ended"]
    collector.close()
