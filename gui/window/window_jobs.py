"""The job of the self-test.

The job that gathers diagnostics.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.core.events import followed
from gui.workspace.threads import Job, JobControl
from gui.workspace.worker_jobs import worker


def tell(screen: Sequence[tuple[str, str]], settings: Sequence[tuple[str, str]], store: Path) -> Job[str]:
    """The text, by a process of its own: it starts llama.cpp. `settings`: those of the window."""

    def work(control: JobControl) -> str:
        from engine.operations.diagnostics import OfWindow, tell_diagnostics

        with worker(tell_diagnostics, control) as teller:
            return followed(teller.do(store, OfWindow(screen, settings)), control.report)

    return work


def check_all() -> Job[None]:
    """Do every check, by a process of its own as the window judges; reports each engine.operations.self_test.Check."""

    def work(control: JobControl) -> None:
        from engine.operations.self_test import internet_check, self_test

        with worker(self_test, control) as tester:
            followed(tester.do(), control.report)
        control.report(internet_check("internet, in the window"))

    return work
