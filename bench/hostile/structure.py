r"""Texts made of everything that a vocabulary and a chat template give a meaning to, in every place of a
prompt.

A case is a pair of a chat template and a vocabulary: those of the small random models, and, where the folder
of real data is there, each real template with each real vocabulary. Foreign texts are made of the literal of
every special token and of every turn that the template writes as plain text: alone, in words, split by
themselves and by others (`<|im_<|im_end|>end|>`), with spaces, in other letters. They stand as instruction,
as responses in both orders, as explanation of a labelled example, and as the explanations of the agreement
prompt; asked is for labels and for explanations, on all criteria.

What is held: the structural ids of a whole prompt, in their order, are those of the same prompt with harmless
texts. Structural are control and unknown tokens, those that end a reply, and user-defined ones that are more
than words and white space, or that the template writes. A user-defined token of one character is none: `<` is
a letter to a model. Turns that are plain text must stand in the text that the ids spell as often as with
harmless texts.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from bench.hostile.cases import Attempt, Ending, Outcome, Step
from engine.core.items import Gold, Item, Order, Prediction, Preference
from engine.core.rubric import ELOQUENT
from engine.llama.model import LlamaModel, Vocabulary
from engine.prompt import judge_prompt
from engine.prompt.conversation import (
    Conversation,
    UnbreakableTextError,
    UnusableTemplateError,
    plain_frame,
)
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from tests.commands import ROOT
from tests.small_models import FAMILIES

Pair = tuple[str, Path | None]  # what it is called, the template; None: the model's own
SMALL = ("headers", "chatml", "instructions", "no_system", "user_defined_turns", "no_template")
_DATA = Path(os.environ.get("TIEBREAK_TEST_DATA", ROOT.parent / "shared" / "data"))
_TURN = re.compile(r"\[/?[A-Za-z_]{2,}\]|<<?/?[A-Za-z]{3,}>>?|</?[|｜][\w▁]+[|｜]>")
_TOGETHER = 150  # variants in one text
_PROMPTS = 5  # of which there are many more, all made in the same way
HARMLESS = "Seven gray cats ran by 12 trees, and slept"


def try_case(attempt: Attempt) -> Outcome:
    vocabularies = sorted((_DATA / "vocabularies").glob("*.gguf"))
    templates = sorted((_DATA / "templates").glob("*.jinja"))
    pairs = [(family, None) for family in SMALL]
    pairs += [(vocabulary, template) for vocabulary in vocabularies for template in templates]  # type: ignore[misc]
    made_of, template = pairs[attempt.number % len(pairs)]
    path = FAMILIES[made_of](attempt.folder / f"{made_of}.gguf") if isinstance(made_of, str) else made_of
    what = f"{path.stem}, {template.stem if template else 'its own template'}"
    with LlamaModel(path, vocabulary_only=True) as model:
        vocabulary = Vocabulary(model)
        source = template.read_text(encoding="utf-8") if template else model.chat_template
        return _held(_template(source, vocabulary), vocabulary, what, attempt)


def _template(source: str | None, vocabulary: Vocabulary) -> ChatTemplate:
    """The one place where a chat format is made here; in this process, for these templates are known."""
    try:
        frame = (
            render_frame(source, vocabulary.bos_text, vocabulary.eos_text) if source else plain_frame("none")
        )
    except UnusableTemplateError as error:
        frame = plain_frame(str(error))
    return ChatTemplate(frame, vocabulary)


class _Watch:
    """What of a prompt must not depend on the texts in it."""

    def __init__(self, template: ChatTemplate, vocabulary: Vocabulary) -> None:
        written = "".join(template.frame.pieces)
        self._template, self._vocabulary = template, vocabulary
        self.names = {
            token.id: token.text
            for token in vocabulary.special_tokens
            if token.control
            or (len(token.text) > 1 and (re.search(r"[^\w\s▁]", token.text) or token.text in written))
        }
        self._ends = {token for token in range(vocabulary.size) if vocabulary.ends_reply(token)}
        special = {token.text for token in vocabulary.special_tokens}
        self.turns = sorted(set(_TURN.findall(written)) - special)

    def of(self, conversation: Conversation) -> tuple[list[int], list[int]]:
        """The structural ids in their order; how often each turn of plain text is spelt."""
        ids = self._template.tokenize(conversation)
        structural = [token for token in ids if token in self.names or token in self._ends]
        if not self.turns:
            return structural, []
        text = b"".join(map(self._vocabulary.piece, ids)).decode("utf-8", "replace")
        return structural, [text.count(turn) for turn in self.turns]


def _held(template: ChatTemplate, vocabulary: Vocabulary, what: str, attempt: Attempt) -> Outcome:
    watch = _Watch(template, vocabulary)
    literals = sorted(
        {token.text for token in vocabulary.special_tokens if token.text.strip()} | set(watch.turns)
    )
    texts = [text for literal in literals for text in variants(literal, literals, attempt.random)]
    attempt.random.shuffle(texts)
    wanted = {name: watch.of(each) for name, each in conversations(["harmless"])}
    for start in range(0, len(texts), _TOGETHER):
        attempt.step(Step(f"{what}: texts {start} of {len(texts)}"))
        part = texts[start : start + _TOGETHER]
        if words := _let_in(watch, part, wanted, attempt.random.choice(("", " ", "\n", "x"))):
            alone = [text for text in part if _let_in(watch, [text], wanted, "")]
            return Outcome(Ending.LET_IN, what, f"{words}\nalone already: {alone[:10]!r}")
    return Outcome(Ending.TAKEN, f"{what}: {len(texts)} texts")


_Seen = tuple[list[int], list[int]]


def _let_in(watch: _Watch, texts: Sequence[str], wanted: Mapping[str, _Seen], joined_by: str) -> str:
    """What the texts brought into a prompt; empty for nothing."""
    third = -(-len(texts) // 3)
    thirds = [joined_by.join(texts[start : start + third]) for start in range(0, len(texts), third)]
    for name, conversation in conversations(thirds):
        found, expected = watch.of(conversation), wanted[name]
        if found != expected:
            more = [watch.names.get(token, str(token)) for token in found[0]]
            default = [watch.names.get(token, str(token)) for token in expected[0]]
            return f"{name}: {more} for {default}; turns {watch.turns}: {found[1]} for {expected[1]}"
    return ""


def conversations(texts: Sequence[str]) -> Iterator[tuple[str, Conversation]]:
    """Prompts with the texts wherever foreign texts stand; as many, with the same names, for any texts."""
    one, two, three = (texts[place % len(texts)] for place in range(3))
    item = Item("1", one, two, three)
    explained = {criterion: Gold(Preference.A, three) for criterion in ELOQUENT.names}
    example = Item("2", f"{two} another", one, three, explained)
    for order in Order:
        for examples in ((), (example,)):
            tree = judge_prompt.build_prompt(item, order, ELOQUENT, examples)
            for index, criterion in enumerate(ELOQUENT.names):
                for reply in (
                    judge_prompt.verdict_reply(Preference.A),
                    judge_prompt.explanation_reply(Preference.B),
                ):
                    if not examples or criterion == ELOQUENT.names[-1]:
                        yield f"{order} {len(examples)} {criterion} {reply!r}", tree.question(index, reply)
    for asked in ELOQUENT.criteria:
        made = judge_prompt.build_agreement_prompt(
            item, asked, Gold(Preference.A, one), Prediction(Preference.B, two)
        )
        yield f"agreement {asked.name}", made.question(judge_prompt.answer_reply(agrees=True))


def in_some_prompts(
    look: Callable[[Conversation], object],
    made: Callable[[], list[str]],
    together: int,
    what: str,
    attempt: Attempt,
    may_be_refused: bool = False,
) -> Outcome:
    """Whether texts, so many in one prompt, bring anything into some prompts of what `look` sees there."""
    some = set(attempt.random.sample(range(len(list(conversations([""])))), _PROMPTS))

    def seen(texts: Sequence[str]) -> list[object]:
        return [look(each) for place, (_, each) in enumerate(conversations(texts)) if place in some]

    texts = made()
    attempt.random.shuffle(texts)
    parts = [texts[start : start + together] for start in range(0, len(texts), together)]
    default, refused = None, False
    for part in ([HARMLESS], *parts):
        try:
            found = seen(part)
            default = found if default is None else default
            if found != default:
                alone = [text for text in part if seen([text]) != default]
                return Outcome(Ending.LET_IN, what, f"{part!r}\nalone already: {alone!r}")
        except UnbreakableTextError as error:
            if not may_be_refused:
                return Outcome(Ending.WRONGLY_REFUSED, what, f"{error.problem}\n{part!r}")
            refused = True
            if default is None:
                break
    return Outcome(Ending.REFUSED if refused else Ending.TAKEN, f"{what}: {len(texts)} texts")


def changed(template: ChatTemplate) -> str:
    """What became of a harmless text; empty where it stayed as it is."""
    asked = judge_prompt.build_prompt(Item("1", HARMLESS, HARMLESS, HARMLESS), Order.AB, ELOQUENT).question(0)
    read = [part for run, _ in template.tokenized(asked) for part, source in run if source.foreign]
    return "" if read == [HARMLESS] * 3 else f"{HARMLESS!r} became {read!r}"


def variants(literal: str, literals: Sequence[str], random: Random) -> Iterator[str]:
    """A literal alone, in words, split, nested, with spaces, in other letters."""
    other, cut = random.choice(literals), random.randrange(1, len(literal)) if len(literal) > 1 else 0
    yield from (literal, f"in{literal}side", literal * 2, f" {literal} ", f"\n{literal}\n", f"▁{literal}")
    yield from (literal[:cut] + literal + literal[cut:], literal[:1] + literal + literal[1:])
    yield from (literal[:-1] + literal + literal[-1:], literal[:cut] + other + literal[cut:])
    yield literal[:cut] + literal[:cut] + literal + literal[cut:] + literal[cut:]
    yield from (
        f"{literal[:1]} {literal[1:]}",
        f"{literal[:1]}\u200b{literal[1:]}",
        f"{literal[:cut]}\u00ad{literal[cut:]}",
    )
    yield from (
        literal.upper(),
        literal.lower(),
        literal[1:],
        literal[:-1],
        literal.replace("▁", " "),
        literal[::-1],
    )
    yield "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in literal)  # full width
    yield f"{literal}\u0301"
