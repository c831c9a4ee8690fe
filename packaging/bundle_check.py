"""The size of a bundle on Linux, what it needs of the system, and whether it has the rest.

python packaging/bundle_check.py FOLDER
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bundle_contents import GPU_FOLDER, is_for_gpus, is_of_the_system
from elf import is_elf, needed_glibc, needed_libraries

_MEGABYTE = 1_000_000
# What the parts are for, by their name in the bundle.
_REASONS = {
    "PySide6": "the window: Qt and its Python modules; 37 MB of it are Unicode's tables (ICU)",
    "pyarrow": "Parquet files, and datasets as tables of text",
    "scipy": "fitting calibrations and weights, exact tests; scikit-learn is built on it",
    "scipy.libs": "scipy's linear algebra (OpenBLAS)",
    "numpy.libs": "numpy's linear algebra (OpenBLAS, with 64-bit indices)",
    "numpy": "log-probabilities, metrics",
    "llama_cpp": "llama.cpp, with a library for each generation of processors, for GPUs too where it has it",
    "pandas": "which ids of a submission a plain pandas.read_csv would change",
    "sklearn": "folds, labelled examples by likeness",
    "matplotlib": "the figures, with fonts of their own",
    "pillow.libs": "formats that Pillow is linked with; matplotlib writes PNG through it",
    "PIL": "Pillow: matplotlib writes PNG through it",
    f"python3.{sys.version_info.minor}": "Python's own extension modules",
    "kiwisolver": "matplotlib's layout",
    "tiebreak": "the executable, with all Python modules in it",
}


def main(arguments: list[str]) -> int:
    """Print the report on a bundle; 1 if it lacks a library."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python packaging/bundle_check.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    print(size_report(folder))
    if sys.platform != "linux":
        return 0
    system, lacking, glibc = needs(folder)
    for_gpus = {library for library in system if is_for_gpus(library)}
    always = ", ".join(sorted(system - for_gpus))
    print(f"Needs glibc {glibc[0]}.{glibc[1]} or newer, and of the system: {always}")
    if for_gpus:
        print(f"Only for a GPU it needs {', '.join(sorted(for_gpus))}; it runs without.")
    for library, users in sorted(lacking.items()):
        print(f"LACKS {library}, which these are linked with: {', '.join(sorted(users)[:4])}")
    return 1 if lacking else 0


def sizes(folder: Path) -> Counter[str]:
    """Bytes of each part: the entries of the folder of contents, and the executables beside it."""
    parts: Counter[str] = Counter()
    for path, inside in _files(folder):
        part = (
            inside.parts[1] if inside.parts[0] == "_internal" and len(inside.parts) > 1 else inside.parts[0]
        )
        parts[part] += path.stat().st_size
    return parts


def size_report(folder: Path) -> str:
    """The whole size and the ten largest parts, with what each is for."""
    parts = sizes(folder)
    lines = [
        f"{folder.name}: {sum(parts.values()) / _MEGABYTE:.0f} MB unpacked, {len(parts)} parts. The largest:"
    ]
    lines += [
        f"  {size / _MEGABYTE:6.1f} MB  {part:22} {_REASONS.get(part, '')}".rstrip()
        for part, size in parts.most_common(10)
    ]
    return "\n".join(lines)


def needs(folder: Path) -> tuple[set[str], dict[str, set[str]], tuple[int, int]]:
    """What a Linux bundle is linked with and does not hold.

    First the libraries of the system, and those for GPUs where nothing else needs them; then those that a
    desktop need not have, with the files that need them; and the oldest glibc that it runs on.
    """
    bundled = {path.name for path in folder.rglob("*.so*") if path.exists()}  # False for a link to nothing
    system: set[str] = set()
    lacking: dict[str, set[str]] = {}
    glibc = (0, 0)
    for path, inside in _files(folder):
        if not is_elf(path):
            continue
        glibc = max(glibc, needed_glibc(path))
        for library in needed_libraries(path) - bundled:
            if is_of_the_system(library) or (is_for_gpus(library) and inside.match(f"{GPU_FOLDER}/*")):
                system.add(library)
            else:
                lacking.setdefault(library, set()).add(str(inside))
    return system, lacking, glibc


def _files(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Each file that takes room, with its path in the bundle."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            yield path, path.relative_to(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
