"""The tokens that each order of a stored run's items takes, counted again by the vocabulary of its model.

Knows: how a run's prompts are made again. Does not know: raw predictions, margins, what is done with the
counts.
"""

from collections.abc import Generator, Mapping
from dataclasses import replace

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress
from engine.core.remedies import Hint, Step
from engine.core.run_records import StoredRun
from engine.core.settings import settings_of
from engine.data.dataset import Dataset
from engine.gguf.judge_file import read_model_file
from engine.loading.checked_model import checked_model
from engine.loading.opening import open_template
from engine.prompt.examples import ExamplePool
from engine.prompt.judge_prompt import PROMPT_VERSION
from engine.prompt.sizes import PromptSizer

_ITEMS_AT_ONCE = 50  # between two reports


def order_tokens(
    run: StoredRun, dataset: Dataset, cancel: CancelToken
) -> Generator[MeasureProgress, None, Mapping[str, tuple[int, int]]]:
    """By item id the tokens of AB with all that is read once, and those of BA; progress every 50 items.

    `dataset`: the items of the run. Raises SetupError where the run's prompts cannot be made again,
    ModelFileError, Cancelled.
    """
    identity = run.identity
    checked = checked_model(read_model_file(identity.model_path), cancel)
    as_it_was = checked.hash == identity.model_hash and identity.prompt_version == PROMPT_VERSION
    if not as_it_was or identity.settings["examples"]:
        why = "used labelled examples" if as_it_was else "used another model file or another prompt wording"
        raise SetupError(
            f"The tokens of run {run.id} cannot be counted again: it {why}.", Hint(Step.CHOOSE_RUN)
        )
    # AB is counted as what is read first.
    settings = replace(settings_of(identity.settings), second_order_below=1.0)
    found: dict[str, tuple[int, int]] = {}
    with open_template(checked.path, cancel) as (model, template):
        sizer = PromptSizer(
            template,
            identity.asked,
            settings,
            ExamplePool(),
            cancel.raise_if_requested,
            keeps_state=model.keeps_state,
        )
        held: tuple[int, ...] = ()
        for position, item in enumerate(dataset):
            if position % _ITEMS_AT_ONCE == 0:
                yield MeasureProgress(position, len(dataset))
            sized = sizer.sized(item, item, position in dataset.series)
            found[item.id] = sizer.tokens_by_order(sized, held)
            held = () if settings.explains else sized.apart
    yield MeasureProgress(len(dataset), len(dataset))
    return found
