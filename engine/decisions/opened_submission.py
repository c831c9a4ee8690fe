"""A submission file kept in the run store with the dataset that it answers, to be reviewed as a run is.

Knows: which items a submission answers, what makes it the same one again. Does not know: windows, measures.
"""

import hashlib
from collections.abc import Container, Sequence
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.formatting import listed
from engine.core.items import digest
from engine.core.judgments import JudgedItem
from engine.core.remedies import Remedy, Step
from engine.core.run_records import RunIdentity, RunKind, StoredRun
from engine.core.settings import Mode
from engine.data.dataset import Dataset
from engine.data.submission import Submission, SubmissionRow, read_submission
from engine.store.run_store import RunStore

NOT_IN_DATASET = "ids that are not in the dataset"
"""In the manifest of an opened submission: its rows that answer no item."""


def open_submission(path: Path, dataset: Dataset, store: RunStore) -> StoredRun:
    """Keep a submission in the store; where it is there already, with the same dataset, that one.

    What it lacks of the dataset is not judged; rows for items that the dataset lacks are named in the
    manifest. SetupError where the file is no submission, or answers no item of the dataset.
    """
    submission = read_submission(path)
    places = {item_id: place for place, item_id in enumerate(dataset.ids)}
    answered = [row for row in submission.rows if row.id in places]
    if not answered:
        raise SetupError(
            f"{path.name} answers no item of {dataset.name}: they have no id in common.",
            Remedy(Step.CHOOSE_JUDGED_DATASET, "."),
        )
    with store.begin(_identity(path, submission, dataset)) as run:
        if not run.judged:
            store.add(run.id, [_judged(row, places[row.id], dataset) for row in answered])
            extra = [row.id for row in submission.rows if row.id not in places]
            store.describe(run.id, {NOT_IN_DATASET: extra} if extra else {})
    return store.run(run.id)


def share_answered(submission: Submission, ids: Sequence[str] | Container[str]) -> float:
    """The share (0 to 1) of a submission's rows whose ids are among these."""
    return sum(row.id in ids for row in submission.rows) / len(submission.rows)


def what_is_joined(run: StoredRun) -> str:
    """A sentence on which items an opened submission answers: ids are all that joins the two."""
    identity = run.identity
    joined = (
        f"{identity.model_name} answers {run.judged:,} of the {identity.items:,} items of"
        f" {identity.dataset_path.name}, joined by their ids."
    )
    extra = run.manifest.get(NOT_IN_DATASET, ())
    if not extra:
        return joined
    return f"{joined} Left out, because the dataset lacks them ({len(extra):,}): {listed(extra)}."


def _identity(path: Path, submission: Submission, dataset: Dataset) -> RunIdentity:
    file_hash = hashlib.sha256(path.read_bytes()).hexdigest()
    mode = Mode.EXPLAIN if submission.with_explanations else Mode.LABELS
    return RunIdentity(
        key=digest([RunKind.SUBMITTED, dataset.hash, file_hash]),
        dataset_path=dataset.path.absolute(),
        dataset_hash=dataset.hash,
        items=len(dataset),
        model_path=path.absolute(),
        model_name=path.name,
        model_hash=file_hash,
        prompt_version="",
        criteria=submission.criteria,
        settings={"mode": mode.value, "orders": [], "examples": None},
        kind=RunKind.SUBMITTED,
    )


def _judged(row: SubmissionRow, place: int, dataset: Dataset) -> JudgedItem:
    return JudgedItem(
        position=place,
        item_id=row.id,
        content_hash=dataset[place].content_hash,
        readings={},
        given=row.predictions,
    )
