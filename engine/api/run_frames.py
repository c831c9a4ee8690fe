"""What a run holds as frames: labels, explanations, judgments, readings.

Knows: the columns of each and what they mean. Does not know: stores, files, human labels of a dataset.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from engine.api.frames import text_column
from engine.api.tables import Columns, array_of, frame_of_rows
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.core.people import Standing
from engine.decisions.run_results import RunResults

LABEL_NAMES = [label.value for label in PREFERENCES]
_LABELS = pd.CategoricalDtype(LABEL_NAMES)
_ITEM, _CRITERION = "The id of the item.", "The criterion that is judged."

_JUDGMENTS: Columns = {
    "id": ("string", _ITEM),
    "criterion": ("string", _CRITERION),
    "label": (_LABELS, "The label in force: a person's where one gave it, else the model's."),
    "model_preference": (_LABELS, "What the model says."),
    "overridden": ("string", "What is a person's: label, explanation or both; missing for nothing."),
    **{
        f"probability_{label}": ("float64", f"The model's probability of {label}, 0 to 1, calibrated where"
        " the run is.")
        for label in PREFERENCES
    },
    "flipped": ("boolean", "Whether the two orders alone give different labels; missing in one order."),
    "judges": ("Int64", "How many of a panel's judges decided it; missing in a run of one judge."),
    "judges_missing": ("Int64", "How many of them could not say anything."),
    "place_decides": ("boolean", "Whether the calibrated label depends on which response is A."),
    "format_mass": ("float64", "The share, 0 to 1, of all probability that the four labels hold."),
    "outdated": ("boolean", "Whether the explanation in force is for another label than the one in force."),
    "unscored": ("string", "Why there is no judgment of the model; missing where there is one."),
}  # fmt: skip
_READINGS: Columns = {
    "id": ("string", _ITEM),
    "criterion": ("string", _CRITERION),
    "way": ("string", "The way in which the model was asked."),
    "order": ("string", "In which order it saw the responses: AB or BA."),
    "judge": ("Int64", "Which judge of a panel it was, from 1; 0 in a run of one judge."),
    **{
        f"log_probability_{label}": ("float64", f"The natural logarithm of the probability of {label}, as the"
        " model saw the responses: A is the first one shown.")
        for label in PREFERENCES
    },
    "format_mass": ("float64", "The share, 0 to 1, of all probability that the four labels hold."),
}  # fmt: skip


def labels_frame(results: RunResults) -> pd.DataFrame:
    """The labels in force: a row for each item, by id; a category for each criterion."""
    return _by_item(results, results.label, lambda labels: array_of(labels, _LABELS))


def explanations_frame(results: RunResults) -> pd.DataFrame:
    """The explanations in force: a row for each item, by id; a text for each criterion."""
    return _by_item(results, results.explanation, text_column)


def judgments_frame(results: RunResults) -> pd.DataFrame:
    """A row for each item and criterion."""
    rows = [
        _judgment_row(results, column[place])
        for place in range(len(results.judged))
        for column in results.judgments.values()
    ]
    return frame_of_rows(_JUDGMENTS, rows)


def readings_frame(results: RunResults) -> pd.DataFrame:
    """A row for each reading: an item, a criterion, a way, an order; of a panel each judge's."""
    rows = [
        (
            *(item.item_id, criterion, reading.way.value, reading.order.value, reading.judge),
            *(*reading.log_probs, reading.format_mass),
        )
        for item in results.judged
        for criterion, readings in item.readings.items()
        for reading in readings
    ]
    return frame_of_rows(_READINGS, rows)


def _by_item(
    results: RunResults,
    said: Callable[[AnyJudgment], Preference | str | None],
    column_of: Callable[[list[Any]], Any],
) -> pd.DataFrame:
    index = pd.Index(text_column(item.item_id for item in results.judged), name="id")
    columns = {name: column_of([_value(said(one)) for one in own]) for name, own in results.judgments.items()}
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
        *((read.place_decides, read.format_mass) if read else [None] * 2),
        results.is_outdated(judgment),
        unscored,
    )


def _overridden(said: Standing | None) -> str | None:
    if said is None:
        return None
    parts = {"label": said.preference, "explanation": said.explanation}
    own = [name for name, value in parts.items() if value is not None]
    return own[0] if len(own) == 1 else "both"


def _value(said: Preference | str | None) -> str | None:
    return said.value if isinstance(said, Preference) else said
