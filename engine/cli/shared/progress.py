"""Work on the terminal: its notes, progress bars on stderr, and what the user should know of a run."""

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from engine.cli.shared.console import DONE, INCOMPLETE, printable, printed_section, raw_stderr, tell
from engine.cli.shared.hints import OPTIONS
from engine.core.events import CancelToken, FilesRead, MeasureProgress, Note, Preparing, followed
from engine.core.formatting import counted
from engine.core.health import Health
from engine.core.tables import Section
from engine.operations.progress_bar import RunProgressBar, new_bar
from engine.system.computer import available_memory

if TYPE_CHECKING:
    from tqdm import tqdm

    from engine.judging.forecast import Forecast
    from engine.operations.judge import ReadyRun
    from engine.results.run_results import RunResults
    from engine.store.run_store import RunStore

_MEASURE_BAR = "{n_fmt}/{total_fmt} |{bar:24}| {elapsed} elapsed, {remaining} left"
Result = TypeVar("Result")


def tell_note(event: object) -> None:
    if isinstance(event, Note):
        tell(OPTIONS.of(event.said))
    elif isinstance(event, FilesRead):
        if event.model_notice:
            tell(f"{printable(event.model)}: {printable(event.model_notice)}")
        for notice in event.notices:
            tell(OPTIONS.of(notice))


def with_notes(work: Generator[Any, None, Result]) -> Result:
    return followed(work, tell_note)


def health_lines(health: Health) -> str:
    return "\n".join(map(printable, health.sentences(OPTIONS.of)))


def show_measure(title: str, measure: Generator[Any, None, Result]) -> Result:
    """A long measure to its end, with its notes and a progress bar; each part is named as it begins."""
    bar: tqdm[NoReturn] | None = None

    def show(event: object) -> None:
        nonlocal bar, title
        if isinstance(event, MeasureProgress):
            if bar is None:
                bar = new_bar(raw_stderr(), event.total, event.done, f"{title}: {_MEASURE_BAR}")
            bar.update(event.done - bar.n)
            return
        if bar is not None:
            bar.update(0)  # the elapsed time is refreshed
        title = event.what if isinstance(event, Preparing) else title
        if bar is not None and (isinstance(event, Preparing) or bar.n == bar.total):
            bar.close()
            bar = None
        if bar is not None and isinstance(event, Note):
            bar.clear()  # else the note would stand behind it
        tell_note(event)

    try:
        return followed(measure, show)
    finally:
        if bar is not None:
            bar.close()


def run_bar() -> RunProgressBar:
    return RunProgressBar(raw_stderr, tell, OPTIONS.of)


def show_forecast(
    ready: "ReadyRun", part: str, store: Path, cancel: CancelToken, *, here: bool = True
) -> "Forecast":
    """Print what a run takes to judge a `part`, in words, with its time if this computer judges."""
    # Only commands that judge wait for llama.cpp.
    from engine.operations.judge import forecast_of, timed

    found = show_measure("Counting", forecast_of(ready, store, cancel))
    facts = ready.facts(found, available_memory() if here else None)
    print(f"\n{printed_section(Section('plan', f'{ready.plan.model.name} on {part}', [facts]))}")
    if here:
        found = with_notes(timed(ready, found, cancel))
    if here or found.complete:
        print(f"\nTime: {found.time_in_words}.")
    if ready.escalation is not None:
        cost = show_measure("Counting", ready.escalation.cost(ready.plan, found, store, cancel))
        print(f"\n{printed_section(Section('cost', 'Cost of each model, and of the cascade', [cost]))}")
    return found


def print_exports(results: "RunResults", submission: Path | None, judgments: Path | None) -> None:
    if submission:
        identity = results.run.identity
        parts = [identity.dataset_in_words] if identity.items_are else []
        parts += [results.run.sample_in_words] if results.run.is_sample else []
        what = f" ({printable('; '.join(parts))})" if parts else ""
        print(f"Submission: {submission}{what}")
    if judgments:
        print(f"Judgments: {judgments}")


def warn_of_gaps(results: "RunResults", partly: bool = False) -> int:
    """Report the gaps of a run; the exit code. `partly`: not all of its items were requested."""
    from engine.results.completeness import IncompleteKind, gaps, incomplete

    with_stale = "o include them: runs export {run} --with-stale"
    next_steps = {
        IncompleteKind.OVERRIDDEN: " To export without them: runs export --labels-of judge",
        IncompleteKind.UNSCORED: " See: runs show {run}",
        IncompleteKind.STALE: f" To regenerate them: runs rewrite {{run}}; t{with_stale}",
    }
    run = results.run
    if not run.by_a_model:  # nobody writes them here
        next_steps[IncompleteKind.STALE] = f" T{with_stale}"
    if results.left and not partly:
        tell(printable(incomplete(results, run.title)))
    for gap in gaps(results):
        tell(f"{printable(gap.sentence)}{next_steps.get(gap.kind, '').format(run=run.id)}")
    is_whole = partly or not results.left
    return DONE if is_whole and not results.answered.unscored else INCOMPLETE


def tell_waiting(store: "RunStore") -> None:
    if waiting := store.waiting_words():
        what = counted(waiting, "annotation is", "annotations are")
        tell(f"{what} in the write-ahead log until the run store can be written; what follows is without.")
