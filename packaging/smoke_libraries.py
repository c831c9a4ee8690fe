"""Which libraries a bundle loads on Linux, as the dynamic linker itself tells; two steps of the trial.

Knows: the linker's words, which libraries are documented. Does not know: what else is tried.
"""

import re
import shutil
import sys
import time
from pathlib import Path

import smoke_window
from bundle_contents import GPU_FOLDER, is_for_gpus, is_of_the_system
from elf import needed_libraries
from smoke_trial import PATIENCE, Trial

_ENV = Path("/usr/bin/env")
_SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


def libraries_loaded(trial: Trial) -> str:
    """The dynamic linker itself tells what it loads, while a library like ours lies in the current folder."""
    if sys.platform != "linux":
        return "not looked at: only Linux tells"
    library = next(iter(trial.place.outside(trial.folder).rglob("libggml-cpu-x64.so")))
    shutil.copy(library, trial.written("libggml-cpu-rogue.so"))
    loaded = _loaded_by(trial, "selftest") | _loaded_by_the_window(trial)
    ours = {path for path in loaded if path.startswith(str(trial.folder))}
    for part in ("libggml-cpu-", "libQt6XcbQpa"):
        assert any(part in path for path in ours), f"{part} was not loaded from the bundle"
    foreign = _undocumented(trial, loaded - ours)
    assert not foreign, f"loaded, but neither of the bundle nor documented: {foreign}"
    return f"{len(ours)} from the bundle, {len(loaded - ours)} of the system, all documented"


def processor_alone(trial: Trial) -> str:
    """Where no GPU was chosen, nothing that is for GPUs is loaded to judge: no library of ours, no driver."""
    if sys.platform != "linux":
        return "not looked at: only Linux tells"
    loaded = _loaded_by(
        trial, "judge", "demo.tsv", "--model", "demo", "--items", "2", "--fresh", "--out", "two.tsv"
    )
    assert any("/libggml-cpu-" in path for path in loaded), f"it computes with none of {sorted(loaded)}"
    for_gpus = [path for path in loaded if f"/{GPU_FOLDER}/" in path or is_for_gpus(Path(path).name)]
    assert not for_gpus, f"loaded, though no GPU was chosen: {for_gpus}"
    ours = {path for path in loaded if path.startswith(str(trial.folder))}
    foreign = _undocumented(trial, loaded - ours)
    assert not foreign, f"loaded, but neither of the bundle nor documented: {foreign}"
    there = [path.name for path in trial.place.outside(trial.folder).rglob(f"{GPU_FOLDER}/*")]
    return f"{', '.join(there) or 'a library for GPUs'} is {'there and not loaded' if there else 'not there'}"


def _loaded_by(trial: Trial, *words: str) -> set[str]:
    """The libraries that a command loads, also in the processes that it starts."""
    child = trial.start(*_tells_what_is_loaded(trial), str(trial.program), *words, executable=_ENV)
    output, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, (output + errors).decode()
    return _told(trial)


def _loaded_by_the_window(trial: Trial) -> set[str]:
    words = (*_tells_what_is_loaded(trial), str(trial.window_program))
    with smoke_window.screen() as display:
        program = trial.start(*words, executable=_ENV, home=trial.window_home, DISPLAY=display)
        try:
            smoke_window.Window(display, program)
            time.sleep(5)  # its pages come
        finally:
            program.kill()
            program.communicate()
    return _told(trial)


def _tells_what_is_loaded(trial: Trial) -> tuple[str, ...]:
    # For `env`, as late as this: what comes before may be another user, whose list ours could not go on with.
    return "LD_DEBUG=files", f"LD_DEBUG_OUTPUT={trial.temporary / 'loaded'}"


def _told(trial: Trial) -> set[str]:
    loaded: set[str] = set()
    for path in trial.place.outside(trial.temporary).glob("loaded.*"):
        loaded |= set(re.findall(r"calling init: (\S.*)", path.read_text(encoding="utf-8", errors="replace")))
        path.unlink()
    return loaded


def _undocumented(trial: Trial, paths: set[str]) -> list[str]:
    """Of loaded libraries those that are neither documented ones of the system nor what these need."""
    system = {path for path in paths if path.startswith(_SYSTEM_FOLDERS)}
    allowed = {name for name in (Path(path).name for path in system) if is_of_the_system(name)}
    more = allowed
    while more:
        files = [Path(path) for path in system if Path(path).name in more]
        more = {name for file in files for name in needed_libraries(trial.place.outside(file))} - allowed
        allowed |= more
    return sorted(path for path in paths if path not in system or Path(path).name not in allowed)
