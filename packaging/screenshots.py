"""Draw every page of the window in both themes, from a run of the demo model on the demo dataset.

PYTHONPATH=. python packaging/screenshots.py FOLDER [WIDTH HEIGHT]
"""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from stage import Stage, stage

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.data.submission import SubmissionRow, write_submission
from engine.results.run_results import RunResults, submission_of
from engine.system.paths import demo_dataset
from gui.widgets.theme import ThemeChoice
from gui.workspace.state import PageName

SIZE = (1280, 720)
OVERRIDDEN = "naturalness"
_HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def main(arguments: list[str]) -> int:
    """Draw all pictures; the exit code."""
    folder = Path(arguments[0] if arguments else "docs")
    folder.mkdir(parents=True, exist_ok=True)
    size = (int(arguments[1]), int(arguments[2])) if len(arguments) > 2 else SIZE
    with stage(*size) as at_work:
        studio, another = Studio(at_work, folder), at_work.home / "another-team.tsv"
        studio.judge()
        studio.compare(another)
        for theme in (ThemeChoice.DARK, ThemeChoice.LIGHT):
            studio.draw(theme)
        # All others in the light theme, which the last ones left.
        studio.draw_tabs()
        studio.draw_review()
        studio.draw_annotators()
        studio.draw_words()
        studio.draw_submission(another)
        studio.draw_ranking()
    return 0


class Studio:
    """Brings the window into the states to show."""

    def __init__(self, at_work: Stage, folder: Path) -> None:
        self._stage = at_work
        self._window = at_work.window
        self._folder = folder

    def judge(self) -> None:
        """Judge the demo, with a picture in the middle of the run, and override two judgments."""
        window = self._window
        window.frame.set_theme(ThemeChoice.LIGHT)
        window.frame.show_page(PageName.JUDGE)
        self._stage.wait_until_idle()
        window.run()
        self._stage.until(lambda: self._stage.judged > 100)
        self._save("judge-running")
        self._stage.until(lambda: not window.run_control.running)
        self._stage.wait_until_idle()
        self._override(0, "Response A reads more like a person.")
        self._override(1, None)
        self._stage.wait_until_idle()

    def _override(self, place: int, explanation: str | None) -> None:
        """Override the model's label on naturalness with another one."""
        judgment = self._results.judgments[OVERRIDDEN][place]
        label = next(each for each in Preference if each is not self._results.label(judgment))
        self._window.workspace.override(judgment.key, label, explanation)

    @property
    def _results(self) -> RunResults:
        run = self._window.workspace.run
        assert run is not None
        return run.results

    def compare(self, path: Path) -> None:
        """Compare the run with a submission: the run's own, with every fifth label changed."""
        own = submission_of(self._results)
        rows = [_changed(row) if place % 5 == 0 else row for place, row in enumerate(own.rows)]
        write_submission(path, replace(own, rows=tuple(rows)))
        self._window.frame.show_page(PageName.COMPARE)
        page = self._window.compare
        page.choosing.add_files([path])
        self._stage.until(lambda: path in [file.path for file in page.choosing.choice.files])
        page.choosing.systems.view.item(0).setCheckState(Qt.CheckState.Checked)
        self._stage.wait_until_idle()
        page.compare()
        self._stage.until(lambda: page.compared is not None)
        self._stage.wait_until_idle()

    def draw(self, theme: ThemeChoice) -> None:
        """One picture of each page."""
        self._window.frame.set_theme(theme)
        for page in self._window.pages:
            if page.NAME is PageName.RANKING:
                continue  # the demo dataset names no candidates
            self._window.frame.show_page(page.NAME)
            self._stage.wait_until_idle()
            self._save(f"{page.NAME.lower()}-{theme.value}")

    def draw_tabs(self) -> None:
        """The other tabs of Results, with a calibration proposed."""
        self._window.frame.show_page(PageName.RESULTS)
        page = self._window.results
        page.calibration.calibrate()
        for place, name in ((1, "figures"), (2, "weighted"), (3, "calibration")):
            page.tabs.setCurrentIndex(place)
            self._stage.wait_until_idle()
            self._save(f"results-{name}-light")

    def draw_review(self) -> None:
        """An overridden judgment, with the differences between the responses."""
        item_id = self._results.judged[0].item_id
        self._window.workspace.show_in_review(JudgmentKey(item_id, OVERRIDDEN))
        self._stage.wait_until_idle()
        self._window.review.marking.setCurrentIndex(1)
        self._stage.wait_until_idle()
        self._save("review-overridden-light")

    def draw_annotators(self) -> None:
        """Ada has reviewed some items; Ben labels the next one blind."""
        review = self._window.review
        review.marking.setCurrentIndex(0)
        for step in (review.queue.confirm, review.queue.confirm, review.queue.skip):
            step()
            self._stage.wait_until_idle()
        self._save("review-progress-light")
        self._window.workspace.set_author("Ben")
        review.reviewer.blind_button.click()
        self._stage.wait_until_idle()
        review.desk.override_label(Preference.BOTH_GOOD)
        self._stage.wait_until_idle()
        review.desk.choose_number(1)
        self._stage.wait_until_idle()
        self._save("review-blind-light")
        review.reviewer.blind_button.click()
        self._window.workspace.set_author("Ada")
        self._stage.wait_until_idle()

    def draw_words(self) -> None:
        """While another program locks the run store, annotations wait, and a notice says so."""
        words, frame, space = self._window.workspace.words, self._window.frame, self._window.workspace
        frame.show_page(PageName.REVIEW)
        command = [sys.executable, "-c", _HOLD, str(space.store_path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
            assert holder.stdout is not None
            holder.stdout.readline()
            self._window.review.desk.override_label(Preference.BOTH_BAD)
            space.note_item(self._results.judged[2].content_hash, "Both miss the point.", ["odd"])
            self._stage.until(lambda: "held" in frame.notices.text or "locked" in frame.notices.text)
            self._save("words-wait-light")
            holder.communicate()
        self._stage.until(lambda: not words.count)
        self._stage.wait_until_idle()

    def draw_submission(self, path: Path) -> None:
        """An opened submission, with the human labels and the run in comparison columns."""
        run_id = self._results.run.id
        self._window.submissions.open(path)
        self._stage.until(lambda: self._results.run.submitted)
        self._stage.wait_until_idle()
        beside = self._window.review.beside
        beside.button.ticked.emit(run_id, True)
        self._stage.wait_until_idle()
        self._save("review-submission-light")

    def draw_ranking(self) -> None:
        """The demo's candidates, judged, in both themes."""
        window = self._window
        window.workspace.open_dataset(demo_dataset().with_name("demo-candidates.tsv"))
        self._stage.wait_until_idle()
        window.frame.show_page(PageName.JUDGE)
        self._stage.wait_until_idle()
        window.run()
        self._stage.until(lambda: not window.run_control.running)
        self._stage.wait_until_idle()
        judged = window.run_control.progress
        assert judged is not None
        window.workspace.open_run(judged.run_id)
        self._stage.until(lambda: self._results.run.id == judged.run_id)
        for theme in (ThemeChoice.LIGHT, ThemeChoice.DARK):
            window.frame.set_theme(theme)
            window.frame.show_page(PageName.RANKING)
            self._stage.wait_until_idle()
            self._save(f"ranking-{theme.value}")

    def _save(self, name: str) -> None:
        path = self._folder / f"{name}.png"
        if not self._window.frame.grab().save(str(path)):
            raise OSError(f"{path} could not be written")
        print(path)


def _changed(row: SubmissionRow) -> SubmissionRow:
    """The same with other labels on two criteria."""
    other = {"relevance": Preference.A, "overall_quality": Preference.BOTH_BAD}
    predictions = {
        name: replace(prediction, preference=other.get(name, prediction.preference))
        for name, prediction in row.predictions.items()
    }
    return replace(row, predictions=predictions)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
