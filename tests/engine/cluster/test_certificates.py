"""Certificates: made where their package is there; a folder that lacks one, or shows the key, is refused."""

import stat
import sys
from pathlib import Path

import pytest

from engine.cluster.certificates import CertificateFiles, certificate_files, make_certificates
from engine.core.errors import SetupError
from tests.commands import run_here


def test_a_missing_certificate_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"authority\.pem is missing"):
        certificate_files(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path)
    for path in files.all:
        path.touch(0o600)
    assert certificate_files(tmp_path) == files
    files.key.chmod(0o640)
    with pytest.raises(SetupError, match="others on this computer can read"):
        certificate_files(tmp_path)


def test_certificates_are_made_once_and_their_key_is_secret(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    files = make_certificates(tmp_path / "new")
    if sys.platform != "win32":
        assert stat.S_IMODE(files.key.stat().st_mode) == 0o600
    assert b"PRIVATE" not in files.authority.read_bytes() + files.certificate.read_bytes()
    before = files.key.read_bytes()
    with pytest.raises(SetupError, match="is there already"):
        make_certificates(tmp_path / "new")
    assert files.key.read_bytes() == before


def test_without_its_packages_a_cluster_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.cli.shared.cluster.find_spec", lambda _name: None)
    for words in (
        ["cluster", "scheduler"],
        ["judge", "x.tsv", "--model", "demo", "--out", tmp_path / "o", "--cluster", "tls://x:1"],
    ):
        done = run_here(*words)
        assert done.returncode == 2
        assert "packages that are not installed: dask, distributed, cryptography" in done.stderr
        assert "python -m pip install -r requirements-cluster.txt" in done.stderr


@pytest.mark.parametrize("option", [["--threads", "2"], ["--device", "cpu"]])
def test_how_this_computer_works_is_no_matter_of_a_cluster(tmp_path: Path, option: list[str]) -> None:
    done = run_here(
        "judge", "x.tsv", "--model", "demo", "--out", tmp_path / "o", "--cluster", "tls://x:1", *option
    )
    assert done.returncode == 2
    assert "Set it for each worker" in done.stderr
