"""What the tests of the Results page share: the page, with a run or without."""

import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.settings.rows import JudgeSettings, Mode
from gui.results.results_page import ResultsPage
from gui.workspace.rewriter import Rewriter
from gui.workspace.workspace import Workspace
from tests.gui.results.steps import judge, open_run


@pytest.fixture(scope="session")
def two_runs(demo_store: Path, demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of `demo_store` whose run 2 is labels alone, of the first three items."""
    few = tmp_path_factory.mktemp("two_runs") / "few.tsv"
    few.write_bytes(b"\n".join(demo_gold.read_bytes().split(b"\n")[:4]))
    path = Path(shutil.copy(demo_store, few.parent))
    assert judge(path, few, JudgeSettings(mode=Mode.LABELS, context=4096)) == 2
    return path


@pytest.fixture(scope="session")
def few_labels(demo_gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of two criteria, without explanations: figures of them are drawn in half the time."""
    rows = [line.split("\t") for line in demo_gold.read_text("utf-8").splitlines()]
    kept = [*range(4), *[place for place, title in enumerate(rows[0]) if title.endswith("_preference")][:2]]
    path = tmp_path_factory.mktemp("few_labels") / "few_labels.tsv"
    path.write_text("".join("\t".join(row[place] for place in kept) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def page(qtbot: QtBot, space: Workspace) -> ResultsPage:
    made = ResultsPage(space, Rewriter(space))
    qtbot.addWidget(made)
    made.resize(1180, 640)
    made.show()
    return made


@pytest.fixture
def opened(qtbot: QtBot, page: ResultsPage) -> ResultsPage:
    """The page with the demo run, measured."""
    return open_run(qtbot, page, 1)
