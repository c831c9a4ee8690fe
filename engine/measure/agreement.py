"""Agreement: what a second model says of a judge's explanation, compared with the human one.

P(yes) and P(no) are read from the logits after the prompt; no text is generated. All questions about an
item share its texts, which are read once. Each question is read by itself after them, so that its result
depends on nothing else that is asked: it can be kept.

Knows: the way from questions to remembered numbers. Does not know: the wording, files, means over items.
"""

import math
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.errors import EngineBug
from engine.core.events import MeasureProgress
from engine.core.items import Gold, Item, Prediction, digest
from engine.core.judgments import Agreement, Unscored
from engine.core.rubric import Criterion
from engine.core.settings import MachineSettings, default_context
from engine.decisions.decision import NOT_FINITE
from engine.llama.context import SessionShape
from engine.llama.library import library_version
from engine.llama.token_tree import LONE_TOKEN_CELLS, PromptTokens, common_prefix
from engine.loading.checked_model import CheckedModel
from engine.loading.opening import OpenModel, OpenModelFactory, open_session
from engine.prompt.agreement_prompt import (
    AGREEMENT_VERSION,
    AgreementPrompt,
    answer_reply,
    build_agreement_prompt,
    item_trunk,
)
from engine.prompt.chat_template import ChatTemplate
from engine.prompt.fences import UnbreakableTextError
from engine.prompt.frame import FRAME_VERSION
from engine.prompt.parts import Part, own
from engine.prompt.tokens import PROBES, branch_tokens, shared_tokens
from engine.store.run_store import RunStore

_NEITHER = "the model gave no probability to yes or no"
_SLOT = 0


@dataclass(frozen=True)
class AgreementQuestion:
    """One explanation to ask about. EngineBug where it, or the human one, is missing."""

    item: Item
    criterion: Criterion
    gold: Gold
    prediction: Prediction

    def __post_init__(self) -> None:
        if not self.prediction.explanation or not self.gold.explanation:
            raise EngineBug(f"item {self.item.id}, {self.criterion.name}: an explanation is missing")

    def key(self, model_hash: str) -> str:
        """What the result depends on, as one digest: the build, the model and its format, all texts."""
        item, criterion = self.item, self.criterion
        return digest(
            [
                *("agreement", AGREEMENT_VERSION, FRAME_VERSION, library_version(), model_hash),
                *(item.instruction, item.output_a, item.output_b),
                *(criterion.name, criterion.question),
                *(self.prediction.preference, self.prediction.explanation),
                *(self.gold.label, self.gold.explanation),
            ]
        )


def open_agreement_model(
    checked: CheckedModel, machine: MachineSettings, cancel: CancelToken
) -> AbstractContextManager[OpenModel]:
    """The model that is asked, with room for one question of at most 8,192 tokens.

    Raises ModelFileError where the file cannot be used or has changed, Cancelled where `cancel` is set.
    """
    return open_session(
        checked, machine, lambda model: SessionShape(default_context(model.trained_context), 1, 1), cancel
    )


def measure_agreement(
    questions: Sequence[AgreementQuestion], opener: OpenModelFactory, store: RunStore, model_hash: str
) -> Generator[MeasureProgress, None, list[Agreement | Unscored]]:
    """Ask all questions that the store does not know; returns the results in their order.

    A question that does not fit the context, or gets no finite probabilities, comes back as Unscored with
    the reason, which is not kept. `opener` opens the model of `model_hash`; it is called only where
    something is left to ask, and its CancelToken stops the measure: Cancelled is raised, the items that
    were finished are in the store, and the same call goes on with the others. Raises what `opener` does,
    StoreError.
    """
    keys = [question.key(model_hash) for question in questions]
    counts = Counter(keys)
    found: dict[str, Agreement | str] = {
        key: Agreement(*numbers) for key, numbers in store.recall(counts).items()
    }
    done = sum(counts[key] for key in found)
    yield MeasureProgress(done, len(questions))
    groups = _by_item({key: asked for key, asked in zip(keys, questions, strict=True) if key not in found})
    if groups:
        with opener() as opened:
            asker = _Asker(opened)
            for group in groups:
                for key, question in group.items():
                    found[key] = asker.ask(question)
                    done += counts[key]
                    yield MeasureProgress(done, len(questions))
                results = {key: found[key] for key in group}
                store.remember(
                    {
                        key: (answer.p_yes, answer.p_no)
                        for key, answer in results.items()
                        if isinstance(answer, Agreement)
                    }
                )
    return [_result(question, found[key]) for key, question in zip(keys, questions, strict=True)]


def _by_item(questions: Mapping[str, AgreementQuestion]) -> list[dict[str, AgreementQuestion]]:
    """The questions by key, those about the same texts together."""
    groups: dict[str, dict[str, AgreementQuestion]] = {}
    for key, question in questions.items():
        groups.setdefault(question.item.content_hash, {})[key] = question
    return list(groups.values())


def _result(question: AgreementQuestion, found: Agreement | str) -> Agreement | Unscored:
    if isinstance(found, Agreement):
        return found
    return Unscored(question.item.id, question.criterion.name, found)


class _Asker:
    """Asks one question after another; what they share with the one before is not read again."""

    def __init__(self, opened: OpenModel) -> None:
        self._session = opened.session
        self._template = opened.template
        self._context = opened.session.shape.context
        self._trunk: tuple[int, ...] | None = None
        self._stem = _stem_tokens(opened.template)
        # Where it does not fit, no question does, and each says so.
        if len(self._stem) + LONE_TOKEN_CELLS < self._context:
            self._session.hold_stem(self._stem)

    def ask(self, question: AgreementQuestion) -> Agreement | str:
        """What the model says, or the reason why it said nothing that counts. Raises Cancelled."""
        self._session.raise_if_cancelled()
        try:
            tokens = self._tokenized(question)
        except UnbreakableTextError as error:
            return error.reason
        cells = self._cells(tokens)
        if cells > self._context:
            return f"needs {cells:,} tokens, the context holds {self._context:,}"
        if tokens.trunk != self._trunk:
            self._session.release([_SLOT])
            self._session.read_trunk(_SLOT, tokens.trunk)
            self._trunk = tokens.trunk
        log_probs = self._session.score(_SLOT, tokens.branches)
        if not np.isfinite(log_probs).all():
            return NOT_FINITE
        p_yes, p_no = (math.exp(value) for value in log_probs[0])
        return Agreement(p_yes, p_no) if p_yes + p_no > 0 else _NEITHER

    def _tokenized(self, question: AgreementQuestion) -> PromptTokens:
        prompt = build_agreement_prompt(question.item, question.criterion, question.gold, question.prediction)
        replies = [prompt.question(answer_reply(agrees)) for agrees in (True, False)]
        branch = branch_tokens(replies, self._template)
        trunk = _trunk_tokens(prompt.trunk, self._template)
        return PromptTokens(trunk[: common_prefix([trunk, branch.prompt[:-1]])], (branch,))

    def _cells(self, tokens: PromptTokens) -> int:
        """Tokens of context that a question takes, with the stem and what the session needs."""
        return len(self._stem) + LONE_TOKEN_CELLS + tokens.cells_beside(self._stem)


def _stem_tokens(template: ChatTemplate) -> tuple[int, ...]:
    """What all questions begin with."""
    items = [Item("probe", text, text, text) for text in PROBES]
    return shared_tokens([AgreementPrompt(item_trunk(item), ()).question() for item in items], template)


def _trunk_tokens(trunk: tuple[Part, ...], template: ChatTemplate) -> tuple[int, ...]:
    """What all questions about an item begin with; none of them takes part in finding it."""
    return shared_tokens([AgreementPrompt(trunk, (own(text),)).question() for text in PROBES], template)
