"""What of a lock is asked for on each system, and what is said to lack."""

import pytest
import wheels

LOCK = (
    "colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n"
    "llama-cpp-python==0.3.36 \\\n    --hash=sha256:00\n"
    "macholib==1.16.4 ; sys_platform == 'darwin' \\\n    --hash=sha256:00\n"
    "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:00\n"
    "numpy==2.5.5 ; python_full_version >= '3.12' \\\n    --hash=sha256:00\n"
)


@pytest.mark.parametrize(
    ("system", "python", "expected"),
    [
        ("win_amd64", "3.11", ["colorama==0.4.6", "numpy==2.4.6"]),
        ("macosx_14_0_arm64", "3.13", ["macholib==1.16.4", "numpy==2.5.5"]),
    ],
)
def test_a_lock_is_read_as_that_system_reads_it(system: str, python: str, expected: list[str]) -> None:
    assert list(wheels.pinned(LOCK, system, python)) == expected


def test_what_lacks_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "_are_there", lambda wanted, *_: "gone==1" not in wanted)
    assert wheels.without_wheel(["a==1", "b==2", "gone==1", "c==3"], "win_amd64", "3.11") == ["gone==1"]
    assert wheels.without_wheel(["a==1"], "win_amd64", "3.11") == []
