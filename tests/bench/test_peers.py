"""The bench of peers, without a server: the same tokens for all, the ratios, bad arguments."""

import sys
import time
from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path

import pytest

from bench.peers.__main__ import main
from bench.peers.asked import (
    AskedItem,
    NotComparableError,
    Question,
    Text,
    asked_of,
    by_item,
    largest_difference,
    session_shape,
)
from bench.peers.bare import Bare
from bench.peers.comparison import Bar, Round, table
from bench.peers.server import Server, ServerShape, label_log_probs
from bench.peers.ways import ObservedTask, Ours, Python, open_llama
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


def test_an_item_that_does_not_fit_cannot_be_compared() -> None:
    question = Question((1, 2), (3, 4))
    assert len(by_item([(question,)] * 4, [Text((1, 2, 3), 2)] * 2, 2, 2)) == 2
    with pytest.raises(NotComparableError, match="--context"):
        by_item([(question,)] * 3, [], 2, 2)


def test_labels_that_a_server_does_not_name_are_not_compared() -> None:
    named = [{"id": 4, "logprob": -0.5}, {"id": 9, "logprob": -1.5}]
    rows = [label_log_probs(Question((1,), (4, 5)), {"completion_probabilities": [{"top_logprobs": named}]})]
    assert rows[0] == pytest.approx((-0.5, nan), nan_ok=True)
    assert largest_difference([(-0.5, -9.0)], rows) == 0
    assert largest_difference([(0.0, -9.0)], rows) == pytest.approx(0.3935, abs=1e-4)


def rounds(*seconds: tuple[float, float, float]) -> list[Round]:
    names = ("ours", "cache", "five")
    return [
        Round(
            2, {name: ObservedTask(value, 2000, 0, []) for name, value in zip(names, each, strict=True)}, 0.95
        )
        for each in seconds
    ]


def test_a_table_of_ratios() -> None:
    bar = Bar("best", ("cache", "five"), 1.3)
    lines = table("ours", rounds((1, 1.5, 6), (2, 2.4, 6), (1, 1.4, 1.3)), [bar])
    assert lines[1].split() == ["ours", "0.67", "1,000", "0"]
    assert lines[2].endswith("1.40 (1.20 to 1.50)")
    assert lines[3].endswith("3.00 (1.30 to 6.00)")
    assert lines[4] == "best: 1.30 (1.20 to 1.50); at least 1.30: reached"
    assert lines[5] == "share of llama.cpp's own speed: 0.95 (0.95 to 0.95); at least 0.93: reached"


def test_a_bar_that_is_not_reached() -> None:
    assert table("ours", rounds((1, 1.2, 6)), [Bar("best", ("cache",), 1.3)])[4].endswith("NOT REACHED")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no.gguf", "{data}"], "There is no file no.gguf.\n"),
        (["{model}", "{data}", "--items", "3"], "3 items are too few: give --items 4 or more.\n"),
        (["{model}", "{data}", "--server", "no-server"], "There is no file no-server.\n"),
    ],
)
def test_bad_arguments_give_one_line(
    words: Sequence[str],
    said: str,
    model_file: Path,
    demo_gold: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [word.format(model=model_file, data=demo_gold) for word in words]
    monkeypatch.setattr(sys, "argv", ["peers", *given])
    assert main() == 2
    assert capsys.readouterr() == ("", said)


def test_a_server_that_does_not_start_shows_its_log(model_file: Path) -> None:
    with pytest.raises(NotComparableError, match=r"(?s)llama-server ended with 2.*--host"):
        Server(Path(sys.executable), model_file, ServerShape(1, CONTEXT), 1)


def test_labels_are_read_item_by_item(model_file: Path, placed: Sequence[Placed]) -> None:
    settings = JudgeSettings(mode=Mode.LABELS, context=CONTEXT)
    with LlamaModel(model_file) as model:
        assert not any(item.texts for item in asked_of(model, placed, settings, 1))
