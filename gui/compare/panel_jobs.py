"""The job that decides several systems together and keeps that as a run.

Knows: the steps of a panel. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.label_sources import Whose
from engine.core.sheets import Section, Sentences, Sheet, Tone
from gui.compare.compare_jobs import CompareWish
from gui.work.file_jobs import with_labels_for
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.calibrate.panel import Panel
    from engine.data.dataset import Dataset
    from engine.decisions.calibration import Calibration
    from engine.measure.systems import System


@dataclass(frozen=True)
class PanelWish:
    """Which systems are decided together, and how.

    `gold`: by what human labels say that each judge is worth; None for the mean of all. `lengths`: whether
    the lengths of the responses may count then. `certainty`: of a label of a submission, None as usual.
    """

    choice: CompareWish
    name: str = ""
    gold: "Dataset | None" = None
    lengths: bool = False
    certainty: float | None = None


@dataclass(frozen=True)
class KeptPanel:
    """A panel that is a run now: its number and title, and what is to be seen of it."""

    run_id: int
    title: str
    sheet: Sheet


def decide_together(store_path: Path, wish: PanelWish) -> Job[KeptPanel]:
    """Make a panel and keep it; reports MeasureProgress while it is fitted. SetupError, StoreError."""

    def work(control: JobControl) -> KeptPanel:
        from engine.calibrate.panel import USUAL_CERTAINTY, items_of, make_panel
        from engine.core.run_records import checked_name
        from engine.measure.systems import open_system, system_of_file, told_apart
        from engine.report.run_tables import labels_given_section
        from engine.store.run_store import RunStore

        called = checked_name(wish.name, "the panel")
        runs = [open_system(str(run), store_path, Whose.JUDGE) for run in wish.choice.runs]
        systems = told_apart([*runs, *map(system_of_file, wish.choice.files)])
        control.cancel.raise_if_requested()
        items = items_of(systems, wish.gold, control.cancel)
        panel = make_panel(systems, items, partial=True, certainty=wish.certainty or USUAL_CERTAINTY)
        calibration, fitted = _fitted(panel, systems, wish, control) if wish.gold else (None, [])
        said = [Section("remarks", "", [Sentences(panel.remarks, Tone.CAVEAT)])] if panel.remarks else []
        sections = [*said, *fitted]
        control.cancel.raise_if_requested()
        with RunStore(store_path) as store:
            run = panel.keep(store, called, calibration)
        results = panel.results.calibrated(calibration)
        return KeptPanel(run.id, run.title, Sheet("", [*sections, labels_given_section(results)]))

    return work


def _fitted(
    panel: "Panel", systems: "Sequence[System]", wish: PanelWish, control: JobControl
) -> "tuple[Calibration, list[Section]]":
    """What human labels say that each judge is worth, and the sections that show it."""
    from engine.calibrate.run_calibration import Wishes, calibrating
    from engine.core.events import followed
    from engine.measure.matching import match
    from engine.measure.systems import system_of_run
    from engine.report.calibration_tables import calibration_sections, calibration_warnings

    assert wish.gold is not None
    asked = [system.asked for system in systems if system.asked]
    labels = with_labels_for(wish.gold, asked, control.cancel)
    matched = match(system_of_run(panel.results), labels, partial=True)
    made = followed(calibrating(matched, control.cancel, Wishes(lengths=wish.lengths)), control.report)
    said = [*matched.left_out, *matched.labels_in_words, *calibration_warnings(made)]
    doubts = [Section("doubts", "", [Sentences(said, Tone.CAVEAT)])] if said else []
    return made.calibration, [*doubts, *calibration_sections(made)]
