"""What the model is asked: an item as a tree of text, each part marked own or foreign.

    stem     what the labels mean, labelled examples     the same for a whole run
     trunk   this item, its responses in one order       shared by all criteria
      branch the criterion's question                    one for each

The words are those of the rubric's wording. Whoever changes the default ones, or how they are put together,
raises PROMPT_VERSION: runs and calibrations are tied to it.

Knows: how a prompt is put together. Does not know: tokens, chat templates, models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from engine.core.items import Item, Order, Preference
from engine.core.prompt_text import Source
from engine.core.rubric import DEFAULT_WORDING, PromptWording, Rubric, put_in
from engine.core.ways.letters import LETTERS
from engine.prompt.fences import Fences
from engine.prompt.parts import Conversation, Part, foreign, own

PROMPT_VERSION = "1"


@dataclass(frozen=True)
class PromptTree:
    """One item in one order, for all criteria of a rubric."""

    stem: tuple[Part, ...]
    trunk: tuple[Part, ...]
    branches: tuple[tuple[Part, ...], ...]
    wording: PromptWording = DEFAULT_WORDING

    def question(
        self, branch: int, reply: str | None = None, text: str = "", thought: str | None = None
    ) -> Conversation:
        """The whole conversation of one branch.

        `reply`: how the model's own words begin; without it the next token is the verdict's letter. `text`:
        what stands after the criterion, on a line of its own. `thought`: as in Conversation.
        """
        asked = (*self.branches[branch], own(f"\n{text}")) if text else self.branches[branch]
        reply = self.wording.verdict if reply is None else reply
        user = (*self.stem, *self.trunk, *asked)
        return Conversation((own(self._system),), user, reply, thought, fences_of(self.wording).texts)

    @cached_property
    def _system(self) -> str:
        return put_in(self.wording.system, letters=self.wording.letters())


def build_prompt(item: Item, order: Order, rubric: Rubric, examples: Sequence[Item] = ()) -> PromptTree:
    """The prompt tree of an item; `examples` are labelled items shown before it."""
    wording, fences = rubric.wording, fences_of(rubric.wording)
    stem: list[Part] = []
    for number, example in enumerate(examples, start=1):
        heading = put_in(wording.example, number=str(number))
        shown = item_parts(example, Order.AB, fences, wording)
        stem += [own(f"{heading}\n\n"), *shown, *_labels(example, rubric, fences)]
    if stem:
        stem.append(own(f"{wording.now}\n\n"))
    return PromptTree(
        stem=tuple(stem),
        trunk=item_parts(item, order, fences, wording),
        branches=tuple((own(wording.of_criterion(criterion)),) for criterion in rubric.criteria),
        wording=wording,
    )


def verdict_reply(preference: Preference, wording: PromptWording = DEFAULT_WORDING) -> str:
    """The reply up to and with the verdict's letter."""
    return f"{wording.verdict} {LETTERS[preference]}"


def explanation_reply(preference: Preference, wording: PromptWording = DEFAULT_WORDING) -> str:
    """The reply up to where the explanation of a verdict begins."""
    return f"{verdict_reply(preference, wording)}\n{wording.explanation}"


@lru_cache(maxsize=8)
def fences_of(wording: PromptWording) -> Fences:
    """The marks around the texts of an item."""
    return Fences(wording.titles, wording.end)


def item_parts(
    item: Item, order: Order, fences: Fences, wording: PromptWording = DEFAULT_WORDING
) -> tuple[Part, ...]:
    """The three texts of an item, each between marks; `fences` must know the titles of the wording."""
    texts = (item.instruction, *order.arrange(item.output_a, item.output_b))
    a_first = order is Order.AB
    responses = (Source.RESPONSE_A, Source.RESPONSE_B) if a_first else (Source.RESPONSE_B, Source.RESPONSE_A)
    sources = (Source.INSTRUCTION, *responses)
    return tuple(
        part
        for title, text, source in zip(wording.titles, texts, sources, strict=True)
        for part in fences.block(title, text, source)
    )


def _labels(example: Item, rubric: Rubric, fences: Fences) -> list[Part]:
    """What the user said of an example, in the form in which the model shall reply."""
    wording, parts = rubric.wording, list[Part]()
    for criterion in rubric.criteria:
        gold = example.gold.get(criterion.name)
        if gold is None or not isinstance(gold.label, Preference):
            continue  # a `tie` is no answer that is on offer
        verdict = verdict_reply(gold.label, wording)
        parts.append(own(f"{wording.of_criterion(criterion)}\n{verdict}\n"))
        if gold.explanation:
            text = foreign(fences.without(gold.explanation), Source.EXPLANATION)
            parts += [own(f"{wording.explanation} "), text, own("\n")]
        parts.append(own("\n"))
    return parts
