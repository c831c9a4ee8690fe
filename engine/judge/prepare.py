"""What a plan of a run is made of: the usual where nothing was chosen, and the checks before long work.

Whoever starts runs, a command or the window, asks here. Knows: what is usual, what must be checked. Does not
know: arguments, windows, how a run goes on.
"""

from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.cell_safety import unwritable_ids
from engine.core.errors import SetupError
from engine.core.formatting import listed
from engine.core.items import Order
from engine.core.rubric import Rubric
from engine.core.settings import ITEMS_AT_ONCE, JudgeSettings, KvType, MachineSettings, Mode, default_context
from engine.data.dataset import Dataset, load_dataset
from engine.data.pandas_ids import rewritten_ids
from engine.gguf.judge_file import ModelFile
from engine.gguf.memory import check_memory
from engine.llama.library import gpu_offload_supported
from engine.prompt.examples import ExamplePool, choose_examples
from engine.system.computer import default_threads

_ALL_LAYERS = 999


def judge_settings(
    model: ModelFile,
    *,
    mode: Mode,
    both_orders: bool,
    context: int | None,
    max_explanation_tokens: int,
    temperature: float,
    seed: int,
    shorten: bool,
    kv_type: KvType,
) -> JudgeSettings:
    """The settings of a run with this model; `context` None: what is usual for it. Raises SetupError."""
    return JudgeSettings(
        mode=mode,
        orders=(Order.AB, Order.BA) if both_orders else (Order.AB,),
        context=default_context(model.trained_context) if context is None else context,
        max_explanation_tokens=max_explanation_tokens,
        temperature=temperature,
        seed=seed,
        shorten=shorten,
        items_at_once=ITEMS_AT_ONCE if mode is Mode.EXPLAIN else 1,
        kv_type=kv_type,
    )


def machine_settings(threads: int | None, gpu_layers: int | None) -> MachineSettings:
    """How the computer works; None: its physical cores, and all layers on the GPU where there is one.

    SetupError for impossible numbers.
    """
    if gpu_layers is None:
        gpu_layers = _ALL_LAYERS if gpu_offload_supported() else 0
    return MachineSettings(default_threads() if threads is None else threads, gpu_layers)


def example_pool(path: Path, shots: int, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """The labelled examples of a file. InputError, and SetupError where there are too few of them."""
    return choose_examples(load_dataset(path, cancel=cancel), rubric, shots)


def plan_notices(dataset: Dataset, model: ModelFile, settings: JudgeSettings) -> list[str]:
    """What a person should know before the run: of the dataset, and of this computer's memory.

    SetupError where a submission could not name the items, ModelFileError where the model does not fit.
    """
    if unwritable := unwritable_ids(dataset.ids):
        raise SetupError(
            f"{dataset.name}: a submission cannot hold these ids, which pandas takes for missing:"
            f" {listed(unwritable)}.",
            "Rename them in the dataset.",
        )
    notices = [f"{dataset.name}: {notice}" for notice in dataset.notices]
    if rewritten := rewritten_ids(dataset.ids):
        notices.append(
            f"{dataset.name}: pandas reads these ids of the submission as numbers: {listed(rewritten)}."
        )
    if warning := check_memory(model, settings.context, kv_type=settings.kv_type):
        notices.append(warning)
    return notices
