"""Hooks of Hatchling: a wheel holds the whole program inside one package, `tiebreak`.

In the checkout the program lies in `main.py`, `engine`, `gui` and `models`. Beside foreign packages such
names would be anybody's: a folder of notebooks may well have a `models.py`. So the files are copied to below
`tiebreak/`, and wherever their code names a module of ours, the name gets `tiebreak.` before it.
"""

import ast
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.tags import platform_tags

PACKAGE = "tiebreak"
ROOMS = ("engine", "gui", "models")
"""The folders whose names are those of packages in the checkout."""
RENAMED = {"tiebreak.py": "__init__.py", "main.py": "__main__.py"}
EXTRAS = {"cluster": "requirements-cluster.txt", "notebook": "requirements-notebook.txt"}
FILES = (
    *("LICENSE", "CITATION.cff", "models/smollm2.py", "models/demo-judge.gguf", "models/demo-judge.md"),
    *("examples/README.md", "examples/demo.tsv", "examples/demo-candidates.tsv", "examples/sample.tsv"),
    *("examples/demo-manners.tsv", "examples/demo-manners.toml", "examples/first-study.ipynb"),
    *("examples/own-data-and-ranking.ipynb", "examples/comparing-judges.ipynb"),
)
"""Named one by one: people keep models, and what notebooks write, in these folders."""
READY_LLAMA = "packaging/ready_llama"
"""The project that makes llama-cpp-python without a compiler, on computers that take these wheels:"""
READY_FOR = {"win_amd64", "macosx_14_0_arm64"}
_REQUIREMENT = re.compile(r"[^#\s-][^#]*")


class InsidePackage(BuildHookInterface[Any]):
    """Puts the files of the program into the wheel, below `tiebreak/`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files that are then packed. RuntimeError for an editable install, which has none."""
        if version == "editable":
            raise RuntimeError(
                "Tiebreak cannot be installed in editable mode: its files get their names when a wheel is"
                " made. Run it from the checkout: python main.py"
            )
        self._made = TemporaryDirectory()
        package = Path(self._made.name) / PACKAGE
        place(Path(self.root), package)
        build_data["force_include"][str(package)] = PACKAGE

    def finalize(self, _version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Take them away again."""
        self._made.cleanup()


class Requirements(MetadataHookInterface):
    """What is needed stands in the files of requirements alone."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add it to what the wheel says of itself."""
        root = Path(self.root)
        metadata["dependencies"] = [
            without_compiler(line, root) for line in requirements(root / "requirements.txt")
        ]
        metadata["optional-dependencies"] = {
            extra: requirements(root / name) for extra, name in EXTRAS.items()
        }


def requirements(path: Path) -> list[str]:
    """The requirements that a file lists itself, without its comments and the files that it names."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [found[0].strip() for line in lines if (found := _REQUIREMENT.match(line))]


def without_compiler(requirement: str, root: Path) -> str:
    """A requirement as it is, or, where llama.cpp need not be compiled, what is built instead."""
    if not requirement.startswith("llama-cpp-python") or READY_FOR.isdisjoint(platform_tags()):
        return requirement
    if "CMAKE_ARGS" in os.environ:  # who says how llama.cpp is compiled wants it compiled
        return requirement
    return f"llama-cpp-python @ {(root.resolve() / READY_LLAMA).as_uri()}"


def place(root: Path, package: Path) -> None:
    """Copy what an installed copy needs out of the checkout, each module with the names that it has there."""
    own = module_names(root)
    for source in program_files(root):
        place_of_it = source.relative_to(root)
        target = package / RENAMED.get(str(place_of_it), place_of_it)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".py":
            try:
                text = renamed(source.read_text(encoding="utf-8"), own)
            except ValueError as error:
                raise ValueError(f"{place_of_it}: {error}") from error
            target.write_text(text, encoding="utf-8", newline="\n")
        else:
            shutil.copyfile(source, target)
    (package / "py.typed").touch()


def program_files(root: Path) -> Iterator[Path]:
    """The files of the checkout that an installed copy needs, in a fixed order."""
    yield from (root / name for name in (*RENAMED, *FILES))
    for room in ("engine", "gui"):
        for path in sorted((root / room).rglob("*")):
            hidden = any(part.startswith((".", "__pycache__")) for part in path.relative_to(root).parts)
            if path.is_file() and not hidden:
                yield path


def module_names(root: Path) -> frozenset[str]:
    """The dotted names of the modules and packages of the rooms."""
    paths = (path.relative_to(root) for room in ROOMS for path in (root / room).rglob("*.py"))
    parts = [path.with_suffix("").parts for path in paths]
    return frozenset(".".join(names[:end]) for names in parts for end in range(1, len(names) + 1))


def renamed(code: str, own: frozenset[str]) -> str:
    """A module's code with `tiebreak.` before each name of ours that it imports, or that is a whole text in
    it, such as "engine.core"; a dot at the end of such a text makes no difference. No line moves.

    ValueError where a module is imported so that its first part would become a name of its own, and where a
    name is put together out of pieces.
    """
    lines = code.split("\n")
    found = sorted(set(_places(ast.parse(code), lines, own)), reverse=True)
    for line, column in found:  # the last ones first, so that the others stay where they are
        text = lines[line - 1].encode()
        lines[line - 1] = (text[:column] + f"{PACKAGE}.".encode() + text[column:]).decode()
    return "\n".join(lines)


def _places(tree: ast.Module, lines: list[str], own: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where names of ours begin: the line, from 1, and the byte in it, from 0."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in own:
            yield _place(node, node.module, lines)
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.partition(".")[0] not in ROOMS:
                    continue
                if each.asname is None:
                    raise ValueError(f"line {node.lineno}: import {each.name}: write `from` ... `import` ...")
                yield each.lineno, each.col_offset
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.removesuffix(".")
            if "." in node.value and name in own:
                yield _place(node, node.value, lines)


def _place(node: ast.ImportFrom | ast.Constant, name: str, lines: list[str]) -> tuple[int, int]:
    """Where a name begins in what begins with a node; ValueError where it is not written there as it is."""
    inside = lines[node.lineno - 1].encode()[node.col_offset :].find(name.encode())
    if inside < 0:
        raise ValueError(f"line {node.lineno}: write {name} as one text, on this line")
    return node.lineno, node.col_offset + inside
