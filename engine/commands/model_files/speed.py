"""`models speed`: how fast model files are on this computer, beside what their newest runs gave.

Knows: what is printed and written. Does not know: how a speed is measured or remembered.
"""

import argparse
from collections.abc import Sequence
from functools import partial

from engine.commands.shared.console import DONE, WRONG_INPUT, interruptible, printable, printed, tell
from engine.commands.shared.model_argument import model_file
from engine.commands.shared.progress import show_measure
from engine.commands.shared.remedies import OPTIONS
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.core.settings import MachineSettings
from engine.decisions.format_mass import newest_masses
from engine.gguf.judge_file import read_model_file
from engine.judge.speed_table import MeasuredModel, speed_table
from engine.loading.model_speed import measure_speed, speed_of
from engine.loading.opening import machine_settings
from engine.system.apart import Apart
from engine.system.files import check_targets, write_json


def measure_files(words: Sequence[str], options: argparse.Namespace) -> int:
    """Measure the models that words name, and print them; the exit code.

    One that cannot be measured is told, and the others are measured.
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
    """A model with its speed; none, which is told, where it cannot be measured. Raises Cancelled."""
    try:
        model = read_model_file(model_file(word))
        measuring = speed_of(model, machine, cancel, partial(Apart, measure_speed, cancel), again)
        file_hash, speed = show_measure(printable(model.name), measuring)
    except SetupError as error:
        tell(f"{error.problem}\n{OPTIONS.of(error.remedy)}")
        return []
    return [MeasuredModel(model, file_hash, speed)]


def _show(found: Sequence[MeasuredModel], options: argparse.Namespace) -> None:
    runs = newest_masses(options.store, {each.hash for each in found})
    complete = [MeasuredModel(each.model, each.hash, each.speed, runs.get(each.hash)) for each in found]
    if options.json:
        write_json(options.json, [each.as_json() for each in complete])
    print(printed(speed_table(complete)))
    print(
        "\nSpeeds are in tokens a second, measured on this computer. A fast format may judge worse: see the"
    )
    print("format mass (well below 100 %: it does not answer as asked), and compare runs on labelled items.")
    disturbed = [printable(each.model.name) for each in complete if each.speed.disturbed]
    if disturbed:
        tell(
            f"Other programs used the processor meanwhile: {', '.join(disturbed)}. Close them, and measure"
            " again with --again."
        )
