"""A self-test: whether each part of the program works on this computer, tried for real, one after the other.
Does not know: who reads it.
"""

import platform
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import psutil

from engine.core import VERSION
from engine.core.errors import Hint, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.formatting import amount, listed
from engine.core.items import Order
from engine.core.judgments import JudgedItem, Judgment, RawPrediction
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.llama import check_library
from engine.metrics.accuracy import run_accuracy
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.results.run_results import load_results
from engine.settings.identity import RunIdentity
from engine.settings.rows import JudgeSettings, Mode
from engine.store.opening import SQLITE
from engine.store.run_store import RunStore
from engine.system.computer import available_memory, default_threads
from engine.system.crash_reports import fault_words, log_fault
from engine.system.files import make_folder, write_whole
from engine.system.paths import cache_folder, data_folder, demo_dataset, demo_model, log_folder, self_command
from engine.system.subprocess_worker import run_child

_PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "sklearn", "matplotlib", "jinja2", "psutil")
_ITEMS = 2
_CONTEXT = 4096
_LEAST_RIGHT = 0.7  # of the labels: the demo model was made for these items
_LEAST_ANSWER_MASS = 0.9
_TRIAL_SECONDS = 120
_SET_UP_AGAIN = "Set Tiebreak up again."


@dataclass(frozen=True)
class Check:
    """One thing that was tried. `found`: what came out; `hint`: the next step where it did not pass."""

    name: str
    passed: bool
    found: str
    hint: Hint | None = None


def self_test(cancel: CancelToken) -> Generator[Check, None, None]:
    """Try everything, each check when it is asked for. Raises Cancelled. What is written is gone at the end,
    but for the program's own folders, in the cache that the demo model was tried, and the log of a bug.
    """
    for name, look in _checks(cancel):
        cancel.raise_if_requested()
        yield _tried(name, look)


def internet_check(name: str) -> Check:
    """Whether this process has an internet socket, where another one does the self-test."""
    return _tried(name, _internet)


def _checks(cancel: CancelToken) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("versions", _versions),
        ("data folder", partial(_write_and_read, data_folder)),
        ("cache folder", partial(_write_and_read, cache_folder)),
        ("log folder", partial(_write_and_read, log_folder)),
        ("run store", _store),
        ("memory", _memory),
        ("llama.cpp", partial(_once_loaded, _library)),
        ("processor", partial(_once_loaded, _processor)),
        ("GPU", partial(_once_loaded, partial(_gpu, cancel))),
        ("demo model", _demo_model),
        ("trial in a child process", partial(_once_loaded, partial(_trial, cancel))),
        ("judging", partial(_once_loaded, partial(_judging, cancel))),
        # After all others, so that what they might have opened is seen.
        ("internet", _internet),
    ]


def _tried(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except Cancelled:
        raise
    except SetupError as error:
        return Check(name, False, error.problem, error.hint)
    except OSError as error:
        hint = Hint("Check that the folder exists and has free space.")
        return Check(name, False, f"The system reported: {error}", hint)
    except Exception as error:  # whatever it is, the other checks shall be made
        path = log_fault(error, f"self-test, {name}")
        hint = Hint(f"This is a bug in Tiebreak; details: {path}")
        return Check(name, False, fault_words(error), hint)


def _versions() -> str:
    packages = []
    for name in _PACKAGES:
        try:
            packages.append(f"{name} {import_module(name).__version__}")
        except ImportError as error:
            raise SetupError(f"The package {name} cannot be loaded: {error}.", _SET_UP_AGAIN) from error
    python = f"Python {platform.python_version()} on {platform.platform()}"
    return "; ".join([f"Tiebreak {VERSION}", python, SQLITE, ", ".join(packages)])


def _write_and_read(which: Callable[[], Path]) -> str:
    written = b"written by the self-test"
    with _temporary_folder(which()) as folder:
        write_whole(folder / "test", written)
        if (folder / "test").read_bytes() != written:
            raise SetupError(f"{which()} does not return what is written there.", "Check the disk.")
    return str(which())


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    """A folder inside one that is made where it is missing; gone at the end, with all that is in it."""
    make_folder(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix="selftest-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _store() -> str:
    settings = {**JudgeSettings(mode=Mode.LABELS).as_json(), "examples": ""}
    identity = RunIdentity("test", Path("x"), "x", 1, Path("x"), "x", "x", "x", ELOQUENT.names, settings)
    log_probs = (-1.0, -2.0, -3.0, -4.0)
    item = JudgedItem(0, "é", "x", {name: (RawPrediction(Order.AB, log_probs),) for name in ELOQUENT.names})
    with _temporary_folder(data_folder()) as folder:
        with RunStore(folder / "runs.sqlite") as store, store.begin(identity) as run:
            store.add(run.id, [item])
        with RunStore(folder / "runs.sqlite") as store:
            kept = list(store.judged(run.id))
    if kept != [item]:
        raise SetupError("A run store does not return what was stored.", "Check the disk.")
    return "a new one was written, closed, opened again and read"


def _memory() -> str:
    memory = available_memory()
    warning = check_memory(read_model_file(demo_model()), _CONTEXT, memory)
    return warning or (memory.in_words if memory else "free space unknown")


def _once_loaded(look: Callable[[], str]) -> str:
    check_library()
    return look()


def _library() -> str:
    from engine.llama.library import library_version  # noqa: PLC0415 - only where llama.cpp can be loaded

    return library_version()


def _processor() -> str:
    from engine.llama.library import processor_features  # noqa: PLC0415 - as above

    found = processor_features() or "llama.cpp names no features"
    return f"{default_threads()} physical cores; {found}"


def _gpu(cancel: CancelToken) -> str:
    from engine.models.devices import found_devices  # noqa: PLC0415 - as above

    found = [each.title for each in found_devices(cancel)]
    return listed(found) if found else "llama.cpp finds none: the processor does all computation"


def _demo_model() -> str:
    model = read_model_file(demo_model())
    return f"{model.name}, {model.quantisation}, {amount(model.size_bytes)}, {model.path}"


def _trial(cancel: CancelToken) -> str:
    """Always in a child, also where the file was found good before: a child must be able to start."""
    from engine.models.checked_model import TRIAL_COMMAND  # noqa: PLC0415 - as above

    command = [*self_command(), *TRIAL_COMMAND, str(demo_model())]
    try:
        code, printed = run_child(command, cancel, messages=True, seconds=_TRIAL_SECONDS)
    except TimeoutError as error:
        raise SetupError(
            f"The trial of the demo model did not end in {_TRIAL_SECONDS} seconds.",
            "Close programs that keep the computer busy, then try again.",
        ) from error
    if code != 0:
        output = printed.decode("utf-8", "replace").strip()
        raise SetupError(
            f"The trial of the demo model ended with exit code {code}: {output or 'no output'}.",
            _SET_UP_AGAIN,
        )
    return "the program started itself, loaded the demo model, read and generated text"


def _judging(cancel: CancelToken) -> str:
    from engine.judging.plan import RunPlan, open_model  # noqa: PLC0415 - as above
    from engine.judging.run import run_judging  # noqa: PLC0415
    from engine.models.checked_model import checked_model  # noqa: PLC0415
    from engine.models.opening import machine_settings  # noqa: PLC0415

    dataset = load_dataset(demo_dataset(), cancel=cancel).head(_ITEMS)
    plan = RunPlan(
        dataset=dataset,
        rubric=ELOQUENT,
        settings=JudgeSettings(context=_CONTEXT, max_explanation_tokens=24),
        machine=machine_settings(threads=1),
        model=checked_model(read_model_file(demo_model()), cancel),
    )
    with _temporary_folder(data_folder()) as folder, RunStore(folder / "runs.sqlite") as store:
        for _event in run_judging(plan, store, lambda: open_model(plan, cancel)):
            pass
        cancel.raise_if_requested()
        results = load_results(store, 1)
        judgments = [judgment for column in results.judgments.values() for judgment in column]
        scored = [judgment for judgment in judgments if isinstance(judgment, Judgment)]
        accuracies = run_accuracy(results, dataset).values()
        right = sum(accuracy.items * accuracy.share for accuracy in accuracies) / max(1, len(judgments))
        found = (
            f"{len(scored)} of {len(dataset) * len(ELOQUENT.names)} judgments made, {100 * right:.0f} % agree"
            f" with the human label, {sum(judgment.explanation is not None for judgment in scored)} explained"
        )
        clear = [
            each for each in scored if each.explanation and (each.answer_mass or 0) >= _LEAST_ANSWER_MASS
        ]
        if len(clear) < len(judgments) or len(results.judged) < len(dataset) or right < _LEAST_RIGHT:
            raise SetupError(
                f"{found}: the demo model gives different results here than where it was built.",
                f"{_SET_UP_AGAIN} If that does not help, report it with this list.",
            )
        return found


def _internet() -> str:
    open_now = psutil.Process().net_connections(kind="inet")
    if open_now:
        where = ", ".join(f"{connection.laddr} {connection.status}" for connection in open_now)
        raise SetupError(
            f"This process has internet sockets that are bound or connected: {where}.",
            "Tiebreak opens none: find out which program or extension loads itself into it.",
        )
    return "after all of the above, this process has no bound or connected internet socket"
