"""Jobs that make the prompt of one criterion while it is written.

Knows: prompts without a model, and in a model's own chat format. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.items import Item, Order, Preference, Way
from engine.core.rubric import USUAL_WORDING, PromptWording, Rubric
from engine.core.ways.all_ways import WAYS
from engine.core.ways.question import Question
from gui.reading.prompt_pane import VERDICT_HERE, ShownPrompt
from gui.reading.prompt_text import shown_prompt
from gui.work.garbage import many_records
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.prompt.chat_template import ChatTemplate
    from engine.prompt.judge_prompt import PromptTree
    from engine.prompt.parts import Conversation, Part
    from engine.prompt.preview import Preview

SAMPLE_ITEM = Item(
    "sample",
    "Why does the moon look larger near the horizon?",
    "It is an illusion: near the horizon we see it beside houses and trees, and take it for larger.",
    "Because it is closer to the earth then.",
)
"""What is asked about where no dataset is open."""


_THEN = {Way.LETTERS: VERDICT_HERE, None: "the explanation begins here"}
_ANSWER_HERE = "the answer is read here"
_SECOND = 1  # of the permuted meanings: the first are those of the letters


def _question(way: Way, wording: PromptWording) -> Question:
    """The question of a way that is shown."""
    return WAYS[way].questions(wording)[_SECOND if way is Way.PERMUTED else 0]


def _kinds() -> Mapping[Way | None, str]:
    found: dict[Way | None, str] = {Way.LETTERS: "", None: "The explanation"}
    for way, asking in WAYS.items():
        question = _question(way, USUAL_WORDING)
        if not question.thinks:  # what stands before its answer is the model's own
            found[way] = f"{asking.title}, of response A" if question.name == "A" else asking.title
    return found


KINDS = _kinds()
"""What of a criterion can be looked at, for people: a way of asking, or None for the explanation."""


@dataclass(frozen=True)
class PreviewWish:
    """The one criterion of `rubric`, asked of an item. `kind`: one of KINDS. `model`: whose chat format, None
    for none.
    """

    rubric: Rubric
    item: Item
    order: Order
    kind: Way | None
    model: Path | None = None


@dataclass(frozen=True)
class PreviewedPrompt:
    """`tokens`: that the model reads, None where no model says. `note`: what a person should know of it."""

    prompt: ShownPrompt
    tokens: int | None
    note: str


def preview(wish: PreviewWish, at_once: bool) -> Job[PreviewedPrompt]:
    """The prompt in the model's own chat format; where there is no model that can tell, the text alone.

    `at_once`: reports the text alone before, for a model that is read for the first time takes seconds.
    """

    def work(control: JobControl) -> PreviewedPrompt:
        from engine.gguf.judge_file import read_model_file
        from engine.loading.checked_model import checked_model
        from engine.loading.opening import open_template

        with many_records():
            if wish.model is None:
                return _without_model(wish, "")
            if at_once:
                control.report(_without_model(wish, ""))
            try:
                checked = checked_model(read_model_file(wish.model), control.cancel)
                with open_template(checked, control.cancel) as template:
                    return _in_format(wish, template)
            except SetupError as error:
                return _without_model(wish, error.problem)

    return work


def _asked(wish: PreviewWish) -> "tuple[PromptTree, Conversation, list[Conversation]]":
    """The tree, what is asked up to where the answer is read, and the same with each of its answers."""
    from engine.prompt.judge_prompt import build_prompt, explanation_reply

    tree, wording = build_prompt(wish.item, wish.order, wish.rubric), wish.rubric.wording
    if wish.kind is None:
        reply = explanation_reply(Preference.A, wording)
        return tree, tree.question(0, reply), []
    question = _question(wish.kind, wording)
    answered = [tree.question(0, f"{question.lead} {answer}", question.text) for answer in question.answers]
    return tree, tree.question(0, question.lead, question.text), answered


def _in_format(wish: PreviewWish, template: "ChatTemplate") -> PreviewedPrompt:
    from engine.prompt.tokens import branch_tokens

    _, asked, answered = _asked(wish)
    pieces = [piece for run, _ids in template.tokenized(asked) for piece in run]
    tokens = len(branch_tokens(answered, template).prompt) if answered else len(template.tokenize(asked))
    return PreviewedPrompt(_shown(pieces, wish.kind), tokens, template.frame.note or "")


def _without_model(wish: PreviewWish, why: str) -> PreviewedPrompt:
    from engine.prompt.parts import Source

    _, asked, _answered = _asked(wish)
    pieces = [
        *_titled("system message", asked.system),
        *_titled("message", asked.user),
        *_titled("reply", ()),
        (asked.reply, Source.OWN),
    ]
    return PreviewedPrompt(_shown(pieces, wish.kind), None, why)


def _titled(title: str, parts: "Sequence[Part]") -> "list[tuple[str, str]]":
    """A message below a line that stands in the place of a chat format."""
    from engine.prompt.parts import Source

    texts = [(part.text, part.source) for part in parts]
    return [(f"– {title} –\n", Source.TEMPLATE), *texts, *([("\n\n", Source.TEMPLATE)] if texts else [])]


def _shown(pieces: "Sequence[tuple[str, str]]", kind: Way | None) -> ShownPrompt:
    return replace(shown_prompt(_preview(pieces), {}), then=_THEN.get(kind, _ANSWER_HERE))


def _preview(pieces: "Sequence[tuple[str, str]]") -> "Preview":
    """Text with whose it is, as the preview of a prompt without its tokens."""
    from engine.prompt.parts import Source
    from engine.prompt.preview import Preview, Span

    spans, place = [], 0
    for text, source in pieces:
        if text:
            spans.append(Span(place, place + len(text), Source(source)))
            place += len(text)
    return Preview("".join(text for text, _ in pieces), tuple(spans), (), 0, 0, exact=True)
