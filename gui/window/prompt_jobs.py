"""Jobs that make the prompt of an item to be looked at, and let the model read it.

Knows: which item, asked by which run or setup. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.core.events import followed
from engine.core.items import Item, Order, Way
from engine.core.judgments import RawAnswer, Reading
from engine.core.run_records import StoredRun
from engine.core.run_setup import RunSetup
from engine.core.value_tables import Table
from gui.reading.prompt_pane import VERDICT_HERE, ShownPrompt
from gui.reading.prompt_text import shown_prompt
from gui.work.apart_jobs import worker
from gui.work.garbage import many_records
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.cancel import CancelToken
    from engine.core.ways.all_ways import Asked
    from engine.judge.item_prompt import ItemQuestion, PromptFacts

LIKELIEST = 10
Asking = tuple[Way, str]
"""A way of asking, and the name of a question of it."""

Place = tuple[str, Order, Way, str]
"""A criterion, an order, and what is asked."""

_ANSWER_HERE, _THOUGHT_HERE = "the answer is read here", "the model thinks here, then it answers"


@dataclass(frozen=True)
class Subject:
    """The item that is looked at. `run`: the one that asked it; None for one that a setup describes."""

    item: Item
    setup: RunSetup
    run: StoredRun | None = None


@dataclass(frozen=True)
class PromptHead:
    """What is true of all prompts of the item.

    `notes`: what a person should know of them. `asked`: all that is asked of a criterion.
    """

    model: str
    criteria: tuple[str, ...]
    orders: tuple[Order, ...]
    notes: tuple[str, ...]
    fits: bool
    asked: tuple[Asking, ...]


@dataclass(frozen=True)
class PlacedPrompt:
    """One prompt, ready to be shown."""

    place: Place
    prompt: ShownPrompt


@dataclass(frozen=True)
class PromptAnswer:
    """What comes next after one prompt; `mass`: what its answers hold of it, 0 to 1, and `held_by`: who they
    are; empty where it is a thought that comes next.
    """

    table: Table
    mass: float
    held_by: str


def show_prompts(subject: Subject, first: tuple[str, Order], asking: Asking | None = None) -> Job[None]:
    """Report a PromptHead, then a PlacedPrompt for each criterion and order, that of `first` at once.

    `asking`: what is asked there; None for the first that there is. Opens the vocabulary of the model alone.
    """

    def work(control: JobControl) -> None:
        from engine.judge.item_prompt import OnePrompt, shown_prompts

        question = _question(subject, control.cancel)
        quoted: dict[int, str] = {}
        with many_records():
            for made in shown_prompts(question, first, control.cancel, *(asking or ())):
                if isinstance(made, OnePrompt):
                    prompt = replace(shown_prompt(made.preview, quoted), then=_then(made.asked))
                    place = (made.criterion, made.order, made.asked.way, made.asked.name)
                    control.report(PlacedPrompt(place, prompt))
                else:
                    control.report(_head(question, made))

    return work


def ask(subject: Subject) -> Job[dict[Place, PromptAnswer]]:
    """What the model would write next after each prompt of the item; reports Preparing."""

    def work(control: JobControl) -> dict[Place, PromptAnswer]:
        from engine.judge.item_prompt import read_next_tokens
        from engine.loading.model_in_use import in_use
        from engine.prompt.next_tokens import next_table

        with worker(read_next_tokens, control) as reader:
            question = _question(subject, control.cancel)
            with in_use(question.model):
                found = followed(reader.do(question, LIKELIEST), control.report)
        return {
            (one.criterion, one.order, one.asked.way, one.asked.name): PromptAnswer(
                next_table(one), one.said.mass, _held_by(one.asked)
            )
            for one in found
        }

    return work


def masses_of(readings: Mapping[str, Sequence[Reading]]) -> dict[Place, float]:
    """The format mass that a run has read at each place; `readings`: by criterion."""
    return {
        (criterion, reading.order, reading.way, answer.question): answer.mass
        for criterion, read in readings.items()
        for reading in read
        for answer in reading.answers or (RawAnswer("", reading.log_probs),)
    }


def _then(asked: "Asked") -> str:
    if asked.question.thinks:
        return _THOUGHT_HERE
    return VERDICT_HERE if asked.question.chooses else _ANSWER_HERE


def _held_by(asked: "Asked") -> str:
    if asked.question.thinks:
        return ""
    return "The four letters hold" if asked.question.chooses else "The answers hold"


def _question(subject: Subject, cancel: "CancelToken") -> "ItemQuestion":
    from engine.judge.item_prompt import question_of_run, question_of_setup

    if subject.run is None:
        return question_of_setup(subject.setup, subject.item, cancel)
    return question_of_run(subject.run, subject.setup, subject.item, cancel)


def _head(question: "ItemQuestion", facts: "PromptFacts") -> PromptHead:
    notes = list(facts.notes)
    if facts.shortening is not None:
        left_out = facts.shortening
        notes.append(
            f"Left out of the middle: {left_out.left_out_a:,} characters of response A,"
            f" {left_out.left_out_b:,} of response B."
        )
    if not facts.fits:
        notes.append(
            f"The item needs {facts.cells:,} tokens, the context holds {facts.context:,}: it is not judged."
        )
    return PromptHead(
        question.model.name,
        question.rubric.names,
        question.settings.orders,
        tuple(notes),
        facts.fits,
        tuple((each.way, each.name) for each in facts.asked),
    )
