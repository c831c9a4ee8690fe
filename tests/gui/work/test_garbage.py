"""The garbage collector works on the thread of the window, and rests while jobs make records."""

import gc
import time
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gui.work.garbage import Collector, many_records


@pytest.fixture(autouse=True)
def _by_itself() -> Iterator[None]:
    """As in a program that has just been started."""
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
def test_only_very_many_records_are_never_looked_at(count: int, kept: bool) -> None:
    gc.collect(1)
    before = gc.get_freeze_count()
    with many_records():
        made = [[place] for place in range(count)]
    assert (gc.get_freeze_count() >= before + count) is kept
    assert len(made) == count


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
