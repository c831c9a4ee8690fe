"""`models convert`: a model written again with its weights in another format.

Knows: what is printed. Does not know: how a model is converted, which formats there are.
"""

from functools import partial
from pathlib import Path

from engine.commands.shared.console import DONE, interruptible, printable
from engine.commands.shared.model_argument import model_file
from engine.commands.shared.progress import show_measure
from engine.core.formatting import amount
from engine.gguf.judge_file import read_model_file
from engine.gguf.weight_formats import WeightFormat
from engine.loading.conversion import convert, plan_conversion, quantising
from engine.system.apart import Apart
from engine.system.paths import program


def convert_file(word: str, to: WeightFormat, out: Path | None, lossy_source: bool) -> int:
    """Convert the model that a word names; the exit code. `out`: None for the folder of our own models."""
    planned = plan_conversion(model_file(word), to, out, lossy_source)
    source = planned.source
    print(
        f"{printable(source.name)}: {source.quantisation}, {amount(source.size_bytes)}. In {to.label} about"
        f" {amount(planned.expected)}.\n{printable(planned.cost)}",
        flush=True,
    )
    with interruptible() as cancel:
        made = show_measure("Converting", convert(planned, cancel, partial(Apart, quantising, cancel)))
    became = read_model_file(made.path)
    print(
        f"{printable(str(made.path))}: {became.quantisation}, {amount(made.size_bytes)}, SHA-256 {made.hash}."
        " It loads, reads and writes.\n"
        f"How fast each of them is here: {program()} models speed FILE FILE"
    )
    return DONE
