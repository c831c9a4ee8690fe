"""What a stored run lacks, and what in it is not the model's; a submission that is opened to be completed;
labels by hand.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from engine.annotations.effective import Reviews, count_overrides, picked_in_words, skipped_in_words
from engine.core.column_map import NO_COLUMN, JudgeColumn
from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import counted, listed
from engine.core.items import digest
from engine.core.judgments import JudgedItem, Origin
from engine.core.rubric import ELOQUENT, Rubric, rubric_of_names
from engine.data.dataset import Dataset
from engine.data.file_kinds import SAMPLED, SKIPPED
from engine.data.label_origins import drawn_place
from engine.data.submission import Submission, check_submission
from engine.data.verdicts import Verdicts, placed, read_system
from engine.results.run_results import RunResults, submission_of
from engine.settings.identity import (
    BY_HAND,
    COLUMNS,
    NOT_IN_DATASET,
    NOT_LABELLED,
    RunIdentity,
    RunKind,
    StoredRun,
)
from engine.settings.rows import Mode
from engine.settings.sampling import DEFAULT_SEED
from engine.store.run_store import RunStore
from engine.system.files import file_hash
from engine.system.paths import real_path


@dataclass(frozen=True)
class RandomPart:
    """The ids of items in the random samples of a run: with a label of an annotator, and passed without."""

    labelled: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()

    def of(self, item_id: str) -> str:
        """What an export says of an item: SAMPLED, SKIPPED, or nothing."""
        return SAMPLED if item_id in self.labelled else SKIPPED if item_id in self.skipped else ""

    @property
    def in_words(self) -> str:
        """What the skipped items do to the sample; empty where there are none."""
        return skipped_in_words(len(self.skipped), len(self.labelled))


def sample_of(
    reviews: Reviews, ids: Iterable[str], author: str | None = None, criterion: str | None = None
) -> frozenset[str]:
    """Of some items those up to the last one that anybody, or an `author`, labelled (on a criterion) in each
    order that was drawn, labelled or not.
    """
    return _up_to(_reached(reviews, author, criterion), ids)


def _reached(reviews: Reviews, author: str | None, criterion: str | None = None) -> dict[int, bytes]:
    reached: dict[int, bytes] = {}
    for each in (*reviews.overrides, *reviews.confirmations):
        wanted = author in (None, each.author) and criterion in (None, each.criterion)
        if each.origin is Origin.RANDOM and each.preference is not None and wanted:
            seed = DEFAULT_SEED if each.seed is None else each.seed
            reached[seed] = max(reached.get(seed, b""), drawn_place(each.item_id, seed))
    return reached


# A random sample is the beginning of a drawn order, as far as an annotator came in it. An item of that
# beginning is in the sample also if it had been labelled before, in order of uncertainty: else the hardest
# ones would be missing. A run has a sample for each seed that annotators labelled by; all of them together
# are as random.
def random_part(reviews: Reviews, author: str | None = None) -> RandomPart:
    """The items up to the last one that anybody, or an `author`, came to in each order that was drawn."""
    reached = _reached(reviews, author)
    if not reached:
        return RandomPart()
    of_author = [labels for name, labels in reviews.labels.items() if author in (None, name)]
    labelled = {key.item_id for labels in of_author for key in labels}
    passed = {mark.item_id for mark in reviews.marks if author in (None, mark.author)} - labelled
    return RandomPart(_up_to(reached, labelled), _up_to(reached, passed))


def _up_to(reached: dict[int, bytes], ids: Iterable[str]) -> frozenset[str]:
    """Those of some items that stand in any of the orders no further down than was reached there."""
    far = reached.items()
    return frozenset(each for each in ids if any(drawn_place(each, seed) <= last for seed, last in far))


def origins_in_words(said: Iterable[tuple[str, Origin | None]], reviews: Reviews) -> list[str]:
    """On labels of items that were picked, and on what was skipped; `said`: each origin after its item."""
    part = random_part(reviews)
    # What was labelled in order of uncertainty before, and is of the sample, is no more of the hardest.
    origins = [Origin.RANDOM if item_id in part.labelled else origin for item_id, origin in said]
    skipped = part.in_words if Origin.RANDOM in origins else ""
    return [*picked_in_words(origins), *([skipped] if skipped else ())]


class IncompleteKind(Enum):
    """What a gap is about: each may have a next step of its own."""

    OVERRIDDEN = auto()
    COMPLETED = auto()
    UNSCORED = auto()
    UNEXPLAINED = auto()
    STALE = auto()


@dataclass(frozen=True)
class IncompletePart:
    """So many judgments or explanations, such as `1 judgment is unscored; its cell is empty.`."""

    kind: IncompleteKind
    sentence: str


def incomplete(results: RunResults, name: str = "The run") -> str:
    """A sentence on how far a run is that is not complete; an opened submission, with annotators' help."""
    run = results.run
    if said := results.joined_in_words:
        return said
    if run.is_sample:
        return f"{name} is {run.sample_in_words}."
    return f"{name} is not complete: {run.judged:,} of {run.identity.items:,} items are judged."


def gaps(results: RunResults) -> list[IncompletePart]:
    """The gaps of a run in what is judged of it; `incomplete` says the rest."""
    lacked, results = results.model_alone().unanswered, results.answered
    effective = results.overrides.values()
    own = [each for each in effective if each.item_id not in lacked]
    added = count_overrides(each for each in effective if each.item_id in lacked)
    run, annotators = f"of {results.run.called}", f"overridden by annotators: {count_overrides(own).by_whom}."
    unanswered = f"that {results.run.called} does not answer"
    completed = f"labelled by annotators: {added.by_whom}."
    another = "written for another label than the effective one (stale): a submission omits"
    wordless = "no explanation" + ("." if results.run.submitted else ": the model generated no text.")
    also = 0 if results.run.by_hand else len(lacked & results.content_hashes.keys())
    one, many = "judgment is unscored; its cell is empty.", "judgments are unscored; their cells are empty."
    kind = IncompleteKind
    found = (
        (kind.OVERRIDDEN, len(own), f"judgment {run} is {annotators}", f"judgments {run} are {annotators}"),
        (kind.COMPLETED, also, f"item {unanswered} is {completed}", f"items {unanswered} are {completed}"),
        (kind.UNSCORED, results.unscored, one, many),
        (kind.UNEXPLAINED, results.unexplained, f"judgment has {wordless}", f"judgments have {wordless}"),
        (kind.STALE, results.stale, f"explanation was {another} it.", f"explanations were {another} them."),
    )
    return [IncompletePart(kind, counted(number, *said)) for kind, number, *said in found if number]


NOT_ANSWERED = "the submission does not answer this item"


def begin_by_hand(dataset: Dataset, rubric: Rubric, store: RunStore) -> StoredRun:
    """A run of the store in which annotators label a dataset on a rubric's criteria, without a judge; the
    latest one of these items and this rubric, if there is one.
    """
    identity = RunIdentity(
        key=digest([RunKind.BY_HAND, dataset.hash, [each.asked for each in rubric.criteria]]),
        dataset_path=real_path(dataset.path),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=real_path(dataset.path),
        model_name=BY_HAND,
        model_hash=dataset.hash,
        prompt_version="",
        criteria=rubric.names,
        settings={"mode": Mode.LABELS.value, "orders": [], "examples": None},
        kind=RunKind.BY_HAND,
        rubric=None if rubric.is_part_of(ELOQUENT) else rubric,
    )
    with store.begin(identity) as run:
        add_unanswered(store, run, dataset)
        if dataset.columns is not None:
            store.describe(run.id, {COLUMNS: dataset.columns.as_json()})
    return store.run(run.id)


def open_submission(
    path: Path, dataset: Dataset, store: RunStore, column: JudgeColumn = NO_COLUMN
) -> StoredRun:
    """Keep a submission, or another judge's file, in the store; where it is there already, with the same
    dataset, that one. What it lacks of the dataset stands next to what it answers, unscored, for annotators
    to complete it; rows for items that the dataset lacks are named in the manifest. SetupError for no
    submission, or one that answers no item.
    """
    submission = placed(read_system(path, column), dataset)
    places = {item_id: place for place, item_id in enumerate(dataset.ids)}
    answered = [
        JudgedItem(place, row.id, dataset[place].content_hash, raw_predictions={}, given=row.predictions)
        for row in submission.rows
        if (place := places.get(row.id)) is not None
    ]
    if not answered:
        raise SetupError(
            f"{path.name} answers no item of {dataset.name}: they have no id in common.",
            Hint(Step.CHOOSE_ANSWERED_DATASET),
        )
    with store.begin(_identity(path, submission, dataset, column)) as run:
        if not run.judged:
            store.add(run.id, answered)
        add_unanswered(store, run, dataset)
        made = _manifest(submission, places, dataset)
        if made != run.manifest:
            store.describe(run.id, made)
    return store.run(run.id)


def add_unanswered(store: RunStore, run: StoredRun, dataset: Dataset) -> None:
    """Add the items of its dataset that the store lacks of a submission, or of labels by hand, while nobody
    else holds the run.
    """
    # Earlier versions kept only those that it answers.
    known = store.content_hashes(run.id)
    reasons = dict.fromkeys(run.identity.criteria, NOT_LABELLED if run.by_hand else NOT_ANSWERED)
    lacking = [
        JudgedItem(place, item_id, dataset[place].content_hash, raw_predictions={}, unscored=reasons)
        for place, item_id in enumerate(dataset.ids)
        if item_id not in known
    ]
    if lacking:
        store.add(run.id, lacking)


def share_answered(submission: Submission, ids: Container[str]) -> float:
    """The share (0 to 1) of a submission's rows whose ids are among these."""
    return sum(row.id in ids for row in submission.rows) / len(submission.rows)


def findings(results: RunResults, dataset: Dataset) -> list[str]:
    """What keeps a run, with its annotations, from being the official submission; which rows are omitted."""
    found = list(check_submission(submission_of(results), dataset, results.run.identity.rubric))
    if extra := results.run.not_in_dataset:
        found.append(f"ids that are not in the dataset ({len(extra):,}), omitted: {listed(extra)}.")
    return found


def _identity(path: Path, submission: Submission, dataset: Dataset, column: JudgeColumn) -> RunIdentity:
    content = file_hash(path)
    mode = Mode.EXPLAIN if submission.with_explanations else Mode.LABELS
    rubric = rubric_of_names(submission.criteria, dataset.rubric)
    return RunIdentity(
        key=digest([RunKind.SUBMITTED, dataset.hash, content, *column.key]),
        dataset_path=dataset.path.absolute(),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=path.absolute(),
        model_name=submission.called if isinstance(submission, Verdicts) else path.name,
        model_hash=content,
        prompt_version="",
        criteria=submission.criteria,
        settings={"mode": mode.value, "orders": [], "examples": None},
        kind=RunKind.SUBMITTED,
        rubric=None if rubric.is_part_of(ELOQUENT) else rubric,
    )


def _manifest(submission: Submission, ids: Container[str], dataset: Dataset) -> dict[str, Any]:
    """Which of its rows are omitted, and by which columns its dataset was read this time."""
    made: dict[str, Any] = {}
    if extra := [row.id for row in submission.rows if row.id not in ids]:
        made[NOT_IN_DATASET] = extra
    if dataset.columns is not None:
        made[COLUMNS] = dataset.columns.as_json()
    return made
