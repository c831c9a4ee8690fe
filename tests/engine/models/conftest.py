"""What tests of model files share: child processes that do something else than was asked of them."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def child_that(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets the child processes that try models and render templates be real ones that do something else."""

    def child_that(program: str) -> None:
        for module in ("checked_model", "templates"):
            patched = f"engine.models.{module}.self_command"
            monkeypatch.setattr(patched, lambda: [sys.executable, "-c", program])

    return child_that


@pytest.fixture
def put(small_model: Callable[[str], Path]) -> Callable[[Path], Path]:
    """Copies a sound model to a path, whose folders it makes."""

    def copy(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(small_model("chatml"), path))

    return copy
