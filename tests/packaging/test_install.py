"""install.sh of the Linux bundle, run as its user does, with a home folder that is hard to quote."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.packaging.steps import ran, write

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("sh"), reason="a script for the shell of POSIX"
)

LINUX = ROOT / "packaging" / "linux"
TEMPLATE = "_internal/engine/report/report_template.html"
PROGRAM = '#!/bin/sh\nprintf "%s\\n" "Tiebreak" "$@"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a space, a dollar sign and an umlaut in its name."""
    folder = tmp_path / "Jörg $HOME"
    folder.mkdir()
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """An unpacked archive, laid out as packaging/build.py does, with a program that prints its arguments."""
    folder = tmp_path / "tiebreak 1.0"
    taken = {
        "install.sh": LINUX / "install.sh",
        "share/applications/tiebreak.desktop": LINUX / "tiebreak.desktop",
        "share/metainfo/tiebreak.metainfo.xml": LINUX / "tiebreak.metainfo.xml",
        "share/icons/hicolor/scalable/apps/tiebreak.svg": ROOT / "gui" / "window" / "mark.svg",
        "LICENSE": ROOT / "LICENSE",
    }
    named = {name: name for name in (TEMPLATE, "share/icons/hicolor/64x64/apps/tiebreak.png")}
    copied = {name: source.read_bytes() for name, source in taken.items()}
    write(folder, **copied, **named, tiebreak=PROGRAM)
    (folder / "_internal" / "link.so").symlink_to(TEMPLATE.removeprefix("_internal/"))
    for name in ("tiebreak", "install.sh"):
        (folder / name).chmod(0o755)
    return folder


def run(script: Path, home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The script as a shell starts it, with nothing of this user's environment."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"} | variables
    return ran("sh", script, *words, env=environment, cwd=home.parent, check=False)


def installed(bundle: Path, home: Path, **variables: str) -> Path:
    """Install it; the folder of the installed program."""
    done = run(bundle / "install.sh", home, **variables)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return Path(variables.get("XDG_DATA_HOME", home / ".local" / "share")) / "tiebreak-program"


def files(folder: Path) -> set[str]:
    """The files and links below a folder."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(folder).as_posix() for path in found}


def say(command: Path, *words: str) -> list[str]:
    return ran(command, *words).stdout.splitlines()


def started_by(entry: Path) -> str:
    """The program that the Exec line of a desktop entry starts, read as the specification says."""
    (line,) = [line for line in entry.read_text("utf-8").splitlines() if line.startswith("Exec=")]
    words = re.fullmatch(r'"((?:[^"\\`$]|\\.)*)" %f', re.sub(r"\\(.)", unescaped, line.removeprefix("Exec=")))
    assert words, line
    return re.sub(r"\\(.)", r"\1", words[1]).replace("%%", "%")


def unescaped(found: re.Match[str]) -> str:
    return {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[found[1]]


def test_it_installs_what_the_desktop_reads_and_a_command_that_needs_no_archive(
    bundle: Path, home: Path
) -> None:
    program, share = installed(bundle, home), home / ".local" / "share"
    assert files(program) == files(bundle)
    assert (program / "_internal" / "link.so").read_bytes() == TEMPLATE.encode()
    for name in files(bundle / "share"):
        assert (share / name).is_file(), name
        if not name.endswith(".desktop"):
            assert (share / name).read_bytes() == (bundle / "share" / name).read_bytes()
    shutil.rmtree(bundle)
    assert say(home / ".local" / "bin" / "tiebreak", "a b", "ö") == ["Tiebreak", "a b", "ö"]


@pytest.mark.parametrize(
    "name", ["plain", "Jörg $HOME", "$(touch x) `y`", 'a "b" & c|d', "100% %f", "a#b;c'd~*?!", "back\\slash"]
)
def test_the_desktop_entry_names_the_program_and_is_sound(bundle: Path, tmp_path: Path, name: str) -> None:
    home = tmp_path / name
    home.mkdir()
    program = installed(bundle, home)
    entry = home / ".local" / "share" / "applications" / "tiebreak.desktop"
    assert started_by(entry) == str(program / "tiebreak")
    text = entry.read_text("utf-8")
    assert "TryExec" not in text
    assert "Icon=tiebreak\n" in text
    if shutil.which("desktop-file-validate"):
        done = ran("desktop-file-validate", entry, check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_second_install_replaces_the_first(bundle: Path, home: Path) -> None:
    (bundle / "_internal" / "old.so").touch()
    program = installed(bundle, home)
    (bundle / "_internal" / "old.so").unlink()
    (bundle / "tiebreak").write_text(PROGRAM.replace("Tiebreak", "Newer"), encoding="ascii")
    assert installed(bundle, home) == program
    assert files(program) == files(bundle)
    assert say(home / ".local" / "bin" / "tiebreak") == ["Newer"]
    assert not program.with_name("tiebreak-program.new").exists()


def test_what_an_interrupted_install_left_is_in_nobodys_way_and_goes(bundle: Path, home: Path) -> None:
    program = home / ".local" / "share" / "tiebreak-program"
    half = program.with_name("tiebreak-program.new")
    half.mkdir(parents=True)
    (half / "half").touch()
    installed(bundle, home)
    assert files(program) == files(bundle)
    shutil.copytree(bundle, half, symlinks=True)
    assert run(bundle / "install.sh", home, "--remove").returncode == 0
    assert files(home) == set()


@pytest.fixture
def read_only(bundle: Path) -> Iterator[Path]:
    """The archive's folder as a medium that cannot be written to shows it."""
    folders = [bundle, *(path for path in bundle.rglob("*") if path.is_dir() and not path.is_symlink())]
    for path in bundle.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    for folder in folders:
        folder.chmod(0o555)
    yield bundle
    for folder in folders:
        folder.chmod(0o755)


def test_from_a_read_only_folder_it_installs_what_can_be_replaced_and_removed(
    read_only: Path, home: Path
) -> None:
    program = installed(read_only, home)
    assert files(program) == files(read_only)
    for path in [program, *program.rglob("*")]:
        assert path.stat().st_mode & stat.S_IWUSR, path
    installed(read_only, home)
    assert run(program / "install.sh", home, "--remove").returncode == 0
    assert not program.exists()
    assert not read_only.stat().st_mode & stat.S_IWUSR


@pytest.mark.parametrize("from_installed", [True, False], ids=["installed", "archive"])
def test_remove_takes_every_file_it_made_and_leaves_all_others(
    bundle: Path, home: Path, from_installed: bool
) -> None:
    before = {
        *(".local/share/Tiebreak/runs.sqlite", ".local/share/Tiebreak/models/own.gguf"),
        *(".local/share/applications/other.desktop", ".local/share/icons/hicolor/64x64/apps/other.png"),
        *(".local/bin/other", ".cache/Tiebreak/models.sqlite", ".local/state/Tiebreak/log/tiebreak.log"),
    }
    write(home, **{name: name for name in before})
    program = installed(bundle, home)
    assert files(home) > before
    done = run((program if from_installed else bundle) / "install.sh", home, "--remove")
    assert (done.returncode, done.stderr) == (0, "")
    assert files(home) == before
    assert not program.exists()
    for folder in (".local/share/Tiebreak", ".cache/Tiebreak", ".local/state/Tiebreak"):
        assert str(home / folder) in done.stdout


def test_remove_says_where_nothing_is_installed(bundle: Path, home: Path) -> None:
    done = run(bundle / "install.sh", home, "--remove")
    assert (done.returncode, done.stdout) == (2, "")
    assert str(home / ".local" / "share" / "tiebreak-program") in done.stderr
    assert not list(home.rglob("*"))


def test_the_installed_copy_removes_itself_wherever_it_is(bundle: Path, home: Path, tmp_path: Path) -> None:
    share = tmp_path / "elsewhere"
    run(bundle / "install.sh", home, XDG_DATA_HOME=str(share))
    done = run(share / "tiebreak-program" / "install.sh", home, "--remove")
    assert done.returncode == 0
    assert not list(share.rglob("tiebreak*"))
    assert not (home / ".local" / "bin" / "tiebreak").is_symlink()


def test_a_folder_in_which_nothing_is_left_goes(bundle: Path, home: Path) -> None:
    run(bundle / "install.sh", home)
    (home / ".local" / "share" / "icons" / "own.txt").write_text("kept", encoding="ascii")
    run(bundle / "install.sh", home, "--remove")
    left = sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))
    assert left == [".local", ".local/share", ".local/share/icons", ".local/share/icons/own.txt"]


@pytest.mark.parametrize("word", ["--help", "remove", "--remove=all", "-"])
def test_a_wrong_argument_exits_with_2_and_usage_and_makes_nothing(
    bundle: Path, home: Path, word: str
) -> None:
    done = run(bundle / "install.sh", home, word)
    assert (done.returncode, done.stdout) == (2, "")
    assert "./install.sh --remove " in done.stderr
    assert "set -eu" not in done.stderr
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("missing", ["tiebreak", "_internal", "the right to run"])
def test_without_the_program_beside_it_it_exits_with_2_and_makes_nothing(
    bundle: Path, home: Path, missing: str
) -> None:
    if missing == "the right to run":
        (bundle / "tiebreak").chmod(0o644)
    else:
        (bundle / missing).rename(bundle.with_name("gone"))
    done = run(bundle / "install.sh", home)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unpack the whole archive" in done.stderr
    assert list(home.iterdir()) == []


def test_the_installed_copy_does_not_install_itself(bundle: Path, home: Path) -> None:
    program = installed(bundle, home)
    done = run(program / "install.sh", home)
    assert done.returncode == 2
    assert "This is the installed Tiebreak already" in done.stderr
    assert files(program) == files(bundle)


def test_a_folder_for_data_elsewhere_is_respected(bundle: Path, home: Path) -> None:
    data = home / "my data"
    program = installed(bundle, home, XDG_DATA_HOME=str(data))
    assert files(program) == files(bundle)
    assert not (home / ".local" / "share").exists()
    assert started_by(data / "applications" / "tiebreak.desktop") == str(program / "tiebreak")
    assert say(home / ".local" / "bin" / "tiebreak", "x") == ["Tiebreak", "x"]
    assert run(program / "install.sh", home, "--remove", XDG_DATA_HOME=str(data)).returncode == 0
    assert files(home) == set()


def test_started_through_a_link_to_its_folder_it_installs_the_program_not_the_link(
    bundle: Path, home: Path
) -> None:
    link = bundle.with_name("latest")
    link.symlink_to(bundle)
    program = installed(link, home)
    assert not program.is_symlink()
    shutil.rmtree(bundle)
    assert say(home / ".local" / "bin" / "tiebreak", "x") == ["Tiebreak", "x"]


def test_a_command_of_that_name_that_is_not_ours_stays_and_the_program_is_installed_without_it(
    bundle: Path, home: Path
) -> None:
    command = home / ".local" / "bin" / "tiebreak"
    command.parent.mkdir(parents=True)
    command.write_text("somebody else's", encoding="ascii")
    done = run(bundle / "install.sh", home)
    program = home / ".local" / "share" / "tiebreak-program"
    assert (done.returncode, done.stderr) == (0, "")
    assert f"There is another {command}" in done.stdout
    assert f"or with: {program / 'tiebreak'}\n" in done.stdout
    assert started_by(program.parent / "applications" / "tiebreak.desktop") == str(program / "tiebreak")
    assert run(program / "install.sh", home, "--remove").returncode == 0
    assert files(home) == {".local/bin/tiebreak"}
    assert command.read_text("ascii") == "somebody else's"


@pytest.mark.parametrize("to", ["/usr/bin/true", "gone", "."], ids=["a link", "a dead link", "a folder"])
def test_a_link_or_folder_of_that_name_stays_as_it_is(bundle: Path, home: Path, to: str) -> None:
    command = home / ".local" / "bin" / "tiebreak"
    command.parent.mkdir(parents=True)
    if to == ".":
        command.mkdir()
    else:
        command.symlink_to(to)
    program = installed(bundle, home)
    assert run(program / "install.sh", home, "--remove").returncode == 0
    assert list(command.iterdir()) == [] if to == "." else command.readlink() == Path(to)
