"""The content of a run as frames: labels, explanations, judgments, raw predictions.

Knows: the columns of each and what they mean. Does not know: stores, files, human labels of a dataset.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from engine.api.frames import text_column
from engine.api.tables import Columns, array_of, frame_of_rows
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.core.people import EffectiveAnnotation
from engine.decisions.run_results import RunResults

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


def labels_frame(results: RunResults) -> pd.DataFrame:
    """The effective labels: a row for each item, by id; a category for each criterion."""
    return _by_item(results, results.label, lambda labels: array_of(labels, _LABELS))


def explanations_frame(results: RunResults) -> pd.DataFrame:
    """The effective explanations: a row for each item, by id; a text for each criterion."""
    return _by_item(results, results.explanation, text_column)


def judgments_frame(results: RunResults) -> pd.DataFrame:
    """A row for each item and criterion."""
    rows = [
        _judgment_row(results, column[place])
        for place in range(len(results.judged))
        for column in results.judgments.values()
    ]
    return frame_of_rows(_JUDGMENTS, rows)


def raw_predictions_frame(results: RunResults) -> pd.DataFrame:
    """A row for each raw prediction: an item, a criterion, a method, an order; of a jury also a judge."""
    rows = [
        (
            *(item.item_id, criterion, reading.method.value, reading.order.value, reading.judge),
            *(*reading.log_probs, reading.answer_mass),
        )
        for item in results.judged
        for criterion, raw_predictions in item.raw_predictions.items()
        for reading in raw_predictions
    ]
    return frame_of_rows(_RAW_PREDICTIONS, rows)


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
