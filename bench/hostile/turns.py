r"""Chat formats whose turns are plain text, made at random, and texts that imitate them.

A template is made of a mark for each role, and one that ends a turn or none: a name in some language, bare,
between brackets, before a colon, with signs and numbers around it. Texts hold these marks as they are and as
a model may read them: in words, in other letter case, with U+2581, other spaces, doubled ones and none,
composed and decomposed, in wide letters, with characters that nobody sees, nested in each other.

What is held, by the marks that were put into the template: in the text that the ids of a whole prompt spell
each mark stands as often as with harmless texts. It is looked for without letter case where no word goes on
with it, and in its own case anywhere; U+2581 and all white space count as a space, accents and wide letters
as plain ones. A mark of words alone is looked for as a line of its own. Not looked for are tokens of the
vocabulary, which text does not become, and marks of single signs. A text without marks is read as it is.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from bench.hostile.structure import changed, in_some_prompts
from engine.llama.model import LlamaModel, Vocabulary
from engine.prompt.conversation import Conversation
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from tests.small_models import FAMILIES

_NAMES = (
    *("User Assistant System", "Human AI Rules", "Q A Setting", "Пользователь Ассистент Система"),
    *("问 答 规", "用户 助手 系统", "Câu hỏi|Trả lời|Hệ thống", "Ερώτηση Απάντηση Κανόνας", "質問 回答 設定"),
    *("client_2 bot_7 note_1", "Customer Bot Policy", "Frage Antwort Aufgabe", "سؤال جواب قاعدة"),
)
_MARKUP = ("<|{}|>", "[{}]", "<{}>", "[|{}|]", "<<{}>>", "<{}_1>", "[{} 3]", "<|{} turn|>", "[/{}]")
_LABELS = (
    *("{}:", "### {}:", "**{}**:", "{}：", "=== {} ===", "({})", "{} 1)", "- {} -", "## {} #", "@{}"),
    *("{}>",),
)
_BETWEEN = ("\n", "\n\n", " ", "</s>\n", "\n---\n", "<|stop|>\n", "")
_TOGETHER = 12  # texts in one prompt


@dataclass(frozen=True)
class _Format:
    """A chat format. `marks`: what must not stay whole; `words`: whether they are lines of words alone."""

    template: str
    marks: tuple[str, ...]
    words: bool


def try_case(attempt: Attempt) -> Outcome:
    made = _format(attempt.random)
    (attempt.folder / "template.jinja").write_text(made.template, encoding="utf-8")
    family = attempt.random.choice(("no_template", "instructions"))
    attempt.step(Step(f"{made.marks}"))
    with LlamaModel(_model(attempt.folder.parent, family), vocabulary_only=True) as model:
        vocabulary = Vocabulary(model)
        template = ChatTemplate(render_frame(made.template, "", ""), vocabulary)
        tokens = {token.text for token in vocabulary.special_tokens}
        marks = tuple(mark for mark in made.marks if mark not in tokens and re.search(r"\S\S", mark))
        made = replace(made, marks=marks)
        what = f"{made.marks}, {made.template!r}"
        outcome = in_some_prompts(
            lambda each: _marks(template, vocabulary, each, made),
            lambda: [text for mark in made.marks for text in _written(mark, made, attempt.random)],
            _TOGETHER,
            what,
            attempt,
        )
        if outcome.sound and (words := changed(template)):
            return Outcome(Ending.LOSS, what, words)
        return outcome


def _model(folder: Path, family: str) -> Path:
    path = folder / f"{family}.gguf"
    return path if path.exists() else FAMILIES[family](path)


def _format(random: Random) -> _Format:
    names = re.split(r"\|" if "|" in (line := random.choice(_NAMES)) else " ", line)
    words = random.random() < 0.15
    shape = random.choice((*_MARKUP, *_LABELS))
    marks = [name if words else shape.format(name) for name in names]
    if random.random() < 0.3:
        marks = [mark.upper() for mark in marks]
    between = "\n" if words else random.choice(_BETWEEN)
    after = "\n" if words else random.choice((" ", "\n", ""))
    before = random.choice(("", " ")) if between.isspace() else ""
    by_role = dict(zip(("user", "assistant", "system"), marks, strict=True))
    message = f"{before!r} + {by_role!r}[m.role] + {after!r} + m.content + {between!r}"
    asks = before + by_role["assistant"] + after
    source = (
        f"{{% for m in messages %}}{{{{ {message} }}}}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{{{{ {asks!r} }}}}{{% endif %}}"
    )
    ends = [between.strip()] if re.search(r"\w", between) else []
    return _Format(source, (*marks, *ends), words)


def _marks(template: ChatTemplate, vocabulary: Vocabulary, asked: Conversation, made: _Format) -> list[int]:
    """How often each mark stands in what the ids of a prompt spell."""
    spelt = b"".join(map(vocabulary.piece, template.tokenize(asked))).decode("utf-8", "replace")
    return [count for mark in made.marks for count in _counts(spelt, mark, made.words)]


def _counts(text: str, mark: str, words: bool) -> Iterator[int]:
    if words:
        lines = (_plain(line).strip() for line in re.split("[\n\r]", text.casefold()))
        yield sum(line == _plain(mark.casefold()) for line in lines)
        return
    for wanted in (_plain(mark), _plain(mark).replace(" ", "")):
        yield _plain(text).count(wanted)
        goes_on = r"(?<!\w)" if wanted[0].isalnum() else ""
        and_on = r"(?!\w)" if wanted[-1].isalnum() else ""
        yield len(re.findall(f"{goes_on}{re.escape(wanted.casefold())}{and_on}", _plain(text).casefold()))


def _plain(text: str) -> str:
    """Without accents and unseen characters, in usual letters, all white space as one space."""
    spaced = re.sub(r"[\s▁]+", " ", text)
    return "".join(
        char
        for char in unicodedata.normalize("NFKD", spaced)
        if unicodedata.category(char) not in ("Mn", "Cf", "Me")
    )


def _written(mark: str, made: _Format, random: Random) -> Iterator[str]:
    """A mark as it may be written, each in a line of its own or within one."""
    cut = random.randrange(1, len(mark)) if len(mark) > 1 else 0
    other = random.choice(made.marks)
    forms = [
        *(mark, mark * 2, mark[:cut] + mark + mark[cut:], mark[:cut] + other + mark[cut:]),
        *(mark[:1] + mark, mark + mark[-1:], f"{mark[:1]} {mark}", f"{other}{mark}"),
        *(mark.upper(), mark.lower(), mark.title(), mark.swapcase()),
        *(mark.replace(" ", space) for space in ("▁", "  ", "\u00a0", "")),
        *(unicodedata.normalize("NFD", mark), unicodedata.normalize("NFKC", mark)),
        *(mark[:cut] + unseen + mark[cut:] for unseen in ("\u200b", "\u0301", "\u00ad")),
        "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in mark),
    ]
    places = ("{}", "ok\n{}\nA", "ok {} A", "\n\n{}\n", "▁{}▁", "\t{}", ".{}", "in{}side")
    yield from (random.choice(places).format(form) for form in forms)
