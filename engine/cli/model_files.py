"""`models speed`: the speed of model files on this computer, and the answer mass of their newest runs.

`models devices`: the GPUs of this computer, and their speed and accuracy with a model.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.cli.shared.console import DONE, WRONG_INPUT, interruptible, printable, printed, table, tell
from engine.cli.shared.data_arguments import model_file
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.judging import show_measure
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.formatting import amount
from engine.core.tables import Column, Kind, Table
from engine.llama.speed import TEXTS, DeviceFinding, DeviceTrial, ModelSpeed
from engine.models.devices import device_called, found_devices, try_device, trying_devices
from engine.models.model_file import ModelFile, read_model_file
from engine.models.opening import machine_settings, measure_speed, speed_of
from engine.results.health import RunMass, newest_masses
from engine.settings.rows import Device, MachineSettings
from engine.system.files import check_targets, write_json
from engine.system.subprocess_worker import SubprocessWorker

_DEVICES = ("name", "device", "memory", "driver")
_TRIED = ("computes", "reads", "writes 10", "mean difference", "largest", "")
_NONE = (
    "No GPU was found that llama.cpp can use here. Everything is computed on the CPU.\n"
    "The bundles for Linux and Windows include Vulkan, which needs the driver of the GPU; from source,\n"
    "llama-cpp-python must be built for a GPU (docs/install-and-bundle.md)."
)


def list_devices() -> int:
    """Print the GPUs of this computer; the exit code."""
    with interruptible() as cancel:
        found = found_devices(cancel)
    if not found:
        print(_NONE)
        return DONE
    rows = [
        [each.name, printable(each.title), amount(each.memory) if each.memory else "", each.driver]
        for each in found
    ]
    print(table(_DEVICES, rows, texts=(0, 1, 3)))
    print("\nTo test each with a model: models devices FILE.gguf")
    return DONE


def try_devices(word: str, request: str | None, threads: int | None) -> int:
    """Try devices with the model that a word names, and print the results; the exit code.

    `request`: the name of the one device to try; None for all.
    """
    model = read_model_file(model_file(word))
    with interruptible() as cancel:
        found = _wished(request, cancel)
        if not found:
            print(_NONE)
            return DONE
        worker = partial(SubprocessWorker, try_device, cancel)
        trial = show_measure(printable(model.name), trying_devices(model, threads, cancel, worker, found))
    print(_table(trial))
    print(
        "\nSpeeds are in tokens per second. The difference is between next-token probabilities on the device"
    )
    print("and on the CPU, 0 to 1: a correct device differs only by rounding.")
    best = trial.best
    tell(
        f"{printable(model.name)} will run on {printable(best.title)}; to use the CPU: --device cpu."
        if best
        else f"{printable(model.name)} will run on the CPU."
    )
    return DONE


def _wished(request: str | None, cancel: CancelToken) -> list[Device]:
    if request is None:
        return found_devices(cancel)
    return [device_called(request, cancel)]


def _table(trial: DeviceTrial) -> str:
    rows = [["CPU", *_speeds(trial.processor), "", "", ""], *map(_row, trial.findings)]
    return table(_TRIED, rows, texts=(0, 5))


def _row(found: DeviceFinding) -> list[str]:
    speeds = _speeds(found.speed) if found.speed else ["", ""]
    distances = [f"{found.mean:.4f}", f"{found.worst:.4f}"] if found.speed else ["", ""]
    return [printable(found.device.title), *speeds, *distances, printable(found.reason) or "correct"]


def _speeds(speed: ModelSpeed) -> list[str]:
    return [f"{speed.reading:,.1f}", f"{speed.writing_ten:,.1f}"]


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
    print(printed(_speed_table(complete)))
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


def _speed_table(measured: Sequence[MeasuredModel]) -> Table:
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
