"""The model that comes with the program: it fits the engine's prompt, and judges its own world well."""

from pathlib import Path

import pytest

from engine.core.events import CancelToken
from engine.core.items import Method
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.data.rubrics.files import load_rubric
from engine.llama.model import LlamaModel, Vocabulary
from engine.metrics.accuracy import count_run, run_accuracy
from engine.models.header import read_header
from engine.models.model_file import read_model_file
from engine.models.templates import chat_template
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from models.demo.manners import MANNERS
from models.demo.questions import METHODS
from models.demo.score import DemoScore, score_run
from models.demo.trained_prompt import PROMPT_DIGEST_KEY, PROMPT_VERSION_KEY, prompt_digest
from tests.commands import ROOT, run

DEMO = ROOT / "examples" / "demo.tsv"
OF_MANNERS = ROOT / "examples" / "demo-manners.tsv"
RUBRIC_FILE = ROOT / "examples" / "demo-manners.toml"
ASKED_IN_ALL_METHODS = 60  # items
LEAST_OF_METHOD = {
    Method.LABEL_TOKENS: {**dict.fromkeys(ELOQUENT.names, 0.9), "truthfulness": 0.85},
    # Relevance was not learned this way: the card says so.
    Method.PERMUTED_LABELS: {"naturalness": 0.9, "truthfulness": 0.8, "safety": 0.95, "overall_quality": 0.6},
    Method.POINTWISE_YES_NO: {**dict.fromkeys(ELOQUENT.names, 0.85), "overall_quality": 0.65},
    Method.POINTWISE_GRADE: {**dict.fromkeys(ELOQUENT.names, 0.8), "overall_quality": 0.6},
}
LEAST_OF_MANNERS = {"politeness": 0.9, "brevity": 0.7, "on_topic": 0.9}
MODEL = ROOT / "models" / "demo-judge.gguf"
TRAIN_AGAIN = "The demo judge was trained with another prompt: train it again, see models/demo-judge.md."


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, DemoScore]:
    """What the program's judgments of the demo's items are worth."""
    folder = tmp_path_factory.mktemp("demo")
    files = ["--out", folder / "out.tsv", "--store", folder / "runs.sqlite"]
    done = run("judge", DEMO, "--model", "demo", "--threads", 1, *files)
    assert done.returncode == 0, done.stderr
    assert "only the small world" in done.stderr
    with RunStore(folder / "runs.sqlite") as store:
        results = load_results(store, 1)
    return {score.criterion: score for score in score_run(results, load_dataset(DEMO))}


def results_of(folder: Path, dataset: Path, *options: object) -> RunResults:
    """What the program judges, labels alone."""
    files = ["--out", folder / "out.tsv", "--store", folder / "runs.sqlite"]
    done = run("judge", dataset, "--model", "demo", "--threads", 1, "--mode", "labels", *options, *files)
    assert done.returncode == 0, done.stderr
    with RunStore(folder / "runs.sqlite") as store:
        return load_results(store, 1)


@pytest.fixture(scope="module")
def in_all_methods(tmp_path_factory: pytest.TempPathFactory) -> RunResults:
    """The first of the demo's items, asked in every way that the model has learned."""
    methods = ("--method", ",".join(method.option for method in METHODS), "--items", ASKED_IN_ALL_METHODS)
    return results_of(tmp_path_factory.mktemp("ways"), DEMO, *methods)


@pytest.fixture(scope="module")
def of_manners(tmp_path_factory: pytest.TempPathFactory) -> RunResults:
    """The items of the second rubric, by its letters."""
    return results_of(tmp_path_factory.mktemp("manners"), OF_MANNERS, "--rubric", RUBRIC_FILE)


def test_it_was_trained_with_the_prompts_of_today() -> None:
    values = read_header(MODEL)
    assert values.text(PROMPT_VERSION_KEY) == PROMPT_VERSION, TRAIN_AGAIN
    assert values.text(PROMPT_DIGEST_KEY) == prompt_digest(), TRAIN_AGAIN


def test_it_is_small_and_says_what_it_is_for() -> None:
    model = read_model_file(MODEL)
    assert model.size_bytes <= 8_000_000
    assert "other data mean nothing" in model.notice
    assert model.architecture == "llama"


def test_its_turns_are_control_tokens_of_its_own() -> None:
    with LlamaModel(MODEL, vocabulary_only=True) as model:
        vocabulary = Vocabulary(model)
        template = chat_template(model.chat_template, vocabulary, CancelToken())
        assert template.frame.note == ""
        assert not template.merges_system
        (end,) = vocabulary.tokenize("<|end|>", parse_special=True)
        assert vocabulary.ends_reply(end)
        assert len(vocabulary.tokenize("<|end|>")) > 1
        assert [len(vocabulary.tokenize(letter)) for letter in (" A", " B", " C", " D")] == [1] * 4


@pytest.mark.models
@pytest.mark.parametrize(
    ("criterion", "least"),
    [
        ("relevance", 0.90),
        ("naturalness", 0.95),
        ("truthfulness", 0.75),
        ("safety", 0.95),
        ("overall_quality", 0.80),
    ],
)
def test_its_labels_are_right(scores: dict[str, DemoScore], criterion: str, least: float) -> None:
    assert scores[criterion].accuracy >= least


@pytest.mark.models
def test_its_labels_do_not_depend_on_the_order(scores: dict[str, DemoScore]) -> None:
    assert max(score.flipped for score in scores.values()) <= 0.10


@pytest.mark.models
def test_it_keeps_to_the_format(scores: dict[str, DemoScore]) -> None:
    assert min(score.answer_mass for score in scores.values()) >= 0.95


@pytest.mark.models
def test_its_explanations_agree_with_its_labels(scores: dict[str, DemoScore]) -> None:
    assert min(score.agreeing for score in scores.values()) >= 0.95


@pytest.mark.models
def test_its_explanations_are_like_the_written_ones(scores: dict[str, DemoScore]) -> None:
    assert min(score.rouge_l for score in scores.values()) >= 50


@pytest.mark.models
@pytest.mark.parametrize("method", METHODS)
def test_its_labels_are_right_in_every_way(in_all_methods: RunResults, method: Method) -> None:
    found = run_accuracy(in_all_methods.of_method(method), load_dataset(DEMO).head(ASKED_IN_ALL_METHODS))
    assert all(found[name].share >= least for name, least in LEAST_OF_METHOD[method].items()), found


@pytest.mark.models
@pytest.mark.parametrize("method", METHODS)
def test_it_keeps_to_the_format_of_every_way(in_all_methods: RunResults, method: Method) -> None:
    assert min(one.answer_mass or 0 for one in count_run(in_all_methods.of_method(method))) >= 0.95


def test_its_second_rubric_is_the_one_of_the_examples() -> None:
    assert load_rubric(RUBRIC_FILE) == MANNERS


@pytest.mark.models
@pytest.mark.parametrize("criterion", MANNERS.names)
def test_its_labels_of_manners_are_right(of_manners: RunResults, criterion: str) -> None:
    found = run_accuracy(of_manners, load_dataset(OF_MANNERS, MANNERS))
    assert found[criterion].share >= LEAST_OF_MANNERS[criterion]


@pytest.mark.models
def test_it_keeps_to_the_format_of_the_second_rubric(of_manners: RunResults) -> None:
    assert min(one.answer_mass or 0 for one in count_run(of_manners)) >= 0.95
