"""The rows of judged items: only added, never changed. Raw predictions of label tokens are in `reading`, the
raw answers of other methods in `answer`, those of a jury's judges in `panel_reading`.
"""

import json
import math
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from engine.core.items import HumanLabel, Method, Order, Prediction, Preference
from engine.core.judgments import AnswerLogProbs, Explanation, JudgedItem, RawPrediction, Shortening
from engine.core.methods import raw_prediction_of
from engine.settings.identity import Effort
from engine.store.row_validator import RowValidator

_Texts = dict[tuple[str, HumanLabel], Explanation]  # by criterion and label
_Given = dict[str, Prediction]  # by criterion


def add_items(db: sqlite3.Connection, run_id: int, items: Iterable[JudgedItem]) -> None:
    """Store items with raw predictions, explanations and reasons, in the caller's transaction."""
    for item in items:
        place, cut = (run_id, item.position), item.shortening
        left_out = (cut.left_out_a, cut.left_out_b) if cut else (None, None)
        effort = (item.seconds, item.tokens_read, item.tokens_generated)
        db.execute(
            "INSERT INTO judged_item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*place, item.item_id, item.content_hash, *left_out, *effort, *(item.lengths or (None, None))),
        )
        _add_readings(db, place, item.raw_predictions)
        written = [
            (*place, criterion, each.preference.value, each.text, each.cut)
            for criterion, each in item.explanations.items()
        ]
        db.executemany("INSERT INTO explanation VALUES (?, ?, ?, ?, ?, ?)", written)
        reasons = [(*place, criterion, reason) for criterion, reason in item.unscored.items()]
        db.executemany("INSERT INTO unscored VALUES (?, ?, ?, ?)", reasons)
        given = [
            (*place, criterion, each.preference and each.preference.value, each.explanation)
            for criterion, each in item.given.items()
        ]
        db.executemany("INSERT INTO given VALUES (?, ?, ?, ?, ?)", given)


def add_rewritten(
    db: sqlite3.Connection, run_id: int, written: Mapping[int, Mapping[str, Explanation]]
) -> None:
    """Store explanations next to the first ones, where there are any; one for the same label is replaced."""
    db.executemany(
        "INSERT OR REPLACE INTO rewritten_explanation (run_id, position, criterion, preference, text, cut)"
        " SELECT run_id, position, criterion, ?, ?, ? FROM explanation"
        " WHERE run_id = ? AND position = ? AND criterion = ?",
        [
            (explanation.preference.value, explanation.text, explanation.cut, run_id, position, criterion)
            for position, texts in written.items()
            for criterion, explanation in texts.items()
        ],
    )


def judged_positions(db: sqlite3.Connection, run_id: int) -> set[int]:
    rows = db.execute("SELECT position FROM judged_item WHERE run_id = ?", (run_id,))
    validator = RowValidator(f"Run {run_id}")
    return {validator.count("position", position) for (position,) in rows}


def item_efforts(db: sqlite3.Connection, run_id: int) -> list[Effort]:
    """What each item of a run took that a model has read; those that did not fit are omitted."""
    rows = db.execute(
        "SELECT seconds, tokens_read, tokens_generated FROM judged_item WHERE run_id = ? AND tokens_read > 0",
        (run_id,),
    )
    validator = RowValidator(f"Run {run_id}")
    return [Effort(*_effort(validator, row)) for row in rows]


def _effort(validator: RowValidator, row: Sequence[Any]) -> tuple[float, int, int]:
    seconds, read, generated = row
    return (
        validator.seconds("seconds", seconds),
        validator.count("tokens_read", read),
        validator.count("tokens_generated", generated),
    )


def shared_items(db: sqlite3.Connection, run_id: int) -> dict[int, int]:
    """By the id of each other run, how many of the items of this run it has judged too."""
    # What a submission does not answer, and only that, is unscored in it.
    rows = db.execute(
        "WITH own AS MATERIALIZED (SELECT item_id, content_hash FROM judged_item WHERE run_id = ?),"
        " unanswered AS MATERIALIZED (SELECT DISTINCT run_id, position FROM unscored"
        " WHERE run_id IN (SELECT id FROM run WHERE kind = 'submitted'))"
        " SELECT run_id, count(*) FROM judged_item WHERE run_id != ? AND (item_id, content_hash) IN own"
        " AND (run_id, position) NOT IN unanswered GROUP BY run_id",
        (run_id, run_id),
    )
    return dict(rows.fetchall())


def content_hashes(db: sqlite3.Connection, run_id: int) -> dict[str, str]:
    """By item id, in the order of the dataset."""
    items = "SELECT item_id, content_hash FROM judged_item WHERE run_id = ? ORDER BY position"
    rows = db.execute(items, (run_id,))
    validator = RowValidator(f"Run {run_id}")
    return {
        validator.text("item_id", item_id): validator.text("content_hash", found) for item_id, found in rows
    }


def item_rows(
    db: sqlite3.Connection, run_id: int, labels_alone: Collection[int] = ()
) -> Iterator[JudgedItem]:
    """The items of a run, in the order of its dataset. `labels_alone`: which judges of a jury gave these."""
    rewritten, given = _rewritten(db, run_id), _given(db, run_id)
    rows = db.execute(
        "SELECT position, item_id, content_hash, left_out_a, left_out_b, seconds, tokens_read,"
        " tokens_generated, letters_a, letters_b FROM judged_item WHERE run_id = ? ORDER BY position",
        (run_id,),
    ).fetchall()
    validator = RowValidator(f"Run {run_id}")
    for row in rows:
        position = validator.count("position", row[0])
        item = _item(db, run_id, row, rewritten.get(position, {}), given.get(position, {}))
        if labels_alone:
            predictions = {
                name: tuple(replace(each, label_alone=each.judge in labels_alone) for each in own)
                for name, own in item.raw_predictions.items()
            }
            item = replace(item, raw_predictions=predictions)
        yield item


def _item(
    db: sqlite3.Connection, run_id: int, row: tuple[Any, ...], rewritten: _Texts, given: _Given
) -> JudgedItem:
    position, item_id, content_hash, left_out_a, left_out_b, *effort, letters_a, letters_b = row
    place = (run_id, position)
    # Users count items from 1.
    validator = RowValidator(f"Run {run_id}, item {position + 1}")
    text, count = validator.text, validator.count
    seconds, read, generated = _effort(validator, effort)
    explanations = db.execute(
        "SELECT criterion, preference, text, cut FROM explanation WHERE run_id = ? AND position = ?", place
    )
    unscored = db.execute("SELECT criterion, reason FROM unscored WHERE run_id = ? AND position = ?", place)
    shortening = lengths = None
    if left_out_a is not None:
        shortening = Shortening(count("left_out_a", left_out_a), count("left_out_b", left_out_b))
    if letters_a is not None:
        lengths = count("letters_a", letters_a), count("letters_b", letters_b)
    return JudgedItem(
        position=position,
        item_id=text("item_id", item_id),
        content_hash=text("content_hash", content_hash),
        raw_predictions=_raw_predictions(db, validator, place),
        explanations={
            text("criterion", name): _explanation(validator, *said) for name, *said in explanations
        },
        unscored={text("criterion", name): text("reason", reason) for name, reason in unscored},
        shortening=shortening,
        seconds=seconds,
        tokens_read=read,
        tokens_generated=generated,
        rewritten=rewritten,
        given=given,
        lengths=lengths,
    )


def _explanation(validator: RowValidator, label: object, text: object, cut: object) -> Explanation:
    return Explanation(
        validator.text("explanation", text),
        validator.one_of(Preference, "preference", label),
        validator.flag("cut", cut),
    )


def _raw_predictions(
    db: sqlite3.Connection, validator: RowValidator, place: tuple[int, int]
) -> dict[str, tuple[RawPrediction, ...]]:
    raw_predictions: dict[str, list[RawPrediction]] = {}
    logs = "log_a, log_b, log_both_good, log_both_bad"
    for criterion, judge, method, order, *values in db.execute(
        f"SELECT criterion, 0, '{Method.LABEL_TOKENS.value}', seen_order, {logs} FROM reading"
        " WHERE run_id = ? AND position = ?"
        f" UNION ALL SELECT criterion, judge, way, seen_order, {logs} FROM panel_reading"
        " WHERE run_id = ? AND position = ?",
        (*place, *place),
    ):
        a, b, both_good, both_bad = validator.log_probs("panel_reading" if judge else "reading", values)
        reading = RawPrediction(
            validator.one_of(Order, "seen_order", order),
            (a, b, both_good, both_bad),
            validator.one_of(Method, "way", method),
            judge=validator.count("judge", judge),
        )
        raw_predictions.setdefault(validator.text("criterion", criterion), []).append(reading)
    for criterion, reading in _readings_of_answers(db, validator, place):
        raw_predictions.setdefault(criterion, []).append(reading)
    return {criterion: tuple(values) for criterion, values in raw_predictions.items()}


def _readings_of_answers(
    db: sqlite3.Connection, validator: RowValidator, place: tuple[int, int]
) -> Iterator[tuple[str, RawPrediction]]:
    answers: dict[tuple[str, Order, Method], list[AnswerLogProbs]] = {}
    for criterion, order, method, question, values, thought, cut in db.execute(
        "SELECT criterion, seen_order, way, question, log_probs, thought, cut FROM answer"
        " WHERE run_id = ? AND position = ? ORDER BY criterion, seen_order, way, place",
        place,
    ):
        asked = (validator.text("criterion", criterion), validator.one_of(Order, "seen_order", order))
        key = (*asked, validator.one_of(Method, "way", method))
        numbers = validator.plain("log_probs", values)
        if not isinstance(numbers, list):
            validator.refuse("log_probs", values, "a list of numbers")
        answer = AnswerLogProbs(
            validator.text("question", question),
            validator.log_probs("log_probs", numbers),
            validator.text("thought", thought),
            validator.flag("cut", cut),
        )
        answers.setdefault(key, []).append(answer)
    for (criterion, order, method), own in answers.items():
        yield (
            criterion,
            validator.made("answer", [*map(str, own)], partial(raw_prediction_of, method, order, own)),
        )


def _add_readings(
    db: sqlite3.Connection, place: tuple[int, int], raw_predictions_of: Mapping[str, Sequence[RawPrediction]]
) -> None:
    rows: dict[str, list[tuple[Any, ...]]] = {"reading": [], "panel_reading": [], "answer": []}
    for criterion, raw_predictions in raw_predictions_of.items():
        for each in raw_predictions:
            method, order = each.method.value, each.order.value
            if each.judge:
                rows["panel_reading"].append((*place, criterion, each.judge, method, order, *each.log_probs))
            elif each.method is Method.LABEL_TOKENS:
                rows["reading"].append((*place, criterion, order, *each.log_probs))
            for number, answer in enumerate(each.answers):
                # What is no number is stored as nothing, as SQLite does it in columns of numbers.
                finite = [value if math.isfinite(value) else None for value in answer.log_probs]
                said = (answer.question, json.dumps(finite), answer.thought, answer.cut)
                rows["answer"].append((*place, criterion, order, method, number, *said))
    for table, found in rows.items():
        if found:
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)


def _rewritten(db: sqlite3.Connection, run_id: int) -> dict[int, _Texts]:
    validator = RowValidator(f"Run {run_id}")
    found: dict[int, _Texts] = {}
    for position, criterion, value, text, cut in db.execute(
        "SELECT position, criterion, preference, text, cut FROM rewritten_explanation WHERE run_id = ?",
        (run_id,),
    ):
        explanation = _explanation(validator, value, text, cut)
        place = validator.text("criterion", criterion), explanation.preference
        found.setdefault(position, {})[place] = explanation
    return found


def _given(db: sqlite3.Connection, run_id: int) -> dict[int, _Given]:
    validator = RowValidator(f"Run {run_id}")
    found: dict[int, _Given] = {}
    for position, criterion, value, text in db.execute(
        "SELECT position, criterion, preference, explanation FROM given WHERE run_id = ?", (run_id,)
    ):
        label = None if value is None else validator.label("preference", value)
        said = None if text is None else validator.text("explanation", text)
        found.setdefault(position, {})[validator.text("criterion", criterion)] = Prediction(label, said)
    return found
