"""Python's own modules as PyInstaller zips them, made the same each time."""

import marshal
import zipfile
from pathlib import Path

_HEADER = 16  # bytes of a .pyc before its code
# The last version of the format without references between equal objects: which are written depends on what
# else Python holds at that moment.
_WITHOUT_REFERENCES = 2


def make_steady(library: Path) -> None:
    """Write a zip of compiled modules again, sorted, in words that depend on the modules alone."""
    with zipfile.ZipFile(library) as archive:
        modules = {name: archive.read(name) for name in sorted(archive.namelist())}
    with zipfile.ZipFile(library, "w") as archive:
        for name, content in modules.items():
            code = marshal.loads(content[_HEADER:])
            steady = content[:_HEADER] + marshal.dumps(code, _WITHOUT_REFERENCES)
            archive.writestr(zipfile.ZipInfo(name), steady)
