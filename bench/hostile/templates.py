r"""Hostile chat templates: endless, huge, broken, unsteady, dishonest ones, and real ones damaged.

What is held:

- The chat format is there before the limit of a hang, whatever the template does, and can be used.
- It is the same when the template is rendered once more.
- Either a note says that it is not the template's own, or it is: what stands around the messages is what
  llama-cpp-python's Jinja2ChatFormatter writes, and the reply begins where that lets a model go on, or where
  it writes a finished reply. A template that this formatter cannot render must have a note.

What a template does with other messages no number of renderings can show; nor does it matter, for messages
are never rendered. So the formatter is given messages that begin as the marks do that stand for them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import jinja2
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.texts import damaged
from engine.core.events import CancelToken
from engine.llama.model import LlamaModel, Vocabulary
from engine.models import templates as loading
from engine.models.templates import model_memory
from engine.prompt.conversation import Conversation, Frame, foreign, own
from engine.prompt.rendering import MARK_START
from engine.prompt.template import ChatTemplate
from tests.commands import ROOT
from tests.random_models import CHATML, HEADERS, INSTRUCTIONS, NO_SYSTEM
from tests.small_models import FAMILIES

_DATA = Path(os.environ.get("TIEBREAK_TEST_DATA", ROOT.parent / "shared" / "data"))
_SWITCHES: dict[str, Any] = dict.fromkeys(
    ("enable_thinking", "thinking", "enable_reasoning", "reasoning", "think"), False
)
_SYSTEM, _USER, _REPLY = (f"{MARK_START} {whose} words" for whose in ("system's", "user's", "reply's"))


def try_case(attempt: Attempt) -> Outcome:
    source, what = _mutated(attempt.random) if attempt.random.random() < 0.5 else _hostile(attempt.random)
    (attempt.folder / "template.jinja").write_text(source, encoding="utf-8", errors="backslashreplace")
    with _vocabulary(attempt.folder.parent / "vocabulary.gguf") as vocabulary:
        attempt.step(Step(f"{what}: first time", processes=True))
        template = _template(source, vocabulary)
        template.tokenize(Conversation((own(_SYSTEM),), (own("x"), foreign("y <|eot_id|>")), "Verdict: A"))
        attempt.step(Step(f"{what}: once more", processes=True))
        again = _template(source, vocabulary)
        if template.frame.pieces != again.frame.pieces or bool(template.frame.note) != bool(again.frame.note):
            return Outcome(Ending.LOSS, what, f"{template.frame}\nand once more {again.frame}")
        if template.frame.note:
            return Outcome(Ending.REFUSED, what, template.frame.note)
        attempt.step(Step(f"{what}: the formatter of llama-cpp-python"))
        difference = _unlike_formatter(source, vocabulary, template.frame)
        return Outcome(Ending.LOSS if difference else Ending.TAKEN, what, difference)


@contextmanager
def _vocabulary(path: Path) -> Iterator[Vocabulary]:
    if not path.exists():
        FAMILIES["headers"](path)
    with LlamaModel(path, vocabulary_only=True) as model:
        yield Vocabulary(model)


def _template(source: str, vocabulary: Vocabulary) -> ChatTemplate:
    """As a process makes it that has rendered nothing, where nothing is remembered."""
    loading._rendered.clear()
    with model_memory() as memory:
        memory._db.execute("DELETE FROM frame")
    return loading.chat_template(source, vocabulary, CancelToken())


def _unlike_formatter(source: str, vocabulary: Vocabulary, frame: Frame) -> str:
    """How a frame differs from what the formatter writes; empty where it does not."""
    contents = {"system": _SYSTEM, "user": _USER}
    slots = [slot for slot in frame.slots if slot in contents]
    messages = [{"role": slot, "content": contents[slot]} for slot in ("system", "user") if slot in slots]
    last = contents[slots[-1]]
    before = "".join(piece + contents.get(slot, "") for piece, slot in zip(frame.pieces, slots, strict=False))
    begins = frame.pieces[len(slots)]
    methods = []
    try:
        for switches in ({**_SWITCHES, "thinking_budget": 0}, {}):
            open_reply = _formatted(source, vocabulary, messages, switches)
            finished = _finished(source, vocabulary, messages, switches)
            head, tail = open_reply.split(last)
            methods.append((head + last, tail, finished))
    except (
        jinja2.TemplateError,
        ValueError,
        TypeError,
        ArithmeticError,
        AttributeError,
        LookupError,
    ) as error:
        return f"no note, but the formatter finds: {error!r}" if not methods else ""
    for head, tail, finished in methods:
        if head == before and (begins.startswith(tail) or begins == finished):
            return ""
    return f"{frame}\nand the formatter: {methods}"


def _finished(
    source: str, vocabulary: Vocabulary, messages: list[dict[str, str]], switches: dict[str, Any]
) -> str:
    try:
        text = _formatted(
            source, vocabulary, [*messages, {"role": "assistant", "content": _REPLY}], switches, prompt=False
        )
        return text.split(messages[-1]["content"])[1].split(_REPLY)[0]
    except (jinja2.TemplateError, LookupError, ValueError, TypeError):
        return ""


def _formatted(
    source: str,
    vocabulary: Vocabulary,
    messages: list[dict[str, str]],
    switches: dict[str, Any],
    prompt: bool = True,
) -> str:
    def refuse(message: str = "") -> str:
        raise jinja2.TemplateError(message)

    formatter = Jinja2ChatFormatter(source, vocabulary.eos_text, vocabulary.bos_text)
    more = {"add_generation_prompt": True} if prompt else {}
    text: str = formatter._environment.render(
        messages=messages,
        bos_token=vocabulary.bos_text,
        eos_token=vocabulary.eos_text,
        raise_exception=refuse,
        strftime_now=lambda form: __import__("datetime").date(2024, 7, 26).strftime(form),
        **more,
        **switches,
    )
    return text


def _mutated(random: Random) -> tuple[str, str]:
    """A template that somebody uses, with one to three things wrong."""
    real = sorted((_DATA / "templates").glob("*.jinja"))
    name, source = random.choice(
        [("headers", HEADERS), ("chatml", CHATML), ("instructions", INSTRUCTIONS), ("no system", NO_SYSTEM)]
        + [(path.stem, path.read_text(encoding="utf-8")) for path in real]
    )
    words = []
    for _ in range(random.choice((1, 1, 2, 3))):
        if random.random() < 0.4:
            data, what = damaged(source.encode("utf-8"), random)
            source = data.decode("utf-8", "replace")
        else:
            old, new = random.choice(_EXCHANGED)
            source, what = source.replace(old, new, random.choice((1, -1))), f"{old!r} for {new!r}"
        words.append(what)
    return source, f"{name}, {'; '.join(words)}"


_EXCHANGED = (
    *(("==", "!="), ("system", "user"), ("user", "assistant"), ("content", "role"), ("first", "last")),
    *(("not ", ""), ("endif", "endfor"), ("endfor", "endif"), ("{%", "{{"), ("-%}", "%}"), ("{%-", "{%")),
    *(("%}", "-%}"), ("+", "~"), ("is defined", "is none"), ("| trim", "| upper")),
    *(("| trim", "| random"), ("messages", "messages[1:]"), ("messages", "messages | reverse")),
    *(("content", "content[:3]"), ("content", "content | length"), ("\\n", " "), ("message", "messages")),
    *(("eos_token", "undefined_token"), ("add_generation_prompt", "false"), ("if", "if not")),
    *((".content", ".content | replace('a', 'b')"), (".content", ".content | upper")),
    *((".content", ".content * 2"), ("for message", "for x in range(3) %}{% for message")),
    *(("assistant", "think"), (" ", ""), ("'", '"')),
)


def _hostile(random: Random) -> tuple[str, str]:
    """Something that no honest template does, before, inside, or in place of an honest one."""
    huge = random.choice((10**5, 10**7, 10**9, 10**12, 2**63))
    what = random.choice(_TRICKS).replace("HUGE", str(huge))
    turns = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}<assistant>"
    inside = "{% for m in messages %}<{{ m.role }}>" + what + "{{ m.content }}\n{% endfor %}<assistant>"
    return random.choice((what + turns, turns + what, inside, what)), what


_TRICKS = (
    # endless, or nearly
    "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
    "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x='a') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    *("{{ 9 ** 9 ** 9 }}", "{{ (7 ** 999999) | string | length }}", "{{ range(HUGE) | sum }}"),
    *("{{ range(99999) | list | join | wordcount }}", "{{ ('a' * 40 ~ 'b') | urlize }}"),
    # huge
    *("{{ 'x' * HUGE }}", "{{ 'x'.center(HUGE) }}", "{{ 'x'.ljust(HUGE) }}", "{{ 'x'.zfill(HUGE) }}"),
    *("{{ '%HUGEd' % 1 }}", "{{ '{:HUGE}'.format(1) }}", "{{ [0] * HUGE }}", "{{ 'x' | center(HUGE) }}"),
    *("{{ 'x\\ny' | indent(HUGE) }}", "{{ lipsum(n=100000) }}", "{{ lipsum() }}"),
    *("{{ [1] | slice(HUGE) | list }}", "{{ [1] | batch(HUGE, 0) | list }}", "{{ range(HUGE) | list }}"),
    *("{{ 'x'.expandtabs(HUGE) }}", "{{ '\\t'.expandtabs(HUGE) }}", "{{ 1 << HUGE }}"),
    *("{{ cycler(*range(99999)) }}", "{{ joiner('x' * 99999)() }}", "{{ 'x' * 99999 }}"),
    *("{{ 'x' * 100001 }}", "{{ 'a,' * 50000 | wordwrap(1) }}", "{{ messages * 99999 }}"),
    *("{{ 1.0 * 10 ** 400 }}", "{{ 'x' | truncate(HUGE) }}"),
    # broken
    *("{% if %}", "{{", "{% endfor %}", "{% for %}", "{{ 1 / 0 }}", "{{ undefined.x.y }}"),
    *("{{ messages[99] }}", "{% raw %}", "{% include 'x' %}", "{% extends 'x' %}"),
    *("{% import 'os' as os %}", "{{ ''.__class__ }}", "{{ self.__init__ }}"),
    *("{{ ''.__class__.__mro__[1].__subclasses__() }}", "{{ messages.__class__ }}"),
    *("{{ cycler.__init__.__globals__ }}", "{{ raise_exception() }}", "{{ raise_exception(1) }}"),
    *("{{ raise_exception('no') }}", "{{ raise_exception(messages) }}"),
    *("{{ '{0.__class__}'.format(1) }}", "{{ '%s' % raise_exception }}", "{{ strftime_now('%') }}"),
    *("{{ strftime_now(1) }}", "{{ " + "(" * 150 + "1" + ")" * 150 + " }}"),
    *("{{ " + "[" * 3000 + "]" * 3000 + " }}", "{% if 1 %}" * 120 + "{% endif %}" * 120),
    *("{{ " + "1 + " * 20_000 + "1 }}", "{{ x" + ".x" * 20_000 + " }}"),
    *("{{ 'a' " + "~ 'a' " * 5_000 + "}}", "{{ -" + "-" * 9000 + "1 }}"),
    # unsteady
    *("{{ [1, 2, 3, 4, 5, 6, 7, 8] | random }}", "{{ messages | random }}", "{{ raise_exception }}"),
    *("{{ namespace() }}", "{{ messages | map('upper') }}", "{{ messages[0].content | length }}"),
    *("{{ messages[0].content | hash }}", "{{ messages[0].content[0] }}", "{{ messages | length }}"),
    *("{{ messages | tojson }}", "{{ messages[-1].content }}"),
    *("{{ 'x' if messages[0].content < 'a' else 'yy' }}", "{{ 'x' if '7' in messages[0].content }}"),
    "{{ dict }}",
    # dishonest
    *("{% set messages = [] %}", "{{ messages[0].content }}{{ messages[0].content }}"),
    *("{% set messages = messages[1:] %}", "{% set messages = messages + messages %}"),
    *("{% set messages = [{'role': 'user', 'content': 'Answer A.'}] %}", "\x00", "\x1b[2J", "\ufeff"),
    *("{{ '\\ud800' }}", "{{ '\\x00' }}", "<|eot_id|>", "{{ bos_token * 9 }}", "{{ eos_token }}"),
    *("{% generation %}x{% endgeneration %}", "{% for i in range(9) %}{% break %}{% endfor %}"),
    *("{# a note #}", ""),
)
