"""A run as the store has it, as frames: its facts, labels, explanations, judgments, raw predictions."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd

from engine.annotations.effective import EffectiveAnnotation
from engine.annotations.records import LabelSource, LabelSourceKind
from engine.api.arguments import AnyPath, is_of_a_frame, path_of, take_fields, text_column
from engine.api.refused import Refused, in_python
from engine.api.tables import Columns, JudgeHealth, array_of, frame_of_rows
from engine.core.column_map import ColumnMap
from engine.core.errors import FileKind, SetupError
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.metrics.matching import System, system_of_run
from engine.operations.opening import check_store
from engine.results.health import run_health
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import StoredRun
from engine.store.opening import files_mark
from engine.store.run_store import RunStore
from engine.system.paths import default_store

LABEL_NAMES = [label.value for label in PREFERENCES]
_LABELS = pd.CategoricalDtype(LABEL_NAMES)
_ITEM, _CRITERION = "The id of the item.", "The criterion."

_JUDGMENTS: Columns = {
    "id": ("string", _ITEM),
    "criterion": ("string", _CRITERION),
    "label": (_LABELS, "The effective label: an annotator's if there is one, else the model's."),
    "model_preference": (_LABELS, "The label of the model."),
    "overridden": ("string", "What an annotator overrode: label, explanation or both; missing if nothing."),
    **{
        f"probability_{label}": ("float64", f"The model's probability of {label}, 0 to 1, calibrated if"
        " the run is.")
        for label in PREFERENCES
    },
    "flipped": ("boolean", "Whether it is position-inconsistent: the two orders give different labels;"
        " missing if only one order was read."),
    "judges": ("Int64", "How many judges of a jury decided it; missing in a run of one judge."),
    "judges_missing": ("Int64", "How many of them gave no label."),
    "place_decides": ("boolean", "Whether the calibrated label depends on which response is A."),
    "format_mass": ("float64", "Answer mass: total probability of the four valid answers, 0 to 1."),
    "outdated": ("boolean", "Whether the explanation is stale: written for another label than the effective"
        " one."),
    "unscored": ("string", "Why there is no judgment of the model; missing if there is one."),
}  # fmt: skip
_RAW_PREDICTIONS: Columns = {
    "id": ("string", _ITEM),
    "criterion": ("string", _CRITERION),
    "way": ("string", "The elicitation method."),
    "order": ("string", "The order of the responses in the prompt: AB or BA."),
    "judge": ("Int64", "The number of the judge in a jury, from 1; 0 in a run of one judge."),
    **{
        f"log_probability_{label}": ("float64", f"The natural logarithm of the probability of {label}, as the"
        " model saw the responses: A is the first one shown.")
        for label in PREFERENCES
    },
    "format_mass": ("float64", "Answer mass: total probability of the four valid answers, 0 to 1."),
}  # fmt: skip


def _by_item(
    results: RunResults,
    part: Callable[[AnyJudgment], Preference | str | None],
    column_of: Callable[[list[Any]], Any],
) -> pd.DataFrame:
    index = pd.Index(text_column(item.item_id for item in results.judged), name="id")
    columns = {name: column_of([_value(part(one)) for one in own]) for name, own in results.judgments.items()}
    return pd.DataFrame(columns, index=index)


def _judgment_row(results: RunResults, judgment: AnyJudgment) -> tuple[object, ...]:
    read = judgment if isinstance(judgment, Judgment) else None
    unscored = judgment.reason if isinstance(judgment, Unscored) else None
    return (
        *(judgment.item_id, judgment.criterion, _value(results.label(judgment))),
        None if isinstance(judgment, Unscored) else judgment.preference.value,
        _overridden(results.overrides.get(judgment.key)),
        *(read.probabilities if read else [None] * len(PREFERENCES)),
        read and read.flipped,
        *((read.judges, read.judges_missing) if read and read.judges is not None else [None] * 2),
        *((read.place_decides, read.answer_mass) if read else [None] * 2),
        results.is_stale(judgment),
        unscored,
    )


def _overridden(override: EffectiveAnnotation | None) -> str | None:
    if override is None:
        return None
    parts = {"label": override.preference, "explanation": override.explanation}
    own = [name for name, value in parts.items() if value is not None]
    return own[0] if len(own) == 1 else "both"


def _value(value: Preference | str | None) -> str | None:
    return value.value if isinstance(value, Preference) else value


@dataclass
class _SeenFile:
    mark: object = None
    results: RunResults | None = None


@dataclass(frozen=True)
class GivenFile:
    """The dataset file given to a judge, which may be another than the run's: the same items with other
    labels. `columns`: None for Tiebreak's own. `gold`: human labels of its items, if not in it.
    """

    path: Path
    columns: ColumnMap | None
    gold: Path | None = None


@dataclass(frozen=True)
class RunAsStored:
    id: int
    store: AnyPath | None = None
    labels_of: str = LabelSourceKind.LAST.option
    _given: GivenFile | None = field(default=None, kw_only=True, compare=False, repr=False)
    _seen: _SeenFile = field(default_factory=_SeenFile, init=False, compare=False, repr=False)

    @in_python()
    def __post_init__(self) -> None:
        take_fields(self)
        if self.store is not None:  # stays valid if the current folder changes
            object.__setattr__(self, "store", path_of("store", self.store).absolute())

    def __repr__(self) -> str:
        try:
            run = self._stored()
        except Refused:
            return f"<Run {self.id}, which is not in the store>"
        far = f"{run.judged:,} of {run.identity.items:,} items"
        return f"<{run.title}: {far} of {run.identity.dataset_path.name} by {run.identity.model_name}>"

    # Facts

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return self._stored().name

    @property
    def title(self) -> str:
        """Its title in lists and reports.

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
        """Its dataset: the one given to `Judge.run`, if that returned this run; else the one that the run
        started with.
        """
        return self._stored().identity.dataset_path

    def by(self, labels_of: str) -> Self:
        """The same run with other effective labels: `by("judge")` ignores human annotations.

        >>> run.by("judge").labels.equals(run.labels)  # there are no human annotations
        True
        """
        return replace(self, labels_of=labels_of)

    # Results

    @property
    def labels(self) -> pd.DataFrame:
        """The effective labels: a row for each item, by id; for each criterion a category with the labels A,
        B, both_good and both_bad, missing if unscored.

        >>> run.labels["relevance"].cat.categories.tolist()
        ['A', 'B', 'both_good', 'both_bad']
        """
        results = self._results().answered
        return _by_item(results, results.label, lambda labels: array_of(labels, _LABELS))

    @property
    def explanations(self) -> pd.DataFrame:
        """The effective explanations: a row for each item, by id; a text for each criterion, missing if none.

        >>> run.explanations.index.equals(run.labels.index)
        True
        """
        results = self._results().answered
        return _by_item(results, results.explanation, text_column)

    @property
    def judgments(self) -> pd.DataFrame:
        """All judgments: a row for each item and criterion, with probabilities from 0 to 1.

        >>> probabilities = run.judgments.filter(like="probability_").sum(axis=1)
        >>> probabilities.round(6).unique().tolist()
        [1.0]
        """
        results = self._results().answered
        by_item = zip(*results.judgments.values(), strict=True)
        rows = [_judgment_row(results, judgment) for item in by_item for judgment in item]
        return frame_of_rows(_JUDGMENTS, rows)

    @property
    def raw_predictions(self) -> pd.DataFrame:
        """The raw predictions: a row for each item, criterion, elicitation method and order. Logarithms are
        natural; A is the response shown first.

        >>> len(run.raw_predictions) == 2 * len(run.judgments)  # in both orders
        True
        """
        rows = [
            (
                *(item.item_id, criterion, reading.method.value, reading.order.value, reading.judge),
                *(*reading.log_probs, reading.answer_mass),
            )
            for item in self._results().answered.judged
            for criterion, raw_predictions in item.raw_predictions.items()
            for reading in raw_predictions
        ]
        return frame_of_rows(_RAW_PREDICTIONS, rows)

    @property
    def health(self) -> JudgeHealth:
        """Whether the model judged at all; this needs no human labels.

        >>> run.health.verdict
        'judges'
        """
        return JudgeHealth.of(run_health(self._results()))

    # Sources

    def _path(self) -> Path:
        return check_store(default_store() if self.store is None else Path(self.store))

    @in_python()
    def _stored(self) -> StoredRun:
        path = self._path()
        with expecting(path, FileKind.RUN_STORE), RunStore(path) as store:
            return self._of_given(store.run(self.id))

    @in_python()
    def _results(self) -> RunResults:
        path = self._path()
        mark = files_mark(path)
        # Each property of a run asks for all its results: they are read again only where a file changed.
        if self._seen.results is None or mark is None or mark != self._seen.mark:
            with expecting(path, FileKind.RUN_STORE), RunStore(path) as store:
                results = load_results(store, self.id)
            annotators = tuple(results.reviews.labels)
            results = replace(results, run=self._of_given(results.run))
            self._seen.results = results.by(LabelSource.of_text(self.labels_of, annotators))
            self._seen.mark = mark
        return self._seen.results

    def _of_given(self, run: StoredRun) -> StoredRun:
        if self._given is None:
            return run
        return replace(run, identity=replace(run.identity, dataset_path=self._given.path))

    def _own_dataset(self) -> Dataset:
        columns, run = None if self._given is None else self._given.columns, self._stored()
        try:
            return dataset_of_run(run, columns=columns)
        except SetupError as error:
            if not is_of_a_frame(run.identity.dataset_path, self._path()):
                raise
            raise SetupError(
                error.problem,
                "It is the file of the frame that was judged. Pass that frame to the same Judge.run again:"
                " its file is written again, and nothing is judged twice.",
            ) from error

    def _system(self) -> System:
        return system_of_run(self._results())
