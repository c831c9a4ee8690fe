"""The job that combines several systems into a jury and stores it as a run.

Knows: the steps of a jury. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.label_sources import LabelSourceKind
from engine.core.sheets import Section, Sentences, Sheet, Tone
from gui.compare.compare_jobs import CompareRequest
from gui.work.file_jobs import with_labels_for
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.calibrate.panel import Jury
    from engine.data.dataset import Dataset
    from engine.decisions.calibration import Calibration
    from engine.measure.systems import System


@dataclass(frozen=True)
class JuryRequest:
    """Which systems form a jury, and how they are combined.

    `gold`: the human labels that weights are fitted to; None for the mean of all. `lengths`: whether
    the lengths of the responses may count then. `certainty`: of a label of a submission, None as by default.
    """

    choice: CompareRequest
    name: str = ""
    gold: "Dataset | None" = None
    lengths: bool = False
    certainty: float | None = None


@dataclass(frozen=True)
class StoredJury:
    """A jury that is stored as a run: its number and title, and what is to be seen of it."""

    run_id: int
    title: str
    sheet: Sheet


def decide_together(store_path: Path, request: JuryRequest) -> Job[StoredJury]:
    """Make a jury and store it; reports MeasureProgress while it is fitted. SetupError, StoreError."""

    def work(control: JobControl) -> StoredJury:
        from engine.calibrate.panel import DEFAULT_CERTAINTY, items_of, make_jury
        from engine.core.run_records import checked_name
        from engine.measure.systems import open_system, system_of_file, told_apart
        from engine.report.run_tables import labels_given_section
        from engine.store.run_store import RunStore

        called = checked_name(request.name, "the jury")
        runs = [open_system(str(run), store_path, LabelSourceKind.JUDGE) for run in request.choice.runs]
        systems = told_apart([*runs, *map(system_of_file, request.choice.files)])
        control.cancel.raise_if_requested()
        items = items_of(systems, request.gold, control.cancel)
        panel = make_jury(systems, items, partial=True, certainty=request.certainty or DEFAULT_CERTAINTY)
        calibration, fitted = _fitted(panel, systems, request, control) if request.gold else (None, [])
        said = [Section("remarks", "", [Sentences(panel.remarks, Tone.CAVEAT)])] if panel.remarks else []
        sections = [*said, *fitted]
        control.cancel.raise_if_requested()
        with RunStore(store_path) as store:
            run = panel.keep(store, called, calibration)
        results = panel.results.calibrated(calibration)
        return StoredJury(run.id, run.title, Sheet("", [*sections, labels_given_section(results)]))

    return work


def _fitted(
    panel: "Jury", systems: "Sequence[System]", request: JuryRequest, control: JobControl
) -> "tuple[Calibration, list[Section]]":
    """The calibration of the jury by human labels, and the sections that show it."""
    from engine.calibrate.run_calibration import Wishes, calibrating
    from engine.core.events import followed
    from engine.measure.matching import match
    from engine.measure.systems import system_of_run
    from engine.report.calibration_tables import calibration_sections, calibration_warnings

    assert request.gold is not None
    asked = [system.asked for system in systems if system.asked]
    labels = with_labels_for(request.gold, asked, control.cancel)
    matched = match(system_of_run(panel.results), labels, partial=True)
    made = followed(calibrating(matched, control.cancel, Wishes(lengths=request.lengths)), control.report)
    said = [*matched.left_out, *matched.labels_in_words, *calibration_warnings(made)]
    doubts = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
    return made.calibration, [*doubts, *calibration_sections(made)]
