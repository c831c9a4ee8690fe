"""Jobs on the run store: which runs there are, one run with its dataset, overrides.

Knows: what a run is opened with, who overrides. Does not know: windows.
"""

import getpass
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.health import Health
from engine.core.judgments import NewOverride, Override
from gui.work.gc_pause import many_records
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults

OverrideJob = Job[Sequence[Override]]


def list_runs(store_path: Path) -> "Job[Sequence[StoredRun]]":
    """All runs, the newest first; none where there is no store yet."""

    def work(_control: JobControl) -> "Sequence[StoredRun]":
        from engine.store.run_store import RunStore

        if not store_path.exists():
            return []
        with RunStore(store_path) as store:
            return store.runs()[::-1]

    return work


def open_run(
    store_path: Path, run_id: int, at_hand: "Dataset | None"
) -> "Job[tuple[RunResults, Dataset | None, Health]]":
    """A run, the items that it judged, out of the file that the run names, else out of `at_hand`, and what
    speaks against its judge.
    """

    def work(control: JobControl) -> "tuple[RunResults, Dataset | None, Health]":
        from engine.decisions.health import run_health
        from engine.decisions.run_results import load_results
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, many_records():
            results = load_results(store, run_id)
        return results, _judged_items(results.run, at_hand, control.cancel), run_health(results)

    return work


def _judged_items(run: "StoredRun", at_hand: "Dataset | None", cancel: CancelToken) -> "Dataset | None":
    from engine.decisions.run_dataset import dataset_of_run, judged_items

    own = run.identity.dataset_path
    if at_hand is not None and at_hand.path.absolute() == own.absolute():
        with suppress(SetupError):
            return judged_items(run, at_hand)
    # Before what is at hand: another file may hold the same texts with other labels, or with none.
    with suppress(SetupError):
        return dataset_of_run(run, cancel=cancel)
    if at_hand is not None:
        with suppress(SetupError):
            return judged_items(run, at_hand)
    return None  # gone or changed: the page says so and asks for the file


def override(store_path: Path, run_id: int, new: NewOverride) -> OverrideJob:
    """Store an override; the run's whole history."""

    def work(_control: JobControl) -> Sequence[Override]:
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store:
            store.override(run_id, new)
            return store.overrides(run_id)

    return work


def undo_override(store_path: Path, run_id: int, item_id: str, criterion: str) -> OverrideJob:
    """Take the last override of a judgment back; the run's whole history."""

    def work(_control: JobControl) -> Sequence[Override]:
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store:
            store.undo_override(run_id, item_id, criterion)
            return store.overrides(run_id)

    return work


def account_name() -> str:
    """The name of the user's account on this computer."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
