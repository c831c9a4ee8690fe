"""Laptops on which people label the same items: a run store each, and what is said there.

Knows: runs of judged items, words of people. Does not know: what a test is about.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from engine.annotations import records
from engine.core.items import Preference
from engine.core.judgments import ReviewState
from engine.data.dataset import Dataset
from engine.results.annotation_file import AnnotationFile, annotation_file
from engine.results.annotation_import import Joining, join, look_at
from engine.results.run_results import load_results, load_reviews
from engine.store.run_store import RunStore
from engine.system.write_ahead_log import LogEntry
from tests.judged import SURE_A, A, dataset, stored_run

START = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


class Laptop:
    """A store with run 1 of some items; `at`: what its clock says, a second later at each word."""

    def __init__(self, folder: Path, items: int = 20, criteria: Sequence[str] = ("safety",)) -> None:
        folder.mkdir()
        self.data: Dataset = dataset({name: [A] * items for name in criteria})
        stored_run(folder, self.data, {name: [SURE_A] * items for name in criteria})
        self.path = folder / "runs.sqlite"
        self.at = START + timedelta(milliseconds=len(folder.name))  # no two clocks are alike
        self._words = 0

    def say(self, what: records.AnyWord, at: datetime | None = None) -> datetime:
        """What a person says, as the window has it stored; when. `at`: said so, whatever is known."""
        self.at, self._words = self.at + timedelta(seconds=1), self._words + 1
        with RunStore(self.path) as store:
            _, last = load_results(store, 1).last_said(records.place_of(what))
            at = at or records.later(self.at, last)
            said = records.Said(what, at, None if records.place_of(what) in self._contents else 1)
            assert not store.take_words("test", [LogEntry(self._words, said.as_values())])
        return at

    @property
    def _contents(self) -> set[str]:
        return {item.content_hash for item in self.data}

    def label(
        self, item: int, label: Preference, by: str, text: str | None = None, **more: object
    ) -> datetime:
        """A label of an item, numbered from 1, on safety."""
        new = records.new_override(str(item), "safety", label, text, by, written_for=label if text else None)
        return self.say(replace(new, **more))  # type: ignore[arg-type]

    def undo(self, item: int, by: str, step: datetime, again: bool = False) -> datetime:
        """A step is taken back, or done again."""
        content = self.data[item - 1].content_hash
        return self.say(records.Undo(str(item), content, by, step, again))

    def agree(self, item: int, label: Preference, by: str, **more: object) -> datetime:
        """A label is confirmed, and the item is done."""
        confirmed = {"safety": label}
        return self.say(records.new_review(str(item), by, ReviewState.DONE, confirmed, **more))  # type: ignore[arg-type]

    def note(self, item: int, text: str, by: str, *tags: str) -> datetime:
        """A note of an item."""
        return self.say(records.new_note(self.data[item - 1].content_hash, text, tags, by))

    def file(self, *annotators: str) -> AnnotationFile:
        """What these people said here, or all."""
        with RunStore(self.path) as store:
            return annotation_file(store, 1, annotators)

    def look(self, *files: AnnotationFile, **answers: str) -> Joining:
        """What files would come to here; how people are called whom each file knows by a name."""
        said = {(made.store, name): called for made in files for name, called in answers.items()}
        with RunStore(self.path) as store:
            return look_at(store, 1, [("file.json", made) for made in files], said)

    def add(self, *files: AnnotationFile, **answers: str) -> Joining:
        """The same, written."""
        joining = self.look(*files, **answers)
        with RunStore(self.path) as store:
            join(store, joining)
        return joining

    @property
    def labels(self) -> dict[tuple[str, str], str]:
        """By person and item, the label that stands on safety."""
        with RunStore(self.path) as store:
            reviews = load_reviews(store, 1)
        return {
            (name, key.item_id): label.value
            for name, given in reviews.labels.items()
            for key, label in given.items()
        }

    @property
    def words(self) -> int:
        """How many words the run has."""
        with RunStore(self.path) as store:
            return len(store.all_annotations(1))


Made = Callable[..., Laptop]
