"""The layout of the code: what a package may import, where foreign libraries are used, how large things are.

One walk over the sources reads every import, also those inside functions and those for types alone. Sizes are
guidance: `python -m tests.test_layout` prints them, with the modules that one neighbour alone imports.
"""

import argparse
import ast
import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path, PurePosixPath

import pytest

from main import COMMANDS, parser_of

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT: Mapping[str, frozenset[str]] = {
    package: frozenset(allowed.split())
    for package, allowed in {
        "engine.core": "",
        "engine.settings": "core",
        "engine.system": "core",
        "engine.annotations": "core settings",
        "engine.llama": "core settings system",
        "engine.data": "core settings system annotations",
        "engine.prompt": "core settings llama",
        "engine.store": "core settings system annotations",
        "engine.models": "core settings system llama prompt",
        "engine.results": "core settings system annotations data store",
        "engine.judging": "core settings system data llama prompt store models results",
        "engine.cluster": "core settings system llama prompt store models results judging",
        "engine.metrics": "core settings annotations data llama prompt store models results",
        "engine.calibration": "core settings system annotations data store results metrics",
        "engine.ranking": "core settings system annotations data models results metrics",
        "engine.analysis": "core settings system annotations data store results judging metrics calibration"
        " ranking",
        "engine.report": "core settings annotations data models results metrics calibration ranking analysis",
        "engine.operations": "core settings system annotations data llama prompt store models results judging"
        " metrics calibration ranking analysis report",
        "engine.api": "core settings system annotations data store results judging metrics calibration"
        " ranking analysis report operations",
        "gui.widgets": "",
        "gui.workspace": "widgets",
        "gui.dataset": "widgets workspace",
        "gui.models": "widgets workspace",
        "gui.judge": "widgets workspace models",
        "gui.results": "widgets workspace",
        "gui.review": "widgets workspace",
        "gui.compare": "widgets workspace results",
        "gui.runs": "widgets workspace judge",
        "gui.window": "widgets workspace dataset judge results review compare runs",
    }.items()
}
"""For each package, from the lowest up, the packages beside it that it may import; none above, none else."""

NOTEBOOKS = "engine.api"
"""What `tiebreak.py` offers to notebooks: nothing else imports it."""
ENGINE = tuple(name for name in MAY_IMPORT if name.startswith("engine") and name != NOTEBOOKS)

ENGINE_FOR_THE_WINDOW = ("engine.core", "engine.settings", "engine.annotations", "engine.system")
"""What the window may import of the engine before a job begins: it is light."""

_OF_DASK = " ".join(
    f"engine/cluster/{name}.py" for name in ("connection", "dask_setup", "service", "worker_plugin")
)
LIBRARIES = {
    "PySide6": "gui packaging/icons.py packaging/screenshots.py"
    " packaging/film.py packaging/stage.py packaging/walk.py",
    "PySide6.QtCore.QThread": "gui/workspace/threads.py",
    "PySide6.QtCore.QThreadPool": "gui/workspace/threads.py",
    "asyncio": "engine/cluster",
    "concurrent": "",
    "cryptography": "engine/cluster/certificates.py",
    "dask": "engine/cluster/dask_setup.py",
    "distributed": _OF_DASK,
    "gguf": "engine/models/encoder_file.py models/demo",
    "jinja2.sandbox": "engine/prompt/rendering.py",
    "llama_cpp": "engine/llama models/demo/check_export.py models/smollm2.py",
    "matplotlib": "engine/report",
    "msgspec": "engine gui",
    "multiprocessing": "",
    "pandas": "engine/data/submission.py engine/api models/demo",
    "psutil": "engine/system/computer.py engine/operations/self_test.py",
    "scipy": "engine/core/numeric.py engine/metrics engine/calibration engine/ranking",
    # Likeness by words is for labelled examples: only runs that choose the nearest load its module.
    "sklearn": "engine/metrics engine/calibration engine/ranking engine/prompt/examples.py",
    "sqlite3": "engine/store engine/models",
    "subprocess": "engine/system packaging",
    "threading": "engine gui/workspace/threads.py",
    "tomlkit": "engine/data/rubrics",
    "tomllib": "engine/analysis/perturbations.py engine/data/rubrics engine/data/catalogue.py",
    "tqdm": "engine/cli engine/operations/progress_bar.py",
}
"""Libraries, and the only files and folders that import them."""

FOR_TYPES = {"matplotlib": "gui/results/export_jobs.py gui/compare/compare_jobs.py"}
"""Libraries, and further files that import them for types alone."""

NETWORK = ("PySide6.QtNetwork", "ftplib", "http", "requests", "socket", "ssl", "urllib")
"""How the names of modules begin that know the network: httpx, socketserver and urllib3 among them."""

MAY_WRITE: Mapping[str, str] = {
    "engine/models/encoder_file.py: GGUFWriter": "into the gate's file, by its name",
    "engine/report/drawing.py: savefig": "into memory",
    "engine/store/opening.py: copyfile": "into a folder made for it that nobody else may read",
    "engine/store/opening.py: FileLock": "locks of runs, beside the store",
    "engine/store/opening.py: open": "room for a full disk, beside the store; nothing that is there",
    "engine/system/crash_reports.py: RotatingFileHandler": "logging adds to the one log in our own folder",
    "engine/system/write_ahead_log.py: open": "a file of its own that grows; it takes nothing that is there",
    "engine/system/write_ahead_log.py: replace": "the same, once it is damaged",
    "gui/workspace/state.py: QSettings": "Qt writes settings to our own folder, each time a new file",
    "models/demo/export.py: GGUFWriter": "the demo model, by whoever trains it",
    "models/demo/trainer.py: replace": "the same",
    "models/smollm2.py: open": "into the gate's file, to hear why llama.cpp could not",
}
"""What writes files otherwise than through the gate, `engine/system/files.py`, and why it may."""

WRITERS = frozenset(
    (
        *("write_text", "write_bytes", "touch", "mkstemp", "NamedTemporaryFile", "hardlink_to", "symlink_to"),
        *("copyfile", "copytree", "savefig", "tofile", "savetxt", "savez", "save_file", "GGUFWriter"),
        *("FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "FileLock"),
        *("QFile", "QLockFile", "QSaveFile", "QSettings", "QTemporaryFile"),
        *("os.link", "os.mkfifo", "os.symlink", "os.truncate", "shutil.copy", "shutil.copy2", "shutil.move"),
    )
)
"""What is called to write a file, whatever it is given; those with a dot by their whole name."""

_FORMATS = ("csv", "excel", "feather", "html", "json", "parquet", "pickle")
WRITERS_WHERE_GIVEN = {f"to_{name}" for name in _FORMATS}
"""What gives text where it is not given a path."""

MOST_LINES_OF_A_FUNCTION = 80
MANY_LINES = 600
"""A module that has more says in its docstring why: `Long because ...`."""

CHILD = frozenset(f"engine/models/{name}.py" for name in ("checked_model", "devices", "templates"))
"""What starts this program again as a child process, by its command line."""


@dataclass(frozen=True)
class Import:
    """One imported name, `package.module.name`."""

    name: str
    for_types: bool
    in_function: bool


@cache
def sources(*rooms: str) -> tuple[PurePosixPath, ...]:
    """The Python files of rooms, relative to the project."""
    found = (path.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py"))
    return tuple(sorted(PurePosixPath(path.as_posix()) for path in found))


PROGRAM = (PurePosixPath("main.py"), PurePosixPath("tiebreak.py"), *sources("engine", "gui", "models"))


@cache
def syntax(path: PurePosixPath) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def module_name(path: PurePosixPath) -> str:
    """`engine/core/items.py` as `engine.core.items`, a package by its folder."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def package_name(path: PurePosixPath) -> str:
    """The package of a file: `engine.core`; `engine` and `gui` for what lies in them directly."""
    return ".".join(path.parts[:-1][:2])


@cache
def imports(path: PurePosixPath) -> tuple[Import, ...]:
    return tuple(_imports(syntax(path), for_types=False, in_function=False))


def _imports(node: ast.AST, for_types: bool, in_function: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, for_types, in_function) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: relative import"
            names = (f"{child.module}.{alias.name}" for alias in child.names)
            yield from (Import(name, for_types, in_function) for name in names)
        else:
            types = isinstance(child, ast.If) and getattr(child.test, "id", "") == "TYPE_CHECKING"
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, for_types or types, in_function or inside)


def below(name: str, *roots: str) -> bool:
    """Whether a dotted name is one of the roots or lies in one."""
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def lies_in(path: PurePosixPath, rooms: str) -> bool:
    """Whether a file is one of some files or lies in one of some folders."""
    return any(path.is_relative_to(room) for room in rooms.split())


# Directions


def allowed_packages(path: PurePosixPath) -> tuple[str, ...]:
    """What of the program a file may import."""
    room, package = path.parts[0], package_name(path)
    allowed = ["engine", "gui"]  # main.py
    if str(path) == "tiebreak.py":
        allowed = [NOTEBOOKS, "engine.core", "engine.ranking"]
    elif package in MAY_IMPORT:
        allowed = [package, *(f"{room}.{name}" for name in MAY_IMPORT[package])]
        if room == "gui":
            allowed += ENGINE
    elif str(path) == "engine/__init__.py":
        allowed = ["engine.core", "engine.ranking"]
    elif package == "engine.cli":
        allowed = [*ENGINE, "engine.cli.shared"]
    elif package == "gui":
        allowed = [*ENGINE_FOR_THE_WINDOW, *(["gui.window"] if path.name == "app.py" else [])]
    elif room == "models":
        allowed = [*ENGINE, "models"]
    return tuple(allowed)


def wrong_imports(path: PurePosixPath) -> list[str]:
    """The imports of the program's own modules that a file may not use."""
    own = [
        used.name
        for used in imports(path)
        if below(used.name, "engine", "gui", "main", "models", "tests", "bench")
    ]
    return [name for name in own if not below(name, *allowed_packages(path))]


def test_a_package_imports_only_what_it_may() -> None:
    assert not [f"{path}: {name}" for path in PROGRAM for name in wrong_imports(path)]


def test_every_package_has_a_row() -> None:
    packages = {
        f"{room}.{folder.name}"
        for room in ("engine", "gui")
        for folder in (ROOT / room).iterdir()
        if any(folder.glob("*.py"))
    }
    assert packages == {*MAY_IMPORT, "engine.cli"}


def test_the_names_for_notebooks_are_for_nobody_else() -> None:
    assert not [
        f"{path}: {used.name}"
        for path in PROGRAM
        if not lies_in(path, "tiebreak.py engine/api")
        for used in imports(path)
        if below(used.name, NOTEBOOKS, "tiebreak")
    ]


@cache
def graph() -> Mapping[str, frozenset[str]]:
    """For each module of engine and gui, the modules that it imports, those for types included."""
    modules = {module_name(path): path for path in sources("engine", "gui")}
    return {
        name: frozenset(
            target
            for used in imports(path)
            for target in (used.name, used.name.rpartition(".")[0])
            if target in modules and target != name
        )
        for name, path in modules.items()
    }


def test_no_modules_import_each_other() -> None:
    TopologicalSorter(graph()).prepare()  # CycleError names a circle


# The window


def test_the_window_imports_nothing_heavy_before_a_job_needs_it() -> None:
    assert not [
        f"{path}: {used.name}"
        for path in sources("gui")
        for used in imports(path)
        if not used.for_types and not used.in_function
        if below(used.name, "engine") and not below(used.name, *ENGINE_FOR_THE_WINDOW)
    ]


def test_only_jobs_import_inside_functions() -> None:
    assert not [
        f"{path}: {used.name}"
        for path in sources("gui")
        for used in imports(path)
        if used.in_function and below(used.name, "engine", "gui")
        if not path.name.endswith("_jobs.py") and path.name != "app.py"
    ]


def test_the_window_opens_no_model_in_its_own_process() -> None:
    """Whoever maps a file that is cut short is ended; what is imported here goes to a worker."""
    opens = {"open_model", "open_session", "open_encoder", "LlamaModel", "run_judging", "cut_encoder"}
    assert not [
        f"{path}: {used.name}"
        for path in sources("gui")
        for used in imports(path)
        if used.name.rpartition(".")[2] in opens
    ]


def test_heavy_libraries_wait_for_what_needs_them() -> None:
    """The window opens without what only jobs need, judging starts without what only measuring needs, and
    no command what only some measures need before it measures, and nobody but who asks for a cluster loads
    Dask, and what renders a chat template has no llama.cpp: one process that loads more and more.
    """
    measures = ["matplotlib", "rouge_score", "scipy", "sklearn"]
    for_jobs = ["jinja2", "llama_cpp", "numpy", "pandas", "pyarrow", *measures]
    code = f"""
import sys
def loaded(*names):
    print(*(name for name in names if name in sys.modules), end=";")
import engine.prompt.rendering
loaded("llama_cpp", "numpy")
del sys.modules["jinja2"]
import gui.app, gui.window.main_content
loaded(*{for_jobs})
import engine.cli.judge
loaded(*{measures})
import main
for name in main.COMMANDS:
    main.parser_of(name)
loaded("nltk", "scipy.optimize", "scipy.stats", "sklearn", "dask", "distributed", "tornado", "cryptography")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ";;;;"


LOADED = {
    "--help": "",
    "runs": "",
    "models": "numpy",
    "rubrics": "numpy pyarrow",
    "check {demo}": "numpy pyarrow",
    "evaluate {submission} --gold {demo}": "numpy pyarrow rouge_score scipy",
}
"""The libraries that commands load, by what is typed: of those that take a start a tenth or more."""

SLOW = (
    *("PySide6", "asyncio", "filelock", "jinja2", "llama_cpp", "matplotlib", "nltk", "numpy", "pandas"),
    *("pyarrow", "pyarrow.parquet", "rouge_score", "scipy", "scipy.optimize", "scipy.sparse", "scipy.stats"),
    *("sklearn", "tomlkit", "tqdm", "urllib.request"),
)


@pytest.mark.parametrize("typed", LOADED)
def test_a_command_loads_no_library_that_it_does_without(typed: str, tmp_path: Path) -> None:
    demo, submission = ROOT / "examples" / "demo.tsv", tmp_path / "submission.tsv"
    with demo.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file, delimiter="\t")
    kept = [place for place, name in enumerate(names) if name not in {"instruction", "output_a", "output_b"}]
    with submission.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([row[place] for place in kept] for row in (names, *rows))
    words = [word.format(demo=demo, submission=submission) for word in typed.split()]
    # SciPy 1.13's functions load its sparse matrices by themselves.
    theirs = "import scipy.special" if "scipy" in LOADED[typed] else ""
    code = f"""
import sys
{theirs}
theirs = {{name for name in sys.modules if name.startswith("scipy.")}}
import main
main.main({words})
print(*({set(SLOW)} & set(sys.modules) - theirs), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert sorted(done.stderr.splitlines()[-1].split()) == LOADED[typed].split()


def test_dask_is_imported_by_modules_that_wait_for_it() -> None:
    imported = [
        f"{path}: {used.name}"
        for path in PROGRAM
        if not lies_in(path, "engine/cluster")
        for used in imports(path)
        for name in _OF_DASK.split()
        if not used.for_types and below(used.name, module_name(PurePosixPath(name)))
    ]
    assert not imported  # they import Dask as they are imported themselves


# Libraries


def test_foreign_libraries_have_their_rooms() -> None:
    assert not [
        f"{path}: {used.name}"
        for path in (*PROGRAM, *sources("packaging"))
        for used in imports(path)
        for library, rooms in LIBRARIES.items()
        if below(used.name, library) and not lies_in(path, rooms)
        if not (used.for_types and lies_in(path, FOR_TYPES.get(library, "")))
    ]


def test_one_module_of_the_core_knows_numpy() -> None:
    assert {"engine/core/numeric.py"} == {
        str(path) for path in sources("engine/core") for used in imports(path) if below(used.name, "numpy")
    }


@pytest.mark.parametrize("path", ["gui/screen.py", "gui/review/session.py", "gui/review/review_jobs.py"])
def test_what_needs_no_window_knows_no_qt(path: str) -> None:
    assert not [used.name for used in imports(PurePosixPath(path)) if below(used.name, "PySide6")]


def test_nothing_knows_the_network() -> None:
    assert not [
        f"{path}: {used.name}" for path in PROGRAM for used in imports(path) if used.name.startswith(NETWORK)
    ]


def test_packaging_does_not_shadow_the_library_of_that_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


# Files


def writes(call: ast.Call) -> bool:
    """Whether a call opens a file for writing, or puts one in a place."""
    called = ast.unparse(call.func)
    name = called.rpartition(".")[2]
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if "os.devnull" in ast.unparse(call):
        return False
    if called == "os.open":
        return ast.unparse(call.args[1]) != "os.O_RDONLY"
    if name in {"open", "fdopen", "ZipFile"}:
        modes = [named["mode"]] if "mode" in named else call.args[called in {"open", "os.fdopen"} :]
        unknown = "mode" in named or called == "open"
        return any(
            bool(re.fullmatch("(?=.*[wax+])[rwaxbt+]{1,4}(:.*)?", str(mode.value)))
            if isinstance(mode, ast.Constant)
            else unknown
            for mode in modes
        )
    if name in WRITERS_WHERE_GIVEN:
        return bool(call.args or {"path", "path_or_buf", "buf", "excel_writer"} & named.keys())
    if name in {"rename", "replace"} and isinstance(call.func, ast.Attribute):
        # A text's has two arguments, a record's has names.
        return (len(call.args) == 1 and not named) or called in {"os.rename", "os.replace"}
    return name in WRITERS or called in WRITERS


def writing(path: PurePosixPath) -> set[str]:
    """What a file of the program calls to write files."""
    calls = (node for node in ast.walk(syntax(path)) if isinstance(node, ast.Call))
    return {ast.unparse(call.func).rpartition(".")[2] for call in calls if writes(call)}


def test_files_are_written_through_one_gate() -> None:
    validator = "engine/system/files.py"
    found = {f"{path}: {name}" for path in PROGRAM if str(path) != validator for name in writing(path)}
    assert found == MAY_WRITE.keys()


# Words


def texts(path: PurePosixPath) -> Iterator[str]:
    """The strings of a file, docstrings included."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The options of a command, and of the actions that it has."""
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
        if isinstance(action, argparse._SubParsersAction):
            for of_action in action.choices.values():
                yield from options_of(of_action)


@cache
def command_line() -> re.Pattern[str]:
    """Finds the options of Tiebreak's own commands; other programs have others."""
    options = {option for name in COMMANDS for option in options_of(parser_of(name))}
    return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(options))})(?![\w-])")


BELOW_THE_COMMANDS = [
    path
    for path in sources("engine", "gui")
    if not path.is_relative_to("engine/cli") and str(path) not in CHILD
]


def test_only_commands_speak_of_options_of_the_command_line() -> None:
    option = command_line()
    assert not [
        f"{path}: {text}" for path in BELOW_THE_COMMANDS for text in texts(path) if option.search(text)
    ]


def test_only_commands_name_the_program() -> None:
    names = ((path, used.name) for path in BELOW_THE_COMMANDS for used in imports(path))
    assert not [f"{path}" for path, name in names if name == "engine.system.paths.program"]


def test_a_remedy_is_worded_by_whoever_shows_it() -> None:
    """No file writes one into a text, where it would stand in nobody's words."""
    assert not [
        f"{path}: {ast.unparse(node)}"
        for path in PROGRAM
        if str(path) != "engine/core/errors.py"
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.FormattedValue) and ast.unparse(node.value).endswith(".remedy")
    ]


def test_no_two_public_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for path in sources("engine", "gui")
        for node in syntax(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in names.items() if count > 1]


# Sizes


MEASURED = (*PROGRAM, *sources("packaging"))


def lines(path: PurePosixPath) -> int:
    return (ROOT / path).read_text(encoding="utf-8").count("\n")


def function_lines() -> Mapping[str, int]:
    """The lines of each function, with what stands in it."""
    functions = ((path, node) for path in MEASURED for node in ast.walk(syntax(path)))
    return {
        f"{path}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path, node in functions
        if isinstance(node, ast.FunctionDef)
    }


def test_no_function_is_long() -> None:
    assert not {name: count for name, count in function_lines().items() if count > MOST_LINES_OF_A_FUNCTION}


def test_a_long_module_says_why() -> None:
    long = [path for path in MEASURED if lines(path) > MANY_LINES]
    assert not [str(path) for path in long if "Long because " not in (ast.get_docstring(syntax(path)) or "")]


def of_one_neighbour() -> Iterator[tuple[str, int]]:
    """The modules that one other imports, of their own package."""
    paths = {module_name(path): path for path in sources("engine", "gui")}
    importers = {name: {other for other, used in graph().items() if name in used} for name in paths}
    for name, others in importers.items():
        package = name.rpartition(".")[0]
        if len(others) == 1 and next(iter(others)).rpartition(".")[0] == package:
            yield f"{name}, for {next(iter(others)).rpartition('.')[2]}", lines(paths[name])


def print_sizes(most: int = 12) -> None:
    """Print what is largest, and the smallest of what one neighbour alone imports."""
    modules = {str(path): lines(path) for path in MEASURED}
    packages = Counter(str(path.parent) for path in sources("engine", "gui") if path.name != "__init__.py")
    lonely = sorted(of_one_neighbour(), key=lambda one: one[1])
    for title, found in (
        ("Lines of modules", Counter(modules).most_common(most)),
        ("Lines of functions", Counter(function_lines()).most_common(most)),
        ("Modules of packages", packages.most_common(most)),
        (f"Modules that one neighbour alone imports: {len(lonely)}, the shortest", lonely[: 2 * most]),
    ):
        print(f"\n{title}")
        for name, count in found:
            print(f"{count:5}  {name}")


if __name__ == "__main__":
    print_sizes()
