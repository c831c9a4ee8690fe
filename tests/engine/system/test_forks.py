"""A process that is forked from this one: it shares no reader, no store, no model, and takes nothing away."""

import ast
import faulthandler
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from weakref import finalize

import psutil
import pytest
from filelock import Timeout

import tiebreak
from engine.core.errors import EngineBug, SetupError, StoreError
from engine.core.events import CancelToken
from engine.llama.context import SessionShape
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.store import opening
from engine.store.opening import copy_of
from engine.store.run_store import RunStore
from engine.system.computer import _Program
from engine.system.files import Claim, OwnLock, keep_to_this_process, left_by_the_dead
from engine.system.paths import demo_model
from engine.system.sandbox import the_gate
from tests import gate_works as works
from tests.judged import IDENTITY
from tests.test_layout import sources, syntax

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked on this system")
PATH = Path("a.tsv")


SECONDS = 120  # in which all that a child does is done, on a busy computer
session_of = partial(LlamaSession, shape=SessionShape(512, 1, 1), threads=2, cancel=CancelToken())


def forked(do: Callable[[], object]) -> str:
    """What a child said that was forked, did this and ended as a program does, with the program's exit
    handlers; those of Qt, which other tests load, wait for threads that a child has not.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        os.close(reading)
        try:
            said = f"{do()}"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        the_gate.close()  # sys.exit would go on with pytest
        opening.delete_kept()
        finalize._exitfunc()  # type: ignore[attr-defined]
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as file:
        said = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


def first_id(path: Path) -> str:
    """As a notebook's pool reads."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    found = str(tiebreak.read(path)["id"][0])
    faulthandler.cancel_dump_traceback_later()
    return found


@pytest.mark.slow
def test_children_read_each_its_own_file_and_none_waits_for_ever(tmp_path: Path) -> None:
    header = "id\tinstruction\toutput_a\toutput_b\n"
    paths = [tmp_path / f"{number}.tsv" for number in range(48)]
    for path in paths:
        path.write_text(f"{header}{path.stem}\tq\ta\tb\n")
    assert first_id(paths[0]) == "0"
    with get_context("fork").Pool(4) as pool:
        found = pool.map_async(first_id, paths, chunksize=1).get(SECONDS)
    assert found == [path.stem for path in paths]
    assert first_id(paths[1]) == "1"


def test_the_end_of_a_child_leaves_the_reader_of_its_parent_and_locks_are_free_there() -> None:
    reader, *_ = works.process_of(PATH)
    assert forked(lambda: works.process_of(PATH)[0] != reader) == "True"
    assert forked(lambda: "reads nothing") == "reads nothing"
    assert works.process_of(PATH)[0] == reader
    lock = OwnLock()
    with lock:  # one that another thread held is free
        assert forked(lock.__enter__) == "None"


def test_a_child_has_no_pipe_to_what_its_parent_started() -> None:
    command = [sys.executable, "-c", "input()"]
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    keep_to_this_process(child)
    reading, writing = os.pipe()
    fork = os.fork()
    if fork == 0:
        os.close(writing)
        os.read(reading, 1)  # until its parent lets it go
        os._exit(0)
    with child:
        pass  # our end is closed, and so it ends, though the fork lives
    assert psutil.pid_exists(fork)
    os.close(reading)
    os.close(writing)
    os.waitpid(fork, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the program of Linux")
def test_what_keeps_the_computer_awake_stays_with_the_parent() -> None:
    program = _Program(["cat"])
    assert forked(program.release) == "None"
    assert program.active
    program.release()


def test_a_claim_is_no_claim_of_a_child_and_outlives_it(tmp_path: Path) -> None:
    claim = Claim(tmp_path / "said")
    claim.path.touch()

    def take() -> object:
        claim.remove()  # as what the child clears away
        return [each.path for each in left_by_the_dead(tmp_path, "", "said")] or Claim(claim.path)

    assert forked(take).startswith(Timeout.__name__)
    assert claim.path.exists()
    claim.close()
    assert forked(partial(Claim, claim.path)).startswith("<")


def test_a_copy_of_a_store_is_not_deleted_with_a_child_nor_read_by_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(b"x")
    os.utime(path, (1, 1))
    lent = copy_of(path, "is read").path
    assert lent.exists()

    def lend() -> str:
        other = copy_of(path, "is read").path
        return f"{other != lent}, {other.exists()}"

    assert forked(lend) == "True, False"
    assert forked(opening.delete_kept) == "None"
    assert lent.exists()
    opening.delete_kept()
    assert not lent.exists()


def test_a_store_that_was_open_is_refused_in_a_child_and_goes_on_in_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    with RunStore(path) as store, store.begin(IDENTITY) as run:

        def use() -> int:
            with pytest.raises(StoreError, match="forked"):
                store.runs()
            store.close()
            with RunStore(path) as own:
                return len(own.runs())

        assert forked(use) == "1"
        assert forked(lambda: RunStore(path).hold(run.id).__enter__()).startswith("RunBusyError")
        store.describe(run.id, {"a": 1})


def test_what_is_done_at_the_end_is_tried_here() -> None:
    registers = {path.name for path in sources("engine", "gui") if "atexit.reg" in ast.unparse(syntax(path))}
    assert registers == {"sandbox.py", "drawing.py"}  # drawing on Windows alone, where nothing forks


def test_no_module_has_a_lock_that_a_fork_could_find_locked() -> None:
    made = [
        str(path)
        for path in sources("engine", "gui")
        for node in syntax(path).body
        if isinstance(node, ast.Assign) and re.search(r"\b(R?Lock|Condition|Semaphore)\(", ast.unparse(node))
    ]
    assert made == ["engine/annotations/records.py"]  # which is at no moment forked while it is locked


@pytest.mark.slow
def test_a_model_at_work_is_not_shared_and_llama_cpp_does_not_hang() -> None:
    with LlamaModel(demo_model()) as model, session_of(model) as session:
        session.hold_stem(range(10, 20))
        assert forked(lambda: session.hold_stem(range(10, 30))).startswith(EngineBug.__name__)
        assert "spawn" in forked(lambda: session_of(model))
        assert forked(lambda: session_of(model)).startswith(SetupError.__name__)
        assert forked(session.close) == "None"
        session.hold_stem(range(10, 40))
