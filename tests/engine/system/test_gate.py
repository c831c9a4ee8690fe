"""The process that reads files: what comes back of it, what it may take, and how it may end."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pytest
from pyarrow import parquet

from engine.core.errors import ColumnsError, EngineBug, InputError, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.data.dataset import load_dataset
from engine.system import sandbox
from engine.system.computer import STACK_BYTES, own_memory
from engine.system.crash_reports import DistantTrace
from engine.system.paths import log_folder
from engine.system.sandbox import SandboxedReader
from tests import gate_works as works
from tests.able import need_limited_memory
from tests.commands import ROOT
from tests.stack import CAN_BE_SEEN

PATH = Path("a.parquet")
LIMIT = 1 << 30  # of memory; Python and its libraries alone have a third of it in their address space


@pytest.fixture
def gate(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxedReader]:
    """A gate whose readers have little memory, or what a test says."""
    own = SandboxedReader(*getattr(request, "param", (LIMIT,)))
    monkeypatch.setattr(sandbox, "the_gate", own)
    yield own
    own.close()


def test_one_process_reads_one_file_after_another_and_stands_where_this_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, *here = works.process_of(PATH)
    assert here == [str(Path.cwd() / PATH), os.environ["TIEBREAK_HOME"]]
    assert works.outer(PATH) == (reader, reader)  # what calls another reader reads it there
    assert reader != os.getpid()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIEBREAK_HOME", "elsewhere")
    assert works.process_of(path=PATH) == (reader, str(tmp_path / PATH), "elsewhere")


@pytest.mark.slow
def test_a_large_table_is_here_once() -> None:
    works.column(PATH, 1)  # what it imports
    before = own_memory()
    table = works.column(PATH, 200 << 20)
    assert len(table["a.parquet"][0].as_buffer()) == 200 << 20
    assert own_memory() - before < 250 << 20


@pytest.mark.slow
def test_a_reader_that_holds_too_much_is_not_kept() -> None:
    process, *_ = works.process_of(PATH)
    works.hold(PATH, 20 << 20)
    assert works.process_of(PATH)[0] == process
    works.hold(PATH, 256 << 20)
    assert works.process_of(PATH)[0] != process


def test_an_error_that_was_meant_comes_back_as_it_was() -> None:
    with pytest.raises(ColumnsError) as met:
        works.refuse(PATH)
    error = met.value
    assert (error.path, error.problems, str(error.hint)) == (PATH, ("one", "two"), "Do this.")
    assert (error.foreign, list(error.unknown)) == (True, ["x"])


def test_a_fault_comes_back_with_its_traceback_and_what_cannot_be_sent_is_one() -> None:
    with pytest.raises(ZeroDivisionError) as met:
        works.fail(PATH)
    assert isinstance(met.value.__cause__, DistantTrace)
    assert "gate_works.py" in str(met.value.__cause__)
    with pytest.raises(Exception, match="unsendable"):
        works.unsendable(PATH)


@pytest.mark.slow
@pytest.mark.usefixtures("gate")
def test_a_parquet_file_for_which_the_memory_does_not_suffice_is_not_called_damaged(tmp_path: Path) -> None:
    need_limited_memory()
    path = tmp_path / "d.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 64, pa.int32()), pa.array(["ab" * 7_000_000]))
    names = ("id", "instruction", "output_a", "output_b")
    parquet.write_table(pa.table(dict.fromkeys(names, texts)), path, compression="zstd", store_schema=False)
    with pytest.raises(InputError, match=r"needs more than 1.0 GiB of memory to be read"):
        load_dataset(path)


@pytest.mark.usefixtures("gate")
def test_what_takes_too_much_memory_ends_with_an_error_that_names_the_file() -> None:
    need_limited_memory()
    with pytest.raises(InputError, match=r"^a.parquet: needs more than 1.0 GiB of memory to be read") as met:
        works.take(PATH, 4 << 30)
    assert "Split it" in str(met.value.hint)
    assert works.take(PATH, 1 << 20)  # by another process


@pytest.mark.usefixtures("gate")
@pytest.mark.parametrize("gate", [(300 << 20, False)], indirect=True)
def test_where_the_system_sets_no_limit_the_process_is_watched() -> None:
    with pytest.raises(InputError, match="needs more than 300 MiB"):
        works.take(PATH, 4 << 30)


def test_one_that_waits_in_vain_ends_and_the_next_file_has_another(gate: SandboxedReader) -> None:
    process, *_ = works.process_of(PATH)
    with pytest.raises(sandbox._EndedIdleError):  # as it ends by itself where nobody asks
        gate._idle[0].read((None, {}, os._exit, {"status": sandbox._ENDED_IDLE}, False), None, None, None)
    assert not psutil.pid_exists(process)  # not even as a zombie
    assert works.process_of(PATH)[0] != process


@pytest.mark.parametrize(
    ("code", "words"),
    [(0, r"^a.parquet: crashes the process that reads files \("), (9, r"\(code 9\)")],
    ids=["abort", "exit"],
)
def test_a_reader_s_crash_is_told_in_words(caplog: pytest.LogCaptureFixture, code: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        works.end(PATH, code)
    assert works.process_of(PATH)
    logged = (log_folder() / "tiebreak.log").read_text("utf-8")
    assert "read a.parquet" in logged
    assert ("gate_works.py" in logged) == (code == 0)  # where it happened, which faulthandler says
    caplog.clear()


def test_an_end_from_outside_is_not_the_files_fault(caplog: pytest.LogCaptureFixture) -> None:
    def kill(process: int) -> None:
        psutil.Process(process).kill()

    with pytest.raises(SetupError, match=r"ended from outside \((SIGKILL|code 15)\)") as met:
        works.linger(PATH, 60, progress=kill)
    assert not isinstance(met.value, InputError | EngineBug)
    caplog.clear()


@pytest.mark.slow
@pytest.mark.usefixtures("gate")
def test_a_stop_that_comes_with_the_last_word_leaves_no_dying_reader_for_the_next_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome, kill, killed = sandbox._Reader._outcome, sandbox._Reader._kill, threading.Event()

    def told_late(reader: sandbox._Reader, asked: object, cancel: CancelToken, how: Any) -> Any:
        found = outcome(reader, asked, cancel, how)
        cancel.cancel()
        assert killed.wait(10)
        return found

    def note(reader: sandbox._Reader) -> None:
        kill(reader)
        killed.set()

    for _ in range(5):
        killed.clear()
        with monkeypatch.context() as patched:
            patched.setattr(sandbox._Reader, "_outcome", told_late)
            patched.setattr(sandbox._Reader, "_kill", note)
            works.linger(PATH, 0, cancel=CancelToken())
        assert works.process_of(PATH)[0] != os.getpid()


def test_a_stop_ends_what_does_not_listen_at_once() -> None:
    cancel = CancelToken()
    stop = threading.Timer(0.2, cancel.cancel)
    received: list[int] = []

    def hear(process: int) -> None:
        received.append(process)
        stop.start()

    with pytest.raises(Cancelled):
        works.linger(PATH, 60, cancel=cancel, progress=hear)
    stop.join()
    assert not psutil.pid_exists(received[0])


def test_two_files_are_read_at_once_and_one_process_is_kept() -> None:
    both = threading.Barrier(2, timeout=60)
    processes: list[int] = []

    def meet(process: int) -> None:
        processes.append(process)
        both.wait()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: works.linger(PATH, 0, progress=meet), range(2)))
    assert len(set(processes)) == 2
    assert works.process_of(PATH)[0] in processes
    assert sum(psutil.pid_exists(process) for process in processes) == 1


@CAN_BE_SEEN
def test_its_stack_has_a_known_size() -> None:
    assert STACK_BYTES <= works.stack(PATH) < 2 * STACK_BYTES


def test_its_stack_is_no_place_to_break_down() -> None:
    with pytest.raises(RecursionError):
        works.walk(PATH, 100_000)


PARENT = """
import sys
from pathlib import Path
from tests.gate_works import linger
linger(Path("x"), 60, progress=lambda process: print(process, flush=True))
"""


def test_it_ends_with_whoever_started_it() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        process = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    gone, _ = psutil.wait_procs([process], 20)
    assert gone


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.tsv"])
def test_nested_json_is_refused_on_a_thread_of_a_small_stack(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    header = "id\tinstruction\toutput_a\toutput_b\n"
    path.write_text(f"{header}1\t{deep}\ta\tb\n" if name == "d.tsv" else f'[{{"id": {deep}}}]\n')
    met: list[object] = []

    def load() -> None:
        try:
            met.append(load_dataset(path).ids)
        except InputError as error:
            met.append(type(error))

    before = threading.stack_size(256 << 10)
    thread = threading.Thread(target=load)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert met == ([["1"]] if name == "d.tsv" else [InputError])
