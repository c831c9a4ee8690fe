"""The effective labels of a run for other tools: which takes what, in which files; not who asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.core.errors import Given, Hint, SetupError
from engine.core.formatting import counted, listed, visible, words
from engine.core.rubric import default_criterion
from engine.data.dataset import Dataset
from engine.results import other_tools
from engine.results.run_results import RunResults
from engine.results.trust import without_label
from engine.system.files import write_json


class MadeForTool(NamedTuple):
    """The export for a tool. `called`: what it is; `in_words`: its content and what is left out, if any."""

    called: str
    write: Callable[[Path], None]
    in_words: str = ""
    left_out: int = 0


@dataclass(frozen=True)
class ToolExport:
    """A run for a tool of `run_lists.TOOLS`. `criterion`: None for the default one; `with_stale`: of logs."""

    tool: str
    path: Path
    criterion: str | None = None
    with_stale: bool = False

    def __post_init__(self) -> None:
        tool = _TOOLS[self.tool]
        if self.criterion is not None and not tool.is_of_one:
            raise no_criterion()
        if self.path.suffix.lower() not in tool.suffixes:
            raise SetupError(
                f"{self.path.name}: for {self.tool} a file ends in {' or '.join(tool.suffixes)}.",
                f"Name it {self.path.stem}{tool.suffixes[0]}",
            )

    def made(self, results: RunResults, dataset: Dataset) -> MadeForTool:
        """What the file will hold. SetupError for a criterion that the run lacks, and if nothing is left."""
        known = tuple(results.judgments)
        if self.criterion is not None and self.criterion not in known:
            title = visible(results.run.title)
            raise SetupError(f"{title} has no criterion {self.criterion!r}.", f"It has {listed(known)}.")
        make = _TOOLS[self.tool].make
        return make(results, dataset, self.criterion or default_criterion(known), self.with_stale)


def no_criterion() -> SetupError:
    return SetupError(
        Hint(Given("criterion"), " has no effect here."),
        Hint("Use it with ", Given("tool", "dpo"), " or ", Given("tool", "alpaca-eval"), ", or remove it."),
    )


def suffixes_of(tool: str) -> tuple[str, ...]:
    return _TOOLS[tool].suffixes


def _pairs(results: RunResults, dataset: Dataset, criterion: str, _stale: bool) -> MadeForTool:
    pairs = other_tools.preference_pairs(results, dataset, criterion)
    lacking = len(results.judged) - len(pairs.columns["id"])
    in_words = f"{pairs.in_words}."
    return MadeForTool(
        "Pairs", lambda path: other_tools.write_preference_pairs(path, pairs), in_words, lacking
    )


def _log(results: RunResults, dataset: Dataset, _criterion: str, with_stale: bool) -> MadeForTool:
    if results.whole is not None:
        problem = Hint(Given("accepted"), ": a log of inspect_ai counts what is left out as wrong.")
        raise SetupError(problem, "Export the log without it.")
    made = other_tools.inspect_log(results, dataset, with_stale)
    return MadeForTool("Log", lambda path: write_json(path, made))


def _annotations(results: RunResults, dataset: Dataset, criterion: str, _stale: bool) -> MadeForTool:
    made = other_tools.alpaca_annotations(results, dataset, criterion)
    lacking = len(results.judged) - len(made)
    in_words = f"{counted(len(made), 'annotation', 'annotations')} on {words(criterion)}"
    told = f"{in_words}; left out: {without_label(results, criterion)}."
    return MadeForTool("Annotations", lambda path: write_json(path, made), told, lacking)


class _Tool(NamedTuple):
    suffixes: tuple[str, ...]
    is_of_one: bool
    make: Callable[[RunResults, Dataset, str, bool], MadeForTool]


_TOOLS: Mapping[str, _Tool] = {
    "dpo": _Tool(other_tools.SUFFIXES, True, _pairs),
    "inspect": _Tool((".json",), False, _log),
    "alpaca-eval": _Tool((".json",), True, _annotations),
}
