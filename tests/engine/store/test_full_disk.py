"""A store on a disk without a free byte: it is read, the disk is named, and deleted runs make room."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.engine.store.on_full_disk import ITEMS, MEGABYTES

_MOUNT = 'mount -t tmpfs -o size="$1m" tmpfs "$2" && shift 2 && exec "$@"'


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was found in each step by a process in whose eyes a folder is a disk of its own."""
    folder = str(tmp_path_factory.mktemp("disk"))
    own = ["unshare", "-Urm", "sh", "-c", _MOUNT, "sh", str(MEGABYTES), folder]
    try:
        subprocess.run([*own, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no disk can be mounted here")
    command = [*own, sys.executable, "-m", "tests.engine.store.on_full_disk", folder]
    said = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    steps: dict[str, Any] = json.loads(said)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("step", ["closed", "opened", "filled_by_judging"])
def test_it_is_read_and_deleting_a_run_makes_room(found: dict[str, Any], step: str) -> None:
    seen = found[step]
    assert (seen["free"], seen["judged"]) == (0, ITEMS)
    assert "full" in seen["refused"]
    assert "permission" not in seen["refused"]
    assert "delete runs" in seen["refused"]
    assert (seen["runs"], seen["rows"], seen["other"], seen["sound"]) == ([2], 0, ITEMS, "ok")
    assert seen["freed"] > 200_000
    assert seen["free after"] > 200_000


@pytest.mark.slow
def test_where_no_room_was_kept_nothing_is_lost_and_the_disk_is_named(found: dict[str, Any]) -> None:
    seen = found["without_reserve"]
    assert (seen["judged"], seen["runs"]) == (ITEMS, [1, 2])
    assert "its disk is full" in seen["refused"]
    assert "Free some space there, then try again" in seen["refused"]
    assert "Free some space, then try again" in seen["refused while open"]
