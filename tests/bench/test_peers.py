"""The bench of peers, without a server: the same tokens for all, the ratios, bad arguments."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.peers.asked import AskedItem, NotComparableError, asked_of, largest_difference, session_shape
from bench.peers.bare import Bare
from bench.peers.server import Server, ServerShape
from bench.peers.ways import Ours, Python, open_llama
from engine.core.events import CancelToken
from engine.core.items import Order
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.judging.item_judge import Placed
from engine.llama.model import LlamaModel, Vocabulary
from engine.llama.session import LlamaSession
from engine.models.templates import chat_template
from engine.prompt.judge_prompt import build_prompt
from engine.prompt.tokens import tokenize_prompt
from engine.settings.rows import JudgeSettings, Mode

CONTEXT = 4096
SETTINGS = JudgeSettings(context=CONTEXT, max_explanation_tokens=6, items_at_once=2)


@pytest.fixture(scope="module")
def placed(demo_gold: Path) -> list[Placed]:
    return list(enumerate(load_dataset(demo_gold).head(2)))


@pytest.fixture(scope="module")
def model_file(small_model: Callable[[str], Path]) -> Path:
    return small_model("chatml")


@pytest.fixture(scope="module")
def asked(model_file: Path, placed: Sequence[Placed]) -> list[AskedItem]:
    with LlamaModel(model_file) as model:
        return asked_of(model, placed, SETTINGS, 1)


def test_peers_are_asked_the_prompts_of_a_run(
    model_file: Path, placed: Sequence[Placed], asked: Sequence[AskedItem]
) -> None:
    with LlamaModel(model_file, vocabulary_only=True) as model:
        template = chat_template(model.chat_template, Vocabulary(model), CancelToken())
        expected = [
            tuple(
                branch.prompt
                for branch in tokenize_prompt(build_prompt(item, order, ELOQUENT), template).branches
            )
            for _, item in placed
            for order in (Order.BA, Order.AB)
        ]
    found = [tuple(question.prompt for question in order) for each in asked for order in each.orders]
    assert found == expected


def test_texts_go_on_from_the_order_read_last(asked: Sequence[AskedItem]) -> None:
    for each in asked:
        for text, question in zip(each.texts, each.orders[-1], strict=True):
            assert text.prompt[: len(question.prompt)] == question.prompt
            assert 1 <= text.tokens <= SETTINGS.max_explanation_tokens


@pytest.mark.parametrize("keeps", [True, False])
def test_llama_reads_the_same_and_agrees(
    keeps: bool, model_file: Path, placed: Sequence[Placed], asked: Sequence[AskedItem]
) -> None:
    shape = session_shape(SETTINGS)
    with LlamaModel(model_file) as model, LlamaSession(model, shape, 1, CancelToken()) as session:
        ours = Ours(model, session, placed, SETTINGS, time.perf_counter).judge([0, 1])
    llama = open_llama(model_file, CONTEXT, 1)
    theirs = Python(llama, asked, keeps, time.perf_counter).judge([0, 1])
    llama.close()
    prompts = [each.prompt for item in asked for each in item.questions]
    prompts += [text.prompt for item in asked for text in item.texts]
    whole = sum(map(len, prompts))
    assert theirs.written == ours.written == sum(text.tokens for item in asked for text in item.texts)
    assert (theirs.read < whole / 3) if keeps else (theirs.read == whole)
    assert largest_difference(ours.log_probs, theirs.log_probs) < 0.02


def test_llama_cpp_itself_reads_and_writes_the_same(model_file: Path, asked: Sequence[AskedItem]) -> None:
    with LlamaModel(model_file) as model, Bare(model, session_shape(SETTINGS), 1, time.perf_counter) as bare:
        speed = bare.speed(asked, held=100)
    assert speed.read == sum(len(order[0].prompt) - 100 for item in asked for order in item.orders)
    assert speed.written == sum(text.tokens for item in asked for text in item.texts)
    assert min(speed.reading, speed.writing) > 0


def test_a_server_that_does_not_start_shows_its_log(model_file: Path) -> None:
    with pytest.raises(NotComparableError, match=r"(?s)llama-server ended with 2.*--host"):
        Server(Path(sys.executable), model_file, ServerShape(1, CONTEXT), 1)


def test_labels_are_read_item_by_item(model_file: Path, placed: Sequence[Placed]) -> None:
    settings = JudgeSettings(mode=Mode.LABELS, context=CONTEXT)
    with LlamaModel(model_file) as model:
        assert not any(item.texts for item in asked_of(model, placed, settings, 1))
