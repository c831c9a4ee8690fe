"""Jobs that keep the runs of the store in order: names, notes, archive, deletion, differences, health.

Knows: which call of the store does what. Does not know: windows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.health import Health
from engine.core.tables import Sheet, Table
from engine.settings.run_lists import Deleted, RunContents
from gui.workspace.garbage import many_records
from gui.workspace.store_jobs import in_store
from gui.workspace.threads import Job, JobControl

if TYPE_CHECKING:
    pass


def archive(store_path: Path, run_ids: Sequence[int], by: str) -> Job[None]:
    """Put runs away."""
    return in_store(store_path, lambda store: store.archive(run_ids, by))


def restore(store_path: Path, run_ids: Sequence[int]) -> Job[None]:
    """Take runs out of the archive."""
    return in_store(store_path, lambda store: store.restore(run_ids))


def contents(store_path: Path, run_ids: Sequence[int]) -> Job[Sequence[RunContents]]:
    """What would go with runs that are deleted."""
    return in_store(store_path, lambda store: store.contents(run_ids))


def delete(store_path: Path, run_ids: Sequence[int], with_decisions: bool) -> Job[Deleted]:
    """Delete runs for good."""
    return in_store(store_path, lambda store: store.delete(run_ids, with_decisions))


def differences(store_path: Path, first: int, other: int) -> Job[Table]:
    """Two runs side by side."""

    def work(_control: JobControl) -> Table:
        from engine.report.run import differences_table
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, store.reading():
            runs = store.run(first), store.run(other)
            efforts = {run.id: store.efforts(run.id) for run in runs}
            return differences_table(*runs, efforts, store.shared_items(first).get(other, 0))

    return work


def drift(store_path: Path, first: int, other: int) -> Job[Sheet]:
    """What changed from one run to another; SetupError where that cannot be told."""

    def work(control: JobControl) -> Sheet:
        from engine.metrics.run_drift import stored_drift
        from engine.report.drift import drift_sections
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, many_records():
            found = stored_drift(store, first, other, cancel=control.cancel)
        return Sheet("Regression check", tuple(drift_sections(found)))

    return work


def health(store_path: Path, run_id: int) -> Job[tuple[int, Health]]:
    """What speaks against the judge of a run, with the run's number."""

    def work(_control: JobControl) -> tuple[int, Health]:
        from engine.results.health import run_health
        from engine.results.run_results import load_results
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, many_records():
            return run_id, run_health(load_results(store, run_id))

    return work
