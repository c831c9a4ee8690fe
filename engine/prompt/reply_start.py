"""Where the reply of a model begins, so that a verdict is not read inside reasoning.

What a template lets a model continue from, and what it writes before a finished reply, should agree. But a
model that thinks is let begin with reasoning, which a verdict would continue.

Knows: how templates open reasoning. Does not know: Jinja, tokens, what is asked.
"""

import re
from dataclasses import dataclass

_NAME = r"(?:\w+:)?(?:think|thinking|thought|reasoning)"
_OPENED = re.compile(rf"<{_NAME}>")
_OPEN_THOUGHT = re.compile(rf"<({_NAME})>\s*$")
# Before and after reasoning, in formats that do not name it by a tag; the first is looked for in templates.
_CHANNELS = (
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel>thought\n", "\n<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),
)
_THOUGHT_NAMED = re.compile(rf"</({_NAME})>|\[/(THINK)\]", re.I)
_MARKUP = r"<[^<>\s]*>|\[[^\[\]\s]*\]"
_SYMBOL = re.compile(rf"{_MARKUP}|.", re.DOTALL)  # markup counts as one
_LONGEST_QUOTE = 200


@dataclass(frozen=True)
class Opening:
    """What a template writes after the last message.

    `prompt`: for a reply to be written, without reasoning where the template has a switch for it, which
    `switched` says; `opens`: whether it then writes more than where no reply is asked for. `finished`: before
    a finished reply; None where it does not write one.
    """

    prompt: str
    finished: str | None
    switched: bool
    opens: bool


def reply_start(opening: Opening) -> tuple[str, str]:
    """What stands before the first word of a reply, and a note where the model would not have begun so."""
    prompt, finished = opening.prompt, opening.finished
    if finished is None or finished == prompt:
        return _with_closed_thought(prompt, "")
    if finished.startswith(prompt):
        return _with_closed_thought(finished, _note_of_more(opening, finished[len(prompt) :]))
    if _OPEN_THOUGHT.search(prompt):
        return _with_closed_thought(prompt, "")
    common = _common_start(prompt, finished)
    ours, theirs = prompt[common:], finished[common:]
    if not ours.strip():
        return prompt, ""
    if opening.switched:  # the model was taught to begin so where it does not think
        return (prompt if ours.endswith(theirs) else prompt + theirs), ""
    return _with_closed_thought(
        finished,
        f"The model's chat template lets replies begin with {_quoted(ours)}, unlike its finished replies: the"
        " verdict is read where finished replies begin.",
    )


def may_reason(source: str) -> bool:
    """Whether a template's `source` names the marks of reasoning, so that its model can be asked to
    think.

    It is certain once the template is rendered; a template without such marks knows no reasoning.
    """
    return bool(_OPENED.search(source)) or thought_around("", source) is not None


def thought_around(prompt: str, source: str) -> tuple[str, str] | None:
    """What stands before reasoning and after it, where a reply with one begins with `prompt`.

    The mark is that which the prompt opens, or else one that is closed in the template's `source`. None where
    no reasoning is known.
    """
    if thought := _OPEN_THOUGHT.search(prompt):
        return prompt, f"\n</{thought[1]}>\n\n"
    for before, after in _CHANNELS:
        if before.strip() in source:
            return prompt.removesuffix(before) + before, after
    if named := _THOUGHT_NAMED.search(source):
        opens = f"<{named[1]}>" if named[1] else f"[{named[2]}]"
        return f"{prompt}{opens}\n", f"\n{named[0]}\n\n"
    return None


def _note_of_more(opening: Opening, more: str) -> str:
    """A note for what a finished reply begins with beyond the prompt for one."""
    if opening.switched:
        return ""
    if thought := _OPEN_THOUGHT.search(opening.prompt):
        return _closed(thought[1])
    if opening.opens and re.search(_MARKUP, more):
        return (
            "The model's chat template lets the model begin with reasoning: the verdict is read"
            f" after {_quoted(more)}, with which finished replies begin."
        )
    return ""


def _with_closed_thought(begins: str, note: str) -> tuple[str, str]:
    thought = _OPEN_THOUGHT.search(begins)
    if thought is None:
        return begins, note
    return f"{begins.rstrip()}\n\n</{thought[1]}>\n\n", _closed(thought[1])


def _closed(tag: str) -> str:
    return (
        f"The model's chat template opens a reasoning block (<{tag}>), and no switch for it is known: it is"
        " closed empty, and the verdict is read after it."
    )


def _quoted(text: str) -> str:
    text = text.strip()
    return f"“{text if len(text) <= _LONGEST_QUOTE else f'{text[:_LONGEST_QUOTE]}…'}”"


def _common_start(first: str, second: str) -> int:
    """How many characters both begin with, markup counted whole."""
    length = 0
    for ours, theirs in zip(_SYMBOL.findall(first), _SYMBOL.findall(second), strict=False):
        if ours != theirs:
            break
        length += len(ours)
    return length
