"""Addresses of schedulers: what they may be, and plain connections kept on this computer."""

from pathlib import Path

import pytest

from engine.cluster.certificates import scheduler_address
from engine.core.errors import SetupError


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tls://judge-1:9000", "tls://judge-1:9000"),
        ("tls://judge-1", "tls://judge-1:8786"),
        ("10.0.0.7:8786", "tls://10.0.0.7:8786"),
        ("tcp://127.0.0.1:5", "tcp://127.0.0.1:5"),
        ("localhost:5", "tcp://localhost:5"),
        ("tls://[::1]:5/", "tls://[::1]:5"),
        ("[::1]:5", "tcp://[::1]:5"),
    ],
)
def test_an_address_is_read(text: str, found: str) -> None:
    assert str(scheduler_address(text)) == found


@pytest.mark.parametrize(
    "text", ["", "http://x:1", "tls://x:0", "tls://x:99999", "tls://x y:1", "tls://:5", "a:b:c"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="is not the address of a scheduler"):
        scheduler_address(text)


@pytest.mark.parametrize("host", ["judge-1", "10.0.0.7", "0.0.0.0", "127.0.0.1.example.org"])
def test_a_plain_connection_leaves_this_computer_only_where_that_is_wished(host: str) -> None:
    with pytest.raises(SetupError, match="anyone on the network path could read the dataset"):
        scheduler_address(f"tcp://{host}:8786")
    assert not scheduler_address(f"tcp://{host}:8786", plain_tcp=True).encrypted


def test_a_scheduler_file_names_the_address(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text('{"type": "Scheduler", "address": "tls://10.0.0.7:8786"}', "utf-8")
    assert str(scheduler_address(str(path))) == "tls://10.0.0.7:8786"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 5}', '{"address": "tcp://10.0.0.7:8786"}'])
def test_another_file_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SetupError, match=r"^scheduler\.json"):
        scheduler_address(str(path))
