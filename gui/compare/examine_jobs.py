"""Jobs that see whether files can be compared: whether they are there, are submissions, and fit the labels.

Knows: what a file must be to be compared. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, short_name, words
from engine.core.rubric import rubric_of_names
from engine.system.places import is_there
from gui.work.file_jobs import with_labels_for
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset


@dataclass(frozen=True)
class Examined:
    """What became of some files. `missing` are not there; `unfit`: why others cannot be compared."""

    paths: Sequence[Path] = ()
    missing: frozenset[Path] = frozenset()
    unfit: Mapping[Path, SetupError] = field(default_factory=dict)

    @property
    def fit(self) -> list[Path]:
        """The files that can be compared."""
        return [path for path in self.paths if path not in self.missing and path not in self.unfit]


def examine(paths: Sequence[Path], gold: "Dataset | None") -> Job[Examined]:
    """Whether files can be compared, with these human labels where there are any."""

    def work(control: JobControl) -> Examined:
        missing: set[Path] = set()
        unfit: dict[Path, SetupError] = {}
        for path in paths:
            control.cancel.raise_if_requested()
            if not is_there(path):
                missing.add(path)
                continue
            try:
                _check(path, gold, control)
            except SetupError as error:
                unfit[path] = error
        return Examined(paths, frozenset(missing), unfit)

    return work


def _check(path: Path, gold: "Dataset | None", control: JobControl) -> None:
    """SetupError, in words that fit, for a file that cannot be compared."""
    from engine.data.submission import read_submission

    submission = read_submission(path)
    if gold is None:
        return
    name, labelled = short_name(path.name), short_name(gold.name)
    known = frozenset(gold.ids)
    if not any(row.id in known for row in submission.rows):
        ids = counted(len(submission.rows), "id is", "ids are")
        raise SetupError(
            f"{name} is a submission for other items: its {ids} not in {labelled}, the human labels.",
            "Choose the labels of its items first (“Choose labels…”), then add it.",
        )
    labels = with_labels_for(gold, [rubric_of_names(submission.criteria)], control.cancel)
    if labels.criteria and not set(submission.criteria) & set(labels.criteria):
        its, theirs = (listed(list(map(words, names))) for names in (submission.criteria, labels.criteria))
        raise SetupError(
            f"{name} is a submission on other criteria ({its}): {labelled} has human labels on {theirs}.",
            "Choose labels on its criteria first (“Choose labels…”), then add it.",
        )
