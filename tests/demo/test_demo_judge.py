"""The model that comes with the program: it fits the engine's prompt, and judges its own world well."""

import pytest

from engine.core.cancel import CancelToken
from engine.data.dataset import load_dataset
from engine.decisions.run_results import load_results
from engine.gguf.header import read_header
from engine.gguf.judge_file import read_model_file
from engine.gguf.values import HeaderValues
from engine.llama.model import LlamaModel
from engine.llama.vocabulary import Vocabulary
from engine.loading.templates import chat_template
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.store.run_store import RunStore
from models.demo.score import DemoScore, score_run
from models.demo.trained_prompt import PROMPT_DIGEST_KEY, PROMPT_VERSION_KEY, prompt_digest
from tests.commands import ROOT, run

DEMO = ROOT / "examples" / "demo.tsv"
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


def test_it_was_trained_with_the_prompt_of_today() -> None:
    values = HeaderValues(read_header(MODEL))
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


def test_its_labels_do_not_depend_on_the_order(scores: dict[str, DemoScore]) -> None:
    assert max(score.flipped for score in scores.values()) <= 0.10


def test_it_keeps_to_the_format(scores: dict[str, DemoScore]) -> None:
    assert min(score.format_mass for score in scores.values()) >= 0.95


def test_its_explanations_agree_with_its_labels(scores: dict[str, DemoScore]) -> None:
    assert min(score.agreeing for score in scores.values()) >= 0.95


def test_its_explanations_are_like_the_written_ones(scores: dict[str, DemoScore]) -> None:
    assert min(score.rouge_l for score in scores.values()) >= 50
