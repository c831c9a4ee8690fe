"""The pieces of a prompt, each marked with whose it is; a chat template's own text around the messages; marks
that foreign text must not hold. A text is looked at as a model may read it: in any letter case, without
accents, without characters that nobody sees, wide letters as the normal ones.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from engine.core.errors import SetupError
from engine.core.prompt_text import Source
from engine.core.rubric import DEFAULT_WORDING, put_in


@dataclass(frozen=True)
class Part:
    """A piece of text. Foreign text may say anything and must never act as a control token."""

    text: str
    source: Source = Source.OWN

    @property
    def foreign(self) -> bool:
        return self.source.foreign


def own(text: str) -> Part:
    return Part(text)


def foreign(text: str, source: Source = Source.FOREIGN) -> Part:
    return Part(text, source)


@dataclass(frozen=True)
class Conversation:
    """What a model is shown."""

    system: tuple[Part, ...]
    user: tuple[Part, ...]
    reply: str  # how it begins
    thought: str | None = None  # before it, in formats with a place for it; None where it is still to come
    fences: tuple[str, ...] = ()  # set around texts of others, which must not read like it


FRAME_VERSION = 5
"""Changes with the way in which templates are rendered: what was rendered otherwise does not hold."""

RENDER_SECONDS = 6.0  # what a template may take; those of real models take milliseconds

SYSTEM, USER, THOUGHT, REPLY = "system", "user", "thought", "reply"
_FIXED_FRAMES = ({SYSTEM, USER, REPLY}, {USER, REPLY})


class UnusableTemplateError(Exception):
    """A template that does not do what a chat template must; plain text is used instead."""


@dataclass(frozen=True)
class Frame:
    """What a template writes of its own: `slots[i]`, the name of a message, stands between `pieces[i]` and
    `pieces[i + 1]`; the last is the reply, which the piece before it begins.
    """

    pieces: tuple[str, ...]
    slots: tuple[str, ...]
    note: str = ""  # that it is not the model's own, or replies begin elsewhere than the template lets them
    thinking: "Frame | None" = None  # in which the model thinks first, with a slot before the reply
    turns: tuple[str, ...] = ()
    """Written between the messages of longer conversations, and after their last ones."""

    def __post_init__(self) -> None:
        slots = set(self.slots)
        if len(self.pieces) != len(self.slots) + 1 or slots - {THOUGHT} not in _FIXED_FRAMES:
            raise ValueError(f"{len(self.pieces)} pieces around the slots {self.slots}")
        if THOUGHT in slots and self.slots[-2:] != (THOUGHT, REPLY):
            raise ValueError(f"reasoning elsewhere than before the reply: {self.slots}")

    @property
    def is_plain(self) -> bool:
        return self.pieces == _PLAIN


_PLAIN = ("", "\n\n", "\n\n", "")


def plain_frame(reason: str) -> Frame:
    return Frame(_PLAIN, (SYSTEM, USER, REPLY), f"{reason}: plain text is used.")


# Between the letters of a mark they hide it from a search, and not from a model.
_UNSEEN = ("Cc", "Cf", "Mn", "Me")  # categories: control, format, accents
_SPACE_OF_PIECES = "▁"
_MOST_ROUNDS = 8  # of breaking up a text, for what is left of one mark may be another
_GAP = r"\s*"
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


class UnbreakableTextError(SetupError):
    """A text would be structure of a prompt, and cannot be broken up so that it is not. Made by `of`."""

    @classmethod
    def of(cls, what: str) -> "UnbreakableTextError":
        problem = f"A text would be parsed as part of the prompt's structure: {what}."
        return cls(problem, "Remove that item or example, or use another model.")

    @property
    def reason(self) -> str:
        return f"{self.problem[:1].lower()}{self.problem[1:].rstrip('.')}"


@dataclass(frozen=True)
class Mark:
    """A text that foreign text must not hold."""

    text: str
    counted: bool = False  # its numbers stand for any
    begins_line: bool = False  # it is one only where a line begins with it
    fills_line: bool = False  # it is one only where it is the whole line

    def pattern(self, spaced: bool) -> str:
        """A regular expression that finds it in folded text: in its own letter case anywhere, in any other
        where it does not continue a word, so that `Robot:` is not `Bot:`. White space inside it may be
        omitted or doubled. `spaced`: there alone; else some may stand anywhere.
        """
        text = folded(self.text).strip()
        parts = [part for part in re.findall(r"\s+|\d+|.", text) if spaced or not part.isspace()]
        whole = ("" if spaced else _GAP).join(map(self._part, parts))
        if self.begins_line or self.fills_line:
            end = r"(?=[^\S\n]*(?:\n|$))" if self.fills_line else r"(?!\w)"
            return rf"(?<![^\n])[^\S\n]*(?i:{whole}){end}"
        before = r"(?<!\w)" if re.match(r"\w", text) else ""
        after = r"(?!\w)" if re.search(r"\w$", text) else ""
        return rf"{whole}|{before}(?i:{whole}){after}"

    def _part(self, part: str) -> str:
        if part.isspace():
            return _GAP
        return r"\d+" if self.counted and re.match(r"\d", part) else re.escape(part)


class Marks:
    """Marks, to be found in a text and broken up. `spaced`: in texts whose white space says something."""

    def __init__(self, marks: Iterable[Mark], spaced: bool = True) -> None:
        patterns = {mark.pattern(spaced) for mark in marks if folded(mark.text).strip()}
        # Of marks that begin alike the whole one is to be found.
        longest_first = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
        self._pattern = re.compile("|".join(longest_first) or r"(?!)")

    def broken(self, text: str, by: str = " ") -> str:
        """A text with `by` inside each mark that it holds. UnbreakableTextError where one stays whole."""
        for _ in range(_MOST_ROUNDS):
            cuts = {_cut(text[start:end], start) for start, end in self.found(text)}
            if not cuts:
                return text
            text = "".join(f"{by}{char}" if place in cuts else char for place, char in enumerate(text))
        # Rather an item without a label than one whose text may act as structure.
        raise UnbreakableTextError.of(
            "it contains one of the model's special marks, which cannot be broken up"
        )

    def found(self, text: str) -> Iterator[tuple[int, int]]:
        # Most texts have no mark: for them one search is enough, without a list of places.
        if self._pattern.search(folded(text)):
            parts = [folded(char) for char in text]
            places = [place for place, part in enumerate(parts) for _ in part]
            for mark in self._pattern.finditer("".join(parts)):
                yield places[mark.start()], places[mark.end() - 1] + 1


def _cut(mark: str, start: int) -> int:
    """Where a mark that begins at `start` can be broken: between its first two letters that adjoin."""
    # Between letters that are seen: a space next to one that is not would change nothing.
    seen = [(place, char) for place, char in enumerate(mark, start) if folded(char)]
    for (_, first), (place, second) in pairwise(seen):
        if not (folded(first).isspace() or folded(second).isspace()):
            return place
    raise UnbreakableTextError.of(f"{mark!r} cannot be broken up")


def folded(text: str) -> str:
    """As models may read it, but for its letter case."""
    return text.translate(_FOLDING)


class _Folding(dict[int, str]):
    """For `str.translate`: each character as models may read it, found once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in _LINE_ENDS:
            folded = "\n"
        elif char == _SPACE_OF_PIECES or char.isspace():
            folded = " "
        else:
            default = unicodedata.normalize("NFKD", char)
            folded = "".join(each for each in default if unicodedata.category(each) not in _UNSEEN)
        self[code] = folded
        return folded


_FOLDING = _Folding()


@dataclass(frozen=True)
class Fences:
    """The marks of one prompt: `[Title]` and `[End of Title]` for each of its `titles`."""

    titles: tuple[str, ...]
    end: str = DEFAULT_WORDING.end

    def block(self, title: str, text: str, source: Source) -> tuple[Part, ...]:
        inside = foreign(self.without(text), source)
        return own(f"[{title}]\n"), inside, own(f"\n[{put_in(self.end, title=title)}]\n\n")

    def without(self, text: str) -> str:
        return self.marks.broken(text)

    @cached_property
    def marks(self) -> Marks:
        return Marks(map(Mark, self.texts))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        ends = [put_in(self.end, title=title) for title in self.titles]
        return tuple(f"[{inside}]" for inside in (*self.titles, *ends))
