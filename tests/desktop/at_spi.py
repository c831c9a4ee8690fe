"""What assistive technology is told of the program: a small client of AT-SPI, as a screen reader is one."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from jeepney import DBusAddress, Message, MessageType, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.desktop.desk import PATIENCE, wait_for

A11Y = "org.a11y.atspi."
ROOT_PATH = "/org/a11y/atspi/accessible/root"
NOTHING = "/org/a11y/atspi/null"
EVENTS = ("object:state-changed", "object:announcement", "focus")
STATES = {
    1: "active",
    4: "checked",
    7: "editable",
    10: "expanded",
    11: "focusable",
    12: "focused",
    20: "pressed",
    23: "selected",
    24: "sensitive",
    25: "showing",
    30: "visible",
    41: "checkable",
    42: "has-popup",
    43: "read-only",
}
"""Those that somebody here asks for, by their numbers in AT-SPI."""
_QUIET, _LONGEST = 0.15, 1.0  # seconds without an event: what a key did is done; where it never is quiet
Reference = tuple[str, str]
"""A program on the bus, and the path of an object of it."""


@dataclass(frozen=True)
class Accessible:
    at: Reference
    role: str
    name: str
    description: str
    states: frozenset[str]
    interfaces: frozenset[str]
    children: tuple[Reference, ...]

    @property
    def shown(self) -> bool:
        return "showing" in self.states and "visible" in self.states

    def __str__(self) -> str:
        return f"{self.role} {self.name!r}"


@dataclass(frozen=True)
class Event:
    """What the program told by itself: `state-changed` `focused` 1, `announcement` and its text."""

    at: Reference
    kind: str
    detail: str
    number: int
    value: Any


class Reader:
    """Hears one desk, as a screen reader does; a program that starts after it tells what it shows."""

    def __init__(self, session_bus: str) -> None:
        with open_dbus_connection(session_bus) as session:
            status = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.freedesktop.DBus.Properties")
            for what in ("IsEnabled", "ScreenReaderEnabled"):
                body = ("org.a11y.Status", what, ("b", True))
                _done(session.send_and_get_reply(new_method_call(status, "Set", "ssv", body)))
            bus = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
            (address,) = _done(session.send_and_get_reply(new_method_call(bus, "GetAddress")))
        self._bus: DBusConnection = open_dbus_connection(address)
        self._received: list[Event] = []
        registry = ("org.a11y.atspi.Registry", "/org/a11y/atspi/registry")
        for event in EVENTS:
            self._ask([(registry, "Registry", "RegisterEvent", "s", (event,))])
        rule = f"type='signal',interface='{A11Y}Event.Object',member='{{}}'"
        dbus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        for kind in ("StateChanged", "Announcement"):
            _done(self._bus.send_and_get_reply(new_method_call(dbus, "AddMatch", "s", (rule.format(kind),))))

    def close(self) -> None:
        self._bus.close()

    # Trees

    def program(self) -> Accessible:
        """The program that was started, once it is on the bus."""
        registry: Reference = ("org.a11y.atspi.Registry", ROOT_PATH)
        found = wait_for(lambda: self.call(registry, "Accessible", "GetChildren"), "a program on the bus")
        return self.told([(found[0][0], found[0][1])])[0]

    def told(self, objects: Sequence[Reference]) -> list[Accessible]:
        properties = [("", "Get", "ss", (f"{A11Y}Accessible", name)) for name in ("Name", "Description")]
        methods = ("GetRoleName", "GetState", "GetInterfaces", "GetChildren")
        asked = [*properties, *(("Accessible", method, "", ()) for method in methods)]
        answers = iter(self._ask([(at, *each) for at in objects for each in asked]))
        return [_accessible(at, mine) for at in objects if all(mine := list(islice(answers, len(asked))))]

    def tree(self, root: Accessible) -> Iterator[Accessible]:
        """An object and all that is shown in it; of tables and lists not the cells."""
        level = [root]
        while level:
            yield from level
            inner = [child for each in level if not _has_cells(each) for child in each.children]
            level = [each for each in self.told(inner) if each.shown]

    def property(self, at: Reference, interface: str, name: str) -> Any:
        """A property, such as `CurrentValue` of `Value`; None where it has none."""
        (answer,) = self._ask([(at, "", "Get", "ss", (f"{A11Y}{interface}", name))])
        return answer[0][1] if answer else None

    def call(self, at: Reference, interface: str, method: str, signature: str = "", *body: Any) -> Any:
        """What a method gives; None where it failed."""
        (answer,) = self._ask([(at, interface, method, signature, body)])
        return (answer[0] if len(answer) == 1 else answer) if answer else None

    def act(self, at: Reference) -> None:
        """Do the first thing that can be done with an object. Nothing is waited for: it may open a dialog."""
        address = DBusAddress(at[1], at[0], f"{A11Y}Action")
        self._bus.send(new_method_call(address, "DoAction", "i", (0,)))

    def text(self, at: Reference) -> str:
        return self.call(at, "Text", "GetText", "ii", 0, -1) or ""

    # Events

    def hear(self) -> list[Event]:
        """What was told since the last time, once the program is quiet."""
        deadline = time.monotonic() + _LONGEST
        while time.monotonic() < deadline:
            try:
                self._take(self._bus.receive(timeout=_QUIET))
            except TimeoutError:
                break
        received, self._received = self._received, []
        return received

    # The bus

    def _ask(self, calls: Iterable[tuple[Reference, str, str, str, tuple[Any, ...]]]) -> list[Any]:
        """The bodies of the answers, None for each that failed. All are sent before the first is awaited."""
        serials = []
        for (name, path), interface, method, signature, body in calls:
            whole = f"{A11Y}{interface}" if interface else "org.freedesktop.DBus.Properties"
            serials.append(next(self._bus.outgoing_serial))
            message = new_method_call(DBusAddress(path, name, whole), method, signature, body)
            self._bus.send(message, serial=serials[-1])
        answers: dict[int, Message] = {}
        deadline = time.monotonic() + PATIENCE
        while not answers.keys() >= set(serials):  # what was not waited for is answered, too
            message = self._bus.receive(timeout=max(0.0, deadline - time.monotonic()))
            if (serial := message.header.fields.get(5)) is not None:
                answers[serial] = message
            else:
                self._take(message)
        received = [answers[serial] for serial in serials]
        return [None if each.header.message_type is MessageType.error else each.body for each in received]

    def _take(self, message: Message) -> None:
        fields = message.header.fields
        if message.header.message_type is MessageType.signal and ".Event." in fields.get(2, ""):
            detail, number, _, (_, value) = message.body[:4]
            self._received.append(Event((fields[7], fields[1]), _dashed(fields[3]), detail, number, value))


def _accessible(at: Reference, answers: Sequence[Any]) -> Accessible:
    (name,), (description,), (role,), (states,), (interfaces,), (children,) = answers
    return Accessible(
        at,
        role,
        name[1],
        description[1],
        frozenset(_states(states)),
        frozenset(each.rpartition(".")[2] for each in interfaces),
        tuple((child[0], child[1]) for child in children if child[1] != NOTHING),
    )


def _has_cells(told: Accessible) -> bool:
    return bool(told.interfaces & {"Table", "Selection"}) and told.role not in {"page tab list", "menu bar"}


def _dashed(member: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in member).lstrip("-")


def _states(words: Sequence[int]) -> Iterator[str]:
    bits = words[0] | words[1] << 32
    return (name for number, name in STATES.items() if bits >> number & 1)


def _done(message: Message) -> Any:
    assert message.header.message_type is not MessageType.error, message.body
    return message.body
