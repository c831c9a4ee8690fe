"""Where things are: the user's folders, the files of the project, this program itself; whose account it is.

Knows: environment variables and the home folder; nothing else in the engine reads them.
Does not know: what is in the folders. Nothing is created here.
"""

import getpass
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import platformdirs

FROM_SOURCE = "python main.py"
"""What the user types to start this program in a checkout."""
INSTALLED = "tiebreak"
"""The same where pip installed it."""
APART = "--apart"
"""The only argument of this program where another process of it has something done by it; for no person."""
PROGRAM_ID = "TIEBREAK_PROGRAM_ID"
"""The variable that tells a process which works for another one the id of the program."""
CHILD = "--child"
"""The first argument where another process of this program has something tried by it; for no person."""
_APP = "Tiebreak"
_OWN_HOME = "TIEBREAK_HOME"
# What a bundle sets for itself when it starts; other programs would load our libraries by it.
_BUNDLE_VARIABLES = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
# On Windows a program has either a console or none: the bundle has one of each.
_CONSOLE_TWIN = "tiebreak-cli.exe"


def data_folder() -> Path:
    """Where runs and settings are stored."""
    return _own_folder("data") or platformdirs.user_data_path(_APP, appauthor=False)


def default_store() -> Path:
    """The run store that is used where no other is named."""
    return data_folder() / "runs.sqlite"


def cache_folder() -> Path:
    """Where things are stored that can be computed again."""
    return _own_folder("cache") or platformdirs.user_cache_path(_APP, appauthor=False)


def log_folder() -> Path:
    """Where log files are written."""
    return _own_folder("logs") or platformdirs.user_log_path(_APP, appauthor=False)


def models_folder() -> Path:
    """Where the user may put model files for this program alone."""
    return _own_folder("models") or platformdirs.user_data_path(_APP, appauthor=False) / "models"


def rubrics_folder() -> Path:
    """Where the user may keep rubrics of their own; the window saves them there."""
    return data_folder() / "rubrics"


def recipes_folder() -> Path:
    """Where the window keeps the recipes that it makes."""
    return data_folder() / "recipes"


def _own_folder(name: str) -> Path | None:
    own_home = environment(_OWN_HOME)
    return Path(own_home).absolute() / name if own_home else None


def home() -> Path:
    """The user's home folder; the current folder where the system names none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path.cwd()


def text_of_path(path: Path) -> str:
    """The path as text that any file can hold: names that are not UTF-8 (on Linux) have bytes written out."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def environment(name: str) -> str | None:
    """An environment variable; None where it is unset or empty."""
    return os.environ.get(name) or None


def child_environment(**changes: str) -> dict[str, str]:
    """This process's environment with `changes`, for a child process."""
    return {**os.environ, **changes}


def program_id() -> int:
    """The process id of the program that the user started, also in a process that works for it."""
    return int(environment(PROGRAM_ID) or os.getpid())


def current_folder() -> str | None:
    """Where relative paths begin; None where that folder is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def stand_at(folder: str | None, variables: Mapping[str, str]) -> None:
    """Let this process find everything as one does with this current folder and environment."""
    if folder is not None and folder != current_folder():
        os.chdir(folder)
    if variables != os.environ:
        os.environ.clear()
        os.environ.update(variables)


def forget(name: str) -> None:
    """Take a variable out of this process's environment, also for the libraries in it."""
    os.environ.pop(name, None)


def set_variable(name: str, value: str) -> None:
    """Set a variable of this process's environment, also for the libraries in it."""
    os.environ[name] = value


def keep_caches_together() -> None:
    """Let matplotlib keep its list of fonts in our cache folder, not in a folder of its own."""
    os.environ["MPLCONFIGDIR"] = str(cache_folder() / "matplotlib")


@contextmanager
def environment_of_the_system() -> Iterator[None]:
    """While another program is started: the environment as it was before a bundle set its own libraries."""
    ours = {name: os.environ.pop(name) for name in _BUNDLE_VARIABLES if _frozen() and name in os.environ}
    before = {name: value for name in ours if (value := environment(f"{name}_ORIG"))}
    os.environ.update(before)
    try:
        yield
    finally:
        os.environ.update(ours)


def project_models_folder() -> Path:
    """The `models` folder that comes with the program, from source or inside the bundle."""
    return _program_folder() / "models"


def demo_model() -> Path:
    """The small model that comes with the program."""
    return project_models_folder() / "demo-judge.gguf"


def examples_folder() -> Path:
    """The `examples` folder that comes with the program, from source or inside the bundle."""
    return _program_folder() / "examples"


def demo_dataset() -> Path:
    """The labelled dataset that comes with the program."""
    return examples_folder() / "demo.tsv"


def third_party_licences() -> Path | None:
    """The folder with the licences of what is in the bundle; None from source: each package has its own."""
    return _program_folder() / "licences" if _frozen() else None


def program() -> str:
    """What the user types to start this program, for help and messages."""
    if _frozen():
        return _executable().stem
    return INSTALLED if is_installed() else FROM_SOURCE


def is_installed() -> bool:
    """Whether this is a copy that pip installed: the program lies in a package there."""
    return __name__.startswith(f"{INSTALLED}.")


def self_command() -> list[str]:
    """How to start this program again: the command line up to its own arguments."""
    if _frozen():
        return [str(_executable())]
    if is_installed():
        # -P: what lies in the current folder is not ours, whatever it is called.
        return [sys.executable, "-P", "-m", INSTALLED]
    return [sys.executable, str(_program_folder() / "main.py")]


def _frozen() -> bool:
    return bool(getattr(sys, "frozen", False))


def _executable() -> Path:
    """The bundle's executable that can read and print."""
    twin = Path(sys.executable).with_name(_CONSOLE_TWIN)
    return twin if twin.is_file() else Path(sys.executable)


def _program_folder() -> Path:
    # PyInstaller unpacks what it bundles into sys._MEIPASS.
    bundle: str | None = getattr(sys, "_MEIPASS", None)
    return Path(bundle) if _frozen() and bundle else Path(__file__).resolve().parents[2]


def account_name() -> str:
    """The name of the user's account on this computer."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
