"""The job that makes an audit of a judge a run that can wait in the queue.

Knows: which items and perturbations it is of, where they are kept. Does not know: windows.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.core.run_setup import RunSetup
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset


class DescribedAudit(NamedTuple):
    """The run that an audit is, and a sentence on perturbations that could not be made, empty where all
    could.
    """

    setup: RunSetup
    lacking: str


def describe_audit(setup: RunSetup, dataset: "Dataset", store_path: Path) -> Job[DescribedAudit]:
    """The audit of the judge of a setup with items of a dataset, whose perturbations are written."""

    def work(_control: JobControl) -> DescribedAudit:
        from engine.audit.audit_run import audit_setup, default_place
        from engine.audit.probe_set import make_perturbations

        perturbations = make_perturbations(dataset)
        path = default_place(perturbations, store_path)
        perturbations.write(path)
        return DescribedAudit(audit_setup(setup, path.absolute(), dataset.name), perturbations.lacking)

    return work
