"""What tests of model files share: child processes that do something else than was asked of them."""

import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def child_that(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets the child processes that try models and render templates be real ones that do something else."""

    def child_that(program: str) -> None:
        for module in ("checked_model", "templates"):
            patched = f"engine.models.{module}.self_command"
            monkeypatch.setattr(patched, lambda: [sys.executable, "-c", program])

    return child_that
