"""Files read as frames, and the bundled dataset.

Knows: which kinds of files are tables of items. Does not know: formats, runs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from engine.api.arguments import AnyPath, api_call, name_or_path, path_of
from engine.api.frames import text_column
from engine.api.refused import notice
from engine.core.column_map import ColumnMap, check_targets, parse_columns, parse_labels
from engine.core.errors import SetupError
from engine.core.file_kinds import FileKind
from engine.core.formatting import in_a_line
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import kind_of
from engine.data.rubrics.offered import find_rubric
from engine.data.submission import Submission, read_submission
from engine.system import paths

_AS_IN = {"columns": '{"id": "uid"}', "labels": '{"1": "A", "2": "B"}'}


def demo_dataset() -> Path:
    """The labelled dataset bundled with Tiebreak: 240 items of the demo model's small world.

    >>> demo_dataset().name
    'demo.tsv'
    """
    return paths.demo_dataset()


@api_call
def read(
    path: AnyPath,
    columns: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    rubric: AnyPath | None = None,
) -> pd.DataFrame:
    """A dataset (TSV, CSV, JSON, JSON Lines, Parquet, each plain or .gz) or a submission as a frame.

    `columns`: column names of the file by Tiebreak's, {"id": "uid"}; `labels`: the meaning of its label
    values, {"1": "A", "2": "B", "0": "tie", "bad": "none"}. `rubric`: the rubric with the criteria of the
    labels, a name or a file; None for the task's. All columns have the dtype `string`, with the texts of the
    file; missing labels and explanations are `pandas.NA`. The frame of a dataset can be passed to `Judge.run`
    and as `gold`.

    Raises Refused, with all problems of the file.

    >>> frame = read(demo_dataset())
    >>> frame.shape[0], frame.columns[:4].tolist()
    (240, ['id', 'instruction', 'output_a', 'output_b'])
    """
    path = path_of("path", path)
    asked = ELOQUENT if rubric is None else find_rubric(name_or_path("rubric", rubric))
    for name, given in (("columns", columns), ("labels", labels)):
        if not isinstance(given, Mapping | None):
            raise SetupError(f"{name} is {in_a_line(given)}.", f"Use a dictionary, as {_AS_IN[name]}.")
    columns_map = _map_of(columns or {}, labels or {}, asked)
    if columns_map is None and kind_of(path) is FileKind.SUBMISSION:
        return _submission_frame(read_submission(path))
    dataset = load_dataset(path, asked, columns=columns_map)
    for text in filter(None, [*dataset.notices, dataset.read_as]):
        notice(f"{dataset.name}: {text}")
    return _dataset_frame(dataset)


def _map_of(columns: Mapping[str, str], labels: Mapping[str, str], rubric: Rubric) -> ColumnMap | None:
    """The given mappings, parsed like the options of a command; None if there are none."""
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
        made[name] = text_column(dataset.texts(name).to_pylist(), empty_is_missing=is_annotation)
    for name in dataset.other_columns:
        made[name] = text_column(dataset.texts(name).to_pylist())
    return pd.DataFrame(made)


def _submission_frame(submission: Submission) -> pd.DataFrame:
    made: dict[str, list[str | None]] = {name: [] for name in submission.columns}
    for row in submission.rows:
        made["id"].append(row.id)
        for name, prediction in row.predictions.items():
            made[f"{name}_preference"].append(prediction.preference and prediction.preference.value)
            if submission.with_explanations:
                made[f"{name}_explanation"].append(prediction.explanation)
    return pd.DataFrame({name: text_column(cells) for name, cells in made.items()})
