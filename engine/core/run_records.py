"""What the store says of a run: what makes it the same run, how far it came, what it cost.

Knows: plain values. Does not know: SQL, how a run is judged.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.core.formatting import counted, listed

REWRITTEN = "rewritten"
"""In the manifest of a run: when explanations were written again, how many, and with what."""
CHOSEN = "chosen_items"
"""In the settings of a run: the ids of the items that a person chose; missing where it has the first ones."""


@dataclass(frozen=True)
class RunIdentity:
    """What a run is: two runs with the same `key` would give the same results."""

    key: str
    dataset_path: Path
    dataset_hash: str
    items: int
    model_path: Path
    model_name: str
    model_hash: str
    prompt_version: str
    criteria: tuple[str, ...]
    settings: Mapping[str, Any]

    @property
    def chosen(self) -> tuple[str, ...]:
        """The ids of the items, where these were chosen; empty for the first `items` of the dataset."""
        return tuple(self.settings.get(CHOSEN, ()))

    @property
    def dataset_in_words(self) -> str:
        """What was judged, for people: `demo.tsv`, `5 chosen items of demo.tsv`."""
        return dataset_in_words(self.dataset_path, len(self.chosen))

    @property
    def settings_in_short(self) -> Mapping[str, Any]:
        """The settings for people: of the chosen items the first few, and how many more there are."""
        return {**self.settings, CHOSEN: listed(self.chosen)} if self.chosen else self.settings


@dataclass(frozen=True)
class StoredRun:
    """A run as the store holds it.

    `judged`: items in the store; `manifest`: how it was made; `calibration`: what its decisions are
    calibrated with now, as plain values, None for none.
    """

    id: int
    created: datetime
    identity: RunIdentity
    judged: int
    manifest: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] | None = None

    @property
    def complete(self) -> bool:
        """True once all items are in the store."""
        return self.judged == self.identity.items


@dataclass(frozen=True)
class Effort:
    """What judging `items` items took: seconds at work with them, tokens read and generated."""

    items: int
    seconds: float
    tokens_read: int
    tokens_generated: int


def dataset_in_words(path: Path, chosen: int = 0) -> str:
    """A dataset, or so many items that were chosen of it: `demo.tsv`, `5 chosen items of demo.tsv`."""
    return f"{counted(chosen, 'chosen item', 'chosen items')} of {path.name}" if chosen else path.name
