"""BERTScore: the numbers of the package bert-score, computed once and remembered."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path

import gguf
import numpy as np
import pytest

from engine.core.events import Cancelled, CancelToken, MeasureProgress, followed
from engine.llama.encoder import Encoded
from engine.metrics import explanations
from engine.metrics.explanations import BertScore, bert_scores, score_pair
from engine.models.checked_model import CheckedModel
from engine.models.encoder_file import cut_encoder, read_encoder_file
from engine.models.opening import encoder_hash, open_encoder
from engine.settings.rows import MachineSettings
from engine.store.run_store import RunStore
from tests.encoders.rewritten import FAMILIES, FOLDER, expected_scores, rewritten

CutEncoder = Callable[[str], Path]
Pair = tuple[str, str]

# The largest difference found is 5.1e-5: llama.cpp has GELU in its tanh form, by a table of 16-bit numbers.
TOLERANCE = 2e-4
PAIRS = [(f"candidate {n}", f"reference {n % 7} and more") for n in range(40)]


class WordEncoder:
    """An encoder that needs no model: a vector for each word. Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        self.asked += texts
        return [self._encoded(text.split()) for text in texts]

    @staticmethod
    def _encoded(words: Sequence[str]) -> Encoded:
        vectors = [np.random.default_rng(list(word.encode())).standard_normal(8) for word in words]
        rows = np.array([vector / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)
        return Encoded(rows, np.ones(len(words), dtype=np.float32))

    @contextmanager
    def opened(self) -> Iterator["WordEncoder"]:
        yield self


def never_opened() -> AbstractContextManager[WordEncoder]:
    pytest.fail("nothing was left to score")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture(scope="session")
def cut_file(tmp_path_factory: pytest.TempPathFactory) -> CutEncoder:
    """The encoder of a family with the layers that the expected scores were computed with."""
    folder = tmp_path_factory.mktemp("encoders")

    def cut(family: str) -> Path:
        encoder = read_encoder_file(FOLDER / f"{family}.gguf")
        return cut_encoder(
            encoder, expected_scores()["layers"], folder / f"{family}.gguf", CancelToken()
        ).path

    return cache(cut)


def finished(measure: Generator[MeasureProgress, None, list[BertScore]]) -> list[BertScore]:
    return watched(measure)[1]


def watched(
    measure: Generator[MeasureProgress, None, list[BertScore]],
) -> tuple[list[MeasureProgress], list[BertScore]]:
    reports: list[MeasureProgress] = []
    return reports, followed(measure, reports.append)


def scored(pairs: Sequence[Pair], encoder: WordEncoder, store: RunStore) -> list[BertScore]:
    return finished(bert_scores(pairs, "words", encoder.opened, store, CancelToken()))


def numbers(scores: Sequence[BertScore]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([(score.precision, score.recall, score.f1) for score in scores])


def scored_by_file(path: Path, pairs: Sequence[Pair], store: RunStore) -> list[BertScore]:
    state = path.stat()
    checked = CheckedModel(path, path.stem, path.stem, state.st_size, state.st_mtime_ns)
    opener = partial(open_encoder, checked, MachineSettings(threads=1, gpu_layers=0), CancelToken())
    return finished(bert_scores(pairs, encoder_hash(checked), opener, store, CancelToken()))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_cut_encoder_gives_the_scores_of_the_package_at_that_layer(
    cut_file: CutEncoder, store: RunStore, family: str
) -> None:
    expected = expected_scores()
    scores = scored_by_file(cut_file(family), [(one, other) for one, other in expected["pairs"]], store)
    assert np.abs(numbers(scores) - expected[family]).max() < TOLERANCE


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("kind", "tolerance"), [("F16", 5e-4), ("Q8_0", 1e-2)])
def test_a_quantised_encoder_comes_near(
    cut_file: CutEncoder, store: RunStore, tmp_path: Path, family: str, kind: str, tolerance: float
) -> None:
    path = rewritten(cut_file(family), tmp_path / "small.gguf", stored_as=gguf.GGMLQuantizationType[kind])
    expected = expected_scores()
    scores = scored_by_file(path, [(one, other) for one, other in expected["pairs"]], store)
    assert np.abs(numbers(scores) - expected[family]).max() < tolerance


@pytest.mark.parametrize("family", FAMILIES)
def test_an_uncut_encoder_gives_others(store: RunStore, family: str) -> None:
    expected = expected_scores()
    pairs = [(one, other) for one, other in expected["pairs"]]
    scores = scored_by_file(FOLDER / f"{family}.gguf", pairs, store)
    assert np.abs(numbers(scores) - expected[family]).max() > 100 * TOLERANCE


@pytest.mark.parametrize("family", FAMILIES)
def test_special_tokens_named_in_a_text_are_taken_as_the_package_takes_them(
    cut_file: CutEncoder, store: RunStore, family: str
) -> None:
    expected = expected_scores()
    pairs = [(one, other) for one, other in expected["special_pairs"]]
    scores = scored_by_file(cut_file(family), pairs, store)
    assert np.abs(numbers(scores) - expected[f"{family}_special"]).max() < TOLERANCE


def vectors(*rows: tuple[float, float]) -> Encoded:
    """Vectors of which the first is a special token's."""
    weights = np.array([0.0] + [1.0] * (len(rows) - 1), dtype=np.float32)
    return Encoded(np.array(rows, dtype=np.float32), weights)


EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        (vectors(EAST, NORTH), vectors(EAST, NORTH), (1, 1, 1)),
        (vectors(EAST, NORTH, EAST), vectors(NORTH, NORTH), (0.5, 1, 2 / 3)),
        (vectors(WEST, NORTH), vectors(NORTH, EAST), (1, 0, 0)),
        (vectors(WEST, EAST), vectors(WEST, WEST), (-1, 1, 0)),
        (vectors(EAST, WEST), vectors(EAST, EAST), (-1, 1, 0)),
        (vectors(WEST, WEST), vectors(EAST, EAST), (-1, -1, -1)),
        (vectors(EAST), vectors(EAST, EAST), (0, 0, 0)),
        (vectors(EAST, EAST), vectors(EAST), (0, 0, 0)),
    ],
)
def test_each_token_is_held_against_its_best_match(
    candidate: Encoded, reference: Encoded, expected: tuple[float, float, float]
) -> None:
    score = score_pair(candidate, reference)
    assert (score.precision, score.recall, score.f1) == pytest.approx(expected)


def test_what_is_known_is_not_scored_again(store: RunStore) -> None:
    first = scored(PAIRS, WordEncoder(), store)
    again = watched(bert_scores(PAIRS, "words", never_opened, store, CancelToken()))
    assert again == ([MeasureProgress(40, 40)], first)


def test_another_encoder_scores_again(store: RunStore) -> None:
    scored(PAIRS, WordEncoder(), store)
    encoder = WordEncoder()
    finished(bert_scores(PAIRS, "other words", encoder.opened, store, CancelToken()))
    assert encoder.asked


def test_a_pair_is_not_the_same_the_other_way_round(store: RunStore) -> None:
    one, other = scored([("a b", "a"), ("a", "a b")], WordEncoder(), store)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    assert one.precision < one.recall


def test_white_space_around_a_text_does_not_count(store: RunStore) -> None:
    plain = scored([("a b", "b c")], WordEncoder(), store)
    assert finished(bert_scores([(" a b\n", "\tb c")], "words", never_opened, store, CancelToken())) == plain


@pytest.mark.parametrize("pair", [("", "a"), ("a", " \n"), ("", "")])
def test_an_empty_text_scores_0_without_an_encoder(store: RunStore, pair: Pair) -> None:
    assert finished(bert_scores([pair], "words", never_opened, store, CancelToken())) == [BertScore(0, 0, 0)]


def test_no_pairs_need_no_encoder(store: RunStore) -> None:
    assert finished(bert_scores([], "words", never_opened, store, CancelToken())) == []


def test_each_different_text_is_encoded_once(store: RunStore) -> None:
    encoder = WordEncoder()
    scored(PAIRS + PAIRS[:5], encoder, store)
    assert sorted(encoder.asked) == sorted({text for pair in PAIRS for text in pair})


def test_where_too_many_wait_they_are_encoded_again_and_the_scores_stay(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = scored(PAIRS, WordEncoder(), store)
    monkeypatch.setattr(explanations, "_MOST_HELD_BYTES", 0)
    encoder = WordEncoder()
    with RunStore(tmp_path / "another.sqlite") as empty:
        assert scored(PAIRS, encoder, empty) == expected
    assert len(encoder.asked) > len(set(encoder.asked))


def test_progress_counts_every_pair_and_comes_with_each(store: RunStore) -> None:
    scored(PAIRS[:8], WordEncoder(), store)
    reports, _ = watched(
        bert_scores([*PAIRS, *PAIRS[9:11], ("", "")], "words", WordEncoder().opened, store, CancelToken())
    )
    assert [report.done for report in reports] == [9, 10, 12, 14, *range(15, 44)]
    assert {report.total for report in reports} == {43}


def test_a_stopped_measure_goes_on_where_it_was(store: RunStore, tmp_path: Path) -> None:
    with RunStore(tmp_path / "unbroken.sqlite") as other:
        expected = scored(PAIRS, WordEncoder(), other)
    cancel, encoder = CancelToken(), WordEncoder()
    measure = bert_scores(PAIRS, "words", WordEncoder().opened, store, cancel)
    for report in measure:
        if report.done == 35:
            cancel.cancel()
            break
    with pytest.raises(Cancelled):
        next(measure)
    reports, scores = watched(bert_scores(PAIRS, "words", encoder.opened, store, CancelToken()))
    assert (reports[0].done, scores) == (32, expected)
    assert not {f"candidate {n}" for n in range(32)} & set(encoder.asked)
