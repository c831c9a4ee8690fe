"""Tests of clusters run where what they need is installed: `make test-cluster`, not `make test`."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine.cluster.certificates import make_certificates
from tests.cluster.asking import judged
from tests.cluster.running import LocalCluster, cluster_of_two

collect_ignore_glob = [] if find_spec("distributed") and find_spec("cryptography") else ["test_*.py"]


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificates(tmp_path_factory.mktemp("certificates")).key.parent


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, certificates: Path) -> Iterator[LocalCluster]:
    """An encrypted cluster with two workers. Who ends a part of it starts that again."""
    with cluster_of_two(tmp_path_factory.mktemp("cluster"), certificates) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory, shared_home: Path) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    assert judged(folder, "--threads", 1).returncode == 0
    return folder
