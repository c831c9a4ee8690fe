"""What whoever fixes the program asks first: versions, computer, settings, the last fault, as one text.

It is made to be published: no text of a dataset or a model's answer is in it, no name of the user, a dataset
or a model file. What could hold one, such as the words of an error, is omitted rather than cleaned.
"""

import json
import os
import platform
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine.core import VERSION
from engine.core.errors import EngineError, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.items import Method, Order
from engine.llama import check_library
from engine.settings.rows import SETTINGS, ExampleKind, JudgeSettings, KvType, Mode
from engine.store.opening import SQLITE
from engine.store.run_store import RunStore
from engine.system import paths
from engine.system.computer import available_memory, default_threads
from engine.system.crash_reports import last_fault

_PACKAGES = (
    *("PySide6-Essentials", "llama-cpp-python", "numpy", "pandas", "pyarrow", "scipy", "scikit-learn"),
    *("matplotlib", "Jinja2", "psutil", "distributed"),
)
_WORDS = frozenset(str(word) for kind in (Mode, KvType, ExampleKind, Method, Order) for word in kind)
_KEPT_QUIET = "set"
_RESOLVED = ("context", "items_at_once")  # stored as they came out for a model: neither has a default value
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class OfWindow:
    """What a window alone knows. `screen`: facts; `settings`: those that are not the default."""

    screen: Pairs = ()
    settings: Pairs = ()


def tell_diagnostics(
    cancel: CancelToken, store: Path | None = None, window: OfWindow | None = None
) -> Generator[None, None, str]:
    """The text, once all is asked, also of another process; a part that cannot be had says so. Raises
    Cancelled. `store`: of which the newest run is asked for its settings; `window`: of the one that asks, if
    any.
    """
    parts: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
        "Versions": _versions,
        "Computer": partial(_computer, cancel, window),
        "Settings of the window that differ from the default": partial(_of_window, window),
        "Settings of the newest run that differ from the default": partial(
            _of_run, store or paths.default_store()
        ),
        "Last bug": lambda: (("", line) for line in last_fault() or ["none"]),
    }
    lines = ["Tiebreak, diagnostics"]
    for title, look in parts.items():
        yield
        cancel.raise_if_requested()
        lines += ["", title]
        lines += [f"  {name}: {value}" if name else f"  {value}" for name, value in _looked(look)]
    return "\n".join(lines)


def _looked(look: Callable[[], Iterator[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    try:
        yield from look()
    except Cancelled:
        raise
    except Exception as error:  # what is broken is what they are asked for; its words may hold paths
        yield "", f"not available: {type(error).__name__}"


def _versions() -> Iterator[tuple[str, str]]:
    kind = (
        "bundle"
        if getattr(sys, "frozen", False)
        else "installed by pip"
        if paths.is_installed()
        else "source"
    )
    yield "Tiebreak", f"{VERSION} ({kind})"
    yield "Python", f"{platform.python_version()} {platform.python_implementation()}"
    yield "llama.cpp", _if_loadable(_library)
    yield "SQLite", SQLITE.removeprefix("SQLite ")
    yield "packages", ", ".join(map(_with_version, _PACKAGES))


def _with_version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (not recorded)"


def _computer(cancel: CancelToken, window: OfWindow | None) -> Iterator[tuple[str, str]]:
    memory = available_memory()
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}"
    yield "processor", _if_loadable(_processor)
    yield "cores", f"{default_threads()} physical, {os.cpu_count() or 0} in all"
    yield "memory", memory.in_words if memory else "not known"
    yield "GPU", _if_loadable(lambda: _gpu(cancel))
    yield from window.screen if window else ()
    for name, folder in (
        ("data", paths.data_folder()),
        ("cache", paths.cache_folder()),
        ("logs", paths.log_folder()),
    ):
        yield f"folder of {name}", _folder(folder)
    yield "program", _folder(Path(paths.self_command()[-1]).parent)


def _if_loadable(look: Callable[[], str]) -> str:
    try:
        check_library()
    except SetupError as error:
        return f"llama.cpp cannot be loaded: {type(error.__cause__).__name__}"
    return look()


def _library() -> str:
    from engine.llama.library import library_version  # noqa: PLC0415 - only where llama.cpp can be loaded

    return library_version().removeprefix("llama.cpp ")


def _processor() -> str:
    from engine.llama.library import processor_features  # noqa: PLC0415 - as above

    return processor_features() or "llama.cpp names no features"


def _gpu(cancel: CancelToken) -> str:
    from engine.models.devices import found_devices  # noqa: PLC0415 - as above

    try:
        found = found_devices(cancel)
    except EngineError as error:
        return f"the search for one crashed: {type(error).__name__}"
    told = [f"{each.title} ({each.backend}, driver {each.driver or '-'})" for each in found]
    return "; ".join(told) or "none that llama.cpp knows"


def _folder(path: Path) -> str:
    """Where a folder is, if that is below the user's own, and on what kind of disk."""
    disk = paths.network_file_system(path)
    where = "below ~" if path.is_relative_to(paths.home()) and path != paths.home() else "elsewhere"
    there = "" if path.exists() else ", does not exist yet"
    return f"{where}, on {f'a network ({disk})' if disk else 'a disk of this computer'}{there}"


def _of_window(window: OfWindow | None) -> Iterator[tuple[str, str]]:
    if window is None:
        yield "", "not included: the window's menu Help copies them as well"
    elif not window.settings:
        yield "", "none"
    else:
        yield from window.settings


def _of_run(store: Path) -> Iterator[tuple[str, str]]:
    if not store.exists():
        yield "", "no run store yet"
        return
    with RunStore(store) as opened:
        runs = [run for run in opened.runs() if run.by_a_model]
    if not runs:
        yield "", "no run of a model yet"
        return
    settings = runs[-1].identity.settings
    yield from list(unusual(settings)) or [("", "none")]
    yield from ((f"{name}, as it ran", _plain(settings[name])) for name in _RESOLVED if name in settings)


def unusual(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The settings of a run that are not the default; of a text that is none of our words, that it is set."""
    mode = settings.get("mode")
    if mode not in list(Mode):
        return
    default = json.loads(json.dumps(JudgeSettings(mode=Mode(mode)).as_json()))  # as the store gives them
    default["mode"] = JudgeSettings().mode
    for row in (row for row in SETTINGS if row.key in settings and row.key not in _RESOLVED):
        value = settings[row.key]
        if row.key not in default or value != default[row.key]:
            yield row.key, _plain(value)


def _plain(value: object) -> str:
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) and each in _WORDS for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) and value in _WORDS else _KEPT_QUIET
