"""The job that gathers diagnostics.

Knows: that the engine tells them. Does not know: windows.
"""

from collections.abc import Sequence
from pathlib import Path

from engine.core.events import followed
from gui.work.apart_jobs import worker
from gui.work.lanes import Job, JobControl


def tell(screen: Sequence[tuple[str, str]], settings: Sequence[tuple[str, str]], store: Path) -> Job[str]:
    """The text, by a process of its own: it starts llama.cpp. `settings`: those of the window."""

    def work(control: JobControl) -> str:
        from engine.diagnostics import OfWindow, tell_diagnostics

        with worker(tell_diagnostics, control) as teller:
            return followed(teller.do(store, OfWindow(screen, settings)), control.report)

    return work
