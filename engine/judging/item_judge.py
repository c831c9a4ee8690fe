"""Items judged by an open session: both orders, all criteria, then the explanations together."""

import time
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from engine.core.events import Drafted, LabelsRead, Reports
from engine.core.items import Item, Order, Preference, unsafe_explanation
from engine.core.judgments import Explanation, JudgedItem, Judgment, Unscored
from engine.core.rubric import Rubric
from engine.judging.item_reader import GroupWatch, ItemReader, ItemWork, Judging, TimeEstimate, seed_of
from engine.llama.session import Continuation, Generated, LlamaSession, Sampling
from engine.prompt.examples import ExamplePool
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import PromptSizer, most_of_one_prompt, tokenize_explanation
from engine.results.calibration import Calibration
from engine.results.decision import decide
from engine.results.health import complete_length, without_half_sentence
from engine.results.second_order import leaves_open, of_item
from engine.settings.rows import JudgeSettings

Placed = tuple[int, Item]  # position in the dataset, item
LabelsByCriterion = Mapping[str, Preference]
ExplanationsByCriterion = Mapping[str, Explanation]
_SECONDS_BETWEEN_DRAFTS = 0.25


@dataclass(frozen=True)
class _Text:
    work: ItemWork
    criterion: str
    preference: Preference
    slot: int
    branch: int


class ItemJudge:
    """Judges items with one session, rubric and set of settings; `time_estimate`: how fast that goes."""

    def __init__(
        self,
        session: LlamaSession,
        template: ChatTemplate,
        rubric: Rubric,
        settings: JudgeSettings,
        examples: ExamplePool,
        *,
        calibration: Calibration | None = None,
        series: Container[int] = (),
    ) -> None:
        """SetupError where the stem fills the context. `series`: the places of items in a series."""
        self._session = session
        self._template = template
        self._rubric = rubric
        self._settings = settings
        self._calibrations = calibration.criteria if calibration else {}
        self._series = series
        self._with = " with its labelled examples" if examples.are_own else ""
        made_of = (template, rubric, settings, examples, session.raise_if_cancelled)
        most = most_of_one_prompt(settings.context)
        self._sizer = PromptSizer(*made_of, keeps_state=session.keeps_state, most=most)
        self._holds_stem = False
        self.time_estimate = TimeEstimate()
        self._watch = GroupWatch(session, self.time_estimate, settings.longest_text)
        self._reader = ItemReader(session, template, self._sizer, self._watch)
        self._drafted = 0.0

    def judge(self, group: Sequence[Placed]) -> Judging[list[JudgedItem]]:
        """Judge a group: tells how far it is, returns the results in the order of the group. Items that do
        not fit the context, or may not be shown, come back unscored. The same group gives the same results.
        """
        yield from self._hold_stem()
        works = [self._prepare(position, item) for position, item in group]
        fitting = self._begin(works, self.texts)
        for batch in self._batches(fitting):
            yield from self._judge_batch(batch)
        yield from self._watch.tokens()
        return [self._result(work) for work in works]

    def explain(
        self, group: Sequence[tuple[Placed, LabelsByCriterion]]
    ) -> Judging[list[ExplanationsByCriterion | None]]:
        """Write explanations for labels by criterion, whatever is read; returns them in the order of the
        group, without those of no words, or None for an item that does not fit the context.
        """
        yield from self._hold_stem()
        works = [self._prepare(position, item) for (position, item), _ in group]
        labels = {work.position: wanted for work, (_, wanted) in zip(works, group, strict=True)}
        for batch in self._batches(self._begin(works, 1)):
            texts = []
            for slot, work in enumerate(batch):
                wanted = labels[work.position]
                branches = dict(zip(self._rubric.names, work.sized.tokens[Order.AB].branches, strict=True))
                yield from self._reader.hold(slot, work, [branches[criterion] for criterion in wanted])
                for branch, (criterion, preference) in enumerate(wanted.items()):
                    texts.append(_Text(work, criterion, preference, slot, branch))
            yield from self._write(batch, texts)
        yield from self._watch.tokens()
        return [work.explanations if self._sizer.fits(work.sized) else None for work in works]

    @property
    def tokens_without_letters(self) -> int:
        """What is read for an item besides its instruction and responses."""
        nothing = Item("", "", "", "")
        first, second = self._sizer.tokens_by_order(self._sizer.sized(nothing, nothing))
        return first if self._settings.may_read_one_order else first + second

    @property
    def texts(self) -> int:
        return self._settings.texts(len(self._rubric.criteria))

    def _hold_stem(self) -> Judging[None]:
        if not self._holds_stem:
            for _ in self._session.holding_stem(self._sizer.stem):
                yield from self._watch.tokens()
            self._holds_stem = True

    def _begin(self, works: Sequence[ItemWork], texts: int) -> list[ItemWork]:
        """Begin a group; those of its items that fit the context. `texts`: explanations of each."""
        fitting = [work for work in works if self._sizer.fits(work.sized)]
        to_read, held = 0, self._session.common
        for batch in self._batches(fitting):
            for work in batch:
                first, second = self._sizer.tokens_by_order(work.sized, held)
                sure = first + second
                if self._settings.may_read_one_order:
                    sure, work.second = first, second
                    work.expected = round(second * self.time_estimate.share_of_second_orders)
                self.time_estimate.sized(work.sized.shown, sure)
                to_read += sure + work.expected
                held = work.sized.apart
            if self._settings.explains:
                held = ()
        if works:
            self._watch.begin(works[0].position, works[-1].position, to_read, texts * len(fitting))
        return fitting

    def _prepare(self, position: int, item: Item) -> ItemWork:
        return ItemWork(position, item, *self._sizer.as_judged(item, position in self._series))

    def _batches(self, works: Sequence[ItemWork]) -> Iterator[list[ItemWork]]:
        """As many items at once as the context holds, in their order."""
        batch: list[ItemWork] = []
        shared = cells = self._sizer.shared_cells
        for work in works:
            own = work.sized.cells - shared
            if batch and cells + own > self._settings.context:
                yield batch
                batch, cells = [], shared
            batch.append(work)
            cells += own
        if batch:
            yield batch

    def _judge_batch(self, batch: Sequence[ItemWork]) -> Judging[None]:
        """Read all items of a batch, each in all orders; then write what explains them."""
        for place, work in enumerate(batch):
            # Without explanations nothing of an item is needed later: one slot will do.
            slot = place if self._settings.explains else 0
            if (below := self._settings.second_order_below) is not None:
                yield from self._read_as_needed(slot, work, below)
            else:
                for order in self._settings.orders_as_read:
                    yield from self._reader.read(slot, work, order)
                    yield self._labels_read(work, whole=order is Order.AB)
            if not self._settings.explains:
                self._session.release([slot])
        if self._settings.explains:
            texts = [
                _Text(work, judgment.criterion, judgment.preference, slot, branch)
                for slot, work in enumerate(batch)
                for branch, judgment in enumerate(self._decided(work))
                if isinstance(judgment, Judgment)
            ]
            yield from self._write(batch, texts)

    def _read_as_needed(self, slot: int, work: ItemWork, below: float) -> Judging[None]:
        """Read AB, and BA where AB leaves a label open; AB stays in its slot where it is to be explained."""
        yield from self._reader.read(slot, work, Order.AB)
        item = work.original
        deciding = of_item(self._calibrations, item.content_hash)
        needed = leaves_open(work.raw_predictions, below, deciding, item.lengths)
        self._watch.expect((work.second if needed else 0) - work.expected)
        self.time_estimate.decided(work.second if needed else None)
        yield self._labels_read(work, whole=not needed)
        if not needed:
            return
        if self._settings.explains:
            # The slot after those of the group: AB must stay in its own, for the explanations.
            aside = self._settings.items_at_once
            yield from self._reader.read(aside, work, Order.BA, beside=slot)
            self._session.release([aside])
        else:
            yield from self._reader.read(slot, work, Order.BA)
        yield self._labels_read(work, whole=True)

    def _labels_read(self, work: ItemWork, whole: bool) -> LabelsRead:
        return LabelsRead(work.position, work.original.id, self._decided(work), whole)

    def _decided(self, work: ItemWork) -> tuple[Judgment | Unscored, ...]:
        judged = self._result(work)
        decided = [decide(judged, name, self._calibrations.get(name)) for name in self._rubric.names]
        return tuple(each for each in decided if isinstance(each, Judgment | Unscored))

    def _write(self, batch: Sequence[ItemWork], texts: Sequence[_Text]) -> Judging[None]:
        """Write the texts of a batch together, without those of no words; release its slots."""
        started = time.perf_counter()
        read, generated = self._session.tokens_read, self._session.tokens_generated
        settings = self._settings
        most = settings.max_explanation_sentences
        complete = None if most is None else partial(complete_length, most_sentences=most)
        sampling = Sampling(settings.max_explanation_tokens, settings.temperature, complete)
        explanations = yield from self._drafts(texts, sampling)
        for text, written in zip(texts, explanations, strict=True):
            line = tidy(written.data, written.cut)
            if most is not None:
                line = line[: complete_length(line, most, ended=True)]
            if line:
                text.work.explanations[text.criterion] = Explanation(line, text.preference, written.cut)
        # Texts are written together, so nobody can say what a single one took.
        share, seconds = len(batch), time.perf_counter() - started
        tokens = self._session.tokens_generated - generated
        for work in batch:
            work.seconds += seconds / share
            work.tokens_read += (self._session.tokens_read - read) // share
            work.tokens_generated += tokens // share
        self.time_estimate.wrote(tokens, len(texts), seconds)
        # What its last item begins with may have been read next to other items: where a cache holds something
        # decides the last digits, and a resumed run would read it next to none.
        self._session.release(range(len(batch)))
        self._session.drop_common()

    def _drafts(self, texts: Sequence[_Text], sampling: Sampling) -> Judging[list[Generated]]:
        started, before = time.perf_counter(), self._session.tokens_generated
        continuations = []
        for text in texts:
            tree, question = text.work.sized.trees[Order.AB], self._rubric.names.index(text.criterion)
            prompt = tokenize_explanation(tree, question, text.preference, self._template)
            # By the item's content, not its place: a run of some items writes what a run of all writes.
            seed = seed_of(self._settings.seed, text.work.original.content_hash, text.criterion)
            continuations.append(Continuation(text.slot, text.branch, prompt, seed))
        writing = Reports(self._session.writing(continuations, sampling))
        for drafts in writing:
            yield from self._watch.tokens()
            growing = next((place for place, draft in enumerate(drafts) if not draft.done), None)
            if growing is None:
                continue
            work = texts[growing].work
            yield from self._watch.writing(work.position, work.original.id, before, started)
            if time.perf_counter() - self._drafted > _SECONDS_BETWEEN_DRAFTS:
                self._drafted = time.perf_counter()
                line = tidy(drafts[growing].text.decode("utf-8", "ignore").encode(), cut=False)
                text = texts[growing]
                yield Drafted(work.original.id, text.criterion, text.preference, line)
        return writing.result

    def _result(self, work: ItemWork) -> JudgedItem:
        unscored = {}
        if not work.raw_predictions:
            context = self._settings.context
            too_long = f"needs {work.sized.needs}{self._with}, the context holds {context:,}"
            reason = work.sized.refused or too_long
            unscored = dict.fromkeys(self._rubric.names, reason)
        return JudgedItem(
            position=work.position,
            item_id=work.original.id,
            content_hash=work.original.content_hash,
            raw_predictions={name: tuple(own) for name, own in work.raw_predictions.items()},
            explanations=work.explanations,
            unscored=unscored,
            shortening=work.shortening,
            seconds=work.seconds,
            tokens_read=work.tokens_read,
            tokens_generated=work.tokens_generated,
            lengths=work.original.lengths,
        )


def tidy(data: bytes, cut: bool) -> str:
    """A generated explanation as one line of text: no control characters, no half sentence where it was cut.
    Empty where nothing was said, or only what table readers take for a missing value or a number.
    """
    text = data.decode("utf-8", "ignore" if cut else "replace")
    text = "".join(" " if unicodedata.category(char) in {"Cc", "Zl", "Zp"} else char for char in text)
    text = " ".join(text.split())
    if cut:
        text = without_half_sentence(text)
    return "" if unsafe_explanation(text) else text
