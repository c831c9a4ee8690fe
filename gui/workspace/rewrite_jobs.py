"""The jobs that count and write again the explanations of a run that are not for the effective labels.

Knows: what writing again needs: the run, its dataset, its model. Does not know: windows.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import followed
from gui.workspace.threads import Job, JobControl
from gui.workspace.worker_jobs import worker

if TYPE_CHECKING:
    from engine.core.events import CancelToken
    from engine.data.dataset import Dataset
    from engine.judging.rewrite import Rewritten
    from engine.models.checked_model import CheckedModel
    from engine.results.run_results import RunResults
    from engine.settings.identity import RunIdentity


def count_stale(results: "RunResults") -> Job[int]:
    """How many effective explanations were written for another label than the effective one."""

    def work(control: JobControl) -> int:
        found = 0
        for judgments in results.judgments.values():
            control.cancel.raise_if_requested()
            found += sum(results.is_stale(judgment) for judgment in judgments)
        return found

    return work


def rewrite(store_path: Path, run_id: int, dataset: "Dataset", threads: int | None) -> "Job[Rewritten]":
    """Write again what is stale in a run, by the model that it names; reports MeasureProgress.

    `dataset`: with the items that the run judged. `threads`: None for the default. A stop keeps
    what was written. SetupError where the dataset, the model's file, the questions or the examples are not
    those of the run: one that was shown examples can only be written again by the command. RunBusyError.
    """

    def work(control: JobControl) -> "Rewritten":
        from engine.judging.rewrite import rewriting_plan
        from engine.judging.work import rewrite_run
        from engine.models.checked_model import in_use
        from engine.models.opening import machine_settings
        from engine.store.run_store import RunStore

        with worker(rewrite_run, control) as writer:
            with RunStore(store_path) as store:
                run = store.run(run_id)
            model = _model(run.identity, control.cancel)
            plan = rewriting_plan(run, dataset, model, machine_settings(threads))
            with in_use(model):
                return followed(writer.do(plan, store_path, run_id), control.report)

    return work


def _model(identity: "RunIdentity", cancel: "CancelToken") -> "CheckedModel":
    """The model that judged. ModelFileError where it is gone, broken or does not fit the memory."""
    from engine.models.checked_model import checked_model
    from engine.models.memory import check_memory
    from engine.models.model_file import read_model_file
    from engine.settings.rows import settings_of

    settings = settings_of(identity.settings)
    described = read_model_file(identity.model_path)
    check_memory(described, settings.context, kv_type=settings.kv_type)
    return checked_model(described, cancel)
