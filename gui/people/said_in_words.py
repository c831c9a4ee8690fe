"""Annotations of a judgment in words: the current ones, earlier ones, one step of an annotator.

Knows: annotations, labels. Does not know: widgets, how a step is undone.
"""

from datetime import datetime

from engine.core.formatting import capitalised, counted, words
from engine.core.judgments import Confirmation, NewOverride, NewReview, Override, ReviewMark, ReviewState
from engine.core.people import AnnotatorStep, EffectiveAnnotation
from gui.kit.label_mark import LABEL_WORDS

_STATES = {ReviewState.TO_DO: "reopened", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


def standing_in_words(standing: EffectiveAnnotation) -> str:
    """`Label both good by Ben, explanation by Ada, 2026-03-01 14:05`, in local time."""
    label = "" if standing.preference is None else f"label {LABEL_WORDS[standing.preference]}"
    by = " and ".join(standing.label_by)
    if label and standing.explanation and (standing.text_by,) == standing.label_by:
        parts = [f"{label} and explanation by {by}"]
    else:
        parts = [f"{label} by {by}"] if label else []
        parts += [f"explanation by {standing.text_by}"] if standing.explanation else []
    text = f"{', '.join(parts)}, {_time(standing.created)}"
    return f"Adjudicated: {text}" if standing.adjudicated else capitalised(text)


def override_in_words(override: Override) -> str:
    """`Label both good and explanation by Ada, 2026-03-01 14:05, taken back 14:07`, in local time."""
    text = f"{_changed(override)} by {override.author}, {_time(override.created)}"
    undone = f", undone {_time(override.undone)}" if override.undone else ""
    return f"{capitalised(text)}{undone}"


def step_in_words(step: AnnotatorStep) -> str:
    """`label B on safety`, `done, with 5 labels accepted`, `a note`."""
    return ", ".join(dict.fromkeys(filter(None, map(_word, _merged(step)))))


def _merged(step: AnnotatorStep) -> list[object]:
    """The annotations of a step; the labels that were accepted at once as their number."""
    confirmed = [word for word in step.words if isinstance(word, Confirmation)]
    others: list[object] = [word for word in step.words if not isinstance(word, Confirmation)]
    if len(confirmed) > 1:
        return [*others, _confirmed(len(confirmed))]
    return [*others, *confirmed]


def _word(word: object) -> str:
    match word:
        case str():
            return word
        case Override() | NewOverride():
            return f"{_changed(word)} on {words(word.criterion)}"
        case Confirmation():
            return f"label {LABEL_WORDS[word.preference]} accepted on {words(word.criterion)}"
        case ReviewMark():
            return _STATES[word.state]
        case NewReview():
            confirmed = _confirmed(len(word.confirmed)) if word.confirmed else ""
            return ", ".join(filter(None, (_STATES[word.state] if word.state else "", confirmed)))
        case _:
            return "a note"


def _confirmed(labels: int) -> str:
    return f"{counted(labels, 'label', 'labels')} accepted"


def _changed(override: Override | NewOverride) -> str:
    parts = []
    if override.preference is not None:
        parts.append(f"label {LABEL_WORDS[override.preference]}")
    if override.explanation is not None:
        parts.append("explanation")
    text = " and ".join(parts)
    return f"adjudicated: {text}" if override.settles else text


def _time(time: datetime) -> str:
    return f"{time.astimezone():%Y-%m-%d %H:%M}"
