"""What a person said in a window, what it had shown as stored by its end, and what of that is missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Key(NamedTuple):
    """Of what: `label`, item, criterion; `note`, item; `queue`, how many; a `draft` without a criterion is of
    a note.
    """

    kind: str
    item: str = ""
    criterion: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


@dataclass(frozen=True)
class Said:
    """`value`: None for nothing any more. `shown`: as stored by the window; else about to be said."""

    key: Key
    value: str | None
    shown: bool


@dataclass(frozen=True)
class Refused:
    """The window did not show as stored what a person said; `words`: what it told of that, if anything."""

    key: Key
    words: str


class Ledger:
    """All that was said in the windows of a data folder, each key in one of them."""

    def __init__(self) -> None:
        self._shown: dict[Key, str | None] = {}
        self._begun: dict[Key, list[str | None]] = {}  # since what was shown last
        self.count = 0  # things shown as stored
        self.refused: list[Refused] = []

    def take(self, received: Said | Refused) -> None:
        if isinstance(received, Refused):
            self.refused.append(received)
        elif received.shown:
            self._shown[received.key] = received.value
            self._begun[received.key] = []
            self.count += 1
        else:
            self._begun.setdefault(received.key, []).append(received.value)

    @property
    def keys(self) -> list[Key]:
        return list(self._shown)

    def count_all_said(self) -> None:
        """A window that is closed keeps all that was said in it, shown as stored or not."""
        for key, begun in self._begun.items():
            if begun:
                self.take(Said(key, begun[-1], shown=True))

    def missing(self, found: Mapping[Key, str | None], where: str) -> dict[Key, str]:
        """What was shown as stored and is not among what was found `where`, each in words."""
        return {
            key: f"{key}: {_words(shown)} is missing; {where} has {_words(found[key])}"
            for key, shown in self._shown.items()
            if key in found and not self._may_stand(key, found[key])
        }

    def _may_stand(self, key: Key, found: str | None) -> bool:
        """Whether it is what was shown, or what was about to be said when the window ended."""
        shown = self._shown[key]
        if key.kind == "run":
            return int(found or 0) >= int(shown or 0)
        begun = [shown, *self._begun[key]]
        if key.kind == "draft" and found:
            return found == shown or any(
                value is not None
                and value.startswith(found)
                and (shown is None or len(found) >= len(shown) or not value.startswith(shown))
                for value in begun[1:]
            )
        return found in begun


def _words(value: str | None) -> str:
    return "nothing" if value is None else repr(value)
