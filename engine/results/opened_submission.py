"""A submission file kept in the run store with the dataset that it answers, to be reviewed as a run is, and
completed.

Knows: which items a submission answers, what makes it the same one again. Does not know: windows, measures.
"""

from collections.abc import Container
from pathlib import Path
from typing import Any

from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import listed
from engine.core.items import digest
from engine.core.judgments import JudgedItem
from engine.core.rubric import ELOQUENT, rubric_of_names
from engine.data.dataset import Dataset
from engine.data.submission import Submission, SubmissionRow, check_submission, read_submission
from engine.results.run_results import RunResults, submission_of
from engine.settings.identity import COLUMNS, NOT_IN_DATASET, RunIdentity, RunKind, StoredRun
from engine.settings.rows import Mode
from engine.store.run_store import RunStore
from engine.system.files import file_hash

NOT_ANSWERED = "the submission does not answer this item"


def open_submission(path: Path, dataset: Dataset, store: RunStore) -> StoredRun:
    """Keep a submission in the store; where it is there already, with the same dataset, that one.

    What it lacks of the dataset stands next to what it answers, unscored, for annotators to complete it; rows
    for items that the dataset lacks are named in the manifest. SetupError where the file is no submission, or
    answers no item of the dataset.
    """
    submission = read_submission(path)
    places = {item_id: place for place, item_id in enumerate(dataset.ids)}
    answered = [row for row in submission.rows if row.id in places]
    if not answered:
        raise SetupError(
            f"{path.name} answers no item of {dataset.name}: they have no id in common.",
            Hint(Step.CHOOSE_ANSWERED_DATASET),
        )
    with store.begin(_identity(path, submission, dataset)) as run:
        if not run.judged:
            store.add(run.id, [_judged(row, places[row.id], dataset) for row in answered])
        add_unanswered(store, run, dataset)
        made = _manifest(submission, places, dataset)
        if made != run.manifest:
            store.describe(run.id, made)
    return store.run(run.id)


def add_unanswered(store: RunStore, run: StoredRun, dataset: Dataset) -> None:
    """Add the items of its dataset that the store lacks of a submission, while nobody else holds the run.

    Earlier versions kept only those that it answers.
    """
    known = store.content_hashes(run.id)
    reasons = dict.fromkeys(run.identity.criteria, NOT_ANSWERED)
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
    """What keeps a run, with all that annotators changed, from being the official submission for its dataset.

    Nothing where all is well. Of an opened submission also which of its rows are omitted.
    """
    extra = results.run.not_in_dataset
    left_out = (
        [f"ids that are not in the dataset ({len(extra):,}), omitted: {listed(extra)}."] if extra else []
    )
    return [*check_submission(submission_of(results), dataset, results.run.identity.rubric), *left_out]


def _identity(path: Path, submission: Submission, dataset: Dataset) -> RunIdentity:
    content = file_hash(path)
    mode = Mode.EXPLAIN if submission.with_explanations else Mode.LABELS
    rubric = rubric_of_names(submission.criteria, dataset.rubric)
    return RunIdentity(
        key=digest([RunKind.SUBMITTED, dataset.hash, content]),
        dataset_path=dataset.path.absolute(),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=path.absolute(),
        model_name=path.name,
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


def _judged(row: SubmissionRow, place: int, dataset: Dataset) -> JudgedItem:
    return JudgedItem(
        position=place,
        item_id=row.id,
        content_hash=dataset[place].content_hash,
        raw_predictions={},
        given=row.predictions,
    )
