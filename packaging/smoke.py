"""Test a bundle as a user will have it.

    python packaging/smoke.py BUNDLE [--source PYTHON] [--screenshots FOLDER] [--bare-root FOLDER]

BUNDLE is the folder or the archive that packaging/build.py made. It is copied to a folder with spaces and
characters of other scripts, made read-only, and started with empty folders of its own and without a Python:
on this computer; on Linux again without a network, where that is allowed; and with --bare-root in a Debian
that has the documented libraries and nothing else (made there by debootstrap, as root, where it is missing).
As root, the program runs as a user without rights. Exit code: 0 where all of it works.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from build_environment import BuildEnvironment
from project import print_utf_8
from smoke_places import Place, bare_debian, network_can_be_left, this_computer
from smoke_steps import STEPS
from smoke_trial import Sample, Trial

_Given = TypeVar("_Given")


def main() -> int:
    """Try the bundle in every place; the exit code."""
    parser = argparse.ArgumentParser(description="Test a bundle as a user will have it.")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="the folder or archive of build.py")
    parser.add_argument(
        "--source",
        default=str(BuildEnvironment().python),
        metavar="PYTHON",
        help="the Python that runs the source (%(default)s)",
    )
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="keep pictures of the window")
    parser.add_argument(
        "--bare-root", type=Path, metavar="FOLDER", help="also test in a bare Debian in this folder"
    )
    options = parser.parse_args()
    print_utf_8()
    with tempfile.TemporaryDirectory(prefix="tiebreak-smoke-", ignore_cleanup_errors=True) as scratch:
        bundle = _unpacked(options.bundle.resolve(), Path(scratch))
        sample = Sample(options.source, Path(scratch))
        failed = 0
        for entering in _places(options.bare_root):
            with entering as place:
                trial = Trial(place, bundle, sample, options.screenshots)
                print(f"\nIn {place.name}: {trial.folder}", flush=True)
                failed += take(STEPS, trial)
    print("\nAll steps passed." if not failed else f"\nFailed: {failed}.")
    return 1 if failed else 0


def _places(bare_root: Path | None) -> Sequence[AbstractContextManager[Place]]:
    places = [this_computer(offline=False)]
    if network_can_be_left():
        places.append(this_computer(offline=True))
    else:
        print("Not tested without a network: this system cannot start a process without one.")
    if bare_root:
        places.append(bare_debian(bare_root.resolve()))
    return places


def take(steps: Sequence[tuple[str, Callable[[_Given], str]]], given: _Given) -> int:
    """Take all steps and print what each found; how many failed."""
    failed = 0
    for name, step in steps:
        start = time.monotonic()
        try:
            word, found = "ok", step(given)
        except (AssertionError, LookupError, OSError, ValueError, subprocess.SubprocessError) as error:
            word, found = "FAILED", str(error) or repr(error)
            failed += 1
        print(f"{word:7} {name:24} {time.monotonic() - start:6.1f} s  {found}", flush=True)
    return failed


def _unpacked(bundle: Path, scratch: Path) -> Path:
    """The folder of a bundle that may come as an archive."""
    if bundle.is_dir():
        return bundle
    target = scratch / "unpacked"
    if sys.platform == "darwin":
        subprocess.run(["ditto", "-x", "-k", str(bundle), str(target)], check=True)
    else:
        shutil.unpack_archive(bundle, target)
    return next(path for path in target.iterdir() if path.is_dir())


if __name__ == "__main__":
    sys.exit(main())
