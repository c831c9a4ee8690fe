r"""Hostile submissions, calibrations and lists of ids, read by the engine's own functions.

What is held:

- A submission that is undamaged gives each row with exactly its labels and explanations, also after it was
  opened as a run and came out of the store again. A damaged one is refused, or its rows are those that
  Python's csv module finds (see `readers`).
- A calibration is refused, or its numbers are those of the file as Python's json reads it with repeated keys
  refused: finite, numbers and nothing else. What was taken can be applied.
- A list of ids is refused, or gives each line that holds text, which then is an id of the dataset as it
  stands or without the spaces around it, none twice; of a table, its first column as csv reads it.

One case in fifty goes through the commands `check`, `runs add`, `evaluate` and `judge --plan --ids`.
"""

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.datasets import of_commands, refusal
from bench.hostile.readers import Unreadable, no_key_twice, raw_predictions
from bench.hostile.texts import LABELS, STRANGE_LABELS, damaged, item_id, text, with_odd_value
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES
from engine.core.judgments import CriterionCalibration, FittedOn
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.id_list import read_ids
from engine.data.submission import Submission, read_submission, submission_columns
from engine.results.calibration import Calibration, JudgeIdentity, load_calibration
from engine.results.completeness import open_submission
from engine.results.decision import calibrated
from engine.results.run_results import load_results, submission_of
from engine.store.run_store import RunStore

ONE_IN = 50
"""Of so many cases one goes through the real commands."""


def try_case(attempt: Attempt) -> Outcome:
    kind: Callable[[Attempt, Dataset], Outcome] = attempt.random.choice(
        (_submission, _submission, _calibration, _ids)
    )
    return kind(attempt, _dataset(attempt))


def _dataset(attempt: Attempt) -> Dataset:
    """What submissions answer and lists choose from; its ids are strange, its texts plain."""
    random, path = attempt.random, attempt.folder / "gold.tsv"
    ids = [item_id(random, number) for number in range(random.choice((1, 2, 5, 30)))]
    _write(
        path,
        ["id", "instruction", "output_a", "output_b", "safety_preference"],
        [[each, f"question {number}", "yes", "no", random.choice(LABELS)] for number, each in enumerate(ids)],
    )
    return load_dataset(path)


def _write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], delimiter: str = "\t") -> bytes:
    """A table with quotes wherever they may be needed; its bytes."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([header, *rows])
    path.write_bytes(out.getvalue().encode("utf-8"))
    return path.read_bytes()


def _submission(attempt: Attempt, dataset: Dataset) -> Outcome:
    random, path = attempt.random, attempt.folder / "data.tsv"
    criteria = random.sample(ELOQUENT.names, random.choice((1, 5)))
    with_explanations = random.random() < 0.5
    columns = submission_columns(criteria if random.random() < 0.5 else ELOQUENT.names, with_explanations)
    rows = [
        [
            each,
            *(
                text(random) if name.endswith("explanation") else random.choice((*LABELS, ""))
                for name in columns[1:]
            ),
        ]
        for each in random.sample(dataset.ids, random.randint(1, len(dataset)))
    ]
    spoilt = random.random() < 0.1
    if spoilt:
        random.choice(rows)[1] = random.choice(STRANGE_LABELS)
    data = _write(path, columns, rows)
    sound = not spoilt and random.random() < 0.4
    what = "submission, sound" if sound else "submission, an unknown label"
    if not sound and not spoilt:
        data, damages = damaged(data, random)
        path.write_bytes(data)
        what = f"submission, {damages}"
    attempt.step(Step(what))
    outcome = _of_submission(path, data, sound, what)
    if sound and outcome.sound:
        outcome = _of_opened(path, dataset, attempt.folder, what)
    if outcome.sound and attempt.number % ONE_IN == 0:
        store = attempt.folder / "more.sqlite"
        add = ("runs", "add", path, "--dataset", dataset.path, "--store", store)
        return of_commands(
            [("check", path), add, ("evaluate", path, "--gold", dataset.path)], outcome, attempt
        )
    return outcome


def _of_submission(path: Path, data: bytes, sound: bool, what: str) -> Outcome:
    try:
        submission = read_submission(path)
    except SetupError as error:
        refused = refusal(error, path, what)
        return Outcome(Ending.WRONGLY_REFUSED, what, str(error)) if sound else refused
    try:
        found = raw_predictions(data, path.suffix, submission.columns)
    except Unreadable as problem:
        return Outcome(Ending.LOSS, what, f"taken, although an independent reader finds: {problem}")
    taken = _rows(submission)
    if all(taken != list(rows) for rows in found):
        return Outcome(Ending.LOSS, what, f"taken {taken}\nin the file {found}"[:2000])
    return Outcome(Ending.TAKEN, what)


def _rows(submission: Submission) -> list[dict[str, str]]:
    return [
        {"id": row.id}
        | {f"{name}_preference": row.predictions[name].preference or "" for name in submission.criteria}
        | {
            f"{name}_explanation": row.predictions[name].explanation or ""
            for name in submission.criteria
            if submission.with_explanations
        }
        for row in submission.rows
    ]


def _of_opened(path: Path, dataset: Dataset, folder: Path, what: str) -> Outcome:
    """A sound submission kept as a run comes back with the same cells, in the order of its dataset."""
    submission = read_submission(path)
    with RunStore(folder / "runs.sqlite") as store:
        run = open_submission(path, dataset, store)
        back = _rows(submission_of(load_results(store, run.id)))
    wanted = {row["id"]: row for row in _rows(submission)}
    back = [row for row in back if row["id"] in wanted]
    lost = [row for row in back if row != {name: wanted[row["id"]].get(name, "") for name in row}]
    if lost or len(back) != len(wanted):
        return Outcome(
            Ending.LOSS, what, f"opened as a run: {len(back)} of {len(wanted)} rows, unlike: {lost}"[:2000]
        )
    return Outcome(Ending.TAKEN, what)


_JUDGE = JudgeIdentity("a model", "a" * 64, "1", ("AB", "BA"), "")
_ODD_VALUES = (
    *("null", "true", "[]", "{}", '""', '"x"', '"1"', '"nan"', "1e999", "-1e999", "NaN", "Infinity"),
    *("-0.0", "1e308", "-1", "0", "5.9", "1" * 400, "[" * 2000 + "]" * 2000, '"\\ud800"', '{"scale": 1}'),
    *("1e-400", "2147483648"),
)


def _calibration(attempt: Attempt, _dataset: Dataset) -> Outcome:
    random, path = attempt.random, attempt.folder / "data.json"
    fitted = {
        name: CriterionCalibration(random.random(), tuple(random.gauss(0, 1) for _ in range(4)), 1.0, 9)  # type: ignore[arg-type]
        for name in ELOQUENT.names
    }
    figures = {when: {"accuracy": random.random()} for when in ("before", "after")}
    known = FittedOn(tuple(f"{place:012x}" for place in range(9)), ("e" * 12,))
    folds = {item: place % 3 for place, item in enumerate(known.items)}
    folded = {name: replace(each, folds=(each,) * 3, fold_of=folds) for name, each in fitted.items()}
    sound = Calibration(_JUDGE, "gold.tsv", "e" * 64, folded, dict.fromkeys(fitted, figures), fitted_on=known)
    whole, what = json.dumps(sound.as_json(), indent=random.choice((None, 1))), "calibration, sound"
    kind = random.random()
    if kind < 0.6:
        whole, what = with_odd_value(json.loads(whole), _ODD_VALUES, random)
        what = f"calibration, {what}"
    data = whole.encode("utf-8")
    if kind > 0.7:
        data, damages = damaged(data, random)
        what = f"calibration, {damages}"
    path.write_bytes(data)
    attempt.step(Step(what))
    try:
        loaded = load_calibration(path)
        _apply(loaded)
    except SetupError as error:
        if 0.6 <= kind <= 0.7:
            return Outcome(Ending.WRONGLY_REFUSED, what, str(error))
        return Outcome(Ending.REFUSED, what, str(error))
    difference = _unlike_file(loaded, data)
    return Outcome(Ending.LOSS if difference else Ending.TAKEN, what, difference)


def _apply(calibration: Calibration) -> None:
    calibration.check_fits(_JUDGE)
    for fitted in (one for each in calibration.criteria.values() for one in (each, *each.folds)):
        for log_probs in ((-1.0, -2.0, -3.0, -0.7), (0.0, -745.0, -745.0, -745.0)):
            made = calibrated(np.array(log_probs), fitted)
            if not math.isclose(float(np.exp(made).sum()), 1.0):
                raise AssertionError(f"it makes {made} of sound readings")
    json.dumps([calibration.hash, calibration.accuracies, calibration.as_json()])


def _unlike_file(calibration: Calibration, data: bytes) -> str:
    """How the numbers differ from those in the file; empty where they do not."""
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=no_key_twice)
        there = {
            name: (
                each["scale"],
                *(each["biases"][label.value] for label in PREFERENCES),
                each["strength"],
                each["items"],
            )
            for name, each in value["criteria"].items()
        }
    except (Unreadable, ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
        return f"taken, although an independent reader finds: {error!r}"
    taken = {
        name: (each.scale, *each.biases, each.strength, each.items)
        for name, each in calibration.criteria.items()
    }
    if taken != there:
        return f"taken {taken}\nin the file {there}"
    wrong = [x for numbers in there.values() for x in numbers if isinstance(x, bool | str)]
    return f"taken for numbers: {wrong}" if wrong else ""


def _ids(attempt: Attempt, dataset: Dataset) -> Outcome:
    random, path = attempt.random, attempt.folder / "data.txt"
    chosen = random.sample(dataset.ids, random.randint(1, len(dataset)))
    if random.random() < 0.4:
        delimiter = random.choice(("\t", ","))
        data = _write(path, ["id", "why"], [[each, text(random)] for each in chosen], delimiter)
    else:
        chosen = [each for each in chosen if "\n" not in each] or ["no such id"]
        end = random.choice(("\n", "\r\n", "\r", "\n\n", "\n \n"))
        data = end.join(random.choice((each, each, f" {each}", f"{each}  ")) for each in chosen).encode()
    what = "ids, sound"
    if random.random() < 0.7:
        data, damages = damaged(data, random)
        what = f"ids, {damages}"
    path.write_bytes(data)
    attempt.step(Step(what))
    try:
        taken = read_ids(path, dataset)
    except SetupError as error:
        wanted = what == "ids, sound" and _listed(data, dataset) is not None
        return Outcome(Ending.WRONGLY_REFUSED, what, str(error)) if wanted else refusal(error, path, what)
    there = _listed(data, dataset)
    if there is None or not any(list(taken) == list(method) for method in there):
        return Outcome(Ending.LOSS, what, f"taken {taken}\nin the file {there}")
    outcome = Outcome(Ending.TAKEN, what)
    if attempt.number % ONE_IN == 0:
        command = ("judge", dataset.path, "--plan", "--model", "demo", "--ids", path)
        return of_commands([command], outcome, attempt)
    return outcome


def _listed(data: bytes, dataset: Dataset) -> list[list[str]] | None:
    """The ids that a file lists, in each way in which it can be read; None where it must be refused."""
    known, plain = set(dataset.ids), data.removeprefix(b"\xef\xbb\xbf")
    methods: list[list[str]] = []
    if plain.startswith((b"id", b'"id"')):
        for suffix in (".tsv", ".csv"):
            try:
                methods += [
                    [str(row["id"]) for row in rows]
                    for rows in raw_predictions(data, suffix, ("id",))
                    if rows
                ]
            except (Unreadable, KeyError):
                continue
    try:
        lines = plain.decode("utf-8").replace("\r\n", "\n").split("\n" if b"\n" in data else "\r")
        methods.append([line.removesuffix("\r") for line in lines if line.strip()])
    except UnicodeDecodeError:
        pass
    sound = []
    for method in methods:
        ids = [line if line in known else line.strip() for line in method]
        if ids and set(ids) <= known and len(set(ids)) == len(ids):
            sound.append(ids)
    return sound or None
