"""`models speed`: the speed of model files on this computer, and the answer mass of their newest runs.

Knows: what is printed and written. Does not know: how a speed is measured or stored.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.commands.shared.console import DONE, WRONG_INPUT, interruptible, printable, printed, tell
from engine.commands.shared.model_argument import model_file
from engine.commands.shared.progress import show_measure
from engine.commands.shared.remedies import OPTIONS
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.core.formatting import amount
from engine.core.settings import MachineSettings
from engine.core.value_tables import Column, Kind, Table
from engine.decisions.format_mass import RunMass, newest_masses
from engine.gguf.judge_file import ModelFile, read_model_file
from engine.llama.speed import TEXTS, ModelSpeed
from engine.loading.model_speed import measure_speed, speed_of
from engine.loading.opening import machine_settings
from engine.system.apart import SubprocessWorker
from engine.system.files import check_targets, write_json

_COLUMNS = (
    Column("model", "model", Kind.TEXT, "The name of the file."),
    Column("format", "format", Kind.TEXT, "The format of its weights."),
    Column("size", "size", Kind.TEXT, "The size of the file; of all parts, if it is split."),
    Column("reads", "reads", Kind.SHORTEST, "Tokens per second when reading a prompt of 512 tokens."),
    Column("writes", "writes 1", Kind.SHORTEST, "Tokens per second when writing one text."),
    Column("together", f"writes {TEXTS}", Kind.SHORTEST, "Tokens per second when writing 10 texts together."),
    Column("mass", "answer mass", Kind.SHARE, "The mean answer mass of its newest run in the store."),
    Column("run", "of run", Kind.COUNT, "The run whose answer mass is shown."),
)


@dataclass(frozen=True)
class MeasuredModel:
    """A model file with its speed, and the answer mass of its newest run, None without a run."""

    model: ModelFile
    hash: str
    speed: ModelSpeed
    run: RunMass | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values; speeds in tokens per second."""
        run = self.run
        return {
            "file": str(self.model.path),
            "sha256": self.hash,
            "format": self.model.quantisation,
            "bytes": self.model.size_bytes,
            "reading": self.speed.reading,
            "writing_one_text": self.speed.writing_one,
            f"writing_{TEXTS}_texts": self.speed.writing_ten,
            "prompt_tokens": self.speed.prompt,
            "disturbed": self.speed.disturbed,
            "newest_run": {"id": run.run_id, "format_mass": run.mass, "items": run.items} if run else None,
        }


def measure_files(words: Sequence[str], options: argparse.Namespace) -> int:
    """Measure the models that words name, and print them; the exit code.

    One that cannot be measured is reported, and the others are measured.
    """
    check_targets({"--json": options.json}, {})
    machine = machine_settings(options.threads)
    found: list[MeasuredModel] = []
    with interruptible() as cancel:
        try:
            for word in dict.fromkeys(words):
                found += _measured(word, machine, options.again, cancel)
        except Cancelled:
            if found:
                _show(found, options)
            raise
    if found:
        _show(found, options)
    return DONE if len(found) == len(dict.fromkeys(words)) else WRONG_INPUT


def _measured(word: str, machine: MachineSettings, again: bool, cancel: CancelToken) -> list[MeasuredModel]:
    """A model with its speed; None, with a message, if it cannot be measured. Raises Cancelled."""
    try:
        model = read_model_file(model_file(word))
        measuring = speed_of(model, machine, cancel, partial(SubprocessWorker, measure_speed, cancel), again)
        file_hash, speed = show_measure(printable(model.name), measuring)
    except SetupError as error:
        tell(f"{error.problem}\n{OPTIONS.of(error.hint)}")
        return []
    return [MeasuredModel(model, file_hash, speed)]


def _show(found: Sequence[MeasuredModel], options: argparse.Namespace) -> None:
    runs = newest_masses(options.store, {each.hash for each in found})
    complete = [replace(each, run=runs.get(each.hash)) for each in found]
    if options.json:
        write_json(options.json, [each.as_json() for each in complete])
    print(printed(_table(complete)))
    print("\nSpeeds are in tokens per second on this computer. A fast format may judge worse: check the")
    print(
        "answer mass (well below 100 %: the model gives other answers), and compare runs on labelled items."
    )
    disturbed = [printable(each.model.name) for each in complete if each.speed.disturbed]
    if disturbed:
        tell(
            f"Other programs used the CPU during the measurement: {', '.join(disturbed)}. Close them, and"
            " measure again with --again."
        )


def _table(measured: Sequence[MeasuredModel]) -> Table:
    """The fastest at reading first."""
    rows = sorted(measured, key=lambda each: -each.speed.reading)
    return Table(
        _COLUMNS,
        [
            (
                each.model.name,
                each.model.quantisation,
                amount(each.model.size_bytes),
                _rounded(each.speed.reading),
                _rounded(each.speed.writing_one),
                _rounded(each.speed.writing_ten),
                each.run.mass if each.run else None,
                each.run.run_id if each.run else None,
            )
            for each in rows
        ],
    )


def _rounded(rate: float) -> float:
    """No more digits than a second measurement would reproduce."""
    return float(f"{rate:.3g}")
