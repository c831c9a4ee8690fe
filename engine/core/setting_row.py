"""One row of the table of settings: the texts of a setting, and how its values are read and checked.

Knows: kinds of values, words. Does not know: which settings there are, arguments, widgets.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.core.errors import SetupError
from engine.core.formatting import capitalised
from engine.core.remedies import Setting

LARGEST = 2**31 - 1  # what a field of the window can hold; a remembered number above it is damaged


@dataclass(frozen=True)
class SettingRow:
    """A setting; the record that holds it defines its default.

    `name`: of the field in that record. `kind`: bool, int, float or an enumeration; `several`: a tuple of it.
    `stored`: what stores and files call it, where that is another name: it was chosen before, and stays.
    `called`: what users call it, a Setting where hints name it. `unit`: what its number counts; `things`: it
    is the number of what it is called. `least`, `most`: what a number may be. `refuse`: raises SetupError
    where that is not all to be checked. `when`: the property of a setup that tells whether it counts; empty
    where it always does. `unsaid`: what the identity of a run omits, so that runs from before there was a
    choice are the same runs; ... for nothing. `label`, `title`, `tip`: of its field in the window: the text
    next to it (its name by default), its accessible name (the label by default), its tool tip. `choices`: in
    words. `offered`, `step`: what a field of numbers offers; `instead`: what it shows for None; `special`:
    what its least number means, in words. `help`, `metavar`: of its option; without help it has none, or one
    made by hand.
    """

    name: str
    kind: type
    called: Setting | str
    stored: str = ""
    several: bool = False
    unit: str = ""
    things: bool = False
    least: int | None = None
    most: int | None = None
    refuse: Callable[[Any], None] | None = None
    when: str = ""
    unsaid: Any = ...
    label: str = ""
    title: str = ""
    tip: str = ""
    choices: Mapping[StrEnum, str] = field(default_factory=dict)
    offered: tuple[float, float] = (0, LARGEST)
    step: float = 1
    instead: float | None = None
    special: str = ""
    help: str = ""
    metavar: str = "N"

    @property
    def words(self) -> str:
        """What it is called, within a sentence: `longest explanation`, `threads`."""
        return self.called.value if isinstance(self.called, Setting) else self.called

    @property
    def noun(self) -> str:
        """The same where a single thing is spoken of: `longest explanation`, `number of threads`."""
        return f"number of {self.words}" if self.things else self.words

    @property
    def fact(self) -> str:
        """The same before its value: `longest explanation, tokens`, `threads`."""
        return f"{self.words}, {self.unit}" if self.unit else self.words

    @property
    def field_label(self) -> str:
        """The label of its field in the window."""
        return self.label or capitalised(self.words)

    @property
    def key(self) -> str:
        """What the identity of a run, and every file, calls it."""
        return self.stored or self.name

    @property
    def option(self) -> str:
        """What it is called on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def counts(self, setup: object) -> bool:
        """Whether it changes anything in this setup, or with these settings."""
        return not self.when or bool(getattr(setup, self.when))

    def check(self, value: Any) -> None:
        """SetupError for a value that cannot be; None is none."""
        if value is None:
            return
        if self.refuse is not None:
            self.refuse(value)
        if self.least is not None and value < self.least:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.least} or more.")
        if self.most is not None and value > self.most:
            raise SetupError(f"The {self.noun} is {value}.", f"Use {self.most} or fewer.")

    def of_json(self, value: Any) -> Any:
        """A value out of JSON. TypeError or ValueError for one of another kind."""
        if value is None and self.unsaid is None:
            return None
        if self.several:
            return tuple(map(self.kind, value))
        if issubclass(self.kind, StrEnum):
            return self.kind(value)
        if type(value) is not self.kind and (type(value), self.kind) != (int, float):
            raise ValueError(f"{self.key} is {value!r}")
        return value

    def remembered(self, value: object, default: Any) -> Any:
        """A value out of JSON that may be damaged, or `default` in its place."""
        with suppress(TypeError, ValueError, SetupError):
            known = self.of_json(value)
            self.check(known)
            if self.kind not in (int, float):
                return known
            if abs(known) <= LARGEST:
                return self.kind(known)
        return default
