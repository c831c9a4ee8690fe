"""What `packaging/macos/sign.sh` signs and leaves, with stand-ins for the tools that only macOS has."""

import base64
import os
import shutil
import struct
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.packaging.steps import ran, write

needs = pytest.mark.skipif(sys.platform == "win32" or not shutil.which("file"), reason="needs sh and file")
SCRIPT = ROOT / "packaging" / "macos" / "sign.sh"
PROGRAM, LIBRARY = 2, 6
WITH_RIGHTS = "--entitlements"
STAND_IN = """#!/bin/sh
name=$(basename "$0")
echo "$name $*" >> "$LOG"
case "$name $*" in
    "security list-keychains -d user") echo '    "/a folder/login.keychain-db"' ;;
    "security find-identity "*) echo '  1) ABC "Developer ID Application: Ada (1)"' ;;
    "plutil "*) echo tiebreak ;;
    "uuidgen "*) echo word ;;
    "ditto -x "*) mkdir "$4" && cp -R "$UNPACKED" "$4/tiebreak" ;;
    "ditto -c "*) touch "$5" ;;
    "codesign "*"$UNSIGNABLE") exit 1 ;;
esac
"""


def machine_code(kind: int) -> bytes:
    """The head of a Mach-O file for Apple's processors."""
    return struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0, kind, 0, 0, 0, 0)


def signed(folder: Path, unsignable: str = "nothing") -> tuple[int, list[str]]:
    """The exit code of the script with an application, and each call of a tool of macOS."""
    contents = folder / "unpacked" / "Tiebreak.app" / "Contents"
    programs, libraries = ("tiebreak", "a helper"), ("a.dylib", "b.so", "plain", "Qt.framework/Versions/A/Qt")
    write(contents / "MacOS", **dict.fromkeys(programs, machine_code(PROGRAM)))
    write(contents / "Frameworks", **dict.fromkeys(libraries, machine_code(LIBRARY)))
    write(contents / "Resources", **{"words.txt": "words"})
    tools = folder / "tools"
    for name in ("security", "plutil", "uuidgen", "ditto", "codesign", "xcrun", "spctl"):
        write(tools, **{name: STAND_IN})
        (tools / name).chmod(0o755)
    archive, log = folder / "bundle.zip", folder / "log"
    archive.touch()
    words = dict.fromkeys(("CERTIFICATE_PASSWORD", "NOTARY_KEY", "NOTARY_KEY_ID", "NOTARY_ISSUER"), "word")
    environment = {
        **os.environ,
        **words,
        "CERTIFICATE": base64.b64encode(b"certificate").decode(),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "LOG": str(log),
        "UNPACKED": str(contents.parent.parent),
        "UNSIGNABLE": unsignable,
    }
    done = ran("sh", SCRIPT, archive, env=environment, check=False)
    return done.returncode, log.read_text("utf-8").splitlines()


@needs
def test_all_machine_code_is_signed_from_the_inside_out(tmp_path: Path) -> None:
    code, calls = signed(tmp_path)
    assert code == 0
    parts = {
        call.partition("Tiebreak.app")[2]: WITH_RIGHTS in call for call in calls if "codesign --force" in call
    }
    assert parts == {
        "/Contents/Frameworks/a.dylib": False,
        "/Contents/Frameworks/b.so": False,
        "/Contents/Frameworks/plain": False,
        "/Contents/MacOS/a helper": True,
        "/Contents/Frameworks/Qt.framework": False,
        "": True,
    }
    assert list(parts)[-2:] == ["/Contents/Frameworks/Qt.framework", ""]


@needs
@pytest.mark.parametrize("unsignable", ["nothing", "plain"])
def test_the_keychain_is_listed_before_those_that_were_and_only_while_it_is_used(
    tmp_path: Path, unsignable: str
) -> None:
    code, calls = signed(tmp_path, unsignable)
    assert (code == 0) is (unsignable == "nothing")
    asked = [call for call in calls if call.startswith("security ")]
    kept = next(call.split()[-1] for call in asked if "create-keychain" in call)
    assert f"security set-keychain-settings -lut 21600 {kept}" in asked
    own = "/a folder/login.keychain-db"
    listed = [call for call in asked if call.startswith("security list-keychains -d user -s")]
    assert [call.partition(" -s ")[2] for call in listed] == [f"{kept} {own}", own]
    assert asked[-2:] == [listed[1], f"security delete-keychain {kept}"]
    assert calls[-2:] == asked[-2:]
