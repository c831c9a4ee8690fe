"""`runs rewrite`: regenerate the stale explanations of a run for its effective labels.

Knows: its arguments, the files it needs, what it prints.
"""

import argparse

from engine.commands.shared.column_arguments import items_of_run
from engine.commands.shared.console import DONE, INCOMPLETE, interruptible, printable, tell
from engine.commands.shared.model_argument import model_file
from engine.commands.shared.progress import show_measure
from engine.commands.shared.setting_arguments import examples_of
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed
from engine.core.run_records import StoredRun, refuse_unasked
from engine.core.settings import settings_of
from engine.decisions.run_results import load_results
from engine.gguf.judge_file import read_model_file
from engine.gguf.memory import check_memory
from engine.judge.plan import RunPlan, open_model
from engine.judge.rewrite import Rewritten, rewrite_explanations, rewriting_plan
from engine.loading.checked_model import CheckedModel, checked_model
from engine.loading.opening import machine_settings
from engine.store.run_store import RunStore
from engine.system.places import is_there


def rewrite(store: RunStore, options: argparse.Namespace) -> int:
    """Regenerate stale explanations, and print the result; the exit code."""
    results = load_results(store, options.id)
    if not results.stale:
        print(f"No explanation of run {options.id} is stale.")
        return DONE
    with interruptible() as cancel:
        plan = _plan(results.run, options, cancel)
        work = rewrite_explanations(plan, store, options.id, lambda: open_model(plan, cancel))
        return _tell(options.id, show_measure("explanations", work))


def _plan(run: StoredRun, options: argparse.Namespace, cancel: CancelToken) -> RunPlan:
    refuse_unasked(run, "have its explanations regenerated")
    dataset = items_of_run(options, run, options.dataset, cancel)
    examples = examples_of(options, run.identity.asked, cancel)
    model = _model(run, options.model, cancel)
    machine = machine_settings(options.threads)
    return rewriting_plan(run, dataset, model, machine, examples)


def _model(run: StoredRun, word: str | None, cancel: CancelToken) -> CheckedModel:
    path = model_file(word) if word else run.identity.model_path
    if not is_there(path):
        raise SetupError(
            f"Run {run.id} was judged by {printable(run.identity.model_name)}; {path} is missing.",
            "Put the model back, or name its file with --model.",
        )
    described, settings = read_model_file(path), settings_of(run.identity.settings)
    if warning := check_memory(described, settings.context, kv_type=settings.kv_type):
        tell(warning)
    return checked_model(described, cancel)


def _tell(run_id: int, made: Rewritten) -> int:
    print(f"Run {run_id}: {made.written:,} of {made.stale:,} stale explanations are regenerated.")
    if made.wordless:
        tell(f"For {made.wordless:,} of them the model wrote nothing: the old ones are kept.")
    if made.too_long:
        items = counted(len(made.too_long), "item does", "items do")
        tell(f"{items} not fit the context: {listed(made.too_long)}.")
    if made.stopped:
        tell("Stopped: all new explanations are stored. The same command resumes.")
    return DONE if made.written == made.stale else INCOMPLETE
