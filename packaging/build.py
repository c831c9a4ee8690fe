"""Build the application for this system: a folder that runs where nothing is installed, and an archive of it.

    python packaging/build.py [--no-archive] [--as-installed] [--with-gpu | --without-gpu]

It includes llama.cpp's GPU library (Vulkan) if that can be compiled; otherwise a message says that it does
not.

Everything is made in `build/` and `dist/` of the project, with an environment of its own. Unchanged results
are reused: the environment, and llama.cpp, which takes the most time.

The list of its parts (CycloneDX) and SHA256SUMS are written next to the archive. The build is reproducible
from a commit with the same tools: times are the commit's, and no build folder is in it.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import bundle_check
from build_environment import BuildEnvironment, undisturbed_environment
from project import BUILD, PACKAGING, RELEASED, ROOT, VERSION, print_utf_8
from sbom import NAME as SBOM
from sbom import write_checksums, write_sbom
from vulkan_tools import NoVulkan, vulkan_tools

_DIST = ROOT / "dist"
_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}
_MACHINES = {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64"}


def main() -> int:
    """Build; the exit code."""
    parser = argparse.ArgumentParser(description="Build the application for this system.")
    parser.add_argument("--no-archive", action="store_true", help="make only the folder")
    as_installed = "of the packages of this Python, as they are: to try, not to give away"
    parser.add_argument("--as-installed", action="store_true", help=as_installed)
    gpu = parser.add_mutually_exclusive_group()
    with_gpu = "with llama.cpp's GPU library (Vulkan); fail if it cannot be compiled"
    gpu.add_argument("--with-gpu", action="store_true", help=with_gpu)
    gpu.add_argument("--without-gpu", action="store_true", help="without the GPU library")
    options = parser.parse_args()
    print_utf_8()
    vulkan, lacking = gpu_part(wanted=options.with_gpu, refused=options.without_gpu)
    if lacking:
        print(lacking, flush=True)
    start = time.monotonic()
    environment = BuildEnvironment(vulkan)
    if options.as_installed:
        environment.python = Path(sys.executable)
    else:
        print(environment.time_needed(), flush=True)
        environment.make()
    _run_python(environment, str(PACKAGING / "icons.py"), str(BUILD / "icons"))
    made = time.monotonic()
    bundle = _bundle(environment)
    seconds, for_environment = time.monotonic() - made, made - start
    print(f"\nBuilt in {seconds:.0f} s and {for_environment:.0f} s for the environment: {bundle}")
    code = bundle_check.main([str(bundle)])
    if not options.no_archive:
        archive = _archive(bundle, made_at())
        print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB")
        parts = Path(shutil.copy(bundle / SBOM, bundle.with_name(f"{bundle.name}.cdx.json")))
        print(f"{parts}, {write_checksums([archive, parts])}")
    if lacking:
        print(lacking)
    return code


def gpu_part(wanted: bool, refused: bool) -> tuple[list[str], str]:
    """What the GPU library is compiled with, empty for none; and the message if it cannot be.

    Ends the program if it cannot be compiled and was requested (`wanted`). Macs do not need it.
    """
    if refused or sys.platform == "darwin":
        return [], ""
    try:
        return vulkan_tools(), ""
    except NoVulkan as reason:
        if wanted:
            sys.exit(str(reason))
        return [], f"THIS BUNDLE USES THE CPU ONLY. {reason}"


def bundle_name() -> str:
    """The name of the folder and the archive: program, version, system and processor."""
    machine = platform.machine().lower()
    return f"tiebreak-{VERSION}-{_SYSTEMS[sys.platform]}-{_MACHINES.get(machine, machine)}"


def made_at() -> int:
    """The time of all files of the bundle, in seconds since 1970: SOURCE_DATE_EPOCH, or the commit's.

    For a source without its history: the day of the release.
    """
    if named := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(named)
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
        return int(subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout)
    return int(datetime.fromisoformat(RELEASED).replace(tzinfo=UTC).timestamp())


def _bundle(environment: BuildEnvironment) -> Path:
    """Let PyInstaller make the folder, and add the rest. When complete, it is moved to `dist/`."""
    made, unfinished = BUILD / "dist", BUILD / bundle_name()
    for old in (made, unfinished):
        if old.is_dir():
            shutil.rmtree(old)
    options = ["--noconfirm", "--clean", "--log-level", "WARN"]
    folders = ["--distpath", str(made), "--workpath", str(BUILD / "work")]
    _run_python(environment, "-m", "PyInstaller", *options, *folders, str(PACKAGING / "tiebreak.spec"))
    if sys.platform == "darwin":
        unfinished.mkdir()
        (made / "Tiebreak.app").rename(unfinished / "Tiebreak.app")
    else:
        (made / "tiebreak").rename(unfinished)
    shutil.copy(ROOT / "LICENSE", unfinished)
    if sys.platform == "linux":
        _strip_python(unfinished)
        _add_desktop_files(unfinished)
    write_sbom(unfinished, BUILD / "work" / "tiebreak" / "parts.json", made_at())
    finished = _DIST / bundle_name()
    if finished.is_dir():
        shutil.rmtree(finished)
    for old in (*_DIST.glob(f"{finished.name}.*"), *_DIST.glob("SHA256SUMS")):
        old.unlink()  # of an earlier bundle
    _DIST.mkdir(exist_ok=True)
    return unfinished.rename(finished)


def _strip_python(bundle: Path) -> None:
    """Strip debugging tables from Python itself."""
    # Not from packages: they have none, and stripping would damage patched libraries.
    if strip := shutil.which("strip"):
        own = [*bundle.glob("_internal/libpython3*.so*"), *bundle.glob("_internal/python3*/lib-dynload/*.so")]
        subprocess.run([strip, "--strip-unneeded", *map(str, own)], check=True)


def _add_desktop_files(bundle: Path) -> None:
    """The files of a Linux desktop entry, laid out as in the user's folders."""
    share = bundle / "share"
    for source, folder in (
        (PACKAGING / "linux" / "tiebreak.desktop", "applications"),
        (PACKAGING / "linux" / "tiebreak.metainfo.xml", "metainfo"),
        (ROOT / "gui" / "window" / "mark.svg", "icons/hicolor/scalable/apps"),
        *(
            (path, f"icons/hicolor/{path.stem}x{path.stem}/apps")
            for path in sorted((BUILD / "icons").glob("*.png"))
        ),
    ):
        target = share / folder / f"tiebreak{''.join(source.suffixes)}"
        target.parent.mkdir(parents=True, exist_ok=True)
        words = source.read_bytes().replace(b"@VERSION@", VERSION.encode())
        target.write_bytes(words.replace(b"@DATE@", RELEASED.encode()))
    shutil.copy(PACKAGING / "linux" / "install.sh", bundle)
    (bundle / "install.sh").chmod(0o755)


def _archive(bundle: Path, made: int) -> Path:
    """The archive: .tar.xz on Linux, .zip elsewhere. It is renamed to its name when complete."""
    unfinished = BUILD / f"{bundle.name}.archive"
    kind = "tar.xz" if sys.platform == "linux" else "zip"
    if sys.platform == "linux":
        with tarfile.open(unfinished, "w:xz", preset=6) as archive:
            archive.add(bundle, bundle.name, filter=lambda member: plain_member(member, made))
    elif sys.platform == "darwin":
        for path in bundle.rglob("*"):
            os.utime(path, (made, made), follow_symlinks=False)
        # Python's own zip would lose the links inside the application.
        subprocess.run(["ditto", "-c", "-k", "--keepParent", str(bundle), str(unfinished)], check=True)
    else:
        write_zip(unfinished, bundle, made)
    return unfinished.replace(bundle.with_name(f"{bundle.name}.{kind}"))


def plain_member(member: tarfile.TarInfo, made: int) -> tarfile.TarInfo:
    """The same file without traces of the builder: owner, time, permissions."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mtime = made
    member.mode = 0o755 if member.isdir() or member.issym() or member.mode & 0o100 else 0o644
    return member


def write_zip(archive: Path, folder: Path, made: int) -> None:
    """A folder's files by name, all of one time."""
    day = datetime.fromtimestamp(made, UTC).timetuple()[:6]
    with zipfile.ZipFile(archive, "w") as target:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            member = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix(), day)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            target.writestr(member, path.read_bytes())


def _run_python(environment: BuildEnvironment, *words: str) -> None:
    own = {"PYTHONPATH": str(ROOT), "PYINSTALLER_CONFIG_DIR": str(BUILD / "pyinstaller")}
    # What Python writes, such as sets in compiled modules, is then the same each time.
    own |= {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": str(made_at())}
    # On a Mac an application that is not signed as a whole would not start.
    own["PYINSTALLER_STRICT_BUNDLE_CODESIGN_ERROR"] = "1"
    variables = {**undisturbed_environment(), **own}
    subprocess.run([str(environment.python), *words], cwd=ROOT, env=variables, check=True)


if __name__ == "__main__":
    sys.exit(main())
