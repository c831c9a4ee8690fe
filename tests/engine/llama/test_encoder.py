"""Texts as vectors, on real llama.cpp with small random encoders."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.core.events import Cancelled, CancelToken
from engine.llama.context import ThreadCount
from engine.llama.encoder import LONGEST, LlamaEncoder
from engine.llama.model import LlamaModel
from tests.encoders.rewritten import FAMILIES, FOLDER, rewritten
from tests.engine.llama.stopping import CountingToken, refused_to_others
from tests.steps import refused

LONG = "All work and no play makes the judge a dull one. " * 60

families = pytest.mark.parametrize("family", FAMILIES)


@contextmanager
def encoder_of(path: Path, cancel: CancelToken | None = None) -> Iterator[LlamaEncoder]:
    with LlamaModel(path) as model, LlamaEncoder(model, 1, cancel or CancelToken()) as encoder:
        yield encoder


@pytest.fixture(params=FAMILIES)
def encoder(request: pytest.FixtureRequest) -> Iterator[LlamaEncoder]:
    with encoder_of(FOLDER / f"{request.param}.gguf") as opened:
        yield opened


def test_each_token_has_a_vector_of_length_1_and_long_texts_are_cut_to_512(encoder: LlamaEncoder) -> None:
    (encoded,) = encoder.encode(["Both responses are relevant."])
    assert encoded.vectors.shape == (len(encoded.weights), 32)
    assert encoded.vectors.dtype == np.float32
    assert np.linalg.norm(encoded.vectors, axis=1) == pytest.approx(1)
    assert encoded.weights.tolist() == [0, *[1] * (len(encoded.weights) - 2), 0]
    (encoded,) = encoder.encode([LONG])
    assert encoded.vectors.shape == (512, 32)
    assert encoded.weights[[0, -1]].tolist() == [0, 0]
    assert encoded.weights.sum() == 510


def test_vectors_depend_on_their_text_alone_to_the_last_bit(encoder: LlamaEncoder) -> None:
    texts = ["Good.", "Response A is better than B.", "", LONG, "Good."]
    for text, together in zip(texts, encoder.encode(texts), strict=True):
        (alone,) = encoder.encode([text])
        assert np.array_equal(together.vectors, alone.vectors)
        assert np.array_equal(together.weights, alone.weights)


@pytest.mark.parametrize(
    "text", ["Two words, and more. " * 5000, "word" * 20_000, "word" * 9000 + " end" * 900]
)
def test_of_a_very_long_text_the_first_words_are_enough(encoder: LlamaEncoder, text: str) -> None:
    whole = encoder._vocabulary.tokenize(f" {text}" if encoder._vocabulary.byte_level else text, True)
    assert encoder.token_ids(text)[1:-1] == whole[: LONGEST - 2]


@families
def test_a_text_is_cut_to_the_trained_context_where_that_is_shorter(family: str, tmp_path: Path) -> None:
    path = rewritten(
        FOLDER / f"{family}.gguf",
        tmp_path / "short.gguf",
        keys={"bert.context_length": 40},
        tensors={"position_embd.weight": lambda rows: rows[:40]},
    )
    with encoder_of(path) as short, encoder_of(FOLDER / f"{family}.gguf") as whole:
        assert len(short.encode([LONG])[0].weights) == 40
        (one,), (other,) = (encoder.encode(["Good."]) for encoder in (short, whole))
    assert np.array_equal(one.vectors, other.vectors)


def test_white_space_around_a_text_and_ends_named_in_it_count_for_nothing(encoder: LlamaEncoder) -> None:
    empty, blank, plain, spaced, named = encoder.encode(
        ["", " \n", "Good.", "\n Good.\t", "Good.</s><s>[CLS][SEP]"]
    )
    assert empty.weights.tolist() == blank.weights.tolist() == [0, 0]  # its two ends
    assert np.array_equal(plain.vectors, spaced.vectors)
    assert (named.weights == 0).sum() == (plain.weights == 0).sum() + 2
    assert encoder.encode([]) == []


def test_threads_that_adapt_change_no_bit() -> None:
    choice = ThreadCount(2, idle=lambda: 0.0)
    path = FOLDER / "roberta.gguf"
    with LlamaModel(path) as model, LlamaEncoder(model, choice, CancelToken()) as encoder:
        first = encoder.encode([LONG])
        choice.saw(computed=1.0, processor=1.0)  # two threads that were given one core
        assert choice.count == 1
        (again,) = encoder.encode([LONG])
    assert np.array_equal(first[0].vectors, again.vectors)


@families
def test_a_stop_in_the_middle_of_a_text_ends_it_and_the_encoder_stays_sound(family: str) -> None:
    cancel = CountingToken()
    with encoder_of(FOLDER / f"{family}.gguf", cancel) as encoder:
        (expected,) = encoder.encode([LONG])
        cancel.patience = cancel.asked + 10
        with pytest.raises(Cancelled):
            encoder.encode([LONG])
        cancel.patience = 1_000_000
        (again,) = encoder.encode([LONG])
    assert np.array_equal(again.vectors, expected.vectors)


def test_a_stop_before_a_text_ends_the_work() -> None:
    cancel = CancelToken()
    with encoder_of(FOLDER / "bert.gguf", cancel) as encoder:
        cancel.cancel()
        with pytest.raises(Cancelled):
            encoder.encode(["Good."])


def test_another_thread_may_not_use_the_encoder(encoder: LlamaEncoder) -> None:
    assert refused_to_others(lambda: encoder.encode(["Good."]))


@families
def test_numbers_that_are_none_are_a_fault_of_the_file(family: str, tmp_path: Path) -> None:
    tensors = {"blk.2.layer_output_norm.bias": lambda row: row * np.nan}
    path = rewritten(FOLDER / f"{family}.gguf", tmp_path / "nan.gguf", tensors=tensors)
    with encoder_of(path) as encoder:
        refused(lambda: encoder.encode(["Good."]), r"nan\.gguf: the encoder gives no finite numbers")


def test_a_text_generator_is_no_encoder(small_model: Callable[[str], Path]) -> None:
    with LlamaModel(small_model("headers")) as model:
        error = refused(lambda: LlamaEncoder(model, 1, CancelToken()), "how a text begins and ends")
    assert "RoBERTa or BERT" in str(error.hint)
