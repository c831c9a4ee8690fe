"""What is measured: the predictions of one system, from a stored run or from a submission file.

Knows: runs and submissions as one thing. Does not know: gold labels, measures.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.file_kinds import FileKind
from engine.core.formatting import short_name
from engine.core.health import Health
from engine.core.items import Preference
from engine.core.judgments import Judgment, JudgmentKey
from engine.core.label_sources import LabelSource, LabelSourceKind
from engine.core.people import EffectiveAnnotation
from engine.core.remedies import Hint, Step
from engine.core.rubric import Rubric
from engine.core.settings import DEFAULT_METHODS
from engine.data.file_kinds import expecting
from engine.data.submission import Submission, SubmissionRow, read_submission
from engine.decisions.health import run_health, submission_health
from engine.decisions.run_results import RunResults, load_results, submission_of
from engine.store.opening import has_store
from engine.store.run_store import RunStore


@dataclass(frozen=True)
class System:
    """One judge's predictions. `results`: the run they come from, None for a submission file."""

    name: str
    submission: Submission
    results: RunResults | None = None

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria it predicts, in its own order."""
        return self.submission.criteria

    @property
    def asked(self) -> Rubric | None:
        """What the run was asked that it comes from; None for submissions: it is not known of them."""
        run = self.results.run if self.results else None
        return run.identity.asked if run is not None and not run.submitted else None

    @property
    def explains(self) -> bool:
        """True where it gives explanations."""
        return self.submission.with_explanations

    @property
    def description(self) -> str:
        """What it is, for display: a run's model, dataset, orders and calibration, or the file."""
        if self.results is None:
            return f"submission {self.submission.path or self.name}"
        identity = self.results.run.identity
        annotators = f", {self.results.overridden.in_words} by annotators" if self.overrides else ""
        if self.results.run.submitted:
            return f"submission {identity.model_name} on {identity.dataset_path.name}{annotators}"
        if self.results.run.panel:
            calibrated = self.results.calibrated_in_words
            judged = f"{identity.model_name} on {identity.dataset_in_words}{annotators}"
            return f"{judged}, calibrated {calibrated}" if calibrated else judged
        below = identity.settings.get("second_order_below")
        joint = " and ".join(identity.settings["orders"])
        orders = joint if below is None else f"{joint} where a margin is below {below:g}"
        asked = self.results.methods
        methods = "" if asked == DEFAULT_METHODS else f", by {' and '.join(asked)}"
        rubric = f", rubric {short_name(identity.rubric.name)}" if identity.rubric else ""
        calibration = self.results.calibrated_in_words
        calibrated = f", calibrated {calibration}" if calibration else ""
        made = f"{orders}{methods}{rubric}{calibrated}{annotators}"
        return f"{identity.model_name} on {identity.dataset_in_words}, {made}"

    @property
    def path(self) -> Path | None:
        """The file of a submission, also of one that was opened to be reviewed; None for a judged run."""
        run = self.results.run if self.results else None
        return run.identity.model_path if run is not None and run.submitted else self.submission.path

    @cached_property
    def rows(self) -> Mapping[str, SubmissionRow]:
        """Its predictions by item id."""
        return {row.id: row for row in self.submission.rows}

    @property
    def labels(self) -> dict[JudgmentKey, Preference | None]:
        """Its labels, the effective ones of a run; None for unscored."""
        return {
            JudgmentKey(row.id, criterion): said.preference
            for row in self.submission.rows
            for criterion, said in row.predictions.items()
        }

    @cached_property
    def judgments(self) -> Mapping[JudgmentKey, Judgment]:
        """The model's own judgments of a run; empty for a submission file."""
        columns = self.results.judgments.values() if self.results else ()
        return {
            judgment.key: judgment
            for column in columns
            for judgment in column
            if isinstance(judgment, Judgment)
        }

    @cached_property
    def health(self) -> Health:
        """Whether it judged, as far as that shows without human labels."""
        return run_health(self.results) if self.results else submission_health(self.submission)

    def only(self, ids: Container[str]) -> "System":
        """The same system on these items alone."""
        rows = tuple(row for row in self.submission.rows if row.id in ids)
        results = self.results and self.results.only(ids)
        return replace(self, submission=replace(self.submission, rows=rows), results=results)

    @property
    def overrides(self) -> Mapping[JudgmentKey, EffectiveAnnotation]:
        """What annotators overrode in a run; empty for a submission file."""
        return self.results.overrides if self.results else {}

    @cached_property
    def content_hashes(self) -> Mapping[str, str]:
        """The content hash of each item that a run judged, by id; empty for a submission file."""
        return self.results.content_hashes if self.results else {}


def system_of_run(results: RunResults) -> System:
    """A stored run as a system, called by its number and name; an opened submission by its file, without the
    items that it does not answer.
    """
    run = results.run
    name = run.identity.model_name if run.submitted else run.called
    return System(name, submission_of(results), results.answered)


def system_of_file(path: Path) -> System:
    """A submission file as a system. Raises what read_submission raises."""
    return System(path.name, read_submission(path))


def told_apart(systems: Sequence[System]) -> list[System]:
    """The systems, those that share a name and are files named with their folders too."""
    names = Counter(system.name for system in systems)
    return [
        replace(system, name=str(system.path)) if names[system.name] > 1 and system.path else system
        for system in systems
    ]


def open_system(word: str, store_path: Path, labels_of: str = LabelSourceKind.LAST) -> System:
    """The system that a word names: the id of a run in the store, else the path of a submission file.

    A file whose name is a number is named with its folder: `./3`. `labels_of`: whose labels of a run stand in
    the place of the judge's: a Whose, or an annotator's name. Raises SetupError.
    """
    if not word.isdecimal():
        return system_of_file(Path(word))
    if not has_store(store_path):
        raise SetupError(
            f"There is no run store {store_path} that could hold run {word}.",
            Hint(Step.CHOOSE_STORE, f", or a submission file: ./{word}"),
        )
    with expecting(store_path, FileKind.RUN_STORE), RunStore(store_path) as store:
        results = load_results(store, int(word))
    return system_of_run(results.by(LabelSource.of_text(labels_of, tuple(results.reviews.labels))))
