"""Steps that tests of several packages take: plan a run, judge it, read a vocabulary, be refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from engine.core.errors import SetupError
from engine.core.events import CancelToken, ItemJudged
from engine.core.items import Method
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.llama.model import LlamaModel, Vocabulary
from engine.models.checked_model import CheckedModel, checked_model
from engine.models.model_file import read_model_file
from engine.models.templates import chat_template
from engine.prompt.rendering import render_frame
from engine.prompt.template import ChatTemplate
from engine.results.run_results import RunResults, load_results
from engine.settings.rows import JudgeSettings, MachineSettings, Mode
from engine.store.run_store import RunStore
from engine.system.paths import demo_model

T = TypeVar("T")
IN_METHODS = JudgeSettings(
    mode=Mode.LABELS,
    context=2048,
    methods=(Method.LABEL_TOKENS, Method.POINTWISE_YES_NO, Method.POINTWISE_GRADE),
)
CHAIN_OF_THOUGHT = JudgeSettings(
    mode=Mode.LABELS,
    context=8192,
    methods=(Method.LABEL_TOKENS, Method.CHAIN_OF_THOUGHT),
    reasoning_samples=2,
    max_reasoning_tokens=12,
)


def untried(path: Path) -> CheckedModel:
    """A model as a plan takes it that nobody tried, which would take seconds."""
    state = path.stat()
    name = read_model_file(path).name
    return CheckedModel(path, name, "d" * 64, state.st_size, state.st_mtime_ns)


def plan_with(path: Path, dataset: Dataset, settings: JudgeSettings) -> RunPlan:
    """A plan for the model in a file, which is not tried, on one thread: other tests are at work, too."""
    return RunPlan(dataset, ELOQUENT, settings, MachineSettings(1, 0), untried(path))


def judge(plan: RunPlan, store_path: Path, items: int | None = None) -> int:
    """Judge a plan, or stop after so many items of it; the number of the run in the store."""
    with RunStore(store_path) as store:
        for event in run_judging(plan, store, lambda: open_model(plan, CancelToken())):
            if items is not None and isinstance(event, ItemJudged):
                items -= 1
                if not items:
                    break
        return store.runs()[-1].id


def results_of(store_path: Path, run_id: int = 1) -> RunResults:
    """A run of a store as it counts."""
    with RunStore(store_path) as store:
        return load_results(store, run_id)


def judge_in_methods(
    dataset: Path, store_path: Path, settings: JudgeSettings = IN_METHODS, model: Path | None = None
) -> None:
    """Add a run of the first three items of a dataset to a store."""
    checked = checked_model(read_model_file(model or demo_model()), CancelToken())
    plan = RunPlan(load_dataset(dataset).head(3), ELOQUENT, settings, MachineSettings(1, 0), checked)
    judge(plan, store_path)


@contextmanager
def vocabulary_of(path: Path) -> Iterator[Vocabulary]:
    """A model's tokenizer, its weights left on the disk."""
    with LlamaModel(path, vocabulary_only=True) as model:
        yield Vocabulary(model)


@contextmanager
def template_of(path: Path, source: str | None = None) -> Iterator[tuple[Vocabulary, ChatTemplate]]:
    """A model's tokenizer with its own chat template, or another, rendered in this process: test_templates.py
    has what the two processes are for that render it otherwise, each half a second of a processor.
    """
    with LlamaModel(path, vocabulary_only=True) as model:
        vocabulary, source = Vocabulary(model), source or model.chat_template
        if source:
            frame = render_frame(source, vocabulary.bos_text, vocabulary.eos_text)
            yield vocabulary, ChatTemplate(frame, vocabulary)
        else:
            yield vocabulary, chat_template(None, vocabulary, CancelToken())


def there(value: T | None) -> T:
    """What must be there."""
    assert value is not None
    return value


def refused(call: Callable[[], object], problem: str = "") -> SetupError:
    """The error of what is refused; `problem`: a regular expression that it must match."""
    with pytest.raises(SetupError, match=problem or None) as caught:
        call()
    assert caught.value.problem
    return caught.value
