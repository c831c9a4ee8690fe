"""Comparisons as rows of tokens to train on: one row holds an item's trunk and all its branches.

The prompt and its tokens are the engine's own; llama.cpp tokenizes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.core.events import CancelToken
from engine.core.items import Item, Method, Order
from engine.core.rubric import ELOQUENT
from engine.llama.model import BranchTokens, LlamaModel, Vocabulary, common_prefix
from engine.models.templates import chat_template
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PromptTree, build_prompt, explanation_reply
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import branch_tokens, stem_tokens, tokenize_prompt
from models.demo.explanations import explain
from models.demo.questions import RUBRIC, DemoQuestion, all_questions
from models.demo.topics import TopicPool
from models.demo.world import QUALITIES, Comparison

NONE = -1  # no branch: padding; no block: the tokens between them
TRUNK = 0  # the number of the first branch, which all others follow

_LABEL_WEIGHT = 8.0
_EXPLANATION_WEIGHT = 1.0
_TWO_CRITERIA = ELOQUENT.only(ELOQUENT.names[:2])  # enough to find where the trunk ends
_QUESTIONS = all_questions()
_THOROUGHLY = {
    Method.PERMUTED_LABELS: 2,
    Method.POINTWISE_YES_NO: 1,
    Method.POINTWISE_GRADE: 1,
}  # permuted label tokens are the hardest to learn
_LINES_KEPT = 8192
_SORTED_TOGETHER = 4  # batches whose rows are sorted by length, so that little is padded


@dataclass(frozen=True)
class Content:
    """What a batch holds: `rows`; whether they have `labels`, and of how many criteria `explanations`.

    The labels are the label tokens of the task's criteria; with `drawn`, of so many criteria of both rubrics,
    drawn for each row. `always`: one of them that every row asks. `thorough`: how many of these are also
    asked by the other methods, by some of their questions. `text_weight`: what a token of the responses
    counts.
    """

    rows: int
    labels: bool = True
    explanations: int = 0
    drawn: int = 0
    always: str = ""
    thorough: int = 0
    text_weight: float = 0.5


@dataclass
class Row:
    """One item after the stem.

    For each token: `tokens`, its id; `branches`, TRUNK or the number of the branch; `parents`, the branch
    that this one goes on from; `positions`, counted from the prompt's start; `targets`, the next token of its
    branch; `weights`, what predicting that counts; `blocks`, which block it belongs to, its end included, or
    NONE: the instruction (0) or a response.
    For each block: `topics`, the number of its topic; `ends`, where it ends. `qualities`: 1.0 or 0.0 for each
    response and quality. For each question: `asked`, its number among all questions; `label_places`,
    `labels`: where its answer is predicted, and the answer's token.
    """

    tokens: list[int] = field(default_factory=list)
    branches: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    topics: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    qualities: list[list[float]] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    label_places: list[int] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """Rows padded to one length, with NONE as branch and block of the padding. Arrays are [rows, ...]."""

    tokens: npt.NDArray[np.int64]
    branches: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    blocks: npt.NDArray[np.int64]
    topics: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    qualities: npt.NDArray[np.float32]
    asked: npt.NDArray[np.int64]
    label_places: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Branch:
    """The question `number` as tokens: its whole prompt, the right answer, what explains it, if anything."""

    number: int
    prompt: tuple[int, ...]
    answer: tuple[int, ...]
    explanation: tuple[int, ...]


class _LineVocabulary(Vocabulary):
    """The same tokens, line by line, so that the lines of every prompt are tokenized once.

    A word never goes on after a line break where no line is white space alone; this world has none of those.
    """

    def __init__(self, model: LlamaModel) -> None:
        super().__init__(model)
        self._line = lru_cache(maxsize=_LINES_KEPT)(super().tokenize)

    def tokenize(self, text: str, parse_special: bool = False) -> list[int]:
        ids: list[int] = []
        for line in re.findall(r"[^\n]*\n+|[^\n]+", text):
            ids += self._line(line, parse_special)
        return ids


class RowWriter:
    """Makes rows of a world's comparisons with the tokenizer of an open model."""

    def __init__(self, model: LlamaModel, template: str, topics: TopicPool) -> None:
        vocabulary = _LineVocabulary(model)
        self._template = chat_template(template, vocabulary, CancelToken())
        self._end = vocabulary.tokenize(vocabulary.eos_text, parse_special=True)
        self._fences = [tuple(map(vocabulary.tokenize, fences)) for fences in _fences()]
        self._topics = {topic.name: number for number, topic in enumerate(topics.topics)}
        self.stem = stem_tokens(ELOQUENT, ExamplePool(), self._template)

    def row(self, comparison: Comparison, random: Random, content: Content) -> Row:
        """A row with the trunk, and as much of the branches as `content` says."""
        item = comparison.item("training")
        trunk = tokenize_prompt(build_prompt(item, Order.AB, _TWO_CRITERIA), self._template).trunk
        row = self._trunk_row(comparison, trunk, content.text_weight)
        if not content.labels:
            return row
        tree = build_prompt(item, Order.AB, RUBRIC)
        groups = _drawn_questions(random, content)
        explained = random.sample([name for name in ELOQUENT.names if name in groups], content.explanations)
        explanations = {name: explain(comparison, name, random) for name in explained}
        for name, numbers in groups.items():
            explanation = explanations.get(name, "")
            branches = [self._branch(comparison, tree, number, explanation) for number in numbers]
            _add_criterion(row, branches, len(trunk))
        row.blocks += [NONE] * (len(row.tokens) - len(row.blocks))
        return row

    def _trunk_row(self, comparison: Comparison, trunk: Sequence[int], text_weight: float) -> Row:
        row = Row()
        start = len(self.stem)  # the stem ends with the fence that begins the instruction
        ids = trunk[start:]
        blocks = [NONE] * len(ids)
        for number, (begin, end) in enumerate(self._fences):
            first, last = _end_of(trunk, begin) - start, _end_of(trunk, end) - start
            blocks[first:last] = [number] * (last - first)
            row.ends.append(last - 1)
        weights = [text_weight * (number in (1, 2)) for number in blocks[1:]]
        _append(row, ids, (TRUNK, TRUNK), start, [*weights, 0.0])
        row.blocks = blocks
        responses = (comparison.first, comparison.second)
        topics = (comparison.topic, *(response.topic for response in responses))
        row.topics = [self._topics[topic.name] for topic in topics]
        row.qualities = [[float(shown.good[quality]) for quality in QUALITIES] for shown in responses]
        return row

    def _branch(self, comparison: Comparison, tree: PromptTree, number: int, explanation: str) -> _Branch:
        asked = _QUESTIONS[number]
        tokens = question_tokens(tree, asked, self._template)
        answer = tokens.labels[asked.right(comparison)]
        said: tuple[int, ...] = ()
        if explanation and asked.method is Method.LABEL_TOKENS:
            reply = f"{explanation_reply(comparison.preferences[asked.criterion])} {explanation}"
            ids = (*self._template.tokenize(tree.question(asked.branch, reply)), *self._end)
            said = ids[len(tokens.prompt) + len(answer) :]
        return _Branch(number, tokens.prompt, answer, said)


def question_tokens(tree: PromptTree, asked: DemoQuestion, template: ChatTemplate) -> BranchTokens:
    """A question's whole prompt in a tree of RUBRIC, and what each of its answers adds."""
    question = asked.question
    replies = [f"{question.lead} {answer}" for answer in question.answers]
    return branch_tokens([tree.question(asked.branch, reply, question.text) for reply in replies], template)


def _drawn_questions(random: Random, content: Content) -> dict[str, list[int]]:
    """By criterion the numbers of the questions that a row asks."""
    names = _drawn_criteria(random, content) if content.drawn else list(ELOQUENT.names)
    groups = {}
    for place, name in enumerate(names):
        groups[name] = _numbers(name, Method.LABEL_TOKENS)
        if place < content.thorough:
            for method, count in _THOROUGHLY.items():
                groups[name] += random.sample(_numbers(name, method), count)
    return groups


def _drawn_criteria(random: Random, content: Content) -> list[str]:
    if not content.always:
        return random.sample(RUBRIC.names, content.drawn)
    others = [name for name in RUBRIC.names if name != content.always]
    names = random.sample(others, content.drawn - 1)
    names.insert(random.randrange(content.drawn), content.always)
    return names


def _numbers(criterion: str, method: Method) -> list[int]:
    questions = enumerate(_QUESTIONS)
    return [number for number, one in questions if one.criterion == criterion and one.method is method]


def _add_criterion(row: Row, branches: Sequence[_Branch], start: int) -> None:
    """Add the questions about one criterion; what several begin with is a branch that they go on from."""
    parent = TRUNK
    if len(branches) > 1:
        prompts = [branch.prompt for branch in branches]
        end = min(common_prefix(prompts), *(len(prompt) - 1 for prompt in prompts))
        parent = max(row.branches) + 1
        _append(row, prompts[0][start:end], (parent, TRUNK), start, [0.0] * (end - start))
        start = end
    for branch in branches:
        asked = len(branch.prompt) - start
        row.asked.append(branch.number)
        row.labels.append(branch.answer[0])
        row.label_places.append(len(row.tokens) + asked - 1)
        ids = (*branch.prompt[start:], *branch.answer, *branch.explanation)
        answered = [_LABEL_WEIGHT] * len(branch.answer)
        explained = [_EXPLANATION_WEIGHT] * len(branch.explanation)
        weights = [*[0.0] * (asked - 1), *answered, *explained, 0.0]
        _append(row, ids, (max(row.branches) + 1, parent), start, weights)


def batches(
    writer: RowWriter, comparisons: Iterator[Comparison], random: Random, content: Content
) -> Iterator[Batch]:
    """An endless supply of batches of comparisons; `random` chooses wording and order."""
    while True:
        drawn = islice(comparisons, content.rows * _SORTED_TOGETHER)
        rows = [writer.row(comparison, random, content) for comparison in drawn]
        rows.sort(key=lambda row: len(row.tokens))
        groups = [rows[first : first + content.rows] for first in range(0, len(rows), content.rows)]
        random.shuffle(groups)
        yield from map(as_batch, groups)


def as_batch(rows: Sequence[Row]) -> Batch:
    """Rows as arrays of one length."""
    return Batch(
        tokens=_with_filler([row.tokens for row in rows], 0),
        branches=_with_filler([row.branches for row in rows], NONE),
        parents=_with_filler([row.parents for row in rows], TRUNK),
        positions=_with_filler([row.positions for row in rows], 0),
        targets=_with_filler([row.targets for row in rows], 0),
        weights=_with_filler([row.weights for row in rows], 0).astype(np.float32),
        blocks=_with_filler([row.blocks for row in rows], NONE),
        topics=np.array([row.topics for row in rows]),
        ends=np.array([row.ends for row in rows]),
        qualities=np.array([row.qualities for row in rows], np.float32),
        asked=np.array([row.asked for row in rows]),
        label_places=np.array([row.label_places for row in rows]),
        labels=np.array([row.labels for row in rows]),
    )


def _append(
    row: Row, ids: Sequence[int], branch: tuple[int, int], start: int, weights: Sequence[float]
) -> None:
    """Add one part of a row, with its branch and the branch that it goes on from; nothing follows its end."""
    row.tokens.extend(ids)
    row.targets.extend([*ids[1:], 0])
    number, parent = branch
    row.branches.extend([number] * len(ids))
    row.parents.extend([parent] * len(ids))
    row.positions.extend(range(start, start + len(ids)))
    row.weights.extend(weights)


def _fences() -> list[tuple[str, str]]:
    """What the engine writes before and after the instruction and each response, on lines of its own."""
    trunk = build_prompt(Item("", "", "", ""), Order.AB, ELOQUENT).trunk
    begins, ends = trunk[0::3], trunk[2::3]  # around each foreign text
    return [(begin.text, end.text.lstrip("\n")) for begin, end in zip(begins, ends, strict=True)]


def _end_of(ids: Sequence[int], part: Sequence[int]) -> int:
    """The place after `part`."""
    for end in range(len(part), len(ids) + 1):
        if list(ids[end - len(part) : end]) == list(part):
            return end
    raise ValueError("A fence of the engine's prompt is not found in it as tokens: look at _fences.")


def _with_filler(lists: Sequence[Sequence[float]], padding: int) -> npt.NDArray[Any]:
    length = max(map(len, lists))
    return np.array([[*values, *[padding] * (length - len(values))] for values in lists])
