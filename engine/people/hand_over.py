"""The file by which what people said of a run goes to another computer: their words, and no texts of items.

Knows: what stands in such a file, how it is made of a run, checked whole and read. Does not know: to which
run its words belong elsewhere, windows.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from engine.core.errors import InputError, SetupError
from engine.core.formatting import listed, quoted
from engine.core.handed_words import HandedWords, StepKey, step_of
from engine.core.item_sample import checked_seed
from engine.core.items import Item, Preference
from engine.core.judgments import Confirmation, ItemNote, Origin, Override, ReviewMark, ReviewState
from engine.core.people import Reviews, Word
from engine.core.run_records import StoredRun
from engine.core.said import checked_author, checked_explanation, checked_tags, now
from engine.data.dataset import Dataset
from engine.data.plain_file import load_record
from engine.store.row_gate import DamagedError, Gate
from engine.store.run_store import RunStore
from engine.system.files import write_json
from engine.system.gate import gated

FORMAT = 1
"""The version of these files; a newer program may write a later one."""
WHAT = "file of people's words"
_MARK = "tiebreak_people"
_FIRST_BYTES = 512
_IS_ONE = re.compile(rb'\s*(?:\xef\xbb\xbf)?\s*\{\s*"' + _MARK.encode() + rb'"\s*:')
_NO_TEXTS = "no texts of the dataset"
_TEXTS = ("instruction", "output_a", "output_b")
_EXPORT_AGAIN = "Have it exported again by the person that it comes from."
_LAST_YEAR = 8999  # that a store reads
_SHA256 = re.compile("[0-9a-f]{64}")

Made = TypeVar("Made")


@dataclass(frozen=True)
class RunFacts:
    """Of which run words are: its `title`, who judged, its criteria, the dataset by name and hash."""

    title: str
    judge: str
    criteria: tuple[str, ...]
    dataset: str
    dataset_hash: str


@dataclass(frozen=True)
class HandOver:
    """What such a file holds. `words`: of its own items, notes too, and only of these.

    `store`: the id of the run store that it was written by, at `written` (UTC). `items`: the hash of the
    content of each item of which anything is said, by its id. `known_as`: by name, how that person is called
    in other stores, each by its id. `texts`: of items, where these were asked for.
    """

    store: str
    written: datetime
    run: RunFacts
    items: Mapping[str, str]
    words: HandedWords
    known_as: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    texts: Mapping[str, Item] = field(default_factory=dict)

    @property
    def people(self) -> tuple[str, ...]:
        """Whose words these are, sorted by name."""
        return self.words.people

    @property
    def texts_in_words(self) -> str:
        """A sentence on whether texts of the dataset go along: who may read the file hangs on it."""
        return (
            f"It holds {'the instruction and both responses of each of them' if self.texts else _NO_TEXTS}."
        )


def is_hand_over(file: Path | bytes) -> bool:
    """Whether a file, or one that begins with these bytes, claims to be one; it may be damaged."""
    if isinstance(file, bytes):
        return _IS_ONE.match(file) is not None
    with suppress(OSError, ValueError), file.open("rb") as opened:
        return is_hand_over(opened.read(_FIRST_BYTES))
    return False


def hand_over(
    store: RunStore, run_id: int, people: Iterable[str] = (), dataset: Dataset | None = None
) -> HandOver:
    """What people said of a run; of all, or of those named alone. `dataset`: whose texts go along.

    StoreError for no run, SetupError where nobody, or one of those named, has said anything.
    """
    own_id = store.own_id()
    with store.reading():
        run, words = store.run(run_id), store.handed_words(run_id)
        hashes, met = store.content_hashes(run_id), store.met_people()
    wanted = frozenset(people)
    if unknown := sorted(wanted - set(words.people)):
        by = f"It has words of {listed(words.people)}." if words.people else "Nobody has said anything of it."
        raise SetupError(f"{run.title} has no words of {listed(unknown)}.", by)
    if not words.people:
        raise SetupError(f"Nobody has said anything of {run.called}.", "Review it first.")
    if wanted:
        words = words.of(wanted)
    places = _first_ids(hashes)
    ids = {places[word.content_hash] if isinstance(word, ItemNote) else word.item_id for word in words.all}
    items = {item_id: content for item_id, content in hashes.items() if item_id in ids}
    known_as: dict[str, list[tuple[str, str]]] = {}
    for there, called in met.items():
        known_as.setdefault(called, []).append(there)
    return HandOver(
        own_id,
        now(),
        _facts(run),
        items,
        words,
        {name: known_as[name] for name in words.people if name in known_as},
        {item.id: item for item in dataset if item.id in items} if dataset is not None else {},
    )


def _first_ids(hashes: Mapping[str, str]) -> dict[str, str]:
    """By the hash of its content, the first item that has it: where a note is kept."""
    return {content: item_id for item_id, content in reversed([*hashes.items()])}


def _facts(run: StoredRun) -> RunFacts:
    identity = run.identity
    return RunFacts(
        run.title, identity.model_name, identity.criteria, identity.dataset_path.name, identity.dataset_hash
    )


def save_hand_over(path: Path, made: HandOver) -> None:
    """Write it, whole or not at all. SetupError where that cannot be."""
    write_json(path, as_json(made))


def as_json(made: HandOver) -> dict[str, Any]:
    """The plain values of the file."""
    run = made.run
    row = partial(_row, made.words, _first_ids(made.items))
    return {
        _MARK: FORMAT,
        "store": made.store,
        "written": made.written.isoformat(),
        "run": {
            "title": run.title,
            "judge": run.judge,
            "criteria": list(run.criteria),
            "dataset": {"name": run.dataset, "sha256": run.dataset_hash},
        },
        "people": [
            {
                "name": name,
                "known_as": [{"store": of, "name": as_} for of, as_ in made.known_as.get(name, ())],
            }
            for name in made.people
        ],
        "items": [
            {"id": item_id, "sha256": content, **_texts(made.texts.get(item_id))}
            for item_id, content in made.items.items()
        ],
        "overrides": [row(each) for each in made.words.reviews.overrides],
        "confirmations": [row(each) for each in made.words.reviews.confirmations],
        "marks": [row(each) for each in made.words.reviews.marks],
        "notes": [row(each) for each in made.words.notes],
    }


def _texts(item: Item | None) -> dict[str, str]:
    return {name: getattr(item, name) for name in _TEXTS} if item is not None else {}


def _row(words: HandedWords, places: Mapping[str, str], word: Word) -> dict[str, Any]:
    """A word as plain values, without what is not known of it."""
    turned = words.turned(word)
    values: dict[str, Any] = {
        "item": places[word.content_hash] if isinstance(word, ItemNote) else word.item_id,
        "author": word.author,
        "said": word.created.isoformat(),
        "undone": turned.undone and turned.undone.isoformat(),
        "redone": turned.redone and turned.redone.isoformat(),
    }
    match word:
        case ItemNote():
            values |= {"text": word.text, "tags": list(word.tags)}
        case ReviewMark():
            values |= {"state": word.state.value}
        case Override() | Confirmation():
            values |= {
                "criterion": word.criterion,
                "label": word.preference and word.preference.value,
                "origin": word.origin and word.origin.value,
                "seed": word.seed,
                "blind": word.blind,
            }
    if isinstance(word, Override):
        values |= {
            "explanation": word.explanation,
            "written_for": word.written_for and word.written_for.value,
            "settles": word.settles or None,
        }
    return {name: value for name, value in values.items() if value is not None}


@gated
def load_hand_over(path: Path) -> HandOver:
    """What a file of people's words holds.

    SetupError where it cannot be read, InputError with all that is wrong in it.
    """
    return load_record(path, WHAT, partial(_hand_over_of, path), _EXPORT_AGAIN)


def _hand_over_of(path: Path, values: Any) -> HandOver:
    """What `as_json` gave. InputError with the problems found; what load_record takes for what is no file of
    the kind.
    """
    version = values[_MARK]
    if version != FORMAT:
        raise InputError(
            path,
            [f"is a {WHAT} of version {quoted(str(version))}; this program knows {FORMAT}."],
            "Use a newer Tiebreak.",
        )
    reader = _Reader()
    made = reader.read(values)
    if reader.problems or made is None:
        raise InputError(path, reader.problems, _EXPORT_AGAIN)
    return made


class _Reader:
    """Reads the values of a file; `problems`: all that is wrong with them, each with its place."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._redone: dict[StepKey, datetime] = {}

    def read(self, values: Mapping[str, Any]) -> HandOver | None:
        """All of it; None where it has problems."""
        head = self._try(lambda: _head(values))
        facts = self._try(lambda: _facts_of(values["run"]))
        known_as = dict(self._each("people", values, _person))
        pairs = self._each("items", values, _item)
        items = {item_id: content for item_id, content, _ in pairs}
        if len(items) < len(pairs):
            self.problems.append("items: an id stands there twice.")
        self._items, self._people = items, known_as
        overrides = self._each("overrides", values, self._override)
        confirmations = self._each("confirmations", values, self._confirmation)
        marks = self._each("marks", values, self._mark)
        notes = self._each("notes", values, self._note)
        if self.problems or head is None or facts is None:
            return None
        reviews = Reviews(tuple(overrides), tuple(marks), tuple(confirmations))
        words = HandedWords(reviews, tuple(notes), self._redone)
        texts = {item_id: item for item_id, _, item in pairs if item is not None}
        known_as = {name: there for name, there in known_as.items() if there}
        return HandOver(*head, facts, items, words, known_as, texts)

    def _each(
        self, name: str, values: Mapping[str, Any], made_of: Callable[[Gate, Mapping[str, Any]], Made]
    ) -> list[Made]:
        """What is made of each row of a list, but for those that have a problem."""
        rows = values.get(name)
        if not isinstance(rows, list):
            self.problems.append(f"{name}: there is no such list.")
            return []
        found = []
        for number, row in enumerate(rows, start=1):
            gate = Gate(f"{name}, entry {number}")
            if not isinstance(row, dict):
                self.problems.append(f"{gate.of}: it is no record.")
                continue
            made = self._try(partial(gate.made, "values", row, partial(made_of, gate, row)))
            if made is not None:
                found.append(made)
        return found

    def _try(self, make: Callable[[], Made]) -> Made | None:
        try:
            return make()
        except DamagedError as error:
            self.problems.append(error.problem)
            return None

    def _said(self, gate: Gate, row: Mapping[str, Any]) -> dict[str, Any]:
        """What all words have: item, author, times."""
        item_id, author = gate.text("item", row["item"]), gate.text("author", row["author"])
        if item_id not in self._items:
            gate.refuse("item", item_id, "one of the items of the file")
        if author not in self._people:
            gate.refuse("author", author, "one of the people of the file")
        return {
            "item_id": item_id,
            "author": author,
            "created": _time(gate, "said", row["said"]),
            "undone": _or_none(partial(_time, gate, "undone"), row.get("undone")),
        }

    def _kept(self, gate: Gate, row: Mapping[str, Any], word: Made) -> Made:
        """A word, once it is kept when it was done again."""
        if (redone := row.get("redone")) is not None:
            self._redone[step_of(word)] = _time(gate, "redone", redone)  # type: ignore[arg-type]
        return word

    def _override(self, gate: Gate, row: Mapping[str, Any]) -> Override:
        text = _or_none(partial(gate.text, "explanation"), row.get("explanation"))
        made = Override(
            id=0,
            preference=_or_none(partial(gate.one_of, Preference, "label"), row.get("label")),
            explanation=checked_explanation(text),
            written_for=_or_none(partial(gate.one_of, Preference, "written_for"), row.get("written_for")),
            settles=gate.flag("settles", row.get("settles", False)),
            **self._said(gate, row),
            **_judged(gate, row),
        )
        return self._kept(gate, row, made)

    def _confirmation(self, gate: Gate, row: Mapping[str, Any]) -> Confirmation:
        label = gate.one_of(Preference, "label", row["label"])
        made = Confirmation(preference=label, **self._said(gate, row), **_judged(gate, row))
        return self._kept(gate, row, made)

    def _mark(self, gate: Gate, row: Mapping[str, Any]) -> ReviewMark:
        state = gate.one_of(ReviewState, "state", row["state"])
        return self._kept(gate, row, ReviewMark(state=state, **self._said(gate, row)))

    def _note(self, gate: Gate, row: Mapping[str, Any]) -> ItemNote:
        said = self._said(gate, row)
        content = self._items[said.pop("item_id")]
        tags = tuple(checked_tags(gate.texts("tags", row["tags"])))
        return self._kept(
            gate, row, ItemNote(content, text=gate.text("text", row["text"]).strip(), tags=tags, **said)
        )


def _head(values: Mapping[str, Any]) -> tuple[str, datetime]:
    gate = Gate("The file")
    return gate.text("store", values["store"]), _time(gate, "written", values["written"])


def _facts_of(run: Any) -> RunFacts:
    gate = Gate("run")

    def make() -> RunFacts:
        return RunFacts(
            gate.text("title", run["title"]),
            gate.text("judge", run["judge"]),
            gate.texts("criteria", run["criteria"]),
            gate.text("dataset", run["dataset"]["name"]),
            gate.text("sha256", run["dataset"]["sha256"]),
        )

    return gate.made("values", run, make)


def _person(gate: Gate, row: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    known_as = [
        (gate.text("store", each["store"]), gate.text("name", each["name"])) for each in row["known_as"]
    ]
    name = gate.text("name", row["name"])
    if checked_author(name) != name:
        gate.refuse("name", name, "a name without white space around it")
    return name, known_as


def _item(gate: Gate, row: Mapping[str, Any]) -> tuple[str, str, Item | None]:
    item_id, content = gate.text("id", row["id"]), gate.text("sha256", row["sha256"])
    if not _SHA256.fullmatch(content):
        gate.refuse("sha256", content, "a SHA-256")
    if not any(name in row for name in _TEXTS):
        return item_id, content, None
    instruction, output_a, output_b = (gate.text(name, row[name]) for name in _TEXTS)
    item = Item(item_id, instruction, output_a, output_b)
    if item.content_hash != content:
        gate.refuse("sha256", content, "that of its texts")
    return item_id, content, item


def _judged(gate: Gate, row: Mapping[str, Any]) -> dict[str, Any]:
    """What labels and confirmations have: the criterion, and how the person came to the item."""
    seed = row.get("seed")
    return {
        "criterion": gate.text("criterion", row["criterion"]),
        "origin": _or_none(partial(gate.one_of, Origin, "origin"), row.get("origin")),
        "seed": None if seed is None else checked_seed(gate.count("seed", seed)),
        "blind": _or_none(partial(gate.flag, "blind"), row.get("blind")),
    }


def _time(gate: Gate, field_name: str, value: object) -> datetime:
    at = gate.time(field_name, value).astimezone(UTC)
    if at.year >= _LAST_YEAR:
        gate.refuse(field_name, value, "a time after which something else can be said")
    return at


def _or_none(read: Callable[[Any], Made], value: object) -> Made | None:
    return None if value is None else read(value)
