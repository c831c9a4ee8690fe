"""Files read as frames, and the bundled dataset; a judge with the interface of TRL's trainers."""

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from random import Random
from typing import Any, Literal, overload

import pandas as pd

from engine.annotations.records import LabelSourceKind
from engine.api import arguments
from engine.api.judge import Judge, asked_by
from engine.api.refused import Refused, in_python, notice
from engine.core.column_map import ColumnMap, check_targets, parse_columns, parse_labels
from engine.core.errors import FileKind, SetupError
from engine.core.formatting import in_a_line
from engine.core.items import PREFERENCES, Preference
from engine.core.rubric import ELOQUENT, Rubric, default_criterion
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import kind_of
from engine.data.reading import FileReport, report_on
from engine.data.rubrics.files import find_rubric
from engine.data.submission import Submission, read_submission
from engine.ranking import weighted_judge
from engine.system import paths

_WINNERS = {Preference.A.value: 0, Preference.B.value: 1}
_NONE = -1
_CANDIDATES = ("first completion", "second completion")


@dataclass(frozen=True)
class PairwiseJudge:
    """Decides which completion of each pair is better on one criterion; None: the overall quality.

    Each call is an ordinary run in the judge's store: the same call again judges nothing twice. By default
    only labels are judged, and only on this criterion; with a recipe or a calibration on all criteria of the
    judge, for which these were made. `progress`: show a progress bar for each call.
    """

    judge_with: Judge
    criterion: str | None = None
    progress: bool = False

    @in_python()
    def __post_init__(self) -> None:
        if not isinstance(self.judge_with, Judge):
            raise SetupError(f"judge_with is {in_a_line(self.judge_with)}.", "Give a tiebreak.Judge.")
        arguments.take_fields(self)

    @overload
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        return_scores: Literal[False] = False,
    ) -> list[int]: ...
    @overload
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        *,
        return_scores: Literal[True],
    ) -> list[float]: ...
    @arguments.api_call
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        return_scores: bool = False,
    ) -> list[int] | list[float]:
        """For each prompt the index of the better of its two completions, 0 or 1; -1 for a tie or unscored.

        `shuffle_order`: shuffle, by the judge's seed, which completion is read first; no effect on a judge
        that reads both orders. `return_scores`: instead of the winner return the probability, 0 to 1, that
        the first completion wins, with a tie counted half; not a number if unscored.

        Refused if the two lists do not match, and for anything that is not text.

        >>> PairwiseJudge(judge).judge(["Name a colour."], [["Blue.", "Blue."]])
        [-1]
        """
        asked = _checked(prompts, completions)
        if not asked:
            return []
        judge, criterion, both_orders = self._asked()
        chance = Random(judge.seed or 0)  # deterministic, so that the same call is the same run
        swaps = [shuffle_order and not both_orders and chance.random() < 0.5 for _ in asked]
        pairs = [
            (second, first) if swap else (first, second)
            for swap, (_, first, second) in zip(swaps, asked, strict=True)
        ]
        frame = pd.DataFrame(
            {
                "id": [str(number) for number in range(1, len(pairs) + 1)],
                "instruction": [prompt for prompt, _, _ in asked],
                "output_a": [first for first, _ in pairs],
                "output_b": [second for _, second in pairs],
                # Avoids notices on repeated prompts: trainers repeat them.
                "candidate_a": [_CANDIDATES[swap] for swap in swaps],
                "candidate_b": [_CANDIDATES[not swap] for swap in swaps],
            }
        )
        all_judged = judge.run(frame, progress=self.progress).by(LabelSourceKind.JUDGE.option).judgments
        judgments = all_judged[all_judged["criterion"] == criterion]
        if return_scores:
            # The probability that A wins, with ties counted half.
            ties = [label for label in PREFERENCES if label not in {Preference.A, Preference.B}]
            half = sum(judgments[f"probability_{label}"] for label in ties) / 2
            scores = map(float, judgments[f"probability_{Preference.A}"] + half)
            return [
                1 - score if swap and not math.isnan(score) else score
                for score, swap in zip(scores, swaps, strict=True)
            ]
        winners = (_WINNERS.get(label, _NONE) for label in judgments["label"].astype(object))
        return [
            1 - winner if swap and winner != _NONE else winner
            for winner, swap in zip(winners, swaps, strict=True)
        ]

    def _asked(self) -> tuple[Judge, str, bool]:
        # only this criterion, unless a recipe or a calibration was made for several
        judge = replace(self.judge_with, mode=self.judge_with.mode or "labels")
        rubric, both_orders = asked_by(judge)
        criterion = self.criterion or default_criterion(rubric.names)
        if judge.recipe is not None or judge.calibration is not None:
            rubric.only((criterion,))  # refuses an unknown criterion
            return judge, criterion, both_orders
        return replace(judge, criteria=(criterion,)), criterion, both_orders


class RefusedScores(Refused, ValueError, TypeError):
    """Refused scores; also of the types that the engine's function raises."""


@wraps(weighted_judge.pairwise_preference_judge, assigned=["__doc__"])  # keeps its own name, for pickle
def pairwise_preference_judge(
    comparisons: list[dict[str, Any]], criteria_weights: dict[str, float], tie_threshold: float
) -> dict[str, Any]:
    """The engine's function, whose ValueError and TypeError become RefusedScores."""
    try:
        return weighted_judge.pairwise_preference_judge(comparisons, criteria_weights, tie_threshold)
    except (ValueError, TypeError) as error:
        raise RefusedScores(str(error), "Fix it, then call again.") from error


def _checked(prompts: Iterable[str], completions: Iterable[Iterable[str]]) -> list[tuple[str, str, str]]:
    asked, pairs = _listed("prompts", prompts), _listed("completions", completions)
    if len(asked) != len(pairs):
        raise SetupError(
            f"There are {len(asked):,} prompts and {len(pairs):,} pairs of completions.",
            "Give a pair for each prompt.",
        )
    made = []
    for number, (prompt, given) in enumerate(zip(asked, pairs, strict=True), start=1):
        pair = _listed(f"Prompt {number} has no pair of completions: it", given)
        if len(pair) != len(_CANDIDATES):
            raise SetupError(f"Prompt {number} has no pair of completions.", "Give two texts for each.")
        first, second = (
            _text(f"Prompt {number}, {name}", text) for name, text in zip(_CANDIDATES, pair, strict=True)
        )
        made.append((_text(f"Prompt {number}", prompt), first, second))
    return made


def _listed(what: str, given: object) -> list[Any]:
    if isinstance(given, str | bytes | Mapping | Set | pd.DataFrame) or not isinstance(given, Iterable):
        raise SetupError(f"{what} is of the type {type(given).__name__}.", "Give a list.")
    return list(given)


def _text(where: str, given: object) -> str:
    if not isinstance(given, str):
        raise SetupError(f"{where}: {in_a_line(given)} is no text.", "Give a text, which may be empty.")
    try:
        return arguments.cell_text(given)
    except arguments.NoText as error:
        raise SetupError(f"{where}: {error}", "Remove that character.") from error


_AS_IN = {"columns": '{"id": "uid"}', "labels": '{"1": "A", "2": "B"}'}


def demo_dataset() -> Path:
    """The labelled dataset bundled with Tiebreak: 240 items of the demo model's small world.

    >>> demo_dataset().name
    'demo.tsv'
    """
    return paths.demo_dataset()


@overload
def read(
    path: arguments.AnyPath,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    rubric: arguments.AnyPath | None = None,
    *,
    skip_bad_rows: bool = False,
    report: Literal[False] = False,
) -> pd.DataFrame: ...


@overload
def read(
    path: arguments.AnyPath,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    rubric: arguments.AnyPath | None = None,
    *,
    skip_bad_rows: bool = False,
    report: Literal[True],
) -> FileReport: ...


@arguments.api_call
def read(
    path: arguments.AnyPath,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    rubric: arguments.AnyPath | None = None,
    *,
    skip_bad_rows: bool = False,
    report: bool = False,
) -> pd.DataFrame | FileReport:
    """A dataset (TSV, CSV, JSON, JSON Lines, Parquet, each plain or .gz) or a submission as a frame.

    `columns`: column names of the file by Tiebreak's, {"id": "uid"}; `labels`: the meaning of its label
    values, {"1": "A", "2": "B", "0": "tie", "bad": "none"}. `rubric`: the rubric with the criteria of the
    labels, a name or a file; None for the task's. All columns have the dtype `string`, with the texts of the
    file; missing labels and explanations are `pandas.NA`. The frame of a dataset can be passed to `Judge.run`
    and as `gold`. `skip_bad_rows`: leave out rows that cannot be read, with a notice for each. `report`: how
    the file is read, what is asked and what speaks against it, instead of the frame.

    Raises Refused, with all problems of the file.

    >>> frame = read(demo_dataset())
    >>> frame.shape[0], frame.columns[:4].tolist()
    (240, ['id', 'instruction', 'output_a', 'output_b'])
    """
    path = arguments.path_of("path", path)
    asked = ELOQUENT if rubric is None else find_rubric(arguments.name_or_path("rubric", rubric))
    for name, given in (("columns", columns), ("labels", labels)):
        if not isinstance(given, Mapping | None):
            raise SetupError(f"{name} is {in_a_line(given)}.", f"Use a dictionary, as {_AS_IN[name]}.")
    columns_map = _map_of(columns or {}, labels or {}, asked)
    if skip_bad_rows:
        columns_map = replace(columns_map or ColumnMap(), skip_bad_rows=True)
    if report:
        return report_on(path, asked, columns_map)
    if columns_map is None and kind_of(path) is FileKind.SUBMISSION:
        return _submission_frame(read_submission(path))
    dataset = load_dataset(path, asked, columns=columns_map)
    for text in filter(None, [*dataset.notices, dataset.read_as]):
        notice(f"{dataset.name}: {text}")
    return _dataset_frame(dataset)


def _map_of(columns: Mapping[str, str], labels: Mapping[str, str], rubric: Rubric) -> ColumnMap | None:
    if not columns and not labels:
        return None
    pairs = [*columns.items(), *labels.items()]
    if wrong := [pair for pair in pairs if not all(isinstance(text, str) for text in pair)]:
        raise SetupError(
            f"columns and labels: {in_a_line(wrong[0])} is not a pair of texts.", "Use texts on both sides."
        )
    given = ColumnMap(tuple(columns.items()), tuple(labels.items()))
    sources = parse_columns(given.columns_text)
    check_targets(sources, rubric)
    return ColumnMap.of(sources, parse_labels(given.labels_text))


def _dataset_frame(dataset: Dataset) -> pd.DataFrame:
    made: dict[str, Any] = {}
    for name in dataset.table.column_names:
        is_annotation = "_preference" in name or "_explanation" in name
        made[name] = arguments.text_column(dataset.texts(name).to_pylist(), empty_is_missing=is_annotation)
    for name in dataset.other_columns:
        made[name] = arguments.text_column(dataset.texts(name).to_pylist())
    return pd.DataFrame(made)


def _submission_frame(submission: Submission) -> pd.DataFrame:
    made: dict[str, list[str | None]] = {name: [] for name in submission.columns}
    for row in submission.rows:
        made["id"].append(row.id)
        for name, prediction in row.predictions.items():
            made[f"{name}_preference"].append(prediction.preference and prediction.preference.value)
            if submission.with_explanations:
                made[f"{name}_explanation"].append(prediction.explanation)
    return pd.DataFrame({name: arguments.text_column(cells) for name, cells in made.items()})
