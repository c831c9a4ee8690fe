"""Jobs on the lanes: whatever happens, each ends exactly once, and on the thread of the window."""

import gc
import logging
import threading
import weakref
from collections.abc import Callable
from functools import partial

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.core.errors import EngineBug, EngineError, SetupError
from engine.core.events import Cancelled
from engine.system.computer import STACK_BYTES
from gui.workspace.threads import EngineThreads, Job, JobControl, LatestTask, Task, ThreadName
from tests.stack import CAN_BE_SEEN, stack_bytes


class Received:
    def __init__(self, task: Task) -> None:
        self.all: list[tuple[str, object]] = []
        self.threads: set[int] = set()
        task.progress.connect(lambda value: self._hear("event", value))
        task.finished.connect(lambda value: self._hear("finished", value))
        task.failed.connect(lambda error: self._hear("failed", error))
        task.cancelled.connect(lambda: self._hear("cancelled"))
        task.ended.connect(lambda: self._hear("ended"))

    def _hear(self, kind: str, value: object = None) -> None:
        self.all.append((kind, value))
        self.threads.add(threading.get_ident())

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.all]


def to_the_end(qtbot: QtBot, *tasks: Task) -> list[Received]:
    received = [Received(task) for task in tasks]
    qtbot.waitUntil(lambda: all("ended" in each.kinds for each in received))
    return received


Heard = Callable[[Job[object]], Received]


@pytest.fixture
def heard(qtbot: QtBot, threads: EngineThreads) -> Heard:
    """Starts a job, and hears it to the end."""
    return lambda job: to_the_end(qtbot, threads.start(ThreadName.FILES, job))[0]


@pytest.fixture
def latest(threads: EngineThreads) -> LatestTask:
    return LatestTask(threads, ThreadName.FILES)


def wait_for_cancel(control: JobControl) -> None:
    control.report("at work")
    while True:
        control.cancel.raise_if_requested()
        threading.Event().wait(0.001)


def raises(error: BaseException) -> Callable[[JobControl], None]:
    def job(_control: JobControl) -> None:
        raise error

    return job


def returns(value: object) -> Callable[[JobControl], object]:
    return lambda _control: value


def test_a_job_tells_its_events_in_order_and_then_its_result(heard: Heard) -> None:
    def job(control: JobControl) -> str:
        for size in (1, 5_000_000_000, None):
            control.report(size)
        return "done"

    received = heard(job)
    events: list[tuple[str, object]] = [("event", 1), ("event", 5_000_000_000), ("event", None)]
    assert received.all == [*events, ("finished", "done"), ("ended", None)]
    assert received.threads == {threading.get_ident()}


def test_a_job_does_not_work_on_the_thread_of_the_window(qtbot: QtBot, threads: EngineThreads) -> None:
    names = (ThreadName.FILES, ThreadName.STORE)
    received = to_the_end(qtbot, *(threads.start(name, lambda _: threading.get_ident()) for name in names))
    assert len({listener.all[0][1] for listener in received} | {threading.get_ident()}) == 3


@CAN_BE_SEEN
def test_a_job_has_room_on_its_stack(heard: Heard) -> None:
    [(_, size), *_] = heard(lambda _: stack_bytes()).all
    assert isinstance(size, int)
    assert STACK_BYTES <= size < 2 * STACK_BYTES


def test_jobs_of_one_lane_wait_for_each_other_others_do_not(qtbot: QtBot, threads: EngineThreads) -> None:
    order, gate = list[str](), threading.Event()
    first = threads.start(ThreadName.FILES, lambda _: order.append("first" if gate.wait(10) else "no gate"))
    second = threads.start(ThreadName.FILES, lambda _: order.append("second"))
    with qtbot.waitSignal(threads.start(ThreadName.STORE, lambda _: order.append("other lane")).ended):
        pass
    assert threads.busy(ThreadName.FILES)
    assert not threads.busy(ThreadName.STORE)
    gate.set()
    qtbot.waitUntil(lambda: first.done and second.done)
    assert order == ["other lane", "first", "second"]


def test_a_cancelled_job_says_so_once_and_an_abandoned_one_ends(qtbot: QtBot, threads: EngineThreads) -> None:
    cancelled = threads.start(ThreadName.MODEL, wait_for_cancel)
    for _ in range(2):
        cancelled.progress.connect(cancelled.cancel)
    abandoned, made = threads.start(ThreadName.FILES, wait_for_cancel), threading.Event()
    abandoned.abandon()
    too_late = threads.start(ThreadName.STORE, lambda _: made.set())
    assert made.wait(10)  # its result is on its way
    too_late.abandon()
    kinds = [each.kinds for each in to_the_end(qtbot, cancelled, abandoned, too_late)]
    assert kinds == [["event", "cancelled", "ended"], ["ended"], ["ended"]]


def test_a_job_that_is_cancelled_before_its_turn_never_begins(qtbot: QtBot, threads: EngineThreads) -> None:
    begun: list[str] = []
    before = threads.start(ThreadName.FILES, wait_for_cancel)
    task = threads.start(ThreadName.FILES, lambda _: begun.append("begun"))
    task.cancel()
    before.cancel()
    assert to_the_end(qtbot, task)[0].kinds == ["cancelled", "ended"]
    assert begun == []


def test_an_error_for_the_user_arrives_as_it_is(heard: Heard) -> None:
    error = SetupError("demo.tsv is empty.", "Choose another file.")
    assert heard(raises(error)).all == [("failed", error), ("ended", None)]


@pytest.mark.parametrize("error", [ZeroDivisionError("a slip"), SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_anything_else_that_goes_wrong_is_logged_and_told_as_our_fault(
    heard: Heard, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    received = heard(raises(error))
    assert received.kinds == ["failed", "ended"]
    bug = received.all[0][1]
    assert isinstance(bug, EngineBug)
    assert type(error).__name__ in str(bug)
    assert bug.__cause__ is error
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    caplog.clear()


def test_want_of_memory_is_told_and_the_thread_works_on(heard: Heard) -> None:
    assert "not enough memory" in str(heard(raises(MemoryError())).all[0][1])
    assert heard(returns(7)).all[0] == ("finished", 7)


def test_many_quick_jobs_end_once_each(qtbot: QtBot, threads: EngineThreads) -> None:
    names = list(ThreadName)
    tasks = [threads.start(names[number % 4], returns(number)) for number in range(400)]
    for number, listener in enumerate(to_the_end(qtbot, *tasks)):
        assert listener.all == [("finished", number), ("ended", None)]
    assert not any(map(threads.busy, names))


def test_only_the_newest_of_latest_jobs_is_heard(qtbot: QtBot, latest: LatestTask) -> None:
    results, busy = list[object](), list[bool]()
    latest.finished.connect(results.append)
    latest.busy_changed.connect(busy.append)
    latest.start(wait_for_cancel)
    latest.start(lambda _: "second")
    with qtbot.waitSignal(latest.finished):
        latest.start(lambda _: "third")
    qtbot.waitUntil(lambda: not latest.busy)
    assert results == ["third"]
    assert busy == [True, False, True, False, True, False]


@pytest.mark.parametrize("kind", ["failed", "cancelled"])
def test_latest_tells_how_its_job_ended(qtbot: QtBot, latest: LatestTask, kind: str) -> None:
    errors: dict[str, BaseException] = {"failed": EngineError("no"), "cancelled": Cancelled()}
    with qtbot.waitSignals([getattr(latest, kind), latest.busy_changed], order="none"):
        latest.start(raises(errors[kind]))
    qtbot.waitUntil(lambda: not latest.busy)


def test_of_a_dropped_job_nothing_is_heard(qtbot: QtBot, latest: LatestTask) -> None:
    ends: list[str] = []
    latest.cancelled.connect(lambda: ends.append("cancelled"))
    task = latest.start(wait_for_cancel)
    latest.drop()
    assert not latest.busy
    qtbot.waitUntil(lambda: task.done)
    assert ends == []


def test_stop_ends_what_works_and_lets_nothing_begin(qtbot: QtBot) -> None:
    threads = EngineThreads()
    begun: list[str] = []
    with qtbot.waitSignal(threads.start(ThreadName.MODEL, wait_for_cancel).progress):
        pass
    threads.start(ThreadName.MODEL, lambda _: begun.append("waiting"))
    assert threads.stop()
    assert threads.stop()
    threads.start(ThreadName.MODEL, lambda _: begun.append("too late"))
    assert begun == []


def test_what_a_person_decided_is_written_also_when_the_window_closes() -> None:
    threads, written, gate = EngineThreads(), list[str](), threading.Event()
    threads.start(ThreadName.STORE, lambda _: gate.wait(10))
    threads.start(ThreadName.STORE, lambda _: written.append("override"), must_end=True)
    threads.start(ThreadName.STORE, lambda _: written.append("search"))
    gate.set()
    assert threads.stop()
    assert written == ["override"]


def test_latest_is_busy_where_the_end_of_a_job_starts_the_next(qtbot: QtBot, latest: LatestTask) -> None:
    received, results = list[bool](), list[object]()
    latest.busy_changed.connect(received.append)

    def go_on(result: object) -> None:
        results.append(result)
        if result == 1:
            latest.start(returns(2))

    latest.finished.connect(go_on)
    latest.start(returns(1))
    qtbot.waitUntil(lambda: len(results) == 2 and not latest.busy)
    assert received == [True, True, False]


def tell_thread(of: list[int], _gone: object = None) -> None:
    of.append(threading.get_ident())


def test_what_is_left_of_a_closed_window_never_ends_on_a_lane(qtbot: QtBot, threads: EngineThreads) -> None:
    ended_on: list[int] = []

    def make_many(_control: JobControl) -> int:
        return len([[number] for number in range(300_000)])  # enough for the collector to want to run

    for _ in range(5):
        window = QWidget()
        window.itself = window  # type: ignore[attr-defined] # a cycle, as a connected lambda makes one
        window.destroyed.connect(partial(tell_thread, ended_on), Qt.ConnectionType.DirectConnection)
        window.show()
        del window
        with qtbot.waitSignal(threads.start(ThreadName.FILES, make_many).finished):
            pass
    gc.collect()
    assert ended_on == [threading.get_ident()] * 5


def test_a_task_that_nobody_keeps_ends_on_the_window_s_thread(qtbot: QtBot, threads: EngineThreads) -> None:
    ended_on: list[int] = []
    for number in range(50):
        ended = threads.start(ThreadName.FILES, returns(number)).destroyed
        ended.connect(partial(tell_thread, ended_on), Qt.ConnectionType.DirectConnection)
    qtbot.waitUntil(lambda: len(ended_on) == 50)
    assert set(ended_on) == {threading.get_ident()}


class Teller(QObject):
    told = Signal(object)


class Follower(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.threads: list[int] = []

    def hear(self) -> None:
        self.threads.append(threading.get_ident())


def test_a_plain_method_is_a_slot_of_its_own_thread_and_goes_with_its_object(qtbot: QtBot) -> None:
    teller, follower = Teller(), Follower()
    threads = follower.threads
    teller.told.connect(follower.hear)
    other = threading.Thread(target=teller.told.emit, args=(1,))
    other.start()
    other.join()
    assert not threads, "it waits for the loop of its own thread"
    qtbot.waitUntil(lambda: threads == [threading.get_ident()])
    gone = weakref.ref(follower)
    del follower
    gc.collect()
    assert gone() is None
    teller.told.emit(2)
    assert len(threads) == 1
