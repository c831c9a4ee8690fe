"""Signs that a file is read wrong: an instruction that is a date, responses that are verdicts, equal texts.

They are looked for in the items as they would be judged, whoever said how the file is read. Knows: what items
of a dataset look like. Does not know: files, columns.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from engine.core.column_map import INSTRUCTION, OUTPUTS
from engine.core.formatting import counted, percent, quoted

STRONG = 0.1
"""The share of the items from which on a sign is a strong one: a run on such a reading asks first."""
_FEW = 3  # items, of which a strong sign needs as many
_SAME = 0.9
_LEAST_BOTH = 20  # characters of two responses that an instruction may contain by chance
_Checks = Sequence[tuple["SignKind", Callable[[str], object]]]
_LONGEST_MARK = 200  # characters of a date, a hash, a verdict

_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?|\d\d?[./]\d\d?[./]\d{4}")
_HASH = re.compile(
    r"[0-9a-f]{16,128}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|t\d_[0-9a-z]{5,8}", re.IGNORECASE
)
_VERDICT = re.compile(
    r"\s*(\[\[?(a|b|c|tie|[ab][<>=]{1,2}[ab])\]?\]|[ab]\s?[<>=]{1,2}\s?[ab]|\[(pass|fail)\].*)\s*",
    re.I | re.DOTALL,
)
_ENDS_IN_VERDICT = re.compile(r"\[\[(A|B|C|tie|[AB][<>=]{1,2}[AB])\]\]\W*$", re.IGNORECASE)
_ROLE = re.compile(
    r"\s*(human|user|assistant|system|ai|bot|gpt)\s*:\s|\s*<\|?(im_start|start_header_id|user|assistant)"
)


class SignKind(StrEnum):
    """What speaks against a reading; the value is its name in the JSON of `check`."""

    INSTRUCTION_EMPTY = "instruction_empty"
    INSTRUCTION_CONSTANT = "instruction_constant"
    INSTRUCTION_JSON = "instruction_json"
    INSTRUCTION_DATE = "instruction_date"
    INSTRUCTION_HASH = "instruction_hash"
    INSTRUCTION_HOLDS_RESPONSES = "instruction_holds_responses"
    RESPONSES_EQUAL = "responses_equal"
    RESPONSE_EMPTY = "response_empty"
    RESPONSE_JSON = "response_json"
    RESPONSE_HASH = "response_hash"
    RESPONSE_VERDICT = "response_verdict"
    RESPONSE_LIST = "response_list"
    ROLE_ON_ONE_SIDE = "role_on_one_side"
    DIALOGUES_PART = "dialogues_part"
    ASKED_OTHERWISE = "instruction_not_in_dialogue"
    PICTURE = "picture"
    LABEL_NOT_READ = "label_not_read"
    SUGGESTION = "model_suggestion"


_BOTH, _SPEAKER = "both responses", "a speaker's name before one response alone"
_WORDS: Mapping[SignKind, tuple[str, str]] = {
    SignKind.INSTRUCTION_EMPTY: ("instruction is empty", "instructions are empty"),
    SignKind.INSTRUCTION_JSON: ("instruction is JSON", "instructions are JSON"),
    SignKind.INSTRUCTION_DATE: ("instruction is a date", "instructions are dates"),
    SignKind.INSTRUCTION_HASH: ("instruction is an id or a hash", "instructions are ids or hashes"),
    SignKind.INSTRUCTION_HOLDS_RESPONSES: (f"instruction contains {_BOTH}", f"instructions contain {_BOTH}"),
    SignKind.RESPONSES_EQUAL: ("item has equal responses", "items have equal responses"),
    SignKind.RESPONSE_EMPTY: ("response is empty", "responses are empty"),
    SignKind.RESPONSE_JSON: ("response is a JSON object", "responses are JSON objects"),
    SignKind.RESPONSE_HASH: ("response is an id or a hash", "responses are ids or hashes"),
    SignKind.RESPONSE_VERDICT: ("response reads as a verdict", "responses read as verdicts"),
    SignKind.RESPONSE_LIST: ("response is a list of texts", "responses are lists of texts"),
    SignKind.ROLE_ON_ONE_SIDE: (f"item has {_SPEAKER}", f"items have {_SPEAKER}"),
}
_NEVER_STRONG = (SignKind.RESPONSE_EMPTY, SignKind.DIALOGUES_PART, SignKind.PICTURE, SignKind.RESPONSES_EQUAL)


class ReadingSign(msgspec.Struct, frozen=True):
    """What speaks against a reading. `text`: in words, with an example; `count`: of how many items or values;
    `strong`: whether it is likely that another reading is right.
    """

    kind: SignKind
    text: str
    count: int
    strong: bool = False


class Signs:
    """Counts them item by item."""

    def __init__(self) -> None:
        self._items = 0
        self._counts: Counter[SignKind] = Counter()
        self._examples: dict[SignKind, str] = {}
        # Hashes instead of texts: a repeated instruction is not worth a copy of the dataset.
        self._instructions: Counter[int] = Counter()
        self._most = ""  # the instruction that more than half of the items had when it was met last

    @property
    def uninstructed(self) -> int:
        """How many items have no instruction."""
        return self._counts[SignKind.INSTRUCTION_EMPTY]

    @property
    def repeated(self) -> int:
        """How many instructions, that are no empty ones, occur more than once."""
        return sum(times > 1 for shown, times in self._instructions.items() if shown)

    def count_instructions(self, instructions: Sequence[str]) -> None:
        """Take these in alone: where the columns are a dataset's own, nothing can be read otherwise."""
        shown = [hash(instruction.strip() and instruction) for instruction in instructions]
        self._instructions.update(shown)
        self._counts[SignKind.INSTRUCTION_EMPTY] += shown.count(hash(""))

    def add(self, cells: Mapping[str, str]) -> None:
        """Look at one item, as a dataset stores it."""
        self._items += 1
        instruction = cells.get(INSTRUCTION, "")
        shown = hash(instruction.strip() and instruction)
        self._instructions[shown] += 1
        if 2 * self._instructions[shown] > self._items:
            self._most = instruction
        if not shown:
            self._met(SignKind.INSTRUCTION_EMPTY, cells.get("id", ""))
        self._look_at(instruction, _OF_INSTRUCTIONS)
        one, other = (cells.get(name, "") for name in OUTPUTS)
        if one in instruction and other in instruction and one.strip() and other.strip():
            self._met(SignKind.INSTRUCTION_HOLDS_RESPONSES, instruction, len(one + other) > _LEAST_BOTH)
        self._met(SignKind.RESPONSES_EQUAL, one, one == other)
        for text in (one, other):
            self._met(SignKind.RESPONSE_EMPTY, cells.get("id", ""), not text.strip())
            self._look_at(text, _OF_RESPONSES)
        if bool(_ROLE.match(one)) != bool(_ROLE.match(other)):
            self._met(SignKind.ROLE_ON_ONE_SIDE, one if _ROLE.match(one) else other)

    def _look_at(self, text: str, checks: _Checks) -> None:
        # Nothing else can be found in a long text, and most are that.
        if 0 < len(text) < _LONGEST_MARK or text.lstrip()[:1] in ("[", "{") or "]]" in text[-40:]:
            for kind, fits in checks:
                self._met(kind, text, bool(fits(text)))

    def found(self) -> Iterator[ReadingSign]:
        """All that were met, those that are strong first."""
        made = [self._sign(kind, count) for kind, count in self._counts.items()]
        often = self._instructions[hash(self._most)] if self._most.strip() else 0
        if often > max(_FEW, _SAME * self._items):
            text = f"the instruction of {often:,} of {self._items:,} items is the same: {_short(self._most)}"
            made.append(ReadingSign(SignKind.INSTRUCTION_CONSTANT, text, often, often == self._items))
        yield from sorted(made, key=lambda sign: not sign.strong)

    def _met(self, kind: SignKind, example: str, is_met: bool = True) -> None:
        if is_met:
            self._counts[kind] += 1
            self._examples.setdefault(kind, example)

    def _sign(self, kind: SignKind, count: int) -> ReadingSign:
        of = self._items * (2 if kind.value.startswith("response_") else 1)
        strong = count >= min(_FEW, of) and count > STRONG * of and kind not in _NEVER_STRONG
        said = counted(count, *_WORDS[kind])
        share = f" ({percent(count / of)})" if count < of else " (all)"
        return ReadingSign(kind, f"{said}{share}, such as {_short(self._examples[kind])}", count, strong)


def _is_json(text: str) -> bool:
    if text[:1] + text[-1:] not in ("{}", "[]"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_verdict(text: str) -> bool:
    return bool(_VERDICT.fullmatch(text) or _ENDS_IN_VERDICT.search(text[-40:]))


def is_no_prose(text: str) -> bool:
    """Whether a text is an id, a hash, a date, a verdict, or an object of JSON."""
    text = text.strip()
    is_object = text[:1] == "{" and _is_json(text)
    return is_object or bool(_HASH.fullmatch(text) or _DATE.fullmatch(text)) or _is_verdict(text)


_OF_INSTRUCTIONS: _Checks = (
    (SignKind.INSTRUCTION_JSON, _is_json),
    (SignKind.INSTRUCTION_DATE, _DATE.fullmatch),
    (SignKind.INSTRUCTION_HASH, _HASH.fullmatch),
)
_OF_RESPONSES: _Checks = (
    (SignKind.RESPONSE_JSON, lambda text: text[:1] == "{" and _is_json(text)),
    (SignKind.RESPONSE_LIST, lambda text: text[:1] == "[" and _is_json(text)),
    (SignKind.RESPONSE_HASH, _HASH.fullmatch),
    (SignKind.RESPONSE_VERDICT, _is_verdict),
)


def _short(text: str) -> str:
    return quoted(" ".join(text.split()))
