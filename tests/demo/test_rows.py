"""Rows to train on: every branch reads as the engine's prompt does, and each target is what comes next."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from random import Random

import numpy as np
import pytest

from engine.core.events import CancelToken
from engine.core.items import PREFERENCES, Method, Order
from engine.core.rubric import ELOQUENT
from engine.llama.model import LlamaModel, Vocabulary
from engine.models.templates import chat_template
from engine.prompt.judge_prompt import PromptTree, build_prompt
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import tokenize_explanation, tokenize_prompt
from models.demo.explanations import argued_label
from models.demo.questions import METHODS, RUBRIC, all_questions
from models.demo.rows import NONE, Batch, Content, Row, RowWriter, batches
from models.demo.world import QUALITIES, Comparison, World
from tests.commands import ROOT

EXPLAINED = Content(rows=4, explanations=5)
THOROUGH = Content(rows=4, explanations=1, drawn=4, thorough=2)
QUESTIONS = all_questions()
WORLD = World()


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaModel]:
    with LlamaModel(ROOT / "models" / "demo-judge.gguf", vocabulary_only=True) as model:
        yield model


@pytest.fixture(scope="module")
def template(model: LlamaModel) -> ChatTemplate:
    return chat_template(model.chat_template, Vocabulary(model), CancelToken())


@pytest.fixture(scope="module")
def writer(model: LlamaModel) -> RowWriter:
    return RowWriter(model, model.chat_template or "", WORLD.topics)


def comparisons(count: int) -> list[Comparison]:
    return list(islice(WORLD.comparisons(Random(5), held_out=False), count))


def tree(comparison: Comparison) -> PromptTree:
    return build_prompt(comparison.item("1"), Order.AB, ELOQUENT)


def branch_tokens(writer: RowWriter, row: Row, number: int) -> list[int]:
    """What a token of a branch sees before it, and the branch itself."""
    seen = [token for token, branch in zip(row.tokens, row.branches, strict=True) if branch in (0, number)]
    return [*writer.stem, *seen]


def seen_at(row: Row, place: int) -> list[int]:
    """What the token at a place sees and itself: the trunk, the branch that its own goes on from, its own."""
    branches = (0, row.parents[place], row.branches[place])
    return [row.tokens[number] for number in range(place + 1) if row.branches[number] in branches]


def test_every_question_reads_as_the_engines_prompt(writer: RowWriter, template: ChatTemplate) -> None:
    for comparison in comparisons(10):
        row = writer.row(comparison, Random(comparison.question), THOROUGH)
        shown = build_prompt(comparison.item("1"), Order.AB, RUBRIC)
        for place, number, label in zip(row.label_places, row.asked, row.labels, strict=True):
            asked = QUESTIONS[number]
            answer = asked.question.answers[asked.right(comparison)]
            reply = f"{asked.question.lead} {answer}"
            ids = template.tokenize(shown.question(asked.branch, reply, asked.question.text))
            seen = [*writer.stem, *seen_at(row, place)]
            assert seen == ids[: len(seen)], asked
            assert row.targets[place] == label == ids[len(seen)]
            assert row.positions[place] == len(seen) - 1
            assert row.weights[place] == max(row.weights)


def test_every_row_asks_all_ways_of_a_part_of_both_rubrics(writer: RowWriter) -> None:
    counted = Counter[tuple[str, Method]]()
    for number, comparison in enumerate(comparisons(60)):
        asked = [QUESTIONS[one] for one in writer.row(comparison, Random(number), THOROUGH).asked]
        assert len({one.criterion for one in asked}) == THOROUGH.drawn
        assert (
            len({one.criterion for one in asked if one.method is Method.POINTWISE_GRADE}) == THOROUGH.thorough
        )
        counted.update((one.criterion, one.method) for one in asked)
    assert set(counted) == set(product(RUBRIC.names, METHODS))


def test_every_row_asks_what_it_always_asks(writer: RowWriter) -> None:
    always = replace(THOROUGH, always="truthfulness")
    thoroughly = 0
    for number, comparison in enumerate(comparisons(40)):
        asked = [QUESTIONS[one] for one in writer.row(comparison, Random(number), always).asked]
        assert len({one.criterion for one in asked}) == always.drawn
        methods = {one.method for one in asked if one.criterion == "truthfulness"}
        assert Method.LABEL_TOKENS in methods
        thoroughly += Method.POINTWISE_GRADE in methods
    assert 5 < thoroughly < 35


def test_the_responses_text_counts_what_it_is_told(writer: RowWriter) -> None:
    (comparison,) = comparisons(1)
    silent = writer.row(comparison, Random(0), replace(THOROUGH, text_weight=0.0))
    of_trunk = [weight for weight, branch in zip(silent.weights, silent.branches, strict=True) if branch == 0]
    assert not any(of_trunk)
    assert set(writer.row(comparison, Random(0), THOROUGH).weights) == {0.0, 0.5, 1.0, 8.0}


def test_a_branch_reads_as_the_engines_prompt(writer: RowWriter, template: ChatTemplate) -> None:
    for comparison in comparisons(5):
        row = writer.row(comparison, Random(0), EXPLAINED)
        prompts = tokenize_prompt(tree(comparison), template)
        for number, (criterion, label) in enumerate(comparison.preferences.items()):
            ids = branch_tokens(writer, row, number + 1)
            assert tuple(ids[: len(prompts.branches[number].prompt)]) == prompts.branches[number].prompt
            asked = tokenize_explanation(tree(comparison), number, label, template)
            assert tuple(ids[: len(asked)]) == asked, criterion


def test_labels_are_predicted_where_the_engine_reads_them(writer: RowWriter, template: ChatTemplate) -> None:
    for comparison in comparisons(5):
        row = writer.row(comparison, Random(0), EXPLAINED)
        prompts = tokenize_prompt(tree(comparison), template)
        for number, label in enumerate(comparison.preferences.values()):
            place = row.label_places[number]
            assert prompts.branches[number].labels[PREFERENCES.index(label)] == (row.labels[number],)
            assert row.targets[place] == row.labels[number]
            assert row.tokens[place] == prompts.branches[number].prompt[-1]
            assert row.weights[place] == max(row.weights)


def test_an_explained_branch_ends_with_the_end_of_the_turn(writer: RowWriter, model: LlamaModel) -> None:
    (comparison,) = comparisons(1)
    row = writer.row(comparison, Random(0), EXPLAINED)
    vocabulary = Vocabulary(model)
    for number, (criterion, label) in enumerate(comparison.preferences.items()):
        *_, end = branch_tokens(writer, row, number + 1)
        assert vocabulary.ends_reply(end)
        text = b"".join(map(vocabulary.piece, branch_tokens(writer, row, number + 1))).decode("utf-8")
        assert argued_label(criterion, text.rpartition("Explanation: ")[2]) is label


def test_positions_go_on_after_the_trunk_in_each_branch(writer: RowWriter) -> None:
    row = writer.row(comparisons(1)[0], Random(0), EXPLAINED)
    for number in range(6):
        places = [
            place for place, branch in zip(row.positions, row.branches, strict=True) if branch == number
        ]
        start = len(writer.stem) + (row.branches.count(0) if number else 0)
        assert places == list(range(start, start + len(places)))


def test_blocks_are_the_texts_of_the_item(writer: RowWriter, model: LlamaModel) -> None:
    (comparison,) = comparisons(1)
    row = writer.row(comparison, Random(0), Content(1, labels=False))
    texts = (comparison.instruction, comparison.first.text, comparison.second.text)
    for number, text in enumerate(texts):
        ids = [token for token, block in zip(row.tokens, row.blocks, strict=True) if block == number]
        written = b"".join(map(Vocabulary(model).piece, ids)).decode("utf-8")
        assert written.startswith(f"{text}\n[End of ")
    assert row.topics[0] == WORLD.topics.topics.index(comparison.topic)
    assert row.qualities[1] == [float(comparison.second.good[quality]) for quality in QUALITIES]


def test_a_row_without_labels_is_the_trunk(writer: RowWriter, template: ChatTemplate) -> None:
    for comparison in comparisons(5):
        row = writer.row(comparison, Random(0), Content(1, labels=False))
        assert (*writer.stem, *row.tokens) == tokenize_prompt(tree(comparison), template).trunk


def made(writer: RowWriter) -> list[Batch]:
    random = Random(9)
    supply = batches(writer, WORLD.comparisons(random, held_out=False), random, THOROUGH)
    return list(islice(supply, 6))


def test_the_same_seed_gives_the_same_batches(writer: RowWriter) -> None:
    for one, other in zip(made(writer), made(writer), strict=True):
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


def test_padding_counts_nothing(writer: RowWriter) -> None:
    batch = made(writer)[0]
    padding = batch.branches == NONE
    assert padding.any()
    assert not batch.weights[padding].any()
    assert (batch.blocks[padding] == NONE).all()
