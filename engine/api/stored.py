"""A run as the store has it: what it is, and what it says, as frames.

Knows: the store, whose labels count, when it must be read again. Does not know: human labels of a dataset,
what the run is worth.
"""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self

import pandas as pd

from engine.api.arguments import AnyPath, path_of, taken
from engine.api.frames import is_of_a_frame
from engine.api.measured import JudgeHealth
from engine.api.refused import Refused, in_python
from engine.api.run_frames import explanations_frame, judgments_frame, labels_frame, readings_frame
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError, StoreError
from engine.core.file_kinds import FileKind
from engine.core.label_sources import LabelSource, Whose
from engine.core.remedies import Remedy, Step
from engine.core.run_records import StoredRun
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.decisions.health import run_health
from engine.decisions.run_dataset import dataset_of_run
from engine.decisions.run_results import RunResults, load_results
from engine.measure.systems import System, system_of_run
from engine.store.opening import files_mark, is_there
from engine.store.run_store import RunStore
from engine.system.paths import default_store


@dataclass
class _Seen:
    """What was read of a run, and the state of its store then."""

    mark: object = None
    results: RunResults | None = None


@dataclass(frozen=True)
class GivenFile:
    """The file of the items that a judge was given, which may be another than the run began with: the same
    items with other labels, say. `columns`: by which it was read, None for our own. `gold`: the file with the
    human labels of its items, None where it has them itself.
    """

    path: Path
    columns: ColumnMap | None
    gold: Path | None = None


@dataclass(frozen=True)
class RunAsStored:
    """What a run is and says; see Run."""

    id: int
    store: AnyPath | None = None
    labels_of: str = Whose.LAST.value
    _given: GivenFile | None = field(default=None, kw_only=True, compare=False, repr=False)
    _seen: _Seen = field(default_factory=_Seen, init=False, compare=False, repr=False)

    @in_python()
    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, taken(each.name, each.type, getattr(self, each.name)))
        if self.store is not None:  # it stays the same where the current folder becomes another
            object.__setattr__(self, "store", path_of("store", self.store).absolute())

    def __repr__(self) -> str:
        try:
            run = self._stored()
        except Refused:
            return f"<Run {self.id}, which is not in the store>"
        far = f"{run.judged:,} of {run.identity.items:,} items"
        return f"<{run.title}: {far} of {run.identity.dataset_path.name} by {run.identity.model_name}>"

    # What it is

    @property
    def name(self) -> str:
        """What people call it; empty for nothing."""
        return self._stored().name

    @property
    def title(self) -> str:
        """What it is called in lists and reports.

        >>> Run(1).title
        'Run 1'
        """
        return self._stored().title

    @property
    def complete(self) -> bool:
        """Whether all of its items are judged."""
        return self._stored().complete

    @property
    def model(self) -> str:
        """The name of the model that judged."""
        return self._stored().identity.model_name

    @property
    def dataset(self) -> Path:
        """Its dataset: what `Judge.run` was given, where that gave back this one; else where it was when the
        run began.
        """
        return self._stored().identity.dataset_path

    def by(self, labels_of: str) -> Self:
        """The same run with other labels in force: `by("judge")` leaves out what people said.

        >>> run.by("judge").labels.equals(run.labels)  # nobody labelled anything
        True
        """
        return replace(self, labels_of=labels_of)

    # What it says

    @property
    def labels(self) -> pd.DataFrame:
        """The labels in force: a row for each item, by id; for each criterion a category with the labels A,
        B, both_good and both_bad, missing for unscored.

        >>> run.labels["relevance"].cat.categories.tolist()
        ['A', 'B', 'both_good', 'both_bad']
        """
        return labels_frame(self._results().answered)

    @property
    def explanations(self) -> pd.DataFrame:
        """The explanations in force: a row for each item, by id; a text for each criterion, missing for none.

        >>> run.explanations.index.equals(run.labels.index)
        True
        """
        return explanations_frame(self._results().answered)

    @property
    def judgments(self) -> pd.DataFrame:
        """All that was decided: a row for each item and criterion, with probabilities from 0 to 1.

        >>> probabilities = run.judgments.filter(like="probability_").sum(axis=1)
        >>> probabilities.round(6).unique().tolist()
        [1.0]
        """
        return judgments_frame(self._results().answered)

    @property
    def readings(self) -> pd.DataFrame:
        """What the model said: a row for each item, criterion, way of asking and order. The logarithms are
        natural, and of the responses as the model saw them: A is the first one shown.

        >>> len(run.readings) == 2 * len(run.judgments)  # in both orders
        True
        """
        return readings_frame(self._results().answered)

    @property
    def health(self) -> JudgeHealth:
        """Whether the model judged at all, which shows without human labels.

        >>> run.health.verdict
        'judges'
        """
        return JudgeHealth.of(run_health(self._results()))

    # Where all of it comes from

    def _path(self) -> Path:
        path = default_store() if self.store is None else Path(self.store)
        if not is_there(path):
            raise StoreError(f"There is no run store {path}.", Remedy(Step.CHOOSE_STORE))
        return path

    @in_python()
    def _stored(self) -> StoredRun:
        path = self._path()
        with expecting(path, FileKind.RUN_STORE), RunStore(path) as store:
            return self._of_given(store.run(self.id))

    @in_python()
    def _results(self) -> RunResults:
        """The run as the store has it now; it is read again only where the store has changed."""
        path = self._path()
        mark = files_mark(path)
        if self._seen.results is None or mark is None or mark != self._seen.mark:
            with expecting(path, FileKind.RUN_STORE), RunStore(path) as store:
                results = load_results(store, self.id)
            people = tuple(results.reviews.labels)
            results = replace(results, run=self._of_given(results.run))
            self._seen.results = results.by(LabelSource.of_text(self.labels_of, people))
            self._seen.mark = mark
        return self._seen.results

    def _of_given(self, run: StoredRun) -> StoredRun:
        """The run with the file that the judge was given as its dataset's."""
        if self._given is None:
            return run
        return replace(run, identity=replace(run.identity, dataset_path=self._given.path))

    def _own_dataset(self) -> Dataset:
        """Its items, with the labels and candidates of its file."""
        columns, run = None if self._given is None else self._given.columns, self._stored()
        try:
            return dataset_of_run(run, columns=columns)
        except SetupError as error:
            if not is_of_a_frame(run.identity.dataset_path, self._path()):
                raise
            raise SetupError(
                error.problem,
                "It is the file of the frame that was judged. Give that frame to the same Judge.run again:"
                " its file is written anew, and nothing is judged twice.",
            ) from error

    def _system(self) -> System:
        return system_of_run(self._results())
