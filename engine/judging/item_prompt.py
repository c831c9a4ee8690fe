"""What a model is shown of one item by a run, made or still to be made, and what it would write after it. The
text, and the tokens that each order of items takes, need the model's vocabulary alone; what comes next is
read as the run reads it.
"""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter

import numpy as np

from engine.core.errors import Hint, Setting, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress, Preparing
from engine.core.items import Item, Method, Order
from engine.core.judgments import AnswerLogProbs, Shortening
from engine.core.methods import MethodQuestion, Question
from engine.core.numeric import FloatArray
from engine.core.prompt_text import PlacedToken, Preview, Span
from engine.core.rubric import Rubric
from engine.core.tables import Column, Kind, Row, Table
from engine.data.dataset import Dataset
from engine.judging.plan import asked_alike, check_same_format, session_shape
from engine.judging.prepare import examples_of_setup, judge_settings
from engine.llama.model import Pieces, PromptTokens, common_prefix, token_places
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.memory import check_memory
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_settings, open_session, open_template
from engine.prompt.examples import ExamplePool
from engine.prompt.guard import Piece
from engine.prompt.judge_prompt import PROMPT_VERSION, PromptTree
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import PromptSizer, SizedItem
from engine.settings.identity import StoredRun
from engine.settings.rows import JudgeSettings, MachineSettings
from engine.settings.run_setup import RunSetup


@dataclass(frozen=True)
class NextToken:
    id: int
    piece: str
    rank: int  # 1 for the likeliest
    probability: float  # 0 to 1, among all tokens
    answers: tuple[int, ...]  # the places of the question's answers that begin with it


@dataclass(frozen=True)
class NextTokens:
    """What comes after one question of a criterion in one order."""

    criterion: str
    order: Order
    asked: MethodQuestion
    tokens: tuple[NextToken, ...]  # the likeliest, and below them those that begin an answer
    rest: float  # what all other tokens hold together, 0 to 1
    said: AnswerLogProbs  # the answers as a run reads them; none where the model is to think first


def ranked(
    log_probs: FloatArray, answers: Sequence[Sequence[int]], most: int, pieces: Pieces
) -> tuple[tuple[NextToken, ...], float]:
    """The `most` likeliest tokens, and those that begin an answer; and what all others hold. `log_probs`:
    natural logarithms, shape (vocabulary,). `answers`: the ids of each.
    """
    begins: dict[int, tuple[int, ...]] = {}
    for place, ids in enumerate(answers):
        begins[ids[0]] = (*begins.get(ids[0], ()), place)
    order = np.argsort(-log_probs, kind="stable")
    ranks = {int(token): rank for rank, token in enumerate(order[:most], start=1)}
    for token in begins:
        ranks.setdefault(token, int(np.flatnonzero(order == token)[0]) + 1)
    found = tuple(
        NextToken(token, pieces.shown(token), rank, float(np.exp(log_probs[token])), begins.get(token, ()))
        for token, rank in sorted(ranks.items(), key=lambda ranked: ranked[1])
    )
    return found, max(0.0, 1.0 - sum(token.probability for token in found))


_LEAST = 0.0005  # what is less is shown as less
_TOKEN = (
    Column("rank", "rank", Kind.COUNT, "1 for the likeliest of all tokens."),
    Column("token", "token", Kind.TEXT, "Its text, in quotation marks."),
    Column("probability", "probability", Kind.SHARE, "Its probability over the whole vocabulary."),
)
_ID = Column("id", "id", Kind.COUNT, "Its number in the model's vocabulary.")
_LETTER = (
    Column("letter", "letter", Kind.TEXT, "The label token that begins with it."),
    Column("label", "label", Kind.TEXT, "The label of this token in this order of the responses."),
)
_ANSWER = (
    Column("answer", "answer", Kind.TEXT, "The answer that begins with it."),
    Column("says", "says", Kind.TEXT, "What this answer means for the item's own A and B."),
)


def next_table(found: NextTokens) -> Table:
    question = found.asked.question

    def share(probability: float) -> float | str:
        return probability if probability >= _LEAST else "<0.1 %"

    middle: tuple[Column, ...] = () if question.reasons else _LETTER if question.chooses else _ANSWER
    rows: list[Row] = []
    for token in found.tokens:
        said = (
            ", ".join(question.answers[place] for place in token.answers),
            ", ".join(question.said(place, found.order) for place in token.answers),
        )
        shown = json.dumps(token.piece, ensure_ascii=False)
        rows.append((token.rank, shown, share(token.probability), *said[: len(middle)], token.id))
    rows.append(("", "all other tokens", share(found.rest), *("" for _ in middle), ""))
    return Table((*_TOKEN, *middle, _ID), rows)


def text_alone(pieces: Sequence[Piece]) -> Preview:
    return Preview("".join(text for text, _ in pieces), tuple(_spans(pieces, 0)), (), 0, 0, exact=True)


def preview(
    template: ChatTemplate,
    tree: PromptTree,
    question: Question,
    tokens: PromptTokens,
    branch: int,
    *,
    stem: Sequence[int],
) -> Preview:
    """What the model is shown for a question of one criterion, up to where its answer is read, or reasoning
    is to be written. `tokens`: of this tree and question. `stem`: the ids with which all prompts of the run
    begin. Made of the same text and ids as the prompt, it cannot differ from it.
    """
    pieces = template.tokens_written
    length, answer = len(tokens.branches[branch].prompt), ""
    if question.reasons:
        shown_by = template.thinking or template
        conversation = tree.question(branch, text=question.text)
    else:
        shown_by, answer = template, f" {question.answers[0]}"  # tokenized with it, no part of it
        conversation = tree.question(branch, f"{question.lead}{answer}", question.text)
    texts: list[str] = []
    spans: list[Span] = []
    placed: list[PlacedToken] = []
    exact, start = True, 0
    for run, ids in shown_by.tokenized(conversation):
        text, inside = "".join(piece for piece, _ in run), _spans(run, start)
        places, fits = token_places(text, [pieces.written(token) for token in ids])
        exact = exact and fits
        for token, (begin, end) in zip(ids, places, strict=True):
            place = start + begin, start + end
            # Whose text it holds, each once, in the order of the text; of an empty one, where it is.
            last = max(place[1], place[0] + 1)
            whose = [span.source for span in inside if span.start < last and span.end > place[0]]
            sources = tuple(dict.fromkeys(whose))
            placed.append(PlacedToken(token, pieces.shown(token), *place, sources))
        texts.append(text)
        spans += inside
        start += len(text)
    # The answer that was tokenized with it begins after these.
    shown = tuple(placed[:length])
    last = max((token.end for token in shown), default=0) if exact else start - len(answer)
    shared = common_prefix([stem, tokens.trunk])
    return Preview(
        text="".join(texts)[:last],
        spans=tuple(replace(span, end=min(span.end, last)) for span in spans if span.start < last),
        tokens=shown,
        stem=shared,
        trunk=len(tokens.trunk) - shared,
        exact=exact,
    )


def _spans(run: Sequence[Piece], start: int) -> list[Span]:
    found: list[Span] = []
    texts = (piece for piece in run if piece[0])
    for source, pieces in groupby(texts, key=itemgetter(1)):
        end = start + sum(len(text) for text, _ in pieces)
        found.append(Span(start, end, source))
        start = end
    return found


@dataclass(frozen=True)
class ItemQuestion:
    item: Item
    rubric: Rubric
    settings: JudgeSettings
    machine: MachineSettings
    file: ModelFile
    model: CheckedModel
    examples: ExamplePool
    run: StoredRun | None = None  # that asked it; None for one still to be made
    notes: tuple[str, ...] = ()  # why it is not known to be what that run asked


@dataclass(frozen=True)
class PromptFacts:
    cells: int  # tokens of context that it takes in a run
    context: int  # tokens that there are
    shortening: Shortening | None
    notes: tuple[str, ...]  # what a person should know
    asked: tuple[MethodQuestion, ...]  # of each criterion, in the default order; of reasoning the first

    @property
    def fits(self) -> bool:
        return self.cells <= self.context


@dataclass(frozen=True)
class OnePrompt:
    criterion: str
    order: Order
    asked: MethodQuestion
    preview: Preview


def question_of_setup(setup: RunSetup, item: Item, cancel: CancelToken) -> ItemQuestion:
    """An item as a run of this setup would ask it. SetupError, ModelFileError, InputError, Cancelled."""
    file = read_model_file(setup.model_path)
    rubric = setup.asked
    settings, machine = judge_settings(setup, file), machine_settings(setup.threads)
    model = checked_model(file, cancel)
    examples = examples_of_setup(setup, rubric, cancel)
    return ItemQuestion(item, rubric, settings, machine, file, model, examples)


def question_of_run(run: StoredRun, setup: RunSetup, item: Item, cancel: CancelToken) -> ItemQuestion:
    """An item as a stored run has asked it, no opened submission; threads and examples are those of a setup.
    Where something is no longer as it was in the run, a note says so. SetupError, ModelFileError, InputError,
    Cancelled.
    """
    identity = run.identity
    rubric = identity.asked
    file = read_model_file(identity.model_path)
    model = checked_model(file, cancel)
    shown = identity.examples
    examples = examples_of_setup(setup, rubric, cancel) if shown else ExamplePool()
    notes = []
    if model.hash != identity.model_hash:
        notes.append(f"{file.path.name} is not the file of the run: its content has changed.")
    if identity.prompt_version != PROMPT_VERSION or not asked_alike(run, rubric):
        notes.append(f"Run {run.id} used another prompt wording than this version of Tiebreak.")
    if examples.hash != shown:
        examples = ExamplePool()
        notes.append(
            f"Run {run.id} used labelled examples, which are missing here: choose the same file, number and"
            " selection of examples for the next run, then look again."
        )
    settings, machine = identity.judge_settings, machine_settings(setup.threads)
    return ItemQuestion(item, rubric, settings, machine, file, model, examples, run, tuple(notes))


def shown_prompts(
    question: ItemQuestion,
    first: tuple[str, Order],
    cancel: CancelToken,
    method: Method | None = None,
    name: str | None = None,
) -> Iterator[PromptFacts | OnePrompt]:
    """The facts, then the prompt of each criterion and order, that of `first` before the others. `method`,
    `name`: the method and its question; None for the first. Opens the vocabulary of the model only.
    SetupError where no item fits the context, the item may not be shown, or the run asks no such question;
    ModelFileError, Cancelled.
    """
    question.model.check_unchanged()
    with open_template(question.model.path, cancel) as (_, template):
        sizer = _sizer(question, template, cancel)
        sized, shortening = sizer.as_judged(question.item)
        _check_shown(sized)
        lacking = [name for name in question.settings.shows if not getattr(question.item, name)]
        notes = [
            *question.notes,
            template.frame.note,
            *(f"The item has no {name} to show." for name in lacking),
        ]
        if question.run is not None:
            try:
                check_same_format(question.run, template)
            except SetupError:
                notes.append(f"Run {question.run.id} used another chat format for its prompts than this one.")
        asked, context = _asked_once(sizer.asked), question.settings.context
        yield PromptFacts(sized.cells, context, shortening, tuple(filter(None, notes)), asked)
        one = _chosen(asked, method, name)
        place = sizer.asked.index(one)
        places = [(name, order) for order in question.settings.orders for name in question.rubric.names]
        # False sorts first: the one that the user looks at comes at once.
        for criterion, order in sorted(places, key=lambda each: each != first):
            cancel.raise_if_requested()
            branch, tokens = question.rubric.names.index(criterion), sized.rounds[order][place].tokens
            made = preview(template, sized.trees[order], one.question, tokens, branch, stem=sizer.stem)
            yield OnePrompt(criterion, order, one, made)


def _check_shown(sized: SizedItem) -> None:
    if sized.refused:
        raise SetupError(
            f"Item {sized.shown.id} cannot be shown to this model: {sized.refused}.",
            "A run leaves it unscored: use another model for it.",
        )


def _asked_once(asked: Sequence[MethodQuestion]) -> tuple[MethodQuestion, ...]:
    """What is asked, without what is only asked again after another reasoning sample."""
    once: dict[tuple[Method, Question], MethodQuestion] = {}
    for each in asked:
        once.setdefault((each.method, each.question), each)
    # Users see the methods in the order of Method; they are read in another, for their prompts.
    places = list(Method)
    return tuple(sorted(once.values(), key=lambda each: places.index(each.method)))


def _chosen(asked: Sequence[MethodQuestion], method: Method | None, name: str | None) -> MethodQuestion:
    of_method = [each for each in asked if method in (None, each.method)]
    if not of_method:
        methods = dict.fromkeys(each.method.title for each in asked)
        raise SetupError(
            f"The elicitation method “{method.title if method else ''}” is not among those of this run.",
            f"Choose from {', '.join(methods)}.",
        )
    found = [each for each in of_method if name in (None, each.name)]
    if not found:
        names = ", ".join(each.name for each in of_method if len(of_method) > 1)
        hint = f"Choose from {names}." if names else "Omit it: this method has one question."
        raise SetupError(f"The method “{of_method[0].method.title}” has no question “{name}”.", hint)
    return found[0]


def read_next_tokens(
    cancel: CancelToken, question: ItemQuestion, most: int
) -> Generator[Preparing, None, tuple[NextTokens, ...]]:
    """The `most` likeliest next tokens after each question of each criterion in each order, in the batches of
    a run; where the model is to think first, those with which reasoning begins. SetupError where the item
    does not fit, ModelFileError, NoRoomError, Cancelled.
    """
    settings = question.settings
    check_memory(question.file, settings.context, kv_type=settings.kv_type)
    yield Preparing("Loading the model")
    shape = partial(session_shape, settings, len(question.rubric.criteria), question.model)
    with open_session(question.model, question.machine, shape, cancel) as opened:
        yield Preparing("Reading the prompt")
        sizer = _sizer(question, opened.template, cancel, opened.session.keeps_state)
        sized, _ = sizer.as_judged(question.item)
        _check_shown(sized)
        if not sizer.fits(sized):
            raise SetupError(
                f"Item {question.item.id} needs {sized.cells:,} tokens, the context holds"
                f" {settings.context:,}: a run leaves it unscored.",
                Hint("Use a larger ", Setting.CONTEXT, ", or ", Setting.SHORTEN, "."),
            )
        opened.session.hold_stem(sizer.stem)
        opened.session.hold_common(sized.apart)
        found: list[NextTokens] = []
        pieces, once = Pieces(opened.session.vocabulary), _asked_once(sizer.asked)
        for order in settings.orders_as_read:
            trunk: tuple[int, ...] = ()
            for asked, each in zip(sizer.asked, sized.rounds[order], strict=True):
                if asked not in once:
                    continue
                if each.tokens.trunk != trunk:
                    trunk = each.tokens.trunk
                    opened.session.read_trunk(0, trunk)
                branches = each.tokens.branches
                scores, log_probs = opened.session.score_among_all(0, branches, goes_on=True)
                names = question.rubric.names
                for name, branch, row, among in zip(names, branches, scores, log_probs, strict=True):
                    next_tokens = ranked(among, branch.labels, most, pieces)
                    said = AnswerLogProbs(asked.name, tuple(map(float, row)))
                    found.append(NextTokens(name, order, asked, *next_tokens, said))
    return tuple(found)


def _sizer(
    question: ItemQuestion, template: ChatTemplate, cancel: CancelToken, keeps_state: bool = False
) -> PromptSizer:
    made_of = (template, question.rubric, question.settings, question.examples, cancel.raise_if_requested)
    return PromptSizer(*made_of, keeps_state=keeps_state)


_ITEMS_AT_ONCE = 50  # between two reports


def order_tokens(
    run: StoredRun, dataset: Dataset, cancel: CancelToken
) -> Generator[MeasureProgress, None, Mapping[str, tuple[int, int]]]:
    """By item id the tokens of AB with all that is read once, and those of BA. `dataset`: the items of the
    run. SetupError where the run's prompts cannot be made again, ModelFileError, Cancelled.
    """
    identity = run.identity
    checked = checked_model(read_model_file(identity.model_path), cancel)
    as_it_was = checked.hash == identity.model_hash and identity.prompt_version == PROMPT_VERSION
    if not as_it_was or identity.examples:
        why = "used labelled examples" if as_it_was else "used another model file or another prompt wording"
        raise SetupError(
            f"The tokens of run {run.id} cannot be counted again: it {why}.", Hint(Step.CHOOSE_RUN)
        )
    # AB is counted as what is read first.
    settings = replace(identity.judge_settings, second_order_below=1.0)
    found: dict[str, tuple[int, int]] = {}
    with open_template(checked.path, cancel) as (model, template):
        made_of = (template, identity.asked, settings, ExamplePool(), cancel.raise_if_requested)
        sizer = PromptSizer(*made_of, keeps_state=model.keeps_state)
        held: tuple[int, ...] = ()
        for position, item in enumerate(dataset):
            if position % _ITEMS_AT_ONCE == 0:
                yield MeasureProgress(position, len(dataset))
            sized = sizer.sized(item, item, position in dataset.series)
            found[item.id] = sizer.tokens_by_order(sized, held)
            held = () if settings.explains else sized.apart
    yield MeasureProgress(len(dataset), len(dataset))
    return found
