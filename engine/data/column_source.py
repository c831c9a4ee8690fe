r"""Sources: what is read of a foreign row for one column of ours.

Written as text: `prompt`; `instruction+input`, several columns joined; `completions[0].response`, a place in
a nested value; `completions[].response`, the same place of each entry of a list; `result[?].text`, that of
the first entry that has one; `chosen@reply`, a part of a dialogue; `conversation_a@replies:turn`, this many
rounds of it as the column `turn` says; `cmp_key@before:_` and `cmp_key@after:_`, what stands before and after
the first mark `_` of a text; `score_a>score_b`, the label that two numbers give. A column of exactly that
name comes first.

A dialogue is a JSON list of messages, each with who speaks (`role` or `from`) and what is said (`content` or
`value`); a JSON list of texts, or of objects with a `content` and no speaker; or a text with the marks
`\n\nHuman: ` and `\n\nAssistant: `. A null in the place of a list or an object holds nothing: an empty text.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from types import EllipsisType
from typing import NamedTuple

from engine.core.formatting import listed, quoted
from engine.data.json_records import JsonNumber, JsonProblem, cell_text, parse_text

FIRST_IS_MORE, SECOND_IS_MORE, EQUAL = "A", "B", "equal"
"""What a comparison of two numbers gives; empty where one of them is none."""

_CUT = re.compile(r"(.+?)@(before|after):([^+]+)", re.DOTALL)
_STEP = re.compile(r"\[(-?\d{1,6}|\?)?\]|\.([^.\[\]]+)")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_HALF = re.compile("[\ud800-\udfff]")
_MOST_ROUNDS = 1_000_000
_MOST_COLUMNS_SHOWN = 20


FIRST_THAT_HAS = ...
Step = int | str | EllipsisType | None
"""Into an entry of a list, a key of an object, the first entry that has something where the rest of the path
leads (FIRST_THAT_HAS), or each entry of a list.
"""
USER, ASSISTANT = "user", "assistant"
_SYSTEM = "system"
_ROLES = {
    **dict.fromkeys(("user", "human", "prompter", "customer", "instruction"), USER),
    **dict.fromkeys(("assistant", "gpt", "model", "bot", "ai", "chatgpt", "chatbot", "response"), ASSISTANT),
}
_ROLE_KEYS, _TEXT_KEYS = ("role", "from", "speaker"), ("content", "value", "text", "parts")
_ANSWER = "answer"  # what Arena-Hard 2 has in the place of a text
PICTURE = "[image]"
"""Stands in the text of a message that holds a picture, which no judge here sees."""
_PICTURES = ("image", "image_url", "input_image", "picture")
_MARK = re.compile(r"(?:\A\s*|\n\n)(Human|Assistant): ?")


class SourceProblem(Exception):
    """A source names what the file does not have, or a cell does not hold it; the text says which."""


class DialoguePart(StrEnum):
    """What is taken of a dialogue; the value stands after the @ of a source."""

    PROMPT = "prompt"  # all before the assistant's last message
    REPLY = "reply"  # the assistant's last message
    USERS = "users"  # all that is not the assistant's
    REPLIES = "replies"  # all that is the assistant's
    DIALOGUE = "dialogue"  # all


class Turn(NamedTuple):
    """One message. `role`: "user", "assistant", another word of the file, or empty in a list of texts."""

    role: str
    text: str


class Cut(NamedTuple):
    """What is taken of a text: what stands before the first `mark`, which has no plus in it, or after it."""

    is_after: bool
    mark: str


@dataclass(frozen=True)
class CellPlace:
    """One cell, or what lies in it. `rounds`: the column that says how many rounds of a dialogue count."""

    column: str
    path: tuple[Step, ...] = ()
    part: DialoguePart | None = None
    rounds: str | None = None
    cut: Cut | None = None


@dataclass(frozen=True)
class CellSource:
    """Places that are joined; with `than` the only one is compared with it, either may be a number."""

    places: tuple[CellPlace | float, ...]
    than: CellPlace | float | None = None

    @cached_property
    def cells(self) -> tuple[CellPlace, ...]:
        """Its places that are no numbers."""
        return tuple(place for place in (*self.places, self.than) if isinstance(place, CellPlace))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file that it reads."""
        names = [name for place in self.cells for name in (place.column, place.rounds) if name is not None]
        return tuple(dict.fromkeys(names))

    @property
    def texts(self) -> tuple[str, ...]:
        """The same without those that only say how many rounds count."""
        return tuple(dict.fromkeys(place.column for place in self.cells))

    @property
    def is_of_a_scale(self) -> bool:
        """Whether a cell is compared with a number."""
        return self.than is not None and any(isinstance(each, float) for each in (*self.places, self.than))

    @cached_property
    def is_list(self) -> bool:
        """Whether it reads something of each entry of a list."""
        return any(None in place.path for place in self.cells)

    @cached_property
    def entries_of(self) -> tuple[Step | str, ...]:
        """The list of whose entries it reads something: its column, and the way to it; empty without one."""
        lists = (
            (each.column, *each.path[: each.path.index(None)]) for each in self.cells if None in each.path
        )
        return next(lists, ())

    @cached_property
    def parts(self) -> bool:
        """Whether it says which part of a dialogue is read."""
        return any(place.part for place in self.cells)

    @cached_property
    def whole(self) -> str | None:
        """The column of which it reads all as it stands, and of no other with it."""
        match self.places, self.than:
            case (CellPlace(column, (), None, None, None),), None:
                return column
        return None

    @cached_property
    def dialogue(self) -> CellPlace | None:
        """Where it reads one that may be a dialogue, whole or a part that begins or ends it."""
        match self.places, self.than:
            case (CellPlace(part=None | DialoguePart.PROMPT | DialoguePart.REPLY, cut=None) as place,), None:
                return None if self.is_list else place
        return None


def parse_source(text: str, columns: Collection[str]) -> CellSource:
    """A source of a file with these columns. SourceProblem where it names another one."""
    if text not in columns and ">" in text:
        for at in (found.start() for found in re.finditer(">", text)):
            left, right = _operand(text[:at], columns), _operand(text[at + 1 :], columns)
            if left is not None and right is not None:
                return CellSource((left,), right)
    places = _joined(text, columns)
    if places is None:
        shown = listed(list(columns), _MOST_COLUMNS_SHOWN, quoted)
        raise SourceProblem(f"the file has no column {quoted(text)}. Columns found: {shown}.")
    return CellSource(places)


def _joined(text: str, columns: Collection[str]) -> tuple[CellPlace, ...] | None:
    """The places of `a+b`; a name with a plus in it is found too, a key where its parts are no places."""
    if text in columns:
        return (CellPlace(text),)
    for at in (found.start() for found in re.finditer(r"\+", text)):
        first = _place(text[:at], columns)
        rest = _joined(text[at + 1 :], columns) if first is not None else None
        if first is not None and rest is not None:
            return (first, *rest)
    whole = _place(text, columns)
    return None if whole is None else (whole,)


def _operand(text: str, columns: Collection[str]) -> CellPlace | float | None:
    text = text.strip()
    place = _place(text, columns)
    if place is None and _NUMBER.fullmatch(text):
        return float(text)
    return place


def _place(text: str, columns: Collection[str]) -> CellPlace | None:
    """`name`, `name.key[0]`, each followed by `@part`, `@part:column`, `@before:mark` or `@after:mark`."""
    cut = _CUT.fullmatch(text) if text not in columns else None
    if cut is not None and (inner := _nested(cut[1], columns)) is not None:
        return CellPlace(inner.column, inner.path, cut=Cut(cut[2] == "after", cut[3]))
    before, _, after = text.rpartition("@")
    part, colon, rounds = after.partition(":")
    inner = _nested(before, columns) if text not in columns and part in list(DialoguePart) else None
    if inner is None or (colon and rounds not in columns):
        return _nested(text, columns)
    return CellPlace(inner.column, inner.path, DialoguePart(part), rounds if colon else None)


def _nested(text: str, columns: Collection[str]) -> CellPlace | None:
    if text in columns:
        return CellPlace(text)
    starts = [found.start() for found in re.finditer(r"[.\[]", text)]
    for at in reversed(starts):
        steps = list(_STEP.finditer(text, at))
        is_path = steps and "".join(step[0] for step in steps) == text[at:]
        if text[:at] in columns and is_path:
            # What stands between brackets, nothing for each entry, or after a dot.
            read = (step.groups() for step in steps)
            path = (key if at is None else FIRST_THAT_HAS if at == "?" else int(at) for at, key in read)
            return CellPlace(text[:at], tuple(path))
    return None


class RowReader:
    """Reads sources out of one row; each nested value is parsed once. `nulls`: as those of a SourceRow."""

    def __init__(self, cells: Mapping[str, str], nulls: Collection[str] = ()) -> None:
        self._cells = cells
        self._nulls = nulls
        self._values: dict[str, object] = {}
        self._dialogues: dict[str, list[Turn] | None] = {}

    def has(self, source: CellSource) -> bool:
        """Whether the row has one of the columns of a source."""
        return not self._cells.keys().isdisjoint(source.columns)

    def text(self, source: CellSource, between: str) -> str:
        """What a source says, its places with `between` between them, the empty ones omitted.

        SourceProblem where a cell does not hold what is asked of it.
        """
        if source.than is not None:
            one, other = self._number(source.places[0]), self._number(source.than)
            if math.isnan(one) or math.isnan(other):
                return ""
            return EQUAL if one == other else FIRST_IS_MORE if one > other else SECOND_IS_MORE
        if source.whole is not None:
            return self._cells.get(source.whole, "")
        text = between.join(filter(None, self.texts(source)))
        # Written as an escape in JSON that stands in a cell.
        if not text.isascii() and (half := _HALF.search(text)) is not None:
            raise SourceProblem(
                f"{quoted(source.columns[0])} contains \\u{ord(half[0]):04x}, half a character (a lone"
                " surrogate), not text."
            )
        return text

    def all_text(self, source: CellSource) -> str:
        """The same of a source that may be a list: its entries, with empty lines between them."""
        if source.is_list:
            return "\n\n".join(filter(None, self.entries(source)))
        return self.text(source, "\n\n")

    def is_null(self, source: CellSource) -> bool:
        """Whether what a source reads as an empty text is a null: nobody wrote anything there."""
        return all(map(self._is_null, source.cells))

    def texts(self, source: CellSource) -> list[str]:
        """What each place of a source says, of a comparison too; of several some may be missing."""
        found: list[str] = []
        problems: list[SourceProblem] = []
        for place in source.cells:
            try:
                found.append(self._text(place))
            except RecursionError as error:
                deep = f"{quoted(source.columns[0])} contains lists or objects that are nested too deeply."
                raise SourceProblem(deep) from error
            except SourceProblem as problem:
                if not place.path:
                    raise
                problems.append(problem)
                found.append("")
        if problems and len(problems) == len(source.cells):
            raise problems[-1]
        return found

    def _number(self, place: CellPlace | float) -> float:
        if isinstance(place, float):
            return place
        try:
            return float(self._text(place))
        except (ValueError, RecursionError):
            return math.nan

    def _text(self, place: CellPlace) -> str:
        cell = self._cells.get(place.column, "")
        if not (place.path or place.part or place.cut) or not cell:
            return cell
        if place.cut is not None:
            return self._cut(place, place.cut)
        if place.part is None:
            return cell_text(self._value(place))
        turns = self._turns(place)
        where = _in_words(place)
        if turns is None:
            raise SourceProblem(f"{where} is not a dialogue: {quoted(cell)}.")
        rounds = self._rounds(place)
        try:
            return part_of(turns, place.part, rounds)
        except SourceProblem as problem:
            raise SourceProblem(f"{where}: {problem}") from problem

    def _is_null(self, place: CellPlace) -> bool:
        """Of a dialogue: whether its last message is one, or holds one in the place of a text."""
        if place.column in self._nulls:
            return True
        if not (place.path or place.part) or not self._cells.get(place.column):
            return False
        try:
            value = self._value(place)
        except SourceProblem:  # a dialogue of marks, which has no nulls
            return False
        if place.part and isinstance(value, list):
            value = value[-1]
            if isinstance(value, dict):
                value = next((value[key] for key in _TEXT_KEYS if key in value), "")
        return value is None

    def _cut(self, place: CellPlace, cut: Cut) -> str:
        text = cell_text(self._value(place)) if place.path else self._cells[place.column]
        before, mark, after = text.partition(cut.mark)
        if text and not mark:
            raise SourceProblem(f"{_in_words(place)} has no {quoted(cut.mark)}: {quoted(text)}.")
        return after if cut.is_after else before

    def _turns(self, place: CellPlace) -> list[Turn] | None:
        if not place.path:
            if place.column not in self._dialogues:
                self._dialogues[place.column] = turns_of(self._cells.get(place.column, ""))
            return self._dialogues[place.column]
        value = self._value(place)
        if isinstance(value, str):
            return turns_of(value)
        return turns_of_value(value)

    def _rounds(self, place: CellPlace) -> int | None:
        if place.rounds is None:
            return None
        text = self._cells.get(place.rounds, "")
        try:
            rounds = float(text)
        except ValueError:
            rounds = 0
        if not 1 <= rounds < _MOST_ROUNDS or rounds != int(rounds):
            raise SourceProblem(f"{quoted(place.rounds)} is {quoted(text)}, not a number of rounds.")
        return int(rounds)

    def entries(self, source: CellSource) -> list[str]:
        """What the only place of a source with `[]` says in each entry of its list, in order; empty for an
        entry without it. SourceProblem.
        """
        (place,) = source.cells
        if not self._cells.get(place.column):
            return []
        at = place.path.index(None)
        found = _followed(self._parsed(place.column), place.path[:at])
        if found is not None and not isinstance(found, list):
            raise SourceProblem(f"{_in_words(replace(place, path=place.path[:at]))} is not a list.")
        return [text for entry in found or () for text in _texts_of_entry(entry, place.path[at + 1 :], place)]

    def turns(self, source: CellSource) -> list[Turn] | None:
        """The messages of a dialogue that a source reads whole, or a part of, of the rounds that count; None
        where it reads others.
        """
        place = source.dialogue
        cell = self._cells.get(place.column) if place is not None else None
        if place is None or not cell:
            return None
        # Asked of three texts in each row, nearly all of which show at once that they are none.
        if not (place.path or cell[0] in "[ \n\r\t" or "Assistant:" in cell):
            return None
        found = self._turns(place)
        if not found or not all(turn.role for turn in found):
            return None
        return list(_first(found, self._rounds(place)))

    def _value(self, place: CellPlace) -> object:
        return _followed(self._parsed(place.column), place.path, place.column)

    def _parsed(self, column: str) -> object:
        if column not in self._values:
            cell = self._cells.get(column, "")
            try:
                self._values[column] = parse_text(cell)
            except JsonProblem as problem:
                found = f"{quoted(column)} is not a JSON list or object: {quoted(cell)}."
                raise SourceProblem(found) from problem
        return self._values[column]


def _followed(value: object, path: Sequence[Step], walked: str = "") -> object:
    """What lies at the end of a path; None where nothing does. `walked`: what the value is called; then a
    place that is not there is a SourceProblem.
    """
    for at, step in enumerate(path):
        if value is None:
            return None
        if step is FIRST_THAT_HAS:
            entries = value if isinstance(value, list) else []
            found = (_followed(entry, path[at + 1 :]) for entry in entries)
            return next((each for each in found if each is not None), None)
        if step is None and walked:
            whole = walked + "".join(map(_step_text, path[at:]))
            raise SourceProblem(f"{quoted(whole)} gives several texts, where one is read.")
        try:
            value = _entry(value, step)
        except LookupError as error:
            if not walked:
                return None
            what = f"entry {step}" if isinstance(step, int) else quoted(str(step))
            raise SourceProblem(f"{quoted(walked)} holds no {what}.") from error
        walked = walked and walked + _step_text(step)
    return value


def _texts_of_entry(entry: object, path: Sequence[Step], place: CellPlace) -> list[str]:
    """What an entry of a list says, or each entry of the list in it."""
    if None in path:
        at = path.index(None)
        inner = _followed(entry, path[:at])
        entries = inner if isinstance(inner, list) else []
        return [text for each in entries for text in _texts_of_entry(each, path[at + 1 :], place)]
    value = _followed(entry, path)
    turns = None if place.part is None else turns_of_value([value] if isinstance(value, dict) else value)
    return [cell_text(value) if place.part is None or turns is None else part_of(turns, place.part)]


def _entry(value: object, step: Step) -> object:
    """What a list or an object holds at one step; LookupError where it holds nothing there."""
    if isinstance(step, int) and isinstance(value, list):
        return value[step]
    if isinstance(step, str) and isinstance(value, dict):
        return value[step]
    raise LookupError


def _in_words(place: CellPlace) -> str:
    return quoted(place.column + "".join(map(_step_text, place.path)))


def _step_text(step: Step) -> str:
    if isinstance(step, str):
        return f".{step}"
    return "[?]" if step is FIRST_THAT_HAS else f"[{'' if step is None else step}]"


def turns_of(cell: str) -> list[Turn] | None:
    """The turns of a dialogue; None where the cell holds none."""
    if cell.lstrip()[:1] != "[":
        return _marked(cell)
    try:
        return turns_of_value(parse_text(cell))
    except JsonProblem:
        return None


def turns_of_value(value: object) -> list[Turn] | None:
    """The turns of a parsed JSON value: a list of messages, or of texts; None for anything else."""
    if not isinstance(value, list) or not value:
        return None
    if all(_is_text(message) or message is None for message in value):
        return [Turn("", str(message or "")) for message in value]
    if all(map(_is_turn_alone, value)):
        return [Turn("", message["content"]) for message in value]
    turns = [_message(message) for message in value]
    return None if None in turns else [turn for turn in turns if turn is not None]


def part_of(turns: Sequence[Turn], part: DialoguePart, rounds: int | None = None) -> str:
    """A part of a dialogue as text: one message as it is, several as paragraphs that name who speaks.

    `rounds`: only this many messages of the user, and what answers them. Where nobody says who speaks, user
    and assistant take turns. SourceProblem where the assistant says nothing, and the part is about what they
    say.
    """
    if not any(turn.role for turn in turns):
        if part in (DialoguePart.USERS, DialoguePart.REPLIES):  # all are of the side that is asked for
            role = USER if part is DialoguePart.USERS else ASSISTANT
            return written([Turn(role, turn.text) for turn in turns[:rounds]])
        turns = [Turn((USER, ASSISTANT)[place % 2], turn.text) for place, turn in enumerate(turns)]
    turns = _first(turns, rounds)
    match part:
        case DialoguePart.DIALOGUE:
            return written(asked_in(turns))
        case DialoguePart.USERS:
            return written([turn for turn in turns if turn.role != ASSISTANT])
    said = [place for place, turn in enumerate(turns) if turn.role == ASSISTANT]
    if not said:
        raise SourceProblem("it has no turn of the assistant.")
    if part is DialoguePart.REPLIES:
        return written([turns[place] for place in said])
    return turns[said[-1]].text if part is DialoguePart.REPLY else written(turns[: said[-1]])


def _first(turns: Sequence[Turn], rounds: int | None) -> Sequence[Turn]:
    if rounds is None:
        return turns
    asked = [place for place, turn in enumerate(turns) if turn.role == USER]
    return turns[: asked[rounds]] if len(asked) > rounds else turns


def asked_in(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The same without an empty message of the assistant at the end: a prompt ends where the reply begins."""
    is_open = len(turns) > 1 and turns[-1].role == ASSISTANT and not turns[-1].text.strip()
    return turns[:-1] if is_open else turns


def written(turns: Sequence[Turn]) -> str:
    """Messages as text: one of user or assistant as it is, several as paragraphs that name who speaks."""
    turns = [turn for turn in turns if turn.role != _SYSTEM or turn.text]
    if len(turns) == 1 and turns[0].role in (USER, ASSISTANT):
        return turns[0].text
    return "\n\n".join(f"{turn.role.capitalize()}: {turn.text}" for turn in turns)


def _is_turn_alone(message: object) -> bool:
    """Whether it is a text of which nobody says who spoke, as Arena-Hard writes the turns of its answers."""
    if not isinstance(message, dict) or message.keys() & {*_ROLE_KEYS}:
        return False
    return _is_text(message.get("content"))


def _message(message: object) -> Turn | None:
    if not isinstance(message, dict):
        return None
    role = next((message[key] for key in _ROLE_KEYS if isinstance(message.get(key), str)), None)
    texts = (_content(message[key]) for key in _TEXT_KEYS if key in message)
    text = next(texts, None)
    if role is None or text is None:
        return None
    return Turn(_ROLES.get(role.strip().lower(), role), text)


def _content(value: object) -> str | None:
    """The text of a message, with marks for pictures; None where it is none."""
    if value is None or _is_text(value):
        return str(value or "")
    if isinstance(value, dict) and _is_text(value.get(_ANSWER)):
        return str(value[_ANSWER])
    if isinstance(value, list):
        texts = [_part_text(part) for part in value]
        if None not in texts:
            return "\n\n".join(filter(None, texts))
    return None


def _part_text(part: object) -> str | None:
    """A typed part of a message: its text, a mark for a picture; None for anything else."""
    if not isinstance(part, dict):
        return str(part) if _is_text(part) else None
    kind = part.get("type")
    for key in ("text", "value") if kind == "text" else ("text",):
        if _is_text(part.get(key)):
            return str(part[key])
    return PICTURE if any(part.get(key) for key in _PICTURES) or kind in _PICTURES else None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and not isinstance(value, JsonNumber)


def _marked(cell: str) -> list[Turn] | None:
    # Nearly all texts hold none, and to search each took a tenth of the time of all reading.
    marks = list(_MARK.finditer(cell)) if "Assistant:" in cell else []
    if not marks or cell[: marks[0].start()].strip() or "Assistant" not in {mark[1] for mark in marks}:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(cell)]
    return [
        Turn(_ROLES[mark[1].lower()], cell[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)
    ]
