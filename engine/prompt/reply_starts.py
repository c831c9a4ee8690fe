"""Where a reply begins: a verdict must not continue reasoning with which a template lets a model begin. Does
not know: models, tokens. What renders a template needs no llama.cpp, whose import takes as long as all else.
"""

import re
from itertools import takewhile

_NAME = r"(?:\w+:)?(?:think|thinking|thought|reasoning)"
_OPENED = re.compile(rf"<{_NAME}>")
_FIELD = re.compile(r"reasoning_content|[.'\"](?:reasoning|thinking)\b")  # of a message
_OPEN_THOUGHT = re.compile(rf"<({_NAME})>\s*$")
# Before and after reasoning, in formats that do not name it by a tag; the first is looked for in templates.
_CHANNELS = (
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel>thought\n", "\n<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
)
_THOUGHT_NAMED = re.compile(rf"</({_NAME})>|\[/(THINK)\]", re.I)
_MARKUP = r"<[^<>\s]*>|\[[^\[\]\s]*\]"
_SYMBOL = re.compile(rf"{_MARKUP}|.", re.DOTALL)  # markup counts as one
_LONGEST_QUOTE = 200


def reply_start(prompt: str, finished: str | None, switched: bool, opens: bool) -> tuple[str, str]:
    """What stands before the first word of a reply, and a note where the model would not have begun so, by
    what a template writes after the last message. `prompt`: for a reply to be written, without reasoning
    where there is a switch for it (`switched`); `finished`: before a finished reply, None where it does not
    write one. `opens`: it writes more than where no reply is asked for.
    """
    if finished is None or finished == prompt:
        return _with_closed_thought(prompt, "")
    if finished.startswith(prompt):
        more, note = finished[len(prompt) :], ""
        if not switched and (thought := _OPEN_THOUGHT.search(prompt)):
            note = _closed(thought[1])
        elif not switched and opens and re.search(_MARKUP, more):
            note = (
                "The model's chat template lets the model begin with reasoning: the verdict is read"
                f" after {_quoted(more)}, with which finished replies begin."
            )
        return _with_closed_thought(finished, note)
    if _OPEN_THOUGHT.search(prompt):
        return _with_closed_thought(prompt, "")
    # How many characters both begin with, markup counted whole.
    symbols = zip(_SYMBOL.findall(prompt), _SYMBOL.findall(finished), strict=False)
    alike = takewhile(lambda pair: pair[0] == pair[1], symbols)
    common = sum(len(symbol) for symbol, _ in alike)
    ours, theirs = prompt[common:], finished[common:]
    if not ours.strip():
        return prompt, ""
    if switched:  # the model was taught to begin so where it does not think
        return (prompt if ours.endswith(theirs) else prompt + theirs), ""
    return _with_closed_thought(
        finished,
        f"The model's chat template lets replies begin with {_quoted(ours)}, unlike its finished replies: the"
        " verdict is read where finished replies begin.",
    )


def may_reason(source: str) -> bool:
    """Whether a template's `source` speaks of reasoning: it is certain once it is rendered."""
    return bool(_OPENED.search(source) or _FIELD.search(source)) or thought_around("", source) is not None


def thought_around(prompt: str, source: str) -> tuple[str, str] | None:
    """What stands before reasoning and after it, where a reply with one begins with `prompt`: the mark that
    the prompt opens, or else one that is closed in the template's `source`. None where no reasoning is known.
    """
    if thought := _OPEN_THOUGHT.search(prompt):
        return prompt, f"\n</{thought[1]}>\n\n"
    for before, after in _CHANNELS:
        # Some of Gemma 4's templates write no thought, and only cut the channel out of replies.
        if before.strip().removesuffix("thought") in source:
            return prompt.removesuffix(before) + before, after
    if named := _THOUGHT_NAMED.search(source):
        opens = f"<{named[1]}>" if named[1] else f"[{named[2]}]"
        return f"{prompt}{opens}\n", f"\n{named[0]}\n\n"
    return None


def note_of_thought(begins: str, before: str, after: str) -> str:
    """Of a template without a switch: `begins` stands before a reply, the others around reasoning."""
    closed_empty = "".join(begins.split()) == "".join(f"{before}{after}".split())
    # Command's templates have marks for a plan to use tools also where their models do not reason.
    if closed_empty or any(after == known[-1] for known in _CHANNELS):
        return ""
    return (
        f"The model's chat template has reasoning, which ends with {_quoted(after)}, and no switch for it is"
        " known: the verdict is read where a reasoning model would begin to reason."
    )


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
