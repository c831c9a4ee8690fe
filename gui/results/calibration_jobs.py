"""Jobs of calibration: fit, load and save one, and decide a run with it.

Knows: which sections show a calibration. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.sheets import Section, Sentences, Sheet, Tone
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.calibration import Calibration
    from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class Proposal:
    """A calibration that a run could be decided with.

    `source`: where it comes from, for display. `sheet`: what it is worth, and what it does to the labels of
    the run. `one_label`: whether it gives one label to everything. `fitted`: its numbers; None for one from a
    file.
    """

    calibration: "Calibration"
    source: str
    sheet: Sheet
    one_label: bool
    fitted: Section | None = None


def fit(results: "RunResults", gold: "Dataset", wishes: Mapping[str, bool]) -> Job[Proposal]:
    """Fit a calibration to the run's own raw predictions and these labels, as `calibrating` with these
    requests, whose MeasureProgress it reports. Raises SetupError.
    """

    def work(control: JobControl) -> Proposal:
        from engine.calibrate.run_calibration import Wishes, calibrating
        from engine.core.events import followed
        from engine.measure.matching import match
        from engine.measure.systems import system_of_run
        from engine.report.calibration_tables import (
            calibration_warnings,
            parameter_section,
            quality_section,
            sources_section,
        )
        from engine.report.run_tables import changes_section

        # Raw predictions are the model's: human overrides takes no part.
        matched = match(system_of_run(results.model_alone()), gold, partial=True)
        made = followed(calibrating(matched, control.cancel, Wishes(**wishes)), control.report)
        one_label = made.one_label_sentence(results)
        changes = changes_section(results, results.calibrated(made.calibration))
        said = [one_label, *matched.labels_in_words, *calibration_warnings(made)]
        sheet = _sheet(said, quality_section(made), *sources_section(made), changes)
        source = f"fitted on {matched.dataset.name}"
        return Proposal(made.calibration, source, sheet, bool(one_label), parameter_section(made))

    return work


def load(results: "RunResults", path: Path) -> Job[Proposal]:
    """A calibration out of a file. SetupError where it is none, or made for another judge."""

    def work(_control: JobControl) -> Proposal:
        from engine.decisions.calibration import load_calibration
        from engine.report.run_tables import changes_section

        calibration = load_calibration(path)
        lacking = calibration.check_run(results.run, results.judged)
        source = f"from {path.name}, fitted on {calibration.dataset}"
        after = results.calibrated(calibration)
        one_label = after.one_label_sentence
        sheet = _sheet([lacking, one_label], changes_section(results, after))
        return Proposal(calibration, source, sheet, bool(one_label))

    return work


def _sheet(doubts: Sequence[str], *sections: Section) -> Sheet:
    said = [*filter(None, doubts)]
    before = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
    return Sheet("", [*before, *sections])


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
