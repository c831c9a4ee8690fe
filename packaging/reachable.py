"""Shared libraries that nothing in a bundle needs any more, once other files have been left out."""

from pathlib import Path, PurePosixPath

from elf import is_elf, needed_libraries

Entry = tuple[str, str, str]  # path in the bundle, path on this computer, PyInstaller's kind of file


def without_unreachable(entries: list[Entry]) -> list[Entry]:
    """The entries that are opened by name, and what those are linked with, directly or through others.

    A library at the top of the bundle is there because something is linked with it. All others are extension
    modules, plug-ins, or libraries in the folder of their package.
    """
    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        by_name.setdefault(PurePosixPath(entry[0]).name, []).append(entry)
    reached = [entry for entry in entries if not _only_linked_with(entry[0])]
    kept = set(reached)
    while reached:
        source = Path(reached.pop()[1])
        needed = needed_libraries(source) if is_elf(source) else set()
        for entry in [entry for name in needed for entry in by_name.get(name, [])]:
            if entry not in kept:
                kept.add(entry)
                reached.append(entry)
    return [entry for entry in entries if entry in kept]


def _only_linked_with(inside: str) -> bool:
    path = PurePosixPath(inside)
    of_qt = path.parts[:3] == ("PySide6", "Qt", "lib")
    return ".so" in path.name and (len(path.parts) == 1 or of_qt) and not path.name.startswith("libpython")
