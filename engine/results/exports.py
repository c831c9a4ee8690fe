"""All that is known of a run, as plain values for JSON and as one CSV file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.annotations.effective import EffectiveAnnotation, tags_together
from engine.annotations.records import Annotation, AnnotationKind
from engine.core import judgments
from engine.core.codec import plain
from engine.core.items import PREFERENCES, Gold, Order
from engine.core.methods import together
from engine.data.dataset import Dataset
from engine.data.file_kinds import IN_SAMPLE, LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS
from engine.data.other_columns import distinct_names
from engine.data.submission import quoted_cell
from engine.results.completeness import random_part
from engine.results.health import run_health
from engine.results.run_dataset import cells_beside
from engine.results.run_results import RunResults
from engine.results.trust import may_stand, valid_trust
from engine.settings.identity import TRUST
from engine.system.files import whole_file


def as_json(results: RunResults, dataset: Dataset | None = None) -> dict[str, Any]:
    """All that is known of a run, as plain values: how it was made, every judgment with its raw predictions.

    A judgment is the model's own; next to it stand the effective override, or null, and the labels that
    annotators gave or confirmed, by name. `people_said`, `notes`, `reviews`: all that they ever said, the
    oldest first, also what is undone; `tags`: those that stand. `all_explanations`: the model's first text,
    then those for other labels. `human`, `other_columns`: null without a dataset that has them. `trust` and
    `may_stand`, where it is kept with the run which labels may stand.
    """
    beside: Mapping[str, Mapping[str, str]] = {}
    human: Mapping[str, Mapping[str, Gold]] = {}
    if dataset is not None:
        human = {item.id: item.gold for item in dataset.same_items(results.content_hashes)}
        beside = cells_beside(dataset, human)
    columns, part = results.judgments.items(), random_part(results.reviews)
    standing = _TrustFields(results)
    return {
        "run": run_json(results),
        "health": run_health(results.whole or results).as_json(),
        "items": [
            {
                **_item_json(item, results),
                "random_sample": part.of(item.item_id) or None,
                "other_columns": beside.get(item.item_id),
                "judgments": {
                    name: _with_annotators(results, column[index], human.get(item.item_id, {}).get(name))
                    | standing.as_json(column[index])
                    for name, column in columns
                },
            }
            for index, item in enumerate(results.judged)
        ],
    }


class _TrustFields:
    """Which labels may stand, where that is kept with a run; else nothing, and no column either."""

    def __init__(self, results: RunResults) -> None:
        self._kept = valid_trust(results)
        self._stand = may_stand(results, self._kept) if self._kept else frozenset()
        self.columns = TRUST_COLUMNS if self._kept else ()

    def as_json(self, judgment: judgments.AnyJudgment) -> dict[str, bool]:
        return {"may_stand": judgment.key in self._stand} if self._kept else {}

    def cells(self, judgment: judgments.AnyJudgment) -> tuple[str, ...]:
        if self._kept is None:
            return ()
        kept, found = self._kept, self._kept.criteria.get(judgment.criterion)
        at = (
            (repr(found.confidence), str(found.labels))
            if found and found.confidence is not None
            else _EMPTY * 2
        )
        return _truth(judgment.key in self._stand), repr(kept.target), repr(kept.risk), *at


def run_json(results: RunResults) -> dict[str, Any]:
    run, identity, kept = results.run, results.run.identity, valid_trust(results)
    return {
        "id": run.id,
        "name": run.name,
        "note": run.note,
        "created": run.created.isoformat(),
        "complete": not results.left,
        "sample": run.sample_in_words or None,
        "items": identity.items,
        "judged": run.judged,
        "dataset": {"path": str(identity.dataset_path), "hash": identity.dataset_hash},
        "kind": identity.kind.value,
        "model": {"name": identity.model_name, "sha256": identity.model_hash},
        "prompt_version": identity.prompt_version,
        "rubric": identity.asked.as_json() if run.by_hand or not run.submitted else None,
        "settings": dict(identity.settings),
        "made_with": {name: value for name, value in run.manifest.items() if name != TRUST},
        "labels_of": results.source.in_words,
        "calibration": results.calibration and results.calibration.as_json(),
        **({"trust": plain(kept)} if kept else {}),
    }


def _item_json(item: judgments.JudgedItem, results: RunResults) -> dict[str, Any]:
    shortening, notes = item.shortening, results.notes.get(item.content_hash, ())
    said = results.reviews.words_of(item.item_id)
    return {
        "id": item.item_id,
        "position": item.position,
        "content_hash": item.content_hash,
        "seconds": round(item.seconds, 4),
        "tokens_read": item.tokens_read,
        "tokens_generated": item.tokens_generated,
        "shortened": shortening and {"a": shortening.left_out_a, "b": shortening.left_out_b},
        "reviews": [_said_json(word, "state") for word in said if word.kind is AnnotationKind.STATE],
        "notes": [_said_json(note, "text", "tags") for note in notes],
        "tags": list(tags_together(results.notes_on(item.content_hash))),
    }


def _with_annotators(
    results: RunResults, judgment: judgments.AnyJudgment, human: Gold | None
) -> dict[str, Any]:
    key = judgment.key
    override = results.overrides.get(key)
    return {
        **_judgment_json(judgment),
        "override": override
        and {
            "preference": override.preference,
            "explanation": override.explanation,
            "label_by": list(override.label_by),
            "explanation_by": override.text_by,
            "explanation_for": override.written_for,
            "created": override.created.isoformat(),
            "origin": override.origin,
            "seed": override.seed,
            "settled": override.adjudicated,
        },
        "people": {
            author: labels[key].value for author, labels in results.reviews.labels.items() if key in labels
        },
        "people_said": [_label_said_json(each) for each in results.reviews.said_on(key)],
        "human": human and human.said_json(),
    }


def _judgment_json(judgment: judgments.AnyJudgment) -> dict[str, Any]:
    if isinstance(judgment, judgments.Unscored):
        return {"preference": None, "unscored": judgment.reason}
    if isinstance(judgment, judgments.SubmittedLabel):
        return {"preference": judgment.preference.value, "explanation": judgment.text}
    return {
        "preference": judgment.preference.value,
        "probabilities": _by_label(judgment.probabilities),
        "flipped": judgment.flipped,
        "judges": judgment.judges,
        "judges_missing": judgment.judges_missing,
        "judges_differ": judgment.judges_differ,
        "place_decides": judgment.place_decides,
        "format_mass": judgment.answer_mass,
        "readings": [_reading_json(reading) for reading in judgment.raw_predictions],
        "explanation": _explanation_json(judgment.explanation),
        "explanation_outdated": judgment.stale,
        "all_explanations": [_explanation_json(explanation) for explanation in judgment.explanations],
    }


def _label_said_json(said: Annotation) -> dict[str, Any]:
    fields = ("preference", "origin", "seed", "blind")
    if said.kind is AnnotationKind.CONFIRMATION:
        return {"kind": "confirmed"} | _said_json(said, *fields)
    return {"kind": "said"} | _said_json(said, *fields, "explanation", "written_for", "settles")


def _said_json(said: Annotation, *fields: str) -> dict[str, Any]:
    """Who said it and when, whether it is taken back, and some of its fields."""
    return {
        "author": said.author,
        "created": said.created.isoformat(),
        "undone": said.undone and said.undone.isoformat(),
        **{name: getattr(said, name) for name in fields},
    }


def _reading_json(reading: judgments.RawPrediction) -> dict[str, Any]:
    if reading.label_alone:
        return {"judge": reading.judge, "label_taken_as": _by_label(reading.log_probs)}
    return {
        **({"judge": reading.judge} if reading.judge else {}),
        "order": reading.order.value,
        "way": reading.method.value,
        "log_probabilities_as_seen": _by_label(reading.log_probs),
        "format_mass": reading.answer_mass,
        "answers": [
            {
                "question": answer.question,
                "log_probabilities": list(answer.log_probs),
                "thought": answer.thought or None,
                "thought_cut": answer.cut,
            }
            for answer in reading.answers
        ],
    }


def _explanation_json(explanation: judgments.Explanation | None) -> dict[str, Any] | None:
    if explanation is None:
        return None
    return {"text": explanation.text, "for": explanation.preference.value, "cut": explanation.cut}


def _by_label(values: Sequence[float]) -> dict[str, float]:
    return {label.value: value for label, value in zip(PREFERENCES, values, strict=True)}


RUN_COLUMNS = (
    *("run", "item_id", "position", "criterion"),
    *("preference", "model_preference", "overridden", "label_author", "explanation_author"),
    *("override_created", "override_origin", "settled", "labels_of"),
    *("review_state", "review_author", "review_created"),
    *(LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS, IN_SAMPLE),
    *("blind_by_people", "explanations_by_people", "states_by_people", "notes_by_people", "tags"),
    *(f"probability_{label}" for label in PREFERENCES),
    *("flipped", "judges", "judges_missing", "judges_differ", "place_decides", "format_mass"),
    *(f"log_probability_{order}_{label}" for order in Order for label in PREFERENCES),
    *("explanation", "outdated"),
    *("model_explanation", "model_explanation_for", "model_explanation_cut"),
    *("unscored", "shortened_a", "shortened_b", "seconds"),
)
DATASET_COLUMNS = ("instruction", "output_a", "output_b", "human_preference", "human_explanation")

TRUST_COLUMNS = ("may_stand", "trust_target", "trust_risk", "trust_threshold", "trust_labels")
"""After RUN_COLUMNS, where it is kept with the run which of its labels may stand."""

_EMPTY = ("",)


def write_results_csv(
    path: Path, results: RunResults, dataset: Dataset | None = None, gold: Dataset | None = None
) -> None:
    """Write RUN_COLUMNS, perhaps TRUST_COLUMNS and, with a dataset, DATASET_COLUMNS and its other columns, in
    UTF-8: whole or not at all. What they hold: docs/commands.md. SetupError where the file cannot be written.

    The human cells are those of `gold`, else of the dataset; empty for items that it lacks or has with other
    texts. An other column whose name is taken gets `dataset_` before it. Numbers come back exactly;
    probabilities are 0 to 1, `log_probability_BA_A` is what the model gave the label A in the order BA, where
    A is the response that it saw first, over several methods their mean. What ends with `_by_people` is a
    JSON object with their names as keys.
    """
    dataset = dataset if dataset is not None else gold
    standing = _TrustFields(results)
    own, columns = (*RUN_COLUMNS, *standing.columns), tuple[str, ...]()
    cells = None
    if dataset is not None:
        names = distinct_names(dataset.other_columns, (*own, *DATASET_COLUMNS))
        columns = (*DATASET_COLUMNS, *names.values())
        cells = _DatasetCells(dataset, gold, results.content_hashes)
    part = random_part(results.reviews)
    with whole_file(path) as file:
        file.write(_line((*own, *columns)))
        for index, item in enumerate(results.judged):
            for column in results.judgments.values():
                row = _run_cells(results, item, column[index], part.of(item.item_id))
                row += standing.cells(column[index])
                file.write(_line(row + cells.of(column[index].key) if cells else row))


class _DatasetCells:
    """What a dataset says of the items that were judged as they are there, by id."""

    def __init__(self, dataset: Dataset, gold: Dataset | None, hashes: Mapping[str, str]) -> None:
        items = {item.id: item for item in dataset.same_items(hashes)}
        if gold is not None and gold is not dataset:
            labels = {item.id: item.gold for item in gold.same_items(hashes)}
            items = {item_id: replace(item, gold=labels.get(item_id, {})) for item_id, item in items.items()}
        self._items = items
        self._beside = cells_beside(dataset, items)
        self._empty = _EMPTY * (len(DATASET_COLUMNS) + len(dataset.other_columns))

    def of(self, key: judgments.JudgmentKey) -> tuple[str, ...]:
        """The cells of an item in the row of a criterion; empty where the dataset lacks it as it was."""
        item = self._items.get(key.item_id)
        if item is None:
            return self._empty
        gold = item.gold.get(key.criterion)
        human = (gold.label or "", gold.explanation or "") if gold else _EMPTY * 2
        return item.instruction, item.output_a, item.output_b, *human, *self._beside[key.item_id].values()


def _run_cells(
    results: RunResults, item: judgments.JudgedItem, judgment: judgments.AnyJudgment, in_sample: str
) -> tuple[str, ...]:
    left_out, given = item.shortening, results.reviews.given_on(judgment.key)
    marks = results.reviews.marks_of(item.item_id)
    mark = max(marks, key=lambda mark: mark.created) if marks else None
    own = None if isinstance(judgment, judgments.Unscored) else judgment.explanation
    return (
        *(str(results.run.id), item.item_id, str(item.position), judgment.criterion),
        results.label(judgment) or "",
        "" if isinstance(judgment, judgments.Unscored) else judgment.preference,
        *_override_cells(results.overrides.get(judgment.key)),
        results.source.in_words,
        *((mark.state or "", mark.author, mark.created.isoformat()) if mark else _EMPTY * 3),
        _object({name: each.preference for name, each in given.items()}),
        _object({name: each.origin for name, each in given.items()}),
        in_sample,
        *_words_of_annotators(results, item, judgment),
        *_probability_cells(judgment),
        *_reading_cells(item, judgment.criterion),
        results.explanation(judgment) or "",
        _truth(results.is_stale(judgment)),
        *((own.text, own.preference, _truth(own.cut)) if own else _EMPTY * 3),
        judgment.reason if isinstance(judgment, judgments.Unscored) else "",
        *((str(left_out.left_out_a), str(left_out.left_out_b)) if left_out else _EMPTY * 2),
        repr(item.seconds),
    )


def _override_cells(override: EffectiveAnnotation | None) -> tuple[str, ...]:
    if override is None:
        return _EMPTY * 6
    parts = {"label": override.preference, "explanation": override.explanation}
    own = [name for name, value in parts.items() if value is not None]
    what = own[0] if len(own) == 1 else "both"
    return (
        *(what, " and ".join(override.label_by), override.text_by or "", override.created.isoformat()),
        *(override.origin or "", _truth(override.adjudicated) if override.preference else ""),
    )


def _words_of_annotators(
    results: RunResults, item: judgments.JudgedItem, judgment: judgments.AnyJudgment
) -> tuple[str, ...]:
    reviews, notes = results.reviews, results.notes_on(item.content_hash)
    texts = {each.author: each.explanation for each in reviews.last_of_each(judgment.key) if each.explanation}
    tags = tags_together(notes)
    return (
        _object({name: each.blind for name, each in reviews.given_on(judgment.key).items()}),
        _object(texts),
        _object({mark.author: mark.state for mark in reviews.marks_of(item.item_id)}),
        _object({note.author: note.text for note in notes if note.text}),
        json.dumps(tags, ensure_ascii=False) if tags else "",
    )


def _object(by_name: Mapping[str, object]) -> str:
    return json.dumps(by_name, ensure_ascii=False) if by_name else ""


def _probability_cells(judgment: judgments.AnyJudgment) -> tuple[str, ...]:
    if not isinstance(judgment, judgments.Judgment):
        return _EMPTY * (len(PREFERENCES) + 6)
    mass = judgment.answer_mass
    return (
        *map(repr, judgment.probabilities),
        _truth(judgment.flipped),
        *(_EMPTY * 2 if judgment.judges is None else (str(judgment.judges), str(judgment.judges_missing))),
        *(_truth(judgment.judges_differ), _truth(judgment.place_decides)),
        "" if mass is None else repr(mass),
    )


def _reading_cells(item: judgments.JudgedItem, criterion: str) -> Iterator[str]:
    """Of each order, all methods combined, also where they could not be made a judgment."""
    raw_predictions = together(item.raw_predictions.get(criterion, ()))
    by_order = {reading.order: reading.log_probs for reading in raw_predictions}
    for order in Order:
        yield from map(repr, by_order[order]) if order in by_order else _EMPTY * len(PREFERENCES)


def _truth(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _line(cells: tuple[str, ...]) -> bytes:
    # A NUL ends a text for pandas, and half a character is no UTF-8: both are written out, as \\x00, \\ud800.
    line = ",".join(quoted_cell(cell.replace("\0", "\\x00"), between=",") for cell in cells) + "\n"
    return line.encode("utf-8", "backslashreplace")
