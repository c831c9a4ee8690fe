"""Explanations against human ones: ROUGE-L, BERTScore, and what is measured of a criterion."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.events import Cancelled, CancelToken, MeasureProgress, followed
from engine.core.judgments import Agreement, Unscored
from engine.core.tables import Sentences, Table
from engine.llama.encoder import Encoded
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate, official_json, wordless_in_words
from engine.metrics.explanations import (
    EXPLANATION_MEASURES,
    MOST_COMPARED,
    BertScore,
    ExplanationMeasures,
    ModelScores,
    Typicality,
    add_model_scores,
    bert_scores,
    mean_explanation_interval,
    measure_explanations,
    rouge_l,
    score_pair,
)
from engine.metrics.intervals import Interval, OverInstructions, share_interval
from engine.metrics.matching import match
from engine.models.checked_model import CheckedModel
from engine.models.encoder_file import cut_encoder, read_encoder_file
from engine.models.opening import encoder_hash, open_encoder
from engine.report.comparison import comparison_sheet
from engine.report.evaluation import evaluation_methods, explanation_section
from engine.settings.rows import MachineSettings
from engine.store.run_store import RunStore
from tests.encoders.rewritten import FAMILIES, FOLDER, expected_scores, rewritten
from tests.judged import GOOD, A, B, Labels, Texts, dataset, system
from tests.steps import there

# Explanations compared with human ones: what is missing counts 0, and the typical one stands beside.


def measured(
    given: Texts, human: Texts, labels: Labels | None = None, scores: ModelScores | None = None
) -> ExplanationMeasures:
    labels = labels or [A] * len(human)
    gold = dataset({"safety": labels}, {"safety": human})
    found = match(system({"safety": labels}, {"safety": given}), gold)
    result = there(measure_explanations("safety", found.pairs["safety"]))
    return add_model_scores(result, found.pairs["safety"], scores) if scores else result


def test_rouge_l_is_the_mean_with_0_for_what_is_missing() -> None:
    score = measured(["both are safe", None], ["both are safe", "neither is"])
    assert (score.rouge_l, score.unexplained, score.items) == (50.0, 1, 2)
    # Items without a human explanation do not count; words are counted at white space.
    score = measured(["x", "one two  three", "one"], [None, "one", "one"])
    assert (score.items, score.words, score.human_words) == (2, 2.0, 1.0)


def test_scores_of_models_count_missing_explanations_as_0() -> None:
    scores = ModelScores([0.9, 0.7], [Agreement(0.8, 0.2), Agreement(0.1, 0.4)])
    score = measured(["one", "two", None, None], ["one", "two", "three", "four"], scores=scores)
    assert score.bertscore == pytest.approx(40.0)
    assert score.agreement == pytest.approx(25.0)
    assert score.p_yes == pytest.approx(25.0)
    assert score.answer_mass == pytest.approx(0.75)
    assert score.by_item["bertscore"] == {"1": 0.9, "2": 0.7, "3": 0.0, "4": 0.0}
    assert score.by_item["agreement"] == {"1": 1.0, "2": 0.0, "3": 0.0, "4": 0.0}


def test_each_measure_has_an_interval_over_instructions() -> None:
    words = ["one two", "two", "three", "three four"]
    asked: list[Agreement | Unscored] = [Agreement(0.8, 0.2), Agreement(0.1, 0.4), Agreement(0.9, 0.0)]
    asked.insert(2, Unscored("2", "safety", "too long"))
    score = measured(words, ["one", *words[1:]], scores=ModelScores([0.9, 0.7, 0.5, 0.8], asked))
    # Each of these pairs is an instruction of its own, and one could not be asked about.
    close = there(OverInstructions.of_one([0.9, 0.7, 0.5, 0.8], range(4)))
    assert (ends := close.skewed_interval()) is not None
    assert score.intervals["bertscore"] == in_percent(Interval(ends.low, min(ends.high, 1.0)))
    by_words = there(OverInstructions.of_one(list(score.by_item["rouge_l"].values()), range(4)))
    assert score.intervals["rouge_l"] == pytest.approx(in_percent(by_words.score_interval()))
    assert score.intervals["agreement"] == in_percent(share_interval([1.0, 0.0, 1.0], range(3)))
    assert set(score.intervals) == set(EXPLANATION_MEASURES)
    assert score.unmeasured == 1  # counted and left out
    assert score.agreement == pytest.approx(100 * 2 / 3)


def in_percent(ends: Interval | None) -> tuple[float, float]:
    assert ends is not None
    return (100 * ends.low, 100 * ends.high)


def test_the_mean_over_criteria_has_an_interval_where_all_are_measured() -> None:
    one = measured(["one", "x"], ["one", "two"], scores=ModelScores(bertscores=[0.9, 0.3]))
    other = replace(one, criterion="overall_quality")
    instructions = {item_id: f"what is {item_id}?" for item_id in one.by_item["rouge_l"]}
    # The same values of the same instructions twice are worth one.
    assert mean_explanation_interval("bertscore", [one, other], instructions) == one.intervals["bertscore"]
    without = replace(other, by_item={"rouge_l": other.by_item["rouge_l"]})
    assert mean_explanation_interval("bertscore", [one, without], instructions) is None
    assert mean_explanation_interval("rouge_l", [one, without], instructions) == one.intervals["rouge_l"]


def test_the_typical_explanation_is_of_the_most_frequent_label_and_of_other_instructions() -> None:
    human = ["both are safe"] * 9 + ["a insults the reader"]
    labels = [GOOD] * 9 + [B]
    assert measured(human, human, labels).typical == pytest.approx(90.0)


THAI, JAPANESE, ARABIC = "คำตอบแรกถูกต้องและสั้นกว่า", "最初の回答は正しくて短い。", "الإجابة الأولى صحيحة وأقصر"


def test_of_explanations_without_a_latin_letter_rouge_l_is_not_measured_and_it_is_said() -> None:
    """It was 0.00 for identical explanations, beside no word."""
    texts = [THAI, JAPANESE, ARABIC, "both are safe"]
    score = measured(texts, texts)
    assert (score.rouge_l, score.typical, score.wordless, score.own_wordless) == (None, None, 3, 3)
    assert not {"rouge_l"} & {*score.by_item, *score.intervals}
    said = wordless_in_words([score])
    assert "3 of 4 human explanations and 3 of 4 of the system's have none" in said
    assert said.endswith("It is not measured on safety, where most human ones hold none.")


def test_where_most_explanations_hold_words_the_mean_stays_that_of_the_task() -> None:
    score = measured(["fine", "both are safe", THAI], ["fine", "both are safe", THAI])
    assert score.rouge_l == pytest.approx(200 / 3)
    assert (score.wordless, score.own_wordless) == (1, 1)
    assert wordless_in_words([score]).endswith("have none, and score 0.")
    assert not wordless_in_words([measured(["fine", None], ["fine", "x"])])


def test_what_is_not_measured_is_not_ranked_and_is_said_wherever_it_would_stand() -> None:
    gold = dataset({"safety": [A] * 4}, {"safety": [THAI] * 4})
    systems = [system({"safety": [A] * 4}, {"safety": [THAI] * 4}, name=name) for name in ("one", "two")]
    matched = match_all(systems, gold)
    evaluations = [evaluate(each) for each in matched]
    comparison = compare(evaluations)
    assert {measure.name for measure in comparison.measures} == {"accuracy"}
    assert comparison.borda_explanations == {}
    sheet = comparison_sheet(comparison, matched)
    shown = [text for part in sheet.sections[1].parts if isinstance(part, Sentences) for text in part.texts]
    caveat_of_one = "one: ROUGE-L compares words of unaccented Latin characters"
    assert any(text.startswith(caveat_of_one) for text in shown)
    section = explanation_section(evaluations[0])
    (caveat, table) = section.parts
    assert isinstance(caveat, Sentences)
    assert isinstance(table, Table)
    assert table.texts()[0][2:4] == ["-", "-"]
    official = official_json(evaluations[0])
    assert "safety_rougeL" not in official
    assert official["details"]["wordless"] == caveat.texts[0]
    methods = " ".join(statement.text for statement in evaluation_methods(evaluations[0]))
    assert "It is not measured on safety" in methods
    assert "by ROUGE-L" not in methods


# ROUGE-L is rouge-score's; the most typical text is the medoid.


WORDS = st.lists(st.sampled_from(["a", "B", "c-d", "4", "don't", "é"]), max_size=80).map(" ".join)


@pytest.mark.parametrize(
    ("candidate", "reference", "expected"),
    [
        ("the cat sat", "the cat sat", 1.0),
        ("the cat", "the dog sat on the cat", 0.5),  # P = 1, R = 2/6
        ("The CAT!", "the cat", 1.0),
        ("running", "run", 0.0),
        ("", "the cat", 0.0),
    ],
)
def test_rouge_l_without_stemming(candidate: str, reference: str, expected: float) -> None:
    assert rouge_l(candidate, reference) == pytest.approx(expected)


@given(one=WORDS | st.text(), other=WORDS | st.text())
def test_it_equals_that_of_rouge_score(one: str, other: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer  # takes two seconds to load

    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    assert rouge_l(one, other) == pytest.approx(scorer.score(other, one)["rougeL"].fmeasure)


def test_the_most_typical_text_is_the_one_most_like_the_others() -> None:
    texts = ["both are safe", "no harm in both", "both are safe and kind", "both are quite safe and kind"]
    assert Typicality(texts).most_typical(range(4)) == 2
    texts = ["x y z", "a b c", "a b d", "a b e"]  # only the chosen ones count
    assert [Typicality(texts).most_typical(chosen) for chosen in ([0], [0, 2, 3], [])] == [0, 2, None]
    # Many are held against a part of them.
    texts = ["odd one out"] * 3 + ["the usual words"] * (3 * MOST_COMPARED)
    found = there(Typicality(texts).most_typical(range(len(texts))))
    assert texts[found] == "the usual words"


# BERTScore: the numbers of the package bert-score, computed once and remembered.


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


@pytest.fixture(scope="session")
def cut_file(tmp_path_factory: pytest.TempPathFactory) -> CutEncoder:
    """The encoder of a family with the layers that the expected scores were computed with."""
    folder = tmp_path_factory.mktemp("encoders")

    def cut(family: str) -> Path:
        encoder, layers = read_encoder_file(FOLDER / f"{family}.gguf"), expected_scores()["layers"]
        return cut_encoder(encoder, layers, folder / f"{family}.gguf", CancelToken()).path

    return cache(cut)


def watched(
    measure: Generator[MeasureProgress, None, list[BertScore]],
) -> tuple[list[MeasureProgress], list[BertScore]]:
    reports: list[MeasureProgress] = []
    return reports, followed(measure, reports.append)


def scored(pairs: Sequence[Pair], encoder: WordEncoder, store: RunStore) -> list[BertScore]:
    return followed(bert_scores(pairs, "words", encoder.opened, store, CancelToken()))


def numbers(scores: Sequence[BertScore]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([(score.precision, score.recall, score.f1) for score in scores])


def scored_by_file(path: Path, pairs: Sequence[Pair], store: RunStore) -> list[BertScore]:
    state = path.stat()
    checked = CheckedModel(path, path.stem, str(path), state.st_size, state.st_mtime_ns)
    opener = partial(open_encoder, checked, MachineSettings(threads=1, gpu_layers=0), CancelToken())
    return followed(bert_scores(pairs, encoder_hash(checked), opener, store, CancelToken()))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_cut_encoder_gives_the_scores_of_the_package_at_that_layer(
    cut_file: CutEncoder, store: RunStore, family: str
) -> None:
    expected = expected_scores()
    pairs = [(one, other) for one, other in expected["pairs"]]
    scores = scored_by_file(cut_file(family), pairs, store)
    assert np.abs(numbers(scores) - expected[family]).max() < TOLERANCE
    uncut = scored_by_file(FOLDER / f"{family}.gguf", pairs, store)
    assert np.abs(numbers(uncut) - expected[family]).max() > 100 * TOLERANCE


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
    spaced = [(f" {one}\n", f"\t{other}") for one, other in PAIRS]  # white space around does not count
    assert followed(bert_scores(spaced, "words", never_opened, store, CancelToken())) == first
    assert followed(bert_scores([], "words", never_opened, store, CancelToken())) == []
    encoder = WordEncoder()
    followed(bert_scores(PAIRS, "other words", encoder.opened, store, CancelToken()))
    assert encoder.asked  # another encoder scores again


def test_a_pair_is_not_the_same_the_other_way_round(store: RunStore) -> None:
    one, other = scored([("a b", "a"), ("a", "a b")], WordEncoder(), store)
    assert (one.precision, one.recall) == (other.recall, other.precision)
    assert one.precision < one.recall


@pytest.mark.parametrize("pair", [("", "a"), ("a", " \n"), ("", "")])
def test_an_empty_text_scores_0_without_an_encoder(store: RunStore, pair: Pair) -> None:
    assert followed(bert_scores([pair], "words", never_opened, store, CancelToken())) == [BertScore(0, 0, 0)]


def test_each_different_text_is_encoded_once(store: RunStore) -> None:
    encoder = WordEncoder()
    scored(PAIRS + PAIRS[:5], encoder, store)
    assert sorted(encoder.asked) == sorted({text for pair in PAIRS for text in pair})


def test_progress_counts_every_pair_and_comes_with_each(store: RunStore) -> None:
    scored(PAIRS[:8], WordEncoder(), store)
    pairs = [*PAIRS, *PAIRS[9:11], ("", "")]
    reports, _ = watched(bert_scores(pairs, "words", WordEncoder().opened, store, CancelToken()))
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
