"""An item whose text cannot be kept from being a control token is unscored, with the reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.core.events import CancelToken, Reports
from engine.core.items import Gold, Order, Prediction, Preference
from engine.core.judgments import Unscored
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.item_prompt import ItemQuestion, shown_prompts
from engine.judging.plan import open_model
from engine.llama.model import LlamaModel, Vocabulary
from engine.metrics.model_measures import AgreementQuestion, measure_agreement
from engine.models.model_file import read_model_file
from engine.prompt.conversation import UnbreakableTextError
from engine.prompt.examples import ExamplePool
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from engine.prompt.tokens import PromptSizer
from engine.results.decision import decide
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from tests.engine.judging.runs import counted, judged_by, plan_with
from tests.random_models import INSTRUCTIONS, sentence_pieces, write_random_model

REASON = "a text would be parsed as part of the prompt's structure: § cannot be broken up"
LABELS = JudgeSettings(mode=Mode.LABELS, context=4096)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model to which § is a control token."""
    path = tmp_path_factory.mktemp("refusing") / "model.gguf"
    return write_random_model(path, sentence_pieces(("§",)), INSTRUCTIONS)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    path = tmp_path / "two.tsv"
    lines = ("id\tinstruction\toutput_a\toutput_b", "1\tSay hi.\tHi.\tNo.", "2\tSay hi.\tHi (§ 3).\tNo.", "")
    path.write_text("\n".join(lines), encoding="utf-8")
    return load_dataset(path)


def test_it_is_unscored_and_the_other_is_judged(model: Path, dataset: Dataset, tmp_path: Path) -> None:
    judged = judged_by(plan_with(model, dataset, LABELS), tmp_path / "runs.sqlite")
    outcomes = [decide(item, "safety") for item in judged]
    assert [outcome.reason for outcome in outcomes if isinstance(outcome, Unscored)] == [REASON]
    assert [isinstance(outcome, Unscored) for outcome in outcomes] == [False, True]


@pytest.mark.parametrize("shorten", [False, True])
def test_the_plan_says_so_before(model: Path, dataset: Dataset, shorten: bool) -> None:
    forecast = counted(plan_with(model, dataset, replace(LABELS, shorten=shorten)))
    assert (forecast.too_long, forecast.shortened) == (("2",), ())


def test_its_prompt_is_not_shown(model: Path, dataset: Dataset) -> None:
    plan = plan_with(model, dataset, LABELS)
    asked = ItemQuestion(
        dataset[1], ELOQUENT, LABELS, MachineSettings(1, 0), read_model_file(model), plan.model, ExamplePool()
    )
    with pytest.raises(SetupError, match="Item 2 cannot be shown to this model"):
        list(shown_prompts(asked, ("safety", Order.AB), CancelToken()))


def test_as_an_example_it_stops_the_run_before_it_begins(model: Path, dataset: Dataset) -> None:
    example = replace(dataset[1], gold={"safety": Gold(Preference.A)})
    pool = ExamplePool((example, replace(example, instruction="Other")), 1)
    with LlamaModel(model, vocabulary_only=True) as opened:
        template = ChatTemplate(render_frame(INSTRUCTIONS, "<s>", "</s>"), Vocabulary(opened))
        with pytest.raises(UnbreakableTextError, match="Remove that item or example"):
            PromptSizer(template, ELOQUENT, LABELS, pool, lambda: None)


def test_its_explanations_are_not_asked_about(model: Path, dataset: Dataset, tmp_path: Path) -> None:
    plan = plan_with(model, dataset, LABELS)
    gold, prediction = Gold(Preference.A, "By § 3."), Prediction(Preference.A, "It is.")
    question = AgreementQuestion(dataset[0], ELOQUENT.criteria[0], gold, prediction)
    with RunStore(tmp_path / "runs.sqlite") as store:
        asking = Reports(
            measure_agreement([question], lambda: open_model(plan, CancelToken()), store, "hash")
        )
        assert list(asking)
    assert asking.result == [Unscored("1", ELOQUENT.names[0], REASON)]
