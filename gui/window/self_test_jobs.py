"""The job of the self-test.

Knows: that a self-test reports each check. Does not know: windows.
"""

from engine.core.events import followed
from gui.work.apart_jobs import worker
from gui.work.lanes import Job, JobControl


def check_all() -> Job[None]:
    """Do every check, by a process of its own as the window judges; reports each engine.self_test.Check."""

    def work(control: JobControl) -> None:
        from engine.self_test import internet_check, self_test

        with worker(self_test, control) as tester:
            followed(tester.do(), control.report)
        control.report(internet_check("internet, in the window"))

    return work
