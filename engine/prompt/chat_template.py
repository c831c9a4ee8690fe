"""A conversation in the model's own chat format, as token ids.

The model's Jinja template is rendered once, with a random mark in place of each message. Control tokens
are then recognised only in what the template itself wrote; messages are tokenized as plain text. So no
text of a dataset can end a turn or open another. Where a template writes its turns as ordinary text
(`[INST]`), that text is made harmless in foreign parts by a space after its first character.

Knows: Jinja, turns, special tokens. Does not know: what is asked, datasets, llama.cpp's calls.
"""

import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.llama.vocabulary import SpecialToken, Vocabulary
from engine.prompt.parts import Conversation, Part, own

PLAIN_TEMPLATE = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}"

# How templates write turns where they use no control tokens: [INST], <<SYS>>, <user>, ### Response:, USER:
_ROLES = "system|user|human|assistant|instruction|input|response|question|answer|model|gpt"
_TURN_TEXT = re.compile(
    rf"\[/?[A-Z_]+\]|<</?[A-Z]+>>|</?[|｜]?[A-Za-z_▁]+[|｜]?>|(?:\#+\ *)?\b(?:{_ROLES})\b\ ?:", re.I
)
# User-defined tokens are recognised in any text. Those that hold anything but words and white space are
# structure: turns, tools, thoughts, markup.
_NO_WORDS = re.compile(r"[^\w\s▁]")
_MOST_ROUNDS = 8  # of breaking literals, for what is left of one may be another
# A day that stays the same: a prompt with today's date could not be repeated tomorrow.
_FIXED_DAY = date(2024, 7, 26)
_OPEN_THOUGHT = re.compile(r"<think>\s*$")
_SYSTEM, _USER, _REPLY = "system", "user", "reply"
_C_SPACE = " \t\n\v\f\r"
# What a template's expressions can raise: its author's errors, never ours.
_TEMPLATE_FAILURES = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class _Frame:
    """A rendered template: its own text, with the names of the messages where they belong."""

    pieces: tuple[str, ...]
    slots: tuple[str, ...]  # slots[i] stands between pieces[i] and pieces[i + 1]


class UnusableTemplateError(Exception):
    """A template that does not do what a chat template must; the plain format is used instead."""


class ChatTemplate:
    """Turns conversations into token ids for one model.

    `source` is the template in use. `note` says why it is plain text and not the model's own, and is empty
    where it is its own; `merges_system` is true where the template knows no system message and the user's
    message carries it.
    """

    def __init__(self, source: str | None, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.note = ""
        if source is None:
            self.note = "The model has no chat template: plain text is used."
        try:
            self._frame = _render_frame(source or PLAIN_TEMPLATE, vocabulary)
        except UnusableTemplateError as error:
            self.note = f"The model's chat template cannot be used ({error}): plain text is used."
            source = None
            self._frame = _render_frame(PLAIN_TEMPLATE, vocabulary)
        self.source = source or PLAIN_TEMPLATE
        self.merges_system = _SYSTEM not in self._frame.slots
        self._harmful = _harmful_text(self._frame, vocabulary.special_tokens)
        self._pieces = [_split_at_control(piece, vocabulary.special_tokens) for piece in self._frame.pieces]
        self._tokenize_run = lru_cache(maxsize=64)(self._tokenize_plain)

    def tokenize(self, conversation: Conversation) -> list[int]:
        """Token ids of the whole conversation, up to where the model goes on writing the reply."""
        ids: list[int] = []
        for run in self._runs(conversation):
            ids.extend([run.id] if isinstance(run, SpecialToken) else self._tokenize_run(run))
        bos = self._vocabulary.bos
        if self._vocabulary.wants_bos and bos is not None and ids[:1] != [bos]:
            ids.insert(0, bos)
        return ids

    def _contents(self, conversation: Conversation) -> dict[str, Sequence[Part]]:
        user: Sequence[Part] = conversation.user
        if self.merges_system:
            user = (*conversation.system, own("\n\n"), *conversation.user)
        return {_SYSTEM: conversation.system, _USER: user, _REPLY: (own(conversation.reply),)}

    def _message(self, parts: Sequence[Part]) -> str:
        text = "".join(self._harmless(part.text) if part.foreign else part.text for part in parts)
        return text.strip()

    def _harmless(self, text: str) -> str:
        if self._harmful is None:
            return text
        for _ in range(_MOST_ROUNDS):
            broken = self._harmful.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text)
            if broken == text:
                break
            text = broken
        return text

    def _runs(self, conversation: Conversation) -> Iterator[str | SpecialToken]:
        """Control tokens of the template, and between them all plain text in one run each.

        The white space that a control token strips is taken from its neighbours.
        """
        contents = self._contents(conversation)
        runs: list[str | SpecialToken] = [""]
        for index, piece in enumerate(self._pieces):
            for run in piece:
                _append(runs, run)
            if index < len(self._frame.slots):
                _append(runs, self._message(contents[self._frame.slots[index]]))
        for index, run in enumerate(runs):
            if isinstance(run, SpecialToken):
                yield run
                continue
            text = run
            before = runs[index - 1] if index else None
            after = runs[index + 1] if index + 1 < len(runs) else None
            if isinstance(before, SpecialToken) and before.strips_right:
                text = text.lstrip(_C_SPACE)
            if isinstance(after, SpecialToken) and after.strips_left:
                text = text.rstrip(_C_SPACE)
            if text:
                yield text

    def _tokenize_plain(self, text: str) -> list[int]:
        return self._vocabulary.tokenize(text, parse_special=False)


def _append(runs: list[str | SpecialToken], run: str | SpecialToken) -> None:
    last = runs[-1]
    if isinstance(run, str) and isinstance(last, str):
        runs[-1] = last + run
    else:
        runs.append(run)


def _split_at_control(text: str, special_tokens: Sequence[SpecialToken]) -> list[str | SpecialToken]:
    """The text cut at control tokens, the longest literal first, as llama.cpp does it."""
    runs: list[str | SpecialToken] = [text]
    for token in special_tokens:
        if not token.control or token.text not in text:
            continue
        cut: list[str | SpecialToken] = []
        for run in runs:
            if isinstance(run, SpecialToken):
                cut.append(run)
                continue
            first, *rest = run.split(token.text)
            cut.append(first)
            for piece in rest:
                cut += [token, piece]
        runs = cut
    return [run for run in runs if run != ""]


def _harmful_text(frame: _Frame, special_tokens: Sequence[SpecialToken]) -> re.Pattern[str] | None:
    """What foreign text must not say: turns written as plain text, and structure that any text can write.

    Control tokens are not among them: they are not recognised in messages at all.
    """
    rendered = "".join(frame.pieces)
    literals = {
        token.text
        for token in special_tokens
        if not token.control
        and len(token.text) > 1
        and token.text.strip()
        and (token.text in rendered or _NO_WORDS.search(token.text))
    }
    for run in _split_at_control(rendered, special_tokens):
        if isinstance(run, str):
            literals.update(_TURN_TEXT.findall(run))
    if not literals:
        return None
    return re.compile("|".join(re.escape(text) for text in sorted(literals, key=len, reverse=True)))


def _render_frame(source: str, vocabulary: Vocabulary) -> _Frame:
    """The template's own text around a system and a user message, and how a reply begins.

    Raises UnusableTemplateError where the template fails, drops or repeats a message.
    """
    render = _renderer(source, vocabulary)
    try:
        return _frame_of(render, with_system=True)
    except UnusableTemplateError:
        return _frame_of(render, with_system=False)


def _frame_of(render: Callable[..., str], with_system: bool) -> _Frame:
    marks = {name: secrets.token_hex(16) for name in (_SYSTEM, _USER, _REPLY)}
    messages = [{"role": "user", "content": marks[_USER]}]
    slots = [_USER]
    if with_system:
        messages.insert(0, {"role": "system", "content": marks[_SYSTEM]})
        slots.insert(0, _SYSTEM)
    text = render(messages=messages, add_generation_prompt=True)
    spoken = _spoken_start(render, messages, marks[_REPLY])
    if spoken.startswith(text):
        text = spoken
    if _OPEN_THOUGHT.search(text):
        text = text.rstrip() + "\n\n</think>\n\n"
    for slot in slots:
        if text.count(marks[slot]) != 1:
            raise UnusableTemplateError(f"it writes the {slot} message {text.count(marks[slot])} times")
    slots.sort(key=lambda slot: text.index(marks[slot]))
    pieces = re.split("|".join(marks[slot] for slot in slots), text)
    return _Frame(pieces=(*pieces, ""), slots=(*slots, _REPLY))


def _spoken_start(render: Callable[..., str], messages: list[dict[str, str]], mark: str) -> str:
    """The conversation up to the first word of a reply, as the template writes a finished one.

    It may hold more than the generation prompt does: a space, or a thought closed empty.
    """
    try:
        spoken = render(messages=[*messages, {"role": "assistant", "content": mark}])
    except UnusableTemplateError:
        return ""
    return spoken.split(mark)[0] if spoken.count(mark) == 1 else ""


class _GenerationBlock(jinja2.ext.Extension):
    """`{% generation %}` marks what to train on; here its content is simply written."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 asks for a plain set

    def parse(self, parser: Any) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _renderer(source: str, vocabulary: Vocabulary) -> Callable[..., str]:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[jinja2.ext.loopcontrols, _GenerationBlock],
    )
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(
        value, ensure_ascii=False, indent=indent
    )

    def refuse(message: str) -> str:
        raise jinja2.TemplateError(message)

    known = {
        "bos_token": vocabulary.bos_text,
        "eos_token": vocabulary.eos_text,
        "raise_exception": refuse,
        "enable_thinking": False,
        "strftime_now": _FIXED_DAY.strftime,
    }

    def render(**values: Any) -> str:
        try:
            return environment.from_string(source).render(**known, **values)
        except _TEMPLATE_FAILURES as error:
            raise UnusableTemplateError(str(error) or type(error).__name__) from error

    return render
