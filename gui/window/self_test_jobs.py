"""The job of the self-test.

Knows: that a self-test reports each check. Does not know: windows.
"""

from gui.work.lanes import Job, JobControl


def check_all() -> Job[None]:
    """Do every check; reports each engine.self_test.Check."""

    def work(control: JobControl) -> None:
        from engine.self_test import self_test

        for check in self_test(control.cancel):
            control.report(check)

    return work
