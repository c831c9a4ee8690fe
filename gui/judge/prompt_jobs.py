"""Jobs that make a prompt to be looked at, of an item or of a criterion while it is written; jobs on files
of rubrics: found, read, written, looked at for changes of other programs.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.core.errors import EngineError, SetupError
from engine.core.events import CancelToken, followed
from engine.core.formatting import HIDDEN, capitalised
from engine.core.items import Item, Method, Order, Preference
from engine.core.judgments import AnswerLogProbs, RawPrediction
from engine.core.methods import METHODS, MethodQuestion, Question
from engine.core.prompt_text import PlacedToken, Preview, Source, Span
from engine.core.rubric import DEFAULT_WORDING, PromptWording, Rubric
from engine.core.tables import Table
from engine.settings.identity import StoredRun
from engine.settings.run_setup import RunSetup
from engine.system.files import file_hash, make_folder
from engine.system.paths import PathKind, rubrics_folder, seen_at
from gui.widgets.prompt_pane import VERDICT_HERE, ShownPrompt
from gui.workspace.garbage import many_records
from gui.workspace.threads import JobControl, job, worker

if TYPE_CHECKING:
    from engine.judging.item_prompt import ItemQuestion, NextTokens, OnePrompt, PromptFacts
    from engine.prompt.conversation import Conversation, Part
    from engine.prompt.guard import Piece
    from engine.prompt.template import ChatTemplate

LIKELIEST = 10
Asking = tuple[Method, str]
"""An elicitation method, and the name of a question of it."""


class PromptKey(NamedTuple):
    """Which prompt of an item: on which criterion, in which order, and which question of which method."""

    criterion: str
    order: Order
    method: Method
    question: str


SAMPLE_ITEM = Item(
    "sample",
    "Why does the moon look larger near the horizon?",
    "It is an illusion: near the horizon we see it beside houses and trees, and take it for larger.",
    "Because it is closer to the earth then.",
)
"""What is asked about where no dataset is open."""

_SECOND = 1  # of the permutations: the first is the identity


def _shown_question(method: Method, wording: PromptWording) -> Question:
    """The question of a method that represents all of them."""
    return METHODS[method].questions(wording)[_SECOND if method is Method.PERMUTED_LABELS else 0]


def _kinds() -> Mapping[Method | None, str]:
    found: dict[Method | None, str] = {Method.LABEL_TOKENS: "", None: "The explanation"}
    for method in METHODS:
        question = _shown_question(method, DEFAULT_WORDING)
        title = capitalised(method.title)
        if not question.reasons:  # what stands before its answer is the model's own
            title = method.title.capitalize()
            found[method] = f"{title}, response A" if question.name == "A" else title
    return found


KINDS = _kinds()
"""What of a criterion can be looked at, for display: an elicitation method, or None for the explanation."""


@dataclass(frozen=True)
class PreviewRequest:
    rubric: Rubric  # of one criterion
    item: Item
    order: Order
    kind: Method | None  # of KINDS
    model: Path | None  # whose chat format
    shows: tuple[str, ...] = ()  # of BACKGROUND


@dataclass(frozen=True)
class PreviewedPrompt:
    prompt: ShownPrompt
    tokens: int | None  # that the model reads, None where no model says
    note: str  # what the user should know of it


@dataclass(frozen=True)
class Subject:
    item: Item  # that is looked at
    setup: RunSetup
    run: StoredRun | None = None  # the one that asked it; None for one that a setup describes


@dataclass(frozen=True)
class PromptHead:
    """What is true of all prompts of the item."""

    model: str
    criteria: tuple[str, ...]
    orders: tuple[Order, ...]
    notes: tuple[str, ...]
    fits: bool
    asked: tuple[Asking, ...]  # all that is asked of a criterion


@dataclass(frozen=True)
class KeyedPrompt:
    key: PromptKey
    prompt: ShownPrompt


@dataclass(frozen=True)
class PromptAnswer:
    table: Table  # what comes next after a prompt
    mass: float  # what its answers hold of it, 0 to 1
    held_by: str  # which answers, in words; empty for none


@job
def show_prompts(
    control: JobControl, subject: Subject, first: tuple[str, Order], asking: Asking | None = None
) -> None:
    """Report a PromptHead, then a KeyedPrompt for each criterion and order, that of `first` at once.
    `asking`: what is asked there; None for the first that there is. Of the model its vocabulary is opened.
    """
    from engine.judging.item_prompt import OnePrompt, shown_prompts

    question = _question(subject, control.cancel)
    quoted: dict[int, str] = {}
    with many_records():
        for made in shown_prompts(question, first, control.cancel, *(asking or ())):
            if isinstance(made, OnePrompt):
                prompt = _shown(made.preview, _then(made.asked.question), quoted)
                control.report(KeyedPrompt(_key(made), prompt))
            else:
                control.report(_head(question, made))


@job
def ask(control: JobControl, subject: Subject) -> dict[PromptKey, PromptAnswer]:
    """What the model would write next after each prompt of the item; reports Preparing."""
    from engine.judging.item_prompt import next_table, read_next_tokens
    from engine.models.checked_model import in_use

    with worker(read_next_tokens, control) as reader:
        question = _question(subject, control.cancel)
        with in_use(question.model):
            found = followed(reader.do(question, LIKELIEST), control.report)
    return {_key(one): PromptAnswer(next_table(one), one.said.mass, _held_by(one.asked)) for one in found}


def _key(of: "OnePrompt | NextTokens") -> PromptKey:
    return PromptKey(of.criterion, of.order, of.asked.method, of.asked.name)


def masses_of(raw_predictions: Mapping[str, Sequence[RawPrediction]]) -> dict[PromptKey, float]:
    """The answer mass that a run has read at each prompt; `raw_predictions`: by criterion."""
    return {
        PromptKey(criterion, reading.order, reading.method, answer.question): answer.mass
        for criterion, read in raw_predictions.items()
        for reading in read
        for answer in reading.answers or (AnswerLogProbs("", reading.log_probs),)
    }


def _held_by(asked: "MethodQuestion") -> str:
    if asked.question.reasons:
        return ""
    return "The four label tokens have" if asked.question.chooses else "The answers have"


def _question(subject: Subject, cancel: "CancelToken") -> "ItemQuestion":
    from engine.judging.item_prompt import question_of_run, question_of_setup

    if subject.run is None:
        return question_of_setup(subject.setup, subject.item, cancel)
    return question_of_run(subject.run, subject.setup, subject.item, cancel)


def _head(question: "ItemQuestion", facts: "PromptFacts") -> PromptHead:
    notes = list(facts.notes)
    if facts.shortening is not None:
        notes.append(facts.shortening.in_words)
    if not facts.fits:
        needs = f"The item needs {facts.cells:,} tokens, the context holds {facts.context:,}"
        notes.append(f"{needs}: it is not judged.")
    asked, orders = tuple((each.method, each.name) for each in facts.asked), question.settings.orders
    return PromptHead(question.model.name, question.rubric.names, orders, tuple(notes), facts.fits, asked)


# A criterion while it is written


@job
def preview(control: JobControl, request: PreviewRequest, at_once: bool) -> PreviewedPrompt:
    """The prompt in the model's own chat format; where there is no model that can tell, the text alone.
    That is reported before `at_once`, for a model that is read for the first time takes seconds.
    """
    from engine.models.checked_model import checked_model
    from engine.models.model_file import read_model_file
    from engine.models.opening import open_template

    with many_records():
        if request.model is None:
            return _without_model(request, "")
        if at_once:
            control.report(_without_model(request, ""))
        try:
            checked = checked_model(read_model_file(request.model), control.cancel)
            with open_template(checked.path, control.cancel) as (_, template):
                return _in_format(request, template)
        except SetupError as error:
            return _without_model(request, error.problem)


def _asked(request: PreviewRequest) -> "tuple[Conversation, list[Conversation]]":
    """What is asked up to where the answer is read, and the same with each of its answers."""
    from engine.prompt.judge_prompt import build_prompt, explanation_reply

    wording = request.rubric.wording
    tree = build_prompt(request.item, request.order, request.rubric, shows=request.shows)
    if request.kind is None:
        return tree.question(0, explanation_reply(Preference.A, wording)), []
    question = _shown_question(request.kind, wording)
    answered = [tree.question(0, f"{question.lead} {answer}", question.text) for answer in question.answers]
    return tree.question(0, question.lead, question.text), answered


def _in_format(request: PreviewRequest, template: "ChatTemplate") -> PreviewedPrompt:
    from engine.prompt.tokens import branch_tokens

    asked, answered = _asked(request)
    pieces = [piece for run, _ids in template.tokenized(asked) for piece in run]
    tokens = len(branch_tokens(answered, template).prompt) if answered else len(template.tokenize(asked))
    return PreviewedPrompt(_text_alone(pieces, request), tokens, template.frame.note or "")


def _without_model(request: PreviewRequest, why: str) -> PreviewedPrompt:
    asked, _answered = _asked(request)
    system, message = _titled("system message", asked.system), _titled("message", asked.user)
    pieces = [*system, *message, *_titled("reply", ()), (asked.reply, Source.OWN)]
    return PreviewedPrompt(_text_alone(pieces, request), None, why)


def _titled(title: str, parts: "Sequence[Part]") -> "list[Piece]":
    """A message below a line that stands in the place of a chat format."""
    texts = [(part.text, part.source) for part in parts]
    return [(f"– {title} –\n", Source.TEMPLATE), *texts, *([("\n\n", Source.TEMPLATE)] if texts else [])]


def _text_alone(pieces: "Sequence[Piece]", request: PreviewRequest) -> ShownPrompt:
    from engine.judging.item_prompt import text_alone

    then = "the explanation begins here"
    if request.kind is not None:
        then = _then(_shown_question(request.kind, request.rubric.wording))
    return _shown(text_alone(pieces), then, {})


# Ready to be shown


def _then(question: Question) -> str:
    if question.reasons:
        return "the model reasons here, then it answers"
    return VERDICT_HERE if question.chooses else "the answer is read here"


def _shown(preview: Preview, then: str, quoted: dict[int, str]) -> ShownPrompt:
    """A prompt with invisible characters written out, its places as Qt counts them. `quoted`: what tokens
    write, by their ids, as far as it was needed before.
    """
    for token in preview.tokens:
        if token.id not in quoted:
            quoted[token.id] = json.dumps(token.piece, ensure_ascii=False)
    ends = [(span.start, span.end) for span in preview.spans]
    ends += [(token.start, token.end) for token in preview.tokens]
    cuts = sorted({0, len(preview.text), *(place for both in ends for place in both)})
    places, texts, length = {0: 0}, [], 0
    for start, end in pairwise(cuts):
        text = HIDDEN.sub(lambda found: repr(found[0])[1:-1], preview.text[start:end])
        texts.append(text)
        length += len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2
        places[end] = length
    return ShownPrompt(
        text="".join(texts),
        spans=tuple(Span(places[span.start], places[span.end], span.source) for span in preview.spans),
        tokens=tuple(
            PlacedToken(token.id, quoted[token.id], places[token.start], places[token.end], token.sources)
            for token in preview.tokens
        ),
        stem=preview.stem,
        trunk=preview.trunk,
        exact=preview.exact,
        as_read=preview.text,
        then=then,
    )


# Files of rubrics

SUFFIX = ".toml"
KIND = f"Rubrics (*{SUFFIX})"
_MOST_FILES = 200  # all are read whenever the list is seen


@dataclass(frozen=True)
class RubricFile:
    path: Path
    rubric: Rubric | None
    digest: str  # of its bytes, as it was read
    error: EngineError | None = None  # why there is no rubric in it


@dataclass(frozen=True)
class RubricsFound:
    """Those that come with the program, and those in files, in the order in which they are offered."""

    shipped: tuple[Rubric, ...]
    files: tuple[RubricFile, ...]


@job
def find_rubrics(control: JobControl, others: Sequence[Path]) -> RubricsFound:
    """All rubrics: those of the program, of the user's folder, and some other files that are still there."""
    from engine.data.rubrics.files import own_rubrics, shipped_rubrics

    found = []
    for path in dict.fromkeys([*own_rubrics()[:_MOST_FILES], *others]):
        control.cancel.raise_if_requested()
        if seen_at(path) is PathKind.FILE:
            found.append(_read(path))
    return RubricsFound(shipped_rubrics(), tuple(found))


@job
def read_rubric(_control: JobControl, path: Path) -> RubricFile:
    """One file; SetupError where no rubric is in it."""
    found = _read(path)
    if found.error is not None:
        raise found.error
    return found


@job
def write_rubric(_control: JobControl, path: Path, rubric: Rubric, digest: str | None) -> RubricFile | None:
    """Write a rubric whole or not at all; None: not over a file whose bytes are not those of `digest` (None:
    whatever is there). SetupError where it cannot be written.
    """
    from engine.data.rubrics.files import save_rubric

    if digest is not None and (there := _digest(path)) and there != digest:
        return None
    if path.parent == rubrics_folder():
        make_folder(path.parent)
    save_rubric(path, rubric)
    return RubricFile(path, rubric, _digest(path))


@job
def look_at(_control: JobControl, path: Path) -> str:
    """The digest of a file as it is now; empty where it is gone."""
    return _digest(path)


@job
def draft_of(_control: JobControl, columns: Sequence[str], name: str) -> Rubric | None:
    """A draft of the criteria that a dataset has labels on; None where it names none of its own."""
    from engine.data.rubrics.files import draft_rubric

    return draft_rubric(columns, name)


def _read(path: Path) -> RubricFile:
    from engine.data.rubrics.files import load_rubric

    digest = _digest(path)
    try:
        return RubricFile(path, load_rubric(path), digest)
    except SetupError as error:
        return RubricFile(path, None, digest, error)


def _digest(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError:
        return ""
