"""A model's Jinja template rendered, once, with a random mark in place of each message. It may loop for ever,
take all memory or break the interpreter down: so this runs in a child process (engine.models.templates).
"""

import faulthandler
import json
import os
import re
import secrets
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from engine.core.codec import plain
from engine.prompt.conversation import REPLY, SYSTEM, THOUGHT, USER, Frame, UnusableTemplateError
from engine.prompt.reply_starts import note_of_thought, reply_start, thought_around

LONGEST_FRAME = 100_000
"""Characters that a template may write of its own; those of real models write hundreds."""

MARK_START = f"mArk{string.digits}{string.ascii_letters}"
"""How what stands for a message begins: a template that changes any letter or digit always shows it."""

# A day that stays the same: a prompt with today's date could not be repeated tomorrow.
_FIXED_DAY = date(2024, 7, 26)
# What templates call the switch for thinking, off and on.
_SWITCHES = ("enable_thinking", "thinking", "enable_reasoning", "reasoning", "think")
_QUIET: Mapping[str, bool | int] = {**dict.fromkeys(_SWITCHES, False), "thinking_budget": 0}
_CHAIN_OF_THOUGHT: Mapping[str, bool | str] = dict.fromkeys(_SWITCHES, True)
# Also for templates that think only where they are told how much, and for them alone.
_MORE_THOUGHT: Mapping[str, bool | str] = {**_CHAIN_OF_THOUGHT, "reasoning_effort": "high"}
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")  # of a finished reply
_NO_THINK = "/no_think"  # the switch of templates that look for words in the system message
_LONGEST_REASON = 200
# The roles of conversations of which a template shows how it writes turns.
_TALK = (USER, "assistant", USER, "assistant")
_TALKS = (_TALK, (*_TALK, USER), (SYSTEM, *_TALK), (SYSTEM, *_TALK, USER))

_Render = Callable[..., str]


def in_child() -> int:
    """Render what the parent writes to the standard input, and print its answer; the exit code."""
    print(rendering_report(sys.stdin.read()))
    return 0


def rendering_report(request: str) -> str:
    """What the child process answers to a line of JSON; it ends itself where that takes too long."""
    asked = json.loads(request)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        # By a thread that needs nothing of Python: one call may keep the interpreter busy for minutes.
        faulthandler.dump_traceback_later(asked["seconds"], exit=True, file=nowhere)
        try:
            given = (asked[key] for key in ("source", "bos", "eos", "mark_bytes", "with_system"))
            frame = render_frame(*given)
        except UnusableTemplateError as error:
            return json.dumps({"refused": str(error)})
        finally:
            faulthandler.cancel_dump_traceback_later()
    return json.dumps({"frame": plain(frame)})


def render_frame(source: str, bos: str, eos: str, mark_bytes: int = 16, with_system: bool = True) -> Frame:
    """The template's own text around a system and a user message, and how a reply begins. `bos`, `eos`: the
    literals of the tokens that begin and end a text. `mark_bytes`: half the length of what stands for a
    message meanwhile. `with_system`: else around a user message alone, where templates may write a system
    message of their own. UnusableTemplateError where the template fails, or drops or repeats a message.
    """
    refusals = []
    # Templates of models that see images, too, may write nothing of a content that is no list of parts.
    # Gemma 2 and Mistral's first refuse a system message; the user's message carries it then.
    for in_parts, system in product((False, True), (True, False) if with_system else (False,)):
        try:
            return _frame_of(_renderer(source, bos, eos, in_parts), source, mark_bytes, system)
        except UnusableTemplateError as error:
            refusals.append(error)
    raise refusals[with_system]


def _frame_of(render: _Render, source: str, mark_bytes: int, with_system: bool) -> Frame:
    asked = [SYSTEM, USER] if with_system else [USER]
    marks = {slot: _mark(mark_bytes) for slot in (*asked, THOUGHT, REPLY)}
    messages = [{"role": slot, "content": marks[slot]} for slot in asked]
    turns = _turns(render, mark_bytes)
    thinking = _thinking_frame(render, source, list(messages), marks)
    text, switched = _quiet(render, messages)
    slots, (*pieces, prompt) = _cut(text, marks, asked)
    finished = _finished_start(render, messages, marks[slots[-1]], marks[REPLY])
    opens = text != _or_nothing(render, messages=messages, **_QUIET)
    begins, note = reply_start(prompt, finished, switched, opens)
    if thinking and not note and not (switched or _has_switch(render, messages[-1:])):
        note = note_of_thought(begins, *thinking.pieces[-3:-1])
    return Frame(
        (*pieces, begins, ""), (*slots, REPLY), note, thinking and replace(thinking, turns=turns), turns
    )


def _mark(mark_bytes: int) -> str:
    # In small and capital letters, so that one that is changed is noticed.
    return f"{MARK_START}{secrets.token_hex(mark_bytes)}"


def _turns(render: _Render, mark_bytes: int) -> tuple[str, ...]:
    """What the template writes between and after the messages of conversations, as far as it takes them."""
    found: set[str] = set()
    for roles in _TALKS:
        messages = [{"role": role, "content": _mark(mark_bytes)} for role in roles]
        text = _or_nothing(render, messages=messages, add_generation_prompt=roles[-1] == USER, **_QUIET)
        texts = re.split("|".join(message["content"] for message in messages), text)[1:]
        found.update(text for text in texts if MARK_START.casefold() not in text.casefold())
    return tuple(sorted(filter(None, found)))


def _cut(text: str, marks: Mapping[str, str], slots: Sequence[str]) -> tuple[list[str], list[str]]:
    """The slots in the order of their marks in a text, and what stands around these."""
    for slot in slots:
        if text.count(marks[slot]) != 1:
            raise UnusableTemplateError(f"it writes the {slot} message {text.count(marks[slot])} times")
    ordered = sorted(slots, key=lambda slot: text.index(marks[slot]))
    return ordered, re.split("|".join(marks[slot] for slot in ordered), text)


def _thinking_frame(
    render: _Render, source: str, messages: list[dict[str, str]], marks: Mapping[str, str]
) -> Frame | None:
    """The frame of a reply with reasoning before it; None where the template knows no reasoning."""
    asked = [message["role"] for message in messages]
    for switches in (_CHAIN_OF_THOUGHT, _MORE_THOUGHT):
        text = _or_nothing(render, messages=messages, add_generation_prompt=True, **switches)
        try:
            slots, (*pieces, prompt) = _cut(text, marks, asked)
        except UnusableTemplateError:
            return None
        around = thought_around(prompt, source)
        if around is None:
            thought = dict.fromkeys(_THOUGHT_FIELDS, marks[THOUGHT])
            reply = {"role": "assistant", "content": marks[REPLY], **thought}
            text = _or_nothing(render, messages=[*messages, reply], **switches)
            around = _around_written(text, prompt, [marks[slots[-1]], marks[THOUGHT], marks[REPLY]])
        if around:
            return Frame((*pieces, *around, ""), (*slots, THOUGHT, REPLY))
    return None


def _around_written(text: str, prompt: str, marks: Sequence[str]) -> tuple[str, str] | None:
    """What a finished conversation writes before and after the thought of a reply that begins with `prompt`.
    `marks`: of the last message, the thought and the reply. None where it does not write them so.
    """
    if re.findall("|".join(marks), text) != list(marks):
        return None
    _, before, after, _ = re.split("|".join(marks), text)
    longer = max(before, prompt, key=len)
    open_there = longer.startswith(before) and longer.startswith(prompt) and after.strip() not in longer
    return (longer, after) if open_there and after.strip() else None


def _quiet(render: _Render, messages: list[dict[str, str]]) -> tuple[str, bool]:
    """The prompt for a reply without reasoning, and whether there is a switch, as words in `messages` too."""
    try:
        quiet = render(messages=messages, add_generation_prompt=True, **_QUIET)
    except UnusableTemplateError:
        return render(messages=messages, add_generation_prompt=True), False
    if _has_switch(render, messages):
        return quiet, True
    system, *others = messages
    told = [{**system, "content": system["content"] + _NO_THINK}, *others]
    told_quiet = _or_nothing(render, messages=told, add_generation_prompt=True, **_QUIET)
    if told_quiet and told_quiet.replace(_NO_THINK, "") != quiet:
        messages[:] = told
        return told_quiet, True
    return quiet, False


def _has_switch(render: _Render, messages: list[dict[str, str]]) -> bool:
    # No template says that it has a switch: it has one if on and off differ.
    asked = {"messages": messages, "add_generation_prompt": True}
    return _or_nothing(render, **asked, **_QUIET) != _or_nothing(render, **asked, **_CHAIN_OF_THOUGHT)


def _or_nothing(render: _Render, **values: Any) -> str:
    try:
        return render(**values)
    except UnusableTemplateError:
        return ""


def _finished_start(
    render: _Render, messages: Sequence[Mapping[str, str]], last: str, reply: str
) -> str | None:
    """What stands between the `last` mark of a message and a finished `reply`; None without both."""
    try:
        text = render(messages=[*messages, {"role": "assistant", "content": reply}], **_QUIET)
    except UnusableTemplateError:
        return None
    if text.count(last) != 1 or text.count(reply) != 1 or text.index(reply) < text.index(last):
        return None
    return text.split(last)[1].split(reply)[0]


class _GenerationBlock(jinja2.ext.Extension):
    """`{% generation %}` marks what to train on; here its content is simply written."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 asks for a plain set

    def parse(self, parser: Any) -> Any:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _renderer(source: str, bos: str, eos: str, in_parts: bool) -> _Render:
    """`in_parts`: the content of each message is given as a list with one part, its text."""
    # What transformers gives templates, because their authors try them there.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, _GenerationBlock]
    )
    environment.filters["tojson"] = lambda value, ensure_ascii=False, **options: json.dumps(
        value, ensure_ascii=ensure_ascii, **options
    )
    # Their text is another in each run.
    environment.filters["random"] = _refuse_chance
    environment.globals["lipsum"] = _refuse_chance
    known = {
        "bos_token": bos,
        "eos_token": eos,
        "raise_exception": _refuse,
        "strftime_now": _FIXED_DAY.strftime,
    }

    def render(messages: Sequence[Mapping[str, str]], **values: Any) -> str:
        parts = [dict(each, content=[{"type": "text", "text": each["content"]}]) for each in messages]
        told = parts if in_parts else messages
        try:
            text = environment.from_string(source).render(messages=told, **known, **values)
        except UnusableTemplateError:
            raise
        except Exception as error:  # whatever a template raises is its author's error
            raise UnusableTemplateError(_shortened(str(error) or type(error).__name__)) from error
        own = len(text) - sum(len(message["content"]) for message in messages)
        if own > LONGEST_FRAME:
            raise UnusableTemplateError(f"it writes {own:,} characters around two messages")
        if re.search("[\ud800-\udfff]", text):
            raise UnusableTemplateError("it writes half a character, a lone surrogate")
        if in_parts and re.search(rf"text\W+{MARK_START}", text):
            raise UnusableTemplateError("it writes the parts of a message, not their text")
        return text

    return render


def _refuse(message: object = "") -> str:
    raise UnusableTemplateError(_shortened(str(message) or "it refuses, and gives no reason"))


def _refuse_chance(*_values: object, **_options: object) -> str:
    raise UnusableTemplateError("it writes something else each time")


def _shortened(text: str) -> str:
    whole = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return whole if len(whole) <= _LONGEST_REASON else f"{whole[:_LONGEST_REASON]}…"
