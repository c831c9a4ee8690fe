"""Diagnostics say what went wrong and where, and nothing that a person or a dataset said."""

import getpass
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.annotations.records import new_override
from engine.core.errors import DeviceFailed, EngineBug, InputError, SetupError
from engine.core.events import Cancelled, CancelToken, followed
from engine.data.dataset import load_dataset
from engine.operations.diagnostics import OfWindow, tell_diagnostics, unusual
from engine.settings.rows import JudgeSettings, KvType, Mode
from engine.store.run_store import RunStore
from engine.system.crash_reports import LAST_FAULT_NAME, DistantTrace, FaultWatch, last_fault, log_fault
from engine.system.paths import default_store, home, log_folder
from tests.commands import run, run_here
from tests.judged import SURE_A, B, stored_run

SECRET = "Grandma"
"""A part of all that nobody must find in the diagnostics."""
MESSAGE = (
    f"{SECRET} asked\nTraceback (most recent call last):\n"
    f'  File "/home/{SECRET}/{SECRET}.tsv", line 3, in {SECRET}\n'
    f"{SECRET}Error: {SECRET}\nTiebreak {SECRET}, {SECRET}"
)


def told(store: Path | None = None, window: OfWindow | None = None) -> str:
    return followed(tell_diagnostics(CancelToken(), store, window))


Issue = Callable[..., None]


@pytest.fixture
def fault(caplog: pytest.LogCaptureFixture) -> Issue:
    """Logs an error that was raised, as faults are."""

    def log(error: BaseException, doing: str = "in the window") -> None:
        try:
            raise error
        except BaseException as raised:
            log_fault(raised, doing)
        caplog.clear()

    return log


def chained() -> BaseException:
    try:
        raise KeyError(SECRET)
    except KeyError as cause:
        error = ValueError(MESSAGE)
        error.__cause__ = cause
        error.add_note(SECRET)
        return error


def distant() -> BaseException:
    error = RuntimeError(SECRET)
    error.__cause__ = DistantTrace.of(chained())
    return error


class OfATest(Exception):
    """Its name is one that neither the program nor a library has."""

    __qualname__ = SECRET


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: ValueError(MESSAGE), "ValueError"),
        (lambda: EngineBug(MESSAGE), "engine.core.errors.EngineBug"),
        (lambda: SetupError(MESSAGE, MESSAGE), "engine.core.errors.SetupError"),
        (lambda: InputError(Path(f"{SECRET}.tsv"), [MESSAGE], ""), "engine.core.errors.InputError"),
        (lambda: DeviceFailed(SECRET, MESSAGE), "engine.core.errors.DeviceFailed"),
        (lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET), "UnicodeDecodeError"),
        (lambda: FileNotFoundError(2, SECRET, f"/home/{SECRET}/x.tsv"), "FileNotFoundError"),
        (lambda: ExceptionGroup(SECRET, [ValueError(MESSAGE)]), None),
        (chained, "ValueError"),
        (distant, "RuntimeError"),
        (lambda: OfATest(MESSAGE), "an error of another kind"),
    ],
)
def test_a_fault_is_told_by_its_kind_and_place_alone(
    fault: Issue, make: Callable[[], BaseException], kind: str
) -> None:
    fault(make(), str(["main.py", "judge", f"{SECRET}.tsv"]))
    text = told()
    assert SECRET.casefold() not in text.casefold()
    assert "a command" in text
    if kind:
        assert f"  {kind}\n" in f"{text}\n"


@pytest.mark.parametrize(
    "planted",
    [
        f"Tiebreak 1.0, self-test, {SECRET.lower()} is ill",
        "2026-01-01\nTiebreak 1.0, in the window\nFatal Python error: Aborted",
        '  File "/home/x/engine/core/errors.py", line 3, in grandma\nValueError',
        'Fatal Python error: Aborted\n  File "/home/x/engine/core/errors.py", line 3 in grandma',
        f"Tiebreak 1.0, a job of the lane {SECRET}",
        f'  File "/home/x/engine/{SECRET}.py", line 3, in f\nValueError',
        f'  File "/home/x/scipy/{SECRET}/run.py", line 3, in f\nValueError',
        f'  File "/home/x/engine/core/errors.py", line 3, in f\nengine.core.errors.{SECRET}',
        f'  File "/home/x/engine/core/errors.py", line 3, in f\nnumpy.{SECRET}: x',
    ],
)
def test_what_an_error_says_changes_nothing_of_what_is_told(fault: Issue, planted: str) -> None:
    fault(ValueError("x"))
    told_without = last_fault()
    fault(ValueError(f"x\n{planted}"))
    assert last_fault() == told_without


def test_a_function_that_is_named_otherwise_is_not_told(fault: Issue) -> None:
    code = compile("raise ZeroDivisionError", log_fault.__code__.co_filename, "exec")
    with pytest.raises(ZeroDivisionError) as met:
        exec(code.replace(co_name=f"{SECRET} asked"))
    fault(met.value)
    assert SECRET not in "\n".join(last_fault())


def test_what_led_to_a_fault_in_another_process_is_told_too(fault: Issue) -> None:
    try:
        JudgeSettings(temperature=-1.0)
    except SetupError as met:
        error = EngineBug("x")
        error.__cause__ = pickle.loads(pickle.dumps(DistantTrace.of(met)))
    fault(error)
    lines = last_fault()
    assert any(line.startswith("  engine/settings/rows.py:") for line in lines)
    assert "engine.core.errors.SetupError" in lines
    assert lines[-1] == "engine.core.errors.EngineBug"


def test_an_older_fault_is_not_told_for_one_that_could_not_be_kept(
    fault: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(ValueError("first"))

    def full(*_args: object) -> None:
        raise SetupError("The disk is full.", "Make room.")

    monkeypatch.setattr("engine.system.crash_reports.write_whole", full)
    fault(KeyError("second"))
    assert last_fault() == []
    assert not (log_folder() / LAST_FAULT_NAME).exists()


def test_the_newest_fault_is_told_with_the_places_in_the_program(fault: Issue) -> None:
    fault(ValueError("first"))
    try:
        JudgeSettings(temperature=-1.0)
    except SetupError as error:
        fault(error, "a job of the lane files")
    lines = last_fault()
    assert lines[0].endswith(", a job of the lane files")
    assert any(line.startswith("  engine/settings/rows.py:") for line in lines)
    assert lines[-1] == "engine.core.errors.SetupError"
    assert not any("ValueError" in line or "-1" in line for line in lines)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Fatal Python error: Segmentation fault", "Segmentation fault"),
        ("Windows fatal exception: access violation", "access violation"),
    ],
)
def test_a_fault_that_ended_a_window_is_told(said: str, told: str, caplog: pytest.LogCaptureFixture) -> None:
    log_folder().mkdir(parents=True)
    (log_folder() / "window-999999999.fault").write_text(
        f"{said}\n\nThread 0x1 (most recent call first):\n"
        f'  File "{Path(__file__).parents[2] / "gui" / "app.py"}", line 5 in open_window\n'
        f'  File "/home/{SECRET}/{SECRET}.py", line 1 in x\n'
    )
    FaultWatch().end()
    caplog.clear()
    assert last_fault()[1:] == [told, "  gui/app.py:5", "  elsewhere"]


def test_nothing_of_a_study_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither names of files, people, models and criteria, nor texts, nor the account."""
    monkeypatch.setattr(getpass, "getuser", lambda: SECRET)
    folder = tmp_path / SECRET
    folder.mkdir()
    path = folder / f"{SECRET}.tsv"
    row = "\t".join([SECRET] * 4)
    path.write_text(f"id\tinstruction\toutput_a\toutput_b\tsafety_preference\n{row}\tA\n")
    named: dict[str, Any] = {
        "dataset_path": path,
        "model_path": folder / f"{SECRET}.gguf",
        "model_name": SECRET,
    }
    stored_run(folder, load_dataset(path), {"safety": [SURE_A]}, {"safety": SECRET}, **named)
    with RunStore(folder / "runs.sqlite") as store:
        store.name(1, SECRET)
        store.note_run(1, SECRET)
        store.annotate(1, new_override(SECRET, "safety", preference=B, explanation=SECRET, author=SECRET))
    text = told(folder / "runs.sqlite", OfWindow([("screen", "1280 x 720")], [("theme", "dark")]))
    assert SECRET.casefold() not in text.casefold()
    assert str(home()) not in text
    assert "screen: 1280 x 720" in text
    assert "theme: dark" in text


def test_what_is_unusual_of_a_run_is_told_in_our_words_alone() -> None:
    settings = JudgeSettings(mode=Mode.LABELS, kv_type=KvType.Q8_0, items_at_once=1).as_json()
    found = dict(unusual({**settings, "max_explanation_tokens": SECRET, "device": SECRET, SECRET: 1}))
    assert found["kv_type"] == "q8_0"
    assert SECRET not in str(found)
    as_stored = json.loads(json.dumps(JudgeSettings(mode=Mode.LABELS).as_json()))
    assert dict(unusual(as_stored)) == {"mode": "labels"}
    assert dict(unusual({**as_stored, "orders": [{SECRET: 1}]}))["orders"] == "set"


def test_what_came_out_for_a_model_is_told_as_a_fact(tmp_path: Path, demo_gold: Path) -> None:
    settings = JudgeSettings(context=5120, items_at_once=3)
    assert not dict(unusual(json.loads(json.dumps(settings.as_json()))))
    stored = {**settings.as_json(), "examples": ""}
    stored_run(tmp_path, load_dataset(demo_gold).head(1), {"safety": [SURE_A]}, settings=stored)
    lines = told(tmp_path / "runs.sqlite").splitlines()
    assert {"  context, as it ran: 5120", "  items_at_once, as it ran: 3"} <= set(lines)


def test_a_store_that_cannot_be_read_hides_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").write_text("no store")
    text = told(tmp_path / "runs.sqlite")
    assert "not available: StoreError" in text
    assert text.endswith("Last bug\n  none")


def test_the_command_prints_the_same(fault: Issue) -> None:
    fault(ValueError(MESSAGE))
    done = run_here("selftest", "--diagnostics")
    assert (done.returncode, done.stderr) == (0, "")
    assert not default_store().exists()

    def without_memory(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("  memory: ")]

    assert without_memory(done.stdout) == without_memory(told())


def test_without_llama_cpp_all_else_is_told_and_the_kind_of_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    done = run("selftest", "--diagnostics")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for name in ("llama.cpp", "processor", "GPU"):
        assert f"  {name}: llama.cpp cannot be loaded: FileNotFoundError" in lines
    for name in ("SQLite", "packages", "memory", "program"):
        assert any(line.startswith(f"  {name}: ") for line in lines)
    assert "cannot be said" not in done.stdout
    assert str(tmp_path) not in done.stdout


def test_a_stop_is_obeyed() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        followed(tell_diagnostics(cancel))
