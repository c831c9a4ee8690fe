"""A person who uses the program by keys alone and by what a screen reader says."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.desktop.at_spi import Accessible, Event, Reader
from tests.desktop.desk import Desk, wait_for

_SERVICE = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")
_MOST_TABS = 90
_TICKED, _DOWN = ("checked", "not checked"), ("pressed", "not pressed")
_SPOKEN = {"check box": _TICKED, "radio button": _TICKED, "check menu item": _TICKED, "toggle button": _DOWN}
"""What is said of a state that may be on or off."""


@dataclass
class Annotator:
    """Sits at a desk and hears it. `announced`: what was said that was not asked for, the latest last."""

    desk: Desk
    reader: Reader
    announced: list[str] = field(default_factory=list)
    _focus: Event | None = None

    def press(self, *keys: str) -> str:
        self.desk.press(*keys)
        return self.received()

    def type(self, text: str) -> str:
        self.desk.type(text)
        return self.received()

    def lead_to(self, beginning: str, *keys: str) -> str:
        """Press keys, and wait until what is heard begins so; all of it."""
        if keys:
            self.desk.press(*keys)

        def look() -> str:
            latest.append(self.received())
            return latest[-1] if latest[-1].startswith(beginning) else ""

        latest: list[str] = []
        try:
            return wait_for(look, beginning)
        except AssertionError:
            raise AssertionError(f"{keys} led to {latest[-1]!r}, not to {beginning!r}") from None

    def received(self) -> str:
        return self.said_of(self.here())

    def here(self) -> Accessible:
        """What has the focus, by what the program told of it. AssertionError where nothing has."""
        return wait_for(self._found, "something with the focus that is there and is seen")[0]

    def tab_to(self, name: str, key: str = "Tab") -> str:
        """Press a key until the name of what has the focus begins so; what is heard there."""
        passed: list[str] = []
        while not self.named(name):
            passed.append(self.received())
            assert len(passed) < _MOST_TABS, f"{key} does not come to {name!r}: {passed}"
            self.press(key)
        return self.received()

    def named(self, name: str) -> bool:
        return self.here().name.startswith(name)

    def hears(self, pattern: str, patience: float = 60) -> str:
        """Wait for something to be said by itself that has this in it."""

        def look() -> str:
            self._listen()
            return next((each for each in reversed(self.announced) if re.search(pattern, each)), "")

        return wait_for(look, f"{pattern!r} announced (there was {self.announced[-6:]})", patience)

    def reads(self, pattern: str) -> str:
        """What is written in the window that has this in it, as one finds it by going through its text."""

        def look() -> str:
            texts = (each.name for window in self.windows() for each in self.reader.tree(window))
            return next((text for text in texts if re.search(pattern, text)), "")

        return wait_for(look, f"{pattern!r} to read")

    def window(self) -> str:
        return self.windows()[0].name

    def windows(self) -> list[Accessible]:
        """The windows that the keys are for: one, with a menu's that is open."""

        def look() -> list[Accessible]:
            found = self.reader.told(self.reader.program().children)
            return [each for each in found if "active" in each.states and each.shown]

        return wait_for(look, "a window")

    def said_of(self, told: Accessible) -> str:
        """One thing as a screen reader would say it: name, kind, value, state, description."""
        on, off = _SPOKEN.get(told.role, ("", ""))
        states = told.states
        said = [told.name, told.role, on if "checked" in states or "pressed" in states else off]
        if "Value" in told.interfaces:
            said.append(f"{self.reader.property(told.at, 'Value', 'CurrentValue'):g}")
        if "Text" in told.interfaces:
            said.append(self.reader.text(told.at)[:200])
        said += [word for word in ("expanded", "read-only", "selected", "has-popup") if word in states]
        said.append("" if "sensitive" in states else "unavailable")
        return ", ".join(part for part in (*said, told.description) if part)

    def _found(self) -> list[Accessible]:
        self._listen()
        if self._focus is None:
            return []
        told = self.reader.told([self._focus.at])
        return [each for each in told if "focused" in each.states and each.shown]

    def _listen(self) -> None:
        for event in self.reader.hear():
            if event.kind == "announcement":
                self.announced.append(str(event.value))
            elif event.kind == "state-changed" and event.detail == "focused" and event.number:
                self._focus = event


@contextmanager
def somebody(desk: Desk) -> Iterator[Annotator]:
    """A person who sits down at a desk before a program is started there; skipped where none can hear."""
    if not _SERVICE.exists():
        pytest.skip("nothing is heard without at-spi2-core (make test-desktop installs it)")
    with closing(Reader(desk.environment["DBUS_SESSION_BUS_ADDRESS"])) as hearing:
        yield Annotator(desk, hearing)
