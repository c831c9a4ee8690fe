"""Certificates: made where their package is there; a folder that lacks one, or shows the key, is refused."""

import stat
import sys
from pathlib import Path

import pytest

from engine.cluster import certificates
from engine.core.errors import SetupError
from tests.commands import refusal


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"authority\.pem is missing"):
        certificates.certificate_files(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    files = certificates.CertificateFiles.within(tmp_path)
    for path in files:
        path.touch(0o600)
    assert certificates.certificate_files(tmp_path) == files
    files.key.chmod(0o640)
    with pytest.raises(SetupError, match="others on this computer can read"):
        certificates.certificate_files(tmp_path)


def test_certificates_are_made_once_and_their_key_is_secret(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    files = certificates.make_certificates(tmp_path / "new")
    if sys.platform != "win32":
        assert stat.S_IMODE(files.key.stat().st_mode) == 0o600
    assert b"PRIVATE" not in files.authority.read_bytes() + files.certificate.read_bytes()
    before = files.key.read_bytes()
    with pytest.raises(SetupError, match="exists already"):
        certificates.make_certificates(tmp_path / "new")
    assert files.key.read_bytes() == before


def test_without_its_packages_a_cluster_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.cli.shared.cluster.find_spec", lambda _name: None)
    for words in (
        ["cluster", "scheduler"],
        ["judge", "x.tsv", "--model", "demo", "--out", tmp_path / "o.tsv", "--cluster", "tls://x:1"],
    ):
        done = refusal(*words)
        assert "packages that are not installed: dask, distributed, cryptography" in done
        assert "python -m pip install -r requirements-cluster.txt" in done


@pytest.mark.parametrize("option", [["--threads", "2"], ["--device", "cpu"]])
def test_how_this_computer_works_is_no_matter_of_a_cluster(tmp_path: Path, option: list[str]) -> None:
    done = refusal(
        "judge", "x.tsv", "--model", "demo", "--out", tmp_path / "o.tsv", "--cluster", "tls://x:1", *option
    )
    assert "Set it for each worker" in done


# Addresses of schedulers: what they may be, and plain connections kept on this computer


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
    assert str(certificates.scheduler_address(text)) == found


@pytest.mark.parametrize(
    "text", ["", "http://x:1", "tls://x:0", "tls://x:99999", "tls://x y:1", "tls://:5", "a:b:c"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match="is not the address of a scheduler"):
        certificates.scheduler_address(text)


@pytest.mark.parametrize("host", ["judge-1", "10.0.0.7", "0.0.0.0", "127.0.0.1.example.org"])
def test_a_plain_connection_leaves_this_computer_only_where_that_is_wished(host: str) -> None:
    with pytest.raises(SetupError, match="anyone on the network path could read the dataset"):
        certificates.scheduler_address(f"tcp://{host}:8786")
    assert not certificates.scheduler_address(f"tcp://{host}:8786", plain_tcp=True).encrypted


def test_a_scheduler_file_names_the_address(tmp_path: Path) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text('{"type": "Scheduler", "address": "tls://10.0.0.7:8786"}', "utf-8")
    assert str(certificates.scheduler_address(str(path))) == "tls://10.0.0.7:8786"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"address": 5}', '{"address": "tcp://10.0.0.7:8786"}'])
def test_another_file_is_refused_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(text, "utf-8")
    with pytest.raises(SetupError, match=r"^scheduler\.json"):
        certificates.scheduler_address(str(path))
