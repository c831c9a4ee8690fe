"""Which libraries a bundle loads on Linux, as the dynamic linker itself tells; two steps of the trial."""

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
_TWO_ITEMS = ("--items", "2", "--fresh", "--out", "two.tsv")
# llama.cpp leaves out processors that play a GPU, as Mesa's does, unless they are named. Older ones of these
# cannot compute with 16 bits.
_SOFTWARE_TOO = {
    "GGML_VK_VISIBLE_DEVICES": "0",
    "GGML_VK_DISABLE_F16": "1",
    "GGML_VK_DISABLE_COOPMAT": "1",
}
_OF_THE_C_LIBRARY = "libnss_"  # what it asks for a user's name; which ones, the system's set-up says
_SYSTEM_FOLDERS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")


def libraries_loaded(trial: Trial) -> str:
    """The dynamic linker itself tells what it loads, while a library like ours lies in the current folder.

    Where no GPU was chosen, nothing that is for GPUs is loaded: no library of ours, no driver of the system.
    """
    if sys.platform != "linux":
        return "not looked at: only Linux tells"
    library = next(iter(trial.place.outside(trial.folder).rglob("libggml-cpu-x64.so")))
    shutil.copy(library, trial.written("libggml-cpu-rogue.so"))
    loaded = _loaded_by(trial, "judge", "demo.tsv", "--model", "demo", *_TWO_ITEMS)
    loaded |= _loaded_by(
        trial, "report", "1", "--gold", "demo.tsv", "--out", "report.html", "--figures", "figures"
    )
    loaded |= _loaded_by_the_window(trial)
    ours = {path for path in loaded if path.startswith(str(trial.folder))}
    for part in ("libggml-cpu-", "libQt6XcbQpa"):
        assert any(part in path for path in ours), f"{part} was not loaded from the bundle"
    for_gpus = [path for path in loaded if _is_for_gpus(path)]
    assert not for_gpus, f"loaded, though no GPU was chosen: {for_gpus}"
    foreign = _undocumented(trial, loaded - ours)
    assert not foreign, f"loaded, but neither of the bundle nor documented: {foreign}"
    return f"{len(ours)} from the bundle, {len(loaded - ours)} of the system, all documented; none for a GPU"


def gpu_asked_for(trial: Trial) -> str:
    """Where a GPU is asked for, its library is loaded if the system has what that needs; each is tried."""
    words = ("models", "devices")
    lacks = ""
    if sys.platform == "linux":
        ours = [path.name for path in trial.place.outside(trial.folder).rglob(f"{GPU_FOLDER}/*")]
        if not ours:
            return "the bundle was made without a library for GPUs"
        loaded = [path for path in _loaded_by(trial, *words, home=trial.gpu_home) if _is_for_gpus(path)]
        if _has_vulkan(trial):
            assert any(Path(path).name in ours for path in loaded), f"of {ours} none was loaded"
        else:
            assert not loaded, f"loaded without libvulkan.so.1: {loaded}"
            lacks = "without libvulkan.so.1: "
    found = trial.run(*words, home=trial.gpu_home, variables=_SOFTWARE_TOO)
    if found.startswith("No GPU"):
        return lacks + found.partition("\n")[0]
    table = trial.run(*words, "demo", home=trial.gpu_home, variables=_SOFTWARE_TOO)
    rows, _, _ = table.partition("\n\n")
    return "; ".join(re.sub(r"\s+", " ", row) for row in rows.splitlines()[1:])


def _has_vulkan(trial: Trial) -> bool:
    folders = [trial.place.outside(Path(folder)) for folder in _SYSTEM_FOLDERS]
    return any(next(folder.rglob("libvulkan.so.1"), None) for folder in folders if folder.is_dir())


def _is_for_gpus(library: str) -> bool:
    return f"/{GPU_FOLDER}/" in library or is_for_gpus(Path(library).name)


def _loaded_by(trial: Trial, *words: str, home: Path | None = None) -> set[str]:
    """The libraries that a command loads, also in the processes that it starts."""
    command = (*_tells_what_is_loaded(trial), str(trial.program), *words)
    child = trial.start(*command, executable=_ENV, home=home)
    output, errors = child.communicate(timeout=PATIENCE)
    assert child.returncode == 0, (output + errors).decode()
    return _told(trial)


def _loaded_by_the_window(trial: Trial) -> set[str]:
    words = (*_tells_what_is_loaded(trial), str(trial.window_program))
    with smoke_window.screen() as display:
        program = trial.start(*words, executable=_ENV, home=trial.window_home, variables={"DISPLAY": display})
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
    names = {Path(path).name for path in system}
    allowed = {name for name in names if is_of_the_system(name) or name.startswith(_OF_THE_C_LIBRARY)}
    more = allowed
    while more:
        files = [Path(path) for path in system if Path(path).name in more]
        more = {name for file in files for name in needed_libraries(trial.place.outside(file))} - allowed
        allowed |= more
    return sorted(path for path in paths if path not in system or Path(path).name not in allowed)
