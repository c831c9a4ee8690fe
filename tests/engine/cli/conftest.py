"""Commands in this process, on the store of the demo run and on one in which a person overrode something."""

import shutil
from pathlib import Path

import pytest

from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.store.run_store import RunStore
from tests.commands import give as given
from tests.engine.cli.in_process import Command, Streams


@pytest.fixture
def command(demo_store: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Gives a command in this process, with the store of `demo_store`; what it printed on stdout."""

    def give(name: str, *words: object) -> str:
        assert given(name, *words, "--store", demo_store) == 0
        return capsys.readouterr().out

    return give


@pytest.fixture
def overridden(demo_store: Path, demo_gold: Path, tmp_path: Path) -> Path:
    """A copy of `demo_store` in which Ada says of the first item's safety what no human label says."""
    path = tmp_path / "overridden.sqlite"
    shutil.copy(demo_store, path)
    item = load_dataset(demo_gold)[0]
    wrong = next(label for label in Preference if label is not item.gold["safety"].label)
    with RunStore(path) as store:
        store.annotate(
            1, new_override(item.id, "safety", preference=wrong, explanation="I saw it.", author="Ada")
        )
    return path


@pytest.fixture
def streams(overridden: Path, capsys: pytest.CaptureFixture[str]) -> Streams:
    """Gives a command in this process, with the store of `overridden`; what it wrote to stdout and stderr."""

    def give(name: str, *words: object) -> tuple[str, str]:
        assert given(name, *words, "--store", overridden) == 0
        printed = capsys.readouterr()
        return printed.out, printed.err

    return give
