"""All tests here are marked `desktop`, and skipped where a desktop cannot be made."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from PySide6.QtWidgets import QApplication

from tests.desktop.desk import Desk, desk, missing_tools
from tests.desktop.loose_pictures import LoosePictures

_HERE = Path(__file__).resolve().parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--redraw`: store what is seen in place of the stored pictures."""
    parser.addoption("--redraw", action="store_true", help="draw the pictures of tests/desktop/ anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.desktop)


@pytest.fixture
def a_desk() -> Iterator[Desk]:
    """A desktop of 1280 by 720 pixels with nothing on it."""
    if missing := missing_tools():
        pytest.skip(f"no desktop without {', '.join(missing)} (make test-desktop installs them)")
    with TemporaryDirectory(prefix="desk-") as folder, desk(Path(folder)) as made:
        yield made


@pytest.fixture
def pictures(
    pytestconfig: pytest.Config, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LoosePictures]:
    """Pictures to hold the screen against: at the end the test fails where one was not as it is stored."""
    kept = tmp_path_factory.getbasetemp() / "pictures" / request.node.name  # of this run of the tests alone
    held = LoosePictures(kept, pytestconfig.getoption("redraw", default=False))
    yield held
    assert not held.broken, "\n".join(held.broken)


_own: list[QApplication] = []  # kept: Qt has one


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """A window that a test makes itself is drawn without a screen; programs that it starts have theirs."""
    if QApplication.instance() is None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("QT_QPA_PLATFORM", "offscreen")
            _own.append(QApplication([]))
    return QApplication
