"""What the store says of a run: what makes it the same run, how far it came, what it cost.

Knows: plain values, how a run is called. Does not know: SQL, how a run is judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, short_name
from engine.core.remedies import Remedy, Step

REWRITTEN = "rewritten"
"""In the manifest of a run: when explanations were written again, how many, and with what."""
CHOSEN = "chosen_items"
"""In the settings of a run: the ids of the items that a person chose; missing where it has the first ones."""

NOT_IN_DATASET = "ids that are not in the dataset"
"""In the manifest of an opened submission: its rows that answer no item."""

_LONGEST_STEM = 60  # letters: the ends of file names must have room


class RunKind(StrEnum):
    """Where the judgments of a run come from."""

    JUDGED = "judged"  # a model judged, here
    SUBMITTED = "submitted"  # a submission file that was opened to be reviewed


@dataclass(frozen=True)
class RunIdentity:
    """What a run is: two runs with the same `key` would give the same results.

    Of an opened submission, path, name and SHA-256 of the model are those of its file.
    """

    key: str
    dataset_path: Path
    dataset_hash: str
    items: int
    model_path: Path
    model_name: str
    model_hash: str
    prompt_version: str
    criteria: tuple[str, ...]
    settings: Mapping[str, Any]
    kind: RunKind = RunKind.JUDGED

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of the items, where these were chosen; empty for the first `items` of the dataset."""
        return tuple(self.settings.get(CHOSEN, ()))

    @property
    def dataset_in_words(self) -> str:
        """What was judged, for people: `demo.tsv`, `5 chosen items of demo.tsv`."""
        return dataset_in_words(self.dataset_path, len(self.chosen))

    @property
    def settings_in_short(self) -> Mapping[str, Any]:
        """The settings for people: of the chosen items the first few, and how many more there are."""
        return {**self.settings, CHOSEN: listed(self.chosen)} if self.chosen else self.settings


@dataclass(frozen=True)
class StoredRun:
    """A run as the store holds it.

    `judged`: items in the store; `manifest`: how it was made; `calibration`: what its decisions are
    calibrated with now, as plain values, None for none.
    """

    id: int
    created: datetime
    identity: RunIdentity
    judged: int
    manifest: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """True once all items are in the store."""
        return self.judged == self.identity.items

    @property
    def submitted(self) -> bool:
        """True for an opened submission: no model judged it here."""
        return self.identity.kind is RunKind.SUBMITTED

    @property
    def title(self) -> str:
        """What it is called: `Run 7`, or `Submission baseline.tsv`; a long name without its middle."""
        return f"Submission {short_name(self.identity.model_name)}" if self.submitted else f"Run {self.id}"

    @property
    def called(self) -> str:
        """The same within a sentence: `run 7`, `the submission baseline.tsv`."""
        return (
            f"the submission {short_name(self.identity.model_name)}" if self.submitted else f"run {self.id}"
        )

    @property
    def stem(self) -> str:
        """How the names of files begin that are made of it: `run-7`, `baseline-reviewed`."""
        return (
            f"{self.identity.model_path.stem[:_LONGEST_STEM]}-reviewed"
            if self.submitted
            else f"run-{self.id}"
        )

    @property
    def not_in_dataset(self) -> tuple[str, ...]:
        """The ids of an opened submission that its dataset lacks: these rows are left out."""
        return tuple(self.manifest.get(NOT_IN_DATASET, ()))


def what_is_joined(run: StoredRun) -> str:
    """A sentence on which items an opened submission answers: ids are all that joins the two."""
    identity = run.identity
    joined = (
        f"{short_name(identity.model_name)} answers {run.judged:,} of the {identity.items:,} items of"
        f" {short_name(identity.dataset_path.name)}, joined by their ids."
    )
    extra = run.not_in_dataset
    if not extra:
        return joined
    return f"{joined} Left out, because the dataset lacks them ({len(extra):,}): {listed(extra)}."


@dataclass(frozen=True)
class Effort:
    """What judging an item took: seconds at work with it, tokens read and generated."""

    seconds: float
    tokens_read: int
    tokens_generated: int


def dataset_in_words(path: Path, chosen: int = 0) -> str:
    """A dataset, or so many items that were chosen of it: `demo.tsv`, `5 chosen items of demo.tsv`."""
    return f"{counted(chosen, 'chosen item', 'chosen items')} of {path.name}" if chosen else path.name


def refuse_submitted(run: StoredRun, wish: str) -> None:
    """Raise SetupError for an opened submission; `wish`: what it is no good for, as `be calibrated`."""
    if run.submitted:
        raise SetupError(
            f"Run {run.id} is the submission {run.identity.model_name}: it holds labels and no"
            f" probabilities, and its model is not known, so it cannot {wish}.",
            Remedy(Step.CHOOSE_RUN),
        )
