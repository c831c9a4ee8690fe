"""Jobs of calibration: fit, load and save one, and decide a run with it.

Knows: which tables show a calibration. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.value_tables import Table
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.calibration import Calibration
    from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class Proposal:
    """A calibration that a run could be decided with.

    `source`: where it comes from, for people. `quality`, `parameters`: None for one from a file. `changes`:
    what it does to the labels of the run. `one_label`: what is to be said where it gives one label to
    everything, else empty. `warnings`: sentences.
    """

    calibration: "Calibration"
    source: str
    changes: Table
    one_label: str
    quality: Table | None = None
    parameters: Table | None = None
    warnings: Sequence[str] = ()


def fit(results: "RunResults", gold: "Dataset") -> Job[Proposal]:
    """Fit a calibration to the run's own readings and these labels. Raises SetupError."""

    def work(control: JobControl) -> Proposal:
        from engine.calibrate.run_calibration import calibrate_run
        from engine.measure.matching import match
        from engine.measure.systems import system_of_run
        from engine.report.calibration_tables import calibration_warnings, parameter_table, quality_table
        from engine.report.run_tables import changes_table

        # Readings are the model's: what people overrode takes no part.
        matched = match(system_of_run(results.model_alone()), gold, partial=True)
        made = calibrate_run(matched, control.cancel)
        return Proposal(
            made.calibration,
            f"fitted on {matched.dataset.name}",
            changes_table(results, results.calibrated(made.calibration)),
            made.one_label_sentence(results),
            quality_table(made.reports),
            parameter_table(made.reports),
            list(calibration_warnings(made)),
        )

    return work


def load(results: "RunResults", path: Path) -> Job[Proposal]:
    """A calibration out of a file. SetupError where it is none, or made for another judge."""

    def work(_control: JobControl) -> Proposal:
        from engine.decisions.calibration import judge_of_run, load_calibration
        from engine.report.run_tables import changes_table

        calibration = load_calibration(path)
        calibration.check_fits(judge_of_run(results.run.identity))
        source = f"from {path.name}, fitted on {calibration.dataset}"
        after = results.calibrated(calibration)
        return Proposal(calibration, source, changes_table(results, after), after.one_label_sentence)

    return work


def apply(store_path: Path, run_id: int, calibration: "Calibration | None") -> Job[None]:
    """Decide a run with a calibration from now on, with none for None. Raises RunBusyError, StoreError."""

    def work(_control: JobControl) -> None:
        from engine.store.run_store import RunStore

        with RunStore(store_path) as store, store.hold(run_id):
            store.calibrate(run_id, calibration.as_json() if calibration else None)

    return work


def save(calibration: "Calibration", path: Path, in_use: Mapping[str, Path]) -> Job[Path]:
    """Write a calibration to a file, over none that is in use. Raises SetupError."""

    def work(_control: JobControl) -> Path:
        from engine.decisions.calibration import save_calibration
        from engine.system.files import check_targets

        check_targets({"the calibration": path}, in_use)
        save_calibration(path, calibration)
        return path

    return work
